//! What a computed export came to, and how it lies beside the model.

use super::Asked;
use crate::bake::BakeMode;
use crate::document::PaneLayout;
use crate::editor::Editor;
use crate::export::CorrectionReport;
use crate::finding::{Finding, Severity, counted, trimmed};
use crate::view::theme;
use eframe::egui;
use egui::{Color32, Grid, Label, RichText, Ui};
use egui_material_icons::{MaterialIcon, icons};

/// A length in millimetres.
pub(super) fn millimetres(metres: f64) -> String {
    let mm = metres * 1e3;
    match mm.abs() {
        m if m >= 1000.0 => format!("{metres:.2} m"),
        m if m >= 10.0 => format!("{mm:.1} mm"),
        m if m >= 0.1 => format!("{mm:.2} mm"),
        _ => format!("{mm:.4} mm"),
    }
}

/// Kilobytes, or megabytes.
pub(super) fn size(bytes: usize) -> String {
    match bytes as f64 / 1024.0 {
        kb if kb >= 1024.0 => format!("{:.2} MB", kb / 1024.0),
        kb => format!("{kb:.1} KB"),
    }
}

/// Whether what was computed last is within the tolerance, in a sentence.
pub(super) fn verdict_ui(ui: &mut Ui, editor: &Editor) {
    let Some(result) = editor.exporting().result() else {
        return;
    };
    let palette = theme::palette(ui);
    let Some(report) = result.correction() else {
        let report = result.report();
        ui.strong("Computed");
        ui.label(if report.verbatim {
            "The model's own bytes: nothing was edited.".to_owned()
        } else {
            format!(
                "{} of meshes with new weights, {} written.",
                counted(report.n_primitives_rewritten, "part"),
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
        says_ui(ui, icon, colour, &sentence);
    }
}

/// How good a corrected file is, in sentences, and whether each is good news.
fn verdicts(report: &CorrectionReport) -> Vec<(bool, String)> {
    let tolerance = report.tolerance_percent;
    let off = |percent: f64| {
        let length = millimetres(percent / 100.0 * report.diagonal);
        format!("{percent:.4} % ({length})")
    };
    let asked = format!("where {} % was asked for", trimmed(tolerance));
    let mut said = Vec::new();
    if report.moments > 0 {
        let most = off(report.max_percent);
        said.push(if report.max_percent > tolerance {
            let text = format!("The tolerance is missed: up to {most} off, {asked}.");
            (false, text)
        } else if report.nothing_to_do {
            let text = "No correction is needed: every program shows this as it is here.";
            (true, text.to_owned())
        } else {
            let text = format!("Within the tolerance: nowhere more than {most} off.");
            (true, text)
        });
    } else if report.lacks_clip {
        said.push((false, report.summary()));
    } else {
        let text = "No clip could be checked: how far the file is off in clips is not known.";
        said.push((false, text.to_owned()));
    }
    if let Some(driven) = &report.driven {
        let most = off(driven.max_percent);
        if driven.max_percent > tolerance {
            let text = format!(
                "The tolerance is missed in poses that no clip has, each bone turned up to 110 degrees: up to {most} off, \
                 {asked}."
            );
            said.push((false, text));
        } else if report.moments == 0 {
            let text = format!(
                "Within the tolerance in poses that no clip has: nowhere more than {most} off."
            );
            said.push((true, text));
        }
    }
    if let Some(whole) = &report.whole_stack {
        let text = format!(
            "Helper joints follow the skinning alone: against all that the stack does, up to {} off.",
            off(whole.max_percent)
        );
        said.push((whole.max_percent <= tolerance, text));
    }
    said
}

/// A sign and a sentence that wraps beside it.
pub(super) fn says_ui(ui: &mut Ui, icon: MaterialIcon, colour: Color32, text: &str) {
    ui.horizontal_top(|ui| {
        ui.label(icon.rich_text().size(16.0).color(colour));
        ui.add(Label::new(RichText::new(text).color(colour)).wrap());
    });
}

/// A finding: what it is in a word, where, and what it says.
pub(super) fn finding_ui(ui: &mut Ui, finding: &Finding) {
    let palette = theme::palette(ui);
    let (icon, colour, word) = match finding.severity {
        Severity::Error => (icons::ICON_ERROR, palette.error, "Error"),
        Severity::Warning => (icons::ICON_WARNING, palette.text, "Warning"),
        Severity::Info => (icons::ICON_INFO, palette.text_dim, "Info"),
    };
    let text = format!("{word}, {}: {}", finding.place, finding.message);
    says_ui(ui, icon, colour, &text);
}

/// The numbers of what was computed last, and what it found; whether its worst place is asked for.
pub(super) fn report_ui(ui: &mut Ui, editor: &Editor) -> bool {
    let Some(result) = editor.exporting().result() else {
        return false;
    };
    let mut shows = false;
    if let Some(correction) = result.correction() {
        ui.add_space(4.0);
        ui.strong("What it came to");
        shows = correction_ui(ui, correction);
    }
    // Misses of the tolerance are said above; of the findings they come first, with what is beyond skinning after them.
    let n_said = result.correction().map_or(0, |c| {
        let is_off = c.max_percent > c.tolerance_percent;
        let driven = c.driven.as_ref();
        let is_driven_off = driven.is_some_and(|d| d.max_percent > c.tolerance_percent);
        let said = [is_off, is_driven_off, c.lacks_clip, c.whole_stack.is_some()];
        said.into_iter().filter(|said| *said).count()
    });
    for finding in result.report().findings.iter().skip(n_said) {
        finding_ui(ui, finding);
    }
    shows
}

/// The numbers of a correction; whether the worst place is asked for.
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
                    "Joints added between those of the model.",
                );
            }
            row(
                "Morph targets",
                report.morph_targets.to_string(),
                "The most that were added to a mesh.",
            );
            row(
                "Largest error",
                error(report.max_percent),
                "The farthest that any point is off, at any moment that was looked at, in percent of the model's diagonal.",
            );
            row(
                "99.9 % below",
                error(report.p999_percent),
                "What all but one of a thousand points and moments stay below.",
            );
            row(
                "Rms",
                error(report.rms_percent),
                "The root of the mean square over all points and moments.",
            );
            row(
                "Uncorrected",
                error(report.before_max_percent),
                "The largest error of the model as linear blend skinning moves it, without the correction.",
            );
            if !report.normals_before.is_empty() {
                row(
                    "Normals",
                    format!(
                        "{:.2}° (uncorrected {:.2}°)",
                        report.normals.p99_degrees, report.normals_before.p99_degrees
                    ),
                    "What 99 % of the normals of blended points are off by less than.",
                );
            }
            if let Some(driven) = &report.driven {
                row(
                    "Other poses",
                    error(driven.max_percent),
                    "The largest error in poses that no clip has, the helper joints driven by what the file says of them.",
                );
            }
            if let Some(whole) = &report.whole_stack {
                row(
                    "Whole stack",
                    error(whole.max_percent),
                    "The largest distance from all that the stack does; helper joints alone follow its skinning.",
                );
            }
            row(
                "Size",
                format!("{} (x {:.2})", size(report.bytes), report.size_ratio),
                "Of all files, and how much that is of the source.",
            );
            row(
                "Checked",
                format!("{} moments", report.moments),
                "Keys, the middles between them and moments besides, read back from the written bytes and played as any \
                 program plays them.",
            );
            row(
                "Took",
                format!("{:.1} s + {:.1} s", report.bake_seconds, report.check_seconds),
                "To compute, and to check.",
            );
            if let Some(worst) = &report.worst {
                ui.label(RichText::new("Worst").color(dim));
                ui.vertical(|ui| {
                    let place = format!(
                        "\"{}\" at {:.3} s, vertex {}",
                        worst.clip, worst.time, worst.vertex
                    );
                    ui.add(Label::new(place).wrap());
                    let about = "Go to that moment, select that point and look at it, with the file beside the model.";
                    shows = ui.small_button("Show").on_hover_text(about).clicked();
                });
                ui.end_row();
            }
        });
    shows
}

