//! What the import and the project found.

use crate::editor::Editor;
use crate::finding::Severity;
use crate::view::theme;
use egui::{RichText, ScrollArea, Ui};
use egui_material_icons::icons;

/// Import findings and the like.
pub fn problems_ui(ui: &mut Ui, editor: &Editor) {
    let findings = editor.findings();
    if findings.is_empty() {
        ui.label(RichText::new("No problems in this model.").color(theme::palette(ui).text_dim));
        return;
    }
    ScrollArea::vertical()
        .id_salt("problems")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            for finding in findings {
                ui.horizontal_wrapped(|ui| {
                    let (icon, colour) = match finding.severity {
                        Severity::Error => (icons::ICON_ERROR, theme::palette(ui).error),
                        Severity::Warning => (icons::ICON_WARNING, theme::palette(ui).accent),
                        Severity::Info => (icons::ICON_INFO, theme::palette(ui).text_dim),
                    };
                    ui.label(icon.rich_text().size(14.0).color(colour))
                        .on_hover_text(finding.severity.label());
                    ui.label(RichText::new(&finding.place).color(theme::palette(ui).text_dim));
                    ui.label(&finding.message);
                });
            }
        });
}
