//! Transforming vertices in Sculpt mode and clusters in Cluster mode: a handle of the gizmo moves the selected ones,
//! elsewhere the mouse selects.

use super::pose::{gizmo, px, screen};
use super::{Drag, Viewport, size};
use crate::document::session::{SculptKind, SelectKind, TransformKind};
use crate::editor::Editor;
use crate::tools::Handle;
use crate::view::mode::Mode;
use egui::{PointerButton, Response, Ui};
use glam::Vec2;

/// Factor of the radius of soft selection per wheel notch of 50 points.
const SOFT_STEP: f32 = 1.1;
const WHEEL_NOTCH: f32 = 50.0;

impl Viewport {
    /// Whether the left mouse button transforms vertices instead of moving a brush.
    pub(super) fn is_vertex_tool(&self, editor: &Editor) -> bool {
        match self.mode {
            Mode::Sculpt => editor.sculpt_kind() == SculptKind::Vertices,
            Mode::Cluster => editor.moves_clusters(),
            Mode::Select | Mode::Pose | Mode::Paint | Mode::Rig => false,
        }
    }

    /// Whether the mouse transforms vertices or clusters now, by that tool or by a key.
    pub(super) fn transforms_vertices(&self, editor: &Editor) -> bool {
        match self.mode {
            Mode::Sculpt => editor.is_moving_vertices() || self.is_vertex_tool(editor),
            Mode::Cluster => editor.is_moving_clusters() || self.is_vertex_tool(editor),
            Mode::Select | Mode::Pose | Mode::Paint | Mode::Rig => false,
        }
    }

    /// Begins to transform the selected vertices in Sculpt mode, the selected clusters in Cluster mode, else the selected
    /// bones.
    pub(super) fn begin_transform(
        &self,
        editor: &mut Editor,
        kind: TransformKind,
        handle: Option<Handle>,
        (at, size): (Vec2, Vec2),
    ) -> bool {
        match self.mode {
            Mode::Sculpt => editor.begin_vertex_transform(kind, handle, at, size),
            Mode::Cluster => editor.begin_cluster_transform(kind, handle, at, size),
            Mode::Rig => editor.begin_joint_move(handle, at, size),
            Mode::Select | Mode::Pose | Mode::Paint => {
                editor.begin_transform(kind, handle, at, size)
            }
        }
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
                let from = (px(origin, rect), size(rect));
                let began = self.begin_transform(editor, handle.kind, Some(handle), from);
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
