//! The solution of one group: place helper joints, choose a candidate by its bytes, solve it, and play it back.

pub(crate) mod alternating;
pub(crate) mod bands;
mod basis_fit;
pub(crate) mod candidates;
mod clip_reduction;
pub(crate) mod displacements;
pub(crate) mod envelope;
mod followers;
mod frame_rounds;
mod frame_weights;
pub(crate) mod helper_tracks;
pub(crate) mod irls;
mod key_reduction;
mod key_sets;
mod key_weights;
pub(crate) mod linear;
pub(crate) mod mesh_basis;
mod motion_moments;
pub(crate) mod motions;
mod normal_equations;
pub(crate) mod placement;
pub(crate) mod playback;
mod point_weights;
pub(crate) mod prices;
pub(crate) mod regions;
mod search;
pub(crate) mod simplex;
mod solution_bytes;
mod subdivision;
mod track_reduction;
pub(crate) mod training;
mod weight_products;
pub(crate) mod weight_ranges;
mod weight_reduction;
pub(crate) mod weights;

use super::problem::antipodal::Flip;
use super::problem::group::Group;
use super::problem::rows::WeightRow;
use super::problem::sampler::{Frame, FrameTime, SampleRequest};
use super::problem::sampling::Sampling;
use super::problem::{Budget, Problem};
use super::retarget;
use crate::task::Cancelled;
use candidates::Candidate;
use helper_tracks::Helper;
use mesh_basis::MeshBasis;
use placement::{Placement, PlacementOptions, place_helpers};
use point_weights::Regularisation;
use std::sync::Arc;
use training::TrainingSet;
use weight_ranges::TargetRanges;

/// The largest training set for displacements of regions, frames: they are faster to fit than motions and weights.
pub(crate) const MAX_REGIONAL_FRAMES: usize = 200;
/// Errors on the training set may take this fraction of the tolerance; frames in between are worse.
pub(crate) const TRAINING_SHARE: f64 = 0.7;
/// Errors at keyframes and their samples in between may take this fraction of the tolerance; the rest is for times
/// that were not sampled.
pub(crate) const PLAYBACK_SHARE: f64 = 0.96;
/// Least distance of helpers of similar weights, as a fraction of the diagonal: nearer ones influence the same points.
const MIN_SPACING: f64 = 0.03;
/// The factor by which alternating least squares usually reduces the error that placement leaves.
const ALTERNATING_GAIN: f64 = 1.9;
/// Frames above this fraction of the tolerance can join the training set.
pub(crate) const MISSED_SHARE: f64 = 0.9;
/// The penalty of an error of 1 in a linear part or in weights, as a fraction of the diagonal: for helpers that follow
/// blends, and for those with free motions.
const BLEND_PENALTY: f64 = 0.02;
const FREE_PENALTY: f64 = 0.006;
/// Points below this fraction of the tolerance keep their weights.
const POINT_SHARE: f64 = 0.3;

/// The state before candidates are solved.
pub(crate) struct Initialisation {
    pub(crate) sampling: Sampling,
    pub(crate) training: TrainingSet,
    pub(crate) regularisation: Regularisation,
    pub(crate) found: Placement,
    /// The best first.
    pub(crate) candidates: Vec<Candidate>,
}

/// The solution of a group.
pub(crate) struct Solution {
    /// By joint set of the group, then by helper.
    pub(crate) helpers: Vec<Vec<Helper>>,
    /// The codebook: by helper, the weights whose blend it follows.
    pub(crate) codebook: Vec<WeightRow>,
    /// Keyframe times by clip.
    pub(crate) keys: Vec<Vec<f32>>,
    /// By clip: whether tracks hold their values between keyframes (STEP).
    pub(crate) stepped: Vec<bool>,
    /// By mesh of the group.
    pub(crate) meshes: Vec<MeshSolution>,
    /// The largest error at keyframes and between them, world.
    pub(crate) max_error: f64,
    /// The scale from bind space to the world.
    pub(crate) unit_scale: f64,
    /// The estimated bytes that it adds to the file.
    pub(crate) bytes: f64,
    /// Jumps of the skin.
    pub(crate) flips: Vec<Flip>,
}

/// The solution of a mesh.
pub(crate) struct MeshSolution {
    /// One weight row an active point.
    pub(crate) rows: Vec<WeightRow>,
    /// Displacements of the active points.
    pub(crate) basis: Arc<MeshBasis>,
    /// By instance, clip, keyframe: k weights. Empty for clips that are not corrected.
    pub(crate) weights: Vec<Vec<Vec<Vec<f64>>>>,
    /// By instance and clip: the keyframes that stay in the weights track, between which the others lie on straight lines;
    /// `None`: all.
    pub(crate) kept: Vec<Vec<Option<Vec<usize>>>>,
    /// The ranges of its morph weights.
    pub(crate) ranges: TargetRanges,
}

