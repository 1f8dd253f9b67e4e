//! The window: eframe's shell around the headless editor.
//!
//! Data flow: a frame's input -> [`Command`]s and pointer events -> [`Editor`] -> [`Editor::poll`] once per frame ->
//! panels and viewport draw its state.
//!
//! Invariant: this folder contains no logic that a test of the headless editor could not reach.
//! Invariant: dialogs never block; system file dialogs run on a thread.

mod confirm;
mod dialogs;
mod find_command;
mod frame;
mod help;
mod memory;
mod modes;
mod overlay;
mod preferences;
mod run;
mod run_clusters;
mod run_live;
mod run_poses;
pub mod settings;
mod shell;
pub mod thumbnails;
mod toggles;

use crate::deform::StackChoice;
use crate::deform::diagnostics::Metric;
use crate::document::Image;
use crate::document::session::SelectKind;
use crate::editor::exporting::ExportKind;
use crate::editor::{Editor, OpenRequest};
use crate::evaluate::Difference;
use crate::io::mapping_file::RememberedMappings;
use crate::io::project::{Autosaves, Recoverable};
use crate::skeleton::RangeOfMotion;
use crate::view::commands::Command;
use crate::view::frame::{PanelKind, Workspace};
use crate::view::keymap;
use crate::view::layout::{Arrangement, Dock};
use crate::view::mode::Mode;
use crate::view::panels::{
    ClustersPanel, CorrectivesPanel, Hierarchy, IndividualPanel, InfluencesPanel, LayersPanel,
    MotionPanel, PosesPanel, Timeline, VolumePanel,
};
use crate::view::pie::Pie;
use crate::view::scene::Shading;
use crate::view::system_fonts::system_fonts;
use crate::view::theme;
use crate::view::toasts::Toasts;
use crate::view::viewport::Viewport;
use confirm::{Closing, Pending};
use crossbeam_channel::{Receiver, bounded};
use dialogs::export::ExportPage;
use dialogs::manual::Manual;
use dialogs::path::{PathDialog, PathPurpose, PathSettings};
use dialogs::range_of_motion::RangeDialog;
use dialogs::weight_range::WeightRange;
use dialogs::welcome::Welcome;
use eframe::egui;
use memory::Memory;
use overlay::Overlay;
use settings::{SCALES, SettingsFile};
use std::path::PathBuf;
use thumbnails::{Gallery, Thumbnails};

/// Opens the window with `file`, or with the sample arm. Returns when it closes; an error is one sentence.
pub fn run(file: Option<PathBuf>) -> Result<(), String> {
    const NO_WINDOW: &str = "These subcommands work without a window: info, skin, render, export, check, bench, \
                             sample. See `sinew --help`.";
    let has_display = !cfg!(target_os = "linux")
        || ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
            .iter()
            .any(|v| std::env::var_os(v).is_some_and(|v| !v.is_empty()));
    if !has_display {
        return Err(format!("No display found to open a window. {NO_WINDOW}"));
    }
    let folders = Folders::of_user();
    let settings = SettingsFile::open(folders.settings.clone());
    let size = settings.settings.window_size.unwrap_or([1366.0, 768.0]);
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Sinew")
            .with_app_id("sinew")
            .with_inner_size(size)
            .with_maximized(settings.settings.is_maximised)
            .with_min_inner_size([800.0, 500.0])
            .with_drag_and_drop(true),
        // Our settings store the size.
        persist_window: false,
        // Ours serves the pictures too.
        system_font_fallback: false,
        ..Default::default()
    };
    eframe::run_native(
        "sinew",
        options,
        Box::new(|cc| {
            cc.egui_ctx.add_font_provider(system_fonts());
            let app = SinewApp::new(&cc.egui_ctx, file, folders)?;
            Ok(Box::new(app.with_system_dialogs()))
        }),
    )
    .map_err(|error| {
        let why = match error {
            eframe::Error::Winit(_) | eframe::Error::WinitEventLoop(_) => {
                "the display does not answer".to_owned()
            }
            other => other.to_string(),
        };
        format!("The window cannot be opened: {why}. {NO_WINDOW}")
    })
}

/// The folders for data other than the user's files; `None`: store nothing.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// Autosaves.
    pub autosaves: Option<Autosaves>,
    /// The settings file.
    pub settings: Option<PathBuf>,
    /// Thumbnails of recent files.
    pub thumbnails: Option<Thumbnails>,
}

