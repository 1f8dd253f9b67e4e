//! Adjust last operation: a small window over the lower left of the viewport with the settings, results and failures
//! of the last operation on weights or bones.

mod automatic;
mod fields;
mod pairs;
mod report;
mod rig;
mod rows;
mod scope;

pub(super) use rig::{ABOUT_INTENTS, INTENTS};

use crate::editor::Editor;
use crate::view::panels::TOOL_BAR_WIDTH;
use crate::view::theme;
use egui::{Align2, Context, Id, Rect, ScrollArea, Ui, Vec2, Window};

/// Width of the content, points.
const WIDTH: f32 = 272.0;
/// Height reserved for the legend, points.
const LEGEND: f32 = 142.0;
/// Distance from the edges of the viewport, points.
const MARGIN: f32 = 12.0;

/// Shows the window inside `over` while an operation can be adjusted.
pub fn operation_ui(ctx: &Context, over: Rect, editor: &mut Editor) {
    let of_bones = editor.rig_adjusting().filter(|a| rig::is_shown(a));
    let of_bones = of_bones.map(|adjusting| adjusting.tool().label());
    let of_weights = editor.adjusting().filter(|a| !a.is_hidden());
    let of_weights = of_weights.map(|adjusting| adjusting.operation().label());
    let Some(title) = of_bones.or(of_weights) else {
        return;
    };
    let mut is_open = true;
    Window::new(title)
        .id(Id::unique("operation"))
        .open(&mut is_open)
        .collapsible(true)
        .resizable(false)
        .pivot(Align2::LEFT_BOTTOM)
        .default_pos(over.left_bottom() + Vec2::new(TOOL_BAR_WIDTH + LEGEND, -MARGIN))
        .default_width(WIDTH)
        .min_width(WIDTH)
        .constrain_to(over.shrink(4.0))
        .show(ctx, |ui| {
            ui.set_width(WIDTH);
            let room = (over.height() - 2.0 * MARGIN - 48.0).max(4.0 * theme::ROW);
            ScrollArea::vertical()
                .max_height(room)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    if of_bones.is_some() {
                        rig::content_ui(ui, editor);
                    } else {
                        content_ui(ui, editor);
                    }
                });
        });
    if !is_open {
        if of_bones.is_some() {
            editor.hide_rig_operation(true);
        } else {
            editor.hide_operation(true);
        }
    }
}

fn content_ui(ui: &mut Ui, editor: &mut Editor) {
    fields::fields_ui(ui, editor);
    scope::scope_ui(ui, editor);
    run_ui(ui, editor);
    report::report_ui(ui, editor);
    end_ui(ui, editor);
}

/// Draws the buttons that keep and take back the result; a computation has a button of its own.
fn end_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some(adjusting) = editor.adjusting().filter(|a| a.task().is_none()) else {
        return;
    };
    let has_result = !adjusting.reports().is_empty();
    ui.separator();
    ui.horizontal(|ui| {
        let apply = ui.add_enabled(has_result, egui::Button::new("Apply"));
        if apply.on_hover_text("Keep the result.").clicked() {
            editor.end_operation();
        }
        let about = "Restore the weights from before the operation.";
        if ui.button("Cancel").on_hover_text(about).clicked() {
            editor.take_back_operation();
        }
    });
}

/// Draws the buttons that start and cancel a slow operation.
fn run_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some(adjusting) = editor.adjusting() else {
        return;
    };
    if let Some(task) = adjusting.task() {
        let (fraction, label) = (task.fraction(), task.label());
        let mut cancelled = false;
        ui.horizontal(|ui| {
            let text = if label.is_empty() { "Working" } else { &label };
            let bar = egui::ProgressBar::new(fraction)
                .desired_width(WIDTH - 76.0)
                .text(text);
            ui.add(bar);
            cancelled = ui
                .button("Cancel")
                .on_hover_text("Cancel the computation. The weights stay unchanged.")
                .clicked();
        });
        if cancelled {
            editor.cancel_operation();
        }
        ui.ctx()
            .request_repaint_after(std::time::Duration::from_millis(50));
    } else if adjusting.is_stale() {
        let is_first = adjusting.reports().is_empty();
        let verb = if is_first { "Compute" } else { "Compute again" };
        let about = "Compute with these settings in the background.";
        if ui.button(verb).on_hover_text(about).clicked() {
            editor.run_operation();
        }
    }
}
