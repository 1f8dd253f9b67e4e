//! The foot contacts of a motion's clip, typed: a row for each, and buttons that add one or find them again.

use super::clusters::layer_row::{dim_ui, icon_ui};
use super::correctives::heading_ui;
use super::time_field::time_ui;
use crate::cluster::channel::RecordingId;
use crate::editor::Editor;
use crate::motion::contacts::FeetSecs;
use egui::{Grid, Ui};
use egui_material_icons::icons;

/// The feet, in the order of contacts.
pub(super) const FEET: [&str; 2] = ["Left", "Right"];
/// The length of a contact that is added, seconds.
pub(super) const ADDED_SECS: f64 = 0.2;

/// The contacts while a field of them is dragged.
#[derive(Default)]
pub(super) struct ContactRows {
    draft: Option<(RecordingId, FeetSecs)>,
}

impl ContactRows {
    /// Draws the contacts of a recording that has a clip.
    pub(super) fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor, id: RecordingId) {
        let Some(known) = editor.contacts_of(id) else {
            self.draft = None;
            return;
        };
        let draft = self.draft.take().filter(|draft| draft.0 == id);
        let mut feet = draft.map_or_else(|| known.clone(), |draft| draft.1);
        heading_ui(ui, "Foot contacts", "");
        let free = editor.free_feet(id);
        dim_ui(
            ui,
            free.unwrap_or("The feet stay in place in these stretches of the clip. The bars in the timeline show them too: drag their ends."),
        );
        let (mut is_dragged, mut finds) = (false, false);
        let grid = Grid::new("contacts").num_columns(4).spacing([6.0, 2.0]);
        grid.show(ui, |ui| {
            for (foot, stretches) in FEET.iter().zip(&mut feet) {
                let mut gone = None;
                for (i, [from, to]) in stretches.iter_mut().enumerate() {
                    let n = i + 1;
                    ui.label(*foot);
                    let start = time_ui(ui, &format!("Start of {foot} contact {n}"), from, false);
                    let end = time_ui(ui, &format!("End of {foot} contact {n}"), to, false);
                    is_dragged |= start.dragged() || end.dragged();
                    let label = format!("Delete {foot} contact {n}");
                    let about = "Delete this contact; the foot moves freely there.";
                    if icon_ui(ui, icons::ICON_DELETE, &label, about, true) {
                        gone = Some(i);
                    }
                    ui.end_row();
                }
                if let Some(i) = gone {
                    stretches.remove(i);
                }
            }
        });
        ui.horizontal_wrapped(|ui| {
            let now = editor.playback().time_secs;
            for (foot, stretches) in FEET.iter().zip(&mut feet) {
                let text = format!("Add {} contact", foot.to_lowercase());
                let about = "Hold this foot for 0.2 s from the playhead on.";
                if ui.button(text).on_hover_text(about).clicked() {
                    stretches.push([now, now + ADDED_SECS]);
                }
            }
            let about = "Find the contacts from the motion again, in place of these.";
            finds = ui.button("Find contacts").on_hover_text(about).clicked();
        });
        if finds {
            editor.set_contacts(id, None);
        } else if is_dragged {
            self.draft = Some((id, feet));
        } else if feet != known {
            editor.set_contacts(id, Some(feet));
        }
    }
}
