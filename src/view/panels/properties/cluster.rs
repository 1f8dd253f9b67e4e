//! The settings of the brush that marks clusters.

use super::brush::{front_ui, grid_ui, hidden_ui, projection_ui, radius_ui, symmetry_ui};
use crate::editor::Editor;
use crate::view::theme;
use egui::{RichText, Ui};

/// Draws the group that is marked and the settings of the brush.
pub(super) fn cluster_ui(ui: &mut Ui, editor: &mut Editor) {
    if editor.moves_clusters() {
        let text = "The mouse selects and moves clusters of groups driven \"By hand\", or the control points of a \
            lattice or cage. Choose Mark brush to mark again.";
        let dim = theme::palette(ui).text_dim;
        ui.add(egui::Label::new(RichText::new(text).color(dim)).wrap());
        return;
    }
    let active = editor.active_group();
    let group = active.and_then(|group| editor.cluster_groups().get(usize::from(group)));
    let text = group.map_or_else(
        || "Strokes mark into a new group.".to_owned(),
        |group| format!("Strokes mark into {}.", group.name),
    );
    let dim = theme::palette(ui).text_dim;
    ui.label(RichText::new(text).color(dim));
    settings_ui(ui, editor, "cluster");
}

/// The popover: all settings of the brush.
pub fn cluster_popover_ui(ui: &mut Ui, editor: &mut Editor) {
    ui.label(RichText::new("Mark").strong());
    settings_ui(ui, editor, "cluster popover");
}

fn settings_ui(ui: &mut Ui, editor: &mut Editor, id: &str) {
    let brush = editor.brush_mut();
    grid_ui(ui, id, |ui| {
        radius_ui(ui, brush);
        projection_ui(ui, brush);
        symmetry_ui(ui, brush);
    });
    front_ui(ui, brush);
    hidden_ui(ui, brush, "Mark");
}
