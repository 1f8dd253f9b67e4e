//! A field for a time.

use egui::{DragValue, Response, Ui, WidgetInfo};

/// Changes below this come from the rounding of what is shown, seconds.
const LEAST_CHANGE: f64 = 5e-4;

/// Draws a field for a time, seconds, with three decimals. A field that only had the focus keeps its time.
pub(super) fn time_ui(ui: &mut Ui, label: &str, time: &mut f64, is_signed: bool) -> Response {
    let before = *time;
    let field = DragValue::new(time).speed(0.01).suffix(" s");
    let least = if is_signed { -1e6 } else { 0.0 };
    let field = field.range(least..=1e6).max_decimals(3);
    let response = ui.add(field.update_while_editing(false));
    if (*time - before).abs() <= LEAST_CHANGE {
        *time = before;
    }
    let shown = *time;
    response.widget_info(|| WidgetInfo {
        label: Some(label.to_owned()),
        ..WidgetInfo::drag_value(true, shown)
    });
    response
}
