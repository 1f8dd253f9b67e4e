//! The normal equations for the weights of the morph targets in a frame.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use super::linear::{add_dots, add_ridge, solve_in_place};
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use glam::{DMat3, DVec3};

/// A point in a frame: its matrix A (linear part), its residual and its IRLS weight.
type PointFrame = (DMat3, DVec3, f64);

/// The normal equations for the weights of one frame.
pub(crate) struct NormalEquations {
    k: usize,
    /// By row, the entries up to the diagonal.
    normal: Vec<f64>,
    right: Vec<f64>,
    /// The effect of each displacement, by component.
    columns: [Vec<f64>; 3],
}

impl NormalEquations {
    pub(crate) fn new(k: usize) -> Self {
        Self {
            k,
            normal: vec![0.0; k * k],
            right: vec![0.0; k],
            columns: [vec![0.0; k], vec![0.0; k], vec![0.0; k]],
        }
    }

    /// Adds a point with displacements `b` and residual `r` at matrix `a`.
    #[inline(always)]
    fn add(&mut self, b: &[DVec3], (a, r, irls): PointFrame) {
        let [xs, ys, zs] = &mut self.columns;
        for (i, b) in b.iter().enumerate() {
            let column = a * *b;
            (xs[i], ys[i], zs[i]) = (column.x, column.y, column.z);
        }
        let [xs, ys, zs] = &self.columns;
        let rows = self.normal.chunks_exact_mut(self.k.max(1));
        for (i, (row, right)) in rows.zip(&mut self.right).enumerate() {
            let column = DVec3::new(xs[i], ys[i], zs[i]);
            add_dots(&mut row[..=i], irls, column, [xs, ys, zs]);
            *right += irls * column.dot(r);
        }
    }

    /// Solves for the weights; leaves `w` as it is where the system is singular.
    pub(crate) fn solve(mut self, w: &mut [f64]) {
        // The solver reads the lower triangle column by column.
        let k = self.k;
        let mut normal = vec![0.0; k * k];
        for row in 0..k {
            for column in 0..=row {
                normal[column * k + row] = self.normal[row * k + column];
            }
        }
        add_ridge(&mut normal, k, 1e-10);
        if solve_in_place(&mut normal, &mut self.right) {
            w.copy_from_slice(&self.right);
        }
    }
}

/// Adds points to the systems of some frames; `points`: by point, its displacements and what it has at each frame.
pub(crate) fn add_points<'b, F: Fn(usize) -> PointFrame>(
    systems: &mut [NormalEquations],
    points: impl Iterator<Item = (&'b [DVec3], F)>,
) {
    dispatch(Backend::detect(), Points { systems, points });
}

/// Points that are added to systems.
struct Points<'a, I> {
    systems: &'a mut [NormalEquations],
    points: I,
}

impl<'b, F: Fn(usize) -> PointFrame, I: Iterator<Item = (&'b [DVec3], F)>> Kernel
    for Points<'_, I>
{
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (b, at_frame) in self.points {
            for (f, system) in self.systems.iter_mut().enumerate() {
                system.add(b, at_frame(f));
            }
        }
    }
}
