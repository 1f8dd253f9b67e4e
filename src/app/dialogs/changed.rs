//! The question when the project or its model changed on disk before a save.

use super::modal;
use crate::editor::SaveConflict;
use eframe::egui;
use std::path::Path;

/// The answer about a file that changed on disk.
pub(in crate::app) enum Changed {
    Asking,
    Reload,
    SaveCopy,
    Overwrite,
    Cancel,
}

/// Asks about a file that changed on disk.
pub(in crate::app) fn changed_ui(ctx: &egui::Context, conflict: &SaveConflict) -> Changed {
    let mut answer = Changed::Asking;
    let project = name(&conflict.project);
    let (about, overwrite, tip) = if conflict.is_model {
        (
            "Another program changed the model. Your changes were made on its former content; those that still fit are kept when the project is opened again.",
            "Save anyway",
            format!("Save {project}. The model file stays as it is."),
        )
    } else {
        (
            "Another program or window saved this project. Nothing was saved yet.",
            "Overwrite",
            format!("Replace {project} with the project in this window."),
        )
    };
    let modal = modal(ctx, "changed on disk").show(ctx, |ui| {
        ui.set_width(440.0_f32.min(ctx.content_rect().width() - 48.0));
        ui.heading("Changed on disk");
        let changed = name(&conflict.changed);
        ui.label(format!("{changed} changed on disk since you opened it."));
        ui.label(about);
        ui.add_space(8.0);
        ui.horizontal_wrapped(|ui| {
            let copy = ui.button("Save a copy…");
            if copy
                .on_hover_text("Save the project in this window under another name.")
                .clicked()
            {
                answer = Changed::SaveCopy;
            }
            if ui.button(overwrite).on_hover_text(tip).clicked() {
                answer = Changed::Overwrite;
            }
            let reload = ui.button("Reload");
            if reload
                .on_hover_text(
                    "Open the file as it is on disk. Unsaved changes in this window are lost.",
                )
                .clicked()
            {
                answer = Changed::Reload;
            }
            let cancel = ui.button("Cancel").on_hover_text("Save nothing  (Esc)");
            if cancel.clicked() {
                answer = Changed::Cancel;
            }
        });
    });
    if modal.should_close() && matches!(answer, Changed::Asking) {
        answer = Changed::Cancel;
    }
    answer
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
