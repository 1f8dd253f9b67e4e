//! Holding the end of a limb in place over a range of a clip, as keyframes of the limb.

use super::frames::set_channel;
use super::larger::larger;
use super::measure::diagonal;
use super::sampling::{chain as chain_above, resampling_of, with_inputs};
use super::{KEY_TOLERANCE, RigEdit, RigError, check_live};
use crate::document::{ClipId, Document};
use crate::math::Transform;
use crate::skeleton::constraint::ChangedPart;
use crate::skeleton::ik::Chain;
use crate::skeleton::joint_limits::ChainLimits;
use crate::skeleton::orientation::{orientation, world_of};
use crate::skeleton::resample::{KeyTimes, Resampled, Resampling, SHORTEST_SECS};
use crate::skeleton::{Channel, Clip, Interpolation, JointId, Pose, Property, RigidInterpolation};
use crate::task::Task;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The end lets go where it misses its place by more than this share of the limb's length.
const FARTHEST_MISS: f64 = 0.01;
/// The limb is checked at least so often, seconds.
const CHECKED_SECS: f64 = 1.0 / 60.0;
/// Smaller changes of a rotation (of a quaternion) and of a place (of the limb's length) are rounding errors.
const NOTHING: f64 = 1e-9;

/// The time to the place and back by default, seconds.
pub const PIN_EASE_SECS: f64 = 0.1;

/// A bone to hold in place over a range of a clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pin {
    /// The end of the limb, such as a foot.
    pub joint: JointId,
    /// The clip.
    pub clip: ClipId,
    /// The times from and to which it is held, seconds; what lies outside of the clip is left out.
    pub range: [f64; 2],
    /// The time at which it is where it is held, seconds.
    pub at: f64,
    /// Where it is held, in the world; `None`: where the clip has it at `at`.
    pub place: Option<DAffine3>,
    /// How long it takes to its place before the range, and back to its own motion after it, seconds.
    pub ease: f64,
}

/// Where a pinned bone could not stay any longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LetGo {
    /// Seconds.
    pub time: f64,
    /// How far it misses its place there, as a fraction of the limb's length.
    pub miss: f64,
}

/// How a bone is held.
#[derive(Clone, Debug, PartialEq)]
pub struct Pinned {
    /// The times from and to which it is, seconds.
    pub held: [f64; 2],
    /// What ends it before the range does, at its start and at its end.
    pub let_go: Vec<LetGo>,
    /// The farthest that it is from its place, as a fraction of the limb's length.
    pub slip: f64,
}

