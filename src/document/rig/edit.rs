//! The edit of the rig.

use super::bind_skin::places;
use super::constraints;
use super::larger::larger;
use crate::cluster::ClusterMap;
use crate::deform::Correctives;
use crate::document::validity::{check_pose, check_row, check_skin};
use crate::document::{
    ClipId, Dirty, Document, EditError, InfluenceEdit, Instance, InstanceId, KeptOfMeshes, MeshId,
    MeshItem, Skin, SkinId,
};
use crate::mesh::Mesh;
use crate::skeleton::constraint::Constraints;
use crate::skeleton::library_pose::PoseLibrary;
use crate::skeleton::{Channel, Clip, Joint, JointId, Pose, Skeleton};
use crate::skinning::influences::CHUNK;
use crate::skinning::{Influences, Rows};
use glam::{DAffine3, DVec3};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The largest displacement of the rest-pose mesh by changed skin matrices, as a fraction of its diagonal.
const REST_TOLERANCE: f64 = 1e-6;

/// Everything that a change of the joints affects; [`Edit::Rig`](crate::document::Edit::Rig) exchanges it with the
/// document.
#[derive(Clone, Debug)]
pub struct RigEdit {
    pub(super) skeleton: Arc<Skeleton>,
    skins: BTreeMap<SkinId, Arc<Skin>>,
    instances: BTreeMap<InstanceId, Arc<Instance>>,
    clips: BTreeMap<ClipId, Arc<Clip>>,
    poses: Arc<PoseLibrary>,
    pose: Arc<Pose>,
    rest_pose: Arc<Pose>,
    locked: Arc<BTreeSet<JointId>>,
    constraints: Arc<Constraints>,
    kept_weights: Arc<KeptOfMeshes>,
    /// Samples whose drivers changed.
    correctives: BTreeMap<MeshId, Arc<Correctives>>,
    /// Control clusters whose drivers changed.
    clusters: BTreeMap<MeshId, Arc<ClusterMap>>,
    /// Meshes with other points.
    geometry: BTreeMap<MeshId, Arc<Mesh>>,
    /// The meshes whose points are not the source's.
    reshaped: Arc<BTreeSet<MeshId>>,
    /// Meshes that are new; `None` where the document has one that the edit takes.
    meshes: BTreeMap<MeshId, Option<Arc<MeshItem>>>,
    mesh_copies: Arc<BTreeMap<MeshId, MeshId>>,
    /// Changed rows, in the base and in each layer.
    rows: Vec<InfluenceEdit>,
    /// New joints, each with the joint whose colour, visibility and pin it copies.
    pub(super) inherits: Vec<(JointId, JointId)>,
    /// What the edit may move in the rest pose.
    pub(super) at_rest: AtRest,
    /// Whether the rows of removed joints are restored later.
    pub(super) restores: bool,
    bytes: usize,
}

/// What a change of the rig may move in the rest pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AtRest {
    /// Nothing.
    #[default]
    Nothing,
    /// Rigid meshes, which follow their joints; skinned ones stay.
    RigidMeshes,
    /// Every mesh.
    All,
}

