//! The bottom row: hints, the job under way, figures.

use crate::editor::Editor;
use crate::finding::Severity;
use crate::view::mode::Mode;
use crate::view::theme;
use crate::view::viewport::select_hint;
use egui::{Align, Layout, RichText, Role, Sense, Ui, WidgetInfo};

/// Hints, the job under way, and what the last re-skin took.
pub fn status_bar_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    mode: Mode,
    notice: Option<(&str, bool)>,
    show_problems: &mut bool,
) {
    let mut cancel = false;
    let hint = match mode {
        Mode::Select => {
            "Click picks a bone · Middle drag orbits · Shift+middle pans · Wheel zooms · Tab paints"
        }
        Mode::Pose => "Click picks a bone · Middle drag orbits · Shift+middle pans · Wheel zooms",
        Mode::Paint => {
            "Drag adds · Ctrl+drag subtracts · Esc takes the stroke back · [ ] radius · Tab selects"
        }
    };
    let hint = select_hint(editor).unwrap_or_else(|| hint.to_owned());
    let text = match notice {
        Some((text, true)) => RichText::new(text).color(theme::palette(ui).error),
        Some((text, false)) => RichText::new(text).color(theme::palette(ui).accent),
        None => RichText::new(hint).color(theme::palette(ui).text_dim),
    };
    ui.horizontal(|ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let points: usize = editor.displayed().values().map(|d| d.positions.len()).sum();
            let figures = format!(
                "{points} points · re-skin {:.2} ms",
                editor.skin_secs() * 1e3
            );
            ui.label(
                RichText::new(figures)
                    .color(theme::palette(ui).text_dim)
                    .monospace()
                    .size(11.0),
            )
            .on_hover_text("Points on screen, and what the latest deformation took on its thread.");
            problems_button_ui(ui, editor, show_problems);
            if let Some(job) = editor.job() {
                let stop = ui
                    .button("Cancel")
                    .on_hover_text("Stop this job; nothing is changed.");
                cancel = stop.clicked();
                let bar = egui::ProgressBar::new(job.task().fraction())
                    .desired_width(120.0)
                    .show_percentage();
                ui.add(bar)
                    .widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, "Progress"));
                let step = job.task().label();
                ui.label(if step.is_empty() {
                    job.label().to_owned()
                } else {
                    format!("{} · {step}", job.label())
                });
            }
            // What is left of the row; a longer text is cut and shown whole under the pointer.
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.add(egui::Label::new(text).truncate());
            });
        });
    });
    if cancel {
        editor.cancel_job();
    }
    // The bar is one row, whatever it says.
    ui.allocate_response(egui::Vec2::ZERO, Sense::hover());
}

/// Shows or hides the problems; their number, coloured by the worst.
fn problems_button_ui(ui: &mut Ui, editor: &Editor, shown: &mut bool) {
    let findings = editor.findings();
    let label = RichText::new(format!("Problems ({})", findings.len()));
    let label = match findings.iter().map(|f| f.severity).max() {
        Some(Severity::Error) => label.color(theme::palette(ui).error),
        Some(Severity::Warning) => label.color(theme::palette(ui).accent),
        _ => label,
    };
    ui.toggle_value(shown, label)
        .on_hover_text("What was found in this file.");
}
