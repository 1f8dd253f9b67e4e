//! Constraints as keyframes, for players that know none.
//!
//! Data flow: the times at which anything that a joint follows has a keyframe -> bisection of each interval until linear
//! interpolation is within the tolerance, with a keyframe on both sides of a jump -> as few of them as keep to it.

use super::evaluate::{ChangedPart, Evaluator};
use crate::math::Transform;
use crate::skeleton::resample::{KeyTimes, SHORTEST_SECS};
use crate::skeleton::slerp::slerp_shortest;
use crate::skeleton::{Channel, Clip, Interpolation, JointId, Pose, Property};
use crate::task::{Cancelled, Task};
use glam::{DMat3, DQuat};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Where an interval is compared with linear interpolation.
const PROBES: [f64; 3] = [0.25, 0.5, 0.75];
/// A jump is bracketed to within this, seconds, so that both keyframes lie on the right side.
const JUMP_SECS: f64 = 1e-4;
/// A change within [`JUMP_SECS`] by more than this many tolerances is a jump.
const JUMP: f64 = 4.0;

/// Keyframes of a file that are within this many tolerances stay: they can be stored a little beside what was computed.
const KEPT: f64 = 1.05;

/// The largest errors of a joint's keyframes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BakeTolerance {
    /// Of its rotation, radians.
    pub radians: f64,
    /// Of its place, in the units of its parent.
    pub length: f64,
    /// Of its scale along an axis, as a factor's difference from 1.
    pub scale: f64,
}

/// What constraints make of a clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakedKeys {
    /// The channels.
    pub channels: Vec<Channel>,
    /// The largest error found, in tolerances: above 1 where the motion changes faster than keyframes follow.
    pub worst: f64,
}

/// Channels of `clip` for every joint and property that constraints change, within `tolerance` of what the constraints
/// make of the clip over `rest`; one keyframe where it is constant, because a player would else hold the value of the clip
/// before. None where the clip has a channel that plays what the constraints make, as a file has that was made here.
pub fn bake(
    evaluator: &Evaluator,
    rest: &Pose,
    clip: &Clip,
    tolerance: impl Fn(JointId) -> BakeTolerance + Sync,
    task: &Task,
) -> Result<BakedKeys, Cancelled> {
    let driven = evaluator.driven();
    let of_joint = |(joint, inputs): &(JointId, BTreeSet<JointId>)| {
        task.check()?;
        let mut motion = Motion::new(evaluator, rest, clip, inputs, Some(task));
        let times = KeyTimes::of(&motion.clip, |_| true);
        let mut made = BakedKeys::default();
        for part in evaluator.changes(*joint) {
            let start = clip.start_secs();
            let within = part.tolerance(tolerance(*joint));
            let is_keyed = clip.channel_of(*joint, part.property()).is_some();
            if is_keyed && motion.has_keys_of(&times, *joint, part, KEPT * within) {
                continue;
            }
            let keys = if times.is_empty() {
                Keys {
                    steps: false,
                    times: vec![start],
                    values: vec![motion.at(start, *joint)],
                }
            } else {
                let at = |time| motion.at(time, *joint);
                Keys::new(&times, (part, within), &mut made.worst, at)
            };
            task.check()?;
            made.channels.push(keys.channel(*joint, part));
        }
        Ok(made)
    };
    let made: Result<Vec<BakedKeys>, Cancelled> = driven.par_iter().map(of_joint).collect();
    let mut all = BakedKeys::default();
    for mut of_joint in made? {
        all.channels.append(&mut of_joint.channels);
        all.worst = all.worst.max(of_joint.worst);
    }
    Ok(all)
}

