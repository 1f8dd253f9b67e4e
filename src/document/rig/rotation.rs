//! Rotations of matrices.

use crate::math::polar;
use crate::math::transform::normalize_or_identity;
use glam::{DMat3, DQuat, DVec3};

/// The rotation nearest to a matrix that does not mirror, with `w >= 0`.
pub(super) fn proper(matrix: DMat3) -> DQuat {
    let (rotation, _) = polar(matrix);
    let q = normalize_or_identity(DQuat::from_mat3(&rotation));
    if q.w < 0.0 { -q } else { q }
}

/// The angle of a rotation, radians, 0 - pi.
pub(super) fn angle_of(q: DQuat) -> f64 {
    2.0 * DVec3::new(q.x, q.y, q.z).length().atan2(q.w.abs())
}
