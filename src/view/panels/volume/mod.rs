//! The Volume panel: how well the poses of the clip keep the enclosed volume, and how far they bulge.
//!
//! Data flow: the editor measures in the background -> `rows` (what can be listed) -> a `table` of numbers and `plots`
//! over time. A click in a plot sets the time.

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

/// From this width on the plots stand beside the table, points.
const WIDE: f32 = 700.0;
/// Width of the table beside the plots, points.
const TABLE: f32 = 340.0;

/// The state of the panel.
#[derive(Default)]
pub struct VolumePanel {
    /// The row shown in the plots.
    subject: Subject,
    model: u64,
}

impl VolumePanel {
    /// Draws the panel.
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
            // The table gets the height that the plots leave.
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

/// Draws the button, the progress, and whether the numbers are up to date.
fn state_ui(ui: &mut Ui, editor: &mut Editor) {
    let command = Command::MeasureVolume;
    ui.horizontal(|ui| {
        if let Some(fraction) = editor.measuring() {
            if ui
                .button("Cancel")
                .on_hover_text("Cancel the measurement.")
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
                "The model, its body or the clip changed after this measurement. Measure again.";
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

/// The measured clip: "Walk: 61 poses".
fn what(study: &VolumeStudy, editor: &Editor) -> String {
    let clip = study.clip.and_then(|id| editor.document().clips().get(&id));
    match clip {
        Some(clip) => format!("{}: {} poses", clip.name, study.times_secs.len()),
        None => "The pose without a clip".to_owned(),
    }
}

/// Draws the empty state.
fn empty_ui(ui: &mut Ui, editor: &Editor) {
    let dim = theme::palette(ui).text_dim;
    let text = if editor.shown_clip().is_some() {
        "Measures how much volume each object and bone keeps over the clip, and how far the skin bulges."
    } else {
        "Measures how much volume each object and bone keeps in this pose, and how far the skin bulges. Select a clip \
         to measure over time."
    };
    let size = Vec2::new(ui.available_width(), ui.available_height());
    ui.allocate_ui_with_layout(size, Layout::top_down(Align::LEFT), |ui| {
        ui.add(Label::new(RichText::new(text).color(dim)).wrap());
    });
}
