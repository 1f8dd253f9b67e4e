//! The pose library: poses are made from what is on screen and applied by an amount.

use super::Editor;
use crate::document::{Edit, PoseId};
use crate::finding::counted;
use crate::skeleton::library_pose::MAX_AMOUNT;
use crate::skeleton::{Clip, JointId, Pose};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How a pose of the library is applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseAmount {
    /// 0 leaves the pose on screen, 1 is the pose of the library, up to [`MAX_AMOUNT`] goes on beyond it.
    pub amount: f64,
    /// Whether the bones of the other side get it, mirrored.
    pub flipped: bool,
    /// Whether its difference from the rest pose is added to the pose on screen.
    pub added: bool,
}

impl PoseAmount {
    /// The whole pose.
    pub const WHOLE: Self = Self {
        amount: 1.0,
        flipped: false,
        added: false,
    };

    /// The whole pose on the other side.
    pub const FLIPPED: Self = Self {
        flipped: true,
        ..Self::WHOLE
    };

    /// The label of an undo step.
    fn label(self, name: &str) -> String {
        let percent = format!("{:.0} %", self.amount * 100.0);
        let how = if self.flipped { " flipped" } else { "" };
        match (self.added, percent.as_str()) {
            (true, percent) => format!("Add {percent} of pose \"{name}\"{how}"),
            (false, "100 %") => format!("Apply pose \"{name}\"{how}"),
            (false, percent) => format!("Apply {percent} of pose \"{name}\"{how}"),
        }
    }
}

/// A pose of the library that is being applied.
pub(super) struct Applied {
    id: PoseId,
    name: String,
    /// The joints that it may change; `None` for all of the pose.
    chosen: Option<BTreeSet<JointId>>,
    plain: Clip,
    flipped: Clip,
    /// Joints of the pose without a counterpart.
    n_unpaired: usize,
    shown: PoseAmount,
}

impl Applied {
    fn clip(&self, flipped: bool) -> &Clip {
        if flipped { &self.flipped } else { &self.plain }
    }

    /// Whether it has bones to change.
    fn concerns(&self, flipped: bool) -> bool {
        let held = &self.clip(flipped).channels;
        held.iter().any(|c| self.is_chosen(c.joint))
    }

    fn is_chosen(&self, joint: JointId) -> bool {
        (self.chosen.as_ref()).is_none_or(|chosen| chosen.contains(&joint))
    }
}

impl Editor {
    /// The active pose of the library.
    pub fn active_pose(&self) -> Option<PoseId> {
        let poses = self.document.poses();
        let active = self.posing.active_pose;
        active.filter(|id| poses.contains_key(id))
    }

    /// Makes a pose of the library active.
    pub fn set_active_pose(&mut self, id: Option<PoseId>) {
        self.posing.active_pose = id;
    }

    /// Adds the pose on screen of the selected bones, or of all, to the library, and makes it active. Returns its id; `None`
    /// where the model has no bones.
    pub fn create_pose(&mut self) -> Option<PoseId> {
        self.finish_tool();
        let joints = self.bones_or_all();
        let name = self.free_pose_name("Pose 1");
        let pose = Clip::of_pose(&name, &self.document.free_pose(), joints.iter().copied());
        let label = format!("Create pose \"{name}\"");
        let id = self.document.free_pose_id();
        if joints.is_empty() || !self.set_library_pose_clip(id, Some(pose), &label) {
            return None;
        }
        self.posing.active_pose = Some(id);
        let n = joints.len();
        self.notify(format!("Created “{name}” of {}.", counted(n, "bone")));
        Some(id)
    }

