//! Keyframes of a helper joint whose rotation follows another joint's.

use super::frames::set_channel;
use super::sampling::Motion;
use super::{KEY_TOLERANCE, measure};
use crate::document::Document;
use crate::document::pose_library::MotionId;
use crate::math::Transform;
use crate::motion::thin::{angle_between, thin};
use crate::skeleton::resample::{Resampled, Resampling};
use crate::skeleton::{Channel, Clip, JointId, Property};
use glam::DQuat;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The largest error of a baked rotation, degrees.
const LARGEST_ANGLE: f64 = 0.1;

/// Gives `joint` the rotation that `rule` makes of the local rotation of `source`: in the artist's pose, and as keyframes
/// in every clip, also where it is constant, because a player would hold the value of the clip before.
pub(super) fn bake(
    document: &mut Document,
    joint: JointId,
    source: JointId,
    rule: impl Fn(DQuat) -> DQuat,
) {
    let before = document.clone();
    let follows = |local: &Transform| Transform {
        rotation: rule(local.rotation),
        ..Transform::IDENTITY
    };
    let posed = follows(&before.pose.locals[source.get()]).rotation;
    Arc::make_mut(&mut document.pose).locals[joint.get()].rotation = posed;
    let angle = largest_angle(document, joint);
    // |R1 - R2| = 2 sqrt 2 sin(angle / 2) in the Frobenius norm, at a reach of 1.
    let tolerance = Resampling {
        length: 2.0 * std::f64::consts::SQRT_2 * (angle / 2.0).sin(),
        reach: 1.0,
    };
    // A pose without the source leaves the joint as it is.
    let holds_source = |clip: &Clip| clip.channel_of(source, Property::Rotation).is_some();
    let clips = document.clips.keys().map(|&id| MotionId::Clip(id));
    let poses = document.poses.iter();
    let poses = poses.filter(|(_, pose)| holds_source(pose));
    let poses = poses.map(|(&id, _)| MotionId::Pose(id));
    let ids: Vec<MotionId> = clips.chain(poses).collect();
    for id in ids {
        let Some(clip) = before.motion(id) else {
            continue;
        };
        let mut motion = Motion::new(&before, clip, &BTreeSet::from([source]));
        let times = motion.times();
        let channel = if times.is_empty() {
            let rest = follows(&before.rest_pose.locals[source.get()]);
            let value = rest.rotation.to_array();
            Channel::of_key(joint, Property::Rotation, clip.start_secs(), &value)
        } else {
            let keyed = Resampled::new(&times, tolerance, |time| {
                follows(&motion.at(time).locals[source.get()])
            });
            thinned(&keyed, angle).channel(joint, Property::Rotation)
        };
        let mut followed = Clip::clone(clip);
        set_channel(&mut followed, channel);
        document.set_motion(id, Arc::new(followed));
    }
}

/// The largest error of its keyframes, radians: by its own size, and by what it does to the points that it moves.
fn largest_angle(document: &Document, joint: JointId) -> f64 {
    let reach = measure::reach(document, joint);
    let by_points = KEY_TOLERANCE * measure::diagonal(document) / reach;
    let most = LARGEST_ANGLE.to_radians();
    if by_points.is_finite() && by_points > 0.0 {
        most.min(by_points)
    } else {
        most
    }
}

/// As few of the keyframes as stay within an angle of all.
fn thinned(keyed: &Resampled, angle: f64) -> Resampled {
    if keyed.steps() {
        return keyed.clone();
    }
    let times: Vec<f64> = keyed.times().iter().map(|&t| f64::from(t)).collect();
    let rotations: Vec<DQuat> = keyed.locals().iter().map(|l| l.rotation).collect();
    keyed.with_keys(&thin(&times, &rotations, angle, angle_between))
}
