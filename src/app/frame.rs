//! The per-frame logic that runs before drawing.

use super::{SinewApp, thumbnails};
use crate::sentence::shortened;
use crate::view::frame::PanelKind;
use crate::view::keymap::{self, KeyMap};
use crate::view::mode::Mode;
use eframe::egui;
use egui::{Ui, ViewportCommand};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Interval of autosave checks while idle.
const IDLE_TICK: Duration = Duration::from_secs(20);

/// The model, save and autosave of the last frame.
#[derive(Debug, Default)]
pub(super) struct Observed {
    model_serial: u64,
    saved_at: Option<Instant>,
    autosave: u64,
}

impl SinewApp {
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

    fn open_what_was_dropped(&mut self, ctx: &egui::Context) {
        let dropped: Vec<PathBuf> = ctx.input(|i| {
            i.raw
                .dropped_files
                .iter()
                .map(|f| f.path().to_owned())
                .collect()
        });
        // If a model was dropped together with its buffers and textures, open the model.
        let model = dropped
            .iter()
            .position(|path| crate::io::is_model(path) || crate::io::is_project(path));
        let motion = dropped.iter().find(|path| crate::io::is_motion(path));
        if let Some(motion) = motion.filter(|_| model.is_none()) {
            self.editor.add_motion(motion);
            return;
        }
        if model.is_none() && dropped.iter().any(|path| crate::io::is_recording(path)) {
            let mut recordings = dropped;
            recordings.retain(|path| crate::io::is_recording(path));
            self.add_recordings(&recordings);
            return;
        }
        if let Some(path) = dropped.into_iter().nth(model.unwrap_or(0)) {
            self.open_dropped(path);
        }
    }

    /// Adds files of recorded channels to the document, and opens the panel that shows them: beside control clusters, which
    /// they may move, the Clusters panel.
    pub(super) fn add_recordings(&mut self, paths: &[PathBuf]) {
        if !self.editor.document().skeleton().is_empty() {
            let panel = if self.editor.document().has_cluster_groups() {
                PanelKind::Clusters
            } else {
                PanelKind::Motion
            };
            self.open_panel(panel);
        }
        for path in paths {
            self.editor.add_recording(path);
        }
    }

    fn show_notices(&mut self) {
        // Messages about one file mean nothing beside another.
        let last = self.noted.model_serial;
        if last != 0 && self.editor.model_serial() != last {
            self.toasts.clear();
        }
        while let Some(notice) = self.editor.take_notice() {
            self.toasts
                .show_message_at(notice.text, notice.is_error, notice.target);
        }
        if let Some(text) = self.settings.take_notice() {
            self.toasts
                .show_message(shortened(&text).into_owned(), true);
        }
    }

    /// Records opened and saved files as recent, and requests their thumbnails.
    fn note_files(&mut self, ctx: &egui::Context) {
        let is_opened = self.editor.model_serial() != self.noted.model_serial;
        self.noted.model_serial = self.editor.model_serial();
        let saved_at = self.editor.saved_at();
        let is_saved = saved_at.is_some() && saved_at != self.noted.saved_at;
        self.noted.saved_at = saved_at;
        if (is_opened || is_saved)
            && let Some(file) = self.open_file()
        {
            self.settings.settings.note_recent(&file);
        }
        if is_saved {
            self.ask_for_thumbnail();
            ctx.request_repaint();
        }
        let autosave = self.editor.latest_autosave();
        let autosave = autosave.map(|(path, n)| (thumbnails::beside(path), n));
        if let Some((picture, n)) = autosave.filter(|(_, n)| *n != self.noted.autosave) {
            self.noted.autosave = n;
            self.viewport.ask_for_thumbnail(picture);
            ctx.request_repaint();
        }
        for (path, picture) in self.viewport.take_thumbnails() {
            thumbnails::keep(picture, path, self.thumbnails.clone());
        }
    }

    /// The save state: "saved 40 s ago", "not saved", or empty without changes.
    pub(super) fn saved_text(&self, ctx: &egui::Context) -> String {
        if self.editor.history().is_modified() {
            return "not saved".to_owned();
        }
        let Some(saved) = self.editor.saved_at() else {
            return String::new();
        };
        let secs = saved.elapsed().as_secs();
        // The text changes every ten seconds, then every minute.
        let step = if secs < 60 { 10 } else { 60 };
        ctx.request_repaint_after(Duration::from_secs(step - secs % step));
        match secs {
            0..10 => "saved just now".to_owned(),
            10..60 => format!("saved {} s ago", secs / 10 * 10),
            60..3600 => format!("saved {} min ago", secs / 60),
            _ => format!("saved {} h ago", secs / 3600),
        }
    }
}

impl eframe::App for SinewApp {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.open_what_was_dropped(ctx);
        self.take_pose_text(ctx);
        let dt = f64::from(ctx.input(|i| i.stable_dt));
        let draws_net = self.viewport.mode == Mode::Cluster;
        self.editor.set_control_net_visible(draws_net);
        let did_something = self.editor.poll(dt);
        if did_something || self.editor.is_ending_stroke() {
            ctx.request_repaint();
        }
        self.show_notices();
        self.note_files(ctx);
        if let Ok(found) = self.recovering.try_recv() {
            self.recoverable = found;
        }
        self.continue_after_save(ctx);
        self.update_title(ctx);
        if ctx.input(|i| i.viewport().close_requested()) {
            self.close_requested(ctx);
        }
        self.note_window(ctx);
        if let Some(rest) = self.settings.poll() {
            ctx.request_repaint_after(rest);
        }
        if self.editor.is_playing() || self.editor.live_needs_frames() {
            ctx.request_repaint();
        } else if self.editor.running().is_some() || self.editor.measuring().is_some() {
            ctx.request_repaint_after(Duration::from_millis(50));
        } else if self.editor.history().is_modified() {
            ctx.request_repaint_after(IDLE_TICK);
        }
    }

    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        self.shell_ui(ui);
    }

    /// Our settings persist the state, in `SINEW_STATE_DIR` if that is set.
    fn persist_egui_memory(&self) -> bool {
        false
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        self.keep_last_thumbnail();
        self.note_layout();
        self.settings.flush();
        self.viewport.free();
    }
}

impl SinewApp {
    /// Records whether the window is maximised, and its size unless the system chose it.
    fn note_window(&mut self, ctx: &egui::Context) {
        let scale = ctx.zoom_factor();
        let (size, is_own, is_maximised) = ctx.input(|i| {
            let window = i.viewport();
            let is_own = window.maximized != Some(true) && window.fullscreen != Some(true);
            let size = window.inner_rect.map(|rect| rect.size());
            (size, is_own, window.maximized)
        });
        if let Some(is_maximised) = is_maximised {
            self.settings.settings.is_maximised = is_maximised;
        }
        if let Some(size) = size.filter(|_| is_own) {
            let size = [(size.x * scale).round(), (size.y * scale).round()];
            self.settings.settings.window_size = Some(size);
        }
    }

    /// Records changes of the key map.
    pub(super) fn note_keys(&mut self, ctx: &egui::Context) {
        let map = keymap::of(ctx);
        if *map != self.settings.settings.key_map {
            self.settings.settings.key_map = KeyMap::clone(&map);
        }
    }

    /// Records changes of the panel layout.
    pub(super) fn note_layout(&mut self) {
        // The Export page has its own fixed layout.
        if self.export.is_open() {
            return;
        }
        let chosen = &mut self.settings.settings;
        chosen.set_layout(chosen.workspace, self.dock.arrangement());
    }
}
