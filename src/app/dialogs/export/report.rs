//! The results of a computed export, and its comparison with the model.

use super::Requests;
use crate::bake::BakeMode;
use crate::document::PaneLayout;
use crate::editor::Editor;
use crate::export::CorrectionReport;
use crate::finding::{Finding, Severity, counted, trimmed};
use crate::view::theme;
use eframe::egui;
use egui::{Color32, Grid, Label, Response, RichText, Ui};
use egui_material_icons::{MaterialIcon, icons};

/// A length in millimetres, or in metres from 1 m on.
pub(super) fn millimetres(metres: f64) -> String {
    let mm = metres * 1e3;
    match mm.abs() {
        m if m >= 1000.0 => format!("{metres:.2} m"),
        m if m >= 10.0 => format!("{mm:.1} mm"),
        m if m >= 0.1 => format!("{mm:.2} mm"),
        _ => format!("{mm:.4} mm"),
    }
}

/// A file size in kilobytes or megabytes.
pub(super) fn size(bytes: usize) -> String {
    match bytes as f64 / 1024.0 {
        kb if kb >= 1024.0 => format!("{:.2} MB", kb / 1024.0),
        kb => format!("{kb:.1} KB"),
    }
}

/// Draws whether the last result is within the tolerance.
pub(super) fn verdict_ui(ui: &mut Ui, editor: &Editor) {
    let Some(result) = editor.exporting().result() else {
        return;
    };
    let palette = theme::palette(ui);
    let Some(report) = result.correction() else {
        let report = result.report();
        ui.strong("Computed");
        ui.label(if report.verbatim && report.is_converted {
            "Nothing was edited. The file is the source, converted to glTF.".to_owned()
        } else if report.verbatim {
            "Nothing was edited. The file is identical to the source.".to_owned()
        } else {
            format!(
                "{} with new weights, {} written.",
                counted(report.n_primitives_rewritten, "primitive"),
                counted(report.n_clips_written, "clip")
            )
        });
        let files = counted(result.exported().files.len(), "file");
        ui.label(format!("{}, {files}.", size(result.n_bytes())));
        return;
    };
    for (is_good, sentence) in verdicts(report) {
        let (icon, colour) = if is_good {
            (icons::ICON_CHECK, palette.text)
        } else {
            (icons::ICON_WARNING, palette.error)
        };
        let said = icon_text_ui(ui, icon, colour, &sentence);
        if report.moments > 0 {
            said.on_hover_text(MEASURED);
        }
    }
}

/// Where the errors of the verdicts are measured.
const MEASURED: &str = "An estimate. The error is measured at keyframes, halfway between them, on both sides of steps and \
                        around the largest errors. Between these moments it may be larger.";

/// The verdicts on a correction: whether each is good, and the sentence.
fn verdicts(report: &CorrectionReport) -> Vec<(bool, String)> {
    let tolerance = report.tolerance_percent;
    // "largest error" and its value.
    let off = |percent: f64| {
        if !percent.is_finite() {
            return "largest error unknown".to_owned();
        }
        let length = millimetres(percent / 100.0 * report.diagonal);
        format!("largest error found {percent:.4} % ({length})")
    };
    let limit = format!("tolerance {} %", trimmed(tolerance));
    let mut verdicts = Vec::new();
    if report.moments > 0 {
        let most = off(report.max_percent);
        let at = counted(report.moments, "moment");
        verdicts.push(if report.max_percent > tolerance {
            let text = format!("Tolerance missed: {most} at {at}, {limit}.");
            (false, text)
        } else if report.nothing_to_do {
            let text = "No correction needed. Every program shows the model as Sinew does.";
            (true, text.to_owned())
        } else {
            let text = format!("Within tolerance: {most} at {at}.");
            (true, text)
        });
    } else if report.lacks_clip {
        verdicts.push((false, report.summary()));
    } else {
        let text = "No clip was checked. The error in clips is unknown.";
        verdicts.push((false, text.to_owned()));
    }
    if let Some(driven) = &report.driven {
        let most = off(driven.max_percent);
        if driven.max_percent > tolerance {
            let text = format!(
                "Tolerance missed in poses outside the clips, with each bone rotated by up to 110°: {most}, {limit}."
            );
            verdicts.push((false, text));
        } else if report.moments == 0 {
            let text = format!("Within tolerance in poses outside the clips: {most}.");
            verdicts.push((true, text));
        }
    }
    if let Some(whole) = &report.whole_stack {
        let text = format!(
            "Helper joints reproduce only the skinning. Compared with the full deformer stack: {}.",
            off(whole.max_percent)
        );
        verdicts.push((whole.max_percent <= tolerance, text));
    }
    verdicts
}

/// Draws an icon and a sentence that wraps beside it; returns the sentence's response.
pub(super) fn icon_text_ui(
    ui: &mut Ui,
    icon: MaterialIcon,
    colour: Color32,
    text: &str,
) -> Response {
    let drawn = ui.horizontal_top(|ui| {
        ui.label(icon.rich_text().size(16.0).color(colour));
        ui.add(Label::new(RichText::new(text).color(colour)).wrap())
    });
    drawn.inner
}

