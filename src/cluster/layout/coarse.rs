//! The coarse mesh while it is decimated: faces in slots, and the faces of each vertex.

use super::super::surface::ClusterSurface;
use super::stars::Stars;
use glam::DVec3;

/// No face, no vertex.
pub(super) const NONE: u32 = u32::MAX;

/// Triangles that change. A face keeps its slot until it is removed.
pub(super) struct CoarseMesh<'a> {
    /// Positions and normals at bind.
    pub(super) surface: &'a ClusterSurface,
    /// The corners of each slot; [`NONE`] where it is empty.
    pub(super) faces: Vec<[u32; 3]>,
    /// n_vertices: the slots of each vertex's faces.
    stars: Stars,
    /// Twice the area of the face in each slot: every removal asks for those of all faces around it.
    doubled_areas: Vec<f64>,
}

impl<'a> CoarseMesh<'a> {
    /// All triangles whose vertices are `included`.
    pub(super) fn new(surface: &'a ClusterSurface, included: &[bool]) -> Self {
        let faces: Vec<[u32; 3]> = surface
            .triangles
            .iter()
            .copied()
            .filter(|t| included[t[0] as usize])
            .collect();
        let mut stars = Stars::new(surface.n_vertices());
        for (slot, face) in (0u32..).zip(&faces) {
            for &v in face {
                stars.push(v, slot);
            }
        }
        let mut mesh = Self {
            surface,
            doubled_areas: Vec::new(),
            faces,
            stars,
        };
        let areas = mesh.faces.iter().map(|&face| mesh.cross(face).length());
        mesh.doubled_areas = areas.collect();
        mesh
    }

    /// The slots of a vertex's faces.
    pub(super) fn faces_of(&self, vertex: u32) -> &[u32] {
        self.stars.of(vertex)
    }

    /// Whether two vertices share a face.
    pub(super) fn has_edge(&self, a: u32, b: u32) -> bool {
        let (mut few, mut other) = (a, b);
        if self.faces_of(b).len() < self.faces_of(a).len() {
            (few, other) = (b, a);
        }
        self.faces_of(few)
            .iter()
            .any(|&f| self.faces[f as usize].contains(&other))
    }

    /// Whether three vertices are the corners of a face.
    pub(super) fn has_face(&self, corners: [u32; 3]) -> bool {
        self.faces_of(corners[0]).iter().any(|&f| {
            let face = self.faces[f as usize];
            face.contains(&corners[1]) && face.contains(&corners[2])
        })
    }

    /// The slot of the face that runs from `a` to `b` along their edge, if exactly one does.
    pub(super) fn face_along(&self, a: u32, b: u32) -> Option<u32> {
        let mut found = None;
        for &f in self.faces_of(a) {
            let [p, q, r] = self.faces[f as usize];
            if [(p, q), (q, r), (r, p)].contains(&(a, b)) && found.replace(f).is_some() {
                return None;
            }
        }
        found
    }

    /// The number of faces at the edge between two vertices.
    pub(super) fn n_faces_at(&self, a: u32, b: u32) -> usize {
        let at = |f: &&u32| self.faces[**f as usize].contains(&b);
        self.faces_of(a).iter().filter(at).count()
    }

    /// The sum of the areas of a vertex's faces.
    pub(super) fn area_around(&self, vertex: u32) -> f64 {
        self.faces_of(vertex)
            .iter()
            .map(|&f| self.doubled_areas[f as usize])
            .sum::<f64>()
            * 0.5
    }

    /// The normal of a triangle, with twice its area as length.
    pub(super) fn cross(&self, corners: [u32; 3]) -> DVec3 {
        let [a, b, c] = corners.map(|v| self.surface.positions[v as usize]);
        (b - a).cross(c - a)
    }

    /// The cosine between the normal of a triangle and the mean of the surface normals at `corners`, and at `also`; -1 for
    /// a triangle without area.
    pub(super) fn agreement(&self, corners: [u32; 3], also: Option<u32>) -> f64 {
        let normal = |v: u32| self.surface.normals[v as usize];
        let mut sum: DVec3 = corners.into_iter().map(normal).sum();
        sum += also.map_or(DVec3::ZERO, normal);
        match (self.cross(corners).try_normalize(), sum.try_normalize()) {
            (Some(face), Some(mean)) => face.dot(mean),
            _ => -1.0,
        }
    }

    /// Puts `triangles` into the first of the slots `old`, and empties the others.
    pub(super) fn replace(&mut self, old: &[u32], triangles: &[[u32; 3]]) {
        for &slot in old {
            for v in self.faces[slot as usize] {
                self.stars.remove(v, slot);
            }
            self.faces[slot as usize] = [NONE; 3];
        }
        for (&slot, &triangle) in old.iter().zip(triangles) {
            self.faces[slot as usize] = triangle;
            self.doubled_areas[slot as usize] = self.cross(triangle).length();
            for v in triangle {
                self.stars.push(v, slot);
            }
        }
    }
}
