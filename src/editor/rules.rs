//! What the artist overrides of a bone: where it ends, whose scale and inflation it follows.

use super::Editor;
use crate::document::Edit;
use crate::skeleton::{JointId, JointRule, bone_segments};
use glam::{DAffine3, DVec3};

impl Editor {
    /// Where a bone ends at rest, in its joint's rest space: as the artist set it, else at its children or on from its
    /// parent.
    pub fn bone_end(&self, joint: JointId) -> DVec3 {
        let skeleton = self.document.skeleton();
        let tail = skeleton
            .is_live(joint)
            .then(|| skeleton.joint(joint).rule.tail);
        match tail {
            Some(Some(tail)) => tail,
            Some(None) => bone_segments::automatic_tail(skeleton, joint),
            None => DVec3::ZERO,
        }
    }

    /// World length of one unit of a joint's rest space, for numbers with units; 1 where the joint has no volume.
    pub fn metres_per_unit(&self, joint: JointId) -> f64 {
        let skeleton = self.document.skeleton();
        if !skeleton.is_live(joint) {
            return 1.0;
        }
        let above = skeleton.ancestors(joint);
        let world = std::iter::once(joint)
            .chain(above)
            .fold(DAffine3::IDENTITY, |below, j| {
                skeleton.joint(j).rest.to_affine() * below
            });
        let scale = world.matrix3.determinant().abs().cbrt();
        if scale.is_finite() && scale > 0.0 {
            scale
        } else {
            1.0
        }
    }

    /// Changes what the artist overrides of a bone: one undo step, or part of the one that is open.
    pub fn set_joint_rule(&mut self, joint: JointId, rule: JointRule, label: &str) {
        let skeleton = self.document.skeleton();
        if !skeleton.is_live(joint) || skeleton.joint(joint).rule == rule {
            return;
        }
        if let Err(error) = self.apply(Edit::JointRule { joint, rule }, label) {
            self.notify_error(format!("{error}."));
        }
    }
}
