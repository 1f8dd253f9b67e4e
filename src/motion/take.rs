//! A recorded motion of a skeleton: the world transforms of its joints at its frames.

use super::aggregate::frame_times;
use super::bvh::{Bvh, BvhPoses, Positions};
use super::rig::Rig;
use crate::skeleton::{Clip, Pose, Skeleton};
use glam::{DQuat, DVec3};

/// Frames a second at which clips are read.
const CLIP_RATE: f64 = 60.0;
/// The largest number of frames of a take: two hours at that rate.
pub(super) const MAX_FRAMES: usize = 2 * 3600 * CLIP_RATE as usize;

/// A motion of a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// At rest; of a BVH file the pose with all channels 0.
    pub rest: Rig,
    /// n_frames times, seconds, ascending.
    pub times: Vec<f64>,
    /// n_frames x n_joints: world rotations.
    pub rotations: Vec<DQuat>,
    /// n_frames x n_joints: world places.
    pub places: Vec<DVec3>,
}

impl Take {
    /// The motion of a BVH file, in its own axes and units.
    pub fn of_bvh(bvh: &Bvh, positions: Positions) -> Self {
        let poses = BvhPoses::new(bvh, positions);
        let mut take = Self {
            rest: Rig::of_bvh(&poses),
            times: (0..bvh.n_frames)
                .map(|f| f as f64 * bvh.frame_secs)
                .collect(),
            rotations: Vec::with_capacity(bvh.n_frames * bvh.joints.len()),
            places: Vec::with_capacity(bvh.n_frames * bvh.joints.len()),
        };
        for frame in 0..bvh.n_frames {
            for (rotation, place) in poses.world(Some(frame)) {
                take.rotations.push(rotation);
                take.places.push(place);
            }
        }
        take
    }

    /// A clip of a skeleton, read 60 times a second; it begins at 0. Of a longer one the first two hours are read. `is_bone` says which slots move a skin.
    pub fn of_clip(skeleton: &Skeleton, clip: &Clip, is_bone: impl Fn(usize) -> bool) -> Self {
        let (start, end) = (f64::from(clip.start_secs()), f64::from(clip.end_secs()));
        let most = start + MAX_FRAMES as f64 / CLIP_RATE;
        let times = frame_times(start, end.min(most), CLIP_RATE);
        let mut take = Self {
            rest: Rig::of_skeleton(skeleton, is_bone),
            times: times.iter().map(|time| time - start).collect(),
            rotations: Vec::with_capacity(times.len() * skeleton.len()),
            places: Vec::with_capacity(times.len() * skeleton.len()),
        };
        let rest = Pose::rest(skeleton);
        let mut world = Vec::new();
        for time in times {
            let mut pose = rest.clone();
            clip.apply(time, &mut pose);
            pose.world_matrices_into(skeleton, &mut world);
            let first = take.rotations.len();
            take.rotations
                .resize(first + skeleton.len(), DQuat::IDENTITY);
            for &j in skeleton.order() {
                let own = pose.locals[j as usize].rotation;
                let above = skeleton.joints()[j as usize].parent;
                let above = above.map_or(DQuat::IDENTITY, |p| take.rotations[first + p.get()]);
                take.rotations[first + j as usize] = above * own;
            }
            take.places.extend(world.iter().map(|w| w.translation));
        }
        take
    }

    /// The number of frames.
    pub fn n_frames(&self) -> usize {
        self.times.len()
    }

    /// The world rotations at a frame; at rest for `None`.
    pub fn rotations(&self, frame: Option<usize>) -> &[DQuat] {
        let n = self.rest.len();
        frame.map_or(&self.rest.rotations, |f| {
            &self.rotations[f * n..(f + 1) * n]
        })
    }

    /// The world places at a frame; at rest for `None`.
    pub fn places(&self, frame: Option<usize>) -> &[DVec3] {
        let n = self.rest.len();
        frame.map_or(&self.rest.places, |f| &self.places[f * n..(f + 1) * n])
    }

    /// The take turned about the origin.
    pub(super) fn turn(&mut self, rotation: DQuat) {
        if rotation == DQuat::IDENTITY {
            return;
        }
        for q in self.rotations.iter_mut().chain(&mut self.rest.rotations) {
            *q = rotation * *q;
        }
        for p in self.places.iter_mut().chain(&mut self.rest.places) {
            *p = rotation * *p;
        }
    }
}
