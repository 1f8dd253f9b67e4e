//! Chain ends that stay in position, or are dragged, while a pose is edited.

use crate::editor::Editor;
use crate::skeleton::ik::Chain;
use crate::skeleton::orientation::{orientation, world_of};
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::{DAffine3, DMat3, DVec3};

/// The end of a chain and its transform at the start of an edit.
pub(super) struct ChainEnd {
    chain: Chain,
    position: DVec3,
    /// The orientation of a pinned end, which is kept too: a foot stays flat on the ground.
    orientation: Option<DMat3>,
}

impl ChainEnd {
    /// The end of `chain` in the pose with the world transforms `world` (n_joints).
    pub(super) fn new(chain: Chain, world: &[DAffine3], keeps_orientation: bool) -> Self {
        let end = world[chain.end.get()];
        Self {
            chain,
            position: end.translation,
            orientation: keeps_orientation.then(|| orientation(end.matrix3)),
        }
    }

    /// Moves the end back to its initial position if the edit from `start` to `pose` moved it.
    pub(super) fn keep(&self, skeleton: &Skeleton, start: &Pose, rest: &Pose, pose: &mut Pose) {
        let end = self.chain.end;
        let moved = skeleton
            .logical_ancestors(end)
            .chain(skeleton.ancestors(end))
            .any(|j| pose.locals[j.get()] != start.locals[j.get()]);
        if moved {
            self.chain
                .reach(skeleton, pose, rest, self.position, self.orientation);
        }
    }

    /// Bends the chain so that it reaches the position to which the edit moved its end, and keeps the end's local
    /// transform.
    pub(super) fn follow(&self, skeleton: &Skeleton, start: &Pose, rest: &Pose, pose: &mut Pose) {
        let end = self.chain.end;
        let target = world_of(skeleton, pose, end).translation;
        pose.locals[end.get()] = start.locals[end.get()];
        let here = world_of(skeleton, pose, end).translation;
        if here != target {
            self.chain
                .reach(skeleton, pose, rest, target, self.orientation);
        }
    }
}

impl Editor {
    /// Pins the selected bones in position, or unpins them if all are pinned.
    pub fn toggle_pins(&mut self) {
        self.finish_tool();
        let joints = self.joints_to_pose();
        let pins = &self.document.session().pins;
        if !joints.is_empty() && joints.is_subset(pins) {
            let left = pins.difference(&joints).copied().collect();
            self.document.session_mut().pins = left;
            return;
        }
        let (with, without): (Vec<_>, Vec<_>) = joints
            .into_iter()
            .partition(|&joint| self.chain_of(joint).is_some());
        if let Some(&joint) = without.first() {
            let label = self.document.skeleton().label(joint);
            self.notify(format!(
                "{label} cannot be pinned: a bone chain needs two bones above it."
            ));
        }
        self.document.session_mut().pins.extend(with);
    }

    /// Whether a bone is pinned.
    pub fn is_pinned(&self, joint: JointId) -> bool {
        self.document.session().pins.contains(&joint)
    }

    /// The chain that bends when `end` is dragged.
    pub fn chain_of(&self, end: JointId) -> Option<Chain> {
        let skeleton = self.document.skeleton();
        let is_bone = self.document.bone_mask();
        skeleton.is_live(end).then_some(())?;
        Chain::above(skeleton, end, |j| is_bone[j.get()])
    }
}
