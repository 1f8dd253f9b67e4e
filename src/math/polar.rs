//! Rotation and stretch of a 3x3 matrix.

use glam::{DMat3, DVec3};
use std::cmp::Ordering;

/// A determinant of smaller size, as a fraction of the cube of the largest |entry|, is 0 but for the rounding of the matrix
/// products before it.
const FLAT: f64 = 1e-13;

/// The rotation `q` and stretch `p` of `a`, with `a = q * p`.
///
/// `q` is always a proper rotation (orthonormal, determinant +1). For `det a >= 0`, `p` is symmetric and positive
/// semidefinite; for `det a < 0` the reflection along x stays in `p`: `(q, p') = polar(a * d)`, `p = p' * d`,
/// `d = diag(-1, 1, 1)`. A singular `a` gets one of its valid rotations; one that is flat in one direction
/// ([`handedness`]) always the same. Both are the identity if `a` is not finite.
///
/// Source: Higham 1986, eq. 3.3 (scaled Newton iteration); singular value decomposition by one-sided Jacobi rotations
/// where it would not converge.
pub fn polar(a: DMat3) -> (DMat3, DMat3) {
    let largest = largest_entry(a);
    if !largest.is_finite() {
        return (DMat3::IDENTITY, DMat3::IDENTITY);
    }
    if largest == 0.0 {
        return (DMat3::IDENTITY, DMat3::ZERO);
    }
    // Products of three entries must neither overflow nor vanish. Two steps: 1 / 1e-310 is not finite.
    let unit = a.to_cols_array().map(|v| v / largest);
    let unit = DMat3::from_cols_array(&unit);
    let mirror = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
    let mirrored = handedness(unit) == Ordering::Less;
    let proper = if mirrored { unit * mirror } else { unit };
    let q = rotation_of_proper(proper);
    let p = q.transpose() * proper;
    let p = (p + p.transpose()) * (0.5 * largest);
    (q, if mirrored { p * mirror } else { p })
}

/// The rotation `r` that maximises the trace of `r^T a`: U D V^T of `a = U S V^T` with D = diag(1, 1, +-1), determinant
/// +1 (Kabsch 1978, Umeyama 1991). For det a >= 0 it is that of [`polar()`]; a mirrored `a` gets the best proper rotation,
/// which is not that one. The identity if `a` is not finite.
pub fn nearest_rotation(a: DMat3) -> DMat3 {
    let largest = largest_entry(a);
    if !largest.is_finite() || largest == 0.0 {
        return DMat3::IDENTITY;
    }
    rotation_by_svd(DMat3::from_cols_array(
        &a.to_cols_array().map(|v| v / largest),
    ))
}

/// The largest |entry|, not finite where any entry is not.
pub fn largest_entry(a: DMat3) -> f64 {
    // `f64::max` alone would drop a NaN.
    if !a.is_finite() {
        return f64::NAN;
    }
    a.to_cols_array()
        .iter()
        .fold(0.0, |largest, v| largest.max(v.abs()))
}

/// Whether `a` keeps the orientation of space (`Greater`), mirrors it (`Less`), or is flat but for rounding (`Equal`), as one
/// that is not finite.
pub fn handedness(a: DMat3) -> Ordering {
    let largest = largest_entry(a);
    if !largest.is_finite() || largest == 0.0 {
        return Ordering::Equal;
    }
    let unit = a.to_cols_array().map(|v| v / largest);
    let determinant = DMat3::from_cols_array(&unit).determinant();
    if determinant.abs() < FLAT {
        return Ordering::Equal;
    }
    determinant.total_cmp(&0.0)
}

/// The deviation of `a` from orthonormal: the largest entry of |a^T a - 1|.
pub fn orthonormality_error(a: DMat3) -> f64 {
    largest_entry(a.transpose() * a - DMat3::IDENTITY)
}

/// The rotation of a matrix with det >= 0 and largest |entry| 1.
fn rotation_of_proper(a: DMat3) -> DMat3 {
    if a.determinant() < 1e-10 * frobenius(a).powi(3) {
        return rotation_by_svd(a);
    }
    let mut q = a;
    for _ in 0..12 {
        let inverse_transpose = q.inverse().transpose();
        let gamma = (frobenius(inverse_transpose) / frobenius(q)).sqrt();
        let next = (q * gamma + inverse_transpose * (1.0 / gamma)) * 0.5;
        let change = largest_entry(next - q);
        q = next;
        if change < 1e-15 {
            break;
        }
    }
    if orthonormality_error(q) < 1e-14 {
        q
    } else {
        rotation_by_svd(a)
    }
}