/// The edit that holds a bone where it is at a time, over a range of a clip: its limb bends (two-bone inverse kinematics), and the
/// bone keeps its rotation in the world. Before and after the range it goes over smoothly. Only keyframes change.
///
/// Where the place is out of reach by more than 1 % of the limb's length, the range ends there ([`Pinned::let_go`]).
///
/// Source: METHODS-rigging 4, *Pin / foot lock*.
///
/// Fails for a bone without two bones above it, with constraints on one of them, and for screw interpolation; for a range without
/// length in the clip, and where the place cannot be reached at its beginning.
pub fn pin(document: &Document, request: &Pin, task: &Task) -> Result<(RigEdit, Pinned), RigError> {
    check_live(document, request.joint)?;
    let Some(clip) = document.clips.get(&request.clip) else {
        return Err(RigError::Value("Show a clip first.".into()));
    };
    let [from, to] = request.range;
    if ![from, to, request.at, request.ease]
        .iter()
        .all(|secs| secs.is_finite())
    {
        return Err(RigError::Value(
            "The times of a pin must be finite numbers.".into(),
        ));
    }
    let mut limb = Limb::new(document, clip, request)?;
    let [start, end] = [clip.start_secs(), clip.end_secs()].map(f64::from);
    let [from, to] = [from.max(start), to.min(end)];
    let ease = request.ease.max(SHORTEST_SECS);
    if from >= to {
        return Err(RigError::Value(format!(
            "The range must end after it starts and overlap the clip ({start:.2} - {end:.2} s)."
        )));
    }
    limb.widen_limits([(from - ease).max(start), (to + ease).min(end)], task)?;
    let reached = limb.reached([from, to], request.at, task)?;
    if reached.changed.is_empty() {
        return Err(RigError::Unchanged(format!(
            "“{}” already stays in its place",
            document.skeleton.label(request.joint)
        )));
    }
    let held = reached.held;
    if held[1] - held[0] < SHORTEST_SECS {
        return Err(RigError::Value(format!(
            "“{}” cannot be pinned: it only reaches its place at {:.2} s.",
            document.skeleton.label(request.joint),
            held[0]
        )));
    }
    let window = [(held[0] - ease).max(start), (held[1] + ease).min(end)].map(|t| t as f32);
    let weight = move |time: f64| {
        let away = (held[0] - time).max(time - held[1]).max(0.0);
        let x = (1.0 - away / ease).clamp(0.0, 1.0);
        x * x * (3.0 - 2.0 * x)
    };
    // What its place depends on.
    let mut read = chain_above(&document.skeleton, Some(request.joint));
    read.extend(reached.changed.iter().map(|(joint, _)| *joint));
    let read = with_inputs(document, &read);
    let kinks = held.map(|t| t as f32);
    let times = KeyTimes::of(clip, |joint| read.contains(&joint)).within(window, &kinks);
    let joints: BTreeSet<JointId> = reached.changed.iter().map(|(joint, _)| *joint).collect();
    let joints: Vec<JointId> = joints.into_iter().collect();
    // The transforms of these joints by the times: poses of all joints would be much larger.
    let mut known: BTreeMap<u64, Vec<Transform>> = BTreeMap::new();
    let size = diagonal(document);
    let mut is_cancelled = false;
    let mut made = Clip::clone(clip);
    for (slot, &joint) in joints.iter().enumerate() {
        let parent = document.skeleton.joint(joint).parent;
        let exact = resampling_of(document, size, parent, joint, KEY_TOLERANCE);
        for (part, property, tolerance) in [
            (
                ChangedPart::Translation,
                Property::Translation,
                exact.of_place(),
            ),
            (ChangedPart::Rotation, Property::Rotation, exact),
        ] {
            if !reached.changed.contains(&(joint, part)) {
                continue;
            }
            let inside = Resampled::new(&times, tolerance, |time| {
                is_cancelled |= task.is_cancelled();
                if is_cancelled {
                    return Transform::IDENTITY;
                }
                let locals = known.entry(time.to_bits()).or_insert_with(|| {
                    let pose = limb.at(time, weight(time)).0;
                    joints.iter().map(|j| pose.locals[j.get()]).collect()
                });
                let mut local = locals[slot];
                if property == Property::Rotation {
                    local.translation = DVec3::ZERO;
                }
                local
            });
            cancelled(task)?;
            let own = clip.channel_of(joint, property).map(|c| &clip.channels[c]);
            let outside = own.map(|own| around(document, own, window, tolerance));
            let channel = spliced(inside.channel(joint, property), outside, window);
            set_channel(&mut made, channel);
        }
    }
    let mut changed = document.clone();
    changed.clips.insert(request.clip, Arc::new(made));
    let pinned = Pinned {
        held,
        let_go: reached.let_go,
        slip: limb.slip(&changed, request.clip, held),
    };
    Ok((RigEdit::between(document, &changed), pinned))
}

/// A limb whose end is held.
struct Limb<'a> {
    document: &'a Document,
    clip: &'a Clip,
    chain: Chain,
    /// Where it is held, in the world.
    place: DVec3,
    orientation: DMat3,
    /// The length of the limb there.
    length: f64,
    /// The rotation limits, as wide as the clip needs.
    limits: ChainLimits,
}

/// Over which times a limb reaches the place of its end.
struct Reached {
    held: [f64; 2],
    let_go: Vec<LetGo>,
    /// What holding it changes.
    changed: BTreeSet<(JointId, ChangedPart)>,
}

impl<'a> Limb<'a> {
    fn new(document: &'a Document, clip: &'a Clip, request: &Pin) -> Result<Self, RigError> {
        let skeleton = &document.skeleton;
        let refused = |why: String| Err(RigError::Value(why));
        if clip.rigid_interpolation != RigidInterpolation::Components {
            return refused(format!(
                "The clip “{}” has screw interpolation, in which single bones cannot be held: set it to Components first.",
                clip.name
            ));
        }
        let is_bone = document.bone_mask();
        let Some(chain) = Chain::above(skeleton, request.joint, |j| is_bone[j.get()]) else {
            return refused(format!(
                "“{}” cannot be pinned: it needs two bones above it.",
                skeleton.label(request.joint)
            ));
        };
        let joints = [chain.root, chain.mid, chain.end];
        let evaluator = document.evaluator();
        let is_driven = |j: &&JointId| evaluator.is_some_and(|e| !e.changes(**j).is_empty());
        if let Some(&joint) = joints.iter().find(is_driven) {
            return refused(format!(
                "“{}” follows its constraints, not keyframes: mute or bake them first.",
                skeleton.label(joint)
            ));
        }
        let pose = document.pose_of_clip(clip, request.at);
        let in_clip = || world_of(skeleton, &pose, request.joint);
        let world = request.place.unwrap_or_else(in_clip);
        if !world.is_finite() {
            return refused(format!(
                "“{}” cannot be pinned: its place is not finite.",
                skeleton.label(request.joint)
            ));
        }
        let bones = chain.positions(skeleton, &pose);
        let length = bones.root.distance(bones.mid) + bones.mid.distance(bones.end);
        if !(length > 0.0 && length.is_finite()) {
            return refused(format!(
                "“{}” cannot be pinned: the bones above it have no length.",
                skeleton.label(request.joint)
            ));
        }
        Ok(Self {
            document,
            clip,
            chain,
            place: world.translation,
            orientation: orientation(world.matrix3),
            length,
            limits: chain.limits(skeleton),
        })
    }

