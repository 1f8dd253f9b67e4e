//! The progress of the fit, and what it reached.

use super::super::clusters::layer_row::dim_ui;
use crate::deform::diagnostics::Metric;
use crate::document::Person;
use crate::editor::Editor;
use crate::finding::{counted, trimmed};
use crate::twin::FitReport;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{Label, ProgressBar, RichText, Ui};

/// Draws the progress, or why there is no body.
pub(super) fn state_ui(ui: &mut Ui, editor: &mut Editor) {
    if let Some(task) = editor.fitting_individual().cloned() {
        ui.horizontal(|ui| {
            let bar = ProgressBar::new(task.fraction()).desired_width(160.0);
            ui.add(bar.text(task.label()));
            if ui
                .button("Cancel")
                .on_hover_text("Stop fitting. The template is shown.")
                .clicked()
            {
                editor.cancel_individual();
            }
        });
        return;
    }
    if let Some(why) = editor.individual_failure() {
        let text = RichText::new(why).color(theme::palette(ui).error);
        ui.add(Label::new(text).wrap());
        if ui
            .button("Fit again")
            .on_hover_text("Fit the body to the table again.")
            .clicked()
        {
            editor.fit_individual();
        }
    }
}

/// Draws what the fit reached.
pub(super) fn report_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    let person = editor.edited_person();
    let Some(shape) = editor.shape_of(person) else {
        return;
    };
    let has_flipped = shape.report.flipped > 0;
    for line in lines(&shape.report) {
        dim_ui(ui, &line);
    }
    let text = theme::palette(ui).text;
    for warning in &shape.report.warnings {
        ui.add(Label::new(RichText::new(warning).color(text)).wrap());
    }
    if has_flipped {
        let button = ui.button("Show flipped faces");
        let about =
            "Show the body with the heat map Fold-over: faces that the fit turned inside out.";
        if button.on_hover_text(about).clicked() {
            if person == Person::Individual {
                editor.show_individual(true);
            }
            commands.push(Command::UseMetric(Metric::FoldOver));
        }
    }
}

fn lines(report: &FitReport) -> Vec<String> {
    let centimetres = |metres: f64| trimmed((metres * 1e4).round() / 1e2);
    let mut lines = vec![format!(
        "Height {} cm (template {} cm). {} of {} flipped.",
        centimetres(report.height[1]),
        centimetres(report.height[0]),
        report.flipped,
        counted(report.triangles, "face")
    )];
    if report.smoothed > 0 {
        lines.push(format!(
            "Smoothing moved {}.",
            counted(report.smoothed, "vertex")
        ));
    }
    if let Some(trunk) = report.trunk {
        lines.push(format!(
            "Hips, spine and neck are {} times the template's.",
            trimmed(trunk)
        ));
    }
    lines
}
