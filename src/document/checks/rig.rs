//! Problems of the rig: bones and skins that rigging tools and players treat differently.

use super::bones::{badges, findings, grouped};
use crate::document::rig::{asymmetries, flat_joints, main_child, spread_at_rest};
use crate::document::{Document, MeshId};
use crate::finding::{Finding, Fix, Place, counted};
use crate::mesh::limb_centre::{INSIDE, limb_centre};
use crate::mesh::spatial::SurfaceIndex;
use crate::skeleton::{JointId, Property};
use crate::skinning::RowRef;
use glam::{DVec3, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// The joints of a skin that place the mesh this far apart, as a fraction of its diagonal, disagree.
const SPREAD: f64 = 1e-3;
/// The largest deviation of the scales along the axes from their mean, as a fraction of it, that counts as uniform.
const EVEN: f64 = 1e-3;
/// Joints with less weight than this in a mesh, as a number of points, need not lie inside of it.
const LITTLE: f64 = 2.0;

/// The problems of bones and skins, as notes: all of them are valid glTF.
pub fn of_rig(document: &Document) -> Vec<Finding> {
    let weights = weights(document);
    let mut n_moved = vec![0; document.skeleton().len()];
    for (joint, _) in weights.keys() {
        n_moved[joint.get()] += 1;
    }
    let mut found = findings(document, &badges(document, &n_moved));
    let groups = [
        (
            mirrored_binds(document),
            [
                "has an inverse bind matrix and a rest pose of which only one mirrors",
                "have an inverse bind matrix and a rest pose of which only one mirrors",
            ],
            "the surface is turned inside out there",
        ),
        (
            outside(document, &weights),
            ["lies outside of its mesh", "lie outside of their mesh"],
            "bends look better about the middle of a limb",
        ),
    ];
    found.extend(grouped(document, groups));
    found.extend(of_binds(document));
    found.extend(of_scales(document));
    found.extend(of_sides(document));
    found.extend(of_flat_rigs(document));
    found
}

/// The sum of the weights of each joint in each mesh; only those above 0.
fn weights(document: &Document) -> BTreeMap<(JointId, MeshId), f64> {
    let mut sums = BTreeMap::new();
    for (&mesh, item) in document.meshes() {
        let Some((_, skin)) = document.skin_of_mesh(mesh) else {
            continue;
        };
        for (slot, weight) in item.influences.iter().flat_map(RowRef::iter) {
            if weight > 0.0
                && let Some(&joint) = skin.joints.get(usize::from(slot))
            {
                *sums.entry((joint, mesh)).or_insert(0.0) += f64::from(weight);
            }
        }
    }
    sums
}

/// Joints whose inverse bind matrix and world matrix at rest have determinants of opposite signs.
fn mirrored_binds(document: &Document) -> Vec<u32> {
    let world = document.rest_pose().world_matrices(document.skeleton());
    let skins = document.skins().values();
    let slots = skins.flat_map(|skin| skin.joints.iter().zip(&skin.inverse_bind));
    let mirrored = slots.filter(|(joint, inverse_bind)| {
        let rest = world[joint.get()].matrix3.determinant();
        document.skeleton().is_live(**joint) && rest * inverse_bind.matrix3.determinant() < 0.0
    });
    let joints: BTreeSet<u32> = mirrored.map(|(joint, _)| joint.0).collect();
    joints.into_iter().collect()
}

/// Joints with weight that lie outside of every mesh that they have weight in.
fn outside(document: &Document, weights: &BTreeMap<(JointId, MeshId), f64>) -> Vec<u32> {
    let skeleton = document.skeleton();
    let mut inside: BTreeMap<JointId, bool> = BTreeMap::new();
    for (&mesh, item) in document.meshes() {
        let Some((_, skin)) = document.skin_of_mesh(mesh) else {
            continue;
        };
        let geometry = &item.geometry;
        let points = |corner: u32| geometry.point_of_vertex[corner as usize];
        let triangles = geometry.triangles.iter().map(|t| t.map(points));
        let triangles: Vec<[u32; 3]> = triangles.collect();
        let positions: &[Vec3] = &geometry.positions;
        if triangles.is_empty() || !positions.iter().all(|p| p.is_finite()) {
            continue;
        }
        let index = SurfaceIndex::new(&triangles, positions);
        let place = |joint: JointId| {
            let slot = skin.joints.iter().position(|&j| j == joint)?;
            let bind = skin.inverse_bind[slot].inverse();
            bind.is_finite().then_some(bind.translation)
        };
        for &joint in &skin.joints {
            let weight = weights.get(&(joint, mesh)).copied().unwrap_or(0.0);
            let Some(at) = place(joint).filter(|_| weight > LITTLE) else {
                continue;
            };
            let child = main_child(document, joint).and_then(place);
            let parent = skeleton.joint(joint).parent.and_then(place);
            let along = child.map(|c| c - at).or(parent.map(|p| at - p));
            let along = along.unwrap_or(DVec3::Y);
            let found = limb_centre(&index, &triangles, positions, at, along);
            let entry = inside.entry(joint).or_insert(false);
            *entry |= found.hits >= INSIDE;
        }
    }
    let outside = inside.into_iter().filter(|(_, inside)| !inside);
    outside.map(|(joint, _)| joint.0).collect()
}

/// Meshes whose rest pose is not the bind pose in the same way for all joints.
fn of_binds(document: &Document) -> Vec<Finding> {
    let meshes = document.meshes().iter();
    let spreads = meshes.map(|(&mesh, item)| (mesh, item, spread_at_rest(document, mesh)));
    spreads
        .filter(|(.., spread)| *spread > SPREAD)
        .map(|(mesh, item, spread)| {
            Finding::info(
                format!("mesh \"{}\"", item.geometry.name),
                format!(
                    "Its bones place it {:.2} % of its size apart in the rest pose, which is not the bind pose: removing bones or \
                     changing weights moves the mesh there.",
                    100.0 * spread
                ),
            )
            .at(Place::Mesh(mesh.0))
        })
        .collect()
}

/// Joints that clips stretch along one axis.
fn of_scales(document: &Document) -> Vec<Finding> {
    let mut worst: BTreeMap<JointId, (f64, &str)> = BTreeMap::new();
    for clip in document.clips().values() {
        for channel in clip
            .channels
            .iter()
            .filter(|c| c.property == Property::Scale)
        {
            for key in 0..channel.times.len() {
                let size = Vec3::from_slice(channel.key(key)).as_dvec3().abs();
                let mean = (size.x + size.y + size.z) / 3.0;
                let off = ((size / mean) - 1.0).abs().max_element();
                let entry = worst.entry(channel.joint).or_insert((EVEN, ""));
                if mean > 0.0 && off > entry.0 {
                    *entry = (off, &clip.name);
                }
            }
        }
    }
    worst.retain(|_, (_, clip)| !clip.is_empty());
    let first = worst.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let Some((&joint, &(off, clip))) = first else {
        return Vec::new();
    };
    let joints: Vec<u32> = worst.keys().map(|j| j.0).collect();
    vec![
        Finding::info(
            counted(joints.len(), "bone"),
            format!(
                "Clips scale them unevenly along their axes, “{}” most, by {:.1} % in “{clip}”; their axes can only rotate by \
                 quarter turns.",
                document.skeleton().label(joint),
                100.0 * off
            ),
        )
        .at(Place::Joints(joints.into())),
    ]
}

/// Pairs of bones that are not symmetric.
fn of_sides(document: &Document) -> Vec<Finding> {
    let in_skin = document.skin_joint_mask();
    let mut found = asymmetries(document);
    found.retain(|a| in_skin[a.joint.get()] && in_skin[a.partner.get()]);
    let first = found.iter().max_by(|a, b| {
        let size = |a: &crate::document::rig::Asymmetry| a.distance.max(a.degrees / 1e3);
        size(a).total_cmp(&size(b))
    });
    let Some(worst) = first else {
        return Vec::new();
    };
    let label = |joint: JointId| document.skeleton().label(joint);
    let joints: BTreeSet<u32> = found
        .iter()
        .flat_map(|a| [a.joint.0, a.partner.0])
        .collect();
    let joints: Vec<u32> = joints.into_iter().collect();
    vec![
        Finding::info(
            counted(found.len(), "bone pair"),
            format!(
                "Left and right differ, most “{}” and “{}”: by {:.2} % of the model's diagonal and {:.0}° of their axes.",
                label(worst.joint),
                label(worst.partner),
                100.0 * worst.distance,
                worst.degrees
            ),
        )
        .at(Place::Joints(joints.into())),
    ]
}

/// Skins with a flat rig and no logical parents.
pub(super) fn of_flat_rigs(document: &Document) -> Vec<Finding> {
    let skeleton = document.skeleton();
    let skins = document.skins().iter();
    let flat = skins.filter_map(|(id, skin)| {
        let flat = flat_joints(document, skin)?;
        let is_known = |j: &JointId| skeleton.joint(*j).rule.logical_parent.is_some();
        if flat.iter().any(is_known) {
            return None;
        }
        let above = skeleton.joint(*flat.last()?).parent?;
        let mut joints: Vec<u32> = flat.iter().map(|j| j.0).collect();
        joints.sort_unstable();
        let message = format!(
            "All {} are children of “{}”: the hierarchy has no limbs, so compensation, IK and mirroring find none.",
            counted(flat.len(), "bone"),
            skeleton.label(above)
        );
        let place = format!("skin {} \"{}\"", id.0, skin.name);
        let finding = Finding::info(place, message).at(Place::Joints(joints.into()));
        Some(finding.fixed_by(Some(Fix::InferParents)))
    });
    flat.collect()
}
