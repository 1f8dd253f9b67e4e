//! Pointer events for tools, and the actions that tools request.

use super::{Displayed, Editor};
use crate::document::session::BrushKind;
use crate::document::{Document, InstanceId};
use crate::evaluate::ViewId;
use crate::math::Camera;
use crate::skeleton::{JointId, bone_picking};
use crate::tools::{
    Brush, Marking, PointerEvent, PointerKind, Sculpt, SurfaceView, ToolAction, ToolContext,
};
use glam::{Vec2, Vec3};
use std::collections::BTreeMap;

/// The largest distance between a click and the bone that it picks, logical pixels.
pub(super) const PICK_REACH_PX: f32 = 8.0;

impl Editor {
    /// Passes a pointer event to the brush and performs the requested actions.
    pub fn pointer(&mut self, event: &PointerEvent) {
        if event.kind == PointerKind::Press {
            self.end_stroke(true);
            self.index_fit.drop_stroke();
        }
        if self.index_fit.add(event) {
            return;
        }
        if self.sculpt.is_active() {
            self.with_sculpt(|sculpt, context| sculpt.pointer(event, context));
            return;
        }
        if self.marking.is_active() {
            self.with_marking(|marking, context| marking.pointer(event, context));
            return;
        }
        if self.sample_with_brush(event) {
            return;
        }
        if event.kind == PointerKind::Press {
            self.note_stroke(event);
        }
        self.with_brush(|brush, context| brush.pointer(event, context));
    }

    /// Starts a sculpting stroke on the active corrective sample; further events go to [`Editor::pointer`]. A clip that
    /// plays is paused. On a large surface that has just moved it begins a moment later, once that can be picked fast.
    pub fn begin_sculpt(&mut self, event: &PointerEvent) {
        self.end_stroke(true);
        self.edit_template();
        if self.is_playing() {
            self.pause();
        }
        if self.views.pointed() != ViewId::OWN {
            self.notify(
                "Sculpt in the view of the object's own deformer stack, not in a comparison.",
            );
            return;
        }
        if !self.waits_for_index(event) {
            self.with_sculpt(|sculpt, context| sculpt.pointer(event, context));
        }
    }

    /// Whether a stroke is still being painted after the button was released.
    pub fn is_ending_stroke(&self) -> bool {
        self.brush.is_ending() || self.sculpt.is_ending() || self.marking.is_ending()
    }

    /// Paints more of a stroke whose button was released before it was painted completely; all of it if `is_urgent`.
    pub(super) fn end_stroke(&mut self, is_urgent: bool) {
        if self.brush.is_ending() {
            self.with_brush(|brush, context| brush.end(is_urgent, context));
        }
        if self.sculpt.is_ending() {
            self.with_sculpt(|sculpt, context| sculpt.end(is_urgent, context));
        }
        if self.marking.is_ending() {
            self.with_marking(|marking, context| marking.end(is_urgent, context));
        }
    }

