//! Weight rows: the influences of one point over joints and helper joints.

use glam::{DAffine3, DMat3, DVec3};

/// The largest number of influences of a point in a corrected file: one JOINTS/WEIGHTS set, which the glTF
/// specification requires every player to read.
pub(crate) const MAX_INFLUENCES: usize = 4;

/// Slots of a skin's joint list and weights, sum 1; slots from the number of its joints on are helper joints.
pub(crate) type WeightRow = Vec<(u16, f64)>;

/// The largest [`MAX_INFLUENCES`] influences, normalised.
pub(crate) fn limited(mut row: WeightRow) -> WeightRow {
    if row.len() > MAX_INFLUENCES {
        row.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row.truncate(MAX_INFLUENCES);
    }
    normalised(row)
}

/// The row scaled to a sum of 1.
pub(crate) fn normalised(mut row: WeightRow) -> WeightRow {
    let sum: f64 = row.iter().map(|r| r.1).sum();
    if sum > 0.0 {
        for influence in &mut row {
            influence.1 /= sum;
        }
    }
    row
}

/// The L1 distance of two weight vectors: 0 for equal ones, 2 for disjoint ones.
pub(crate) fn distance(a: &[(u16, f64)], b: &[(u16, f64)]) -> f64 {
    let of = |row: &[(u16, f64)], j: u16| row.iter().find(|r| r.0 == j).map_or(0.0, |r| r.1);
    let here: f64 = a.iter().map(|&(j, w)| (w - of(b, j)).abs()).sum();
    let there = b.iter().filter(|(j, _)| a.iter().all(|r| r.0 != *j));
    here + there.map(|r| r.1).sum::<f64>()
}

/// The weighted sum of the matrices of a row (linear blend skinning).
#[inline]
pub(crate) fn blended(row: &[(u16, f64)], matrices: &[DAffine3]) -> DAffine3 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_go_from_0_to_2() {
        let (a, b) = ([(0, 0.5), (1, 0.5)], [(2, 1.0)]);
        assert_eq!(distance(&a, &a), 0.0);
        assert_eq!(distance(&a, &b), 2.0);
        assert_eq!(distance(&a, &[(1, 1.0)]), 1.0);
    }

    #[test]
    fn rows_keep_their_largest_influences() {
        let row: WeightRow = (0..6).map(|i| (i, f64::from(i + 1))).collect();
        let row = limited(row);
        assert_eq!(row.iter().map(|r| r.0).collect::<Vec<_>>(), [5, 4, 3, 2]);
        assert!((row.iter().map(|r| r.1).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
