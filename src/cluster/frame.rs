//! How the surface around a corner is deformed.

use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::polar;
use crate::math::transform::normalize_or_identity;
use glam::{DMat3, DQuat, DVec3};

/// Two columns that span less than this fraction of their lengths' product have no normal.
const FLAT: f64 = 1e-6;

/// A corner of patches at a pose: a cluster or an anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CornerFrame {
    /// Where it is, metres.
    pub position: DVec3,
    /// The derivative of the deformation: bind tangent plane to deformed tangent plane, bind normal to unit normal.
    pub jacobian: DMat3,
    /// The rotation of details, unit.
    pub rotation: DQuat,
}

impl CornerFrame {
    /// A corner that only moved.
    pub fn at(position: DVec3) -> Self {
        Self {
            position,
            jacobian: DMat3::IDENTITY,
            rotation: DQuat::IDENTITY,
        }
    }

    /// A corner whose tangents `plane.tangents` became `columns`; where these span no plane, the Jacobian is `rotation`.
    pub fn with_columns(
        position: DVec3,
        plane: &TangentPlane,
        columns: [DVec3; 2],
        rotation: DQuat,
    ) -> Self {
        let jacobian = plane
            .jacobian(columns)
            .unwrap_or_else(|| DMat3::from_quat(rotation));
        Self {
            position,
            jacobian,
            rotation,
        }
    }

    /// The corner displaced by `displacement`, whose gradient over the surface is `gradient` (bind tangent plane to world).
    ///
    /// The rotation follows the normal by the smallest rotation.
    #[must_use]
    pub fn displaced(self, plane: &TangentPlane, displacement: DVec3, gradient: DMat3) -> Self {
        let position = self.position + displacement;
        if gradient == DMat3::ZERO {
            return Self { position, ..self };
        }
        let columns = plane.tangents.map(|t| (self.jacobian + gradient) * t);
        let Some(jacobian) = plane.jacobian(columns) else {
            return Self { position, ..self };
        };
        let (before, after) = (self.jacobian * plane.normal, jacobian * plane.normal);
        Self {
            position,
            jacobian,
            rotation: normalize_or_identity(minimal_rotation(before, after) * self.rotation),
        }
    }
}

/// The tangent plane of a corner at bind: a right-handed frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TangentPlane {
    /// The normal, unit.
    pub normal: DVec3,
    /// Two tangents, unit; their cross product is the normal.
    pub tangents: [DVec3; 2],
}

impl TangentPlane {
    /// The plane with a unit normal.
    pub fn new(normal: DVec3) -> Self {
        let first = normal.any_orthonormal_vector();
        Self {
            normal,
            tangents: [first, normal.cross(first)],
        }
    }

    /// The matrix that takes the tangents to `columns` and the normal to theirs; `None` where they span no plane.
    pub fn jacobian(&self, columns: [DVec3; 2]) -> Option<DMat3> {
        let [a, b] = columns;
        let cross = a.cross(b);
        if cross.length() <= FLAT * a.length() * b.length() {
            return None;
        }
        let frame = DMat3::from_cols(a, b, cross.try_normalize()?);
        let [t, s] = self.tangents;
        let jacobian = frame * DMat3::from_cols(t, s, self.normal).transpose();
        jacobian.is_finite().then_some(jacobian)
    }
}

/// The smallest rotation that takes the unit vector `from` to the unit vector `to`.
pub(super) fn minimal_rotation(from: DVec3, to: DVec3) -> DQuat {
    let real = 1.0 + from.dot(to);
    if real < 1e-12 {
        // A half turn about any perpendicular axis.
        let axis = from.any_orthonormal_vector();
        return DQuat::from_xyzw(axis.x, axis.y, axis.z, 0.0);
    }
    let v = from.cross(to);
    normalize_or_identity(DQuat::from_xyzw(v.x, v.y, v.z, real))
}

/// The rotation of a matrix's polar decomposition.
pub(super) fn polar_rotation(matrix: DMat3) -> DQuat {
    quat_from_rotation(polar(matrix).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jacobian_takes_tangents_to_columns_and_normals_to_normals() {
        let plane = TangentPlane::new(DVec3::new(0.6, 0.0, 0.8));
        assert!((plane.tangents[0].cross(plane.tangents[1]) - plane.normal).length() < 1e-15);
        let columns = [DVec3::new(2.0, 0.1, 0.0), DVec3::new(0.3, 1.0, 0.2)];
        let jacobian = plane.jacobian(columns).unwrap();
        for (t, column) in plane.tangents.into_iter().zip(columns) {
            assert!((jacobian * t - column).length() < 1e-15);
        }
        let normal = jacobian * plane.normal;
        assert!((normal.length() - 1.0).abs() < 1e-15);
        assert!(normal.dot(columns[0]).abs() < 1e-15 && normal.dot(columns[1]).abs() < 1e-15);
        assert_eq!(plane.jacobian([DVec3::X, DVec3::X * 2.0]), None);
        assert_eq!(plane.jacobian([DVec3::X, DVec3::ZERO]), None);
    }

    #[test]
    fn the_smallest_rotation_reaches_its_aim() {
        for to in [DVec3::X, -DVec3::X, DVec3::Y, DVec3::new(0.6, -0.8, 0.0)] {
            let q = minimal_rotation(DVec3::X, to);
            assert!((q * DVec3::X - to).length() < 1e-15, "{to}");
            assert!((q.length() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_displacement_turns_the_corner_with_its_normal() {
        let plane = TangentPlane::new(DVec3::Z);
        // z grows with x: the surface tilts by 45 degrees.
        let tilt = DMat3::from_cols(DVec3::Z, DVec3::ZERO, DVec3::ZERO);
        let frame = CornerFrame::at(DVec3::ONE).displaced(&plane, DVec3::Z, tilt);
        assert_eq!(frame.position, DVec3::new(1.0, 1.0, 2.0));
        let expected = DVec3::new(-1.0, 0.0, 1.0) / 2f64.sqrt();
        assert!((frame.jacobian * DVec3::Z - expected).length() < 1e-15);
        assert!((frame.rotation * DVec3::Z - expected).length() < 1e-15);
        assert!((frame.rotation * DVec3::Y - DVec3::Y).length() < 1e-15);
        let still = CornerFrame::at(DVec3::ONE).displaced(&plane, DVec3::Z, DMat3::ZERO);
        assert_eq!(
            (still.jacobian, still.rotation),
            (DMat3::IDENTITY, DQuat::IDENTITY)
        );
    }
}
