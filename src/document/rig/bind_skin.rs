//! Binding a mesh that follows its node to joints.

use super::RigError;
use super::content::{has_content, is_instanced, to_root};
use super::local::inverse;
use crate::document::{Document, Instance, InstanceId, MeshId, Skin, SkinId};
use crate::skeleton::{Joint, JointId, Skeleton};
use crate::skinning::{Influences, RowRef, Rows};
use glam::{DAffine3, DVec3};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The name of the node that holds a new skeleton.
pub(super) const ARMATURE: &str = "Armature";

impl Document {
    /// n_joints of the skeleton: whether the joint is drawn and listed as a bone. Bones are the joints of skins; in a model
    /// without skins those that meshes would be bound to.
    pub fn bone_mask(&self) -> Vec<bool> {
        let mut mask = self.skin_joint_mask();
        if self.skins.is_empty() {
            for joint in joints_to_bind(self) {
                mask[joint.get()] = true;
            }
        }
        mask
    }
}

/// The joints that a mesh without a skin is bound to: those of the skins. Where there is no skin, the nodes made in Sinew and
/// those below a node "Armature" that draw nothing.
///
/// The joints of a skin need a common root (glTF 2.0, 3.7.3.2), so of several trees only that with most joints counts.
pub fn joints_to_bind(document: &Document) -> Vec<JointId> {
    let skeleton = &document.skeleton;
    let mut joints: Vec<JointId> = Vec::new();
    let mut is_listed = vec![false; skeleton.len()];
    for &joint in document.skins.values().flat_map(|skin| &skin.joints) {
        if skeleton.is_live(joint) && !std::mem::replace(&mut is_listed[joint.get()], true) {
            joints.push(joint);
        }
    }
    if joints.is_empty() {
        let is_new = |entry: &Joint| entry.source_node.is_none() && entry.content_of.is_none();
        // Also where it was renamed: a root made in Sinew that has children.
        let is_armature = |joint: JointId| {
            let entry = skeleton.joint(joint);
            let is_root = entry.parent.is_none() && !skeleton.children(joint).is_empty();
            is_armature_name(&entry.name) || is_root && is_new(entry)
        };
        let is_bone = |&joint: &JointId| {
            let is_below = || skeleton.ancestors(joint).any(is_armature);
            !is_armature(joint)
                && (is_new(skeleton.joint(joint)) || is_below())
                && !has_content(document, joint)
        };
        joints.extend(skeleton.live_joints().filter(is_bone));
        joints.sort_by_key(|&joint| skeleton.rank(joint));
    }
    let mut in_tree: BTreeMap<JointId, usize> = BTreeMap::new();
    for &joint in &joints {
        *in_tree.entry(root_of(skeleton, joint)).or_default() += 1;
    }
    // The first of equally large ones.
    let largest = in_tree
        .iter()
        .reduce(|a, b| if b.1 > a.1 { b } else { a })
        .map(|(&root, _)| root);
    joints.retain(|&joint| Some(root_of(skeleton, joint)) == largest);
    joints
}

/// "Armature", also with a number as Blender and Sinew add one.
fn is_armature_name(name: &str) -> bool {
    let Some(end) = name.strip_prefix(ARMATURE) else {
        return false;
    };
    let digits = end.trim_start_matches(['.', '_']);
    digits.chars().all(|c| c.is_ascii_digit())
}

fn root_of(skeleton: &Skeleton, joint: JointId) -> JointId {
    skeleton.ancestors(joint).last().unwrap_or(joint)
}

/// The meshes that are drawn and have no skin.
pub fn meshes_without_skin(document: &Document) -> Vec<MeshId> {
    let meshes = document.meshes.keys().copied();
    let is_rigid = |mesh: &MeshId| {
        let mut drawn = document.instances.values().filter(|i| i.mesh == *mesh);
        let has_skin = document.skin_of_mesh(*mesh).is_some();
        drawn.next().is_some() && !has_skin
    };
    meshes.filter(is_rigid).collect()
}

/// A copy of the document in which a mesh without a skin is bound to `joints`, with the inverse bind matrices
/// `W_j^-1 A` for the world transform A of its node: it stays where it is, drawn by a node at the root. It has no weights
/// yet. A skin that an earlier call made is used again for the same joints and matrices.
///
/// `joints`: joints with a common root, at most 65,536.
///
/// Fails, with a sentence for the artist, for a mesh that follows a bone, has several instances, a negative scale, or is moved
/// by control clusters, and for joints of scale 0. Source: the binding of glTF 2.0, 3.7.3.
pub fn with_skin(
    document: &Document,
    mesh: MeshId,
    joints: &[JointId],
) -> Result<Document, RigError> {
    let (id, instance) = check(document, mesh)?;
    let skeleton = &document.skeleton;
    let world = document.rest_pose.world_matrices(skeleton);
    let place = world[instance.joint.get()];
    let mut inverse_bind = Vec::new();
    for &joint in joints {
        let into = inverse(world[joint.get()]).ok_or_else(|| RigError::Singular {
            joint: skeleton.label(joint),
            place: "in the rest pose".into(),
        })?;
        inverse_bind.push(into * place);
    }
    if inverse(place).is_none() {
        return Err(RigError::Singular {
            joint: skeleton.label(instance.joint),
            place: "in the rest pose".into(),
        });
    }
    // Without the node's scale, players would take its back faces for front faces (glTF 2.0, 3.7.4).
    if place.matrix3.determinant() < 0.0 {
        return Err(RigError::Value(format!(
            "“{}” has a negative scale: apply the scale in the modelling program, then bind.",
            skeleton.label(instance.joint)
        )));
    }
    let mut changed = document.clone();
    // Not a skin of the file: it is written as it was.
    let is_same = |(id, skin): &(&SkinId, &Arc<Skin>)| {
        let is_made = !document.source_skins.contains_key(id);
        is_made && skin.joints == joints && skin.inverse_bind == inverse_bind
    };
    let known = document.skins.iter().find(is_same);
    let skin = known.map_or_else(|| document.next_skin(), |(&id, _)| id);
    if known.is_none() {
        let name = document.meshes[&mesh].geometry.name.clone();
        let made = Skin {
            name,
            joints: joints.to_vec(),
            inverse_bind,
        };
        changed.skins.insert(skin, Arc::new(made));
    }
    let bound = Instance {
        skin: Some(skin),
        ..Instance::clone(instance)
    };
    let at = instance.joint;
    changed.instances.insert(id, Arc::new(bound));
    if changed.kept_weights.contains_key(&mesh) {
        Arc::make_mut(&mut changed.kept_weights).remove(&mesh);
    }
    to_root(&mut changed, at)?;
    Ok(changed)
}

