//! A low-rank basis of displacements with a weight at each frame, fitted to the residuals of skinning.
//!
//! For points p and frames t, `min sum |r_tp - A_tp sum_k B_pk W_kt|^2` by alternating least squares over B (bind
//! space) and W. A is inverted (with damping) only for the initial weights: where skin matrices are singular (a
//! twisted wrist), other frames determine the displacements. IRLS iterations follow, because the largest error counts
//! (Kavan et al. 2010 minimise the mean square).

use super::irls;
use super::linear::{add_ridge, eigenvectors, solve_in_place};
use super::normal_equations::{NormalEquations, add_points};
use super::weight_products::WeightProducts;
use crate::math::Worse;
use crate::task::{Cancelled, Task};
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// Iterations of plain and of iteratively reweighted least squares.
pub(super) const ITERATIONS: (usize, usize) = (2, 4);
/// Iterations that start from the weights of an earlier fit, while motions and skin weights still change.
pub(super) const KNOWN_ITERATIONS: (usize, usize) = (1, 1);

/// Points per parallel chunk; fixed, so that sums do not depend on the number of threads.
const POINTS_PER_CHUNK: usize = 256;

/// Frames per parallel chunk, fixed: the residuals of a point in consecutive frames are adjacent in memory.
const FRAMES_PER_CHUNK: usize = 8;

/// Damping of the initial inverse, as a fraction of the mean scale of the matrices: singular values below it are
/// suppressed.
const DAMPING: f64 = 0.03;
/// The mean scale is taken of every seventh matrix, which is exact enough for a damping.
const TRACE_STRIDE: usize = 7;

/// Residuals of n points in t frames, by point.
pub(crate) struct Residuals {
    pub(crate) t: usize,
    /// The linear part A of the point's matrix, column by column: n x t.
    pub(crate) a: Vec<[f32; 9]>,
    /// The residual r, world: n x t.
    pub(crate) r: Vec<[f32; 3]>,
}

/// Displacements and their weights.
#[derive(Clone)]
pub(crate) struct Basis {
    pub(crate) k: usize,
    /// Displacements B: n x k, bind space.
    pub(crate) b: Vec<DVec3>,
    /// Weights W: t x k.
    pub(crate) w: Vec<f64>,
    /// The largest error, world.
    pub(crate) max_error: f64,
}

impl Basis {
    /// The basis without displacements.
    pub(crate) fn none(residuals: &Residuals) -> Self {
        Self {
            k: 0,
            b: Vec::new(),
            w: Vec::new(),
            max_error: residuals.max_norm(),
        }
    }
}

impl Residuals {
    pub(crate) fn n(&self) -> usize {
        self.r.len().checked_div(self.t).unwrap_or(0)
    }

    /// The linear part of the matrix of point i / t in frame i % t.
    #[inline]
    pub(crate) fn a(&self, i: usize) -> DMat3 {
        DMat3::from_cols_array(&self.a[i].map(f64::from))
    }

    #[inline]
    fn r(&self, i: usize) -> DVec3 {
        DVec3::from_array(self.r[i].map(f64::from))
    }

    /// The largest norm of a residual.
    pub(crate) fn max_norm(&self) -> f64 {
        let length = |r: &[f32; 3]| r.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        self.r.iter().map(length).fold(0.0, f64::worse).sqrt()
    }

    /// The largest norm of a residual of each point.
    pub(crate) fn max_norm_of_points(&self) -> Vec<f64> {
        let length = |r: &[f32; 3]| r.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
        let points = self.r.chunks(self.t.max(1));
        let norms = points.map(|r| r.iter().map(length).fold(0.0, f64::worse).sqrt());
        norms.collect()
    }

    /// The residuals of some points.
    pub(crate) fn of_points(&self, points: &[u32]) -> Self {
        let t = self.t;
        let rows = || points.iter().map(|&p| p as usize * t..(p as usize + 1) * t);
        Self {
            t,
            a: rows().flat_map(|row| self.a[row].iter().copied()).collect(),
            r: rows().flat_map(|row| self.r[row].iter().copied()).collect(),
        }
    }

    /// At most `most` frames, at a regular stride.
    pub(crate) fn every_frame(&self, most: usize) -> Self {
        let step = self.t.div_ceil(most.max(1)).max(1);
        let kept = || (0..self.r.len()).filter(|i| (i % self.t).is_multiple_of(step));
        Self {
            t: self.t.div_ceil(step),
            a: kept().map(|i| self.a[i]).collect(),
            r: kept().map(|i| self.r[i]).collect(),
        }
    }

