//! Bindings on a skeleton: a recording whose channels have the names of what they move, and the displacements of joints.

use super::hinges::{Hinge, NONE, turned};
use super::{Binding, BoundTo, HingeAxis, Linear, SamplePose, find_sample};
use crate::motion::MorphedJoint;
use crate::motion::channel_kind::ChannelKind;
use crate::motion::fade::Fade;
use crate::motion::recording::{Recording, ScalarTrack, Track};
use crate::motion::sampling::Sampling;
use crate::motion::series::Channel as Series;
use crate::motion::signal::Signal;
use crate::motion::thin::{distance, thin};
use crate::skeleton::{Channel, Clip, Interpolation, JointId, Pose, Property, Skeleton};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of binding targets, as errors name them.
const BONE: &str = "bone";
const PLACE: &str = "location of the bone";
const MORPH: &str = "morph target";
/// A weight beyond its range is held there.
const WEIGHTS: std::ops::RangeInclusive<f64> = 0.0..=1.0;
/// A range of rotation limits that is wider lets the joint rotate, radians.
const FREE: f64 = 1e-9;
/// A lost place is held for as long as it takes.
pub(in crate::motion) const HELD: Fade = Fade {
    hold: f64::INFINITY,
    fade: 0.0,
    ease: 0.1,
};

/// What bindings can move.
#[derive(Clone, Copy, Debug)]
pub struct BindTarget<'a> {
    /// The joints.
    pub skeleton: &'a Skeleton,
    /// The rest pose.
    pub rest: &'a Pose,
    /// The joints with morph targets.
    pub morphs: &'a [MorphedJoint],
    /// The corrective samples.
    pub samples: &'a [SamplePose],
}

/// A recording with its bindings carried out.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    /// The recording: channels have the names of the joints and morph targets that they move.
    pub recording: Cow<'a, Recording>,
    /// The names of the joints that bindings rotate.
    joints: BTreeSet<String>,
    moves: Vec<Move>,
}

/// Displacements of a joint.
#[derive(Clone, Debug)]
struct Move {
    joint: JointId,
    /// n_times: local translations; NaN where there is none.
    values: Vec<DVec3>,
}

/// The rotation of a joint, composed of its bindings.
#[derive(Clone, Debug)]
enum Rotation {
    /// n_times: as it is.
    Whole { values: Vec<DQuat>, in_world: bool },
    /// Hinges in their order.
    Hinges(Vec<Hinge>),
}

/// What bindings move.
#[derive(Default)]
struct Moved {
    /// By the name of the joint.
    rotations: BTreeMap<String, Rotation>,
    /// By morph target: n_times weights; NaN where there is none.
    morphs: BTreeMap<String, Vec<f64>>,
    moves: Vec<Move>,
    /// By target, its kind and name: the channel that is bound to it; of several hinges of a bone, the first.
    first: BTreeMap<(&'static str, String), String>,
}

impl Moved {
    /// Fails where a channel is bound to this target already; the error names both channels.
    fn check_free(&self, channel: &str, what: &'static str, name: &str) -> Result<(), String> {
        match self.first.get(&(what, name.to_owned())) {
            None => Ok(()),
            Some(other) => Err(format!(
                "\"{other}\" is bound to the {what} \"{name}\" already, so \"{channel}\" cannot be: unbind one of them"
            )),
        }
    }

    /// Records that a channel is bound to a target; fails as [`Self::check_free`] does.
    fn claim(&mut self, channel: &str, what: &'static str, name: &str) -> Result<(), String> {
        self.check_free(channel, what, name)?;
        self.first
            .insert((what, name.to_owned()), channel.to_owned());
        Ok(())
    }
}

/// The bindings of a recording carried out; an error is the end of a sentence that names what is wrong.
pub fn bind<'a>(
    recording: &'a Recording,
    bindings: &[Binding],
    target: &BindTarget<'_>,
) -> Result<Bound<'a>, String> {
    let (bound, faults) = bind_those_that_fit(recording, bindings, target);
    match faults.into_iter().next() {
        Some((_, why)) => Err(why),
        None => Ok(bound),
    }
}

