//! The window beside the viewport while joints are drawn.

use crate::editor::{Editor, RigKind};
use crate::finding::counted;
use crate::view::theme;
use egui::{Button, RichText, Ui};

/// Draws what a click does, the choice of sides, and the buttons.
pub(super) fn content_ui(ui: &mut Ui, editor: &mut Editor) {
    let dim = theme::palette(ui).text_dim;
    let text = match editor.drawing_parent() {
        Some(parent) => format!(
            "The next joint is a child of “{}”. Click on another joint to continue from that.",
            editor.document().skeleton().label(parent)
        ),
        None => "Click on the mesh: the joint is placed in the middle of the limb there. Begin with the hips.".to_owned(),
    };
    ui.label(RichText::new(text).color(dim));
    ui.add_space(4.0);
    let mut both = editor.draws_both_sides();
    let about = "Draw each joint on the other side of X as well. One near the middle lies in it.";
    if ui
        .checkbox(&mut both, "Symmetric")
        .on_hover_text(about)
        .changed()
    {
        editor.draw_both_sides(both);
    }
    let can_take_back = editor.n_drawn() > 0;
    if can_take_back {
        let bones = editor.document().bone_mask();
        let bones = bones.into_iter().filter(|is_bone| *is_bone).count();
        ui.label(RichText::new(format!("{} in the rig.", counted(bones, "bone"))).color(dim));
    }
    ui.separator();
    ui.horizontal(|ui| {
        if ui
            .button("Done")
            .on_hover_text("End drawing and keep the joints (Enter or Esc).")
            .clicked()
        {
            editor.end_drawing();
        }
        let back = ui.add_enabled(can_take_back, Button::new("Take back"));
        let back = back.on_disabled_hover_text("No joint was drawn yet.");
        if back
            .on_hover_text("Remove the joint drawn last (Backspace).")
            .clicked()
        {
            editor.take_back_drawn();
        }
        let why_not = editor.why_not_rig(RigKind::Bind);
        let bind = ui.add_enabled(why_not.is_none(), Button::new("Bind…"));
        let bind = bind.on_disabled_hover_text(why_not.unwrap_or_default());
        if bind
            .on_hover_text("End drawing and bind the mesh to the bones.")
            .clicked()
        {
            editor.end_drawing();
            editor.begin_rig(RigKind::Bind);
        }
    });
}
