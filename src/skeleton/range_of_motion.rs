//! A clip that bends and twists joints one after the other, to check the deformation of the skin.

use super::clip_builder::{ClipBuilder, axis_angle};
use super::{Clip, JointId, Skeleton};
use glam::DVec3;
use std::collections::BTreeSet;
use std::f64::consts::TAU;

/// Keyframes of one move, without its first. Every third one is in the rest pose or at the largest angle.
const KEYS_A_MOVE: usize = 12;

/// The range of motion of each joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeOfMotion {
    /// The largest angle of a joint to either side about its own x, y and z axis in the rest pose, radians; 0: no
    /// rotation about that axis. Joints with rotation limits stay within these.
    pub angles: [f64; 3],
    /// Whether it rotates about the axes perpendicular to its bone.
    pub bend: bool,
    /// Whether it rotates about the axis along its bone.
    pub twist: bool,
    /// Duration of a move, seconds: to one side, to the other, and back to rest.
    pub move_secs: f64,
}

impl Default for RangeOfMotion {
    /// 60 degrees about each axis, both bend and twist, a second each.
    fn default() -> Self {
        Self {
            angles: [60f64.to_radians(); 3],
            bend: true,
            twist: true,
            move_secs: 1.0,
        }
    }
}

/// The rotation of one joint about one of its axes, to both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// The joint.
    pub joint: JointId,
    /// 0, 1, 2: its own x, y, z axis in the rest pose.
    pub axis: usize,
    /// The angle to the second side and that to the first, radians.
    pub range: [f64; 2],
    /// Start time, seconds.
    pub start_secs: f64,
}

impl RangeOfMotion {
    /// The moves in order of time: the joints of `chosen`, parents first, each about x, then y, then z.
    pub fn moves(&self, skeleton: &Skeleton, chosen: &BTreeSet<JointId>) -> Vec<Move> {
        let order = skeleton.order().iter().map(|&j| JointId(j));
        let chosen = order.filter(|joint| chosen.contains(joint));
        let rotations = chosen.flat_map(|joint| {
            let along = axis_along(skeleton, joint);
            (0..3)
                .filter(move |&axis| {
                    let is_wanted = if Some(axis) == along {
                        self.twist
                    } else {
                        self.bend
                    };
                    is_wanted && self.angles[axis] != 0.0
                })
                .map(move |axis| (joint, axis, self.range(skeleton, joint, axis)))
                .filter(|(.., range)| *range != [0.0; 2])
        });
        rotations
            .enumerate()
            .map(|(i, (joint, axis, range))| Move {
                joint,
                axis,
                range,
                start_secs: i as f64 * self.move_secs,
            })
            .collect()
    }

    /// The angles of a joint about an axis: within its limits about that axis.
    fn range(&self, skeleton: &Skeleton, joint: JointId, axis: usize) -> [f64; 2] {
        let angle = self.angles[axis];
        let limits = skeleton.joint(joint).rule.limits;
        let [low, high] = limits.map_or([-angle.abs(), angle.abs()], |limits| limits.0[axis]);
        // A negative angle begins with the other side.
        [(-angle).max(low).min(high), angle.max(low).min(high)]
    }

    /// The clip of these moves: in the rest pose at its start, at its end and between any two moves. A move reaches the
    /// positive angle after a quarter of its time and the negative one after three quarters. Other joints have no
    /// channels. It is a preview clip.
    pub fn clip(&self, name: &str, skeleton: &Skeleton, chosen: &BTreeSet<JointId>) -> Clip {
        let moves = self.moves(skeleton, chosen);
        let mut builder = ClipBuilder::new(name, skeleton.joints());
        for of_joint in moves.chunk_by(|a, b| a.joint == b.joint) {
            // The last keyframe of a move is the first of the next one, in the rest pose.
            let n_keys = of_joint.len() * KEYS_A_MOVE + 1;
            let first = of_joint[0].start_secs;
            let step = self.move_secs / KEYS_A_MOVE as f64;
            let times: Vec<f64> = (0..n_keys).map(|k| first + step * k as f64).collect();
            builder.rotate(of_joint[0].joint, &times, |k| {
                let made = of_joint[(k / KEYS_A_MOVE).min(of_joint.len() - 1)];
                let swing = swing(k % KEYS_A_MOVE);
                let [first, second] = made.range;
                let angle = if swing >= 0.0 {
                    second * swing
                } else {
                    first * -swing
                };
                axis_angle(DVec3::AXES[made.axis], angle)
            });
        }
        Clip {
            preview: true,
            ..builder.finish()
        }
    }
}

/// The angle of a move at one of its keyframes, as a fraction of the largest: 0, up to 1, through 0 to -1, and 0 again.
fn swing(key: usize) -> f64 {
    if key.is_multiple_of(KEYS_A_MOVE / 2) {
        // The sine is not exactly 0 there.
        return 0.0;
    }
    libm::sin(key as f64 / KEYS_A_MOVE as f64 * TAU)
}

/// The joint's own axis along its bone in the rest pose: towards its tail if the user set one, towards its children, or
/// along its parent's bone. `None` where the bone has zero length.
pub fn axis_along(skeleton: &Skeleton, joint: JointId) -> Option<usize> {
    let children = skeleton.children(joint).iter();
    let towards: DVec3 = children
        .map(|&child| skeleton.joint(child).rest.translation)
        .sum();
    let rest = &skeleton.joint(joint).rest;
    let tail = skeleton.joint(joint).rule.tail;
    let on = rest.rotation.inverse() * rest.translation;
    let direction = [tail.unwrap_or_default(), towards, on]
        .into_iter()
        .find(|d| d.is_finite() && d.length() > 1e-9)?;
    let [x, y, z] = direction.abs().to_array();
    Some(if x >= y && x >= z {
        0
    } else if y >= z {
        1
    } else {
        2
    })
}
