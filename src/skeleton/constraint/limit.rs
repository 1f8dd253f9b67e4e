//! Limits of rotations: a range for each angle, or a cone with a range of twist.

use super::euler::EulerOrder;
use super::swing_twist::{swing, twist_angle};
use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// `q`, relative to rest, with each of its angles in its range, radians; an angle outside goes to the nearer bound.
pub fn limit_euler(q: DQuat, ranges: [[f64; 2]; 3], order: EulerOrder) -> DQuat {
    let angles = order.angles(q).to_array();
    let limited: [f64; 3] = std::array::from_fn(|i| nearer(angles[i], ranges[i]));
    order.rotation(limited.into())
}

/// A cone about an axis, with a range of twist about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    /// The axis, unit.
    pub axis: DVec3,
    /// A direction across the axis, unit.
    pub side: DVec3,
    /// The half angles of the cone about `side` and about `axis x side`, radians, above 0.
    pub half_angles: [f64; 2],
    /// The smallest and largest twist, radians.
    pub twist: [f64; 2],
}

impl Cone {
    /// `q`, relative to rest, inside of the cone: with the swing v = angle x axis and k its length in half angles, v / k
    /// where k > 1; the twist goes to the nearer bound of its range.
    pub fn limit(&self, q: DQuat) -> DQuat {
        let swing = swing(q, self.axis);
        let swing = if swing.w < 0.0 { -swing } else { swing };
        let v = swing.to_scaled_axis();
        let across = [self.side, self.axis.cross(self.side)].map(|axis| v.dot(axis));
        let [a, b] = self.half_angles;
        let k = (across[0] / a).hypot(across[1] / b);
        let swing = if k > 1.0 {
            DQuat::from_scaled_axis(v / k)
        } else {
            swing
        };
        let twist = nearer(twist_angle(q, self.axis), self.twist);
        swing * DQuat::from_axis_angle(self.axis, twist)
    }
}

/// `angle` in a range of angles; outside the bound that is nearer around the circle.
fn nearer(angle: f64, [low, high]: [f64; 2]) -> f64 {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    let off = angle - middle;
    let off = off - TAU * (off / TAU).round();
    middle + off.clamp(-half.abs(), half.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees(angles: [f64; 2]) -> [f64; 2] {
        angles.map(f64::to_radians)
    }

    #[test]
    fn a_cone_holds_swing_and_twist() {
        let about = DVec3::new(0.0, 1.0, 1.0).normalize_or_zero();
        let q = DQuat::from_axis_angle(about, 80f64.to_radians())
            * DQuat::from_rotation_x(50f64.to_radians());
        let cone = Cone {
            axis: DVec3::X,
            side: DVec3::Y,
            half_angles: degrees([30.0, 45.0]),
            twist: degrees([-20.0, 35.0]),
        };
        let limited = cone.limit(q);
        let expected = [0.2865497867, 0.2689497666, 0.1400063868, 0.9088198141];
        assert!(
            limited.abs_diff_eq(DQuat::from_array(expected), 1e-9),
            "{limited}"
        );
        let v = swing(limited, DVec3::X).to_scaled_axis();
        assert!((v.y.to_degrees() - 24.9615088301).abs() < 1e-9);
        assert!((v.z.to_degrees() - 24.9615088301).abs() < 1e-9);
        assert!((twist_angle(limited, DVec3::X).to_degrees() - 35.0).abs() < 1e-9);
        // Inside nothing changes.
        let inside = DQuat::from_rotation_y(0.2) * DQuat::from_rotation_x(0.1);
        assert!(cone.limit(inside).abs_diff_eq(inside, 1e-15));
        let wide = Cone {
            twist: degrees([-20.0, 100.0]),
            ..cone
        };
        let back = wide.limit(DQuat::from_rotation_x(-170f64.to_radians()));
        assert!((twist_angle(back, DVec3::X).to_degrees() - 100.0).abs() < 1e-9);
    }

    #[test]
    fn angles_stay_in_their_ranges() {
        let angles = DVec3::new(100.0, -60.0, 40.0).map(f64::to_radians);
        let q = EulerOrder::Xyz.rotation(angles);
        let ranges = [[0.0, 90.0], [-30.0, 30.0], [-10.0, 10.0]].map(degrees);
        let limited = limit_euler(q, ranges, EulerOrder::Xyz);
        let expected = [0.6963642403, -0.1227878040, 0.2418447626, 0.6644630244];
        assert!(
            limited.abs_diff_eq(DQuat::from_array(expected), 1e-9),
            "{limited}"
        );
        // Another order has other angles.
        let q = EulerOrder::Zyx.rotation(angles);
        let limited = EulerOrder::Zyx.angles(limit_euler(q, ranges, EulerOrder::Zyx));
        let expected = DVec3::new(90.0, -30.0, 10.0);
        assert!(limited.map(f64::to_degrees).abs_diff_eq(expected, 1e-9));
    }
}
