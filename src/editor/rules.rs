//! Overrides of a bone: its end, and the bones whose scale and inflation it follows.

use super::Editor;
use crate::document::Edit;
use crate::skeleton::{JointId, JointRule, bones};
use glam::{DAffine3, DVec3};

impl Editor {
    /// The end of a bone in its joint's rest space: the user's override, otherwise at its children or extended from its
    /// parent.
    pub fn bone_end(&self, joint: JointId) -> DVec3 {
        let skeleton = self.document.skeleton();
        let tail = skeleton
            .is_live(joint)
            .then(|| skeleton.joint(joint).rule.tail);
        match tail {
            Some(Some(tail)) => tail,
            Some(None) => bones::automatic_tail(skeleton, joint),
            None => DVec3::ZERO,
        }
    }

    /// The world length of one unit of a joint's rest space, to show numbers with units; 1 if the joint has no volume.
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

    /// Sets the overrides of a bone: one undo step, or part of the open one.
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
