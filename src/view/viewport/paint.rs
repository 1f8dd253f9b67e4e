//! Paint mode: strokes and the brush circle.

use super::{Drag, Viewport, ndc, size};
use crate::document::session::{BrushOptions, PaintTarget};
use crate::editor::Editor;
use crate::tools::{PointerEvent, PointerKind};
use crate::view::chord::take_escape;
use crate::view::commands::Command;
use crate::view::{keymap, theme};
use egui::{Color32, CursorIcon, Key, Modifiers, Pos2, Response, Stroke, Ui};

/// A slider under the pointer: it moves with it until a click or Enter keeps the value, or Esc takes it back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adjust {
    what: Command,
    origin: Pos2,
    pub(super) before: BrushOptions,
}

/// Pixels of pointer movement from weight 0 to 1.
const ADJUST_PX: f32 = 200.0;

impl Viewport {
    /// Starts sizing the brush, or setting its strength or weight, at `origin`.
    pub(super) fn begin_adjust(&mut self, what: Command, origin: Pos2, editor: &mut Editor) {
        if self.drag == Drag::None {
            self.adjust = Some(Adjust {
                what,
                origin,
                before: *editor.brush_mut(),
            });
        }
    }

    /// Follows the pointer while the brush is being adjusted; whether it is.
    fn adjust(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) -> bool {
        let Some(Adjust {
            what,
            origin,
            before,
        }) = self.adjust
        else {
            return false;
        };
        if ui.ctx().memory(|m| m.top_modal_layer().is_some()) {
            return true;
        }
        let (at, released, enter, escape, secondary) = ui.input_mut(|i| {
            (
                i.pointer.latest_pos().unwrap_or(origin),
                i.pointer.primary_released(),
                i.consume_key(Modifiers::NONE, Key::Enter),
                take_escape(i),
                i.pointer.secondary_pressed(),
            )
        });
        if secondary {
            self.block_menu();
        }
        let moved = at.x - origin.x;
        let brush = editor.brush_mut();
        // What is painted may have been chosen meanwhile.
        let target = brush.target;
        *brush = BrushOptions { target, ..before };
        // A click elsewhere, on a menu say, is about something else.
        let is_elsewhere = released && !response.rect.contains(at);
        if escape || secondary || is_elsewhere {
            self.adjust = None;
            return true;
        }
        match what {
            Command::BrushRadius => {
                brush.radius_px = (before.radius_px + moved).round().clamp(1.0, 500.0);
            }
            Command::BrushStrength => {
                brush.strength = adjusted(before.strength, moved);
            }
            _ => {
                let limit = target.limit();
                *brush.value_mut() = adjusted(brush.value() / limit, moved) * limit;
            }
        }
        if released || enter {
            self.adjust = None;
        }
        true
    }

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
        if self.adjust(ui, response, editor) {
            return;
        }
        let (modifiers, down, at) = ui.input(|i| {
            (
                i.modifiers,
                i.pointer.primary_down(),
                i.pointer.latest_pos().unwrap_or(self.pointer),
            )
        });
        self.pointer = at;
        self.probe(ui, response, at, editor);
        let event = |kind| PointerEvent {
            kind,
            ndc: ndc(at, rect),
            size_px: size(rect),
            invert: modifiers.ctrl,
        };
        // A quick click comes and goes within one frame; it is a dab all the same.
        if modifiers.alt
            && response.clicked()
            && keymap::of(ui.ctx()).preset == keymap::Preset::Blender
        {
            editor.pick_bone_in_skin(ndc(at, rect), size(rect));
            return;
        }
        let here = response.is_pointer_button_down_on() || response.clicked();
        let began = here && self.drag == Drag::None && !modifiers.alt;
        if began && ui.input(|i| i.pointer.primary_pressed()) {
            if self.options.show_bones
                && editor.paint_target() == PaintTarget::Weights
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
            if ui.input_mut(take_escape) {
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

    /// Reads what is painted under the pointer.
    fn probe(&mut self, ui: &Ui, response: &Response, at: Pos2, editor: &mut Editor) {
        let here = response.contains_pointer() || self.drag == Drag::Stroke;
        let value = if here && editor.is_surface_at_hand() {
            editor.value_at(ndc(at, response.rect), size(response.rect))
        } else {
            None
        };
        if self.value != value {
            self.value = value;
            // The status bar, which is drawn before, says it in the next frame.
            ui.ctx().request_repaint();
        }
    }

    /// The circle under the pointer.
    pub(super) fn brush_circle(&self, ui: &Ui, response: &Response, editor: &Editor) {
        let at = match (self.adjust, self.drag) {
            (Some(adjust), _) => Some(adjust.origin),
            (None, Drag::Stroke) => ui.input(|i| i.pointer.latest_pos()),
            (None, Drag::None) => response.hover_pos(),
            _ => None,
        };
        let Some(at) = at else {
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
        let sign = if invert { "-" } else { "+" };
        let text = match self.adjust.map(|adjust| adjust.what) {
            Some(Command::BrushRadius) => format!("{:.0} px", brush.radius_px),
            Some(Command::BrushStrength) => format!("strength {:.2}", brush.strength),
            Some(_) if brush.target == PaintTarget::Weights => {
                format!("weight {:.2}", brush.weight)
            }
            Some(_) => format!("value {:.2}", brush.value()),
            None => sign.to_owned(),
        };
        painter.text(
            at,
            egui::Align2::CENTER_CENTER,
            text,
            egui::TextStyle::Body.resolve(ui.style()),
            Color32::WHITE,
        );
    }
}

/// A weight or strength moved by some pixels, in steps of a hundredth.
fn adjusted(before: f32, moved_px: f32) -> f32 {
    ((before + moved_px / ADJUST_PX) * 100.0)
        .round()
        .clamp(0.0, 100.0)
        / 100.0
}