impl RigEdit {
    /// The edit from `before` to `after`, which differ in joints, skins, instances, clips, poses, locks, rows,
    /// drivers of samples, shapes and copies of meshes.
    pub fn between(before: &Document, after: &Document) -> Self {
        let (mut rows, mut correctives) = (Vec::new(), BTreeMap::new());
        let (mut clusters, mut geometry) = (BTreeMap::new(), BTreeMap::new());
        for (&mesh, item) in &after.meshes {
            if let Some(old) = before.meshes.get(&mesh) {
                add_rows(mesh, old, item, &mut rows);
                if !Arc::ptr_eq(&old.correctives, &item.correctives) {
                    correctives.insert(mesh, item.correctives.clone());
                }
                if !Arc::ptr_eq(&old.clusters, &item.clusters) {
                    clusters.insert(mesh, item.clusters.clone());
                }
                if !Arc::ptr_eq(&old.geometry, &item.geometry) {
                    geometry.insert(mesh, item.geometry.clone());
                }
            }
        }
        let gone = before
            .meshes
            .keys()
            .filter(|id| !after.meshes.contains_key(id));
        let mut meshes: BTreeMap<_, _> = gone.map(|&id| (id, None)).collect();
        for (&id, item) in &after.meshes {
            if !before.meshes.contains_key(&id) {
                meshes.insert(id, Some(item.clone()));
            }
        }
        let mut edit = Self {
            skeleton: after.skeleton.clone(),
            skins: after.skins.clone(),
            instances: after.instances.clone(),
            clips: after.clips.clone(),
            poses: after.poses.clone(),
            pose: after.pose.clone(),
            rest_pose: after.rest_pose.clone(),
            locked: after.locked.clone(),
            constraints: after.constraints.clone(),
            kept_weights: after.kept_weights.clone(),
            correctives,
            clusters,
            geometry,
            reshaped: after.reshaped.clone(),
            meshes,
            mesh_copies: after.mesh_copies.clone(),
            rows,
            inherits: Vec::new(),
            at_rest: AtRest::Nothing,
            restores: false,
            bytes: 0,
        };
        edit.bytes = edit.bytes_beside(before);
        edit
    }

    /// The edit from `before` to `after`, which `steps` led to one after another.
    pub fn of_steps(before: &Document, after: &Document, steps: &[Self]) -> Self {
        let mut edit = Self::between(before, after);
        let inherits = steps.iter().flat_map(|step| step.inherits.iter().copied());
        edit.inherits = inherits.collect();
        for step in steps {
            if step.at_rest != AtRest::Nothing && edit.at_rest != AtRest::All {
                edit.at_rest = step.at_rest;
            }
        }
        edit
    }

    /// The edit, marked as one that moves meshes in the rest pose on purpose.
    #[must_use]
    pub(super) fn moving_at_rest(mut self, what: AtRest) -> Self {
        self.at_rest = what;
        self
    }

    /// Whether `document` has all that the edit would give it.
    pub fn changes_nothing(&self, document: &Document) -> bool {
        self.rows.is_empty()
            && self.correctives.is_empty()
            && self.clusters.is_empty()
            && self.geometry.is_empty()
            && self.meshes.is_empty()
            && self.skeleton == document.skeleton
            && self.skins == document.skins
            && self.instances == document.instances
            && self.clips == document.clips
            && self.poses == document.poses
            && self.pose == document.pose
            && self.rest_pose == document.rest_pose
            && self.locked == document.locked
            && self.constraints == document.constraints
            && self.kept_weights == document.kept_weights
    }

    /// The names of the meshes that the edit adds.
    pub fn new_meshes(&self) -> impl Iterator<Item = &str> {
        let new = self.meshes.values().flatten();
        new.map(|item| item.geometry.name.as_str())
    }

    /// The points whose rows change, over all meshes.
    pub fn n_points(&self) -> usize {
        let mut points: BTreeSet<(MeshId, u32)> = BTreeSet::new();
        for edit in &self.rows {
            points.extend(edit.points.iter().map(|&point| (edit.mesh, point)));
        }
        points.len()
    }

