//! Renaming a joint.

use super::{RigEdit, RigError, check_live, joints_of, set_joints};
use crate::document::Document;
use crate::skeleton::JointId;

/// The edit that renames a joint. Clips, drivers and extensions name joints by index, so nothing else changes.
pub fn rename(document: &Document, joint: JointId, name: &str) -> Result<RigEdit, RigError> {
    check_live(document, joint)?;
    let name = name.trim();
    if name.is_empty() {
        return Err(RigError::Value("A bone needs a name.".into()));
    }
    let mut joints = joints_of(document);
    name.clone_into(&mut joints[joint.get()].name);
    let mut changed = document.clone();
    set_joints(&mut changed, joints)?;
    Ok(RigEdit::between(document, &changed))
}
