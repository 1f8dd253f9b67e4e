//! Muscles of control clusters lie on joints.

use super::RigError;
use crate::document::Document;
use crate::skeleton::JointId;

/// Refuses to remove a joint that a muscle lies on or bends with.
pub(super) fn check_muscles(document: &Document, joint: JointId) -> Result<(), RigError> {
    for item in document.meshes.values() {
        let mut muscles = item.clusters.muscles();
        let found = muscles.find(|(_, m)| m.upper == joint || m.lower == joint);
        if let Some((_, muscle)) = found {
            return Err(RigError::HoldsMuscle {
                joint: document.skeleton.label(joint),
                muscle: muscle.name.clone(),
            });
        }
    }
    Ok(())
}
