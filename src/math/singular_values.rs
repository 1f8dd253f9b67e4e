//! The largest and the smallest singular value of a 3 x 3 matrix.

use glam::{DMat3, DVec3};

/// The squares of the largest and the smallest singular value, from the eigenvalues of `a^T a` in closed form (Smith 1961);
/// NaN where an entry is not finite. The smallest is exact to the rounding of the largest.
pub fn squared_singular_values(a: DMat3) -> [f64; 2] {
    let squared = a.transpose() * a;
    let trace = squared.x_axis.x + squared.y_axis.y + squared.z_axis.z;
    let mean = trace / 3.0;
    if !mean.is_finite() {
        return [f64::NAN; 2];
    }
    let off = squared - DMat3::from_diagonal(DVec3::splat(mean));
    let spread = (off.to_cols_array().iter().map(|v| v * v).sum::<f64>() / 6.0).sqrt();
    if spread <= 0.0 {
        return [mean; 2];
    }
    let angle = ((off * (1.0 / spread)).determinant() / 2.0)
        .clamp(-1.0, 1.0)
        .acos()
        / 3.0;
    let third = std::f64::consts::TAU / 3.0;
    [angle, angle + third].map(|angle| mean + 2.0 * spread * angle.cos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    #[test]
    fn rotations_change_no_singular_value() {
        let turns = [DQuat::from_rotation_x(0.7), DQuat::from_rotation_z(-1.9)];
        for (values, [largest, smallest]) in [
            ([3.0, 0.5, 2.0], [9.0, 0.25]),
            ([1e-3; 3], [1e-6, 1e-6]),
            ([0.0, -2.0, 1.0], [4.0, 0.0]),
        ] {
            let [u, v] = turns.map(DMat3::from_quat);
            let a = u * DMat3::from_diagonal(DVec3::from(values)) * v.transpose();
            let found = squared_singular_values(a);
            assert!((found[0] - largest).abs() < 1e-14, "{found:?}");
            assert!((found[1] - smallest).abs() < 1e-14, "{found:?}");
        }
        let broken = DMat3::from_diagonal(DVec3::new(1.0, f64::NAN, 1.0));
        assert!(squared_singular_values(broken)[0].is_nan());
    }
}
