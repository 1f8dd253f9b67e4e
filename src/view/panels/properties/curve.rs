//! The editor of the custom falloff curve.

use crate::view::{keymap, theme};
use crate::weights::curve::Curve;
use crate::weights::falloff::Falloff;
use egui::{Color32, Key, Modifiers, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, vec2};
use glam::Vec2;

const HEIGHT: f32 = 120.0;
/// Margin around the curve, so that its end points can be grabbed.
const MARGIN: f32 = 8.0;
const REACH: f32 = 8.0;
/// An arrow key moves the focused point by this much.
const STEP: f32 = 0.02;

/// Draws the falloff curve for editing: drag points or move them with the arrow keys, double-click adds one, Delete
/// removes one.
pub(super) fn curve_ui(ui: &mut Ui, curve: &mut Curve) {
    let size = vec2(ui.available_width().clamp(120.0, 320.0), HEIGHT);
    let (outer, ground) = ui.allocate_exact_size(size, Sense::click());
    ground.widget_info(|| {
        WidgetInfo::labeled(
            Role::Image,
            true,
            "Falloff curve: strength from the centre of the brush to its rim",
        )
    });
    let rect = outer.shrink(MARGIN);
    paint(ui, outer, rect, curve);
    let place = |p: Vec2| rect.left_bottom() + vec2(p.x * rect.width(), -p.y * rect.height());
    let value = |at: Pos2| {
        let from = at - rect.left_bottom();
        Vec2::new(from.x / rect.width(), -from.y / rect.height())
    };
    let mut next = *curve;
    let mut is_over_point = false;
    let n = curve.points().len();
    for (i, &point) in curve.points().iter().enumerate() {
        let at = place(point);
        let id = ui.scope_id().with(("curve point", i));
        let handle = Rect::from_center_size(at, vec2(2.0 * REACH, 2.0 * REACH));
        let response = ui.interact(handle, id, Sense::click_and_drag());
        let label = format!(
            "Curve point {} of {n}: {:.2} at {:.2}",
            i + 1,
            point.y,
            point.x
        );
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        is_over_point |= response.hovered();
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        if let Some(to) = response
            .interact_pointer_pos()
            .filter(|_| response.dragged())
        {
            next = curve.moved(i, value(to));
        }
        if response.has_focus() {
            next = by_keys(ui, &response, next, i, curve);
        }
        let palette = theme::palette(ui);
        let is_active = response.has_focus() || response.hovered() || response.dragged();
        let colour = if is_active {
            palette.accent
        } else {
            palette.text
        };
        ui.painter().circle_filled(at, 4.0, colour);
        response.on_hover_text("Drag to move. Delete removes the point.");
    }
    if ground.double_clicked()
        && !is_over_point
        && let Some(at) = ground.interact_pointer_pos()
        && let Some((with, _)) = curve.with(value(at).clamp(Vec2::ZERO, Vec2::ONE))
    {
        next = with;
    }
    ground.on_hover_text("Double-click to add a point.");
    *curve = next;
    ui.horizontal_wrapped(|ui| {
        for preset in [
            Falloff::Smooth,
            Falloff::Linear,
            Falloff::Sharp,
            Falloff::Root,
        ] {
            let button = ui.small_button(preset.label());
            let about = format!("Start the curve from {}", preset.label());
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &about));
            if button.on_hover_text(&about).clicked() {
                *curve = Curve::like(preset);
            }
        }
    });
}

/// What the keys make of the focused point.
fn by_keys(ui: &Ui, response: &egui::Response, next: Curve, i: usize, curve: &Curve) -> Curve {
    keymap::give_keys_to_list(ui.ctx(), response.id);
    ui.input_mut(|input| {
        let mut pressed = |key| input.consume_key(Modifiers::NONE, key);
        if pressed(Key::Delete) || pressed(Key::Backspace) {
            return curve.without(i);
        }
        let ways = [
            (Key::ArrowLeft, -Vec2::X),
            (Key::ArrowRight, Vec2::X),
            (Key::ArrowUp, Vec2::Y),
            (Key::ArrowDown, -Vec2::Y),
        ];
        ways.into_iter().fold(next, |next, (key, way)| {
            if pressed(key) {
                next.moved(i, next.points()[i] + way * STEP)
            } else {
                next
            }
        })
    })
}

fn paint(ui: &Ui, outer: Rect, rect: Rect, curve: &Curve) {
    const N: usize = 64;
    let palette = theme::palette(ui);
    let painter = ui.painter();
    painter.rect_filled(outer, 4.0, palette.field);
    let faint = Stroke::new(1.0, palette.text_dim.gamma_multiply(0.3));
    for quarter in 0..=4 {
        let share = quarter as f32 / 4.0;
        painter.vline(rect.left() + share * rect.width(), rect.y_range(), faint);
        painter.hline(rect.x_range(), rect.top() + share * rect.height(), faint);
    }
    let line: Vec<Pos2> = (0..=N)
        .map(|i| {
            let x = i as f32 / N as f32;
            rect.left_bottom() + vec2(x * rect.width(), -curve.at(x) * rect.height())
        })
        .collect();
    let below = palette.accent.gamma_multiply(0.15);
    for pair in line.windows(2) {
        let strip = vec![
            pair[0],
            pair[1],
            Pos2::new(pair[1].x, rect.bottom()),
            Pos2::new(pair[0].x, rect.bottom()),
        ];
        painter.add(Shape::convex_polygon(
            strip,
            below,
            (0.0, Color32::TRANSPARENT),
        ));
    }
    painter.add(Shape::line(line, Stroke::new(2.0, palette.accent)));
}
