//! Volume: how much of what the skin encloses the poses of the clip keep, and how far it bulges.
//!
//! The way of the data: the editor measures in the background -> `rows` (what can be shown) -> a `table` of numbers and
//! `plots` over time. A click in a plot goes to that time.

mod plots;
mod rows;
mod table;

use crate::editor::Editor;
use crate::evaluate::volumes::VolumeStudy;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{Align, Label, Layout, RichText, Role, Ui, UiBuilder, Vec2, WidgetInfo};
use egui_material_icons::icons;
use rows::Subject;

/// From this width on the plots stand beside the table, each with room.
const WIDE: f32 = 700.0;
/// Width of the table beside the plots.
const TABLE: f32 = 340.0;

/// What the panel remembers.
#[derive(Default)]
pub struct VolumePanel {
    /// What the plots show.
    subject: Subject,
    model: u64,
}

impl VolumePanel {
    /// The panel.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        if self.model != editor.model_serial() {
            self.model = editor.model_serial();
            self.subject = Subject::default();
        }
        state_ui(ui, editor);
        let Some(study) = editor.volume_study().cloned() else {
            if editor.measuring().is_none() {
                empty_ui(ui, editor);
            }
            return;
        };
        let rows = rows::of(&study, editor);
        if !rows.iter().any(|row| row.subject == self.subject) {
            self.subject = rows.first().map_or(Subject::All, |row| row.subject);
        }
        let room = ui.available_rect_before_wrap();
        if room.width() < 80.0 || room.height() < 24.0 {
            return;
        }
        let (table, plots) = if room.width() >= WIDE {
            let (table, plots) = room.split_left_right_at_x(room.left() + TABLE);
            (table, plots.with_min_x(plots.left() + 12.0))
        } else {
            // The table keeps what the plots do not need.
            let share = (room.height() * 0.5).clamp(0.0, 260.0);
            let (table, plots) = room.split_top_bottom_at_y(room.bottom() - share);
            (table.with_max_y(table.bottom() - 6.0), plots)
        };
        let mut below = ui.new_child(UiBuilder::new().id_salt("volume table").max_rect(table));
        below.set_clip_rect(table.intersect(ui.clip_rect()));
        if let Some(subject) = table::table_ui(&mut below, &rows, self.subject) {
            self.subject = subject;
            if let Subject::Joint(_, joint) = subject {
                editor.select_joint(Some(joint));
            }
        }
        let chosen = rows.iter().find(|row| row.subject == self.subject);
        if let Some(row) = chosen
            && plots.height() >= 48.0
        {
            let mut beside = ui.new_child(UiBuilder::new().id_salt("volume plots").max_rect(plots));
            plots::plots_ui(&mut beside, editor, &study, row);
        }
        ui.allocate_rect(room, egui::Sense::hover());
    }
}

/// The button, the progress, and whether the numbers still hold.
fn state_ui(ui: &mut Ui, editor: &mut Editor) {
    let command = Command::MeasureVolume;
    ui.horizontal(|ui| {
        if let Some(fraction) = editor.measuring() {
            if ui
                .button("Cancel")
                .on_hover_text("Stop measuring.")
                .clicked()
            {
                editor.cancel_measuring();
            }
            let bar = egui::ProgressBar::new(fraction)
                .desired_width(140.0)
                .desired_height(16.0)
                .show_percentage();
            ui.add(bar).widget_info(|| {
                WidgetInfo::labeled(Role::ProgressIndicator, true, "Measuring volume")
            });
        } else {
            let text = if editor.volume_study().is_some() {
                "Measure again"
            } else {
                "Measure"
            };
            let enabled = command.is_enabled(editor);
            let response = ui.add_enabled(enabled, egui::Button::new(text));
            response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, command.label()));
            if response.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                editor.measure_volume();
            }
        }
        if editor.is_volume_stale() {
            let about =
                "Something was edited, or another clip is on screen, since this was measured.";
            let icon = icons::ICON_WARNING.rich_text().size(14.0);
            ui.add(Label::new(icon).selectable(false));
            ui.add(Label::new("Out of date").selectable(false))
                .on_hover_text(about);
        }
        let Some(study) = editor.volume_study() else {
            return;
        };
        let dim = theme::palette(ui).text_dim;
        let text = RichText::new(what(study, editor)).color(dim);
        ui.add(Label::new(text).truncate().selectable(false));
    });
}

/// "Walk: 61 poses".
fn what(study: &VolumeStudy, editor: &Editor) -> String {
    let clip = study.clip.and_then(|id| editor.document().clips().get(&id));
    match clip {
        Some(clip) => format!("{}: {} poses", clip.name, study.times_secs.len()),
        None => "The pose without a clip".to_owned(),
    }
}

/// What the panel is for.
fn empty_ui(ui: &mut Ui, editor: &Editor) {
    let dim = theme::palette(ui).text_dim;
    let text = if editor.shown_clip().is_some() {
        "How much of its volume the model keeps over the clip, by object and by bone, and how far its skin bulges."
    } else {
        "How much of its volume the model keeps in this pose, by object and by bone. With a clip on screen also over \
         time."
    };
    let size = Vec2::new(ui.available_width(), ui.available_height());
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::LEFT), |ui| {
        ui.add(Label::new(RichText::new(text).color(dim)).wrap());
    });
}