    /// Widens the rotation limits so that the clip is within them from one time to another.
    fn widen_limits(&mut self, [from, to]: [f64; 2], task: &Task) -> Result<(), RigError> {
        if self.limits == [None; 2] {
            return Ok(());
        }
        let n = ((to - from) / CHECKED_SECS).ceil().max(1.0) as usize;
        for k in 0..=n {
            cancelled(task)?;
            let time = from + (to - from) * k as f64 / n as f64;
            let pose = self.document.pose_of_clip(self.clip, time);
            let skeleton = &self.document.skeleton;
            self.limits = self.chain.limits_with(skeleton, self.limits, &pose);
        }
        Ok(())
    }

    /// The pose at a time with the end as near to its place as `weight` says, 0 - 1, and by how much it misses that.
    fn at(&self, time: f64, weight: f64) -> (Pose, f64) {
        let document = self.document;
        let skeleton = &document.skeleton;
        let mut pose = document.pose_of_clip(self.clip, time);
        if weight <= 0.0 {
            return (pose, 0.0);
        }
        let world = world_of(skeleton, &pose, self.chain.end);
        let now = orientation(world.matrix3);
        let turn = self.orientation * now.transpose();
        let turn = if turn.determinant() > 0.0 {
            DQuat::from_mat3(&turn)
        } else {
            DQuat::IDENTITY
        };
        let turn = if turn.w < 0.0 { -turn } else { turn };
        let turn = DQuat::from_scaled_axis(turn.to_scaled_axis() * weight);
        let wanted = DMat3::from_quat(turn) * now;
        let target = world.translation.lerp(self.place, weight);
        let rest = &document.rest_pose;
        // Limits leave clips as they are: what exceeds them there may do so here, or the pose would jump where the hold begins.
        let limits = self.chain.limits_with(skeleton, self.limits, &pose);
        let miss =
            (self.chain).reach_within(skeleton, &mut pose, rest, target, Some(wanted), limits);
        (pose, miss)
    }

    /// The times of `range` around `at` at which the end reaches its place, and what that changes.
    fn reached(&self, range: [f64; 2], at: f64, task: &Task) -> Result<Reached, RigError> {
        let at = at.clamp(range[0], range[1]);
        let mut changed = BTreeSet::new();
        let first = self.miss(at, &mut changed);
        let is_out = |miss: f64| miss.is_nan() || miss > FARTHEST_MISS;
        if is_out(first) {
            let label = self.document.skeleton.label(self.chain.end);
            return Err(RigError::Value(format!(
                "“{label}” cannot be pinned: at {at:.2} s the limb is {:.1} % too short to reach.",
                100.0 * first
            )));
        }
        let (mut held, mut let_go) = (range, Vec::new());
        for (side, end) in range.into_iter().enumerate() {
            let n = ((end - at).abs() / CHECKED_SECS).ceil() as usize;
            let mut last = at;
            for k in 1..=n {
                cancelled(task)?;
                let time = at + (end - at) * k as f64 / n as f64;
                let miss = self.miss(time, &mut changed);
                if is_out(miss) {
                    held[side] = last;
                    let_go.push(LetGo { time, miss });
                    break;
                }
                last = time;
            }
        }
        Ok(Reached {
            held,
            let_go,
            changed,
        })
    }

