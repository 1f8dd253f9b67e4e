//! The calibration of a sender: the axes of its bones in a T-pose, and the origin of its body's motion.

use super::samples::LiveSamples;
use crate::math::transform::normalize_or_identity;
use crate::motion::signal::Signal;
use crate::motion::vmc::{BONES, Body, ROOT};
use glam::{DQuat, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// The least number of samples of a bone for a calibration.
const MIN_SAMPLES: usize = 5;
/// The bone that carries the body.
const HIPS: &str = "Hips";

/// The rotations of a sender's bones while its body stands in a T-pose.
///
/// Senders may send the axes of their own model. With the world rotation C of a bone in the T-pose, `C_parent q C^-1` is its
/// local rotation over a T-pose whose bones have no rotation, as Unity's humanoid bones have it. Its place p in its parent becomes
/// `C_parent p`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// C of the bone above and of the bone itself, by name.
    turns: BTreeMap<String, [DQuat; 2]>,
    /// The bones that were sent, with all bones above them.
    sent: BTreeSet<String>,
    /// Where the body stands, and how long its bones are.
    pub(super) origin: Origin,
}

/// From where a body travels and stretches, in the axes of its sender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Origin {
    /// The position of the hips over their root, metres.
    pub hips: Option<DVec3>,
    /// The rotation of the root.
    pub root_rotation: Option<DQuat>,
    /// The place of the root, metres.
    pub root_place: Option<DVec3>,
    /// Where the other bones of the body are in their parents at rest, metres.
    pub bones: BTreeMap<String, DVec3>,
    /// The bones of which the sender said so itself.
    pub said: BTreeSet<String>,
    /// The sender's time from which positions tell where other bones are at rest; `None`: all.
    pub since: Option<f64>,
}

impl Origin {
    /// Forgets where bones are at rest, but for what the sender said. The first positions from `since` (seconds of the sender) on are the
    /// new rest.
    pub fn forget_bones(&mut self, since: f64) {
        let said = &self.said;
        self.bones.retain(|name, _| said.contains(name));
        self.since = Some(since);
    }

    /// What is not known yet is where the newest samples have it; of bones see [`Origin::add_bones`].
    #[must_use]
    pub fn or_newest(self, samples: &LiveSamples) -> Self {
        Self {
            hips: self.hips.or_else(|| samples.newest_position(HIPS)),
            root_rotation: self
                .root_rotation
                .or_else(|| Some(samples.rotation(ROOT).last()?.1)),
            root_place: self.root_place.or_else(|| samples.newest_position(ROOT)),
            bones: self.bones,
            said: self.said,
            since: self.since,
        }
    }

    /// A bone that is not known yet is at rest where the first of these samples that is not 0 has it. Returns whether there was one.
    pub fn add_bones(&mut self, samples: &LiveSamples) -> bool {
        let n_known = self.bones.len();
        let since = self.since.unwrap_or(f64::NEG_INFINITY);
        let mut looked = since;
        for name in BONES.iter().map(|bone| bone.name) {
            let of = samples.position(name);
            // What was looked at before said nothing of the bones that are left.
            let newest = of.last().map_or(f64::NEG_INFINITY, |sample| sample.0);
            looked = looked.max(newest);
            if name == HIPS || self.bones.contains_key(name) {
                continue;
            }
            let new = of.iter().rev().take_while(|sample| sample.0 >= since);
            // Senders have 0 until their model is loaded.
            let places = new.map(|sample| sample.1);
            let places = places.filter(|place| place.is_valid() && *place != DVec3::ZERO);
            self.bones
                .extend(places.last().map(|place| (name.to_owned(), place)));
        }
        self.since = Some(looked);
        self.bones.len() > n_known
    }

    /// Bones are at rest where their sender says, whatever was known; 0 says nothing. Returns whether that is another place than before.
    pub fn set_bones(&mut self, places: BTreeMap<String, DVec3>) -> bool {
        let mut is_new = false;
        for (name, place) in places {
            if name != HIPS && place != DVec3::ZERO {
                self.said.insert(name.clone());
                is_new |= self.bones.insert(name, place) != Some(place);
            }
        }
        is_new
    }

    /// What is not known is as in another one.
    #[must_use]
    fn or(mut self, other: Self) -> Self {
        let mut bones = other.bones;
        bones.append(&mut self.bones);
        let mut said = other.said;
        said.append(&mut self.said);
        Self {
            hips: self.hips.or(other.hips),
            root_rotation: self.root_rotation.or(other.root_rotation),
            root_place: self.root_place.or(other.root_place),
            bones,
            said,
            since: self.since.or(other.since),
        }
    }
}

