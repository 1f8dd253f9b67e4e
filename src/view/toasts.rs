//! Notifications over the lower right of the viewport, which take neither the focus nor the pointer.
//!
//! Our own rather than a library's: they are announced to screen readers, truncate long sentences and leave the
//! pointer free.

use super::theme;
use crate::finding::Place;
use egui::accesskit::Live;
use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align2, Area, Button, Color32, Context, CornerRadius, Id, Order, Pos2, Rect, Role, Sense,
    Stroke, StrokeKind, TextStyle, Ui, Vec2, WidgetInfo, WidgetText,
};
use egui_material_icons::icons;
use std::time::{Duration, Instant};

/// Duration of a notification; an error, and one with something to show, stays until dismissed.
const STAY: Duration = Duration::from_secs(5);
/// Maximum number of notifications.
const MOST: usize = 5;
const WIDTH: f32 = 340.0;
const MARGIN: f32 = 12.0;
const PADDING: f32 = 8.0;
const ICON: f32 = 16.0;

/// A notification.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Toast {
    id: u64,
    text: String,
    is_error: bool,
    /// What it is about.
    target: Option<Place>,
    since: Instant,
}

impl Toast {
    fn stays(&self) -> bool {
        self.is_error || self.target.is_some()
    }
}

/// The visible notifications, oldest first.
#[derive(Default)]
pub struct Toasts {
    shown: Vec<Toast>,
    n_said: u64,
}

impl Toasts {
    /// Shows a notification. A repeated text extends the visible one.
    pub fn show_message(&mut self, text: impl Into<String>, is_error: bool) {
        self.show_message_at(text, is_error, None);
    }

    /// Shows a notification with a button that shows what it is about.
    pub fn show_message_at(
        &mut self,
        text: impl Into<String>,
        is_error: bool,
        target: Option<Place>,
    ) {
        let text = text.into();
        self.shown.retain(|toast| toast.text != text);
        self.n_said += 1;
        self.shown.push(Toast {
            id: self.n_said,
            text,
            is_error,
            target,
            since: Instant::now(),
        });
        if self.shown.len() > MOST {
            let oldest = self.shown.iter().position(|toast| !toast.stays());
            self.shown.remove(oldest.unwrap_or(0));
        }
    }

    /// Removes all, for another file.
    pub fn clear(&mut self) {
        self.shown.clear();
    }

