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
    /// Whether the deformation mirrors: details are reflected along x before they rotate, as [`polar()`] takes a mirroring
    /// matrix apart, and the normal of the image of a surface is the other one.
    pub mirrored: bool,
}

impl CornerFrame {
    /// A corner that only moved.
    pub fn at(position: DVec3) -> Self {
        Self {
            position,
            jacobian: DMat3::IDENTITY,
            rotation: DQuat::IDENTITY,
            mirrored: false,
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
            mirrored: false,
        }
    }

    /// The frame of a mirroring deformation with these tangents.
    #[must_use]
    pub fn mirrored(self, plane: &TangentPlane) -> Self {
        let [a, b] = plane.tangents.map(|t| self.jacobian * t);
        let jacobian = match plane.jacobian([a, b]) {
            Some(jacobian) => with_other_normal(jacobian, plane.normal),
            // The plane collapsed: what reflects and rotates details.
            None => reflecting(self.rotation, true),
        };
        Self {
            jacobian,
            mirrored: true,
            ..self
        }
    }

    /// A detail at bind, such as a vertex seen from its patch, as the surface carries it.
    pub fn carry(&self, detail: DVec3) -> DVec3 {
        self.rotation * reflected(detail, self.mirrored)
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
        let Some(mut jacobian) = plane.jacobian(columns) else {
            return Self { position, ..self };
        };
        if self.mirrored {
            jacobian = with_other_normal(jacobian, plane.normal);
        }
        let (before, after) = (self.jacobian * plane.normal, jacobian * plane.normal);
        Self {
            position,
            jacobian,
            rotation: normalize_or_identity(minimal_rotation(before, after) * self.rotation),
            mirrored: self.mirrored,
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

/// What a mirroring deformation does to details first: `diag(-1, 1, 1)`.
pub(super) const MIRROR: DMat3 = DMat3::from_cols(DVec3::NEG_X, DVec3::Y, DVec3::Z);

/// A vector, or its reflection along x.
pub fn reflected(v: DVec3, mirrored: bool) -> DVec3 {
    if mirrored { MIRROR * v } else { v }
}

/// The matrix that carries details: the rotation, after the reflection where it mirrors.
pub(super) fn reflecting(rotation: DQuat, mirrored: bool) -> DMat3 {
    let rotation = DMat3::from_quat(rotation);
    if mirrored {
        rotation * MIRROR
    } else {
        rotation
    }
}

/// A Jacobian whose image of the unit bind normal `normal` is the opposite.
fn with_other_normal(jacobian: DMat3, normal: DVec3) -> DMat3 {
    let twice = jacobian * normal * 2.0;
    jacobian - DMat3::from_cols(twice * normal.x, twice * normal.y, twice * normal.z)
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
    fn a_mirroring_deformation_carries_details_to_the_other_side() {
        let plane = TangentPlane::new(DVec3::new(0.6, 0.0, 0.8));
        let turn = DQuat::from_xyzw(0.1, -0.7, 0.5, 0.5);
        // Uniform scale and a reflection that is none of the axes'.
        let across = DVec3::new(2.0, -1.0, 2.0) / 3.0;
        let matrix = (DMat3::from_quat(turn) - across_matrix(turn * across, across)) * 2.0;
        let rotation = quat_from_rotation(polar(matrix).0);
        let columns = plane.tangents.map(|t| matrix * t);
        let frame = CornerFrame::with_columns(DVec3::ONE, &plane, columns, rotation);
        let frame = frame.mirrored(&plane);
        let detail = DVec3::new(0.3, -0.2, 0.9);
        assert!((frame.carry(detail) * 2.0 - matrix * detail).length() < 1e-14);
        let normal = frame.jacobian * plane.normal;
        let image = matrix * plane.normal / 2.0;
        assert!((normal - image).length() < 1e-14, "{normal} {image}");
        let tilt = DMat3::from_cols(DVec3::ZERO, DVec3::X * 0.1, DVec3::ZERO);
        let tilted = frame.displaced(&plane, DVec3::ZERO, tilt);
        assert!(tilted.mirrored && (tilted.jacobian * plane.normal).dot(normal) > 0.99);
    }

    /// `2 to from^T`.
    fn across_matrix(to: DVec3, from: DVec3) -> DMat3 {
        let to = to * 2.0;
        DMat3::from_cols(to * from.x, to * from.y, to * from.z)
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
