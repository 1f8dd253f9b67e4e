//! A forecast of the size and error of a bake from few frames, shown while options are chosen.

use super::BakeOptions;
use crate::bake::emit::bytes_of_normals;
use crate::bake::problem::group::Group;
use crate::bake::problem::{Budget, Problem, with_problem};
use crate::bake::solve::candidates::Candidate;
use crate::bake::solve::{Initialisation, PLAYBACK_SHARE};
use crate::document::{ClipId, Document};
use crate::math::Worse;
use crate::skeleton::Clip;
use crate::task::{Cancelled, Task};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Frames and helpers of a forecast: about a tenth of the time of the bake.
const BUDGET: Budget = Budget {
    frames: 160,
    training: 24,
    helpers: 32,
};

/// The fraction of new data that is JSON and fills no freed bytes.
const JSON_SHARE: f64 = 0.35;

/// The fraction of the bytes for normals that they mostly take.
const SPENT_ON_NORMALS: f64 = 0.9;

/// A forecast of a bake.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The number of helper joints.
    pub helper_joints: usize,
    /// The largest number of morph targets of a mesh, without those that only turn normals.
    pub morph_targets: usize,
    /// Bytes that the file grows by: within a factor of 2 for few clips; with many, the bake may need several times more.
    pub bytes: f64,
    /// The largest error without correction, as a fraction of the diagonal; `None` where it is unknown.
    pub before: Option<f64>,
    /// The largest error with correction, as a fraction of the diagonal. Key reduction uses up the tolerance, so the
    /// estimate is never below the error that it may leave.
    pub error: f64,
    /// The diagonal of the bounding box in the rest pose, metres.
    pub diagonal: f64,
}

impl Estimate {
    /// Whether the forecast meets a tolerance, given as a fraction of the diagonal.
    pub fn promises(&self, tolerance: f64) -> bool {
        self.error <= tolerance
    }
}

/// A forecast of baking the document's stacks for the clips `played`; `None` where no point needs correction. Between
/// keyframes the result may have larger errors.
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
                sum.before = befores.reduce(f64::worse);
                sum.error = sum.error.worse(found.error);
            }
        }
        Ok(is_off.then_some(sum))
    })
}

impl Problem<'_> {
    /// A forecast of [`Problem::solve`]; `None` where no point needs correction.
    fn forecast(&self, group: &mut Group) -> Result<Option<Estimate>, Cancelled> {
        let Some(initialisation) = self.initialise(group, &BUDGET)? else {
            return Ok(None);
        };
        let Initialisation { candidates, .. } = initialisation;
        let off = group.meshes.iter().flat_map(|part| &part.lbs_errors);
        let before = f64::from(off.copied().fold(0.0, f32::worse));
        // Unipolar weights need one target more.
        let offset = usize::from(self.options.unipolar);
        let targets = |k: usize| if k > 0 { k + offset } else { 0 };
        let kept = group.meshes.iter().map(|part| part.set_bytes.kept);
        let kept: f64 = kept.sum();
        let of_normals = |candidate: &Candidate| {
            let others = candidate.growth() / group.meshes.len() as f64;
            let all = group
                .meshes
                .iter()
                .map(|part| bytes_of_normals(self, part, others));
            SPENT_ON_NORMALS * all.sum::<f64>()
        };
        Ok(candidates.first().map(|candidate| Estimate {
            helper_joints: candidate.helpers * group.joint_sets.len(),
            morph_targets: candidate
                .morphs
                .iter()
                .map(|&k| targets(k))
                .max()
                .unwrap_or(0),
            bytes: of_normals(candidate)
                + (candidate.growth() + kept).max(JSON_SHARE * candidate.bytes),
            before: Some(before / self.diagonal),
            // Key reduction uses up what the solution leaves of the tolerance.
            error: (candidate.max_error / self.expected_gain(group))
                .worse(PLAYBACK_SHARE * self.tolerance)
                / self.diagonal,
            diagonal: self.diagonal,
        }))
    }
}
