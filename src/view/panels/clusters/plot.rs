//! The plot of a layer with the pose on screen marked: it is looked at, not moved.

use crate::view::theme;
use egui::{Color32, Id, Ui, Vec2};
use egui_plot::Plot;

/// Its height, points.
const HEIGHT: f32 = 104.0;
/// The width of the labels of its y axis, points.
const LABELS: f32 = 34.0;

/// A plot as wide as the panel that is neither dragged nor zoomed.
pub(super) fn live_plot(ui: &Ui, name: &str) -> Plot<'static> {
    Plot::new(Id::unique(name))
        .width(ui.available_width() - 12.0)
        .height(HEIGHT)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .allow_axis_zoom_drag(false)
        .show_x(false)
        .show_y(false)
        .set_margin_fraction(Vec2::new(0.0, 0.08))
        .grid_color(theme::palette(ui).text_dim.gamma_multiply(0.45))
        .cursor_color(Color32::TRANSPARENT)
        .y_axis_min_width(LABELS)
}
