//! Other shapes of a model -> the displacements of samples: a sculpted mesh, another deformer stack, a morph target.

use super::skinned_instance;
use crate::deform::{Captured, DeformStack, InstancePlan, capture};
use crate::document::{Document, Instance, InstanceId, MeshId, MeshItem};
use crate::evaluate::Evaluator;
use crate::evaluate::gauge::with_stacks;
use crate::io::{ImportError, is_obj, open_any, read_obj_positions};
use crate::skeleton::PoseAt;
use crate::task::{Cancelled, Task};
use glam::Vec3;
use std::collections::BTreeMap;
use std::path::Path;

/// A point that is closer to the posed shape was not sculpted, as a fraction of the diagonal.
const UNMOVED: f32 = 1e-6;

/// What was sculpted of each skinned mesh of `document` in a pose at its moment: the rest pose of the model or project at `path`, or the
/// positions of an OBJ file. Fails with a sentence.
pub fn of_file<'p>(
    document: &Document,
    at: impl Into<PoseAt<'p>>,
    path: &Path,
    task: &Task,
) -> Result<BTreeMap<MeshId, Captured>, String> {
    let captured = if is_obj(path) {
        let positions = read_obj_positions(path, task);
        let positions = positions.map_err(|why| match why {
            // It names the file.
            ImportError::Io { .. } => why.to_string(),
            why => format!("{}: {why}", path.display()),
        })?;
        of_positions(document, at, &positions, task)
    } else {
        let opened = open_any(path, task).map_err(|why| why.to_string())?;
        of_sculpted_model(document, at, &opened.document, task)
    };
    captured.map_err(|why| format!("{} {why}.", path.display()))
}

/// Why there is nothing to capture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SculptError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// No skinned mesh has that morph target, or there is none at all.
    #[error("is on no skinned mesh of the model")]
    NoMesh,
    /// No mesh of the sculpt has the vertices of a skinned mesh.
    #[error("has no mesh with the vertices of a skinned mesh of the model")]
    Unlike,
    /// The shapes are the same in this pose.
    #[error("does not differ from the model in this pose: there is nothing to extract")]
    Same,
}

/// What was sculpted of each skinned mesh of `document` in a pose at its moment: `sculpted` is a model of the same topology, whose rest
/// pose, as any viewer shows it, is the target.
pub fn of_sculpted_model<'p>(
    document: &Document,
    at: impl Into<PoseAt<'p>>,
    sculpted: &Document,
    task: &Task,
) -> Result<BTreeMap<MeshId, Captured>, SculptError> {
    let sculpted = with_stacks(sculpted, |_| DeformStack::lbs());
    let (mut posed, mut other) = (Evaluator::default(), Evaluator::default());
    task.step("Posing the model", 0.0)?;
    posed.evaluate(document, at);
    task.step("Reading the sculpt", 0.5)?;
    other.evaluate(&sculpted, sculpted.rest_pose());
    task.check()?;
    let mut found = BTreeMap::new();
    let mut any_like = false;
    let served = served(document, &posed, &sculpted, &other);
    for (&id, instance) in document.instances() {
        if instance.skin.is_none() || found.contains_key(&instance.mesh) {
            continue;
        }
        let (Some(plan), Some(item)) = (posed.plan(id), document.meshes().get(&instance.mesh))
        else {
            continue;
        };
        let Some(&like) = served.get(&id) else {
            continue;
        };
        any_like = true;
        let Some(other) = other.plan(like) else {
            continue;
        };
        let their_mesh = sculpted.instances()[&like].mesh;
        let their_points = &sculpted.meshes()[&their_mesh].geometry.point_of_vertex;
        let first_vertex = item.geometry.first_vertex_of_point();
        let places = first_vertex.iter().map(|&vertex| {
            let point = their_points[vertex as usize];
            other.positions()[point as usize]
        });
        let captured = difference(plan, item, places);
        if !captured.displacements.is_empty() {
            found.insert(instance.mesh, captured);
        }
    }
    if !any_like {
        return Err(SculptError::Unlike);
    }
    if found.is_empty() {
        return Err(SculptError::Same);
    }
    Ok(found)
}

