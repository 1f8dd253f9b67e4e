//! The content of a joint's own node: meshes, cameras and lights. glTF draws them at the node, without an offset.

use crate::document::{Document, Source};
use crate::math::Transform;
use crate::skeleton::{Joint, JointId, Property, SkeletonError};
use serde_json::Value;
use std::sync::Arc;

/// Whether the joint's node draws a rigid mesh, a camera or a light, which would move with the node. A skinned mesh
/// does not move: glTF ignores the transform of its node.
pub(super) fn draws_rigidly(document: &Document, joint: JointId) -> bool {
    let mut instances = document.instances.values();
    instances.any(|i| i.joint == joint && i.skin.is_none()) || has_camera_or_light(document, joint)
}

/// Whether the joint's node draws anything.
pub(super) fn has_content(document: &Document, joint: JointId) -> bool {
    let mut instances = document.instances.values();
    instances.any(|i| i.joint == joint) || has_camera_or_light(document, joint)
}

fn has_camera_or_light(document: &Document, joint: JointId) -> bool {
    let entry = document.skeleton.joint(joint);
    // Content that was split off before is on another joint.
    let is_carried = |node: u32| {
        let mut joints = document.skeleton.joints().iter();
        joints.any(|j| j.content_of == Some(node))
    };
    let node = match entry.content_of {
        Some(node) => Some(node),
        None => entry.source_node.filter(|&node| !is_carried(node)),
    };
    let source = document.source.as_ref().zip(node);
    source.is_some_and(|(source, node)| node_of(source, node).is_some_and(is_camera_or_light))
}

/// Whether the joint's node draws its mesh as GPU instances.
pub(super) fn is_instanced(document: &Document, joint: JointId) -> bool {
    let entry = document.skeleton.joint(joint);
    let node = entry.content_of.or(entry.source_node);
    let source = document.source.as_ref().zip(node);
    let entry = source.and_then(|(source, node)| node_of(source, node));
    entry.is_some_and(|entry| {
        let extension = entry.pointer("/extensions/EXT_mesh_gpu_instancing");
        extension.is_some()
    })
}

fn node_of(source: &Source, node: u32) -> Option<&Value> {
    source.json.get("nodes")?.get(node as usize)
}

fn is_camera_or_light(entry: &Value) -> bool {
    entry.get("camera").is_some()
        || entry
            .pointer("/extensions/KHR_lights_punctual/light")
            .is_some()
}

/// Moves the content of `joint` to a new child joint "name_mesh" with the transform `local` in its space: the meshes
/// with their morph weights, the camera and the light.
pub(super) fn split(
    document: &mut Document,
    joint: JointId,
    local: Transform,
) -> Result<JointId, SkeletonError> {
    split_below(document, joint, Some(joint), local)
}

/// [`split`] with another parent for the new joint.
pub(super) fn split_below(
    document: &mut Document,
    joint: JointId,
    parent: Option<JointId>,
    local: Transform,
) -> Result<JointId, SkeletonError> {
    let mut joints = document.skeleton.joints().to_vec();
    let held = JointId(joints.len() as u32);
    let entry = &mut joints[joint.get()];
    let content = entry.content_of.take().or(entry.source_node);
    let name = format!("{}_mesh", entry.name);
    joints.push(Joint {
        content_of: content,
        ..Joint::new(name, parent, local)
    });
    super::set_joints(document, joints)?;
    for instance in document.instances.values_mut() {
        if instance.joint == joint {
            Arc::make_mut(instance).joint = held;
        }
    }
    for pose in [&mut document.pose, &mut document.rest_pose] {
        let pose = Arc::make_mut(pose);
        let weights = std::mem::take(&mut pose.morph_weights[joint.get()]);
        pose.morph_weights[held.get()] = weights;
    }
    for clip in document.motions_mut() {
        let is_moved =
            |c: &crate::skeleton::Channel| c.joint == joint && c.property == Property::MorphWeights;
        if clip.channels.iter().any(is_moved) {
            for channel in &mut Arc::make_mut(clip).channels {
                if is_moved(channel) {
                    channel.joint = held;
                }
            }
        }
    }
    Ok(held)
}

/// Puts the content of `joint`, a skinned mesh, at the root without a transform, as the specification recommends: players
/// ignore where a skinned mesh is (glTF 2.0, 3.7.3.3). The joint itself moves there if nothing else needs it.
pub(super) fn to_root(document: &mut Document, joint: JointId) -> Result<(), SkeletonError> {
    let entry = document.skeleton.joint(joint);
    let is_there = entry.parent.is_none() && entry.rest == Transform::IDENTITY;
    if is_there || has_camera_or_light(document, joint) {
        return Ok(());
    }
    if is_needed(document, joint) {
        return split_below(document, joint, None, Transform::IDENTITY).map(|_| ());
    }
    put_at_root(document, joint, Transform::IDENTITY)
}

/// Puts the content of `joint`, a mesh, at the root with the transform `local`, unless something else needs the joint where it
/// is. Returns whether it did.
pub(super) fn to_place(
    document: &mut Document,
    joint: JointId,
    local: Transform,
) -> Result<bool, SkeletonError> {
    let mut skins = document.skins.values();
    let is_bone = skins.any(|skin| skin.joints.contains(&joint));
    if is_bone || has_camera_or_light(document, joint) || is_needed(document, joint) {
        return Ok(false);
    }
    put_at_root(document, joint, local).map(|()| true)
}

/// Whether something follows a joint besides its own content, or keyframes move it.
fn is_needed(document: &Document, joint: JointId) -> bool {
    let moves = |c: &crate::skeleton::Channel| c.joint == joint && c.property.moves_joint();
    let is_moved = (document.motions()).any(|clip| clip.channels.iter().any(moves));
    !document.skeleton.children(joint).is_empty() || is_moved
}

fn put_at_root(
    document: &mut Document,
    joint: JointId,
    local: Transform,
) -> Result<(), SkeletonError> {
    let mut joints = document.skeleton.joints().to_vec();
    joints[joint.get()].parent = None;
    joints[joint.get()].rest = local;
    super::set_joints(document, joints)?;
    Arc::make_mut(&mut document.pose).locals[joint.get()] = local;
    Ok(())
}
