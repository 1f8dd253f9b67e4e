//! What is to be solved: the document sampled over its clips, in groups of meshes that share joints.

pub(crate) mod antipodal;
pub(crate) mod group;
pub(crate) mod key_times;
pub(crate) mod rows;
pub(crate) mod sampler;
pub(crate) mod sampling;
pub(crate) mod training_poses;

use super::retarget::{options_for, skinning_only};
use super::{BakeMode, BakeOptions};
use crate::document::{ClipId, Document};
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use group::Group;
use sampler::{Clips, Sampler};
use std::collections::BTreeMap;
use std::sync::Arc;
use training_poses::{PRACTICE, practice};

/// How much is looked at before helpers and morphs are chosen.
pub(crate) struct Budget {
    /// Most frames of the clips.
    pub(crate) frames: usize,
    /// Moments that helpers and displacements are found on.
    pub(crate) training: usize,
    /// Helpers looked for.
    pub(crate) helpers: usize,
}

impl Budget {
    /// What a bake takes.
    pub(crate) const FULL: Self = Self {
        frames: usize::MAX,
        training: 84,
        helpers: 96,
    };
}

/// Everything shared by the bakes of all groups.
pub(crate) struct Problem<'a> {
    pub(crate) sampler: &'a Sampler<'a>,
    pub(crate) clips: &'a Clips<'a>,
    /// By clip.
    pub(crate) corrected: &'a [bool],
    /// The largest error, world.
    pub(crate) tolerance: f64,
    pub(crate) diagonal: f64,
    pub(crate) options: &'a BakeOptions,
    pub(crate) task: &'a Task,
}

impl Problem<'_> {
    /// Whether any stack does more than skin.
    pub(crate) fn corrects(&self, group: &Group) -> bool {
        group.meshes.iter().any(|part| {
            let item = self.sampler.item(part.mesh);
            let stack = item.map(|item| item.stack.as_applied());
            stack.is_some_and(|s| s.corrects_bulges() || s.smooth.acts())
        })
    }

    /// Whether helpers leave their blends to follow corrections: no engine could drive them by new clips then.
    pub(crate) fn refines(&self, group: &Group) -> bool {
        self.options.mode == BakeMode::Clips && self.corrects(group)
    }
}

/// What `work` makes of the document's stacks and clips.
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
    let practised = any_clip.then(|| practice(document));
    if let Some(practised) = &practised {
        clips.add(PRACTICE, practised);
    }
    let corrected: Vec<bool> = clips
        .ids
        .iter()
        .map(|id| options.clips.is_empty() || options.clips.contains(id) || *id == PRACTICE)
        .collect();
    let diagonal = sampler.diagonal();
    let problem = Problem {
        sampler: &sampler,
        clips: &clips,
        corrected: &corrected,
        tolerance: options.tolerance * diagonal,
        diagonal,
        options,
        task,
    };
    work(&problem)
}
