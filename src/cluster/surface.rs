//! The surface that clusters lie on: welded vertices and triangles at bind.

use super::rows::Rows;
use crate::mesh::Mesh;
use glam::{DVec3, Vec3};

/// A mesh as the Control Cluster Method sees it: the sides of a seam are one vertex.
///
/// Points (the mesh's) and vertices (of this surface) have numbers of their own; [`ClusterSurface::vertex_of_point`] and
/// [`ClusterSurface::points_of_vertex`] lead from one to the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClusterSurface {
    /// n_vertices bind positions, metres; not finite ones are at the origin.
    pub positions: Vec<DVec3>,
    /// n_vertices angle-weighted normals at bind, unit.
    pub normals: Vec<DVec3>,
    /// Triangles of three different vertices, each set of vertices once.
    pub triangles: Vec<[u32; 3]>,
    vertex_of_point: Vec<u32>,
    points_of_vertex: Rows,
}

impl ClusterSurface {
    /// The surface of a mesh at bind. Vertices are numbered by their lowest point.
    pub fn new(mesh: &Mesh) -> Self {
        let rings = mesh.rings();
        let mut vertex_of_point = vec![0; mesh.n_points()];
        let mut positions = Vec::with_capacity(mesh.n_points());
        for point in 0..mesh.n_points() as u32 {
            let lowest = rings.seam(point).map_or(point, |seam| seam[0]);
            vertex_of_point[point as usize] = if lowest == point {
                positions.push(mesh.positions[point as usize].as_dvec3());
                positions.len() as u32 - 1
            } else {
                vertex_of_point[lowest as usize]
            };
        }
        Self::welded(positions, &mesh.topology().triangles, vertex_of_point)
    }

    /// The surface of `triangles`, each point a vertex.
    pub fn from_triangles(positions: Vec<DVec3>, triangles: &[[u32; 3]]) -> Self {
        let own = (0..positions.len() as u32).collect();
        Self::welded(positions, triangles, own)
    }

    /// The same surface with its vertices, n_vertices, elsewhere.
    #[must_use]
    pub fn with_positions(&self, mut positions: Vec<DVec3>) -> Self {
        for position in positions.iter_mut().filter(|p| !p.is_finite()) {
            *position = DVec3::ZERO;
        }
        Self {
            normals: angle_weighted_normals(&positions, &self.triangles),
            positions,
            ..self.clone()
        }
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.positions.len()
    }

    /// Number of points of the mesh.
    pub fn n_points(&self) -> usize {
        self.vertex_of_point.len()
    }

    /// The vertex that a point of the mesh belongs to.
    pub fn vertex_of_point(&self, point: u32) -> u32 {
        self.vertex_of_point[point as usize]
    }

    /// The points of the mesh at a vertex, ascending; several on a seam.
    pub fn points_of_vertex(&self, vertex: u32) -> &[u32] {
        self.points_of_vertex.row(vertex)
    }

    /// n_vertices: whether one of the vertex's points is in `points`.
    pub fn marked(&self, points: impl IntoIterator<Item = u32>) -> Vec<bool> {
        let mut marked = vec![false; self.n_vertices()];
        for point in points {
            marked[self.vertex_of_point(point) as usize] = true;
        }
        marked
    }

    /// The diagonal of the bounding box at bind, metres.
    pub fn diagonal(&self) -> f64 {
        let (low, high) = self
            .positions
            .iter()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &p| {
                (low.min(p), high.max(p))
            });
        (high - low).max(DVec3::ZERO).length()
    }

    fn welded(
        mut positions: Vec<DVec3>,
        point_triangles: &[[u32; 3]],
        vertex_of_point: Vec<u32>,
    ) -> Self {
        for position in &mut positions {
            if !position.is_finite() {
                *position = DVec3::ZERO;
            }
        }
        let triangles = distinct(point_triangles, &vertex_of_point);
        let pairs = vertex_of_point.iter().copied().zip(0u32..);
        Self {
            normals: angle_weighted_normals(&positions, &triangles),
            points_of_vertex: Rows::new(positions.len(), pairs),
            positions,
            triangles,
            vertex_of_point,
        }
    }
}

