//! Constraints as keyframes, for players that know none.
//!
//! Data flow: the times at which anything that a joint follows has a keyframe -> bisection of each interval until linear
//! interpolation is within the tolerance, with a keyframe on both sides of a jump -> as few of them as keep to it.

use super::act::ChangedPart;
use super::evaluate::Evaluator;
use super::keys::{BakeTolerance, Keys, probes};
use crate::math::{Transform, Worse};
use crate::skeleton::resample::KeyTimes;
use crate::skeleton::{Channel, Clip, JointId, Pose, Property};
use crate::task::{Cancelled, Task};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Keyframes of a file that are within this many tolerances stay: they can be stored a little beside what was computed.
const KEPT: f64 = 1.05;

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
        all.worst = all.worst.worse(of_joint.worst);
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
    if let Some((joint, property)) = first {
        hold_until(clip, (joint, property), end);
    }
}

/// Lets a clip end at `end`, seconds, where it would end earlier: a channel holds its last value.
pub fn hold_until(clip: &mut Clip, (joint, property): (JointId, Property), end: f32) {
    if clip.end_secs() < end
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::constraint::keys::angle_between;
    use crate::skeleton::constraint::{Constraint, Constraints, Rule};
    use crate::skeleton::{Interpolation, Joint, Skeleton};
    use glam::{DQuat, DVec3};
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

    /// A rotation that is not a number between two that are is no smaller error than any other.
    #[test]
    fn keys_that_are_no_numbers_exceed_every_tolerance() {
        let (_, _, clip) = twisting([0.0, 10.0, 20.0]);
        let times = KeyTimes::of(&clip, |_| true);
        let broken = Transform {
            rotation: DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 1.0),
            ..Transform::IDENTITY
        };
        for (value, expected) in [(Transform::IDENTITY, 0.0), (broken, f64::INFINITY)] {
            let mut worst = 0.0;
            let at = |time: f32| {
                let is_near = (time - 1.0).abs() < 0.1;
                if is_near { value } else { Transform::IDENTITY }
            };
            Keys::new(&times, (ChangedPart::Rotation, 1e-3), &mut worst, at);
            assert_eq!(worst, expected);
        }
    }

    /// A constant channel is thinned to one keyframe, unless its last keyframe ends the clip.
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

    /// Both sides of a half turn are keyed at most 2 ms apart.
    #[test]
    fn a_jump_is_keyed_on_both_sides() {
        let (evaluator, rest, clip) = twisting([0.0, 100.0, 200.0]);
        let made = channels(&evaluator, &rest, &clip);
        let times = &made[0].times;
        assert_eq!(times.len(), 4, "{times:?}");
        // A keyframe that lies within a millisecond of the jump serves as its side.
        assert!(
            (0.0009..0.00201).contains(&(times[2] - times[1])),
            "{times:?}"
        );
        assert!(times[1] < 1.8 && times[2] > 1.8, "{times:?}");
        let mut value = [0.0; 4];
        for (time, half) in [(0.9, 45.0), (1.79, 89.5), (1.81, -89.5), (2.0, -80.0)] {
            made[0].sample(time, &mut value);
            let expected = DQuat::from_rotation_x(f64::to_radians(half));
            let off = angle_between(DQuat::from_array(value), expected).to_degrees();
            assert!(off <= 0.1, "{time}: {off}");
        }
    }
}