    /// Checks the edit on a scratch copy of the document.
    pub(in crate::document) fn check(&self, document: &Document) -> Result<(), EditError> {
        let mut scratch = document.clone();
        self.clone().swap(&mut scratch, &mut Dirty::default());
        let refused = |why: String| Err(EditError::Rig(why));
        check_arena(&document.skeleton, &scratch.skeleton).or_else(refused)?;
        check_poses(&scratch).or_else(refused)?;
        check_skins(document, &scratch).or_else(refused)?;
        check_instances(document, &scratch).or_else(refused)?;
        for (mesh, geometry) in &self.geometry {
            check_geometry(document, *mesh, geometry).or_else(refused)?;
        }
        for (mesh, item) in &self.meshes {
            if let Some(item) = item {
                let of = scratch.mesh_of_file(*mesh);
                check_geometry(document, of, &item.geometry).or_else(refused)?;
            }
        }
        for pose in scratch.poses.values() {
            (scratch.check_pose_clip(pose)).or_else(refused)?;
        }
        for clip in scratch.clips.values() {
            scratch.check_clip(clip).map_err(|why| EditError::Clip {
                name: clip.name.clone(),
                why,
            })?;
        }
        let mut locked = scratch.locked.iter();
        if let Some(joint) = locked.find(|&&j| !scratch.skeleton.is_live(j)) {
            return refused(format!("removed bone {} is locked", joint.0));
        }
        for (joint, entry) in (0..).map(JointId).zip(scratch.skeleton.joints()) {
            if !entry.removed {
                entry
                    .rule
                    .check(joint, &scratch.skeleton)
                    .map_err(|why| EditError::JointRule {
                        joint: entry.name.clone(),
                        why,
                    })?;
            }
        }
        constraints::check(document, &scratch, self.restores)?;
        for rows in &self.rows {
            rows.check(&scratch)?;
        }
        check_weights(&scratch, self.restores).or_else(refused)?;
        for (&mesh, item) in &scratch.meshes {
            scratch.check_correctives(mesh, &item.correctives)?;
            scratch.check_clusters(mesh, &item.clusters)?;
        }
        if self.at_rest == AtRest::All {
            return Ok(());
        }
        let rigid_follow = self.at_rest == AtRest::RigidMeshes;
        check_rest(document, &scratch, rigid_follow).or_else(refused)
    }

    /// Exchanges the payload with the document's.
    pub(in crate::document) fn swap(&mut self, document: &mut Document, dirty: &mut Dirty) {
        std::mem::swap(&mut self.skeleton, &mut document.skeleton);
        std::mem::swap(&mut self.skins, &mut document.skins);
        std::mem::swap(&mut self.instances, &mut document.instances);
        std::mem::swap(&mut self.clips, &mut document.clips);
        std::mem::swap(&mut self.poses, &mut document.poses);
        std::mem::swap(&mut self.pose, &mut document.pose);
        std::mem::swap(&mut self.rest_pose, &mut document.rest_pose);
        std::mem::swap(&mut self.locked, &mut document.locked);
        std::mem::swap(&mut self.constraints, &mut document.constraints);
        std::mem::swap(&mut self.kept_weights, &mut document.kept_weights);
        document.order_constraints();
        for rows in &mut self.rows {
            rows.swap(document, dirty);
        }
        for (mesh, correctives) in &mut self.correctives {
            if let Some(item) = document.meshes.get_mut(mesh) {
                std::mem::swap(&mut Arc::make_mut(item).correctives, correctives);
            }
            dirty.correctives.insert(*mesh);
        }
        for (mesh, clusters) in &mut self.clusters {
            if let Some(item) = document.meshes.get_mut(mesh) {
                std::mem::swap(&mut Arc::make_mut(item).clusters, clusters);
            }
            dirty.clusters.insert(*mesh);
        }
        std::mem::swap(&mut self.reshaped, &mut document.reshaped);
        std::mem::swap(&mut self.mesh_copies, &mut document.mesh_copies);
        for (&mesh, other) in &mut self.meshes {
            *other = match other.take() {
                Some(item) => document.meshes.insert(mesh, item),
                None => document.meshes.remove(&mesh),
            };
        }
        for (mesh, geometry) in &mut self.geometry {
            if let Some(item) = document.meshes.get_mut(mesh) {
                std::mem::swap(&mut Arc::make_mut(item).geometry, geometry);
            }
        }
        let (now, before) = (document.skeleton.clone(), &self.skeleton);
        let session = document.session_mut();
        session.follow_skeleton(&now);
        for &(joint, other) in &self.inherits {
            if now.is_live(joint) && !before.is_live(joint) {
                session.inherit_joint(joint, other);
            }
        }
        let same = |id: &ClipId| match (self.clips.get(id), document.clips.get(id)) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let ids = self.clips.keys().chain(document.clips.keys());
        dirty.clips.extend(ids.copied().filter(|id| !same(id)));
        if !Arc::ptr_eq(&self.poses, &document.poses) {
            let ids = self.poses.keys().chain(document.poses.keys());
            dirty.poses.extend(ids.copied());
        }
        dirty.rig = true;
        dirty.joints = true;
        dirty.pose = true;
    }