/// What was sculpted of each skinned mesh of `document` in a pose at its moment: world positions as an OBJ file lists them, of the points
/// of all instances in order, or of the points or vertices of one skinned mesh.
pub fn of_positions<'p>(
    document: &Document,
    at: impl Into<PoseAt<'p>>,
    positions: &[Vec3],
    task: &Task,
) -> Result<BTreeMap<MeshId, Captured>, SculptError> {
    let mut posed = Evaluator::default();
    task.step("Posing the model", 0.0)?;
    posed.evaluate(document, at);
    task.check()?;
    let n_points = |mesh: MeshId| document.meshes()[&mesh].geometry.n_points();
    let instances = document.instances().iter();
    let n_all: usize = instances.map(|(_, i)| n_points(i.mesh)).sum();
    let mut first = 0;
    let mut found = BTreeMap::new();
    let mut any_like = false;
    // Positions of one mesh are for one: the active one, else the nearest.
    let active = document.session().active_mesh;
    let is_like = |instance: &Instance| {
        let geometry = &document.meshes()[&instance.mesh].geometry;
        instance.skin.is_some()
            && [geometry.n_points(), geometry.n_vertices()].contains(&positions.len())
    };
    let like = document.instances().iter().filter(|(_, i)| is_like(i));
    let distance = |id: &InstanceId| {
        let plan = posed.plan(*id);
        plan.map_or(f32::INFINITY, |plan| {
            centre(&plan.base_positions()).distance(centre(positions))
        })
    };
    let one = like
        .min_by(|(a, i), (b, k)| {
            let is_other = |instance: &Instance| Some(instance.mesh) != active;
            let nearer = distance(a).total_cmp(&distance(b));
            is_other(i).cmp(&is_other(k)).then(nearer)
        })
        .map(|(_, instance)| instance.mesh);
    for (&id, instance) in document.instances() {
        let item = &document.meshes()[&instance.mesh];
        let n = n_points(instance.mesh);
        let of_all = positions
            .get(first..first + n)
            .filter(|_| positions.len() == n_all);
        first += n;
        if instance.skin.is_none()
            || found.contains_key(&instance.mesh)
            || (of_all.is_none() && one != Some(instance.mesh))
        {
            continue;
        }
        let Some(plan) = posed.plan(id) else {
            continue;
        };
        let of_points = of_all.or((positions.len() == n).then_some(positions));
        let is_of_vertices = positions.len() == item.geometry.n_vertices();
        let of_vertices = is_of_vertices.then(|| {
            let vertices = item.geometry.first_vertex_of_point();
            let places = vertices.iter().map(|&v| positions[v as usize]);
            places.collect::<Vec<Vec3>>()
        });
        // A mesh without seams has as many points as vertices: the nearer order is meant.
        let base = plan.base_positions();
        let distance = |places: &Vec<Vec3>| {
            let pairs = places.iter().zip(&*base);
            pairs
                .map(|(a, b)| f64::from(a.distance_squared(*b)))
                .sum::<f64>()
        };
        let candidates = of_points
            .map(<[Vec3]>::to_vec)
            .into_iter()
            .chain(of_vertices);
        let Some(places) = candidates.min_by(|a, b| distance(a).total_cmp(&distance(b))) else {
            continue;
        };
        any_like = true;
        let captured = difference(plan, item, places.into_iter());
        if !captured.displacements.is_empty() {
            found.insert(instance.mesh, captured);
        }
    }
    match (any_like, found.is_empty()) {
        (false, _) => Err(SculptError::Unlike),
        (_, true) => Err(SculptError::Same),
        _ => Ok(found),
    }
}

/// The difference of a mesh's shape in `fuller`, the same model with other stacks, from its own shape without samples.
pub fn of_stack<'p>(
    document: &Document,
    mesh: MeshId,
    at: impl Into<PoseAt<'p>>,
    fuller: &Document,
    task: &Task,
) -> Result<Captured, SculptError> {
    let own = document.clone().without_correctives();
    let at = at.into();
    of_shapes((&own, at), (fuller, at), mesh, task)
}

/// What a morph target of a mesh, at full weight, adds to its shape in a pose.
pub fn of_morph_target<'p>(
    document: &Document,
    mesh: MeshId,
    at: impl Into<PoseAt<'p>>,
    target: usize,
    task: &Task,
) -> Result<Captured, SculptError> {
    let own = document.clone().without_correctives();
    let at = at.into();
    let with = |weight: f32| {
        let mut pose = at.pose.clone();
        let instances = document.instances().values();
        for instance in instances.filter(|i| i.mesh == mesh) {
            let weights = pose.morph_weights.get_mut(instance.joint.get());
            if let Some(slot) = weights.and_then(|weights| weights.get_mut(target)) {
                *slot = weight;
            }
        }
        pose
    };
    let (without, full) = (with(0.0), with(1.0));
    let (without, full) = (without.at(at.moment), full.at(at.moment));
    of_shapes((&own, without), (&own, full), mesh, task)
}