    fn with_brush(
        &mut self,
        work: impl FnOnce(&mut Brush, &mut ToolContext<'_>) -> Vec<ToolAction>,
    ) {
        let mut brush = std::mem::take(&mut self.brush);
        let camera = brush.release_camera();
        let actions = self.in_context(camera, |context| work(&mut brush, context));
        self.brush = brush;
        self.perform_stroke(actions);
    }

    pub(super) fn with_sculpt(
        &mut self,
        work: impl FnOnce(&mut Sculpt, &mut ToolContext<'_>) -> Vec<ToolAction>,
    ) {
        let mut sculpt = std::mem::take(&mut self.sculpt);
        let camera = sculpt.release_camera();
        let actions = self.in_context(camera, |context| work(&mut sculpt, context));
        self.sculpt = sculpt;
        self.perform(actions);
    }

    pub(super) fn with_marking(
        &mut self,
        work: impl FnOnce(&mut Marking, &mut ToolContext<'_>) -> Vec<ToolAction>,
    ) {
        let mut marking = std::mem::take(&mut self.marking);
        let camera = marking.release_camera();
        let actions = self.in_context(camera, |context| work(&mut marking, context));
        self.marking = marking;
        self.perform(actions);
    }

    /// Calls `work` with what a tool reads: the displayed surfaces, and `camera` or the present one.
    pub(super) fn in_context<T>(
        &mut self,
        camera: Option<Camera>,
        work: impl FnOnce(&mut ToolContext<'_>) -> T,
    ) -> T {
        let camera = camera.unwrap_or(self.document.session().camera);
        let mut surfaces = surfaces(self.views.pointed_mut(), &self.document);
        work(&mut ToolContext {
            document: &self.document,
            camera: &camera,
            surfaces: &mut surfaces,
            mirrors: self.mirrors.known(),
        })
    }

    /// The world position on the displayed surface under a viewport position.
    pub fn surface_at(&mut self, ndc: Vec2, size_px: Vec2) -> Option<Vec3> {
        self.want_index();
        let ray = self
            .document
            .session()
            .camera
            .ray(ndc, size_px.x / size_px.y.max(1.0));
        let mut surfaces = surfaces(self.views.pointed_mut(), &self.document);
        let hits = surfaces
            .iter_mut()
            .filter_map(|(_, surface)| surface.cast_ray(&ray));
        hits.min_by(|a, b| a.distance.total_cmp(&b.distance))
            .map(|hit| hit.position)
    }

    /// Ends the current stroke as if the button had been released.
    pub fn finish_tool(&mut self) {
        self.end_key_drag();
        self.index_fit.drop_stroke();
        self.end_stroke(true);
        let actions = self.brush.finish(&self.document);
        self.perform_stroke(actions);
        let actions = self.sculpt.finish(&self.document);
        self.perform(actions);
        let actions = self.marking.finish(&self.document);
        self.perform(actions);
        self.confirm_transform();
        // A step that a slider keeps open.
        self.history.commit(&self.document);
    }

    /// Cancels the current stroke.
    pub fn cancel_tool(&mut self) {
        self.pointer(&PointerEvent {
            kind: PointerKind::Cancel,
            ndc: Vec2::ZERO,
            size_px: Vec2::ONE,
            invert: false,
            smooth: false,
            pressure: None,
        });
    }

    /// Records a pointer position since the last event of a stroke.
    pub fn trace_stroke(&mut self, event: &PointerEvent) {
        if self.index_fit.add(event) {
            return;
        }
        self.brush.trace(event);
        self.sculpt.trace(event);
        self.marking.trace(event);
    }

    /// Samples the value under the pointer if the Sample brush is active, which changes nothing. Returns whether it is.
    fn sample_with_brush(&mut self, event: &PointerEvent) -> bool {
        let is_sample = self.document.session().brush.kind() == BrushKind::Sample;
        if !is_sample || event.smooth || self.brush.is_active() {
            return false;
        }
        match event.kind {
            PointerKind::Press if event.invert => self.pick_bone_in_skin(event.ndc, event.size_px),
            PointerKind::Press => self.sample_value(event.ndc, event.size_px),
            PointerKind::Drag if !event.invert => {
                self.take_value(event.ndc, event.size_px);
            }
            _ => {}
        }
        true
    }

    /// Whether a stroke is under way, of a brush that paints, sculpts or marks clusters.
    pub fn is_painting(&self) -> bool {
        self.brush.is_active()
            || self.sculpt.is_active()
            || self.marking.is_active()
            || self.index_fit.has_stroke()
    }

    /// The bone under a viewport position, or a few pixels beside it, without regard to the skin.
    pub fn pick_bone(&self, ndc: Vec2, size_px: Vec2) -> Option<JointId> {
        let camera = &self.document.session().camera;
        let ray = camera.ray(ndc, size_px.x / size_px.y.max(1.0));
        let bones = self.bones_in(self.pointed_view());
        let drawn = bone_picking::pick_drawn(&ray, &bones, f32::INFINITY);
        let picked = drawn.or_else(|| {
            bone_picking::pick_near(&ray, &bones, PICK_REACH_PX, |at| {
                camera.metres_per_pixel(at, size_px.y)
            })
        });
        picked.map(|index| bones[index].joint)
    }

    pub(super) fn perform(&mut self, actions: Vec<ToolAction>) {
        for action in actions {
            match action {
                ToolAction::Begin(label) => {
                    self.report_layers();
                    self.history.begin(&self.document, label);
                }
                ToolAction::Apply(edit) => {
                    let edit = self.watch_layers(edit);
                    // A stroke that changes nothing because of locked bones leaves no step.
                    if edit.changes_no_points() {
                        continue;
                    }
                    // Operations then act on what was painted last.
                    if let Some(mesh) = edit.painted_mesh() {
                        self.document.session_mut().active_mesh = Some(mesh);
                    }
                    if let Err(error) = self.apply_watched(edit, "Paint") {
                        self.notify_error(error.to_string());
                    }
                }
                ToolAction::Name(label) => self.history.name_step(label),
                ToolAction::Commit => {
                    self.history.commit(&self.document);
                    self.report_layers();
                }
                ToolAction::Cancel => {
                    let dirty = self.history.cancel(&mut self.document);
                    self.forget_of_layers();
                    self.refresh(&dirty);
                    self.refresh_heat();
                }
                ToolAction::Notify(text) => self.notify(text),
            }
        }
    }
}

/// The displayed, visible instances, for tools.
pub(super) fn surfaces<'a>(
    displayed: &'a mut BTreeMap<InstanceId, Displayed>,
    document: &'a Document,
) -> Vec<(InstanceId, SurfaceView<'a>)> {
    let session = document.session();
    let view = |(&id, d): (&InstanceId, &'a mut Displayed)| {
        if session.hidden_instances.contains(&id) {
            return None;
        }
        let mesh = document.instances().get(&id)?.mesh;
        let view = SurfaceView {
            mesh: &d.mesh,
            positions: &d.positions,
            normals: &d.normals,
            index: &mut d.index,
            index_stale: &mut d.index_stale,
            unfitted: &mut d.unfitted,
            hidden: session.hidden_points.get(&mesh).map(AsRef::as_ref),
        };
        Some((id, view))
    };
    displayed.iter_mut().filter_map(view).collect()
}
