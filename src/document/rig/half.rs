//! Half joints: helper joints at elbows, knees and knuckles that rotate by half of the bend.

use super::add_constraint::constrain;
use super::frames::set_channel;
use super::rows::{change_rows, shared};
use super::{RigEdit, RigError, add_to_skins, check_live, helper_name, joints_of, set_joints};
use crate::document::Document;
use crate::math::Transform;
use crate::skeleton::constraint::{Constraint, CopiedAxes, Rule, Space};
use crate::skeleton::{Channel, Joint, JointId, Property};
use crate::skinning::RowRef;
use std::sync::Arc;

/// The edit that adds a half joint between a joint and its parent, and its id. It is a child of the parent at the joint's
/// place with the joint's rest rotation; nothing moves at rest. A Copy Rotation constraint of influence 1/2 gives it half of the
/// joint's rotation from rest.
///
/// Weights: w_h = 2 min(w1, w2), taken in equal parts from both, so that the mean angle stays.
///
/// Fails for a joint without a parent. Source: helper joints of production rigs; no paper.
pub fn half(document: &Document, joint: JointId) -> Result<(RigEdit, JointId), RigError> {
    check_live(document, joint)?;
    let skeleton = document.skeleton.clone();
    let Some(parent) = skeleton.joint(joint).parent else {
        return Err(RigError::NoParent(skeleton.label(joint)));
    };
    let lower = skeleton.joint(joint).rest;
    let rest = Transform::from_rotation_translation(lower.rotation, lower.translation);
    let mut joints = joints_of(document);
    let name = helper_name(&skeleton, &skeleton.joint(joint).name, "half");
    joints.push(Joint::new(name, Some(parent), rest));
    let made = JointId(joints.len() as u32 - 1);
    let mut changed = document.clone();
    set_joints(&mut changed, joints)?;
    add_to_skins(&mut changed, made, parent, rest.to_affine().inverse())?;
    if [parent, joint].iter().any(|j| document.locked.contains(j)) {
        Arc::make_mut(&mut changed.locked).insert(made);
    } else {
        for mesh in shared(&changed.clone(), &[parent, joint, made]) {
            let slots = [mesh.slots[0], mesh.slots[1], mesh.slots[2]];
            change_rows(&mut changed, mesh.mesh, |_, row| between(row, slots))?;
        }
    }
    // It stays at the joint's place.
    let posed = changed.pose.locals[joint.get()].translation;
    Arc::make_mut(&mut changed.pose).locals[made.get()].translation = posed;
    for clip in changed.motions_mut() {
        if let Some(c) = clip.channel_of(joint, Property::Translation) {
            let follows = Channel {
                joint: made,
                ..clip.channels[c].clone()
            };
            set_channel(Arc::make_mut(clip), follows);
        }
    }
    let rule = Rule::CopyRotation {
        source: joint,
        space: Space::Local,
        keeps_offset: true,
        axes: CopiedAxes::default(),
    };
    let constraint = Constraint {
        influence: 0.5,
        ..Constraint::new(rule)
    };
    constrain(&mut changed, made, constraint)?;
    let mut edit = RigEdit::between(document, &changed);
    edit.inherits = vec![(made, parent)];
    Ok((edit, made))
}

/// A row in which the third slot has twice the smaller weight of the first two, which both give one half of it; `None` where
/// one of them has none.
fn between(row: RowRef<'_>, [upper, lower, made]: [u16; 3]) -> Option<Vec<(u16, f32)>> {
    let weight = |slot: u16| {
        let pairs = row.iter();
        let found: f32 = pairs.filter(|(j, _)| *j == slot).map(|(_, w)| w).sum();
        found
    };
    let smaller = weight(upper).min(weight(lower));
    if smaller <= 0.0 {
        return None;
    }
    let mut pairs: Vec<(u16, f32)> = row.iter().collect();
    for (slot, weight) in &mut pairs {
        if *slot == upper || *slot == lower {
            *weight -= smaller;
        }
    }
    // One of the two has nothing left: the row never grows.
    let emptied = pairs
        .iter()
        .position(|(slot, w)| (*slot == upper || *slot == lower) && *w <= 0.0)?;
    pairs[emptied] = (made, 2.0 * smaller);
    pairs.retain(|(slot, w)| (*slot != upper && *slot != lower) || *w > 0.0);
    Some(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skinning::Rows;

    #[test]
    fn both_neighbours_give_the_same() {
        let of = |pairs: &[(u16, f32)]| {
            let rows: Rows = std::iter::once(pairs.to_vec()).collect();
            between(rows.row(0), [0, 1, 5])
        };
        assert_eq!(of(&[(0, 0.25), (1, 0.75)]), Some(vec![(5, 0.5), (1, 0.5)]));
        assert_eq!(
            of(&[(1, 0.25), (2, 0.5), (0, 0.25)]),
            Some(vec![(5, 0.5), (2, 0.5)])
        );
        assert_eq!(of(&[(0, 0.5), (2, 0.5)]), None);
    }
}
