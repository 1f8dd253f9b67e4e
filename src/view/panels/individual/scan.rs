//! The comparison with a scan of the person: what is compared, its progress, and how far the body is off.

use super::super::clusters::layer_row::dim_ui;
use crate::deform::BodyChoice;
use crate::deform::diagnostics::Metric;
use crate::editor::{Editor, SCAN_CANCELLED, ScanComparison, ScanPlace};
use crate::finding::{Place, counted, trimmed};
use crate::twin::Unit;
use crate::twin::scan::{Align, Distances};
use crate::view::commands::Command;
use crate::view::theme;
use egui::{
    Button, ComboBox, Grid, Label, ProgressBar, RichText, Role, ScrollArea, Ui, WidgetInfo,
};

/// The columns.
const COLUMNS: [&str; 8] = [
    "Distances",
    "RMS",
    "Mean",
    "95th percentile",
    "Within 5 mm",
    "Largest",
    "At",
    "",
];

/// Draws the section; adds the requested commands.
pub(super) fn scan_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    ui.separator();
    options_ui(ui, editor, commands);
    if let Some(task) = editor.comparing_scan().cloned() {
        ui.horizontal(|ui| {
            let bar = ProgressBar::new(task.fraction()).desired_width(160.0);
            ui.add(bar.text(task.label()));
            let about = "Stop comparing. The previous figures stay.";
            if ui.button("Cancel").on_hover_text(about).clicked() {
                editor.cancel_scan();
            }
        });
    }
    if let Some(why) = editor.scan_failure() {
        let palette = theme::palette(ui);
        let is_cancelled = why == SCAN_CANCELLED;
        let colour = if is_cancelled {
            palette.text_dim
        } else {
            palette.error
        };
        ui.add(Label::new(RichText::new(why).color(colour)).wrap());
    }
    let Some(scan) = editor.scan_comparison() else {
        return;
    };
    let (mut place, mut again, mut forgets) = (None, false, false);
    dim_ui(ui, &about(scan));
    figures_ui(ui, scan, &mut place);
    let palette = theme::palette(ui);
    let (text, accent) = (palette.text, palette.accent);
    for warning in &scan.accuracy.warnings {
        ui.add(Label::new(RichText::new(warning).color(text)).wrap());
    }
    if scan.accuracy.n_beyond > 0 {
        let n = counted(scan.accuracy.n_beyond, "vertex");
        let are = if scan.accuracy.n_beyond == 1 {
            "is"
        } else {
            "are"
        };
        dim_ui(
            ui,
            &format!("{n} of the body {are} nearest to an open edge of the scan."),
        );
    }
    let is_stale = editor.is_scan_stale();
    if is_stale {
        let why = "The document, the pose, hidden meshes or the options have changed since. These figures are from before the change.";
        ui.add(Label::new(RichText::new(why).color(accent)).wrap());
    }
    ui.horizontal_wrapped(|ui| {
        let button = ui.add_enabled(is_stale, Button::new("Compare again"));
        let about = "Compare the template or the individual, whichever is chosen above, with the same scan. Hidden meshes are left out.";
        let button = button.on_hover_text(about);
        again = button
            .on_disabled_hover_text("Nothing has changed since.")
            .clicked();
        let command = Command::UseMetric(Metric::ScanDistance);
        let button = ui.button("Show distances");
        if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
            commands.push(command);
        }
        let about = "Remove these figures and their heat map.";
        forgets = ui.button("Clear comparison").on_hover_text(about).clicked();
    });
    if let Some(place) = place {
        editor.go_to_place(&place);
    }
    if again {
        editor.compare_again();
    }
    if forgets {
        editor.forget_scan();
    }
}

