//! Poses that no clip of a file has, so that what is fitted to them holds in clips yet to come.
//!
//! What a point needs depends on how the few joints around it turn against each other. So all joints practise at once:
//! in a pose "alone" every second joint down each chain turns and those between them rest, and in a pose "together" all
//! turn. A few dozen poses then show each joint as many turns.

use crate::document::{ClipId, Document};
use crate::skeleton::clip_builder::{ClipBuilder, turn};
use crate::skeleton::{Clip, JointId};
use crate::skinning::Influences;
use glam::{DQuat, DVec3};
use serde_json::Value;
use std::collections::BTreeSet;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// What the clip of [`practice`] is called among the clips of a document, which never has it.
pub const PRACTICE: ClipId = ClipId(u32::MAX);

/// How far a joint turns about one of its axes to either side, degrees.
const ALONE: [f64; 2] = [45.0, 110.0];
/// And about a direction between two of them: bent and twisted, or bent two ways.
const SLANTED: f64 = 90.0;
/// AlternatingSolver of joints that turn together: the least, and how much more the most is, degrees.
const TOGETHER: (f64, f64) = (25.0, 50.0);
/// Poses in which all joints turn.
const POSES_TOGETHER: usize = 24;
/// AlternatingSolver of each kind that a joint goes through alone.
const TURNS: usize = 12;
/// Seconds from pose to pose: as near as keys may be, so that nothing between two poses is looked at.
const STEP: f64 = 0.002;

/// A clip that turns every joint that moves some points against others; at rest at its start. Its keys are its poses:
/// what is between them means nothing.
pub fn practice(document: &Document) -> Clip {
    let skeleton = document.skeleton();
    let joints = practising(document);
    let n_poses = 1 + 2 * (TURNS + TURNS) + POSES_TOGETHER;
    let times: Vec<f64> = (0..n_poses).map(|pose| STEP * pose as f64).collect();
    let mut builder = ClipBuilder::new("Practice", skeleton.joints());
    for (rank, &joint) in joints.iter().enumerate() {
        let above = skeleton.ancestors(joint).filter(|a| joints.contains(a));
        let parity = above.count() % 2;
        builder.rotate(joint, &times, |pose| match pose.checked_sub(1) {
            Some(pose) => turned(pose, rank, parity),
            None => DQuat::IDENTITY,
        });
    }
    Clip {
        preview: true,
        ..builder.finish()
    }
}

/// Joints with points below them and points elsewhere: turning others turns nothing against anything. Parents first.
fn practising(document: &Document) -> Vec<JointId> {
    let mut bound: BTreeSet<JointId> = BTreeSet::new();
    for instance in document.instances().values() {
        let skin = instance.skin.and_then(|skin| document.skins().get(&skin));
        let (Some(skin), Some(item)) = (skin, document.meshes().get(&instance.mesh)) else {
            continue;
        };
        let mut seen = vec![false; skin.joints.len()];
        mark_bound(&item.influences, &mut seen);
        let joints = skin.joints.iter().zip(seen);
        bound.extend(joints.filter(|(_, seen)| *seen).map(|(joint, _)| *joint));
    }
    let skeleton = document.skeleton();
    let mut below = vec![0usize; skeleton.len()];
    for &joint in &bound {
        below[joint.get()] += 1;
        for above in skeleton.ancestors(joint) {
            below[above.get()] += 1;
        }
    }
    let driven = driven_already(document);
    let order = skeleton.order().iter().map(|&j| JointId(j));
    order
        .filter(|j| below[j.get()] > 0 && below[j.get()] < bound.len() && !driven.contains(j))
        .collect()
}

