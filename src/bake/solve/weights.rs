//! Weights of the points of meshes over joints and helper joints.

use super::point_weights::{PointObservation, Regularisation, fit_point};
use super::training::TrainingSet;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::{WeightRow, blended, distance};
use crate::bake::problem::sampler::Sampler;
use crate::math::Worse;
use crate::task::{Cancelled, Task};
use glam::DVec3;
use rayon::prelude::*;

/// Helpers among the candidates of a point: those of the most similar rows, and with free motions as many of the
/// nearest.
const MAX_HELPER_CANDIDATES: usize = 6;

/// Points per parallel chunk.
const POINTS_PER_CHUNK: usize = 256;

/// Observations of a point; it bounds the time of a fit.
pub(crate) const MAX_OBSERVATIONS: usize = 96;

/// Linear parts are taken from every third observation: they only choose among nearly equal solutions.
const LINEAR_STRIDE: usize = 3;

/// L1 distance of rows from which on a helper shares next to no joint with a point (2: none).
const MAX_WEIGHT_DISTANCE: f64 = 1.9;

/// The fit of a mesh's points in some observations.
pub(crate) struct WeightFitter<'a> {
    pub(crate) part: &'a GroupMesh,
    /// Its index in the group.
    pub(crate) index: usize,
    pub(crate) training: &'a TrainingSet,
    pub(crate) observations: &'a [(usize, usize, usize)],
    pub(crate) regularisation: Regularisation,
    /// Fit the whole stack; otherwise the skinning without corrections.
    pub(crate) whole: bool,
    /// Points below this error are not reweighted, world.
    pub(crate) target_error: f64,
}

/// The helpers that points can follow.
#[derive(Clone, Copy)]
pub(crate) struct HelperSet<'a> {
    /// Rows over the joints.
    pub(crate) codebook: &'a [WeightRow],
    /// Bind positions; empty where helpers are chosen by rows alone.
    pub(crate) seeds: &'a [DVec3],
    pub(crate) regularisation: Regularisation,
    /// Points below this error are not reweighted, world.
    pub(crate) target_error: f64,
}

impl<'a> WeightFitter<'a> {
    /// A fit of mesh `index` to the observations; parameters as the fields of [`WeightFitter`].
    pub(crate) fn new(
        training: &'a TrainingSet,
        group: &'a Group,
        index: usize,
        observations: &'a [(usize, usize, usize)],
        whole: bool,
        regularisation: Regularisation,
        target_error: f64,
    ) -> Self {
        Self {
            part: &group.meshes[index],
            index,
            training,
            observations,
            regularisation,
            whole,
            target_error,
        }
    }

