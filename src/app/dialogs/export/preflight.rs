//! The preflight of an export: limitations of the file, and the estimate of a correction.

use super::report::{finding_ui, icon_text_ui, millimetres, size};
use crate::editor::Editor;
use crate::editor::exporting::Correction;
use crate::export::FEW_TARGETS;
use crate::finding::counted;
use crate::view::theme;
use eframe::egui;
use egui::{CollapsingHeader, Ui};
use egui_material_icons::icons;
use std::time::Duration;

/// Up to this many clips, the few frames of an estimate show most of what they do.
const FEW_CLIPS: usize = 3;

/// Draws the estimate and the findings before anything is computed.
pub(super) fn preflight_ui(ui: &mut Ui, editor: &mut Editor) {
    let advice = editor.exporting().advice();
    let palette = theme::palette(ui);
    let is_frames = editor.correction() == Correction::Frames;
    let tolerance = editor.exporting().settings().bake.tolerance;
    if let Some(estimate) = advice.estimate() {
        let share = |error: f64| {
            let length = millimetres(error * estimate.diagonal);
            format!("{:.3} % ({length})", 100.0 * error)
        };
        let targets = counted(estimate.morph_targets, "morph target");
        let what = if is_frames {
            format!("about {targets} per mesh and")
        } else {
            format!(
                "{} and {targets}, about",
                counted(estimate.helper_joints, "helper joint")
            )
        };
        let size = size(estimate.bytes.abs() as usize);
        let than = if estimate.bytes < 0.0 { "less" } else { "more" };
        let error = share(estimate.error);
        let without = estimate.before.map(share);
        let without =
            without.map_or_else(String::new, |e| format!(", or {e} without the correction"));
        let chosen = editor.exporting().settings().bake.clips.len();
        let n_clips = match chosen {
            0 => editor.document().clips().len(),
            n => n,
        };
        let many = if n_clips > FEW_CLIPS && !is_frames {
            " It is from a few frames of all clips: the file can grow several times more."
        } else {
            ""
        };
        let text = format!("Estimate: {what} {size} {than}; largest error {error}{without}.{many}");
        // During a new estimate the previous one stays visible, so that the layout does not jump.
        if advice.is_estimating() {
            ui.ctx().request_repaint_after(Duration::from_millis(100));
        }
        let (icon, colour) = if advice.is_behind() {
            (icons::ICON_HOURGLASS_EMPTY, palette.text_dim)
        } else {
            (icons::ICON_INFO, palette.text)
        };
        icon_text_ui(ui, icon, colour, &text);
        if is_frames && estimate.morph_targets > FEW_TARGETS {
            let text = format!(
                "Some viewers support only {FEW_TARGETS} morph targets. Increase the tolerance or choose fewer clips."
            );
            icon_text_ui(ui, icons::ICON_WARNING, palette.accent, &text);
        }
        if !estimate.promises(tolerance) {
            let text = "The tolerance will probably be missed. Allow more morph targets or joints, or increase the \
                        tolerance.";
            icon_text_ui(ui, icons::ICON_WARNING, palette.accent, text);
        }
    } else if advice.is_estimating() {
        let text = "Estimating size and error…";
        icon_text_ui(ui, icons::ICON_HOURGLASS_EMPTY, palette.text_dim, text);
    }
    if advice.findings().is_empty() {
        return;
    }
    let mut chosen = None;
    let title = format!(
        "Before export: {}",
        counted(advice.findings().len(), "note")
    );
    CollapsingHeader::new(title)
        .id_salt("before you export")
        .default_open(true)
        .show_unindented(ui, |ui| {
            for finding in advice.findings() {
                finding_ui(ui, finding);
                for fix in finding.fixes() {
                    let button = ui.button(fix.label()).on_hover_text(fix.about());
                    if button.clicked() {
                        chosen = Some((finding.clone(), fix));
                    }
                }
            }
        });
    if let Some((finding, fix)) = chosen {
        editor.fix(&finding, fix);
    }
}