/// As [`bind`], without the bindings that do not fit: the places of these, each with why it does not, the end of a sentence. Their
/// channels move nothing.
pub fn bind_those_that_fit<'a>(
    recording: &'a Recording,
    bindings: &[Binding],
    target: &BindTarget<'_>,
) -> (Bound<'a>, Vec<(usize, String)>) {
    if bindings.is_empty() {
        let bound = Bound {
            recording: Cow::Borrowed(recording),
            joints: BTreeSet::new(),
            moves: Vec::new(),
        };
        return (bound, Vec::new());
    }
    let binder = Binder {
        recording,
        target,
        world: OnceCell::new(),
    };
    let mut moved = Moved::default();
    let bound = bindings.iter().enumerate();
    let faults = bound.filter_map(|(i, of)| Some((i, binder.add(of, &mut moved).err()?)));
    let faults = faults.collect();
    (binder.bound(bindings, moved), faults)
}

/// A rotation from `rest` (0) to `pose` (1); no value for a number that is missing.
fn between(rest: DQuat, pose: DQuat, weight: f64) -> DQuat {
    if !weight.is_finite() {
        return NONE;
    }
    DQuat::mix(rest, pose, weight.clamp(*WEIGHTS.start(), *WEIGHTS.end()))
}

/// Finds the channels and the targets of bindings.
struct Binder<'a, 'b> {
    recording: &'a Recording,
    target: &'b BindTarget<'b>,
    /// The world matrices of the rest pose, once a displacement needs them.
    world: OnceCell<Vec<DAffine3>>,
}

