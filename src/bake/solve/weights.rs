//! Weights of points over joints and helper joints: constrained least squares (non-negative, sum 1, at most four) with
//! IRLS.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use super::irls;
use super::linear::add_dots;
use super::simplex::minimise_on_simplex;
use super::training::TrainingSet;
use crate::bake::problem::group::{Group, GroupMesh};
use crate::bake::problem::rows::{
    MAX_INFLUENCES, WeightRow, blended, distance, limited, normalised,
};
use crate::bake::problem::sampler::Sampler;
use crate::math::Worse;
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use crate::task::{Cancelled, Task};
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;

/// Iterations, the first of plain least squares.
const ITERATIONS: usize = 4;

/// Helpers among the candidates of a point: those of the most similar rows, and with free motions as many of the
/// nearest.
const MAX_HELPER_CANDIDATES: usize = 6;

/// Points per parallel chunk.
const POINTS_PER_CHUNK: usize = 256;

/// Observations of a point; it bounds the time of a fit.
pub(crate) const MAX_OBSERVATIONS: usize = 96;

/// The penalty of linear parts is taken at every third observation: it only chooses among nearly equal solutions.
const LINEAR_STRIDE: usize = 3;

/// L1 distance of rows from which on a helper shares next to no joint with a point (2: none).
const MAX_WEIGHT_DISTANCE: f64 = 1.9;

/// An IRLS iterate replaces the best one if its largest error is below this fraction: the first, plain solution is the
/// smoothest over the surface.
const MIN_GAIN: f64 = 0.98;

/// Weights up to this are 0 in a fit: they are below the steps of 1/255 of a byte accessor.
const MIN_WEIGHT: f64 = 1e-4;

/// A point in one observation.
pub(crate) struct PointObservation<'a> {
    /// Skin matrices of joints and helpers.
    pub(crate) matrices: &'a [DAffine3],
    /// Bind position with morph targets and displacements.
    pub(crate) position: DVec3,
    /// Target position, world.
    pub(crate) target: DVec3,
    /// The linear part of the target motion.
    pub(crate) linear: DMat3,
}

/// Penalties of the fit.
#[derive(Clone, Copy)]
pub(crate) struct Regularisation {
    /// Of an error of 1 in the linear part, metres: normals follow the linear part.
    pub(crate) linear: f64,
    /// Of a difference of 1 from the source's weights, metres: a ridge that selects one of many equal solutions.
    pub(crate) weights: f64,
}

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

    fn observation(&self, point: u32, observations: (usize, usize, usize)) -> PointObservation<'_> {
        let (m, d, u) = observations;
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
                .bind_position(self.part, self.index, point, m, d),
            target: target[point as usize].as_dvec3(),
            linear: DMat3::ZERO,
        }
    }

    /// The largest error of a point with this row.
    pub(crate) fn error(&self, point: u32, row: &[(u16, f64)]) -> f64 {
        let errors = self.observations.iter().map(|&observations| {
            let observation = self.observation(point, observations);
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
        let point_observations = self.observations.iter().map(|&observations| {
            let joint_set =
                &self.training.frames[observations.0].joint_sets[joint_set_of[observations.2]];
            PointObservation {
                linear: joint_set.blend(own).matrix3,
                ..self.observation(point, observations)
            }
        });
        refit(
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

/// The best row over `candidates` (each a slot and its codebook row) for a point of source weights `own`. An IRLS
/// iterate replaces the plain solution only where it reduces the largest error by 2 %; none follow below `bound`.
fn refit<'a>(
    candidates: &[(u16, WeightRow)],
    own: &[(u16, f64)],
    point_observations: impl Iterator<Item = PointObservation<'a>>,
    regularisation: Regularisation,
    bound: f64,
) -> WeightRow {
    let n = candidates.len();
    // By observation: the offsets of the candidates' positions from the target, by component.
    let mut offsets: Vec<f64> = Vec::new();
    let mut linears = vec![0.0; 9 * n];
    let mut firm = vec![0.0; n * n];
    let care_2 = LINEAR_STRIDE as f64 * regularisation.linear * regularisation.linear;
    for (o, observation) in point_observations.enumerate() {
        let start = offsets.len();
        offsets.resize(start + 3 * n, 0.0);
        let of_linear = o.is_multiple_of(LINEAR_STRIDE);
        for (i, (slot, _)) in candidates.iter().enumerate() {
            let matrix = &observation.matrices[usize::from(*slot)];
            let offset = matrix.transform_point3(observation.position) - observation.target;
            for (component, x) in offset.to_array().into_iter().enumerate() {
                offsets[start + component * n + i] = x;
            }
            if of_linear {
                let linear = (matrix.matrix3 - observation.linear).to_cols_array();
                for (component, x) in linear.into_iter().enumerate() {
                    linears[component * n + i] = x;
                }
            }
        }
        if of_linear {
            add_products(&mut firm, &linears, n, care_2);
        }
    }
    let n_observations = offsets.len().checked_div(3 * n).unwrap_or(0) as f64;
    // The ridge towards the source's weights.
    let mut joints: Vec<u16> = own.iter().map(|r| r.0).collect();
    joints.extend(candidates.iter().flat_map(|c| c.1.iter().map(|r| r.0)));
    joints.sort_unstable();
    joints.dedup();
    let of = |row: &[(u16, f64)], j: u16| row.iter().find(|r| r.0 == j).map_or(0.0, |r| r.1);
    for i in 0..n {
        for j in 0..=i {
            let both = joints.iter().map(|&joint| {
                let own = of(own, joint);
                (of(&candidates[i].1, joint) - own) * (of(&candidates[j].1, joint) - own)
            });
            firm[i * n + j] += n_observations
                * regularisation.weights
                * regularisation.weights
                * both.sum::<f64>();
        }
    }
    let mut irls_weights = vec![1.0; n_observations as usize];
    let mut best: Option<(f64, Vec<(usize, f64)>)> = None;
    for _ in 0..ITERATIONS {
        let mut g = firm.clone();
        for (offsets, irls) in offsets.chunks_exact((3 * n).max(1)).zip(&irls_weights) {
            add_products(&mut g, offsets, n, *irls);
        }
        for i in 0..n {
            for j in 0..i {
                g[j * n + i] = g[i * n + j];
            }
        }
        let found = minimise_sparse(&g, n);
        let errors = offsets.chunks_exact((3 * n).max(1)).map(|offsets| {
            let offset = |&(i, x): &(usize, f64)| {
                DVec3::new(offsets[i], offsets[n + i], offsets[2 * n + i]) * x
            };
            found.iter().map(offset).sum::<DVec3>().length()
        });
        let errors: Vec<f64> = errors.collect();
        let max_error = errors.iter().copied().fold(0.0, f64::worse);
        if best
            .as_ref()
            .is_none_or(|best| max_error < MIN_GAIN * best.0)
        {
            best = Some((max_error, found));
        }
        if max_error <= bound || !irls::update(&mut irls_weights, &errors) {
            break;
        }
        irls::normalise(&mut irls_weights);
    }
    let row = best.map_or_else(Vec::new, |best| best.1);
    if row.is_empty() {
        // The equations are not finite.
        return limited(own.to_vec());
    }
    let row = row.into_iter().map(|(i, x)| (candidates[i].0, x));
    normalised(row.collect())
}

/// Adds `factor` times the scalar products of n vectors, given by component (a multiple of three), to the lower half of a
/// matrix by rows.
struct AddProducts<'a> {
    matrix: &'a mut [f64],
    components: &'a [f64],
    n: usize,
    factor: f64,
}

impl Kernel for AddProducts<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { n, factor, .. } = self;
        for three in self.components.chunks_exact((3 * n).max(1)) {
            let (xs, rest) = three.split_at(n);
            let (ys, zs) = rest.split_at(n);
            for i in 0..n {
                let own = DVec3::new(xs[i], ys[i], zs[i]) * factor;
                let row = &mut self.matrix[i * n..=i * n + i];
                add_dots(row, 1.0, own, [xs, ys, zs]);
            }
        }
    }
}

