//! What the file will change, what it cannot hold exactly and why, and what a correction will come to.

use super::report::{finding_ui, millimetres, says_ui, size};
use crate::editor::Editor;
use crate::finding::counted;
use crate::view::theme;
use eframe::egui;
use egui::{CollapsingHeader, Ui};
use egui_material_icons::icons;

/// Told before anything is computed.
pub(super) fn ahead_ui(ui: &mut Ui, editor: &Editor) {
    let advice = editor.exporting().advice();
    let palette = theme::palette(ui);
    let tolerance = editor.exporting().settings().bake.tolerance;
    if let Some(estimate) = advice.estimate() {
        let share = |error: f64| {
            let length = millimetres(error * estimate.diagonal);
            format!("{:.3} % ({length})", 100.0 * error)
        };
        let text = format!(
            "Expected: {} and {}, about {} more; up to {} off, without the correction {}.",
            counted(estimate.helper_joints, "helper joint"),
            counted(estimate.morph_targets, "morph target"),
            size(estimate.bytes.max(0.0) as usize),
            share(estimate.error),
            share(estimate.before),
        );
        says_ui(ui, icons::ICON_INFO, palette.text, &text);
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
