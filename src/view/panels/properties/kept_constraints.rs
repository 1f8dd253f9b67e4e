//! Constraints that the project keeps without a place in the model.

use crate::editor::Editor;
use crate::view::panels::clusters::layer_row::{dim_ui, icon_ui};
use crate::view::panels::correctives::heading_ui;
use egui::{Label, Ui};
use egui_material_icons::icons;

/// Whether the project keeps any.
pub(super) fn any(editor: &Editor) -> bool {
    !editor.document().unplaced_constraints().is_empty()
}

/// Draws them with the reasons why they do not act, and a button that deletes each.
pub(super) fn kept_ui(ui: &mut Ui, editor: &mut Editor) {
    let kept = editor.document().unplaced_constraints().clone();
    if kept.is_empty() {
        return;
    }
    heading_ui(ui, "Kept constraints", "");
    dim_ui(
        ui,
        "The project has these constraints, but the model has no bone for them, or they cannot act on it.",
    );
    for (index, kept) in kept.iter().enumerate() {
        let name = format!("{} of {}", kept.rule, kept.bone);
        let why = kept.message();
        ui.push_id(("kept", index), |ui| {
            ui.horizontal(|ui| {
                let label = format!("Delete {name}");
                let about = "Delete this constraint from the project.";
                if icon_ui(ui, icons::ICON_DELETE, &label, about, true) {
                    editor.delete_kept_constraint(index);
                }
                ui.add(Label::new(&name).truncate()).on_hover_text(&why);
            });
            dim_ui(ui, &why);
        });
    }
}
