//! Clearing a joint's parent.

use super::done::Done;
use crate::document::Document;
use crate::document::rig::{self, KEY_TOLERANCE, Keep, Reparent, RigError};
use crate::skeleton::JointId;

/// Hangs a joint below the node that carries the whole rig, else below the root bone: the joints of a skin keep a common
/// root (glTF 2.0, 3.7.3.2).
pub(super) fn clear(document: &Document, joint: JointId) -> Result<Done, RigError> {
    let skeleton = document.skeleton();
    if !skeleton.is_live(joint) {
        return Err(RigError::NoJoint(joint.0));
    }
    let is_bone = document.skin_joint_mask();
    let mut above = skeleton.ancestors(joint);
    let carrier = above
        .find(|a| !is_bone[a.get()])
        .or_else(|| skeleton.ancestors(joint).last());
    let parent = skeleton.joint(joint).parent;
    let Some(carrier) = carrier.filter(|carrier| parent != Some(*carrier)) else {
        return Err(RigError::Value(match parent {
            Some(parent) => format!(
                "“{}” hangs from “{}”, the root of the rig: there is no other parent to clear.",
                skeleton.label(joint),
                skeleton.label(parent)
            ),
            None => format!("“{}” has no parent.", skeleton.label(joint)),
        }));
    };
    let request = Reparent {
        joint,
        parent: Some(carrier),
        keep: Keep::Motion,
        nearest: false,
        tolerance: KEY_TOLERANCE,
    };
    let mut done = Done::of(rig::reparent(document, &request)?);
    done.notes.push(format!(
        "Its parent is now “{}”, the root of the rig.",
        skeleton.label(carrier)
    ));
    Ok(done)
}
