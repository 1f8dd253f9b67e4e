//! Making a pose the bind pose: the posed vertices become the mesh.

use super::bake_points::{baked, world_from_mesh};
use super::local::inverse;
use super::unbind::is_same;
use super::{AtRest, RigEdit, RigError, pose_as_rest};
use crate::document::individual::samples::scaled_samples;
use crate::document::{Dirty, Document, MeshId, Skin, SkinId};
use crate::math::polar::polar;
use crate::skeleton::Pose;
use glam::{DAffine3, DMat3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The edit that poses the meshes of all skins by linear blend skinning and binds them there, and makes `pose` the rest pose
/// ([`pose_as_rest`]). At that pose every vertex stays; in others those of several bones move differently. Morph targets are
/// exact for every mix; displacements of corrective samples rotate with their vertices.
///
/// Source: METHODS-rigging 2, *Apply pose to mesh*.
///
/// Fails where no mesh has a skin, for a mesh with instances of several skins, or with control points of clusters, whose places are
/// in the old mesh, and for joints of scale 0.
pub fn apply_pose(document: &Document, pose: &Pose) -> Result<RigEdit, RigError> {
    let meshes = skinned(document)?;
    let old_world = document.rest_pose.world_matrices(&document.skeleton);
    let mut changed = document.clone();
    let is_rest = match pose_as_rest(document, pose) {
        Ok(mut edit) => {
            edit.swap(&mut changed, &mut Dirty::default());
            false
        }
        // The rest pose itself, which need not be the bind pose.
        Err(RigError::Unchanged(_)) => true,
        Err(why) => return Err(why),
    };
    let skeleton = changed.skeleton.clone();
    let world = changed.rest_pose.world_matrices(&skeleton);
    let skins: BTreeSet<SkinId> = meshes.values().copied().collect();
    let mut places: BTreeMap<SkinId, DAffine3> = BTreeMap::new();
    for id in skins {
        let Some(skin) = document.skins.get(&id) else {
            continue;
        };
        let is_live = |slot: usize| skeleton.is_live(skin.joints[slot]);
        let place = world_from_mesh(skin, &old_world, is_live);
        let joints = skin.joints.iter().zip(&skin.inverse_bind).enumerate();
        let mut live = joints.filter(|(slot, _)| is_live(*slot));
        if live.all(|(_, (joint, matrix))| is_same(world[joint.get()] * *matrix, place)) {
            continue;
        }
        let mut bound = Skin::clone(skin);
        for (slot, matrix) in bound.inverse_bind.iter_mut().enumerate() {
            let joint = skin.joints[slot];
            if skeleton.is_live(joint) {
                let back = inverse(world[joint.get()]).ok_or_else(|| RigError::Singular {
                    joint: skeleton.label(joint),
                    place: "in this pose".into(),
                })?;
                *matrix = back * place;
            }
        }
        places.insert(id, place);
        changed.skins.insert(id, Arc::new(bound));
    }
    if is_rest && places.is_empty() {
        return Err(RigError::Unchanged(
            "the pose is already the bind pose".into(),
        ));
    }
    let mut reshaped = BTreeSet::clone(&changed.reshaped);
    for (&mesh, skin) in &meshes {
        let (Some(item), Some(place)) = (changed.meshes.get_mut(&mesh), places.get(skin)) else {
            continue;
        };
        // All instances have the same skin.
        let mut drawn = document.instances.values().filter(|i| i.mesh == mesh);
        let Some(instance) = drawn.next() else {
            continue;
        };
        let made = baked(document, item, instance, &world, place.inverse());
        let turns: Vec<DMat3> = made.jacobians.iter().map(|&b| turn_of(b)).collect();
        let item = Arc::make_mut(item);
        item.correctives = scaled_samples(&item.correctives, &turns);
        item.geometry = Arc::new(made.mesh);
        reshaped.insert(mesh);
    }
    changed.reshaped = Arc::new(reshaped);
    Ok(RigEdit::between(document, &changed).moving_at_rest(AtRest::All))
}

/// The meshes that a skin moves, each with its skin.
fn skinned(document: &Document) -> Result<BTreeMap<MeshId, SkinId>, RigError> {
    let mut found = BTreeMap::new();
    for (&mesh, item) in &document.meshes {
        let drawn = document.instances.values().filter(|i| i.mesh == mesh);
        let skins: BTreeSet<Option<SkinId>> = drawn.map(|i| i.skin).collect();
        let refused = |why: &str| {
            let name = &item.geometry.name;
            Err(RigError::Value(format!("“{name}” {why}")))
        };
        let Some(skin) = skins.iter().copied().flatten().next() else {
            continue;
        };
        if skins.len() > 1 {
            return refused("has instances with different skins: give each its own mesh first.");
        }
        let mut groups = item.clusters.groups().iter();
        if groups.any(|group| group.base.has_controls()) {
            return refused(
                "has clusters with control points, which are places in this mesh: delete them first.",
            );
        }
        found.insert(mesh, skin);
    }
    if found.is_empty() {
        return Err(RigError::Value("No mesh is bound.".into()));
    }
    Ok(found)
}

/// The rotation of a Jacobian; the identity where it has none.
fn turn_of(jacobian: DMat3) -> DMat3 {
    if jacobian.is_finite() && jacobian.determinant() > 0.0 {
        polar(jacobian).0
    } else {
        DMat3::IDENTITY
    }
}
