//! The clock of a recording and its stamps, typed: when it begins on the timeline, and the time and name of each moment.

use super::clusters::layer_row::icon_ui;
use super::correctives::heading_ui;
use super::time_field::time_ui;
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::editor::Editor;
use egui::{Grid, Key, Response, Role, TextEdit, Ui, Vec2, WidgetInfo};
use egui_material_icons::icons;

/// The width of the field of a name, points.
const NAME: f32 = 120.0;

/// A stamp that is typed.
#[derive(Default)]
struct Next {
    /// `None`: at the playhead.
    time: Option<f64>,
    name: String,
}

/// The fields while one of them is edited.
#[derive(Default)]
pub(super) struct RecordingMoments {
    /// The recording, the place of the stamp, its time on the timeline, and its name.
    draft: Option<(RecordingId, usize, f64, String)>,
    offset: Option<(RecordingId, f64)>,
    /// The recording, and the typed time and name of the next stamp.
    next: Option<(RecordingId, Next)>,
}

impl RecordingMoments {
    /// Draws the offset, a row for each stamp, and one that adds a stamp.
    pub(super) fn show_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (id, item): (RecordingId, &RecordingItem),
    ) {
        self.offset_ui(ui, editor, (id, item));
        heading_ui(ui, "Stamps", "");
        let grid = Grid::new("stamps").num_columns(4).spacing([6.0, 2.0]);
        grid.show(ui, |ui| {
            for (i, stamp) in item.stamps.iter().enumerate() {
                let known = (item.clock.common(stamp.time), stamp.name.as_str());
                self.stamp_ui(ui, editor, (id, i), known);
                ui.end_row();
            }
            self.next_ui(ui, editor, id);
            ui.end_row();
        });
    }

    fn offset_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (id, item): (RecordingId, &RecordingItem),
    ) {
        let draft = self.offset.filter(|draft| draft.0 == id);
        let mut offset = draft.map_or(item.clock.b, |draft| draft.1);
        ui.horizontal(|ui| {
            ui.label("Offset");
            let response = time_ui(ui, "Offset of the recording", &mut offset, true);
            let is_edited = response.dragged();
            response.on_hover_text(
                "When the recording's own time 0 is, in seconds of the timeline. Dragging its lane sideways changes it too.",
            );
            self.offset = is_edited.then_some((id, offset));
        });
        if self.offset.is_none() && offset != item.clock.b {
            editor.set_recording_offset(id, offset);
        }
    }

    fn stamp_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (id, i): (RecordingId, usize),
        (known_time, known_name): (f64, &str),
    ) {
        let n = i + 1;
        let draft = self.draft.take_if(|draft| (draft.0, draft.1) == (id, i));
        let (mut time, mut name) = match draft {
            Some((_, _, time, name)) => (time, name),
            None => (known_time, known_name.to_owned()),
        };
        let of_time = time_ui(ui, &format!("Time of stamp {n}"), &mut time, true);
        let of_name = name_ui(ui, &format!("Name of stamp {n}"), &mut name);
        let about = "Move the playhead there.";
        let label = format!("Go to stamp {n}");
        if icon_ui(ui, icons::ICON_MY_LOCATION, &label, about, true) {
            editor.pause();
            editor.set_time(known_time.max(0.0));
        }
        let label = format!("Delete stamp {n}");
        if icon_ui(ui, icons::ICON_DELETE, &label, "Delete this stamp.", true) {
            editor.delete_stamp(id, i);
            return;
        }
        if of_name.lost_focus() && ui.input(|i| i.key_pressed(Key::Escape)) {
            // Escape takes back what was typed.
            known_name.clone_into(&mut name);
        }
        if of_time.dragged() || of_name.has_focus() {
            self.draft = Some((id, i, time, name));
        } else if time != known_time || name != known_name {
            editor.set_stamp(id, i, time, &name);
        }
    }

    /// Draws the row that adds a stamp: at the playhead unless a time is typed.
    fn next_ui(&mut self, ui: &mut Ui, editor: &mut Editor, id: RecordingId) {
        let next = self.next.take().filter(|next| next.0 == id);
        let mut next = next.map_or_else(Next::default, |next| next.1);
        let mut time = next.time.unwrap_or(editor.playback().time_secs);
        let of_time = time_ui(ui, "Time of the next stamp", &mut time, true);
        if of_time.changed() {
            next.time = Some(time);
        }
        of_time.on_hover_text("Where the next stamp is: at the playhead unless you type a time.");
        let of_name = name_ui(ui, "Name of the next stamp", &mut next.name);
        let confirms = of_name.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
        of_name.on_hover_text("The name of the stamp. Left empty, it is “Stamp”.");
        let about = "Add a stamp with this time and name.";
        let adds = icon_ui(ui, icons::ICON_ADD, "Add typed stamp", about, true) || confirms;
        if !(adds && editor.add_stamp_at(id, time, &next.name)) {
            self.next = Some((id, next));
        }
    }
}

fn name_ui(ui: &mut Ui, label: &str, name: &mut String) -> Response {
    let field = TextEdit::singleline(name).desired_width(NAME);
    let response = ui.add(field.min_size(Vec2::new(NAME, 0.0)));
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, label));
    response
}
