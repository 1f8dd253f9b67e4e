//! The rotation that fits one set of vectors to another.

use super::frame::minimal_rotation;
use crate::math::symmetric_eigen;
use crate::math::transform::normalize_or_identity;
use glam::{DMat3, DQuat, DVec3};

/// Vectors are collinear if the largest eigenvalue of the fit stands out by less than this fraction of their size.
const COLLINEAR: f64 = 1e-9;

/// The rotation R that minimises `sum w |R from - to|^2` over `(w, from, to)`, unit.
///
/// Where the vectors are collinear, the smallest rotation that takes the heaviest to its place; the identity without
/// vectors. The eigenvector of the largest eigenvalue of a symmetric 4x4 matrix: never a reflection, also for vectors in a
/// plane. Source: Davenport's q-method; Horn 1987, "Closed-form solution of absolute orientation using unit quaternions".
pub(super) fn fit_rotation(pairs: impl Iterator<Item = (f64, DVec3, DVec3)> + Clone) -> DQuat {
    let (mut s, mut size) = (DMat3::ZERO, 0.0);
    for (w, from, to) in pairs.clone() {
        // Row: from, column: to.
        s += DMat3::from_cols(from * (w * to.x), from * (w * to.y), from * (w * to.z));
        size += w * from.length() * to.length();
    }
    if !(size > 0.0 && size.is_finite()) {
        return DQuat::IDENTITY;
    }
    let s = s * (1.0 / size);
    let (x, y, z) = (s.x_axis, s.y_axis, s.z_axis);
    // s_ab = sum from_a to_b is component a of column b. Order of the quaternion: w, x, y, z.
    let matrix = [
        [x.x + y.y + z.z, z.y - y.z, x.z - z.x, y.x - x.y],
        [z.y - y.z, x.x - y.y - z.z, y.x + x.y, x.z + z.x],
        [x.z - z.x, y.x + x.y, y.y - x.x - z.z, z.y + y.z],
        [y.x - x.y, x.z + z.x, z.y + y.z, z.z - x.x - y.y],
    ];
    let (values, vectors) = symmetric_eigen(matrix);
    let mut order = [0, 1, 2, 3];
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let [best, second, ..] = order;
    if values[best] - values[second] <= COLLINEAR {
        return heaviest(pairs);
    }
    let q = [0, 1, 2, 3].map(|row| vectors[row][best]);
    let q = normalize_or_identity(DQuat::from_xyzw(q[1], q[2], q[3], q[0]));
    if q.w < 0.0 { -q } else { q }
}

/// The smallest rotation that takes the heaviest vector to its place.
fn heaviest(pairs: impl Iterator<Item = (f64, DVec3, DVec3)>) -> DQuat {
    let mut best = (0.0, DQuat::IDENTITY);
    for (w, from, to) in pairs {
        let weight = w * from.length() * to.length();
        if weight > best.0
            && let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize())
        {
            best = (weight, minimal_rotation(from, to));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turned_vectors_are_turned_back_exactly() {
        let flat = [
            DVec3::X,
            DVec3::new(0.2, 1.0, 0.0),
            DVec3::new(-1.0, 0.3, 0.0),
        ];
        let solid = [DVec3::X, DVec3::Y, DVec3::new(0.3, 0.3, 1.0)];
        for vectors in [flat, solid] {
            for angle in [0.0, 0.3, 1.5, 3.1, 3.13] {
                let axis = DVec3::new(1.0, -2.0, 0.5).try_normalize().unwrap();
                let turn = DQuat::from_axis_angle(axis, angle);
                let q = fit_rotation(vectors.iter().map(|v| (1.0, *v, turn * *v)));
                for v in vectors {
                    assert!((q * v - turn * v).length() < 1e-14, "{angle}");
                }
            }
        }
    }

    #[test]
    fn a_flat_fit_never_mirrors() {
        // The ring folds up: its best reflection would fit better than its best rotation.
        let ring = [DVec3::X, DVec3::Y, -DVec3::X, -DVec3::Y];
        let q = fit_rotation(ring.iter().map(|v| (1.0, *v, *v - DVec3::Z * 1e-3)));
        assert!((q * DVec3::Z - DVec3::Z).length() < 1e-12);
    }

    #[test]
    fn collinear_vectors_turn_as_little_as_they_can() {
        let q = fit_rotation([(1.0, DVec3::X, DVec3::Y), (1.0, -DVec3::X, -DVec3::Y)].into_iter());
        assert!((q * DVec3::X - DVec3::Y).length() < 1e-15);
        assert!((q * DVec3::Z - DVec3::Z).length() < 1e-15);
        assert_eq!(fit_rotation(std::iter::empty()), DQuat::IDENTITY);
        let nothing = fit_rotation(std::iter::once((1.0, DVec3::X, DVec3::ZERO)));
        assert_eq!(nothing, DQuat::IDENTITY);
    }
}
