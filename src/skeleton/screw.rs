//! Clips whose joints follow screw motions between keyframes: their sampling, and the keyframes with which any player
//! shows them.
//!
//! A joint follows a screw where its rotation is [`Interpolation::Linear`] and its translation is too, or has no
//! channel. The keyframes of both count: at each of their times the joint has the values of its channels, and from one
//! such time to the next [`RigidInterpolation`] interpolates. `STEP` and `CUBICSPLINE` channels keep their own
//! interpolation, and so does the other channel of such a joint; scale and morph weights are always interpolated per
//! component.

use super::clip::{Channel, Clip, Interpolation, Property};
use super::{JointId, RigidInterpolation};
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::task::{Cancelled, Task};
use glam::{DQuat, DVec3};
use std::collections::HashMap;
use std::sync::Arc;

/// Intervals between two keyframes at whose ends linear interpolation is compared with the screw.
const N_PROBES: u32 = 8;
/// The largest number of bisections of a span between two keyframes.
const MAX_HALVINGS: u32 = 14;

/// The channels of one joint of a clip that follow a screw together.
pub(super) struct ScrewTrack<'a> {
    pub(super) joint: JointId,
    interpolation: RigidInterpolation,
    rotation: &'a Channel,
    translation: Option<&'a Channel>,
}

/// The largest error of a player's linear interpolation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Of a rotation.
    pub radians: f64,
    /// Of a translation, in the units of the joint's parent.
    pub length: f64,
}

/// A clip that every player shows as intended, and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentWise {
    /// The clip, with [`RigidInterpolation::Components`].
    pub clip: Clip,
    /// Added keyframes.
    pub n_keys_added: usize,
}

impl Clip {
    /// This clip with [`RigidInterpolation::Components`] and as many more keyframes as it takes to follow the screws
    /// within `tolerance` of each joint. Channels that need none share their keyframes with this clip.
    ///
    /// Spans are bisected until linear interpolation is within the tolerance at seven times between their ends.
    pub fn component_wise(
        &self,
        tolerance: impl Fn(JointId) -> Tolerance,
        task: &Task,
    ) -> Result<ComponentWise, Cancelled> {
        let mut made = ComponentWise {
            clip: Self {
                rigid_interpolation: RigidInterpolation::Components,
                ..self.clone()
            },
            n_keys_added: 0,
        };
        for track in ScrewTrack::all(self) {
            task.check()?;
            let wanted = tolerance(track.joint);
            for channel in std::iter::once(track.rotation).chain(track.translation) {
                let (denser, n_added) = track.denser(channel, wanted);
                if n_added == 0 {
                    continue;
                }
                made.n_keys_added += n_added;
                if let Some(c) = self.channel_of(channel.joint, channel.property) {
                    made.clip.channels[c] = denser;
                }
            }
        }
        Ok(made)
    }
}

impl<'a> ScrewTrack<'a> {
    /// The joints of `clip` that are not interpolated per component.
    pub(super) fn all(clip: &'a Clip) -> Vec<Self> {
        if clip.rigid_interpolation == RigidInterpolation::Components {
            return Vec::new();
        }
        let mut rigid: HashMap<JointId, [Option<&Channel>; 2]> = HashMap::new();
        let mut order = Vec::new();
        for channel in &clip.channels {
            let slot = match channel.property {
                Property::Rotation => 0,
                Property::Translation => 1,
                Property::Scale | Property::MorphWeights | Property::Influence(_) => continue,
            };
            // Of duplicates the last wins.
            rigid.entry(channel.joint).or_insert_with(|| {
                order.push(channel.joint);
                [None; 2]
            })[slot] = Some(channel);
        }
        let is_linear = |c: &Channel| c.interpolation == Interpolation::Linear;
        let track = |joint: JointId| {
            let [rotation, translation] = rigid[&joint];
            // A joint that only rotates follows the same path along a screw, but with DLB not at the same speed.
            let differs =
                translation.is_some() || clip.rigid_interpolation == RigidInterpolation::ScrewDlb;
            let follows = rotation.is_some_and(is_linear) && translation.is_none_or(is_linear);
            (differs && follows).then_some(Self {
                joint,
                interpolation: clip.rigid_interpolation,
                rotation: rotation?,
                translation,
            })
        };
        order.into_iter().filter_map(track).collect()
    }

