//! Select mode: clicks, boxes, circles and lassos, and their outlines.

use super::{Drag, Viewport, ndc, size};
use crate::document::session::SelectKind;
use crate::editor::{Editor, PickableBones};
use crate::finding::counted;
use crate::tools::{PointerKind, Region, SelectOp, SelectShape};
use crate::view::chord::take_escape;
use crate::view::theme;
use egui::{
    Align2, CursorIcon, Event, Key, Modifiers, Pos2, Rect, Response, Shape, Stroke, TextStyle, Ui,
};
use glam::Vec2;

/// Factor of the circle radius per wheel notch of 50 points.
const CIRCLE_STEP: f32 = 1.2;
const WHEEL_NOTCH: f32 = 50.0;
/// Length of dashes and gaps, points.
const DASH: f32 = 4.0;
/// Offset of the count from the pointer, points.
const LABEL_OFFSET: egui::Vec2 = egui::Vec2::new(14.0, 14.0);

impl Viewport {
    /// Selects: a click picks, a drag draws a box or the armed shape; Shift extends, Ctrl subtracts, Esc cancels the
    /// drag.
    pub(super) fn select(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        let rect = response.rect;
        let seen = self.pickable_bones();
        self.hovered = self.hovered_joint(response, editor, seen);
        let (modifiers, down, pressed, at) = ui.input(|i| {
            (
                i.modifiers,
                i.pointer.primary_down(),
                i.pointer.primary_pressed(),
                i.pointer.latest_pos().unwrap_or(self.pointer),
            )
        });
        self.pointer = at;
        if self.escape_select(ui, response, editor) {
            return;
        }
        let op = if modifiers.ctrl || modifiers.command {
            SelectOp::Subtract
        } else if modifiers.shift {
            SelectOp::Extend
        } else {
            SelectOp::Replace
        };
        if self.drag == Drag::Select {
            let passed: Vec<Pos2> = ui.input(|i| i.events.iter().filter_map(place_of).collect());
            for at in passed {
                editor.trace_select(ndc(at, rect), size(rect));
            }
        }
        let mut send = |kind| {
            editor.select_pointer(kind, ndc(at, rect), size(rect), op, seen);
        };
        // A quick click is pressed and released within one frame; it still picks.
        let here = response.is_pointer_button_down_on() || response.clicked();
        if here && pressed && self.drag == Drag::None && !modifiers.alt {
            send(PointerKind::Press);
            if down {
                self.drag = Drag::Select;
            } else {
                send(PointerKind::Release);
            }
        } else if self.drag == Drag::Select {
            if down {
                send(PointerKind::Drag);
            } else {
                send(PointerKind::Release);
                self.drag = Drag::None;
            }
        }
    }

    /// Whether a box, circle or lasso is armed, which takes precedence over the mode.
    pub(super) fn is_selecting(&self, editor: &Editor) -> bool {
        self.drag == Drag::Select || editor.select_tool().armed().is_some()
    }

    /// Sizes the circle with the wheel, before the wheel zooms.
    pub(super) fn size_select_circle(ui: &Ui, response: &Response, editor: &mut Editor) {
        if editor.select_tool().armed() != Some(SelectShape::Circle) || !response.contains_pointer()
        {
            return;
        }
        let scroll = ui.input_mut(|i| std::mem::take(&mut i.smooth_scroll_delta).y);
        if scroll != 0.0 {
            editor.resize_select_circle(CIRCLE_STEP.powf(-scroll / WHEEL_NOTCH));
        }
    }

    /// Draws the outline of the region and the count beside the pointer.
    pub(super) fn select_overlay(ui: &Ui, response: &Response, editor: &Editor) {
        let tool = editor.select_tool();
        let rect = response.rect;
        let painter = ui.painter().with_clip_rect(rect);
        let palette = theme::palette(ui);
        // A light line over a dark one is visible on any surface.
        let dashed = |outline: &[Pos2]| {
            painter.add(Shape::line(
                outline.to_vec(),
                Stroke::new(3.0, palette.overlay_halo),
            ));
            let line = Stroke::new(1.0, palette.overlay);
            painter.extend(Shape::dashed_line(outline, line, DASH, DASH));
        };
        if let Some(region) = tool.outline() {
            let closed = outline(&region, rect);
            dashed(&closed);
        }
        let pointer = ui.input(|i| i.pointer.latest_pos());
        let Some(at) = pointer.filter(|at| tool.is_active() || rect.contains(*at)) else {
            return;
        };
        let is_circle = tool.armed() == Some(SelectShape::Circle);
        if is_circle {
            let radius = tool.radius_px();
            painter.circle_stroke(at, radius, Stroke::new(3.0, palette.overlay_halo));
            painter.circle_stroke(at, radius, Stroke::new(1.0, palette.overlay));
        }
        if tool.armed().is_some() || tool.outline().is_some() {
            ui.ctx().set_cursor_icon(CursorIcon::Crosshair);
        }
        if tool.outline().is_some() || (is_circle && tool.is_active()) {
            let text = count_text(editor);
            let font = TextStyle::Body.resolve(ui.style());
            let galley = painter.layout_no_wrap(text, font, palette.overlay);
            let place = Align2::LEFT_TOP.anchor_size(at + LABEL_OFFSET, galley.size());
            // Beside the pointer, but never cut off by the edge.
            let place = Rect::from_min_size(
                place
                    .min
                    .min(rect.max - galley.size() - egui::vec2(8.0, 6.0)),
                galley.size(),
            );
            painter.rect_filled(place.expand2(egui::vec2(6.0, 3.0)), 4.0, palette.panel);
            painter.galley(place.min, galley, palette.text);
        }
    }

