//! The region of a joint: which points move, and the systems that all its poses share.

use super::crossing::triangles_of;
use super::neighbourhood::{NEAR, Neighbourhood};
use super::surface::median;
use super::volume::ClosedSurface;
use crate::math::sparse::Symmetric;
use glam::DVec3;
use std::collections::BTreeMap;

/// How far a region may reach beyond blended points, in radii; the first one that leaves no rigid parts crossing is taken.
pub const REACHES: [f64; 5] = [1.0, 1.5, 2.0, 2.5, 3.0];

/// Held points in [`Region::free_index`].
pub(super) const HELD: u32 = u32::MAX;

/// Which points around a joint move.
#[derive(Clone, Debug)]
pub struct Region {
    /// How far it reaches beyond blended points, in radii.
    pub reach: f64,
    /// Points that move, ascending.
    pub free: Vec<u32>,
    /// The median length of the edges that move, metres.
    pub edge: f64,
    /// n_points: its number among the free ones, [`HELD`] for others.
    pub(super) free_index: Vec<u32>,
    /// Free points and held neighbours of theirs, ascending: the points that have a rotation of their own.
    pub(super) rotating: Vec<u32>,
    /// Points that may touch, ascending.
    pub(super) near: Vec<u32>,
    /// Triangles that may be touched, ascending.
    pub(super) near_triangles: Vec<u32>,
    /// Those of each shell, closed.
    pub(super) near_shells: BTreeMap<u32, ClosedSurface>,
    /// Triangles with a free point, closed.
    pub(super) closed: ClosedSurface,
    /// Its volume at bind, cubic metres.
    pub(super) bind_volume: f64,
    /// The cotangent Laplacian of the free points.
    pub(super) laplacian: Symmetric,
    /// D, the median of its diagonal: what makes the other weights independent of the scale.
    pub(super) scale: f64,
}

impl Region {
    /// The region that reaches `reach` radii beyond blended points.
    ///
    /// A shell that is wholly within moves at its blended points alone; one that is blended throughout is held.
    pub fn new(around: &Neighbourhood, reach: f64) -> Self {
        let surface = &around.surface;
        let limit = reach * around.radius;
        let n_points = surface.n_points();
        let is_free = |p: usize| {
            let shell = surface.shells[p] as usize;
            let is_whole = around.shell_extents[shell] <= limit;
            !around.is_blended_throughout[shell]
                && !around.is_protected[p]
                && around.distances[p] <= limit
                && (!is_whole || around.is_blended[p])
        };
        let mut free_index = vec![HELD; n_points];
        let mut free = Vec::new();
        for p in (0..n_points).filter(|&p| is_free(p)) {
            free_index[p] = free.len() as u32;
            free.push(p as u32);
        }
        let is_free = |p: u32| free_index[p as usize] != HELD;
        let moves = |p: u32| is_free(p) || surface.links(p).iter().any(|link| is_free(link.0));
        let rotating = (0..n_points as u32).filter(|&p| moves(p)).collect();
        let near_limit = limit + NEAR * around.radius;
        let is_near = |p: &u32| around.distances[*p as usize] <= near_limit;
        let numbered = (0..).zip(&surface.triangles);
        let near_triangles = numbered.filter(|(_, t)| t.iter().all(is_near));
        let near_triangles: Vec<u32> = near_triangles.map(|(t, _)| t).collect();
        let mut of_shell: BTreeMap<u32, Vec<[u32; 3]>> = BTreeMap::new();
        for &t in &near_triangles {
            let corners = surface.triangles[t as usize];
            let shell = surface.shells[corners[0] as usize];
            of_shell.entry(shell).or_default().push(corners);
        }
        let near_shells = of_shell.into_iter();
        let near_shells = near_shells
            .map(|(shell, triangles)| (shell, ClosedSurface::new(triangles, n_points)))
            .collect();
        let own = surface.triangles.iter().copied();
        let own = own.filter(|t| t.iter().any(|&p| is_free(p))).collect();
        let closed = ClosedSurface::new(own, n_points);

        let mut diagonal = vec![0.0; free.len()];
        let mut edges = Vec::new();
        let mut lengths = Vec::new();
        for (i, &p) in (0u32..).zip(&free) {
            for &(other, weight) in surface.links(p) {
                diagonal[i as usize] += weight;
                let j = free_index[other as usize];
                if j == HELD || i < j {
                    lengths.push(surface.bind[p as usize].distance(surface.bind[other as usize]));
                }
                if j != HELD && i < j {
                    edges.push((i, j, -weight));
                }
            }
        }
        Self {
            reach,
            edge: median(lengths).unwrap_or(around.radius),
            near: (0..n_points as u32).filter(is_near).collect(),
            rotating,
            near_triangles,
            near_shells,
            bind_volume: closed.volume(&surface.bind),
            closed,
            laplacian: Symmetric::new(&diagonal, edges),
            scale: median(diagonal).unwrap_or(1.0),
            free,
            free_index,
        }
    }

    /// The smallest region outside of which no triangles cross at any of `extremes` (n_points each, skinned, in the
    /// space of [`super::Posed`]), and the number of triangles that cross outside of the largest where none is.
    pub fn choose(around: &Neighbourhood, extremes: &[Vec<DVec3>]) -> (Self, usize) {
        let all: Vec<u32> = (0..around.surface.triangles.len() as u32).collect();
        let pairs = extremes.iter().flat_map(|x| around.crossings(&all, x));
        let pairs: Vec<(u32, u32)> = pairs.collect();
        let mut region = Self::new(around, REACHES[0]);
        for reach in REACHES {
            if reach != REACHES[0] {
                region = Self::new(around, reach);
            }
            if region.held_crossings(around, &pairs) == 0 {
                return (region, 0);
            }
        }
        let n = region.held_crossings(around, &pairs);
        (region, n)
    }

    /// Whether a point moves.
    pub fn is_free(&self, point: u32) -> bool {
        self.free_index[point as usize] != HELD
    }

    /// The number of triangles near the region that cross another one of their shell at `x` (n_points), and do not at bind.
    pub fn n_crossings(&self, around: &Neighbourhood, x: &[DVec3]) -> usize {
        triangles_of(around.crossings(&self.near_triangles, x)).len()
    }

    /// The number of wholly held triangles in pairs of wholly held triangles.
    fn held_crossings(&self, around: &Neighbourhood, pairs: &[(u32, u32)]) -> usize {
        let corners = |t: u32| around.surface.triangles[t as usize];
        let is_held = |t: u32| !corners(t).into_iter().any(|p| self.is_free(p));
        let held = pairs.iter().filter(|(a, b)| is_held(*a) && is_held(*b));
        triangles_of(held.copied()).len()
    }
}