    /// Sets the joint to its transform on the screw at `time_secs`. `local` has the values of its channels at that
    /// time; it stays so before the first and after the last keyframe.
    pub(super) fn apply(&self, time_secs: f64, local: &mut Transform) {
        if let Some((rotation, translation)) = self.at(time_secs) {
            local.rotation = rotation;
            if self.translation.is_some() {
                local.translation = translation;
            }
        }
    }

    fn channels(&self) -> impl Iterator<Item = &'a Channel> {
        std::iter::once(self.rotation).chain(self.translation)
    }

    /// Rotation and translation at a time between two keyframes.
    fn at(&self, time_secs: f64) -> Option<(DQuat, DVec3)> {
        let (mut start, mut end) = (f64::NEG_INFINITY, f64::INFINITY);
        for channel in self.channels() {
            let after = channel
                .times
                .partition_point(|&t| f64::from(t) <= time_secs);
            if let Some(before) = after.checked_sub(1) {
                start = start.max(f64::from(channel.times[before]));
            }
            if let Some(&next) = channel.times.get(after) {
                end = end.min(f64::from(next));
            }
        }
        let span = end - start;
        if !(span > 0.0 && span.is_finite()) {
            return None;
        }
        let u = (time_secs - start) / span;
        Some(
            self.interpolation
                .rigid(self.from(start), self.until(end), u),
        )
    }

    /// The values of the channels right after `time_secs`.
    fn from(&self, time_secs: f64) -> (DQuat, DVec3) {
        let mut value = [0.0; 4];
        self.rotation.sample(time_secs, &mut value);
        let rotation = DQuat::from_array(value);
        let translation = self.translation.map_or(DVec3::ZERO, |channel| {
            channel.sample(time_secs, &mut value[..3]);
            DVec3::from_slice(&value)
        });
        (rotation, translation)
    }

    /// The values of the channels right before `time_secs`: of keyframes at one time the first.
    fn until(&self, time_secs: f64) -> (DQuat, DVec3) {
        let (mut rotation, mut translation) = self.from(time_secs);
        for channel in self.channels() {
            let k = channel.times.partition_point(|&t| f64::from(t) < time_secs);
            if channel
                .times
                .get(k)
                .is_some_and(|&t| f64::from(t) == time_secs)
            {
                match channel.property {
                    Property::Rotation => rotation = unit(channel.key(k)),
                    _ => translation = vector(channel.key(k)),
                }
            }
        }
        (rotation, translation)
    }

    /// `channel` of this track with keyframes added until linear interpolation follows the screw, and their number.
    fn denser(&self, channel: &Channel, tolerance: Tolerance) -> (Channel, usize) {
        // Times at which the other channel changes the direction of the path, ascending.
        let others = self.channels().filter(|c| c.property != channel.property);
        let bends: Vec<f32> = others.flat_map(|c| c.times.iter().copied()).collect();
        let mut out = Denser {
            track: self,
            property: channel.property,
            tolerance,
            bends,
            times: Vec::with_capacity(channel.times.len()),
            values: Vec::with_capacity(channel.values.len()),
        };
        for (k, &time) in channel.times.iter().enumerate() {
            out.push(time, channel.key(k));
            if let Some(&next) = channel.times.get(k + 1) {
                let (from, to) = (out.load(channel.key(k)), out.load(channel.key(k + 1)));
                out.fill((time, from), (next, to), MAX_HALVINGS);
            }
        }
        let n_added = out.times.len() - channel.times.len();
        let denser = Channel {
            times: Arc::from(out.times),
            values: Arc::from(out.values),
            ..*channel
        };
        (denser, n_added)
    }
}

