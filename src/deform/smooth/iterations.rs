//! The iterations of the smoothing over all points.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use crate::deform::CorrectiveSmooth;
use crate::deform::chunks::for_chunks;
use crate::mesh::Rings;
use crate::skinning::{Backend, Kernel, Simd, dispatch};
use glam::{Vec3, Vec3A};

/// The prefetch distance, neighbours: the prefetch of the hardware stops at every page.
pub(super) const AHEAD: usize = 256;

/// The buffers of the iterations.
#[derive(Default)]
pub(super) struct Iterations {
    /// n_points: the shape between two iterations.
    other: Vec<Vec3A>,
}

impl Iterations {
    /// A buffer of n_points, for iterations around single points. Its content is undefined.
    pub(super) fn buffer(&mut self, n_points: usize) -> &mut Vec<Vec3A> {
        self.other.resize(n_points, Vec3A::ZERO);
        &mut self.other
    }

    /// Writes a smoothed shape to `smoothed`, n_points.
    pub(super) fn smooth(
        &mut self,
        rings: &Rings,
        settings: &CorrectiveSmooth,
        shape: &[Vec3],
        smoothed: &mut Vec<Vec3A>,
    ) {
        let n_points = shape.len();
        let iteration = Iteration {
            rings,
            factor: settings.factor,
        };
        let (mut from, mut to) = (&mut self.other, smoothed);
        // The last iteration must write to `smoothed`.
        if settings.iterations.is_multiple_of(2) {
            std::mem::swap(&mut from, &mut to);
        }
        from.resize(n_points, Vec3A::ZERO);
        to.resize(n_points, Vec3A::ZERO);
        let mut n_left = settings.iterations;
        if n_left > 0 && rings.seams().next().is_none() {
            // Without seams the first iteration reads the shape itself: memory is what an iteration waits for.
            iteration.over_all(|q| shape[q as usize].into(), to);
            std::mem::swap(&mut from, &mut to);
            n_left -= 1;
        } else {
            for_chunks(from, |first, out| {
                for (out, &p) in out.iter_mut().zip(&shape[first..]) {
                    *out = p.into();
                }
            });
            for seam in rings.seams() {
                let mean = seam_mean(seam, shape);
                for &point in seam {
                    from[point as usize] = mean;
                }
            }
        }
        for _ in 0..n_left {
            let shape = from.as_slice();
            iteration.over_all(|q| shape[q as usize], to);
            std::mem::swap(&mut from, &mut to);
        }
    }
}

/// An iteration of the umbrella Laplacian.
#[derive(Clone, Copy)]
struct Iteration<'a> {
    rings: &'a Rings,
    factor: f32,
}

impl Iteration<'_> {
    /// Writes all points; `at`: a point before the iteration.
    fn over_all(self, at: impl Fn(u32) -> Vec3A + Sync, to: &mut [Vec3A]) {
        let backend = Backend::detect();
        for_chunks(to, |first, out| {
            let points = Points {
                iteration: self,
                at: &at,
                first,
                out,
            };
            dispatch(backend, points);
        });
    }
}

/// The points from `first`, written by an iteration.
struct Points<'a, A> {
    iteration: Iteration<'a>,
    at: &'a A,
    first: usize,
    out: &'a mut [Vec3A],
}

impl<A: Fn(u32) -> Vec3A> Kernel for Points<'_, A> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Iteration { rings, factor } = self.iteration;
        for (i, out) in self.out.iter_mut().enumerate() {
            let point = (self.first + i) as u32;
            let (neighbours, start) = rings.row_start(point);
            simd.prefetch(neighbours, start + AHEAD);
            *out = step(rings, self.at, factor, point);
        }
    }
}

/// A point after one iteration of the umbrella Laplacian; `at`: a point before it.
#[inline(always)]
pub(super) fn step(rings: &Rings, at: impl Fn(u32) -> Vec3A, factor: f32, point: u32) -> Vec3A {
    let here = at(point);
    let neighbours = rings.averaged(point);
    if neighbours.is_empty() {
        return here;
    }
    let sum = match *neighbours {
        // Most points have six; three independent sums are quicker than a chain.
        [a, b, c, d, e, f] => (at(a) + at(b)) + (at(c) + at(d)) + (at(e) + at(f)),
        _ => neighbours.iter().map(|&q| at(q)).sum(),
    };
    here + (sum / neighbours.len() as f32 - here) * factor
}

/// The position of a seam: the mean of its points.
pub(super) fn seam_mean(seam: &[u32], shape: &[Vec3]) -> Vec3A {
    let sum: Vec3A = seam.iter().map(|&p| Vec3A::from(shape[p as usize])).sum();
    sum / seam.len() as f32
}
