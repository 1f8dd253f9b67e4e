//! Paint, Cluster and Sculpt mode: strokes and the brush circle.

use super::{Drag, Viewport, ndc, size};
use crate::document::session::{
    BrushKind, BrushOptions, FalloffShape, PaintTarget, RadiusUnit, SculptKind,
};
use crate::editor::{Editor, SurfacePlace};
use crate::tools::{PointerEvent, PointerKind, Screen};
use crate::view::chord::take_escape;
use crate::view::commands::Command;
use crate::view::keymap::{self, Preset};
use crate::view::mode::Mode;
use crate::view::theme;
use egui::{Color32, CursorIcon, Event, Key, Modifiers, Pos2, Rect, Response, Shape, Stroke, Ui};

/// A modal brush adjustment: the value follows the pointer until a click or Enter confirms or Esc cancels.
#[derive(Clone, Copy, Debug)]
pub(super) struct BrushAdjustment {
    what: Command,
    origin: Pos2,
    before: BrushOptions,
}

impl BrushAdjustment {
    /// Restores the value from before the adjustment.
    pub(super) fn revert(&self, brush: &mut BrushOptions) {
        Self::restore(brush, self.what, &self.before);
    }

    /// Restores only the setting `what` from `before`; other settings may have changed meanwhile.
    fn restore(brush: &mut BrushOptions, what: Command, before: &BrushOptions) {
        match what {
            Command::BrushRadius => {
                brush.radius_px = before.radius_px;
                brush.radius_world = before.radius_world;
            }
            Command::BrushStrength => brush.strength = before.strength,
            _ => {
                brush.weight = before.weight;
                brush.mask_values = before.mask_values;
            }
        }
    }
}

/// The stroke in progress: the modifiers at its start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StrokeState {
    from: Pos2,
    /// The mode at its start.
    mode: Mode,
    invert: bool,
    smooth: bool,
    /// The last pen pressure, if reported.
    pressure: Option<f32>,
}

/// Pixels of pointer movement from weight 0 to 1.
const ADJUST_PX: f32 = 200.0;

impl Viewport {
    /// Starts the adjustment of brush radius, strength or weight at `origin`.
    pub(super) fn begin_adjust(&mut self, what: Command, origin: Pos2, editor: &mut Editor) {
        if self.drag == Drag::None && !self.is_selecting(editor) {
            self.adjust = Some(BrushAdjustment {
                what,
                origin,
                before: *editor.brush_mut(),
            });
        }
    }

