//! Live values on the morph targets of their names.

use super::bound::BoundSamples;
use super::pose::sample;
use super::samples::{LiveSamples, max_gap};
use crate::motion::by_name::MAX_WEIGHT;
use crate::motion::channel_kind::ChannelKind;
use crate::motion::fade::{Fade, Guard};
use crate::motion::morphs::MorphedJoint;
use crate::skeleton::Pose;
use std::collections::BTreeMap;

/// A channel, and the targets that it drives: slots of joints and places among their targets.
#[derive(Clone, Debug)]
struct Driven {
    targets: Vec<(usize, usize)>,
    guard: Guard<f64>,
}

/// The morph targets of a character under live motion.
#[derive(Clone, Debug, Default)]
pub struct LiveMorphs {
    joints: Vec<MorphedJoint>,
    /// By channel, all that were seen.
    channels: BTreeMap<String, Driven>,
    /// By morph target, those to which channels are bound.
    bound: BTreeMap<String, Driven>,
}

impl LiveMorphs {
    /// For the morph targets of a character.
    pub fn new(joints: &[MorphedJoint]) -> Self {
        Self {
            joints: joints.to_vec(),
            channels: BTreeMap::new(),
            bound: BTreeMap::new(),
        }
    }

    /// For the morph targets of a character. Where they are those of before, what is held or fades does so further.
    #[must_use]
    pub fn going_on(self, joints: &[MorphedJoint]) -> Self {
        if self.joints == joints {
            self
        } else {
            Self::new(joints)
        }
    }

    /// Whether any channel moves a target.
    pub fn moves(&self) -> bool {
        let mut channels = self.channels.values().chain(self.bound.values());
        channels.any(|driven| !driven.targets.is_empty())
    }

    /// Writes the weights at a time of the sender, seconds, over a rest pose. Samples farther apart than four steps of their
    /// channel are not interpolated. Returns whether any channel moves a target.
    pub fn apply(
        &mut self,
        samples: &LiveSamples,
        bound: &BoundSamples,
        time: f64,
        pose: &mut Pose,
    ) -> bool {
        if self.joints.is_empty() {
            return false;
        }
        let joints = &self.joints;
        let driven_by = |name: &str| {
            let targets = joints.iter().flat_map(|of| {
                let driven = of.driven_by(name);
                driven.map(|target| (of.joint.get(), target))
            });
            Driven {
                targets: targets.collect(),
                guard: Guard::new(Fade::default()),
            }
        };
        let is_bound =
            |name: &str| bound.has(name, ChannelKind::Scalar) || bound.weighs(joints, name);
        self.channels.retain(|name, _| !is_bound(name));
        for name in samples.scalar_names() {
            if !(self.channels.contains_key(name) || is_bound(name)) {
                self.channels.insert(name.to_owned(), driven_by(name));
            }
        }
        for name in bound.weights.keys() {
            if !self.bound.contains_key(name) {
                self.bound.insert(name.clone(), driven_by(name));
            }
        }
        self.bound
            .retain(|name, _| bound.weights.contains_key(name));
        for (name, driven) in &mut self.channels {
            driven.show(samples.scalar(name), time, pose);
        }
        for (name, driven) in &mut self.bound {
            let weights = bound.weights.get(name).map_or(&[][..], Vec::as_slice);
            driven.show(weights, time, pose);
        }
        self.moves()
    }
}

impl Driven {
    /// Sets the weights of the targets to the value of samples at a time.
    fn show(&mut self, of: &[(f64, f64)], time: f64, pose: &mut Pose) {
        if self.targets.is_empty() {
            return;
        }
        let value = sample(of, time, max_gap(of));
        let shown = self.guard.next(time, value).value;
        let shown = shown.clamp(-MAX_WEIGHT, MAX_WEIGHT) as f32;
        for (slot, target) in &self.targets {
            let weights = pose.morph_weights.get_mut(*slot);
            if let Some(weight) = weights.and_then(|weights| weights.get_mut(*target)) {
                *weight = shown;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::{Joint, JointId, Skeleton};

    #[test]
    fn a_blend_value_moves_its_target_and_fades() {
        let joints = [MorphedJoint {
            joint: JointId(0),
            names: vec!["Joy".into(), "other".into()],
            rest: vec![0.0, 0.25],
        }];
        let mut live = LiveMorphs::new(&joints);
        let mut samples = LiveSamples::default();
        for i in 0..20 {
            samples.push_scalar("blend:happy", 0.05 * f64::from(i), 0.05 * f64::from(i));
            samples.push_scalar("emg", 0.05 * f64::from(i), 9.0);
        }
        let mut at = |time: f64| {
            let skeleton = Skeleton::new(vec![Joint::default()]).unwrap();
            let mut pose = Pose::rest(&skeleton);
            pose.morph_weights[0].clone_from(&joints[0].rest);
            assert!(live.apply(&samples, &BoundSamples::default(), time, &mut pose));
            pose.morph_weights[0].clone()
        };
        let found = at(0.425);
        assert!(
            (found[0] - 0.425).abs() < 1e-6 && found[1] == 0.25,
            "{found:?}"
        );
        assert!((at(0.95)[0] - 0.95).abs() < 1e-6);
        assert!((at(1.1)[0] - 0.95).abs() < 1e-6, "held");
        assert_eq!(at(3.0)[0], 0.0, "faded");
        assert!(!LiveMorphs::new(&[]).moves());
    }

    #[test]
    fn a_weight_that_is_held_is_held_further_by_those_made_anew_for_the_same_targets() {
        let joints = [MorphedJoint {
            joint: JointId(0),
            names: vec!["Joy".into()],
            rest: vec![0.0],
        }];
        let mut samples = LiveSamples::default();
        for i in 0..20 {
            samples.push_scalar("Joy", 0.05 * f64::from(i), 0.8);
        }
        let skeleton = Skeleton::new(vec![Joint::default()]).unwrap();
        let at = |live: &mut LiveMorphs, time: f64| {
            let mut pose = Pose::rest(&skeleton);
            pose.morph_weights[0] = vec![0.0];
            live.apply(&samples, &BoundSamples::default(), time, &mut pose);
            pose.morph_weights[0][0]
        };
        let mut live = LiveMorphs::new(&joints);
        assert_eq!(at(&mut live, 0.9), 0.8);
        // Nothing has come for a moment.
        assert_eq!(at(&mut live, 1.1), 0.8);
        let mut same = live.clone().going_on(&joints);
        assert_eq!(at(&mut same, 1.2), 0.8);
        let mut anew = LiveMorphs::new(&joints);
        assert_eq!(at(&mut anew, 1.2), 0.0);
        // Other targets begin at rest.
        let other = [MorphedJoint {
            names: vec!["Joy".into(), "other".into()],
            rest: vec![0.0, 0.0],
            ..joints[0].clone()
        }];
        assert_eq!(live.going_on(&other).joints, other);
    }
}
