//! Candidates: numbers of helpers and morph targets, by their estimated bytes and error.

use super::TRAINING_SHARE;
use super::placement::Placement;
use super::training::{Snapshot, TrainingSet, residual, residuals};
use crate::bake::normal_angles::compared_normals;
use crate::bake::problem::Problem;
use crate::bake::problem::group::Group;
use crate::bake::problem::rows::WeightRow;
use crate::bake::problem::sampling::{Sampling, times_of};
use crate::math::Worse;
use crate::task::Cancelled;
use rayon::prelude::*;

/// Bytes of JSON and binary that a helper joint adds to a glTF file besides its tracks: a node, a slot, an inverse
/// bind matrix. Measured on written files.
const HELPER_BYTES: f64 = 160.0;

const TRACK_BYTES: f64 = 180.0;

/// Fraction of keyframes that key reduction leaves. Measured on written files.
const KEPT_KEYS: f64 = 0.7;

/// Bytes of JSON of a morph target, with its accessor and buffer views. Measured on written files.
const MORPH_BYTES: f64 = 330.0;

const ENTRY_BYTES: f64 = 14.0;

/// Points of a mesh that an estimate fits: those of the largest errors, and about as many others; and their
/// observations. They bound its time.
const WORST_POINTS: usize = 250;
const OTHER_POINTS: usize = 150;
const MAX_OBSERVATIONS: usize = 48;
/// Points above this fraction of the tolerance have entries in a target, of which this fraction stays. Measured on
/// written files.
const MOVED_SHARE: f64 = 0.5;
const KEPT_ENTRIES: f64 = 0.7;
/// An estimate may exceed the error allowed on the training set by this factor, since the solution improves on it.
const ESTIMATE_SLACK: f64 = 1.05;

/// Numbers of helpers and morph targets to try.
pub(crate) struct Candidate {
    pub(crate) snapshot: usize,
    pub(crate) helpers: usize,
    pub(crate) morphs: Vec<usize>,
    pub(crate) bytes: f64,
    pub(crate) max_error: f64,
}

impl Problem<'_> {
    /// All candidates: those that promise to meet the tolerance first, by size; then the others by error.
    pub(crate) fn candidates(
        &self,
        group: &Group,
        training: &TrainingSet,
        placement: &Placement,
        sampling: &Sampling,
    ) -> Result<Vec<Candidate>, Cancelled> {
        let n_keys: usize = sampling.keys.iter().map(Vec::len).sum();
        let n_moved = sampling.keys.iter().filter(|keys| !keys.is_empty()).count();
        // A rotation key takes 8 bytes (four 16-bit numbers), a translation key 12.
        let (tracks, key_bytes) = if self.refines(group) {
            (2.0, 20.0)
        } else {
            (1.0, 8.0)
        };
        let per_helper = group.joint_sets.len() as f64
            * (HELPER_BYTES
                + KEPT_KEYS * key_bytes * n_keys as f64
                + tracks * TRACK_BYTES * n_moved as f64);
        let mut candidates: Vec<Candidate> = placement
            .snapshots
            .iter()
            .enumerate()
            .map(|(i, snapshot)| {
                let mut candidate = Candidate {
                    snapshot: i,
                    helpers: snapshot.helpers,
                    morphs: Vec::new(),
                    bytes: per_helper * snapshot.helpers as f64,
                    max_error: 0.0,
                };
                for i in 0..group.meshes.len() {
                    let (k, bytes, max_error) =
                        self.estimate(group, training, placement, snapshot, i, sampling)?;
                    candidate.morphs.push(k);
                    candidate.bytes += bytes;
                    candidate.max_error = candidate.max_error.worse(max_error);
                }
                Ok(candidate)
            })
            .collect::<Result<_, Cancelled>>()?;
        let target_error = self.training_limit(group);
        candidates.sort_by(|a, b| {
            match (a.max_error <= target_error, b.max_error <= target_error) {
                (true, true) => a.bytes.total_cmp(&b.bytes),
                (false, false) => a.max_error.total_cmp(&b.max_error),
                (a, b) => b.cmp(&a),
            }
        });
        Ok(candidates)
    }

    /// The number of morph targets that a mesh needs beside the helpers of a snapshot, their bytes, and the error
    /// left.
    fn estimate(
        &self,
        group: &Group,
        training: &TrainingSet,
        placement: &Placement,
        snapshot: &Snapshot,
        i: usize,
        sampling: &Sampling,
    ) -> Result<(usize, f64, f64), Cancelled> {
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
        let target_error = TRAINING_SHARE * self.tolerance;
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]).then(a.cmp(&b)));
        let Some(&first) = order.first() else {
            return Ok((0, 0.0, 0.0));
        };
        if errors[first] <= target_error {
            return Ok((0, 0.0, errors[first]));
        }
        let most = self.most_morphs();
        if most == 0 {
            return Ok((0, 0.0, errors[first]));
        }
        // The points of the largest errors and a regular subset of the others.
        let max_error: Vec<usize> = order.iter().copied().take(WORST_POINTS).collect();
        let others = order
            .iter()
            .copied()
            .skip(WORST_POINTS)
            .step_by((order.len() / OTHER_POINTS).max(1));
        let sample: Vec<(u32, &WeightRow)> = max_error
            .into_iter()
            .chain(others)
            .map(|o| points[o])
            .collect();
        let residuals = residuals(
            part,
            &training.frames,
            &snapshot.matrices,
            &observations,
            &sample,
        );
        let bases = residuals.bases(1, most, target_error, self.task)?;
        let Some(basis) = bases
            .iter()
            .min_by(|a, b| a.max_error.total_cmp(&b.max_error))
        else {
            return Ok((0, 0.0, errors[first]));
        };
        let needed = errors
            .iter()
            .filter(|e| **e > MOVED_SHARE * self.tolerance)
            .count();
        let share = needed as f64 / points.len().max(1) as f64;
        let vertices = part.geometry.n_vertices() as f64 / part.geometry.n_points().max(1) as f64;
        let entries = share * part.active.len() as f64 * vertices * KEPT_ENTRIES;
        let keys = times_of(&sampling.keys, self.corrected).len() as f64;
        let n_clips = self.corrected.iter().filter(|c| **c).count() as f64;
        let k = basis.k as f64;
        let item = self
            .sampler
            .item(part.mesh)
            .filter(|_| self.options.normals);
        let has_deltas =
            item.is_some_and(|item| !compared_normals(&part.geometry, &item.influences).is_empty());
        let entry_bytes = if has_deltas {
            2.0 * ENTRY_BYTES
        } else {
            ENTRY_BYTES
        };
        let bytes = k * (entries * entry_bytes + MORPH_BYTES)
            + part.instances.len() as f64 * (2.0 * (k + 1.0) * keys + TRACK_BYTES * n_clips);
        Ok((basis.k, bytes, basis.max_error))
    }

    /// Candidates below this error on the training set compete by their size.
    pub(crate) fn training_limit(&self, group: &Group) -> f64 {
        ESTIMATE_SLACK.max(self.expected_gain(group)) * TRAINING_SHARE * self.tolerance
    }
}
