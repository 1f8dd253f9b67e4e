//! The dialogs and the handling of their results: paths, range of motion, unsaved changes, recovery, welcome, about.

use super::SinewApp;
use super::dialogs::changed::{Changed, changed_ui};
use super::dialogs::dropped::{DroppedModel, dropped_ui};
use super::dialogs::path::{Answer, PathDialog, PathPurpose};
use super::dialogs::unfinished::{Unfinished, unfinished_ui};
use super::dialogs::unsaved::{Unsaved, unsaved_ui};
use super::dialogs::welcome::Chosen;
use super::dialogs::{about, recovery};
use crate::editor::motions::MappingFile;
use crate::editor::{OpenRequest, SampleTask};
use crate::view::commands::Command;
use crate::view::frame::PanelKind;
use eframe::egui;
use egui::ViewportCommand;
use std::path::PathBuf;

/// An action that would lose unsaved changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    Open(OpenRequest),
    /// Show the model that was loaded while the user edited.
    Show,
    Close,
}

/// How a window closes whose export is not written yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closing {
    /// Whether it closes once the file is written; otherwise the artist is asked.
    when_done: bool,
    /// The number of exports that were not written, as it began.
    n_unwritten: u64,
    /// The history revision whose changes are discarded.
    discards: Option<u64>,
}

impl SinewApp {
    /// Whether a dialog or an overlay takes the keys.
    pub(super) fn is_modal(&self) -> bool {
        self.dialog.is_some()
            || self.range_of_motion.is_some()
            || self.pending.is_some()
            || self.closing.is_some_and(|closing| !closing.when_done)
            || self.dropped_model.is_some()
            || self.editor.save_conflict().is_some()
            || !self.recoverable.is_empty()
            || self.welcome.is_some()
            || self.shows_about
            || self.manual.is_some()
            || self.overlay.is_shown()
            || self.pie.is_some()
    }

    /// Whether the welcome is the only open dialog.
    pub(super) fn is_welcome_only(&mut self) -> bool {
        let welcome = self.welcome.take();
        let only = welcome.is_some() && !self.is_modal();
        self.welcome = welcome;
        only
    }

    /// Whether another model, or none, would lose changes. A recording under way ends and becomes one.
    pub(super) fn would_lose_work(&mut self) -> bool {
        let is_recorded = self.editor.stop_recording();
        is_recorded || self.editor.history().is_modified()
    }

    /// Opens a model or project, after asking about unsaved changes.
    pub(super) fn open(&mut self, request: OpenRequest) {
        self.welcome = None;
        self.shows_about = false;
        self.manual = None;
        if self.would_lose_work() {
            self.pending = Some(Pending::Open(request));
        } else {
            self.ask_for_thumbnail();
            self.editor.open(request);
        }
    }

    /// Opens a dropped file, or asks whether the clips of a model are to move the open character; an open file dialog closes.
    pub(super) fn open_dropped(&mut self, path: PathBuf) {
        let asks = self.dialog.as_ref().map(PathDialog::purpose);
        if asks.is_some_and(|purpose| purpose != PathPurpose::Relink) && self.after_save.is_none() {
            self.dialog = None;
        }
        let is_free = self.dialog.is_none() && self.pending.is_none() && self.after_save.is_none();
        let has_character = !self.editor.document().skeleton().is_empty();
        // Under the welcome nobody works on the sample that is open.
        if is_free && has_character && self.welcome.is_none() && crate::io::may_have_clips(&path) {
            self.dropped_model = Some(path);
        } else {
            self.dropped_model = None;
            self.open(OpenRequest::Path(path));
        }
    }

    /// Asks what a dropped model is for.
    fn dropped_model_ui(&mut self, ctx: &egui::Context) {
        let Some(path) = self.dropped_model.take() else {
            return;
        };
        match dropped_ui(ctx, &path) {
            DroppedModel::Asking => self.dropped_model = Some(path),
            DroppedModel::Open => self.open(OpenRequest::Path(path)),
            DroppedModel::AddAsMotion => self.editor.add_motion(&path),
            DroppedModel::Cancel => {}
        }
    }

    fn perform(&mut self, pending: Pending, ctx: &egui::Context) {
        match pending {
            Pending::Open(request) => {
                self.ask_for_thumbnail();
                self.editor.open(request);
            }
            Pending::Show => self.editor.show_waiting_model(),
            Pending::Close if self.editor.unwritten_export().is_some() => {
                let revision = self.editor.history().revision();
                self.ask_about_export(Some(revision));
            }
            Pending::Close => self.close(ctx),
        }
    }

    fn close(&mut self, ctx: &egui::Context) {
        self.close_confirmed = true;
        ctx.send_viewport_cmd(ViewportCommand::Close);
    }

