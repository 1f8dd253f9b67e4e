//! Making a pose the bind pose: the posed vertices become the mesh.

use super::bake_points::{baked, world_from_mesh};
use super::local::inverse;
use super::unbind::is_same;
use super::{AtRest, RigEdit, RigError, pose_as_rest};
use crate::document::individual::samples::scaled_samples;
use crate::document::mesh_copies::CopyNames;
use crate::document::{Dirty, Document, InstanceId, MeshId, MeshItem, Skin, SkinId};
use crate::math::polar::polar;
use crate::mesh::Mesh;
use crate::skeleton::Pose;
use glam::{BVec3, DAffine3, DMat3, DVec3, Vec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Shapes that differ by no more than this are equal, relative to the diagonal of the mesh.
const ALIKE: f64 = 1e-6;
/// The rounding error of an inverse bind matrix of 32-bit numbers, relative to the distance from the origin.
const ROUNDED: f64 = 4.0 * f32::EPSILON as f64;

/// The edit that poses the meshes of all skins by linear blend skinning and binds them there, and makes `pose` the rest pose
/// ([`pose_as_rest`]). At that pose every vertex stays; in others those of several bones move differently. Morph targets are
/// exact for every mix; displacements of corrective samples rotate with their vertices.
///
/// A mesh whose instances get different shapes, since several skins draw it or some follow their nodes, is copied: each shape
/// is a mesh of its own.
///
/// Source: METHODS-rigging 2, *Apply pose to mesh*.
///
/// Fails where no mesh has a skin, for a mesh with control points of clusters, whose places are in the old mesh, and for joints
/// of scale 0.
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
    let drawn = meshes.values().flat_map(BTreeMap::keys);
    let skins: BTreeSet<SkinId> = drawn.copied().flatten().collect();
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
    let mut names = CopyNames::of(document);
    let mut reshaped = BTreeSet::clone(&changed.reshaped);
    for (&mesh, drawn) in &meshes {
        let Some(item) = document.meshes.get(&mesh) else {
            continue;
        };
        let bounds = Bounds::of(&item.geometry);
        let (shapes, mut is_kept) = new_shapes(document, drawn, &bounds, &world, &places);
        for NewShape {
            into, instances, ..
        } in shapes
        {
            let Some(instance) = instances.first().and_then(|id| document.instances.get(id)) else {
                continue;
            };
            let made = baked(document, item, instance, &world, into);
            let turns: Vec<DMat3> = made.jacobians.iter().map(|&b| turn_of(b)).collect();
            let mut item = MeshItem::clone(item);
            item.correctives = scaled_samples(&item.correctives, &turns);
            let mut geometry = made.mesh;
            // The first shape is that of the mesh itself, unless instances draw the one that it had.
            if !is_kept {
                is_kept = true;
                item.geometry = Arc::new(geometry);
                changed.meshes.insert(mesh, Arc::new(item));
                reshaped.insert(mesh);
                continue;
            }
            geometry.name = names.next(&geometry.name);
            item.geometry = Arc::new(geometry);
            reshaped.extend(changed.put_copy(mesh, item, &instances));
        }
    }
    changed.reshaped = Arc::new(reshaped);
    Ok(RigEdit::between(document, &changed).moving_at_rest(AtRest::All))
}

/// The instances of a mesh, by their skins.
type Drawn = BTreeMap<Option<SkinId>, Vec<InstanceId>>;

/// A shape that a mesh gets, and the instances that draw it.
struct NewShape {
    /// The maps of the skin's slots, in mesh space; of removed joints the identity.
    maps: Vec<DAffine3>,
    /// The inverse of the new `world_from_mesh`.
    into: DAffine3,
    instances: Vec<InstanceId>,
}

/// The corners of the bounds of a mesh, and their diagonal.
struct Bounds {
    corners: Vec<DVec3>,
    diagonal: f64,
}

impl Bounds {
    fn of(mesh: &Mesh) -> Self {
        let points = mesh.positions.iter().filter(|p| p.is_finite());
        let ends = points.fold(None, |ends: Option<[Vec3; 2]>, &p| {
            Some(ends.map_or([p; 2], |[low, high]| [low.min(p), high.max(p)]))
        });
        let Some([low, high]) = ends.map(|ends| ends.map(Vec3::as_dvec3)) else {
            return Self {
                corners: Vec::new(),
                diagonal: 0.0,
            };
        };
        let corner = |k: usize| {
            let pick = BVec3::new(k & 1 != 0, k & 2 != 0, k & 4 != 0);
            DVec3::select(pick, high, low)
        };
        Self {
            corners: (0..8).map(corner).collect(),
            diagonal: low.distance(high),
        }
    }

    /// Whether maps of a skin's slots do the same to the mesh; `origin`: how far that of the world is from it.
    fn are_alike(&self, a: &[DAffine3], b: &[DAffine3], origin: f64) -> bool {
        let limit = ALIKE * self.diagonal + ROUNDED * origin;
        let is_near = |(a, b): (&DAffine3, &DAffine3)| {
            let mut corners = self.corners.iter();
            corners.all(|&p| a.transform_point3(p).distance(b.transform_point3(p)) <= limit)
        };
        a.len() == b.len() && a.iter().zip(b).all(is_near)
    }
}

/// The shapes that skins in `places` give to a mesh, those within rounding errors of 32-bit numbers once, and whether an instance keeps the one that it has.
fn new_shapes(
    document: &Document,
    drawn: &Drawn,
    bounds: &Bounds,
    world: &[DAffine3],
    places: &BTreeMap<SkinId, DAffine3>,
) -> (Vec<NewShape>, bool) {
    let (mut found, mut is_kept) = (Vec::<NewShape>::new(), false);
    for (&skin, instances) in drawn {
        let place = skin.and_then(|id| Some((document.skins.get(&id)?, *places.get(&id)?)));
        let Some((skin, place)) = place else {
            is_kept = true;
            continue;
        };
        let into = place.inverse();
        let slots = skin.joints.iter().zip(&skin.inverse_bind);
        let maps = slots.map(|(&joint, &matrix)| {
            let is_live = document.skeleton.is_live(joint);
            let map = || into * world[joint.get()] * matrix;
            if is_live { map() } else { DAffine3::IDENTITY }
        });
        let maps: Vec<DAffine3> = maps.collect();
        let is_alike = |shape: &&mut NewShape| {
            let origins = [shape.into, into].map(|into| into.translation.length());
            bounds.are_alike(&shape.maps, &maps, origins[0].max(origins[1]))
        };
        match found.iter_mut().find(is_alike) {
            Some(shape) => shape.instances.extend(instances),
            None => found.push(NewShape {
                maps,
                into,
                instances: instances.clone(),
            }),
        }
    }
    (found, is_kept)
}

/// The meshes that a skin moves, each with its instances.
fn skinned(document: &Document) -> Result<BTreeMap<MeshId, Drawn>, RigError> {
    let mut found: BTreeMap<MeshId, Drawn> = BTreeMap::new();
    for (&id, instance) in &document.instances {
        let drawn = found.entry(instance.mesh).or_default();
        drawn.entry(instance.skin).or_default().push(id);
    }
    found.retain(|_, drawn| drawn.keys().any(Option::is_some));
    for mesh in found.keys() {
        let Some(item) = document.meshes.get(mesh) else {
            continue;
        };
        let mut groups = item.clusters.groups().iter();
        if groups.any(|group| group.base.has_controls()) {
            return Err(RigError::Value(format!(
                "“{}” has clusters with control points, which are places in this mesh: delete them first.",
                item.geometry.name
            )));
        }
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