    /// Updates a pose of the library from the pose on screen: the selected bones, which it holds from now on beside its others, or
    /// without a selection all that it holds.
    pub fn update_pose(&mut self, id: PoseId) {
        self.finish_tool();
        let Some(before) = self.document.poses().get(&id).cloned() else {
            return;
        };
        let selected = &self.document.session().selected_joints;
        let joints = if selected.is_empty() {
            before.posed_joints()
        } else {
            selected.clone()
        };
        let shown = self.document.free_pose();
        let mut pose = Clip::clone(&before);
        pose.channels.retain(|c| !joints.contains(&c.joint));
        let new = Clip::of_pose("", &shown, joints.iter().copied());
        pose.channels.extend(new.channels);
        pose.channels.sort_by_key(|c| c.joint);
        let name = before.name.clone();
        if pose == *before {
            self.notify(format!("“{name}” has these values already."));
            return;
        }
        let label = format!("Update pose \"{name}\"");
        if self.set_library_pose_clip(id, Some(pose), &label) {
            self.posing.active_pose = Some(id);
            let bones = counted(joints.len(), "bone");
            self.notify(format!("Updated {bones} of “{name}”."));
        }
    }

    /// Renames a pose of the library; a number makes the name unique.
    pub fn rename_pose(&mut self, id: PoseId, name: &str) {
        let name = name.trim();
        let Some(before) = self.document.poses().get(&id).cloned() else {
            return;
        };
        if name.is_empty() || before.name == name {
            return;
        }
        let name = self.free_pose_name(name);
        let label = format!("Rename pose to \"{name}\"");
        let renamed = Clip {
            name,
            ..Clip::clone(&before)
        };
        self.set_library_pose_clip(id, Some(renamed), &label);
    }

    /// Removes a pose from the library; the one after it becomes active.
    pub fn remove_pose(&mut self, id: PoseId) {
        self.finish_tool();
        let poses = self.document.poses();
        let Some(pose) = poses.get(&id) else {
            return;
        };
        let label = format!("Remove pose \"{}\"", pose.name);
        let after = poses.range(id..).nth(1).or(poses.range(..id).next_back());
        let next = after.map(|(&id, _)| id);
        if self.set_library_pose_clip(id, None, &label) && self.posing.active_pose == Some(id) {
            self.posing.active_pose = next;
        }
    }

    /// Selects the bones of a pose of the library.
    pub fn select_pose_bones(&mut self, id: PoseId) {
        let Some(pose) = self.document.poses().get(&id) else {
            return;
        };
        let joints = pose.posed_joints();
        let active = self.document.session().active_joint;
        let active = active.filter(|joint| joints.contains(joint));
        let active = active.or(joints.first().copied());
        self.select_joints(joints, active);
    }

    /// Applies a pose of the library to the selected bones, or to all that it holds: one undo step. Returns whether anything
    /// changed.
    pub fn apply_library_pose(&mut self, id: PoseId, how: PoseAmount) -> bool {
        let n_before = self.history.n_undo();
        if !self.begin_library_pose(id) {
            return false;
        }
        self.set_library_pose(how);
        let name = self.applied().map(|applied| applied.name.clone());
        self.confirm_transform();
        let is_changed = self.history.n_undo() != n_before;
        if !is_changed && let Some(name) = name {
            self.notify(format!("The bones have the pose “{name}” already."));
        }
        is_changed
    }

    /// Starts to apply a pose of the library by an amount that follows [`Editor::set_library_pose`]: one undo step until
    /// [`Editor::confirm_transform`]. Returns whether there is something to apply.
    pub fn begin_library_pose(&mut self, id: PoseId) -> bool {
        self.finish_tool();
        let Some(pose) = self.document.poses().get(&id).cloned() else {
            return false;
        };
        self.posing.active_pose = Some(id);
        if self.document.session().shows_rest {
            self.notify("Edit bones mode shows the rest pose: choose another mode first.");
            return false;
        }
        let flipped = pose.flipped(self.document.rest_pose(), &self.mirror());
        let selected = self.document.session().selected_joints.clone();
        let applied = Applied {
            id,
            name: pose.name.clone(),
            chosen: (!selected.is_empty()).then_some(selected),
            plain: Clip::clone(&pose),
            flipped: flipped.pose,
            n_unpaired: flipped.unpaired.len(),
            shown: PoseAmount {
                amount: 0.0,
                ..PoseAmount::WHOLE
            },
        };
        if !applied.concerns(false) && !applied.concerns(true) {
            let name = &pose.name;
            self.notify(if pose.channels.is_empty() {
                format!("“{name}” holds no bones any more.")
            } else {
                format!("“{name}” holds none of the selected bones. Deselect all to apply it to its own.")
            });
            return false;
        }
        let start = self.document.free_pose();
        let label = PoseAmount::WHOLE.label(&pose.name);
        self.open_step(label, start, None, Vec::new(), Vec::new());
        if let Some(running) = &mut self.posing.running {
            running.applied = Some(applied);
        }
        true
    }

