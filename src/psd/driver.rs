//! Driver joints: what of a rotation counts, and the distance between two rotations.

use crate::math::swing_twist::{twist, twist_angle};
use glam::{DQuat, DVec3};

/// What of a driver joint's rotation from bind counts. Axes are unit, in the joint's own space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DriverMode {
    /// The angle about an axis, -180 to 180 degrees; it jumps at 180.
    Hinge(DVec3),
    /// The whole rotation, by the chordal distance: smooth through a full turn.
    #[default]
    Ball,
    /// The rotation without its twist about an axis.
    Swing(DVec3),
    /// The twist about an axis alone.
    Twist(DVec3),
}

/// What counts of one rotation: (angle, 0, 0, 0) of a hinge, else a unit quaternion (x, y, z, w).
pub type Feature = [f64; 4];

impl DriverMode {
    /// Its name in files and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hinge(_) => "hinge",
            Self::Ball => "ball",
            Self::Swing(_) => "swing",
            Self::Twist(_) => "twist",
        }
    }

    /// Its axis, in the joint's own space.
    pub fn axis(self) -> Option<DVec3> {
        match self {
            Self::Ball => None,
            Self::Hinge(axis) | Self::Swing(axis) | Self::Twist(axis) => Some(axis),
        }
    }

    /// The mode with another axis; a ball has none.
    #[must_use]
    pub fn with_axis(self, axis: DVec3) -> Self {
        match self {
            Self::Ball => Self::Ball,
            Self::Hinge(_) => Self::Hinge(axis),
            Self::Swing(_) => Self::Swing(axis),
            Self::Twist(_) => Self::Twist(axis),
        }
    }

    /// What counts of `rotation`, the joint's rotation from bind in its own space, unit.
    pub fn feature(self, rotation: DQuat) -> Feature {
        match self {
            Self::Hinge(axis) => [twist_angle(rotation, axis), 0.0, 0.0, 0.0],
            Self::Ball => rotation.to_array(),
            Self::Swing(axis) => (rotation * twist(rotation, axis).conjugate()).to_array(),
            Self::Twist(axis) => twist(rotation, axis).to_array(),
        }
    }

    /// The squared distance of two features of this mode: radians of a hinge, else the chordal distance
    /// `4 (1 - (q . p)^2) = |R - P|_F^2 / 2`, which is `4 sin^2(theta / 2)` of the angle between them.
    pub fn distance_squared(self, a: &Feature, b: &Feature) -> f64 {
        if let Self::Hinge(_) = self {
            return (a[0] - b[0]) * (a[0] - b[0]);
        }
        // 1 - (q . p)^2 = |vec(q^-1 p)|^2, without the cancellation of the difference.
        let [ax, ay, az, aw] = *a;
        let [bx, by, bz, bw] = *b;
        let x = aw * bx - ax * bw - ay * bz + az * by;
        let y = aw * by - ay * bw - az * bx + ax * bz;
        let z = aw * bz - az * bw - ax * by + ay * bx;
        4.0 * (x * x + y * y + z * z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::transform::normalize_or_identity;

    fn distance(mode: DriverMode, a: DQuat, b: DQuat) -> f64 {
        mode.distance_squared(&mode.feature(a), &mode.feature(b))
            .sqrt()
    }

    #[test]
    fn the_chordal_distance_has_its_values_and_no_sign() {
        let axis = DVec3::new(1.0, 2.0, 2.0) / 3.0;
        let base = normalize_or_identity(DQuat::from_xyzw(0.5, -0.5, 0.1, 0.7));
        for (degrees, expected) in [(0.0, 0.0), (60.0, 1.0), (90.0, 2f64.sqrt()), (180.0, 2.0)] {
            let other = base * DQuat::from_axis_angle(axis, f64::to_radians(degrees));
            for sign in [1.0, -1.0] {
                let found = distance(DriverMode::Ball, base, other * sign);
                assert!((found - expected).abs() < 1e-15, "{degrees}: {found}");
            }
        }
    }

    #[test]
    fn swing_and_twist_see_their_part_alone() {
        let axis = DVec3::X;
        let bent = DQuat::from_rotation_z(0.7);
        let both = |twist: f64| bent * DQuat::from_rotation_x(twist);
        assert!(distance(DriverMode::Swing(axis), both(0.3), both(-1.2)) < 1e-15);
        let found = distance(DriverMode::Twist(axis), both(0.3), both(1.3));
        assert!((found - 2.0 * 0.5f64.sin()).abs() < 1e-15);
    }

    #[test]
    fn a_hinge_reads_the_angle_about_its_axis() {
        let hinge = DriverMode::Hinge(DVec3::Z);
        for degrees in [-179.0, -90.0, 0.0, 45.0, 179.0] {
            let q = DQuat::from_rotation_z(f64::to_radians(degrees));
            for q in [q, -q] {
                let [angle, ..] = hinge.feature(q);
                assert!(
                    (angle.to_degrees() - degrees).abs() < 1e-12,
                    "{degrees}: {angle}"
                );
            }
        }
    }
}
