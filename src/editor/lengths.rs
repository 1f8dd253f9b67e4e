//! Lengths in world metres: the file's own units are scaled by the nodes above a joint.

use super::Editor;
use crate::skeleton::JointId;
use crate::skeleton::orientation::world_of;
use glam::{DMat3, DVec3};

impl Editor {
    /// The distance from a joint to its first child in the rest pose, world metres; `None` without a child.
    pub fn bone_length(&self, joint: JointId) -> Option<f64> {
        let skeleton = self.document.skeleton();
        let child = *skeleton.children(joint).first()?;
        let rest = self.document.rest_pose();
        let place = |joint| world_of(skeleton, rest, joint).translation;
        let length = place(joint).distance(place(child));
        length.is_finite().then_some(length)
    }

    /// The world length of one unit of a joint's location along each axis of its parent, metres, in the pose on screen;
    /// 1 along an axis that is scaled to nothing.
    pub fn metres_per_location(&self, joint: JointId) -> DVec3 {
        let skeleton = self.document.skeleton();
        if !skeleton.is_live(joint) {
            return DVec3::ONE;
        }
        let parent = skeleton.joint(joint).parent;
        let map = parent.map_or(DMat3::IDENTITY, |parent| {
            world_of(skeleton, &self.document.shown_pose(), parent).matrix3
        });
        DVec3::new(
            map.x_axis.length(),
            map.y_axis.length(),
            map.z_axis.length(),
        )
        .map(|length| {
            if length.is_finite() && length > 0.0 {
                length
            } else {
                1.0
            }
        })
    }
}
