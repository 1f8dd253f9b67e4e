//! What operations on a bone share.

use crate::document::Document;
use crate::document::rig::{RigError, main_child};
use crate::skeleton::JointId;

/// The child at the tail of a joint's bone, or why there is none.
pub(super) fn tail_of(document: &Document, joint: JointId) -> Result<JointId, RigError> {
    if !document.skeleton().is_live(joint) {
        return Err(RigError::NoJoint(joint.0));
    }
    main_child(document, joint).ok_or_else(|| RigError::NoChild(document.skeleton().label(joint)))
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

/// The note on the keyframes of helper bones, which are computed once; another one where there is no clip to compute them in.
pub(super) fn keys_note(document: &Document, says: impl FnOnce(&str) -> String) -> String {
    if document.clips().is_empty() {
        "The model has no clip, so the new bones have no keyframes and do not rotate with a pose."
            .into()
    } else {
        says("the new keyframes do not follow")
    }
}
