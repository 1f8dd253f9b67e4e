//! Where anchors go without a skeleton: with the clusters near them.

use super::frame::reflected;
use super::layout::Layout;
use super::rotation_fit::fit_rotation;
use super::rows::Rows;
use super::surface::ClusterSurface;
use glam::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

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
        let nearest = edges.nearest(surface, &is_cluster);
        let fits = layout.anchors.iter().filter_map(|&anchor| {
            let mut clusters: Vec<(u32, f64, DVec3)> = nearest[anchor as usize]
                .iter()
                .filter_map(|&(v, distance)| {
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

    /// The nearest clusters of each vertex, (cluster, distance along edges), the nearest first; of equals the first.
    ///
    /// One search from all clusters (Dijkstra 1959), which a vertex passes on for its first [`NEAREST`] clusters: the clusters
    /// of a vertex are among those of its neighbours.
    fn nearest(&self, surface: &ClusterSurface, is_cluster: &[bool]) -> Vec<Vec<(u32, f64)>> {
        let mut found: Vec<Vec<(u32, f64)>> = vec![Vec::new(); surface.n_vertices()];
        // Distances are not negative, so that their bits are in the order of their values.
        let clusters = (0u32..)
            .zip(is_cluster)
            .filter(|(_, is_cluster)| **is_cluster);
        let starts = clusters.map(|(v, _)| Reverse((0u64, v, v)));
        let mut heap: BinaryHeap<_> = starts.collect();
        while let Some(Reverse((bits, cluster, v))) = heap.pop() {
            let known = &mut found[v as usize];
            if known.len() == NEAREST || known.iter().any(|(c, _)| *c == cluster) {
                continue;
            }
            let distance = f64::from_bits(bits);
            known.push((cluster, distance));
            for &w in self.0.row(v) {
                if found[w as usize].len() < NEAREST {
                    let edge =
                        surface.positions[v as usize].distance(surface.positions[w as usize]);
                    heap.push(Reverse(((distance + edge).to_bits(), cluster, w)));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Layout;

    /// No edge of a surface whose faces all have an orientation of their own can be taken away: each vertex is an anchor.
    #[test]
    fn every_vertex_of_an_unoriented_surface_follows_clusters_in_one_search() {
        const N: u32 = 150;
        let at = |x: u32, y: u32| y * N + x;
        let mut triangles = Vec::new();
        for (x, y) in (0..N - 1).flat_map(|y| (0..N - 1).map(move |x| (x, y))) {
            let [a, b, c, d] = [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)];
            triangles.extend([[a, b, c], [c, a, d]]);
        }
        let positions = (0..N * N).map(|v| DVec3::new(f64::from(v % N), f64::from(v / N), 0.0));
        let surface = ClusterSurface::from_triangles(positions.collect(), &triangles);
        let clusters = [at(0, 0), at(10, 0), at(N - 1, N - 1)];
        let layout = Layout {
            corners: (0..N * N).collect(),
            anchors: (0..N * N).filter(|v| !clusters.contains(v)).collect(),
            ..Layout::default()
        };
        let fits = AnchorFits::new(&surface, &layout);
        assert_eq!(fits.fits.len(), (N * N) as usize - 3);
        let of = |v: u32| {
            &fits
                .fits
                .iter()
                .find(|fit| fit.corner == v)
                .unwrap()
                .clusters
        };
        let between = of(at(4, 0));
        let nearest: Vec<u32> = between.iter().map(|c| c.0).collect();
        assert_eq!(nearest, clusters);
        assert!((between[0].1 / between[1].1 - 36.0 / 16.0).abs() < 1e-12);
    }
}
