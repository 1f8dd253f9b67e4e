//! Changes of the rig: joints are added, moved, rotated, reparented and removed without losing mesh, weights or clips.
//!
//! Data flow: an operation ([`extrude`], [`draw`], [`insert`], [`move_joint`], [`orient`], [`reparent`], [`remove`], [`rename`],
//! [`freeze_scale`], [`symmetrize`], [`pose_as_rest`], [`apply_pose`], [`pin`()], [`add_skeleton`], [`with_skin`], [`unbind`], [`bind_kept`],
//! and the helper joints of [`twist`] and [`half`]) changes a scratch copy of the document; [`RigEdit::between`] collects the differences; [`crate::document::Edit::Rig`] applies them as one
//! step. [`RigReport`] measures the effect on the poses.
//!
//! Invariant: joint frames change by `W' = W C`, inverse bind matrices by `C^-1`, never by inverting `W`: skin matrices
//! stay the same even where the rest pose is not the bind pose.
//! Invariant: a `JointId` and a slot of a skin always stand for the same joint; new ones are appended.
//! Invariant: keyframes are local transforms, not offsets from the rest pose: changing a rest transform leaves clips
//! alone.

mod add_constraint;
mod apply_pose;
mod bake_points;
mod bind_skin;
mod clusters;
mod constraints;
mod content;
mod correctives;
mod draw;
mod drivers;
mod edit;
mod error;
mod extrude;
mod frames;
mod freeze_scale;
mod half;
mod insert;
mod larger;
mod limits;
mod local;
mod logical_parents;
pub mod measure;
mod mirror_constraints;
mod move_joint;
mod nodes;
mod orient;
mod pin;
mod pose_as_rest;
mod remove;
mod rename;
mod reparent;
mod restore;
mod rotation;
mod rows;
mod sampling;
mod sides;
mod skeleton;
mod spread;
mod symmetrize;
mod twist;
mod unbind;

pub use add_constraint::add_constraint;
pub use apply_pose::apply_pose;
pub use bind_skin::{complete_weights, joints_to_bind, meshes_without_skin, with_skin};
pub use draw::{Draw, Sides, draw};
use edit::AtRest;
pub use edit::RigEdit;
pub use error::RigError;
pub use extrude::{Extrude, extrude};
pub use frames::change_frames;
pub use freeze_scale::freeze_scale;
pub use half::half;
pub use insert::{Insert, insert};
pub use limits::set_limits;
pub use logical_parents::{flat_joints, infer_logical_parents, set_logical_parent};
pub use measure::{RigReport, report};
pub use move_joint::{Children, Intent, Move, move_joint};
pub use orient::{
    Axis, Orient, SecondAxis, main_child, main_child_in_hierarchy, orient, rotation_of_axes,
};
pub use pin::{LetGo, PIN_EASE_SECS, Pin, Pinned, pin};
pub use pose_as_rest::pose_as_rest;
pub use remove::{MEASURED_CLIPS, RemovalCosts, WeightRecipient, remove, remove_measured};
pub use rename::rename;
pub use reparent::{Keep, Reparent, reparent};
pub use restore::RestoredRig;
pub(in crate::document) use sides::partners;
pub use sides::{Asymmetry, asymmetries};
pub use skeleton::{NewBone, add_skeleton};
pub use spread::spread_at_rest;
pub use symmetrize::{Symmetrized, symmetrize};
pub use twist::{Twist, TwistOf, twist};
pub use unbind::{Unbound, bind_kept, unbind};

/// The default error of a clip where keyframes have to be added, as a fraction of the model's diagonal.
pub const KEY_TOLERANCE: f64 = 1e-4;

use super::Document;
use crate::skeleton::{Joint, JointId, JointRule, Pose, Skeleton, SkeletonError};
use std::sync::Arc;

/// Replaces the joints of a scratch copy. Precondition: the parents are a forest. The rest pose follows; new joints are
/// in their rest transforms in the artist's pose.
fn set_joints(document: &mut Document, joints: Vec<Joint>) -> Result<(), SkeletonError> {
    let skeleton = Skeleton::new(joints)?;
    let at_rest = Pose::rest(&skeleton);
    for pose in [&mut document.pose, &mut document.rest_pose] {
        let pose = Arc::make_mut(pose);
        pose.morph_weights.resize(skeleton.len(), Vec::new());
        let known = pose.locals.len();
        pose.locals.extend_from_slice(&at_rest.locals[known..]);
    }
    Arc::make_mut(&mut document.rest_pose).locals = at_rest.locals;
    document.skeleton = Arc::new(skeleton);
    document.order_constraints();
    Ok(())
}

/// Resets the inflation and logical parents that a change of the hierarchy made invalid ([`JointRule::check`]).
///
/// [`JointRule::check`]: crate::skeleton::JointRule::check
fn drop_invalid_parents(document: &mut Document) -> Result<(), SkeletonError> {
    loop {
        let skeleton = document.skeleton.clone();
        let is_invalid = |j: &JointId| {
            let rule = skeleton.joint(*j).rule;
            let names = rule.inflation_parent.is_some() || rule.logical_parent.is_some();
            names && rule.check(*j, &skeleton).is_err()
        };
        let mut live = skeleton.live_joints();
        // Without one of a cycle the others are valid.
        let Some(joint) = live.find(is_invalid) else {
            return Ok(());
        };
        let mut joints = joints_of(document);
        let rule = &mut joints[joint.get()].rule;
        let without = JointRule {
            logical_parent: None,
            ..*rule
        };
        if rule.logical_parent.is_none() || without.check(joint, &skeleton).is_err() {
            rule.inflation_parent = None;
        } else {
            *rule = without;
        }
        set_joints(document, joints)?;
    }
}

