//! Other shapes of a model -> the displacements of samples: a sculpted mesh, another deformer stack, a morph target.

use super::skinned_instance;
use crate::deform::{Captured, DeformStack, InstancePlan, capture};
use crate::document::{Document, Instance, InstanceId, MeshId, MeshItem};
use crate::evaluate::Evaluator;
use crate::evaluate::gauge::with_stacks;
use crate::skeleton::Pose;
use crate::task::{Cancelled, Task};
use glam::Vec3;
use std::collections::BTreeMap;

/// A point that is closer to the posed shape was not sculpted, as a fraction of the diagonal.
const UNMOVED: f32 = 1e-6;

/// Why there is nothing to capture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SculptError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// No mesh of the sculpt has the vertices of a skinned mesh.
    #[error("has no mesh with the vertices of a skinned mesh of the model")]
    Unlike,
    /// The shapes are the same in this pose.
    #[error("does not differ from the model in this pose: there is nothing to extract")]
    Same,
}

/// What was sculpted of each skinned mesh of `document` in `pose`: `sculpted` is a model of the same topology, whose rest
/// pose, as any viewer shows it, is the target.
pub fn of_sculpted_model(
    document: &Document,
    pose: &Pose,
    sculpted: &Document,
    task: &Task,
) -> Result<BTreeMap<MeshId, Captured>, SculptError> {
    let sculpted = with_stacks(sculpted, |_| DeformStack::lbs());
    let (mut posed, mut other) = (Evaluator::default(), Evaluator::default());
    task.step("Posing the model", 0.0)?;
    posed.evaluate(document, pose);
    task.step("Reading the sculpt", 0.5)?;
    other.evaluate(&sculpted, sculpted.rest_pose());
    task.check()?;
    let mut found = BTreeMap::new();
    let mut any_like = false;
    for (&id, instance) in document.instances() {
        if instance.skin.is_none() || found.contains_key(&instance.mesh) {
            continue;
        }
        let (Some(plan), Some(item)) = (posed.plan(id), document.meshes().get(&instance.mesh))
        else {
            continue;
        };
        let Some(like) = like(document, instance, &sculpted) else {
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

/// The difference of a mesh's shape in `fuller`, the same model with other stacks, from its own shape without samples.
pub fn of_stack(
    document: &Document,
    mesh: MeshId,
    pose: &Pose,
    fuller: &Document,
    task: &Task,
) -> Result<Captured, SculptError> {
    let own = document.clone().without_correctives();
    of_shapes((&own, pose), (fuller, pose), mesh, task)
}

/// What a morph target of a mesh, at full weight, adds to its shape in `pose`.
pub fn of_morph_target(
    document: &Document,
    mesh: MeshId,
    pose: &Pose,
    target: usize,
    task: &Task,
) -> Result<Captured, SculptError> {
    let own = document.clone().without_correctives();
    let with = |weight: f32| {
        let mut pose = pose.clone();
        let instances = document.instances().values();
        for instance in instances.filter(|i| i.mesh == mesh) {
            let weights = pose.morph_weights.get_mut(instance.joint.get());
            if let Some(slot) = weights.and_then(|weights| weights.get_mut(target)) {
                *slot = weight;
            }
        }
        pose
    };
    of_shapes((&own, &with(0.0)), (&own, &with(1.0)), mesh, task)
}

/// The difference of one shape of a mesh to another.
fn of_shapes(
    (from, from_pose): (&Document, &Pose),
    (to, to_pose): (&Document, &Pose),
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
    let tolerance = UNMOVED * diagonal(base);
    let places = (0..).zip(base.iter().zip(places));
    let moved = places.filter_map(|(point, (from, place))| {
        (place.distance(*from) > tolerance).then_some((point, place))
    });
    let moved: Vec<(u32, Vec3)> = moved.collect();
    capture(plan, &item.stack, &item.masks, &moved)
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
