//! A curve through points that are dragged: of the falloff of a brush, of the strength of a muscle.

use crate::view::{keymap, theme};
use egui::{Color32, Key, Modifiers, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, vec2};
use glam::Vec2;

const HEIGHT: f32 = 120.0;
/// Margin around the curve, so that its end points can be grabbed.
const MARGIN: f32 = 8.0;
const REACH: f32 = 8.0;
/// What the scroll bar of the panel covers at the right: the last point lies beside it.
const BAR: f32 = 12.0;
/// An arrow key moves the focused point by this much.
const STEP: f32 = 0.02;

/// A curve over 0 - 1.
pub(super) struct CurveEditor<'a> {
    /// What it is, for screen readers.
    pub(super) label: &'a str,
    /// Its points, ascending in x.
    pub(super) points: &'a [Vec2],
    /// Its value at x.
    pub(super) at: &'a dyn Fn(f32) -> f32,
    /// The values at the lower and the upper edge.
    pub(super) range: [f32; 2],
    /// An x that is marked.
    pub(super) marked: Option<f32>,
}

/// What was done to a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CurveChange {
    /// A point was moved to a place.
    Moved(usize, Vec2),
    /// A point was added at a place.
    Added(Vec2),
    /// A point was removed.
    Removed(usize),
}

/// What happened in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct CurveResponse {
    pub(super) change: Option<CurveChange>,
    /// A drag began.
    pub(super) began: bool,
    /// A drag ended.
    pub(super) ended: bool,
}

impl CurveEditor<'_> {
    /// Draws the curve for editing: drag points or move them with the arrow keys, double-click adds one, Delete removes
    /// one.
    pub(super) fn show_ui(&self, ui: &mut Ui) -> CurveResponse {
        let size = vec2((ui.available_width() - BAR).clamp(120.0, 320.0), HEIGHT);
        let (outer, ground) = ui.allocate_exact_size(size, Sense::click());
        ground.widget_info(|| WidgetInfo::labeled(Role::Image, true, self.label));
        let rect = outer.shrink(MARGIN);
        self.paint(ui, outer, rect);
        let mut response = CurveResponse::default();
        let mut is_over_point = false;
        let n = self.points.len();
        for (i, &point) in self.points.iter().enumerate() {
            let at = self.place(rect, point);
            let id = ui.scope_id().with(("curve point", i));
            let handle = Rect::from_center_size(at, vec2(2.0 * REACH, 2.0 * REACH));
            let own = ui.interact(handle, id, Sense::click_and_drag());
            let label = format!(
                "Curve point {} of {n}: {:.2} at {:.2}",
                i + 1,
                point.y,
                point.x
            );
            own.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
            is_over_point |= own.hovered();
            if own.clicked() || own.drag_started() {
                own.request_focus();
            }
            response.began |= own.drag_started();
            response.ended |= own.drag_stopped();
            let mut to = None;
            if let Some(at) = own.interact_pointer_pos().filter(|_| own.dragged()) {
                to = Some(self.value(rect, at));
            }
            if own.has_focus() {
                let (removes, by) = by_keys(ui, &own);
                if removes {
                    response.change = Some(CurveChange::Removed(i));
                }
                if by != Vec2::ZERO {
                    let span = Vec2::new(1.0, self.range[1] - self.range[0]);
                    to = Some(to.unwrap_or(point) + by * span);
                }
            }
            if let Some(to) = to.filter(|_| response.change.is_none()) {
                response.change = Some(CurveChange::Moved(i, to));
            }
            let palette = theme::palette(ui);
            let is_active = own.has_focus() || own.hovered() || own.dragged();
            let colour = if is_active {
                palette.accent
            } else {
                palette.text
            };
            ui.painter().circle_filled(at, 4.0, colour);
            own.on_hover_text("Drag to move. Delete removes the point.");
        }
        if ground.double_clicked()
            && !is_over_point
            && let Some(at) = ground.interact_pointer_pos()
        {
            let at = self.value(rect, at);
            let low = Vec2::new(0.0, self.range[0]);
            let high = Vec2::new(1.0, self.range[1]);
            response.change = Some(CurveChange::Added(at.clamp(low, high)));
        }
        ground.on_hover_text("Double-click to add a point.");
        response
    }

    fn place(&self, rect: Rect, point: Vec2) -> Pos2 {
        let height = (point.y - self.range[0]) / (self.range[1] - self.range[0]);
        rect.left_bottom() + vec2(point.x * rect.width(), -height * rect.height())
    }

    fn value(&self, rect: Rect, at: Pos2) -> Vec2 {
        let from = at - rect.left_bottom();
        let height = -from.y / rect.height();
        let [low, high] = self.range;
        Vec2::new(from.x / rect.width(), low + height * (high - low))
    }

    fn paint(&self, ui: &Ui, outer: Rect, rect: Rect) {
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
                self.place(rect, Vec2::new(x, (self.at)(x)))
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
        if let Some(x) = self.marked {
            let x = rect.left() + x.clamp(0.0, 1.0) * rect.width();
            painter.vline(x, rect.y_range(), Stroke::new(1.5, palette.text));
        }
        painter.add(Shape::line(line, Stroke::new(2.0, palette.accent)));
    }
}

/// Whether the keys remove the focused point, and by how much they move it, in parts of the widths.
fn by_keys(ui: &Ui, response: &egui::Response) -> (bool, Vec2) {
    keymap::give_keys_to_list(ui.ctx(), response.id);
    ui.input_mut(|input| {
        let mut pressed = |key| input.consume_key(Modifiers::NONE, key);
        let removes = pressed(Key::Delete) || pressed(Key::Backspace);
        let ways = [
            (Key::ArrowLeft, -Vec2::X),
            (Key::ArrowRight, Vec2::X),
            (Key::ArrowUp, Vec2::Y),
            (Key::ArrowDown, -Vec2::Y),
        ];
        let pressed = ways.into_iter().filter(|(key, _)| pressed(*key));
        (removes, pressed.map(|(_, way)| way * STEP).sum())
    })
}
