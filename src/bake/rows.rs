//! Weights of points over joints and helper joints, and their refit.

use super::dense::smallest_on_simplex;
use glam::{DAffine3, DMat3, DVec3};

/// Most influences of a point: what every player reads.
pub(super) const INFLUENCES: usize = 4;

/// Fits of weights, the first of plain least squares.
const FITS: usize = 4;

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
/// `own`: at most [`INFLUENCES`], none negative, sum 1. By least squares, and by some that weigh the worst sights more
/// where one of these leaves less there than `bound` and than those before it.
pub(super) fn refit<'a>(
    candidates: &[(u16, Row)],
    own: &[(u16, f64)],
    sights: impl Iterator<Item = Sight<'a>>,
    care: Care,
    bound: f64,
) -> Row {
    let n = candidates.len();
    // Where each candidate puts the point from its target, sight by sight.
    let mut places: Vec<DVec3> = Vec::new();
    let mut linears = vec![DMat3::ZERO; n];
    let mut firm = vec![0.0; n * n];
    let care_2 = care.linear * care.linear;
    for sight in sights {
        for (i, (slot, _)) in candidates.iter().enumerate() {
            let matrix = &sight.matrices[usize::from(*slot)];
            places.push(matrix.transform_point3(sight.place) - sight.target);
            linears[i] = matrix.matrix3 - sight.linear;
        }
        for i in 0..n {
            for j in 0..=i {
                let (a, b) = (&linears[i], &linears[j]);
                let linear =
                    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis);
                firm[i * n + j] += care_2 * linear;
            }
        }
    }
    let n_sights = places.len().checked_div(n).unwrap_or(0) as f64;
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
            firm[i * n + j] += n_sights * care.weights * care.weights * both.sum::<f64>();
        }
    }
    let mut om = vec![1.0; n_sights as usize];
    let mut best: Option<(f64, Vec<(usize, f64)>)> = None;
    for _ in 0..FITS {
        let mut g = firm.clone();
        for (places, om) in places.chunks_exact(n).zip(&om) {
            for i in 0..n {
                for j in 0..=i {
                    g[i * n + j] += om * places[i].dot(places[j]);
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                g[j * n + i] = g[i * n + j];
            }
        }
        let found = few(&g, n);
        let errors = places.chunks_exact(n).map(|places| {
            let off: DVec3 = found.iter().map(|&(i, x)| places[i] * x).sum();
            off.length()
        });
        let errors: Vec<f64> = errors.collect();
        let worst = errors.iter().copied().fold(0.0, f64::max);
        if best.as_ref().is_none_or(|best| worst < 0.98 * best.0) {
            best = Some((worst, found));
        }
        let rms = (errors.iter().map(|e| e * e).sum::<f64>() / n_sights.max(1.0)).sqrt();
        if worst <= bound || rms <= 0.0 {
            break;
        }
        for (om, e) in om.iter_mut().zip(&errors) {
            *om *= (e / rms).powf(0.7) + 0.3;
        }
        let mean = om.iter().sum::<f64>() / n_sights.max(1.0);
        for om in &mut om {
            *om /= mean;
        }
    }
    let row = best.map_or_else(Vec::new, |best| best.1);
    let row = row.into_iter().map(|(i, x)| (candidates[i].0, x));
    normalised(row.collect())
}

/// The smallest `x' g x` on the simplex with at most [`INFLUENCES`] entries: entries and their x.
fn few(g: &[f64], n: usize) -> Vec<(usize, f64)> {
    let mut chosen: Vec<usize> = (0..n).collect();
    loop {
        let m = chosen.len();
        let part: Vec<f64> = (0..m * m)
            .map(|e| g[chosen[e / m] * n + chosen[e % m]])
            .collect();
        let x = smallest_on_simplex(&part, m);
        let found = chosen.iter().copied().zip(x);
        let mut kept: Vec<(usize, f64)> = found.filter(|k| k.1 > 1e-4).collect();
        if kept.len() <= INFLUENCES {
            return kept;
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
        let row = refit(&candidates, &own, std::iter::once(sight), care, 0.0);
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
