//! Adjust last operation: a small window over the lower left of the viewport with the settings, results and failures
//! of the last operation on weights or bones, or of an imported motion; or the choices while joints are drawn.

mod automatic;
mod buttons;
mod drawing;
mod fields;
mod motion;
mod motion_bones;
mod motion_chains;
mod pairs;
mod report;
pub(in crate::view::panels) mod retarget_options;
mod rig;
pub(in crate::view::panels) mod rows;
mod scope;

pub(super) use rig::{ABOUT_INTENTS, INTENTS, follow_ui};

use crate::editor::Editor;
use crate::editor::operations::Adjusting;
use crate::view::panels::TOOL_BAR_WIDTH;
use crate::view::theme;
use buttons::{RunAction, RunState, end_ui, run_ui};
use egui::{Align2, Context, Id, Rect, ScrollArea, Ui, Vec2, Window};

/// Width of the content, points.
const WIDTH: f32 = 272.0;
/// The same for a motion, whose bones are listed in pairs.
const MOTION_WIDTH: f32 = 380.0;
/// Height reserved for the legend, points.
const LEGEND: f32 = 142.0;
/// Height of the buttons below what scrolls, points.
const FOOTER: f32 = 38.0;
/// Distance from the edges of the viewport, points.
const MARGIN: f32 = 12.0;

/// Shows the window inside `over` while an operation can be adjusted.
pub fn operation_ui(ctx: &Context, over: Rect, editor: &mut Editor) {
    let of_bones = editor.rig_adjusting().filter(|a| !a.is_hidden());
    let of_bones = of_bones.map(|adjusting| adjusting.tool().label());
    let motion = editor.adding_motion().filter(|a| !a.is_hidden());
    let motion = motion.map(|_| "Import motion");
    let of_weights = editor.adjusting().filter(|a| !a.is_hidden());
    let of_weights = of_weights.map(|adjusting| adjusting.operation().label());
    let drawing = editor.drawing().map(|_| "Draw joints");
    let Some(title) = drawing.or(motion).or(of_bones).or(of_weights) else {
        return;
    };
    // A motion leaves the middle to the character; the legend of weights is not needed then.
    let (id, width, beside) = if drawing.is_some() {
        ("drawing", WIDTH, MARGIN)
    } else if motion.is_some() {
        ("motion", MOTION_WIDTH, MARGIN)
    } else {
        ("operation", WIDTH, LEGEND)
    };
    let mut is_open = true;
    Window::new(title)
        .id(Id::unique(id))
        .open(&mut is_open)
        .collapsible(true)
        .resizable(false)
        .pivot(Align2::LEFT_BOTTOM)
        .default_pos(over.left_bottom() + Vec2::new(TOOL_BAR_WIDTH + beside, -MARGIN))
        .default_width(width)
        .min_width(width)
        .constrain_to(over.shrink(4.0))
        .show(ctx, |ui| {
            ui.set_width(width);
            let room = (over.height() - 2.0 * MARGIN - 48.0 - FOOTER).max(4.0 * theme::ROW);
            let inner = ScrollArea::vertical()
                .max_height(room)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    if drawing.is_some() {
                        drawing::content_ui(ui, editor);
                        None
                    } else if motion.is_some() {
                        motion::content_ui(ui, editor)
                    } else if of_bones.is_some() {
                        rig::content_ui(ui, editor)
                    } else {
                        content_ui(ui, editor)
                    }
                });
            // Below what scrolls, so that they stay in sight.
            let action = inner.inner;
            if drawing.is_some() {
                // It has no result that could be taken back.
            } else if motion.is_some() {
                motion::end_ui(ui, editor, action);
            } else if of_bones.is_some() {
                rig::end_ui(ui, editor, action);
            } else {
                end_operation_ui(ui, editor, action);
            }
        });
    if !is_open {
        if drawing.is_some() {
            editor.end_drawing();
        } else if motion.is_some() {
            editor.hide_motion(true);
        } else if of_bones.is_some() {
            editor.hide_rig_operation(true);
        } else {
            editor.hide_operation(true);
        }
    }
}

fn content_ui(ui: &mut Ui, editor: &mut Editor) -> Option<RunAction> {
    fields::fields_ui(ui, editor);
    scope::scope_ui(ui, editor);
    let action = editor.adjusting().and_then(|a| run_ui(ui, &state(a)));
    report::report_ui(ui, editor);
    action
}

/// Draws *Apply* and *Cancel*; runs `action`, or else the pressed one.
fn end_operation_ui(ui: &mut Ui, editor: &mut Editor, action: Option<RunAction>) {
    let action = action.or_else(|| editor.adjusting().and_then(|a| end_ui(ui, &state(a))));
    match action {
        Some(RunAction::Run) => editor.run_operation(),
        Some(RunAction::Stop) => editor.cancel_operation(),
        Some(RunAction::Apply) => editor.end_operation(),
        Some(RunAction::TakeBack) => editor.take_back_operation(),
        None => {}
    }
}

fn state(adjusting: &Adjusting) -> RunState<'_> {
    RunState {
        task: adjusting.task(),
        is_stale: adjusting.is_stale(),
        has_result: !adjusting.reports().is_empty(),
        subject: "weights",
    }
}
