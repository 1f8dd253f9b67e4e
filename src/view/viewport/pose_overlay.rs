//! The overlays of a transform: the gizmo, its readout, pins, and the reach of soft selection.

use super::Viewport;
use super::constraint_lines::constraint_lines;
use super::pose::{gizmo, pos, px, screen};
use crate::document::session::TransformKind;
use crate::editor::Editor;
use crate::tools::gizmo::Shape;
use crate::tools::{Axis, Constraint, Gizmo, Handle, Screen, Transforming};
use crate::view::mode::Mode;
use crate::view::theme::{self, Palette};
use egui::{
    Align2, Color32, CornerRadius, CursorIcon, FontId, Key, Painter, Pos2, Rect, Response, Role,
    Sense, Stroke, Ui, WidgetInfo,
};
use egui_material_icons::icons;
use glam::Vec2;

/// Radius of the ball of a gizmo below which its letters would lie over each other, points.
const LEAST_LETTERED_PX: f32 = 24.0;

/// Size of the axis letters, points.
const LETTER: f32 = 13.0;
/// Side of the accessible rectangle of a handle, points.
const HANDLE_SIZE: f32 = 18.0;

impl Viewport {
    /// Draws the gizmo, the pins or the reach of soft selection, and the running transform.
    pub(super) fn pose_overlay_ui(
        &mut self,
        ui: &mut Ui,
        response: &Response,
        editor: &mut Editor,
    ) {
        let rect = response.rect;
        let painter = ui.painter().with_clip_rect(rect);
        let palette = theme::palette(ui);
        let screen = screen(editor, rect);
        if self.mode == Mode::Pose {
            constraint_lines(&painter, palette, &screen, rect, editor);
            self.pins(&painter, palette, &screen, rect, editor);
        }
        if let Some((pivot, radius)) = editor.soft_reach()
            && let Some(centre) = screen.project(pivot)
        {
            let radius = radius / screen.metres_per_px(pivot);
            for (width, colour) in [(3.0, palette.overlay_halo), (1.0, palette.overlay)] {
                painter.circle_stroke(pos(centre, rect), radius, Stroke::new(width, colour));
            }
        }
        if let Some(tool) = editor.transforming() {
            ui.ctx().set_cursor_icon(match tool.kind() {
                TransformKind::Move => CursorIcon::Grabbing,
                TransformKind::Rotate | TransformKind::Scale => CursorIcon::Crosshair,
            });
            let pointer = ui.ctx().pointer_latest_pos();
            running(&painter, palette, rect, &screen, tool, pointer);
            return;
        }
        let has_gizmo = matches!(self.mode, Mode::Pose | Mode::Rig) || self.is_vertex_tool(editor);
        // A click beside a handle would draw a joint.
        let has_gizmo = has_gizmo && editor.drawing().is_none();
        let Some(gizmo) = gizmo(editor, self.mode, &screen).filter(|_| has_gizmo) else {
            return;
        };
        let hot = self.pose.handle;
        draw(&painter, palette, rect, &gizmo, hot);
        self.handles_ui(ui, response, editor, &gizmo);
        if self.pose.handle.is_some() {
            // The status bar explains the handle: a tooltip would cover the bones.
            ui.ctx().set_cursor_icon(CursorIcon::Grab);
        }
    }

    /// Makes each handle accessible to screen readers and the keyboard.
    fn handles_ui(&self, ui: &Ui, viewport: &Response, editor: &mut Editor, gizmo: &Gizmo) {
        let rect = viewport.rect;
        for shape in gizmo.shapes() {
            let label = shape.handle.label();
            let at = pos(shape.tip, rect);
            let id = viewport.id.with(("handle", &label));
            let area = Rect::from_center_size(at, egui::Vec2::splat(HANDLE_SIZE));
            let response = ui.interact(area, id, Sense::focusable_noninteractive());
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
            let focused = response.has_focus();
            let clicked = ui.input(|i| {
                let key = i.key_pressed(Key::Enter) || i.key_pressed(Key::Space);
                (focused && key)
                    || i.has_accesskit_action_request(id, egui::accesskit::Action::Click)
            });
            if response.has_focus() {
                let stroke = Stroke::new(1.5, theme::palette(ui).overlay);
                ui.painter().rect_stroke(
                    area,
                    CornerRadius::same(3),
                    stroke,
                    egui::StrokeKind::Outside,
                );
            }
            if clicked {
                let size = super::size(rect);
                // Only the movement counts, wherever the pointer is.
                let from = ui.ctx().pointer_latest_pos().unwrap_or(at);
                let (kind, from) = (shape.handle.kind, px(from, rect));
                self.begin_transform(editor, kind, None, (from, size));
                if let Constraint::Axis(axis) = shape.handle.constraint {
                    editor.press_axis(axis, false);
                } else if let Constraint::Plane(axis) = shape.handle.constraint {
                    editor.press_axis(axis, true);
                }
            }
        }
    }

