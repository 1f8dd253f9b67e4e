//! Transforming vertices in Sculpt mode: a handle of the gizmo moves the selected ones, elsewhere the mouse selects.

use super::pose::{gizmo, px, screen};
use super::{Drag, Viewport, size};
use crate::document::session::{SculptKind, SelectKind};
use crate::editor::Editor;
use crate::view::mode::Mode;
use egui::{PointerButton, Response, Ui};

/// Factor of the radius of soft selection per wheel notch of 50 points.
const SOFT_STEP: f32 = 1.1;
const WHEEL_NOTCH: f32 = 50.0;

impl Viewport {
    /// Whether the left mouse button transforms vertices instead of moving a brush.
    pub(super) fn is_vertex_tool(&self, editor: &Editor) -> bool {
        self.mode == Mode::Sculpt && editor.sculpt_kind() == SculptKind::Vertices
    }

    /// Handles the mouse.
    pub(super) fn vertices(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        if editor.transforming().is_some() {
            self.update_transform(ui, response, editor);
            return;
        }
        let any_down = ui.input(|i| i.pointer.any_down());
        if self.pose.spent {
            self.pose.spent = any_down || response.clicked() || response.secondary_clicked();
            return;
        }
        if !self.is_vertex_tool(editor) {
            return;
        }
        let rect = response.rect;
        let gizmo = gizmo(editor, self.mode, &screen(editor, rect));
        let handle_at = |at| gizmo.as_ref()?.hit(px(at, rect));
        if self.drag == Drag::None {
            let at = response.hover_pos().filter(|_| !any_down);
            let pressed = ui.input(|i| i.pointer.press_origin());
            let is_press = response.is_pointer_button_down_on()
                && ui.input(|i| i.pointer.button_down(PointerButton::Primary) && !i.modifiers.alt);
            self.pose.handle = at.or(pressed.filter(|_| is_press)).and_then(handle_at);
            if let (true, Some(handle), Some(origin)) = (is_press, self.pose.handle, pressed) {
                let began = editor.begin_vertex_transform(
                    handle.kind,
                    Some(handle),
                    px(origin, rect),
                    size(rect),
                );
                self.pose.held = began;
                if began {
                    response.request_focus();
                    self.update_transform(ui, response, editor);
                }
                return;
            }
        }
        if editor.select_kind() != SelectKind::Points {
            editor.set_select_kind(SelectKind::Points);
        }
        self.select(ui, response, editor);
    }

    /// Sizes the soft selection of a transform with the wheel, before the wheel zooms.
    pub(super) fn size_soft_selection(ui: &Ui, editor: &mut Editor) {
        if editor.soft_reach().is_none() {
            return;
        }
        let scroll = ui.input_mut(|i| std::mem::take(&mut i.smooth_scroll_delta).y);
        if scroll != 0.0 {
            editor.resize_soft_selection(SOFT_STEP.powf(-scroll / WHEEL_NOTCH));
        }
    }
}
