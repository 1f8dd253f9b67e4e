//! The bounding boxes of nodes that would exceed the memory budget by instantiating a mesh again.

use super::mesh::Meshes;
use super::skin::ReadSkin;
use crate::document::{Instance, LeftOut, MeshId};
use crate::math::bounding_box::{Corners, bounding_box};
use crate::skeleton::{Pose, Skeleton};
use glam::DAffine3;
use std::collections::{BTreeMap, HashSet};

/// Finds the bounding boxes of the meshes of `nodes` in the rest pose. The first joint that has a weight places the box of a
/// skinned mesh; the transform of the node is ignored (glTF 2.0, 3.7.3.3).
pub(super) fn of(
    nodes: &[Instance],
    skeleton: &Skeleton,
    skins: &[Option<ReadSkin>],
    meshes: &Meshes,
) -> LeftOut {
    let mut left_out = LeftOut {
        nodes: nodes.to_vec(),
        boxes: Vec::new(),
    };
    if nodes.is_empty() {
        return left_out;
    }
    let world = Pose::rest(skeleton).world_matrices(skeleton);
    let mut corners_of: BTreeMap<MeshId, Option<Corners>> = BTreeMap::new();
    let mut known = HashSet::new();
    for node in nodes {
        if left_out.boxes.len() == LeftOut::MAX_BOXES {
            break;
        }
        let corners = corners_of.entry(node.mesh).or_insert_with(|| {
            let item = meshes.items.get(&node.mesh)?;
            bounding_box(&item.geometry.positions)
        });
        let place = place(node, &world, skins, meshes);
        let Some((corners, place)) = corners.as_ref().zip(place) else {
            continue;
        };
        let corners = corners.map(|corner| place.transform_point3(corner.as_dvec3()).as_vec3());
        let is_finite = corners.iter().all(|corner| corner.is_finite());
        if is_finite && known.insert(corners.map(|corner| corner.to_array().map(f32::to_bits))) {
            left_out.boxes.push(corners);
        }
    }
    left_out
}

/// The matrix from mesh space to world space.
fn place(
    node: &Instance,
    world: &[DAffine3],
    skins: &[Option<ReadSkin>],
    meshes: &Meshes,
) -> Option<DAffine3> {
    let Some(skin) = node.skin else {
        return world.get(node.joint.get()).copied();
    };
    let skin = &skins.get(skin.0 as usize)?.as_ref()?.skin;
    let used = meshes.used.get(node.mesh.0 as usize)?;
    let slot = used.iter().position(|&used| used).unwrap_or(0);
    let joint = skin.joints.get(slot)?;
    Some(*world.get(joint.get())? * *skin.inverse_bind.get(slot)?)
}
