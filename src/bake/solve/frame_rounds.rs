//! Solves a candidate in rounds; in each, frames of large error join the training set.

use super::alternating::AlternatingSolver;
use super::candidates::Candidate;
use super::placement::Placement;
use super::playback::Playback;
use super::point_weights::Regularisation;
use super::training::TrainingSet;
use super::{MAX_REGIONAL_FRAMES, MISSED_SHARE, PLAYBACK_SHARE, Solution};
use crate::bake::problem::Problem;
use crate::bake::problem::group::Group;
use crate::bake::problem::sampler::FrameTime;
use crate::bake::problem::sampling::Sampling;
use crate::task::Cancelled;

/// The largest training set, frames, after frames of large error have joined.
const MAX_TRAINING_FRAMES: usize = 140;
/// After the first round, frames are added only while the error is at most this many tolerances.
const STALLED: f64 = 1.4;
/// Candidates with displacements of regions also continue while the error is at most this fraction of that before the round.
const STALLED_SHARE: f64 = 0.9;
/// If the error is at most this many times the limit, the displacements alone are fitted again first, and the motions and
/// weights only if that does not suffice.
const NEAR_MISS: f64 = 1.1;
/// Candidates are dropped if their error on their own training set exceeds this fraction of the tolerance, as errors on
/// unseen frames are larger.
const DROP_SHARE: f64 = 0.93;
/// The most rounds in which frames of large error join the training set.
const FRAME_ROUNDS: usize = 4;
/// The most such rounds for candidates with displacements of regions.
const REGIONAL_ROUNDS: usize = 8;
/// The most frames that join the training set in one round.
const FRAMES_PER_ROUND: usize = 12;
/// The least distance between frames of a clip that join in one round, seconds: nearer frames show nearly the same pose.
const FRAME_DISTANCE: f64 = 0.1;

/// The input that all candidates of a group share.
#[derive(Clone, Copy)]
pub(super) struct SharedInput<'a> {
    pub(super) sampling: &'a Sampling,
    pub(super) found: &'a Placement,
    pub(super) regularisation: Regularisation,
}

impl Problem<'_> {
    /// Solves a candidate: rows, tracks, displacements, weights and keyframes. If it `may_give_up` and its error on the
    /// training set is too large, the result is `Err` with that error.
    pub(super) fn solve_candidate(
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
            // The rounds of a candidate share the progress up to the next candidate.
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
            // Fitting only the displacements often suffices after a near miss, and takes a fraction of the time. Otherwise,
            // continue the alternation from the current rows.
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
        let solved = baked.finish(max_error, sampling.flips.clone());
        Ok(Ok(solved))
    }
}
