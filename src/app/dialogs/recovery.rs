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

/// Offers the unsaved work of the last session. `discarding`: what is to be deleted, which is asked about.
pub(in crate::app) fn recovery_ui(
    ctx: &egui::Context,
    found: &[Recoverable],
    discarding: &mut Option<PathBuf>,
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
                item_ui(ui, item, gallery, discarding, &mut answer);
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

fn item_ui(
    ui: &mut Ui,
    item: &Recoverable,
    gallery: &mut Gallery,
    discarding: &mut Option<PathBuf>,
    answer: &mut Recovery,
) {
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
            if discarding.as_ref() == Some(&item.path) {
                discard_ui(ui, item, discarding, answer);
                return;
            }
            ui.horizontal(|ui| {
                let restore = ui
                    .button("Restore")
                    .on_hover_text("Open the last autosave.");
                if restore.clicked() {
                    *answer = Recovery::Restore(item.path.clone());
                }
                let discard = ui
                    .button("Discard…")
                    .on_hover_text("Delete this autosave, after asking.");
                if discard.clicked() {
                    *discarding = Some(item.path.clone());
                }
            });
        });
    });
}

/// Asks whether an autosave is to be deleted.
fn discard_ui(
    ui: &mut Ui,
    item: &Recoverable,
    discarding: &mut Option<PathBuf>,
    answer: &mut Recovery,
) {
    ui.label("Delete this work permanently? There is no other copy.");
    ui.horizontal(|ui| {
        if ui.button("Delete").clicked() {
            *discarding = None;
            *answer = Recovery::Discard(item.path.clone());
        }
        if ui.button("Keep").clicked() {
            *discarding = None;
        }
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
