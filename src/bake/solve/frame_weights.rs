//! Morph weights of one frame by least squares.

use super::displacements::displacement;
use super::irls;
use super::normal_equations::{NormalEquations, add_points};
use crate::math::Worse;
use glam::DVec3;

/// IRLS iterations for the weights of a frame, and the fraction of the best error that another one must reach.
const ITERATIONS: usize = 4;
const MIN_GAIN: f64 = 0.97;

/// The weights of the smallest maximum error over IRLS iterations, and that error.
pub(super) fn solve_frame_weights(
    k: usize,
    b: &[DVec3],
    left: &[(glam::DMat3, DVec3)],
) -> (Vec<f64>, f64) {
    let mut w = vec![0.0; k];
    let errors = |w: &[f64]| -> Vec<f64> {
        let points = left.iter().enumerate();
        points
            .map(|(p, (a, r))| (*r - *a * displacement(&b[p * k..(p + 1) * k], w)).length())
            .collect()
    };
    let max_of = |errors: &[f64]| errors.iter().copied().fold(0.0, f64::worse);
    let mut now = errors(&w);
    let mut best = (w.clone(), max_of(&now));
    if k == 0 {
        return best;
    }
    let mut irls_weights = vec![1.0; left.len()];
    for iteration in 0..ITERATIONS {
        let mut system = NormalEquations::new(k);
        let points = left.iter().zip(&irls_weights).zip(b.chunks_exact(k));
        let points = points.map(|((&(a, r), &irls), b)| (b, move |_| (a, r, irls)));
        add_points(std::slice::from_mut(&mut system), points);
        system.solve(&mut w);
        now = errors(&w);
        let error = max_of(&now);
        // The plain solution is the smoothest over time, so another one must be clearly better.
        if iteration == 0 || error < MIN_GAIN * best.1 {
            best = (w.clone(), error);
        }
        if !irls::update(&mut irls_weights, &now) {
            break;
        }
    }
    best
}
