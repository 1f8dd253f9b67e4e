//! Commands of the editor other than pointer events.

use super::weight_colours::BoneAppearance;
use super::{Editor, Heat, HeatOf, WeightView};
use crate::document::joint_colour::joint_colour;
use crate::document::session::{BrushOptions, PaintTarget, SelectKind};
use crate::document::{Edit, MeshId};
use crate::math::Camera;
use crate::skeleton::JointId;
use glam::Vec3;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The inputs of the weight colours besides the weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HeatKey {
    view: WeightView,
    target: PaintTarget,
    joint: Option<JointId>,
    locked: BTreeSet<JointId>,
    colours: BTreeMap<JointId, [u8; 3]>,
}

/// The view that frames a selection is this many times as large as the selection, so that its ends and what is around are seen.
const MARGIN: f32 = 1.2;

impl Editor {
    /// Undoes the newest step, or cancels the current stroke.
    pub fn undo(&mut self) {
        if self.is_dragging_keys() {
            self.cancel_key_drag();
            return;
        }
        if self.is_painting() {
            self.cancel_tool();
            return;
        }
        if self.is_posing() {
            self.cancel_transform();
            return;
        }
        if self.undo_rig_run() {
            return;
        }
        self.take_back_select();
        if let Some(dirty) = self.history.undo(&mut self.document) {
            self.rigging.forget_reports();
            self.refresh(&dirty);
            self.selection_changed();
            self.refresh_heat();
        }
    }

    /// Redoes the step undone last.
    pub fn redo(&mut self) {
        if self.is_painting() || self.is_dragging_keys() || self.is_posing() {
            return;
        }
        self.take_back_select();
        if let Some(dirty) = self.history.redo(&mut self.document) {
            self.rigging.forget_reports();
            self.refresh(&dirty);
            self.selection_changed();
            self.refresh_heat();
        }
    }

    /// Selects only `joint` and makes it the active bone, which is painted and shown in the heat map.
    pub fn select_joint(&mut self, joint: Option<JointId>) {
        self.select_joints(joint, joint);
    }

    /// Locks or unlocks the weights of a bone.
    pub fn toggle_lock(&mut self, joint: JointId) {
        self.finish_tool();
        let mut locked = self.document.locked().clone();
        let label = if locked.remove(&joint) {
            "Unlock bone"
        } else {
            locked.insert(joint);
            "Lock bone"
        };
        if let Err(error) = self.apply(Edit::Locks(Arc::new(locked)), label) {
            self.notify_error(error.to_string());
        }
    }

    /// Mutable access to the brush options.
    pub fn brush_mut(&mut self) -> &mut BrushOptions {
        &mut self.document.session_mut().brush
    }

    /// Mutable access to the camera.
    pub fn camera_mut(&mut self) -> &mut Camera {
        &mut self.document.session_mut().camera
    }

    /// Frames everything on screen.
    pub fn frame_all(&mut self) {
        let mut points = self.shown_positions(|_| true);
        points.extend(self.document.left_out().boxes.iter().flatten());
        self.frame_points(&points);
    }

    /// Frames the selected bones or points, whichever kind is picked, or everything without a selection.
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
            self.camera_mut().distance *= MARGIN;
        }
    }

    /// The positions of the visible points for which `wanted` is true.
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

    /// Frames the finite ones of `points`, with a minimum size relative to the model, so that a short bone is shown in
    /// context.
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

    /// Calls [`Editor::rebuild_heat`] if the weight colours are out of date.
    pub(super) fn refresh_heat(&mut self) {
        if self.heat_key != self.wanted_heat() {
            self.rebuild_heat();
        }
    }

    /// Chooses what the weight colours show.
    pub fn show_weights(&mut self, view: WeightView) {
        self.weight_view = view;
        self.refresh_heat();
    }

    /// What the weight colours show.
    pub fn weight_view(&self) -> WeightView {
        self.weight_view
    }

    fn wanted_heat(&self) -> HeatKey {
        let session = self.document.session();
        let view = self.weight_view;
        let mut key = HeatKey {
            view,
            ..HeatKey::default()
        };
        if view == WeightView::Painted {
            key.target = self.paint_target();
        }
        if key.target == PaintTarget::Weights {
            key.locked.clone_from(self.document.locked());
        }
        match (view, key.target) {
            (WeightView::Painted, PaintTarget::Weights) => key.joint = session.active_joint,
            (WeightView::Bones, _) => key.colours.clone_from(&session.joint_colours),
            _ => {}
        }
        key
    }

    /// Rebuilds the weight colours: of every mesh whose skin has the active bone, otherwise of every skinned mesh.
    pub(super) fn rebuild_heat(&mut self) {
        // Never reuse a generation that is on the GPU.
        let newest = self.heat.values().map(|h| h.generation).max();
        self.heat_generation = self.heat_generation.max(newest.unwrap_or(0));
        let generation = self.heat_generation;
        self.heat.clear();
        self.heat_key = self.wanted_heat();
        let key = &self.heat_key;
        for (&mesh, item) in self.document.meshes() {
            let Some((_, skin)) = self.document.skin_of_mesh(mesh) else {
                continue;
            };
            let of = match (key.view, key.target) {
                (WeightView::Painted, PaintTarget::Mask(_) | PaintTarget::LayerMask) => {
                    match self.document.visible_map(mesh) {
                        Some(map) => HeatOf::from(map),
                        None => continue,
                    }
                }
                (WeightView::Painted, PaintTarget::Weights) => {
                    let index = key
                        .joint
                        .and_then(|joint| self.document.skin_joint(mesh, joint));
                    match index {
                        Some(index) => HeatOf::Weights(index),
                        None => continue,
                    }
                }
                (WeightView::Bones, _) => HeatOf::Bones,
                (WeightView::Count, _) => HeatOf::Count,
                (WeightView::Sum, _) => HeatOf::Sum,
            };
            let mut appearance = BoneAppearance::default();
            if !key.locked.is_empty() {
                let locked = skin.joints.iter().map(|joint| key.locked.contains(joint));
                appearance.locked = locked.collect();
            }
            if of == HeatOf::Bones {
                let session = self.document.session();
                let colours = skin
                    .joints
                    .iter()
                    .map(|&joint| joint_colour(session, joint));
                appearance.colours = colours.map(BoneAppearance::mixable).collect();
            }
            self.heat
                .insert(mesh, Heat::new(item, of, appearance, generation));
        }
    }
}

/// The corners of the bounding box of the finite ones of `points`.
fn bounds(points: impl Iterator<Item = Vec3>) -> Option<(Vec3, Vec3)> {
    let finite = points.filter(|p| p.is_finite());
    finite.fold(None, |bounds: Option<(Vec3, Vec3)>, p| {
        Some(bounds.map_or((p, p), |(low, high)| (low.min(p), high.max(p))))
    })
}
