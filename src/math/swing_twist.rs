//! The twist of a rotation about an axis, and the swing that is left.

use glam::{DQuat, DVec3};
use std::f64::consts::{PI, TAU};

/// Below this |(w, v . axis)| a rotation is a swing by 180 degrees, whose twist is undetermined.
const NO_TWIST: f64 = 1e-9;

/// The twist of a unit rotation about a unit axis, with w >= 0; the identity for a swing by 180 degrees. The swing is
/// `rotation * twist.conjugate()`.
pub fn twist(rotation: DQuat, axis: DVec3) -> DQuat {
    let (along, w) = (rotation.xyz().dot(axis), rotation.w);
    if along.abs() + w.abs() < NO_TWIST {
        return DQuat::IDENTITY;
    }
    let v = axis * along;
    let twist = super::transform::normalize_or_identity(DQuat::from_xyzw(v.x, v.y, v.z, w));
    if w < 0.0 { -twist } else { twist }
}

/// The angle of the twist about a unit axis, radians, -pi < angle <= pi; 0 for a swing by 180 degrees.
pub fn twist_angle(rotation: DQuat, axis: DVec3) -> f64 {
    let along = rotation.xyz().dot(axis);
    if along.abs() + rotation.w.abs() < NO_TWIST {
        return 0.0;
    }
    wrap_angle(2.0 * along.atan2(rotation.w))
}

/// The angle of the swing from a unit axis, radians, 0 - pi: how far the rotation tilts the axis.
pub fn swing_angle(rotation: DQuat, axis: DVec3) -> f64 {
    // |(w, v . axis)| is the cosine of half the swing, the rest of the quaternion its sine.
    let along = rotation.xyz().dot(axis);
    let across = (rotation.xyz() - axis * along).length();
    2.0 * across.atan2(along.hypot(rotation.w))
}

/// An angle within two turns of 0 as -pi < angle <= pi.
pub fn wrap_angle(angle: f64) -> f64 {
    if angle > PI {
        angle - TAU
    } else if angle <= -PI {
        angle + TAU
    } else {
        angle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swing_by_180_degrees_has_no_twist() {
        let half = DQuat::from_rotation_y(PI);
        assert_eq!(twist(half, DVec3::X), DQuat::IDENTITY);
        assert_eq!(twist_angle(half, DVec3::X), 0.0);
        assert!((swing_angle(half, DVec3::X) - PI).abs() < 1e-15);
    }

    #[test]
    fn swing_times_twist_is_the_rotation_and_each_has_its_angle() {
        let axis = DVec3::new(2.0, -1.0, 2.0) / 3.0;
        let tilt = axis.any_orthonormal_vector();
        for (bend, turn) in [(0.0, 0.4), (0.7, -1.2), (2.9, 3.0), (1.0, 0.0)] {
            let rotation = DQuat::from_axis_angle(tilt, bend) * DQuat::from_axis_angle(axis, turn);
            for q in [rotation, -rotation] {
                assert!((twist_angle(q, axis) - turn).abs() < 1e-14, "{bend} {turn}");
                assert!((swing_angle(q, axis) - bend).abs() < 1e-14, "{bend} {turn}");
                let found = twist(q, axis);
                assert!(found.w >= 0.0);
                let swing = q * found.conjugate();
                assert!((swing * found).abs_diff_eq(q, 1e-15));
                assert!(twist_angle(swing, axis).abs() < 1e-14);
            }
        }
    }
}