    /// Which bones are visible to the user.
    pub(super) fn pickable_bones(&self) -> PickableBones {
        match (self.options.show_bones, self.options.xray_bones) {
            (false, _) => PickableBones::None,
            (true, false) => PickableBones::Unoccluded,
            (true, true) => PickableBones::XRay,
        }
    }

    /// The bone that a click would select.
    pub(super) fn hovered_joint(
        &self,
        response: &Response,
        editor: &mut Editor,
        seen: PickableBones,
    ) -> Option<crate::skeleton::JointId> {
        let is_free = self.drag == Drag::None && editor.select_tool().armed().is_none();
        let at = response.hover_pos().filter(|_| is_free)?;
        if editor.select_kind() == SelectKind::Points {
            return None;
        }
        let (at, size) = (ndc(at, response.rect), size(response.rect));
        if editor.is_playing() || !editor.is_picking_fast() {
            // Testing the skin in each frame would be too expensive.
            return editor
                .pick_bone(at, size)
                .filter(|_| seen != PickableBones::None);
        }
        editor.pick_for_selection(at, size, seen)
    }

    /// Esc cancels the drag or ends the circle; Enter and the right button end the circle. Returns whether one did.
    fn escape_select(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) -> bool {
        let tool = editor.select_tool();
        let is_below_dialog = ui.ctx().memory(|m| m.top_modal_layer().is_some());
        if is_below_dialog || (!tool.is_active() && tool.armed().is_none()) {
            return false;
        }
        let is_idle_circle = tool.armed() == Some(SelectShape::Circle) && !tool.is_active();
        let (escape, enter, secondary) = ui.input_mut(|i| {
            (
                take_escape(i),
                is_idle_circle && i.consume_key(Modifiers::NONE, Key::Enter),
                is_idle_circle && i.pointer.secondary_pressed(),
            )
        });
        let secondary = secondary && response.contains_pointer();
        if secondary {
            self.block_menu();
        }
        let ends = escape || enter || secondary;
        if ends {
            editor.cancel_select();
            if self.drag == Drag::Select {
                self.drag = Drag::None;
            }
        }
        ends
    }
}

/// The status bar hint during a region selection; it replaces the hints of the mode.
pub fn select_hint(editor: &Editor) -> Option<String> {
    let tool = editor.select_tool();
    let keys = match tool.armed() {
        Some(SelectShape::Circle) => {
            "Drag selects · Ctrl subtracts · Wheel or [ ] sets the radius · Esc ends"
        }
        Some(SelectShape::Lasso) => "Draw a loop · Shift extends · Ctrl subtracts · Esc cancels",
        Some(SelectShape::Box) => "Drag a box · Shift extends · Ctrl subtracts · Esc cancels",
        None if tool.outline().is_some() => "Release to select · Esc cancels",
        None => return None,
    };
    Some(if tool.is_active() {
        format!("{} · {keys}", count_text(editor))
    } else {
        keys.to_owned()
    })
}

fn place_of(event: &Event) -> Option<Pos2> {
    match event {
        Event::PointerMoved(at) => Some(*at),
        _ => None,
    }
}

/// The closed outline of a region, in window coordinates.
fn outline(region: &Region, rect: Rect) -> Vec<Pos2> {
    // Regions use pixels from the lower left corner.
    let place = |at: Vec2| Pos2::new(rect.left() + at.x, rect.bottom() - at.y);
    match region {
        &Region::Box { low, high } => {
            let (a, b) = (place(low), place(high));
            vec![a, Pos2::new(b.x, a.y), b, Pos2::new(a.x, b.y), a]
        }
        Region::Lasso(lasso) => {
            let corners = lasso.outline();
            corners
                .iter()
                .chain(corners.first())
                .map(|&at| place(at))
                .collect()
        }
        Region::Circle { .. } => Vec::new(),
    }
}

/// The count of the region, "12 vertices", with a sign for extend or subtract.
fn count_text(editor: &Editor) -> String {
    let noun = match editor.select_kind() {
        _ if editor.selects_controls() => "control point",
        SelectKind::Bones => "bone",
        SelectKind::Points => "vertex",
    };
    let sign = match editor.select_tool().op() {
        Some(SelectOp::Extend) => "+",
        Some(SelectOp::Subtract) => "-",
        _ => "",
    };
    format!("{sign}{}", counted(editor.n_in_region(), noun))
}
