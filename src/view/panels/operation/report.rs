//! The results of a weight operation.

use crate::document::MeshId;
use crate::editor::Editor;
use crate::finding::{counted, thousands};
use crate::mesh::PointSet;
use crate::view::theme;
use egui::{RichText, Ui};
use egui_material_icons::icons;

/// Draws the numbers of the last run; skipped vertices can be selected.
pub(super) fn report_ui(ui: &mut Ui, editor: &mut Editor) {
    let palette = theme::palette(ui);
    let mut to_select: Option<(MeshId, PointSet)> = None;
    {
        let Some(adjusting) = editor.adjusting() else {
            return;
        };
        if let Some(why) = adjusting.failure() {
            ui.separator();
            ui.label(RichText::new(why).color(palette.error));
            return;
        }
        if adjusting.reports().is_empty() {
            return;
        }
        ui.separator();
        let document = adjusting.base();
        let ids = document.meshes().keys();
        let several = ids
            .filter(|id| document.n_skin_joints(**id).is_some())
            .count()
            > 1;
        for (mesh, report) in adjusting.reports() {
            if several {
                let item = adjusting.base().meshes().get(mesh);
                let name = item.map_or("", |item| item.geometry.name.as_str());
                ui.label(RichText::new(name).strong());
            }
            let text = format!(
                "{} of {} changed",
                thousands(report.changed),
                counted(report.considered, "vertex")
            );
            ui.label(text);
            for part in &report.left_out {
                ui.horizontal_wrapped(|ui| {
                    ui.label(
                        icons::ICON_WARNING
                            .rich_text()
                            .size(14.0)
                            .color(palette.accent),
                    );
                    ui.label(format!("{} {}", thousands(part.points.count()), part.why));
                    let about = "Select these vertices.";
                    if ui.small_button("Select").on_hover_text(about).clicked() {
                        to_select = Some((*mesh, part.points.clone()));
                    }
                });
            }
            for note in &report.notes {
                ui.horizontal_wrapped(|ui| {
                    ui.label(
                        icons::ICON_INFO
                            .rich_text()
                            .size(14.0)
                            .color(palette.text_dim),
                    );
                    ui.label(RichText::new(note).color(palette.text_dim));
                });
            }
        }
    }
    if let Some((mesh, points)) = to_select {
        editor.select_left_out(mesh, &points);
    }
}
