//! Where removed vertices lie on the coarse mesh.

use super::coarse::NONE;
use glam::DVec2;

/// Removed vertices: the face each lies on and its barycentric coordinates there, as one list a face.
pub(super) struct Located {
    /// The face slot of each vertex; [`NONE`] if it was not removed.
    pub(super) face: Vec<u32>,
    /// The barycentric coordinates of each vertex, in the order of the face's corners; not negative, sum 1.
    pub(super) barycentric: Vec<[f64; 3]>,
    /// The first vertex on each face slot.
    first: Vec<u32>,
    /// The next vertex on the face of each.
    next: Vec<u32>,
}

impl Located {
    pub(super) fn new(n_vertices: usize, n_slots: usize) -> Self {
        Self {
            face: vec![NONE; n_vertices],
            barycentric: vec![[0.0; 3]; n_vertices],
            first: vec![NONE; n_slots],
            next: vec![NONE; n_vertices],
        }
    }

    /// Takes the vertices off a face, and adds each with its place, where `corners` are the places of the face's corners.
    pub(super) fn take(&mut self, slot: u32, corners: [DVec2; 3], into: &mut Vec<(u32, DVec2)>) {
        let mut vertex = std::mem::replace(&mut self.first[slot as usize], NONE);
        while vertex != NONE {
            let u = self.barycentric[vertex as usize];
            let place = corners[0] * u[0] + corners[1] * u[1] + corners[2] * u[2];
            into.push((vertex, place));
            vertex = self.next[vertex as usize];
        }
    }

    /// Puts a vertex on the triangle around `place`: that of the largest smallest barycentric coordinate.
    pub(super) fn put(
        &mut self,
        vertex: u32,
        place: DVec2,
        triangles: impl Iterator<Item = (u32, [DVec2; 3])>,
    ) {
        let mut best = (f64::NEG_INFINITY, NONE, [0.0; 3]);
        for (slot, corners) in triangles {
            let u = barycentric(place, corners);
            let least = u[0].min(u[1]).min(u[2]);
            if least > best.0 {
                best = (least, slot, u);
            }
        }
        let (_, slot, u) = best;
        debug_assert!(slot != NONE);
        let u = u.map(|v| v.max(0.0));
        let sum = u[0] + u[1] + u[2];
        let v = vertex as usize;
        self.barycentric[v] = u.map(|v| v / sum);
        self.face[v] = slot;
        self.next[v] = std::mem::replace(&mut self.first[slot as usize], vertex);
    }
}

/// The barycentric coordinates of `place`; their sum is 1.
fn barycentric(place: DVec2, [a, b, c]: [DVec2; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, place - a);
    let area = ab.perp_dot(ac);
    let (v, w) = (ap.perp_dot(ac) / area, ab.perp_dot(ap) / area);
    [1.0 - v - w, v, w]
}
