//! What operations on a bone share.

use crate::document::Document;
use crate::document::rig::{RigError, main_child, main_child_in_hierarchy};
use crate::skeleton::JointId;

/// The child at the tail of a joint's bone, or why there is none.
pub(super) fn tail_of(document: &Document, joint: JointId) -> Result<JointId, RigError> {
    if !document.skeleton().is_live(joint) {
        return Err(RigError::NoJoint(joint.0));
    }
    main_child(document, joint).ok_or_else(|| RigError::NoChild(document.skeleton().label(joint)))
}

/// As [`tail_of`], of the children in the hierarchy where there are such.
pub(super) fn real_tail_of(document: &Document, joint: JointId) -> Result<JointId, RigError> {
    if !document.skeleton().is_live(joint) {
        return Err(RigError::NoJoint(joint.0));
    }
    main_child_in_hierarchy(document, joint)
        .ok_or_else(|| RigError::NoChild(document.skeleton().label(joint)))
}

/// The note that locked weights stay where they are.
pub(super) fn locked_note(document: &Document, joints: &[JointId]) -> Option<String> {
    let mut joints = joints.iter();
    let locked = joints.find(|j| document.locked().contains(j))?;
    Some(format!(
        "“{}” is locked, so its weights stay; the new bones have none and are locked too.",
        document.skeleton().label(*locked)
    ))
}
