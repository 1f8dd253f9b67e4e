//! Candidates: numbers of helpers and morph targets, by their estimated bytes and error.

use super::TRAINING_SHARE;
use super::bands::{BlendBand, band_of};
use super::displacements::Residuals;
use super::placement::Placement;
use super::prices::MorphPrices;
use super::regions::{Partition, RegionLimits, partition};
use super::solution_bytes::bytes_saved_in_sets;
use super::training::{Snapshot, TrainingSet, residual, residuals};
use crate::bake::problem::Problem;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::WeightRow;
use crate::bake::problem::sampling::Sampling;
use crate::math::Worse;
use crate::task::Cancelled;
use rayon::prelude::*;

/// Points to which displacements of a whole mesh are fitted for an estimate: those of the largest errors, and up to about
/// as many others. They bound its time.
const WORST_POINTS: usize = 250;
const OTHER_POINTS: usize = 150;
/// Observations (instances in training frames) of an estimate; they bound its time. With more of them estimates are closer
/// to what is solved, but candidates that would meet the tolerance are passed over, and files grow.
const MAX_OBSERVATIONS: usize = 48;
/// Points above this fraction of the tolerance have displacements.
pub(crate) const MOVED_SHARE: f64 = 0.5;
/// Morph targets of a whole mesh: more of them are divided into those of its regions.
pub(crate) const MOST_GLOBAL_MORPHS: usize = 8;
/// The rank of a region's residuals leaves this fraction of the tolerance; alternating least squares then leave less.
const RANK_SHARE: f64 = 0.8;
/// Numbers of helpers beside which regions are considered: finding regions takes longer than one basis.
const REGION_SNAPSHOTS: [usize; 6] = [0, 8, 16, 32, 48, 80];
/// Regions are considered where a whole mesh takes more targets than this.
const FEW_MORPHS: usize = 2;
/// An estimate may exceed the error allowed on the training set by this factor, since the solution improves on it.
const ESTIMATE_SLACK: f64 = 1.05;

/// No more helpers are placed once they alone take this many times the bytes of the smallest promising candidate.
const ENOUGH: f64 = 1.5;

/// Numbers of helpers and morph targets to try.
pub(crate) struct Candidate {
    pub(crate) snapshot: usize,
    pub(crate) helpers: usize,
    /// By mesh.
    pub(crate) morphs: Vec<usize>,
    /// By mesh: whether each region of it has morph targets of its own.
    pub(crate) regional: Vec<bool>,
    pub(crate) bytes: f64,
    /// The bytes that JOINTS_n and WEIGHTS_n save; negative where they grow.
    pub(crate) saved: f64,
    pub(crate) max_error: f64,
}

impl Candidate {
    /// The estimated bytes by which the file grows; negative where it shrinks.
    pub(crate) fn growth(&self) -> f64 {
        self.bytes - self.saved
    }
}

/// What the morph targets of a mesh are estimated to take and to leave.
#[derive(Clone, Copy, Default)]
struct MeshEstimate {
    k: usize,
    regional: bool,
    bytes: f64,
    max_error: f64,
}

/// A mesh beside the helpers of a snapshot.
struct Placed<'a> {
    part: &'a GroupMesh,
    /// The points that were placed, with their rows.
    points: Vec<(u32, &'a WeightRow)>,
    /// Their largest errors.
    errors: Vec<f64>,
    observations: Vec<(usize, usize, usize)>,
    prices: MorphPrices,
}

