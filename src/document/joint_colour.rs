//! The colour of a bone, wherever colours distinguish bones.

use super::Session;
use crate::skeleton::JointId;

/// The colour of `joint`, sRGB: the user's, else a default that stays the same while the model is edited.
pub fn joint_colour(session: &Session, joint: JointId) -> [u8; 3] {
    session
        .joint_colours
        .get(&joint)
        .copied()
        .unwrap_or_else(|| own_colour(joint))
}

/// Hues are spaced by the golden ratio, so that neighbours in the hierarchy differ; two lightnesses distinguish similar
/// hues.
fn own_colour(joint: JointId) -> [u8; 3] {
    const SATURATION: f32 = 0.6;
    let hue = (joint.0 as f32 * 0.618_034).fract() * 6.0;
    let value = if joint.0.is_multiple_of(2) {
        0.92
    } else {
        0.72
    };
    let rest = hue.fract();
    let low = value * (1.0 - SATURATION);
    let falling = value * (1.0 - SATURATION * rest);
    let rising = value * (1.0 - SATURATION * (1.0 - rest));
    let linear = match hue as u32 % 6 {
        0 => [value, rising, low],
        1 => [falling, value, low],
        2 => [low, value, rising],
        3 => [low, falling, value],
        4 => [rising, low, value],
        _ => [value, low, falling],
    };
    linear.map(encoded)
}

/// A linear value, 0 - 1, encoded as sRGB.
fn encoded(linear: f32) -> u8 {
    let shown = if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    };
    (shown * 255.0).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_and_the_artist_decides() {
        let mut session = Session::default();
        let colour = |session: &Session, j| joint_colour(session, JointId(j));
        assert_ne!(colour(&session, 0), colour(&session, 1));
        session.joint_colours.insert(JointId(1), [1, 2, 3]);
        assert_eq!(colour(&session, 1), [1, 2, 3]);
    }
}
