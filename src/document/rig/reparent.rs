//! Changing the parent of a joint.

use super::correctives::follow_parent;
use super::frames::set_channel;
use super::local::{IntoLocal, Similarity, Splitter, signs};
use super::sampling::{Motion, chain, resampling, with_inputs};
use super::{AtRest, RigEdit, RigError, check_live, drop_invalid_parents, joints_of, set_joints};
use crate::document::Document;
use crate::document::pose_library::MotionId;
use crate::math::Transform;
use crate::skeleton::orientation::world_of;
use crate::skeleton::resample::{KeyTimes, Resampled};
use crate::skeleton::{Clip, JointId, Pose, Property};
use glam::DAffine3;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

/// A property that varies less than this from its rest value, as a fraction, needs no channel.
const CONSTANT_TOLERANCE: f64 = 1e-9;

/// What a change of parent keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    /// The joint's world transform, in the rest pose and in every clip.
    #[default]
    Motion,
    /// The keyframes in the parent's space: the joint moves with its new parent, and so does the mesh.
    LocalKeys,
}

/// The new parent of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reparent {
    /// The joint.
    pub joint: JointId,
    /// The new parent; `None`: the joint becomes a root.
    pub parent: Option<JointId>,
    /// What is kept.
    pub keep: Keep,
    /// Whether shear that no joint can represent is dropped instead of refused.
    pub nearest: bool,
    /// The largest error of added keyframes, as a fraction of the model's diagonal.
    pub tolerance: f64,
}

/// The edit that changes the parent of a joint.
///
/// Fails for a parent below the joint or in another scene, and where the motion would need shear.
pub fn reparent(document: &Document, request: &Reparent) -> Result<RigEdit, RigError> {
    let mut changed = document.clone();
    set_parent(&mut changed, request)?;
    let edit = RigEdit::between(document, &changed);
    Ok(match request.keep {
        Keep::Motion if !request.nearest => edit,
        _ => edit.moving_at_rest(AtRest::All),
    })
}

/// Changes the parent of a joint in a scratch copy.
pub(super) fn set_parent(document: &mut Document, request: &Reparent) -> Result<(), RigError> {
    let joint = request.joint;
    check_live(document, joint)?;
    let skeleton = document.skeleton.clone();
    if let Some(parent) = request.parent {
        check_live(document, parent)?;
        if parent == joint || skeleton.ancestors(parent).any(|a| a == joint) {
            return Err(RigError::Below {
                joint: skeleton.label(joint),
                parent: skeleton.label(parent),
            });
        }
    }
    check_scene(document, joint, request.parent)?;
    if skeleton.joint(joint).parent == request.parent {
        return Ok(());
    }
    let before = document.clone();
    let mut joints = joints_of(document);
    joints[joint.get()].parent = request.parent;
    set_joints(document, joints)?;
    if request.keep == Keep::Motion {
        let sampled = Sampled {
            joint,
            parent: request.parent,
            tolerance: request.tolerance,
            nearest: request.nearest,
        };
        let now = document.clone();
        sample_below(&before, &now, document, &sampled)?;
    } else {
        let was = skeleton.joint(joint).parent;
        follow_parent(document, joint, was, request.parent)?;
    }
    drop_invalid_parents(document)?;
    Ok(())
}

/// Refuses to move the only common root of a skin's joints into another tree: they would have no common root (glTF 2.0,
/// 3.7.3.2).
fn check_scene(
    document: &Document,
    joint: JointId,
    parent: Option<JointId>,
) -> Result<(), RigError> {
    let Some(source) = &document.source else {
        return Ok(());
    };
    let scenes = source
        .json
        .get("scenes")
        .and_then(serde_json::Value::as_array);
    if scenes.is_none_or(|scenes| scenes.len() < 2) {
        return Ok(());
    }
    let skeleton = &document.skeleton;
    let root = |j: JointId| skeleton.ancestors(j).last().unwrap_or(j);
    let scenes_of = |j: JointId| -> BTreeSet<usize> {
        let node = skeleton.joint(root(j)).source_node.map(u64::from);
        let lists = |scene: &serde_json::Value| {
            let nodes = scene.get("nodes").and_then(serde_json::Value::as_array);
            nodes.is_some_and(|nodes| nodes.iter().any(|n| n.as_u64() == node && node.is_some()))
        };
        let scenes = scenes.into_iter().flatten().enumerate();
        scenes
            .filter(|(_, scene)| lists(scene))
            .map(|(i, _)| i)
            .collect()
    };
    let Some(parent) = parent else { return Ok(()) };
    if scenes_of(parent) == scenes_of(joint) {
        return Ok(());
    }
    let is_below = |j: JointId| j == joint || skeleton.ancestors(j).any(|a| a == joint);
    let mut skins = document.skins.values();
    let held = skins.find(|skin| {
        let mut live = skin.joints.iter().filter(|&&j| skeleton.is_live(j));
        live.all(|&j| is_below(j))
    });
    match held {
        Some(skin) => Err(RigError::OtherScene {
            joint: skeleton.label(joint),
            parent: skeleton.label(parent),
            skin: skin.name.clone(),
        }),
        None => Ok(()),
    }
}