    /// The residuals pulled back to bind space: n x t.
    pub(crate) fn pulled_back(&self) -> Vec<[f32; 3]> {
        let damping = self.damping();
        let all = (0..self.r.len()).into_par_iter();
        all.map(|i| self.pulled(i, damping).as_vec3().to_array())
            .collect()
    }

    /// Displacement at bind whose effect is residual i, for a matrix that has an inverse; otherwise damped.
    fn pulled(&self, i: usize, damping: f64) -> DVec3 {
        let a = self.a(i);
        let normal = a.transpose() * a + DMat3::from_diagonal(DVec3::splat(damping));
        normal.inverse() * (a.transpose() * self.r(i))
    }

    fn damping(&self) -> f64 {
        let trace: f64 = (0..self.a.len())
            .step_by(TRACE_STRIDE)
            .map(|i| self.a[i].iter().map(|x| f64::from(*x).powi(2)).sum::<f64>())
            .sum();
        let n = self.a.len().div_ceil(TRACE_STRIDE).max(1);
        DAMPING.powi(2) * trace / (3 * n) as f64 + 1e-300
    }

    /// Initial weights (t values each): the principal components of the residuals pulled back to bind space, largest
    /// first.
    fn principal(&self) -> Vec<Vec<f64>> {
        let t = self.t;
        if t == 0 {
            return Vec::new();
        }
        let damping = self.damping();
        let partial: Vec<Vec<f64>> = (0..self.n())
            .collect::<Vec<_>>()
            .par_chunks(POINTS_PER_CHUNK)
            .map(|points| {
                let mut gram = vec![0.0; t * t];
                let mut d = vec![DVec3::ZERO; t];
                for &p in points {
                    for (f, d) in d.iter_mut().enumerate() {
                        *d = self.pulled(p * t + f, damping);
                    }
                    for f in 0..t {
                        for g in 0..=f {
                            gram[f * t + g] += d[f].dot(d[g]);
                        }
                    }
                }
                gram
            })
            .collect();
        let mut gram = vec![0.0; t * t];
        for part in partial {
            gram.iter_mut().zip(part).for_each(|(sum, x)| *sum += x);
        }
        for f in 0..t {
            for g in 0..f {
                gram[g * t + f] = gram[f * t + g];
            }
        }
        if gram.iter().any(|x| !x.is_finite()) {
            return Vec::new();
        }
        eigenvectors(&gram, t)
    }

    /// Bases of `first` and more displacements, up to `most`, until one leaves at most `target_error`: one more at a time, of
    /// many an eighth more, since a fit takes time with the cube of their number. Ends where [`MOST_STALLED`] in sequence
    /// hardly help: what is left then, such as the flip of a spinning joint, needs more than displacements.
    pub(crate) fn bases(
        &self,
        first: usize,
        most: usize,
        target_error: f64,
        task: &Task,
    ) -> Result<Vec<Basis>, Cancelled> {
        let principal = self.principal();
        let most = most.min(principal.len());
        let mut found: Vec<Basis> = Vec::new();
        let (mut k, mut least, mut n_stalled) = (first.min(most).max(1), f64::INFINITY, 0);
        while k <= most && n_stalled < MOST_STALLED {
            let basis = self.fit(&principal[..k], task)?;
            let done = basis.max_error <= target_error;
            // A comparison that NaN fails.
            if basis.max_error < STALLED_SHARE * least {
                (least, n_stalled) = (basis.max_error, 0);
            } else {
                n_stalled += 1;
            }
            found.push(basis);
            if done {
                break;
            }
            let next = if k < ONE_BY_ONE { k + 1 } else { k + k / 8 };
            k = if k < most { next.min(most) } else { next };
        }
        Ok(found)
    }

