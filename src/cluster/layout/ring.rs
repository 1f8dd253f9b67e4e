//! The ordered ring around a vertex, and its flattening.

use super::coarse::CoarseMesh;
use glam::DVec2;
use std::f64::consts::PI;

/// Exponents of the flattening outside of this range are not applied to lengths.
const EXPONENTS: std::ops::Range<f64> = 0.2..5.0;

/// The link of a vertex: the vertices around it, counter-clockwise seen from outside.
#[derive(Default)]
pub(super) struct Ring {
    /// The vertices; those at the ends of an open ring lie on the boundary.
    pub(super) vertices: Vec<u32>,
    /// The slot of the face between each vertex and the next.
    pub(super) faces: Vec<u32>,
    /// Whether the last vertex is followed by the first.
    pub(super) is_closed: bool,
    /// (from, to, slot) of each face.
    sides: Vec<(u32, u32, u32)>,
}

impl Ring {
    /// Becomes the ring of `vertex`. `false` if its faces are not one fan of consistent winding.
    pub(super) fn find(&mut self, mesh: &CoarseMesh<'_>, vertex: u32) -> bool {
        self.vertices.clear();
        self.faces.clear();
        self.sides.clear();
        for &slot in mesh.faces_of(vertex) {
            let [a, b, c] = mesh.faces[slot as usize];
            let (from, to) = match vertex {
                v if v == a => (b, c),
                v if v == b => (c, a),
                _ => (a, b),
            };
            self.sides.push((from, to, slot));
        }
        if self.sides.is_empty() {
            return false;
        }
        let sides = &mut self.sides;
        let is_start = |i: &usize| sides.iter().all(|other| other.1 != sides[*i].0);
        let open = (0..sides.len()).find(is_start);
        self.is_closed = open.is_none();
        let mut next = open.unwrap_or(0);
        let first = sides[next].0;
        loop {
            let (from, to, slot) = sides.swap_remove(next);
            self.vertices.push(from);
            self.faces.push(slot);
            match sides.iter().position(|side| side.0 == to) {
                Some(i) => next = i,
                None => {
                    if !self.is_closed {
                        self.vertices.push(to);
                    }
                    // All faces were passed, and no vertex twice.
                    return sides.is_empty() && (to == first) == self.is_closed && self.is_simple();
                }
            }
        }
    }

    fn is_simple(&self) -> bool {
        if self.vertices.len() <= 16 {
            let all = &self.vertices;
            return (1..all.len()).all(|i| !all[..i].contains(&all[i]));
        }
        let mut sorted = self.vertices.clone();
        sorted.sort_unstable();
        sorted.windows(2).all(|w| w[0] != w[1])
    }

    /// Writes the places of the ring's vertices in the plane, with `vertex` at the origin and the farthest at distance 1.
    /// `false` if the angles vanish.
    ///
    /// The map z^a of the unfolded fan, where a makes its angle a full turn, or half a turn on the boundary
    /// (Lee et al. 1998, section 3.3).
    pub(super) fn flatten(
        &self,
        mesh: &CoarseMesh<'_>,
        vertex: u32,
        plane: &mut Vec<DVec2>,
    ) -> bool {
        plane.clear();
        let centre = mesh.surface.positions[vertex as usize];
        let spoke = |i: usize| {
            mesh.surface.positions[self.vertices[i % self.vertices.len()] as usize] - centre
        };
        let n = self.vertices.len();
        let longest = (0..n)
            .map(|i| spoke(i).length_squared())
            .fold(0.0, f64::max);
        let longest = longest.sqrt();
        // Lengths and cumulated angles first, places below.
        let mut angle = 0.0;
        for i in 0..n {
            let here = spoke(i);
            plane.push(DVec2::new(here.length() / longest, angle));
            if i + 1 < n || self.is_closed {
                let next = spoke(i + 1);
                angle += here.cross(next).length().atan2(here.dot(next));
            }
        }
        let turn = if self.is_closed { 2.0 * PI } else { PI };
        let exponent = turn / angle;
        if !(longest > 0.0 && exponent.is_finite()) {
            return false;
        }
        let bends_lengths = EXPONENTS.contains(&exponent);
        for place in plane {
            let radius = if bends_lengths {
                place.x.powf(exponent)
            } else {
                place.x
            };
            let (sin, cos) = (exponent * place.y).sin_cos();
            *place = DVec2::new(radius * cos, radius * sin);
        }
        true
    }
}