impl<'a> Binder<'a, '_> {
    /// Adds what a binding moves.
    fn add(&self, binding: &Binding, moved: &mut Moved) -> Result<(), String> {
        let channel = binding.channel.as_str();
        match &binding.to {
            BoundTo::Display => self.check(channel)?,
            BoundTo::Rotation { joint, in_world } => {
                self.joint(joint, channel)?;
                let values = self.rotation(channel)?;
                moved.claim(channel, BONE, joint)?;
                let whole = Rotation::Whole {
                    values,
                    in_world: *in_world,
                };
                moved.rotations.insert(joint.clone(), whole);
            }
            BoundTo::Hinge { joint, axis, scale } => {
                let axis = self.axis(joint, channel, *axis)?;
                let degrees = self.numbers(channel, *scale)?;
                let hinge = Hinge { axis, degrees };
                if let Some(Rotation::Hinges(known)) = moved.rotations.get_mut(joint) {
                    known.push(hinge);
                } else {
                    moved.claim(channel, BONE, joint)?;
                    let hinges = Rotation::Hinges(vec![hinge]);
                    moved.rotations.insert(joint.clone(), hinges);
                }
            }
            BoundTo::Translation { joint, gain, from } => {
                let found = self.moved(channel, joint, *gain, *from)?;
                moved.claim(channel, PLACE, joint)?;
                moved.moves.push(found);
            }
            BoundTo::Morph {
                target: name,
                scale,
            } => {
                self.morph(name, channel)?;
                let values = self.numbers(channel, *scale)?;
                moved.claim(channel, MORPH, name)?;
                moved.morphs.insert(name.clone(), values);
            }
            BoundTo::Sample { sample, scale } => {
                let values = self.numbers(channel, *scale)?;
                let skeleton = self.target.skeleton;
                let joints = self.sample(sample, channel)?.joints.iter();
                let joints = joints.map(|(joint, pose)| (skeleton.joint(*joint), *pose));
                let mut names = joints.clone().map(|(joint, _)| &joint.name);
                names.try_for_each(|name| moved.check_free(channel, BONE, name))?;
                for (joint, pose) in joints {
                    // Two joints of one name are rotated as the first.
                    let _ = moved.claim(channel, BONE, &joint.name);
                    let rest = joint.rest.rotation;
                    let whole = Rotation::Whole {
                        values: values.iter().map(|w| between(rest, pose, *w)).collect(),
                        in_world: false,
                    };
                    moved.rotations.insert(joint.name.clone(), whole);
                }
            }
        }
        Ok(())
    }

    /// Whether there is a channel of this name.
    fn check(&self, channel: &str) -> Result<(), String> {
        let of = self.recording;
        let is_there = of.markers.iter().any(|track| track.name == channel)
            || of.rotations.iter().any(|track| track.name == channel)
            || of.labels.iter().any(|track| track.name == channel)
            || of.drives(channel);
        if is_there {
            return Ok(());
        }
        Err(format!("there is no channel \"{channel}\" to bind"))
    }

    /// The first joint of a name, as channels find it.
    fn joint(&self, name: &str, channel: &str) -> Result<JointId, String> {
        let joint = self.target.skeleton.joint_named(name);
        joint.ok_or_else(|| {
            format!("there is no bone \"{name}\" to bind the channel \"{channel}\" to")
        })
    }

    fn morph(&self, name: &str, channel: &str) -> Result<(), String> {
        let mut names = self.target.morphs.iter().flat_map(|of| &of.names);
        if !name.is_empty() && names.any(|of| of == name) {
            return Ok(());
        }
        Err(format!(
            "there is no morph target \"{name}\" to bind the channel \"{channel}\" to"
        ))
    }

    fn sample(&self, name: &str, channel: &str) -> Result<&SamplePose, String> {
        let samples = self.target.samples;
        let place = find_sample(samples, name).ok_or_else(|| {
            format!("there is no corrective sample \"{name}\" to bind the channel \"{channel}\" to")
        })?;
        Ok(&samples[place])
    }

    /// The axis of a hinge, unit, in the joint's own space.
    fn axis(&self, joint: &str, channel: &str, axis: HingeAxis) -> Result<DVec3, String> {
        let id = self.joint(joint, channel)?;
        match axis {
            HingeAxis::X => return Ok(DVec3::X),
            HingeAxis::Y => return Ok(DVec3::Y),
            HingeAxis::Z => return Ok(DVec3::Z),
            HingeAxis::Limits => {}
        }
        let limits = self.target.skeleton.joint(id).rule.limits;
        let is_free = |range: [f64; 2]| range[1] - range[0] > FREE;
        let free = limits.map(|limits| limits.0.map(is_free));
        match free {
            Some([true, false, false]) => Ok(DVec3::X),
            Some([false, true, false]) => Ok(DVec3::Y),
            Some([false, false, true]) => Ok(DVec3::Z),
            _ => Err(format!(
                "the rotation limits of the bone \"{joint}\" leave no single axis: choose X, Y or Z"
            )),
        }
    }

    /// The values of a rotation; n_times.
    fn rotation(&self, channel: &str) -> Result<Vec<DQuat>, String> {
        self.check(channel)?;
        let mut rotations = self.recording.rotations.iter();
        let track = rotations.find(|track| track.name == channel);
        let track = track.ok_or_else(|| {
            format!(
                "the channel \"{channel}\" is no rotation, so it is bound to no bone's rotation"
            )
        })?;
        Ok(track.values.clone())
    }

    /// What the numbers of a channel become; n_times, NaN where there is none.
    fn numbers(&self, channel: &str, scale: Linear) -> Result<Vec<f64>, String> {
        self.check(channel)?;
        if !(scale.gain.is_finite() && scale.offset.is_finite()) {
            return Err(format!(
                "the gain and the offset of the channel \"{channel}\" are not finite numbers"
            ));
        }
        let series = self.recording.scalar(channel, Sampling::default());
        let series = series.ok_or_else(|| {
            format!(
                "the channel \"{channel}\" is no number, so it moves no hinge, morph target or sample"
            )
        })?;
        let series = series.map_err(|why| why.to_string())?;
        let (_, unit) = self.recording.shown_unit(channel);
        let mut values = vec![f64::NAN; self.recording.times.len()];
        let mut known = series.times().iter().zip(series.values()).peekable();
        for (value, time) in values.iter_mut().zip(&self.recording.times) {
            if let Some((_, found)) = known.next_if(|(at, _)| *at == time) {
                *value = scale.of(found / unit);
            }
        }
        Ok(values)
    }

    /// How a place moves a joint.
    fn moved(
        &self,
        channel: &str,
        joint: &str,
        gain: f64,
        from: Option<[f64; 3]>,
    ) -> Result<Move, String> {
        self.check(channel)?;
        let id = self.joint(joint, channel)?;
        if !gain.is_finite() {
            return Err(format!(
                "the gain of the channel \"{channel}\" is not a finite number"
            ));
        }
        if !from.iter().flatten().all(|number| number.is_finite()) {
            return Err(format!(
                "the place from which the channel \"{channel}\" counts is not finite"
            ));
        }
        let mut markers = self.recording.markers.iter();
        let track = markers.find(|track| track.name == channel);
        let track = track.ok_or_else(|| {
            format!("the channel \"{channel}\" is no position, so it moves no bone")
        })?;
        let skeleton = self.target.skeleton;
        let world = self
            .world
            .get_or_init(|| self.target.rest.world_matrices(skeleton));
        let parent = skeleton.joint(id).parent;
        let above = parent.map_or(DMat3::IDENTITY, |parent| world[parent.get()].matrix3);
        if above.determinant().abs() < 1e-12 {
            return Err(format!(
                "the bone \"{joint}\" lies below one that is scaled to 0, so no position moves it"
            ));
        }
        let into_parent = above.inverse();
        let rest = skeleton.joint(id).rest.translation;
        let first = track.values.iter().find(|place| place.is_valid());
        let first = from.map_or_else(|| first.copied().unwrap_or_default(), DVec3::from_array);
        let place = |place: &DVec3| rest + into_parent * (gain * (*place - first));
        Ok(Move {
            joint: id,
            values: track.values.iter().map(place).collect(),
        })
    }

    /// The recording with channels of the names of what they move.
    fn bound(&self, bindings: &[Binding], moved: Moved) -> Bound<'a> {
        let Moved {
            rotations,
            morphs,
            moves,
            ..
        } = moved;
        let mut of = self.recording.clone();
        let bound = bindings.iter().map(|of| (of.channel.as_str(), of.kind()));
        let bound: BTreeSet<(&str, Option<ChannelKind>)> = bound.collect();
        let is_bound = |name: &str, kind: ChannelKind| {
            bound.contains(&(name, None)) || bound.contains(&(name, Some(kind)))
        };
        let joints: BTreeSet<String> = rotations.keys().cloned().collect();
        of.rotations.retain(|track| {
            !(is_bound(&track.name, ChannelKind::Rotation) || joints.contains(&track.name))
        });
        let left = |name: &String| of.rotations.iter().any(|track| track.name == *name);
        of.world_rotations = of
            .world_rotations
            .iter()
            .filter(|n| left(n))
            .cloned()
            .collect();
        let moves_bound = |channel: &str| {
            self.target.morphs.iter().any(|of| {
                let mut driven = of.driven_by(channel);
                driven.any(|at| morphs.contains_key(&of.names[at]))
            })
        };
        of.scalars.retain(|track| {
            !(is_bound(&track.name, ChannelKind::Scalar) || moves_bound(&track.name))
        });
        for (name, rotation) in rotations {
            let values = match rotation {
                Rotation::Whole { values, in_world } => {
                    if in_world {
                        of.world_rotations.insert(name.clone());
                    }
                    values
                }
                Rotation::Hinges(hinges) => {
                    let skeleton = self.target.skeleton;
                    let joint = skeleton.joint_named(&name);
                    let rest = joint.map(|joint| skeleton.joint(joint).rest.rotation);
                    turned(&of.times, rest.unwrap_or(DQuat::IDENTITY), &hinges)
                }
            };
            of.rotations.push(Track { name, values });
        }
        let scalars = morphs.into_iter().map(|(name, values)| ScalarTrack {
            name,
            unit: String::new(),
            values,
        });
        of.scalars.extend(scalars);
        Bound {
            recording: Cow::Owned(of),
            joints,
            moves,
        }
    }
}