/// A value of either property.
type Rigid = (DQuat, DVec3);

/// The keyframes of one channel while they are added.
struct Denser<'a> {
    track: &'a ScrewTrack<'a>,
    property: Property,
    tolerance: Tolerance,
    bends: Vec<f32>,
    times: Vec<f32>,
    values: Vec<f32>,
}

impl Denser<'_> {
    fn push(&mut self, time: f32, value: &[f32]) {
        self.times.push(time);
        self.values.extend(value);
    }

    fn load(&self, value: &[f32]) -> Rigid {
        match self.property {
            Property::Rotation => (unit(value), DVec3::ZERO),
            _ => (DQuat::IDENTITY, vector(value)),
        }
    }

    /// Adds keyframes between two times until linear interpolation is within the tolerance.
    fn fill(&mut self, start: (f32, Rigid), end: (f32, Rigid), halvings: u32) {
        let middle = self.middle(start.0, end.0);
        if halvings == 0 || middle <= start.0 || middle >= end.0 || self.is_near(start, end) {
            return;
        }
        let Some((rotation, translation)) = self.track.at(f64::from(middle)) else {
            return;
        };
        // As stored: later spans start from the rounded value.
        let value: Vec<f32> = match self.property {
            Property::Rotation => {
                // Consistent signs along the clip, so that every player interpolates along the shorter arc.
                let sign = if rotation.dot(start.1.0) < 0.0 {
                    -1.0
                } else {
                    1.0
                };
                (rotation * sign)
                    .to_array()
                    .iter()
                    .map(|&x| x as f32)
                    .collect()
            }
            _ => translation.to_array().iter().map(|&x| x as f32).collect(),
        };
        let key = (middle, self.load(&value));
        self.fill(start, key, halvings - 1);
        self.push(middle, &value);
        self.fill(key, end, halvings - 1);
    }

    /// Times within a span at which the path changes direction.
    fn bends_in(&self, start: f32, end: f32) -> &[f32] {
        let first = self.bends.partition_point(|&t| t <= start);
        let inside = self.bends[first..].partition_point(|&t| t < end);
        &self.bends[first..first + inside]
    }

    /// Where a span is split: at the middle one of those times, else halfway.
    fn middle(&self, start: f32, end: f32) -> f32 {
        let bends = self.bends_in(start, end);
        bends
            .get(bends.len() / 2)
            .copied()
            .unwrap_or(start + 0.5 * (end - start))
    }

    /// Whether linear interpolation between two keyframes is within the tolerance of the screw.
    fn is_near(&self, start: (f32, Rigid), end: (f32, Rigid)) -> bool {
        let (t0, t1) = (f64::from(start.0), f64::from(end.0));
        let probes = (1..N_PROBES).map(|i| f64::from(i) / f64::from(N_PROBES));
        let bends = self.bends_in(start.0, end.0).iter();
        let bends = bends.map(|&t| (f64::from(t) - t0) / (t1 - t0));
        probes.chain(bends).all(|u| {
            let Some(wanted) = self.track.at(t0 + (t1 - t0) * u) else {
                return true;
            };
            let line = RigidInterpolation::Components.rigid(start.1, end.1, u);
            match self.property {
                Property::Rotation => angle_between(line.0, wanted.0) <= self.tolerance.radians,
                _ => line.1.distance(wanted.1) <= self.tolerance.length,
            }
        })
    }
}

/// The angle of the rotation from one to the other, accurate for tiny angles too.
fn angle_between(a: DQuat, b: DQuat) -> f64 {
    let rotation = a.conjugate() * b;
    2.0 * rotation.xyz().length().atan2(rotation.w.abs())
}

fn unit(value: &[f32]) -> DQuat {
    let [x, y, z, w] = [0, 1, 2, 3].map(|i| f64::from(value[i]));
    normalize_or_identity(DQuat::from_xyzw(x, y, z, w))
}

fn vector(value: &[f32]) -> DVec3 {
    DVec3::new(value[0].into(), value[1].into(), value[2].into())
}