    /// How far the end misses its place, as a fraction of the limb's length. Adds what changes.
    fn miss(&self, time: f64, changed: &mut BTreeSet<(JointId, ChangedPart)>) -> f64 {
        let before = self.document.pose_of_clip(self.clip, time);
        let (after, miss) = self.at(time, 1.0);
        let pairs = before.locals.iter().zip(&after.locals);
        for (joint, (a, b)) in (0..).map(JointId).zip(pairs) {
            if (a.rotation - b.rotation)
                .length()
                .min((a.rotation + b.rotation).length())
                > NOTHING
            {
                changed.insert((joint, ChangedPart::Rotation));
            }
            if a.translation.distance(b.translation) > NOTHING * self.length {
                changed.insert((joint, ChangedPart::Translation));
            }
        }
        miss / self.length
    }

    /// The farthest that the end is from its place in a clip of `after`, as a fraction of the limb's length.
    fn slip(&self, after: &Document, clip: ClipId, held: [f64; 2]) -> f64 {
        let Some(clip) = after.clips.get(&clip) else {
            return 0.0;
        };
        let n = ((held[1] - held[0]) / CHECKED_SECS).ceil().max(1.0) as usize;
        let times = (0..=n).map(|k| held[0] + (held[1] - held[0]) * k as f64 / n as f64);
        let apart = times.map(|time| {
            let pose = after.pose_of_clip(clip, time);
            let there = world_of(&after.skeleton, &pose, self.chain.end);
            there.translation.distance(self.place)
        });
        apart.fold(0.0, larger) / self.length
    }
}

fn cancelled(task: &Task) -> Result<(), RigError> {
    (task.check()).map_err(|cancelled| RigError::Value(cancelled.to_string()))
}

/// The keyframes of a channel outside of `window`, in linear interpolation.
fn around(document: &Document, own: &Channel, window: [f32; 2], tolerance: Resampling) -> Channel {
    if own.interpolation == Interpolation::Linear {
        return own.clone();
    }
    let alone = Clip {
        channels: vec![own.clone()],
        ..Clip::default()
    };
    let mut pose = Pose::clone(&document.rest_pose);
    let mut all: Option<Channel> = None;
    let sides = [
        [alone.start_secs(), window[0]],
        [window[1], alone.end_secs()],
    ];
    for side in sides.into_iter().filter(|[from, to]| from < to) {
        let times = KeyTimes::of(&alone, |_| true).within(side, &[]);
        let made = Resampled::new(&times, tolerance, |time| {
            alone.apply(time, &mut pose);
            pose.locals[own.joint.get()]
        });
        let made = made.channel(own.joint, own.property);
        all = Some(match all {
            Some(before) => joined(&[&before, &made]),
            None => made,
        });
    }
    all.unwrap_or_else(|| Channel {
        interpolation: Interpolation::Linear,
        times: Arc::from([]),
        values: Arc::from([]),
        ..own.clone()
    })
}

/// Linear keyframes one after another.
fn joined(parts: &[&Channel]) -> Channel {
    let times = parts.iter().flat_map(|c| c.times.iter().copied());
    let values = parts.iter().flat_map(|c| c.values.iter().copied());
    Channel {
        times: times.collect(),
        values: values.collect(),
        ..parts[0].clone()
    }
}

/// `inside` in `window`, and `outside` before and after it.
fn spliced(inside: Channel, outside: Option<Channel>, [from, to]: [f32; 2]) -> Channel {
    let Some(outside) = outside else {
        return inside;
    };
    let part = |is_wanted: &dyn Fn(f32) -> bool| {
        let width = outside.width();
        let keys = (0..outside.times.len()).filter(|&k| is_wanted(outside.times[k]));
        let keys: Vec<usize> = keys.collect();
        Channel {
            times: keys.iter().map(|&k| outside.times[k]).collect(),
            values: keys
                .iter()
                .flat_map(|&k| outside.values[k * width..(k + 1) * width].iter().copied())
                .collect(),
            ..outside.clone()
        }
    };
    let [before, after] = [part(&|t| t < from), part(&|t| t > to)];
    joined(&[&before, &inside, &after])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keyframes_inside_of_the_window_are_replaced() {
        let channel = |times: &[f32]| Channel {
            joint: JointId(0),
            property: Property::Translation,
            interpolation: Interpolation::Linear,
            times: times.into(),
            values: times.iter().flat_map(|&t| [t, 0.0, 0.0]).collect(),
        };
        let outside = channel(&[0.0, 1.0, 1.5, 2.0, 3.0]);
        let made = spliced(channel(&[1.0, 1.2, 2.0]), Some(outside), [1.0, 2.0]);
        assert_eq!(*made.times, [0.0, 1.0, 1.2, 2.0, 3.0]);
        assert_eq!(made.values.len(), 15);
        assert_eq!(spliced(channel(&[1.0]), None, [1.0, 2.0]), channel(&[1.0]));
    }
}
