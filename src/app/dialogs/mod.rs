//! Modal dialogs, one per file.
//!
//! Invariant: Esc never changes anything.

pub(super) mod about;
mod browser;
pub(super) mod changed;
pub(super) mod dropped;
pub(super) mod export;
pub(super) mod manual;
pub(super) mod path;
mod path_field;
pub(super) mod range_of_motion;
pub(super) mod recovery;
pub(super) mod unfinished;
pub(super) mod unsaved;
pub(super) mod weight_range;
pub(super) mod welcome;

use crate::view::theme;
use eframe::egui;
use egui::{
    Align2, Color32, CornerRadius, Frame, Id, Image, Key, Modal, Rect, Sense, StrokeKind,
    TextureHandle, Ui, Vec2,
};
use egui_material_icons::icons;

/// Whether Enter was pressed; consumes the press, so that it confirms only one dialog.
fn take_enter(ctx: &egui::Context) -> bool {
    ctx.input_mut(|i| i.consume_key(egui::Modifiers::NONE, Key::Enter))
}

/// A dialog with the id `name`, padded and at most as tall as the window.
fn modal(ctx: &egui::Context, name: &str) -> Modal {
    let frame = Frame::popup(&ctx.global_style()).inner_margin(16.0);
    Modal::new(Id::unique(("dialog", name))).frame(frame)
}

/// A thumbnail, or an empty frame without one.
fn thumbnail_ui(ui: &mut Ui, picture: Option<&TextureHandle>, width: f32) -> Rect {
    let size = Vec2::new(width, width * 0.625);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let palette = theme::palette(ui);
    let radius = CornerRadius::same(3);
    ui.painter().rect_filled(rect, radius, palette.field);
    match picture {
        Some(texture) => Image::new((texture.id(), size))
            .corner_radius(radius)
            .tint(Color32::WHITE)
            .paint_at(ui, rect),
        None => {
            let icon = icons::ICON_VIEW_IN_AR.rich_text().size(20.0);
            let text = egui::WidgetText::from(icon);
            let galley = text.into_galley(ui, None, f32::INFINITY, egui::TextStyle::Body);
            let at = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), rect);
            ui.painter()
                .galley_with_override_text_color(at.min, galley, palette.text_dim);
        }
    }
    let line = egui::Stroke::new(1.0, palette.line);
    ui.painter()
        .rect_stroke(rect, radius, line, StrokeKind::Inside);
    rect
}