/// The difference of one shape of a mesh to another.
fn of_shapes(
    (from, from_pose): (&Document, PoseAt<'_>),
    (to, to_pose): (&Document, PoseAt<'_>),
    mesh: MeshId,
    task: &Task,
) -> Result<Captured, SculptError> {
    let instance = skinned_instance(from, mesh).ok_or(SculptError::Unlike)?;
    let (mut base, mut other) = (Evaluator::default(), Evaluator::default());
    task.step("Posing the model", 0.0)?;
    base.evaluate(from, from_pose);
    task.step("Posing the model", 0.5)?;
    other.evaluate(to, to_pose);
    task.check()?;
    let plans = base.plan(instance).zip(other.plan(instance));
    let (base, other) = plans.ok_or(SculptError::Unlike)?;
    let places = other.positions().iter().copied();
    let captured = difference(base, &from.meshes()[&mesh], places);
    if captured.displacements.is_empty() {
        return Err(SculptError::Same);
    }
    Ok(captured)
}

/// The capture of the points that moved. `places`: n_points.
fn difference(
    plan: &InstancePlan,
    item: &MeshItem,
    places: impl Iterator<Item = Vec3>,
) -> Captured {
    let base = plan.base_positions();
    let tolerance = UNMOVED * diagonal(&base);
    let places = (0..).zip(base.iter().zip(places));
    let moved = places.filter_map(|(point, (from, place))| {
        (place.distance(*from) > tolerance).then_some((point, place))
    });
    let moved: Vec<(u32, Vec3)> = moved.collect();
    capture(plan, &item.stack, &item.masks, &moved)
}

/// The instances that are read from a sculpted model, each with its own there. One sculpt is for one mesh: for that of its
/// name, else the active one, else the nearest.
fn served(
    document: &Document,
    posed: &Evaluator,
    sculpted: &Document,
    other: &Evaluator,
) -> BTreeMap<InstanceId, InstanceId> {
    let mut candidates: BTreeMap<InstanceId, Vec<InstanceId>> = BTreeMap::new();
    for (&id, instance) in document.instances() {
        if instance.skin.is_some()
            && let Some(like) = like(document, instance, sculpted)
        {
            candidates.entry(like).or_default().push(id);
        }
    }
    let mesh_of = |id: &InstanceId| document.instances()[id].mesh;
    let name_of = |document: &Document, id: &InstanceId| {
        let joint = document.instances()[id].joint;
        document.skeleton().joint(joint).name.clone()
    };
    let mut served = BTreeMap::new();
    for (like, ids) in candidates {
        let wanted = name_of(sculpted, &like);
        let named = ids.iter().find(|id| name_of(document, id) == wanted);
        let active = document.session().active_mesh;
        let active = ids.iter().find(|id| Some(mesh_of(id)) == active);
        let distance = |id: &&InstanceId| {
            let plans = posed.plan(**id).zip(other.plan(like));
            let centres =
                plans.map(|(a, b)| centre(&a.base_positions()).distance(centre(b.positions())));
            centres.unwrap_or(f32::INFINITY)
        };
        let nearest = || {
            ids.iter()
                .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        };
        if let Some(&id) = named.or(active).or_else(nearest) {
            served.insert(id, like);
        }
    }
    served
}

/// The middle of the box around some positions.
fn centre(positions: &[Vec3]) -> Vec3 {
    let (low, high) = positions
        .iter()
        .fold((Vec3::MAX, Vec3::MIN), |(low, high), p| {
            (low.min(*p), high.max(*p))
        });
    low.midpoint(high)
}

/// The instance of another document that has the vertices of this one: that of the same node name, else the only one.
fn like(document: &Document, instance: &Instance, other: &Document) -> Option<InstanceId> {
    let counts = |document: &Document, mesh: MeshId| {
        let primitives = document.meshes().get(&mesh)?.geometry.primitives.iter();
        Some(primitives.map(|p| p.vertices.len()).collect::<Vec<_>>())
    };
    let wanted = counts(document, instance.mesh)?;
    let same = other.instances().iter();
    let same = same.filter(|(_, i)| counts(other, i.mesh).as_ref() == Some(&wanted));
    let same: Vec<_> = same.collect();
    let name = &document.skeleton().joint(instance.joint).name;
    let named = same
        .iter()
        .find(|(_, i)| &other.skeleton().joint(i.joint).name == name);
    match (named, &same[..]) {
        (Some((id, _)), _) | (None, [(id, _)]) => Some(**id),
        _ => None,
    }
}

fn diagonal(positions: &[Vec3]) -> f32 {
    let (low, high) = positions
        .iter()
        .fold((Vec3::MAX, Vec3::MIN), |(low, high), p| {
            (low.min(*p), high.max(*p))
        });
    (high - low).max(Vec3::ZERO).length()
}
