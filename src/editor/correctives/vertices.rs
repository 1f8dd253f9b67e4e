//! Selected vertices, moved by the gizmo or the keys G, R and S: displacements of the active sample.
//!
//! Data flow: [`VertexTransform::begin`] with the surface on screen -> [`Transforming`] follows the pointer, the axis keys
//! and typed numbers -> its map gives each vertex an offset, one edit for each event, all in one step.

use crate::document::session::TransformKind;
use crate::editor::Editor;
use crate::evaluate::ViewId;
use crate::psd::Displacements;
use crate::tools::sculpt::{VertexTransform, selected_vertices};
use crate::tools::transform::Transforming;
use crate::tools::{Handle, Reach, Screen};
use glam::{Vec2, Vec3};

/// A transform of selected vertices in progress.
pub(in crate::editor) struct VertexMove {
    tool: Transforming,
    vertices: VertexTransform,
    metres_per_px: f32,
    reach: Reach,
    label: String,
    /// The sample at the start.
    before: Option<Displacements>,
}

impl Editor {
    /// The position and axes of the gizmo of the selected vertices, as on screen. `None` if none is selected.
    pub fn vertex_gizmo_frame(&self) -> Option<(Vec3, [Vec3; 3])> {
        let (instance, points) = selected_vertices(&self.document)?;
        let shown = self.views.own().get(&instance)?;
        let normals_of = |point: u32| shown.mesh.topology().normals_of_point(point);
        let (mut place, mut normal) = (Vec3::ZERO, Vec3::ZERO);
        for &point in &points {
            place += *shown.positions.get(point as usize)?;
            let normals = normals_of(point).filter_map(|n| shown.normals.get(n as usize));
            normal += normals.sum::<Vec3>().normalize_or_zero();
        }
        let axes = Transforming::axes_of_points(self.pose_options().space, normal);
        Some((place / points.len() as f32, axes))
    }

    /// Whether soft selection is on.
    pub fn soft_selection(&self) -> bool {
        self.document.session().soft_selection
    }

    /// Switches soft selection on or off, also during a transform.
    pub fn set_soft_selection(&mut self, is_on: bool) {
        self.document.session_mut().soft_selection = is_on;
        self.follow_soft_selection();
    }

    /// Makes the radius of the brush, and with it the reach of soft selection, larger by a factor.
    pub fn resize_soft_selection(&mut self, factor: f32) {
        let brush = &mut self.document.session_mut().brush;
        brush.scale_radius(factor);
        self.follow_soft_selection();
    }

    fn follow_soft_selection(&mut self) {
        self.reach_vertices();
        self.show_vertices();
        self.reach_clusters();
        self.show_moved_clusters();
    }

    /// Whether selected vertices are being moved.
    pub fn is_moving_vertices(&self) -> bool {
        self.correcting.moving.is_some()
    }

    /// The pivot of the transform of vertices or clusters in progress and the radius of soft selection there, metres.
    pub fn soft_reach(&self) -> Option<(Vec3, f32)> {
        let Some(moving) = &self.correcting.moving else {
            return self.soft_reach_of_clusters();
        };
        let radius = self.soft_radius(moving.metres_per_px)?;
        Some((moving.tool.pivot(), radius))
    }

    /// Begins to transform the selected vertices as [`Editor::begin_transform`] does bones.
    pub fn begin_vertex_transform(
        &mut self,
        kind: TransformKind,
        handle: Option<Handle>,
        at_px: Vec2,
        size_px: Vec2,
    ) -> bool {
        if self.press_kind(kind) {
            return true;
        }
        self.finish_tool();
        self.cancel_select();
        self.edit_template();
        if self.is_playing() {
            self.pause();
        }
        if self.views.pointed() != ViewId::OWN {
            self.notify(
                "Sculpt in the view of the object's own deformer stack, not in a comparison.",
            );
            return false;
        }
        let begun = self.in_context(None, VertexTransform::begin);
        let vertices = match begun {
            Ok(vertices) => vertices,
            Err(why) => {
                self.notify(why);
                return false;
            }
        };
        let session = self.document.session();
        let screen = Screen::new(session.camera, size_px);
        let (pivot, normal) = vertices.pivot();
        let metres_per_px = screen.metres_per_px(pivot);
        let mut tool = Transforming::of_points(
            vertices.n_selected(),
            (pivot, normal),
            (kind, session.pose.space),
            (screen, at_px),
        );
        if let Some(handle) = handle {
            tool.grab(handle);
        }
        let label = tool.label(self.document.skeleton());
        self.history.begin(&self.document, &label);
        self.correcting.moving = Some(VertexMove {
            tool,
            vertices,
            metres_per_px,
            reach: Reach::default(),
            label,
            before: self.sculpted_displacements(),
        });
        self.reach_vertices();
        true
    }

    /// The tool of a transform of vertices in progress.
    pub(in crate::editor) fn vertex_tool(&self) -> Option<&Transforming> {
        self.correcting.moving.as_ref().map(|moving| &moving.tool)
    }

    /// The tool of a transform of vertices in progress.
    pub(in crate::editor) fn vertex_tool_mut(&mut self) -> Option<&mut Transforming> {
        let moving = self.correcting.moving.as_mut();
        moving.map(|moving| &mut moving.tool)
    }

    /// Updates the sample to the transform of vertices in progress.
    pub(in crate::editor) fn show_vertices(&mut self) {
        let Some(moving) = &mut self.correcting.moving else {
            return;
        };
        let map = moving.tool.point_map();
        let Some(edit) = moving.vertices.apply(&map, &self.document) else {
            return;
        };
        let label = moving.label.clone();
        if let Err(error) = self.apply(edit, &label) {
            self.notify_error(error.to_string());
        }
    }

    /// Ends the transform of vertices: one undo step, or none if nothing changed. Returns whether there was one.
    pub(in crate::editor) fn confirm_vertices(&mut self) -> bool {
        let Some(moving) = self.correcting.moving.take() else {
            return false;
        };
        if self.sculpted_displacements() == moving.before {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
        } else {
            self.history.commit(&self.document);
            if let Some(note) = moving.vertices.note() {
                self.notify(note);
            }
        }
        true
    }

    /// Cancels the transform of vertices; restores the sample bit for bit. Returns whether there was one.
    pub(in crate::editor) fn cancel_vertices(&mut self) -> bool {
        let was = self.correcting.moving.take().is_some();
        if was {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
        }
        was
    }

    /// Drops the transform of vertices without a trace: its model is gone.
    pub(in crate::editor) fn forget_vertices(&mut self) {
        self.correcting.moving = None;
    }

    /// Finds the vertices that soft selection takes along.
    fn reach_vertices(&mut self) {
        let Some(mut moving) = self.correcting.moving.take() else {
            return;
        };
        let radius = self.soft_radius(moving.metres_per_px);
        let session = self.document.session();
        moving
            .vertices
            .set_reach(radius, session, &mut moving.reach);
        self.correcting.moving = Some(moving);
    }

    pub(in crate::editor) fn soft_radius(&self, metres_per_px: f32) -> Option<f32> {
        let session = self.document.session();
        let radius = session.brush.radius_in_world(metres_per_px);
        session.soft_selection.then_some(radius)
    }

    fn sculpted_displacements(&self) -> Option<Displacements> {
        let (set, sample) = self.active_set().zip(self.active_sample())?;
        let sample = self.samples_of(set).get(sample)?;
        Some(sample.displacements.clone())
    }
}
