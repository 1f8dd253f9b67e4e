//! The pose of a character under live motion.

use super::bound::BoundSamples;
use super::calibration::{Calibration, Origin};
use super::samples::{LiveSamples, max_gap};
use crate::math::transform::normalize_or_identity;
use crate::motion::bindings::HELD;
use crate::motion::channel_kind::ChannelKind;
use crate::motion::fade::{Fade, Guard};
use crate::motion::gaps::is_gap;
use crate::motion::retarget::{MotionSettings, Reference, Retarget, RetargetOptions};
use crate::motion::rig::Rig;
use crate::motion::signal::Signal;
use crate::motion::take::Take;
use crate::motion::vmc::{Body, LiveRoot, ROOT, is_body_bone};
use crate::skeleton::{JointId, Pose, Skeleton};
use glam::{DQuat, DVec3};
use std::collections::BTreeMap;

/// A time within this of a sample is that of the sample, seconds.
const SAME_SECS: f64 = 1e-6;

/// A joint that is rotated by the channel of its name, or by those that are bound to it.
#[derive(Clone, Debug)]
struct Joint {
    name: String,
    slot: usize,
    is_world: bool,
    is_bound: bool,
    guard: Guard<DQuat>,
}

/// A body whose motion is retargeted.
#[derive(Clone, Debug)]
struct LiveBody {
    body: Body,
    retarget: Retarget<'static>,
    guards: Vec<Guard<DQuat>>,
    /// n_bones: from where it is at rest.
    places: Vec<Guard<DVec3>>,
    /// Where the root joint faces.
    heading: DQuat,
    root: LiveRoot,
}

impl LiveBody {
    /// Goes on from the body that this one replaces.
    fn go_on(&mut self, before: &Self) {
        self.heading = before.heading;
        self.root = self.root.going_on(&before.root);
        for (bone, of) in self.body.bones.iter().enumerate() {
            let Some(known) = before.body.bones.iter().position(|known| known == of) else {
                continue;
            };
            self.guards[bone] = before.guards[known];
            // How far it was from another place says nothing.
            if before.body.offsets[known] == self.body.offsets[bone] {
                self.places[bone] = before.places[known];
            }
        }
    }
}

/// The pose of a character under live motion: a humanoid body is retargeted, bound channels rotate and displace their joints, other
/// rotations apply to the joints of the same names.
#[derive(Clone, Debug)]
pub struct LivePose {
    body: Option<LiveBody>,
    joints: Vec<Joint>,
    /// By the slot of a displaced joint: its displacement from rest.
    places: BTreeMap<usize, Guard<DVec3>>,
    calibration: Calibration,
}