/// The only instance of a mesh, or why it is not bound.
fn check(document: &Document, mesh: MeshId) -> Result<(InstanceId, &Instance), RigError> {
    let skeleton = &document.skeleton;
    let Some(item) = document.meshes.get(&mesh) else {
        return Err(RigError::Value("The mesh does not exist any more.".into()));
    };
    let drawn: Vec<(InstanceId, &Instance)> = document
        .instances
        .iter()
        .filter(|(_, instance)| instance.mesh == mesh)
        .map(|(&id, instance)| (id, instance.as_ref()))
        .collect();
    let name = if item.geometry.name.is_empty() {
        drawn
            .first()
            .map_or_else(String::new, |(_, i)| skeleton.label(i.joint))
    } else {
        item.geometry.name.clone()
    };
    let refused = |why: String| Err(RigError::Value(format!("“{name}” {why}")));
    let &[(id, instance)] = &drawn[..] else {
        return refused(format!(
            "has {} instances; only a mesh with one instance can be bound.",
            drawn.len()
        ));
    };
    let at = instance.joint;
    let above = std::iter::once(at).chain(skeleton.ancestors(at));
    let is_bone = document.bone_mask();
    if let Some(bone) = above.into_iter().find(|joint| is_bone[joint.get()]) {
        return refused(format!(
            "follows “{}” and stays rigid.",
            skeleton.label(bone)
        ));
    }
    if document.is_driven(instance) {
        return refused("is moved by control clusters, so it cannot be bound to bones.".into());
    }
    if is_instanced(document, at) {
        return refused(
            "uses GPU instancing (EXT_mesh_gpu_instancing), which cannot be skinned.".into(),
        );
    }
    Ok((id, instance))
}

/// Gives each point of a mesh without weights those of the nearest joint of its skin, so that it does not collapse.
pub fn complete_weights(document: &mut Document, mesh: MeshId) {
    let (Some((_, skin)), Some(item)) = (document.skin_of_mesh(mesh), document.meshes.get(&mesh))
    else {
        return;
    };
    if item.influences.iter().all(|row| !row.is_empty()) {
        return;
    }
    let heads: Vec<Option<DVec3>> = skin
        .inverse_bind
        .iter()
        .zip(&skin.joints)
        .map(|(matrix, &joint)| {
            let bind = inverse(*matrix).filter(|_| document.skeleton.is_live(joint))?;
            Some(bind.translation)
        })
        .collect();
    let rows = item.influences.iter().zip(&item.geometry.positions);
    let rows: Rows = rows
        .map(|(row, position)| {
            if !row.is_empty() {
                return row.iter().collect();
            }
            let distance = |head: DVec3| head.distance_squared(position.as_dvec3());
            let near = (0u16..)
                .zip(&heads)
                .filter_map(|(slot, head)| Some((slot, distance((*head)?))));
            let near = near.min_by(|a, b| a.1.total_cmp(&b.1));
            near.map(|(slot, _)| (slot, 1.0))
                .into_iter()
                .collect::<Vec<_>>()
        })
        .collect();
    let rows: Vec<RowRef<'_>> = rows.iter().collect();
    let influences = Influences::from_rows(rows);
    if let Some(item) = document.meshes.get_mut(&mesh) {
        Arc::make_mut(item).influences = influences;
    }
}

impl Document {
    /// The id of the next new skin: files number skins by their place in the list.
    pub fn next_skin(&self) -> SkinId {
        let json = self
            .source
            .as_ref()
            .and_then(|source| source.json.get("skins"));
        let in_file = json.and_then(|list| list.as_array()).map_or(0, Vec::len) as u32;
        let known = self.skins.keys().last().map_or(0, |id| id.0 + 1);
        SkinId(known.max(in_file))
    }
}

/// The place of an instance's points in the rest pose by each joint that moves it: its node, or the joints of its skin.
pub(super) fn places(
    document: &Document,
    world: &[DAffine3],
    instance: &Instance,
) -> Vec<(JointId, DAffine3)> {
    let Some(skin) = instance.skin.and_then(|skin| document.skins.get(&skin)) else {
        return vec![(instance.joint, world[instance.joint.get()])];
    };
    let slots = skin.joints.iter().zip(&skin.inverse_bind);
    slots
        .filter(|(joint, _)| document.skeleton.is_live(**joint))
        .map(|(&joint, matrix)| (joint, world[joint.get()] * *matrix))
        .collect()
}
