//! The polar decomposition of a 3x3 matrix.

use glam::{DMat3, DVec3};

/// A = Q P with Q a rotation (det +1) and P the stretch; a mirrored A keeps its reflection in P (METHODS 4.2).
///
/// P is symmetric where det A >= 0. Every finite A has a finite result, singular ones too.
pub fn polar(a: DMat3) -> (DMat3, DMat3) {
    if a.determinant() < 0.0 {
        let mirror = DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0));
        let (q, p) = polar(a * mirror);
        return (q, p * mirror);
    }
    let (u, s, v) = svd(a);
    let mut q = u * v.transpose();
    if q.determinant() < 0.0 {
        q = DMat3::from_cols(u.x_axis, u.y_axis, -u.z_axis) * v.transpose();
    }
    (q, v * DMat3::from_diagonal(s) * v.transpose())
}

/// A = U diag(s) V^T, s descending, U and V orthogonal: one-sided Jacobi (Hestenes 1958).
fn svd(a: DMat3) -> (DMat3, DVec3, DMat3) {
    let scale = a.to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if !(scale.is_finite() && scale > 0.0) {
        return (DMat3::IDENTITY, DVec3::ZERO, DMat3::IDENTITY);
    }
    let mut b = [a.x_axis / scale, a.y_axis / scale, a.z_axis / scale];
    let mut v = [DVec3::X, DVec3::Y, DVec3::Z];
    for _ in 0..32 {
        let mut done = true;
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            let (alpha, beta, gamma) = (b[i].dot(b[i]), b[j].dot(b[j]), b[i].dot(b[j]));
            if gamma.abs() <= 1e-16 * (alpha * beta).sqrt() || gamma == 0.0 {
                continue;
            }
            done = false;
            let zeta = (beta - alpha) / (2.0 * gamma);
            let t = zeta.signum() / (zeta.abs() + zeta.hypot(1.0));
            let c = 1.0 / t.hypot(1.0);
            for m in [&mut b, &mut v] {
                (m[i], m[j]) = (m[i] * c - m[j] * (c * t), m[i] * (c * t) + m[j] * c);
            }
        }
        if done {
            break;
        }
    }
    let mut order = [0, 1, 2];
    order.sort_by(|&i, &j| b[j].length_squared().total_cmp(&b[i].length_squared()));
    let s = order.map(|i| b[i].length());
    let u0 = b[order[0]].normalize_or(DVec3::X);
    let u1 = if s[1] > 1e-15 * s[0] {
        b[order[1]].normalize_or(DVec3::Y)
    } else {
        u0.any_orthonormal_vector()
    };
    let u2 = if s[2] > 1e-15 * s[0] {
        b[order[2]].normalize_or(DVec3::Z)
    } else {
        u0.cross(u1)
    };
    (
        DMat3::from_cols(u0, u1, u2),
        DVec3::from_array(s) * scale,
        DMat3::from_cols(v[order[0]], v[order[1]], v[order[2]]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_matrix_is_its_rotation_times_its_stretch() {
        let shear = DMat3::from_cols_array(&[1.0, 0.5, 0.0, -0.3, 2.0, 0.1, 0.7, 0.0, 0.4]);
        for a in [
            shear,
            shear * DMat3::from_diagonal(DVec3::new(1.0, -1.0, 1.0)),
            DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0)),
            DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0)),
            DMat3::from_diagonal(DVec3::new(0.0, 2.0, 0.0)),
            DMat3::ZERO,
            DMat3::IDENTITY * 1e-8,
            DMat3::from_rotation_x(2.0) * 100.0,
        ] {
            let (q, p) = polar(a);
            let size = a.to_cols_array().iter().fold(0.0f64, |m, x| m.max(x.abs()));
            assert!((q * p).abs_diff_eq(a, 4e-15 * size), "{a}");
            assert!((q.determinant() - 1.0).abs() < 1e-14, "{a}");
            assert!(
                (q.transpose() * q).abs_diff_eq(DMat3::IDENTITY, 1e-14),
                "{a}"
            );
        }
    }
}
