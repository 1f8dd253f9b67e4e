//! Renaming a joint.

use super::{RigEdit, RigError, check_live, joints_of, set_joints};
use crate::document::Document;
use crate::skeleton::JointId;

/// The edit that renames a joint. Clips, drivers and extensions name joints by index, so nothing else changes.
///
/// Fails for an empty name and for one with control characters.
pub fn rename(document: &Document, joint: JointId, name: &str) -> Result<RigEdit, RigError> {
    check_live(document, joint)?;
    let name = name.trim();
    if name.is_empty() {
        return Err(RigError::Value("A bone needs a name.".into()));
    }
    if name.chars().any(char::is_control) {
        return Err(RigError::Value(
            "A bone's name is one line: it cannot have control characters such as tabs or line breaks."
                .into(),
        ));
    }
    let mut joints = joints_of(document);
    name.clone_into(&mut joints[joint.get()].name);
    let mut changed = document.clone();
    set_joints(&mut changed, joints)?;
    Ok(RigEdit::between(document, &changed))
}
