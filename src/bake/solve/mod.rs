//! The bake of one group: choose helpers and morphs by their bytes, solve the weights at all keys with the matrices that
//! a player has, and key where the played result strays between them.

pub(crate) mod alternating;
pub(crate) mod candidates;
pub(crate) mod displacements;
pub(crate) mod envelope;
pub(crate) mod helper_tracks;
pub(crate) mod linear;
pub(crate) mod motions;
pub(crate) mod placement;
pub(crate) mod playback;
pub(crate) mod simplex;
pub(crate) mod training;
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
use glam::DVec3;
use helper_tracks::Helper;
use placement::{Placement, PlacementOptions, place_helpers};
use playback::Playback;
use training::TrainingSet;
use weights::Regularisation;

/// And at most, with the max_error that turned up later.
pub(crate) const MOST_MOMENTS: usize = 140;
/// What is found on those may be off by this share of the tolerance: frames in between are worse.
pub(crate) const TRAINING_SHARE: f64 = 0.7;
/// What is found at keys and between them is to leave some of the tolerance to frames that were not fitter at.
const SAFE: f64 = 0.96;
/// Choices that are worked out to the end.
const TRIES: usize = 5;
/// A candidate is not tried after others where a few frames stray by so many tolerances.
const HOPELESS: f64 = 1.3;
/// Nor do more frames help where it is off by so many tolerances after some of them.
const FAR: f64 = 1.4;
/// Nor is it worked out to the end where the frames it was found on are off by this share of the tolerance.
const HOPELESS_TURNS: f64 = 0.93;
/// Times that what strayed joins the frames that displacements are found on, and how many each time.
const MORE_ROUNDS: usize = 4;
const MORE_MOMENTS: usize = 12;
/// Helpers that follow corrections lie at least this share of the diagonal apart where their weights are alike.
const GAP: f64 = 0.03;
/// What is found before motions, weights and displacements take turns may be off by so much more where they do.
const TURNS: f64 = 1.9;
/// Keys of helpers that tell less than this share of the tolerance are left out; tried in turn.
const THIN: [f64; 3] = [0.15, 0.05, 0.0];
/// What helpers and morphs are chosen by.
pub(crate) struct Initialisation {
    pub(crate) sampling: Sampling,
    pub(crate) training: TrainingSet,
    pub(crate) regularisation: Regularisation,
    pub(crate) found: Placement,
}

/// What all candidates for a group share.
#[derive(Clone, Copy)]
struct SharedInput<'a> {
    sampling: &'a Sampling,
    found: &'a Placement,
    regularisation: Regularisation,
}

/// What was found for a group.
pub(crate) struct Solution {
    /// By joint_set of the group, then by helper.
    pub(crate) helpers: Vec<Vec<Helper>>,
    /// By helper: the weights whose blend it follows.
    pub(crate) codebook: Vec<WeightRow>,
    /// By clip.
    pub(crate) keys: Vec<Vec<f32>>,
    /// By mesh of the group.
    pub(crate) meshes: Vec<MeshSolution>,
    /// The largest error found, at keys and between them.
    pub(crate) max_error: f64,
    /// The factor from bind space to the world.
    pub(crate) unit_scale: f64,
    pub(crate) bytes: f64,
    /// Where the skin itself jumps.
    pub(crate) flips: Vec<Flip>,
}

/// What was found for a mesh.
pub(crate) struct MeshSolution {
    /// Of the active points.
    pub(crate) rows: Vec<WeightRow>,
    /// Displacements of the active points: n x k.
    pub(crate) k: usize,
    pub(crate) b: Vec<DVec3>,
    /// By instance, clip, key: k weights. Empty for clips that are not corrected.
    pub(crate) weights: Vec<Vec<Vec<Vec<f64>>>>,
}

