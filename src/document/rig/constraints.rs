//! Constraints follow the joints.

use super::RigError;
use crate::document::constraints::check_cycles;
use crate::document::{Document, EditError};
use crate::skeleton::constraint::{Constraints, Rule};
use crate::skeleton::{Frame, JointId, Pose, Skeleton};
use glam::DQuat;
use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::Arc;

/// Two turns whose cosine of half the angle between them is this near to 1 are the same.
const SAME_TURN: f64 = 1e-12;

/// Gives the axes of constraints in the spaces of their joints the new axes of these. Fails where a constraint would do
/// something else about the new axes: what is copied axis by axis from a joint that turns another way, and ranges of
/// angles.
pub(super) fn follow_frames(
    document: &mut Document,
    frames: &BTreeMap<JointId, Frame>,
) -> Result<(), RigError> {
    let turn_of = |joint: JointId| {
        let frame = frames.get(&joint).filter(|frame| frame.rotates());
        frame.map_or(DQuat::IDENTITY, |frame| frame.rotation)
    };
    let mut changed = Constraints::clone(&document.constraints);
    for (&joint, list) in &mut changed {
        for constraint in list {
            let turn = turn_of(joint);
            let rule = constraint.rule.clone();
            let turned = rule.with_axes_rotated(turn.conjugate());
            let copies = turned.copies_axes().then(|| turned.sources().next());
            let is_same = |other: DQuat| turn.dot(other).abs() > 1.0 - SAME_TURN;
            let other = copies.flatten().filter(|&source| !is_same(turn_of(source)));
            let skeleton = &document.skeleton;
            if turned.copies_some_axes() && !is_same(DQuat::IDENTITY) {
                return Err(RigError::LimitsAxes {
                    joint: skeleton.label(joint),
                    rule: turned.label(),
                });
            }
            constraint.rule = match (turned, other) {
                (turned, Some(source)) => {
                    return Err(RigError::CopiesAxes {
                        joint: skeleton.label(joint),
                        other: skeleton.label(source),
                        rule: turned.label(),
                    });
                }
                (Rule::LimitAngles { ranges, order }, None) => {
                    let ranges = turned_ranges(ranges, turn);
                    let ranges = ranges.ok_or_else(|| RigError::LimitsAxes {
                        joint: skeleton.label(joint),
                        rule: constraint.rule.label(),
                    })?;
                    Rule::LimitAngles { ranges, order }
                }
                (turned, None) => turned,
            };
        }
    }
    if changed != *document.constraints {
        document.set_constraints(Arc::new(changed));
    }
    Ok(())
}

/// Ranges of angles after a turn of the axes that they are about: half turns about axes mirror the others. `None` where
/// other angles would be limited. Ranges that limit nothing stay.
fn turned_ranges(ranges: [[f64; 2]; 3], turn: DQuat) -> Option<[[f64; 2]; 3]> {
    if ranges.iter().all(|[low, high]| *low <= -PI && *high >= PI) {
        return Some(ranges);
    }
    let halves = [
        DQuat::IDENTITY,
        DQuat::from_xyzw(1.0, 0.0, 0.0, 0.0),
        DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0),
        DQuat::from_xyzw(0.0, 0.0, 1.0, 0.0),
    ];
    let mut halves = halves.into_iter().enumerate();
    let (about, _) = halves.find(|(_, half)| half.dot(turn).abs() > 1.0 - SAME_TURN)?;
    Some(std::array::from_fn(|axis| {
        let [low, high] = ranges[axis];
        if about == 0 || about == axis + 1 {
            [low, high]
        } else {
            [-high, -low]
        }
    }))
}

/// Refuses a rest pose about which a constraint that acts would do something else: one whose result depends on the rest
/// transform of a joint of `changed`, except for full copies and reaches that `pose` has already.
pub(super) fn check_rest(
    document: &Document,
    pose: &Pose,
    changed: &[JointId],
) -> Result<(), RigError> {
    let skeleton = &document.skeleton;
    let mut again = pose.clone();
    document.constrain(&mut again);
    let is_met = |joint: JointId| {
        let (a, b) = (&again.locals[joint.get()], &pose.locals[joint.get()]);
        a.rotation.dot(b.rotation).abs() > 1.0 - SAME_TURN
            && a.translation.distance(b.translation) <= 1e-9 * (1.0 + a.translation.length())
    };
    for (&joint, list) in document.constraints.iter() {
        for constraint in list.iter().filter(|c| c.acts()) {
            let rule = &constraint.rule;
            let read = rule.reads_rest_of(joint, skeleton);
            let is_touched = read.iter().any(|j| changed.contains(j));
            let bent = || skeleton.ancestors(joint).take(rule.n_bones());
            let stays = constraint.influence >= 1.0
                && constraint.keyed_as.is_none()
                && rule.repeats_itself()
                && std::iter::once(joint).chain(bent()).all(is_met);
            if is_touched && !stays {
                return Err(RigError::RelativeToRest {
                    joint: skeleton.label(joint),
                    rule: rule.label(),
                });
            }
        }
    }
    Ok(())
}

/// Refuses to remove a joint that others follow.
pub(super) fn check_followed(document: &Document, joint: JointId) -> Result<(), RigError> {
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
    Ok(())
}

/// Takes the constraints of a joint that is removed away.
pub(super) fn forget(document: &mut Document, joint: JointId) {
    if document.constraints.contains_key(&joint) {
        let mut left = Constraints::clone(&document.constraints);
        left.remove(&joint);
        document.set_constraints(Arc::new(left));
    }
}

/// Whether the constraints of `after` are sound: each that was valid still is, bends the bones that it bent, and none
/// close a cycle, unless the edit `restores`: of a cycle in a file one constraint does not act.
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
    check_cycles(before, &after.constraints, skeleton, None)
}
