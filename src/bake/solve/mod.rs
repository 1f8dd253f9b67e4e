//! The solution of one group: place helper joints, choose a candidate by its bytes, solve it, and play it back.

pub(crate) mod alternating;
mod basis_fit;
pub(crate) mod candidates;
mod clip_reduction;
pub(crate) mod displacements;
pub(crate) mod envelope;
mod followers;
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
pub(crate) mod simplex;
mod subdivision;
mod track_reduction;
pub(crate) mod training;
mod weight_products;
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
use alternating::AlternatingSolver;
use candidates::Candidate;
use helper_tracks::Helper;
use mesh_basis::MeshBasis;
use placement::{Placement, PlacementOptions, place_helpers};
use playback::Playback;
use point_weights::Regularisation;
use std::sync::Arc;
use training::TrainingSet;

/// The largest training set, after frames of large error were added; and the largest for displacements of regions, which
/// are fitted faster than motions and weights.
const MAX_TRAINING_FRAMES: usize = 140;
pub(crate) const MAX_REGIONAL_FRAMES: usize = 200;
/// Errors on the training set may take this fraction of the tolerance; frames in between are worse.
pub(crate) const TRAINING_SHARE: f64 = 0.7;
/// Errors at keyframes and their samples in between may take this fraction of the tolerance; the rest is for times
/// that were not sampled.
const PLAYBACK_SHARE: f64 = 0.96;
/// Candidates that are solved completely; each costs as much as all before it, so it bounds the time.
const MAX_SOLVED: usize = 5;
/// After a first solution, candidates are skipped whose estimate exceeds the limit on the training set by this factor.
const SKIP_FACTOR: f64 = 1.3;
/// Frames are no longer added where the error exceeds this many tolerances after the first round, and where it exceeds
/// this fraction of that before the frames were added.
const STALLED: f64 = 1.4;
const STALLED_SHARE: f64 = 0.9;
/// Where the error is at most this many times the largest one allowed, the displacements alone are fitted again, and the
/// motions and weights only if that was not enough.
const NEAR_MISS: f64 = 1.1;
/// After a candidate that failed, the next one has at least this many times its helpers: a few more rarely suffice.
const MORE_HELPERS: f64 = 1.5;
/// A candidate is dropped whose error on its own training set exceeds this fraction of the tolerance: unseen frames
/// are worse.
const DROP_SHARE: f64 = 0.93;
/// Rounds in which frames of large error join the training set, the same where regions have displacements, and frames in
/// each.
const FRAME_ROUNDS: usize = 4;
const REGIONAL_ROUNDS: usize = 8;
const FRAMES_PER_ROUND: usize = 12;
/// Frames of a clip that join in one round are this far apart, seconds: nearer ones show nearly the same pose.
const FRAME_DISTANCE: f64 = 0.1;
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

/// What all candidates of a group share.
#[derive(Clone, Copy)]
struct SharedInput<'a> {
    sampling: &'a Sampling,
    found: &'a Placement,
    regularisation: Regularisation,
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
        }
    }
}

