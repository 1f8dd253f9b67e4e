//! A welded triangle surface with the adjacency and the weights of its edges at bind.

use crate::math::laplace::SurfaceLaplacian;
use glam::DVec3;

/// The largest cotangent weight of an edge: a needle triangle must not dominate.
const HEAVIEST: f64 = 5.0;

/// A welded surface at bind.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// n_points bind positions, metres.
    pub bind: Vec<DVec3>,
    /// Triangles of points, none degenerate, wound counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// n_points: the shell of each point, its connected part of the whole mesh.
    pub shells: Vec<u32>,
    starts: Vec<u32>,
    /// (neighbour, cotangent weight) of each point, ascending.
    links: Vec<(u32, f64)>,
}

impl Surface {
    /// The surface of these triangles.
    pub fn new(bind: Vec<DVec3>, triangles: Vec<[u32; 3]>, shells: Vec<u32>) -> Self {
        let middle = bind.iter().sum::<DVec3>() / bind.len().max(1) as f64;
        let at_origin: Vec<_> = bind.iter().map(|p| (*p - middle).as_vec3()).collect();
        let edges = SurfaceLaplacian::new(&at_origin, &triangles).edges;
        let both = edges.iter().flat_map(|&(a, b, w)| {
            let w = w.min(HEAVIEST);
            [(a, b, w), (b, a, w)]
        });
        let mut both: Vec<(u32, u32, f64)> = both.collect();
        both.sort_unstable_by_key(|&(a, b, _)| (a, b));
        let mut starts = vec![0; bind.len() + 1];
        for &(a, ..) in &both {
            starts[a as usize + 1] += 1;
        }
        for point in 0..bind.len() {
            starts[point + 1] += starts[point];
        }
        Self {
            links: both.into_iter().map(|(_, b, w)| (b, w)).collect(),
            bind,
            triangles,
            shells,
            starts,
        }
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.bind.len()
    }

    /// The neighbours of a point along edges, ascending, each with the weight of the edge.
    pub fn links(&self, point: u32) -> &[(u32, f64)] {
        let point = point as usize;
        &self.links[self.starts[point] as usize..self.starts[point + 1] as usize]
    }

    /// Whether two points share an edge.
    pub fn is_linked(&self, a: u32, b: u32) -> bool {
        self.links(a)
            .binary_search_by_key(&b, |link| link.0)
            .is_ok()
    }

    /// The edges (a, b), a < b, ascending.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.n_points() as u32).flat_map(|a| {
            let links = self.links(a).iter();
            links
                .filter(move |link| a < link.0)
                .map(move |link| (a, link.0))
        })
    }

    /// n_points unit normals of the surface at `x`, weighted by area; zero where there is none.
    pub fn normals(&self, x: &[DVec3]) -> Vec<DVec3> {
        let mut normals = vec![DVec3::ZERO; x.len()];
        for corners in &self.triangles {
            let [a, b, c] = corners.map(|p| x[p as usize]);
            let normal = (b - a).cross(c - a);
            for &p in corners {
                normals[p as usize] += normal;
            }
        }
        for normal in &mut normals {
            *normal = normal.normalize_or_zero();
        }
        normals
    }
}

/// The value in the middle of `values` in ascending order, the upper one of two; `None` without values.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_go_both_ways_and_weights_are_bounded() {
        let bind = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, -1e-9]];
        let bind = bind.map(|[x, y]| DVec3::new(x, y, 7.0)).to_vec();
        let surface = Surface::new(bind, vec![[0, 1, 2], [1, 0, 3]], vec![0; 4]);
        assert_eq!(surface.edges().count(), 5);
        assert!(surface.is_linked(3, 0) && surface.is_linked(0, 3) && !surface.is_linked(2, 3));
        for point in 0..4 {
            for &(other, weight) in surface.links(point) {
                assert!((1e-3..=5.0).contains(&weight), "{point} {other} {weight}");
            }
        }
        assert_eq!(surface.normals(&surface.bind)[2], DVec3::Z);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(Vec::new()), None);
    }
}