    /// Follows the pointer during an adjustment; returns whether one is running.
    fn adjust(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) -> bool {
        let Some(BrushAdjustment {
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
        // Maya's users press the key, then drag: the value does not follow the pointer on its way there.
        let waits = keymap::of(ui.ctx()).preset == Preset::Maya
            && !released
            && !ui.input(|i| i.pointer.primary_down());
        if let Some(adjust) = self.adjust.as_mut().filter(|_| waits) {
            adjust.origin = at;
        }
        let moved = if waits { 0.0 } else { at.x - origin.x };
        let metres_per_px = Self::metres_per_px(editor, response.rect);
        let brush = editor.brush_mut();
        BrushAdjustment::restore(brush, what, &before);
        // A click elsewhere, for example on a menu, ends the adjustment.
        let is_elsewhere = released && !response.rect.contains(at);
        if escape || secondary || is_elsewhere {
            self.adjust = None;
            return true;
        }
        match what {
            Command::BrushRadius if before.radius_unit == RadiusUnit::World => {
                let radius = before.radius_world + moved * metres_per_px;
                let range = BrushOptions::RADIUS_WORLD;
                brush.radius_world = radius.clamp(*range.start(), *range.end());
            }
            Command::BrushRadius => {
                brush.radius_px = (before.radius_px + moved).round().clamp(1.0, 500.0);
            }
            Command::BrushStrength => {
                brush.strength = adjusted(before.strength, moved);
            }
            _ => {
                let limit = brush.target.limit();
                *brush.value_mut() = adjusted(brush.value() / limit, moved) * limit;
            }
        }
        if released || enter {
            self.adjust = None;
        }
        true
    }

    /// Commits the stroke when the mode changes while the button is down.
    pub(super) fn end_stroke(&mut self, response: &Response, editor: &mut Editor) {
        if self.drag == Drag::Stroke {
            self.drag = Drag::None;
            editor.pointer(&PointerEvent {
                kind: PointerKind::Release,
                ndc: ndc(self.pointer, response.rect),
                size_px: size(response.rect),
                invert: false,
                smooth: false,
                pressure: None,
            });
        }
    }

    /// Paints or sculpts: a drag is a stroke, a click a dab, Esc cancels the stroke.
    pub(super) fn paint(&mut self, ui: &Ui, response: &Response, editor: &mut Editor) {
        let rect = response.rect;
        self.hovered = None;
        if self.stroke.mode != self.mode {
            self.end_stroke(response, editor);
        }
        if self.adjust(ui, response, editor) {
            return;
        }
        let paints = self.mode == Mode::Paint;
        let (modifiers, down, at) = ui.input(|i| {
            (
                i.modifiers,
                i.pointer.primary_down(),
                i.pointer.latest_pos().unwrap_or(self.pointer),
            )
        });
        self.pointer = at;
        if paints {
            self.probe(ui, response, at, editor);
        }
        let pressure = ui.input(|i| {
            i.events.iter().rev().find_map(|event| match event {
                Event::Touch { force, .. } => *force,
                _ => None,
            })
        });
        self.stroke.pressure = pressure.or(self.stroke.pressure);
        let held = self.stroke;
        let event_at = |kind, at: Pos2| PointerEvent {
            kind,
            ndc: ndc(at, rect),
            size_px: size(rect),
            invert: held.invert,
            smooth: held.smooth,
            pressure: held.pressure,
        };
        let event = |kind| event_at(kind, at);
        // A quick click is pressed and released within one frame; it still is a dab.
        if paints
            && modifiers.alt
            && response.clicked()
            && keymap::of(ui.ctx()).preset == keymap::Preset::Blender
        {
            editor.pick_bone_in_skin(ndc(at, rect), size(rect));
            return;
        }
        let here = response.is_pointer_button_down_on() || response.clicked();
        let began = here && self.drag == Drag::None && !modifiers.alt;
        if began && ui.input(|i| i.pointer.primary_pressed()) {
            if paints
                && self.options.show_bones
                && editor.paint_target() == PaintTarget::Weights
                && editor.document().session().active_joint.is_none()
                && let Some(bone) =
                    editor.pick_bone_in_view(ndc(at, rect), size(rect), self.pickable_bones())
            {
                editor.select_joint(Some(bone));
                return;
            }
            self.stroke = StrokeState {
                from: at,
                mode: self.mode,
                invert: modifiers.ctrl,
                smooth: modifiers.shift,
                pressure,
            };
            let held = self.stroke;
            let event = |kind| PointerEvent {
                invert: held.invert,
                smooth: held.smooth,
                pressure: held.pressure,
                ..event(kind)
            };
            if paints {
                editor.pointer(&event(PointerKind::Press));
            } else if self.mode == Mode::Cluster {
                editor.begin_marking(&event(PointerKind::Press));
            } else {
                editor.begin_sculpt(&event(PointerKind::Press));
            }
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
                // A frame may hold several pointer moves: use all of them.
                let moves = ui.input(|i| -> Vec<Pos2> {
                    let moves = i.events.iter().filter_map(|event| match event {
                        Event::PointerMoved(at) => Some(*at),
                        _ => None,
                    });
                    moves.collect()
                });
                for at in moves {
                    editor.trace_stroke(&event_at(PointerKind::Drag, at));
                }
                editor.pointer(&event(PointerKind::Drag));
                // A long stroke is painted over several frames.
                ui.ctx().request_repaint();
            } else {
                editor.pointer(&event(PointerKind::Release));
                self.drag = Drag::None;
            }
        }
    }

    /// Reads the value under the brush.
    fn probe(&mut self, ui: &Ui, response: &Response, at: Pos2, editor: &mut Editor) {
        let here = response.contains_pointer() || self.drag == Drag::Stroke;
        let value = if here && editor.is_picking_fast() {
            editor.value_at(ndc(at, response.rect), size(response.rect))
        } else {
            None
        };
        if self.value != value {
            self.value = value;
            // The status bar is drawn earlier and shows it in the next frame.
            ui.ctx().request_repaint();
        }
    }

    /// World length of a pixel at the orbit pivot.
    fn metres_per_px(editor: &Editor, rect: Rect) -> f32 {
        let camera = &editor.document().session().camera;
        camera.metres_per_pixel(camera.target, rect.height())
    }

    /// The brush radius on the screen, pixels.
    pub(super) fn brush_radius_px(editor: &Editor, rect: Rect) -> f32 {
        let brush = &editor.document().session().brush;
        brush.radius_on_screen(Self::metres_per_px(editor, rect))
    }

    /// Draws the brush: a ring on the surface, its mirror image, and the sign of the stroke.
    pub(super) fn brush_circle(&self, ui: &Ui, response: &Response, editor: &mut Editor) {
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
        let rect = response.rect;
        let brush = editor.document().session().brush;
        let painter = ui.painter().with_clip_rect(rect);
        let accent = theme::palette(ui).accent;
        let (invert, smooth) = match self.drag {
            Drag::Stroke => (self.stroke.invert, self.stroke.smooth),
            _ => ui.input(|i| (i.modifiers.ctrl, i.modifiers.shift)),
        };
        let kind = if smooth {
            BrushKind::Smooth
        } else {
            brush.kind()
        };
        let sculpt = (self.mode == Mode::Sculpt).then(|| editor.sculpt_kind());
        let marks = self.mode == Mode::Cluster;
        let is_other = sculpt.is_some() || marks;
        let is_drawn = self.adjust.is_some() || is_other || !matches!(kind, BrushKind::Sample);
        if kind.is_gradient() && self.adjust.is_none() && !is_other {
            if self.drag == Drag::Stroke {
                gradient_line(&painter, kind, self.stroke.from, at, accent);
            }
        } else if is_drawn {
            let on_surface = self.adjust.is_none()
                && brush.falloff_shape != FalloffShape::Screen
                && editor.is_picking_fast();
            let places = on_surface
                .then(|| editor.brush_places(ndc(at, rect), size(rect)))
                .flatten();
            let screen = Screen::new(editor.document().session().camera, size(rect));
            let ring = |place: &SurfacePlace| {
                let radius = brush.radius_in_world(screen.metres_per_px(place.position));
                ring(&screen, rect, place, radius)
            };
            let (outline, inner, image) = match &places {
                Some((here, image)) => {
                    let radius = brush.radius_in_world(screen.metres_per_px(here.position));
                    let inner = self::ring(&screen, rect, here, radius * brush.strength);
                    (ring(here), inner, image.as_ref().map(ring))
                }
                None => {
                    let radius = Self::brush_radius_px(editor, rect);
                    let inner = circle(at, radius * brush.strength);
                    (circle(at, radius), inner, None)
                }
            };
            // A dark ring under a light one is visible on any surface; the inner ring is the strength.
            let halo = Stroke::new(3.0, Color32::from_black_alpha(110));
            painter.add(Shape::closed_line(outline.clone(), halo));
            painter.add(Shape::closed_line(outline, Stroke::new(1.5, accent)));
            if !marks && !sculpt.is_some_and(SculptKind::is_drag) {
                let white = Stroke::new(1.0, Color32::from_white_alpha(90));
                painter.add(Shape::closed_line(inner, white));
            }
            if let Some(image) = image {
                painter.add(Shape::closed_line(image.clone(), halo));
                painter.add(Shape::dashed_line(
                    &image,
                    Stroke::new(1.5, accent),
                    4.0,
                    3.0,
                ));
            }
        }
        let text = match self.adjust.map(|adjust| adjust.what) {
            Some(Command::BrushRadius) if brush.radius_unit == RadiusUnit::World => {
                format!("{:.3} m", brush.radius_world)
            }
            Some(Command::BrushRadius) => format!("{:.0} px", brush.radius_px),
            Some(Command::BrushStrength) => format!("strength {:.2}", brush.strength),
            Some(_) if brush.target == PaintTarget::Weights => {
                format!("weight {:.2}", brush.weight)
            }
            Some(_) => format!("value {:.2}", brush.value()),
            None if marks => if invert { "\u{2212}" } else { "+" }.to_owned(),
            None => match sculpt {
                Some(sculpt) => sculpt_sign(sculpt, invert, smooth).to_owned(),
                None => sign(kind, invert, brush.value()).to_owned(),
            },
        };
        let font = egui::TextStyle::Body.resolve(ui.style());
        let galley = painter.layout_no_wrap(text, font, Color32::WHITE);
        let place = Rect::from_center_size(at, galley.size());
        // White text on bright weights needs a ground.
        if self.adjust.is_some() {
            let ground = place.expand2(egui::vec2(5.0, 2.0));
            painter.rect_filled(ground, 3.0, Color32::from_black_alpha(170));
        }
        painter.galley(place.min, galley, Color32::WHITE);
    }
}

/// The effect of a stroke as one character.
fn sign(kind: BrushKind, invert: bool, value: f32) -> &'static str {
    match kind {
        // Adding a negative amount subtracts.
        BrushKind::Add if invert == (value > 0.0) => "\u{2212}",
        BrushKind::Add => "+",
        BrushKind::Replace => "=",
        BrushKind::Scale if invert => "\u{f7}",
        BrushKind::Scale => "\u{d7}",
        BrushKind::Smooth if !invert => "~",
        BrushKind::Sharpen if invert => "~",
        BrushKind::Smooth | BrushKind::Sharpen => "^",
        BrushKind::Gradient => "/",
        BrushKind::Radial => "o",
        BrushKind::Sample => "",
    }
}

