//! Training poses that no clip of a file has, so that the fit generalises to clips made later.
//!
//! The correction of a point depends on the relative rotations of the few joints around it, so all joints are trained
//! at once: in "single" poses every second joint of each chain rotates and the others rest; in "combined" poses all
//! joints rotate. 73 poses then give each joint the same set of rotations.

use crate::document::{ClipId, Document};
use crate::skeleton::clip_builder::{ClipBuilder, axis_angle};
use crate::skeleton::constraint::{keys_at, set_channels};
use crate::skeleton::{Clip, JointId};
use crate::skinning::Influences;
use glam::{DQuat, DVec3};
use serde_json::Value;
use std::collections::BTreeSet;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// The id of the training clip beside a document's clips; no document uses it.
pub const TRAINING_CLIP: ClipId = ClipId(u32::MAX);

/// Rotations of a joint about one of its axes, either sign, degrees: a usual bend, and one near the limit of most
/// joints.
const SINGLE_DEGREES: [f64; 2] = [45.0, 110.0];
/// Rotation about a diagonal of two axes, degrees: a bend with twist, or a bend in two directions.
const DIAGONAL_DEGREES: f64 = 90.0;
/// Rotations in combined poses: the smallest, and the range above it, degrees.
const COMBINED_DEGREES: (f64, f64) = (25.0, 50.0);
/// Poses in which all joints rotate.
const COMBINED_POSES: usize = 24;
/// Rotations of each kind of a joint in single poses: 2 signs x 3 axes x 2 angles, and 2 signs x 6
/// diagonals.
const SINGLE_ROTATIONS: usize = 12;
/// Seconds between poses: the shortest interval of keyframes, so that nothing is inserted between two poses.
const POSE_SECS: f64 = 0.002;

/// A clip that rotates every joint which moves some points relative to others; the rest pose at its start. Its
/// keyframes are the training poses; what lies between them is not evaluated.
pub fn training_clip(document: &Document) -> Clip {
    let skeleton = document.skeleton();
    let joints = trained_joints(document);
    let n_poses = 1 + 2 * (SINGLE_ROTATIONS + SINGLE_ROTATIONS) + COMBINED_POSES;
    let times: Vec<f64> = (0..n_poses).map(|pose| POSE_SECS * pose as f64).collect();
    let mut builder = ClipBuilder::new("Practice", skeleton.joints());
    for (rank, &joint) in joints.iter().enumerate() {
        let above = skeleton.ancestors(joint).filter(|a| joints.contains(a));
        let parity = above.count() % 2;
        builder.rotate(joint, &times, |pose| match pose.checked_sub(1) {
            Some(pose) => rotation_in(pose, rank, parity),
            None => DQuat::IDENTITY,
        });
    }
    let mut clip = Clip {
        preview: true,
        ..builder.finish()
    };
    if let Some(evaluator) = document.evaluator() {
        let times: Vec<f32> = times.iter().map(|t| *t as f32).collect();
        let followed = keys_at(evaluator, document.rest_pose(), &clip, &times);
        set_channels(&mut clip, followed);
    }
    clip
}

/// Joints with influenced points both below and outside of them: rotating another joint changes no relative rotation.
/// Parents first.
fn trained_joints(document: &Document) -> Vec<JointId> {
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

/// Helper joints for which the document's source has drivers: they never rotate freely.
fn driven_already(document: &Document) -> BTreeSet<JointId> {
    let json = document.source().map(|source| &source.json);
    let block = json.and_then(|json| json.get("extras")?.get("sinew_skin")?.get("helpers"));
    let helpers = block.and_then(Value::as_array).into_iter().flatten();
    let nodes = helpers.filter_map(|helper| helper.get("node")?.as_u64());
    let joint = |node: u64| document.skeleton().joint_of_node(u32::try_from(node).ok()?);
    nodes.filter_map(joint).collect()
}

/// Marks the slots of a skin with influence on some point.
pub(crate) fn mark_bound(influences: &Influences, bound: &mut [bool]) {
    for row in influences.iter() {
        for (slot, _) in row.iter().filter(|(_, weight)| *weight > 0.0) {
            if let Some(bound) = bound.get_mut(usize::from(slot)) {
                *bound = true;
            }
        }
    }
}

/// The local rotation of the joint of this rank in a pose.
fn rotation_in(pose: usize, rank: usize, parity: usize) -> DQuat {
    let single = 2 * SINGLE_ROTATIONS;
    match pose {
        pose if pose < 2 * single => {
            if pose % 2 != parity {
                return DQuat::IDENTITY;
            }
            // Each joint visits all rotations, starting elsewhere: 5 and 12 are coprime.
            let which = (pose % single / 2 + 5 * rank) % SINGLE_ROTATIONS;
            let sign = if which.is_multiple_of(2) { 1.0 } else { -1.0 };
            let (axis, degrees) = if pose < single {
                (DVec3::AXES[which / 2 % 3], SINGLE_DEGREES[which / 6])
            } else {
                (diagonal(which / 2), DIAGONAL_DEGREES)
            };
            axis_angle(axis, sign * degrees.to_radians())
        }
        pose => {
            let at = (pose * 97 + rank * 31) as f64;
            let (axis, share) = low_discrepancy(at);
            axis_angle(
                axis,
                (COMBINED_DEGREES.0 + COMBINED_DEGREES.1 * share).to_radians(),
            )
        }
    }
}

/// The six diagonals of two axes, up to sign.
fn diagonal(which: usize) -> DVec3 {
    let (a, b) = (DVec3::AXES[which % 3], DVec3::AXES[(which + 1) % 3]);
    let b = if which < 3 { b } else { -b };
    (a + b) * FRAC_1_SQRT_2
}

/// A direction and a number 0 - 1, a low-discrepancy sequence over whole numbers `at`.
fn low_discrepancy(at: f64) -> (DVec3, f64) {
    // The R3 sequence: powers of the root of x^4 = x + 1 (Roberts 2018).
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
            for (from, to) in [
                (0, 2 * SINGLE_ROTATIONS),
                (2 * SINGLE_ROTATIONS, 4 * SINGLE_ROTATIONS),
            ] {
                let mut rotations: Vec<DQuat> = Vec::new();
                for pose in from..to {
                    let (own, other) = (rotation_in(pose, rank, 0), rotation_in(pose, rank, 1));
                    assert!(own == DQuat::IDENTITY || other == DQuat::IDENTITY);
                    if own != DQuat::IDENTITY {
                        assert!(rotations.iter().all(|t| t.dot(own).abs() < 0.999), "{own}");
                        rotations.push(own);
                    }
                }
                assert_eq!(rotations.len(), SINGLE_ROTATIONS);
            }
        }
    }

    #[test]
    fn joints_that_turn_together_turn_differently() {
        let first = 4 * SINGLE_ROTATIONS;
        for pose in first..first + COMBINED_POSES {
            let (a, b) = (rotation_in(pose, 3, 1), rotation_in(pose, 4, 0));
            assert!(a.is_normalized() && a.dot(b).abs() < 0.9999);
            let degrees = a.to_axis_angle().1.to_degrees();
            assert!((20.0..=80.0).contains(&degrees), "{degrees}");
        }
    }
}
