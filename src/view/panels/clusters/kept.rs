//! The layers of the active group that the model has no place for.

use super::layer_row::{dim_ui, icon_ui};
use crate::editor::Editor;
use crate::view::panels::correctives::heading_ui;
use egui::Ui;
use egui_material_icons::icons;

/// Draws what the project keeps of the active group, with what the model lacks, and a button that deletes it.
pub(super) fn kept_ui(ui: &mut Ui, editor: &mut Editor) {
    let kept = editor.kept_layers();
    if kept.is_empty() {
        return;
    }
    let texts: Vec<(String, String)> = kept
        .iter()
        .map(|layer| (layer.name.clone(), layer.why.clone()))
        .collect();
    heading_ui(ui, "Kept layers", "");
    dim_ui(
        ui,
        "They do not match the model: they have no effect, but the project keeps them.",
    );
    for (index, (name, why)) in texts.iter().enumerate() {
        ui.horizontal(|ui| {
            let about = "The project no longer keeps it.";
            let label = format!("Delete {name}");
            if icon_ui(ui, icons::ICON_DELETE, &label, about, true) {
                editor.delete_kept_layer(index);
            }
            ui.label(name).on_hover_text(why);
        });
        dim_ui(ui, why);
    }
}
