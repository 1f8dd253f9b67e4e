//! Spherical linear interpolation for glTF clips.

use glam::DQuat;

/// Spherical interpolation along the shorter arc (glTF 2.0, appendix C); the result is unit.
///
/// Values that are not unit enter the formula unchanged; the result is normalised.
pub(super) fn slerp_shortest(a: DQuat, b: DQuat, t: f64) -> DQuat {
    let dot = a.dot(b);
    let b = if dot < 0.0 { -b } else { b };
    let dot = dot.abs();
    let blended = if dot > 1.0 - 1e-7 {
        a * (1.0 - t) + b * t
    } else {
        let angle = dot.min(1.0).acos();
        (a * ((1.0 - t) * angle).sin() + b * (t * angle).sin()) * (1.0 / angle.sin())
    };
    crate::math::transform::normalize_or_identity(blended)
}