/// Channels of `clip` for every joint and property that constraints change, exactly at `times`, seconds.
pub fn keys_at(evaluator: &Evaluator, rest: &Pose, clip: &Clip, times: &[f32]) -> Vec<Channel> {
    let mut channels = Vec::new();
    for (joint, inputs) in evaluator.driven() {
        let mut motion = Motion::new(evaluator, rest, clip, &inputs, None);
        for part in evaluator.changes(joint) {
            let values = times.iter().map(|&time| motion.at(time, joint));
            let keys = Keys {
                steps: false,
                values: values.collect(),
                times: times.to_vec(),
            };
            channels.push(keys.channel(joint, part));
        }
    }
    channels
}

/// Replaces the channels of the same joint and property, or appends. A clip that one of them ended keeps its length.
pub fn set_channels(clip: &mut Clip, channels: Vec<Channel>) {
    let end = clip.end_secs();
    let first = channels.first().map(|c| (c.joint, c.property));
    for channel in channels {
        let same = |c: &Channel| c.joint == channel.joint && c.property == channel.property;
        let first = clip.channels.iter().position(same);
        clip.channels.retain(|c| !same(c));
        let at = first
            .unwrap_or(clip.channels.len())
            .min(clip.channels.len());
        clip.channels.insert(at, channel);
    }
    if let Some((joint, property)) = first
        && clip.end_secs() < end
        && let Some(c) = clip.channel_of(joint, property)
    {
        let channel = &mut clip.channels[c];
        let n = channel.values.len() / channel.times.len().max(1);
        let last = channel.values.len().saturating_sub(n);
        let values = channel
            .values
            .iter()
            .chain(&channel.values[last..])
            .copied();
        channel.values = values.collect();
        channel.times = channel.times.iter().copied().chain([end]).collect();
    }
}

/// A clip with constraints, restricted to what a joint is computed from.
struct Motion<'a> {
    evaluator: Evaluator,
    rest: &'a Pose,
    clip: Clip,
    pose: Pose,
    task: Option<&'a Task>,
}

impl<'a> Motion<'a> {
    fn new(
        evaluator: &Evaluator,
        rest: &'a Pose,
        clip: &Clip,
        inputs: &BTreeSet<JointId>,
        task: Option<&'a Task>,
    ) -> Self {
        let channels = clip.channels.iter();
        let wanted = channels
            .filter(|c| inputs.contains(&c.joint) && c.property != Property::MorphWeights)
            .cloned();
        Self {
            evaluator: evaluator.only(inputs),
            rest,
            clip: Clip {
                channels: wanted.collect(),
                ..clip.clone()
            },
            pose: rest.clone(),
            task,
        }
    }

    fn at(&mut self, time: f32, joint: JointId) -> Transform {
        self.before_and_after(time, joint)[1]
    }

    /// The local transform by the keyframes, and by the constraints.
    fn before_and_after(&mut self, time: f32, joint: JointId) -> [Transform; 2] {
        // Cancelled, the rest is over soon: nothing moves.
        if self.task.is_some_and(Task::is_cancelled) {
            return [self.rest.locals[joint.get()]; 2];
        }
        self.pose.locals.clone_from(&self.rest.locals);
        self.clip.apply(f64::from(time), &mut self.pose);
        let before = self.pose.locals[joint.get()];
        self.evaluator.apply(&mut self.pose);
        [before, self.pose.locals[joint.get()]]
    }

    /// Whether the keyframes are within `tolerance` of the constraints at `times` and between them.
    fn has_keys_of(
        &mut self,
        times: &KeyTimes,
        joint: JointId,
        part: ChangedPart,
        tolerance: f64,
    ) -> bool {
        let times = times.both_sides_of_steps();
        let mut is_near = |time: f32| {
            let [before, after] = self.before_and_after(time, joint);
            part.apart(&before, &after) <= tolerance
        };
        times.iter().all(|&time| is_near(time))
            && (times.windows(2)).all(|pair| probes(pair[0], pair[1]).all(&mut is_near))
    }
}

impl ChangedPart {
    fn property(self) -> Property {
        match self {
            Self::Translation => Property::Translation,
            Self::Rotation => Property::Rotation,
            Self::Scale => Property::Scale,
        }
    }

