//! Autosaves from the last session, with a picture of each.

use super::{modal, thumbnail_ui};
use crate::app::settings::age;
use crate::app::thumbnails::{Gallery, beside};
use crate::finding::counted;
use crate::io::project::Recoverable;
use crate::view::theme;
use eframe::egui;
use egui::{RichText, Role, ScrollArea, Ui, WidgetInfo};
use std::path::{Path, PathBuf};

/// The answer about recovered work.
pub(in crate::app) enum Recovery {
    Asking,
    Later,
    Restore(PathBuf),
    Discard(PathBuf),
}

/// Offers the unsaved work of the last session.
pub(in crate::app) fn recovery_ui(
    ctx: &egui::Context,
    found: &[Recoverable],
    gallery: &mut Gallery,
) -> Recovery {
    let mut answer = Recovery::Asking;
    let modal = modal(ctx, "recovery").show(ctx, |ui| {
        ui.set_width(500.0_f32.min(ctx.content_rect().width() - 48.0));
        ui.heading("Recovered work");
        ui.label("Sinew closed before this work was saved.");
        ui.add_space(4.0);
        let most = (ctx.content_rect().height() - 200.0).max(120.0);
        ScrollArea::vertical().max_height(most).show(ui, |ui| {
            for item in found {
                item_ui(ui, item, gallery, &mut answer);
            }
        });
        ui.add_space(8.0);
        let about = "Ask again at the next start  (Esc)";
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
                    .on_hover_text("Open the last autosave.");
                if restore.clicked() {
                    *answer = Recovery::Restore(item.path.clone());
                }
                let discard = ui
                    .button("Discard")
                    .on_hover_text("Delete this autosave permanently.");
                if discard.clicked() {
                    *answer = Recovery::Discard(item.path.clone());
                }
            });
        });
    });
}

/// The description of an autosave: "arm.ron, 12 unsaved steps, 3 minutes ago".
fn about(item: &Recoverable) -> String {
    let project = item.project.as_deref().and_then(Path::file_name);
    let mut parts = vec![project.map_or_else(
        || "no project file yet".to_owned(),
        |p| p.to_string_lossy().into_owned(),
    )];
    if let Some(n) = item.unsaved_steps.filter(|n| *n > 0) {
        parts.push(counted(n as usize, "unsaved step"));
    }
    parts.push(age(item.modified));
    parts.join(" · ")
}
