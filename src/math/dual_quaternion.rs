//! Rigid motions as unit dual quaternions.

use super::transform::normalize_or_identity;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// A dual quaternion `real + e * dual`; a rigid motion where it is unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualQuat {
    /// The rotation.
    pub real: DQuat,
    /// Half of the translation times the rotation.
    pub dual: DQuat,
}

impl DualQuat {
    /// The identity.
    pub const IDENTITY: Self = Self {
        real: DQuat::IDENTITY,
        dual: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
    };

    /// The motion `x -> rotation * x + translation`; `rotation` must be unit.
    pub fn from_rotation_translation(rotation: DQuat, translation: DVec3) -> Self {
        Self {
            real: rotation,
            dual: pure(translation) * rotation * 0.5,
        }
    }

    /// The motion of a rigid matrix: its linear part must be orthonormal with determinant +1 (else [`super::polar()`]
    /// first).
    pub fn from_rigid(matrix: DAffine3) -> Self {
        Self::from_rotation_translation(quat_from_rotation(matrix.matrix3), matrix.translation)
    }

    /// The inverse motion of a unit dual quaternion: both quaternions conjugated.
    #[must_use]
    pub fn conjugate(self) -> Self {
        Self {
            real: self.real.conjugate(),
            dual: self.dual.conjugate(),
        }
    }

    /// The translation of a (not necessarily unit) dual quaternion:
    /// `2 (w0 v_e - w_e v0 + v0 x v_e) / |b0|^2`. Valid for any dual part; zero if the rotation is zero.
    pub fn translation(self) -> DVec3 {
        let (v0, ve) = (self.real.xyz(), self.dual.xyz());
        let scale = 2.0 / self.real.length_squared();
        if scale.is_finite() {
            (ve * self.real.w - v0 * self.dual.w + v0.cross(ve)) * scale
        } else {
            DVec3::ZERO
        }
    }

    /// The rotation, unit.
    pub fn rotation(self) -> DQuat {
        normalize_or_identity(self.real)
    }

    /// The motion as a matrix.
    pub fn to_affine(self) -> DAffine3 {
        DAffine3::from_rotation_translation(self.rotation(), self.translation())
    }

    /// The motion applied to `point`.
    pub fn transform_point3(self, point: DVec3) -> DVec3 {
        self.rotation() * point + self.translation()
    }

    /// The unit dual quaternion of the same motion: real part of length 1, perpendicular to the dual part.
    #[must_use]
    pub fn normalized(self) -> Self {
        let length = self.real.length();
        if !(length.is_finite() && length > 1e-30) {
            return Self::IDENTITY;
        }
        let real = self.real * (1.0 / length);
        let dual = self.dual * (1.0 / length);
        Self {
            real,
            dual: dual - real * real.dot(dual),
        }
    }

    /// The blend `sum w_j sigma_j q_j`, not normalised; `sigma_j` flips each motion to the hemisphere of
    /// `motions[pivot]` (a zero product keeps its sign).
    ///
    /// Source: Kavan et al. 2008, dual quaternion linear blending. The pivot is the influence of largest weight, ties
    /// to the lowest rank: then |real| >= its weight, and the blend is never degenerate.
    #[must_use]
    pub fn blend(weights: &[f64], motions: &[Self], pivot: usize) -> Self {
        let mut sum = Self {
            real: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
            dual: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        };
        for (&weight, motion) in weights.iter().zip(motions) {
            let negative = motions[pivot].real.dot(motion.real) < 0.0;
            let weight = if negative { -weight } else { weight };
            sum.real += motion.real * weight;
            sum.dual += motion.dual * weight;
        }
        sum
    }

    /// The motion a fraction `t` along the screw from `self` to `to`, both unit: `a (a^-1 b)^t` along the shorter arc.
    ///
    /// Source: Kavan et al. 2008, screw linear interpolation (ScLERP).
    #[must_use]
    pub fn sclerp(self, to: Self, t: f64) -> Self {
        self * (self.conjugate() * to).power(t)
    }

    /// The motion a fraction `t` from `self` to `to`, both unit, by linear blending: `normalize((1 - t) a + t sigma
    /// b)`.
    ///
    /// It follows the screw of [`DualQuat::sclerp`] at another speed: by the angle `2 atan2(t sin(a/2), 1 - t + t
    /// cos(a/2))` of a relative rotation by `a`. Source: Feng & Wan 2013, eqs. 16 and 17, corrected.
    #[must_use]
    pub fn dlb(self, to: Self, t: f64) -> Self {
        Self::blend(&[1.0 - t, t], &[self, to], 0).normalized()
    }