/// A copy of the joints, to change.
fn joints_of(document: &Document) -> Vec<Joint> {
    document.skeleton.joints().to_vec()
}

fn check_live(document: &Document, joint: JointId) -> Result<(), RigError> {
    if document.skeleton.is_live(joint) {
        Ok(())
    } else {
        Err(RigError::NoJoint(joint.0))
    }
}

/// Adds `joint` to the skins that list `other`. It gets the skin matrix of `other` where `into_new` is the transform
/// from that joint's space to the new joint's.
fn add_to_skins(
    document: &mut Document,
    joint: JointId,
    other: JointId,
    into_new: glam::DAffine3,
) -> Result<(), RigError> {
    for skin in document.skins.values_mut() {
        let Some(slot) = skin.joints.iter().position(|&j| j == other) else {
            continue;
        };
        if skin.joints.len() > usize::from(u16::MAX) {
            return Err(RigError::SkinFull(skin.name.clone()));
        }
        let skin = Arc::make_mut(skin);
        skin.joints.push(joint);
        skin.inverse_bind.push(into_new * skin.inverse_bind[slot]);
    }
    Ok(())
}

/// A name that continues `name`: its stem with the next free number, and its side suffix.
fn next_name(skeleton: &Skeleton, name: &str) -> String {
    let is_taken = |wanted: &str| skeleton.joint_named(wanted).is_some();
    let (stem, side) = stem_and_side(name);
    let digits = stem.chars().rev().take_while(char::is_ascii_digit).count();
    let (bare, number) = stem.split_at(stem.len() - digits);
    // More digits than a number has are a part of the name.
    let counted = number.parse::<u32>().ok().map(u64::from);
    let (bare, separator, width, first) = match counted {
        Some(number) => (bare, "", digits.max(2), number + 1),
        None => (stem, "_", 2, 1),
    };
    (0..=skeleton.len() as u64)
        .map(|n| format!("{bare}{separator}{:0width$}{side}", first + n))
        .find(|wanted| !is_taken(wanted))
        .unwrap_or_default()
}

/// A name and its side suffix: "arm.l" -> "arm" + ".l".
fn stem_and_side(name: &str) -> (&str, &str) {
    let sided = name.len().checked_sub(2).and_then(|at| {
        let (stem, side) = name.split_at_checked(at)?;
        let mut chars = side.chars();
        let opens = matches!(chars.next(), Some('.' | '_' | '-' | ' '));
        (opens && matches!(chars.next(), Some('l' | 'L' | 'r' | 'R'))).then_some((stem, side))
    });
    sided.unwrap_or((name, ""))
}

/// The name of a helper joint of the joint `name`: its stem, the word and its side suffix; a number where that is taken.
fn helper_name(skeleton: &Skeleton, name: &str, word: &str) -> String {
    let (stem, side) = stem_and_side(name);
    let wanted = format!("{stem}_{word}{side}");
    if skeleton.joint_named(&wanted).is_some() {
        next_name(skeleton, &wanted)
    } else {
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;

    #[test]
    fn a_helper_is_named_after_its_bone() {
        let joint = |name: &str| Joint::new(name, None, Transform::IDENTITY);
        let skeleton = Skeleton::new(vec![joint("arm.l"), joint("arm_half.l")]).unwrap();
        assert_eq!(
            helper_name(&skeleton, "arm.l", "twist_01"),
            "arm_twist_01.l"
        );
        assert_eq!(helper_name(&skeleton, "LeftArm", "half"), "LeftArm_half");
        assert_eq!(helper_name(&skeleton, "arm.l", "half"), "arm_half_01.l");
    }

    #[test]
    fn a_name_gets_the_next_free_number_and_keeps_its_side() {
        let next = |names: &[&str], name: &str| {
            let joint = |name: &&str| Joint::new(*name, None, Transform::IDENTITY);
            let skeleton = Skeleton::new(names.iter().map(joint).collect()).unwrap();
            next_name(&skeleton, name)
        };
        assert_eq!(next(&[], "arm"), "arm_01");
        assert_eq!(next(&["arm_01"], "arm"), "arm_02");
        assert_eq!(next(&["arm.l"], "arm.l"), "arm_01.l");
        assert_eq!(next(&["spine9", "spine10"], "spine9"), "spine11");
        assert_eq!(next(&[], "bone.007_R"), "bone.008_R");
        assert_eq!(next(&[], ""), "_01");
        assert_eq!(next(&[], "é.l"), "é_01.l");
        // More digits than a number has.
        assert_eq!(next(&[], "rig4294967295"), "rig4294967296");
        let long = "rig99999999999999999999999999";
        assert_eq!(next(&[], long), format!("{long}_01"));
    }
}
