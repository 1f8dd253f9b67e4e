//! Weights of points over joints and helper joints, and their refit.

use super::dense::smallest_on_simplex;
use glam::{DAffine3, DMat3, DVec3};

/// Most influences of a point: what every player reads.
pub(super) const INFLUENCES: usize = 4;

/// Joint slots of a skin and weights, sum 1; slots from the number of its joints on are helper joints.
pub(super) type Row = Vec<(u16, f64)>;

/// The largest [`INFLUENCES`] influences, summing to 1.
pub(super) fn limited(mut row: Row) -> Row {
    if row.len() > INFLUENCES {
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row.truncate(INFLUENCES);
    }
    normalised(row)
}

/// The row scaled to a sum of 1.
pub(super) fn normalised(mut row: Row) -> Row {
    let sum: f64 = row.iter().map(|r| r.1).sum();
    if sum > 0.0 {
        for influence in &mut row {
            influence.1 /= sum;
        }
    }
    row
}

/// Sum of the absolute differences of two weight vectors: 0 equal - 2 nothing in common.
pub(super) fn distance(a: &[(u16, f64)], b: &[(u16, f64)]) -> f64 {
    let of = |row: &[(u16, f64)], j: u16| row.iter().find(|r| r.0 == j).map_or(0.0, |r| r.1);
    let here: f64 = a.iter().map(|&(j, w)| (w - of(b, j)).abs()).sum();
    let there = b.iter().filter(|(j, _)| a.iter().all(|r| r.0 != *j));
    here + there.map(|r| r.1).sum::<f64>()
}

/// Where linear blend skinning puts a point, and its matrix.
pub(super) fn blended(row: &[(u16, f64)], matrices: &[DAffine3]) -> DAffine3 {
    let mut sum = DAffine3 {
        matrix3: DMat3::ZERO,
        translation: DVec3::ZERO,
    };
    for &(slot, weight) in row {
        let matrix = &matrices[usize::from(slot)];
        sum.matrix3 += matrix.matrix3 * weight;
        sum.translation += matrix.translation * weight;
    }
    sum
}

/// A point in one pose that its weights are to reproduce.
pub(super) struct Sight<'a> {
    /// Of the joints and of the helpers.
    pub(super) matrices: &'a [DAffine3],
    /// Bind place, with morphs.
    pub(super) place: DVec3,
    /// World place.
    pub(super) target: DVec3,
    /// The linear part of its motion.
    pub(super) linear: DMat3,
}

/// How a refit weighs what it reproduces.
#[derive(Clone, Copy)]
pub(super) struct Care {
    /// What a linear part that is wrong by 1 counts for, metres.
    pub(super) linear: f64,
    /// What weights over the joints that are wrong by 1 count for, metres.
    pub(super) weights: f64,
}

/// The weights over `candidates` - each a slot and the weights over joints that it stands for - of a point of weights
/// `own`, by least squares: at most [`INFLUENCES`], none negative, sum 1.
pub(super) fn refit<'a>(
    candidates: &[(u16, Row)],
    own: &[(u16, f64)],
    sights: impl Iterator<Item = Sight<'a>>,
    care: Care,
) -> Row {
    let n = candidates.len();
    let mut g = vec![0.0; n * n];
    let mut places = vec![DVec3::ZERO; n];
    let mut linears = vec![DMat3::ZERO; n];
    let mut n_sights = 0.0;
    let care_2 = care.linear * care.linear;
    for sight in sights {
        n_sights += 1.0;
        for (i, (slot, _)) in candidates.iter().enumerate() {
            let matrix = &sight.matrices[usize::from(*slot)];
            places[i] = matrix.transform_point3(sight.place) - sight.target;
            linears[i] = matrix.matrix3 - sight.linear;
        }
        for i in 0..n {
            for j in 0..=i {
                let (a, b) = (&linears[i], &linears[j]);
                let linear =
                    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis);
                g[i * n + j] += places[i].dot(places[j]) + care_2 * linear;
            }
        }
    }
    // Of weights that do the same, those nearest to the point's own.
    let mut joints: Vec<u16> = own.iter().map(|r| r.0).collect();
    joints.extend(candidates.iter().flat_map(|c| c.1.iter().map(|r| r.0)));
    joints.sort_unstable();
    joints.dedup();
    let of = |row: &[(u16, f64)], j: u16| row.iter().find(|r| r.0 == j).map_or(0.0, |r| r.1);
    for i in 0..n {
        for j in 0..=i {
            let both = joints.iter().map(|&joint| {
                let own = of(own, joint);
                (of(&candidates[i].1, joint) - own) * (of(&candidates[j].1, joint) - own)
            });
            g[i * n + j] += n_sights * care.weights * care.weights * both.sum::<f64>();
            g[j * n + i] = g[i * n + j];
        }
    }
    let mut chosen: Vec<usize> = (0..n).collect();
    loop {
        let m = chosen.len();
        let part: Vec<f64> = (0..m * m)
            .map(|e| g[chosen[e / m] * n + chosen[e % m]])
            .collect();
        let x = smallest_on_simplex(&part, m);
        let mut kept: Vec<(usize, f64)> = chosen
            .iter()
            .copied()
            .zip(x)
            .filter(|k| k.1 > 1e-4)
            .collect();
        if kept.len() <= INFLUENCES {
            let row = kept.into_iter().map(|(i, x)| (candidates[i].0, x));
            return normalised(row.collect());
        }
        let least = kept
            .iter()
            .enumerate()
            .min_by(|a, b| a.1.1.total_cmp(&b.1.1));
        if let Some(least) = least.map(|l| l.0) {
            kept.remove(least);
        }
        chosen = kept.into_iter().map(|k| k.0).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    #[test]
    fn distances_go_from_0_to_2() {
        let (a, b) = ([(0, 0.5), (1, 0.5)], [(2, 1.0)]);
        assert_eq!(distance(&a, &a), 0.0);
        assert_eq!(distance(&a, &b), 2.0);
        assert_eq!(distance(&a, &[(1, 1.0)]), 1.0);
    }

    #[test]
    fn a_helper_that_does_it_takes_the_point() {
        let half = DQuat::from_rotation_z(0.8);
        let matrices = [
            DAffine3::IDENTITY,
            DAffine3::from_quat(half * half),
            DAffine3::from_quat(half),
        ];
        let sight = Sight {
            matrices: &matrices,
            place: DVec3::X,
            target: half * DVec3::X,
            linear: DMat3::from_quat(half),
        };
        let own = vec![(0, 0.5), (1, 0.5)];
        let candidates = [(0, vec![(0, 1.0)]), (1, vec![(1, 1.0)]), (2, own.clone())];
        let care = Care {
            linear: 0.02,
            weights: 0.02,
        };
        let row = refit(&candidates, &own, std::iter::once(sight), care);
        assert_eq!((row.len(), row[0].0), (1, 2), "{row:?}");
    }

    #[test]
    fn rows_keep_their_largest_influences() {
        let row: Row = (0..6).map(|i| (i, f64::from(i + 1))).collect();
        let row = limited(row);
        assert_eq!(row.iter().map(|r| r.0).collect::<Vec<_>>(), [5, 4, 3, 2]);
        assert!((row.iter().map(|r| r.1).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
