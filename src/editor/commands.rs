//! What the artist can do besides pointing.

use super::{Editor, Heat, HeatOf};
use crate::document::session::{BrushOptions, PaintTarget, SelectKind};
use crate::document::{Edit, MeshId};
use crate::math::Camera;
use crate::skeleton::JointIndex;
use glam::Vec3;
use std::sync::Arc;

impl Editor {
    /// Takes the newest step back, or cancels the stroke under way.
    pub fn undo(&mut self) {
        if self.is_dragging_keys() {
            self.cancel_key_drag();
            return;
        }
        if self.brush.is_active() {
            self.cancel_tool();
            return;
        }
        if self.is_posing() {
            self.cancel_transform();
            return;
        }
        self.take_back_select();
        if let Some(dirty) = self.history.undo(&mut self.document) {
            self.refresh(&dirty);
            self.selection_changed();
            self.refresh_heat();
        }
    }

    /// Does the step undone last again.
    pub fn redo(&mut self) {
        if self.brush.is_active() || self.is_dragging_keys() || self.is_posing() {
            return;
        }
        self.take_back_select();
        if let Some(dirty) = self.history.redo(&mut self.document) {
            self.refresh(&dirty);
            self.selection_changed();
            self.refresh_heat();
        }
    }

    /// Makes `joint` the bone that is painted and shown in the heat map, and the only selected one.
    pub fn select_joint(&mut self, joint: Option<JointIndex>) {
        self.select_joints(joint, joint);
    }

    /// Locks or unlocks the weights of a bone.
    pub fn toggle_lock(&mut self, joint: JointIndex) {
        self.finish_tool();
        let mut locked = self.document.locked().clone();
        let label = if locked.remove(&joint) {
            "Unlock bone"
        } else {
            locked.insert(joint);
            "Lock bone"
        };
        if let Err(error) = self.apply(Edit::Locks(Arc::new(locked)), label) {
            self.say_error(error.to_string());
        }
    }

    /// The brush, to change.
    pub fn brush_mut(&mut self) -> &mut BrushOptions {
        &mut self.document.session_mut().brush
    }

    /// The camera, to move.
    pub fn camera_mut(&mut self) -> &mut Camera {
        &mut self.document.session_mut().camera
    }

    /// Moves the camera back until everything on screen fits.
    pub fn frame_all(&mut self) {
        let points = self.shown_positions(|_| true);
        self.frame_points(&points);
    }

    /// Moves the camera to the selected bones or points, whichever are picked, or to everything where none is selected.
    pub fn frame_selected(&mut self) {
        let session = self.document.session();
        let selected: Vec<Vec3> = match session.select_kind {
            SelectKind::Bones => self
                .bones()
                .iter()
                .filter(|bone| session.selected_joints.contains(&bone.joint))
                .flat_map(|bone| [bone.head, bone.tail])
                .collect(),
            SelectKind::Points => {
                let is_selected = |(mesh, point): (MeshId, u32)| {
                    let set = session.selected_points.get(&mesh);
                    set.is_some_and(|set| set.contains(point))
                };
                self.shown_positions(is_selected)
            }
        };
        if selected.is_empty() {
            self.frame_all();
        } else {
            self.frame_points(&selected);
        }
    }

    /// Where those points are that are `wanted` and not hidden.
    fn shown_positions(&self, wanted: impl Fn((MeshId, u32)) -> bool) -> Vec<Vec3> {
        let session = self.document.session();
        let mut positions = Vec::new();
        for (id, displayed) in self.views.own() {
            let Some(instance) = self.document.instances().get(id) else {
                continue;
            };
            if session.hidden_instances.contains(id) {
                continue;
            }
            let hidden = session.hidden_points.get(&instance.mesh);
            let shown = (0..).zip(displayed.positions.iter()).filter(|&(point, _)| {
                hidden.is_none_or(|set| !set.contains(point)) && wanted((instance.mesh, point))
            });
            positions.extend(shown.map(|(_, &at)| at));
        }
        positions
    }

    /// Frames the finite ones of `points`, but never less than a part of the model: a short bone is seen in its place.
    pub(super) fn frame_points(&mut self, points: &[Vec3]) {
        const LEAST: f32 = 0.15;
        let shown = self
            .views
            .own()
            .values()
            .flat_map(|d| d.positions.iter().copied());
        let least = bounds(shown).map_or(0.0, |(low, high)| (high - low).length() * 0.5 * LEAST);
        if let Some((low, high)) = bounds(points.iter().copied()) {
            let radius = (high - low).length() * 0.5;
            self.camera_mut()
                .frame((low + high) * 0.5, radius.max(least));
        }
    }

    /// [`Editor::rebuild_heat`] where colours should show something else than they do.
    pub(super) fn refresh_heat(&mut self) {
        if self.heat_key != self.wanted_heat() {
            self.rebuild_heat();
        }
    }

    fn wanted_heat(&self) -> (PaintTarget, Option<JointIndex>) {
        match self.paint_target() {
            PaintTarget::Weights => (PaintTarget::Weights, self.document.session().active_joint),
            mask @ PaintTarget::Mask(_) => (mask, None),
        }
    }

    /// What colours show again: the weights of the active bone, for every mesh whose skin has it, or the painted map of
    /// every skinned mesh.
    pub(super) fn rebuild_heat(&mut self) {
        // Never a number again that was on the GPU before.
        let newest = self.heat.values().map(|h| h.generation).max();
        self.heat_generation = self.heat_generation.max(newest.unwrap_or(0));
        let generation = self.heat_generation;
        self.heat.clear();
        self.heat_key = self.wanted_heat();
        for (&mesh, item) in self.document.meshes() {
            let of = match self.heat_key {
                (PaintTarget::Mask(kind), _) => {
                    let skin = self.document.skin_of_mesh(mesh);
                    skin.map(|_| HeatOf::Mask(kind))
                }
                (PaintTarget::Weights, joint) => joint
                    .and_then(|joint| self.document.skin_joint(mesh, joint))
                    .map(HeatOf::Weights),
            };
            if let Some(of) = of {
                self.heat.insert(mesh, Heat::new(item, of, generation));
            }
        }
    }
}

/// The corners of the box around the finite ones of `points`.
fn bounds(points: impl Iterator<Item = Vec3>) -> Option<(Vec3, Vec3)> {
    let finite = points.filter(|p| p.is_finite());
    finite.fold(None, |bounds: Option<(Vec3, Vec3)>, p| {
        Some(bounds.map_or((p, p), |(low, high)| (low.min(p), high.max(p))))
    })
}
