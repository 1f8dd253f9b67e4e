//! The volume of a part of a surface, closed by fans over its open edges.

use crate::math::DisjointSets;
use glam::DVec3;
use std::collections::BTreeMap;

/// Triangles, closed by a fan from the mean of each connected run of open edges: the volume needs no closed mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct ClosedSurface {
    pub(super) triangles: Vec<[u32; 3]>,
    /// One for each run of open edges.
    pub(super) fans: Vec<Fan>,
}

/// A fan over open edges.
#[derive(Clone, Debug)]
pub(super) struct Fan {
    /// The points whose mean is its centre.
    points: Vec<u32>,
    /// The bases (a, b) of its triangles (a, b, centre).
    bases: Vec<(u32, u32)>,
}

impl Fan {
    /// The mean of its points.
    pub(super) fn centre(&self, x: &[DVec3]) -> DVec3 {
        let sum: DVec3 = self.points.iter().map(|&p| x[p as usize]).sum();
        sum / self.points.len() as f64
    }

    /// Its triangles at `x`.
    pub(super) fn corners<'a>(&'a self, x: &'a [DVec3]) -> impl Iterator<Item = [DVec3; 3]> + 'a {
        let centre = self.centre(x);
        let bases = self.bases.iter();
        bases.map(move |&(a, b)| [x[a as usize], x[b as usize], centre])
    }
}

impl ClosedSurface {
    /// These triangles (indices below `n_points`) and their fans.
    pub(super) fn new(triangles: Vec<[u32; 3]>, n_points: usize) -> Self {
        // How many more triangles go along the edge from its lower to its higher point than back.
        let mut balance: BTreeMap<(u32, u32), i32> = BTreeMap::new();
        for &[a, b, c] in &triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let sign = if from < to { 1 } else { -1 };
                *balance.entry((from.min(to), from.max(to))).or_default() += sign;
            }
        }
        balance.retain(|_, n| *n != 0);
        let mut runs = DisjointSets::new(n_points);
        for &(a, b) in balance.keys() {
            runs.join(a, b);
        }
        let (_, run_of) = runs.numbers();
        let mut fans: BTreeMap<u32, Fan> = BTreeMap::new();
        for (&(a, b), &n) in &balance {
            let fan = fans.entry(run_of[a as usize]).or_insert_with(|| Fan {
                points: Vec::new(),
                bases: Vec::new(),
            });
            fan.points.extend([a, b]);
            // The fan goes along the edge against its triangle.
            let base = if n > 0 { (b, a) } else { (a, b) };
            fan.bases.extend((0..n.abs()).map(|_| base));
        }
        let mut fans: Vec<Fan> = fans.into_values().collect();
        for fan in &mut fans {
            fan.points.sort_unstable();
            fan.points.dedup();
        }
        Self { triangles, fans }
    }

    /// The volume at `x`, cubic metres; negative where the surface is turned inside out.
    pub(super) fn volume(&self, x: &[DVec3]) -> f64 {
        let six = |[a, b, c]: [DVec3; 3]| a.dot(b.cross(c));
        let own = self.triangles.iter().map(|t| six(t.map(|p| x[p as usize])));
        let fans = self.fans.iter().flat_map(|fan| fan.corners(x)).map(six);
        (own.sum::<f64>() + fans.sum::<f64>()) / 6.0
    }

    /// The gradient of [`ClosedSurface::volume`], into `out`, one for each point.
    pub(super) fn gradient(&self, x: &[DVec3], out: &mut [DVec3]) {
        out.fill(DVec3::ZERO);
        for &[a, b, c] in &self.triangles {
            let [p, q, r] = [a, b, c].map(|i| x[i as usize]);
            out[a as usize] += q.cross(r) / 6.0;
            out[b as usize] += r.cross(p) / 6.0;
            out[c as usize] += p.cross(q) / 6.0;
        }
        for fan in &self.fans {
            let centre = fan.centre(x);
            let mut of_centre = DVec3::ZERO;
            for &(a, b) in &fan.bases {
                let (p, q) = (x[a as usize], x[b as usize]);
                out[a as usize] += q.cross(centre) / 6.0;
                out[b as usize] += centre.cross(p) / 6.0;
                of_centre += p.cross(q) / 6.0;
            }
            let share = of_centre / fan.points.len() as f64;
            for &p in &fan.points {
                out[p as usize] += share;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cube of edge 2 around (5, 0, 0), without its top, and with one face in the wrong order of corners left out.
    fn open_cube() -> (ClosedSurface, Vec<DVec3>) {
        let x: Vec<DVec3> = (0..8)
            .map(|i| {
                let side = |bit: u32| f64::from((i >> bit & 1) * 2) - 1.0;
                DVec3::new(5.0 + side(0), side(1), side(2))
            })
            .collect();
        let quads = [
            [0, 2, 3, 1],
            [0, 1, 5, 4],
            [1, 3, 7, 5],
            [3, 2, 6, 7],
            [2, 0, 4, 6],
        ];
        let triangles = quads
            .iter()
            .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        (ClosedSurface::new(triangles.collect(), 8), x)
    }

    #[test]
    fn an_open_cube_is_closed_by_a_fan() {
        let (surface, x) = open_cube();
        assert_eq!(surface.fans.len(), 1);
        assert!(
            (surface.volume(&x) - 8.0).abs() < 1e-12,
            "{}",
            surface.volume(&x)
        );
        let closed = ClosedSurface::new(vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]], 4);
        assert!(closed.fans.is_empty());
    }

    #[test]
    fn the_gradient_is_that_of_central_differences() {
        let (surface, mut x) = open_cube();
        for (i, p) in x.iter_mut().enumerate() {
            *p += DVec3::new(0.1, -0.2, 0.07) * ((i * i) % 5) as f64;
        }
        let mut gradient = vec![DVec3::ZERO; 8];
        surface.gradient(&x, &mut gradient);
        for i in 0..8 {
            for axis in 0..3 {
                let mut at = |step: f64| {
                    let before = x[i][axis];
                    x[i][axis] += step;
                    let volume = surface.volume(&x);
                    x[i][axis] = before;
                    volume
                };
                let difference = (at(1e-4) - at(-1e-4)) / 2e-4;
                assert!((difference - gradient[i][axis]).abs() < 1e-6, "{i} {axis}");
            }
        }
    }
}
