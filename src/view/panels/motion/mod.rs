//! The Motion panel: live motion from other programs, and the recordings of the project.
//!
//! Data flow: the settings and the counters of the editor's live motion -> fields, buttons, figures and channels -> commands, or settings
//! that the editor takes at once.

mod channels;
mod controls;
mod figures;
mod listening;

use super::correctives::{part, scroll_ui};
use super::recordings::RecordingList;
use crate::editor::Editor;
use crate::view::commands::Command;
use egui::{Rect, Ui};
use egui_material_icons::icons;

/// From this width on its parts stand side by side, points.
const WIDE: f32 = 1040.0;
/// The width of the connection, side by side, points.
const LISTENING: f32 = 304.0;
/// The width of the controls, side by side, points.
const CONTROLS: f32 = 296.0;
/// The width of the figures, side by side, points.
const FIGURES: f32 = 216.0;
/// The gap between them, points.
const GAP: f32 = 16.0;

/// What a recording is for, where there is none.
const NO_RECORDINGS: &str = "Live motion that you record is listed here. Adjust motion retargets it to the character as a clip. An imported motion is \
                             listed here too: drop a BVH file on the window. So are recordings of devices: drop a CSV, TRC or JSON lines file.";

/// The Motion panel and its state between frames.
#[derive(Default)]
pub struct MotionPanel {
    recordings: RecordingList,
    channels: channels::LiveChannels,
}

impl MotionPanel {
    /// Draws the panel; returns the requested commands.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
        let mut commands = Vec::new();
        let room = ui.available_rect_before_wrap();
        if room.width() < 60.0 || room.height() < 24.0 {
            return commands;
        }
        let adding = [
            (Command::AddMotion, icons::ICON_ADD),
            (Command::AddRecording, icons::ICON_ADD_CHART),
        ];
        let add = (adding.as_slice(), NO_RECORDINGS);
        let is_live = editor.live().is_some();
        if room.width() < WIDE {
            scroll_ui(ui, "motion", |ui| {
                listening::listening_ui(ui, editor, &mut commands);
                if is_live {
                    ui.separator();
                    controls::controls_ui(ui, editor, &mut commands);
                    ui.separator();
                    figures::figures_ui(ui, editor);
                    self.channels.show_ui(ui, editor);
                } else {
                    listening::empty_ui(ui, editor);
                }
                ui.separator();
                self.recordings.show_ui(ui, editor, add, &mut commands);
            });
            return commands;
        }
        let mut left = room.left();
        let mut column = |width: f32| {
            let rect = Rect::from_x_y_ranges(left..=left + width, room.y_range());
            left += width + GAP;
            rect
        };
        let first = column(LISTENING);
        // Who has recordings needs their room more than the first steps.
        let has_second = is_live || editor.document().recordings().is_empty();
        let second = if has_second { column(CONTROLS) } else { first };
        let third = if is_live { column(FIGURES) } else { second };
        scroll_ui(&mut part(ui, "listening", first), "listening", |ui| {
            listening::listening_ui(ui, editor, &mut commands);
        });
        if has_second {
            scroll_ui(&mut part(ui, "controls", second), "controls", |ui| {
                if is_live {
                    controls::controls_ui(ui, editor, &mut commands);
                } else {
                    listening::empty_ui(ui, editor);
                }
            });
        }
        if is_live {
            scroll_ui(&mut part(ui, "figures", third), "figures", |ui| {
                figures::figures_ui(ui, editor);
                self.channels.show_ui(ui, editor);
            });
        }
        let rest = room.with_min_x(third.right() + GAP);
        scroll_ui(&mut part(ui, "recordings", rest), "recordings", |ui| {
            self.recordings.show_ui(ui, editor, add, &mut commands);
        });
        ui.allocate_rect(room, egui::Sense::hover());
        commands
    }
}