    /// Bytes that the payload keeps alive.
    pub(in crate::document) fn heap_bytes(&self) -> usize {
        let rows = self.rows.iter();
        let rows = rows.map(|edit| edit.points.capacity() * 4 + edit.rows.heap_bytes());
        self.bytes + rows.sum::<usize>()
    }

    /// Bytes that this payload and the document do not share; of the larger of the two, since undo and redo swap them.
    fn bytes_beside(&self, document: &Document) -> usize {
        let clips = larger_beside(&self.clips, &document.clips)
            + larger_beside(&self.poses, &document.poses);
        let n_joints = self.skeleton.len().max(document.skeleton.len());
        let per_joint = size_of::<Joint>() + 2 * size_of::<crate::math::Transform>() + 32;
        let skins = self.skins.values().map(|skin| skin.joints.len());
        let skins = skins.sum::<usize>() * (size_of::<JointId>() + size_of::<DAffine3>());
        let samples = self.correctives.iter().filter_map(|(mesh, correctives)| {
            let other = &document.meshes.get(mesh)?.correctives;
            Some(correctives.bytes_beside(other))
        });
        let clusters = self.clusters.iter().filter_map(|(mesh, clusters)| {
            let other = &document.meshes.get(mesh)?.clusters;
            Some(clusters.bytes_beside(other))
        });
        let shapes = self.geometry.values().map(|mesh| mesh.heap_bytes());
        let added = self.meshes.values().flatten();
        let shapes = shapes.chain(added.map(|item| item.geometry.heap_bytes()));
        let beside = samples.sum::<usize>() + clusters.sum::<usize>() + shapes.sum::<usize>();
        clips + n_joints * per_joint + skins + beside
    }
}

/// Bytes of the clips of one of two maps that the other does not share; of the larger of the two.
fn larger_beside<K: Ord>(a: &BTreeMap<K, Arc<Clip>>, b: &BTreeMap<K, Arc<Clip>>) -> usize {
    let one_way = |a: &BTreeMap<K, Arc<Clip>>, b: &BTreeMap<K, Arc<Clip>>| -> usize {
        let pairs = a.iter().map(|(id, clip)| (clip, b.get(id)));
        pairs.map(|(clip, other)| clip_bytes(clip, other)).sum()
    };
    one_way(a, b).max(one_way(b, a))
}

/// Bytes of the keyframes that `clip` does not share with `other`.
fn clip_bytes(clip: &Arc<Clip>, other: Option<&Arc<Clip>>) -> usize {
    if other.is_some_and(|other| Arc::ptr_eq(clip, other)) {
        return 0;
    }
    let of = |c: &Channel| (c.times.as_ptr(), c.values.as_ptr());
    let known: BTreeSet<_> = other
        .iter()
        .flat_map(|o| o.channels.iter().map(of))
        .collect();
    let own = clip.channels.iter().filter(|c| !known.contains(&of(c)));
    own.map(|c| (c.times.len() + c.values.len()) * 4 + size_of::<Channel>())
        .sum()
}

/// The rows in which two states of a mesh differ.
fn add_rows(mesh: MeshId, before: &MeshItem, after: &MeshItem, edits: &mut Vec<InfluenceEdit>) {
    if after.layers.is_plain() {
        let edit = changed_rows(mesh, &before.influences, &after.influences);
        edits.extend(edit);
        return;
    }
    let pairs = before.layers.layers().iter().zip(after.layers.layers());
    for (old, new) in pairs.filter(|(old, new)| !Arc::ptr_eq(old, new)) {
        let edit = changed_rows(mesh, &old.rows, &new.rows);
        edits.extend(edit.map(|edit| edit.in_layer(new.id)));
    }
}

fn changed_rows(mesh: MeshId, before: &Influences, after: &Influences) -> Option<InfluenceEdit> {
    let (mut points, mut rows) = (Vec::new(), Rows::default());
    for (c, (old, new)) in before.chunks().iter().zip(after.chunks()).enumerate() {
        if Arc::ptr_eq(old, new) || old.same_bits(new) {
            continue;
        }
        for (i, (a, b)) in old.iter().zip(new.iter()).enumerate() {
            let bits = |weights: &[f32]| weights.iter().map(|w| w.to_bits()).collect::<Vec<_>>();
            if a.joints != b.joints || bits(a.weights) != bits(b.weights) {
                points.push((c * CHUNK + i) as u32);
                rows.push(b);
            }
        }
    }
    (!points.is_empty()).then(|| InfluenceEdit::new(mesh, points, rows))
}