impl MeshSolution {
    /// The solution with `m` more displacements, which move no point, and their weights by instance, clip, keyframe.
    pub(crate) fn with_weights(&self, more: &[Vec<Vec<Vec<f64>>>], m: usize) -> Self {
        let mut weights = self.weights.clone();
        let pairs = weights.iter_mut().flatten().flatten();
        for (weights, more) in pairs.zip(more.iter().flatten().flatten()) {
            weights.extend(more);
        }
        Self {
            rows: self.rows.clone(),
            basis: Arc::new(self.basis.with_more(m)),
            weights,
            kept: self.kept.clone(),
            ranges: self.ranges.clone(),
        }
    }
}

impl Problem<'_> {
    /// Samples the clips and places helpers; `None` where no point needs correction.
    pub(crate) fn initialise(
        &self,
        group: &mut Group,
        budget: &Budget,
    ) -> Result<Option<Initialisation>, Cancelled> {
        self.task.step("Sampling the clips", 0.05)?;
        let sampling = group.sampling(
            self.sampler,
            self.clips,
            self.corrected,
            self.tolerance,
            budget,
            self.task,
        )?;
        if !group.is_off() {
            return Ok(None);
        }
        let group: &Group = group;
        let mut times = sampling.training.clone();
        let rest = FrameTime {
            clip: None,
            secs: 0.0,
        };
        times.push(rest);
        let mut training = TrainingSet::new(self.frames(group, &times)?, group);
        // Free motions have linear parts unlike those of the blends, so these weigh less.
        let penalty = if self.refines(group) {
            FREE_PENALTY
        } else {
            BLEND_PENALTY
        };
        let regularisation = Regularisation {
            linear: penalty * self.diagonal / Self::unit_scale(&training, group),
            weights: penalty * self.diagonal,
        };
        self.task.step("Placing helper joints", 0.2)?;
        let room = self
            .options
            .max_joints
            .saturating_sub(group.n_joints.unwrap_or(usize::MAX));
        let aim = PlacementOptions {
            most: room.min(retarget::most_helpers(self.options.mode, budget.helpers)),
            target_error: TRAINING_SHARE * self.tolerance,
            regularisation,
            gap: MIN_SPACING * self.diagonal / Self::unit_scale(&training, group),
            refines: self.refines(group),
        };
        let mut candidates = Vec::new();
        let mut is_enough =
            |training: &TrainingSet, placement: &Placement| -> Result<bool, Cancelled> {
                candidates.extend(self.candidate(group, training, placement, &sampling)?);
                Ok(self.is_enough(group, &candidates, &sampling))
            };
        let found = place_helpers(
            self.sampler,
            group,
            &mut training,
            aim,
            &mut is_enough,
            self.task,
        )?;
        self.sort(group, &mut candidates);
        Ok(Some(Initialisation {
            sampling,
            training,
            regularisation,
            found,
            candidates,
        }))
    }

    /// The smallest scale from bind space to the world; errors of linear parts are relative to it.
    pub(crate) fn unit_scale(training: &TrainingSet, group: &Group) -> f64 {
        let joint_sets = training
            .frames
            .iter()
            .flat_map(|m| group.joint_sets.iter().map(|&u| m.joint_sets[u].unit_scale));
        let scale = joint_sets.fold(f64::INFINITY, f64::min);
        if scale.is_finite() && scale > 0.0 {
            scale
        } else {
            1.0
        }
    }

    /// The frames for the training set; helpers that are blends also need the skinning without corrections.
    fn frames(&self, group: &Group, times: &[FrameTime]) -> Result<Vec<Frame>, Cancelled> {
        let drawn = group.instances();
        let wanted = SampleRequest {
            uncorrected: self.corrects(group) && !self.refines(group),
            ..SampleRequest::own(&drawn)
        };
        let keep = |_: usize, frame: Frame| frame;
        self.sampler
            .sample(self.clips, times, wanted, self.task, keep)
    }

    /// The factor by which alternating least squares reduces an error on average.
    pub(crate) fn expected_gain(&self, group: &Group) -> f64 {
        if self.refines(group) {
            ALTERNATING_GAIN
        } else {
            1.0
        }
    }

    /// Points below this error keep their weights, world.
    pub(crate) fn point_tolerance(&self) -> f64 {
        POINT_SHARE * self.tolerance
    }

    /// The largest number of displacements; unipolar weights take one target more.
    pub(crate) fn most_morphs(&self) -> usize {
        let extra = usize::from(self.options.unipolar);
        self.options.max_morphs.saturating_sub(extra)
    }
}