    /// Answers a press of the window's close button: what would be lost is asked about first.
    pub(super) fn close_requested(&mut self, ctx: &egui::Context) {
        if self.close_confirmed {
            return;
        }
        if self.would_lose_work() {
            self.pending = Some(Pending::Close);
        } else if self.editor.unwritten_export().is_some() {
            self.ask_about_export(None);
        } else {
            return;
        }
        ctx.send_viewport_cmd(ViewportCommand::CancelClose);
    }

    /// `discards`: the history revision whose changes the artist has discarded or saved.
    fn ask_about_export(&mut self, discards: Option<u64>) {
        self.closing = Some(Closing {
            when_done: false,
            n_unwritten: self.editor.n_unwritten_exports(),
            discards,
        });
    }

    /// Asks about an export that is not written yet, and closes the window that waited for it.
    fn closing_ui(&mut self, ctx: &egui::Context) {
        let Some(closing) = self.closing else {
            return;
        };
        let Some((name, progress)) = self.editor.unwritten_export() else {
            self.closing = None;
            // Where it failed or was cancelled, the window stays, and the artist reads why.
            let is_written = self.editor.n_unwritten_exports() == closing.n_unwritten;
            if closing.when_done && is_written {
                let revision = self.editor.history().revision();
                if closing.discards != Some(revision) && self.would_lose_work() {
                    self.pending = Some(Pending::Close);
                } else {
                    self.close(ctx);
                }
            }
            return;
        };
        if closing.when_done {
            return;
        }
        match unfinished_ui(ctx, &name, progress) {
            Unfinished::Asking => {}
            Unfinished::WhenDone => {
                self.closing = Some(Closing {
                    when_done: true,
                    ..closing
                });
            }
            Unfinished::Now => {
                self.closing = None;
                self.close(ctx);
            }
            Unfinished::Cancel => self.closing = None,
        }
    }

    /// Draws the open dialogs and applies their results.
    pub(super) fn dialogs_ui(&mut self, ctx: &egui::Context) {
        if let Some(dialog) = &mut self.dialog {
            match dialog.show(ctx, &self.editor) {
                Answer::Open => {}
                Answer::Cancelled => {
                    self.dialog = None;
                    if self.after_save.take() == Some(Pending::Show) {
                        self.editor.give_up_waiting_model();
                    }
                    self.editor.give_up_relink();
                    self.editor.give_up_relinking_recording();
                }
                Answer::Chosen(path) => {
                    let dialog = self.dialog.take();
                    match dialog.map(|d| d.purpose()) {
                        Some(PathPurpose::Open) => self.open(OpenRequest::Path(path)),
                        Some(PathPurpose::Save) => self.editor.save_as(&path),
                        Some(PathPurpose::Relink) => {
                            if let Some(relink) = self.editor.relink().cloned() {
                                self.editor.give_up_relink();
                                self.editor.open(OpenRequest::Relink {
                                    project: relink.project,
                                    model: path,
                                    is_autosave: relink.is_autosave,
                                });
                            }
                        }
                        Some(PathPurpose::Transfer) => self.editor.transfer_from(&path),
                        Some(PathPurpose::ImportWeights) => self.editor.import_weights(&path),
                        Some(PathPurpose::ImportSculpt) => {
                            self.editor.change_samples(SampleTask::ImportSculpt(path));
                        }
                        Some(PathPurpose::AddMotion) => self.editor.add_motion(&path),
                        Some(PathPurpose::Measurements) => {
                            self.open_panel(PanelKind::Individual);
                            self.editor.import_measurements(&path);
                        }
                        Some(PathPurpose::ExportTable) => self.editor.export_table(&path),
                        Some(PathPurpose::Scan) => {
                            self.open_panel(PanelKind::Individual);
                            self.editor.compare_with_scan(&path);
                        }
                        Some(PathPurpose::AddRecording) => self.add_recordings(&[path]),
                        Some(PathPurpose::RelinkRecording) => {
                            if let Some(recording) = self.editor.recording_to_relink() {
                                self.editor.give_up_relinking_recording();
                                self.editor.relink_recording(recording, &path);
                            }
                        }
                        Some(PathPurpose::SaveMapping) => self.editor.save_mapping(&path),
                        Some(PathPurpose::LoadMapping) => self.editor.load_mapping(&path),
                        Some(PathPurpose::ExportWeights) => self.editor.export_weights(&path),
                        None => {}
                    }
                }
            }
        } else if self.editor.relink().is_some() {
            self.ask_path(PathPurpose::Relink, ctx);
        } else if self.editor.recording_to_relink().is_some() {
            self.ask_path(PathPurpose::RelinkRecording, ctx);
        } else if let Some(asked) = self.editor.take_asked_mapping_file() {
            let purpose = match asked {
                MappingFile::Save => PathPurpose::SaveMapping,
                MappingFile::Load => PathPurpose::LoadMapping,
            };
            self.ask_path(purpose, ctx);
        }
        if let Some(dialog) = &mut self.range_of_motion {
            let stays = dialog.show(ctx, &mut self.editor);
            self.range_settings = dialog.settings();
            if !stays {
                self.range_of_motion = None;
            }
        }
        if let Some(mut range) = self.weight_range.take() {
            let is_busy = self.is_modal();
            if range.show(ctx, &mut self.editor, is_busy) {
                self.weight_range = Some(range);
            }
        }
        self.dropped_model_ui(ctx);
        self.confirm_ui(ctx);
        self.closing_ui(ctx);
        self.conflict_ui(ctx);
        let is_free = self.dialog.is_none()
            && self.pending.is_none()
            && self.editor.save_conflict().is_none();
        if is_free && !self.recoverable.is_empty() {
            self.recovery_ui(ctx);
        } else if is_free && self.welcome.is_some() {
            self.welcome_ui(ctx);
        } else if is_free && self.shows_about {
            self.shows_about = about::about_ui(ctx);
        } else if is_free && let Some(mut manual) = self.manual.take() {
            self.manual = manual.show(ctx).then_some(manual);
        }
    }