impl Problem<'_> {
    /// The bake of a group; `None` where nothing needs one.
    pub(crate) fn solve(&self, group: &mut Group) -> Result<Option<Solution>, Cancelled> {
        let Some(initialisation) = self.initialise(group, &Budget::FULL)? else {
            return Ok(None);
        };
        let Initialisation {
            sampling,
            mut training,
            regularisation,
            found,
        } = initialisation;
        let group: &Group = group;
        self.task.step("Weighing joints against morphs", 0.4)?;
        let candidates = self.candidates(group, &training, &found, &sampling)?;
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
            // What is far off on a few frames will not be near on all; and a few helpers more change little.
            if candidate.helpers < least
                || tries >= TRIES
                || best.is_some() && candidate.max_error > HOPELESS * self.training_limit(group)
            {
                continue;
            }
            tries += 1;
            self.task.step("Solving", 0.4 + 0.1 * tries as f32)?;
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
            if self.refines(group) && candidate.helpers > 0 {
                least = candidate.helpers + candidate.helpers.div_ceil(4);
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
        solved.max_error <= SAFE * self.tolerance
    }

    /// The one that meets the tolerance in fewer bytes, or is nearer to it.
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

    /// What helpers and morphs are chosen by; `None` where no point is off.
    pub(crate) fn initialise(
        &self,
        group: &mut Group,
        budget: &Budget,
    ) -> Result<Option<Initialisation>, Cancelled> {
        self.task.step("Looking at the clips", 0.05)?;
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
        // Where helpers follow corrections, linear parts are not those of the blends and count for less.
        let care_for = if self.refines(group) { 0.006 } else { 0.02 };
        let regularisation = Regularisation {
            linear: care_for * self.diagonal / Self::unit_scale(&training, group),
            weights: care_for * self.diagonal,
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
            gap: GAP * self.diagonal / Self::unit_scale(&training, group),
            refines: self.refines(group),
        };
        let found = place_helpers(self.sampler, group, &mut training, aim, self.task)?;
        Ok(Some(Initialisation {
            sampling,
            training,
            regularisation,
            found,
        }))
    }

    /// The smallest factor from bind space to the world, so that linear parts compare with 1.
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

    /// Moments to position helpers by: these follow the skinning without what corrects it.
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

    /// By how much turns of motions, weights and displacements make less of what is off.
    pub(crate) fn expected_gain(&self, group: &Group) -> f64 {
        if self.refines(group) { TURNS } else { 1.0 }
    }

    /// Points whose weights leave less than this need no better ones.
    pub(crate) fn point_tolerance(&self) -> f64 {
        0.3 * self.tolerance
    }

    /// Displacements besides the one that makes weights positive.
    pub(crate) fn most_morphs(&self) -> usize {
        let extra = usize::from(self.options.unipolar);
        self.options.max_morphs.saturating_sub(extra)
    }

    /// A candidate worked out: rows, tracks, displacements, weights and keys; or how far it is off on the frames it was
    /// found on, where that leaves no hope and it `may_give_up`.
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
        let turns = AlternatingSolver::new(self, group, codebook, seeds, candidate, regularisation);
        let decomposition = turns.solve(training, None)?;
        // What strays on the frames it was found on strays more on all of them.
        if may_give_up && decomposition.max_error > HOPELESS_TURNS * self.tolerance {
            return Ok(Err(decomposition.max_error));
        }
        let unit_scale = Self::unit_scale(training, group);
        let mut baked = Playback::new(self, group, codebook, sampling, decomposition, unit_scale);
        baked.solve_motions()?;
        baked.update_training(training);
        baked.fit_bases(training, candidate)?;
        let mut best = (f64::INFINITY, baked.clone());
        // Moments that the displacements do not know, at keys and between them: with the max_error of them they are found
        // again.
        for round in 0..=MORE_ROUNDS {
            let at_keys = baked.solve_weights(None)?;
            let (max_error, between) = baked.subdivide(&at_keys)?;
            if max_error < best.0 {
                best = (max_error, baked.clone());
            }
            let mut missed: Vec<(f64, FrameTime)> = at_keys.into_iter().chain(between).collect();
            missed.retain(|m| m.0 > self.tolerance * 0.9);
            if max_error <= SAFE * self.tolerance
                || missed.is_empty()
                || round > 0 && max_error > FAR * self.tolerance
                || training.frames.len() >= MOST_MOMENTS
                || round == MORE_ROUNDS
            {
                break;
            }
            missed.sort_by(|a, b| b.0.total_cmp(&a.0));
            missed.truncate(MORE_MOMENTS);
            let known = |t: &FrameTime| training.frames.iter().any(|m| m.time == *t);
            let fresh = missed.into_iter().map(|m| m.1);
            let fresh: Vec<FrameTime> = fresh.filter(|t| !known(t)).collect();
            if fresh.is_empty() {
                break;
            }
            let mut add = TrainingSet::new(self.frames(group, &fresh)?, group);
            training.frames.append(&mut add.frames);
            training.matrices.append(&mut add.matrices);
            training.weights.append(&mut add.weights);
            // More turns, with what was found so far.
            if let Some(rows) = baked.refined_rows() {
                baked.restart(turns.solve(training, Some(rows))?);
                baked.solve_motions()?;
            }
            baked.update_training(training);
            baked.fit_bases(training, candidate)?;
        }
        let (mut max_error, mut baked) = best;
        if !codebook.is_empty() {
            for share in THIN {
                let thin = baked.reduce_keys(share)?;
                if thin <= (1.01 * max_error).max(SAFE * self.tolerance) {
                    max_error = thin;
                    break;
                }
            }
        }
        let bytes = candidate.bytes;
        Ok(Ok(baked.finish(max_error, bytes, sampling.flips.clone())))
    }
}
