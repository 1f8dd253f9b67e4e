//! A motion on a character as a clip.

use super::lock::{FootLock, lock};
use super::target::{Retarget, RetargetPose};
use crate::motion::contacts::{ContactLimits, FeetSecs};
use crate::motion::thin::{angle_between, distance, thin};
use crate::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use crate::task::{Cancelled, Task};
use glam::{DQuat, DVec3};
use serde::Serialize;

/// The first angle that thinned keys may be off, degrees.
const FIRST_ANGLE: f64 = 0.1;
/// How often it is halved.
const MAX_ROUNDS: usize = 12;

/// How a clip is made.
#[derive(Clone, Debug, PartialEq)]
pub struct BakeOptions {
    /// Whether resting feet are held.
    pub locks_feet: bool,
    /// Contacts of the feet that replace those that are found.
    pub contacts: Option<FeetSecs>,
    /// How far a joint may be off for fewer keys, a share of the character's height; 0 keeps all.
    pub tolerance: f64,
}

impl Default for BakeOptions {
    fn default() -> Self {
        Self {
            locks_feet: true,
            contacts: None,
            tolerance: 1e-3,
        }
    }
}

/// A clip of a retargeted motion.
#[derive(Clone, Debug)]
pub struct Baked {
    /// Rotations of the moved joints and translations of the hips.
    pub clip: Clip,
    /// What resting feet were found, and held if asked for.
    pub feet: FootLock,
    /// How many keys were needed.
    pub keys: KeyReport,
}

/// How many keys a clip needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct KeyReport {
    /// Keys of all channels.
    pub keys: usize,
    /// Samples of all channels.
    pub of: usize,
    /// The largest angle that they may be off, degrees.
    pub angle_deg: f64,
    /// The farthest that a joint is off, a share of the character's height.
    pub worst: f64,
}

impl Retarget<'_> {
    /// The poses of all frames, with resting feet held if `locks_feet`.
    pub fn poses(
        &self,
        locks_feet: bool,
        task: &Task,
    ) -> Result<(Vec<RetargetPose>, FootLock), Cancelled> {
        self.poses_with(locks_feet, None, task)
    }

    /// The same; contacts that are given replace those that are found.
    fn poses_with(
        &self,
        locks_feet: bool,
        contacts: Option<&FeetSecs>,
        task: &Task,
    ) -> Result<(Vec<RetargetPose>, FootLock), Cancelled> {
        let n = self.n_frames();
        let mut poses = Vec::with_capacity(n);
        for frame in 0..n {
            if frame.is_multiple_of(64) {
                task.step("Retargeting", 0.5 * frame as f32 / n as f32)?;
            }
            poses.push(self.pose(frame));
        }
        let mut feet = FootLock::default();
        if locks_feet {
            // Without its travel a body walks on a floor that moves: feet rest on that.
            self.with_whole_travel(&mut poses, true);
            feet = lock(self, &mut poses, contacts, &ContactLimits::default());
            self.with_whole_travel(&mut poses, false);
        }
        Ok((poses, feet))
    }

    /// A clip of this name, that begins at 0.
    pub fn bake(&self, name: &str, options: &BakeOptions, task: &Task) -> Result<Baked, Cancelled> {
        let by_hand = options.contacts.as_ref();
        let (poses, feet) = self.poses_with(options.locks_feet, by_hand, task)?;
        let times = self.times();
        let joints = self.moved_joints();
        let rotations: Vec<Vec<DQuat>> = joints
            .iter()
            .map(|&joint| {
                let mut previous = DQuat::IDENTITY;
                let of = |pose: &RetargetPose| {
                    let q = pose.rotations[joint];
                    // One sign along the clip, so that every player takes the shorter arc.
                    previous = if q.dot(previous) < 0.0 { -q } else { q };
                    previous
                };
                poses.iter().map(of).collect()
            })
            .collect();
        let hips: Vec<DVec3> = poses.iter().map(|pose| pose.hips).collect();
        let height = self.height();
        let mut keys = KeyReport {
            of: times.len() * (joints.len() + 1),
            angle_deg: FIRST_ANGLE,
            ..KeyReport::default()
        };
        let mut angle = if options.tolerance > 0.0 {
            FIRST_ANGLE
        } else {
            0.0
        };
        let mut round = 0;
        let (kept, of_hips) = loop {
            task.step(
                "Thinning keys",
                0.5 + 0.5 * round as f32 / MAX_ROUNDS as f32,
            )?;
            let length = self.local_length(angle / FIRST_ANGLE * options.tolerance * height * 0.5);
            let radians = angle.to_radians();
            let kept: Vec<Vec<usize>> = rotations
                .iter()
                .map(|values| thin(times, values, radians, angle_between))
                .collect();
            let of_hips = thin(times, &hips, length, distance);
            keys.worst = self.worst(&poses, &joints, &rotations, &hips, &kept, &of_hips) / height;
            keys.keys = kept.iter().map(Vec::len).sum::<usize>() + of_hips.len();
            keys.angle_deg = angle;
            if angle == 0.0 || keys.worst <= options.tolerance {
                break (kept, of_hips);
            }
            // What no halving reaches, all keys do.
            angle = if round == MAX_ROUNDS {
                0.0
            } else {
                angle * 0.5
            };
            round += 1;
        };
        let mut clip = Clip::named(name);
        for ((joint, values), kept) in joints.iter().zip(&rotations).zip(&kept) {
            let joint = JointId(*joint as u32);
            let values = kept.iter().flat_map(|k| values[*k].to_array());
            clip.channels
                .push(channel(joint, Property::Rotation, times, kept, values));
        }
        let values = of_hips.iter().flat_map(|k| hips[*k].to_array());
        let joint = JointId(self.hips() as u32);
        clip.channels.push(channel(
            joint,
            Property::Translation,
            times,
            &of_hips,
            values,
        ));
        Ok(Baked { clip, feet, keys })
    }

    /// The farthest that a joint is off with these keys, metres.
    fn worst(
        &self,
        poses: &[RetargetPose],
        joints: &[usize],
        rotations: &[Vec<DQuat>],
        hips: &[DVec3],
        kept: &[Vec<usize>],
        of_hips: &[usize],
    ) -> f64 {
        use crate::motion::signal::Signal;
        fn at<V: Signal>(times: &[f64], values: &[V], kept: &[usize], frame: usize) -> V {
            let after = kept.partition_point(|k| *k <= frame);
            let low = kept[after.saturating_sub(1)];
            match kept.get(after) {
                Some(&high) if low != frame => {
                    let u = (times[frame] - times[low]) / (times[high] - times[low]);
                    V::mix(values[low], values[high], u)
                }
                _ => values[low],
            }
        }
        let times = self.times();
        let mut worst = 0.0_f64;
        for (frame, exact) in poses.iter().enumerate() {
            let mut pose = exact.clone();
            for ((joint, values), kept) in joints.iter().zip(rotations).zip(kept) {
                pose.rotations[*joint] = at(times, values, kept, frame);
            }
            pose.hips = at(times, hips, of_hips, frame);
            self.place(&mut pose);
            for (found, expected) in pose.places.iter().zip(&exact.places) {
                worst = worst.max(found.distance(*expected));
            }
        }
        worst
    }
}

fn channel(
    joint: JointId,
    property: Property,
    times: &[f64],
    kept: &[usize],
    values: impl Iterator<Item = f64>,
) -> Channel {
    Channel {
        joint,
        property,
        interpolation: Interpolation::Linear,
        times: kept.iter().map(|k| times[*k] as f32).collect(),
        values: values.map(|v| v as f32).collect(),
    }
}
