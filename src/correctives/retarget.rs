//! Samples that were captured on another deformer stack: the same shape, or the same displacements, on the present one.

use super::skinned_instance;
use crate::deform::correctives::{Sample, SampleSet};
use crate::deform::{Correctives, capture, sculpted};
use crate::document::{Document, MeshId};
use crate::evaluate::Evaluator;
use crate::evaluate::gauge::with_stacks;
use crate::psd::PsdError;
use crate::skeleton::Pose;
use crate::task::{Cancelled, Task};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The samples of a mesh that were captured on another stack than the mesh has.
pub fn stale(document: &Document, mesh: MeshId) -> BTreeSet<usize> {
    let Some(item) = document.meshes().get(&mesh) else {
        return BTreeSet::new();
    };
    let samples = item.correctives.samples().iter().enumerate();
    let stale = samples.filter(|(_, sample)| sample.is_stale(&item.stack));
    stale.map(|(index, _)| index).collect()
}

/// The samples of a mesh with their displacements as they are, captured on its present stack from now on.
pub fn keep(
    document: &Document,
    mesh: MeshId,
    samples: &BTreeSet<usize>,
) -> Result<Correctives, PsdError> {
    let Some(item) = document.meshes().get(&mesh) else {
        return Ok(Correctives::default());
    };
    item.correctives.map_samples(|index, sample| {
        if !samples.contains(&index) {
            return Some(sample.clone());
        }
        let mut sample = Sample::clone(sample);
        sample.captured_on = item.stack.clone();
        Some(Arc::new(sample))
    })
}

/// The samples of a mesh, captured again on its present stack so that the points that each moves have the positions of
/// its sculpt at its pose: `d' = R'^T (F + R d - F')` for the shape F and rotation R of the stack that the sample was
/// captured on, F' and R' of the present one.
pub fn retarget(
    document: &Document,
    mesh: MeshId,
    samples: &BTreeSet<usize>,
    task: &Task,
) -> Result<Result<Correctives, PsdError>, Cancelled> {
    let (Some(item), Some(instance)) = (
        document.meshes().get(&mesh),
        skinned_instance(document, mesh),
    ) else {
        return Ok(Ok(Correctives::default()));
    };
    let correctives = &item.correctives;
    let bare = document.clone().without_correctives();
    let (mut before, mut now) = (Evaluator::default(), Evaluator::default());
    let mut changed: Vec<Option<Arc<Sample>>> = Vec::new();
    for set in correctives.sets() {
        for sample in &set.samples {
            let index = changed.len();
            if !samples.contains(&index) {
                changed.push(None);
                continue;
            }
            task.step(
                "Re-targeting samples",
                index as f32 / correctives.samples().len() as f32,
            )?;
            let pose = pose_of(document, correctives, set, sample);
            let on_theirs = with_stacks(&bare, |_| (*sample.captured_on).clone());
            before.evaluate(&on_theirs, &pose);
            now.evaluate(&bare, &pose);
            let (Some(theirs), Some(ours)) = (before.plan(instance), now.plan(instance)) else {
                changed.push(None);
                continue;
            };
            let (stack, masks) = (&sample.captured_on, &item.masks);
            let shape = sculpted(theirs, stack, masks, set, &sample.displacements);
            let mut sample = Sample::clone(sample);
            let captured = capture(ours, &item.stack, masks, &shape);
            sample.displacements = captured.for_set(set).clone();
            sample.captured_on = item.stack.clone();
            changed.push(Some(Arc::new(sample)));
        }
    }
    task.check()?;
    Ok(correctives.map_samples(|index, sample| {
        let new = changed.get_mut(index).and_then(Option::take);
        Some(new.unwrap_or_else(|| sample.clone()))
    }))
}

/// The rest pose with the drivers as they were when a sample was sculpted.
pub(super) fn pose_of(
    document: &Document,
    correctives: &Correctives,
    set: &SampleSet,
    sample: &Sample,
) -> Pose {
    let mut pose = Pose::clone(document.rest_pose());
    correctives.pose(set, sample, document.skeleton(), &mut pose.locals);
    document.constrain(&mut pose);
    pose
}
