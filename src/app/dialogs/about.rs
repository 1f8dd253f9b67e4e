//! The About dialog: version and licences.

use super::modal;
use crate::view::theme;
use eframe::egui;
use egui::{RichText, ScrollArea, TextStyle};

/// The licences of dependencies and assets; a test ensures that none is missing.
const LICENCES: &str = include_str!("../../../assets/licences.txt");

/// Draws the dialog; returns whether it stays open.
pub(in crate::app) fn about_ui(ctx: &egui::Context) -> bool {
    let mut stays = true;
    let screen = ctx.content_rect().size();
    let modal = modal(ctx, "about").show(ctx, |ui| {
        ui.set_width(620.0_f32.min(screen.x - 48.0));
        ui.heading(format!("Sinew {}", env!("CARGO_PKG_VERSION")));
        ui.label(env!("CARGO_PKG_DESCRIPTION"));
        ui.label(format!(
            "Free software under {}.",
            env!("CARGO_PKG_LICENSE")
        ));
        ui.add_space(4.0);
        ui.separator();
        ui.label(RichText::new("Third-party software").strong());
        let lines: Vec<&str> = LICENCES.lines().collect();
        let row = ui.text_style_height(&TextStyle::Small);
        let height = (screen.y - 260.0).clamp(80.0, 380.0);
        let field = egui::Frame::new()
            .fill(theme::palette(ui).field)
            .inner_margin(8.0);
        field.show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 2.0;
            ScrollArea::both()
                .id_salt("licences")
                .max_height(height)
                .auto_shrink([false, false])
                .show_rows(ui, row, lines.len(), |ui, rows| {
                    for line in &lines[rows] {
                        let text = RichText::new(*line).small();
                        ui.add(egui::Label::new(text).extend());
                    }
                });
        });
        ui.add_space(8.0);
        let close = ui.button("Close").on_hover_text("Close this dialog  (Esc)");
        if close.clicked() {
            stays = false;
        }
    });
    stays && !modal.should_close()
}
