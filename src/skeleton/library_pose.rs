//! Poses of a library: clips of one keyframe for each property of the joints that they hold.
//!
//! As clips they follow every change of the rig by the rules of clips. A joint without a channel is not part of the pose,
//! unlike in a clip that is played, where it is at rest.

use super::mirror::{Mirror, PosedJoint};
use super::{Channel, Clip, Interpolation, JointId, Pose, Property, RigidInterpolation};
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use glam::{DMat3, DVec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A pose of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoseId(pub u32);

/// The poses of a library, in the order of their ids.
pub type PoseLibrary = BTreeMap<PoseId, Arc<Clip>>;

/// The properties of a joint that a pose holds, in the order of its channels.
const PROPERTIES: [Property; 4] = [
    Property::Translation,
    Property::Rotation,
    Property::Scale,
    Property::MorphWeights,
];

/// The amounts that a pose can be applied with: up to one and a half times.
pub const MAX_AMOUNT: f64 = 1.5;

/// A mirrored pose, and the joints of the pose that have no counterpart.
#[derive(Clone, Debug, PartialEq)]
pub struct FlippedPose {
    /// The pose of the counterparts.
    pub pose: Clip,
    /// The joints without a counterpart.
    pub unpaired: Vec<JointId>,
}

impl Clip {
    /// A pose of the library: the transforms and morph weights of some joints of `pose`, at 0 seconds. Of a sheared joint,
    /// rotation and translation.
    pub fn of_pose(name: &str, pose: &Pose, joints: impl IntoIterator<Item = JointId>) -> Self {
        let channels = joints.into_iter().flat_map(|joint| {
            let values = PROPERTIES
                .into_iter()
                .filter_map(move |p| Some((p, value_of(pose, joint, p)?)));
            values.map(move |(property, value)| Channel::of_key(joint, property, 0.0, &value))
        });
        Self {
            channels: channels.collect(),
            ..Self::named(name)
        }
    }

    /// The joints that a pose of the library holds.
    pub fn posed_joints(&self) -> BTreeSet<JointId> {
        self.channels.iter().map(|c| c.joint).collect()
    }

    /// `pose` with what this pose of the library holds of the joints that `chosen` accepts. What `pose` has already, as far as
    /// the 32-bit numbers tell, keeps its bits.
    #[must_use]
    pub fn posed_over(&self, pose: &Pose, chosen: impl Fn(JointId) -> bool) -> Pose {
        let is_new = |c: &&Channel| {
            let there = value_of(pose, c.joint, c.property);
            let there = there.map(|value| Channel::of_key(c.joint, c.property, 0.0, &value));
            chosen(c.joint) && there.is_none_or(|there| there.values != c.values)
        };
        let new = Self {
            channels: self.channels.iter().filter(is_new).cloned().collect(),
            ..Self::default()
        };
        let mut posed = pose.clone();
        new.apply(0.0, &mut posed);
        posed
    }

    /// The pose of the counterparts on the other side that mirrors this one, relative to the rest pose. Morph weights stay
    /// with joints of the middle.
    #[must_use]
    pub fn flipped(&self, rest: &Pose, mirror: &Mirror) -> FlippedPose {
        let held = self.posed_over(rest, |_| true);
        let mut posed = rest.clone();
        let mut flipped = Self::named(&*self.name);
        let mut unpaired = Vec::new();
        for joint in self.posed_joints() {
            let Some(partner) = mirror.partner(joint) else {
                unpaired.push(joint);
                continue;
            };
            let of = PosedJoint {
                local: held.locals[joint.get()],
                rest: rest.locals[joint.get()],
                spaces: mirror.rest_spaces(joint),
            };
            let (there, spaces) = (&rest.locals[partner.get()], mirror.rest_spaces(partner));
            posed.locals[partner.get()] = of.carried_to(there, spaces, mirror.reflection());
            if partner == joint {
                posed.morph_weights[joint.get()].clone_from(&held.morph_weights[joint.get()]);
            }
            let properties = PROPERTIES.into_iter().filter(|&p| {
                let stays = p != Property::MorphWeights || partner == joint;
                stays && self.channel_of(joint, p).is_some()
            });
            flipped.channels.extend(properties.filter_map(|property| {
                let value = value_of(&posed, partner, property)?;
                Some(Channel::of_key(partner, property, 0.0, &value))
            }));
        }
        FlippedPose {
            pose: flipped,
            unpaired,
        }
    }
}

impl Pose {
    /// This pose with the joints that `chosen` accepts taken towards `to` by `amount`: as [`Pose::blended`] up to 1, and beyond it
    /// on the same path, rotations on the shorter arc of [`RigidInterpolation::rigid`], translations and morph weights along the
    /// same line, scales by the same ratio, so that none changes its sign.
    ///
    /// 0 and 1 are exact. Source: Shoemake 1985 for the arc, of which slerp is defined for every parameter.
    #[must_use]
    pub fn taken_towards(
        &self,
        to: &Self,
        amount: f64,
        interpolation: RigidInterpolation,
        chosen: impl Fn(JointId) -> bool,
    ) -> Self {
        let mut pose = self.blended(to, amount, interpolation, &chosen);
        if amount.is_nan() || amount <= 1.0 {
            return pose;
        }
        for (j, local) in pose.locals.iter_mut().enumerate() {
            let (from, to) = (&self.locals[j], &to.locals[j]);
            if chosen(JointId(j as u32)) && from != to {
                *local = beyond(from, to, amount, interpolation);
            }
        }
        for (j, weights) in pose.morph_weights.iter_mut().enumerate() {
            if chosen(JointId(j as u32)) {
                let ends = self.morph_weights[j].iter().zip(&to.morph_weights[j]);
                for (weight, (&from, &to)) in weights.iter_mut().zip(ends) {
                    let (from, to) = (f64::from(from), f64::from(to));
                    *weight = (from + (to - from) * amount) as f32;
                }
            }
        }
        pose
    }

    /// This pose with the difference of `to` from `rest` added by `amount`, for the joints that `chosen` accepts: rotations
    /// q (r^-1 p)^amount, translations and morph weights q + amount (p - r), scales q (p / r)^amount.
    #[must_use]
    pub fn with_added(
        &self,
        to: &Self,
        rest: &Self,
        amount: f64,
        chosen: impl Fn(JointId) -> bool,
    ) -> Self {
        let mut pose = self.clone();
        for (j, local) in pose.locals.iter_mut().enumerate() {
            let (rest, to) = (&rest.locals[j], &to.locals[j]);
            if !chosen(JointId(j as u32)) || rest == to {
                continue;
            }
            let none = Transform::IDENTITY;
            let turned = Transform {
                rotation: normalize_or_identity(rest.rotation.conjugate() * to.rotation),
                ..none
            };
            let turn = if amount > 1.0 {
                beyond(&none, &turned, amount, RigidInterpolation::Components)
            } else {
                RigidInterpolation::Components.local(&none, &turned, amount)
            };
            local.rotation = normalize_or_identity(local.rotation * turn.rotation);
            local.translation += (to.translation - rest.translation) * amount;
            if to.stretch != rest.stretch && !rest.has_shear() && !to.has_shear() {
                let ratio = ratio_to(rest.scale(), to.scale(), amount);
                local.stretch *= DMat3::from_diagonal(ratio);
            }
        }
        for (j, weights) in pose.morph_weights.iter_mut().enumerate() {
            if chosen(JointId(j as u32)) {
                let ends = rest.morph_weights[j].iter().zip(&to.morph_weights[j]);
                for (weight, (&rest, &to)) in weights.iter_mut().zip(ends) {
                    let added = (f64::from(to) - f64::from(rest)) * amount;
                    *weight = (f64::from(*weight) + added) as f32;
                }
            }
        }
        pose
    }
}

/// A clip of poses: the rest pose at 0 seconds, then each pose a second after the one before it, held until the next. It has a
/// keyframe for each pose and each property that one of them moves off rest; joints that a pose does not hold are at rest in it.
/// `None` where nothing moves.
pub fn clip_of_poses(poses: &[&Clip], rest: &Pose) -> Option<Clip> {
    let shown: Vec<Pose> = poses.iter().map(|p| p.posed_over(rest, |_| true)).collect();
    let joints: BTreeSet<JointId> = poses.iter().flat_map(|pose| pose.posed_joints()).collect();
    let mut clip = Clip::default();
    let times: Arc<[f32]> = (0..=poses.len()).map(|k| k as f32).collect();
    for joint in joints {
        for property in PROPERTIES {
            let moves = shown.iter().any(|pose| {
                let [a, b] = [rest, pose].map(|pose| value_of(pose, joint, property));
                a != b
            });
            if !moves {
                continue;
            }
            let all = std::iter::once(rest).chain(&shown);
            let values: Option<Vec<Vec<f64>>> = all.map(|p| value_of(p, joint, property)).collect();
            let Some(values) = values else {
                continue;
            };
            let first = Channel::of_key(joint, property, 0.0, &values[0]);
            let keyed = values.iter().zip(times.iter()).skip(1);
            // One keyframe after another, which keeps rotations in one hemisphere.
            let channel = keyed.fold(first, |channel, (value, &time)| {
                channel.with_key(time, value, 0.0)
            });
            clip.channels.push(Channel {
                interpolation: Interpolation::Step,
                times: times.clone(),
                ..channel
            });
        }
    }
    let names = poses.iter().map(|pose| pose.name.clone());
    clip.pose_names = times.iter().skip(1).copied().zip(names).collect();
    (!clip.channels.is_empty()).then_some(clip)
}

/// What a pose of the library holds of a property; `None` for the scale of a sheared joint, which no keyframe can have, and for
/// a joint without morph targets.
fn value_of(pose: &Pose, joint: JointId, property: Property) -> Option<Vec<f64>> {
    let local = pose.locals.get(joint.get())?;
    match property {
        Property::Translation => Some(local.translation.to_array().into()),
        Property::Rotation => Some(local.rotation.to_array().into()),
        Property::Scale => (!local.has_shear()).then(|| local.scale().to_array().into()),
        Property::MorphWeights => {
            let weights = &pose.morph_weights[joint.get()];
            let weights = weights.iter().map(|&w| f64::from(w));
            (weights.len() > 0).then(|| weights.collect())
        }
        Property::Influence(_) => None,
    }
}

/// The local transform past `to` on the way from `from`; `amount` > 1.
fn beyond(
    from: &Transform,
    to: &Transform,
    amount: f64,
    interpolation: RigidInterpolation,
) -> Transform {
    let (rotation, translation) = interpolation.rigid_beyond(
        (from.rotation, from.translation),
        (to.rotation, to.translation),
        amount,
    );
    let is_scaled = from.stretch != to.stretch && !from.has_shear() && !to.has_shear();
    let stretch = if is_scaled {
        let ratio = ratio_to(from.scale(), to.scale(), amount - 1.0);
        to.stretch * DMat3::from_diagonal(ratio)
    } else {
        to.stretch
    };
    Transform {
        translation,
        rotation,
        stretch,
    }
}

/// `(to / from)^amount` along each axis; 1 where one of them is 0 or their signs differ.
fn ratio_to(from: DVec3, to: DVec3, amount: f64) -> DVec3 {
    let along = |from: f64, to: f64| {
        if from * to > 0.0 {
            libm::pow(to / from, amount)
        } else {
            1.0
        }
    };
    DVec3::new(
        along(from.x, to.x),
        along(from.y, to.y),
        along(from.z, to.z),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    fn pose(locals: &[Transform]) -> Pose {
        Pose {
            locals: locals.to_vec(),
            morph_weights: vec![Vec::new(); locals.len()],
            influences: Vec::new(),
        }
    }

    fn all(_: JointId) -> bool {
        true
    }

    /// Rz(20 degrees) to Rz(100 degrees): 60 at a half, 140 at one and a half; the same with -q.
    #[test]
    fn amounts_follow_the_shorter_arc_and_go_on_beyond_it() {
        let turned = |degrees: f64| {
            Transform::from_rotation_translation(
                DQuat::from_rotation_z(degrees.to_radians()),
                DVec3::new(1.0, 0.0, 0.0),
            )
        };
        let from = pose(&[turned(20.0)]);
        for sign in [1.0, -1.0] {
            let mut there = turned(100.0);
            there.rotation *= sign;
            there.translation = DVec3::new(3.0, 0.0, 0.0);
            let to = pose(&[there]);
            for interpolation in RigidInterpolation::ALL {
                let at = |amount| from.taken_towards(&to, amount, interpolation, all).locals[0];
                assert_eq!(at(0.0), from.locals[0]);
                assert_eq!(at(1.0), to.locals[0]);
                let beyond = at(1.5).rotation;
                let expected = turned(140.0).rotation;
                assert!(beyond.dot(expected).abs() > 1.0 - 1e-14, "{beyond}");
            }
            let at = |amount| {
                let lines = RigidInterpolation::Components;
                from.taken_towards(&to, amount, lines, all).locals[0]
            };
            let half = at(0.5);
            assert!(half.rotation.dot(turned(60.0).rotation).abs() > 1.0 - 1e-14);
            assert_eq!(half.translation.x, 2.0);
            assert_eq!(at(1.5).translation.x, 4.0);
        }
    }

    #[test]
    fn scales_go_on_by_their_ratio_and_weights_along_a_line() {
        let scaled = |s: DVec3| Transform {
            stretch: DMat3::from_diagonal(s),
            ..Transform::IDENTITY
        };
        let mut from = pose(&[scaled(DVec3::ONE)]);
        let mut to = pose(&[scaled(DVec3::new(0.25, 4.0, -1.0))]);
        from.morph_weights[0] = vec![0.25];
        to.morph_weights[0] = vec![0.75];
        let made = from.taken_towards(&to, 1.5, RigidInterpolation::Components, all);
        assert!((made.locals[0].scale() - DVec3::new(0.125, 8.0, -1.0)).length() < 1e-12);
        assert_eq!(made.morph_weights[0], [1.0]);
        let none = from.taken_towards(&to, 1.5, RigidInterpolation::Components, |_| false);
        assert_eq!(none, from);
    }

    /// q (r^-1 p)^f: a wave of 40 degrees added to an arm that is raised by 30.
    #[test]
    fn a_difference_from_rest_is_added_to_what_is_there() {
        let about = |axis: DVec3, degrees: f64| DQuat::from_axis_angle(axis, degrees.to_radians());
        let with = |rotation| pose(&[Transform::from_rotation_translation(rotation, DVec3::ZERO)]);
        let rest = with(about(DVec3::Y, 25.0));
        let now = with(about(DVec3::Y, 25.0) * about(DVec3::X, 30.0));
        let to = with(about(DVec3::Y, 25.0) * about(DVec3::X, 40.0));
        for (amount, degrees) in [(0.0, 30.0), (0.5, 50.0), (1.0, 70.0), (1.5, 90.0)] {
            let made = now.with_added(&to, &rest, amount, all).locals[0].rotation;
            let expected = about(DVec3::Y, 25.0) * about(DVec3::X, degrees);
            assert!(made.dot(expected).abs() > 1.0 - 1e-14, "{amount}");
        }
    }

    #[test]
    fn a_pose_holds_its_joints_and_leaves_the_others() {
        let at = |x: f64| Transform::from_rotation_translation(DQuat::IDENTITY, DVec3::X * x);
        let shown = pose(&[at(0.1), at(0.2), at(0.3)]);
        let held = Clip::of_pose("Fist", &shown, [JointId(0), JointId(2)]);
        assert_eq!(held.posed_joints(), [JointId(0), JointId(2)].into());
        // 0.1 is no 32-bit number: what is there keeps its bits.
        assert_eq!(held.posed_over(&shown, all), shown);
        let rest = pose(&[at(0.0); 3]);
        let posed = held.posed_over(&rest, |joint| joint == JointId(2));
        assert_eq!(posed.locals[0], rest.locals[0]);
        assert_eq!(posed.locals[2].translation.x, f64::from(0.3f32));
    }
}