impl Folders {
    /// The user's default folders.
    pub fn of_user() -> Self {
        Self {
            autosaves: Autosaves::of_user().ok(),
            settings: SettingsFile::path_of_user(),
            thumbnails: Thumbnails::of_user(),
        }
    }
}

/// The app that eframe runs.
pub struct SinewApp {
    editor: Editor,
    viewport: Viewport,
    hierarchy: Hierarchy,
    timeline: Timeline,
    volume: VolumePanel,
    influences: InfluencesPanel,
    layers: LayersPanel,
    clusters: ClustersPanel,
    correctives: CorrectivesPanel,
    motion: MotionPanel,
    individual: IndividualPanel,
    poses: PosesPanel,
    /// Frames left in which the clipboard may deliver the text of a pose.
    pose_text_frames: u8,
    dock: Dock,
    settings: SettingsFile,
    toasts: Toasts,
    memory: Memory,
    /// The commands requested by panels in this frame.
    commands: Vec<Command>,
    /// The previous mode.
    mode_before: Mode,
    /// The shading before Paint mode.
    shading_before: Shading,
    /// What was selected before Cluster mode.
    kind_before: SelectKind,
    dialog: Option<PathDialog>,
    uses_system_dialogs: bool,
    export: ExportPage,
    /// The shading and the difference settings before the difference of an export was coloured.
    before_difference: Option<(Shading, Metric, Difference)>,
    range_of_motion: Option<RangeDialog>,
    weight_range: Option<WeightRange>,
    /// The last settings of that dialog.
    range_settings: RangeOfMotion,
    overlay: Overlay,
    pie: Option<Pie>,
    welcome: Option<Welcome>,
    shows_about: bool,
    manual: Option<Manual>,
    /// The action to run after the question about unsaved changes.
    pending: Option<Pending>,
    /// A window that closes while an export is not written yet.
    closing: Option<Closing>,
    /// The dropped model that may be a motion of the open character.
    dropped_model: Option<PathBuf>,
    /// The action to run after the pending save.
    after_save: Option<Pending>,
    recoverable: Vec<Recoverable>,
    /// The recovered work that is to be deleted, once confirmed.
    discarding: Option<PathBuf>,
    /// Receives the recoverable work, which is read on a thread.
    recovering: Receiver<Vec<Recoverable>>,
    thumbnails: Option<Thumbnails>,
    gallery: Gallery,
    /// The model, save and autosave of the last frame.
    noted: frame::Observed,
    close_confirmed: bool,
    /// The window title.
    title: String,
}

/// Searches for autosaves on a thread.
fn find_recoverable(
    autosaves: Option<Autosaves>,
    ctx: egui::Context,
) -> Receiver<Vec<Recoverable>> {
    let (send, receive) = bounded(1);
    if let Some(autosaves) = autosaves {
        let search = move || {
            let _ = send.send(autosaves.recoverable());
            ctx.request_repaint();
        };
        // Without a thread nothing is offered now; the files stay for the next start.
        let _ = std::thread::Builder::new()
            .name("recovery".into())
            .spawn(search);
    }
    receive
}