fn frobenius(a: DMat3) -> f64 {
    a.to_cols_array().iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// U V^T of `a = U S V^T`, with the last column of U negated if that makes it a proper rotation.
fn rotation_by_svd(a: DMat3) -> DMat3 {
    // One-sided Jacobi: rotate pairs of columns of `us` until all are perpendicular.
    let mut us = [a.x_axis, a.y_axis, a.z_axis];
    let mut v = [DVec3::X, DVec3::Y, DVec3::Z];
    for _ in 0..30 {
        let mut worst: f64 = 0.0;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let (alpha, beta) = (us[i].length_squared(), us[j].length_squared());
            let gamma = us[i].dot(us[j]);
            if gamma == 0.0 || gamma * gamma <= 1e-34 * alpha * beta {
                continue;
            }
            worst = worst.max(gamma.abs() / (alpha * beta).sqrt());
            let zeta = (beta - alpha) / (2.0 * gamma);
            let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            let s = c * t;
            (us[i], us[j]) = (us[i] * c - us[j] * s, us[i] * s + us[j] * c);
            (v[i], v[j]) = (v[i] * c - v[j] * s, v[i] * s + v[j] * c);
        }
        if worst < 1e-15 {
            break;
        }
    }
    let mut by_size = [0, 1, 2];
    by_size.sort_by(|&i, &j| us[j].length_squared().total_cmp(&us[i].length_squared()));
    let [first, second, _] = by_size;
    // Third columns by cross product: two proper frames have a proper product, whatever the smallest value's sign.
    let (v0, v1) = (v[first], v[second]);
    let v2 = v0.cross(v1);
    let u0 = us[first].try_normalize().unwrap_or(v0);
    let u1 = us[second] - u0 * u0.dot(us[second]);
    // Below the rounding of the first column the second has no direction of its own.
    let u1 = if u1.length() > 1e-14 * us[first].length() {
        u1.try_normalize()
    } else {
        None
    };
    let u1 = u1.unwrap_or_else(|| perpendicular_like(u0, v1));
    let u2 = u0.cross(u1);
    DMat3::from_cols(u0, u1, u2) * DMat3::from_cols(v0, v1, v2).transpose()
}

