//! Where anchors go without a skeleton: with the clusters near them.

use super::frame::reflected;
use super::layout::Layout;
use super::rotation_fit::fit_rotation;
use super::rows::Rows;
use super::surface::ClusterSurface;
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Clusters that an anchor follows.
const NEAREST: usize = 8;

/// The clusters that each anchor of a layout follows, by a rigid fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnchorFits {
    fits: Vec<AnchorFit>,
}

#[derive(Clone, Debug, PartialEq)]
struct AnchorFit {
    corner: u32,
    bind: DVec3,
    /// (corner, weight, bind position) of clusters, the nearest first; weights sum to 1.
    clusters: Vec<(u32, f64, DVec3)>,
}

impl AnchorFits {
    /// For each anchor, the eight nearest clusters along the edges of the mesh, weighted by 1 / distance^2.
    pub fn new(surface: &ClusterSurface, layout: &Layout) -> Self {
        if layout.anchors.is_empty() {
            return Self::default();
        }
        let edges = Edges::new(surface);
        let mut is_cluster = vec![false; surface.n_vertices()];
        for &v in &layout.corners {
            is_cluster[v as usize] = layout.anchors.binary_search(&v).is_err();
        }
        let fits = layout.anchors.iter().filter_map(|&anchor| {
            let mut clusters: Vec<(u32, f64, DVec3)> = edges
                .nearest(surface, anchor, &is_cluster)
                .into_iter()
                .filter_map(|(v, distance)| {
                    let corner = layout.corner_of_vertex(v)?;
                    let weight = 1.0 / (distance * distance).max(f64::MIN_POSITIVE);
                    Some((corner, weight.min(1e200), surface.positions[v as usize]))
                })
                .collect();
            let total: f64 = clusters.iter().map(|c| c.1).sum();
            for cluster in &mut clusters {
                cluster.1 /= total;
            }
            Some(AnchorFit {
                corner: layout.corner_of_vertex(anchor)?,
                bind: surface.positions[anchor as usize],
                clusters,
            })
        });
        Self {
            fits: fits.collect(),
        }
    }

    /// Moves the anchors among the corner positions `x` with the clusters among them.
    ///
    /// `mirrored`: whether the deformation mirrors at a corner, which positions alone do not tell; then the mirror image is
    /// fitted.
    pub fn place(&self, x: &mut [DVec3], mirrored: impl Fn(u32) -> bool) {
        for fit in &self.fits {
            let clusters = fit.clusters.iter();
            let (mut before, mut after) = (DVec3::ZERO, DVec3::ZERO);
            for &(corner, weight, bind) in clusters.clone() {
                before += bind * weight;
                after += x[corner as usize] * weight;
            }
            let (x_now, mirrored) = (&*x, mirrored(fit.corner));
            let pairs = clusters.map(|&(corner, weight, bind)| {
                let edge = x_now[corner as usize] - after;
                (weight, bind - before, reflected(edge, mirrored))
            });
            let rotation = fit_rotation(pairs);
            let edge = rotation * (fit.bind - before);
            x[fit.corner as usize] = after + reflected(edge, mirrored);
        }
    }
}

/// The neighbours of each vertex, some of them twice.
struct Edges(Rows);

impl Edges {
    fn new(surface: &ClusterSurface) -> Self {
        let sides = surface
            .triangles
            .iter()
            .flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)]);
        Self(Rows::new(surface.n_vertices(), sides))
    }

    /// The nearest clusters of a vertex with their distance along edges (Dijkstra 1959).
    fn nearest(&self, surface: &ClusterSurface, from: u32, is_cluster: &[bool]) -> Vec<(u32, f64)> {
        let mut found = Vec::new();
        // Distances are not negative, so that their bits are in the order of their values.
        let mut best: HashMap<u32, u64> = HashMap::from([(from, 0)]);
        let mut heap = BinaryHeap::from([Reverse((0u64, from))]);
        while let Some(Reverse((bits, v))) = heap.pop() {
            if best[&v] < bits {
                continue;
            }
            let distance = f64::from_bits(bits);
            if is_cluster[v as usize] {
                found.push((v, distance));
                if found.len() == NEAREST {
                    break;
                }
            }
            for &w in self.0.row(v) {
                let length = surface.positions[v as usize].distance(surface.positions[w as usize]);
                let next = (distance + length).to_bits();
                if best.get(&w).is_none_or(|&old| next < old) {
                    best.insert(w, next);
                    heap.push(Reverse((next, w)));
                }
            }
        }
        found
    }
}
