//! The iterations of the smoothing over all points.

// The bodies must end up inside of what is compiled for AVX2, whatever the optimiser thinks of their size.
#![allow(clippy::inline_always)]

use super::tiles::{Before, Tiles};
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
    tiles: Option<Tiles>,
}

impl Iterations {
    /// A buffer of n_points, for iterations around single points. Its content is undefined.
    pub(super) fn buffer(&mut self, n_points: usize) -> &mut Vec<Vec3A> {
        self.other.resize(n_points, Vec3A::ZERO);
        &mut self.other
    }

    /// To be called when the mesh or the number of iterations changed.
    pub(super) fn set_mesh(&mut self, rings: &Rings, n_iterations: u32) {
        self.tiles = Tiles::new(rings, n_iterations as usize);
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
        smoothed.resize(n_points, Vec3A::ZERO);
        let closed = rings.seams().next().is_none();
        let other = &mut self.other;
        if !closed || self.tiles.is_none() {
            other.resize(n_points, Vec3A::ZERO);
        }
        if !closed {
            for_chunks(other, |first, out| copy(&shape[first..], out));
            for seam in rings.seams() {
                let mean = seam_mean(seam, shape);
                for &point in seam {
                    other[point as usize] = mean;
                }
            }
        }
        let Some(tiles) = &mut self.tiles else {
            let mut n_left = settings.iterations;
            if closed {
                if n_left == 0 {
                    for_chunks(other, |first, out| copy(&shape[first..], out));
                } else {
                    // Memory is what an iteration waits for: the first one reads the shape itself.
                    for_chunks(other, |first, out| {
                        iteration.write(|q| shape[q as usize].into(), first, out);
                    });
                    n_left -= 1;
                }
            }
            for _ in 0..n_left {
                let before = other.as_slice();
                for_chunks(smoothed, |first, out| {
                    iteration.write(|q| before[q as usize], first, out);
                });
                std::mem::swap(other, smoothed);
            }
            std::mem::swap(other, smoothed);
            return;
        };
        let other = other.as_slice();
        tiles.run(
            smoothed,
            |first, out| {
                if closed {
                    copy(&shape[first..], out);
                } else {
                    out.copy_from_slice(&other[first..first + out.len()]);
                }
            },
            |before, out| {
                let factor = settings.factor;
                let tile = TileStep {
                    before,
                    factor,
                    out,
                };
                dispatch(Backend::detect(), tile);
            },
        );
    }
}

fn copy(from: &[Vec3], to: &mut [Vec3A]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = from.into();
    }
}

/// An iteration of the umbrella Laplacian.
#[derive(Clone, Copy)]
struct Iteration<'a> {
    rings: &'a Rings,
    factor: f32,
}

impl Iteration<'_> {
    /// Writes the points from `first`; `at`: a point before the iteration.
    fn write(self, at: impl Fn(u32) -> Vec3A, first: usize, out: &mut [Vec3A]) {
        let points = Points {
            iteration: self,
            at,
            first,
            out,
        };
        dispatch(Backend::detect(), points);
    }
}

/// The points from `first`, written by an iteration.
struct Points<'a, A> {
    iteration: Iteration<'a>,
    at: A,
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
            *out = step(rings, &self.at, factor, point);
        }
    }
}

/// Points of a tile, written by an iteration.
struct TileStep<'a> {
    before: Before<'a>,
    factor: f32,
    out: &'a mut [Vec3A],
}

impl Kernel for TileStep<'_> {
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let points = self.before.points;
        for (out, (here, row)) in self.out.iter_mut().zip(self.before.rows()) {
            simd.prefetch(row, AHEAD);
            *out = towards_mean(here, row, |q| points[usize::from(q)], self.factor);
        }
    }
}

/// A point after one iteration of the umbrella Laplacian; `at`: a point before it.
#[inline(always)]
pub(super) fn step(rings: &Rings, at: impl Fn(u32) -> Vec3A, factor: f32, point: u32) -> Vec3A {
    towards_mean(at(point), rings.averaged(point), at, factor)
}

/// A point, moved by a factor towards the mean of its neighbours; `at`: where each of these is.
#[inline(always)]
fn towards_mean<Q: Copy>(
    here: Vec3A,
    neighbours: &[Q],
    at: impl Fn(Q) -> Vec3A,
    factor: f32,
) -> Vec3A {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::Mesh;

    /// A bumpy sheet of `n` x `n` points; `place`: where a point of the grid stands in the list of points.
    fn sheet(n: u32, place: impl Fn(u32) -> u32) -> Mesh {
        let n_points = n * n;
        let mut positions = vec![Vec3::ZERO; n_points as usize];
        for p in 0..n_points {
            let (x, y) = ((p % n) as f32, (p / n) as f32);
            positions[place(p) as usize] = Vec3::new(x, y, (0.7 * x).sin() + (0.9 * y).cos());
        }
        let mut triangles = Vec::new();
        for corner in (0..n_points - n).filter(|p| p % n != n - 1) {
            let quad = [corner, corner + 1, corner + n + 1, corner + n];
            let [a, b, c, d] = quad.map(&place);
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        Mesh {
            positions,
            triangles,
            point_of_vertex: (0..n_points).collect(),
            normal_of_vertex: vec![0; n_points as usize],
            normals: vec![Vec3::Z],
            point_of_normal: vec![0],
            ..Mesh::default()
        }
    }

    #[test]
    fn tiles_give_the_bits_of_iterations_over_all_points() {
        // A prime number of points in a row: the ends of tiles lie anywhere in a row.
        let mesh = sheet(101, |p| p);
        for n_iterations in [1, 2, 5, 20] {
            let settings = CorrectiveSmooth {
                iterations: n_iterations,
                ..CorrectiveSmooth::default()
            };
            let (mut tiled, mut plain) = (Iterations::default(), Iterations::default());
            tiled.set_mesh(mesh.rings(), n_iterations);
            let (mut a, mut b) = (Vec::new(), Vec::new());
            tiled.smooth(mesh.rings(), &settings, &mesh.positions, &mut a);
            plain.smooth(mesh.rings(), &settings, &mesh.positions, &mut b);
            assert_eq!(a, b, "{n_iterations} iterations");
            assert_eq!(tiled.tiles.is_some(), n_iterations <= 5);
        }
    }

    #[test]
    fn points_far_from_their_neighbours_are_not_tiled() {
        // 10201 is no multiple of 3571: the list is a permutation.
        let mesh = sheet(101, |p| p * 3571 % 10201);
        assert!(Tiles::new(mesh.rings(), 5).is_none());
    }

    #[test]
    fn points_whose_neighbours_a_tile_cannot_address_are_not_tiled() {
        // One iteration computes no point twice, but each of these tiles would read all 90000 points.
        let mesh = sheet(300, |p| p * 7919 % 90000);
        assert!(Tiles::new(mesh.rings(), 1).is_none());
    }
}
