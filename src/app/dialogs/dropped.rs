//! The question what a dropped model with clips is for.

use super::{modal, take_enter};
use eframe::egui;
use egui::Key;
use std::path::Path;

/// The answer about a dropped model.
pub(in crate::app) enum DroppedModel {
    Asking,
    /// It is opened in place of the open one.
    Open,
    /// Its clips move the open character.
    AddAsMotion,
    Cancel,
}

/// Asks what the dropped model at `path` is for.
pub(in crate::app) fn dropped_ui(ctx: &egui::Context, path: &Path) -> DroppedModel {
    let mut answer = DroppedModel::Asking;
    let modal = modal(ctx, "dropped").show(ctx, |ui| {
        ui.set_width(380.0);
        ui.heading("Open this model?");
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        ui.label(format!(
            "{name} has clips. Open it, or add one of them as a motion of the character that is open?"
        ));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let open = ui.button("Open");
            let about = "Open it in place of the open model  (Enter)";
            if open.on_hover_text(about).clicked() {
                answer = DroppedModel::Open;
            }
            let add = ui.button("Add as motion");
            let about = "Retarget a clip of it to the open character. Nothing else of it is used.  (M)";
            if add.on_hover_text(about).clicked() {
                answer = DroppedModel::AddAsMotion;
            }
            let cancel = ui.button("Cancel").on_hover_text("Cancel  (Esc)");
            if cancel.clicked() {
                answer = DroppedModel::Cancel;
            }
        });
    });
    let is_asking = matches!(answer, DroppedModel::Asking);
    if is_asking && take_enter(ctx) {
        return DroppedModel::Open;
    }
    let wants_motion = |i: &mut egui::InputState| i.consume_key(egui::Modifiers::NONE, Key::M);
    if is_asking && ctx.input_mut(wants_motion) {
        return DroppedModel::AddAsMotion;
    }
    if is_asking && modal.should_close() {
        return DroppedModel::Cancel;
    }
    answer
}
