//! The display colour of a bone in the panels.

use crate::document::{Session, joint_colour as colour};
use crate::skeleton::JointId;
use egui::Color32;

/// The colour of `joint`: the custom one, else a generated one that stays constant for a model.
pub fn joint_colour(session: &Session, joint: JointId) -> Color32 {
    let [r, g, b] = colour::joint_colour(session, joint);
    Color32::from_rgb(r, g, b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::ecolor::Hsva;

    #[test]
    fn bones_have_even_hues_of_two_lightnesses() {
        let session = Session::default();
        for j in 0..64u32 {
            let value = if j % 2 == 0 { 0.92 } else { 0.72 };
            let hue = (j as f32 * 0.618_034).fract();
            let expected: Color32 = Hsva::new(hue, 0.6, value, 1.0).into();
            let shown = joint_colour(&session, JointId(j));
            let gap = |i: usize| shown.to_array()[i].abs_diff(expected.to_array()[i]);
            assert!((0..4).all(|i| gap(i) <= 1), "{j}: {shown:?} {expected:?}");
        }
    }
}