    fn tolerance(self, of: BakeTolerance) -> f64 {
        match self {
            Self::Translation => of.length,
            Self::Rotation => of.radians,
            Self::Scale => of.scale,
        }
    }

    /// How far this part of two transforms is apart.
    fn apart(self, a: &Transform, b: &Transform) -> f64 {
        match self {
            Self::Translation => a.translation.distance(b.translation),
            Self::Rotation => angle_between(a.rotation, b.rotation),
            Self::Scale => (a.scale() - b.scale()).abs().max_element(),
        }
    }
}

/// Keyframes of one part of a joint's transform.
struct Keys {
    steps: bool,
    times: Vec<f32>,
    values: Vec<Transform>,
}

impl Keys {
    /// `worst`: the largest error so far, in tolerances.
    fn new(
        times: &KeyTimes,
        (part, tolerance): (ChangedPart, f64),
        worst: &mut f64,
        mut at: impl FnMut(f32) -> Transform,
    ) -> Self {
        if times.all_step() {
            let times = times.both_sides_of_steps();
            let values = times.iter().map(|&time| at(time)).collect();
            return Self {
                steps: true,
                times,
                values,
            };
        }
        let mut refining = Refining {
            part,
            tolerance,
            at: &mut at,
            keys: Vec::new(),
            worst,
        };
        for time in times.both_sides_of_steps() {
            let now = (time, (refining.at)(time));
            if let Some(&before) = refining.keys.last() {
                refining.refine(before, now);
            }
            refining.keys.push(now);
        }
        let keys = refining.keys;
        thinned(&keys, part, tolerance, at)
    }

    fn channel(mut self, joint: JointId, part: ChangedPart) -> Channel {
        let mut previous: Option<DQuat> = None;
        for local in &mut self.values {
            if previous.is_some_and(|q| q.dot(local.rotation) < 0.0) {
                local.rotation = -local.rotation;
            }
            previous = Some(local.rotation);
        }
        let value = |local: &Transform| -> Vec<f64> {
            match part {
                ChangedPart::Translation => local.translation.to_array().into(),
                ChangedPart::Rotation => local.rotation.to_array().into(),
                ChangedPart::Scale => local.scale().to_array().into(),
            }
        };
        Channel {
            joint,
            property: part.property(),
            interpolation: if self.steps {
                Interpolation::Step
            } else {
                Interpolation::Linear
            },
            times: self.times.into(),
            values: (self.values.iter().flat_map(value))
                .map(|v| v as f32)
                .collect(),
        }
    }
}

/// Keyframes in the making.
struct Refining<'a, A> {
    part: ChangedPart,
    tolerance: f64,
    at: &'a mut A,
    keys: Vec<(f32, Transform)>,
    worst: &'a mut f64,
}

impl<A: FnMut(f32) -> Transform> Refining<'_, A> {
    /// Adds the keyframes that an interval needs between its ends.
    fn refine(&mut self, from: (f32, Transform), to: (f32, Transform)) {
        let span = f64::from(to.0) - f64::from(from.0);
        let time = |x: f64| (f64::from(from.0) + span * x) as f32;
        let is_near = |x: f64| self.off(from, to, time(x)) <= 1.0;
        if PROBES.into_iter().all(is_near) {
            return;
        }
        let middle = time(0.5);
        if span >= 2.0 * SHORTEST_SECS && middle > from.0 && middle < to.0 {
            let middle = (middle, (self.at)(middle));
            self.refine(from, middle);
            self.keys.push(middle);
            self.refine(middle, to);
            return;
        }
        let mut ends = vec![from];
        if let Some(jump) = jump_between(from, to, self.part, self.tolerance, self.at) {
            for side in [-0.5, 0.5] {
                let time = (jump + side * SHORTEST_SECS) as f32;
                let last = ends[ends.len() - 1].0;
                if time > last && time < to.0 {
                    let key = (time, (self.at)(time));
                    self.keys.push(key);
                    ends.push(key);
                }
            }
        }
        ends.push(to);
        for pair in ends.windows(2) {
            for time in probes(pair[0].0, pair[1].0) {
                let off = self.off(pair[0], pair[1], time);
                *self.worst = self.worst.max(off);
            }
        }
    }

    /// The error of linear interpolation at a time, in tolerances.
    fn off(&mut self, from: (f32, Transform), to: (f32, Transform), time: f32) -> f64 {
        let x = (f64::from(time) - f64::from(from.0)) / (f64::from(to.0) - f64::from(from.0));
        let apart = self
            .part
            .apart(&interpolated(&from.1, &to.1, x), &(self.at)(time));
        apart / self.tolerance
    }
}

