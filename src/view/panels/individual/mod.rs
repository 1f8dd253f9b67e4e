//! The Individual panel: measurements of a person, and the body that is fitted to them.
//!
//! Data flow: the rows of the document -> fields -> one edit for each change; the report of the fit -> columns beside the rows.

mod result;
mod rows;
mod scan;
mod varied;

use super::clusters::layer_row::dim_ui;
use super::correctives::scroll_ui;
use crate::deform::diagnostics::Metric;
use crate::document::{Person, Variation};
use crate::editor::Editor;
use crate::twin::{FitOptions, FlippedFaces, Kind, Measurement, Sides};
use crate::view::commands::Command;
use egui::{Button, Role, Ui, WidgetInfo};

/// What the panel is for, where there are no measurements.
const EMPTY: &str = "Measurements of a person give this character the person's size: the body that you see is the template, and stays as it \
                     is. Add a length, a girth or the height, or import a table (.csv, .json).";
/// The samples that are offered as templates.
const TEMPLATES: [(&str, &str); 4] = [
    ("mannequin", "Mannequin"),
    ("arm", "Arm"),
    ("hand", "Hand"),
    ("leg", "Leg"),
];
/// What a fit cannot do.
const LIMITS: &str = "Girths set radii evenly. They do not model the shape of muscles or fat, soft tissue, or anything inside the body. \
                      This is not a diagnosis.";

/// The Individual panel and its state between frames.
#[derive(Default)]
pub struct IndividualPanel {
    /// The rows while a field of them is being edited.
    draft: Option<Vec<Measurement>>,
    /// Whose rows they are.
    drafted: Person,
    /// The limits and gains of the what-if while one of them is dragged.
    varied: Option<Vec<Variation>>,
    /// The comparison with a scan whose distances were shown by themselves.
    seen_scan: u64,
    /// Whether the fit flipped faces in the frame before.
    seen_flips: bool,
    /// The frame in which it was drawn last.
    drawn: u64,
}

impl IndividualPanel {
    /// Draws the panel; returns the requested commands.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
        let mut commands = Vec::new();
        let room = ui.available_rect_before_wrap();
        if room.width() < 60.0 || room.height() < 24.0 {
            return commands;
        }
        scroll_ui(ui, "individual", |ui| {
            buttons_ui(ui, editor, &mut commands);
            persons_ui(ui, editor, &mut commands);
            let known = editor.measurements().cloned();
            let known = known.as_deref().cloned().unwrap_or_default();
            if self.drafted != editor.edited_person() {
                self.drafted = editor.edited_person();
                self.draft = None;
                self.varied = None;
            }
            if known.rows.is_empty() {
                self.draft = None;
                dim_ui(ui, EMPTY);
                if editor.edited_person() == Person::Individual {
                    templates_ui(ui, &mut commands);
                }
                self.variations_ui(ui, editor);
                dim_ui(ui, LIMITS);
                scan::scan_ui(ui, editor, &mut commands);
                return;
            }
            editor.ask_for_tapes(ui.ctx().cumulative_frame_nr());
            result::state_ui(ui, editor);
            let mut rows = self.draft.take().unwrap_or_else(|| known.rows.clone());
            let editing = rows::rows_ui(ui, editor, &mut rows);
            let mut options = known.options;
            options_ui(ui, &mut options, &rows);
            if editing {
                self.draft = Some(rows);
            } else if rows != known.rows || options != known.options {
                editor.measure(rows, options, "Change measurements");
            }
            self.variations_ui(ui, editor);
            result::report_ui(ui, editor, &mut commands);
            dim_ui(ui, LIMITS);
            scan::scan_ui(ui, editor, &mut commands);
        });
        let frame = ui.ctx().cumulative_frame_nr();
        let serial = editor.scan_comparison().map_or(0, |scan| scan.serial);
        if serial > self.seen_scan {
            self.seen_scan = serial;
            // A comparison that ended while the panel was out of sight changes no view later.
            if frame <= self.drawn + 1 {
                commands.push(Command::UseMetric(Metric::ScanDistance));
            }
        }
        // The same of the first faces that flip while the body is on screen; later the artist's heat map stays.
        let flips = editor.fit_flips();
        let begins = flips && !self.seen_flips;
        if begins && frame <= self.drawn + 1 && editor.shows_individual() {
            commands.push(Command::UseMetric(Metric::FoldOver));
        }
        self.seen_flips = flips;
        self.drawn = frame;
        commands
    }

    /// Draws the limits and gains of the what-if, where that is edited.
    fn variations_ui(&mut self, ui: &mut Ui, editor: &mut Editor) {
        if editor.edited_person() != Person::WhatIf {
            self.varied = None;
            return;
        }
        let shown = self.varied.take();
        let mut variations = shown.unwrap_or_else(|| editor.variations().to_vec());
        let before = editor.variations().to_vec();
        if varied::varied_ui(ui, editor, &mut variations) {
            self.varied = Some(variations);
        } else if editor.variations() == before && variations != before {
            editor.vary(variations, "Change limits and gains");
        }
    }
}

/// Draws what opens a sample as the template.
fn templates_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        ui.label("Templates")
            .on_hover_text("Open a sample as the template; it replaces the open model.");
        for (sample, text) in TEMPLATES {
            let command = Command::Sample(sample);
            let button = ui.button(text);
            button.widget_info(|| {
                let name = format!("Open the template {sample}");
                WidgetInfo::labeled(Role::Button, true, name)
            });
            if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                commands.push(command);
            }
        }
    });
}

