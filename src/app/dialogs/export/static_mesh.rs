//! The static mesh export: the current frame as a mesh.

use super::report::{finding_ui, icon_text_ui};
use crate::editor::Editor;
use crate::view::theme;
use eframe::egui;
use egui::{Label, RichText, Ui};
use egui_material_icons::icons;

/// Draws the frame that would be saved and what a file of this kind contains.
pub(super) fn static_mesh_ui(ui: &mut Ui, editor: &Editor, is_obj: bool) {
    let dim = theme::palette(ui).text_dim;
    ui.strong("Frame");
    let frame = format!("On screen: {}.", editor.shown_frame_label());
    let about = "Use the timeline or pose the model to choose another frame. During playback, Save exports the frame \
                 at that time.";
    let label = ui.add(Label::new(frame).wrap());
    label.on_hover_text(about);
    ui.add_space(2.0);
    let holds = if is_obj {
        "Contains meshes in metres, Y up. Materials (.mtl) and textures are separate files beside it."
    } else {
        "Contains static meshes in place of skinned and morphed ones. Nodes, materials, lights and cameras stay as \
         imported."
    };
    ui.add(Label::new(RichText::new(holds).color(dim)).wrap());
}

/// Draws the result of the last saved static mesh.
pub(super) fn saved_ui(ui: &mut Ui, editor: &Editor) {
    let Some(saved) = editor.exporting().static_mesh() else {
        return;
    };
    ui.separator();
    let text = format!("Saved {}: {}.", saved.name(), saved.frame_label());
    let colour = theme::palette(ui).text;
    icon_text_ui(ui, icons::ICON_CHECK, colour, &text);
    for finding in &saved.report().findings {
        finding_ui(ui, finding);
    }
}
