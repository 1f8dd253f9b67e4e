//! The ruler: time, playhead and loop range.

use super::scale::Scale;
use crate::editor::Editor;
use crate::view::theme;
use egui::accesskit::{Action, ActionData};
use egui::{
    CursorIcon, FontId, Galley, Id, PointerButton, Rect, Response, Sense, Shape, Stroke, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};
use std::sync::Arc;

/// Height of the loop range strip, points.
const LOOP: f32 = 9.0;
/// Width of a loop handle, points.
const GRIP: f32 = 12.0;

/// Draws the ruler; a press or a drag sets the time.
pub(super) fn ruler_ui(ui: &mut Ui, rect: Rect, scale: &Scale, editor: &mut Editor) -> Response {
    let response = ui
        .interact(rect, ui.scope_id().with("ruler"), Sense::click_and_drag())
        .on_hover_cursor(CursorIcon::ResizeHorizontal);
    scrub(ui, &response, scale, editor);
    time_slider(ui, &response, editor);
    paint_range(ui, rect, scale, editor);
    paint_ticks(ui, rect, scale, editor);
    let frame = 1.0 / f64::from(editor.playback().fps.max(1));
    if let Some((start, end)) = editor.play_range() {
        if let Some(time) = loop_end_ui(ui, rect, scale, editor, start, true) {
            editor.set_play_range(Some((time.min(end - frame), end)));
        }
        if let Some(time) = loop_end_ui(ui, rect, scale, editor, end, false) {
            editor.set_play_range(Some((start, time.max(start + frame))));
        }
    }
    response
}

/// Scrubs: sets the time to the frame under the pointer, with Ctrl to any time.
pub(super) fn scrub(ui: &Ui, response: &Response, scale: &Scale, editor: &mut Editor) {
    let pressed = response.is_pointer_button_down_on()
        && ui.input(|i| i.pointer.button_down(PointerButton::Primary));
    if !(pressed || response.clicked_by(PointerButton::Primary)) {
        return;
    }
    if let Some(at) = response.interact_pointer_pos() {
        let mut time = scale.time_at(at.x).max(0.0);
        if !ui.input(|i| i.modifiers.command) {
            time = editor.at_frame(time);
        }
        // A press at the current time must not discard an unkeyed pose.
        if (scale.x_of(time) - scale.x_of(editor.playback().time_secs)).abs() > 0.25 {
            editor.set_time(time);
        }
    }
}

/// Exposes the time to screen readers as a slider.
fn time_slider(ui: &Ui, response: &Response, editor: &mut Editor) {
    let time = editor.playback().time_secs;
    let (start, end) = editor.clip_range().unwrap_or((0.0, 0.0));
    response.widget_info(|| WidgetInfo::slider(true, time, "Time"));
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_min_numeric_value(start);
        node.set_max_numeric_value(end);
        node.add_action(Action::SetValue);
        node.add_action(Action::Increment);
        node.add_action(Action::Decrement);
    });
    let (wanted, steps) = ui.input(|input| {
        let wanted = input
            .accesskit_action_requests(response.id, Action::SetValue)
            .filter_map(|request| match request.data {
                Some(ActionData::NumericValue(value)) => Some(value),
                _ => None,
            })
            .last();
        let steps = input.num_accesskit_action_requests(response.id, Action::Increment) as i32
            - input.num_accesskit_action_requests(response.id, Action::Decrement) as i32;
        (wanted, steps)
    });
    if let Some(time) = wanted {
        editor.set_time(time);
    }
    if steps != 0 {
        editor.step_frames(steps);
    }
}

/// A handle of the loop range; returns the time it was dragged to.
fn loop_end_ui(
    ui: &mut Ui,
    rect: Rect,
    scale: &Scale,
    editor: &Editor,
    time: f64,
    is_start: bool,
) -> Option<f64> {
    let x = scale.x_of(time);
    if !rect.x_range().expand(1.0).contains(x) {
        return None;
    }
    let (label, about) = if is_start {
        (
            "Loop start",
            "Start of the loop range. Drag to move it, double-click to loop the whole clip.",
        )
    } else {
        (
            "Loop end",
            "End of the loop range. Drag to move it, double-click to loop the whole clip.",
        )
    };
    // Each handle lies on its own side, so that both stay reachable in a short range.
    let towards = if is_start { -1.0 } else { 1.0 };
    let grip = Rect::from_center_size(
        pos2(x + towards * GRIP * 0.25, rect.top() + LOOP * 0.5),
        vec2(GRIP, LOOP),
    );
    let id: Id = ui.scope_id().with(("loop", is_start));
    let response = ui
        .interact(grip, id, Sense::click_and_drag())
        .on_hover_cursor(CursorIcon::ResizeHorizontal)
        .on_hover_text(about);
    response.widget_info(|| WidgetInfo::slider(true, time, label));
    let palette = theme::palette(ui);
    let colour = if response.hovered() || response.dragged() {
        palette.text
    } else {
        palette.text_dim
    };
    let (top, bottom) = (rect.top() + 1.0, rect.top() + LOOP + 1.0);
    let flag = vec![pos2(x, top), pos2(x - towards * 6.0, top), pos2(x, bottom)];
    ui.painter()
        .add(Shape::convex_polygon(flag, colour, Stroke::NONE));
    let dragged_to = ui.input(|input| {
        let requests = input.accesskit_action_requests(response.id, Action::SetValue);
        let value = requests.filter_map(|request| match request.data {
            Some(ActionData::NumericValue(value)) => Some(value),
            _ => None,
        });
        value.last()
    });
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.add_action(Action::SetValue);
    });
    if dragged_to.is_some() {
        return dragged_to;
    }
    if response.double_clicked() {
        return editor
            .clip_range()
            .map(|(start, end)| if is_start { start } else { end });
    }
    let at = response
        .dragged_by(PointerButton::Primary)
        .then(|| response.interact_pointer_pos())
        .flatten()?;
    let time = scale.time_at(at.x).max(0.0);
    // Loop ends snap to frames; Shift turns snapping off.
    Some(if ui.input(|i| i.modifiers.shift) {
        time
    } else {
        editor.at_frame(time)
    })
}