/// Slots keep their joints: one list is a prefix of the other.
fn check_arena(before: &Skeleton, after: &Skeleton) -> Result<(), String> {
    let mut pairs = before.joints().iter().zip(after.joints());
    match pairs.position(|(a, b)| a.source_node != b.source_node) {
        Some(slot) => Err(format!("slot {slot} of the bones would change its node")),
        None => Ok(()),
    }
}

fn check_poses(document: &Document) -> Result<(), String> {
    let skeleton = &document.skeleton;
    for (which, pose) in [("pose", &document.pose), ("rest pose", &document.rest_pose)] {
        check_pose(pose, skeleton).map_err(|why| format!("the {which} is not valid: {why}"))?;
    }
    let differs = |j: &JointId| document.rest_pose.locals[j.get()] != skeleton.joint(*j).rest;
    match skeleton.live_joints().find(differs) {
        Some(joint) => {
            let label = skeleton.label(joint);
            Err(format!(
                "the rest pose of \"{label}\" is not its rest transform"
            ))
        }
        None => Ok(()),
    }
}

fn check_skins(before: &Document, after: &Document) -> Result<(), String> {
    for (id, skin) in &after.skins {
        let place = || format!("skin {} \"{}\"", id.0, skin.name);
        check_skin(skin, &after.skeleton).map_err(|why| format!("{}: {why}", place()))?;
        let old = before.skins.get(id).map_or(&[][..], |old| &old.joints);
        if skin.joints.iter().zip(old).any(|(a, b)| a != b) {
            return Err(format!("a slot of {} would change its bone", place()));
        }
        for matrix in &skin.inverse_bind {
            if !matrix.is_finite() {
                return Err(format!(
                    "{} has an inverse bind matrix that is not finite",
                    place()
                ));
            }
        }
        if !skin.joints.iter().any(|&j| after.skeleton.is_live(j)) {
            return Err(format!("{} would have no bone", place()));
        }
    }
    Ok(())
}

/// A mesh with other points has as many of all, and no infinite ones.
fn check_geometry(document: &Document, mesh: MeshId, shape: &Mesh) -> Result<(), String> {
    let Some(item) = document.meshes.get(&mesh) else {
        return Err(format!("mesh {} does not exist", mesh.0));
    };
    let before = &item.geometry;
    let counts = |mesh: &Mesh| {
        let deltas = mesh.morphs.iter().map(|morph| morph.deltas.len());
        let deltas: Vec<usize> = deltas.collect();
        (mesh.positions.len(), mesh.normals.len(), deltas)
    };
    let name = &before.name;
    if counts(before) != counts(shape) {
        return Err(format!("“{name}” would get another number of vertices"));
    }
    let deltas = shape.morphs.iter().flat_map(|morph| &morph.deltas);
    let mut all = shape.positions.iter().chain(&shape.normals).chain(deltas);
    if all.all(|v| v.is_finite()) {
        Ok(())
    } else {
        Err(format!("“{name}” would get vertices that are not finite"))
    }
}

fn check_instances(before: &Document, after: &Document) -> Result<(), String> {
    if !before.instances.keys().eq(after.instances.keys()) {
        return Err("an object would be added or removed".into());
    }
    for (id, instance) in &after.instances {
        let is_known = after.skeleton.is_live(instance.joint)
            && after.meshes.contains_key(&instance.mesh)
            && instance
                .skin
                .is_none_or(|skin| after.skins.contains_key(&skin));
        if !is_known {
            return Err(format!(
                "object {} refers to something that does not exist",
                id.0
            ));
        }
    }
    Ok(())
}

