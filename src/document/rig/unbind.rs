//! Taking meshes from their skins, and binding them again with the weights that they had.
//!
//! A mesh whose skin matrices at rest are all K stands where K puts it: its node's world transform becomes K, and no vertex
//! changes. Any other gets the vertices that its skin gives it at rest (METHODS-rigging 2, *Unbind*).

use super::bake_points::baked;
use super::content::{split_below, to_place};
use super::larger::larger;
use super::local::{Splitter, inverse};
use super::measure::{diagonal, posed_points};
use super::{AtRest, RigEdit, RigError, with_skin};
use crate::document::{Document, InstanceId, KeptWeights, MeshId, SkinId};
use crate::math::Transform;
use crate::skeleton::JointId;
use crate::skinning::{Influences, RowRef, Rows};
use glam::{DAffine3, DVec3};
use std::sync::Arc;

/// The largest displacement of a mesh that is unbound without other vertices, as a fraction of the model's diagonal.
const STILL: f64 = 1e-6;

/// What unbinding did.
pub struct Unbound {
    /// The edit.
    pub edit: RigEdit,
    /// The meshes that follow no bone any more.
    pub meshes: Vec<MeshId>,
    /// Why others stay bound.
    pub refusals: Vec<RigError>,
}

/// The edit that takes all meshes from their skins. They stay where they are at rest, and follow no bone; their weights are kept
/// for [`bind_kept`].
///
/// A mesh with several instances stays bound, and one with layers, corrective samples or control clusters. Fails where no mesh
/// can be unbound.
pub fn unbind(document: &Document) -> Result<Unbound, RigError> {
    let still = STILL * diagonal(document);
    let mut changed = document.clone();
    let (mut meshes, mut refusals) = (Vec::new(), Vec::new());
    for &mesh in document.meshes.keys() {
        if document.skin_of_mesh(mesh).is_none() {
            continue;
        }
        let mut next = changed.clone();
        match take(&mut next, mesh, still) {
            Ok(()) => {
                changed = next;
                meshes.push(mesh);
            }
            Err(why) => refusals.push(why),
        }
    }
    if meshes.is_empty() {
        let mut refusals = refusals.into_iter();
        let nothing = || RigError::Value("No mesh is bound.".into());
        return Err(refusals.next().unwrap_or_else(nothing));
    }
    // What moves at rest is at most rounding: other slots of the skin do not count.
    let edit = RigEdit::between(document, &changed).moving_at_rest(AtRest::All);
    Ok(Unbound {
        edit,
        meshes,
        refusals,
    })
}

