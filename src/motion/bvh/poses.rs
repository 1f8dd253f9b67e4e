//! Where the joints of a BVH file are at its frames.

use super::{Bvh, BvhChannel, BvhJoint, Placement, Positions};
use crate::motion::fade::Fade;
use crate::motion::sampling::Sampling;
use crate::motion::series::Channel;
use crate::motion::signal::Signal;
use glam::{DQuat, DVec3};

const AXES: [DVec3; 3] = [DVec3::X, DVec3::Y, DVec3::Z];

/// The poses of a file under a rule for its position channels, in the file's own axes and units.
#[derive(Clone, Debug)]
pub struct BvhPoses<'a> {
    bvh: &'a Bvh,
    placements: Vec<Placement>,
    /// For a joint with missing values: its local rotations and positions at all frames, the missing ones interpolated,
    /// and in long gaps held and faded to rest.
    repaired: Vec<Option<Vec<(DQuat, DVec3)>>>,
}

impl<'a> BvhPoses<'a> {
    /// The poses of a file.
    pub fn new(bvh: &'a Bvh, rule: Positions) -> Self {
        let joints = bvh.joints.iter();
        let placements: Vec<Placement> = joints.map(|j| Placement::of(bvh, j, rule)).collect();
        let mut poses = Self {
            bvh,
            placements,
            repaired: vec![None; bvh.joints.len()],
        };
        if bvh.values.iter().any(|v| v.is_nan()) {
            for joint in 0..bvh.joints.len() {
                poses.repaired[joint] = poses.repair(joint);
            }
        }
        poses
    }

    /// The file.
    pub fn bvh(&self) -> &'a Bvh {
        self.bvh
    }

    /// What the position channels of each joint are.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// The rotation and the position of a joint in its parent at a frame; at rest for `None` and for a frame that the file
    /// lacks.
    pub fn local(&self, frame: Option<usize>, joint: usize) -> (DQuat, DVec3) {
        if let (Some(all), Some(frame)) = (&self.repaired[joint], frame)
            && let Some(local) = all.get(frame)
        {
            return *local;
        }
        let of = &self.bvh.joints[joint];
        match frame.and_then(|frame| self.bvh.frame(frame)) {
            Some(values) => local(of, self.placements[joint], values),
            None => (DQuat::IDENTITY, of.offset),
        }
    }

    /// The world rotation and place of each joint at a frame, or at rest.
    pub fn world(&self, frame: Option<usize>) -> Vec<(DQuat, DVec3)> {
        let mut world: Vec<(DQuat, DVec3)> = Vec::with_capacity(self.bvh.joints.len());
        for (j, joint) in self.bvh.joints.iter().enumerate() {
            let (rotation, position) = self.local(frame, j);
            world.push(match joint.parent {
                Some(parent) => {
                    let (above, place) = world[parent];
                    (above * rotation, place + above * position)
                }
                None => (rotation, position),
            });
        }
        world
    }

    /// The world place of each joint at a frame, or at rest.
    pub fn places(&self, frame: Option<usize>) -> Vec<DVec3> {
        let world = self.world(frame).into_iter();
        world.map(|(_, place)| place).collect()
    }

    /// All locals of a joint that has missing values.
    fn repair(&self, joint: usize) -> Option<Vec<(DQuat, DVec3)>> {
        let of = &self.bvh.joints[joint];
        let numbers = of.first_channel..of.first_channel + of.channels.len();
        let is_whole = |frame: usize| {
            let values = self.bvh.frame(frame).unwrap_or_default();
            values[numbers.clone()].iter().all(|v| v.is_finite())
        };
        let n = self.bvh.n_frames;
        if (0..n).all(is_whole) {
            return None;
        }
        let times: Vec<f64> = (0..n).map(|f| f as f64 * self.bvh.frame_secs).collect();
        let locals: Vec<(DQuat, DVec3)> = (0..n).map(|f| self.local(Some(f), joint)).collect();
        let rotations = filled(&times, locals.iter().map(|l| l.0).collect());
        // The offset is where a position rests.
        let moved = filled(&times, locals.iter().map(|l| l.1 - of.offset).collect());
        let moved = moved.into_iter().map(|moved| of.offset + moved);
        Some(rotations.into_iter().zip(moved).collect())
    }
}

/// The values with those that are missing interpolated, or in long gaps held and faded to rest.
fn filled<V: Signal>(times: &[f64], values: Vec<V>) -> Vec<V> {
    match Channel::new(times, &values, Sampling::default()) {
        Ok(channel) => {
            let fade = Fade::default();
            let shown = times.iter().map(|t| channel.shown(*t, &fade).value);
            shown.collect()
        }
        // Times that do not ascend: a frame time below their last digit.
        Err(_) => {
            let rest = |v: V| if v.is_valid() { v } else { V::REST };
            values.into_iter().map(rest).collect()
        }
    }
}

fn local(joint: &BvhJoint, placement: Placement, values: &[f64]) -> (DQuat, DVec3) {
    let mut rotation = DQuat::IDENTITY;
    let mut position = joint.offset;
    let values = &values[joint.first_channel..];
    for (channel, value) in joint.channels.iter().zip(values) {
        match *channel {
            BvhChannel::Rotation(axis) => {
                rotation *= DQuat::from_axis_angle(AXES[axis], value.to_radians());
            }
            BvhChannel::Position(axis) if placement == Placement::Add => position[axis] += value,
            BvhChannel::Position(axis) => position[axis] = *value,
        }
    }
    (rotation, position)
}
