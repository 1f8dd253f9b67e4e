//! Generalised winding numbers: whether a place is inside of a surface that may cross itself.

use super::volume::ClosedSurface;
use crate::mesh::box_tree::{Bounds, BoxTree};
use glam::DVec3;
use std::f64::consts::PI;

/// A cluster of triangles counts as one dipole from this many times its radius on.
const FAR: f64 = 2.5;

/// The winding numbers of a closed surface by dipoles of far triangles (Barill et al. 2018, of the first order).
pub(super) struct Winding {
    corners: Vec<[DVec3; 3]>,
    tree: BoxTree,
    dipoles: Vec<Dipole>,
}

/// The sum over triangles.
#[derive(Clone, Copy)]
struct Dipole {
    /// Normals times areas.
    moment: DVec3,
    /// Middles times areas, and areas.
    middle: DVec3,
    area: f64,
}

impl Winding {
    /// Of the surface with its fans, at `x`.
    pub(super) fn new(surface: &ClosedSurface, x: &[DVec3]) -> Self {
        let corners: Vec<[DVec3; 3]> = corners(surface, x).collect();
        let tree = BoxTree::new(corners.len(), |t| Bounds::around(corners[t as usize]));
        let mut made = Self {
            corners,
            tree,
            dipoles: Vec::new(),
        };
        made.add_up();
        made
    }

    /// The same surface as it is at `x`: the clusters stay, with new boxes and dipoles.
    pub(super) fn refit(&mut self, surface: &ClosedSurface, x: &[DVec3]) {
        self.corners.clear();
        self.corners.extend(corners(surface, x));
        let corners = &self.corners;
        self.tree.refit(|t| Bounds::around(corners[t as usize]));
        self.add_up();
    }

    fn add_up(&mut self) {
        let of = |t: u32| {
            let [a, b, c] = self.corners[t as usize];
            let moment = (b - a).cross(c - a) * 0.5;
            let area = moment.length();
            Dipole {
                moment,
                middle: (a + b + c) * (area / 3.0),
                area,
            }
        };
        self.dipoles = self.tree.sums(of, |a, b| Dipole {
            moment: a.moment + b.moment,
            middle: a.middle + b.middle,
            area: a.area + b.area,
        });
    }

    /// The winding number at a place: 1 inside, 0 outside, more where the surface overlaps itself.
    pub(super) fn at(&self, place: DVec3) -> f64 {
        let (mut far, mut near) = (0.0, 0.0);
        let is_done = |dipole: &Dipole, bounds: &Bounds| {
            if dipole.area.is_nan() || dipole.area <= 0.0 {
                return true;
            }
            let middle = dipole.middle / dipole.area;
            let radius = (bounds.high - middle).max(middle - bounds.low).length();
            let towards = middle - place;
            let distance = towards.length();
            let is_far = distance > FAR * radius;
            if is_far {
                far += dipole.moment.dot(towards) / (distance * distance * distance);
            }
            is_far
        };
        let corners = &self.corners;
        self.tree.visit_sums(&self.dipoles, is_done, |t| {
            near += solid_angle(corners[t as usize].map(|c| c - place));
        });
        (far + near) / (4.0 * PI)
    }
}

/// The corners of the triangles of a surface and of its fans.
fn corners<'a>(
    surface: &'a ClosedSurface,
    x: &'a [DVec3],
) -> impl Iterator<Item = [DVec3; 3]> + 'a {
    let own = surface.triangles.iter().map(|t| t.map(|p| x[p as usize]));
    own.chain(surface.fans.iter().flat_map(|fan| fan.corners(x)))
}

/// The signed solid angle of a triangle seen from the origin (Van Oosterom & Strackee 1983, eq. 8).
fn solid_angle([a, b, c]: [DVec3; 3]) -> f64 {
    let (x, y, z) = (a.length(), b.length(), c.length());
    let numerator = a.dot(b.cross(c));
    let denominator = x * y * z + a.dot(b) * z + b.dot(c) * x + c.dot(a) * y;
    2.0 * numerator.atan2(denominator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_one_inside_and_nothing_outside_also_of_an_open_surface() {
        // A sphere of rings, open at its top.
        let (n, m) = (24u32, 32u32);
        let place = |i: u32, k: u32| {
            let (polar, turn) = (
                f64::from(i) / f64::from(n) * PI,
                f64::from(k) / f64::from(m) * 2.0 * PI,
            );
            DVec3::new(
                polar.sin() * turn.cos(),
                polar.sin() * turn.sin(),
                -polar.cos(),
            )
        };
        let x: Vec<DVec3> = (0..n)
            .flat_map(|i| (0..m).map(move |k| place(i, k)))
            .collect();
        let triangles = (0..n - 1).flat_map(|i| {
            (0..m).flat_map(move |k| {
                let next = (k + 1) % m;
                let [a, b, c, d] = [i * m + k, i * m + next, (i + 1) * m + next, (i + 1) * m + k];
                [[a, b, c], [a, c, d]]
            })
        });
        let surface = ClosedSurface::new(triangles.collect(), x.len());
        let winding = Winding::new(&surface, &x);
        // Built elsewhere and moved there.
        let stretched: Vec<DVec3> = x.iter().map(|p| *p * DVec3::new(1.4, 0.6, 0.9)).collect();
        let mut moved = Winding::new(&surface, &stretched);
        moved.refit(&surface, &x);
        for (place, expected) in [
            (DVec3::ZERO, 1.0),
            (DVec3::new(0.0, 0.3, -0.8), 1.0),
            (DVec3::new(0.0, 0.95, 0.0), 1.0),
            (DVec3::new(0.0, 1.05, 0.0), 0.0),
            (DVec3::new(3.0, 1.0, 9.0), 0.0),
        ] {
            for found in [winding.at(place), moved.at(place)] {
                assert!((found - expected).abs() < 0.02, "{place}: {found}");
            }
        }
    }
}