/// How the file lies beside the model.
pub(super) fn beside_ui(ui: &mut Ui, editor: &mut Editor, is_coloured: bool, asked: &mut Asked) {
    ui.add_space(4.0);
    ui.strong("Before and after");
    let beside = editor.exporting().beside();
    ui.horizontal_wrapped(|ui| {
        for (layout, label, about) in [
            (None, "Off", "Show the model alone."),
            (
                Some(PaneLayout::Two),
                "Side by side",
                "Show the project at the left and the file, as every program plays it, at the right.",
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
    let about = "Colour both by how far they are from the project, with the largest distance in millimetres.";
    if ui
        .checkbox(&mut coloured, "Colour the difference")
        .on_hover_text(about)
        .changed()
    {
        asked.difference = Some(coloured);
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
            Some("No clip is shown: the file has no bones to pose, and shows its rest.")
        }
        None => {
            Some("No clip is shown: in a pose of your own, helper joints and morph targets rest.")
        }
        Some(_) if result.is_some_and(|r| !r.model().matches_clips()) => Some(
            "The file holds another number of clips than the project, so they cannot be matched: helper joints and morph \
             targets rest.",
        ),
        Some(clip) if !has_clip(clip) && result.is_some_and(|r| !r.model().keeps_nodes()) => {
            Some("This clip is not in the file, which shows its rest.")
        }
        Some(clip) if !has_clip(clip) => {
            Some("This clip is not in the file: helper joints and morph targets rest.")
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
        let said = verdicts(&report);
        assert!(said.len() == 1 && !said[0].0 && said[0].1.contains("No clip could be checked"));
        report.moments = 9;
        assert!(
            verdicts(&report)[0]
                .1
                .starts_with("No correction is needed")
        );
        // Within it in the clips, but not when driven, and the stack does more than skinning.
        report.nothing_to_do = false;
        report.max_percent = 0.005;
        report.driven = Some(errors(0.2));
        report.whole_stack = Some(errors(0.3));
        let said = verdicts(&report);
        assert!(said[0].0 && said[0].1.contains("0.0050 %"));
        assert!(!said[1].0 && said[1].1.contains("0.2000 %"));
        assert!(said[1].1.contains("where 0.007 % was asked for"));
        assert!(!said[2].0 && said[2].1.contains("0.3000 %"));
    }
}
