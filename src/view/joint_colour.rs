//! The colour that stands for a bone, wherever bones are told apart by colour.

use crate::document::Session;
use crate::skeleton::JointIndex;
use egui::Color32;
use egui::ecolor::Hsva;

/// The colour of `joint`: the artist's, else one of its own that stays the same for as long as the model does.
pub fn joint_colour(session: &Session, joint: JointIndex) -> Color32 {
    match session.joint_colours.get(&joint) {
        Some(&[r, g, b]) => Color32::from_rgb(r, g, b),
        None => own_colour(joint),
    }
}

/// Hues spread by the golden ratio, so that neighbours in the tree differ; two lightnesses tell near hues apart.
fn own_colour(joint: JointIndex) -> Color32 {
    let hue = (joint.0 as f32 * 0.618_034).fract();
    let value = if joint.0.is_multiple_of(2) {
        0.92
    } else {
        0.72
    };
    Hsva::new(hue, 0.6, value, 1.0).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_differ_and_the_artist_decides() {
        let mut session = Session::default();
        let colour = |session: &Session, j| joint_colour(session, JointIndex(j));
        assert_ne!(colour(&session, 0), colour(&session, 1));
        session.joint_colours.insert(JointIndex(1), [1, 2, 3]);
        assert_eq!(colour(&session, 1), Color32::from_rgb(1, 2, 3));
    }
}