impl Calibration {
    /// The medians of the samples since a time of the sender; `None` without a bone that has enough of them.
    pub fn of(samples: &LiveSamples, since: f64) -> Option<Self> {
        let body = Self::default().body(samples, &Origin::default())?;
        let recent = |name: &str| -> Vec<DQuat> {
            let samples = samples.rotation(name).iter();
            samples.filter(|s| s.0 >= since).map(|s| s.1).collect()
        };
        let locals: Vec<Option<DQuat>> = (0..body.bones.len())
            .map(|bone| median_rotation(&recent(body.name(bone))))
            .collect();
        if locals.iter().all(Option::is_none) {
            return None;
        }
        let local = |bone: usize| locals[bone].unwrap_or(DQuat::IDENTITY);
        let (world, _) = body.world(local, |_| None);
        let turns = (0..body.bones.len()).map(|bone| {
            let above = body.parents[bone].map_or(DQuat::IDENTITY, |p| world[p]);
            (body.name(bone).to_owned(), [above, world[bone]])
        });
        let is_sent = |bone: usize| {
            let mut at = Some(bone);
            while let Some(bone) = at {
                if locals[bone].is_none() {
                    return false;
                }
                at = body.parents[bone];
            }
            true
        };
        let sent = (0..body.bones.len()).filter(|bone| is_sent(*bone));
        let sent = sent.map(|bone| body.name(bone).to_owned()).collect();
        let bones = (0..body.bones.len()).map(|bone| body.name(bone));
        let bones = bones.filter(|name| *name != HIPS);
        let bones =
            bones.filter_map(|name| Some((name.to_owned(), median_place(samples, name, since)?)));
        let bones = bones.filter(|(_, place)| *place != DVec3::ZERO);
        Some(Self {
            turns: turns.collect(),
            sent,
            origin: Origin {
                hips: median_place(samples, HIPS, since),
                root_rotation: median_rotation(&recent(ROOT)),
                root_place: median_place(samples, ROOT, since),
                bones: bones.collect(),
                ..Origin::default()
            },
        })
    }

    /// The world rotation of a bone that was sent with all bones above it.
    pub(super) fn world(&self, name: &str) -> Option<DQuat> {
        if !self.sent.contains(name) {
            return None;
        }
        self.turns.get(name).map(|[_, own]| *own)
    }

    /// Whether it changes the values of a channel.
    pub fn is_of(&self, channel: &str) -> bool {
        self.turns.contains_key(channel)
    }

    /// The rotation of a bone in its parent, over a T-pose without rotations.
    pub fn turned(&self, name: &str, local: DQuat) -> DQuat {
        self.turns.get(name).map_or(local, |[above, own]| {
            normalize_or_identity(*above * local * own.conjugate())
        })
    }

    /// The place of a bone in its parent, in the axes of a parent without a rotation in the T-pose.
    pub fn placed(&self, name: &str, place: DVec3) -> DVec3 {
        let turns = self.turns.get(name);
        turns.map_or(place, |[above, _]| *above * place)
    }

    /// From where a body moves: what the calibration does not know is as in `origin`.
    pub(super) fn origin_or(&self, origin: Origin) -> Origin {
        self.origin.clone().or(origin)
    }

    /// Where the bones of a body are in their parents at rest, as [`Calibration::placed`]; not the hips.
    pub fn rest_places(&self, origin: &Origin) -> BTreeMap<String, DVec3> {
        let bones = self.origin_or(origin.clone()).bones.into_iter();
        let placed = bones.map(|(name, place)| {
            let place = self.placed(&name, place);
            (name, place)
        });
        placed.collect()
    }

    /// The humanoid body of the bones that a sender names, in a T-pose without rotations. What `origin` does not know is where the
    /// newest sample has the hips, and where the first has another bone.
    pub(super) fn body(&self, samples: &LiveSamples, origin: &Origin) -> Option<Body> {
        let is_local = |bone: &str| {
            samples
                .rotation_names()
                .any(|(name, world)| name == bone && !world)
        };
        let mut origin = origin.clone();
        origin.add_bones(samples);
        let rest = self.rest_places(&origin);
        let hips = origin.hips.or_else(|| samples.newest_position(HIPS));
        Body::new(is_local, |name| match name {
            HIPS => hips,
            _ => rest.get(name).copied(),
        })
    }

