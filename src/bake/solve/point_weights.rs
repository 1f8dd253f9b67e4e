//! Weights of one point: constrained least squares (non-negative, sum 1, at most four) with IRLS.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use super::irls;
use super::simplex::minimise_on_simplex;
use crate::bake::problem::rows::{MAX_INFLUENCES, WeightRow, limited, normalised};
use crate::math::Worse;
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use glam::{DAffine3, DMat3, DVec3};

/// Iterations, the first of plain least squares.
const ITERATIONS: usize = 4;

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
    /// The linear part of the target motion. Where it is not known, the observation counts for positions alone.
    pub(crate) linear: Option<DMat3>,
}

/// Penalties of the fit.
#[derive(Clone, Copy)]
pub(crate) struct Regularisation {
    /// Of an error of 1 in the linear part, metres: normals follow the linear part.
    pub(crate) linear: f64,
    /// Of a difference of 1 from the source's weights, metres: a ridge that selects one of many equal solutions.
    pub(crate) weights: f64,
}

/// The rows and columns of a matrix tile; its sums stay in registers.
const TILE: usize = 4;

/// The least squares problem of a point: the weights x of n slots that minimise `x' (P + sum w_o O_o' O_o) x` on the
/// simplex, for penalties P, offsets O and IRLS weights w.
struct PointProblem {
    n: usize,
    /// The length of a row: `n` rounded up to a multiple of [`TILE`]. Entries beyond `n` are 0.
    stride: usize,
    /// For each observation, the offsets of the slots' positions from the target, by component (3 x stride).
    offsets: Vec<f64>,
    /// The lower half of P by rows (stride x stride).
    penalties: Vec<f64>,
}

impl PointProblem {
    /// The problem of a point of source weights `own`; `candidates`: each a slot and its codebook row.
    fn new<'a>(
        candidates: &[(u16, WeightRow)],
        own: &[(u16, f64)],
        observations: impl Iterator<Item = PointObservation<'a>>,
        regularisation: Regularisation,
    ) -> Self {
        let n = candidates.len();
        let stride = n.next_multiple_of(TILE);
        let mut offsets: Vec<f64> = Vec::new();
        let mut linears: Vec<f64> = Vec::new();
        for observation in observations {
            let start = offsets.len();
            offsets.resize(start + 3 * stride, 0.0);
            let first = linears.len();
            if observation.linear.is_some() {
                linears.resize(first + 9 * stride, 0.0);
            }
            for (i, (slot, _)) in candidates.iter().enumerate() {
                let matrix = &observation.matrices[usize::from(*slot)];
                let offset = matrix.transform_point3(observation.position) - observation.target;
                for (component, x) in offset.to_array().into_iter().enumerate() {
                    offsets[start + component * stride + i] = x;
                }
                if let Some(linear) = observation.linear {
                    let linear = (matrix.matrix3 - linear).to_cols_array();
                    for (component, x) in linear.into_iter().enumerate() {
                        linears[first + component * stride + i] = x;
                    }
                }
            }
        }
        let n_linear = linears.len() / (9 * stride).max(1);
        let mut penalties = vec![0.0; stride * stride];
        add_products(&mut penalties, &linears, stride, &vec![1.0; 3 * n_linear]);
        let mut problem = Self {
            n,
            stride,
            offsets,
            penalties,
        };
        // Penalties count as much as all observations, however many of them have linear parts.
        let n_observations = problem.n_observations() as f64;
        let scale = n_observations / n_linear.max(1) as f64 * regularisation.linear.powi(2);
        problem
            .penalties
            .iter_mut()
            .for_each(|entry| *entry *= scale);
        problem.add_ridge(
            candidates,
            own,
            n_observations * regularisation.weights.powi(2),
        );
        problem
    }

    /// Adds the ridge towards the source's weights: the products of the differences of codebook rows from them.
    fn add_ridge(&mut self, candidates: &[(u16, WeightRow)], own: &[(u16, f64)], ridge: f64) {
        let mut joints: Vec<u16> = own.iter().map(|r| r.0).collect();
        joints.extend(candidates.iter().flat_map(|c| c.1.iter().map(|r| r.0)));
        joints.sort_unstable();
        joints.dedup();
        let of = |row: &[(u16, f64)], j: u16| row.iter().find(|r| r.0 == j).map_or(0.0, |r| r.1);
        let differences = candidates
            .iter()
            .flat_map(|c| joints.iter().map(|&j| of(&c.1, j) - of(own, j)));
        let differences: Vec<f64> = differences.collect();
        let row = |i: usize| &differences[i * joints.len()..(i + 1) * joints.len()];
        for i in 0..self.n {
            for j in 0..=i {
                let products = row(i).iter().zip(row(j)).map(|(a, b)| a * b);
                self.penalties[i * self.stride + j] += ridge * products.sum::<f64>();
            }
        }
    }

    fn n_observations(&self) -> usize {
        self.offsets.len().checked_div(3 * self.stride).unwrap_or(0)
    }

    fn observations(&self) -> impl Iterator<Item = &[f64]> {
        self.offsets.chunks_exact((3 * self.stride).max(1))
    }

    /// The matrix of the problem with these IRLS weights, n x n.
    fn normal(&self, irls_weights: &[f64]) -> Vec<f64> {
        let (n, stride) = (self.n, self.stride);
        let mut sums = self.penalties.clone();
        add_products(&mut sums, &self.offsets, stride, irls_weights);
        let entry = |i: usize, j: usize| sums[i.max(j) * stride + i.min(j)];
        (0..n * n).map(|at| entry(at / n, at % n)).collect()
    }

    /// The error of each observation.
    fn errors(&self, found: &[(usize, f64)]) -> Vec<f64> {
        let stride = self.stride;
        let errors = self.observations().map(|offsets| {
            let offset = |&(i, x): &(usize, f64)| {
                DVec3::new(offsets[i], offsets[stride + i], offsets[2 * stride + i]) * x
            };
            found.iter().map(offset).sum::<DVec3>().length()
        });
        errors.collect()
    }
}