/// Takes a mesh from its skin. `still`: the largest displacement that counts as none, metres.
fn take(document: &mut Document, mesh: MeshId, still: f64) -> Result<(), RigError> {
    let Some(item) = document.meshes.get(&mesh).cloned() else {
        return Err(RigError::Value("The mesh does not exist any more.".into()));
    };
    let name = item.geometry.name.clone();
    let refused = |why: String| Err(RigError::Value(format!("“{name}” {why}")));
    let drawn = document.instances.iter().filter(|(_, i)| i.mesh == mesh);
    let drawn: Vec<(InstanceId, SkinId, JointId)> = drawn
        .filter_map(|(&id, i)| Some((id, i.skin?, i.joint)))
        .collect();
    let n_drawn = document.instances.values().filter(|i| i.mesh == mesh);
    let left_out = document.left_out().nodes.iter().filter(|n| n.mesh == mesh);
    let n_drawn = n_drawn.count() + left_out.count();
    let &[(id, skin, at)] = &drawn[..] else {
        return refused(match drawn.len() {
            0 => "is not bound.".into(),
            n => format!("has {n} instances; only a mesh with one instance can be unbound."),
        });
    };
    if n_drawn > 1 {
        return refused(format!(
            "has {n_drawn} instances; only a mesh with one instance can be unbound."
        ));
    }
    if !item.layers.is_plain() {
        return refused("has weight layers: flatten them first, then unbind.".into());
    }
    if !item.correctives.sets().is_empty() {
        return refused(
            "has corrective samples, which need its bones: delete them first, then unbind.".into(),
        );
    }
    if document.is_driven(&document.instances[&id]) {
        return refused("is moved by control clusters, so it cannot be unbound.".into());
    }
    let Some(moves) = document.skins.get(&skin) else {
        return refused("is not bound.".into());
    };
    let world = document.rest_pose.world_matrices(&document.skeleton);
    let place = place_at_rest(document, id, &world, still);
    let bound = document.clone();
    let kept = KeptWeights {
        skin,
        joints: moves.joints.clone(),
        rows: item.influences.clone(),
    };
    Arc::make_mut(&mut document.kept_weights).insert(mesh, Arc::new(kept));
    if let Some(item) = document.meshes.get_mut(&mesh) {
        Arc::make_mut(item).influences = no_rows(item.influences.len());
    }
    if let Some(instance) = document.instances.get_mut(&id) {
        Arc::make_mut(instance).skin = None;
    }
    let is_used = document.instances.values().any(|i| i.skin == Some(skin));
    // A skin of the file stays in its list, which extensions may refer to.
    if !is_used && !document.source_skins.contains_key(&skin) {
        document.skins.remove(&skin);
    }
    if place.is_some_and(|place| is_same(world[at.get()], place)) {
        return Ok(());
    }
    let splitter = Splitter {
        label: name,
        signs: DVec3::ONE,
        nearest: false,
    };
    // A place that no node can have is baked.
    if let Some(local) = place.and_then(|place| splitter.split(place).ok()) {
        return put(document, at, local);
    }
    let node = inverse(world[at.get()]);
    let into = node.unwrap_or(DAffine3::IDENTITY);
    let made = baked(&bound, &item, &bound.instances[&id], &world, into);
    if let Some(item) = document.meshes.get_mut(&mesh) {
        Arc::make_mut(item).geometry = Arc::new(made.mesh);
    }
    Arc::make_mut(&mut document.reshaped).insert(mesh);
    if node.is_some() {
        Ok(())
    } else {
        put(document, at, Transform::IDENTITY)
    }
}

/// Puts an unbound mesh at the root with the transform `local`.
fn put(document: &mut Document, at: JointId, local: Transform) -> Result<(), RigError> {
    if !to_place(document, at, local)? {
        split_below(document, at, None, local)?;
    }
    Ok(())
}

/// Rows without weights.
pub(super) fn no_rows(n: usize) -> Influences {
    let rows: Rows = std::iter::repeat_n(Vec::<(u16, f32)>::new(), n).collect();
    let rows: Vec<RowRef<'_>> = rows.iter().collect();
    Influences::from_rows(rows)
}

pub(super) fn is_same(a: DAffine3, b: DAffine3) -> bool {
    a.abs_diff_eq(b, 1e-12 * (1.0 + b.translation.length()))
}

/// The transform that all weighted joints of an instance give to its mesh at rest; `None` where they give it several.
fn place_at_rest(
    document: &Document,
    id: InstanceId,
    world: &[DAffine3],
    still: f64,
) -> Option<DAffine3> {
    let instance = &document.instances[&id];
    let item = &document.meshes[&instance.mesh];
    let skin = instance.skin.and_then(|skin| document.skins.get(&skin));
    let weighted = item.influences.iter().flat_map(RowRef::iter);
    let mut weighted = weighted.filter(|(_, weight)| *weight > 0.0);
    let slot = weighted.next().map(|(slot, _)| usize::from(slot));
    let place = skin.zip(slot).and_then(|(skin, slot)| {
        let joint = skin.joints.get(slot)?;
        Some(world[joint.get()] * *skin.inverse_bind.get(slot)?)
    });
    // Without any weight the mesh is drawn as it is.
    let place = place.unwrap_or(DAffine3::IDENTITY);
    let positions = item.geometry.positions.iter().map(|p| p.as_dvec3());
    let posed = posed_points(document, instance, world);
    let apart = positions
        .zip(posed)
        .map(|(p, posed)| place.transform_point3(p).distance(posed))
        .fold(0.0, larger);
    (apart <= still).then_some(place)
}