/// A joint whose local transforms are computed from its world transform.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    pub(super) joint: JointId,
    /// Its new parent.
    pub(super) parent: Option<JointId>,
    pub(super) tolerance: f64,
    pub(super) nearest: bool,
}

/// Gives the joint in `changed` the local transforms that keep its world transform of `before` under its parent of
/// `now`, in the rest pose, in the artist's pose and in every clip: exactly where nothing between the two parents
/// moves, else by new keyframes.
pub(super) fn sample_below(
    before: &Document,
    now: &Document,
    changed: &mut Document,
    request: &Sampled,
) -> Result<(), RigError> {
    let joint = request.joint;
    let splitter = Splitter {
        label: before.skeleton.label(joint),
        signs: signs(before.skeleton.joint(joint).rest.scale()),
        nearest: request.nearest,
    };
    let old_parent = before.skeleton.joint(joint).parent;
    let compensates = before.skeleton.joint(joint).rule.compensates_scale;
    // How the map between the two parents' spaces changes a local transform: exactly where it is a similarity.
    let into = |pose: &Pose, old: &Pose, place: &str| -> Result<Transform, RigError> {
        let above = |document: &Document, pose: &Pose, joint: Option<JointId>| {
            joint.map_or(DAffine3::IDENTITY, |j| {
                world_of(&document.skeleton, pose, j)
            })
        };
        let into = IntoLocal::new(&now.skeleton, pose, joint, || place.into())?;
        let map = into.parent * above(before, old, old_parent);
        match Similarity::of(map).filter(|_| !compensates) {
            Some(map) => Ok(map.transform(&old.locals[joint.get()])),
            None => splitter.split(into.local(world_of(&before.skeleton, old, joint))),
        }
    };
    let mut joints = joints_of(changed);
    let rest = into(&now.rest_pose, &before.rest_pose, "in the rest pose")?;
    joints[joint.get()].rest = rest;
    set_joints(changed, joints)?;
    // What is on screen has its constraints; the joint keeps what it has without its own.
    let seen = |document: &Document| {
        let mut pose = Pose::clone(&document.pose);
        document.constrain(&mut pose);
        pose.locals[joint.get()] = document.pose.locals[joint.get()];
        pose
    };
    let local = into(&seen(now), &seen(before), "in the pose")?;
    Arc::make_mut(&mut changed.pose).locals[joint.get()] = local;

    let (old_chain, new_chain) = (
        chain(&before.skeleton, old_parent),
        chain(&now.skeleton, request.parent),
    );
    let path: BTreeSet<JointId> = old_chain
        .symmetric_difference(&new_chain)
        .copied()
        .collect();
    let map = moved_by(before, now, old_parent, request.parent).filter(|_| !compensates);
    let tolerance = LazyLock::new(|| resampling(now, request.parent, joint, request.tolerance));
    let follow = |clip: ClipOf| -> Result<Option<Clip>, RigError> {
        let ClipOf { old, new, .. } = clip;
        let keys =
            |clip: &Clip, joints: &BTreeSet<JointId>| KeyTimes::of(clip, |j| joints.contains(&j));
        let same_keys = |j: &JointId| {
            let of = |document: &Document, clip: &Clip| {
                let inputs = with_inputs(document, &BTreeSet::from([*j]));
                let rest = inputs.iter().map(|j| document.rest_pose.locals[j.get()]);
                let channels = clip.channels.iter().filter(|c| inputs.contains(&c.joint));
                (
                    rest.collect::<Vec<_>>(),
                    channels.cloned().collect::<Vec<_>>(),
                    inputs,
                )
            };
            of(before, old) == of(now, new)
        };
        let mut moving = path.clone();
        moving.extend(old_chain.intersection(&new_chain).filter(|j| !same_keys(j)));
        let (old_moving, new_moving) = (with_inputs(before, &moving), with_inputs(now, &moving));
        let is_still = keys(old, &old_moving).is_empty() && keys(new, &new_moving).is_empty();
        let mut made = Clip::clone(new);
        if let Some(map) = map.as_ref().filter(|_| is_still) {
            let mut any = false;
            for channel in made.channels.iter_mut().filter(|c| c.joint == joint) {
                any = true;
                *channel = map.channel(channel);
            }
            return Ok(any.then_some(made));
        }
        let own = BTreeSet::from([joint]);
        let times = keys(old, &old_moving)
            .and(&keys(new, &new_moving))
            .and(&keys(old, &own))
            .and(&keys(new, &own));
        if times.is_empty() {
            return Ok(None);
        }
        let own_chain = chain(&before.skeleton, Some(joint));
        let mut there = Motion::new(before, old, &own_chain);
        let mut here = Motion::new(now, new, &new_chain);
        let mut fault = None;
        let keyed = Resampled::new(&times, *tolerance, |time| {
            let place = || format!("in “{}”", old.name);
            let local = IntoLocal::new(&now.skeleton, here.at(time), joint, place)
                .and_then(|into| splitter.split(into.local(there.world(joint, time))));
            local.unwrap_or_else(|error| {
                fault.get_or_insert(error);
                Transform::IDENTITY
            })
        });
        if let Some(error) = fault {
            return Err(error);
        }
        for property in [Property::Translation, Property::Rotation, Property::Scale] {
            let is_keyed = made.channel_of(joint, property).is_some();
            if is_keyed || strays(&keyed, &rest, property) {
                set_channel(&mut made, keyed.channel(joint, property));
            }
        }
        Ok(Some(made))
    };
    let clip_of = |id| {
        let (old, new) = (before.motion(id)?, now.motion(id)?);
        Some(ClipOf { id, old, new })
    };
    let clips: Vec<ClipOf> = changed
        .motion_ids()
        .into_iter()
        .filter_map(clip_of)
        .collect();
    let made: Vec<_> = clips.par_iter().map(|&clip| follow(clip)).collect();
    // In the order of the clips: whichever thread fails first, the sentence is the same.
    for (clip, made) in clips.iter().zip(made) {
        if let Some(made) = made? {
            changed.set_motion(clip.id, Arc::new(made));
        }
    }
    Ok(())
}

