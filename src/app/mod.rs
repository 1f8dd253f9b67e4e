//! The window: eframe's shell around the headless editor.
//!
//! The way of the data: a frame's input -> [`Command`]s and pointer events -> [`Editor`] -> [`Editor::poll`] once a
//! frame -> panels and viewport draw what it holds.
//!
//! Invariant: nothing is decided here that a test of the headless editor could not reach.
//! Invariant: dialogs never block: files are chosen on a thread, or typed.

mod confirm;
mod dialogs;
mod find_command;
mod frame;
mod help;
mod memory;
mod overlay;
mod preferences;
mod run;
pub mod settings;
mod shell;
pub mod thumbnails;

use crate::deform::StackChoice;
use crate::deform::diagnostics::Metric;
use crate::document::Image;
use crate::editor::exporting::ExportKind;
use crate::editor::{Editor, OpenRequest};
use crate::evaluate::Difference;
use crate::io::project::{Autosaves, Recoverable};
use crate::skeleton::RangeOfMotion;
use crate::view::commands::Command;
use crate::view::frame::{PanelKind, Workspace};
use crate::view::keymap;
use crate::view::layout::{Arrangement, Dock};
use crate::view::mode::Mode;
use crate::view::panels::{Hierarchy, InfluencesPanel, LayersPanel, Timeline, VolumePanel};
use crate::view::pie::Pie;
use crate::view::scene::Shading;
use crate::view::theme;
use crate::view::toasts::Toasts;
use crate::view::viewport::Viewport;
use confirm::Pending;
use crossbeam_channel::{Receiver, bounded};
use dialogs::export::ExportPage;
use dialogs::path::PathDialog;
use dialogs::range_of_motion::RangeDialog;
use dialogs::weight_range::WeightRange;
use dialogs::welcome::Welcome;
use eframe::egui;
use memory::Memory;
use overlay::Overlay;
use settings::{SCALES, SettingsFile};
use std::path::PathBuf;
use thumbnails::{Gallery, Thumbnails};

/// Opens the window, on `file` if one is given, else on the sample arm. Returns when it is closed; an error is one
/// sentence.
pub fn run(file: Option<PathBuf>) -> Result<(), String> {
    const NO_WINDOW: &str = "The subcommands work without one: info, skin, render, export, check, bench, sample \
                             (`sinew --help` explains them).";
    let has_display = !cfg!(target_os = "linux")
        || ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"]
            .iter()
            .any(|v| std::env::var_os(v).is_some_and(|v| !v.is_empty()));
    if !has_display {
        return Err(format!(
            "There is no display to open a window on. {NO_WINDOW}"
        ));
    }
    let folders = Folders::of_user();
    let settings = SettingsFile::open(folders.settings.clone());
    let size = settings.settings.window_size.unwrap_or([1366.0, 768.0]);
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Sinew")
            .with_app_id("sinew")
            .with_inner_size(size)
            .with_min_inner_size([800.0, 500.0])
            .with_drag_and_drop(true),
        // The size is among our settings.
        persist_window: false,
        ..Default::default()
    };
    eframe::run_native(
        "sinew",
        options,
        Box::new(|cc| Ok(Box::new(SinewApp::new(&cc.egui_ctx, file, folders)?))),
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

/// Where the program keeps what is not the artist's files; `None`: nowhere.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// Unsaved work.
    pub autosaves: Option<Autosaves>,
    /// The file of settings.
    pub settings: Option<PathBuf>,
    /// Pictures of recent files.
    pub thumbnails: Option<Thumbnails>,
}

impl Folders {
    /// The user's own.
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
    dock: Dock,
    settings: SettingsFile,
    toasts: Toasts,
    memory: Memory,
    /// What panels asked for in this frame.
    asked: Vec<Command>,
    /// The mode before this one.
    mode_before: Mode,
    /// How surfaces looked before painting began.
    shading_before: Shading,
    dialog: Option<PathDialog>,
    export: ExportPage,
    /// How surfaces looked, and what a difference compared, before that of an exported file was coloured.
    before_difference: Option<(Shading, Metric, Difference)>,
    range_of_motion: Option<RangeDialog>,
    weight_range: Option<WeightRange>,
    /// What the artist chose there last.
    range_settings: RangeOfMotion,
    overlay: Overlay,
    pie: Option<Pie>,
    welcome: Option<Welcome>,
    shows_about: bool,
    manual: Option<Manual>,
    /// What to do once the artist has said what becomes of unsaved changes.
    pending: Option<Pending>,
    /// Waits for the save that was asked for before it.
    after_save: Option<Pending>,
    recoverable: Vec<Recoverable>,
    /// Brings what can be recovered: reading it takes a moment.
    recovering: Receiver<Vec<Recoverable>>,
    thumbnails: Option<Thumbnails>,
    gallery: Gallery,
    /// The model, save and autosave that were noted last.
    noted: frame::Noted,
    close_confirmed: bool,
    /// What the window is called.
    title: String,
}