impl SinewApp {
    /// The app with `file`, or with the sample arm under the welcome.
    pub fn new(
        ctx: &egui::Context,
        file: Option<PathBuf>,
        folders: Folders,
    ) -> std::io::Result<Self> {
        let beside = folders.settings.as_ref().and_then(|path| path.parent());
        let mappings = beside.map(|folder| folder.join("mappings"));
        let settings = SettingsFile::open(folders.settings);
        let chosen = &settings.settings;
        theme::apply(ctx);
        theme::set(ctx, chosen.theme);
        keymap::set(ctx, chosen.key_map.clone());
        // The keys for the UI scale are commands, so that they can be searched and changed.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        ctx.set_zoom_factor(chosen.ui_scale);
        let welcome =
            (file.is_none() && chosen.show_welcome).then(|| Welcome::new(&chosen.recents, ctx));
        let workspace = chosen.workspace;
        let dock = Dock::of_workspace(workspace, &chosen.layout(workspace));
        let waker = ctx.clone();
        let recovering = find_recoverable(folders.autosaves.clone(), ctx.clone());
        let mut editor = Editor::new(folders.autosaves, move || waker.request_repaint())?;
        editor.remember_mappings(RememberedMappings::in_folder(mappings));
        editor.open(file.map_or_else(|| OpenRequest::Sample("arm".into()), OpenRequest::Path));
        let export = ExportPage::new(&editor);
        let mut app = Self {
            editor,
            viewport: Viewport::default(),
            hierarchy: Hierarchy::default(),
            timeline: Timeline::default(),
            volume: VolumePanel::default(),
            influences: InfluencesPanel::default(),
            layers: LayersPanel::default(),
            clusters: ClustersPanel::default(),
            correctives: CorrectivesPanel::default(),
            motion: MotionPanel::default(),
            individual: IndividualPanel::default(),
            poses: PosesPanel::default(),
            pose_text_frames: 0,
            dock,
            toasts: Toasts::default(),
            memory: Memory::default(),
            commands: Vec::new(),
            mode_before: Mode::Paint,
            shading_before: Shading::default(),
            kind_before: SelectKind::default(),
            dialog: None,
            uses_system_dialogs: false,
            export,
            before_difference: None,
            range_of_motion: None,
            weight_range: None,
            range_settings: RangeOfMotion::default(),
            overlay: Overlay::default(),
            pie: None,
            welcome,
            shows_about: false,
            manual: None,
            pending: None,
            closing: None,
            dropped_model: None,
            after_save: None,
            recoverable: Vec::new(),
            discarding: None,
            recovering,
            thumbnails: folders.thumbnails,
            gallery: Gallery::default(),
            noted: frame::Observed::default(),
            close_confirmed: false,
            title: String::new(),
            settings,
        };
        app.set_mode(workspace.mode());
        Ok(app)
    }

    /// The headless editor.
    pub fn editor(&self) -> &Editor {
        &self.editor
    }

    /// The headless editor, for tests.
    pub fn editor_mut(&mut self) -> &mut Editor {
        &mut self.editor
    }

    /// The viewport: mode and display options.
    pub fn viewport(&self) -> &Viewport {
        &self.viewport
    }

    /// The panels and their places.
    pub fn dock(&self) -> &Dock {
        &self.dock
    }

    /// The settings of the program.
    pub fn settings(&self) -> &settings::Settings {
        &self.settings.settings
    }

    /// The visible notifications.
    pub fn toasts(&self) -> &Toasts {
        &self.toasts
    }

    /// The viewport, to change its display options.
    pub fn viewport_mut(&mut self) -> &mut Viewport {
        &mut self.viewport
    }

    /// The number of 3D pictures that the viewport drew.
    pub fn n_pictures(&self) -> u64 {
        self.viewport.n_pictures()
    }

    /// The window title: the model, a star if it is not saved, and Sinew.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Opens files with the dialogs of the system, where it has some; tests must not.
    #[must_use]
    pub fn with_system_dialogs(mut self) -> Self {
        self.uses_system_dialogs = true;
        self
    }

    /// The recent files, the latest first.
    fn recents(&self) -> Vec<PathBuf> {
        let recents = self.settings.settings.recents.iter();
        recents.map(|recent| recent.path.clone()).collect()
    }

    /// Asks for a path.
    fn ask_path(&mut self, purpose: PathPurpose, ctx: &egui::Context) {
        let settings = PathSettings {
            uses_system: self.uses_system_dialogs,
            recents: self.recents(),
        };
        self.dialog = Some(PathDialog::new(purpose, &self.editor, settings, ctx));
    }

    /// Switches to another workspace; the current one keeps its layout.
    fn use_workspace(&mut self, workspace: Workspace) {
        self.close_export();
        let chosen = &mut self.settings.settings;
        if workspace != chosen.workspace {
            chosen.set_layout(chosen.workspace, self.dock.arrangement());
            chosen.workspace = workspace;
            self.dock = Dock::of_workspace(workspace, &chosen.layout(workspace));
        }
        self.set_mode(workspace.mode());
    }

    /// Switches to the workspace `by` tabs further, wrapping around.
    fn step_workspace(&mut self, by: usize) {
        let all = Workspace::ALL;
        let at = all
            .iter()
            .position(|w| *w == self.settings.settings.workspace);
        self.use_workspace(all[(at.unwrap_or(0) + by) % all.len()]);
    }