/// A clip as it is in both documents.
#[derive(Clone, Copy)]
struct ClipOf<'a> {
    id: MotionId,
    old: &'a Clip,
    new: &'a Clip,
}

/// Whether a property ever differs from its rest value, so that it needs keyframes.
fn strays(keyed: &Resampled, rest: &Transform, property: Property) -> bool {
    let size = 1.0 + rest.translation.length();
    keyed.locals().iter().any(|local| match property {
        Property::Translation => {
            local.translation.distance(rest.translation) > CONSTANT_TOLERANCE * size
        }
        Property::Rotation => {
            // Not 1 - |dot|, of which the difference is below the precision of f64.
            let apart = (local.rotation - rest.rotation).length_squared();
            let opposite = (local.rotation + rest.rotation).length_squared();
            apart.min(opposite) > CONSTANT_TOLERANCE.powi(2)
        }
        Property::Scale => {
            let apart = (local.scale() - rest.scale()).abs().max_element();
            apart > CONSTANT_TOLERANCE * rest.scale().abs().max_element()
        }
        Property::MorphWeights | Property::Influence(_) => false,
    })
}

/// M = W_q^-1 W_p in the rest pose; `None` where it mirrors or is not uniform.
fn moved_by(
    before: &Document,
    now: &Document,
    old: Option<JointId>,
    new: Option<JointId>,
) -> Option<Similarity> {
    let world = |document: &Document, joint: Option<JointId>| {
        joint.map_or(DAffine3::IDENTITY, |j| {
            world_of(&document.skeleton, &document.rest_pose, j)
        })
    };
    Similarity::of(world(now, new).inverse() * world(before, old))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::{Channel, Interpolation};
    use glam::DQuat;
    use std::sync::Arc;

    /// Two keyframes: the rest transform, and `end`.
    fn keyed(end: Transform) -> Resampled {
        let channel = Channel {
            joint: JointId(0),
            property: Property::Rotation,
            interpolation: Interpolation::Linear,
            times: [0.0, 1.0].into(),
            values: Arc::from([0.0; 8]),
        };
        let clip = Clip {
            channels: vec![channel],
            ..Clip::default()
        };
        let tolerance = crate::skeleton::resample::Resampling {
            length: 1.0,
            reach: 0.0,
        };
        let local = |time: f64| if time > 0.5 { end } else { Transform::IDENTITY };
        Resampled::new(&KeyTimes::of(&clip, |_| true), tolerance, local)
    }

    #[test]
    fn rotations_too_small_for_the_dot_product_need_keyframes() {
        let turn = DQuat::from_rotation_x(1e-8);
        assert_eq!(1.0 - turn.dot(DQuat::IDENTITY).abs(), 0.0);
        let rest = Transform::IDENTITY;
        let turned = |rotation: DQuat| Transform { rotation, ..rest };
        let needs = |end: Transform| strays(&keyed(end), &rest, Property::Rotation);
        assert!(needs(turned(turn)));
        assert!(!needs(turned(DQuat::from_rotation_x(1e-10))));
        // The same rotation.
        assert!(!needs(turned(-DQuat::IDENTITY)));
    }
}
