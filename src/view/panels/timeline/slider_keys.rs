//! Bars of the timeline as sliders over time: their value for screen readers, and the arrow keys that move them.

use crate::view::keymap;
use egui::accesskit::{Action, ActionData};
use egui::{Key, Response, Role, StrokeKind, Ui, WidgetInfo};

/// What an arrow key moves a bar by, seconds; with Shift ten times as far.
const STEP: f64 = 0.01;

/// Describes a bar with a value, seconds, as a slider, and marks it while it has the focus. Returns how far keys or a screen
/// reader move it in this frame, seconds; 0 mostly.
pub(super) fn slider_ui(ui: &Ui, response: &Response, value: f64, label: &str) -> f64 {
    response.widget_info(|| WidgetInfo {
        value: Some((value * 1e3).round() / 1e3),
        ..WidgetInfo::labeled(Role::Slider, true, label)
    });
    ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_numeric_value_step(STEP);
        for action in [Action::SetValue, Action::Increment, Action::Decrement] {
            node.add_action(action);
        }
    });
    let mut by = 0.0;
    if response.has_focus() {
        keymap::give_keys_to_list(ui.ctx(), response.id);
        by = ui.input_mut(|i| {
            let held = i.modifiers;
            let step = if held.shift { 10.0 * STEP } else { STEP };
            let mut count = |key| i.count_and_consume_key(held, key) as f64;
            (count(Key::ArrowRight) - count(Key::ArrowLeft)) * step
        });
        let stroke = ui.visuals().selection.stroke;
        let painter = ui.painter();
        painter.rect_stroke(response.rect, 2.0, stroke, StrokeKind::Inside);
    }
    ui.input(|i| {
        let count = |action| i.num_accesskit_action_requests(response.id, action) as f64;
        let set = i.accesskit_action_requests(response.id, Action::SetValue);
        let set = set.filter_map(|request| match request.data {
            Some(ActionData::NumericValue(wanted)) => Some(wanted - value),
            _ => None,
        });
        by += (count(Action::Increment) - count(Action::Decrement)) * STEP;
        set.last().unwrap_or(by)
    })
}
