//! The smallest rotation between two directions.

use glam::{DQuat, DVec3};

/// Directions whose cosine is below this are opposite.
const OPPOSITE: f64 = -1.0 + 1e-9;

/// The smallest rotation from one direction to another, and whether they are opposite: then about an axis across, near to the
/// front. None for a direction of length 0.
pub(super) fn minimal_rotation(from: DVec3, to: DVec3, front: DVec3) -> (DQuat, bool) {
    let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize()) else {
        return (DQuat::IDENTITY, false);
    };
    if from.dot(to) > OPPOSITE {
        return (DQuat::from_rotation_arc(from, to), false);
    }
    let across = front.reject_from_normalized(from).try_normalize();
    let across = across.unwrap_or_else(|| from.any_orthonormal_vector());
    (DQuat::from_axis_angle(across, std::f64::consts::PI), true)
}
