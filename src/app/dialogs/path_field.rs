//! A path field, typed or chosen with the system's file dialog; it confirms before a file is replaced.

use super::take_enter;
use crate::editor::Editor;
use crate::export::GltfFormat;
use crate::io::{MODELS, is_obj};
use crate::view::theme;
use crossbeam_channel::{Receiver, TryRecvError, bounded};
use eframe::egui;
use egui::text_selection::CCursorRange;
use egui::{RichText, Role, TextEdit, Ui, WidgetInfo};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The purpose of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum PathPurpose {
    Open,
    Save,
    Relink,
    /// The model to transfer weights from.
    Transfer,
    ImportWeights,
    ExportWeights,
    /// A mesh that was sculpted in the pose on screen.
    ImportSculpt,
    /// A motion to retarget to the character.
    AddMotion,
    /// Measurements of a person.
    Measurements,
    /// A table of recordings.
    ExportTable,
    /// A scan of a person.
    Scan,
    /// A file of recorded channels.
    AddRecording,
    /// Another file of a recording.
    RelinkRecording,
    /// A mapping of bones to write.
    SaveMapping,
    /// A mapping of bones to read.
    LoadMapping,
}

/// The owner of a path field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathUse {
    /// A path dialog.
    Dialog(PathPurpose),
    /// The Export page: a model.
    Export,
    /// The Export page: a static mesh.
    ExportStaticMesh,
}

/// A dialog that ended without a file in less time than this did not exist: nobody cancels so fast.
const NO_DIALOG: Duration = Duration::from_millis(400);

/// The end of the system's dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Browsed {
    /// A file was chosen. The system's dialog has already asked whether to replace an existing one.
    Chosen(PathBuf),
    Cancelled,
    /// The system has no dialog.
    None,
}

/// A path field. Without a system dialog, typing still works.
pub(super) struct PathField {
    path_use: PathUse,
    path: String,
    browsing: Option<Receiver<Browsed>>,
    /// Whether the field belongs to a dialog that lists files itself, which needs no button for it.
    has_list: bool,
    asked_focus: bool,
    /// Why the path cannot be used.
    fault: Option<String>,
    /// The open project: saving over it needs no confirmation.
    own: Option<PathBuf>,
    /// The existing file that the user was asked about.
    to_replace: Option<PathBuf>,
    /// The id of the text field, once shown.
    id: Option<egui::Id>,
}

impl PathField {
    /// A field with the proposal for `path_use`.
    pub(super) fn new(path_use: PathUse, editor: &Editor) -> Self {
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
        let path = match path_use {
            PathUse::Dialog(
                PathPurpose::Open
                | PathPurpose::Relink
                | PathPurpose::Transfer
                | PathPurpose::ImportWeights
                | PathPurpose::ImportSculpt
                | PathPurpose::AddMotion
                | PathPurpose::Measurements
                | PathPurpose::Scan
                | PathPurpose::AddRecording
                | PathPurpose::RelinkRecording
                | PathPurpose::LoadMapping,
            ) => String::new(),
            PathUse::Dialog(PathPurpose::ExportWeights) => beside("weights.json"),
            PathUse::Dialog(PathPurpose::ExportTable) => beside("recordings.csv"),
            PathUse::Dialog(PathPurpose::SaveMapping) => beside("mapping.ron"),
            PathUse::Dialog(PathPurpose::Save) => beside("ron"),
            PathUse::Export | PathUse::ExportStaticMesh => {
                // Never propose the source: exporting over it would lose it.
                let stem = beside("");
                let what = if path_use == PathUse::Export {
                    "sinew"
                } else {
                    "still"
                };
                format!("{}-{what}.glb", stem.trim_end_matches('.'))
            }
        };
        Self {
            path_use,
            path,
            browsing: None,
            has_list: false,
            asked_focus: false,
            fault: None,
            own: editor.project_path().cloned(),
            to_replace: None,
            id: None,
        }
    }