/// The time of a jump in an interval, seconds; `None` where there is none.
fn jump_between(
    from: (f32, Transform),
    to: (f32, Transform),
    part: ChangedPart,
    tolerance: f64,
    at: &mut impl FnMut(f32) -> Transform,
) -> Option<f64> {
    let (mut low, mut high) = (f64::from(from.0), f64::from(to.0));
    let (mut below, mut above) = (from.1, to.1);
    while high - low > JUMP_SECS {
        let middle = 0.5 * (low + high);
        let now = at(middle as f32);
        if part.apart(&now, &below) < part.apart(&now, &above) {
            (low, below) = (middle, now);
        } else {
            (high, above) = (middle, now);
        }
        // Times of a file are f32.
        if (low as f32) >= (high as f32) {
            break;
        }
    }
    let jumps = part.apart(&below, &above) > JUMP * tolerance;
    jumps.then_some(0.5 * (low + high))
}

/// As few of the keyframes as stay within the tolerance of the motion at all of them and between them: from each the
/// farthest that does.
fn thinned(
    keys: &[(f32, Transform)],
    part: ChangedPart,
    tolerance: f64,
    mut at: impl FnMut(f32) -> Transform,
) -> Keys {
    let mut between: Vec<Vec<(f32, Transform)>> = Vec::with_capacity(keys.len());
    for pair in keys.windows(2) {
        let probes = probes(pair[0].0, pair[1].0);
        between.push(probes.map(|time| (time, at(time))).collect());
    }
    let fits = |first: usize, last: usize| {
        let (from, to) = (&keys[first], &keys[last]);
        let span = f64::from(to.0) - f64::from(from.0);
        let is_near = |(time, value): &(f32, Transform)| {
            let x = (f64::from(*time) - f64::from(from.0)) / span;
            part.apart(&interpolated(&from.1, &to.1, x), value) <= tolerance
        };
        keys[first + 1..last].iter().all(is_near)
            && between[first..last].iter().flatten().all(is_near)
    };
    let mut kept = vec![0];
    let mut values = keys.iter().chain(between.iter().flatten());
    let constant = values.all(|(_, value)| part.apart(&keys[0].1, value) <= tolerance);
    while !constant
        && let Some(&first) = kept.last()
        && first + 1 < keys.len()
    {
        // In longer and longer steps, then by halves.
        let (mut good, mut step) = (first + 1, 1);
        while good + step < keys.len() && fits(first, good + step) {
            good += step;
            step *= 2;
        }
        while step > 0 {
            if good + step < keys.len() && fits(first, good + step) {
                good += step;
            }
            step /= 2;
        }
        kept.push(good);
    }
    Keys {
        steps: false,
        times: kept.iter().map(|&k| keys[k].0).collect(),
        values: kept.iter().map(|&k| keys[k].1).collect(),
    }
}

/// The times at which an interval is compared; none in the two milliseconds of a jump.
fn probes(from: f32, to: f32) -> impl Iterator<Item = f32> {
    let span = f64::from(to) - f64::from(from);
    let compares = span > 1.1 * SHORTEST_SECS;
    let times = PROBES.into_iter().filter(move |_| compares);
    times.map(move |x| (f64::from(from) + span * x) as f32)
}