    /// A point with its displacements in one observation.
    #[inline]
    fn observation(
        &self,
        point: u32,
        displacements: &[DVec3],
        (m, d, u): (usize, usize, usize),
    ) -> PointObservation<'_> {
        let frame = &self.training.frames[m];
        let drawn = &frame.instances[d];
        let target = if self.whole || drawn.uncorrected.is_empty() {
            &drawn.target
        } else {
            &drawn.uncorrected
        };
        PointObservation {
            matrices: &self.training.matrices[m][u],
            position: self
                .training
                .bind_position(self.part, point, displacements, m, d),
            target: target[point as usize].as_dvec3(),
            linear: None,
        }
    }

    /// The largest error of a point with this row.
    pub(crate) fn error(&self, point: u32, row: &[(u16, f64)]) -> f64 {
        let displacements = self.training.displacements(self.part, self.index, point);
        let errors = self.observations.iter().map(|&observed| {
            let observation = self.observation(point, displacements, observed);
            let at = blended(row, observation.matrices).transform_point3(observation.position);
            at.distance_squared(observation.target)
        });
        errors.fold(0.0, f64::worse).sqrt()
    }

    /// The best row over the point's joints and the candidate helpers.
    pub(crate) fn refit(
        &self,
        point: u32,
        n_joints: usize,
        codebook: &[WeightRow],
        seeds: &[DVec3],
        joint_set_of: &[usize],
    ) -> WeightRow {
        let own = &self.part.weights[point as usize];
        let mut candidates: Vec<(u16, WeightRow)> =
            own.iter().map(|&(j, _)| (j, vec![(j, 1.0)])).collect();
        let mut near: Vec<(f64, usize)> = codebook
            .iter()
            .enumerate()
            .map(|(h, blend_weights)| (distance(blend_weights, own), h))
            .filter(|n| n.0 < MAX_WEIGHT_DISTANCE)
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut around: Vec<(f64, usize)> = Vec::new();
        if !seeds.is_empty() {
            let position = self.part.geometry.positions[point as usize].as_dvec3();
            around = near
                .iter()
                .map(|n| (seeds[n.1].distance_squared(position), n.1))
                .collect();
            around.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            around.truncate(MAX_HELPER_CANDIDATES);
        }
        near.truncate(MAX_HELPER_CANDIDATES);
        around.retain(|a| near.iter().all(|n| n.1 != a.1));
        near.extend(around);
        candidates.extend(
            near.into_iter()
                .map(|(_, h)| ((n_joints + h) as u16, codebook[h].clone())),
        );
        let displacements = self.training.displacements(self.part, self.index, point);
        let observations = self.observations.iter().enumerate();
        let point_observations = observations.map(|(o, &(m, d, u))| {
            let joint_set = &self.training.frames[m].joint_sets[joint_set_of[u]];
            PointObservation {
                linear: o
                    .is_multiple_of(LINEAR_STRIDE)
                    .then(|| joint_set.blend(own).matrix3),
                ..self.observation(point, displacements, (m, d, u))
            }
        });
        fit_point(
            &candidates,
            own,
            point_observations,
            self.regularisation,
            self.target_error,
        )
    }
}

/// Rows of `points` with these helpers, by mesh: fitted to the skinning, or to the whole stack where that leaves less;
/// unchanged where neither reduces the error.
pub(crate) fn fit_weights(
    sampler: &Sampler<'_>,
    group: &Group,
    training: &TrainingSet,
    points: &[Vec<u32>],
    followed: HelperSet<'_>,
    task: &Task,
) -> Result<Vec<Vec<WeightRow>>, Cancelled> {
    let HelperSet {
        codebook,
        seeds,
        regularisation,
        target_error,
    } = followed;
    let mut rows = Vec::new();
    for (i, part) in group.meshes.iter().enumerate() {
        task.check()?;
        let base = |p: u32| part.file_weights[p as usize].clone();
        let Some(n_joints) = group.n_joints.filter(|_| !codebook.is_empty()) else {
            rows.push(points[i].iter().map(|&p| base(p)).collect());
            continue;
        };
        let observations = training.of_part(sampler, group, part, MAX_OBSERVATIONS);
        let fitter = |whole: bool| {
            WeightFitter::new(
                training,
                group,
                i,
                &observations,
                whole,
                regularisation,
                target_error,
            )
        };
        let (skinned, whole) = (fitter(false), fitter(true));
        let corrects = training
            .frames
            .iter()
            .any(|m| m.instances.iter().any(|d| !d.uncorrected.is_empty()));
        let refit = |&p: &u32| {
            let mut best = base(p);
            let row = skinned.refit(p, n_joints, codebook, seeds, &group.joint_sets);
            if skinned.error(p, &row) < skinned.error(p, &best) {
                best = row;
            }
            if corrects {
                let row = whole.refit(p, n_joints, codebook, seeds, &group.joint_sets);
                if whole.error(p, &row) < whole.error(p, &best) {
                    best = row;
                }
            }
            best
        };
        let chunks = points[i].par_chunks(POINTS_PER_CHUNK).map(|points| {
            task.check()?;
            Ok(points.iter().map(refit).collect())
        });
        let chunks: Vec<Vec<WeightRow>> = chunks.collect::<Result<_, Cancelled>>()?;
        rows.push(chunks.concat());
    }
    Ok(rows)
}
