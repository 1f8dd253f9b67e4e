//! A rigid motion.

use crate::math::transform::normalize_or_identity;
use glam::{DMat4, DQuat, DVec3};

/// A rotation, then a translation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rigid {
    /// Unit.
    pub rotation: DQuat,
    /// Metres.
    pub translation: DVec3,
}

impl Rigid {
    /// The motion that changes nothing.
    pub const IDENTITY: Self = Self {
        rotation: DQuat::IDENTITY,
        translation: DVec3::ZERO,
    };

    /// A rotation that takes `from` to `to`.
    pub(super) fn about(rotation: DQuat, from: DVec3, to: DVec3) -> Self {
        Self {
            rotation,
            translation: to - rotation * from,
        }
    }

    /// Moves a point.
    pub fn apply(&self, p: DVec3) -> DVec3 {
        self.rotation * p + self.translation
    }

    /// This motion, then another one.
    pub(super) fn then(&self, next: &Self) -> Self {
        Self {
            rotation: normalize_or_identity(next.rotation * self.rotation),
            translation: next.apply(self.translation),
        }
    }

    /// The motion back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let rotation = self.rotation.conjugate();
        Self {
            rotation,
            translation: -(rotation * self.translation),
        }
    }

    /// The angle of the rotation, radians, 0 - pi.
    pub fn angle(&self) -> f64 {
        let [x, y, z, w] = self.rotation.to_array();
        2.0 * DVec3::new(x, y, z).length().atan2(w.abs())
    }

    /// As a matrix.
    pub fn to_matrix(&self) -> DMat4 {
        DMat4::from_rotation_translation(self.rotation, self.translation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_motion_and_its_inverse_change_nothing() {
        let axis = DVec3::new(1.0, 2.0, -3.0).normalize_or_zero();
        let motion = Rigid {
            rotation: DQuat::from_axis_angle(axis, 2.5),
            translation: DVec3::new(0.3, -4.0, 2.0),
        };
        let p = DVec3::new(1.5, 0.2, -0.7);
        assert!(motion.inverse().apply(motion.apply(p)).distance(p) < 1e-14);
        let both = motion.then(&motion.inverse());
        assert!(both.apply(p).distance(p) < 1e-14 && both.angle() < 1e-7);
        assert!((motion.angle() - 2.5).abs() < 1e-14);
        assert!((motion.to_matrix().transform_point3(p) - motion.apply(p)).length() < 1e-14);
        assert_eq!(Rigid::IDENTITY.apply(p), p);
    }
}
