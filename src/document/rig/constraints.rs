//! Constraints follow the joints.

use super::RigError;
use crate::document::constraints::check_cycles;
use crate::document::{Document, EditError};
use crate::skeleton::constraint::Constraints;
use crate::skeleton::{Frame, JointId, Skeleton};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Gives the axes of constraints in the spaces of their joints the new axes of these. Ranges of angles and what is copied
/// in local axes stay: they are about the axes that a joint has.
pub(super) fn follow_frames(document: &mut Document, frames: &BTreeMap<JointId, Frame>) {
    let mut changed = Constraints::clone(&document.constraints);
    for (joint, list) in &mut changed {
        let Some(frame) = frames.get(joint).filter(|frame| frame.rotates()) else {
            continue;
        };
        for constraint in list {
            let rule = constraint.rule.clone();
            constraint.rule = rule.with_axes_rotated(frame.rotation.conjugate());
        }
    }
    if changed != *document.constraints {
        document.set_constraints(Arc::new(changed));
    }
}

/// Takes the constraints of a joint that is removed away. Refuses to remove one that others follow.
pub(super) fn forget(document: &mut Document, joint: JointId) -> Result<(), RigError> {
    let skeleton = &document.skeleton;
    for (&follower, list) in document.constraints.iter().filter(|(j, _)| **j != joint) {
        let rule = list.iter().map(|constraint| &constraint.rule);
        let bends = |n: usize| skeleton.ancestors(follower).take(n).any(|j| j == joint);
        let mut rule = rule.filter(|r| r.sources().any(|j| j == joint) || bends(r.n_bones()));
        if let Some(rule) = rule.next() {
            return Err(RigError::Followed {
                joint: skeleton.label(joint),
                follower: skeleton.label(follower),
                rule: rule.label(),
            });
        }
    }
    if document.constraints.contains_key(&joint) {
        let mut left = Constraints::clone(&document.constraints);
        left.remove(&joint);
        document.set_constraints(Arc::new(left));
    }
    Ok(())
}

/// Whether the constraints of `after` are sound: each that was valid still is, bends the bones that it bent, and none
/// close a circle, unless the edit `restores`: of a circle in a file one constraint does not act.
pub(super) fn check(before: &Document, after: &Document, restores: bool) -> Result<(), EditError> {
    let skeleton = &after.skeleton;
    for (&joint, list) in after.constraints.iter() {
        let known = before.constraints_of(joint);
        for (i, constraint) in list.iter().enumerate() {
            let was_valid = |c: &crate::skeleton::constraint::Constraint| {
                before.skeleton.is_live(joint) && c.check(joint, &before.skeleton).is_ok()
            };
            let refused = |why: String| EditError::Constraint {
                joint: skeleton.label(joint),
                rule: constraint.rule.label(),
                why,
            };
            let is_new = known.get(i).is_none();
            if !skeleton.is_live(joint) {
                return Err(refused("the bone is removed".into()));
            }
            if is_new || known.get(i).is_some_and(was_valid) {
                constraint.check(joint, skeleton).map_err(refused)?;
            }
            let n_bones = constraint.rule.n_bones();
            let bent = |skeleton: &Skeleton| -> Vec<JointId> {
                skeleton.ancestors(joint).take(n_bones).collect()
            };
            let stays = known.get(i).is_some_and(|c| c.rule == constraint.rule);
            if stays && bent(&before.skeleton) != bent(skeleton) {
                return Err(refused(
                    "it would bend other bones: remove it first, and add it again afterwards"
                        .into(),
                ));
            }
        }
    }
    if restores {
        return Ok(());
    }
    check_cycles(before, &after.constraints, skeleton)
}
