//! The window: eframe's shell around the headless editor.
//!
//! The way of the data: a frame's input -> [`Command`]s and pointer events -> [`Editor`] -> [`Editor::poll`] once a
//! frame -> panels and viewport draw what it holds.
//!
//! Invariant: nothing is decided here that a test of the headless editor could not reach.
//! Invariant: dialogs never block: files are chosen on a thread, or typed.

mod dialogs;
mod find_command;
mod help;
mod overlay;
mod preferences;
mod run;

use crate::editor::{Editor, OpenRequest};
use crate::io::project::{Autosaves, Recoverable};
use crate::view::commands::Command;
use crate::view::keymap;
use crate::view::mode::Mode;
use crate::view::panels::{self, Hierarchy, Timeline};
use crate::view::pie::Pie;
use crate::view::scene::Shading;
use crate::view::theme;
use crate::view::viewport::Viewport;
use crossbeam_channel::{Receiver, bounded};
use dialogs::{Answer, PathDialog, PathPurpose};
use eframe::egui;
use egui::{CentralPanel, Frame, Margin, Panel, ScrollArea, Ui, ViewportCommand};
use overlay::Overlay;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How long a notice stays in the status bar.
const NOTICE_TIME: Duration = Duration::from_secs(8);
/// Height that the bone list keeps, however much the brush has to say.
const MIN_LIST_HEIGHT: f32 = 120.0;
/// Between looks at whether an autosave is due, while nothing else happens.
const IDLE_TICK: Duration = Duration::from_secs(20);

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
    let options = eframe::NativeOptions {
        viewport: egui::ViewportBuilder::default()
            .with_title("Sinew")
            .with_app_id("sinew")
            .with_inner_size([1366.0, 768.0])
            .with_min_inner_size([800.0, 500.0])
            .with_drag_and_drop(true),
        ..Default::default()
    };
    eframe::run_native(
        "sinew",
        options,
        Box::new(|cc| Ok(Box::new(SinewApp::new(&cc.egui_ctx, file)?))),
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

/// The app that eframe runs.
pub struct SinewApp {
    editor: Editor,
    viewport: Viewport,
    hierarchy: Hierarchy,
    timeline: Timeline,
    /// Height that the properties asked for in the last frame.
    properties_height: f32,
    /// Height of the header in the last frame.
    header_height: f32,
    /// The mode before this one.
    mode_before: Mode,
    /// How surfaces looked before painting began.
    shading_before: Shading,
    dialog: Option<PathDialog>,
    overlay: Overlay,
    pie: Option<Pie>,
    /// What to do once the artist has said what becomes of unsaved changes.
    pending: Option<Pending>,
    /// Waits for the save that was asked for before it.
    after_save: Option<Pending>,
    recoverable: Vec<Recoverable>,
    /// Brings what can be recovered: reading it takes a moment.
    recovering: Receiver<Vec<Recoverable>>,
    notice: Option<(String, bool, Instant)>,
    show_problems: bool,
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

/// Something that would lose unsaved changes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Pending {
    Open(OpenRequest),
    /// Show the model that was loaded while edits were made.
    Show,
    Close,
}

impl SinewApp {
    /// The app on `file`, else on the sample arm; autosaves are the user's.
    pub fn new(ctx: &egui::Context, file: Option<PathBuf>) -> std::io::Result<Self> {
        Self::with_autosaves(ctx, file, Autosaves::of_user().ok())
    }

    /// The app on `file`, else on the sample arm, with its autosaves where it is told.
    pub fn with_autosaves(
        ctx: &egui::Context,
        file: Option<PathBuf>,
        autosaves: Option<Autosaves>,
    ) -> std::io::Result<Self> {
        theme::apply(ctx);
        let waker = ctx.clone();
        let recovering = find_recoverable(autosaves.clone(), ctx.clone());
        let mut editor = Editor::new(autosaves, move || waker.request_repaint())?;
        editor.open(file.map_or_else(|| OpenRequest::Sample("arm".into()), OpenRequest::Path));
        Ok(Self {
            recoverable: Vec::new(),
            recovering,
            editor,
            viewport: Viewport::default(),
            hierarchy: Hierarchy::default(),
            timeline: Timeline::default(),
            properties_height: 0.0,
            header_height: 0.0,
            mode_before: Mode::Paint,
            shading_before: Shading::default(),
            dialog: None,
            overlay: Overlay::default(),
            pie: None,
            pending: None,
            after_save: None,
            notice: None,
            show_problems: false,
            close_confirmed: false,
            title: String::new(),
        })
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

    /// How many 3D pictures the viewport drew.
    pub fn n_pictures(&self) -> u64 {
        self.viewport.n_pictures()
    }

    /// What the window is called: the model, a star while it is not saved, and Sinew.
    pub fn title(&self) -> &str {
        &self.title
    }

    fn update_title(&mut self, ctx: &egui::Context) {
        let name = self.editor.model_name();
        let mark = if self.editor.history().is_modified() {
            "*"
        } else {
            ""
        };
        let title = if name.is_empty() {
            "Sinew".to_owned()
        } else {
            format!("{name}{mark} - Sinew")
        };
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    /// Opens something, after asking what becomes of unsaved changes.
    fn open(&mut self, request: OpenRequest) {
        if self.editor.history().is_modified() {
            self.pending = Some(Pending::Open(request));
        } else {
            self.editor.open(request);
        }
    }

    fn perform(&mut self, pending: Pending, ctx: &egui::Context) {
        match pending {
            Pending::Open(request) => self.editor.open(request),
            Pending::Show => self.editor.show_waiting_model(),
            Pending::Close => {
                self.close_confirmed = true;
                ctx.send_viewport_cmd(ViewportCommand::Close);
            }
        }
    }

    fn dialogs_ui(&mut self, ctx: &egui::Context) {
        if let Some(dialog) = &mut self.dialog {
            match dialog.show(ctx) {
                Answer::Open => {}
                Answer::Cancelled => {
                    self.dialog = None;
                    if self.after_save.take() == Some(Pending::Show) {
                        self.editor.give_up_waiting_model();
                    }
                    self.editor.give_up_relink();
                }
                Answer::Chosen(path) => {
                    let dialog = self.dialog.take();
                    match dialog.map(|d| (d.purpose(), d.export_options())) {
                        Some((PathPurpose::Open, _)) => self.open(OpenRequest::Path(path)),
                        Some((PathPurpose::Save, _)) => self.editor.save_as(&path),
                        Some((PathPurpose::Export, options)) => self.editor.export(&path, &options),
                        Some((PathPurpose::Relink, _)) => {
                            if let Some(relink) = self.editor.relink().cloned() {
                                self.editor.give_up_relink();
                                self.editor.open(OpenRequest::Relink {
                                    project: relink.project,
                                    model: path,
                                    is_autosave: relink.is_autosave,
                                });
                            }
                        }
                        None => {}
                    }
                }
            }
        } else if self.editor.relink().is_some() {
            self.dialog = Some(PathDialog::new(PathPurpose::Relink, &self.editor));
        }
        self.confirm_ui(ctx);
        self.recovery_ui(ctx);
    }

    fn confirm_ui(&mut self, ctx: &egui::Context) {
        if self.editor.waiting_model().is_some() && self.after_save.is_none() {
            self.pending = Some(Pending::Show);
        }
        let Some(pending) = self.pending.clone() else {
            return;
        };
        let name = self.editor.model_name();
        match dialogs::unsaved_ui(ctx, &name) {
            dialogs::Unsaved::Asking => {}
            dialogs::Unsaved::Cancel => {
                self.pending = None;
                self.editor.give_up_waiting_model();
            }
            dialogs::Unsaved::Discard => {
                self.pending = None;
                self.editor.discard_autosave();
                self.perform(pending, ctx);
            }
            dialogs::Unsaved::Save => {
                self.pending = None;
                self.after_save = Some(pending);
                self.run_command(Command::Save, ctx);
            }
        }
    }

    fn recovery_ui(&mut self, ctx: &egui::Context) {
        if self.recoverable.is_empty() || self.dialog.is_some() || self.pending.is_some() {
            return;
        }
        match dialogs::recovery_ui(ctx, &self.recoverable) {
            dialogs::Recovery::Asking => {}
            dialogs::Recovery::Later => self.recoverable.clear(),
            dialogs::Recovery::Restore(path) => {
                self.recoverable.clear();
                self.editor.open(OpenRequest::Autosave(path));
            }
            dialogs::Recovery::Discard(path) => {
                self.editor.discard_recoverable(&path);
                self.recoverable.retain(|r| r.path != path);
            }
        }
    }

    /// Goes on with what waited for a save, once it is done.
    fn after_save(&mut self, ctx: &egui::Context) {
        if self.after_save.is_some() && self.editor.job().is_none() && self.dialog.is_none() {
            let pending = self.after_save.take();
            // A save that failed has said so; then nothing is closed.
            if self.editor.history().is_modified() {
                self.editor.give_up_waiting_model();
            } else if let Some(pending) = pending {
                self.perform(pending, ctx);
            }
        }
    }
}

impl eframe::App for SinewApp {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        let dropped: Vec<PathBuf> = ctx.input(|i| {
            i.raw
                .dropped_files
                .iter()
                .map(|f| f.path().to_owned())
                .collect()
        });
        // Of a model dropped with its buffers and pictures the model is meant.
        let model = dropped
            .iter()
            .position(|path| crate::io::is_model(path) || crate::io::is_project(path));
        if let Some(path) = dropped.into_iter().nth(model.unwrap_or(0)) {
            self.open(OpenRequest::Path(path));
        }
        let dt = f64::from(ctx.input(|i| i.stable_dt));
        self.editor.poll(dt);
        let notices: Vec<_> = std::iter::from_fn(|| self.editor.take_notice()).collect();
        // Of several at once what went wrong is the one to read.
        let notice = notices.iter().rfind(|n| n.is_error).or(notices.last());
        if let Some(notice) = notice {
            self.notice = Some((notice.text.clone(), notice.is_error, Instant::now()));
        }
        if let Ok(found) = self.recovering.try_recv() {
            self.recoverable = found;
        }
        self.after_save(ctx);
        self.update_title(ctx);
        if ctx.input(|i| i.viewport().close_requested())
            && !self.close_confirmed
            && self.editor.history().is_modified()
        {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.pending = Some(Pending::Close);
        }
        if self.editor.is_playing() {
            ctx.request_repaint();
        } else if self.editor.job().is_some() {
            ctx.request_repaint_after(Duration::from_millis(50));
        } else if let Some((.., since)) = &self.notice {
            ctx.request_repaint_after(NOTICE_TIME.saturating_sub(since.elapsed()));
        } else if self.editor.history().is_modified() {
            ctx.request_repaint_after(IDLE_TICK);
        }
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        let ctx = ui.ctx().clone();
        let mut asked = Vec::new();
        let is_modal = self.dialog.is_some()
            || self.pending.is_some()
            || !self.recoverable.is_empty()
            || self.overlay.is_shown()
            || self.pie.is_some();
        // A transform under way takes the keys itself: X is an axis then.
        if !is_modal && self.editor.transforming().is_none() {
            let is_painting = self.editor.is_painting();
            // A stroke under way is one step: little may cut in.
            let pressed = keymap::of(&ctx)
                .pressed(&ctx, self.viewport.mode)
                .into_iter();
            asked.extend(pressed.filter(|c| !is_painting || c.may_end_a_stroke()));
        }
        let side = Frame::new()
            .fill(theme::palette(ui).panel)
            .inner_margin(Margin::same(theme::PADDING));
        let bar = Frame::new()
            .fill(theme::palette(ui).panel)
            .inner_margin(Margin::symmetric(theme::PADDING, 4));
        Panel::top("menu").frame(bar).show(ui, |ui| {
            asked.extend(panels::menu_bar_ui(ui, &self.editor, &|command| {
                self.is_on(command)
            }));
        });
        let mode = self.viewport.mode;
        if self
            .notice
            .as_ref()
            .is_some_and(|(.., since)| since.elapsed() >= NOTICE_TIME)
        {
            self.notice = None;
        }
        Panel::bottom("status").frame(bar).show(ui, |ui| {
            let notice = self
                .notice
                .as_ref()
                .map(|(text, is_error, _)| (text.as_str(), *is_error));
            panels::status_bar_ui(ui, &mut self.editor, mode, notice, &mut self.show_problems);
        });
        Panel::bottom("timeline")
            .frame(bar)
            .resizable(true)
            .default_size(124.0)
            .show(ui, |ui| {
                asked.extend(self.timeline.show_ui(ui, &mut self.editor));
            });
        if self.show_problems {
            Panel::bottom("problems")
                .frame(side)
                .resizable(true)
                .default_size(120.0)
                .show(ui, |ui| {
                    panels::problems_ui(ui, &mut self.editor);
                });
        }
        Panel::right("side")
            .frame(side)
            .resizable(true)
            .default_size(280.0)
            .size_range(220.0..=480.0)
            .show(ui, |ui| {
                // The list keeps its place: what changes with mode and selection stands below it.
                // The list keeps its place and a few rows: what changes with mode and selection stands below it, and
                // scrolls where there is no room.
                let available = ui.available_height();
                let list = (available - self.properties_height)
                    .max(available * 0.45)
                    .max(MIN_LIST_HEIGHT.min(available));
                ui.allocate_ui(egui::vec2(ui.available_width(), list), |ui| {
                    ui.set_min_height(list);
                    asked.extend(self.hierarchy.show_ui(ui, &mut self.editor));
                });
                let top = ui.cursor().top();
                ui.separator();
                let heading = ui.cursor().top() - top;
                let scrolled = ScrollArea::vertical().id_salt("properties").show(ui, |ui| {
                    panels::properties_ui(ui, &mut self.editor, mode);
                });
                let needed = scrolled.content_size.y + heading + 2.0 * ui.spacing().item_spacing.y;
                if (needed - self.properties_height).abs() > 0.5 {
                    self.properties_height = needed;
                    ui.ctx().request_repaint();
                }
            });
        let header = Panel::top("header").frame(bar).show(ui, |ui| {
            asked.extend(panels::header_ui(ui, &self.editor, &self.viewport));
        });
        // A row more or less shows in the next frame.
        let height = header.response.rect.height();
        if (height - self.header_height).abs() > 0.5 {
            self.header_height = height;
            ctx.request_repaint();
        }
        CentralPanel::no_frame().show(ui, |ui| self.viewport.show_ui(ui, &mut self.editor));
        asked.append(&mut self.viewport.chosen);
        self.dialogs_ui(&ctx);
        asked.extend(self.overlay_ui(&ctx));
        for command in asked {
            self.run_command(command, &ctx);
        }
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        self.viewport.free();
    }
}
