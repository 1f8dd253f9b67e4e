//! The problem of a bake: the document sampled over its clips, in groups of meshes that share joints.

pub(crate) mod antipodal;
pub(crate) mod extent;
pub(crate) mod group;
pub(crate) mod key_times;
pub(crate) mod played;
pub(crate) mod rows;
pub(crate) mod sampler;
pub(crate) mod sampling;
pub(crate) mod set_bytes;
pub(crate) mod size;
pub(crate) mod training_poses;

use super::retarget::{options_for, skinning_only};
use super::{BakeMode, BakeOptions};
use crate::document::{ClipId, Document};
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use group::Group;
use sampler::{Clips, Sampler};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use training_poses::{TRAINING_CLIP, training_clip};

/// The fraction of the tolerance that is left to the rounding of displacements to 16 bits.
const ROUNDING: f64 = 0.03;

/// Limits on the work before candidates are compared.
pub(crate) struct Budget {
    /// Frames of the clips that are sampled.
    pub(crate) frames: usize,
    /// Frames in the training set.
    pub(crate) training: usize,
    /// Helper joints that are placed.
    pub(crate) helpers: usize,
}

impl Budget {
    /// A whole bake. The time of alternating least squares grows with the training frames, that of placement with the
    /// helpers; 84 and 96 are the middle and the end of the ranges that were tried on game characters.
    pub(crate) const FULL: Self = Self {
        frames: usize::MAX,
        training: 84,
        helpers: 96,
    };
}

/// What the bakes of all groups share.
pub(crate) struct Problem<'a> {
    pub(crate) sampler: &'a Sampler<'a>,
    pub(crate) clips: &'a Clips<'a>,
    /// By clip: whether its frames must meet the tolerance.
    pub(crate) corrected: &'a [bool],
    /// The largest allowed error before displacements are rounded, world.
    pub(crate) tolerance: f64,
    pub(crate) diagonal: f64,
    pub(crate) options: &'a BakeOptions,
    pub(crate) task: &'a Task,
    /// The number of compared normals of all meshes, once they are counted.
    pub(crate) n_normals: OnceLock<usize>,
}

impl Problem<'_> {
    /// Whether any deformer stack does more than skin: bulge compensation, projection, smoothing, corrective samples, clusters.
    pub(crate) fn corrects(&self, group: &Group) -> bool {
        group.meshes.iter().any(|part| {
            let item = self.sampler.item(part.mesh);
            item.is_some_and(|item| {
                let stack = item.stack.as_applied();
                stack.corrects_bulges()
                    || stack.smooth.acts()
                    || item.correctives.acts()
                    || item.clusters.acts()
            })
        })
    }

    /// Whether helpers have free motions that also follow corrections. Off for retargeting: a driver can only evaluate
    /// a blend.
    pub(crate) fn refines(&self, group: &Group) -> bool {
        self.options.mode == BakeMode::Clips && self.corrects(group)
    }
}

/// Runs `work` on the problem of the document's stacks and clips.
pub(crate) fn with_problem<T>(
    document: &Document,
    played: &BTreeMap<ClipId, Arc<Clip>>,
    options: &BakeOptions,
    task: &Task,
    work: impl FnOnce(&Problem<'_>) -> Result<T, Cancelled>,
) -> Result<T, Cancelled> {
    let any_clip = options.mode == BakeMode::Retarget;
    let skinning = any_clip.then(|| skinning_only(document)).flatten();
    let document = skinning.as_ref().unwrap_or(document);
    let options = &options_for(options);
    let sampler = Sampler::new(document, task)?;
    let mut clips = Clips::new(document, played);
    let training = any_clip.then(|| training_clip(document));
    if let Some(training) = &training {
        clips.add(TRAINING_CLIP, training);
    }
    let corrected: Vec<bool> = clips
        .ids
        .iter()
        .map(|id| options.clips.is_empty() || options.clips.contains(id) || *id == TRAINING_CLIP)
        .collect();
    let diagonal = sampler.diagonal();
    let rounding = if options.quantize && options.max_morphs > 0 {
        ROUNDING
    } else {
        0.0
    };
    let problem = Problem {
        sampler: &sampler,
        clips: &clips,
        corrected: &corrected,
        // Players round positions far from the origin, so that no correction can be nearer.
        tolerance: (options.tolerance * diagonal).max(sampler.rounding(diagonal))
            * (1.0 - rounding),
        diagonal,
        options,
        task,
        n_normals: OnceLock::new(),
    };
    work(&problem)
}