/// A unit vector perpendicular to unit `axis`, near `wish` if possible.
fn perpendicular_like(axis: DVec3, wish: DVec3) -> DVec3 {
    let across = wish - axis * axis.dot(wish);
    if across.length() > 0.1 {
        across * (1.0 / across.length())
    } else {
        axis.any_orthonormal_vector()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    fn check(a: DMat3, tolerance: f64) {
        let (q, p) = polar(a);
        let size = largest_entry(a).max(f64::MIN_POSITIVE);
        assert!(q.is_finite() && p.is_finite(), "{a}");
        assert!(orthonormality_error(q) < 1e-13, "{a}: {q}");
        assert!((q.determinant() - 1.0).abs() < 1e-13, "{a}: {q}");
        let error = largest_entry(q * p - a) / size;
        assert!(error < tolerance, "{a}: {error:e}");
    }

    #[test]
    fn rotation_and_stretch_come_apart_and_multiply_back() {
        let r = DMat3::from_quat(DQuat::from_xyzw(0.1, -0.7, 0.5, 0.5));
        let stretch = DMat3::from_cols(
            DVec3::new(2.0, 0.3, -0.1),
            DVec3::new(0.3, 1.0, 0.2),
            DVec3::new(-0.1, 0.2, 0.5),
        );
        let (q, p) = polar(r * stretch);
        assert!(q.abs_diff_eq(r, 1e-14));
        assert!(p.abs_diff_eq(stretch, 1e-14));
    }

    #[test]
    fn mirrored_flat_and_zero_matrices_stay_proper_rotations() {
        let r = DMat3::from_quat(DQuat::from_rotation_y(0.7) * DQuat::from_rotation_x(2.0));
        for s in [
            [-1.0, 1.0, 1.0],
            [1.0, 1.0, 0.0],
            [0.0, 0.0, 0.0],
            [0.0, 3.0, 0.0],
            [-1.0, -1.0, -1.0],
            [1.0, -2.0, 0.0],
            [1.0, 1e-6, 1e-12],
            [1.0, 1e-17, 1e-17],
        ] {
            let s = DMat3::from_diagonal(DVec3::from_array(s));
            check(r * s, 2.7e-15);
            check(s * r, 2.7e-15);
            check(r * s * r, 2.7e-15);
        }
        let mirrored = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
        assert_eq!(polar(mirrored), (DMat3::IDENTITY, mirrored));
    }

    #[test]
    fn a_flat_matrix_keeps_its_rotation_whatever_rounding_makes_of_it() {
        let r = DMat3::from_quat(DQuat::from_rotation_y(0.7) * DQuat::from_rotation_x(2.0));
        for flat in [DVec3::X, DVec3::Y, DVec3::Z] {
            let rounded = |of: f64| r * DMat3::from_diagonal(DVec3::ONE - flat * (1.0 - of));
            for rounding in [0.0, 1e-16, -1e-16, 3e-15, -3e-15] {
                assert_eq!(handedness(rounded(rounding)), Ordering::Equal);
                check(rounded(rounding), 1e-14);
                let (q, _) = polar(rounded(rounding));
                assert!(q.abs_diff_eq(r, 1e-13), "{flat}: {rounding}");
            }
            assert_eq!(handedness(rounded(-1e-6)), Ordering::Less);
            assert_eq!(handedness(rounded(1e-6) * 1e-200), Ordering::Greater);
        }
        assert_eq!(handedness(DMat3::IDENTITY * f64::NAN), Ordering::Equal);
    }

    #[test]
    fn the_nearest_rotation_of_a_mirrored_matrix_turns_its_weakest_direction_round() {
        let r = DMat3::from_quat(DQuat::from_rotation_y(0.7) * DQuat::from_rotation_x(2.0));
        let s = DMat3::from_quat(DQuat::from_rotation_z(1.1));
        let stretch = |d: [f64; 3]| s * DMat3::from_diagonal(DVec3::from_array(d)) * s.transpose();
        assert!(nearest_rotation(r * stretch([3.0, 2.0, 1.0])).abs_diff_eq(r, 1e-14));
        // trace(r^T a) = 3 + 2 - 0.1 is the most that a proper rotation reaches.
        let a = r * stretch([3.0, 2.0, -0.1]);
        assert!(nearest_rotation(a).abs_diff_eq(r, 1e-14));
        assert_eq!(nearest_rotation(DMat3::ZERO), DMat3::IDENTITY);
        assert_eq!(
            nearest_rotation(DMat3::IDENTITY * f64::NAN),
            DMat3::IDENTITY
        );
    }

    #[test]
    fn absurd_numbers_give_finite_rotations() {
        let shear = DMat3::from_cols(DVec3::ONE, DVec3::ONE, DVec3::new(1.0, 1.0, 1.0 + 1e-15));
        for size in [1e-320, 1e-200, 1e-30, 1.0, 1e30, 1e200] {
            check(shear * size, if size < 1e-300 { 0.1 } else { 1e-14 });
            check(DMat3::IDENTITY * size, 1e-14);
        }
        let nan = DMat3::from_diagonal(DVec3::new(f64::NAN, 1.0, 1.0));
        assert_eq!(polar(nan), (DMat3::IDENTITY, DMat3::IDENTITY));
        let infinite = DMat3::from_diagonal(DVec3::new(1.0, f64::INFINITY, 1.0));
        assert_eq!(polar(infinite), (DMat3::IDENTITY, DMat3::IDENTITY));
    }

    proptest::proptest! {
        #[test]
        fn any_matrix_has_a_rotation_and_a_stretch(
            entries in proptest::array::uniform9(-1e3f64..1e3),
            flatten in 0usize..4,
        ) {
            let mut a = DMat3::from_cols_array(&entries);
            // Two equal columns, or one that vanishes: singular on purpose.
            match flatten {
                1 => a.y_axis = a.x_axis,
                2 => a.z_axis = DVec3::ZERO,
                3 => a.y_axis = a.x_axis * -2.0 + a.z_axis,
                _ => {}
            }
            check(a, 1e-12);
        }
    }
}