/// The best row over `candidates` (each a slot and its codebook row) for a point of source weights `own`. An IRLS
/// iterate replaces the plain solution only where it reduces the largest error by 2 %; none follow below `bound`.
pub(crate) fn fit_point<'a>(
    candidates: &[(u16, WeightRow)],
    own: &[(u16, f64)],
    observations: impl Iterator<Item = PointObservation<'a>>,
    regularisation: Regularisation,
    bound: f64,
) -> WeightRow {
    let problem = PointProblem::new(candidates, own, observations, regularisation);
    let mut irls_weights = vec![1.0; problem.n_observations()];
    let mut best: Option<(f64, Vec<(usize, f64)>)> = None;
    for _ in 0..ITERATIONS {
        let found = minimise_sparse(&problem.normal(&irls_weights), problem.n);
        let errors = problem.errors(&found);
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

/// Adds dot products of vectors, weighted by `factors`, to a row-major matrix: to its lower triangle and to the whole of
/// each tile on the diagonal. `components` has three rows (x, y, z) for each factor.
struct AddProducts<'a> {
    matrix: &'a mut [f64],
    components: &'a [f64],
    stride: usize,
    factors: &'a [f64],
}

impl Kernel for AddProducts<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let (stride, n_tiles) = (self.stride, self.stride / TILE);
        for row in 0..n_tiles {
            for column in 0..=row {
                let mut sums = [[0.0; TILE]; TILE];
                let threes = self.components.chunks_exact(3 * stride);
                for (three, factor) in threes.zip(self.factors) {
                    // Loops instead of closures, which are not always inlined.
                    let tiles = three.as_chunks::<TILE>().0;
                    let [y, z] = [n_tiles, 2 * n_tiles];
                    let (x_row, x) = (&tiles[row], &tiles[column]);
                    let (y_row, y) = (&tiles[y + row], &tiles[y + column]);
                    let (z_row, z) = (&tiles[z + row], &tiles[z + column]);
                    for (i, sums) in sums.iter_mut().enumerate() {
                        let own = [x_row[i] * factor, y_row[i] * factor, z_row[i] * factor];
                        for (j, sum) in sums.iter_mut().enumerate() {
                            *sum += own[0] * x[j] + own[1] * y[j] + own[2] * z[j];
                        }
                    }
                }
                for (i, sums) in sums.iter().enumerate() {
                    let at = (row * TILE + i) * stride + column * TILE;
                    let entries = self.matrix[at..at + TILE].iter_mut();
                    entries.zip(sums).for_each(|(entry, sum)| *entry += sum);
                }
            }
        }
    }
}

fn add_products(matrix: &mut [f64], components: &[f64], stride: usize, factors: &[f64]) {
    let products = AddProducts {
        matrix,
        components,
        stride,
        factors,
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
    fn products_are_added_by_tiles() {
        let (stride, n) = (8, 6);
        let at = |row: usize, i: usize| ((row * 7 + i * 3) % 11) as f64 - 4.0;
        let component = |row: usize, i: usize| if i < n { at(row, i) } else { 0.0 };
        let components = (0..6).flat_map(|row| (0..stride).map(move |i| component(row, i)));
        let components: Vec<f64> = components.collect();
        let mut matrix = vec![1.0; stride * stride];
        add_products(&mut matrix, &components, stride, &[2.0, 0.5]);
        for i in 0..n {
            for j in 0..=i {
                let rows = (0..6).map(|row| [2.0, 0.5][row / 3] * at(row, i) * at(row, j));
                assert_eq!(matrix[i * stride + j], 1.0 + rows.sum::<f64>());
            }
        }
    }

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
            linear: Some(DMat3::from_quat(half)),
        };
        let own = vec![(0, 0.5), (1, 0.5)];
        let candidates = [(0, vec![(0, 1.0)]), (1, vec![(1, 1.0)]), (2, own.clone())];
        let regularisation = Regularisation {
            linear: 0.02,
            weights: 0.02,
        };
        let row = fit_point(
            &candidates,
            &own,
            std::iter::once(observation),
            regularisation,
            0.0,
        );
        assert_eq!((row.len(), row[0].0), (1, 2), "{row:?}");
    }
}