    /// The pose of the library that is being applied, and how.
    pub fn applied_pose(&self) -> Option<(PoseId, PoseAmount)> {
        self.applied().map(|applied| (applied.id, applied.shown))
    }

    /// Sets how the pose is applied, relative to the start.
    pub fn set_library_pose(&mut self, how: PoseAmount) {
        let interpolation = self.pose_options().blend_interpolation;
        let rest = self.document.rest_pose().clone();
        let skeleton = self.document.skeleton().clone();
        let Some(running) = &mut self.posing.running else {
            return;
        };
        let Some(applied) = (running.applied.as_mut()).filter(|_| how.amount.is_finite()) else {
            return;
        };
        let how = PoseAmount {
            amount: how.amount.clamp(0.0, MAX_AMOUNT),
            ..how
        };
        applied.shown = how;
        let is_chosen = |joint| applied.is_chosen(joint);
        let clip = applied.clip(how.flipped);
        running.next = if how.added {
            let to = clip.posed_over(&rest, is_chosen);
            running.start.with_added(&to, &rest, how.amount, is_chosen)
        } else {
            let to = clip.posed_over(&running.start, is_chosen);
            let start = &running.start;
            start.taken_towards(&to, how.amount, interpolation, is_chosen)
        };
        let turned = |pose: &Pose, joint: JointId| pose.locals[joint.get()].rotation;
        for joint in clip.posed_joints() {
            if turned(&running.next, joint) != turned(&running.start, joint) {
                running.next.clamp_rotation(&skeleton, joint);
            }
        }
        running.label = how.label(&applied.name);
        let label = running.label.clone();
        self.show_next();
        self.history.name_step(label);
    }

    /// After a flipped pose: reports the bones without a counterpart.
    pub(super) fn tell_applied(&mut self, applied: Option<&Applied>) {
        let Some(applied) = applied else {
            return;
        };
        let shown = applied.shown;
        if !shown.flipped || shown.amount <= 0.0 {
            return;
        }
        if !applied.concerns(true) {
            let name = &applied.name;
            self.notify(format!(
                "The other side of “{name}” has none of the selected bones."
            ));
        } else if applied.n_unpaired > 0 {
            let bones = counted(applied.n_unpaired, "bone");
            let has = if applied.n_unpaired == 1 {
                "has"
            } else {
                "have"
            };
            self.notify(format!("{bones} {has} no counterpart on the other side."));
        }
    }

    /// `wanted`, or with the first number that makes it unique among the poses of the library.
    pub(super) fn free_pose_name(&self, wanted: &str) -> String {
        let taken: BTreeSet<&str> = (self.document.poses().values())
            .map(|pose| &*pose.name)
            .collect();
        crate::editor::animating::numbered(wanted, &taken)
    }

    pub(super) fn set_library_pose_clip(
        &mut self,
        id: PoseId,
        pose: Option<Clip>,
        label: &str,
    ) -> bool {
        let pose = pose.map(Arc::new);
        match self.apply(Edit::LibraryPose { id, pose }, label) {
            Ok(()) => true,
            Err(error) => {
                self.notify_error(error.to_string());
                false
            }
        }
    }

    fn applied(&self) -> Option<&Applied> {
        self.posing.running.as_ref()?.applied.as_ref()
    }

    /// The selected bones, or without a selection all nodes of the model.
    fn bones_or_all(&self) -> BTreeSet<JointId> {
        let selected = &self.document.session().selected_joints;
        if selected.is_empty() {
            self.document.skeleton().live_joints().collect()
        } else {
            selected.clone()
        }
    }
}
