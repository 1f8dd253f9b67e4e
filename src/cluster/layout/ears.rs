//! Triangulation of the hole that a removed vertex leaves, by ear clipping.

use super::coarse::CoarseMesh;
use glam::DVec2;

/// Twice the smallest area of an ear in the plane; the farthest vertex lies at distance 1.
const SMALLEST: f64 = 1e-9;

/// A vertex is inside of an ear if all its barycentric coordinates are above this.
const INSIDE: f64 = -1e-12;

/// Ears whose normal agrees less than this with the surface are taken last.
const TURNED: f64 = 0.2;

/// A polygon of mesh vertices in the plane, and its triangles.
#[derive(Default)]
pub(super) struct Ears {
    /// The triangles: indices of polygon vertices.
    pub(super) triangles: Vec<[usize; 3]>,
    /// The polygon that is left.
    left: Vec<usize>,
    /// For each vertex that is left, the score of the ear at it; not a number if it was not computed.
    scores: Vec<f64>,
}

impl Ears {
    /// Triangulates the hole of `removed`, whose ring is `vertices` at `plane`. `false` if that is not possible, if it would
    /// make an edge or a face that exists, or a face that agrees less than `least` with the surface.
    pub(super) fn clip(
        &mut self,
        mesh: &CoarseMesh<'_>,
        removed: u32,
        vertices: &[u32],
        plane: &[DVec2],
        least: f64,
    ) -> bool {
        self.triangles.clear();
        let n = vertices.len();
        if n == 3 && mesh.has_face([vertices[0], vertices[1], vertices[2]]) {
            return false;
        }
        self.left.clear();
        self.left.extend(0..n);
        self.scores.clear();
        self.scores.resize(n, f64::NAN);
        let hole = Hole {
            mesh,
            removed,
            vertices,
            plane,
        };
        while self.left.len() > 3 {
            let Some(best) = self.best(&hole) else {
                return false;
            };
            let ear = self.ear(best);
            if hole.agreement(ear) < least {
                return false;
            }
            self.triangles.push(ear);
            self.left.remove(best);
            self.scores.remove(best);
            let n = self.left.len();
            self.scores[best % n] = f64::NAN;
            self.scores[(best + n - 1) % n] = f64::NAN;
        }
        let last = [self.left[0], self.left[1], self.left[2]];
        self.triangles.push(last);
        hole.area(last) > SMALLEST && hole.agreement(last) >= least
    }

    /// The ear at vertex `i` of what is left.
    fn ear(&self, i: usize) -> [usize; 3] {
        let n = self.left.len();
        [(i + n - 1) % n, i, (i + 1) % n].map(|j| self.left[j])
    }

    /// The vertex with the best admissible ear.
    fn best(&mut self, hole: &Hole<'_>) -> Option<usize> {
        for i in 0..self.left.len() {
            if self.scores[i].is_nan() {
                self.scores[i] = hole.score(self.ear(i));
            }
        }
        let mut ceiling = (f64::INFINITY, 0);
        loop {
            // The best one below those that were refused; of equals the first.
            let mut best: Option<(f64, usize)> = None;
            for (i, &score) in self.scores.iter().enumerate() {
                let is_below = score < ceiling.0 || (score == ceiling.0 && i > ceiling.1);
                if score > f64::NEG_INFINITY && is_below && best.is_none_or(|b| score > b.0) {
                    best = Some((score, i));
                }
            }
            let (score, i) = best?;
            let ear = self.ear(i);
            // Asked of the best alone: it takes long.
            if !hole.closes_edge(ear) && self.left.iter().all(|&p| !hole.is_inside(p, ear)) {
                return Some(i);
            }
            ceiling = (score, i);
        }
    }
}

struct Hole<'a> {
    mesh: &'a CoarseMesh<'a>,
    removed: u32,
    vertices: &'a [u32],
    plane: &'a [DVec2],
}

impl Hole<'_> {
    fn corners(&self, ear: [usize; 3]) -> [u32; 3] {
        ear.map(|i| self.vertices[i])
    }

    /// Twice the area in the plane.
    fn area(&self, ear: [usize; 3]) -> f64 {
        let [a, b, c] = ear.map(|i| self.plane[i]);
        (b - a).perp_dot(c - a)
    }

    fn agreement(&self, ear: [usize; 3]) -> f64 {
        self.mesh.agreement(self.corners(ear), Some(self.removed))
    }

    /// Whether an ear would make an edge that exists.
    fn closes_edge(&self, ear: [usize; 3]) -> bool {
        let [from, _, to] = self.corners(ear);
        self.mesh.has_edge(from, to)
    }

    /// The quality of an ear, 0 - 0.5, less for turned ones; minus infinity if it has no area in the plane.
    fn score(&self, ear: [usize; 3]) -> f64 {
        let corners = self.corners(ear);
        if self.area(ear) <= SMALLEST {
            return f64::NEG_INFINITY;
        }
        let [a, b, c] = corners.map(|v| self.mesh.surface.positions[v as usize]);
        let squares = a.distance_squared(b) + b.distance_squared(c) + c.distance_squared(a);
        let cross = self.mesh.cross(corners).length();
        let quality = if squares > 0.0 {
            3f64.sqrt() * cross / squares
        } else {
            0.0
        };
        let agreement = self.agreement(ear);
        if agreement > TURNED {
            quality
        } else {
            quality * 0.01 + agreement - 1.0
        }
    }

    fn is_inside(&self, vertex: usize, ear: [usize; 3]) -> bool {
        if ear.contains(&vertex) {
            return false;
        }
        let [a, b, c] = ear.map(|i| self.plane[i]);
        let p = self.plane[vertex];
        let area = (b - a).perp_dot(c - a);
        let least = INSIDE * area;
        (b - p).perp_dot(c - p) >= least
            && (c - p).perp_dot(a - p) >= least
            && (a - p).perp_dot(b - p) >= least
    }
}