    /// A basis of few displacements, at most `most`, that leaves at most `target_error`: the smallest one if more
    /// displacements never leave more, which bisection assumes. If `most` miss the target, the better of the bases of
    /// `most` and of one less, since fits end in local minima. `None` if `most` is 0, or the residuals are empty or not
    /// finite.
    pub(crate) fn smallest_basis(
        &self,
        most: usize,
        target_error: f64,
        task: &Task,
    ) -> Result<Option<Basis>, Cancelled> {
        let principal = self.principal();
        let most = most.min(principal.len());
        if most == 0 {
            return Ok(None);
        }
        let mut best = self.fit(&principal[..most], task)?;
        // A comparison that NaN fails.
        if best.max_error <= target_error {
            let (mut low, mut high) = (1, most);
            while low < high {
                let k = low.midpoint(high);
                let basis = self.fit(&principal[..k], task)?;
                if basis.max_error <= target_error {
                    (best, high) = (basis, k);
                } else {
                    low = k + 1;
                }
            }
        } else if most > 1 {
            let fewer = self.fit(&principal[..most - 1], task)?;
            if fewer.max_error < best.max_error {
                best = fewer;
            }
        }
        Ok(Some(best))
    }

    /// Fits displacements from initial weights `start` (k rows of t).
    fn fit(&self, start: &[Vec<f64>], task: &Task) -> Result<Basis, Cancelled> {
        let (k, t) = (start.len(), self.t);
        let mut w = vec![0.0; t * k];
        for (i, row) in start.iter().enumerate() {
            for (f, &x) in row.iter().enumerate() {
                w[f * k + i] = x * (t as f64).sqrt();
            }
        }
        self.fit_from(k, w, ITERATIONS, task)
    }

    /// Fits displacements from initial weights `w` (t x k), with `plain` iterations of least squares and `reweighted`
    /// iterations of iteratively reweighted least squares.
    pub(crate) fn fit_from(
        &self,
        k: usize,
        mut w: Vec<f64>,
        (plain, reweighted): (usize, usize),
        task: &Task,
    ) -> Result<Basis, Cancelled> {
        let mut irls = vec![1.0f32; self.r.len()];
        let mut best: Option<Basis> = None;
        for round in 0..plain + reweighted {
            task.check()?;
            let b = self.solve_displacements(k, &w, &irls);
            w = self.solve_weights(k, &b, &irls, &w);
            let errors = self.errors(k, &b, &w);
            let max_error = f64::from(errors.iter().copied().fold(0.0, f32::worse));
            if best.as_ref().is_none_or(|best| max_error < best.max_error) {
                let w = w.clone();
                best = Some(Basis { k, b, w, max_error });
            }
            if round + 1 >= plain {
                let square: f64 = errors.iter().map(|e| f64::from(*e).powi(2)).sum();
                let rms = (square / errors.len().max(1) as f64).sqrt() as f32;
                if !(rms > 0.0 && rms.is_finite()) {
                    break;
                }
                for (irls, e) in irls.iter_mut().zip(errors) {
                    *irls *= irls::fast_factor(e / rms);
                }
                let mean =
                    irls.iter().map(|irls| f64::from(*irls)).sum::<f64>() / irls.len() as f64;
                for irls in &mut irls {
                    *irls /= mean as f32;
                }
            }
        }
        Ok(best.unwrap_or(Basis {
            k,
            b: vec![DVec3::ZERO; self.n() * k],
            w,
            max_error: self.max_norm(),
        }))
    }

    /// Solves B for fixed W.
    fn solve_displacements(&self, k: usize, w: &[f64], irls: &[f32]) -> Vec<DVec3> {
        let (t, size) = (self.t, 3 * k);
        let mut b = vec![DVec3::ZERO; self.n() * k];
        let products = WeightProducts::of(k, w);
        b.par_chunks_mut((POINTS_PER_CHUNK * k).max(1))
            .enumerate()
            .for_each(|(c, b)| {
                let mut normal = vec![0.0; size * size];
                let mut right = vec![0.0; size];
                let mut squares = vec![[0.0; 6]; t];
                for (i, b) in b.chunks_exact_mut(k).enumerate() {
                    let p = c * POINTS_PER_CHUNK + i;
                    right.fill(0.0);
                    for (f, of_frame) in squares.iter_mut().enumerate() {
                        let at = p * t + f;
                        let (a, irls) = (self.a(at), f64::from(irls[at]));
                        let (square, r) =
                            (a.transpose() * a * irls, a.transpose() * self.r(at) * irls);
                        let [x, y, z] = [square.x_axis, square.y_axis, square.z_axis];
                        *of_frame = [x.x, x.y, x.z, y.y, y.z, z.z];
                        for (right, w) in right.chunks_exact_mut(3).zip(&w[f * k..(f + 1) * k]) {
                            right[0] += w * r.x;
                            right[1] += w * r.y;
                            right[2] += w * r.z;
                        }
                    }
                    products.normal(&squares, &mut normal);
                    add_ridge(&mut normal, size, 1e-9);
                    if solve_in_place(&mut normal, &mut right) {
                        for (b, x) in b.iter_mut().zip(right.chunks_exact(3)) {
                            *b = DVec3::from_slice(x);
                        }
                    }
                }
            });
        b
    }

