//! Work that was not saved when Sinew last ended, with a picture of each.

use super::{modal, thumbnail_ui};
use crate::app::settings::age;
use crate::app::thumbnails::{Gallery, beside};
use crate::io::project::Recoverable;
use crate::view::theme;
use eframe::egui;
use egui::{RichText, Role, ScrollArea, Ui, WidgetInfo};
use std::path::{Path, PathBuf};

/// What the artist says of recovered work.
pub(in crate::app) enum Recovery {
    Asking,
    Later,
    Restore(PathBuf),
    Discard(PathBuf),
}

/// Offers work that was not saved when Sinew last ended.
pub(in crate::app) fn recovery_ui(
    ctx: &egui::Context,
    found: &[Recoverable],
    gallery: &mut Gallery,
) -> Recovery {
    let mut answer = Recovery::Asking;
    let modal = modal(ctx, "recovery").show(ctx, |ui| {
        ui.set_width(500.0_f32.min(ctx.content_rect().width() - 48.0));
        ui.heading("Recovered work");
        ui.label("Sinew ended before these were saved.");
        ui.add_space(4.0);
        let most = (ctx.content_rect().height() - 200.0).max(120.0);
        ScrollArea::vertical().max_height(most).show(ui, |ui| {
            for item in found {
                item_ui(ui, item, gallery, &mut answer);
            }
        });
        ui.add_space(8.0);
        let about = "They are offered again at the next start  (Esc)";
        if ui.button("Decide later").on_hover_text(about).clicked() {
            answer = Recovery::Later;
        }
    });
    if modal.should_close() && matches!(answer, Recovery::Asking) {
        answer = Recovery::Later;
    }
    answer
}

fn item_ui(ui: &mut Ui, item: &Recoverable, gallery: &mut Gallery, answer: &mut Recovery) {
    let ctx = ui.ctx().clone();
    ui.horizontal(|ui| {
        let rect = thumbnail_ui(ui, gallery.picture(&ctx, &beside(&item.path)), 128.0);
        let picture = ui.interact(rect, ui.scope_id().with(&item.path), egui::Sense::hover());
        let name = format!("Preview of {}", item.model_name);
        picture.widget_info(|| WidgetInfo::labeled(Role::Image, true, &name));
        ui.vertical(|ui| {
            let title = RichText::new(&item.model_name).strong();
            ui.add(egui::Label::new(title).truncate());
            let dim = theme::palette(ui).text_dim;
            let about = RichText::new(about(item)).color(dim);
            ui.add(egui::Label::new(about).truncate());
            ui.horizontal(|ui| {
                let restore = ui
                    .button("Restore")
                    .on_hover_text("Open it as it was last kept.");
                if restore.clicked() {
                    *answer = Recovery::Restore(item.path.clone());
                }
                let discard = ui
                    .button("Discard")
                    .on_hover_text("Give this work up for good.");
                if discard.clicked() {
                    *answer = Recovery::Discard(item.path.clone());
                }
            });
        });
    });
}

/// "arm.ron, 12 unsaved steps, 3 minutes ago".
fn about(item: &Recoverable) -> String {
    let project = item.project.as_deref().and_then(Path::file_name);
    let mut parts = vec![project.map_or_else(
        || "not yet a project".to_owned(),
        |p| p.to_string_lossy().into_owned(),
    )];
    match item.unsaved_steps {
        Some(1) => parts.push("1 unsaved step".to_owned()),
        Some(n) if n > 1 => parts.push(format!("{n} unsaved steps")),
        _ => {}
    }
    parts.push(age(item.modified));
    parts.join(" · ")
}
