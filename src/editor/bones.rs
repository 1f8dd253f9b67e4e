//! Commands of the bone list: name, lock, colour, visibility.

use super::Editor;
use crate::document::session::SelectKind;
use crate::document::{Edit, InstanceId, MeshId};
use crate::evaluate::ViewId;
use crate::mesh::PointSet;
use crate::skeleton::bone_segments::bones_of_rig;
use crate::skeleton::{Bone, JointId};
use glam::DAffine3;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Editor {
    /// The visible bones in a view: those of another body where it shows one.
    pub fn bones_in(&self, view: ViewId) -> Vec<Bone> {
        let Some(world) = self.views.world_of_body(view) else {
            return self.bones();
        };
        let skeleton = self.document.skeleton();
        if world.len() != skeleton.len() {
            return Vec::new();
        }
        let shown = self.document.bone_mask();
        let hidden = &self.document.session().hidden_joints;
        let mut bones = bones_of_rig(skeleton, world, |j| shown[j.get()], |j| self.is_weighted(j));
        bones.retain(|bone| !hidden.contains(&bone.joint));
        bones
    }

    /// World transforms of the joints in the view that receives clicks; empty before the first result.
    pub fn pointed_world(&self) -> &[DAffine3] {
        let of_body = self.views.world_of_body(self.pointed_view());
        of_body.unwrap_or_else(|| self.world())
    }

    /// Whether a view shows another body, with bones of its own.
    pub fn shows_other_body(&self, view: ViewId) -> bool {
        self.views.world_of_body(view).is_some()
    }

    /// Selects exactly the visible bones of `joints`; `active` is painted and shown in the heat map.
    pub fn select_joints(
        &mut self,
        joints: impl IntoIterator<Item = JointId>,
        active: Option<JointId>,
    ) {
        let skeleton = self.document.skeleton().clone();
        let session = self.document.session_mut();
        let is_live = |joint: &JointId| skeleton.is_live(*joint);
        session.selected_joints = joints.into_iter().filter(is_live).collect();
        session.deselect_hidden();
        let active = active.filter(is_live);
        session.active_joint = active;
        self.selection_changed();
        self.refresh_heat();
    }

    /// Selects exactly the visible `points` of `mesh`, and makes points the kind that is picked.
    pub fn select_points(&mut self, mesh: MeshId, points: &[u32]) {
        let Some(n) = self
            .document
            .meshes()
            .get(&mesh)
            .map(|m| m.influences.len())
        else {
            return;
        };
        self.set_select_kind(SelectKind::Points);
        let set: PointSet = points
            .iter()
            .copied()
            .filter(|&p| (p as usize) < n)
            .collect();
        let session = self.document.session_mut();
        session.selected_points.clear();
        if !set.is_empty() {
            session.selected_points.insert(mesh, Arc::new(set));
        }
        session.deselect_hidden();
        self.selection_changed();
    }

    /// `joint` and all its descendants.
    pub fn with_children(&self, joint: JointId) -> BTreeSet<JointId> {
        let skeleton = self.document.skeleton();
        let mut found = BTreeSet::new();
        let mut open = vec![joint];
        while let Some(joint) = open.pop().filter(|&j| skeleton.is_live(j)) {
            found.insert(joint);
            open.extend(skeleton.children(joint));
        }
        found
    }

    /// Renames a bone: one undo step. An empty or duplicate name is allowed, with a notice.
    pub fn rename_joint(&mut self, joint: JointId, name: &str) {
        let name = name.trim();
        let skeleton = self.document.skeleton();
        if !skeleton.is_live(joint) || skeleton.joint(joint).name == name {
            return;
        }
        let is_taken = skeleton.joint_named(name).is_some();
        self.finish_tool();
        let mut edits = self.document.follow_renamed_bone(joint, name);
        edits.push(Edit::JointName {
            joint,
            name: name.to_owned(),
        });
        let before = self.document.skeleton().joint(joint).name.clone();
        let follows = self.document.can_follow_renamed_bone(joint, name);
        if !self.keep_edits(edits, "Rename bone") {
            return;
        }
        if follows {
            self.change_pending_bindings(|to| to.rename_joint(&before, name));
            self.rename_bone_in_pending_recordings(&before, name);
        }
        if name.is_empty() {
            self.notify(format!(
                "The bone has no name. It is listed as \"{}\".",
                self.document.skeleton().label(joint)
            ));
        } else if is_taken {
            self.notify(format!(
                "Another bone is also named \"{name}\". Some programs identify bones by name."
            ));
        }
    }

    /// Locks exactly `locked`: one undo step called `label`.
    fn set_locked(&mut self, locked: BTreeSet<JointId>, label: &str) {
        if *self.document.locked() == locked {
            return;
        }
        self.finish_tool();
        if let Err(error) = self.apply(Edit::Locks(Arc::new(locked)), label) {
            self.notify_error(error.to_string());
        }
    }

    /// Locks the weights of all bones except `joints`, and unlocks those.
    pub fn lock_others(&mut self, joints: &BTreeSet<JointId>) {
        let mask = self.document.bone_mask();
        let others = (0..mask.len() as u32)
            .map(JointId)
            .filter(|j| mask[j.get()] && !joints.contains(j));
        self.set_locked(others.collect(), "Lock other bones");
    }

    /// Locks the weights of unlocked bones, and unlocks those of locked bones.
    pub fn invert_locks(&mut self) {
        let mask = self.document.bone_mask();
        let free = (0..mask.len() as u32)
            .map(JointId)
            .filter(|j| mask[j.get()] && !self.document.locked().contains(j));
        self.set_locked(free.collect(), "Invert locks");
    }

    /// Unlocks the weights of all bones.
    pub fn unlock_all(&mut self) {
        self.set_locked(BTreeSet::new(), "Unlock all bones");
    }

    /// Locks or unlocks the weights of some bones together: one undo step.
    pub fn lock_joints(&mut self, joints: &BTreeSet<JointId>, lock: bool) {
        let mut locked = self.document.locked().clone();
        for &joint in joints {
            if lock {
                locked.insert(joint);
            } else {
                locked.remove(&joint);
            }
        }
        let label = match (lock, joints.len()) {
            (true, 1) => "Lock bone",
            (true, _) => "Lock bones",
            (false, 1) => "Unlock bone",
            (false, _) => "Unlock bones",
        };
        self.set_locked(locked, label);
    }

    /// Sets the colour of a bone; `None` restores its default.
    pub fn set_joint_colour(&mut self, joint: JointId, colour: Option<[u8; 3]>) {
        let colours = &mut self.document.session_mut().joint_colours;
        match colour {
            Some(colour) => colours.insert(joint, colour),
            None => colours.remove(&joint),
        };
        self.refresh_heat();
    }

    /// Makes the mesh of an object the active one.
    pub fn set_active_mesh(&mut self, instance: InstanceId) {
        if let Some(instance) = self.document.instances().get(&instance) {
            let mesh = instance.mesh;
            self.document.session_mut().active_mesh = Some(mesh);
        }
    }

    /// Frames an object.
    pub fn frame_instance(&mut self, instance: InstanceId) {
        if let Some(shown) = self.views.own().get(&instance) {
            let positions = shown.positions.clone();
            self.frame_points(&positions);
        }
    }

    /// Sets a morph weight of the object that `joint` draws. Inside a step opened with [`Editor::begin_step`], a whole
    /// drag is one step.
    pub fn set_morph_weight(&mut self, joint: JointId, target: usize, weight: f32) {
        let Some(weights) = self.document.pose().morph_weights.get(joint.get()) else {
            return;
        };
        let mut weights = weights.clone();
        let Some(slot) = weights.get_mut(target).filter(|slot| **slot != weight) else {
            return;
        };
        *slot = weight;
        if let Err(error) = self.apply(Edit::MorphWeights { joint, weights }, "Set morph target") {
            self.notify_error(error.to_string());
        }
    }

    /// Opens an undo step, which collects edits until [`Editor::end_step`].
    pub fn begin_step(&mut self, label: &str) {
        self.finish_tool();
        self.history.begin(&self.document, label);
    }

    /// Ends the open undo step; a step without edits is dropped.
    pub fn end_step(&mut self) {
        self.history.commit(&self.document);
    }

    /// Cancels the step opened with [`Editor::begin_step`]: the document is as before it.
    pub fn cancel_step(&mut self) {
        if self.history.is_open() {
            let dirty = self.history.cancel(&mut self.document);
            self.refresh(&dirty);
        }
    }

    /// Undoes or redoes until `n_done` steps of the history are applied.
    pub fn jump_to_step(&mut self, n_done: usize) {
        if self.is_dragging_keys() {
            self.cancel_key_drag();
        }
        if self.is_painting() {
            self.cancel_tool();
        }
        if self.is_posing() {
            self.cancel_transform();
        }
        self.take_back_select();
        let dirty = self.history.jump(&mut self.document, n_done);
        if !dirty.is_empty() {
            self.rigging.forget_reports();
            self.refresh(&dirty);
            self.selection_changed();
            self.refresh_heat();
        }
    }
}
