//! The field for a path that dialogs share: typed, or chosen with the system's own dialog; what is there is asked about.

use super::take_enter;
use crate::editor::Editor;
use crate::export::GltfFormat;
use crate::export::is_obj;
use crate::view::theme;
use crossbeam_channel::{Receiver, bounded};
use eframe::egui;
use egui::text_selection::CCursorRange;
use egui::{RichText, Role, TextEdit, Ui, WidgetInfo};
use std::path::{Path, PathBuf};

/// What a path is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum PathPurpose {
    Open,
    Save,
    Relink,
    /// The model that weights are taken from.
    Transfer,
    ImportWeights,
    ExportWeights,
}

/// Who asks with a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asker {
    /// A dialog of its own.
    Dialog(PathPurpose),
    /// The Export page: a model.
    Export,
    /// The Export page: a moment as a mesh.
    ExportStill,
}

/// Where the system has no dialog, typing still works.
pub(super) struct PathField {
    asker: Asker,
    path: String,
    browsing: Option<Receiver<Option<PathBuf>>>,
    asked_focus: bool,
    /// Why what was typed cannot be used.
    fault: Option<String>,
    /// The project that is open: saving over it asks nothing.
    own: Option<PathBuf>,
    /// An existing file that the artist was asked about.
    to_replace: Option<PathBuf>,
    /// The widget that is typed in, once it was shown.
    id: Option<egui::Id>,
}

impl PathField {
    /// The field with what is proposed to `asker`.
    pub(super) fn new(asker: Asker, editor: &Editor) -> Self {
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
        let path = match asker {
            Asker::Dialog(
                PathPurpose::Open
                | PathPurpose::Relink
                | PathPurpose::Transfer
                | PathPurpose::ImportWeights,
            ) => String::new(),
            Asker::Dialog(PathPurpose::ExportWeights) => beside("weights.json"),
            Asker::Dialog(PathPurpose::Save) => beside("ron"),
            Asker::Export | Asker::ExportStill => {
                // The source is never the default: exporting over it would lose it.
                let stem = beside("");
                let what = if asker == Asker::Export {
                    "sinew"
                } else {
                    "still"
                };
                format!("{}-{what}.glb", stem.trim_end_matches('.'))
            }
        };
        Self {
            asker,
            path,
            browsing: None,
            asked_focus: false,
            fault: None,
            own: editor.project_path().cloned(),
            to_replace: None,
            id: None,
        }
    }

    /// The widget that is typed in, once it was shown.
    pub(super) fn id(&self) -> Option<egui::Id> {
        self.id
    }

    /// Whether nothing is typed.
    pub(super) fn is_empty(&self) -> bool {
        self.path.trim().is_empty()
    }

    /// Gives the keyboard to the field, with all of it selected, when it is shown next.
    pub(super) fn ask_focus(&mut self) {
        self.asked_focus = false;
    }

