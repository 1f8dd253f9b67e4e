//! A path to open, save, export, to find a model again, or for weights.

use super::{modal, take_enter};
use crate::editor::Editor;
use crate::io::gltf_export::{Container, ExportOptions};
use crate::view::theme;
use crossbeam_channel::{Receiver, bounded};
use eframe::egui;
use egui::text_selection::CCursorRange;
use egui::{RichText, Role, TextEdit, WidgetInfo};
use std::path::PathBuf;

/// What a path is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum PathPurpose {
    Open,
    Save,
    Export,
    Relink,
    /// The model that weights are taken from.
    Transfer,
    ImportWeights,
    ExportWeights,
}

/// What became of a path dialog this frame.
pub(in crate::app) enum Answer {
    /// It is still open.
    Open,
    Cancelled,
    Chosen(PathBuf),
}

/// A field for a path, with the system's own dialog one button away. Where the system has none, typing still works.
pub(in crate::app) struct PathDialog {
    purpose: PathPurpose,
    path: String,
    about: String,
    influences: usize,
    browsing: Option<Receiver<Option<PathBuf>>>,
    asked_focus: bool,
    /// Why what was typed cannot be used.
    fault: Option<String>,
    /// The project that is open: saving over it asks nothing.
    own: Option<PathBuf>,
    /// An existing file that the artist was asked about.
    to_replace: Option<PathBuf>,
}

impl PathDialog {
    pub(in crate::app) fn new(purpose: PathPurpose, editor: &Editor) -> Self {
        let source = editor.document().source().and_then(|s| s.path.clone());
        let name = editor
            .document()
            .source()
            .and_then(|s| s.sample.clone())
            .unwrap_or_else(|| "model".into());
        let beside = |ending: &str| {
            let base = editor
                .project_path()
                .cloned()
                .or_else(|| source.clone())
                .unwrap_or_else(|| home().join(&name));
            base.with_extension(ending).display().to_string()
        };
        let path = match purpose {
            PathPurpose::Open
            | PathPurpose::Relink
            | PathPurpose::Transfer
            | PathPurpose::ImportWeights => String::new(),
            PathPurpose::ExportWeights => beside("weights.json"),
            PathPurpose::Save => beside("ron"),
            PathPurpose::Export => {
                // The source is never the default: exporting over it would lose it.
                let stem = beside("");
                format!("{}-sinew.glb", stem.trim_end_matches('.'))
            }
        };
        let about = match purpose {
            PathPurpose::Open => "A glTF model (.gltf, .glb) or a Sinew project (.ron).".to_owned(),
            PathPurpose::Save => {
                "A Sinew project (.ron): what you changed, beside the untouched model.".to_owned()
            }
            PathPurpose::Export => {
                "A glTF file (.glb, or .gltf with a .bin): your changes, the rest as it came."
                    .to_owned()
            }
            PathPurpose::Transfer => {
                "A model or project (.gltf, .glb, .ron) in the same place and bind pose.".to_owned()
            }
            PathPurpose::ImportWeights => {
                "A weights file (.json), as Export weights writes it: bones by name.".to_owned()
            }
            PathPurpose::ExportWeights => {
                "A weights file (.json): every point's weights, bones by name.".to_owned()
            }
            PathPurpose::Relink => match editor.relink() {
                Some(relink) => format!(
                    "The project's model {} is missing. Where is it now?",
                    relink.missing.display()
                ),
                None => String::new(),
            },
        };
        Self {
            purpose,
            path,
            about,
            influences: 4,
            browsing: None,
            asked_focus: false,
            fault: None,
            own: editor.project_path().cloned(),
            to_replace: None,
        }
    }

    pub(in crate::app) fn purpose(&self) -> PathPurpose {
        self.purpose
    }

    pub(in crate::app) fn export_options(&self) -> ExportOptions {
        ExportOptions {
            influences: self.influences,
            ..ExportOptions::default()
        }
    }

