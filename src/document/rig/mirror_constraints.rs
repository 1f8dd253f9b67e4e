//! The constraints of one side, mirrored to the other.

use super::sides::Sides;
use crate::document::Document;
use crate::skeleton::JointId;
use crate::skeleton::constraint::{Constraint, Constraints, Order, OtherSide};
use crate::skeleton::mirror::flipped_name;
use crate::skeleton::orientation::orientation;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The lists of constraints that are replaced.
pub(super) struct Replaced(BTreeMap<JointId, Vec<Constraint>>);

/// Takes the constraints of counterparts away whose joints have some to mirror, so that they hold no axes in place.
pub(super) fn take_replaced(changed: &mut Document, pairs: &[(JointId, JointId)]) -> Replaced {
    let mut left = Constraints::clone(&changed.constraints);
    let mut replaced = BTreeMap::new();
    for (source, target) in pairs {
        if !changed.constraints_of(*source).is_empty()
            && let Some(list) = left.remove(target)
        {
            replaced.insert(*target, list);
        }
    }
    if !replaced.is_empty() {
        changed.set_constraints(Arc::new(left));
    }
    Replaced(replaced)
}

/// What became of the constraints of joints.
#[derive(Default)]
pub(super) struct MirroredConstraints {
    /// Joints that have the mirrored constraints of their counterpart now.
    pub(super) constrained: Vec<JointId>,
    /// Joints with constraints that have no mirror image.
    pub(super) left_out: Vec<JointId>,
}

/// Gives the counterparts of joints the mirrored constraints of these, without keyframes of their influences. A counterpart for
/// which none can be mirrored keeps its own. `not_turned`: counterparts whose axes are not mirrored.
pub(super) fn mirror(
    changed: &mut Document,
    pairs: &[(JointId, JointId)],
    replaced: &Replaced,
    way: &Sides,
    not_turned: &[JointId],
) -> MirroredConstraints {
    let mut done = MirroredConstraints::default();
    let skeleton = changed.skeleton.clone();
    let world = changed.rest_pose.world_matrices(&skeleton);
    let reflection = way.directions();
    let counterpart = |joint: JointId| {
        let made = pairs.iter().find(|(source, _)| *source == joint);
        let made = made.map(|(_, target)| *target);
        let is_middle = || flipped_name(&skeleton.joint(joint).name).is_none();
        let there = made
            .or_else(|| way.partner(joint))
            .or_else(|| is_middle().then_some(joint))?;
        let [here, at] = [joint, there].map(|j| orientation(world[j.get()].matrix3));
        Some((there, at.transpose() * reflection * here))
    };
    let side = OtherSide {
        reflection,
        axes: way.axes(),
        counterpart: &counterpart,
    };
    for &(source, target) in pairs {
        let list = changed.constraints_of(source);
        if list.is_empty() {
            continue;
        }
        let mut mirrored = Vec::new();
        for constraint in list {
            let rule = constraint.rule.mirrored(&side);
            let rule = rule.filter(|_| !not_turned.contains(&target));
            let made = rule.map(|rule| Constraint {
                rule,
                keyed_as: None,
                ..constraint.clone()
            });
            mirrored.extend(made.filter(|made| made.check(target, &skeleton).is_ok()));
        }
        let is_whole = mirrored.len() == list.len();
        let own = replaced.0.get(&target).cloned().unwrap_or_default();
        let mut all = Constraints::clone(&changed.constraints);
        all.insert(target, mirrored.clone());
        // What follows the other side would be followed by it.
        let is_sound = !mirrored.is_empty() && Order::new(&skeleton, &all).is_ok();
        if is_sound && own != mirrored {
            done.constrained.push(target);
        }
        if !is_whole || !is_sound {
            done.left_out.push(source);
        }
        if !is_sound {
            all.remove(&target);
            if !own.is_empty() {
                all.insert(target, own);
            }
        }
        changed.set_constraints(Arc::new(all));
    }
    done
}