    /// The id of the text field, once shown.
    pub(super) fn id(&self) -> Option<egui::Id> {
        self.id
    }

    /// Whether the field is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.path.trim().is_empty()
    }

    /// Focuses the field and selects its text when it is shown next.
    pub(super) fn ask_focus(&mut self) {
        self.asked_focus = false;
    }

    /// Draws the field and its button, `width` points wide together; returns whether Enter was pressed.
    pub(super) fn field_ui(&mut self, ui: &mut Ui, width: f32) -> bool {
        const BUTTON: f32 = 90.0;
        match self.browsed() {
            Some(Browsed::Chosen(path)) => self.set_path(&path),
            Some(Browsed::None) => {
                let text = if self.has_list {
                    "This system has no file dialog. Choose from the list."
                } else {
                    "This system has no file dialog. Type the path."
                };
                self.fault = Some(text.to_owned());
            }
            Some(Browsed::Cancelled) | None => {}
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
                // The message belongs to another path.
                self.fault = None;
            }
            if !self.asked_focus {
                self.asked_focus = true;
                response.request_focus();
                // Typed text replaces the proposal.
                let mut state = TextEdit::load_state(&ctx, response.id).unwrap_or_default();
                let all = CCursorRange::select_all_str(&self.path);
                state.cursor.set_char_range(Some(all));
                state.store(&ctx, response.id);
            }
            is_entered = response.lost_focus() && take_enter(&ctx);
            let browse = egui::Button::new("Browse…");
            let about = "Choose a file with the system's file dialog.";
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

    /// Says that the dialog lists files itself.
    pub(super) fn use_list(&mut self) {
        self.has_list = true;
    }

    /// Sets the path.
    pub(super) fn set_path(&mut self, path: &Path) {
        self.path = path.display().to_string();
        self.fault = None;
    }

    /// The end of the system's dialog, once.
    pub(super) fn browsed(&mut self) -> Option<Browsed> {
        let ended = self.browsing.as_ref()?.try_recv();
        match ended {
            Ok(ended) => {
                self.browsing = None;
                Some(ended)
            }
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                self.browsing = None;
                Some(Browsed::None)
            }
        }
    }

    /// Whether the system's dialog is open.
    pub(super) fn is_browsing(&self) -> bool {
        self.browsing.is_some()
    }

    /// The existing file at the typed path may be replaced: the system asked.
    pub(super) fn allow_replacing(&mut self) {
        self.to_replace = Some(self.target());
    }

    /// What the files are called, and their endings.
    pub(super) fn kind_of_files(&self) -> (&'static str, &'static [&'static str]) {
        match self.path_use {
            PathUse::Dialog(PathPurpose::Open) => {
                ("Models and projects", &["glb", "gltf", "obj", "ron"])
            }
            PathUse::Dialog(PathPurpose::Transfer) => {
                ("Models and projects", &["glb", "gltf", "ron"])
            }
            PathUse::Dialog(PathPurpose::Relink) => ("Models", &MODELS),
            PathUse::Dialog(PathPurpose::ImportSculpt) => ("Meshes", &MODELS),
            PathUse::Dialog(PathPurpose::ImportWeights | PathPurpose::ExportWeights) => {
                ("Weights", &["json"])
            }
            PathUse::Dialog(PathPurpose::AddMotion) => {
                ("Motions", &["bvh", "vmclog", "glb", "gltf", "ron"])
            }
            PathUse::Dialog(PathPurpose::Measurements) => {
                ("Measurements", &["csv", "tsv", "txt", "json"])
            }
            PathUse::Dialog(PathPurpose::ExportTable) => ("Tables", &["csv", "jsonl"]),
            PathUse::Dialog(PathPurpose::Scan) => ("Scans", &["obj", "ply"]),
            PathUse::Dialog(PathPurpose::AddRecording | PathPurpose::RelinkRecording) => (
                "Recordings",
                &["csv", "tsv", "trc", "txt", "jsonl", "ndjson"],
            ),
            PathUse::Dialog(PathPurpose::SaveMapping | PathPurpose::LoadMapping) => {
                ("Mappings", &["ron"])
            }
            PathUse::Dialog(PathPurpose::Save) => ("Sinew project", &["ron"]),
            PathUse::Export => ("glTF", &["glb", "gltf"]),
            PathUse::ExportStaticMesh => ("glTF and Wavefront OBJ", &MODELS),
        }
    }

    /// Whether a file is written to the path.
    fn writes(&self) -> bool {
        matches!(
            self.path_use,
            PathUse::Dialog(
                PathPurpose::Save
                    | PathPurpose::ExportWeights
                    | PathPurpose::ExportTable
                    | PathPurpose::SaveMapping
            ) | PathUse::Export
                | PathUse::ExportStaticMesh
        )
    }

    /// Draws the fault of the path, or the question whether to replace a file.
    pub(super) fn message_ui(&mut self, ui: &mut Ui) {
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
            let text = format!("{name} already exists. Replace it?");
            ui.label(RichText::new(text).color(theme::palette(ui).accent));
        }
    }

    /// Whether the field asks to replace an existing file.
    pub(super) fn asks(&self) -> bool {
        self.to_replace.is_some()
    }

    /// The typed path.
    pub(super) fn typed(&self) -> PathBuf {
        let text = self.path.trim();
        match text.strip_prefix("~/") {
            Some(rest) => home().join(rest),
            None => PathBuf::from(text),
        }
    }

    /// Replaces the extension of the typed path.
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

    /// The path with the default extension of a project.
    fn target(&self) -> PathBuf {
        match self.path_use {
            PathUse::Dialog(PathPurpose::Save) => crate::io::project_path(&self.typed()),
            _ => self.typed(),
        }
    }

    /// The path if it is usable; otherwise shows its fault.
    pub(super) fn usable(&mut self) -> Option<PathBuf> {
        if self.is_empty() {
            return None;
        }
        self.fault = self.find_fault();
        self.fault.is_none().then(|| self.typed())
    }

    /// The path if it is usable and an existing file may be replaced; otherwise shows the fault or the question.
    pub(super) fn chosen(&mut self, editor: &Editor) -> Option<PathBuf> {
        let typed = self.usable()?;
        let target = self.target();
        let writes = self.writes();
        if writes {
            let mut outputs = editor.outputs();
            let claimed = match self.path_use {
                PathUse::Dialog(PathPurpose::Save) => outputs.claim_project(&target),
                _ => outputs.claim(&target),
            };
            // Refused before the question, not after it.
            if let Err(error) = claimed {
                self.fault = Some(error.to_string());
                return None;
            }
        }
        let asks = writes && target.is_file() && self.own.as_ref() != Some(&target);
        if asks && self.to_replace.as_ref() != Some(&target) {
            self.to_replace = Some(target);
            return None;
        }
        // Ask again the next time.
        self.to_replace = None;
        Some(typed)
    }

    fn find_fault(&self) -> Option<String> {
        let typed = self.typed();
        let folder = typed.parent().filter(|f| !f.as_os_str().is_empty());
        match self.path_use {
            PathUse::Dialog(
                PathPurpose::Open
                | PathPurpose::Relink
                | PathPurpose::Transfer
                | PathPurpose::ImportWeights
                | PathPurpose::ImportSculpt
                | PathPurpose::AddMotion
                | PathPurpose::Measurements
                | PathPurpose::Scan
                | PathPurpose::AddRecording
                | PathPurpose::RelinkRecording
                | PathPurpose::LoadMapping,
            ) => {
                let missing = || format!("The file \"{}\" does not exist.", typed.display());
                (!typed.exists()).then(missing)
            }
            PathUse::Dialog(PathPurpose::ExportWeights)
                if typed.extension().is_none_or(|e| e != "json") =>
            {
                Some("A weights file must end in .json.".to_owned())
            }
            PathUse::Dialog(PathPurpose::ExportTable)
                if typed.extension().is_none_or(|e| e != "csv" && e != "jsonl") =>
            {
                Some("A table must end in .csv or .jsonl.".to_owned())
            }
            PathUse::Dialog(PathPurpose::SaveMapping)
                if typed.extension().is_none_or(|e| e != "ron") =>
            {
                Some("A mapping must end in .ron.".to_owned())
            }
            PathUse::Dialog(PathPurpose::Save) if crate::io::is_model(&typed) => {
                Some("A project must end in .ron. To write a model, use Export glTF.".to_owned())
            }
            PathUse::Export if is_obj(&typed) => Some(
                "An .obj file holds one frame as a mesh. Choose Current frame as mesh to write it."
                    .to_owned(),
            ),
            PathUse::Export if GltfFormat::of_path(&typed).is_none() => {
                Some("A model must end in .glb or .gltf.".to_owned())
            }
            PathUse::ExportStaticMesh
                if GltfFormat::of_path(&typed).is_none() && !is_obj(&typed) =>
            {
                Some("The file of a mesh must end in .glb, .gltf or .obj.".to_owned())
            }
            PathUse::Dialog(
                PathPurpose::Save
                | PathPurpose::ExportWeights
                | PathPurpose::ExportTable
                | PathPurpose::SaveMapping,
            )
            | PathUse::Export
            | PathUse::ExportStaticMesh => folder.and_then(folder_fault),
        }
    }

    /// Opens the system's dialog on its own thread.
    pub(super) fn browse(&mut self, ctx: &egui::Context) {
        let (send, receive) = bounded(1);
        let (typed, writes, ctx) = (self.typed(), self.writes(), ctx.clone());
        let (title, endings) = self.kind_of_files();
        let job = move || {
            let start = Instant::now();
            let mut dialog = rfd::FileDialog::new().add_filter(title, endings);
            if let Some(folder) = typed.parent().filter(|f| f.is_dir()) {
                dialog = dialog.set_directory(folder);
            }
            let chosen = if writes {
                let name = typed.file_name().unwrap_or_default();
                dialog.set_file_name(name.to_string_lossy()).save_file()
            } else {
                dialog.pick_file()
            };
            let _ = send.send(match chosen {
                Some(path) => Browsed::Chosen(path),
                None if start.elapsed() < NO_DIALOG => Browsed::None,
                None => Browsed::Cancelled,
            });
            ctx.request_repaint();
        };
        let spawned = std::thread::Builder::new().name("dialog".into()).spawn(job);
        // Without a thread the text field still works.
        self.browsing = spawned.ok().map(|_| receive);
    }
}

/// The user's folder.
pub(super) fn home() -> PathBuf {
    directories::UserDirs::new().map_or_else(PathBuf::new, |dirs| dirs.home_dir().to_owned())
}

/// Why a path is not a folder: it does not exist, or a part of it is a file. `None` if it is one.
fn folder_fault(folder: &Path) -> Option<String> {
    if folder.is_dir() {
        return None;
    }
    Some(match folder.ancestors().find(|part| part.exists()) {
        Some(part) if !part.is_dir() => format!("\"{}\" is not a folder.", part.display()),
        _ => format!("The folder \"{}\" does not exist.", folder.display()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_below_a_file_is_told_from_a_missing_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "model").unwrap();
        assert_eq!(folder_fault(folder.path()), None);
        let not_a_folder = Some(format!("\"{}\" is not a folder.", file.display()));
        assert_eq!(folder_fault(&file), not_a_folder);
        assert_eq!(folder_fault(&file.join("deep/er")), not_a_folder);
        let missing = folder.path().join("missing/deep");
        let expected = format!("The folder \"{}\" does not exist.", missing.display());
        assert_eq!(folder_fault(&missing), Some(expected));
        assert!(folder_fault(Path::new("missing here")).is_some());
    }
}