impl Bound<'_> {
    /// Whether a binding rotates the joint of this name.
    pub fn rotates(&self, joint: &str) -> bool {
        self.joints.contains(joint)
    }

    /// The displaced joints, each with its local translations: n_times, NaN where there is none.
    pub fn moves(&self) -> impl Iterator<Item = (JointId, &[DVec3])> {
        self.moves.iter().map(|of| (of.joint, of.values.as_slice()))
    }

    /// Whether bindings displace joints.
    pub fn has_moves(&self) -> bool {
        !self.moves.is_empty()
    }

    /// Adds keyframes of the displaced joints to a clip that begins at 0, in place of those that it has; returns how many, and of
    /// how many. `tolerance`: how far a joint may be off for fewer keys, metres; 0 keeps all. A place that is lost is held.
    pub fn bake_moves(&self, clip: &mut Clip, tolerance: f64) -> [usize; 2] {
        let times = &self.recording.times;
        let first = times.first().copied().unwrap_or(0.0);
        let mut keys = [0; 2];
        for moved in &self.moves {
            let Ok(series) = Series::new(times, &moved.values, Sampling::default()) else {
                continue;
            };
            let Some(begin) = series.values().first() else {
                continue;
            };
            // What is shown fades to rest, which is 0 here: the first place stands for it.
            let values = times.iter().map(|time| {
                let shown = series.shown_as(*time, &HELD, |place| place - *begin);
                *begin + shown.value
            });
            let values: Vec<DVec3> = values.collect();
            let kept = thin(times, &values, tolerance, distance);
            clip.channels
                .retain(|c| (c.joint, c.property) != (moved.joint, Property::Translation));
            let numbers = kept.iter().flat_map(|k| values[*k].as_vec3().to_array());
            let numbers: Vec<f32> = numbers.collect();
            clip.channels.push(Channel {
                joint: moved.joint,
                property: Property::Translation,
                interpolation: Interpolation::Linear,
                times: kept.iter().map(|k| (times[*k] - first) as f32).collect(),
                values: numbers.into(),
            });
            keys[0] += kept.len();
            keys[1] += times.len();
        }
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::Joint;
    use crate::skeleton::joint_limits::JointLimits;

    #[test]
    fn a_sample_and_a_hinge_by_its_limits_rotate_their_joints() {
        let mut elbow = Joint {
            name: "elbow".into(),
            ..Joint::default()
        };
        elbow.rest.rotation = DQuat::from_rotation_y(0.5);
        let mut knee = Joint {
            name: "knee".into(),
            ..Joint::default()
        };
        knee.rule.limits = Some(JointLimits([[0.0; 2], [-2.0, 0.0], [0.0; 2]]));
        let skeleton = Skeleton::new(vec![elbow, knee]).unwrap();
        let bent = DQuat::from_rotation_y(0.5) * DQuat::from_rotation_x(1.0);
        let samples = [SamplePose {
            name: "Bent".into(),
            of_set: "Bent (Elbow)".into(),
            joints: vec![(JointId(0), bent)],
        }];
        let target = BindTarget {
            skeleton: &skeleton,
            rest: &Pose::rest(&skeleton),
            morphs: &[],
            samples: &samples,
        };
        let scalar = |name: &str, unit: &str, values: [f64; 4]| ScalarTrack {
            name: name.into(),
            unit: unit.into(),
            values: values.to_vec(),
        };
        let recording = Recording {
            times: vec![0.0, 0.1, 0.2, 0.3],
            scalars: vec![
                scalar("emg", "%", [0.0, 50.0, f64::NAN, 300.0]),
                scalar("angle", "deg", [0.0, 0.5, 1.0, 1.5]),
            ],
            ..Recording::default()
        };
        let bindings = ["emg=sample:Bent,0.01", "angle=hinge:knee,-1"];
        let bindings = bindings.map(|text| text.parse::<Binding>().unwrap());
        let bound = bind(&recording, &bindings, &target).unwrap();
        assert!(bound.rotates("elbow") && bound.rotates("knee") && !bound.has_moves());
        assert!(bound.recording.scalars.is_empty(), "they move nothing else");
        let rotation = |name: &str| {
            let mut tracks = bound.recording.rotations.iter();
            tracks
                .find(|track| track.name == name)
                .unwrap()
                .values
                .clone()
        };
        let elbow = rotation("elbow");
        let half = DQuat::from_rotation_y(0.5) * DQuat::from_rotation_x(0.5);
        assert!(elbow[1].abs_diff_eq(half, 1e-12), "{}", elbow[1]);
        assert!(!elbow[2].is_valid(), "a missing number");
        assert!(elbow[3].abs_diff_eq(bent, 1e-12), "held at 1");
        // Angles are radians within, degrees as they are shown.
        let knee = rotation("knee");
        assert!(knee[3].abs_diff_eq(DQuat::from_rotation_y(-1.5), 1e-12));
        let of_set = "emg=sample:Bent (Elbow),0.01".parse::<Binding>().unwrap();
        let same = bind(&recording, &[of_set], &target).unwrap();
        assert!(same.rotates("elbow") && !same.rotates("knee"));
        let same = ["emg=hinge:knee,x", "angle=sample:Bent", "emg=sample:Bent"];
        let same = same.map(|text| text.parse::<Binding>().unwrap());
        let why = bind(&recording, &same, &target).unwrap_err();
        let expected = "\"angle\" is bound to the bone \"elbow\" already, so \"emg\" cannot be: unbind one of them";
        assert_eq!(why, expected);
    }
}
