//! The path dialogs: open, save, relink, weights files.
//!
//! The system's own dialog opens at once; where there is none, a list of files in the window.

use super::browser::{Browser, Picked};
use super::modal;
pub(in crate::app) use super::path_field::PathPurpose;
use super::path_field::{Browsed, PathField, PathUse, home};
use crate::editor::Editor;
use eframe::egui;
use egui::Vec2;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Greatest width of a dialog, points.
const WIDTH: f32 = 640.0;
/// Greatest height of the list of files, points.
const LIST: f32 = 300.0;

/// The result of a path dialog in a frame.
pub(in crate::app) enum Answer {
    /// Still open.
    Open,
    Cancelled,
    Chosen(PathBuf),
}

/// How long the system may take to show its dialog before the window says that it waits for it.
const PATIENCE: Duration = Duration::from_millis(500);

/// The settings of path dialogs.
#[derive(Clone, Debug, Default)]
pub(in crate::app) struct PathSettings {
    /// Whether the system's dialogs are used.
    pub(in crate::app) uses_system: bool,
    /// The recent files, the latest first.
    pub(in crate::app) recents: Vec<PathBuf>,
}

/// The system's file dialog, or a path field over a list of files.
pub(in crate::app) struct PathDialog {
    purpose: PathPurpose,
    field: PathField,
    about: String,
    settings: PathSettings,
    /// When the system's dialog was asked for; `None`: the list is shown.
    asked_system: Option<Instant>,
    browser: Option<Browser>,
}

impl PathDialog {
    /// Opens the dialog: the system's own, if they are used.
    pub(in crate::app) fn new(
        purpose: PathPurpose,
        editor: &Editor,
        settings: PathSettings,
        ctx: &egui::Context,
    ) -> Self {
        let about = match purpose {
            PathPurpose::Open => "A model (.glb, .gltf, .obj) or a Sinew project (.ron).".to_owned(),
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
            PathPurpose::AddMotion => {
                "A motion (.bvh, .vmclog), or a model or project whose clips to use (.glb, .gltf, .ron).".to_owned()
            }
            PathPurpose::Measurements => {
                "A table of measurements of a person (.csv, .json), as the manual describes.".to_owned()
            }
            PathPurpose::ExportTable => {
                "A table of the recordings (.csv), or JSON lines (.jsonl).".to_owned()
            }
            PathPurpose::Scan => {
                "A scan of the person (.obj, .ply), in the pose on screen.".to_owned()
            }
            PathPurpose::AddRecording => {
                "A table of markers and values over time (.csv, .tsv, .trc), whose first column is the time, or JSON lines (.jsonl).".to_owned()
            }
            PathPurpose::SaveMapping | PathPurpose::LoadMapping => {
                "A mapping (.ron): which bones of a motion move which bones of the character, by name.".to_owned()
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
        let mut field = PathField::new(PathUse::Dialog(purpose), editor);
        field.use_list();
        // To relink, the window first says which file is missing.
        let asks_system = settings.uses_system && purpose != PathPurpose::Relink;
        if asks_system {
            field.browse(ctx);
        }
        let asked_system = field.is_browsing().then(Instant::now);
        Self {
            purpose,
            field,
            about,
            settings,
            asked_system,
            browser: None,
        }
    }

    pub(in crate::app) fn purpose(&self) -> PathPurpose {
        self.purpose
    }

    pub(in crate::app) fn show(&mut self, ctx: &egui::Context, editor: &Editor) -> Answer {
        if let Some(asked) = self.asked_system {
            match self.field.browsed() {
                Some(Browsed::Chosen(path)) => {
                    self.field.set_path(&path);
                    self.field.allow_replacing();
                    // A fault is shown over the list.
                    self.asked_system = None;
                    if let Some(path) = self.field.chosen(editor) {
                        return Answer::Chosen(path);
                    }
                }
                Some(Browsed::Cancelled) => return Answer::Cancelled,
                Some(Browsed::None) => self.asked_system = None,
                None => return waiting_ui(ctx, asked),
            }
        }
        self.list_ui(ctx, editor)
    }

    /// Draws the path field and the list of files.
    fn list_ui(&mut self, ctx: &egui::Context, editor: &Editor) -> Answer {
        let (title, verb) = match self.purpose {
            PathPurpose::Open => ("Open", "Open"),
            PathPurpose::Save => ("Save project", "Save"),
            PathPurpose::Relink => ("Relink model", "Open"),
            PathPurpose::AddMotion => ("Import motion", "Import"),
            PathPurpose::Measurements => ("Import measurements", "Import"),
            PathPurpose::ExportTable => ("Export table of recordings", "Export"),
            PathPurpose::Scan => ("Compare with a scan", "Compare"),
            PathPurpose::AddRecording => ("Add recording", "Add"),
            PathPurpose::RelinkRecording => ("Relink recording", "Relink"),
            PathPurpose::SaveMapping => ("Save mapping", "Save"),
            PathPurpose::LoadMapping => ("Load mapping", "Load"),
            PathPurpose::Transfer => ("Transfer weights from", "Transfer"),
            PathPurpose::ImportWeights => ("Import weights", "Import"),
            PathPurpose::ExportWeights => ("Export weights", "Export"),
            PathPurpose::ImportSculpt => ("Import sculpt", "Import"),
        };
        let (mut chosen, mut cancelled) = (None, false);
        let modal = modal(ctx, "path dialog").show(ctx, |ui| {
            let screen = ctx.content_rect().size();
            let width = WIDTH.min(screen.x - 64.0);
            ui.set_width(width);
            ui.heading(title);
            ui.label(&self.about);
            if self.field.field_ui(ui, width) {
                chosen = self.field.chosen(editor);
            }
            let field = &self.field;
            let (endings, recents) = (field.kind_of_files().1, &self.settings.recents);
            let browser = self.browser.get_or_insert_with(|| {
                let folder = start_folder(&field.typed(), editor, recents);
                Browser::new(folder, endings, recents, ctx)
            });
            let height = LIST.min(screen.y - 250.0).max(72.0);
            match browser.show_ui(ui, Vec2::new(width, height), &field.typed()) {
                Picked::Nothing => {}
                Picked::File(path) => self.field.set_path(&path),
                Picked::Opened(path) => {
                    self.field.set_path(&path);
                    chosen = self.field.chosen(editor);
                }
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

/// Draws that the system's dialog is open, once it took a while.
fn waiting_ui(ctx: &egui::Context, asked: Instant) -> Answer {
    let waited = asked.elapsed();
    if waited < PATIENCE {
        ctx.request_repaint_after(PATIENCE.saturating_sub(waited));
        return Answer::Open;
    }
    let modal = modal(ctx, "system dialog").show(ctx, |ui| {
        ui.label("Choose a file in the system's dialog.");
        ui.button("Cancel").clicked()
    });
    if modal.inner || modal.should_close() {
        Answer::Cancelled
    } else {
        Answer::Open
    }
}

/// The folder that a dialog lists first: that of the proposed path, of the model, of the latest file, or the user's.
fn start_folder(typed: &Path, editor: &Editor, recents: &[PathBuf]) -> PathBuf {
    let source = editor.document().source().and_then(|s| s.path.clone());
    let known = [Some(typed.to_owned()), source, recents.first().cloned()];
    let mut folders = known.into_iter().flatten().filter_map(|path| {
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty())?;
        std::path::absolute(folder).ok()
    });
    folders.find(|folder| folder.is_dir()).unwrap_or_else(home)
}
