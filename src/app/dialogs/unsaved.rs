//! The question about unsaved changes.

use super::{modal, take_enter};
use eframe::egui;

/// The answer about unsaved changes.
pub(in crate::app) enum Unsaved {
    Asking,
    Save,
    Discard,
    Cancel,
}

/// Asks about unsaved changes.
pub(in crate::app) fn unsaved_ui(ctx: &egui::Context, name: &str) -> Unsaved {
    let mut answer = Unsaved::Asking;
    let modal = modal(ctx, "unsaved").show(ctx, |ui| {
        ui.set_width(380.0);
        ui.heading("Save your changes?");
        ui.label(format!("{name} has unsaved changes."));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let save = ui
                .button("Save")
                .on_hover_text("Save, then continue  (Enter)");
            if save.clicked() {
                answer = Unsaved::Save;
            }
            let discard = ui.button("Discard changes");
            if discard
                .on_hover_text("Continue without saving. The changes are lost.")
                .clicked()
            {
                answer = Unsaved::Discard;
            }
            let cancel = ui.button("Cancel").on_hover_text("Cancel  (Esc)");
            if cancel.clicked() {
                answer = Unsaved::Cancel;
            }
        });
    });
    if matches!(answer, Unsaved::Asking) && take_enter(ctx) {
        answer = Unsaved::Save;
    }
    if modal.should_close() && matches!(answer, Unsaved::Asking) {
        answer = Unsaved::Cancel;
    }
    answer
}
