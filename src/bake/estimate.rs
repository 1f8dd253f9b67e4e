//! What a bake will come to, told from a few frames of the clips: size and error while options are chosen.

use super::BakeOptions;
use crate::bake::problem::group::Group;
use crate::bake::problem::{Budget, Problem, with_problem};
use crate::bake::solve::Initialisation;
use crate::document::{ClipId, Document};
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an estimate takes.
const EFFORT: Budget = Budget {
    frames: 160,
    training: 24,
    helpers: 32,
};

/// Bytes by which a vertex's joints and weights, written anew for helper joints, are fewer than most sources' 20: what is
/// added fills them.
const FREED_BYTES: f64 = 8.0;
/// The part of what is added that fills nothing: JSON.
const JSON_PART: f64 = 0.35;

/// What a bake will come to, roughly.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Helper joints.
    pub helper_joints: usize,
    /// The most morph targets that a mesh gets.
    pub morph_targets: usize,
    /// Bytes that the file grows by, within a factor of 2.
    pub bytes: f64,
    /// The largest error without correction, as a fraction of the diagonal; `None` where that is not looked at.
    pub before: Option<f64>,
    /// The largest error with it, as a fraction of the diagonal.
    pub error: f64,
    /// The diagonal of the model at rest, metres.
    pub diagonal: f64,
}

impl Estimate {
    /// Whether it promises to meet a tolerance, a fraction of the diagonal.
    pub fn promises(&self, tolerance: f64) -> bool {
        self.error <= tolerance
    }
}

/// What baking the document's stacks for `played` will come to; `None` where no point is off. Takes a small part of the
/// time that the bake takes; between keys the result may be off by more.
///
/// The options must be in their ranges ([`BakeOptions::check`]).
pub fn estimate(
    document: &Document,
    played: &BTreeMap<ClipId, Arc<Clip>>,
    options: &BakeOptions,
    task: &Task,
) -> Result<Option<Estimate>, Cancelled> {
    with_problem(document, played, options, task, |problem| {
        let mut sum = Estimate {
            diagonal: problem.diagonal,
            ..Estimate::default()
        };
        let mut is_off = false;
        for mut group in Group::all(problem.sampler) {
            if let Some(found) = problem.forecast(&mut group)? {
                is_off = true;
                sum.helper_joints += found.helper_joints;
                sum.morph_targets = sum.morph_targets.max(found.morph_targets);
                sum.bytes += found.bytes;
                let befores = sum.before.into_iter().chain(found.before);
                sum.before = befores.reduce(f64::max);
                sum.error = sum.error.max(found.error);
            }
        }
        Ok(is_off.then_some(sum))
    })
}

impl Problem<'_> {
    /// What [`Problem::solve`] will come to; `None` where no point is off.
    fn forecast(&self, group: &mut Group) -> Result<Option<Estimate>, Cancelled> {
        let Some(initialisation) = self.initialise(group, &EFFORT)? else {
            return Ok(None);
        };
        let Initialisation {
            sampling,
            training,
            found,
            ..
        } = initialisation;
        let candidates = self.candidates(group, &training, &found, &sampling)?;
        let off = group.meshes.iter().flat_map(|part| &part.lbs_errors);
        let before = f64::from(off.copied().fold(0.0, f32::max));
        // Weights within 0 - 1 take a target that puts back what the lowest of them take.
        let offset = usize::from(self.options.unipolar);
        let targets = |k: usize| if k > 0 { k + offset } else { 0 };
        let vertices = group.meshes.iter().map(|part| part.geometry.n_vertices());
        Ok(candidates.first().map(|candidate| Estimate {
            helper_joints: candidate.helpers * group.joint_sets.len(),
            morph_targets: candidate
                .morphs
                .iter()
                .map(|&k| targets(k))
                .max()
                .unwrap_or(0),
            bytes: if candidate.helpers > 0 {
                let freed = FREED_BYTES * vertices.sum::<usize>() as f64;
                (candidate.bytes - freed).max(JSON_PART * candidate.bytes)
            } else {
                candidate.bytes
            },
            before: Some(before / self.diagonal),
            error: candidate.max_error / self.expected_gain(group) / self.diagonal,
            diagonal: self.diagonal,
        }))
    }
}
