//! Tiles: runs of points that go through all iterations while they are in the cache of a core.
//!
//! An iteration over all points of a large mesh waits for memory. A tile reads its points and the rings around them
//! once, iterates on a copy, and writes its own points. What two tiles both need both compute, with the same bits.

use crate::mesh::Rings;
use glam::Vec3A;
use rayon::prelude::*;
use std::ops::Range;

/// Points of a tile: two copies and the neighbours are about 1 MB.
const LARGEST: usize = 16384;

/// Below this, what neighbouring tiles both compute outweighs what the cache saves.
const SMALLEST: usize = 2048;

/// Tiles that a mesh has at least, so that every thread has work.
const FEWEST: usize = 16;

/// Points whose neighbours are covered by one range.
const BLOCK: usize = 128;

/// Above this many computed points for each one that is needed, tiles cost more than they save: the mesh lists its points
/// in an order that separates neighbours.
const MOST_WORK: f64 = 1.4;

/// How a mesh is cut into tiles.
#[derive(Default)]
pub(super) struct Tiles {
    /// Points of a tile, of all but the last one.
    size: usize,
    /// For each tile the points that are needed before the first iteration, before the second one, ..., after the last
    /// one. The last range is the tile.
    ranges: Vec<Vec<Range<usize>>>,
    /// One for each group of tiles that a thread takes in a row: the points before and after an iteration.
    buffers: Vec<[Vec<Vec3A>; 2]>,
}

impl Tiles {
    /// The tiles of a mesh; `None` where the iterations had better go over all its points one after the other.
    pub(super) fn new(rings: &Rings, n_iterations: usize) -> Option<Self> {
        let n_points = rings.n_points();
        let size = (n_points / FEWEST).clamp(SMALLEST, LARGEST);
        if n_iterations == 0 || n_points < 2 * size {
            return None;
        }
        let reach: Vec<Range<usize>> = (0..n_points.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let first = block * BLOCK;
                let end = (first + BLOCK).min(n_points);
                (first..end).fold(first..end, |reach, point| {
                    let averaged = rings.averaged(point as u32).iter();
                    averaged.fold(reach, |reach, &q| {
                        reach.start.min(q as usize)..reach.end.max(q as usize + 1)
                    })
                })
            })
            .collect();
        let around = |points: &Range<usize>| {
            let blocks = &reach[points.start / BLOCK..points.end.div_ceil(BLOCK)];
            blocks.iter().fold(points.clone(), |all, reach| {
                all.start.min(reach.start)..all.end.max(reach.end)
            })
        };
        let mut n_computed = 0;
        let mut ranges = Vec::new();
        for first in (0..n_points).step_by(size) {
            let mut points = first..(first + size).min(n_points);
            let mut tile = Vec::with_capacity(n_iterations + 1);
            for _ in 0..n_iterations {
                n_computed += points.len();
                let before = around(&points);
                tile.push(std::mem::replace(&mut points, before));
            }
            tile.push(points);
            if n_computed as f64 > MOST_WORK * (n_iterations * n_points) as f64 {
                return None;
            }
            tile.reverse();
            ranges.push(tile);
        }
        // Four groups for each thread: the last ones to end wait for little.
        let n_groups = (4 * rayon::current_num_threads()).min(ranges.len());
        // The buffers swap their places: each must hold the largest range, so that no later run allocates.
        let largest = ranges.iter().map(|tile: &Vec<Range<usize>>| tile[0].len());
        let largest = largest.max().unwrap_or(0);
        let buffer = || Vec::with_capacity(largest);
        Some(Self {
            size,
            ranges,
            buffers: (0..n_groups).map(|_| [buffer(), buffer()]).collect(),
        })
    }

    /// Writes the iterated points to `to`, n_points. Allocates nothing.
    ///
    /// `load`: writes the points from the first one of a range, before the first iteration; `iterate`: writes the points
    /// from the first one of a range after an iteration, from those before it and the index of their first.
    pub(super) fn run(
        &mut self,
        to: &mut [Vec3A],
        load: impl Fn(usize, &mut [Vec3A]) + Sync,
        iterate: impl Fn(&[Vec3A], usize, usize, &mut [Vec3A]) + Sync,
    ) {
        let per_group = self.ranges.len().div_ceil(self.buffers.len().max(1));
        let groups = to
            .par_chunks_mut(per_group * self.size)
            .zip(self.ranges.par_chunks(per_group))
            .zip(&mut self.buffers);
        groups.with_max_len(1).for_each(|((out, tiles), [a, b])| {
            let tiles = tiles.iter().zip(out.chunks_mut(self.size));
            for (ranges, out) in tiles {
                let n_iterations = ranges.len() - 1;
                a.resize(ranges[0].len(), Vec3A::ZERO);
                load(ranges[0].start, a);
                for (i, pair) in ranges.windows(2).enumerate() {
                    let (before, after) = (&pair[0], &pair[1]);
                    let last = i + 1 == n_iterations;
                    if last {
                        iterate(a, before.start, after.start, out);
                    } else {
                        b.resize(after.len(), Vec3A::ZERO);
                        iterate(a, before.start, after.start, b);
                        std::mem::swap(a, b);
                    }
                }
            }
        });
    }
}