    /// Resets the panels of the workspace to the default layout.
    fn reset_workspace(&mut self) {
        self.close_export();
        let workspace = self.settings.settings.workspace;
        let layout = Arrangement::of_workspace(workspace);
        self.dock = Dock::of_workspace(workspace, &layout);
        self.settings.settings.set_layout(workspace, layout);
    }

    /// Opens the Export page beside viewport and timeline; other panels are hidden meanwhile.
    fn open_export(&mut self, kind: ExportKind) {
        if !self.export.is_open() {
            self.note_layout();
            let mut layout = self.dock.arrangement();
            let stay = [PanelKind::Viewport, PanelKind::Timeline];
            layout.closed = PanelKind::ALL
                .into_iter()
                .filter(|p| !stay.contains(p))
                .collect();
            layout.floating.clear();
            self.dock = Dock::new("Export", &layout);
        }
        self.export.open(kind, &mut self.editor);
    }

    /// Closes the Export page and restores the workspace.
    fn close_export(&mut self) {
        if self.export.is_open() {
            self.colour_difference(false);
            self.export.close(&mut self.editor);
            let chosen = &self.settings.settings;
            let workspace = chosen.workspace;
            self.dock = Dock::of_workspace(workspace, &chosen.layout(workspace));
        }
    }

    /// Colours surfaces by their distance from the project, or restores the shading.
    fn colour_difference(&mut self, colour: bool) {
        if !colour {
            let is_still = self.is_difference_coloured();
            // Settings that the user changed meanwhile stay.
            if let Some((shading, metric, difference)) =
                self.before_difference.take().filter(|_| is_still)
            {
                self.viewport.options.shading = shading;
                self.viewport.options.metric = metric;
                self.editor.set_difference(difference);
            }
            return;
        }
        let options = &mut self.viewport.options;
        let difference = self.editor.difference().clone();
        let before = (options.shading, options.metric, difference);
        self.before_difference.get_or_insert(before);
        options.metric = Metric::Difference;
        options.shading = Shading::HeatMap;
        self.editor.set_difference(Difference {
            of: None,
            to: StackChoice::Project,
        });
    }

    /// Whether surfaces are coloured by their distance from the project.
    fn is_difference_coloured(&self) -> bool {
        let options = &self.viewport.options;
        options.shading == Shading::HeatMap
            && options.metric == Metric::Difference
            && self.editor.difference().to == StackChoice::Project
    }

    /// Changes the UI scale by `steps`, or resets it.
    fn scale_interface(&mut self, ctx: &egui::Context, steps: Option<f32>) {
        let scale = &mut self.settings.settings.ui_scale;
        *scale = steps.map_or(1.0, |steps| {
            // In steps of an eighth, so that stepping back meets the same values.
            let next = (*scale * 8.0).round() / 8.0 + steps * 0.125;
            next.clamp(*SCALES.start(), *SCALES.end())
        });
        ctx.set_zoom_factor(*scale);
    }

    fn use_theme(&mut self, ctx: &egui::Context, choice: theme::ThemeChoice) {
        theme::set(ctx, choice);
        self.settings.settings.theme = choice;
    }

    /// The open file: the project, else the model.
    fn open_file(&self) -> Option<PathBuf> {
        let source = self.editor.document().source();
        let model = || source.and_then(|source| source.path.clone());
        self.editor.project_path().cloned().or_else(model)
    }

    /// Requests a thumbnail of the open file, unless the picture shows something that is in no file.
    fn ask_for_thumbnail(&self) {
        if self.editor.history().is_modified() {
            return;
        }
        if let (Some(thumbnails), Some(file)) = (&self.thumbnails, self.open_file()) {
            self.viewport.ask_for_thumbnail(thumbnails.path_of(&file));
        }
    }

    /// Saves a thumbnail of the open file now.
    fn keep_last_thumbnail(&self) {
        let picture: Option<Image> = self.viewport.read_picture();
        if let (Some(thumbnails), Some(file), Some(picture), false) = (
            &self.thumbnails,
            self.open_file(),
            picture,
            self.editor.history().is_modified(),
        ) {
            thumbnails::keep_now(picture, &thumbnails.path_of(&file));
        }
    }
}