/// Looks for autosaves on a thread of its own.
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
    /// The app on `file`, else on the sample arm with the welcome over it.
    pub fn new(
        ctx: &egui::Context,
        file: Option<PathBuf>,
        folders: Folders,
    ) -> std::io::Result<Self> {
        let settings = SettingsFile::open(folders.settings);
        let chosen = &settings.settings;
        theme::apply(ctx);
        theme::set(ctx, chosen.theme);
        keymap::set(ctx, chosen.key_map.clone());
        // The keys of the interface's size are commands, to be found and changed like all others.
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        ctx.set_zoom_factor(chosen.ui_scale);
        let welcome =
            (file.is_none() && chosen.show_welcome).then(|| Welcome::new(&chosen.recents, ctx));
        let workspace = chosen.workspace;
        let dock = Dock::new(workspace.label(), &chosen.layout(workspace));
        let waker = ctx.clone();
        let recovering = find_recoverable(folders.autosaves.clone(), ctx.clone());
        let mut editor = Editor::new(folders.autosaves, move || waker.request_repaint())?;
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
            dock,
            toasts: Toasts::default(),
            memory: Memory::default(),
            asked: Vec::new(),
            mode_before: Mode::Paint,
            shading_before: Shading::default(),
            dialog: None,
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
            after_save: None,
            recoverable: Vec::new(),
            recovering,
            thumbnails: folders.thumbnails,
            gallery: Gallery::default(),
            noted: frame::Noted::default(),
            close_confirmed: false,
            title: String::new(),
            settings,
        };
        app.set_mode(workspace.mode());
        Ok(app)
    }

    /// The headless editor inside.
    pub fn editor(&self) -> &Editor {
        &self.editor
    }

    /// The headless editor inside, for tests.
    pub fn editor_mut(&mut self) -> &mut Editor {
        &mut self.editor
    }

    /// The mode, and how the scene is drawn.
    pub fn viewport(&self) -> &Viewport {
        &self.viewport
    }

    /// The panels and where they are.
    pub fn dock(&self) -> &Dock {
        &self.dock
    }

    /// What the artist chose for the program itself.
    pub fn settings(&self) -> &settings::Settings {
        &self.settings.settings
    }

    /// The notices on screen.
    pub fn toasts(&self) -> &Toasts {
        &self.toasts
    }

    /// The viewport, to change how it looks.
    pub fn viewport_mut(&mut self) -> &mut Viewport {
        &mut self.viewport
    }

    /// How many 3D pictures the viewport drew.
    pub fn n_pictures(&self) -> u64 {
        self.viewport.n_pictures()
    }

    /// What the window is called: the model, a star while it is not saved, and Sinew.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Goes to another workspace; this one keeps its layout.
    fn use_workspace(&mut self, workspace: Workspace) {
        self.close_export();
        let chosen = &mut self.settings.settings;
        if workspace != chosen.workspace {
            chosen.set_layout(chosen.workspace, self.dock.arrangement());
            chosen.workspace = workspace;
            self.dock = Dock::new(workspace.label(), &chosen.layout(workspace));
        }
        self.set_mode(workspace.mode());
    }

    /// The workspace `by` tabs further, around the ends.
    fn step_workspace(&mut self, by: usize) {
        let all = Workspace::ALL;
        let at = all
            .iter()
            .position(|w| *w == self.settings.settings.workspace);
        self.use_workspace(all[(at.unwrap_or(0) + by) % all.len()]);
    }

    /// Puts the panels of the workspace back where they came.
    fn reset_workspace(&mut self) {
        self.close_export();
        let workspace = self.settings.settings.workspace;
        let layout = Arrangement::of_workspace(workspace);
        self.dock = Dock::new(workspace.label(), &layout);
        self.settings.settings.set_layout(workspace, layout);
    }

    /// Opens the Export page beside the viewport and the timeline; other panels are away meanwhile.
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

    /// Leaves the Export page; the workspace is as it was.
    fn close_export(&mut self) {
        if self.export.is_open() {
            self.colour_difference(false);
            self.export.close(&mut self.editor);
            let chosen = &self.settings.settings;
            let workspace = chosen.workspace;
            self.dock = Dock::new(workspace.label(), &chosen.layout(workspace));
        }
    }

    /// Colours surfaces by how far they are from the project, or as they were before.
    fn colour_difference(&mut self, colour: bool) {
        if !colour {
            let is_still = self.is_difference_coloured();
            // What was chosen otherwise meanwhile stays.
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

    /// Whether surfaces are coloured by how far they are from the project.
    fn is_difference_coloured(&self) -> bool {
        let options = &self.viewport.options;
        options.shading == Shading::HeatMap
            && options.metric == Metric::Difference
            && self.editor.difference().to == StackChoice::Project
    }

    /// Changes the size of everything by `steps`, or back to normal.
    fn scale_interface(&mut self, ctx: &egui::Context, steps: Option<f32>) {
        let scale = &mut self.settings.settings.ui_scale;
        *scale = steps.map_or(1.0, |steps| {
            // In steps of an eighth, so that they are met again on the way back.
            let next = (*scale * 8.0).round() / 8.0 + steps * 0.125;
            next.clamp(*SCALES.start(), *SCALES.end())
        });
        ctx.set_zoom_factor(*scale);
    }

    fn use_theme(&mut self, ctx: &egui::Context, choice: theme::ThemeChoice) {
        theme::set(ctx, choice);
        self.settings.settings.theme = choice;
    }

    /// The file that is open: the project, else the model.
    fn open_file(&self) -> Option<PathBuf> {
        let source = self.editor.document().source();
        let model = || source.and_then(|source| source.path.clone());
        self.editor.project_path().cloned().or_else(model)
    }

    /// Asks the viewport for a picture of the file that is open, unless it shows what is in no file.
    fn ask_for_thumbnail(&self) {
        if self.editor.history().is_modified() {
            return;
        }
        if let (Some(thumbnails), Some(file)) = (&self.thumbnails, self.open_file()) {
            self.viewport.ask_for_thumbnail(thumbnails.path_of(&file));
        }
    }

    /// Keeps a picture of the file that is open, at once.
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