/// Points have no weight for slots that their skin does not have, nor for removed joints unless they are still to be
/// `restored`.
fn check_weights(document: &Document, restored: bool) -> Result<(), String> {
    for (&mesh, item) in &document.meshes {
        if document.skin_of_mesh(mesh).is_none() {
            continue;
        }
        let mut live = document.live_slots(mesh);
        if restored {
            live.fill(true);
        }
        let layers = item.layers.layers().iter().map(|layer| &layer.rows);
        for rows in layers.chain([&item.influences]) {
            for (point, row) in rows.iter().enumerate() {
                let name = &item.geometry.name;
                check_row(row, &live)
                    .map_err(|why| format!("vertex {point} of \"{name}\" would have {why}"))?;
            }
        }
    }
    Ok(())
}

/// Skin matrices of the rest pose, and the nodes of rigid meshes unless these follow their joints, stay the same, measured
/// at the corners of the bounding boxes of what they move.
fn check_rest(before: &Document, after: &Document, rigid_follow: bool) -> Result<(), String> {
    let world = [before, after].map(|d| d.rest_pose.world_matrices(&d.skeleton));
    for (id, instance) in &after.instances {
        let (Some(was), Some(item)) = (before.instances.get(id), after.meshes.get(&instance.mesh))
        else {
            continue;
        };
        let Some(corners) = corners(item.geometry.positions.iter().map(|p| p.as_dvec3())) else {
            continue;
        };
        let check = |joint: JointId, matrices: [DAffine3; 2]| {
            let places = corners.map(|c| matrices.map(|m| m.transform_point3(c)));
            let diagonal = places[0][0].distance(places[7][0]);
            let apart = places.iter().map(|[a, b]| a.distance(*b));
            let apart = apart.fold(0.0, larger);
            // A mesh of one point has no diagonal.
            let rounding = 1e-12 * places[0][0].length();
            if apart <= REST_TOLERANCE * diagonal + rounding {
                return Ok(());
            }
            Err(format!(
                "\"{}\" would move the rest-pose mesh by {:.2e} of its size",
                after.skeleton.label(joint),
                apart / diagonal
            ))
        };
        if was.skin.is_some() != instance.skin.is_some() {
            // Bound, or taken back: every joint places the mesh where its node did.
            let old = places(before, &world[0], was);
            let new = places(after, &world[1], instance);
            for &(_, from) in &old {
                for &(joint, to) in &new {
                    check(joint, [from, to])?;
                }
            }
            continue;
        }
        let skins = instance.skin.and_then(|skin| {
            let (old, new) = (before.skins.get(&skin)?, after.skins.get(&skin)?);
            Some((old, new))
        });
        let Some((old, new)) = skins else {
            if rigid_follow {
                continue;
            }
            let nodes = [world[0][was.joint.get()], world[1][instance.joint.get()]];
            check(instance.joint, nodes)?;
            continue;
        };
        for (slot, &joint) in new.joints.iter().enumerate().take(old.joints.len()) {
            if before.skeleton.is_live(joint) && after.skeleton.is_live(joint) {
                let matrices = [(&world[0], old), (&world[1], new)]
                    .map(|(world, skin)| world[joint.get()] * skin.inverse_bind[slot]);
                check(joint, matrices)?;
            }
        }
    }
    Ok(())
}

/// The corners of the bounding box of the finite ones of some positions, the lowest first and the highest last; `None`
/// where there are none.
pub(super) fn corners(places: impl Iterator<Item = DVec3>) -> Option<[DVec3; 8]> {
    let bounds = places.filter(|p| p.is_finite()).map(|p| (p, p));
    let (low, high) = bounds.reduce(|(low, high), (p, _)| (low.min(p), high.max(p)))?;
    Some(std::array::from_fn(|i| {
        let pick = |axis: usize| {
            if i >> axis & 1 == 0 {
                low[axis]
            } else {
                high[axis]
            }
        };
        DVec3::new(pick(0), pick(1), pick(2))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_of_the_finite_positions() {
        assert_eq!(corners(std::iter::empty()), None);
        let places = [DVec3::NAN, DVec3::X, DVec3::INFINITY, DVec3::ONE];
        let corners = corners(places.into_iter()).unwrap();
        assert_eq!((corners[0], corners[7]), (DVec3::X, DVec3::ONE));
    }
}