    pub(in crate::app) fn show(&mut self, ctx: &egui::Context) -> Answer {
        if let Some(chosen) = self.browsing.as_ref().and_then(|b| b.try_recv().ok()) {
            self.browsing = None;
            if let Some(path) = chosen {
                self.path = path.display().to_string();
            }
        }
        let (title, verb) = match self.purpose {
            PathPurpose::Open => ("Open", "Open"),
            PathPurpose::Save => ("Save project", "Save"),
            PathPurpose::Export => ("Export glTF", "Export"),
            PathPurpose::Relink => ("Find the model", "Open"),
            PathPurpose::Transfer => ("Transfer weights from", "Read"),
            PathPurpose::ImportWeights => ("Import weights", "Read"),
            PathPurpose::ExportWeights => ("Export weights", "Write"),
        };
        let mut answer = Answer::Open;
        let modal = modal(ctx, "path dialog").show(ctx, |ui| {
            ui.set_width(460.0);
            ui.heading(title);
            ui.label(&self.about);
            ui.horizontal(|ui| {
                let field = TextEdit::singleline(&mut self.path).hint_text("Path").desired_width(350.0);
                let response = ui.add(field);
                response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Path"));
                if !self.asked_focus {
                    self.asked_focus = true;
                    response.request_focus();
                    // What is proposed gives way to what is typed.
                    let mut state = TextEdit::load_state(ctx, response.id).unwrap_or_default();
                    let all = CCursorRange::select_all_str(&self.path);
                    state.cursor.set_char_range(Some(all));
                    state.store(ctx, response.id);
                }
                if response.lost_focus() && take_enter(ui.ctx()) {
                    answer = self.chosen();
                }
                let browse = egui::Button::new("Browse…");
                let about = "Choose with the system's dialog, where there is one.";
                if ui.add_enabled(self.browsing.is_none(), browse).on_hover_text(about).clicked() {
                    self.browse(ctx);
                }
            });
            if self.purpose == PathPurpose::Export {
                ui.horizontal(|ui| {
                    ui.label("Influences");
                    for n in [4, 8] {
                        ui.radio_value(&mut self.influences, n, n.to_string())
                            .on_hover_text("Most bones a vertex of a rewritten mesh follows. Many viewers read only 4.");
                    }
                });
            }
            if self.to_replace.as_ref().is_some_and(|asked| *asked != self.target()) {
                self.to_replace = None;
            }
            if let Some(fault) = &self.fault {
                ui.label(RichText::new(fault).color(theme::palette(ui).error));
            } else if let Some(path) = &self.to_replace {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                ui.label(RichText::new(format!("{name} exists. Replace it?")).color(theme::palette(ui).accent));
            }
            let verb = if self.to_replace.is_some() { "Replace" } else { verb };
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                let ready = !self.path.trim().is_empty();
                if ui.add_enabled(ready, egui::Button::new(verb)).clicked() {
                    answer = self.chosen();
                }
                if ui.button("Cancel").clicked() {
                    answer = Answer::Cancelled;
                }
            });
        });
        if modal.should_close() && matches!(answer, Answer::Open) {
            answer = Answer::Cancelled;
        }
        answer
    }

    fn typed(&self) -> PathBuf {
        let text = self.path.trim();
        match text.strip_prefix("~/") {
            Some(rest) => home().join(rest),
            None => PathBuf::from(text),
        }
    }

    /// Where the file will be: projects get their ending.
    fn target(&self) -> PathBuf {
        match self.purpose {
            PathPurpose::Save => crate::io::project_path(&self.typed()),
            _ => self.typed(),
        }
    }

    /// The path, once it can be used and an existing file may be replaced; else what is wrong is shown.
    fn chosen(&mut self) -> Answer {
        if self.path.trim().is_empty() {
            return Answer::Open;
        }
        self.fault = self.find_fault();
        if self.fault.is_some() {
            return Answer::Open;
        }
        let target = self.target();
        let writes = matches!(
            self.purpose,
            PathPurpose::Save | PathPurpose::Export | PathPurpose::ExportWeights
        );
        let asks = writes && target.is_file() && self.own.as_ref() != Some(&target);
        if asks && self.to_replace.as_ref() != Some(&target) {
            self.to_replace = Some(target);
            return Answer::Open;
        }
        Answer::Chosen(self.typed())
    }

    fn find_fault(&self) -> Option<String> {
        let typed = self.typed();
        let folder = typed.parent().filter(|f| !f.as_os_str().is_empty());
        match self.purpose {
            PathPurpose::Open
            | PathPurpose::Relink
            | PathPurpose::Transfer
            | PathPurpose::ImportWeights
                if !typed.exists() =>
            {
                Some(format!("There is no file \"{}\".", typed.display()))
            }
            PathPurpose::Open
            | PathPurpose::Relink
            | PathPurpose::Transfer
            | PathPurpose::ImportWeights => None,
            PathPurpose::ExportWeights if typed.extension().is_none_or(|e| e != "json") => {
                Some("A weights file ends in .json.".to_owned())
            }
            PathPurpose::Save if crate::io::is_model(&typed) => {
                Some("A project ends in .ron; to write a model, export it.".to_owned())
            }
            PathPurpose::Export if Container::of_path(&typed).is_none() => {
                Some("A model ends in .glb or .gltf.".to_owned())
            }
            PathPurpose::Save | PathPurpose::Export | PathPurpose::ExportWeights => folder
                .filter(|folder| !folder.is_dir())
                .map(|folder| format!("There is no folder \"{}\".", folder.display())),
        }
    }

    /// The system's dialog on a thread of its own; without one it comes back empty at once.
    fn browse(&mut self, ctx: &egui::Context) {
        let (send, receive) = bounded(1);
        let (purpose, typed, ctx) = (self.purpose, self.typed(), ctx.clone());
        let spawned = std::thread::Builder::new()
            .name("dialog".into())
            .spawn(move || {
                let mut dialog = rfd::FileDialog::new();
                if let Some(folder) = typed.parent().filter(|f| f.is_dir()) {
                    dialog = dialog.set_directory(folder);
                }
                let name = typed
                    .file_name()
                    .map_or_else(String::new, |n| n.to_string_lossy().into_owned());
                let chosen = match purpose {
                    PathPurpose::Open | PathPurpose::Transfer => dialog
                        .add_filter("Models and projects", &["glb", "gltf", "ron"])
                        .pick_file(),
                    PathPurpose::Relink => {
                        dialog.add_filter("Models", &["glb", "gltf"]).pick_file()
                    }
                    PathPurpose::ImportWeights => {
                        dialog.add_filter("Weights", &["json"]).pick_file()
                    }
                    PathPurpose::ExportWeights => dialog
                        .add_filter("Weights", &["json"])
                        .set_file_name(name)
                        .save_file(),
                    PathPurpose::Save => dialog
                        .add_filter("Sinew project", &["ron"])
                        .set_file_name(name)
                        .save_file(),
                    PathPurpose::Export => dialog
                        .add_filter("glTF", &["glb", "gltf"])
                        .set_file_name(name)
                        .save_file(),
                };
                let _ = send.send(chosen);
                ctx.request_repaint();
            });
        // Without a thread the field still works.
        self.browsing = spawned.ok().map(|_| receive);
    }
}

fn home() -> PathBuf {
    directories::UserDirs::new().map_or_else(PathBuf::new, |dirs| dirs.home_dir().to_owned())
}
