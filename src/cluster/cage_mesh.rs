//! The closed mesh of a cage at rest: a box, or what another object has.

use super::cage::{CageError, check};
use super::lattice::box_around;
use super::surface::ClusterSurface;
use crate::mesh::Mesh;
use glam::DVec3;
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;

/// Where a cage is from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CageSource {
    /// A box around the clusters, each edge in so many parts.
    Box {
        /// 1 - [`CageMesh::MAX_SEGMENTS`].
        segments: u32,
    },
    /// A copy of the object of this name.
    Object(String),
}

/// A closed triangle mesh around clusters, whose vertices are control points.
#[derive(Clone, Debug, PartialEq)]
pub struct CageMesh {
    source: CageSource,
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl CageMesh {
    /// The largest number of vertices.
    pub const MAX_VERTICES: usize = 1000;
    /// The largest number of parts of an edge of a box.
    pub const MAX_SEGMENTS: u32 = 8;

    /// Of vertices in mesh space at bind and triangles with outward faces. Fails where they do not
    /// enclose a space, or there are too many.
    pub fn new(
        source: CageSource,
        vertices: Vec<DVec3>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Self, CageError> {
        let n_vertices = vertices.len();
        if n_vertices > Self::MAX_VERTICES {
            return Err(CageError::TooFine { n_vertices });
        }
        check(&vertices, &triangles)?;
        Ok(Self {
            source,
            vertices,
            triangles,
        })
    }

    /// The box around points with a margin; `None` without points.
    pub fn around(points: impl IntoIterator<Item = DVec3>, segments: u32) -> Option<Self> {
        let [low, high] = box_around(points)?;
        let n = segments.clamp(1, Self::MAX_SEGMENTS);
        let mut numbers: BTreeMap<[u32; 3], u32> = BTreeMap::new();
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        for axis in 0..3 {
            let (across, up) = ((axis + 1) % 3, (axis + 2) % 3);
            for side in [0, n] {
                for a in 0..n {
                    for b in 0..n {
                        let quad =
                            [(a, b), (a + 1, b), (a + 1, b + 1), (a, b + 1)].map(|(a, b)| {
                                let mut at = [0; 3];
                                (at[axis], at[across], at[up]) = (side, a, b);
                                *numbers.entry(at).or_insert_with(|| {
                                    let share = DVec3::from(at.map(f64::from)) / f64::from(n);
                                    vertices.push(low + (high - low) * share);
                                    vertices.len() as u32 - 1
                                })
                            });
                        let [a, b, c, d] = quad;
                        triangles.extend(if side == 0 {
                            [[a, c, b], [a, d, c]]
                        } else {
                            [[a, b, c], [a, c, d]]
                        });
                    }
                }
            }
        }
        Some(Self {
            source: CageSource::Box { segments: n },
            vertices,
            triangles,
        })
    }

    /// A copy of a mesh, its seams closed, with each point where `place` has it. Triangles that face inwards are turned.
    pub fn of_mesh(
        name: impl Into<String>,
        mesh: &Mesh,
        place: impl Fn(u32) -> DVec3,
    ) -> Result<Self, CageError> {
        // More are refused anyway.
        let n_vertices = mesh.n_points();
        if n_vertices > 16 * Self::MAX_VERTICES {
            return Err(CageError::TooFine { n_vertices });
        }
        let surface = ClusterSurface::new(mesh);
        let vertices = 0..surface.n_vertices() as u32;
        let vertices = vertices.map(|vertex| place(surface.points_of_vertex(vertex)[0]));
        let vertices: Vec<DVec3> = vertices.collect();
        let mut triangles = surface.triangles;
        let volume = triangles.iter().map(|t| {
            let [a, b, c] = t.map(|v| vertices[v as usize]);
            a.dot(b.cross(c))
        });
        if volume.sum::<f64>() < 0.0 {
            for triangle in &mut triangles {
                triangle.swap(1, 2);
            }
        }
        Self::new(CageSource::Object(name.into()), vertices, triangles)
    }

    /// The points of a mesh that an error of [`CageMesh::of_mesh`] names, ascending.
    pub fn points_at_fault(mesh: &Mesh, why: &CageError) -> Vec<u32> {
        let named = why.vertices();
        if named.is_empty() {
            return named;
        }
        let surface = ClusterSurface::new(mesh);
        let known = surface.n_vertices() as u32;
        let known = named.into_iter().filter(|vertex| *vertex < known);
        let points = known.flat_map(|vertex| surface.points_of_vertex(vertex).to_vec());
        let points: BTreeSet<u32> = points.collect();
        points.into_iter().collect()
    }

    /// Where it is from.
    pub fn source(&self) -> &CageSource {
        &self.source
    }

    /// Its vertices at rest, mesh space.
    pub fn vertices(&self) -> &[DVec3] {
        &self.vertices
    }

    /// Its triangles.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Its edges, each once.
    pub fn lines(&self) -> Vec<[u32; 2]> {
        let corners = self.triangles.iter();
        let edges = corners.flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        let edges: BTreeSet<[u32; 2]> = edges.map(|[a, b]| [a.min(b), a.max(b)]).collect();
        edges.into_iter().collect()
    }

    /// Whether a point is inside, or on the surface: by the sum of the solid angles of the triangles (van Oosterom & Strackee
    /// 1983, eq. 8).
    pub fn contains(&self, point: DVec3) -> bool {
        let angles = self.triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.map(|v| self.vertices[v as usize] - point);
            let (la, lb, lc) = (a.length(), b.length(), c.length());
            let volume = a.dot(b.cross(c));
            let beside = la * lb * lc + a.dot(b) * lc + a.dot(c) * lb + b.dot(c) * la;
            2.0 * volume.atan2(beside)
        });
        // Half of the whole on a face, an eighth at the corner of a box, whatever its rounding.
        angles.sum::<f64>().abs() / (2.0 * TAU) > 0.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_encloses_its_points_and_faces_outwards() {
        let points = [DVec3::ZERO, DVec3::new(1.0, 2.0, 0.0)];
        for (segments, n_vertices, n_triangles) in [(1, 8, 12), (2, 26, 48), (3, 56, 108)] {
            let cage = CageMesh::around(points, segments).unwrap();
            assert_eq!(cage.vertices().len(), n_vertices);
            assert_eq!(cage.triangles().len(), n_triangles);
            assert_eq!(cage.lines().len(), 3 * n_triangles / 2);
            let again = CageMesh::new(
                cage.source().clone(),
                cage.vertices().to_vec(),
                cage.triangles().to_vec(),
            );
            assert_eq!(again.as_ref(), Ok(&cage));
            assert!(points.iter().all(|p| cage.contains(*p)));
            assert!(cage.contains(cage.vertices()[0]));
            assert!(!cage.contains(DVec3::new(3.0, 0.0, 0.0)));
            let volume = cage.triangles().iter().map(|t| {
                let [a, b, c] = t.map(|v| cage.vertices()[v as usize]);
                a.dot(b.cross(c)) / 6.0
            });
            let size = cage.vertices()[n_vertices - 1].max(cage.vertices()[0]);
            assert!(volume.sum::<f64>() > 0.0 && size.is_finite());
        }
        assert_eq!(CageMesh::around([], 1), None);
    }

    #[test]
    fn too_many_vertices_are_refused() {
        let many = vec![DVec3::ZERO; CageMesh::MAX_VERTICES + 1];
        let source = CageSource::Object("Body".into());
        let why = CageMesh::new(source, many, Vec::new()).unwrap_err();
        assert_eq!(
            why.to_string(),
            "the cage has 1001 vertices, more than 1000: use a coarser one"
        );
    }
}