    /// Draws a pin at each pinned bone.
    fn pins(
        &self,
        painter: &Painter,
        palette: &Palette,
        screen: &Screen,
        rect: Rect,
        editor: &Editor,
    ) {
        let session = editor.document().session();
        for &pin in session.pins.difference(&session.hidden_joints) {
            let world = editor.pointed_world().get(pin.get());
            let head = world.and_then(|w| screen.project(w.translation.as_vec3()));
            let Some(head) = head.map(|head| pos(head, rect)) else {
                continue;
            };
            let hot = self.pose.pin == Some(pin);
            let radius = if hot { 8.0 } else { 6.0 };
            painter.circle(
                head,
                radius,
                palette.overlay_halo,
                Stroke::new(if hot { 2.5 } else { 1.5 }, palette.overlay),
            );
            let font = FontId::new(
                if hot { 16.0 } else { 13.0 },
                icons::ICON_PUSH_PIN.font_family(),
            );
            painter.text(
                head + egui::vec2(0.0, -radius - 1.0),
                Align2::CENTER_BOTTOM,
                icons::ICON_PUSH_PIN.codepoint,
                font,
                palette.overlay,
            );
        }
    }
}

/// The colour of an axis.
fn colour_of(axis: Option<Axis>, palette: &Palette) -> Color32 {
    match axis {
        Some(Axis::X) => palette.x,
        Some(Axis::Y) => palette.y,
        Some(Axis::Z) => palette.z,
        None => palette.overlay,
    }
}

/// Draws the handles with a dark edge under each line; the hot one is bright and thick.
fn draw(painter: &Painter, palette: &Palette, rect: Rect, gizmo: &Gizmo, hot: Option<Handle>) {
    let is_hot = |shape: &Shape| hot == Some(shape.handle);
    if hot.is_some_and(|h| h.constraint == Constraint::Trackball) {
        let centre = pos(gizmo.centre_px(), rect);
        painter.circle_filled(
            centre,
            gizmo.ball_px(),
            palette.overlay.gamma_multiply(0.10),
        );
    }
    // Far halves first, then near ones, the hot one last.
    for shape in gizmo.shapes() {
        let colour = colour_of(shape.handle.axis(), palette);
        for line in shape.lines.iter().filter(|line| !line.front) {
            polyline(
                painter,
                rect,
                &line.points,
                Stroke::new(1.0, colour.gamma_multiply(0.35)),
            );
        }
    }
    let mut shapes: Vec<&Shape> = gizmo.shapes().iter().collect();
    shapes.sort_by_key(|shape| is_hot(shape));
    for shape in shapes {
        let hot = is_hot(shape);
        let quiet = shape.handle.axis().is_none();
        let colour = colour_of(shape.handle.axis(), palette);
        let colour = if hot { bright(colour, palette) } else { colour };
        let width = match (hot, quiet) {
            (true, _) => 4.0,
            (false, true) => 1.5,
            (false, false) => 2.5,
        };
        for line in shape.lines.iter().filter(|line| line.front) {
            let halo = Stroke::new(width + 2.0, palette.overlay_halo.gamma_multiply(0.7));
            polyline(painter, rect, &line.points, halo);
            let colour = if quiet && !hot {
                colour.gamma_multiply(0.75)
            } else {
                colour
            };
            polyline(painter, rect, &line.points, Stroke::new(width, colour));
        }
        let see_through = matches!(shape.handle.constraint, Constraint::Plane(_)) || quiet;
        if !shape.fill.is_empty() {
            let fill = match (see_through, hot) {
                (true, true) => colour.gamma_multiply(0.6),
                (true, false) => colour.gamma_multiply(0.25),
                (false, _) => colour,
            };
            let points = shape.fill.iter().map(|&p| pos(p, rect)).collect();
            let edge = Stroke::new(1.0, palette.overlay_halo);
            let edge = if see_through { Stroke::NONE } else { edge };
            painter.add(egui::Shape::convex_polygon(points, fill, edge));
        }
    }
    // Letters above all lines, so that colour is not the only sign. A gizmo in a low pane has no room for them; the status
    // bar names the handle under the pointer.
    for shape in gizmo.shapes() {
        if gizmo.ball_px() < LEAST_LETTERED_PX {
            break;
        }
        if let Constraint::Axis(axis) = shape.handle.constraint {
            let colour = colour_of(Some(axis), palette);
            let colour = if is_hot(shape) {
                bright(colour, palette)
            } else {
                colour
            };
            letter(painter, palette, pos(shape.tip, rect), axis, colour);
        }
    }
}

