//! Channels on the joints and the morph targets of their names, as keyframes.
//!
//! Data flow: a [`Recording`] and a skeleton at rest, or under the clip of a body -> rotations of joints at the recording's rate,
//! held and faded in gaps -> keyframes within a tolerance; values -> morph weights.
//!
//! Invariant: what a channel shows live, its keyframes show.

use super::fade::{Fade, Guard};
use super::morphs::MorphedJoint;
use super::recording::Recording;
use super::retarget::KeyReport;
use super::sampling::Sampling;
use super::series::Channel as Series;
use super::signal::Signal;
use super::thin::{angle_between, thin, thin_within, value_between};
use crate::math::Worse;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::{Channel, Clip, Interpolation, JointId, Pose, Property, Skeleton};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DQuat, DVec3};

/// Frames a second, at least and at most.
const RATES: [f64; 2] = [1.0, 1_000.0];
/// The largest number of frames.
const MAX_FRAMES: f64 = 4e6;
/// The largest number of values of all channels.
const MAX_VALUES: f64 = 2e7;
/// The largest morph weight.
pub(in crate::motion) const MAX_WEIGHT: f64 = 1e6;

/// Why channels make no keyframes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ByNameError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// No channel has the name of a joint or of a morph target.
    #[error(
        "none of its rotations is named after a human bone, as Hips or LeftUpperArm, or after a joint of the character, and none \
         of its values after a morph target"
    )]
    NoNames,
    /// It is too long.
    #[error(
        "it lasts {secs:.0} s at {rate:.0} Hz, too long for keyframes: is the unit of its times right?"
    )]
    TooLong {
        /// Its length, seconds.
        secs: f64,
        /// Samples a second.
        rate: f64,
    },
}

/// What channels move by their names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named {
    /// Tracks of rotations, and the joints of their names.
    joints: Vec<(usize, JointId)>,
    /// Scalars, the joints that draw a mesh, and the targets of their names there.
    targets: Vec<(usize, usize, usize)>,
}

/// What is moved by channels of its name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NamedReport {
    /// The joints.
    pub joints: Vec<String>,
    /// The morph targets, each once.
    pub morphs: Vec<String>,
    /// The keyframes of both.
    pub keys: KeyReport,
    /// The number of bindings by hand that were carried out.
    pub bound: usize,
}

/// What channels move by their names: a skeleton at rest with its morph targets.
#[derive(Clone, Copy, Debug)]
pub struct NamedTarget<'a> {
    /// The joints.
    pub skeleton: &'a Skeleton,
    /// The rest pose.
    pub rest: &'a Pose,
    /// The joints with morph targets.
    pub morphs: &'a [MorphedJoint],
}

impl Named {
    /// The channels of a recording that have the name of a joint or of a morph target. `is_free`: whether a rotation of this name
    /// may move this joint.
    pub fn new(
        recording: &Recording,
        target: &NamedTarget<'_>,
        is_free: impl Fn(&str, JointId) -> bool,
    ) -> Self {
        let joint_of = |name: &str| target.skeleton.joint_named(name);
        let rotations = recording.rotations.iter().enumerate();
        let joints = rotations.filter_map(|(i, track)| {
            let joint = joint_of(&track.name)?;
            is_free(&track.name, joint).then_some((i, joint))
        });
        let scalars = recording.scalars.iter().enumerate();
        let targets = scalars.flat_map(|(i, track)| {
            let joints = target.morphs.iter().enumerate();
            joints
                .flat_map(move |(k, of)| of.driven_by(&track.name).map(move |morph| (i, k, morph)))
        });
        Self {
            joints: joints.collect(),
            targets: targets.collect(),
        }
    }

    /// Whether nothing is moved.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty() && self.targets.is_empty()
    }
}

/// Adds keyframes of named channels to a clip, of a body or empty, that begins at 0. `tolerance`: how far a joint may be off for
/// fewer keys, a share of the skeleton's height, and a morph weight of 1; 0 keeps all.
pub fn bake_by_name(
    recording: &Recording,
    named: &Named,
    target: &NamedTarget<'_>,
    clip: &mut Clip,
    tolerance: f64,
    task: &Task,
) -> Result<NamedReport, ByNameError> {
    let (Some(first), Some(last)) = (recording.times.first(), recording.times.last()) else {
        return Err(ByNameError::NoNames);
    };
    if named.is_empty() {
        return Err(ByNameError::NoNames);
    }
    let secs = last - first;
    let rate = recording.sample_rate().unwrap_or(RATES[0]);
    let rate = rate.clamp(RATES[0], RATES[1]);
    let n_frames = secs * rate;
    let n_values = n_frames * (named.joints.len() + named.targets.len()) as f64;
    if n_frames > MAX_FRAMES || n_values > MAX_VALUES {
        return Err(ByNameError::TooLong { secs, rate });
    }
    let mut times = super::aggregate::frame_times(0.0, secs, rate);
    // The last sample is a frame too.
    if times.last().is_none_or(|time| secs - time > 1e-4) {
        times.push(secs);
    }
    let baking = Baking {
        recording,
        named,
        target,
        base: clip.clone(),
        first: *first,
        times,
        task,
    };
    let mut report = NamedReport::default();
    baking.add_rotations(clip, tolerance, &mut report)?;
    baking.add_weights(clip, tolerance, &mut report)?;
    Ok(report)
}

