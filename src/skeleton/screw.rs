//! Clips whose bones go along screws between keys: what they show, and the keys that make any player follow.
//!
//! A joint is taken along where its rotation is keyed [`Interpolation::Linear`] and its translation too or not at all. The
//! keys of both count: at the time of each the joint is where its channels say, and from one such time to the next it goes
//! as [`InBetweens`] says. `STEP` and `CUBICSPLINE` channels have a shape of their own and stay as they are, and so does
//! the other channel of such a joint; scale and morph weights always go component by component.

use super::clip::{Channel, Clip, Interpolation, Property};
use super::{InBetweens, JointId};
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::task::{Cancelled, Task};
use glam::{DQuat, DVec3};
use std::collections::HashMap;
use std::sync::Arc;

/// Times looked at between two keys, to tell how far a straight line is from the screw.
const N_PROBES: u32 = 8;
/// How often a span between two keys is halved at most.
const MAX_HALVINGS: u32 = 14;

/// The channels of one joint of a clip that go along a screw together.
pub(super) struct ScrewTrack<'a> {
    pub(super) joint: JointId,
    way: InBetweens,
    rotation: &'a Channel,
    translation: Option<&'a Channel>,
}

/// How far from the screw a player may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Of a rotation.
    pub radians: f64,
    /// Of a translation, in the units of the joint's parent.
    pub length: f64,
}

/// A clip that any player shows as it is, and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentWise {
    /// The clip, with [`InBetweens::Components`].
    pub clip: Clip,
    /// Keys that were added.
    pub n_keys_added: usize,
}

impl Clip {
    /// This clip with [`InBetweens::Components`] and as many more keys as it takes to follow the screws within `tolerance`
    /// of each joint. Channels that follow anyway share their keys with this clip.
    ///
    /// Spans are halved until straight lines are near enough at seven times between their ends.
    pub fn component_wise(
        &self,
        tolerance: impl Fn(JointId) -> Tolerance,
        task: &Task,
    ) -> Result<ComponentWise, Cancelled> {
        let mut made = ComponentWise {
            clip: Self {
                in_betweens: InBetweens::Components,
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
    /// The joints of `clip` that do not go component by component.
    pub(super) fn all(clip: &'a Clip) -> Vec<Self> {
        if clip.in_betweens == InBetweens::Components {
            return Vec::new();
        }
        let mut rigid: HashMap<JointId, [Option<&Channel>; 2]> = HashMap::new();
        let mut order = Vec::new();
        for channel in &clip.channels {
            let slot = match channel.property {
                Property::Rotation => 0,
                Property::Translation => 1,
                Property::Scale | Property::MorphWeights => continue,
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
            // A joint that only turns goes the same way along a screw, though not at the same speed with DLB.
            let differs = translation.is_some() || clip.in_betweens == InBetweens::ScrewDlb;
            let follows = rotation.is_some_and(is_linear) && translation.is_none_or(is_linear);
            (differs && follows).then_some(Self {
                joint,
                way: clip.in_betweens,
                rotation: rotation?,
                translation,
            })
        };
        order.into_iter().filter_map(track).collect()
    }

    /// Puts the joint where the screw has it at `time_secs`. `local` has what its channels say at that time; it stays so
    /// before the first and after the last key.
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

    /// Rotation and translation at a time between two keys.
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
        Some(self.way.rigid(self.from(start), self.until(end), u))
    }

    /// Where the channels have the joint from `time_secs` on.
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

    /// Where the channels have the joint up to `time_secs`: of keys at one time the first.
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

    /// `channel` of this track with keys put in until straight lines follow the screw; how many.
    fn denser(&self, channel: &Channel, tolerance: Tolerance) -> (Channel, usize) {
        // Times at which the other channel bends the way, ascending.
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

/// Keys of one channel, as they are put in.
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

    /// Puts keys between two times until straight lines are near enough.
    fn fill(&mut self, start: (f32, Rigid), end: (f32, Rigid), halvings: u32) {
        let middle = self.middle(start.0, end.0);
        if halvings == 0 || middle <= start.0 || middle >= end.0 || self.is_near(start, end) {
            return;
        }
        let Some((rotation, translation)) = self.track.at(f64::from(middle)) else {
            return;
        };
        // As it is written: later spans start from the rounded value.
        let value: Vec<f32> = match self.property {
            Property::Rotation => {
                // One sign along the clip, so that any reader goes the short way.
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

    /// Times inside of a span at which the way bends.
    fn bends_in(&self, start: f32, end: f32) -> &[f32] {
        let first = self.bends.partition_point(|&t| t <= start);
        let inside = self.bends[first..].partition_point(|&t| t < end);
        &self.bends[first..first + inside]
    }

    /// Where a span is cut: at the middle one of its bends, else halfway.
    fn middle(&self, start: f32, end: f32) -> f32 {
        let bends = self.bends_in(start, end);
        bends
            .get(bends.len() / 2)
            .copied()
            .unwrap_or(start + 0.5 * (end - start))
    }

    /// Whether a straight line from one key to the other is near enough to the screw.
    fn is_near(&self, start: (f32, Rigid), end: (f32, Rigid)) -> bool {
        let (t0, t1) = (f64::from(start.0), f64::from(end.0));
        let probes = (1..N_PROBES).map(|i| f64::from(i) / f64::from(N_PROBES));
        let bends = self.bends_in(start.0, end.0).iter();
        let bends = bends.map(|&t| (f64::from(t) - t0) / (t1 - t0));
        probes.chain(bends).all(|u| {
            let Some(wanted) = self.track.at(t0 + (t1 - t0) * u) else {
                return true;
            };
            let line = InBetweens::Components.rigid(start.1, end.1, u);
            match self.property {
                Property::Rotation => angle_between(line.0, wanted.0) <= self.tolerance.radians,
                _ => line.1.distance(wanted.1) <= self.tolerance.length,
            }
        })
    }
}

/// The angle of the rotation from one to the other, also where it is tiny.
fn angle_between(a: DQuat, b: DQuat) -> f64 {
    let turn = a.conjugate() * b;
    2.0 * turn.xyz().length().atan2(turn.w.abs())
}

fn unit(value: &[f32]) -> DQuat {
    let [x, y, z, w] = [0, 1, 2, 3].map(|i| f64::from(value[i]));
    normalize_or_identity(DQuat::from_xyzw(x, y, z, w))
}

fn vector(value: &[f32]) -> DVec3 {
    DVec3::new(value[0].into(), value[1].into(), value[2].into())
}
