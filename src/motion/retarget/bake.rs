//! A motion on a character as a clip.

use super::lock::{FootLock, lock};
use super::target::{Retarget, RetargetPose};
use crate::motion::contacts::{ContactLimits, FeetSecs};
use crate::motion::thin::{angle_between, distance, thin, thin_within, value_between};
use crate::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use crate::task::{Cancelled, Task};
use glam::{DQuat, DVec3};
use serde::Serialize;

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
        if locks_feet && self.has_legs() {
            // Without its travel a body walks on a floor that moves: feet rest on that.
            self.with_whole_travel(&mut poses, true);
            feet = lock(self, &mut poses, contacts, &ContactLimits::default());
            self.with_whole_travel(&mut poses, false);
        }
        self.move_root(&mut poses);
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
        let others = (0..self.translated_joints().count())
            .map(|k| poses.iter().map(|pose| pose.translations[k]).collect());
        // The hips, then the others.
        let translations: Vec<Vec<DVec3>> = std::iter::once(hips).chain(others).collect();
        let height = self.height();
        let (kept, angle_deg, worst) = thin_within(options.tolerance, |round| {
            task.step("Thinning keys", 0.5 + 0.5 * round.share)?;
            let tolerance = round.of_first * options.tolerance;
            let length = self.local_length(tolerance * height * 0.5);
            let radians = round.angle_deg.to_radians();
            let turns = rotations.iter();
            let turns = turns.map(|values| thin(times, values, radians, angle_between));
            let places = translations.iter();
            let places = places.map(|values| thin(times, values, length, distance));
            let kept = Kept {
                rotations: turns.collect(),
                translations: places.collect(),
            };
            let worst = self.worst(&poses, &joints, &rotations, &translations, &kept) / height;
            Ok::<_, Cancelled>((kept, worst))
        })?;
        let all = kept.rotations.iter().chain(&kept.translations);
        let keys = KeyReport {
            keys: all.clone().map(Vec::len).sum(),
            of: times.len() * all.count(),
            angle_deg,
            worst,
        };
        let mut clip = Clip::named(name);
        for ((joint, values), kept) in joints.iter().zip(&rotations).zip(&kept.rotations) {
            let joint = JointId(*joint as u32);
            let values = kept.iter().flat_map(|k| values[*k].to_array());
            clip.channels
                .push(channel(joint, Property::Rotation, times, kept, values));
        }
        let moved = std::iter::once(self.hips()).chain(self.translated_joints());
        for ((joint, values), kept) in moved.zip(&translations).zip(&kept.translations) {
            let joint = JointId(joint as u32);
            let values = kept.iter().flat_map(|k| values[*k].to_array());
            clip.channels
                .push(channel(joint, Property::Translation, times, kept, values));
        }
        Ok(Baked { clip, feet, keys })
    }

    /// The farthest that a joint is off with these keys, metres.
    fn worst(
        &self,
        poses: &[RetargetPose],
        joints: &[usize],
        rotations: &[Vec<DQuat>],
        translations: &[Vec<DVec3>],
        kept: &Kept,
    ) -> f64 {
        let times = self.times();
        let mut worst = 0.0_f64;
        for (frame, exact) in poses.iter().enumerate() {
            let mut pose = exact.clone();
            for ((joint, values), kept) in joints.iter().zip(rotations).zip(&kept.rotations) {
                pose.rotations[*joint] = value_between(times, values, kept, frame);
            }
            let moved = std::iter::once(&mut pose.hips).chain(&mut pose.translations);
            for ((place, values), kept) in moved.zip(translations).zip(&kept.translations) {
                *place = value_between(times, values, kept, frame);
            }
            self.place(&mut pose);
            for (found, expected) in pose.places.iter().zip(&exact.places) {
                worst = worst.max(found.distance(*expected));
            }
        }
        worst
    }
}

/// The samples that become keys.
struct Kept {
    /// Of each moved joint.
    rotations: Vec<Vec<usize>>,
    /// Of the hips, then of the others that move in their parents.
    translations: Vec<Vec<usize>>,
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
