//! Ends of chains that stay, or are pulled, while a pose is edited.

use crate::skeleton::ik::Chain;
use crate::skeleton::orientation::{orientation, world_of};
use crate::skeleton::{Pose, Skeleton};
use glam::{DAffine3, DMat3, DVec3};

/// The end of a chain, where it was at the start of an edit.
pub(super) struct Held {
    chain: Chain,
    place: DVec3,
    /// A pinned end keeps the way it lies too: a foot stays flat on the ground.
    lies: Option<DMat3>,
}

impl Held {
    /// The end of `chain` as it is in `world` (n_joints).
    pub(super) fn new(chain: Chain, world: &[DAffine3], keeps_orientation: bool) -> Self {
        let end = world[chain.end.get()];
        Self {
            chain,
            place: end.translation,
            lies: keeps_orientation.then(|| orientation(end.matrix3)),
        }
    }

    /// Brings the end back to its place, if the edit from `start` to `pose` has moved it.
    pub(super) fn keep(&self, skeleton: &Skeleton, start: &Pose, rest: &Pose, pose: &mut Pose) {
        let end = self.chain.end;
        let moved = skeleton
            .ancestors(end)
            .any(|j| pose.locals[j.get()] != start.locals[j.get()]);
        if moved {
            self.chain
                .reach(skeleton, pose, rest, self.place, self.lies);
        }
    }

    /// Bends the chain to where the edit has moved its end, which keeps its place on the bone.
    pub(super) fn follow(&self, skeleton: &Skeleton, start: &Pose, rest: &Pose, pose: &mut Pose) {
        let end = self.chain.end;
        let target = world_of(skeleton, pose, end).translation;
        pose.locals[end.get()] = start.locals[end.get()];
        let here = world_of(skeleton, pose, end).translation;
        if here != target {
            self.chain.reach(skeleton, pose, rest, target, self.lies);
        }
    }
}