    /// The number of notifications.
    pub fn len(&self) -> usize {
        self.shown.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Draws the notifications upwards from the lower right of `over`; those that stay have a dismiss button. Returns what is to
    /// be shown.
    pub fn show(&mut self, ctx: &Context, over: Rect) -> Option<Place> {
        self.shown
            .retain(|toast| toast.stays() || toast.since.elapsed() < STAY);
        let next = self.shown.iter().filter(|toast| !toast.stays());
        if let Some(rest) = next.map(|t| STAY.saturating_sub(t.since.elapsed())).min() {
            ctx.request_repaint_after(rest);
        }
        let width = WIDTH.min(over.width() - 2.0 * MARGIN);
        if width < 80.0 {
            return None;
        }
        let mut bottom = over.bottom() - MARGIN;
        let (mut dismissed, mut wanted) = (None, None);
        for toast in self.shown.iter().rev() {
            let height = toast_ui(ctx, toast, Pos2::new(over.right() - MARGIN, bottom), width);
            let top = bottom - height;
            if toast.stays() {
                let corner = Pos2::new(over.right() - MARGIN, top);
                if dismiss_ui(ctx, toast.id, corner) {
                    dismissed = Some(toast.id);
                }
            }
            if let Some(target) = &toast.target
                && show_ui(ctx, toast.id, Pos2::new(over.right() - MARGIN, bottom))
            {
                (dismissed, wanted) = (Some(toast.id), Some(target.clone()));
            }
            bottom = top - 6.0;
            if bottom < over.top() + 48.0 {
                break;
            }
        }
        if let Some(id) = dismissed {
            self.shown.retain(|toast| toast.id != id);
            ctx.request_repaint();
        }
        wanted
    }
}

/// Draws a notification with its lower right corner at `corner`; returns its height.
fn toast_ui(ctx: &Context, toast: &Toast, corner: Pos2, width: f32) -> f32 {
    let style = ctx.global_style();
    let palette = theme::choice(ctx).palette();
    let font = TextStyle::Body.resolve(&style);
    let mut job = LayoutJob::default();
    job.append(&toast.text, 0.0, TextFormat::simple(font, palette.text));
    job.wrap.max_width = width - 2.0 * PADDING - 2.0 * (ICON + PADDING);
    job.wrap.max_rows = 6;
    let galley = ctx.fonts_mut(|fonts| fonts.layout_job(job));
    let button = if toast.target.is_some() {
        theme::ROW + 4.0
    } else {
        0.0
    };
    let size = Vec2::new(width, galley.size().y.max(ICON) + 2.0 * PADDING + button);
    Area::new(Id::unique(("toast", toast.id)))
        .order(Order::Foreground)
        .fixed_pos(corner - size)
        .constrain(false)
        .interactable(false)
        .fade_in(false)
        .show(ctx, |ui| {
            let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
            let role = if toast.is_error {
                Role::Alert
            } else {
                Role::Status
            };
            response.widget_info(|| WidgetInfo::labeled(role, true, &toast.text));
            ctx.accesskit_node_builder(response.id, |node| {
                let live = if toast.is_error {
                    Live::Assertive
                } else {
                    Live::Polite
                };
                node.set_live(live);
            });
            let line = if toast.is_error {
                palette.error
            } else {
                palette.line
            };
            let painter = ui.painter();
            let radius = CornerRadius::same(4);
            painter.rect_filled(rect, radius, palette.panel);
            painter.rect_stroke(rect, radius, Stroke::new(1.0, line), StrokeKind::Inside);
            let (icon, colour) = if toast.is_error {
                (icons::ICON_ERROR, palette.error)
            } else {
                (icons::ICON_INFO, palette.text_dim)
            };
            let at = rect.min + Vec2::splat(PADDING);
            icon_ui(ui, icon.rich_text().size(ICON).into(), at, colour);
            let at = at + Vec2::new(ICON + PADDING, 0.0);
            ui.painter().galley(at, galley, palette.text);
        });
    size.y
}

fn icon_ui(ui: &Ui, text: WidgetText, at: Pos2, colour: Color32) {
    let galley = text.into_galley(ui, None, f32::INFINITY, TextStyle::Body);
    let rect = Rect::from_min_size(at, Vec2::splat(ICON));
    let place = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), rect);
    ui.painter()
        .galley_with_override_text_color(place.min, galley, colour);
}

/// The dismiss button in the upper right corner of an error; only it takes the pointer.
fn dismiss_ui(ctx: &Context, id: u64, corner: Pos2) -> bool {
    Area::new(Id::unique(("dismiss", id)))
        .order(Order::Foreground)
        .fixed_pos(corner + Vec2::new(-28.0, 4.0))
        .constrain(false)
        .fade_in(false)
        .show(ctx, |ui| {
            ui.spacing_mut().button_padding = Vec2::splat(2.0);
            let icon = icons::ICON_CLOSE.rich_text().size(14.0);
            let button = Button::new(icon)
                .frame_when_inactive(false)
                .min_size(Vec2::splat(24.0));
            let response = ui.add(button);
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Dismiss"));
            response
                .on_hover_text("Dismiss this message. The Problems panel keeps it under Messages.")
                .clicked()
        })
        .inner
}

/// The button in the lower right corner of a notification that shows what it is about.
fn show_ui(ctx: &Context, id: u64, corner: Pos2) -> bool {
    Area::new(Id::unique(("show", id)))
        .order(Order::Foreground)
        .fixed_pos(corner - Vec2::new(64.0, theme::ROW + 4.0))
        .constrain(false)
        .fade_in(false)
        .show(ctx, |ui| {
            ui.add(Button::new("Show").min_size(Vec2::new(56.0, theme::ROW)))
                .on_hover_text("Select and frame what the message is about.")
                .clicked()
        })
        .inner
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_sentence_shows_once_and_errors_outlive_notices() {
        let mut toasts = Toasts::default();
        toasts.show_message("Saved arm.ron.", false);
        toasts.show_message("Saved arm.ron.", false);
        assert_eq!(toasts.len(), 1);
        toasts.show_message("The disk is full.", true);
        for i in 0..9 {
            toasts.show_message(format!("Notice {i}."), false);
        }
        assert_eq!(toasts.len(), MOST);
        assert!(toasts.shown[0].is_error);
    }
}
