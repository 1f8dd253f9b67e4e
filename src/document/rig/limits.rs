//! Rotation limits of joints: set, and mirrored.

use super::sides::Sides;
use super::{RigEdit, RigError, check_live, joints_of, set_joints};
use crate::document::Document;
use crate::skeleton::JointId;
use crate::skeleton::joint_limits::JointLimits;

/// The edit that sets the rotation limits of a joint, or frees it.
pub fn set_limits(
    document: &Document,
    joint: JointId,
    limits: Option<JointLimits>,
) -> Result<RigEdit, RigError> {
    check_live(document, joint)?;
    let mut joints = joints_of(document);
    let rule = &mut joints[joint.get()].rule;
    rule.limits = limits;
    rule.check(joint, document.skeleton())
        .map_err(|why| RigError::Value(format!("“{}”: {why}.", document.skeleton.label(joint))))?;
    let mut changed = document.clone();
    set_joints(&mut changed, joints)?;
    Ok(RigEdit::between(document, &changed))
}

/// Gives the counterparts the mirrored rotation limits of their sources that have some, and returns those that had others.
/// `not_turned`: counterparts whose axes are not mirrored.
pub(super) fn mirror_limits(
    changed: &mut Document,
    pairs: &[(JointId, JointId)],
    way: &Sides,
    not_turned: &[JointId],
) -> Result<Vec<JointId>, RigError> {
    let mut joints = joints_of(changed);
    let mut limited = Vec::new();
    for &(source, target) in pairs.iter().filter(|pair| !not_turned.contains(&pair.1)) {
        let limits = joints[source.get()].rule.limits;
        let mirrored = limits.map(|limits| limits.mirrored(way.is_behavior));
        let known = &mut joints[target.get()].rule.limits;
        if mirrored.is_some() && *known != mirrored {
            *known = mirrored;
            limited.push(target);
        }
    }
    if !limited.is_empty() {
        set_joints(changed, joints)?;
    }
    Ok(limited)
}