    fn confirm_ui(&mut self, ctx: &egui::Context) {
        if self.editor.waiting_model().is_some() && self.after_save.is_none() {
            self.pending = Some(Pending::Show);
        }
        let Some(pending) = self.pending.clone() else {
            return;
        };
        let name = self.editor.model_name();
        match unsaved_ui(ctx, &name) {
            Unsaved::Asking => {}
            Unsaved::Cancel => {
                self.pending = None;
                self.editor.give_up_waiting_model();
            }
            Unsaved::Discard => {
                self.pending = None;
                self.editor.discard_autosave();
                self.perform(pending, ctx);
            }
            Unsaved::Save => {
                self.pending = None;
                self.after_save = Some(pending);
                self.run_command(Command::Save, ctx);
            }
        }
    }

    /// Asks about a save that would replace what another program wrote.
    fn conflict_ui(&mut self, ctx: &egui::Context) {
        let Some(conflict) = self.editor.save_conflict().cloned() else {
            return;
        };
        match changed_ui(ctx, &conflict) {
            Changed::Asking => {}
            Changed::SaveCopy => {
                self.editor.give_up_conflict_for_copy();
                self.ask_path(PathPurpose::Save, ctx);
            }
            Changed::Overwrite => self.editor.save_over_conflict(),
            Changed::Reload => {
                // The artist chose to lose the changes, and so does whatever waited for the save.
                self.after_save = None;
                self.editor.give_up_waiting_model();
                self.editor.give_up_conflict();
                let opened = self.editor.project_path().cloned();
                let path = opened.unwrap_or(conflict.changed);
                self.editor.open(OpenRequest::Path(path));
            }
            Changed::Cancel => {
                self.after_save = None;
                self.editor.give_up_waiting_model();
                self.editor.give_up_conflict();
            }
        }
    }

    fn recovery_ui(&mut self, ctx: &egui::Context) {
        match recovery::recovery_ui(
            ctx,
            &self.recoverable,
            &mut self.discarding,
            &mut self.gallery,
        ) {
            recovery::Recovery::Asking => {}
            recovery::Recovery::Later => {
                self.recoverable.clear();
                self.discarding = None;
            }
            recovery::Recovery::Restore(path) => {
                self.recoverable.clear();
                self.welcome = None;
                self.open(OpenRequest::Autosave(path));
            }
            recovery::Recovery::Discard(path) => {
                self.editor.discard_recoverable(&path);
                self.recoverable.retain(|r| r.path != path);
            }
        }
    }

    fn welcome_ui(&mut self, ctx: &egui::Context) {
        let Some(welcome) = &mut self.welcome else {
            return;
        };
        let thumbnails = self.thumbnails.as_ref();
        match welcome.show(ctx, &mut self.settings, thumbnails, &mut self.gallery) {
            Chosen::Nothing => {}
            Chosen::Close => self.welcome = None,
            Chosen::Open(path) => self.open(OpenRequest::Path(path)),
            Chosen::Run(command) => {
                // Themes are previewed; any other choice closes the welcome.
                if !matches!(command, Command::UseTheme(_)) {
                    self.welcome = None;
                }
                self.run_command(command, ctx);
            }
        }
    }

    /// Continues the action that waited for a save.
    pub(super) fn continue_after_save(&mut self, ctx: &egui::Context) {
        let is_asking = self.dialog.is_some() || self.editor.save_conflict().is_some();
        if self.after_save.is_some() && self.editor.job().is_none() && !is_asking {
            let pending = self.after_save.take();
            // A failed save has reported its error; keep everything open.
            if self.editor.history().is_modified() {
                self.editor.give_up_waiting_model();
            } else if let Some(pending) = pending {
                self.perform(pending, ctx);
            }
        }
    }
}
