//! Angles between bones.

use crate::math::swing_twist::wrap_angle;
use glam::DVec3;

/// The angle from the direction of one bone to that of another, radians: 0 - pi, or with a unit `hinge` axis the angle
/// about it, -pi to pi. NaN where a bone has no length.
///
/// Directions need not be unit. The axis turns with the skeleton: give it in the space of the directions.
pub fn bone_angle(upper: DVec3, lower: DVec3, hinge: Option<DVec3>) -> f64 {
    let (Some(a), Some(b)) = (upper.try_normalize(), lower.try_normalize()) else {
        return f64::NAN;
    };
    match hinge {
        Some(axis) => a.cross(b).dot(axis).atan2(a.dot(b)),
        // Exact near 0 and pi, where the arc cosine is not.
        None => 2.0 * (a - b).length().atan2((a + b).length()),
    }
}

/// The angle `now` minus that at bind, -pi to pi: 0 at bind, and no jump where a signed angle passes pi.
pub fn angle_from_bind(now: f64, bind: f64) -> f64 {
    wrap_angle(now - bind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn angles_are_plain_or_about_the_hinge() {
        let at =
            |degrees: f64| DVec3::new(degrees.to_radians().cos(), degrees.to_radians().sin(), 0.0);
        for degrees in [-150.0, -30.0, 0.0, 1e-7, 60.0, 179.0] {
            let plain = bone_angle(DVec3::X, at(degrees) * 3.0, None);
            let signed = bone_angle(DVec3::X, at(degrees), Some(DVec3::Z));
            assert!((plain - f64::to_radians(degrees).abs()).abs() < 1e-15);
            assert!((signed - f64::to_radians(degrees)).abs() < 1e-15);
        }
        assert!(bone_angle(DVec3::ZERO, DVec3::X, None).is_nan());
        let across = angle_from_bind(f64::to_radians(-170.0), f64::to_radians(170.0));
        assert!((across - 20.0 * PI / 180.0).abs() < 1e-14);
    }
}
