//! The wipe line: dragged, or moved with the arrow keys.

use super::Viewport;
use super::overlays::{color, text};
use super::panes::{Pane, wipe_line};
use crate::editor::Editor;
use crate::view::scene::Shading;
use crate::view::scenery::Scenery;
use crate::view::{keymap, theme};
use egui::accesskit::{Action, ActionData};
use egui::{
    Align2, CornerRadius, CursorIcon, FontId, Key, Pos2, Rect, Role, Sense, Stroke, StrokeKind, Ui,
    Vec2, WidgetInfo,
};
use egui_material_icons::icons;

/// Width of the grab area around the line, points.
const GRAB: f32 = 24.0;
/// Size of the handle on the line, points.
const GRIP: Vec2 = Vec2::new(22.0, 34.0);
/// Step of an arrow key, as a fraction of the picture; ten times that with Shift.
const STEP: f32 = 0.01;
/// Width of the weight legend at the bottom left, points.
const LEGEND: f32 = 130.0;
/// Distance of the stack names from the line and from the bottom, points.
const NAME_GAP: Vec2 = Vec2::new(16.0, 14.0);

impl Viewport {
    /// Draws the line between the sides of a wipe and moves it.
    pub(super) fn wipe_ui(&self, ui: &mut Ui, panes: &[Pane], editor: &mut Editor) {
        let [left, right] = panes else { return };
        let picture = left.picture;
        let before = editor.compare().wipe;
        let line = wipe_line(picture, before);
        let id = ui.scope_id().with("wipe");
        let area = Rect::from_center_size(
            Pos2::new(line, picture.center().y),
            Vec2::new(GRAB, picture.height()),
        );
        let response = ui.interact(area.intersect(picture), id, Sense::click_and_drag());
        if response.clicked() || response.drag_started() {
            response.request_focus();
        }
        if response.hovered() || response.dragged() {
            ui.ctx().set_cursor_icon(CursorIcon::ResizeHorizontal);
        }
        let mut wipe = before;
        if response.dragged()
            && let Some(at) = response.interact_pointer_pos()
        {
            wipe = (at.x - picture.left()) / picture.width();
        }
        if response.has_focus() {
            keymap::give_keys_to_list(ui.ctx(), id);
            wipe = moved_by_keys(ui, wipe);
        }
        let (steps, set) = ui.input(|i| {
            let count = |action| i.num_accesskit_action_requests(id, action) as f32;
            let set = i.accesskit_action_requests(id, Action::SetValue);
            let set = set.filter_map(|request| match request.data {
                Some(ActionData::NumericValue(value)) => Some(value as f32 / 100.0),
                _ => None,
            });
            (
                count(Action::Increment) - count(Action::Decrement),
                set.last(),
            )
        });
        wipe = set.unwrap_or(wipe + steps * STEP).clamp(0.0, 1.0);
        if wipe.to_bits() != before.to_bits() {
            editor.compare_mut().wipe = wipe;
            // The line itself follows in the next frame, together with the pictures.
            ui.ctx().request_repaint();
        }
        let label = format!(
            "Wipe: {} left of the line, {} right of it",
            left.choice.label(),
            right.choice.label()
        );
        response.widget_info(|| WidgetInfo {
            value: Some(f64::from(wipe * 100.0).round()),
            ..WidgetInfo::labeled(Role::Slider, true, &label)
        });
        ui.ctx().accesskit_node_builder(id, |node| {
            node.set_min_numeric_value(0.0);
            node.set_max_numeric_value(100.0);
            node.set_numeric_value_step(f64::from(STEP * 100.0));
            for action in [Action::SetValue, Action::Increment, Action::Decrement] {
                node.add_action(action);
            }
        });
        let lit = response.hovered() || response.dragged() || response.has_focus();
        Self::paint_line(ui, picture, line, lit);
        self.side_names_ui(ui, left, right, editor);
    }

    fn paint_line(ui: &Ui, picture: Rect, line: f32, lit: bool) {
        let palette = theme::palette(ui);
        let painter = ui.painter().with_clip_rect(picture);
        painter.vline(
            line,
            picture.y_range(),
            Stroke::new(4.0, palette.overlay_halo),
        );
        painter.vline(line, picture.y_range(), Stroke::new(1.5, palette.overlay));
        // At the edge of the picture the handle stays whole.
        let reach = 0.5 * GRIP.x;
        let x = line.clamp(
            picture.left() + reach,
            (picture.right() - reach).max(picture.left()),
        );
        let grip = Rect::from_center_size(Pos2::new(x, picture.center().y), GRIP);
        let fill = if lit {
            palette.button_hovered
        } else {
            palette.panel
        };
        let edge = if lit { palette.overlay } else { palette.line };
        painter.rect(
            grip,
            CornerRadius::same(6),
            fill,
            Stroke::new(if lit { 1.5 } else { 1.0 }, edge),
            StrokeKind::Inside,
        );
        let icon = icons::ICON_DRAG_INDICATOR;
        let font = FontId::new(16.0, icon.font_family());
        painter.text(
            grip.center(),
            Align2::CENTER_CENTER,
            icon.codepoint,
            font,
            palette.text,
        );
    }

    /// Draws the stack names at the foot of the line, where they fit.
    fn side_names_ui(&self, ui: &Ui, left: &Pane, right: &Pane, editor: &Editor) {
        let scenery = Scenery::of(self.options.theme);
        let has_legend = self.options.shading == Shading::Weights;
        let legend = if has_legend { LEGEND } else { 0.0 };
        // The part of the legend on the right side.
        let rest = (legend - left.clip.width().max(0.0)).max(0.0);
        let sides = [
            (
                left,
                left.clip.right_bottom() - NAME_GAP,
                Align2::RIGHT_BOTTOM,
                legend,
            ),
            (
                right,
                right.clip.left_bottom() + Vec2::new(NAME_GAP.x, -NAME_GAP.y),
                Align2::LEFT_BOTTOM,
                rest,
            ),
        ];
        for (pane, at, anchor, taken) in sides {
            let instead = self.instead(editor).filter(|_| pane.is_before);
            let choice = instead.as_ref().unwrap_or(&pane.choice);
            let label = choice.short_label();
            let painter = ui.painter().with_clip_rect(pane.clip);
            if taken > 0.0 && pane.index > 0 {
                continue;
            }
            let galley = painter.layout_no_wrap(
                label.to_owned(),
                FontId::proportional(13.0),
                color(scenery.text),
            );
            if galley.size().x + 2.0 * NAME_GAP.x + taken <= pane.clip.width() {
                text(&painter, at, anchor, label, 13.0, scenery);
            }
        }
    }
}

/// The line position after arrow keys, Home and End, which are consumed.
fn moved_by_keys(ui: &Ui, wipe: f32) -> f32 {
    ui.input_mut(|i| {
        let held = i.modifiers;
        let step = if held.shift { 10.0 * STEP } else { STEP };
        let mut count = |key| i.count_and_consume_key(held, key) as f32;
        let steps = count(Key::ArrowRight) - count(Key::ArrowLeft);
        if count(Key::Home) > 0.0 {
            0.0
        } else if count(Key::End) > 0.0 {
            1.0
        } else {
            wipe + steps * step
        }
    })
}
