//! Drags of number fields and sliders as single undo steps.

use crate::editor::Editor;
use egui::{Id, Response, Ui};

fn dragging() -> Id {
    Id::unique("a value of a section is dragged")
}

/// Opens an undo step when a drag of a field begins, so that the drag is one step; its end closes it.
pub(super) fn follow_drag(ui: &Ui, editor: &mut Editor, response: &Response, label: &str) {
    if response.drag_started() {
        ui.data_mut(|data| data.insert_temp(dragging(), true));
        editor.begin_step(label);
    } else if response.dragged() && response.changed() && !editor.history().is_open() {
        // Another edit may have ended this drag's undo step.
        editor.begin_step(label);
    }
}

/// Ends the step of a drag once the pointer is released, after the last change.
pub(super) fn end_drag(ui: &Ui, editor: &mut Editor) {
    let is_dragging = ui.data(|data| data.get_temp(dragging()).unwrap_or(false));
    if is_dragging && !ui.input(|i| i.pointer.any_down()) {
        ui.data_mut(|data| data.insert_temp(dragging(), false));
        editor.end_step();
    }
}