/// Draws a finding: severity, location, message.
pub(super) fn finding_ui(ui: &mut Ui, finding: &Finding) {
    let palette = theme::palette(ui);
    let (icon, colour, word) = match finding.severity {
        Severity::Error => (icons::ICON_ERROR, palette.error, "Error"),
        Severity::Warning => (icons::ICON_WARNING, palette.text, "Warning"),
        Severity::Info => (icons::ICON_INFO, palette.text_dim, "Info"),
    };
    let text = format!("{word}, {}: {}", finding.place, finding.message);
    icon_text_ui(ui, icon, colour, &text);
}

/// Draws the statistics and findings of the last result; returns whether to show the worst vertex.
pub(super) fn report_ui(ui: &mut Ui, editor: &Editor) -> bool {
    let Some(result) = editor.exporting().result() else {
        return false;
    };
    let mut shows = false;
    if let Some(correction) = result.correction() {
        ui.add_space(4.0);
        ui.strong("Results");
        shows = correction_ui(ui, correction);
    }
    // Tolerance misses are reported above; then findings, then deformations beyond skinning.
    let n_said = result.correction().map_or(0, |c| {
        let is_off = c.max_percent > c.tolerance_percent;
        let driven = c.driven.as_ref();
        let is_driven_off = driven.is_some_and(|d| d.max_percent > c.tolerance_percent);
        let missed = [is_off, is_driven_off, c.lacks_clip, c.whole_stack.is_some()];
        missed.into_iter().filter(|is_missed| *is_missed).count()
    });
    for finding in result.report().findings.iter().skip(n_said) {
        finding_ui(ui, finding);
    }
    shows
}

/// Draws the statistics of a correction; returns whether to show the worst vertex.
fn correction_ui(ui: &mut Ui, report: &CorrectionReport) -> bool {
    let dim = theme::palette(ui).text_dim;
    let mut shows = false;
    let error = |percent: f64| {
        let length = millimetres(percent / 100.0 * report.diagonal);
        format!("{percent:.4} %   {length}")
    };
    Grid::new("export report")
        .num_columns(2)
        .min_row_height(18.0)
        .spacing([8.0, 2.0])
        .show(ui, |ui| {
            let mut row = |name: &str, value: String, about: &str| {
                ui.label(RichText::new(name).color(dim));
                ui.add(Label::new(value).wrap()).on_hover_text(about);
                ui.end_row();
            };
            if report.mode != BakeMode::Frames {
                row(
                    "Helper joints",
                    report.helper_joints.to_string(),
                    "Joints added to the skeleton of the model.",
                );
            }
            row(
                "Morph targets",
                report.morph_targets.to_string(),
                "Largest number of morph targets added to a mesh.",
            );
            row(
                "Largest error found",
                error(report.max_percent),
                "Largest error of any vertex at the verified moments, in % of the bounding-box diagonal. Between them it may \
                 be larger.",
            );
            row(
                "99.9th percentile",
                error(report.p999_percent),
                "99.9 % of all samples have a smaller error, in % of the bounding-box diagonal.",
            );
            row(
                "RMS error",
                error(report.rms_percent),
                "Root mean square of the error over all vertices and moments, in % of the bounding-box \
                 diagonal.",
            );
            row(
                "Without correction",
                error(report.before_max_percent),
                "Largest error with plain linear blend skinning, in % of the bounding-box diagonal.",
            );
            if !report.normals_before.is_empty() {
                row(
                    "Normal error",
                    format!(
                        "{:.2}° (without correction {:.2}°)",
                        report.normals.p99_degrees, report.normals_before.p99_degrees
                    ),
                    "Normal error of blended vertices, 99th percentile.",
                );
            }
            if let Some(driven) = &report.driven {
                row(
                    "Outside clips",
                    error(driven.max_percent),
                    "Largest error in poses outside the clips, with the helper joints driven as the file describes.",
                );
            }
            if let Some(whole) = &report.whole_stack {
                row(
                    "Full stack",
                    error(whole.max_percent),
                    "Largest error against the full deformer stack. Helper joints reproduce only its skinning.",
                );
            }
            row(
                "Size",
                format!("{} ({:.2}× source)", size(report.bytes), report.size_ratio),
                "Size of all files, and its ratio to the source.",
            );
            row(
                "Verified",
                counted(report.moments, "moment"),
                "At keyframes, halfway between them, on both sides of steps and around the largest errors. The written file \
                 is read back and played as any program plays it.",
            );
            row(
                "Duration",
                format!("{:.1} s + {:.1} s", report.bake_seconds, report.check_seconds),
                "Time to compute and to verify.",
            );
            if let Some(worst) = &report.worst {
                ui.label(RichText::new("Worst vertex").color(dim));
                ui.vertical(|ui| {
                    let place = format!(
                        "\"{}\" at {:.3} s, vertex {}",
                        worst.clip, worst.time, worst.vertex
                    );
                    ui.add(Label::new(place).wrap());
                    let about = "Jump to that time, select the vertex and show the file beside the model.";
                    shows = ui.small_button("Show").on_hover_text(about).clicked();
                });
                ui.end_row();
            }
        });
    shows
}

