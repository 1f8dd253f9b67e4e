//! The outline of the skinned shape, which stretched skin keeps and may slide along.

use super::neighbourhood::Neighbourhood;
use super::region::Region;
use crate::mesh::box_tree::{Bounds, BoxTree};
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

/// The points of the outline that are nearest to a point, ascending by distance.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Nearest {
    points: [u32; NEAREST],
    n: usize,
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

    /// One for each free point: where the outline wants it, at its distance along the normal. `x`, `normals`: n_points;
    /// `nearest`: what the call before found.
    pub(super) fn targets(
        &self,
        region: &Region,
        x: &[DVec3],
        normals: &[DVec3],
        nearest: &mut Vec<Nearest>,
        out: &mut Vec<DVec3>,
    ) {
        nearest.resize(region.free.len(), Nearest::default());
        let of_point = |((&p, &strength), nearest): ((&u32, &f64), &mut Nearest)| {
            let here = x[p as usize];
            if strength == 0.0 {
                return here;
            }
            self.find(here, self.shells[p as usize], nearest);
            let own = normals[p as usize];
            let mut found = nearest.points[..nearest.n].iter();
            found
                .find(|&&q| self.normals[q as usize].dot(own) > ALIKE)
                .map_or(here, |&q| {
                    let normal = self.normals[q as usize];
                    here - normal * normal.dot(here - self.places[q as usize])
                })
        };
        let pairs = region.free.par_iter().zip(&self.strengths);
        let pairs = pairs.zip(nearest.par_iter_mut()).with_min_len(64);
        pairs.map(of_point).collect_into_vec(out);
    }

    /// The nearest points of a shell.
    fn find(&self, here: DVec3, shell: u32, nearest: &mut Nearest) {
        let distance = |q: u32| self.places[q as usize].distance_squared(here);
        // The points found before are no farther than the farthest of them; a little more is for rounding.
        let known = nearest.points.iter().map(|&q| distance(q));
        let reach = if nearest.n == NEAREST {
            known.fold(0.0, f64::max).sqrt() * (1.0 + 1e-9)
        } else {
            f64::INFINITY
        };
        // Ascending by distance.
        let mut best = [(f64::INFINITY, u32::MAX); NEAREST];
        self.tree.nearest(here, reach, |i, _| {
            let q = self.near[i as usize];
            if self.shells[q as usize] != shell {
                return None;
            }
            let entry = (distance(q), q);
            let mut at = NEAREST;
            while at > 0 && entry < best[at - 1] {
                at -= 1;
                if at + 1 < NEAREST {
                    best[at + 1] = best[at];
                }
            }
            if at < NEAREST {
                best[at] = entry;
            }
            // The search goes on until it has all of them.
            let last = best[NEAREST - 1];
            (last.1 != u32::MAX).then_some(last.0)
        });
        nearest.n = best.partition_point(|found| found.1 != u32::MAX);
        nearest.points = best.map(|found| found.1);
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
