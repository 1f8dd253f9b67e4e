//! The recordings of the document: their files, and what to do where a file is gone.

use super::clusters::layer_row::{dim_ui, icon_ui};
use super::correctives::sets::text_ui;
use super::correctives::{buttons_ui, heading_ui};
use super::recording_align::align_ui;
use super::recording_channels::RecordingChannels;
use super::recording_contacts::ContactRows;
use super::recording_moments::RecordingMoments;
use super::recording_timing::timing_ui;
use crate::cluster::channel::{Recording, RecordingId, RecordingItem, Recordings};
use crate::editor::Editor;
use crate::editor::clusters::TABLE_RATES;
use crate::finding::trimmed;
use crate::motion::RecordingSummary;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{Button, DragValue, Label, Rect, RichText, Role, Sense, Ui, Vec2, WidgetInfo, vec2};
use egui_material_icons::{MaterialIcon, icons};

/// From this width on, what can be changed of a recording stands beside the list, points.
const WIDE: f32 = 640.0;

/// The list of recordings in a panel.
#[derive(Default)]
pub(super) struct RecordingList {
    channels: RecordingChannels,
    moments: RecordingMoments,
    contacts: ContactRows,
}

impl RecordingList {
    /// Draws the recordings, and what the active one holds. `adding`: the commands that add one, with their icons; `empty` is
    /// said where there is none.
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (adding, empty): (&[(Command, MaterialIcon)], &str),
        commands: &mut Vec<Command>,
    ) {
        heading_ui(ui, "Recordings", "");
        let recordings = editor.document().recordings().clone();
        if recordings.is_empty() {
            dim_ui(ui, empty);
            ui.horizontal_wrapped(|ui| {
                for &(command, _) in adding {
                    let is_enabled = command.is_enabled(editor);
                    let button = ui.add_enabled(is_enabled, Button::new(command.label()));
                    if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                        commands.push(command);
                    }
                }
            });
            return;
        }
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing = Vec2::splat(2.0);
            commands.extend(buttons_ui(ui, editor, adding));
            let Some(active) = editor.active_recording() else {
                return;
            };
            // What the project keeps has no file.
            let has_file = recordings.get(&active).is_some_and(|item| !item.is_kept());
            let about = "Choose another file for the active recording. Its layers find their channels by name.";
            if icon_ui(ui, icons::ICON_LINK, "Relink recording", about, has_file) {
                editor.ask_for_recording_file(active);
            }
            let about = "Read the file of the active recording again.";
            if icon_ui(ui, icons::ICON_REFRESH, "Reload recording", about, has_file) {
                editor.reload_recording(active);
            }
            let command = Command::ExportTable;
            let about = command.tooltip(ui.ctx());
            if icon_ui(ui, icons::ICON_TABLE_VIEW, command.label(), &about, true) {
                commands.push(command);
            }
            let about = "Retarget the body of the active recording to the character as a clip, or open the settings of that clip. Other rotations and values move the bones and morph targets of the same name.";
            let moves = recordings.get(&active).is_some_and(|item| item.moves_body());
            if icon_ui(ui, icons::ICON_DIRECTIONS_WALK, "Adjust motion", about, moves) {
                editor.adjust_motion(active);
            }
            let about = "Remove the active recording from the project. The file stays. Delete the layers that read it first.";
            if icon_ui(ui, icons::ICON_DELETE, "Remove recording", about, true) {
                editor.remove_recording(active);
            }
        });
        if ui.available_width() < WIDE {
            self.list_ui(ui, editor, &recordings);
            self.active_ui(ui, editor, &recordings, commands);
        } else {
            ui.columns(2, |columns| {
                self.list_ui(&mut columns[0], editor, &recordings);
                self.active_ui(&mut columns[1], editor, &recordings, commands);
            });
        }
    }

    /// Draws the recordings with their channels.
    fn list_ui(&mut self, ui: &mut Ui, editor: &mut Editor, recordings: &Recordings) {
        for (&id, item) in recordings {
            let summary = editor.recording_summary(id).cloned();
            row_ui(ui, editor, (id, item), summary.as_deref());
        }
        table_options_ui(ui, editor, recordings.len());
        self.channels.show_ui(ui, editor, recordings);
    }

    /// Draws what can be changed of the active recording.
    fn active_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        recordings: &Recordings,
        commands: &mut Vec<Command>,
    ) {
        let active = editor.active_recording();
        if let Some((id, item)) = active.and_then(|id| Some((id, recordings.get(&id)?))) {
            match &item.content {
                Ok(_) => {
                    self.contacts.show_ui(ui, editor, id);
                    timing_ui(ui, editor, (id, item));
                    self.moments.show_ui(ui, editor, (id, item));
                    align_ui(ui, editor, id, commands);
                }
                Err(why) => {
                    let error = theme::palette(ui).error;
                    let text = RichText::new(format!("{why}.")).color(error);
                    ui.add(Label::new(text).wrap());
                    let button = ui.button("Relink\u{2026}");
                    let about = "Choose the file of this recording.";
                    if button.on_hover_text(about).clicked() {
                        editor.ask_for_recording_file(id);
                    }
                }
            }
        }
    }
}

