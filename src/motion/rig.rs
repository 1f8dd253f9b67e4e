//! A skeleton in one pose, as roles and reference poses need it.

use super::bvh::BvhPoses;
use super::known_bones::KnownBones;
use crate::skeleton::{Pose, Skeleton};
use glam::{DQuat, DVec3};

/// Names, parents and world transforms of joints.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rig {
    /// n_joints.
    pub names: Vec<String>,
    /// n_joints; `None` for a root.
    pub parents: Vec<Option<usize>>,
    /// n_joints: whether a role may be given to it.
    pub is_bone: Vec<bool>,
    /// n_joints: world rotations.
    pub rotations: Vec<DQuat>,
    /// n_joints: world places.
    pub places: Vec<DVec3>,
    /// The bones of its humanoid map that the file or the artist gives.
    pub known: KnownBones,
}

impl Rig {
    /// A skeleton at rest; `is_bone` says which slots move a skin.
    pub fn of_skeleton(skeleton: &Skeleton, is_bone: impl Fn(usize) -> bool) -> Self {
        let world = Pose::rest(skeleton).world_matrices(skeleton);
        let joints = skeleton.joints();
        Self {
            names: joints.iter().map(|joint| joint.name.clone()).collect(),
            parents: joints
                .iter()
                .map(|joint| joint.parent.map(crate::skeleton::JointId::get))
                .collect(),
            is_bone: (0..joints.len())
                .map(|j| !joints[j].removed && is_bone(j))
                .collect(),
            rotations: rest_rotations(skeleton),
            places: world.iter().map(|w| w.translation).collect(),
            known: KnownBones::default(),
        }
    }

    /// The joints of a BVH file at rest: all channels 0.
    pub(super) fn of_bvh(poses: &BvhPoses<'_>) -> Self {
        let bvh = poses.bvh();
        let world = poses.world(None);
        Self {
            names: bvh.joints.iter().map(|joint| joint.name.clone()).collect(),
            parents: bvh.joints.iter().map(|joint| joint.parent).collect(),
            is_bone: vec![true; bvh.joints.len()],
            rotations: world.iter().map(|w| w.0).collect(),
            places: world.iter().map(|w| w.1).collect(),
            known: KnownBones::default(),
        }
    }

    /// The number of joints.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether it has no joint.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The parent of a joint, its grandparent ... up to its root.
    pub fn ancestors(&self, joint: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.parents[joint], |&j| self.parents[j])
    }

    /// How many ancestors a joint has.
    pub fn depth(&self, joint: usize) -> usize {
        self.ancestors(joint).count()
    }

    /// Whether `joint` is below `ancestor`.
    pub fn is_below(&self, joint: usize, ancestor: usize) -> bool {
        self.ancestors(joint).any(|j| j == ancestor)
    }
}

/// The world rotations of a skeleton at rest: products of the joints' own.
pub(super) fn rest_rotations(skeleton: &Skeleton) -> Vec<DQuat> {
    let mut rotations = vec![DQuat::IDENTITY; skeleton.len()];
    for &j in skeleton.order() {
        let joint = &skeleton.joints()[j as usize];
        let own = joint.rest.rotation;
        rotations[j as usize] = match joint.parent {
            Some(parent) => rotations[parent.get()] * own,
            None => own,
        };
    }
    rotations
}