fn add_products(matrix: &mut [f64], components: &[f64], n: usize, factor: f64) {
    let products = AddProducts {
        matrix,
        components,
        n,
        factor,
    };
    dispatch(Backend::detect(), products);
}

/// The minimiser of `x' g x` on the simplex with at most [`MAX_INFLUENCES`] nonzero entries, by removing the smallest
/// ones.
fn minimise_sparse(g: &[f64], n: usize) -> Vec<(usize, f64)> {
    let mut chosen: Vec<usize> = (0..n).collect();
    loop {
        let m = chosen.len();
        let part: Vec<f64> = (0..m * m)
            .map(|e| g[chosen[e / m] * n + chosen[e % m]])
            .collect();
        let x = minimise_on_simplex(&part, m);
        let found = chosen.iter().copied().zip(x);
        let mut kept: Vec<(usize, f64)> = found.filter(|k| k.1 > MIN_WEIGHT).collect();
        if kept.len() <= MAX_INFLUENCES {
            return kept;
        }
        let least = kept
            .iter()
            .enumerate()
            .min_by(|a, b| a.1.1.total_cmp(&b.1.1));
        if let Some(least) = least.map(|l| l.0) {
            kept.remove(least);
        }
        chosen = kept.into_iter().map(|k| k.0).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    #[test]
    fn a_helper_that_does_it_takes_the_point() {
        let half = DQuat::from_rotation_z(0.8);
        let matrices = [
            DAffine3::IDENTITY,
            DAffine3::from_quat(half * half),
            DAffine3::from_quat(half),
        ];
        let observation = PointObservation {
            matrices: &matrices,
            position: DVec3::X,
            target: half * DVec3::X,
            linear: DMat3::from_quat(half),
        };
        let own = vec![(0, 0.5), (1, 0.5)];
        let candidates = [(0, vec![(0, 1.0)]), (1, vec![(1, 1.0)]), (2, own.clone())];
        let regularisation = Regularisation {
            linear: 0.02,
            weights: 0.02,
        };
        let row = refit(
            &candidates,
            &own,
            std::iter::once(observation),
            regularisation,
            0.0,
        );
        assert_eq!((row.len(), row[0].0), (1, 2), "{row:?}");
    }
}