/// Draws an axis letter on a dark disc.
fn letter(painter: &Painter, palette: &Palette, at: Pos2, axis: Axis, colour: Color32) {
    painter.circle_filled(at, LETTER * 0.62, palette.overlay_halo);
    let font = FontId::proportional(LETTER);
    painter.text(at, Align2::CENTER_CENTER, axis.letter(), font, colour);
}

/// Draws the constraint axes, the line to the pointer, and the value of a transform.
fn running(
    painter: &Painter,
    palette: &Palette,
    rect: Rect,
    screen: &Screen,
    tool: &Transforming,
    pointer: Option<Pos2>,
) {
    let Some(centre) = screen.project(tool.pivot()) else {
        return;
    };
    let held: Vec<Axis> = match tool.constraint() {
        Constraint::Axis(axis) => vec![axis],
        Constraint::Plane(axis) => Axis::ALL.into_iter().filter(|&a| a != axis).collect(),
        Constraint::Free | Constraint::Trackball => Vec::new(),
    };
    let length = screen.metres_per_px(tool.pivot());
    for axis in held {
        let direction = tool.axes()[axis.index()];
        let ahead = screen.project(tool.pivot() + direction * length * 20.0);
        let along = (ahead.unwrap_or(centre) - centre).normalize_or_zero();
        if along == Vec2::ZERO {
            continue;
        }
        let far = along * (rect.width() + rect.height());
        let line = [centre - far, centre + far];
        polyline(
            painter,
            rect,
            &line,
            Stroke::new(3.5, palette.overlay_halo.gamma_multiply(0.7)),
        );
        polyline(
            painter,
            rect,
            &line,
            Stroke::new(1.5, colour_of(Some(axis), palette)),
        );
        let tip = pos(centre + along * 110.0, rect);
        letter(painter, palette, tip, axis, colour_of(Some(axis), palette));
    }
    if let (Constraint::Axis(_) | Constraint::Free, TransformKind::Rotate) =
        (tool.constraint(), tool.kind())
    {
        let axes = tool.axes();
        if let Some(ring) = Gizmo::new(TransformKind::Rotate, tool.pivot(), axes, screen) {
            let shape = ring
                .shapes()
                .iter()
                .find(|s| s.handle.constraint == tool.constraint());
            if let Some(shape) = shape {
                let colour = bright(colour_of(shape.handle.axis(), palette), palette);
                for line in &shape.lines {
                    let strength = if line.front { 1.0 } else { 0.4 };
                    let stroke = Stroke::new(3.0, colour.gamma_multiply(strength));
                    polyline(painter, rect, &line.points, stroke);
                }
            }
        }
    }
    let Some(pointer) = pointer else {
        return;
    };
    let centre = pos(centre, rect);
    if tool.kind() != TransformKind::Move && tool.constraint() != Constraint::Trackball {
        let dash = egui::Shape::dashed_line(
            &[centre, pointer],
            Stroke::new(1.0, palette.overlay.gamma_multiply(0.7)),
            5.0,
            4.0,
        );
        painter.extend(dash);
    }
    painter.circle_filled(centre, 3.0, palette.overlay);
    readout(painter, palette, rect, pointer, &tool.readout());
}

/// Draws the value beside the pointer, inside the viewport.
fn readout(painter: &Painter, palette: &Palette, rect: Rect, pointer: Pos2, text: &str) {
    let galley = painter.layout_no_wrap(text.to_owned(), FontId::proportional(14.0), palette.text);
    let size = galley.size() + egui::vec2(16.0, 8.0);
    let mut at = pointer + egui::vec2(18.0, 18.0);
    at.x = at.x.min(rect.right() - size.x - 4.0).max(rect.left() + 4.0);
    at.y = at.y.min(rect.bottom() - size.y - 4.0).max(rect.top() + 4.0);
    let frame = Rect::from_min_size(at, size);
    painter.rect(
        frame,
        CornerRadius::same(4),
        palette.panel,
        Stroke::new(1.0, palette.line),
        egui::StrokeKind::Inside,
    );
    painter.galley(at + egui::vec2(8.0, 4.0), galley, palette.text);
}

fn polyline(painter: &Painter, rect: Rect, points: &[Vec2], stroke: Stroke) {
    let points = points.iter().map(|&p| pos(p, rect)).collect();
    painter.add(egui::Shape::line(points, stroke));
}

/// The colour blended towards the overlay lines.
fn bright(colour: Color32, palette: &Palette) -> Color32 {
    colour.lerp_to_gamma(palette.overlay, 0.45)
}