impl Problem<'_> {
    /// The solution of a group; `None` where no point needs correction.
    pub(crate) fn solve(&self, group: &mut Group) -> Result<Option<Solution>, Cancelled> {
        let Some(initialisation) = self.initialise(group, &Budget::FULL)? else {
            return Ok(None);
        };
        let Initialisation {
            sampling,
            mut training,
            regularisation,
            found,
            candidates,
        } = initialisation;
        let group: &Group = group;
        let grounds = SharedInput {
            sampling: &sampling,
            found: &found,
            regularisation,
        };
        let mut best: Option<Solution> = None;
        let mut given_up: Option<(f64, &Candidate)> = None;
        let mut least = 0;
        let mut tries = 0;
        for candidate in &candidates {
            // Skip what cannot meet the tolerance, and what has fewer than `MORE_HELPERS` times the helpers of the last
            // candidate that failed; candidates with regions are exempt.
            let is_regional = candidate.regional.contains(&true);
            let limit = SKIP_FACTOR * self.training_limit(group, candidate.helpers);
            if candidate.helpers < least && !is_regional
                || tries >= MAX_SOLVED
                || best.is_some() && candidate.max_error > limit
            {
                continue;
            }
            tries += 1;
            self.task
                .step("Solving for motions and weights", 0.4 + 0.1 * tries as f32)?;
            match self.solve_candidate(group, &mut training, candidate, grounds, true)? {
                Ok(solved) => best = Some(self.better(best, solved)),
                Err(max_error) if given_up.is_none_or(|other| max_error < other.0) => {
                    given_up = Some((max_error, candidate));
                }
                Err(_) => {}
            }
            if best.as_ref().is_some_and(|best| self.meets(best)) {
                return Ok(best);
            }
            if self.refines(group) && candidate.helpers > 0 && !is_regional {
                least = (MORE_HELPERS * candidate.helpers as f64).ceil() as usize;
            }
        }
        if let Some((_, candidate)) = given_up.filter(|_| best.is_none())
            && let Ok(solved) =
                self.solve_candidate(group, &mut training, candidate, grounds, false)?
        {
            best = Some(solved);
        }
        Ok(best)
    }

    fn meets(&self, solved: &Solution) -> bool {
        solved.max_error <= PLAYBACK_SHARE * self.tolerance
    }

    /// The solution that meets the tolerance in fewer bytes, or else has the smaller error.
    fn better(&self, best: Option<Solution>, solved: Solution) -> Solution {
        match best {
            Some(best) => {
                let better = match (self.meets(&best), self.meets(&solved)) {
                    (false, false) => solved.max_error < best.max_error,
                    (met, meets) => meets && (!met || solved.bytes < best.bytes),
                };
                if better { solved } else { best }
            }
            None => solved,
        }
    }

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

    /// Solves a candidate: rows, tracks, displacements, weights and keyframes. `Err`: its error on the training set,
    /// where that is too large and it `may_give_up`.
    fn solve_candidate(
        &self,
        group: &Group,
        training: &mut TrainingSet,
        candidate: &Candidate,
        grounds: SharedInput<'_>,
        may_give_up: bool,
    ) -> Result<Result<Solution, f64>, Cancelled> {
        let SharedInput {
            sampling,
            found,
            regularisation,
        } = grounds;
        let codebook = &found.codebook[..candidate.helpers];
        training.restore(&found.snapshots[candidate.snapshot]);
        let seeds = &found.seeds[..candidate.helpers];
        let solver =
            AlternatingSolver::new(self, group, codebook, seeds, candidate, regularisation);
        let is_regional = candidate.regional.contains(&true);
        // Errors on unseen frames are larger.
        let limit = (may_give_up && !is_regional).then_some(DROP_SHARE * self.tolerance);
        let decomposition = solver.solve(training, None, limit)?;
        if limit.is_some_and(|limit| decomposition.max_error > limit) {
            return Ok(Err(decomposition.max_error));
        }
        let unit_scale = Self::unit_scale(training, group);
        let mut baked = Playback::new(self, group, codebook, sampling, decomposition, unit_scale);
        baked.solve_motions()?;
        baked.update_training(training);
        baked.fit_bases(training, candidate)?;
        let mut best = (f64::INFINITY, baked.clone());
        let mut last = f64::INFINITY;
        let mut is_near = false;
        let (rounds, most_frames) = if is_regional {
            (REGIONAL_ROUNDS, MAX_REGIONAL_FRAMES)
        } else {
            (FRAME_ROUNDS, MAX_TRAINING_FRAMES)
        };
        // Add frames of large error to the training set and fit the displacements again.
        let start = self.task.fraction();
        for round in 0..=rounds {
            // Between the rounds of one candidate and the next one.
            let done = start + 0.1 * round as f32 / (rounds + 1) as f32;
            let label = format!("Solving for motions and weights: round {}", round + 1);
            self.task.step(&label, done)?;
            let at_keys = baked.solve_weights(None)?;
            let (max_error, between) = baked.subdivide(&at_keys)?;
            if max_error < best.0 {
                best = (max_error, baked.clone());
            }
            let mut missed: Vec<(f64, FrameTime)> = at_keys.into_iter().chain(between).collect();
            missed.retain(|m| m.0 > self.tolerance * MISSED_SHARE);
            if max_error <= PLAYBACK_SHARE * self.tolerance
                || missed.is_empty()
                || round > 0
                    && max_error > STALLED * self.tolerance
                    && !(is_regional && max_error <= STALLED_SHARE * last)
                || training.frames.len() >= most_frames
                || round == rounds
            {
                break;
            }
            last = max_error;
            missed.sort_by(|a, b| b.0.total_cmp(&a.0));
            let known = |t: &FrameTime| training.frames.iter().any(|m| m.time == *t);
            let mut fresh: Vec<FrameTime> = Vec::new();
            for (_, time) in missed {
                let near = |other: &FrameTime| {
                    other.clip == time.clip && (other.secs - time.secs).abs() < FRAME_DISTANCE
                };
                if fresh.len() < FRAMES_PER_ROUND && !known(&time) && !fresh.iter().any(near) {
                    fresh.push(time);
                }
            }
            if fresh.is_empty() {
                break;
            }
            let mut add = TrainingSet::new(self.frames(group, &fresh)?, group);
            training.frames.append(&mut add.frames);
            training.matrices.append(&mut add.matrices);
            training.weights.append(&mut add.weights);
            // Displacements alone often mend a near miss, in a fraction of the time. Where they do not, continue alternating
            // from the rows so far.
            is_near = !is_near
                && self.most_morphs() > 0
                && max_error <= NEAR_MISS * PLAYBACK_SHARE * self.tolerance;
            if let Some(start) = baked.warm_start().filter(|_| !is_near) {
                baked.restart(solver.solve(training, Some(start), None)?);
                baked.solve_motions()?;
            }
            baked.update_training(training);
            baked.fit_bases(training, candidate)?;
        }
        let (mut max_error, mut baked) = best;
        max_error = baked.reduce_keys(max_error)?;
        let bytes = candidate.bytes;
        Ok(Ok(baked.finish(max_error, bytes, sampling.flips.clone())))
    }
}