impl Problem<'_> {
    /// The candidate of the latest snapshot.
    pub(crate) fn candidate(
        &self,
        group: &Group,
        training: &TrainingSet,
        placement: &Placement,
        sampling: &Sampling,
    ) -> Result<Option<Candidate>, Cancelled> {
        let Some(snapshot) = placement.snapshots.last() else {
            return Ok(None);
        };
        let per_helper = self.helper_bytes(group, sampling);
        let mut candidate = Candidate {
            snapshot: placement.snapshots.len() - 1,
            helpers: snapshot.helpers,
            morphs: Vec::new(),
            regional: Vec::new(),
            bytes: per_helper * snapshot.helpers as f64,
            saved: 0.0,
            max_error: 0.0,
        };
        if snapshot.helpers > 0 {
            candidate.saved = group.meshes.iter().map(bytes_saved_in_sets).sum();
        }
        for i in 0..group.meshes.len() {
            let found = self.estimate(group, training, placement, snapshot, i, sampling)?;
            candidate.morphs.push(found.k);
            candidate.regional.push(found.regional);
            candidate.bytes += found.bytes;
            candidate.max_error = candidate.max_error.worse(found.max_error);
        }
        Ok(Some(candidate))
    }

    /// Whether more helpers than the latest candidate has cannot pay: they alone take more bytes than one that promises to
    /// meet the tolerance, by a margin for promises that are not kept.
    pub(crate) fn is_enough(
        &self,
        group: &Group,
        candidates: &[Candidate],
        sampling: &Sampling,
    ) -> bool {
        let promising = candidates.iter().filter(|c| self.promises(group, c));
        let least = promising.map(Candidate::growth);
        let least = least.fold(f64::INFINITY, f64::min);
        let (helpers, saved) = candidates.last().map_or((0, 0.0), |c| (c.helpers, c.saved));
        let helpers = helpers as f64 * self.helper_bytes(group, sampling) - saved;
        helpers > least + (ENOUGH - 1.0) * least.abs()
    }

    /// Sorts candidates: those that promise to meet the tolerance first, by size; then the others by error.
    pub(crate) fn sort(&self, group: &Group, candidates: &mut [Candidate]) {
        let promises = |c: &Candidate| self.promises(group, c);
        candidates.sort_by(|a, b| match (promises(a), promises(b)) {
            (true, true) => a.growth().total_cmp(&b.growth()),
            (false, false) => a.max_error.total_cmp(&b.max_error),
            (a, b) => b.cmp(&a),
        });
    }

    fn promises(&self, group: &Group, candidate: &Candidate) -> bool {
        candidate.max_error <= self.training_limit(group, candidate.helpers)
    }

    /// The morph targets that a mesh needs beside the helpers of a snapshot: of the whole mesh, or of its regions if these
    /// take fewer bytes.
    fn estimate(
        &self,
        group: &Group,
        training: &TrainingSet,
        placement: &Placement,
        snapshot: &Snapshot,
        i: usize,
        sampling: &Sampling,
    ) -> Result<MeshEstimate, Cancelled> {
        let part = &group.meshes[i];
        let observations = training.of_part(self.sampler, group, part, MAX_OBSERVATIONS);
        let observations: Vec<_> = observations
            .into_iter()
            .filter(|s| training.frames[s.0].time.clip.is_some())
            .collect();
        let points: Vec<(u32, &WeightRow)> = placement.points[i]
            .iter()
            .zip(&snapshot.rows[i])
            .map(|(&a, row)| (part.active[a], row))
            .collect();
        let worst_of = |(p, row): &(u32, &WeightRow)| {
            let errors = observations.iter().map(|&(m, d, u)| {
                let drawn = &training.frames[m].instances[d];
                residual(part, *p, row, &snapshot.matrices[m][u], drawn)
                    .1
                    .length_squared()
            });
            errors.fold(0.0, f64::worse).sqrt()
        };
        let errors: Vec<f64> = points.par_iter().map(worst_of).collect();
        let placed = Placed {
            part,
            points,
            errors,
            observations,
            prices: self.morph_prices(part, sampling),
        };
        let largest = placed.errors.iter().copied().fold(0.0, f64::worse);
        let none = MeshEstimate {
            max_error: largest,
            ..MeshEstimate::default()
        };
        if largest <= TRAINING_SHARE * self.tolerance || self.most_morphs() == 0 {
            return Ok(none);
        }
        let whole = self
            .estimate_whole(training, snapshot, &placed)?
            .unwrap_or(none);
        let limit = self.training_limit(group, snapshot.helpers);
        let considers = self.most_morphs() > MOST_GLOBAL_MORPHS
            && REGION_SNAPSHOTS.contains(&snapshot.helpers)
            && (whole.k > FEW_MORPHS || whole.max_error > limit);
        if !considers {
            return Ok(whole);
        }
        let regions = self.estimate_regions(group, training, snapshot, &placed)?;
        let better = match (whole.max_error <= limit, regions.max_error <= limit) {
            (true, true) => regions.bytes < whole.bytes,
            (false, false) => regions.max_error < whole.max_error,
            (_, meets) => meets,
        };
        Ok(if better { regions } else { whole })
    }

    /// The displacements of a whole mesh, from the points of the largest errors and a regular subset of the others.
    fn estimate_whole(
        &self,
        training: &TrainingSet,
        snapshot: &Snapshot,
        placed: &Placed<'_>,
    ) -> Result<Option<MeshEstimate>, Cancelled> {
        let Placed {
            part,
            points,
            errors,
            observations,
            prices,
        } = placed;
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]).then(a.cmp(&b)));
        let worst = order.iter().copied().take(WORST_POINTS);
        let others = order.iter().copied().skip(WORST_POINTS);
        let others = others.step_by((order.len() / OTHER_POINTS).max(1));
        let sample: Vec<(u32, &WeightRow)> = worst.chain(others).map(|o| points[o]).collect();
        let frames = &training.frames;
        let residuals = residuals(part, frames, &snapshot.matrices, observations, &sample);
        let most = self.most_morphs().min(MOST_GLOBAL_MORPHS);
        let best = residuals.smallest_basis(most, TRAINING_SHARE * self.tolerance, self.task)?;
        let moved = errors.iter().filter(|e| **e > MOVED_SHARE * self.tolerance);
        let moved = moved.count() as f64 * placed.active_per_point();
        Ok(best.map(|basis| MeshEstimate {
            k: basis.k,
            regional: false,
            bytes: prices.of(std::iter::once((basis.k, moved))),
            max_error: basis.max_error,
        }))
    }

    /// The displacements of its regions.
    fn estimate_regions(
        &self,
        group: &Group,
        training: &TrainingSet,
        snapshot: &Snapshot,
        placed: &Placed<'_>,
    ) -> Result<MeshEstimate, Cancelled> {
        let Placed {
            part,
            points,
            observations,
            prices,
            ..
        } = placed;
        let share = placed.active_per_point();
        let frames = &training.frames;
        let residuals = residuals(part, frames, &snapshot.matrices, observations, points);
        let places = points.iter().map(|(point, _)| *point);
        let found = self.partition(part, places, &residuals, (prices, share))?;
        let blocks = found.regions.iter();
        let blocks = blocks.map(|region| (region.k, region.n_points as f64 * share));
        // Where candidates with helpers count on alternating least squares, so do regions: they leave less than the ranks.
        let gain = if self.refines(group) {
            TRAINING_SHARE / RANK_SHARE
        } else {
            1.0
        };
        Ok(MeshEstimate {
            k: found.k(),
            regional: true,
            bytes: prices.of(blocks),
            max_error: gain * found.max_error,
        })
    }

    /// The regions of some points of a mesh, given the prices of its morph targets and the number of active points that
    /// each of these stands for.
    pub(crate) fn partition(
        &self,
        part: &GroupMesh,
        points: impl Iterator<Item = u32>,
        residuals: &Residuals,
        (prices, share): (&MorphPrices, f64),
    ) -> Result<Partition, Cancelled> {
        let bands: Vec<BlendBand> = points
            .map(|point| band_of(&part.weights[point as usize]))
            .collect();
        let prices = MorphPrices {
            entry: prices.entry * share,
            ..*prices
        };
        let limits = RegionLimits {
            still: MOVED_SHARE * self.tolerance,
            target_error: RANK_SHARE * self.tolerance,
            most: self.most_morphs(),
        };
        partition(residuals, &bands, &prices, limits, self.task)
    }

    /// Candidates below this error on the training set compete by their size: alternating least squares reduce what
    /// helpers leave.
    pub(crate) fn training_limit(&self, group: &Group, helpers: usize) -> f64 {
        let gain = if helpers > 0 {
            self.expected_gain(group)
        } else {
            1.0
        };
        ESTIMATE_SLACK.max(gain) * TRAINING_SHARE * self.tolerance
    }
}

impl Placed<'_> {
    /// The number of active points that each of the placed ones stands for.
    fn active_per_point(&self) -> f64 {
        self.part.active.len() as f64 / self.points.len().max(1) as f64
    }
}
