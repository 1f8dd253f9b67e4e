//! The influences of a point, adapted to the requirements of glTF.

use crate::skinning::RowRef;

/// The glTF validator's tolerance for the sum of weights, per non-zero weight.
const SUM_TOLERANCE: f64 = 2e-7;

/// Influences ready to be written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct FittedRow {
    /// Pairs of joint and weight > 0, at most the limit, with distinct joints.
    pub(super) pairs: Vec<(u16, f32)>,
    /// The largest omitted weight, as a fraction of the sum; 0 if all fit.
    pub(super) lost: f32,
    /// Whether the point had no influence and was assigned to joint 0.
    pub(super) pinned: bool,
}

/// The influences of a point, at most `limit`: the largest, normalised, in their original order.
///
/// A row that fits is unchanged; only a row that the user `edited` is normalised first if its sum is off. An empty row
/// is assigned to joint 0: the format has no points without weights, and players handle them differently.
pub(super) fn fit(row: RowRef<'_>, edited: bool, limit: usize) -> FittedRow {
    let mut pairs: Vec<(u16, f32)> = row.iter().filter(|&(_, w)| w > 0.0).collect();
    let sum: f64 = pairs.iter().map(|&(_, w)| f64::from(w)).sum();
    let mut lost = 0.0;
    if pairs.len() > limit {
        let mut by_weight: Vec<usize> = (0..pairs.len()).collect();
        by_weight.sort_by(|&a, &b| pairs[b].1.total_cmp(&pairs[a].1));
        lost = (f64::from(pairs[by_weight[limit]].1) / sum) as f32;
        let mut kept = by_weight[..limit].to_vec();
        kept.sort_unstable();
        pairs = kept.into_iter().map(|i| pairs[i]).collect();
        normalise(&mut pairs);
    } else if pairs.is_empty() {
        return FittedRow {
            pairs: vec![(0, 1.0)],
            lost,
            pinned: true,
        };
    } else if edited && (sum - 1.0).abs() > SUM_TOLERANCE * 0.5 * pairs.len() as f64 {
        normalise(&mut pairs);
    }
    FittedRow {
        pairs,
        lost,
        pinned: false,
    }
}

/// Normalises the weights as exactly as f32 allows: the largest absorbs the rounding.
fn normalise(pairs: &mut [(u16, f32)]) {
    let sum: f64 = pairs.iter().map(|&(_, w)| f64::from(w)).sum();
    for (_, w) in pairs.iter_mut() {
        *w = (f64::from(*w) / sum) as f32;
    }
    let rest = 1.0 - pairs.iter().map(|&(_, w)| f64::from(w)).sum::<f64>();
    if let Some((_, largest)) = pairs.iter_mut().max_by(|a, b| a.1.total_cmp(&b.1)) {
        *largest = (f64::from(*largest) + rest) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(joints: &[u16], weights: &[f32], edited: bool, limit: usize) -> FittedRow {
        fit(RowRef { joints, weights }, edited, limit)
    }

    #[test]
    fn a_row_that_fits_is_written_bit_for_bit() {
        let row = fitted(&[3, 1, 2], &[0.3, 0.0, 0.7000001], true, 4);
        assert_eq!(row.pairs, [(3, 0.3), (2, 0.7000001)]);
        let off = fitted(&[3, 1], &[0.3, 0.3], false, 4);
        assert_eq!(
            off.pairs,
            [(3, 0.3), (1, 0.3)],
            "the source's sum is the source's"
        );
    }

    #[test]
    fn the_largest_are_kept_in_their_order_and_sum_to_one() {
        let row = fitted(&[5, 6, 7, 8, 9], &[0.1, 0.3, 0.05, 0.35, 0.2], false, 4);
        assert_eq!(
            row.pairs.iter().map(|p| p.0).collect::<Vec<_>>(),
            [5, 6, 8, 9]
        );
        assert!((row.lost - 0.05).abs() < 1e-7);
        let sum: f64 = row.pairs.iter().map(|&(_, w)| f64::from(w)).sum();
        assert!((sum - 1.0).abs() < 1e-7, "{sum}");
    }

    #[test]
    fn edited_rows_are_normalised_and_empty_ones_pinned() {
        assert_eq!(
            fitted(&[1, 2], &[2.0, 2.0], true, 4).pairs,
            [(1, 0.5), (2, 0.5)]
        );
        assert_eq!(fitted(&[1], &[0.0], true, 4).pairs, [(0, 1.0)]);
        assert!(fitted(&[], &[], false, 4).pinned);
    }

    #[test]
    fn sums_stay_within_the_validators_tolerance() {
        for n in 1..=20u16 {
            let joints: Vec<u16> = (0..n).collect();
            let weights: Vec<f32> = (0..n).map(|i| 0.01 + f32::from(i * i % 7)).collect();
            let row = fitted(&joints, &weights, true, 8);
            // As the validator adds them: in f32, one after the other.
            let sum = row.pairs.iter().fold(0.0f32, |sum, &(_, w)| sum + w);
            assert!((f64::from(sum) - 1.0).abs() <= SUM_TOLERANCE * row.pairs.len() as f64);
        }
    }
}
