//! Clearing a joint's parent.

use super::done::Done;
use super::layers;
use crate::document::Document;
use crate::document::rig::{self, KEY_TOLERANCE, Keep, Reparent, RigError};
use crate::skeleton::JointId;

/// Makes the node that carries the rig, else the root bone, the parent of a joint: the joints of a skin keep a common root
/// (glTF 2.0, 3.7.3.2).
pub(super) fn clear(document: &Document, joint: JointId) -> Result<Done, RigError> {
    let skeleton = document.skeleton();
    if !skeleton.is_live(joint) {
        return Err(RigError::NoJoint(joint.0));
    }
    // Nodes between bones are no roots.
    let is_bone = document.bone_mask();
    let above = skeleton.ancestors(joint).filter(|a| is_bone[a.get()]);
    let top = above.last().unwrap_or(joint);
    let carrier = skeleton.joint(top).parent;
    let carrier = carrier.or_else(|| (top != joint).then_some(top));
    let parent = skeleton.joint(joint).parent;
    let Some(carrier) = carrier.filter(|carrier| parent != Some(*carrier)) else {
        return Err(RigError::Unchanged(match parent {
            Some(parent) => format!(
                "“{}” is already a child of “{}”, the root of the rig",
                skeleton.label(joint),
                skeleton.label(parent)
            ),
            None => format!("“{}” has no parent", skeleton.label(joint)),
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
    done.notes.extend(layers::of_new_parent(document, joint));
    Ok(done)
}
