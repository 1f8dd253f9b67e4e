//! Drawing joints: clicks on the mesh in Edit bones mode, and what the next one would add.

use super::pose::{pos, screen};
use super::{Drag, Viewport, ndc, size};
use crate::editor::Editor;
use crate::editor::rigging::DrawTarget;
use crate::skeleton::JointId;
use crate::view::chord::take_escape;
use crate::view::theme;
use egui::{CursorIcon, Key, Modifiers, Pos2, Response, Shape, Stroke, Ui};
use glam::Vec3;

/// Radius of a joint, points.
const JOINT: f32 = 4.0;
/// Length of dashes and gaps, points.
const DASH: f32 = 4.0;

impl Viewport {
    /// Handles mouse and keys while joints are drawn: a click adds one or continues from the one there.
    pub(super) fn draw_joints(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        self.hovered = None;
        self.pose.handle = None;
        self.pose.pin = None;
        let is_below_dialog = ui.ctx().memory(|m| m.top_modal_layer().is_some());
        if !is_below_dialog && !ui.ctx().text_edit_focused() {
            let none = Modifiers::NONE;
            let (ends, takes_back) = ui.input_mut(|i| {
                (
                    i.consume_key(none, Key::Enter) || take_escape(i),
                    i.consume_key(none, Key::Backspace),
                )
            });
            if ends {
                return editor.end_drawing();
            }
            if takes_back {
                editor.take_back_drawn();
            }
        }
        let modifiers = ui.input(|i| i.modifiers);
        if self.drag == Drag::None
            && !modifiers.alt
            && response.clicked()
            && let Some(at) = response.interact_pointer_pos()
        {
            response.request_focus();
            editor.draw_joint(ndc(at, response.rect), size(response.rect));
        }
    }

    /// Draws the joints, and the bone that a click would add.
    pub(super) fn drawing_overlay(&self, ui: &Ui, response: &Response, editor: &mut Editor) {
        if editor.drawing().is_none() {
            return;
        }
        let rect = response.rect;
        let painter = ui.painter().with_clip_rect(rect);
        let palette = theme::palette(ui);
        let screen = screen(editor, rect);
        let place = |at: Vec3| screen.project(at).map(|px| pos(px, rect));
        let document = editor.document();
        let skeleton = document.skeleton().clone();
        let world = document.rest_pose().world_matrices(&skeleton);
        let is_bone = document.bone_mask();
        let head = |joint: JointId| place(world[joint.get()].translation.as_vec3());
        let parent = editor.drawing_parent();
        let dot = |at: Pos2, is_next: bool| {
            let fill = if is_next {
                palette.accent
            } else {
                palette.overlay
            };
            let halo = Stroke::new(2.0, palette.overlay_halo);
            painter.circle(at, JOINT, fill, halo);
        };
        for joint in skeleton.live_joints().filter(|j| is_bone[j.get()]) {
            if let Some(at) = head(joint) {
                dot(at, parent == Some(joint));
            }
        }
        let is_free = self.drag == Drag::None && editor.transforming().is_none();
        let Some(hover) = response.hover_pos().filter(|_| is_free) else {
            return;
        };
        let from = parent.and_then(head);
        // Testing every triangle of a large surface in each frame would be too slow.
        if !editor.is_picking_fast() {
            ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
            return;
        }
        match editor.draw_target(ndc(hover, rect), size(rect)) {
            Some(DrawTarget::Continue(joint)) => {
                ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
                if let Some(at) = head(joint) {
                    painter.circle_stroke(at, 2.0 * JOINT, Stroke::new(2.0, palette.accent));
                }
            }
            Some(DrawTarget::Add { at, mirrored }) => {
                ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
                let Some(at) = place(at) else { return };
                if let Some(from) = from {
                    let halo = Stroke::new(3.0, palette.overlay_halo);
                    painter.line_segment([from, at], halo);
                    painter.line_segment([from, at], Stroke::new(1.5, palette.accent));
                }
                painter.circle_stroke(at, JOINT + 1.0, Stroke::new(3.0, palette.overlay_halo));
                painter.circle_stroke(at, JOINT + 1.0, Stroke::new(1.5, palette.accent));
                if let Some(there) = mirrored.and_then(place) {
                    painter.circle_stroke(there, JOINT, Stroke::new(1.5, palette.overlay));
                    let between = [at, there];
                    let line = Stroke::new(1.0, palette.overlay);
                    painter.extend(Shape::dashed_line(&between, line, DASH, DASH));
                }
            }
            None => ui.ctx().set_cursor_icon(CursorIcon::NotAllowed),
        }
    }
}

/// The status bar hint while joints are drawn; it replaces the hints of the mode.
pub fn draw_hint(editor: &Editor) -> Option<String> {
    editor.drawing()?;
    let does = match editor.drawing_parent() {
        Some(parent) => format!(
            "Click on the mesh adds a child of {}",
            editor.document().skeleton().label(parent)
        ),
        None => "Click on the mesh places the first joint".to_owned(),
    };
    Some(format!(
        "{does} · Click on a joint continues from it · Backspace takes the last one back · Enter or Esc ends"
    ))
}
