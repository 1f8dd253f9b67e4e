//! Paint mode: strokes and the brush circle.

use super::{Drag, Viewport, ndc, size};
use crate::editor::Editor;
use crate::tools::{PointerEvent, PointerKind};
use crate::view::theme;
use egui::{Color32, CursorIcon, Response, Stroke, Ui};

impl Viewport {
    /// Keeps what was painted when the mode changes with the button down.
    pub(super) fn end_stroke(&mut self, response: &Response, editor: &mut Editor) {
        if self.drag == Drag::Stroke {
            self.drag = Drag::None;
            editor.pointer(&PointerEvent {
                kind: PointerKind::Release,
                ndc: ndc(self.pointer, response.rect),
                size_px: size(response.rect),
                invert: false,
            });
        }
    }

    /// A drag paints, a click dabs, Esc takes the stroke back.
    pub(super) fn paint(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        let rect = response.rect;
        self.hovered = None;
        let (modifiers, down, at) = ui.input(|i| {
            (
                i.modifiers,
                i.pointer.primary_down(),
                i.pointer.latest_pos().unwrap_or(self.pointer),
            )
        });
        self.pointer = at;
        let event = |kind| PointerEvent {
            kind,
            ndc: ndc(at, rect),
            size_px: size(rect),
            invert: modifiers.ctrl,
        };
        // A quick click comes and goes within one frame; it is a dab all the same.
        let here = response.is_pointer_button_down_on() || response.clicked();
        let began = here && self.drag == Drag::None && !modifiers.alt;
        if began && ui.input(|i| i.pointer.primary_pressed()) {
            if self.options.show_bones
                && editor.document().session().active_joint.is_none()
                && let Some(bone) = editor.pick_bone(ndc(at, rect), size(rect))
            {
                editor.select_joint(Some(bone));
                return;
            }
            editor.pointer(&event(PointerKind::Press));
            if down {
                self.drag = Drag::Stroke;
            } else {
                editor.pointer(&event(PointerKind::Release));
            }
        } else if self.drag == Drag::Stroke {
            if ui.input(|i| i.key_pressed(egui::Key::Escape)) {
                editor.cancel_tool();
                self.drag = Drag::None;
            } else if down {
                editor.pointer(&event(PointerKind::Drag));
                // A long way is painted over several frames.
                ui.ctx().request_repaint();
            } else {
                editor.pointer(&event(PointerKind::Release));
                self.drag = Drag::None;
            }
        }
    }

    /// The circle under the pointer.
    pub(super) fn brush_circle(&self, ui: &Ui, response: &Response, editor: &Editor) {
        let at = if self.drag == Drag::Stroke {
            ui.input(|i| i.pointer.latest_pos())
        } else {
            response.hover_pos()
        };
        let Some(at) = at.filter(|_| matches!(self.drag, Drag::None | Drag::Stroke)) else {
            return;
        };
        ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
        let brush = &editor.document().session().brush;
        let painter = ui.painter().with_clip_rect(response.rect);
        let invert = ui.input(|i| i.modifiers.ctrl);
        // A dark ring under a light one is seen on any surface; the middle says whether weight is added or taken.
        painter.circle_stroke(
            at,
            brush.radius_px,
            Stroke::new(3.0, Color32::from_black_alpha(110)),
        );
        painter.circle_stroke(
            at,
            brush.radius_px,
            Stroke::new(1.5, theme::palette(ui).accent),
        );
        painter.circle_stroke(
            at,
            brush.radius_px * brush.strength,
            Stroke::new(1.0, Color32::from_white_alpha(90)),
        );
        painter.text(
            at,
            egui::Align2::CENTER_CENTER,
            if invert { "-" } else { "+" },
            egui::TextStyle::Body.resolve(ui.style()),
            Color32::WHITE,
        );
    }
}