/// Channels on their way to keyframes.
struct Baking<'a> {
    recording: &'a Recording,
    named: &'a Named,
    target: &'a NamedTarget<'a>,
    /// What moves the other joints.
    base: Clip,
    /// The time of the first sample.
    first: f64,
    /// n_frames, from 0.
    times: Vec<f64>,
    task: &'a Task,
}

impl Baking<'_> {
    fn step(&self, frame: usize, from: f32, to: f32) -> Result<(), Cancelled> {
        if !frame.is_multiple_of(256) {
            return Ok(());
        }
        let share = frame as f32 / self.times.len() as f32;
        self.task
            .step("Setting keyframes", from + (to - from) * share)
    }

    /// The local rotations of the named joints: n_joints x n_frames.
    fn rotations(&self) -> Result<Vec<Vec<DQuat>>, Cancelled> {
        let (skeleton, fade) = (self.target.skeleton, Fade::default());
        let sampling = Sampling::default();
        let tracks = self.named.joints.iter().map(|(track, joint)| {
            let track = &self.recording.rotations[*track];
            let is_world = self.recording.world_rotations.contains(&track.name);
            let series = Series::new(&self.recording.times, &track.values, sampling);
            (series.ok(), is_world, skeleton.joint(*joint).rest.rotation)
        });
        let tracks: Vec<(Option<Series<DQuat>>, bool, DQuat)> = tracks.collect();
        let mut guards = vec![Guard::new(fade); tracks.len()];
        let mut at_slot = vec![None; skeleton.len()];
        for (k, (_, joint)) in self.named.joints.iter().enumerate() {
            at_slot[joint.get()] = Some(k);
        }
        let mut found = vec![Vec::with_capacity(self.times.len()); tracks.len()];
        let mut world = vec![DQuat::IDENTITY; skeleton.len()];
        let mut pose = self.target.rest.clone();
        for (frame, &time) in self.times.iter().enumerate() {
            self.step(frame, 0.0, 0.3)?;
            self.base.apply(time, &mut pose);
            let device = self.first + time;
            for &j in skeleton.order() {
                let j = j as usize;
                let above = skeleton.joints()[j].parent;
                let above = above.map_or(DQuat::IDENTITY, |above| world[above.get()]);
                if let Some(k) = at_slot[j] {
                    let (series, is_world, rest) = &tracks[k];
                    let shown = match series {
                        Some(series) if *is_world => {
                            let turned = series.at(device).map(|q| above.conjugate() * q);
                            let turned = turned.map(|q| rest.conjugate() * q);
                            guards[k].next(time, turned).value
                        }
                        Some(series) => {
                            let turned = |q: DQuat| rest.conjugate() * q;
                            series.shown_as(device, &fade, turned).value
                        }
                        None => DQuat::REST,
                    };
                    let turned = normalize_or_identity(*rest * shown);
                    pose.locals[j].rotation = turned;
                    let last = found[k].last().copied().unwrap_or(turned);
                    // One sign along the clip, so that every player takes the shorter arc.
                    found[k].push(if turned.dot(last) < 0.0 {
                        -turned
                    } else {
                        turned
                    });
                }
                world[j] = above * pose.locals[j].rotation;
            }
        }
        Ok(found)
    }

    fn add_rotations(
        &self,
        clip: &mut Clip,
        tolerance: f64,
        report: &mut NamedReport,
    ) -> Result<(), Cancelled> {
        if self.named.joints.is_empty() {
            return Ok(());
        }
        let rotations = self.rotations()?;
        let height = height(self.target);
        let (kept, angle_deg, worst) = thin_within(tolerance, |round| {
            let radians = round.angle_deg.to_radians();
            let kept = rotations.iter();
            let kept = kept.map(|values| thin(&self.times, values, radians, angle_between));
            let kept: Vec<Vec<usize>> = kept.collect();
            let worst = if round.angle_deg == 0.0 || height <= 0.0 {
                0.0
            } else {
                self.worst(&rotations, &kept)? / height
            };
            Ok::<_, Cancelled>((kept, worst))
        })?;
        report.keys.angle_deg = angle_deg;
        report.keys.worst = worst;
        for (((_, joint), values), kept) in self.named.joints.iter().zip(&rotations).zip(&kept) {
            clip.channels
                .retain(|c| (c.joint, c.property) != (*joint, Property::Rotation));
            let values = kept.iter().flat_map(|k| values[*k].to_array());
            let values = values.map(|v| v as f32).collect();
            let channel = self.channel(*joint, Property::Rotation, kept, values);
            clip.channels.push(channel);
            let name = self.target.skeleton.joint(*joint).name.clone();
            report.joints.push(name);
            report.keys.keys += kept.len();
            report.keys.of += self.times.len();
        }
        Ok(())
    }

    /// The farthest that a joint is off with these keys, metres.
    fn worst(&self, rotations: &[Vec<DQuat>], kept: &[Vec<usize>]) -> Result<f64, Cancelled> {
        let skeleton = self.target.skeleton;
        let mut exact = self.target.rest.clone();
        let (mut of_exact, mut of_thinned): (Vec<DAffine3>, Vec<DAffine3>) = Default::default();
        let mut worst = 0.0_f64;
        for (frame, &time) in self.times.iter().enumerate() {
            self.step(frame, 0.3, 0.9)?;
            self.base.apply(time, &mut exact);
            let mut thinned = exact.clone();
            for (((_, joint), values), kept) in self.named.joints.iter().zip(rotations).zip(kept) {
                exact.locals[joint.get()].rotation = values[frame];
                thinned.locals[joint.get()].rotation =
                    value_between(&self.times, values, kept, frame);
            }
            exact.world_matrices_into(skeleton, &mut of_exact);
            thinned.world_matrices_into(skeleton, &mut of_thinned);
            for (a, b) in of_exact.iter().zip(&of_thinned) {
                worst = worst.worse(a.translation.distance(b.translation));
            }
        }
        Ok(worst)
    }

    fn add_weights(
        &self,
        clip: &mut Clip,
        tolerance: f64,
        report: &mut NamedReport,
    ) -> Result<(), Cancelled> {
        let fade = Fade::default();
        for (k, of) in self.target.morphs.iter().enumerate() {
            self.task.step("Setting keyframes", 0.95)?;
            let mut of_targets: Vec<Option<Vec<f64>>> = vec![None; of.rest.len()];
            for (scalar, _, target) in self.named.targets.iter().filter(|named| named.1 == k) {
                let values = &self.recording.scalars[*scalar].values;
                let series = Series::new(&self.recording.times, values, Sampling::default());
                let Ok(series) = series else {
                    continue;
                };
                let shown = |time: &f64| {
                    let value = series.shown(self.first + time, &fade).value;
                    value.clamp(-MAX_WEIGHT, MAX_WEIGHT)
                };
                of_targets[*target] = Some(self.times.iter().map(shown).collect());
            }
            let driven: Vec<&Vec<f64>> = of_targets.iter().flatten().collect();
            if driven.is_empty() {
                continue;
            }
            // A key of one target is one of all; each stays within half, as those of the others split it.
            let off = |a: f64, b: f64| (a - b).abs();
            let kept = driven
                .iter()
                .flat_map(|values| thin(&self.times, values, 0.5 * tolerance, off));
            let mut kept: Vec<usize> = kept.collect();
            kept.sort_unstable();
            kept.dedup();
            let weights = kept.iter().flat_map(|frame| {
                let targets = of_targets.iter().zip(&of.rest);
                targets.map(|(values, rest)| {
                    values
                        .as_ref()
                        .map_or(*rest, |values| values[*frame] as f32)
                })
            });
            let weights = weights.collect();
            let channel = self.channel(of.joint, Property::MorphWeights, &kept, weights);
            clip.channels.push(channel);
            report.keys.keys += kept.len();
            report.keys.of += self.times.len();
            for (name, _) in of
                .names
                .iter()
                .zip(&of_targets)
                .filter(|named| named.1.is_some())
            {
                if !report.morphs.contains(name) {
                    report.morphs.push(name.clone());
                }
            }
        }
        Ok(())
    }

    fn channel(
        &self,
        joint: JointId,
        property: Property,
        kept: &[usize],
        values: Vec<f32>,
    ) -> Channel {
        Channel {
            joint,
            property,
            interpolation: Interpolation::Linear,
            times: kept.iter().map(|k| self.times[*k] as f32).collect(),
            values: values.into(),
        }
    }
}

/// The extent of the joints at rest along the longest axis, metres.
pub fn height(target: &NamedTarget<'_>) -> f64 {
    let mut world = Vec::new();
    target.rest.world_matrices_into(target.skeleton, &mut world);
    let places = || world.iter().map(|matrix| matrix.translation);
    let low = places().reduce(DVec3::min).unwrap_or_default();
    let high = places().reduce(DVec3::max).unwrap_or_default();
    (high - low).max_element()
}
