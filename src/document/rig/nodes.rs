//! The nodes in a file of the joints made in Sinew.

use crate::document::{Document, InstanceId};
use crate::skeleton::{JointId, Skeleton};
use std::borrow::Cow;
use std::sync::Arc;

impl Document {
    /// The id in the document's file of an instance that `joint` draws. Files number instances by their nodes, and a
    /// change of the rig can move what a node draws to another node.
    pub fn instance_in_file(&self, id: InstanceId, joint: JointId) -> InstanceId {
        let node = self.skeleton.joint(joint).source_node;
        node.map_or(id, InstanceId)
    }

    /// The document with a node for each joint made in Sinew, from `first_node` on; borrowed where there are none. Of
    /// removed joints only those that `is_listed` in a skin of the file get one.
    ///
    /// All else stays the same, so that evaluation, bakes and comparisons use the slots of the document.
    pub fn with_nodes(
        &self,
        first_node: u32,
        is_listed: impl Fn(JointId) -> bool,
    ) -> Cow<'_, Self> {
        let joints = (0..).map(JointId).zip(self.skeleton.joints());
        let new: Vec<JointId> = joints
            .filter(|(id, joint)| joint.source_node.is_none() && (!joint.removed || is_listed(*id)))
            .map(|(id, _)| id)
            .collect();
        if new.is_empty() || self.source.is_none() {
            return Cow::Borrowed(self);
        }
        let mut joints = self.skeleton.joints().to_vec();
        for (node, joint) in (first_node..).zip(new) {
            joints[joint.get()].source_node = Some(node);
        }
        match Skeleton::new(joints) {
            Ok(skeleton) => {
                let mut made = self.clone();
                made.skeleton = Arc::new(skeleton);
                made.order_constraints();
                Cow::Owned(made)
            }
            // Nodes from `first_node` on are free, so that no two joints share one.
            Err(_) => Cow::Borrowed(self),
        }
    }
}
