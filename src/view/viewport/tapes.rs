//! The girths of a person as tapes on the body, while the Individual panel is on screen. A tape is dragged along its bone; a drag is
//! one undo step.

use super::Viewport;
use super::panes::Pane;
use super::pose::{pos, px, screen};
use crate::editor::Editor;
use crate::editor::tapes::ShownTape;
use crate::skeleton::JointId;
use crate::tools::Screen;
use crate::view::chord::take_escape;
use crate::view::theme;
use egui::{
    Align2, Color32, CursorIcon, Key, Modifiers, PointerButton, Pos2, Rect, Role, Sense, Shape,
    Stroke, TextStyle, Ui, Vec2, WidgetInfo,
};

/// Half the side of what grabs a tape, points.
const GRAB: f32 = 9.0;
/// The radius of its handle, points.
const SIZE: f32 = 5.0;
/// Where on a bone a tape can be: at its ends the skin belongs to the neighbours.
const ENDS: [f64; 2] = [0.02, 0.98];
/// How far an arrow key moves a tape.
const STEP: f64 = 0.01;

/// A tape being dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TapeDrag {
    row: usize,
    joint: JointId,
    /// From the fraction under the pointer to that of the tape.
    offset: f64,
    /// Where it is now.
    at: f64,
}

impl Viewport {
    /// Draws the tapes of the table that is edited, and lets them be dragged.
    pub(super) fn tapes_ui(&mut self, ui: &Ui, pane: &Pane, editor: &mut Editor) {
        let tapes = editor.tapes_in(pane.view, ui.ctx().cumulative_frame_nr());
        let is_down = ui.input(|i| i.pointer.any_down());
        let is_there = |drag: TapeDrag| tapes.iter().any(|tape| is_of(drag, tape));
        if self
            .tape_drag
            .is_some_and(|drag| !is_down && !is_there(drag))
        {
            self.tape_drag = None;
        }
        if tapes.is_empty() {
            return;
        }
        let screen = screen(editor, pane.picture);
        for tape in &tapes {
            self.tape_ui(ui, pane, tape, &screen, editor);
        }
    }

    fn tape_ui(
        &mut self,
        ui: &Ui,
        pane: &Pane,
        tape: &ShownTape,
        screen: &Screen,
        editor: &mut Editor,
    ) {
        let corners = tape.curve.iter().filter_map(|p| screen.project(*p));
        let mut corners: Vec<Pos2> = corners.map(|at| pos(at, pane.picture)).collect();
        // Beside the limb, where neither skin nor bone hides the handle.
        let Some(&handle) = corners.iter().max_by(|a, b| a.x.total_cmp(&b.x)) else {
            return;
        };
        corners.extend(corners.first().copied());
        let palette = theme::palette(ui);
        let painter = ui.painter().with_clip_rect(pane.clip);
        painter.add(Shape::line(
            corners.clone(),
            Stroke::new(3.5, palette.overlay_halo),
        ));
        painter.add(Shape::line(corners, Stroke::new(1.5, palette.accent)));
        if !pane.clip.contains(handle) {
            return;
        }
        let name = format!(
            "Tape of {} at {:.0} % of the bone",
            tape.name,
            100.0 * tape.at
        );
        let id = ui
            .scope_id()
            .with(("tape", pane.index, tape.row, tape.joint));
        let area = Rect::from_center_size(handle, Vec2::splat(2.0 * GRAB));
        let response = ui.interact(area, id, Sense::click_and_drag());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
        if response.drag_started_by(PointerButton::Primary)
            && let Some(origin) = ui.input(|i| i.pointer.press_origin())
            && let Some(from) = screen.fraction_along(px(origin, pane.picture), tape.bone)
        {
            self.tape_drag = Some(TapeDrag {
                row: tape.row,
                joint: tape.joint,
                offset: tape.at - from,
                at: tape.at,
            });
        }
        let mut drag = self.tape_drag.filter(|drag| is_of(*drag, tape));
        if let Some(of) = &mut drag {
            if ui.input_mut(take_escape) {
                self.tape_drag = None;
                return;
            }
            let pointer = response.interact_pointer_pos();
            let to = pointer.and_then(|at| screen.fraction_along(px(at, pane.picture), tape.bone));
            if let Some(to) = to {
                let at = (to + of.offset).clamp(ENDS[0], ENDS[1]);
                of.at = (100.0 * at).round() / 100.0;
            }
            self.tape_drag = Some(*of);
            if response.drag_stopped() {
                self.tape_drag = None;
                editor.move_tape(of.row, of.at);
            }
        } else if response.has_focus()
            && let Some(by) = arrow(ui)
        {
            editor.move_tape(tape.row, (tape.at + by).clamp(ENDS[0], ENDS[1]));
        }
        let is_hot = drag.is_some() || response.hovered() || response.has_focus();
        let fill = if is_hot {
            palette.accent
        } else {
            palette.overlay
        };
        painter.circle(
            handle,
            SIZE,
            fill,
            Stroke::new(2.0, Color32::from_black_alpha(200)),
        );
        let mut text = format!("{} {}", tape.name, tape.length);
        if is_hot {
            let icon = if drag.is_some() {
                CursorIcon::Grabbing
            } else {
                CursorIcon::Grab
            };
            ui.ctx().set_cursor_icon(icon);
            let at = drag.map_or(tape.at, |drag| drag.at);
            text = format!("{text}, at {:.0} % of the bone", 100.0 * at);
        }
        if let Some(drag) = drag {
            let [head, tail] = tape.bone;
            let to = screen.project((head + (tail - head) * drag.at).as_vec3());
            if let Some(to) = to {
                let rim = Stroke::new(2.0, palette.overlay_halo);
                painter.circle(pos(to, pane.picture), SIZE, palette.accent, rim);
            }
        }
        let font = TextStyle::Small.resolve(ui.style());
        let galley = painter.layout_no_wrap(text, font, palette.text);
        let place = Align2::LEFT_CENTER.anchor_size(handle + Vec2::new(12.0, 0.0), galley.size());
        painter.rect_filled(place.expand(2.0), 3.0, palette.panel.gamma_multiply(0.9));
        painter.galley(place.min, galley, palette.text);
        response.on_hover_text(
            "Drag along the bone to measure the girth elsewhere (arrow keys: 1 %). The value of the row stays.",
        );
    }
}

fn is_of(drag: TapeDrag, tape: &ShownTape) -> bool {
    drag.row == tape.row && drag.joint == tape.joint
}

/// The step of an arrow key towards the tail, or back.
fn arrow(ui: &Ui) -> Option<f64> {
    ui.input_mut(|i| {
        let mut taken = |key| i.consume_key(Modifiers::NONE, key);
        let ahead = taken(Key::ArrowRight) || taken(Key::ArrowDown);
        let back = taken(Key::ArrowLeft) || taken(Key::ArrowUp);
        match (ahead, back) {
            (true, false) => Some(STEP),
            (false, true) => Some(-STEP),
            _ => None,
        }
    })
}
