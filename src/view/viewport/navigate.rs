//! Moving the camera with the mouse.

use super::{Drag, Viewport, ndc, size};
use crate::editor::Editor;
use egui::{PointerButton, Response, Ui};

/// Turn for one pixel of an orbit drag, radians.
const ORBIT_PER_PX: f32 = 0.008;
/// Zoom for one pixel of the wheel.
const ZOOM_PER_PX: f32 = 0.0015;

impl Viewport {
    /// Middle orbits, Shift+middle pans, the wheel zooms to the pointer; Alt+left and Ctrl+Alt+left stand in.
    pub(super) fn navigate(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        let rect = response.rect;
        let modifiers = ui.input(|i| i.modifiers);
        let pressed = |button| response.drag_started_by(button);
        let asked =
            pressed(PointerButton::Middle) || (modifiers.alt && pressed(PointerButton::Primary));
        if asked && self.drag == Drag::None {
            self.drag = if modifiers.shift {
                Drag::Pan
            } else {
                Drag::Orbit
            };
            self.pivot = ui
                .input(|i| i.pointer.press_origin())
                .and_then(|at| editor.surface_at(ndc(at, rect), size(rect)))
                .unwrap_or(editor.document().session().camera.target);
        }
        let delta = response.drag_delta();
        match self.drag {
            Drag::Orbit if delta != egui::Vec2::ZERO => {
                let pivot = self.pivot;
                editor
                    .camera_mut()
                    .orbit(pivot, -delta.x * ORBIT_PER_PX, delta.y * ORBIT_PER_PX);
            }
            Drag::Pan if delta != egui::Vec2::ZERO => {
                let camera = editor.camera_mut();
                let scale = camera.metres_per_pixel(self.pivot, rect.height());
                camera.pan(delta.x * scale, -delta.y * scale);
            }
            _ => {}
        }
        if !matches!(self.drag, Drag::Stroke | Drag::Select) && !response.dragged() {
            self.drag = Drag::None;
        }
        if let Some(at) = response.hover_pos() {
            let (scroll, pinch) = ui.input(|i| (i.smooth_scroll_delta().y, i.zoom_delta()));
            let factor = (-scroll * ZOOM_PER_PX).exp() / if modifiers.ctrl { 1.0 } else { pinch };
            if (factor - 1.0).abs() > 1e-6 {
                let toward = editor
                    .surface_at(ndc(at, rect), size(rect))
                    .unwrap_or(editor.document().session().camera.target);
                editor.camera_mut().zoom(factor, toward);
            }
        }
    }
}