/// The triangles between vertices: without those of fewer than three vertices and without repetitions, which would make
/// every edge of theirs non-manifold.
fn distinct(point_triangles: &[[u32; 3]], vertex_of_point: &[u32]) -> Vec<[u32; 3]> {
    let mut triangles: Vec<[u32; 3]> = point_triangles
        .iter()
        .map(|t| t.map(|p| vertex_of_point[p as usize]))
        .filter(|&[a, b, c]| a != b && b != c && a != c)
        .collect();
    let key = |t: &[u32; 3]| {
        let mut key = *t;
        key.sort_unstable();
        key
    };
    let mut keys: Vec<([u32; 3], u32)> = triangles.iter().map(key).zip(0..).collect();
    keys.sort_unstable();
    let repeated = keys.windows(2).filter(|w| w[0].0 == w[1].0);
    let mut repeated: Vec<u32> = repeated.map(|w| w[1].1).collect();
    repeated.sort_unstable();
    let mut index = 0;
    triangles.retain(|_| {
        index += 1;
        repeated.binary_search(&(index - 1)).is_err()
    });
    triangles
}

/// The mean of the normals of each vertex's faces, weighted by their angles there (Thuermer & Wuethrich 1998), unit; Y
/// where it vanishes.
fn angle_weighted_normals(positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<DVec3> {
    let mut sums = vec![DVec3::ZERO; positions.len()];
    for t in triangles {
        let corners = t.map(|v| positions[v as usize]);
        let [a, b, c] = corners;
        let Some(normal) = (b - a).cross(c - a).try_normalize() else {
            continue;
        };
        for i in 0..3 {
            let (e, f) = (
                corners[(i + 1) % 3] - corners[i],
                corners[(i + 2) % 3] - corners[i],
            );
            sums[t[i] as usize] += normal * e.cross(f).length().atan2(e.dot(f));
        }
    }
    for sum in &mut sums {
        *sum = sum.try_normalize().unwrap_or(Vec3::Y.as_dvec3());
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sides_of_a_seam_are_one_vertex() {
        // Two squares that share an edge whose points are there twice.
        let at = |x: f32, y: f32| Vec3::new(x, y, 0.0);
        let mut mesh = Mesh {
            positions: vec![
                at(0.0, 0.0),
                at(1.0, 0.0),
                at(1.0, 1.0),
                at(0.0, 1.0),
                at(1.0, 0.0),
                at(2.0, 0.0),
                at(2.0, 1.0),
                at(1.0, 1.0),
            ],
            triangles: vec![[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]],
            point_of_vertex: (0..8).collect(),
            ..Mesh::default()
        };
        mesh.normals = vec![Vec3::Z; 8];
        mesh.normal_of_vertex = (0..8).collect();
        mesh.point_of_normal = (0..8).collect();
        let surface = ClusterSurface::new(&mesh);
        assert_eq!(surface.n_vertices(), 6);
        assert_eq!(surface.vertex_of_point(4), surface.vertex_of_point(1));
        assert_eq!(surface.points_of_vertex(1), [1, 4]);
        assert_eq!(surface.points_of_vertex(2), [2, 7]);
        let marked = surface.marked([7]);
        assert_eq!(marked.iter().filter(|m| **m).count(), 1);
        assert!(marked[2]);
        assert_eq!(surface.triangles.len(), 4);
        assert!(surface.normals.iter().all(|n| *n == DVec3::Z));
    }

    #[test]
    fn degenerate_and_repeated_triangles_are_left_out() {
        let positions = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::NAN];
        let triangles = [[0, 1, 2], [0, 0, 2], [1, 2, 0], [2, 1, 0]];
        let surface = ClusterSurface::from_triangles(positions, &triangles);
        assert_eq!(surface.triangles, [[0, 1, 2]]);
        assert_eq!(surface.positions[3], DVec3::ZERO);
        assert_eq!(surface.normals, [DVec3::Z, DVec3::Z, DVec3::Z, DVec3::Y]);
    }

    #[test]
    fn normals_are_weighted_by_angle() {
        // A corner of a cube: three faces of 90 degrees, one of them in two triangles.
        let positions = vec![
            DVec3::ZERO,
            DVec3::X,
            DVec3::new(1.0, 1.0, 0.0),
            DVec3::Y,
            DVec3::Z,
        ];
        let triangles = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]];
        let surface = ClusterSurface::from_triangles(positions, &triangles);
        let expected = DVec3::ONE / 3f64.sqrt();
        assert!((surface.normals[0] - expected).length() < 1e-15);
    }
}