    /// Solves W for fixed B; the weights of a singular frame stay.
    fn solve_weights(&self, k: usize, b: &[DVec3], irls: &[f32], before: &[f64]) -> Vec<f64> {
        let mut w = before.to_vec();
        w.par_chunks_mut((FRAMES_PER_CHUNK * k).max(1))
            .enumerate()
            .for_each(|(c, w)| {
                let of_frames = w.chunks_exact_mut(k);
                let systems = of_frames.map(|_| NormalEquations::new(k));
                let mut systems: Vec<NormalEquations> = systems.collect();
                let points = b.chunks_exact(k).enumerate().map(|(p, b)| {
                    let first = p * self.t + c * FRAMES_PER_CHUNK;
                    let at_frame = move |f: usize| {
                        let at = first + f;
                        (self.a(at), self.r(at), f64::from(irls[at]))
                    };
                    (b, at_frame)
                });
                add_points(&mut systems, points);
                for (system, w) in systems.into_iter().zip(w.chunks_exact_mut(k)) {
                    system.solve(w);
                }
            });
        w
    }

    /// The largest error with these displacements and weights.
    pub(crate) fn max_error_with(&self, k: usize, b: &[DVec3], w: &[f64]) -> f64 {
        let errors = self.errors(k, b, w);
        f64::from(errors.into_iter().fold(0.0, f32::worse))
    }

    /// The largest error of each point.
    pub(crate) fn max_error_of_points(&self, basis: &Basis) -> Vec<f64> {
        let errors = self.errors(basis.k, &basis.b, &basis.w);
        let points = errors.chunks(self.t.max(1));
        let max_error = points.map(|e| f64::from(e.iter().copied().fold(0.0, f32::worse)));
        max_error.collect()
    }

    fn errors(&self, k: usize, b: &[DVec3], w: &[f64]) -> Vec<f32> {
        let t = self.t;
        let mut errors = vec![0.0f32; self.r.len()];
        errors
            .par_chunks_mut((POINTS_PER_CHUNK * t).max(1))
            .enumerate()
            .for_each(|(c, errors)| {
                for (i, error) in errors.iter_mut().enumerate() {
                    let (p, f) = (c * POINTS_PER_CHUNK + i / t, i % t);
                    let at = p * t + f;
                    let d = displacement(&b[p * k..(p + 1) * k], &w[f * k..(f + 1) * k]);
                    *error = (self.r(at) - self.a(at) * d).length() as f32;
                }
            });
        errors
    }
}

/// Up to this many displacements bases grow one by one.
const ONE_BY_ONE: usize = 16;

/// Bases in sequence that leave more than this share of the least error before them are the last, after so many.
const STALLED_SHARE: f64 = 0.98;
const MOST_STALLED: usize = 6;