impl LivePose {
    /// For the channels that a sender has now, and those that are bound, on a skeleton whose rest pose is `target`. `origin`: from
    /// where the body moves, unless it is calibrated. The reason that a body does not move the character is returned beside it.
    pub fn new(
        samples: &LiveSamples,
        bound: &BoundSamples,
        skeleton: &Skeleton,
        target: &Rig,
        settings: &MotionSettings,
        calibration: Calibration,
        origin: Origin,
    ) -> (Self, Option<String>) {
        let fade = Fade::default();
        let origin = calibration.origin_or(origin);
        let body = calibration.body(samples, &origin);
        let root = LiveRoot::new(origin.root_rotation, origin.root_place);
        let mut why = None;
        let body = body.and_then(|body| {
            let made = retarget(&body, skeleton, target, settings);
            let retarget = made.map_err(|reason| why = Some(reason)).ok()?;
            Some(LiveBody {
                guards: vec![Guard::new(fade); body.bones.len()],
                places: vec![Guard::new(fade); body.bones.len()],
                heading: DQuat::IDENTITY,
                root,
                retarget,
                body,
            })
        });
        let of_body = |name: &str| {
            if body.is_some() && name == ROOT {
                return true;
            }
            let mut bones = body
                .iter()
                .flat_map(|b| (0..b.body.bones.len()).map(|i| b.body.name(i)));
            bones.any(|bone| bone == name)
        };
        // The body has its own joints, and moves them over those above its hips as they are at rest: a sender's "root" carries
        // the hips, not the joint of that name.
        let is_of_body = |joint: JointId| {
            body.as_ref().is_some_and(|body| {
                let hips = JointId(body.retarget.hips() as u32);
                body.retarget.is_driven(joint.get())
                    || joint == hips
                    || skeleton.ancestors(hips).any(|above| above == joint)
            })
        };
        let named = samples.rotation_names().filter(|(name, _)| {
            !(of_body(name) || bound.has(name, ChannelKind::Rotation) || bound.rotates(name))
        });
        let named = named.map(|(name, is_world)| (name, is_world, false));
        let by_hand = bound.rotation_names();
        let by_hand = by_hand.map(|(name, is_world)| (name, is_world, true));
        let joints = named
            .chain(by_hand)
            .filter_map(|(name, is_world, is_bound)| {
                let joint = skeleton
                    .live_joints()
                    .find(|j| skeleton.joint(*j).name == name)?;
                if !is_bound && is_of_body(joint) {
                    return None;
                }
                Some(Joint {
                    name: name.to_owned(),
                    slot: joint.get(),
                    is_world,
                    is_bound,
                    guard: Guard::new(fade),
                })
            });
        let joints: Vec<Joint> = joints.collect();
        // A few bones that all move something without a body are none.
        let moves = |name: &str| {
            bound.has(name, ChannelKind::Rotation) || joints.iter().any(|joint| joint.name == name)
        };
        let mut bones = samples
            .rotation_names()
            .filter(|(name, is_world)| is_body_bone(name, *is_world));
        if bones.all(|(name, _)| moves(name)) {
            why = None;
        }
        let pose = Self {
            body,
            joints,
            places: BTreeMap::new(),
            calibration,
        };
        (pose, why)
    }

    /// Whether a body is retargeted to the character.
    pub fn has_body(&self) -> bool {
        self.body.is_some()
    }

    /// Goes on from the pose that this one replaces: what is held or fades does so further, and a root joint faces as it did. A body
    /// of another calibration begins anew.
    #[must_use]
    pub fn going_on(mut self, before: &Self) -> Self {
        let is_same = self.calibration == before.calibration;
        let bodies = self.body.as_mut().zip(before.body.as_ref());
        if let Some((live, before)) = bodies.filter(|_| is_same) {
            live.go_on(before);
        }
        for joint in &mut self.joints {
            let mut known = before.joints.iter();
            if let Some(known) = known.find(|known| known.slot == joint.slot) {
                joint.guard = known.guard;
            }
        }
        self.places.clone_from(&before.places);
        self
    }

    /// Whether any channel moves the character.
    pub fn moves(&self) -> bool {
        self.body.is_some() || !(self.joints.is_empty() && self.places.is_empty())
    }