/// Draws what begins a comparison, the unit and the alignment.
fn options_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    let mut options = editor.scan_options();
    ui.horizontal_wrapped(|ui| {
        let command = Command::CompareScan;
        let button = ui.button(command.label());
        if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
            commands.push(command);
        }
        let name = "Unit of the scan";
        let combo = ComboBox::from_id_salt(name)
            .width(52.0)
            .selected_text(options.unit.label())
            .show_ui(ui, |ui| {
                for unit in Unit::ALL {
                    ui.selectable_value(&mut options.unit, unit, unit.label());
                }
            });
        let response = combo.response;
        response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, name));
        response.on_hover_text("The unit of the numbers in the scan. It is never scaled to fit.");
        let mut aligns = options.align == Align::Icp;
        let about = "Lay the scan on the body by iterative closest points. When off, it stays where its file places it.";
        ui.checkbox(&mut aligns, "Align").on_hover_text(about);
        options.align = if aligns { Align::Icp } else { Align::None };
    });
    if options != editor.scan_options() {
        editor.set_scan_options(options);
    }
}

/// Draws the table of figures; a click on a largest distance chooses its place.
fn figures_ui(ui: &mut Ui, scan: &ScanComparison, place: &mut Option<Place>) {
    let scroll = ScrollArea::horizontal().id_salt("columns of the scan");
    scroll.show(ui, |ui| {
        let grid = Grid::new("distances of the scan").striped(true);
        grid.spacing([8.0, 3.0]).show(ui, |ui| {
            let dim = theme::palette(ui).text_dim;
            for name in COLUMNS {
                ui.label(RichText::new(name).color(dim));
            }
            ui.end_row();
            let found = &scan.accuracy;
            row_ui(ui, "Scan to body", &found.scan, Some(&scan.scan_at), place);
            if let Some(kept) = &found.kept {
                row_ui(ui, "Aligned points", kept, None, place);
            }
            row_ui(ui, "Body to scan", &found.body, Some(&scan.body_at), place);
        });
    });
}

fn row_ui(
    ui: &mut Ui,
    name: &str,
    figures: &Distances,
    at: Option<&ScanPlace>,
    place: &mut Option<Place>,
) {
    ui.label(name);
    for value in [figures.rms, figures.mean, figures.p95] {
        ui.label(millimetres(value));
    }
    let share = (figures.within_5mm * 1e4).round() / 1e2;
    ui.label(format!("{} %", trimmed(share)));
    ui.label(millimetres(figures.max));
    if let Some(at) = at {
        let bone = if at.bone.is_empty() { "-" } else { &at.bone };
        ui.label(bone);
        let button = ui.add_enabled(at.target.is_some(), Button::new("Go there"));
        let spoken = format!("Go to the largest distance, {}", name.to_lowercase());
        button.widget_info(|| WidgetInfo::labeled(Role::Button, at.target.is_some(), &spoken));
        let [x, y, z] = at.at.to_array().map(|v| trimmed((v * 1e3).round() / 1e3));
        let about = format!("Select the vertex and frame it: {x}, {y}, {z} m.");
        if button.on_hover_text(about).clicked() {
            place.clone_from(&at.target);
        }
    }
    ui.end_row();
}

/// What was compared, and how.
fn about(scan: &ScanComparison) -> String {
    let name = scan.path.file_name().unwrap_or_default().to_string_lossy();
    let found = &scan.accuracy;
    let body = match scan.body {
        BodyChoice::Template => "template",
        BodyChoice::Individual => "individual",
        BodyChoice::WhatIf => "what-if",
    };
    let points = counted(found.scan.n, "point");
    let mut text = format!("{name} against the {body}: {points}");
    if scan.n_faces > 0 {
        text = format!("{text}, {}", counted(scan.n_faces, "face"));
    }
    match &found.alignment {
        None => format!("{text}, where its file places it."),
        Some(alignment) => {
            let steps = counted(alignment.iterations, "iteration");
            let t = &found.trimmed;
            format!(
                "{text}, aligned in {steps}. Left out of the alignment: {} farther than {}, {} at open edges, {} facing away.",
                t.far,
                millimetres(t.limit),
                t.border,
                t.facing
            )
        }
    }
}

fn millimetres(metres: f64) -> String {
    if !metres.is_finite() {
        return "-".to_owned();
    }
    format!("{} mm", trimmed((metres * 1e5).round() / 1e2))
}
