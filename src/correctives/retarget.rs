//! Samples that were captured on another deformer stack, or over other weights: the same shape, or the same displacements,
//! on the present ones.

use super::{edit_of, skinned_instance};
use crate::deform::correctives::{Sample, SampleSet, Staleness};
use crate::deform::{Correctives, capture, sculpted};
use crate::document::{Document, Edit, MeshId};
use crate::evaluate::Evaluator;
use crate::evaluate::gauge::with_stacks;
use crate::finding::counted;
use crate::psd::PsdError;
use crate::skeleton::Pose;
use crate::task::{Cancelled, Task};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// The samples of a mesh that were captured on another stack than the mesh has, or over other weights or painted maps.
pub fn stale(document: &Document, mesh: MeshId) -> BTreeSet<usize> {
    document.stale_samples(mesh).into_keys().collect()
}

/// The samples of a mesh with their displacements as they are, captured on its present stack and weights from now on.
pub fn keep(
    document: &Document,
    mesh: MeshId,
    samples: &BTreeSet<usize>,
) -> Result<Correctives, PsdError> {
    let Some(item) = document.meshes().get(&mesh) else {
        return Ok(Correctives::default());
    };
    let over = document.captured_now(mesh);
    item.correctives.map_samples(|index, sample| {
        if !samples.contains(&index) {
            return Some(sample.clone());
        }
        let mut sample = Sample::clone(sample);
        sample.captured_on = item.stack.clone();
        sample.captured_over = over.clone();
        Some(Arc::new(sample))
    })
}

/// The result of [`retarget`].
#[derive(Clone, Debug, Default)]
pub struct Retargeted {
    /// The edit; `None` where no sample could be captured again.
    pub edit: Option<Edit>,
    /// The number of samples that were captured again.
    pub n_done: usize,
    /// The names of samples that stay as they are: the weights that they were captured over are not known.
    pub lost: Vec<String>,
    /// The number of vertices that keep their displacement, because they are scaled to nearly nothing in the pose of a
    /// sample.
    pub n_flat: usize,
    /// The number of vertices that follow their heaviest bone, because linear skinning collapses them in the pose of a
    /// sample.
    pub n_singular: usize,
}

impl Retargeted {
    /// Adds the result for another mesh; returns its edit.
    pub fn add(&mut self, other: Self) -> Option<Edit> {
        self.n_done += other.n_done;
        self.lost.extend(other.lost);
        self.n_flat += other.n_flat;
        self.n_singular += other.n_singular;
        other.edit
    }

    /// "2 samples re-targeted.", and what could not be.
    pub fn summary(&self) -> String {
        let mut text = match self.n_done {
            0 => "No sample was re-targeted.".to_owned(),
            n => format!("{} re-targeted.", counted(n, "sample")),
        };
        if self.n_flat > 0 {
            let _ = write!(
                text,
                " {} scaled to nearly nothing could not be captured and kept the old displacement.",
                counted(self.n_flat, "vertex")
            );
        }
        if self.n_singular > 0 {
            let _ = write!(
                text,
                " {} that linear skinning collapses follow their heaviest bone.",
                counted(self.n_singular, "vertex")
            );
        }
        if let [first, rest @ ..] = &self.lost[..] {
            let others = match rest.len() {
                0 => String::new(),
                n => format!(" and {}", counted(n, "other")),
            };
            let _ = write!(
                text,
                " \"{first}\"{others} could not be re-targeted, because the old weights are not known. Sculpt again, or keep \
                 the displacements."
            );
        }
        text
    }
}

/// The samples of a mesh, captured again on its present stack and weights so that the points that each moves have the
/// positions of its sculpt at its pose: `d' = R'^T (F + R d - F')` for the shape F and rotation R that the sample was
/// captured on, F' and R' of the present. Samples whose old weights are not known stay as they are.
pub fn retarget(
    document: &Document,
    mesh: MeshId,
    samples: &BTreeSet<usize>,
    task: &Task,
) -> Result<Result<Retargeted, PsdError>, Cancelled> {
    let (Some(item), Some(instance)) = (
        document.meshes().get(&mesh),
        skinned_instance(document, mesh),
    ) else {
        return Ok(Ok(Retargeted::default()));
    };
    let correctives = &item.correctives;
    let why = document.stale_samples(mesh);
    let over = document.captured_now(mesh);
    let bare = document.clone().without_correctives();
    let (mut before, mut now) = (Evaluator::default(), Evaluator::default());
    let mut changed: Vec<Option<Arc<Sample>>> = Vec::new();
    let mut made = Retargeted::default();
    for set in correctives.sets() {
        for sample in &set.samples {
            let index = changed.len();
            changed.push(None);
            if !samples.contains(&index) {
                continue;
            }
            task.step(
                "Re-targeting samples",
                index as f32 / correctives.samples().len() as f32,
            )?;
            let reason = why.get(&index);
            if reason == Some(&Staleness::WeightsLost) {
                made.lost.push(sample.name.clone());
                continue;
            }
            let pose = pose_of(document, correctives, set, sample);
            let on_theirs = with_stacks(&bare, |_| (*sample.captured_on).clone());
            let (on_theirs, masks) = match sample.captured_over.base() {
                Some(base) if reason == Some(&Staleness::Weights) => {
                    (on_theirs.over_base(mesh, base), base.masks())
                }
                _ => (on_theirs, &item.masks),
            };
            before.evaluate(&on_theirs, &pose);
            now.evaluate(&bare, &pose);
            let (Some(theirs), Some(ours)) = (before.plan(instance), now.plan(instance)) else {
                continue;
            };
            let stack = &sample.captured_on;
            let shape = sculpted(theirs, stack, masks, set, &sample.displacements);
            let mut sample = Sample::clone(sample);
            let captured = capture(ours, &item.stack, &item.masks, &shape);
            made.n_singular += captured.n_singular;
            let mut displacements = captured.for_set(set).clone();
            if set.scale_with_limb {
                made.n_flat += captured.flat.len();
                let flat = captured.flat.iter();
                let kept = flat.filter_map(|&p| Some((p, sample.displacements.get(p)?)));
                displacements = displacements.with(kept.collect());
            }
            sample.displacements = displacements;
            sample.captured_on = item.stack.clone();
            sample.captured_over = over.clone();
            changed[index] = Some(Arc::new(sample));
            made.n_done += 1;
        }
    }
    task.check()?;
    if made.n_done == 0 {
        return Ok(Ok(made));
    }
    let correctives = correctives.map_samples(|index, sample| {
        let new = changed.get_mut(index).and_then(Option::take);
        Some(new.unwrap_or_else(|| sample.clone()))
    });
    Ok(correctives.map(|correctives| {
        made.edit = Some(edit_of(document, mesh, correctives));
        made
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