/// Draws which body is shown, and what adds rows.
fn buttons_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        let has_shape = editor.individual_shape().is_some();
        let shows = editor.shows_individual();
        let about = "Show the template, on which poses and sculpts are made.";
        if choice_ui(ui, "Template", about, !shows, true) {
            editor.show_individual(false);
        }
        let about = "Show the body with these measurements. Weights and clips are those of both; exports write the body that is shown.";
        if choice_ui(ui, "Individual", about, shows, has_shape) {
            editor.show_individual(true);
        }
        ui.separator();
        for (kind, text) in [
            (Kind::Length, "Add length"),
            (Kind::Girth, "Add girth"),
            (Kind::Height, "Add height"),
        ] {
            let about = "Add a row for what is not measured yet, with the template's value.";
            let has_height = kind == Kind::Height && has_height(editor);
            let button = ui.add_enabled(!has_height, Button::new(text));
            let button = button.on_hover_text(about);
            if button.on_disabled_hover_text("The height is in the table already.").clicked() {
                editor.add_measurement(kind);
            }
        }
        let command = Command::ImportMeasurements;
        let button = ui.button(command.label());
        if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
            commands.push(command);
        }
        let command = Command::RemoveMeasurements;
        let is_of_person = editor.edited_person() == Person::Individual;
        let has_rows = is_of_person && editor.document().individual().is_some();
        let button = ui.add_enabled(has_rows, Button::new(command.label()));
        if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
            commands.push(command);
        }
    });
}

/// Draws whose table is edited, and what compares the bodies.
fn persons_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    let has_what_if = editor.document().person(Person::WhatIf).is_some();
    if editor.document().individual().is_none() && !has_what_if {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        if has_what_if {
            ui.label("Table of");
            let edited = editor.edited_person();
            for (person, text, name, about) in [
                (
                    Person::Individual,
                    "individual",
                    "Table of the individual",
                    "Edit the measurements of the person.",
                ),
                (
                    Person::WhatIf,
                    "what-if",
                    "Table of the what-if",
                    "Edit the changed copy, which panes show beside the individual.",
                ),
            ] {
                let on = edited == person;
                let button = ui.add(Button::new(text).selected(on));
                button.widget_info(|| WidgetInfo::selected(Role::Button, true, on, name));
                if button.on_hover_text(about).clicked() {
                    editor.edit_person(person);
                }
            }
            ui.separator();
        }
        for command in [
            Command::DuplicateIndividual,
            Command::RemoveWhatIf,
            Command::CompareBodies,
        ] {
            let text = match command {
                Command::DuplicateIndividual if has_what_if => "Replace what-if",
                command => command.label(),
            };
            let button = ui.add_enabled(command.is_enabled(editor), Button::new(text));
            if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                commands.push(command);
            }
        }
    });
}

fn has_height(editor: &Editor) -> bool {
    let mut rows = editor.measurements().into_iter().flat_map(|i| &i.rows);
    rows.any(|row| row.kind == Kind::Height)
}

fn choice_ui(ui: &mut Ui, text: &str, about: &str, on: bool, enabled: bool) -> bool {
    let button = ui.add_enabled(enabled, Button::new(text).selected(on));
    button.widget_info(|| WidgetInfo::selected(Role::Button, enabled, on, text));
    let why = "There is no fitted body yet.";
    button
        .on_hover_text(about)
        .on_disabled_hover_text(why)
        .clicked()
}

/// Draws how the table is fitted.
fn options_ui(ui: &mut Ui, options: &mut FitOptions, rows: &[Measurement]) {
    ui.horizontal_wrapped(|ui| {
        let has = |kind: Kind| rows.iter().any(|row| row.kind == kind);
        let about = "Where height and lengths are measured, lengthen or shorten hips, spine and neck until the body has its height.";
        ui.add_enabled_ui(has(Kind::Height) && has(Kind::Length), |ui| {
            let why = "It needs a height and a length.";
            let check = ui.checkbox(&mut options.fit_height, "Fit height");
            check.on_hover_text(about).on_disabled_hover_text(why);
        });
        let mut both = options.sides == Sides::Both;
        let about = "A side that is not measured takes the measurements of the other one. When off, it keeps the template's.";
        ui.checkbox(&mut both, "Mirror to the other side").on_hover_text(about);
        options.sides = if both { Sides::Both } else { Sides::Own };
        let about = "Bones next to measured ones take the mean factor of those. When off, they scale with the height only.";
        ui.checkbox(&mut options.neighbours, "Scale neighbouring bones").on_hover_text(about);
        let about = "With several girths on one bone, vary its factor along it. When off, it takes their mean factor.";
        ui.checkbox(&mut options.taper, "Taper").on_hover_text(about);
        let mut smooth = options.flipped == FlippedFaces::Smooth;
        let about = "Turn faces that the fit flips back: corrective smoothing of their vertices and those around them.";
        ui.checkbox(&mut smooth, "Smooth flipped faces").on_hover_text(about);
        options.flipped = if smooth { FlippedFaces::Smooth } else { FlippedFaces::Keep };
    });
}