    /// Writes the motion at a time of the sender, seconds, over a rest pose. Samples farther apart than four steps of their
    /// channel are not interpolated.
    pub fn apply(
        &mut self,
        samples: &LiveSamples,
        bound: &BoundSamples,
        time: f64,
        skeleton: &Skeleton,
        pose: &mut Pose,
    ) {
        let calibration = &self.calibration;
        if let Some(live) = &mut self.body {
            let shown = (0..live.body.bones.len()).map(|bone| {
                let name = live.body.name(bone);
                let local = found(samples.rotation(name), time);
                let local = local.map(|q| calibration.turned(name, q));
                live.guards[bone].next(time, local).value
            });
            let locals: Vec<DQuat> = shown.collect();
            // Without its travel the body is where it stood, and without its stretch as it was.
            let shown = (0..live.body.bones.len()).map(|bone| {
                let is_hips = live.body.name(bone) == "Hips";
                if !(is_hips || live.body.may_stretch(bone)) {
                    return None;
                }
                let (name, rest) = (live.body.name(bone), live.body.offsets[bone]);
                let place = found(samples.position(name), time);
                let by = place.map(|p| calibration.placed(name, p) - rest);
                Some(rest + live.places[bone].next(time, by).value)
            });
            let moved: Vec<Option<DVec3>> = shown.collect();
            let (mut rotations, mut places) =
                live.body.world(|bone| locals[bone], |bone| moved[bone]);
            let root = live.root.next(
                time,
                found(samples.rotation(ROOT), time),
                found(samples.position(ROOT), time),
            );
            root.carry(&mut rotations, &mut places);
            live.retarget.set_frame(0, &rotations, &places);
            let mut found = live.retarget.pose(0);
            live.retarget.move_root_of(&mut found, &mut live.heading);
            for joint in live.retarget.moved_joints() {
                pose.locals[joint].rotation = found.rotations[joint];
            }
            pose.locals[live.retarget.hips()].translation = found.hips;
            for (joint, place) in live.retarget.translated_joints().zip(&found.translations) {
                pose.locals[joint].translation = *place;
            }
        }
        self.apply_joints((samples, bound), time, skeleton, pose);
        self.places
            .retain(|slot, _| bound.places.iter().any(|(joint, _)| joint.get() == *slot));
        for (joint, places) in &bound.places {
            let rest = skeleton.joint(*joint).rest.translation;
            let by = found(places, time).map(|place| place - rest);
            let guard = self.places.entry(joint.get());
            let by = guard.or_insert_with(|| Guard::new(HELD)).next(time, by);
            pose.locals[joint.get()].translation = rest + by.value;
        }
    }

    /// Rotates the joints of bound channels and of those of their names.
    fn apply_joints(
        &mut self,
        (samples, bound): (&LiveSamples, &BoundSamples),
        time: f64,
        skeleton: &Skeleton,
        pose: &mut Pose,
    ) {
        if self.joints.is_empty() {
            return;
        }
        let mut world = vec![DQuat::IDENTITY; skeleton.len()];
        for &j in skeleton.order() {
            let j = j as usize;
            let joint = &skeleton.joints()[j];
            let above = joint
                .parent
                .map(JointId::get)
                .map_or(DQuat::IDENTITY, |p| world[p]);
            if let Some(live) = self.joints.iter_mut().find(|live| live.slot == j) {
                let rest = joint.rest.rotation;
                let of = if live.is_bound {
                    bound.rotations.get(&live.name).map_or(&[][..], |of| &of.1)
                } else {
                    samples.rotation(&live.name)
                };
                let turned = found(of, time);
                let local = turned.map(|q| {
                    if live.is_world {
                        above.conjugate() * q
                    } else {
                        q
                    }
                });
                let shown = live.guard.next(time, local.map(|q| rest.conjugate() * q));
                pose.locals[j].rotation = normalize_or_identity(rest * shown.value);
            }
            world[j] = above * pose.locals[j].rotation;
        }
    }
}

/// A body in a T-pose on a character, ready for other frames.
fn retarget(
    body: &Body,
    skeleton: &Skeleton,
    target: &Rig,
    settings: &MotionSettings,
) -> Result<Retarget<'static>, String> {
    let rest = body.rest();
    let take = Take {
        times: vec![0.0],
        rotations: rest.rotations.clone(),
        places: rest.places.clone(),
        rest,
    };
    let [ours, theirs] = settings.roles(&take.rest, target)?;
    let options = RetargetOptions {
        // The T-pose, whatever the sender does at first.
        reference: Reference::Zero,
        ..settings.retarget
    };
    let made = Retarget::live(&take, &ours, skeleton, target, &theirs, &options);
    Ok(made.map_err(|why| why.to_string())?.into_owned())
}

