//! Bends the joints of a chain so that its end reaches a target.

use super::act::Act;
use super::kind::Rule;
use super::reach::{MOST_BONES, MOST_ROUNDS, REACHED, reach_chain, soft_distance};
use crate::skeleton::ik::{Chain, TwoBone};
use crate::skeleton::orientation::world_of;
use crate::skeleton::slerp::slerp_shortest;
use crate::skeleton::world_rotation::rotate_in_world;
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::{DQuat, DVec3};

/// The most times that a chain is bent towards its target, and the part of the gap that must be left for another one.
const MOST_PASSES: usize = 12;
const GAIN: f64 = 0.9;

/// Rotates the joints of a reach by an influence; those whose rotation would not be finite stay.
pub(super) fn reach(skeleton: &Skeleton, pose: &mut Pose, act: &Act, influence: f64) {
    let joints = &act.bent[..];
    let place = |pose: &Pose, joint: JointId| world_of(skeleton, pose, joint).translation;
    let mut before = [DQuat::IDENTITY; MOST_BONES + 1];
    for (rotation, &joint) in before.iter_mut().zip(joints) {
        *rotation = pose.locals[joint.get()].rotation;
    }
    match act.constraint.rule {
        Rule::ReachTwoBones {
            target,
            pole,
            softness,
        } => {
            let chain = Chain {
                root: joints[0],
                mid: joints[1],
                end: joints[2],
            };
            let TwoBone { root, mid, end } = chain.positions(skeleton, pose);
            let length = root.distance(mid) + mid.distance(end);
            let pull = place(pose, target) - root;
            let soft = soft_distance(pull.length(), length, softness * length);
            let target = root + pull.normalize_or_zero() * soft;
            let pole = pole.map(|pole| place(pose, pole));
            chain.reach_towards(skeleton, pose, act.side, target, pole);
        }
        Rule::ReachChain { target, .. } => {
            let target = place(pose, target);
            reach_by_chain(skeleton, pose, act, target);
        }
        _ => return,
    }
    for (joint, before) in joints.iter().zip(before) {
        let local = &mut pose.locals[joint.get()];
        let rotation = slerp_shortest(before, local.rotation, influence);
        local.rotation = if rotation.is_finite() {
            rotation
        } else {
            before
        };
    }
}

/// Bends a chain within the rotation limits of its joints until its end is at the target, again where it stays off: near its full reach, and under scale that is not
/// uniform, which changes the lengths of its bones.
fn reach_by_chain(skeleton: &Skeleton, pose: &mut Pose, act: &Act, target: DVec3) {
    let joints = &act.bent[..];
    let n = joints.len();
    let place = |pose: &Pose, joint: JointId| world_of(skeleton, pose, joint).translation;
    let side = act.side.in_world(skeleton, pose, joints[0]);
    let mut places = [DVec3::ZERO; MOST_BONES + 1];
    let mut best = [DQuat::IDENTITY; MOST_BONES + 1];
    let mut least = f64::INFINITY;
    for _ in 0..MOST_PASSES {
        for (at, &joint) in places.iter_mut().zip(joints) {
            *at = place(pose, joint);
        }
        let bones = places[..n].windows(2);
        let length: f64 = bones.map(|bone| bone[0].distance(bone[1])).sum();
        reach_chain(&mut places[..n], target, Some(side), REACHED, MOST_ROUNDS);
        let mut is_clamped = false;
        for i in 0..n - 1 {
            // The shortest arc keeps the roll.
            let from = place(pose, joints[i + 1]) - place(pose, joints[i]);
            let to = places[i + 1] - places[i];
            if let (Some(from), Some(to)) = (from.try_normalize(), to.try_normalize()) {
                let arc = DQuat::from_rotation_arc(from, to);
                rotate_in_world(skeleton, pose, joints[i], arc);
                is_clamped |= pose.clamp_rotation(skeleton, joints[i]);
            }
        }
        // What a limit takes from one joint the others make up for: cyclic coordinate descent (Wang and Chen 1991).
        for &joint in joints[..n - 1].iter().rev().filter(|_| is_clamped) {
            let at = place(pose, joint);
            let [from, to] = [place(pose, joints[n - 1]), target].map(|p| (p - at).try_normalize());
            if let (Some(from), Some(to)) = (from, to) {
                rotate_in_world(skeleton, pose, joint, DQuat::from_rotation_arc(from, to));
                pose.clamp_rotation(skeleton, joint);
            }
        }
        let gap = place(pose, joints[n - 1]).distance(target);
        let gains = gap < GAIN * least;
        if gap < least {
            least = gap;
            for (rotation, joint) in best.iter_mut().zip(joints) {
                *rotation = pose.locals[joint.get()].rotation;
            }
        }
        if !gains || gap < REACHED * length {
            break;
        }
    }
    if least.is_finite() {
        for (rotation, joint) in best.iter().zip(joints) {
            pose.locals[joint.get()].rotation = *rotation;
        }
    }
}
