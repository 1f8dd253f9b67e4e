//! Tiles: runs of points that go through all iterations while they are in the cache of a core.
//!
//! An iteration over all points of a large mesh waits for memory. A tile reads its points and the rings around them
//! once, iterates on a copy, and writes its own points. What two tiles both need both compute, with the same bits.

use crate::mesh::Rings;
use glam::Vec3A;
use rayon::prelude::*;
use std::ops::Range;

/// Points of a tile: two copies and the neighbours are about 0.8 MB.
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

/// Points that a tile reads at most: a `u16` addresses them all, so that reading one needs no check.
const MOST_READ: usize = 1 << 16;

/// The points of a tile between two iterations, from the first one that it reads.
pub(super) type TilePoints = [Vec3A; MOST_READ];

/// How a mesh is cut into tiles.
#[derive(Default)]
pub(super) struct Tiles {
    /// Points of a tile, of all but the last one.
    size: usize,
    /// For each tile the points that are needed before the first iteration, before the second one, ..., after the last
    /// one. The last range is the tile.
    ranges: Vec<Vec<Range<usize>>>,
    rows: Vec<TileRows>,
    /// One for each group of tiles that a thread takes in a row: the points before and after an iteration.
    buffers: Vec<[Box<TilePoints>; 2]>,
}

/// The neighbours of the points of a tile that are averaged ([`Rings::averaged`]), in half the bytes. Points are
/// indices into [`TilePoints`].
struct TileRows {
    /// The first point that has a row.
    first: usize,
    /// Where each row starts in `neighbours`, and the end of the last one.
    starts: Vec<u32>,
    neighbours: Vec<u16>,
}

impl TileRows {
    /// The rows of the points that a tile computes, `read` being those that it reads.
    fn new(rings: &Rings, read: &Range<usize>, computed: &Range<usize>) -> Self {
        let mut starts = Vec::with_capacity(computed.len() + 1);
        let mut neighbours = Vec::new();
        starts.push(0);
        for point in computed.clone() {
            let row = rings.averaged(point as u32).iter();
            neighbours.extend(row.map(|&q| (q as usize - read.start) as u16));
            starts.push(neighbours.len() as u32);
        }
        Self {
            first: computed.start - read.start,
            starts,
            neighbours,
        }
    }
}

/// Points of a tile before an iteration, with their neighbours.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    rows: &'a TileRows,
    pub(super) points: &'a TilePoints,
    /// The points to compute: from this one, as many as are written.
    first: usize,
}

impl<'a> Before<'a> {
    /// Each point to compute, and the neighbours that are averaged.
    #[inline]
    pub(super) fn rows(self) -> impl Iterator<Item = (Vec3A, &'a [u16])> {
        let TileRows {
            first,
            starts,
            neighbours,
        } = self.rows;
        let rows = starts[self.first - first..].windows(2);
        let rows = rows.map(|row| &neighbours[row[0] as usize..row[1] as usize]);
        self.points[self.first..].iter().copied().zip(rows)
    }
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
            if tile[0].len() > MOST_READ {
                return None;
            }
            ranges.push(tile);
        }
        // Four groups for each thread: the last ones to end wait for little.
        let n_groups = (4 * rayon::current_num_threads()).min(ranges.len());
        let rows = ranges.par_iter();
        let rows = rows.map(|tile: &Vec<Range<usize>>| TileRows::new(rings, &tile[0], &tile[1]));
        // What no tile of the group reaches stays without memory.
        let buffer = bytemuck::allocation::zeroed_box;
        Some(Self {
            size,
            rows: rows.collect(),
            ranges,
            buffers: (0..n_groups).map(|_| [buffer(), buffer()]).collect(),
        })
    }

    /// Writes the iterated points to `to`, n_points. Allocates nothing.
    ///
    /// `load`: writes the points from the first one of a range, before the first iteration; `iterate`: writes points after
    /// an iteration.
    pub(super) fn run(
        &mut self,
        to: &mut [Vec3A],
        load: impl Fn(usize, &mut [Vec3A]) + Sync,
        iterate: impl Fn(Before<'_>, &mut [Vec3A]) + Sync,
    ) {
        let per_group = self.ranges.len().div_ceil(self.buffers.len().max(1));
        let groups = to
            .par_chunks_mut(per_group * self.size)
            .zip(self.ranges.par_chunks(per_group))
            .zip(self.rows.par_chunks(per_group))
            .zip(&mut self.buffers);
        let groups = groups.with_max_len(1);
        groups.for_each(|(((out, tiles), rows), [points, next])| {
            let tiles = tiles.iter().zip(rows).zip(out.chunks_mut(self.size));
            for ((ranges, rows), out) in tiles {
                let n_iterations = ranges.len() - 1;
                let read = &ranges[0];
                load(read.start, &mut points[..read.len()]);
                for (i, computed) in ranges[1..].iter().enumerate() {
                    let first = computed.start - read.start;
                    let before = Before {
                        rows,
                        points,
                        first,
                    };
                    if i + 1 == n_iterations {
                        iterate(before, out);
                    } else {
                        iterate(before, &mut next[first..first + computed.len()]);
                        std::mem::swap(points, next);
                    }
                }
            }
        });
    }
}