/// The effect of a sculpting stroke as one character.
fn sculpt_sign(kind: SculptKind, invert: bool, smooth: bool) -> &'static str {
    match kind {
        _ if smooth => "~",
        SculptKind::Inflate if invert => "\u{2212}",
        SculptKind::Inflate => "+",
        SculptKind::Smooth | SculptKind::Relax => "~",
        _ if invert && kind.inverse().is_some() => "\u{2212}",
        _ => "",
    }
}

const RING: usize = 48;

/// A circle around a pixel.
fn circle(at: Pos2, radius: f32) -> Vec<Pos2> {
    let turn = |i: usize| i as f32 / RING as f32 * std::f32::consts::TAU;
    (0..RING)
        .map(|i| at + radius * egui::Vec2::angled(turn(i)))
        .collect()
}

/// A circle on the surface, projected to the screen.
fn ring(screen: &Screen, rect: Rect, place: &SurfacePlace, radius: f32) -> Vec<Pos2> {
    let (a, b) = place.normal.any_orthonormal_pair();
    let points = (0..RING).filter_map(|i| {
        let (sin, cos) = (i as f32 / RING as f32 * std::f32::consts::TAU).sin_cos();
        let px = screen.project(place.position + (a * cos + b * sin) * radius)?;
        Some(rect.min + egui::vec2(px.x, px.y))
    });
    points.collect()
}

/// Draws the line or circle of the current gradient.
fn gradient_line(painter: &egui::Painter, kind: BrushKind, from: Pos2, to: Pos2, accent: Color32) {
    let halo = Stroke::new(3.0, Color32::from_black_alpha(110));
    for stroke in [halo, Stroke::new(1.5, accent)] {
        painter.line_segment([from, to], stroke);
        painter.circle_stroke(from, 4.0, stroke);
        if kind == BrushKind::Radial {
            painter.circle_stroke(from, from.distance(to), stroke);
        }
    }
}

/// A weight or strength after a pointer move, in steps of 0.01.
fn adjusted(before: f32, moved_px: f32) -> f32 {
    ((before + moved_px / ADJUST_PX) * 100.0)
        .round()
        .clamp(0.0, 100.0)
        / 100.0
}
