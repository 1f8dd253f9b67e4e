//! Bands of a blend of two joints: vertices with similar weights, which the regions of morph targets are merged from.

use super::prices::MorphPrices;
use crate::bake::problem::rows::WeightRow;
use std::collections::BTreeMap;

/// The two heaviest joints of a point, the lower slot first; twice the same where it has one.
pub(super) type JointPair = (u16, u16);

/// A band of the blend of two joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BlendBand {
    pub(crate) joints: JointPair,
    /// Which of `BANDS` equal ranges holds the weight of the first joint, divided by the sum of both weights.
    pub(crate) index: u8,
}

/// The number of bands of a blend.
const BANDS: u8 = 8;

/// The band of a row.
pub(crate) fn band_of(row: &WeightRow) -> BlendBand {
    let heavier = |best: Option<(u16, f64)>, next: &(u16, f64)| match best {
        Some(best) if best.1 >= next.1 => Some(best),
        _ => Some(*next),
    };
    let first = row.iter().fold(None, heavier).unwrap_or((0, 0.0));
    let others = row.iter().filter(|r| r.0 != first.0);
    let second = others.fold(None, heavier).unwrap_or((first.0, 0.0));
    let low = if first.0 < second.0 { first } else { second };
    let share = low.1 / (first.1 + second.1);
    BlendBand {
        joints: (first.0.min(second.0), first.0.max(second.0)),
        // The share of a row without weights is NaN, which the cast makes 0.
        index: ((share * f64::from(BANDS)) as u8).min(BANDS - 1),
    }
}

/// The bands and the points of a cluster.
pub(super) type Members = (Vec<BlendBand>, Vec<u32>);

/// The clusters from which merging starts. Consecutive bands of two joints are one cluster until the entries of a target of
/// it take as many bytes as the rest of the target. Smaller clusters take time, and the rank of a few sampled points is a
/// poor estimate of that of all.
pub(super) fn first_clusters(
    by_band: &BTreeMap<BlendBand, Vec<u32>>,
    prices: &MorphPrices,
) -> Vec<Members> {
    let is_small = |cluster: &Members| cluster.1.len() as f64 * prices.entry < prices.target;
    let mut clusters: Vec<Members> = Vec::new();
    for pair in of_joint_pairs(by_band) {
        let first = clusters.len();
        for band in pair.0 {
            let points = by_band[&band].iter().copied();
            match clusters[first..].last_mut().filter(|last| is_small(last)) {
                Some((bands, of_bands)) => {
                    bands.push(band);
                    of_bands.extend(points);
                }
                None => clusters.push((vec![band], points.collect())),
            }
        }
        if clusters.len() > first + 1
            && let Some(small) = clusters.pop_if(|last| is_small(last))
            && let Some((bands, points)) = clusters.last_mut()
        {
            bands.extend(small.0);
            points.extend(small.1);
        }
    }
    for (_, points) in &mut clusters {
        points.sort_unstable();
    }
    clusters
}

/// One cluster for each pair of joints.
pub(super) fn of_joint_pairs(by_band: &BTreeMap<BlendBand, Vec<u32>>) -> Vec<Members> {
    let mut by_pair: BTreeMap<JointPair, Members> = BTreeMap::new();
    for (band, points) in by_band {
        let (bands, of_bands) = by_pair.entry(band.joints).or_default();
        bands.push(*band);
        of_bands.extend(points);
    }
    let mut clusters: Vec<Members> = by_pair.into_values().collect();
    for (_, points) in &mut clusters {
        points.sort_unstable();
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Besides its entries, a target takes as many bytes as ten of them.
    const PRICES: MorphPrices = MorphPrices {
        target: 140.0,
        target_alone: 140.0,
        entry: 14.0,
        tracks: 0.0,
        extra: 0,
    };

    fn band(joints: JointPair, index: u8) -> BlendBand {
        BlendBand { joints, index }
    }

    #[test]
    fn bands_join_until_their_entries_cost_as_much_as_a_target() {
        let sizes = |counts: &[usize]| -> Vec<usize> {
            let bands = counts.iter().zip(0..);
            let by_band = bands.map(|(&n, b)| (band((0, 1), b), (0..n as u32).collect()));
            let by_band: BTreeMap<BlendBand, Vec<u32>> = by_band.collect();
            let clusters = first_clusters(&by_band, &PRICES);
            clusters.iter().map(|cluster| cluster.1.len()).collect()
        };
        assert_eq!(sizes(&[6; 8]), [12; 4]);
        assert_eq!(sizes(&[20, 1, 20]), [20, 21]);
        assert_eq!(sizes(&[1, 20]), [21]);
        assert_eq!(sizes(&[20, 1]), [21]);
        assert_eq!(sizes(&[10, 10]), [10, 10]);
        assert_eq!(sizes(&[3]), [3]);
        assert!(sizes(&[]).is_empty());
        // Bands of different joints stay apart.
        let by_band = BTreeMap::from([
            (band((0, 1), 0), vec![0, 3]),
            (band((0, 1), 7), vec![2]),
            (band((1, 2), 0), vec![1]),
        ]);
        let clusters = first_clusters(&by_band, &PRICES);
        let points: Vec<_> = clusters.into_iter().map(|cluster| cluster.1).collect();
        assert_eq!(points, [vec![0, 2, 3], vec![1]]);
    }

    #[test]
    fn points_belong_to_their_two_heaviest_joints_and_the_band_of_the_first() {
        let band_of = |row: &[(u16, f64)]| {
            let found = band_of(&row.to_vec());
            (found.joints, found.index)
        };
        assert_eq!(band_of(&[(4, 0.1), (2, 0.6), (9, 0.3)]), ((2, 9), 5));
        assert_eq!(band_of(&[(4, 0.9), (2, 0.1)]), ((2, 4), 0));
        assert_eq!(band_of(&[(2, 1.0), (4, 0.0)]), ((2, 4), BANDS - 1));
        assert_eq!(band_of(&[(4, 1.0)]), ((4, 4), 0));
        assert_eq!(band_of(&[]), ((0, 0), 0));
        assert_eq!(band_of(&[(1, f64::NAN), (2, 0.5)]).1, 0);
    }
}
