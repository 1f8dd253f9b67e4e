//! Rolling a bone: its axes rotate about it, and every motion stays.

use super::done::Done;
use crate::document::Document;
use crate::document::rig::{self, KEY_TOLERANCE, RigError, main_child};
use crate::skeleton::bone_segments::{from_logical_parent, tail_at};
use crate::skeleton::{Frame, JointId};
use glam::{DQuat, DVec3};
use std::collections::BTreeMap;

/// Rotates the axes of a joint about its bone by `angle`, radians: C = rotation about a, the bone in joint space
/// (METHODS-rigging 1.4, *Roll by angle*). The bone of a joint without children continues its parent's.
pub(super) fn run(document: &Document, joint: JointId, angle: f64) -> Result<Done, RigError> {
    let skeleton = document.skeleton();
    if !skeleton.is_live(joint) {
        return Err(RigError::NoJoint(joint.0));
    }
    if !angle.is_finite() {
        return Err(RigError::Value("The angle is not finite.".into()));
    }
    let along = along_bone(document, joint).ok_or_else(|| {
        RigError::Value(format!(
            "“{}” has no length, so it cannot roll about its bone.",
            skeleton.label(joint)
        ))
    })?;
    let frame = Frame::from_rotation(DQuat::from_axis_angle(along, angle));
    let frames = BTreeMap::from([(joint, frame)]);
    rig::change_frames(document, &frames, KEY_TOLERANCE).map(Done::of)
}

/// The direction of a joint's bone at rest in its own space, a unit vector.
fn along_bone(document: &Document, joint: JointId) -> Option<DVec3> {
    let skeleton = document.skeleton();
    let along = match main_child(document, joint) {
        Some(child) => tail_at(skeleton, joint, child),
        None if skeleton.joint(joint).rule.logical_parent.is_some() => {
            from_logical_parent(skeleton, joint)
        }
        None => {
            let rest = &skeleton.joint(joint).rest;
            rest.linear().inverse() * rest.translation
        }
    };
    along.try_normalize()
}