/// Linear interpolation between two local transforms, as players do it.
fn interpolated(from: &Transform, to: &Transform, x: f64) -> Transform {
    Transform {
        translation: from.translation.lerp(to.translation, x),
        rotation: slerp_shortest(from.rotation, to.rotation, x),
        stretch: DMat3::from_diagonal(from.scale().lerp(to.scale(), x)),
    }
}

/// The angle between two rotations, radians; whatever their signs.
fn angle_between(a: DQuat, b: DQuat) -> f64 {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    4.0 * (a - b).length().atan2((a + b).length())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::constraint::{Constraint, Constraints, Rule};
    use crate::skeleton::{Joint, Skeleton};
    use glam::DVec3;
    use std::sync::Arc;

    /// A forearm along x with a hand at its tip and a helper half way that shares half of the hand's twist.
    fn twisting(degrees: [f64; 3]) -> (Evaluator, Pose, Clip) {
        let at = |x: f64| Transform {
            translation: DVec3::new(x, 0.0, 0.0),
            ..Transform::IDENTITY
        };
        let joints = vec![
            Joint::new("forearm", None, at(0.0)),
            Joint::new("hand", Some(JointId(0)), at(1.0)),
            Joint::new("twist", Some(JointId(0)), at(0.5)),
        ];
        let skeleton = Arc::new(Skeleton::new(joints).unwrap());
        let twist = Constraint::new(Rule::TwistShare {
            source: JointId(1),
            axis: DVec3::X,
            share: 0.5,
            centre: 0.0,
        });
        let constraints = Constraints::from([(JointId(2), vec![twist])]);
        let values = degrees.map(|d| DQuat::from_rotation_x(d.to_radians()).as_quat().to_array());
        let clip = Clip {
            channels: vec![Channel {
                joint: JointId(1),
                property: Property::Rotation,
                interpolation: Interpolation::Linear,
                times: [0.0, 1.0, 2.0].into(),
                values: values.into_iter().flatten().collect(),
            }],
            ..Clip::default()
        };
        let evaluator = Evaluator::new(&skeleton, &constraints).unwrap();
        (evaluator, Pose::rest(&skeleton), clip)
    }

    fn tolerance(_: JointId) -> BakeTolerance {
        BakeTolerance {
            radians: 0.1_f64.to_radians(),
            length: 1e-4,
            scale: 1e-4,
        }
    }

    fn channels(evaluator: &Evaluator, rest: &Pose, clip: &Clip) -> Vec<Channel> {
        let made = bake(evaluator, rest, clip, tolerance, &Task::new()).unwrap();
        assert!(made.worst <= 1.0, "{}", made.worst);
        made.channels
    }

    /// Keyframes of a long interval are as near as those of a short one, and what they cannot follow is said.
    #[test]
    fn keys_follow_a_late_motion_in_a_long_clip() {
        let (mut evaluator, rest, mut clip) = twisting([0.0, 0.0, 0.0]);
        // 6,000 keyframes at rest, then the hand swings and twists within a minute.
        let n = 6_000;
        let mut times: Vec<f32> = (0..n).map(|k| k as f32 / 60.0).collect();
        times.push(n as f32 / 60.0 + 60.0);
        let mut values = [0.0, 0.0, 0.0, 1.0].repeat(n);
        let turned = DQuat::from_rotation_z(2.5) * DQuat::from_rotation_x(3.0);
        values.extend(turned.as_quat().to_array());
        clip.channels[0].times = times.into();
        clip.channels[0].values = values.into();
        let made = channels(&evaluator, &rest, &clip);
        let n_made = made[0].times.len();
        assert!((3..2_000).contains(&n_made), "{n_made}");
        let mut value = [0.0; 4];
        for step in 0..=997 {
            let time = 100.0 + 60.0 * f64::from(step) / 997.0;
            let mut pose = rest.clone();
            clip.apply(time, &mut pose);
            evaluator.apply(&mut pose);
            made[0].sample(time, &mut value);
            let off = angle_between(DQuat::from_array(value), pose.locals[2].rotation);
            assert!(off.to_degrees() < 0.11, "{time}: {}", off.to_degrees());
        }
        // Cancelled, it ends.
        let task = Task::new();
        task.cancel();
        assert!(bake(&evaluator, &rest, &clip, tolerance, &task).is_err());
        // Between keyframes 4 ms apart there is no room for another: what that leaves is said.
        let coarse = |_| BakeTolerance {
            radians: 1f64.to_radians(),
            ..tolerance(JointId(2))
        };
        (evaluator, _, clip) = twisting([0.0; 3]);
        let swung = DQuat::from_rotation_z(2.0) * DQuat::from_rotation_x(1.0);
        let values = [DQuat::IDENTITY, swung, DQuat::IDENTITY].map(|q| q.as_quat().to_array());
        clip.channels[0].times = [0.0, 0.0039, 0.0078].into();
        clip.channels[0].values = values.into_iter().flatten().collect();
        let made = bake(&evaluator, &rest, &clip, coarse, &Task::new()).unwrap();
        assert!(made.worst > 3.0, "{}", made.worst);
    }

    /// A constant channel is one keyframe, but a clip that it ended does not become shorter.
    #[test]
    fn a_clip_keeps_its_length() {
        let (_, _, clip) = twisting([0.0, 60.0, 120.0]);
        let mut longer = clip.clone();
        longer.channels.push(Channel {
            joint: JointId(2),
            times: [0.0, 9.0].into(),
            values: [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0].into(),
            ..clip.channels[0].clone()
        });
        let constant = Channel {
            times: [0.0].into(),
            values: [0.0, 0.0, 0.6, 0.8].into(),
            ..longer.channels[1].clone()
        };
        set_channels(&mut longer, vec![constant]);
        assert_eq!(longer.end_secs(), 9.0);
        let channel = &longer.channels[1];
        assert_eq!((channel.times.len(), channel.values.len()), (2, 8));
        assert_eq!(channel.values[4..], [0.0, 0.0, 0.6, 0.8]);
    }

    #[test]
    fn a_share_gets_the_keys_that_it_needs() {
        let (evaluator, rest, clip) = twisting([0.0, 60.0, 120.0]);
        let made = channels(&evaluator, &rest, &clip);
        assert_eq!((made.len(), made[0].joint), (1, JointId(2)));
        // The middle key lies on the line.
        assert_eq!(&*made[0].times, [0.0, 2.0]);
        let (evaluator, rest, clip) = twisting([0.0, 0.0, 0.0]);
        let made = channels(&evaluator, &rest, &clip);
        assert_eq!(&*made[0].times, [0.0]);
        let made = channels(&evaluator, &rest, &Clip::default());
        assert_eq!(&*made[0].values, [0.0, 0.0, 0.0, 1.0]);
    }

    /// Both sides of a half turn are keyed 2 ms apart.
    #[test]
    fn a_jump_is_keyed_on_both_sides() {
        let (evaluator, rest, clip) = twisting([0.0, 100.0, 200.0]);
        let made = channels(&evaluator, &rest, &clip);
        let times = &made[0].times;
        assert_eq!(times.len(), 4, "{times:?}");
        assert!((times[2] - times[1] - 0.002).abs() < 1e-5, "{times:?}");
        assert!((times[1] + 0.001 - 1.8).abs() < 1e-3, "{times:?}");
        let mut value = [0.0; 4];
        for (time, half) in [(0.9, 45.0), (1.79, 89.5), (1.81, -89.5), (2.0, -80.0)] {
            made[0].sample(time, &mut value);
            let expected = DQuat::from_rotation_x(f64::to_radians(half));
            let off = angle_between(DQuat::from_array(value), expected).to_degrees();
            assert!(off <= 0.1, "{time}: {off}");
        }
    }
}