/// Helper joints that the document's own file says how to drive: they are never free to turn.
fn driven_already(document: &Document) -> BTreeSet<JointId> {
    let json = document.source().map(|source| &source.json);
    let block = json.and_then(|json| json.get("extras")?.get("sinew_skin")?.get("helpers"));
    let helpers = block.and_then(Value::as_array).into_iter().flatten();
    let nodes = helpers.filter_map(|helper| helper.get("node")?.as_u64());
    let joint = |node: u64| document.skeleton().joint_of_node(u32::try_from(node).ok()?);
    nodes.filter_map(joint).collect()
}

/// Marks the slots of a skin that move some point.
pub(crate) fn mark_bound(influences: &Influences, bound: &mut [bool]) {
    for row in influences.iter() {
        for (slot, _) in row.iter().filter(|(_, weight)| *weight > 0.0) {
            if let Some(bound) = bound.get_mut(usize::from(slot)) {
                *bound = true;
            }
        }
    }
}

/// How the joint of this rank turns in a pose, in its own frame.
fn turned(pose: usize, rank: usize, parity: usize) -> DQuat {
    let alone = 2 * TURNS;
    match pose {
        pose if pose < 2 * alone => {
            if pose % 2 != parity {
                return DQuat::IDENTITY;
            }
            // Each joint goes through all turns, each in an order of its own: 5 and 12 have no common factor.
            let which = (pose % alone / 2 + 5 * rank) % TURNS;
            let sign = if which.is_multiple_of(2) { 1.0 } else { -1.0 };
            let (axis, degrees) = if pose < alone {
                (DVec3::AXES[which / 2 % 3], ALONE[which / 6])
            } else {
                (slanted(which / 2), SLANTED)
            };
            turn(axis, sign * degrees.to_radians())
        }
        pose => {
            let at = (pose * 97 + rank * 31) as f64;
            let (axis, share) = scattered(at);
            turn(axis, (TOGETHER.0 + TOGETHER.1 * share).to_radians())
        }
    }
}

/// The six directions half-way between two axes, up to their sign.
fn slanted(which: usize) -> DVec3 {
    let (a, b) = (DVec3::AXES[which % 3], DVec3::AXES[(which + 1) % 3]);
    let b = if which < 3 { b } else { -b };
    (a + b) * FRAC_1_SQRT_2
}

/// A direction and a number 0 - 1, spread evenly over whole numbers `at`.
fn scattered(at: f64) -> (DVec3, f64) {
    // Powers of the golden ratio's counterpart in three dimensions (Roberts 2018).
    let share = |step: f64| (0.5 + at * step).fract();
    let (height, around) = (
        2.0 * share(0.819_172_513_396_164_4) - 1.0,
        TAU * share(0.671_043_606_703_789_2),
    );
    let (sin, cos) = libm::sincos(around);
    let radius = (1.0 - height * height).max(0.0).sqrt();
    (
        DVec3::new(radius * cos, radius * sin, height),
        share(0.549_700_477_901_970_3),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_joint_goes_through_every_turn_alone() {
        for rank in 0..20 {
            for (from, to) in [(0, 2 * TURNS), (2 * TURNS, 4 * TURNS)] {
                let mut turns: Vec<DQuat> = Vec::new();
                for pose in from..to {
                    let (own, other) = (turned(pose, rank, 0), turned(pose, rank, 1));
                    assert!(own == DQuat::IDENTITY || other == DQuat::IDENTITY);
                    if own != DQuat::IDENTITY {
                        assert!(turns.iter().all(|t| t.dot(own).abs() < 0.999), "{own}");
                        turns.push(own);
                    }
                }
                assert_eq!(turns.len(), TURNS);
            }
        }
    }

    #[test]
    fn joints_that_turn_together_turn_differently() {
        let first = 4 * TURNS;
        for pose in first..first + POSES_TOGETHER {
            let (a, b) = (turned(pose, 3, 1), turned(pose, 4, 0));
            assert!(a.is_normalized() && a.dot(b).abs() < 0.9999);
            let degrees = a.to_axis_angle().1.to_degrees();
            assert!((20.0..=80.0).contains(&degrees), "{degrees}");
        }
    }
}