    /// `self^t` of a unit dual quaternion along the shorter arc.
    fn power(self, t: f64) -> Self {
        let q = if self.real.w < 0.0 { -self } else { self };
        let v = q.real.xyz();
        let s = v.length();
        if s < 1e-10 {
            return Self {
                real: DQuat::IDENTITY,
                dual: pure(q.translation() * (0.5 * t)),
            };
        }
        let theta = 2.0 * s.atan2(q.real.w);
        let l = v * (1.0 / s);
        let pitch = -2.0 * q.dual.w / s;
        let moment = (q.dual.xyz() - l * (0.5 * pitch * q.real.w)) * (1.0 / s);
        let (sin, cos) = (0.5 * t * theta).sin_cos();
        let half = 0.5 * t * pitch;
        let real = l * sin;
        let dual = moment * sin + l * (half * cos);
        Self {
            real: DQuat::from_xyzw(real.x, real.y, real.z, cos),
            dual: DQuat::from_xyzw(dual.x, dual.y, dual.z, -half * sin),
        }
    }
}

impl std::ops::Mul for DualQuat {
    type Output = Self;

    /// The composition: `other` first, then `self`.
    fn mul(self, other: Self) -> Self {
        Self {
            real: self.real * other.real,
            dual: self.real * other.dual + self.dual * other.real,
        }
    }
}

impl std::ops::Neg for DualQuat {
    type Output = Self;

    /// The same motion, on the other hemisphere.
    fn neg(self) -> Self {
        Self {
            real: -self.real,
            dual: -self.dual,
        }
    }
}

/// The unit quaternion of a rotation matrix, by its largest component: exact for rotations by 180 degrees too.
///
/// Source: Shepperd 1978. The largest component comes out positive.
pub fn quat_from_rotation(m: DMat3) -> DQuat {
    let [m00, m10, m20, m01, m11, m21, m02, m12, m22] = m.to_cols_array();
    let w = 1.0 + m00 + m11 + m22;
    let x = 1.0 + m00 - m11 - m22;
    let y = 1.0 - m00 + m11 - m22;
    let z = 1.0 - m00 - m11 + m22;
    // 4 q q^T has the quaternion in every column; the column of the largest component divides by no small number.
    let q = if w >= x && w >= y && w >= z {
        DQuat::from_xyzw(m21 - m12, m02 - m20, m10 - m01, w)
    } else if x >= y && x >= z {
        DQuat::from_xyzw(x, m10 + m01, m02 + m20, m21 - m12)
    } else if y >= z {
        DQuat::from_xyzw(m10 + m01, y, m21 + m12, m02 - m20)
    } else {
        DQuat::from_xyzw(m02 + m20, m21 + m12, z, m10 - m01)
    };
    normalize_or_identity(q)
}

fn pure(v: DVec3) -> DQuat {
    DQuat::from_xyzw(v.x, v.y, v.z, 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn half_turns_about_any_axis_convert_exactly() {
        for axis in [
            DVec3::X,
            DVec3::Y,
            DVec3::Z,
            DVec3::new(1.0, 1.0, 0.0),
            DVec3::new(1.0, -2.0, 3.0),
        ] {
            let q = DQuat::from_axis_angle(axis.normalize_or_zero(), PI);
            let m = DMat3::from_quat(q);
            let back = DMat3::from_quat(quat_from_rotation(m));
            assert!(back.abs_diff_eq(m, 9e-16), "{axis}");
        }
    }

    #[test]
    fn products_and_conjugates_act_like_matrices() {
        let a = DualQuat::from_rotation_translation(
            DQuat::from_rotation_x(0.4),
            DVec3::new(1.0, 2.0, 3.0),
        );
        let b = DualQuat::from_rotation_translation(
            DQuat::from_rotation_z(2.0),
            DVec3::new(-3.0, 0.5, 0.0),
        );
        let p = DVec3::new(0.3, -0.2, 5.0);
        let both = (a * b).transform_point3(p);
        assert!(both.abs_diff_eq(a.transform_point3(b.transform_point3(p)), 1e-14));
        assert!(both.abs_diff_eq((a.to_affine() * b.to_affine()).transform_point3(p), 1e-14));
        assert!(
            a.conjugate()
                .transform_point3(a.transform_point3(p))
                .abs_diff_eq(p, 1e-14)
        );
        assert!(
            DualQuat::from_rigid(a.to_affine())
                .to_affine()
                .abs_diff_eq(a.to_affine(), 1e-15)
        );
    }
}
