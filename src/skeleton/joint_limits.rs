//! Rotation limits of joints. Unlike a Limit Rotation constraint they leave clips as they are: they act while the artist poses.

use super::constraint::EulerOrder;
use super::constraint::limit::limit_euler;
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use glam::{DMat3, DQuat};
use std::f64::consts::PI;

/// A rotation that exceeds its limits by no more than this is within them, radians.
pub const NEAR: f64 = 1e-6;
/// Entries of a rotation closer than this to -1, 0 or 1 are those of a quarter turn.
const QUARTER: f64 = 1e-9;

/// The smallest and largest angles of a joint from its rest rotation about x, y and z, radians: R = Rz Ry Rx. An axis without
/// freedom has the range 0 - 0, a free one that of [`JointLimits::FREE`].
///
/// Source: the degrees of freedom and ranges of joints in paper 003, section 3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLimits(pub [[f64; 2]; 3]);

/// The rotation limits of a chain's root and mid joint; `None`: it rotates freely.
pub type ChainLimits = [Option<JointLimits>; 2];

impl JointLimits {
    /// The range of an axis without a limit.
    pub const FREE: [f64; 2] = [-PI, PI];

    /// Whether every range is ascending and within ±π.
    pub fn is_valid(&self) -> bool {
        let is_range = |&[low, high]: &[f64; 2]| low >= -PI && low <= high && high <= PI;
        self.0.iter().all(is_range)
    }

    /// A local rotation, clamped to the limits.
    pub fn clamped(&self, rotation: DQuat, rest: &Transform) -> DQuat {
        let turn = rest.rotation.conjugate() * rotation;
        rest.rotation * limit_euler(turn, self.0, EulerOrder::Xyz)
    }

    /// The angle by which a local rotation exceeds the limits, radians; 0 within them.
    pub fn excess(&self, rotation: DQuat, rest: &Transform) -> f64 {
        let clamped = self.clamped(rotation, rest);
        let off = normalize_or_identity(clamped.conjugate() * rotation);
        let angle = 2.0 * off.xyz().length().atan2(off.w.abs());
        if angle <= NEAR { 0.0 } else { angle }
    }

    /// The limits with each range as wide as the angles of a local rotation need: it is within them.
    #[must_use]
    pub fn with(&self, rotation: DQuat, rest: &Transform) -> Self {
        let turn = rest.rotation.conjugate() * rotation;
        let angles = EulerOrder::Xyz.angles(turn).to_array();
        Self(std::array::from_fn(|i| {
            let [low, high] = self.0[i];
            [low.min(angles[i]), high.max(angles[i])]
        }))
    }

    /// The limits of the mirror image: local axes are mirrored by F = diag(-1, 1, 1), so that rotations about y and z change
    /// their sign, or with `is_behavior` by F = -I, which keeps every rotation (`R' = F R F`).
    #[must_use]
    pub fn mirrored(&self, is_behavior: bool) -> Self {
        let [x, y, z] = self.0;
        let negated = |[low, high]: [f64; 2]| [0.0 - high, 0.0 - low];
        if is_behavior {
            *self
        } else {
            Self([x, negated(y), negated(z)])
        }
    }

    /// The limits about axes that are rotated by `turn`; `None` unless it is a multiple of 90 degrees about each: limits about other
    /// axes are no ranges of Euler angles.
    #[must_use]
    pub fn turned(&self, turn: DQuat) -> Option<Self> {
        let axes = DMat3::from_quat(turn).to_cols_array_2d();
        let mut ranges = [[0.0; 2]; 3];
        let mut n_limited = 0;
        for (range, axis) in ranges.iter_mut().zip(axes) {
            let old = (0..3).find(|&i| axis[i].abs() > 1.0 - QUARTER)?;
            let [low, high] = self.0[old];
            *range = if axis[old] > 0.0 {
                [low, high]
            } else {
                [-high, -low]
            };
            n_limited += usize::from(*range != [0.0; 2]);
        }
        // The order of the angles matters where several are not 0.
        let keeps_order = axes.iter().enumerate().all(|(i, axis)| axis[i].abs() > 0.5);
        (keeps_order || n_limited <= 1).then_some(Self(ranges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hinge_bends_about_one_axis_within_its_range() {
        let rest = Transform {
            rotation: DQuat::from_rotation_y(0.7),
            ..Transform::IDENTITY
        };
        let hinge = JointLimits([[0.0, 2.0], [0.0; 2], [0.0; 2]]);
        assert!(hinge.is_valid() && !JointLimits([[1.0, 0.0]; 3]).is_valid());
        assert!(!JointLimits([[f64::NAN, 0.0]; 3]).is_valid());
        let bent = |x: f64| rest.rotation * DQuat::from_rotation_x(x);
        assert_eq!(hinge.excess(bent(1.5), &rest), 0.0);
        assert!((hinge.excess(bent(2.5), &rest) - 0.5).abs() < 1e-12);
        assert!(
            hinge
                .clamped(bent(-0.3), &rest)
                .angle_between(rest.rotation)
                < 1e-7
        );
        let twisted = bent(1.0) * DQuat::from_rotation_z(0.4);
        let wide = hinge.with(twisted, &rest);
        assert!(wide.excess(twisted, &rest) == 0.0 && wide.is_valid());
        assert!(wide.excess(bent(2.5), &rest) > 0.0);
        let held = hinge.clamped(twisted, &rest);
        assert!(hinge.excess(held, &rest) == 0.0 && hinge.excess(twisted, &rest) > 0.3);
    }

    #[test]
    fn mirrored_limits_hold_mirrored_rotations() {
        let limits = JointLimits([[-0.2, 1.0], [-0.5, 0.1], [0.0, 0.7]]);
        let mirrored = limits.mirrored(false);
        assert_eq!(mirrored.0, [[-0.2, 1.0], [-0.1, 0.5], [-0.7, 0.0]]);
        assert_eq!(limits.mirrored(true), limits);
        // F R F negates the y and z of the quaternion.
        let turn = DQuat::from_euler(glam::EulerRot::ZYX, 1.2, -0.3, 0.4);
        let image = |q: DQuat| DQuat::from_xyzw(q.x, -q.y, -q.z, q.w);
        let rest = Transform::IDENTITY;
        let apart =
            image(limits.clamped(turn, &rest)).angle_between(mirrored.clamped(image(turn), &rest));
        assert!(apart < 1e-7, "{apart}");
    }

    #[test]
    fn limits_follow_axes_that_take_quarter_turns() {
        let hinge = JointLimits([[0.0, 2.0], [0.0; 2], [0.0; 2]]);
        let quarter = DQuat::from_rotation_z(PI / 2.0);
        // The old x is the new -y.
        let turned = hinge.turned(quarter).unwrap();
        assert_eq!(turned.0, [[0.0; 2], [-2.0, 0.0], [0.0; 2]]);
        let q = DQuat::from_rotation_x(1.2);
        let same = quarter.conjugate() * q * quarter;
        assert_eq!(turned.excess(same, &Transform::IDENTITY), 0.0);
        assert_eq!(hinge.turned(DQuat::from_rotation_z(0.3)), None);
        let ball = JointLimits([[-1.0, 1.0]; 3]);
        assert_eq!(ball.turned(quarter), None);
        assert!(ball.turned(DQuat::from_rotation_z(PI)).is_some());
    }
}
