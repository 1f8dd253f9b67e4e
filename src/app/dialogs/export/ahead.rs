//! What the file will change, what it cannot hold exactly and why, and what a correction will come to.

use super::report::{finding_ui, millimetres, says_ui, size};
use crate::editor::Editor;
use crate::editor::exporting::Correction;
use crate::export::FEW_TARGETS;
use crate::finding::counted;
use crate::view::theme;
use eframe::egui;
use egui::{CollapsingHeader, Ui};
use egui_material_icons::icons;
use std::time::Duration;

/// Told before anything is computed.
pub(super) fn ahead_ui(ui: &mut Ui, editor: &Editor) {
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
            format!("about {targets} a mesh and")
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
        let without = without.map_or_else(String::new, |e| format!(", without the correction {e}"));
        let text = format!("Expected: {what} {size} {than}; up to {error} off{without}.");
        // While another is under way this one stays, so that nothing jumps.
        if advice.is_estimating() {
            ui.ctx().request_repaint_after(Duration::from_millis(100));
        }
        let (icon, colour) = if advice.is_behind() {
            (icons::ICON_HOURGLASS_EMPTY, palette.text_dim)
        } else {
            (icons::ICON_INFO, palette.text)
        };
        says_ui(ui, icon, colour, &text);
        if is_frames && estimate.morph_targets > FEW_TARGETS {
            let text = format!(
                "Some viewers show no more than {FEW_TARGETS} morph targets: allow a larger error, or choose fewer clips."
            );
            says_ui(ui, icons::ICON_WARNING, palette.accent, &text);
        }
        if !estimate.promises(tolerance) {
            let text = "The tolerance will probably be missed: allow more morph targets or joints, or a larger error.";
            says_ui(ui, icons::ICON_WARNING, palette.accent, text);
        }
    } else if advice.is_estimating() {
        let text = "Estimating size and error…";
        says_ui(ui, icons::ICON_HOURGLASS_EMPTY, palette.text_dim, text);
    }
    if advice.findings().is_empty() {
        return;
    }
    let title = format!(
        "Before you export: {}",
        counted(advice.findings().len(), "note")
    );
    CollapsingHeader::new(title)
        .id_salt("before you export")
        .default_open(true)
        .show_unindented(ui, |ui| {
            for finding in advice.findings() {
                finding_ui(ui, finding);
            }
        });
}