/// As [`sample`], with the gap limit of the channel.
fn found<V: Signal>(samples: &[(f64, V)], time: f64) -> Option<V> {
    sample(samples, time, max_gap(samples))
}

/// The value at a time of samples in any order: interpolated between two that are at most `max_gap` apart, or the newest one for
/// as long.
pub(super) fn sample<V: Signal>(samples: &[(f64, V)], time: f64, max_gap: f64) -> Option<V> {
    let mut before: Option<(f64, V)> = None;
    let mut after: Option<(f64, V)> = None;
    for &(at, value) in samples.iter().rev() {
        if at <= time {
            // Of samples at one time the last stays, which this meets first.
            if before.is_none_or(|(known, _)| at > known) {
                before = Some((at, value));
            }
            if at < time - 2.0 * max_gap {
                break;
            }
        } else if after.is_none_or(|(known, _)| at < known) {
            after = Some((at, value));
        }
    }
    let (from, value) = before?;
    match after {
        Some((to, next)) if !is_gap(to - from, max_gap) => {
            Some(V::mix(value, next, (time - from) / (to - from)))
        }
        None if !is_gap(time - from, max_gap) => Some(value),
        // The last sample before a gap is still a value.
        _ if time - from < SAME_SECS => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::{Recording, RecordingSummary, Sampling};

    #[test]
    fn samples_are_interpolated_in_short_gaps_in_any_order() {
        let samples = [(0.0, 1.0), (0.2, 3.0), (0.1, 2.0), (0.2, 4.0), (1.0, 9.0)];
        let at = |time| sample(&samples, time, 0.15);
        assert_eq!(at(-0.1), None);
        assert!((at(0.05).unwrap() - 1.5).abs() < 1e-12);
        assert!(
            (at(0.15).unwrap() - 3.0).abs() < 1e-12,
            "the last of equal times stays"
        );
        assert_eq!(at(0.5), None, "a gap");
        assert_eq!(at(0.2), Some(4.0), "the last value before it");
        assert_eq!(at(1.1), Some(9.0), "soon after the newest");
        assert_eq!(at(1.2), None);
        assert_eq!(sample::<f64>(&[], 0.0, 1.0), None);
    }

    #[test]
    fn a_step_of_the_limit_is_no_gap_live_nor_in_a_recording() {
        // Three samples are lost, of a device that counts from 0, from a time of day or from one of a calendar.
        let all = [0.0, 41_520.0, 1.7e9].into_iter();
        let all = all.flat_map(|first| [0.2, 0.3].map(|step| (first, step)));
        for (first, step, lost) in all.flat_map(|(a, b)| (10..30).map(move |i| (a, b, i))) {
            let times = (0..40).filter(|i| !(lost..lost + 3).contains(i));
            let times: Vec<f64> = times.map(|i| first + step * f64::from(i)).collect();
            let mut live = LiveSamples::default();
            for time in &times {
                live.push_scalar("load", *time, time - first);
            }
            let of = format!("{step} s from {first} s, lost {lost}");
            let middle = first + step * (f64::from(lost) + 1.0);
            let newest = live.scalar("load").iter();
            let newest: Vec<_> = newest
                .filter(|s| s.0 < middle + 5.0 * step)
                .copied()
                .collect();
            assert!(found(&newest, middle).is_some(), "live: {of}");
            let recording = Recording {
                times,
                ..live.recording(0.0)
            };
            let channel = recording.scalar("load", Sampling::default());
            let channel = channel.unwrap().unwrap();
            assert!(channel.at(middle).is_some(), "channel: {of}");
            let summary = RecordingSummary::new(&recording);
            assert_eq!(summary.stretches.len(), 1, "summary: {of}");
            let max_gap = summary.channels[0].max_gap;
            let reading = recording.reading(0, middle, max_gap);
            assert!(reading.is_some(), "reading: {of}");
        }
    }
}
