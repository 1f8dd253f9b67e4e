//! The influences of the vertex under the pointer: a stacked bar, names and weights.

use super::{Drag, Viewport, ndc, size};
use crate::document::session::PaintTarget;
use crate::editor::{Editor, PointInfluences};
use crate::view::joint_colour::joint_colour;
use crate::view::middle;
use crate::view::theme;
use crate::weights::repair::SUM_TOLERANCE;
use egui::{
    Align2, Color32, FontId, Pos2, Rect, Response, Role, Sense, Stroke, Ui, Vec2, WidgetInfo,
};
use egui_material_icons::icons;

/// Width of the plate, points.
const WIDTH: f32 = 188.0;
/// Height of the bar, points.
const BAR: f32 = 10.0;
/// Height of a line of text, points.
const LINE: f32 = 16.0;
const PADDING: f32 = 8.0;
/// Maximum number of bones listed.
const MOST_LINES: usize = 6;

impl Viewport {
    /// Shows the bar while the pointer rests over the surface.
    pub(super) fn influence_bar_ui(&self, ui: &mut Ui, response: &Response, editor: &mut Editor) {
        let is_free = self.drag == Drag::None && self.adjust.is_none() && !self.is_moving(editor);
        let is_wanted = self.options.hover_bar && editor.paint_target() == PaintTarget::Weights;
        if !is_free || !is_wanted || ui.input(|i| i.pointer.any_down()) {
            return;
        }
        let Some(at) = response.hover_pos() else {
            return;
        };
        if !editor.is_picking_fast() {
            return;
        }
        let rect = response.rect;
        let Some(found) = editor.influences_at(ndc(at, rect), size(rect)) else {
            return;
        };
        ring_ui(ui, rect, &found, editor);
        let n_lines = found.weights.len().min(MOST_LINES);
        let sum: f32 = found.weights.iter().map(|(_, weight)| weight).sum();
        let is_off = (sum - 1.0).abs() > SUM_TOLERANCE;
        let n_more = found.weights.len() - n_lines;
        let foot = usize::from(n_more > 0 || is_off || n_lines == 0);
        let bar = if n_lines > 0 { BAR + 6.0 } else { 0.0 };
        let height = 2.0 * PADDING + bar + LINE * (n_lines + foot) as f32;
        let room = Vec2::new(WIDTH, height);
        // Outside the brush circle while that is near, and inside the viewport.
        let radius = Self::brush_radius_px(editor, rect).clamp(12.0, 90.0);
        let mut from = at + Vec2::splat(0.71 * radius + 8.0);
        if from.x + WIDTH > rect.right() - 4.0 {
            from.x = at.x - 0.71 * radius - 8.0 - WIDTH;
        }
        if from.y + height > rect.bottom() - 4.0 {
            from.y = at.y - 0.71 * radius - 8.0 - height;
        }
        let most = (rect.max - room).max(rect.min);
        let plate = Rect::from_min_size(from.clamp(rect.min, most), room);
        let palette = theme::palette(ui);
        let painter = ui.painter().with_clip_rect(rect);
        painter.rect_filled(plate, 4.0, palette.panel.gamma_multiply(0.94));
        let inside = plate.shrink(PADDING);
        let session = editor.document().session();
        let skeleton = editor.document().skeleton();
        let mut left = inside.left();
        let whole = sum.max(1.0);
        let strip = Rect::from_min_size(inside.min, Vec2::new(inside.width(), BAR));
        if n_lines > 0 {
            painter.rect_filled(strip, 2.0, palette.field);
            for &(joint, weight) in &found.weights {
                let width = inside.width() * weight / whole;
                let part = Rect::from_min_size(Pos2::new(left, strip.top()), Vec2::new(width, BAR));
                painter.rect_filled(part, 0.0, joint_colour(session, joint));
                left += width;
                // A gap separates neighbours of similar colour.
                let gap = Stroke::new(1.0, palette.panel);
                painter.vline(left, strip.y_range(), gap);
            }
        }
        let font = FontId::proportional(12.0);
        let mut y = inside.top() + bar + 0.5 * LINE;
        let mut spoken = Vec::new();
        for &(joint, weight) in &found.weights[..n_lines] {
            let label = skeleton.label(joint);
            let is_locked = editor.document().locked().contains(&joint);
            let swatch =
                Rect::from_center_size(Pos2::new(inside.left() + 4.0, y), Vec2::splat(8.0));
            painter.rect_filled(swatch, 2.0, joint_colour(session, joint));
            let number = painter.text(
                Pos2::new(inside.right(), y),
                Align2::RIGHT_CENTER,
                format!("{weight:.3}"),
                font.clone(),
                palette.text,
            );
            let mut right = number.left() - 6.0;
            if is_locked {
                let icon = icons::ICON_LOCK;
                let font = FontId::new(12.0, icon.font_family());
                let at = Pos2::new(right, y);
                let lock = painter.text(
                    at,
                    Align2::RIGHT_CENTER,
                    icon.codepoint,
                    font,
                    palette.text_dim,
                );
                right = lock.left() - 4.0;
            }
            let colour = if session.active_joint == Some(joint) {
                palette.accent
            } else {
                palette.text
            };
            name_ui(ui, inside.left() + 13.0, right, y, &label, colour);
            let lock = if is_locked { " (locked)" } else { "" };
            spoken.push(format!("{label}{lock} {weight:.3}"));
            y += LINE;
        }
        let foot = match (n_lines, n_more, is_off) {
            (0, ..) => Some("No influences".to_owned()),
            (_, 0, false) => None,
            (_, 0, true) => Some(format!("Sum of weights: {sum:.3}")),
            (_, n, false) => Some(format!("and {n} more")),
            (_, n, true) => Some(format!("and {n} more; sum of weights: {sum:.3}")),
        };
        if let Some(foot) = foot {
            let at = Pos2::new(inside.left(), y);
            painter.text(at, Align2::LEFT_CENTER, &foot, font, palette.text_dim);
            spoken.push(foot);
        }
        let response = ui.interact(plate, ui.scope_id().with("influences here"), Sense::hover());
        let label = format!("Vertex {}: {}", found.point, spoken.join(", "));
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &label));
    }
}

/// Draws a small ring around the vertex.
fn ring_ui(ui: &Ui, rect: Rect, found: &PointInfluences, editor: &Editor) {
    let camera = &editor.document().session().camera;
    let clip = camera.clip_from_world(rect.aspect_ratio()) * found.place.extend(1.0);
    if clip.w <= 0.0 {
        return;
    }
    let at = clip.truncate() / clip.w;
    let at = rect.min + Vec2::new(0.5 + 0.5 * at.x, 0.5 - 0.5 * at.y) * rect.size();
    let painter = ui.painter().with_clip_rect(rect);
    painter.circle_stroke(at, 3.5, Stroke::new(2.5, Color32::from_black_alpha(120)));
    painter.circle_stroke(at, 3.5, Stroke::new(1.2, Color32::WHITE));
}

/// Draws a name, truncated to the available width.
fn name_ui(ui: &Ui, left: f32, right: f32, middle: f32, name: &str, colour: Color32) {
    let font = egui::FontId::proportional(12.0);
    let galley = middle::galley(ui, name, &font, (right - left).max(16.0));
    let at = Pos2::new(left, middle - 0.5 * galley.size().y);
    ui.painter()
        .galley_with_override_text_color(at, galley, colour);
}
