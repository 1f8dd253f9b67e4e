//! The outline of the skinned shape, which stretched skin keeps and may slide along.

use super::box_tree::{Bounds, BoxTree};
use super::neighbourhood::Neighbourhood;
use super::region::Region;
use glam::DVec3;
use rayon::prelude::*;

/// How many of the nearest points are looked at.
const NEAREST: usize = 6;

/// The least cosine between the normals of a point and of its place on the outline.
const ALIKE: f64 = 0.3;

/// Edges that get shorter by these fractions keep the outline wholly, and not at all.
const SHORTENED: (f64, f64) = (0.02, 0.20);

/// The standard deviation of the smoothing of the shortening, in radii, and the most rounds of it.
const SMOOTHING: (f64, f64) = (0.25, 200.0);

/// The outline at a pose.
pub(super) struct Outline<'a> {
    places: &'a [DVec3],
    shells: &'a [u32],
    normals: Vec<DVec3>,
    /// Of the points in `near`.
    tree: BoxTree,
    near: &'a [u32],
    /// One for each free point: how much it keeps the outline, 0 - 1.
    pub(super) strengths: Vec<f64>,
}

impl<'a> Outline<'a> {
    /// The outline of `places`, n_points.
    pub(super) fn new(around: &'a Neighbourhood, region: &'a Region, places: &'a [DVec3]) -> Self {
        let near = &region.near[..];
        let place = |i: u32| Bounds::around([places[near[i as usize] as usize]]);
        let shortening = smoothed_shortening(around, region, places);
        let strengths = region.free.iter().map(|&p| {
            let (low, high) = SHORTENED;
            let t = ((shortening[p as usize] - low) / (high - low)).clamp(0.0, 1.0);
            1.0 - t * t * (3.0 - 2.0 * t)
        });
        Self {
            places,
            shells: &around.surface.shells,
            normals: around.surface.normals(places),
            tree: BoxTree::new(near.len(), place),
            near,
            strengths: strengths.collect(),
        }
    }

    /// One for each free point: where the outline wants it, at its distance along the normal. `x`, `normals`: n_points.
    pub(super) fn targets(
        &self,
        region: &Region,
        x: &[DVec3],
        normals: &[DVec3],
        out: &mut Vec<DVec3>,
    ) {
        let of_point = |(&p, &strength): (&u32, &f64)| {
            let here = x[p as usize];
            if strength == 0.0 {
                return here;
            }
            self.nearest(here, normals[p as usize], self.shells[p as usize])
                .map_or(here, |q| {
                    let normal = self.normals[q as usize];
                    here - normal * normal.dot(here - self.places[q as usize])
                })
        };
        let pairs = region.free.par_iter().zip(&self.strengths);
        pairs.with_min_len(64).map(of_point).collect_into_vec(out);
    }

    /// The first of the nearest points of a shell whose normal agrees.
    fn nearest(&self, here: DVec3, normal: DVec3, shell: u32) -> Option<u32> {
        // Ascending by distance.
        let mut best: Vec<(f64, u32)> = Vec::with_capacity(NEAREST + 1);
        self.tree.nearest(here, f64::INFINITY, |i, _| {
            let q = self.near[i as usize];
            if self.shells[q as usize] != shell {
                return None;
            }
            let entry = (self.places[q as usize].distance_squared(here), q);
            let at = best.partition_point(|known| *known < entry);
            best.insert(at, entry);
            best.truncate(NEAREST);
            // The search goes on until it has all of them.
            best.get(NEAREST - 1).map(|last| last.0)
        });
        let mut found = best.into_iter().map(|(_, q)| q);
        found.find(|&q| self.normals[q as usize].dot(normal) > ALIKE)
    }
}

/// n_points: the largest shortening of the edges at each point from bind to `places`, averaged over neighbours.
fn smoothed_shortening(around: &Neighbourhood, region: &Region, places: &[DVec3]) -> Vec<f64> {
    let surface = &around.surface;
    let of_point = |p: u32| {
        let shortening = surface.links(p).iter().map(|&(q, _)| {
            let (p, q) = (p as usize, q as usize);
            1.0 - places[p].distance(places[q]) / surface.bind[p].distance(surface.bind[q])
        });
        shortening.fold(0.0, f64::max)
    };
    let mut values: Vec<f64> = (0..surface.n_points() as u32).map(of_point).collect();
    let (deviation, most) = SMOOTHING;
    let edges = deviation * around.radius / region.edge;
    let n_rounds = (2.0 * edges * edges).round().min(most) as usize;
    for _ in 0..n_rounds {
        let before = values.clone();
        for &p in &region.near {
            let links = surface.links(p);
            if !links.is_empty() {
                let sum: f64 = links.iter().map(|&(q, _)| before[q as usize]).sum();
                values[p as usize] = sum / links.len() as f64;
            }
        }
    }
    values
}
