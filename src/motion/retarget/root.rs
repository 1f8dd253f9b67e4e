//! The travel of the hips on the root joint of the skeleton.

use super::moved::How;
use super::reference::yaw_between;
use super::target::{Retarget, RetargetPose};
use crate::skeleton::JointId;
use glam::{DAffine3, DQuat, DVec3};

/// A body whose front is steeper than this has no heading: the cosine to the floor.
const STEEP: f64 = 0.2;

impl Retarget<'_> {
    /// Gives the travel of the hips to the root joint. The places of what the motion drives stay.
    pub(super) fn move_root(&self, poses: &mut [RetargetPose]) {
        let mut heading = DQuat::IDENTITY;
        for pose in poses {
            self.move_root_of(pose, &mut heading);
        }
    }

    /// Gives the travel of the hips in one pose to the root joint, if that travels. `heading`: that of the pose before, at first
    /// none, which becomes that of this pose.
    pub fn move_root_of(&self, pose: &mut RetargetPose, heading: &mut DQuat) {
        let Some(root) = self.root() else {
            return;
        };
        let (hips, rest) = (self.hips(), self.rest_rotations());
        let places = self.rest_places();
        let turned = pose.world[hips] * rest[hips].conjugate();
        let front = self.front_at_rest();
        let now = (turned * front).with_y(0.0);
        if now.length() > STEEP {
            *heading = yaw_between(Some(front), now.try_normalize());
        }
        let under = DVec3::new(pose.places[hips].x, places[hips].y, pose.places[hips].z);
        let place = under + *heading * (places[root] - places[hips]);
        self.hang(pose, root, *heading * rest[root], place);
    }

    /// Puts the root joint of a pose somewhere; what is driven below it keeps its world rotation, the hips and flat chains their
    /// places.
    fn hang(&self, pose: &mut RetargetPose, root: usize, rotation: DQuat, place: DVec3) {
        let skeleton = self.skeleton();
        let mut rotations = vec![DQuat::IDENTITY; skeleton.len()];
        let mut world = vec![DAffine3::IDENTITY; skeleton.len()];
        for &j in skeleton.order() {
            let j = j as usize;
            let joint = &skeleton.joints()[j];
            let parent = joint.parent.map(JointId::get);
            let above = parent.map_or(DQuat::IDENTITY, |p| rotations[p]);
            let space = parent.map_or(DAffine3::IDENTITY, |p| world[p]);
            let slot = self.translated_joints().position(|moved| moved == j);
            let is_carried =
                slot.is_some_and(|slot| matches!(self.moved()[slot].how, How::Carried(_)));
            let wanted = if j == root {
                Some(rotation)
            } else {
                self.is_driven(j).then_some(pose.world[j])
            };
            if let Some(wanted) = wanted {
                pose.rotations[j] = above.conjugate() * wanted;
            }
            rotations[j] = above * pose.rotations[j];
            let wanted = if j == root {
                Some(place)
            } else {
                (j == self.hips() || is_carried).then_some(pose.places[j])
            };
            let wanted = wanted.map(|wanted| space.inverse().transform_point3(wanted));
            let wanted = wanted.filter(|wanted| wanted.is_finite());
            let mut local = joint.rest;
            local.rotation = pose.rotations[j];
            if j == self.hips() {
                pose.hips = wanted.unwrap_or(pose.hips);
                local.translation = pose.hips;
            } else if let Some(slot) = slot {
                let own = &mut pose.translations[slot];
                *own = wanted.unwrap_or(*own);
                local.translation = *own;
            }
            world[j] = space * local.to_affine();
        }
        self.place(pose);
    }
}
