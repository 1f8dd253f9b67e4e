//! Temporary overlays: command search, help, preferences, pie menus.

use super::SinewApp;
use super::find_command::{FindCommand, SearchResult};
use super::help::help_ui;
use super::preferences::Preferences;
use super::settings::Settings;
use crate::deform::diagnostics::Metric;
use crate::document::rig::Axis;
use crate::editor::RigKind;
use crate::view::commands::Command;
use crate::view::mode::Mode;
use crate::view::pie::{Pie, PieResult};
use crate::view::theme::ThemeChoice;
use eframe::egui;
use egui::Ui;

/// The open overlay.
#[derive(Default)]
pub(super) enum Overlay {
    #[default]
    None,
    FindCommand(FindCommand),
    Help,
    Preferences(Preferences),
}

impl Overlay {
    pub(super) fn is_shown(&self) -> bool {
        !matches!(self, Self::None)
    }
}

impl SinewApp {
    /// Opens the overlay of a command.
    pub(super) fn open_overlay(&mut self, command: Command, ctx: &egui::Context) {
        match command {
            Command::FindCommand => self.overlay = Overlay::FindCommand(FindCommand::default()),
            Command::ShowKeys => self.overlay = Overlay::Help,
            Command::Preferences => self.overlay = Overlay::Preferences(Preferences::default()),
            Command::ModePie => {
                let modes = Mode::ALL.map(Command::SetMode);
                self.pie = Some(Pie::new("Mode", &modes, ctx));
            }
            Command::LockPie => {
                let locks = [
                    Command::LockActive,
                    Command::LockOthers,
                    Command::InvertLocks,
                    Command::UnlockAll,
                ];
                self.pie = Some(Pie::new("Lock", &locks, ctx));
            }
            Command::OrientPie => {
                let axes = [Axis::Y, Axis::X, Axis::Z, Axis::NegX];
                let axes = axes.map(|axis| Command::EditRig(RigKind::Orient(axis)));
                self.pie = Some(Pie::new("Orient", &axes, ctx));
            }
            Command::ApplyPie => {
                let applied = [
                    RigKind::PoseAsRest,
                    RigKind::ApplyPose,
                    RigKind::FreezeScale,
                ];
                let applied = applied.map(Command::EditRig);
                self.pie = Some(Pie::new("Apply", &applied, ctx));
            }
            Command::MetricPie => {
                let metrics = Metric::ALL.map(Command::UseMetric);
                self.pie = Some(Pie::new("Heat map", &metrics, ctx));
            }
            _ => {}
        }
    }

    /// Draws the open overlay; returns the chosen command.
    pub(super) fn overlay_ui(&mut self, ctx: &egui::Context) -> Option<Command> {
        let mut chosen = None;
        let stays = match &mut self.overlay {
            Overlay::None => true,
            Overlay::FindCommand(list) => match list.show(ctx, &self.editor) {
                SearchResult::Open => true,
                SearchResult::Closed => false,
                SearchResult::Run(command) => {
                    chosen = Some(command);
                    false
                }
            },
            Overlay::Help => help_ui(ctx, self.viewport.mode, self.editor.document().session()),
            Overlay::Preferences(dialog) => {
                let settings = &mut self.settings.settings;
                dialog.show(ctx, |ui| chosen = interface_ui(ui, settings))
            }
        };
        if !stays {
            self.overlay = Overlay::None;
        }
        if let Some(pie) = self.pie.take() {
            match pie.show(ctx, &self.editor, &|command| self.is_on(command)) {
                PieResult::Open => self.pie = Some(pie),
                PieResult::Closed => {}
                PieResult::Run(command) => chosen = Some(command),
            }
        }
        chosen
    }
}

/// Draws the preferences other than keys: theme, scale, welcome.
fn interface_ui(ui: &mut Ui, settings: &mut Settings) -> Option<Command> {
    let mut chosen = None;
    egui::Grid::new("interface")
        .num_columns(2)
        .spacing([16.0, 4.0])
        .show(ui, |ui| {
            ui.strong("Theme");
            ui.horizontal(|ui| {
                for theme in ThemeChoice::ALL {
                    let command = Command::UseTheme(theme);
                    let radio = ui.radio(settings.theme == theme, theme.label());
                    if radio.on_hover_text(command.about()).clicked() {
                        chosen = Some(command);
                    }
                }
            });
            ui.end_row();
            ui.strong("UI scale");
            ui.horizontal(|ui| {
                for (command, text) in [
                    (Command::SmallerInterface, "Smaller"),
                    (Command::NormalInterface, "Default"),
                    (Command::LargerInterface, "Larger"),
                ] {
                    let button = ui.button(text);
                    if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                        chosen = Some(command);
                    }
                }
                ui.label(format!("{:.0} %", settings.ui_scale * 100.0));
            });
            ui.end_row();
            ui.strong("Welcome");
            ui.checkbox(&mut settings.show_welcome, "Show at start")
                .on_hover_text("Show recent files and samples when Sinew starts without a file.");
            ui.end_row();
        });
    chosen
}