/// Draws how a table of the recordings is written.
fn table_options_ui(ui: &mut Ui, editor: &mut Editor, n_recordings: usize) {
    let mut options = editor.table_options();
    ui.horizontal_wrapped(|ui| {
        ui.label("Table");
        let field = DragValue::new(&mut options.rate);
        let field = field.range(TABLE_RATES).suffix(" Hz").speed(0.5);
        let field = ui.add(field.max_decimals(2).update_while_editing(false));
        let rate = options.rate;
        field.widget_info(|| WidgetInfo {
            label: Some("Rate of the table".into()),
            ..WidgetInfo::drag_value(true, rate)
        });
        field.on_hover_text("Rows per second in the exported table.");
        if n_recordings > 1 {
            let about = "Export only the active recording. When off, the table has all recordings, over the time in which all of them have samples.";
            let check = ui.checkbox(&mut options.only_active, "Active recording only");
            check.on_hover_text(about);
        }
        let about = "Leave out the rows in which a channel has no value.";
        let check = ui.checkbox(&mut options.only_valid, "Complete rows only");
        check.on_hover_text(about);
    });
    if options != editor.table_options() {
        editor.set_table_options(options);
    }
}

fn row_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    (id, item): (RecordingId, &RecordingItem),
    summary: Option<&RecordingSummary>,
) {
    let palette = theme::palette(ui);
    let size = Vec2::new(ui.available_width(), theme::ROW);
    let (rect, response) = ui.allocate_exact_size(size, Sense::CLICK);
    let is_active = editor.active_recording() == Some(id);
    if is_active {
        ui.painter().rect_filled(rect, 3.0, palette.selected);
        let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
        ui.painter().rect_filled(bar, 1.0, palette.accent);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 3.0, palette.stripe);
    }
    let beside = match (item.recording(), summary) {
        (Some(of), Some(summary)) => rate_text(of, summary),
        (Some(_), None) if editor.has_no_summary(id) => "channels unreadable".to_owned(),
        (Some(_), None) => "reading\u{2026}".to_owned(),
        (None, _) => "cannot be read".to_owned(),
    };
    let spoken = format!("{}, {beside}", item.name);
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_active, &spoken));
    let place = rect.with_min_x(rect.left() + 8.0);
    let dim = if item.content.is_ok() {
        palette.text_dim
    } else {
        palette.error
    };
    let right = text_ui(ui, &beside, dim, place, true, place.width() * 0.5);
    let colour = if is_active {
        palette.accent
    } else {
        palette.text
    };
    let own = place.with_max_x(right - 6.0);
    text_ui(ui, &item.name, colour, own, false, own.width());
    if response.clicked() {
        editor.choose_recording(id);
    }
    response.on_hover_text(item.path.display().to_string());
}

/// Its rate and its length.
fn rate_text(of: &Recording, summary: &RecordingSummary) -> String {
    let seconds = match (of.times.first(), of.times.last()) {
        (Some(first), Some(last)) => last - first,
        _ => 0.0,
    };
    let rate = summary.rate.map_or_else(String::new, |rate| {
        format!("{} Hz, ", trimmed((rate * 10.0).round() / 10.0))
    });
    format!("{rate}{} s", trimmed((seconds * 100.0).round() / 100.0))
}
