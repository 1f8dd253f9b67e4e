//! The normal equations for the weights of the morph targets in one frame.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use super::linear::{add_dots, add_ridge, solve_in_place};
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use glam::{DMat3, DVec3};

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
    pub(crate) fn add(&mut self, a: DMat3, b: &[DVec3], r: DVec3, irls: f64) {
        let [xs, ys, zs] = &mut self.columns;
        for (i, b) in b.iter().enumerate() {
            let column = a * *b;
            (xs[i], ys[i], zs[i]) = (column.x, column.y, column.z);
        }
        let products = Products {
            system: self,
            r,
            irls,
        };
        dispatch(Backend::detect(), products);
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

/// The products of the columns of a point with one another and with its residual, added to a system.
struct Products<'a> {
    system: &'a mut NormalEquations,
    r: DVec3,
    irls: f64,
}

impl Kernel for Products<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self { system, r, irls } = self;
        let [xs, ys, zs] = &system.columns;
        let rows = system.normal.chunks_exact_mut(system.k.max(1));
        for (i, (row, right)) in rows.zip(&mut system.right).enumerate() {
            let column = DVec3::new(xs[i], ys[i], zs[i]);
            add_dots(&mut row[..=i], irls, column, [xs, ys, zs]);
            *right += irls * column.dot(r);
        }
    }
}
