//! The local transform of a joint.

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3};

/// A local transform `x -> translation + rotation * (stretch * x)`.
///
/// glTF's translation, rotation, scale have `stretch = diag(scale)`. A node given as a `matrix` may shear:
/// its stretch is then the full matrix of its polar decomposition, so that no information is lost.
/// f64 holds every f32 of a file exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Position in the parent's space, metres.
    pub translation: DVec3,
    /// Rotation, unit.
    pub rotation: DQuat,
    /// Scale and shear, applied first.
    pub stretch: DMat3,
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Transform {
    /// The identity.
    pub const IDENTITY: Self = Self {
        translation: DVec3::ZERO,
        rotation: DQuat::IDENTITY,
        stretch: DMat3::IDENTITY,
    };

    /// A transform without shear.
    pub fn from_trs(translation: DVec3, rotation: DQuat, scale: DVec3) -> Self {
        Self {
            translation,
            rotation,
            stretch: DMat3::from_diagonal(scale),
        }
    }

    /// A rigid transform.
    pub fn from_rotation_translation(rotation: DQuat, translation: DVec3) -> Self {
        Self {
            translation,
            rotation,
            stretch: DMat3::IDENTITY,
        }
    }

    /// The scale along the axes: the diagonal of the stretch, exact unless [`Transform::has_shear`].
    pub fn scale(&self) -> DVec3 {
        DVec3::new(
            self.stretch.x_axis.x,
            self.stretch.y_axis.y,
            self.stretch.z_axis.z,
        )
    }

    /// Whether the stretch has entries off its diagonal.
    pub fn has_shear(&self) -> bool {
        self.stretch != DMat3::from_diagonal(self.scale())
    }

    /// Rotation and stretch as one 3x3 matrix.
    pub fn linear(&self) -> DMat3 {
        DMat3::from_quat(self.rotation) * self.stretch
    }

    /// The transform as an affine map.
    pub fn to_affine(&self) -> DAffine3 {
        DAffine3::from_mat3_translation(self.linear(), self.translation)
    }

    /// The transform as a 4x4 matrix.
    pub fn to_matrix(&self) -> DMat4 {
        DMat4::from(self.to_affine())
    }

    /// Whether every component is a finite number.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.stretch.is_finite()
    }
}

/// The unit quaternion nearest to `q`, or the identity if `q` is zero or not finite.
pub fn normalize_or_identity(q: DQuat) -> DQuat {
    let length = q.length();
    if length.is_finite() && length > 1e-30 {
        q * (1.0 / length)
    } else {
        DQuat::IDENTITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_scales_then_rotates_then_moves() {
        let half_turn = DQuat::from_rotation_z(std::f64::consts::PI);
        let t = Transform::from_trs(DVec3::X, half_turn, DVec3::new(2.0, 1.0, 1.0));
        assert!(
            t.to_affine()
                .transform_point3(DVec3::X)
                .abs_diff_eq(DVec3::new(-1.0, 0.0, 0.0), 1e-15)
        );
        assert_eq!(t.scale(), DVec3::new(2.0, 1.0, 1.0));
        assert!(!t.has_shear());
    }

    #[test]
    fn a_zero_quaternion_becomes_the_identity() {
        assert_eq!(
            normalize_or_identity(DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0)),
            DQuat::IDENTITY
        );
        assert_eq!(
            normalize_or_identity(DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0)),
            DQuat::IDENTITY
        );
    }
}
