//! The progress and the buttons of the operation that is adjusted.

use super::WIDTH;
use crate::task::Task;
use egui::{Button, ProgressBar, Ui};
use std::time::Duration;

/// The state that the buttons show.
pub(super) struct RunState<'a> {
    /// The progress of the current run.
    pub(super) task: Option<&'a Task>,
    /// Whether the settings changed since the result, or there is no result yet.
    pub(super) is_stale: bool,
    pub(super) has_result: bool,
    /// What the operation changes: "weights" or "bones".
    pub(super) subject: &'static str,
}

/// A pressed button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunAction {
    /// Starts a run.
    Run,
    /// Cancels the current run.
    Stop,
    /// Keeps the result.
    Apply,
    /// Takes the result back.
    TakeBack,
}

/// Draws the progress with its Cancel button, or the button that starts a run.
pub(super) fn run_ui(ui: &mut Ui, state: &RunState<'_>) -> Option<RunAction> {
    if let Some(task) = state.task {
        let (fraction, label) = (task.fraction(), task.label());
        let text = if label.is_empty() { "Working" } else { &label };
        let about = format!(
            "Cancel the computation. The {} stay as they are now.",
            state.subject
        );
        ui.ctx().request_repaint_after(Duration::from_millis(50));
        let cancel = ui.horizontal(|ui| {
            let width = WIDTH - 76.0;
            ui.add(ProgressBar::new(fraction).desired_width(width).text(text));
            ui.button("Cancel").on_hover_text(about)
        });
        return cancel.inner.clicked().then_some(RunAction::Stop);
    }
    if !state.is_stale {
        return None;
    }
    let verb = if state.has_result {
        "Compute again"
    } else {
        "Compute"
    };
    let about = "Compute with these settings in the background.";
    let button = ui.button(verb).on_hover_text(about);
    button.clicked().then_some(RunAction::Run)
}

/// Draws the buttons that keep and take back the result; a run has a button of its own.
pub(super) fn end_ui(ui: &mut Ui, state: &RunState<'_>) -> Option<RunAction> {
    if state.task.is_some() {
        return None;
    }
    ui.separator();
    let buttons = ui.horizontal(|ui| {
        let apply = ui.add_enabled(state.has_result, Button::new("Apply"));
        let apply = apply.on_disabled_hover_text("There is no result yet.");
        if apply.on_hover_text("Keep the result.").clicked() {
            return Some(RunAction::Apply);
        }
        let about = format!("Restore the {} from before the operation.", state.subject);
        let cancel = ui.button("Cancel").on_hover_text(about);
        cancel.clicked().then_some(RunAction::TakeBack)
    });
    buttons.inner
}
