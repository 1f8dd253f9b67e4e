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
use std::collections::BTreeSet;

/// The largest number of bisections of an interval.
const MAX_LEVELS: u32 = 7;
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

/// Channels of `clip` for every joint and property that constraints change, within `tolerance` of what the constraints
/// make of the clip over `rest`; one keyframe where it is constant, because a player would else hold the value of the clip
/// before. None where the clip has a channel that plays what the constraints make, as a file has that was made here.
pub fn bake(
    evaluator: &Evaluator,
    rest: &Pose,
    clip: &Clip,
    tolerance: impl Fn(JointId) -> BakeTolerance,
    task: &Task,
) -> Result<Vec<Channel>, Cancelled> {
    let mut channels = Vec::new();
    for (joint, inputs) in evaluator.driven() {
        task.check()?;
        let mut motion = Motion::new(evaluator, rest, clip, &inputs);
        let times = KeyTimes::of(&motion.clip, |_| true);
        for part in evaluator.changes(joint) {
            let start = clip.start_secs();
            let within = part.tolerance(tolerance(joint));
            let is_keyed = clip.channel_of(joint, part.property()).is_some();
            if is_keyed && motion.has_keys_of(&times, joint, part, KEPT * within) {
                continue;
            }
            let keys = if times.is_empty() {
                Keys {
                    steps: false,
                    times: vec![start],
                    values: vec![motion.at(start, joint)],
                }
            } else {
                Keys::new(&times, part, within, |time| motion.at(time, joint))
            };
            channels.push(keys.channel(joint, part));
        }
    }
    Ok(channels)
}

/// Channels of `clip` for every joint and property that constraints change, exactly at `times`, seconds.
pub fn keys_at(evaluator: &Evaluator, rest: &Pose, clip: &Clip, times: &[f32]) -> Vec<Channel> {
    let mut channels = Vec::new();
    for (joint, inputs) in evaluator.driven() {
        let mut motion = Motion::new(evaluator, rest, clip, &inputs);
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

/// Replaces the channels of the same joint and property, or appends.
pub fn set_channels(clip: &mut Clip, channels: Vec<Channel>) {
    for channel in channels {
        let same = |c: &Channel| c.joint == channel.joint && c.property == channel.property;
        let first = clip.channels.iter().position(same);
        clip.channels.retain(|c| !same(c));
        let at = first
            .unwrap_or(clip.channels.len())
            .min(clip.channels.len());
        clip.channels.insert(at, channel);
    }
}

/// A clip with constraints, restricted to what a joint is computed from.
struct Motion<'a> {
    evaluator: &'a Evaluator,
    rest: &'a Pose,
    clip: Clip,
    pose: Pose,
}

impl<'a> Motion<'a> {
    fn new(
        evaluator: &'a Evaluator,
        rest: &'a Pose,
        clip: &Clip,
        inputs: &BTreeSet<JointId>,
    ) -> Self {
        let channels = clip.channels.iter();
        let wanted = channels
            .filter(|c| inputs.contains(&c.joint) && c.property != Property::MorphWeights)
            .cloned();
        Self {
            evaluator,
            rest,
            clip: Clip {
                channels: wanted.collect(),
                ..clip.clone()
            },
            pose: rest.clone(),
        }
    }

    fn at(&mut self, time: f32, joint: JointId) -> Transform {
        self.before_and_after(time, joint)[1]
    }

    /// The local transform by the keyframes, and by the constraints.
    fn before_and_after(&mut self, time: f32, joint: JointId) -> [Transform; 2] {
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
    fn new(
        times: &KeyTimes,
        part: ChangedPart,
        tolerance: f64,
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
        let mut keys: Vec<(f32, Transform)> = Vec::new();
        for time in times.both_sides_of_steps() {
            let now = (time, at(time));
            if let Some(&before) = keys.last() {
                refine(
                    before,
                    now,
                    (part, tolerance),
                    MAX_LEVELS,
                    &mut at,
                    &mut keys,
                );
            }
            keys.push(now);
        }
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

/// Adds the keyframes that an interval needs between its ends.
fn refine(
    from: (f32, Transform),
    to: (f32, Transform),
    (part, tolerance): (ChangedPart, f64),
    levels: u32,
    at: &mut impl FnMut(f32) -> Transform,
    keys: &mut Vec<(f32, Transform)>,
) {
    let span = f64::from(to.0) - f64::from(from.0);
    let time = |x: f64| (f64::from(from.0) + span * x) as f32;
    let is_near = |&x: &f64, at: &mut dyn FnMut(f32) -> Transform| {
        part.apart(&interpolated(&from.1, &to.1, x), &at(time(x))) <= tolerance
    };
    if PROBES.iter().all(|x| is_near(x, at)) {
        return;
    }
    let middle = time(0.5);
    if levels == 0 || span < 2.0 * SHORTEST_SECS || middle <= from.0 || middle >= to.0 {
        let Some(jump) = jump_between(from, to, part, tolerance, at) else {
            return;
        };
        for side in [-0.5, 0.5] {
            let time = (jump + side * SHORTEST_SECS) as f32;
            if time > keys.last().map_or(from.0, |k| k.0.max(from.0)) && time < to.0 {
                keys.push((time, at(time)));
            }
        }
        return;
    }
    let middle = (middle, at(middle));
    refine(from, middle, (part, tolerance), levels - 1, at, keys);
    keys.push(middle);
    refine(middle, to, (part, tolerance), levels - 1, at, keys);
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
        let farther = (first + 2..keys.len()).take_while(|&last| fits(first, last));
        kept.push(farther.last().unwrap_or(first + 1));
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

    #[test]
    fn a_share_gets_the_keys_that_it_needs() {
        let (evaluator, rest, clip) = twisting([0.0, 60.0, 120.0]);
        let made = bake(&evaluator, &rest, &clip, tolerance, &Task::new()).unwrap();
        assert_eq!((made.len(), made[0].joint), (1, JointId(2)));
        // The middle key lies on the line.
        assert_eq!(&*made[0].times, [0.0, 2.0]);
        let (evaluator, rest, clip) = twisting([0.0, 0.0, 0.0]);
        let made = bake(&evaluator, &rest, &clip, tolerance, &Task::new()).unwrap();
        assert_eq!(&*made[0].times, [0.0]);
        let made = bake(&evaluator, &rest, &Clip::default(), tolerance, &Task::new()).unwrap();
        assert_eq!(&*made[0].values, [0.0, 0.0, 0.0, 1.0]);
    }

    /// Both sides of a half turn are keyed 2 ms apart.
    #[test]
    fn a_jump_is_keyed_on_both_sides() {
        let (evaluator, rest, clip) = twisting([0.0, 100.0, 200.0]);
        let made = bake(&evaluator, &rest, &clip, tolerance, &Task::new()).unwrap();
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
