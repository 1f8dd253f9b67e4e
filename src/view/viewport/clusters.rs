//! The net of control clusters over the model: borders of patches, hollow anchors, and edges that turn too far.

use super::Viewport;
use super::panes::Pane;
use crate::editor::Editor;
use crate::evaluate::{ControlNetShape, SPARSE_DEGREES, VERY_SPARSE_DEGREES, ViewId};
use crate::math::camera::Camera;
use crate::view::mode::Mode;
use crate::view::theme;
use egui::epaint::CubicBezierShape;
use egui::{Color32, Pos2, Rect, Shape, Stroke, Ui, Vec2};
use glam::Vec3;

/// What is left free around a cluster, so that its glyph is seen, points.
const AROUND: f32 = 7.0;

/// The anchors of the net, and the state they were found for.
#[derive(Default)]
pub(super) struct Net {
    state: Option<(u64, u64, u64)>,
    anchors: Vec<u32>,
}

impl Net {
    /// Finds the anchors again if the model or the picture changed.
    fn update(&mut self, editor: &Editor) {
        let state = (
            editor.model_serial(),
            editor.picture_serial(),
            editor.history().revision(),
        );
        if self.state != Some(state) {
            self.state = Some(state);
            self.anchors = editor.anchors();
        }
    }
}

impl Viewport {
    /// Draws the net in Cluster mode, on the object's own deformer stack.
    pub(super) fn net_ui(&mut self, ui: &Ui, pane: &Pane, editor: &Editor) {
        let is_shown = self.mode == Mode::Cluster && self.options.show_clusters;
        if !is_shown || pane.view != ViewId::OWN {
            return;
        }
        let Some(layout) = editor.current_layout() else {
            self.net = Net::default();
            return;
        };
        self.net.update(editor);
        let Some(instance) = editor.clustered_instance() else {
            return;
        };
        let Some(shown) = editor.displayed_in(pane.view).get(&instance) else {
            return;
        };
        let camera = editor.document().session().camera;
        let project = Projection::new(&camera, pane.picture);
        let topology = shown.mesh.topology();
        // Ends on the far side would shine through the model.
        let place = |point: u32| -> Option<Pos2> {
            let position = *shown.positions.get(point as usize)?;
            let mut normals = topology.normals_of_point(point);
            let faces = normals.any(|n| {
                let normal = shown.normals.get(n as usize);
                normal.is_some_and(|normal| normal.dot(camera.eye() - position) > 0.0)
            });
            project.place(position).filter(|_| faces)
        };
        let painter = ui.painter().with_clip_rect(pane.clip);
        let palette = theme::palette(ui);
        let curved = editor.control_net().filter(|net| net.instance == instance);
        if let Some(net) = curved {
            let surface = layout.surface();
            let faces = |vertex: u32| {
                // The net may be of a layout that was replaced since.
                let is_known = (vertex as usize) < surface.n_vertices();
                is_known && place(surface.points_of_vertex(vertex)[0]).is_some()
            };
            control_points_ui(&painter, palette, &project, net, faces);
        }
        let plain = Stroke::new(1.0, palette.overlay.gamma_multiply(0.45));
        for edge in editor.net_edges() {
            let [a, b] = edge.ends.map(&place);
            let Some(line) = a.zip(b).and_then(|(a, b)| between(a, b)) else {
                continue;
            };
            if edge.degrees > VERY_SPARSE_DEGREES {
                painter.line_segment(line, Stroke::new(3.5, palette.overlay_halo));
                painter.line_segment(line, Stroke::new(2.0, palette.error));
            } else if edge.degrees > SPARSE_DEGREES {
                painter.line_segment(line, Stroke::new(3.5, palette.overlay_halo));
                let dashes = Stroke::new(2.0, SPARSE);
                painter.extend(Shape::dashed_line(&line, dashes, 5.0, 3.0));
            } else if curved.is_none() {
                painter.line_segment(line, plain);
            }
        }
        for &anchor in &self.net.anchors {
            if let Some(at) = place(anchor) {
                painter.circle_stroke(at, 4.5, Stroke::new(3.5, palette.overlay_halo));
                painter.circle_stroke(at, 4.5, Stroke::new(1.5, palette.overlay));
            }
        }
    }
}

/// Draws the control net: the borders of patches as curves, with lines to their control points. Edge points are dots, the
/// centre points of patches rings.
fn control_points_ui(
    painter: &egui::Painter,
    palette: &theme::Palette,
    project: &Projection,
    net: &ControlNetShape,
    faces: impl Fn(u32) -> bool,
) {
    let curve = Stroke::new(1.0, palette.overlay.gamma_multiply(0.7));
    let arm = Stroke::new(1.0, palette.accent.gamma_multiply(0.5));
    let dot = |at: Pos2| {
        painter.circle_filled(at, 3.0, palette.overlay_halo);
        painter.circle_filled(at, 2.0, palette.accent);
    };
    for (ends, points) in &net.borders {
        if !ends.iter().all(|&end| faces(end)) {
            continue;
        }
        let [a, b, c, d] = points.map(|point| project.place(point));
        let (Some(a), Some(b), Some(c), Some(d)) = (a, b, c, d) else {
            continue;
        };
        painter.line_segment([a, b], arm);
        painter.line_segment([c, d], arm);
        // In perspective it is a rational cubic; the difference is too small to be seen.
        let bezier =
            CubicBezierShape::from_points_stroke([a, b, c, d], false, Color32::TRANSPARENT, curve);
        painter.add(bezier);
        dot(b);
        dot(c);
    }
    for (corners, middle) in &net.middles {
        let is_seen = corners.iter().all(|&corner| faces(corner));
        if let Some(at) = project.place(*middle).filter(|_| is_seen) {
            painter.circle_stroke(at, 2.5, Stroke::new(2.5, palette.overlay_halo));
            painter.circle_stroke(at, 2.5, Stroke::new(1.0, palette.accent));
        }
    }
}

/// The line between two clusters without their glyphs; `None` where these are too close.
fn between(a: Pos2, b: Pos2) -> Option<[Pos2; 2]> {
    let along = b - a;
    let length = along.length();
    let gap = along * (AROUND / length.max(f32::MIN_POSITIVE));
    (length > 2.5 * AROUND).then(|| [a + gap, b - gap])
}

/// The colour of edges that turn far, beside their dashes.
const SPARSE: Color32 = Color32::from_rgb(240, 200, 60);

/// World positions in a pane.
struct Projection {
    clip_from_world: glam::Mat4,
    rect: Rect,
}

impl Projection {
    fn new(camera: &Camera, rect: Rect) -> Self {
        Self {
            clip_from_world: camera.clip_from_world(rect.aspect_ratio()),
            rect,
        }
    }

    fn place(&self, position: Vec3) -> Option<Pos2> {
        let clip = self.clip_from_world * position.extend(1.0);
        let ndc = clip.truncate() / clip.w;
        let inside = clip.w > 0.0 && ndc.x.abs() < 1.5 && ndc.y.abs() < 1.5;
        let at = Vec2::new(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y) * self.rect.size();
        inside.then(|| self.rect.min + at)
    }
}