/// The edit that binds unbound meshes again, with the weights that they had, and their ids. Bones that moved since are bound
/// where they are now.
///
/// Fails where a bone with weights was removed since, and where [`with_skin`] does.
pub fn bind_kept(document: &Document) -> Result<(RigEdit, Vec<MeshId>), RigError> {
    let mut changed = document.clone();
    let mut bound = Vec::new();
    let still = STILL * diagonal(document);
    for (&mesh, kept) in document.kept_weights.iter() {
        if document.skin_of_mesh(mesh).is_some() {
            continue;
        }
        changed = again(&changed, mesh, kept, still)?;
        bound.push(mesh);
    }
    if bound.is_empty() {
        return Err(RigError::Value(
            "No mesh was unbound, so there are no kept weights.".into(),
        ));
    }
    let edit = RigEdit::between(document, &changed).moving_at_rest(AtRest::All);
    Ok((edit, bound))
}

fn again(
    document: &Document,
    mesh: MeshId,
    kept: &KeptWeights,
    still: f64,
) -> Result<Document, RigError> {
    let skeleton = &document.skeleton;
    let mut slots: Vec<Option<u16>> = Vec::new();
    let mut joints = Vec::new();
    for &joint in &kept.joints {
        let is_live = skeleton.is_live(joint);
        slots.push(is_live.then_some(joints.len() as u16));
        joints.extend(is_live.then_some(joint));
    }
    let mut made = Vec::with_capacity(kept.rows.len());
    for row in kept.rows.iter() {
        let mut pairs = Vec::with_capacity(row.len());
        for (slot, weight) in row.iter() {
            match slots.get(usize::from(slot)).copied().flatten() {
                Some(slot) => pairs.push((slot, weight)),
                None if weight == 0.0 => {}
                None => {
                    let joint = kept.joints.get(usize::from(slot));
                    let label = joint.map_or_else(String::new, |&joint| skeleton.label(joint));
                    return Err(RigError::Value(format!(
                        "“{label}” was removed since, and the kept weights need it: bind with new weights."
                    )));
                }
            }
        }
        made.push(pairs);
    }
    let (mut changed, is_old) = match with_old_skin(document, mesh, kept, still) {
        Some(changed) => (changed, true),
        None => (with_skin(document, mesh, &joints)?, false),
    };
    let rows = if is_old {
        kept.rows.clone()
    } else {
        let rows: Rows = made.into_iter().collect();
        let rows: Vec<RowRef<'_>> = rows.iter().collect();
        Influences::from_rows(rows)
    };
    if let Some(item) = changed.meshes.get_mut(&mesh) {
        Arc::make_mut(item).influences = rows;
    }
    Arc::make_mut(&mut changed.kept_weights).remove(&mesh);
    Ok(changed)
}

/// The document with the skin that the mesh had, if that still puts it where it is.
fn with_old_skin(
    document: &Document,
    mesh: MeshId,
    kept: &KeptWeights,
    still: f64,
) -> Option<Document> {
    let skin = document.skins.get(&kept.skin)?;
    if !skin.joints.starts_with(&kept.joints) {
        return None;
    }
    let mut drawn = document.instances.iter().filter(|(_, i)| i.mesh == mesh);
    let (&id, instance) = drawn.next()?;
    if drawn.next().is_some() {
        return None;
    }
    let world = document.rest_pose.world_matrices(&document.skeleton);
    let mut changed = document.clone();
    Arc::make_mut(changed.instances.get_mut(&id)?).skin = Some(kept.skin);
    Arc::make_mut(changed.meshes.get_mut(&mesh)?).influences = kept.rows.clone();
    let now = posed_points(document, instance, &world);
    let bound = posed_points(&changed, &changed.instances[&id], &world);
    let apart = now.iter().zip(&bound).map(|(a, b)| a.distance(*b));
    (apart.fold(0.0, larger) <= still).then_some(changed)
}