    /// Applies the calibration to all samples.
    pub fn apply(&self, samples: &mut LiveSamples) {
        for name in self.turns.keys() {
            samples.turn(name, |q| self.turned(name, q));
            samples.place(name, |p| self.placed(name, p));
        }
    }
}

/// The median by component of rotations on one half of the sphere; `None` for too few.
fn median_rotation(rotations: &[DQuat]) -> Option<DQuat> {
    let first = *rotations
        .first()
        .filter(|_| rotations.len() >= MIN_SAMPLES)?;
    let part = |k: usize| {
        let near = |q: &DQuat| if q.dot(first) < 0.0 { -*q } else { *q };
        let mut parts: Vec<f64> = rotations.iter().map(|q| near(q).to_array()[k]).collect();
        parts.sort_by(f64::total_cmp);
        parts[parts.len() / 2]
    };
    let median = DQuat::from_array([0, 1, 2, 3].map(part));
    median.is_valid().then(|| normalize_or_identity(median))
}

/// The median by component of the positions of a name since a time; `None` without one.
fn median_place(samples: &LiveSamples, name: &str, since: f64) -> Option<DVec3> {
    let places = samples.position(name).iter().filter(|s| s.0 >= since);
    let places: Vec<DVec3> = places.map(|s| s.1).collect();
    let axis = |k: usize| {
        let mut along: Vec<f64> = places.iter().map(|p| p[k]).collect();
        along.sort_by(f64::total_cmp);
        along.get(along.len() / 2).copied()
    };
    let ((x, y), z) = axis(0).zip(axis(1)).zip(axis(2))?;
    Some(DVec3::new(x, y, z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::vmc::take_of_body;

    #[test]
    fn a_calibrated_t_pose_has_no_rotations() {
        let mut samples = LiveSamples::default();
        let turns = [
            ("Hips", DQuat::from_rotation_y(0.7)),
            ("Spine", DQuat::from_rotation_x(-0.4)),
            ("LeftUpperArm", DQuat::from_rotation_z(1.1)),
        ];
        for i in 0..60 {
            for (name, q) in turns {
                // The same rotation with either sign, and one that is far off.
                let q = if i % 2 == 0 { q } else { -q };
                let q = if i == 30 {
                    DQuat::from_rotation_z(2.0)
                } else {
                    q
                };
                samples.push_rotation(name, f64::from(i) / 60.0, q);
            }
            samples.push_position("Hips", f64::from(i) / 60.0, DVec3::new(0.3, 0.9, 0.0));
        }
        let found = Calibration::of(&samples, 0.0).unwrap();
        assert_eq!(found.origin.hips, Some(DVec3::new(0.3, 0.9, 0.0)));
        assert_eq!(found.origin.root_place, None, "none was sent");
        for (name, q) in turns {
            let turned = found.turned(name, q);
            assert!(
                turned.angle_between(DQuat::IDENTITY) < 1e-6,
                "{name} {turned}"
            );
        }
        assert!(Calibration::of(&samples, 0.99).is_none(), "too few samples");
        found.apply(&mut samples);
        let (_, last) = *samples.rotation("Spine").last().unwrap();
        assert!(last.angle_between(DQuat::IDENTITY) < 1e-6);
        assert!(Calibration::of(&LiveSamples::default(), 0.0).is_none());
    }

    #[test]
    fn a_bone_is_not_at_rest_where_its_parent_is() {
        // The sender has no model yet at first.
        let (mut samples, mut origin) = (LiveSamples::default(), Origin::default());
        let shin = DVec3::new(0.0, -0.5, 0.0);
        samples.push_rotation("LeftUpperLeg", 0.0, DQuat::IDENTITY);
        samples.push_rotation("LeftLowerLeg", 0.0, DQuat::IDENTITY);
        samples.push_position("LeftLowerLeg", 0.0, DVec3::ZERO);
        assert!(!origin.add_bones(&samples));
        samples.push_rotation("LeftLowerLeg", 0.1, DQuat::IDENTITY);
        samples.push_position("LeftLowerLeg", 0.1, shin);
        assert!(origin.add_bones(&samples));
        let rest = Calibration::default().rest_places(&origin);
        assert_eq!(rest["LeftLowerLeg"], shin);
        // So it is in its recording, whose lines may not say it.
        let take = take_of_body(&samples.recording(0.0)).unwrap();
        let [thigh, knee] = [take.rest.places[0], take.rest.places[1]];
        assert!((knee - thigh).abs_diff_eq(shin, 1e-12), "{thigh} {knee}");
    }
}
