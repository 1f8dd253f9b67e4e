//! A clip that bends and twists joints one after the other, to check the deformation of the skin.

use super::clip_builder::{ClipBuilder, turn};
use super::{Clip, JointId, Skeleton};
use glam::DVec3;
use std::collections::BTreeSet;
use std::f64::consts::TAU;

/// Keys of one move, after its first. Every third is at rest or as far as it goes.
const KEYS_A_MOVE: usize = 12;

/// What the joints go through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeOfMotion {
    /// How far a joint turns to either side about its own x, y and z axis at rest, radians; 0: not about that axis.
    pub angles: [f64; 3],
    /// Whether it turns about the axes across its bone.
    pub bend: bool,
    /// Whether it turns about the axis along its bone.
    pub twist: bool,
    /// Seconds of a move: to one side, to the other, and back to rest.
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

/// A turn of one joint about one of its axes, to both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// The joint.
    pub joint: JointId,
    /// 0, 1, 2: its own x, y, z axis at rest.
    pub axis: usize,
    /// When it begins, seconds.
    pub start_secs: f64,
}

impl RangeOfMotion {
    /// What happens when: the joints of `chosen`, parents first, each about x, then y, then z.
    pub fn moves(&self, skeleton: &Skeleton, chosen: &BTreeSet<JointId>) -> Vec<Move> {
        let order = skeleton.order().iter().map(|&j| JointId(j));
        let chosen = order.filter(|joint| chosen.contains(joint));
        let turns = chosen.flat_map(|joint| {
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
                .map(move |axis| (joint, axis))
        });
        turns
            .enumerate()
            .map(|(i, (joint, axis))| Move {
                joint,
                axis,
                start_secs: i as f64 * self.move_secs,
            })
            .collect()
    }

    /// The clip of these moves: at rest at its start, its end and between any two moves; of a move's time, a quarter is at
    /// the angle and three quarters at its negative. Other joints are not in it. It is a preview clip.
    pub fn clip(&self, name: &str, skeleton: &Skeleton, chosen: &BTreeSet<JointId>) -> Clip {
        let moves = self.moves(skeleton, chosen);
        let mut builder = ClipBuilder::new(name, skeleton.joints());
        for of_joint in moves.chunk_by(|a, b| a.joint == b.joint) {
            // The last key of a move and the first of the next are one, at rest.
            let n_keys = of_joint.len() * KEYS_A_MOVE + 1;
            let first = of_joint[0].start_secs;
            let step = self.move_secs / KEYS_A_MOVE as f64;
            let times: Vec<f64> = (0..n_keys).map(|k| first + step * k as f64).collect();
            builder.rotate(of_joint[0].joint, &times, |k| {
                let axis = of_joint[(k / KEYS_A_MOVE).min(of_joint.len() - 1)].axis;
                turn(
                    DVec3::AXES[axis],
                    self.angles[axis] * swing(k % KEYS_A_MOVE),
                )
            });
        }
        Clip {
            preview: true,
            ..builder.finish()
        }
    }
}

/// How far a move has gone at one of its keys: 0, up to 1, back through 0 to -1, and 0 again.
fn swing(key: usize) -> f64 {
    if key.is_multiple_of(KEYS_A_MOVE / 2) {
        // A sine is not quite 0 there.
        return 0.0;
    }
    libm::sin(key as f64 / KEYS_A_MOVE as f64 * TAU)
}

/// Which of the joint's own axes at rest runs along its bone: to its tail where the artist set one, towards its
/// children, or on from its parent. `None` where
/// it has no length.
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
