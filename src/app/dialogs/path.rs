//! The path dialogs: open, save, relink, weights files.

use super::modal;
pub(in crate::app) use super::path_field::PathPurpose;
use super::path_field::{PathField, PathUse};
use crate::editor::Editor;
use eframe::egui;
use std::path::PathBuf;

/// The result of a path dialog in a frame.
pub(in crate::app) enum Answer {
    /// Still open.
    Open,
    Cancelled,
    Chosen(PathBuf),
}

/// A path field with a button for the system's file dialog.
pub(in crate::app) struct PathDialog {
    purpose: PathPurpose,
    field: PathField,
    about: String,
}

impl PathDialog {
    pub(in crate::app) fn new(purpose: PathPurpose, editor: &Editor) -> Self {
        let about = match purpose {
            PathPurpose::Open => "A glTF model (.gltf, .glb) or a Sinew project (.ron).".to_owned(),
            PathPurpose::Save => {
                "A Sinew project (.ron). It stores your changes beside the untouched model.".to_owned()
            }
            PathPurpose::Transfer => {
                "A model or project (.gltf, .glb, .ron) at the same location and in the same bind pose.".to_owned()
            }
            PathPurpose::ImportWeights => {
                "A weights file (.json), as written by Export weights. Bones are matched by name.".to_owned()
            }
            PathPurpose::ExportWeights => {
                "A weights file (.json): the weights of all vertices, with bones by name.".to_owned()
            }
            PathPurpose::ImportSculpt => {
                "A mesh (.gltf, .glb, .obj) with the vertices of the model, sculpted in the pose on screen."
                    .to_owned()
            }
            PathPurpose::AddRecording => {
                "A table of markers and values over time (.csv, .trc): the first column is the time.".to_owned()
            }
            PathPurpose::RelinkRecording => {
                let item = editor.recording_to_relink();
                let item = item.and_then(|id| editor.document().recordings().get(&id));
                let file = item.map_or_else(String::new, |item| item.path.display().to_string());
                format!("The recording was read from {file}. Choose its new location.")
            }
            PathPurpose::Relink => match editor.relink() {
                Some(relink) => format!(
                    "The project's model {} is missing. Choose its new location.",
                    relink.missing.display()
                ),
                None => String::new(),
            },
        };
        Self {
            purpose,
            field: PathField::new(PathUse::Dialog(purpose), editor),
            about,
        }
    }

    pub(in crate::app) fn purpose(&self) -> PathPurpose {
        self.purpose
    }

    pub(in crate::app) fn show(&mut self, ctx: &egui::Context, editor: &Editor) -> Answer {
        let (title, verb) = match self.purpose {
            PathPurpose::Open => ("Open", "Open"),
            PathPurpose::Save => ("Save project", "Save"),
            PathPurpose::Relink => ("Relink model", "Open"),
            PathPurpose::AddRecording => ("Add recording", "Add"),
            PathPurpose::RelinkRecording => ("Relink recording", "Relink"),
            PathPurpose::Transfer => ("Transfer weights from", "Transfer"),
            PathPurpose::ImportWeights => ("Import weights", "Import"),
            PathPurpose::ExportWeights => ("Export weights", "Export"),
            PathPurpose::ImportSculpt => ("Import sculpt", "Import"),
        };
        let (mut chosen, mut cancelled) = (None, false);
        let modal = modal(ctx, "path dialog").show(ctx, |ui| {
            const WIDTH: f32 = 460.0;
            ui.set_width(WIDTH);
            ui.heading(title);
            ui.label(&self.about);
            if self.field.field_ui(ui, WIDTH) {
                chosen = self.field.chosen(editor);
            }
            self.field.message_ui(ui);
            let verb = if self.field.asks() { "Replace" } else { verb };
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                let ready = !self.field.is_empty();
                if ui.add_enabled(ready, egui::Button::new(verb)).clicked() {
                    chosen = self.field.chosen(editor);
                }
                cancelled = ui.button("Cancel").clicked();
            });
        });
        let closes = modal.should_close();
        match chosen {
            Some(path) => Answer::Chosen(path),
            None if cancelled || closes => Answer::Cancelled,
            None => Answer::Open,
        }
    }
}