/// The displacement of a point at given weights, bind space.
#[inline]
pub(crate) fn displacement(b: &[DVec3], w: &[f64]) -> DVec3 {
    b.iter().zip(w).map(|(b, w)| *b * *w).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two displacements of pseudo-random points under rotating matrices, one of them singular.
    fn made(n: usize, t: usize) -> Residuals {
        let noise = |i: usize| (((i * 7919 + 13) % 1000) as f64 / 500.0) - 1.0;
        let mut residuals = Residuals {
            t,
            a: Vec::new(),
            r: Vec::new(),
        };
        for p in 0..n {
            let (b0, b1) = (
                DVec3::new(noise(p), noise(p + 31), noise(p + 77)),
                DVec3::new(noise(p + 5), noise(p + 91), noise(p + 3)),
            );
            for f in 0..t {
                let mut a = DMat3::from_rotation_y(0.2 * f as f64);
                if f == 3 {
                    a.x_axis = DVec3::ZERO;
                }
                let d = b0 * (0.5 * f as f64).sin() + b1 * (0.2 * f as f64);
                residuals.a.push(a.to_cols_array().map(|x| x as f32));
                residuals.r.push((a * d).to_array().map(|x| x as f32));
            }
        }
        residuals
    }

    /// Pseudo-random residuals, without a structure that few displacements could fit.
    fn unpatterned(n: usize, t: usize) -> Residuals {
        let noise = |i: usize| (((i * i * 7919 + i * 104729) % 10007) as f32 / 5000.0) - 1.0;
        let residual = |i: usize| [noise(3 * i), noise(3 * i + 1), noise(3 * i + 2)];
        Residuals {
            t,
            a: vec![DMat3::IDENTITY.to_cols_array().map(|x| x as f32); n * t],
            r: (0..n * t).map(residual).collect(),
        }
    }

    #[test]
    fn displacements_are_found_again() {
        let residuals = made(40, 12);
        let bases = residuals.bases(1, 4, 1e-4, &Task::new()).unwrap();
        assert!(
            bases[0].max_error > 1e-2 && bases.len() == 2,
            "{}",
            bases.len()
        );
        assert!(bases[1].max_error < 1e-4, "{}", bases[1].max_error);
    }

    #[test]
    fn the_smallest_basis_is_found_by_bisection() {
        let smallest = |residuals: &Residuals, most, target_error| {
            let found = residuals.smallest_basis(most, target_error, &Task::new());
            found.unwrap()
        };
        let residuals = made(40, 12);
        let of = |most, target_error| smallest(&residuals, most, target_error).unwrap();
        let met = of(8, 1e-4);
        assert!(
            met.k == 2 && met.max_error < 1e-4,
            "{} {}",
            met.k,
            met.max_error
        );
        assert_eq!((of(8, f64::INFINITY).k, of(1, f64::INFINITY).k), (1, 1));
        // Where the most displacements miss the target: the better one of two.
        assert!(of(1, 1e-4).max_error > 1e-2);
        let bases = residuals.bases(7, 8, 0.0, &Task::new()).unwrap();
        let least = bases
            .iter()
            .map(|b| b.max_error)
            .fold(f64::INFINITY, f64::min);
        assert_eq!(of(8, 0.0).max_error, least);
        // Any number of displacements is found where their errors fall.
        let residuals = unpatterned(60, 20);
        let bases = residuals.bases(1, 8, 0.0, &Task::new()).unwrap();
        assert!(
            bases.len() == 8
                && bases
                    .windows(2)
                    .all(|pair| pair[1].max_error < pair[0].max_error)
        );
        for basis in bases {
            let found = smallest(&residuals, 8, basis.max_error).unwrap();
            assert_eq!((found.k, found.max_error), (basis.k, basis.max_error));
        }
        // Nothing to fit, or nothing that can be fitted.
        let mut residuals = made(40, 12);
        assert!(smallest(&residuals, 0, 1e-4).is_none());
        residuals.r[7][1] = f32::NAN;
        assert!(smallest(&residuals, 8, 1e-4).is_none());
        let none = Residuals {
            t: 0,
            a: Vec::new(),
            r: Vec::new(),
        };
        assert!(smallest(&none, 8, 1e-4).is_none());
    }

    #[test]
    fn the_search_ends_where_more_displacements_do_not_help() {
        // Each basis leaves nearly as much as the one before.
        let residuals = unpatterned(300, 60);
        let ks = |most| -> Vec<usize> {
            let bases = residuals.bases(1, most, 1e-9, &Task::new()).unwrap();
            bases.iter().map(|basis| basis.k).collect()
        };
        assert!(ks(60).len() < 12, "{:?}", ks(60));
        // Many at a time, and the most of them is tried.
        let residuals = made(40, 12);
        let bases = residuals.bases(17, 30, 0.0, &Task::new()).unwrap();
        let found: Vec<usize> = bases.iter().map(|basis| basis.k).collect();
        assert_eq!(found.first(), Some(&12), "{found:?}");
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let residuals = made(700, 9);
        let run = |n| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(n)
                .build()
                .unwrap();
            pool.install(|| {
                let bases = residuals.bases(2, 2, 0.0, &Task::new()).unwrap();
                let smallest = residuals.smallest_basis(3, 0.0, &Task::new()).unwrap();
                (bases[0].b.clone(), smallest.unwrap().b)
            })
        };
        assert_eq!(run(1), run(3));
    }
}