    /// The field and its button, `width` points wide together; whether Enter was pressed in it.
    pub(super) fn field_ui(&mut self, ui: &mut Ui, width: f32) -> bool {
        const BUTTON: f32 = 90.0;
        if let Some(chosen) = self.browsing.as_ref().and_then(|b| b.try_recv().ok()) {
            self.browsing = None;
            if let Some(path) = chosen {
                self.path = path.display().to_string();
                self.fault = None;
            }
        }
        let ctx = ui.ctx().clone();
        let mut is_entered = false;
        ui.horizontal(|ui| {
            let field = TextEdit::singleline(&mut self.path)
                .hint_text("Path")
                .desired_width((width - BUTTON - ui.spacing().item_spacing.x).max(80.0));
            let response = ui.add(field);
            response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, "Path"));
            self.id = Some(response.id);
            if response.changed() {
                // It was said of another path.
                self.fault = None;
            }
            if !self.asked_focus {
                self.asked_focus = true;
                response.request_focus();
                // What is proposed gives way to what is typed.
                let mut state = TextEdit::load_state(&ctx, response.id).unwrap_or_default();
                let all = CCursorRange::select_all_str(&self.path);
                state.cursor.set_char_range(Some(all));
                state.store(&ctx, response.id);
            }
            is_entered = response.lost_focus() && take_enter(&ctx);
            let browse = egui::Button::new("Browse…");
            let about = "Choose with the system's dialog, where there is one.";
            if ui
                .add_enabled(self.browsing.is_none(), browse)
                .on_hover_text(about)
                .clicked()
            {
                self.browse(&ctx);
            }
        });
        is_entered
    }

    /// What is wrong with the path, or the question whether a file is to be replaced.
    pub(super) fn said_ui(&mut self, ui: &mut Ui) {
        if self
            .to_replace
            .as_ref()
            .is_some_and(|asked| *asked != self.target())
        {
            self.to_replace = None;
        }
        if let Some(fault) = &self.fault {
            ui.label(RichText::new(fault).color(theme::palette(ui).error));
        } else if let Some(path) = &self.to_replace {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let text = format!("{name} exists. Replace it?");
            ui.label(RichText::new(text).color(theme::palette(ui).accent));
        }
    }

    /// Whether the artist was asked about the file that is there.
    pub(super) fn asks(&self) -> bool {
        self.to_replace.is_some()
    }

    /// The path as it is meant.
    pub(super) fn typed(&self) -> PathBuf {
        let text = self.path.trim();
        match text.strip_prefix("~/") {
            Some(rest) => home().join(rest),
            None => PathBuf::from(text),
        }
    }

    /// Gives what is typed the ending of a kind of file.
    pub(super) fn set_ending(&mut self, ending: &str) {
        let path = Path::new(self.path.trim());
        let known = GltfFormat::of_path(path).is_some() || is_obj(path);
        self.path = if known {
            path.with_extension(ending).display().to_string()
        } else {
            format!("{}.{ending}", path.display())
        };
        self.fault = None;
    }

    /// Where the file will be: projects get their ending.
    fn target(&self) -> PathBuf {
        match self.asker {
            Asker::Dialog(PathPurpose::Save) => crate::io::project_path(&self.typed()),
            _ => self.typed(),
        }
    }

    /// The path, once it can be used; else what is wrong is shown.
    pub(super) fn usable(&mut self) -> Option<PathBuf> {
        if self.is_empty() {
            return None;
        }
        self.fault = self.find_fault();
        self.fault.is_none().then(|| self.typed())
    }

    /// The path, once it can be used and an existing file may be replaced; else what is wrong is shown.
    pub(super) fn chosen(&mut self) -> Option<PathBuf> {
        let typed = self.usable()?;
        let target = self.target();
        let writes = matches!(
            self.asker,
            Asker::Dialog(PathPurpose::Save | PathPurpose::ExportWeights)
                | Asker::Export
                | Asker::ExportStill
        );
        let asks = writes && target.is_file() && self.own.as_ref() != Some(&target);
        if asks && self.to_replace.as_ref() != Some(&target) {
            self.to_replace = Some(target);
            return None;
        }
        // Asked again the next time.
        self.to_replace = None;
        Some(typed)
    }

    fn find_fault(&self) -> Option<String> {
        let typed = self.typed();
        let folder = typed.parent().filter(|f| !f.as_os_str().is_empty());
        match self.asker {
            Asker::Dialog(
                PathPurpose::Open
                | PathPurpose::Relink
                | PathPurpose::Transfer
                | PathPurpose::ImportWeights,
            ) => {
                let missing = || format!("There is no file \"{}\".", typed.display());
                (!typed.exists()).then(missing)
            }
            Asker::Dialog(PathPurpose::ExportWeights)
                if typed.extension().is_none_or(|e| e != "json") =>
            {
                Some("A weights file ends in .json.".to_owned())
            }
            Asker::Dialog(PathPurpose::Save) if crate::io::is_model(&typed) => {
                Some("A project ends in .ron; to write a model, export it.".to_owned())
            }
            Asker::Export if is_obj(&typed) => {
                Some("An .obj holds one moment; choose Still for it.".to_owned())
            }
            Asker::Export if GltfFormat::of_path(&typed).is_none() => {
                Some("A model ends in .glb or .gltf.".to_owned())
            }
            Asker::ExportStill if GltfFormat::of_path(&typed).is_none() && !is_obj(&typed) => {
                Some("A still ends in .glb, .gltf or .obj.".to_owned())
            }
            Asker::Dialog(PathPurpose::Save | PathPurpose::ExportWeights)
            | Asker::Export
            | Asker::ExportStill => folder
                .filter(|folder| !folder.is_dir())
                .map(|folder| format!("There is no folder \"{}\".", folder.display())),
        }
    }

    /// The system's dialog on a thread of its own; without one it comes back empty at once.
    fn browse(&mut self, ctx: &egui::Context) {
        let (send, receive) = bounded(1);
        let (asker, typed, ctx) = (self.asker, self.typed(), ctx.clone());
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
                let chosen = match asker {
                    Asker::Dialog(PathPurpose::Open | PathPurpose::Transfer) => dialog
                        .add_filter("Models and projects", &["glb", "gltf", "ron"])
                        .pick_file(),
                    Asker::Dialog(PathPurpose::Relink) => {
                        dialog.add_filter("Models", &["glb", "gltf"]).pick_file()
                    }
                    Asker::Dialog(PathPurpose::ImportWeights) => {
                        dialog.add_filter("Weights", &["json"]).pick_file()
                    }
                    Asker::Dialog(PathPurpose::ExportWeights) => dialog
                        .add_filter("Weights", &["json"])
                        .set_file_name(name)
                        .save_file(),
                    Asker::Dialog(PathPurpose::Save) => dialog
                        .add_filter("Sinew project", &["ron"])
                        .set_file_name(name)
                        .save_file(),
                    Asker::Export => dialog
                        .add_filter("glTF", &["glb", "gltf"])
                        .set_file_name(name)
                        .save_file(),
                    Asker::ExportStill => dialog
                        .add_filter("glTF and Wavefront OBJ", &["glb", "gltf", "obj"])
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