/// Draws the comparison of the file with the model.
pub(super) fn beside_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    is_coloured: bool,
    requests: &mut Requests,
) {
    ui.add_space(4.0);
    ui.strong("Compare with file");
    let beside = editor.exporting().beside();
    ui.horizontal_wrapped(|ui| {
        for (layout, label, about) in [
            (None, "Off", "Show only the model."),
            (
                Some(PaneLayout::Two),
                "Side by side",
                "Show the project on the left and the file, as other programs play it, on the right.",
            ),
            (
                Some(PaneLayout::Wipe),
                "Wipe",
                "Show the project left of a line that you drag, and the file right of it.",
            ),
        ] {
            let radio = ui.radio(beside == layout, label);
            if radio.on_hover_text(about).clicked() {
                editor.show_exported(layout);
            }
        }
    });
    if beside.is_none() {
        return;
    }
    let mut coloured = is_coloured;
    let about = "Colour both by their distance from the project. The legend gives the largest distance in \
                 millimetres.";
    if ui
        .checkbox(&mut coloured, "Colour difference")
        .on_hover_text(about)
        .changed()
    {
        requests.difference = Some(coloured);
    }
    let result = editor.exporting().result();
    let is_corrected = result.is_some_and(|r| r.correction().is_some_and(|c| !c.nothing_to_do));
    let has_clip = |clip| result.is_some_and(|r| r.model().has_clip(clip));
    let note = match editor
        .playback()
        .clip
        .filter(|_| !editor.playback().unkeyed)
    {
        _ if !is_corrected => None,
        None if result.is_some_and(|r| !r.model().keeps_nodes()) => {
            Some("No clip is playing. The file has no bones to pose and shows its rest pose.")
        }
        None => Some(
            "No clip is playing. Helper joints and morph targets stay at rest in your own pose.",
        ),
        Some(_) if result.is_some_and(|r| !r.model().matches_clips()) => Some(
            "The file and the project have different numbers of clips and cannot be matched. Helper joints and morph \
             targets stay at rest.",
        ),
        Some(clip) if !has_clip(clip) && result.is_some_and(|r| !r.model().keeps_nodes()) => {
            Some("This clip is not in the file. The file shows its rest pose.")
        }
        Some(clip) if !has_clip(clip) => {
            Some("This clip is not in the file. Helper joints and morph targets stay at rest.")
        }
        Some(_) => None,
    };
    if let Some(note) = note {
        ui.label(RichText::new(note).color(theme::palette(ui).text_dim));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::MeasuredErrors;

    #[test]
    fn lengths_and_sizes_have_units_that_fit() {
        assert_eq!(millimetres(1.5), "1.50 m");
        assert_eq!(millimetres(0.0153), "15.3 mm");
        assert_eq!(millimetres(0.0015), "1.50 mm");
        assert_eq!(millimetres(2e-6), "0.0020 mm");
        assert_eq!(size(2048), "2.0 KB");
        assert_eq!(size(3 << 20), "3.00 MB");
    }

    #[test]
    fn a_verdict_tells_what_was_not_checked_and_each_miss() {
        let errors = |max_percent| MeasuredErrors {
            max_percent,
            ..MeasuredErrors::default()
        };
        let mut report = CorrectionReport {
            tolerance_percent: 100.0 * 0.000_07,
            nothing_to_do: true,
            met: true,
            ..CorrectionReport::default()
        };
        let found = verdicts(&report);
        assert!(found.len() == 1 && !found[0].0 && found[0].1.contains("No clip was checked"));
        report.moments = 9;
        assert!(verdicts(&report)[0].1.starts_with("No correction needed"));
        // Within tolerance in the clips, but not when driven, and the stack does more than skinning.
        report.nothing_to_do = false;
        report.max_percent = 0.005;
        report.driven = Some(errors(0.2));
        report.whole_stack = Some(errors(0.3));
        let found = verdicts(&report);
        assert!(found[0].0 && found[0].1.contains("largest error found 0.0050 %"));
        assert!(found[0].1.contains("at 9 moments"));
        assert!(!found[1].0 && found[1].1.contains("0.2000 %"));
        assert!(found[1].1.contains("tolerance 0.007 %"));
        assert!(!found[2].0 && found[2].1.contains("0.3000 %"));
        report.max_percent = f64::INFINITY;
        let missed = &verdicts(&report)[0];
        assert!(
            !missed.0
                && missed
                    .1
                    .starts_with("Tolerance missed: largest error unknown at 9")
        );
    }
}
