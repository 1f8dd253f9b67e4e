//! Moving a joint.

use super::frames::{Keys, apply_frames, set_channel};
use super::local::inverse;
use super::reparent::{Sampled, sample_below};
use super::{AtRest, RigEdit, RigError, check_live, joints_of, set_joints};
use crate::document::Document;
use crate::skeleton::{Frame, JointId, Property};
use glam::DVec3;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How a move affects the clips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Intent {
    /// Clips rotate about the new position: their rotations stay.
    #[default]
    NewPivot,
    /// No motion changes: keyframes are added where the new position moves on an arc.
    KeepMotion,
    /// As [`Intent::NewPivot`], but the children keep their motions: hands stay on props.
    ChildrenKeepMotion,
}

/// What happens to the child joints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Children {
    /// They keep their positions.
    #[default]
    Stay,
    /// They move with the joint in the rest pose, together with all descendants.
    Follow,
}

/// The move of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Move {
    /// The joint.
    pub joint: JointId,
    /// The offset, in its own axes and units.
    pub by: DVec3,
    /// How the move affects the clips.
    pub intent: Intent,
    /// What happens to the child joints; they always stay where motion is kept.
    pub children: Children,
    /// The largest error of added keyframes, as a fraction of the model's diagonal.
    pub tolerance: f64,
}

/// The edit that moves a joint. Skinned meshes stay the same in the rest pose; with [`Children::Follow`] rigid meshes of
/// the joint and its descendants move with it.
///
/// Fails for a removed joint, an offset that is not finite, and where a child cannot keep its motion without shear.
pub fn move_joint(document: &Document, request: &Move) -> Result<RigEdit, RigError> {
    check_live(document, request.joint)?;
    if !request.by.is_finite() {
        return Err(RigError::Value("The bone's position is not finite.".into()));
    }
    let mut changed = document.clone();
    let frames = BTreeMap::from([(request.joint, Frame::from_translation(request.by))]);
    match (request.intent, request.children) {
        (Intent::KeepMotion, _) => {
            apply_frames(&mut changed, &frames, Keys::KeepMotion(request.tolerance))?;
        }
        (Intent::NewPivot, Children::Follow) => {
            follow(&mut changed, request)?;
            let edit = RigEdit::between(document, &changed);
            return Ok(edit.moving_at_rest(AtRest::RigidMeshes));
        }
        (Intent::NewPivot, Children::Stay) => {
            apply_frames(&mut changed, &frames, Keys::NewPivot)?;
        }
        (Intent::ChildrenKeepMotion, _) => {
            apply_frames(&mut changed, &frames, Keys::NewPivot)?;
            keep_children(document, &mut changed, request)?;
        }
    }
    Ok(RigEdit::between(document, &changed))
}

/// Changes only the joint's own rest transform; the descendants follow and are bound in their new positions.
fn follow(document: &mut Document, request: &Move) -> Result<(), RigError> {
    let skeleton = document.skeleton.clone();
    let joint = request.joint;
    let was = skeleton.joint(joint).rest;
    let offset = was.linear() * request.by;
    let before = document.rest_pose.world_matrices(&skeleton);
    let mut joints = joints_of(document);
    joints[joint.get()].rest.translation += offset;
    set_joints(document, joints)?;
    Arc::make_mut(&mut document.pose).locals[joint.get()].translation += offset;
    for clip in document.motions_mut() {
        if let Some(c) = clip.channel_of(joint, Property::Translation) {
            let shifted = clip.channels[c].shifted(offset);
            set_channel(Arc::make_mut(clip), shifted);
        }
    }
    let after = document.rest_pose.world_matrices(&document.skeleton);
    let is_below = |j: JointId| j == joint || skeleton.ancestors(j).any(|a| a == joint);
    for skin in document.skins.values_mut() {
        if !skin.joints.iter().any(|&j| is_below(j)) {
            continue;
        }
        let skin = Arc::make_mut(skin);
        for (&j, matrix) in skin.joints.iter().zip(&mut skin.inverse_bind) {
            if is_below(j) {
                // W'^-1 W is the joint's change of frame, so the skin matrix K stays.
                let inverse = inverse(after[j.get()]).ok_or_else(|| RigError::Singular {
                    joint: skeleton.label(j),
                    place: "in the rest pose".into(),
                })?;
                *matrix = inverse * before[j.get()] * *matrix;
            }
        }
    }
    Ok(())
}

/// Restores the children's motions: `L'_c(t) = W'_j(t)^-1 W_c(t)`.
fn keep_children(
    before: &Document,
    changed: &mut Document,
    request: &Move,
) -> Result<(), RigError> {
    for &child in before.skeleton.children(request.joint) {
        let sampled = Sampled {
            joint: child,
            parent: Some(request.joint),
            tolerance: request.tolerance,
            nearest: false,
        };
        let now = changed.clone();
        sample_below(before, &now, changed, &sampled)?;
    }
    Ok(())
}
