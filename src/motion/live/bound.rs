//! Bindings by hand on live values: what the bound channels of a recording would move, of their newest samples.

use super::calibration::Calibration;
use super::samples::LiveSamples;
use crate::motion::bindings::{BindTarget, Binding, BoundTo, bind_those_that_fit};
use crate::motion::channel_kind::ChannelKind;
use crate::motion::morphs::MorphedJoint;
use crate::motion::recording::Recording;
use crate::motion::rotation_part::RotationPart;
use crate::motion::signal::Signal;
use crate::motion::vmc::is_of_body;
use crate::skeleton::JointId;
use glam::{DQuat, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// The bindings of live channels. A channel that has not arrived yet is bound as soon as it does.
///
/// Invariant: they move the character as the bindings of a recording of the same samples do.
#[derive(Clone, Debug, Default)]
pub struct LiveBindings {
    bindings: Vec<Binding>,
    /// By channel: the origin of its displacement, metres.
    first: BTreeMap<String, DVec3>,
}

/// The newest samples of bound channels, by what they move.
#[derive(Clone, Debug, Default)]
pub struct BoundSamples {
    /// By joint: whether its rotation is that in the world, and its samples.
    pub(super) rotations: BTreeMap<String, (bool, Vec<(f64, DQuat)>)>,
    /// By morph target: its weights.
    pub(super) weights: BTreeMap<String, Vec<(f64, f64)>>,
    /// The displaced joints: their local translations.
    pub(super) places: Vec<(JointId, Vec<(f64, DVec3)>)>,
    /// The bindings, by channel.
    bindings: BTreeMap<String, Vec<Option<ChannelKind>>>,
    /// The bindings that do not fit, and move nothing, each with the end of a sentence that says why.
    pub faults: Vec<(Binding, String)>,
}

impl LiveBindings {
    /// Replaces the bindings. A location that stays bound goes on from its first position.
    pub fn set(&mut self, bindings: &[Binding]) {
        if self.bindings == bindings {
            return;
        }
        self.bindings = bindings.to_vec();
        let is_moved = |channel: &String| {
            let mut bindings = self.bindings.iter().filter(|of| of.channel == *channel);
            bindings.any(|of| matches!(of.to, BoundTo::Translation { .. }))
        };
        self.first.retain(|channel, _| is_moved(channel));
    }

    /// Without some of them.
    #[must_use]
    pub fn without(&self, unfit: &[(Binding, String)]) -> Self {
        let mut left = self.clone();
        let is_its = |of: &Binding, (unfit, _): &(Binding, String)| {
            (of.channel.as_str(), of.kind()) == (unfit.channel.as_str(), unfit.kind())
        };
        left.bindings
            .retain(|of| !unfit.iter().any(|unfit| is_its(of, unfit)));
        left
    }

    /// Forgets from where the locations of channels count that a calibration changes.
    pub fn forget_calibrated(&mut self, calibration: &Calibration) {
        self.first.retain(|channel, _| !calibration.is_of(channel));
    }

    /// Forgets from where locations count: they count from the next positions on.
    pub fn forget_places(&mut self) {
        self.first.clear();
    }

    /// The bindings of the channels of a recording of these samples. Locations count from where they count live, not from the first
    /// position that was recorded, so that its clip shows what was shown. `has_body`: whether a body is retargeted, whose channels are
    /// not kept from moving it.
    pub fn of_recording(&self, recording: &Recording, has_body: bool) -> Vec<Binding> {
        let parts = recording.driving_channels();
        let is_there = |name: &str| {
            recording.rotations.iter().any(|track| track.name == name)
                || recording.markers.iter().any(|track| track.name == name)
                || recording.labels.iter().any(|track| track.name == name)
                || parts.iter().any(|part| part == name)
        };
        let is_free = |of: &Binding| {
            !(has_body && of.to == BoundTo::Display && is_of_body(recording, of.shown_channel()))
        };
        let here = self.bindings.iter();
        let here = here.filter(|of| is_there(&of.channel) && is_free(of));
        here.map(|binding| self.placed(binding)).collect()
    }

    /// A binding that knows from where its location counts.
    fn placed(&self, binding: &Binding) -> Binding {
        let mut binding = binding.clone();
        if let BoundTo::Translation { from, .. } = &mut binding.to
            && from.is_none()
        {
            *from = self.first.get(&binding.channel).map(DVec3::to_array);
        }
        binding
    }

    /// Carries the bindings out on the newest samples, those from which the values at a time of the sender (seconds) follow.
    /// `calibration`: that of the body which is retargeted, whose recordings are calibrated as a whole.
    pub fn newest(
        &mut self,
        samples: &LiveSamples,
        time: f64,
        target: &BindTarget<'_>,
        calibration: Option<&Calibration>,
    ) -> BoundSamples {
        if self.bindings.is_empty() {
            return BoundSamples::default();
        }
        let source = |channel: &str| -> Option<String> {
            if samples.has_channel(channel) {
                return Some(channel.to_owned());
            }
            let (rotation, _) = RotationPart::split(channel)?;
            samples.has_channel(rotation).then(|| rotation.to_owned())
        };
        let mut sources: BTreeSet<String> = BTreeSet::new();
        let mut here: Vec<Binding> = Vec::new();
        for binding in &self.bindings {
            let Some(source) = source(&binding.channel) else {
                continue;
            };
            if matches!(binding.to, BoundTo::Translation { .. })
                && !self.first.contains_key(&binding.channel)
            {
                // The newest: a bone that is bound stays where it is.
                let mut places = samples.position(&binding.channel).iter().rev();
                if let Some((_, place)) = places.find(|(_, place)| place.is_valid()) {
                    let channel = &binding.channel;
                    let place = calibration.map_or(*place, |of| of.placed(channel, *place));
                    self.first.insert(channel.clone(), place);
                }
            }
            here.push(self.placed(binding));
            sources.insert(source);
        }
        let mut newest = samples.newest_of(&sources, time);
        if let Some(calibration) = calibration {
            calibration.apply(&mut newest);
        }
        let mut found = BoundSamples {
            bindings: BTreeMap::new(),
            ..BoundSamples::default()
        };
        for of in &here {
            let kinds = found.bindings.entry(of.channel.clone()).or_default();
            kinds.push(of.kind());
        }
        let begin = newest.first_time();
        let recording = newest.recording(f64::NEG_INFINITY);
        let (bound, faults) = bind_those_that_fit(&recording, &here, target);
        let faults = faults.into_iter();
        found.faults = faults.map(|(i, why)| (here[i].clone(), why)).collect();
        let of = &bound.recording;
        for track in of.rotations.iter().filter(|of| bound.rotates(&of.name)) {
            let is_world = of.world_rotations.contains(&track.name);
            let values = valid(begin, &of.times, &track.values);
            found
                .rotations
                .insert(track.name.clone(), (is_world, values));
        }
        for track in &of.scalars {
            let values = valid(begin, &of.times, &track.values);
            found.weights.insert(track.name.clone(), values);
        }
        let places = bound.moves();
        found.places = places
            .map(|(joint, values)| (joint, valid(begin, &of.times, values)))
            .collect();
        found
    }
}

impl BoundSamples {
    /// Whether a channel has a binding, so that it moves nothing by its name.
    pub fn has(&self, channel: &str, kind: ChannelKind) -> bool {
        let kinds = self.bindings.get(channel);
        kinds.is_some_and(|of| of.iter().any(|of| of.is_none_or(|of| of == kind)))
    }

    /// Whether a binding rotates the joint of a name, so that no channel does by its name.
    pub(super) fn rotates(&self, joint: &str) -> bool {
        self.rotations.contains_key(joint)
    }

    /// Whether a binding sets a weight that a channel would set by its name.
    pub(super) fn weighs(&self, joints: &[MorphedJoint], channel: &str) -> bool {
        !self.weights.is_empty()
            && joints.iter().any(|of| {
                let mut driven = of.driven_by(channel);
                driven.any(|at| self.weights.contains_key(&of.names[at]))
            })
    }

    /// The names of the joints that bindings rotate, each with whether its rotation is that in the world.
    pub fn rotation_names(&self) -> impl Iterator<Item = (&str, bool)> {
        let names = self.rotations.iter();
        names.map(|(name, (is_world, _))| (name.as_str(), *is_world))
    }
}

/// The values that are there, with times that begin at `begin`.
fn valid<V: Signal>(begin: f64, times: &[f64], values: &[V]) -> Vec<(f64, V)> {
    let samples = times.iter().zip(values).filter(|(_, v)| v.is_valid());
    samples.map(|(t, v)| (begin + t, *v)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::bindings::{SamplePose, bind};
    use crate::motion::by_name::{Named, NamedTarget, bake_by_name};
    use crate::motion::live::pose::sample;
    use crate::motion::live::samples::max_gap;
    use crate::motion::live::{LiveMorphs, LivePose, Origin};
    use crate::motion::retarget::MotionSettings;
    use crate::motion::rig::Rig;
    use crate::motion::sampling::Sampling;
    use crate::skeleton::{Clip, Joint, Pose, Skeleton};
    use crate::task::Task;

    /// A chain of joints that are turned at rest.
    fn skeleton() -> Skeleton {
        let names = ["root", "arm", "forearm", "hand", "finger", "own"];
        let joints = names.iter().enumerate().map(|(i, name)| {
            let mut joint = Joint {
                name: (*name).into(),
                ..Joint::default()
            };
            joint.parent = i.checked_sub(1).map(|above| JointId(above as u32));
            joint.rest.rotation = DQuat::from_rotation_y(0.3 * i as f64);
            joint.rest.translation = DVec3::new(0.0, 0.4, 0.1);
            joint
        });
        Skeleton::new(joints.collect()).unwrap()
    }

    /// Joints to bind to, without morph targets and corrective samples.
    fn bare<'a>(skeleton: &'a Skeleton, rest: &'a Pose) -> BindTarget<'a> {
        BindTarget {
            skeleton,
            rest,
            morphs: &[],
            samples: &[],
        }
    }

    /// Three seconds at 50 Hz, of which `angle` and `place` lose the second one.
    fn samples() -> LiveSamples {
        let mut samples = LiveSamples::default();
        for i in 0..=150 {
            let (t, time) = (0.02 * f64::from(i), 40.0 + 0.02 * f64::from(i));
            let turned = DQuat::from_rotation_x(0.5 * t) * DQuat::from_rotation_z(0.2);
            samples.push_rotation("imu", time, turned);
            samples.push_rotation("own", time, DQuat::from_rotation_z(t));
            samples.push_world_rotation("imu2", time, DQuat::from_rotation_z(t - 1.0));
            samples.push_scalar("emg", time, 100.0 * (t - 1.0));
            samples.push_scalar("bulge", time, 5.0);
            samples.push_scalar("flex", time, 0.5 * t);
            if !(1.0..2.2).contains(&t) {
                samples.push_scalar("angle", time, 10.0 * t);
                samples.push_scalar("twist", time, 3.0 * t);
                samples.push_position("place", time, DVec3::new(t, 0.5 * t, 2.0));
            }
        }
        samples
    }

    #[test]
    fn what_bound_channels_move_live_is_what_the_clip_of_their_recording_has() {
        let skeleton = skeleton();
        let rest = Pose {
            morph_weights: vec![vec![0.25, 0.0], vec![], vec![], vec![], vec![], vec![]],
            ..Pose::rest(&skeleton)
        };
        let morphs = [MorphedJoint {
            joint: JointId(0),
            names: vec!["swell".into(), "bulge".into()],
            rest: vec![0.25, 0.0],
        }];
        let bent = DQuat::from_rotation_y(0.9) * DQuat::from_rotation_x(1.0);
        let poses = [SamplePose {
            name: "Bent".into(),
            of_set: "Bent (Hand)".into(),
            joints: vec![(JointId(3), bent)],
        }];
        let target = BindTarget {
            skeleton: &skeleton,
            rest: &rest,
            morphs: &morphs,
            samples: &poses,
        };
        let bindings = [
            "imu=rotation:root",
            "imu2=world:arm",
            "angle=hinge:forearm,x,-2,10",
            "twist=hinge:forearm,z,0.5",
            "place=move:arm,0.5",
            "emg=morph:swell,0.01,0.1",
            "bulge=none",
            "flex=sample:Bent,0.8,0.05",
            "imu.twist_x=hinge:finger,y",
            "later=morph:bulge",
        ];
        let bindings = bindings.map(|text| text.parse::<Binding>().unwrap());
        let samples = samples();
        let mut live = LiveBindings::default();
        live.set(&bindings);
        // It was received before it was recorded: a location counts from there.
        let first = live.newest(&samples, 40.0, &target, None);
        assert!(first.faults.is_empty(), "{:?}", first.faults);
        let begin = 40.5;
        let recording = samples.recording(begin);
        let of_recording = live.of_recording(&recording, false);
        assert_eq!(
            of_recording.len(),
            9,
            "the one that is not there is left out"
        );
        let bound = bind(&recording, &of_recording, &target).unwrap();
        let named_target = NamedTarget {
            skeleton: &skeleton,
            rest: &rest,
            morphs: &morphs,
        };
        let named = Named::new(&bound.recording, &named_target, |_, _| true);
        let mut clip = Clip::named("clip");
        let of = &bound.recording;
        bake_by_name(of, &named, &named_target, &mut clip, 0.0, &Task::new()).unwrap();
        bound.bake_moves(&mut clip, 0.0);

        let (settings, rig) = (MotionSettings::default(), Rig::default());
        let (none, origin) = (Calibration::default(), Origin::default());
        let (mut pose, why) =
            LivePose::new(&samples, &first, &skeleton, &rig, &settings, none, origin);
        assert_eq!(why, None);
        let mut weights = LiveMorphs::new(&morphs);
        let mut moved = [0.0_f64; 2];
        for i in 0..=125 {
            let t = 0.02 * f64::from(i);
            let bound = live.newest(&samples, begin + t, &target, None);
            let mut shown = rest.clone();
            pose.apply(&samples, &bound, begin + t, &skeleton, &mut shown);
            weights.apply(&samples, &bound, begin + t, &mut shown);
            let mut expected = rest.clone();
            clip.apply(t, &mut expected);
            for (slot, (a, b)) in shown.locals.iter().zip(&expected.locals).enumerate() {
                let off = 2.0 * (1.0 - a.rotation.dot(b.rotation).abs()).max(0.0).sqrt();
                let near = if a.rotation.dot(b.rotation) < 0.0 {
                    -b.rotation
                } else {
                    b.rotation
                };
                assert!(a.rotation.abs_diff_eq(near, 1e-6), "{slot} at {t}: {off}");
                let apart = a.translation.distance(b.translation);
                assert!(apart < 1e-6, "{slot} at {t}: {apart}");
                moved[0] = moved[0].max(a.rotation.angle_between(rest.locals[slot].rotation));
                moved[1] = moved[1].max(a.translation.distance(rest.locals[slot].translation));
            }
            for (a, b) in shown.morph_weights[0]
                .iter()
                .zip(&expected.morph_weights[0])
            {
                assert!((a - b).abs() < 1e-6, "at {t}: {a} {b}");
            }
        }
        assert!(moved[0] > 1.0 && moved[1] > 0.5, "{moved:?}");
    }

    #[test]
    fn a_binding_that_does_not_fit_is_told_and_the_others_act() {
        let skeleton = skeleton();
        let rest = Pose::rest(&skeleton);
        let target = bare(&skeleton, &rest);
        let samples = samples();
        let mut live = LiveBindings::default();
        live.set(&["imu=rotation:arm", "imu2=world:arm"].map(|b| b.parse().unwrap()));
        let found = live.newest(&samples, 42.0, &target, None);
        let [(binding, why)] = &found.faults[..] else {
            panic!("{:?}", found.faults);
        };
        assert!(
            why.starts_with("\"imu\" is bound to the bone \"arm\" already, so \"imu2\" cannot be")
                && binding.channel == "imu2",
            "{why}"
        );
        let has = |name: &str| found.has(name, ChannelKind::Rotation);
        assert!(has("imu") && has("imu2") && found.rotates("arm"));
        live.set(&["imu=rotation:gone", "angle=hinge:arm,x"].map(|b| b.parse().unwrap()));
        let found = live.newest(&samples, 42.5, &target, None);
        let why = "there is no bone \"gone\" to bind the channel \"imu\" to";
        assert_eq!(found.faults[0].1, why);
        assert_eq!(found.faults.len(), 1);
        // A recording has those that fit.
        let kept = live
            .without(&found.faults)
            .of_recording(&samples.recording(40.0), false);
        assert_eq!(kept, ["angle=hinge:arm,x".parse().unwrap()]);
        assert!(found.rotates("arm") && !found.rotates("gone"));
    }

    #[test]
    fn numbers_of_two_devices_rotate_one_bone() {
        let skeleton = skeleton();
        let rest = Pose::rest(&skeleton);
        let target = bare(&skeleton, &rest);
        // At 50 and 60 Hz, which never have a time in common; at 5 Hz, one soon after the other; and a slow one with a fast one.
        for devices in [
            [(0.0, 0.02), (0.007, 1.0 / 60.0), (0.009, 0.02)],
            [(0.0, 0.2), (0.007, 0.2), (0.014, 0.2)],
            [(0.1, 0.5), (0.0, 0.01), (0.003, 0.1)],
        ] {
            let mut samples = LiveSamples::default();
            for (name, (first, step)) in ["bend", "twist", "swing"].iter().zip(devices) {
                for i in 0..(6.0 / step) as u32 {
                    let time = first + step * f64::from(i);
                    samples.push_scalar(name, time, 30.0 * (2.0 * time).sin());
                }
            }
            let bindings = ["bend=hinge:arm,x", "twist=hinge:arm,y", "swing=hinge:arm,z"];
            let mut live = LiveBindings::default();
            live.set(&bindings.map(|text| text.parse().unwrap()));
            let recording = samples.recording(0.0);
            let of_recording = live.of_recording(&recording, false);
            let bound = bind(&recording, &of_recording, &target).unwrap();
            let clip = bound.recording.rotation("arm", Sampling::default());
            let clip = clip.unwrap().unwrap();
            assert_eq!(clip.gaps().count(), 0, "{devices:?}");
            for i in 0..350 {
                let time = 1.5 + 0.01 * f64::from(i);
                let found = live.newest(&samples, time, &target, None);
                let (_, values) = &found.rotations["arm"];
                let shown = sample(values, time, max_gap(values)).unwrap();
                let known = clip.at(time).unwrap();
                assert!(known.dot(shown).abs() > 1.0 - 1e-12, "{time}: {devices:?}");
                // Straight lines between samples are off by less than 0.125 (2 step)^2 of what moves.
                let slowest = devices.iter().map(|of| of.1).fold(0.0, f64::max);
                let turn =
                    |axis| DQuat::from_axis_angle(axis, (30.0 * (2.0 * time).sin()).to_radians());
                let rest = skeleton.joint(JointId(1)).rest.rotation;
                let exact = rest * turn(DVec3::X) * turn(DVec3::Y) * turn(DVec3::Z);
                let off = exact.angle_between(shown);
                assert!(
                    off < 1e-3 + 1.0 * slowest * slowest,
                    "{time}: {off} {devices:?}"
                );
            }
        }
    }

    #[test]
    fn bound_channels_of_a_calibrated_body_are_calibrated_as_in_its_recording() {
        let skeleton = skeleton();
        let rest = Pose::rest(&skeleton);
        let target = bare(&skeleton, &rest);
        let mut samples = LiveSamples::default();
        let axes = DQuat::from_rotation_z(0.7);
        for i in 0..100 {
            let time = 0.02 * f64::from(i);
            // It stands in a T-pose for a second.
            let bent = DQuat::from_rotation_x((time - 1.0).max(0.0));
            samples.push_rotation("Hips", time, axes);
            samples.push_rotation("LeftUpperLeg", time, bent);
            samples.push_position("LeftUpperLeg", time, DVec3::new(0.1, time, 0.0));
        }
        let mut calibrated = samples.clone();
        let mut still = LiveSamples::default();
        for (time, q) in samples.rotation("LeftUpperLeg").iter().take(50) {
            still.push_rotation("Hips", *time, axes);
            still.push_rotation("LeftUpperLeg", *time, *q);
        }
        let calibration = Calibration::of(&still, 0.0).unwrap();
        calibration.apply(&mut calibrated);
        let bindings = ["LeftUpperLeg=rotation:arm", "LeftUpperLeg=move:hand"];
        let mut live = LiveBindings::default();
        live.set(&bindings.map(|text| text.parse().unwrap()));
        live.newest(&samples, 1.0, &target, Some(&calibration));
        let recording = calibrated.recording(0.0);
        let bound = bind(&recording, &live.of_recording(&recording, true), &target).unwrap();
        let found = live.newest(&samples, 1.9, &target, Some(&calibration));
        let of = &bound.recording;
        let clip = of
            .rotations
            .iter()
            .find(|track| track.name == "arm")
            .unwrap();
        let (_, moved) = bound.moves().next().unwrap();
        let at = |time: f64| {
            of.times
                .iter()
                .position(|of| (of - time).abs() < 1e-9)
                .unwrap()
        };
        let (_, rotations) = &found.rotations["arm"];
        let (_, places) = &found.places[0];
        assert!(rotations.len() > 3 && places.len() > 3);
        for (time, q) in rotations {
            let known = clip.values[at(*time)];
            assert!(q.angle_between(known) < 1e-9, "{time}");
        }
        for (time, place) in places {
            assert!(place.distance(moved[at(*time)]) < 1e-9, "{time}");
        }
        // It is not as it was sent.
        let (time, sent) = samples.rotation("LeftUpperLeg").last().unwrap();
        assert!(clip.values[at(*time)].angle_between(*sent) > 0.1);
    }
}
