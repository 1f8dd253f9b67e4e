//! Interpolation of a joint between keyframes or poses: per component, or along a screw.

use super::slerp::slerp_shortest;
use crate::math::{DualQuat, Transform};
use glam::{DQuat, DVec3};

/// The interpolation of a joint's rigid part, rotation and translation. Scale is always interpolated linearly.
///
/// A joint that only rotates, or only translates, follows the same path in all of them: its motion relative to the
/// start is a screw without pitch, or without rotation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RigidInterpolation {
    /// Rotation by slerp and translation by lerp, independently, as in glTF.
    #[default]
    Components,
    /// Along the screw from one to the other, at constant speed (ScLERP; Kavan et al. 2008).
    Screw,
    /// Along the same screw, faster in the middle: the normalised linear blend of dual quaternions (sDLB; Feng & Wan
    /// 2013, eqs. 16 and 17).
    ScrewDlb,
}

impl RigidInterpolation {
    /// All interpolations, the default first.
    pub const ALL: [Self; 3] = [Self::Components, Self::Screw, Self::ScrewDlb];

    /// The label in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::Components => "Components",
            Self::Screw => "Screw",
            Self::ScrewDlb => "Screw (DLB)",
        }
    }

    /// A sentence about its effect on a bone, for a tooltip.
    pub fn about(self) -> &'static str {
        match self {
            Self::Components => {
                "Location and rotation are interpolated separately, as in glTF players. A rotating bone moves on a straight \
                 line."
            }
            Self::Screw => {
                "Screw motion (ScLERP). A rotating bone moves on an arc at constant speed, like a hinge."
            }
            Self::ScrewDlb => {
                "The arc of Screw by dual quaternion blending (DLB): slower at its ends, faster in the middle."
            }
        }
    }

    /// Rotation and translation interpolated at `t`; exactly the ends for `t` <= 0 and >= 1.
    ///
    /// Input rotations must be unit. The result is unit, along the shorter arc.
    #[must_use]
    pub fn rigid(self, from: (DQuat, DVec3), to: (DQuat, DVec3), t: f64) -> (DQuat, DVec3) {
        if t <= 0.0 {
            return from;
        }
        if t >= 1.0 {
            return to;
        }
        let motion = |(rotation, translation): (DQuat, DVec3)| {
            DualQuat::from_rotation_translation(rotation, translation)
        };
        let stays = from.1 == to.1;
        let between = match self {
            Self::ScrewDlb => motion(from).dlb(motion(to), t),
            Self::Screw if !stays => motion(from).sclerp(motion(to), t),
            Self::Components | Self::Screw => {
                return (
                    slerp_shortest(from.0, to.0, t),
                    from.1 + (to.1 - from.1) * t,
                );
            }
        };
        // Exact where the motion is a rotation about the joint itself.
        let translation = if stays { from.1 } else { between.translation() };
        (between.rotation(), translation)
    }

    /// Rotation and translation past `to`, at `t` >= 1 on the way from `from`: the same arc and line, or the same screw at
    /// constant speed. Exactly `to` at 1.
    #[must_use]
    pub fn rigid_beyond(self, from: (DQuat, DVec3), to: (DQuat, DVec3), t: f64) -> (DQuat, DVec3) {
        if t <= 1.0 {
            return to;
        }
        let motion = |(rotation, translation): (DQuat, DVec3)| {
            DualQuat::from_rotation_translation(rotation, translation)
        };
        if self == Self::Components || from.1 == to.1 {
            return (
                slerp_shortest(from.0, to.0, t),
                from.1 + (to.1 - from.1) * t,
            );
        }
        let past = motion(from).sclerp(motion(to), t);
        (past.rotation(), past.translation())
    }

    /// The local transform interpolated at `t`; scale and shear are interpolated linearly.
    #[must_use]
    pub fn local(self, from: &Transform, to: &Transform, t: f64) -> Transform {
        let (rotation, translation) = self.rigid(
            (from.rotation, from.translation),
            (to.rotation, to.translation),
            t,
        );
        let stretch = if from.stretch == to.stretch {
            from.stretch
        } else {
            let t = t.clamp(0.0, 1.0);
            from.stretch * (1.0 - t) + to.stretch * t
        };
        Transform {
            translation,
            rotation,
            stretch,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn a_bone_that_rotates_and_moves_follows_an_arc_only_on_the_screw() {
        // A quarter turn about the world's z axis, at a distance of one metre.
        let from = (DQuat::IDENTITY, DVec3::X);
        let to = (DQuat::from_rotation_z(FRAC_PI_2), DVec3::Y);
        for interpolation in [RigidInterpolation::Screw, RigidInterpolation::ScrewDlb] {
            let (rotation, at) = interpolation.rigid(from, to, 0.5);
            assert!((at.length() - 1.0).abs() < 1e-12 && (at.x - at.y).abs() < 1e-12);
            assert!(rotation.abs_diff_eq(DQuat::from_rotation_z(FRAC_PI_2 / 2.0), 1e-12));
        }
        let (_, at) = RigidInterpolation::Components.rigid(from, to, 0.5);
        assert!(at.abs_diff_eq(DVec3::new(0.5, 0.5, 0.0), 1e-12));
    }

    #[test]
    fn a_bone_that_only_rotates_or_only_moves_has_the_same_path_in_all() {
        let place = DVec3::new(0.3, -2.0, 0.1);
        let turned = DQuat::from_rotation_y(2.0);
        let slerp =
            RigidInterpolation::Components.rigid((DQuat::IDENTITY, place), (turned, place), 0.3);
        let screw = RigidInterpolation::Screw.rigid((DQuat::IDENTITY, place), (turned, place), 0.3);
        assert_eq!(slerp, screw);
        for interpolation in RigidInterpolation::ALL {
            let (rotation, at) = interpolation.rigid((turned, DVec3::ZERO), (turned, place), 0.25);
            assert!(at.abs_diff_eq(place * 0.25, 1e-12), "{interpolation:?}");
            assert!(rotation.abs_diff_eq(turned, 1e-12), "{interpolation:?}");
            let (_, at) = interpolation.rigid((DQuat::IDENTITY, place), (turned, place), 0.3);
            assert_eq!(at, place, "{interpolation:?}");
        }
    }

    #[test]
    fn the_ends_are_exact_and_scale_is_linear() {
        let from = Transform::from_trs(DVec3::X, DQuat::from_rotation_x(0.2), DVec3::ONE);
        let to = Transform::from_trs(DVec3::Y, DQuat::from_rotation_z(3.0), DVec3::splat(3.0));
        for interpolation in RigidInterpolation::ALL {
            assert_eq!(interpolation.local(&from, &to, 0.0), from);
            assert_eq!(interpolation.local(&from, &to, 1.0), to);
            assert_eq!(
                interpolation.local(&from, &to, 0.5).scale(),
                DVec3::splat(2.0)
            );
        }
    }
}
