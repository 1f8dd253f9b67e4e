//! Making a pose the rest pose.

use super::constraints::check_rest;
use super::{AtRest, RigEdit, RigError, check_live, joints_of, set_joints};
use crate::document::Document;
use crate::math::Transform;
use crate::skeleton::{Channel, Clip, JointId, Pose, Property};
use std::sync::Arc;

/// The edit that makes the transforms of `pose` the rest pose. Meshes, weights and inverse bind matrices stay, and so does
/// every clip: keyframes are local transforms, and a property that a clip does not animate gets one keyframe of its old rest
/// value.
///
/// Fails for the rest pose itself, and where a constraint would do something else about the new rest pose.
pub fn pose_as_rest(document: &Document, pose: &Pose) -> Result<RigEdit, RigError> {
    let skeleton = document.skeleton.clone();
    let differs = |j: &JointId| {
        let local = pose.locals.get(j.get());
        local.is_some_and(|local| *local != skeleton.joint(*j).rest)
    };
    let changed_joints: Vec<JointId> = skeleton.live_joints().filter(differs).collect();
    if changed_joints.is_empty() {
        return Err(RigError::Unchanged(
            "the pose is already the rest pose".into(),
        ));
    }
    check_rest(document, pose, &changed_joints)?;
    let mut changed = document.clone();
    for clip in changed.clips.values_mut() {
        let mut missing = Vec::new();
        for &joint in &changed_joints {
            check_live(document, joint)?;
            let (was, now) = (skeleton.joint(joint).rest, pose.locals[joint.get()]);
            missing.extend(missing_keys(clip, joint, &was, &now));
        }
        if !missing.is_empty() {
            Arc::make_mut(clip).channels.extend(missing);
        }
    }
    let mut joints = joints_of(document);
    for &joint in &changed_joints {
        joints[joint.get()].rest = pose.locals[joint.get()];
    }
    set_joints(&mut changed, joints)?;
    let locals = &mut Arc::make_mut(&mut changed.pose).locals;
    for &joint in &changed_joints {
        locals[joint.get()] = pose.locals[joint.get()];
    }
    Ok(RigEdit::between(document, &changed).moving_at_rest(AtRest::All))
}

/// One keyframe with the old rest value for each property that the rest pose changes and the clip does not animate.
fn missing_keys(clip: &Clip, joint: JointId, was: &Transform, now: &Transform) -> Vec<Channel> {
    let start = clip.start_secs();
    let values: [(Property, bool, Vec<f64>); 3] = [
        (
            Property::Translation,
            was.translation != now.translation,
            was.translation.to_array().into(),
        ),
        (
            Property::Rotation,
            was.rotation != now.rotation,
            was.rotation.to_array().into(),
        ),
        (
            Property::Scale,
            was.stretch != now.stretch,
            was.scale().to_array().into(),
        ),
    ];
    let missing = values.into_iter().filter(|(property, is_changed, _)| {
        *is_changed && clip.channel_of(joint, *property).is_none()
    });
    missing
        .map(|(property, _, value)| Channel::of_key(joint, property, start, &value))
        .collect()
}