/// Paints the loop range along the top, and darkens the rest.
fn paint_range(ui: &Ui, rect: Rect, scale: &Scale, editor: &Editor) {
    let palette = theme::palette(ui);
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, palette.stripe);
    let Some((start, end)) = editor.play_range() else {
        return;
    };
    let strip = |from: f32, to: f32| {
        Rect::from_x_y_ranges(from..=to, rect.top() + 1.0..=rect.top() + LOOP - 3.0)
    };
    let colour = if editor.playback().looping {
        palette.button_pressed
    } else {
        palette.button
    };
    // When zoomed in, the ends lie far outside the ruler.
    let x = |time| scale.x_of(time).clamp(rect.left(), rect.right());
    painter.rect_filled(strip(x(start), x(end)), 0.0, colour);
}

fn paint_ticks(ui: &Ui, rect: Rect, scale: &Scale, editor: &Editor) {
    let palette = theme::palette(ui);
    let painter = ui.painter_at(rect);
    let font = FontId::proportional(10.5);
    let now = scale.x_of(editor.playback().time_secs);
    let half = head_size(ui, editor).x * 0.5 + 2.0;
    for tick in scale.ticks(editor.playback().fps) {
        let x = scale.x_of(tick.time_secs).round() + 0.5;
        let (height, colour) = match (&tick.label, tick.is_second) {
            (_, true) => (9.0, palette.text_dim),
            (Some(_), false) => (6.0, palette.text_dim),
            (None, false) => (3.0, palette.line),
        };
        painter.vline(
            x,
            rect.bottom() - height..=rect.bottom(),
            Stroke::new(1.0, colour),
        );
        if let Some(label) = tick.label {
            let colour = if tick.is_second {
                palette.text
            } else {
                palette.text_dim
            };
            let galley = painter.layout_no_wrap(label, font.clone(), colour);
            let at = pos2(x + 3.0, rect.bottom() - 2.0 - galley.size().y);
            // Skip labels that the playhead would cover.
            if at.x + galley.size().x < now - half || at.x > now + half {
                painter.galley(at, galley, colour);
            }
        }
    }
    painter.hline(
        rect.x_range(),
        rect.bottom() - 0.5,
        Stroke::new(1.0, palette.line),
    );
}

/// Draws the playhead through ruler and tracks, with its frame number.
pub(super) fn playhead_ui(ui: &Ui, rect: Rect, bottom: f32, scale: &Scale, editor: &Editor) {
    let x = scale.x_of(editor.playback().time_secs);
    if !rect.x_range().expand(1.0).contains(x) {
        return;
    }
    let palette = theme::palette(ui);
    let painter = ui.painter().with_clip_rect(
        Rect::from_min_max(rect.min, pos2(rect.right(), bottom))
            .expand2(vec2(24.0, 0.0))
            .intersect(ui.clip_rect()),
    );
    painter.vline(
        x,
        rect.top() + LOOP..=bottom,
        Stroke::new(1.5, palette.accent),
    );
    let galley = head_galley(ui, editor);
    let mut head = Rect::from_center_size(pos2(x, 0.0), head_size(ui, editor));
    head = head.translate(vec2(0.0, rect.bottom() - head.bottom() - 1.0));
    painter.rect_filled(head, 3.0, palette.accent);
    let at = head.center() - galley.size() * 0.5;
    painter.galley(at, galley, palette.field);
}

/// The text of the playhead.
fn head_galley(ui: &Ui, editor: &Editor) -> Arc<Galley> {
    let frame = editor.frame();
    let text = if (frame - frame.round()).abs() > 0.05 {
        format!("{frame:.1}")
    } else {
        format!("{frame:.0}")
    };
    let colour = theme::palette(ui).field;
    ui.painter()
        .layout_no_wrap(text, FontId::proportional(11.0), colour)
}

fn head_size(ui: &Ui, editor: &Editor) -> Vec2 {
    head_galley(ui, editor).size() + vec2(8.0, 2.0)
}
