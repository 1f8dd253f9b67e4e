//! Triangles of points, and the adjacency of points and faces.

use super::{Mesh, PointSet};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

/// Adjacency of a [`Mesh`], as compressed rows.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// n_triangles, point indices; a triangle may be degenerate.
    pub triangles: Vec<[u32; 3]>,
    face_starts: Vec<u32>,
    faces: Vec<u32>,
    neighbour_starts: Vec<u32>,
    neighbours: Vec<u32>,
    normal_face_starts: Vec<u32>,
    normal_faces: Vec<u32>,
    normal_starts: Vec<u32>,
    /// For each point that shares its bind position, the next one there, in a cycle.
    coincident: HashMap<u32, u32>,
    /// The points in `coincident`.
    on_seams: PointSet,
    /// Filled by the first call of [`Topology::islands`].
    islands: OnceLock<Vec<u32>>,
}

impl Topology {
    pub(super) fn new(mesh: &Mesh) -> Self {
        let triangles: Vec<[u32; 3]> = mesh
            .triangles
            .iter()
            .map(|t| t.map(|v| mesh.point_of_vertex[v as usize]))
            .collect();
        let (face_starts, faces) = incidence(mesh.n_points(), &triangles);
        let by_normal: Vec<[u32; 3]> = mesh
            .triangles
            .iter()
            .map(|t| t.map(|v| mesh.normal_of_vertex[v as usize]))
            .collect();
        let (normal_face_starts, normal_faces) = incidence(mesh.normals.len(), &by_normal);
        let mut neighbour_starts = Vec::with_capacity(mesh.n_points() + 1);
        let mut neighbours = Vec::with_capacity(mesh.n_points() * 6);
        let mut ring = Vec::new();
        neighbour_starts.push(0);
        for p in 0..mesh.n_points() {
            ring.clear();
            for &f in &faces[face_starts[p] as usize..face_starts[p + 1] as usize] {
                ring.extend(
                    triangles[f as usize]
                        .into_iter()
                        .filter(|&q| q as usize != p),
                );
            }
            ring.sort_unstable();
            ring.dedup();
            neighbours.extend_from_slice(&ring);
            neighbour_starts.push(neighbours.len() as u32);
        }
        let normal_starts = (0..=mesh.n_points() as u32)
            .map(|p| mesh.point_of_normal.partition_point(|&q| q < p) as u32)
            .collect();
        let coincident = coincident(mesh);
        Self {
            triangles,
            face_starts,
            faces,
            neighbour_starts,
            neighbours,
            normal_face_starts,
            normal_faces,
            normal_starts,
            on_seams: coincident.keys().copied().collect(),
            coincident,
            islands: OnceLock::new(),
        }
    }

    /// The triangles at `point`, ascending.
    pub fn faces(&self, point: u32) -> &[u32] {
        span(&self.face_starts, &self.faces, point)
    }

    /// The points that share an edge with `point`, ascending.
    pub fn neighbours(&self, point: u32) -> &[u32] {
        span(&self.neighbour_starts, &self.neighbours, point)
    }

    /// Another point at the same bind position, the other side of a seam whose weights differ; repeated calls cycle through
    /// all of them.
    #[inline]
    pub fn next_coincident(&self, point: u32) -> Option<u32> {
        // Most points have none, and some callers are inner loops.
        self.on_seams
            .contains(point)
            .then(|| self.coincident.get(&point).copied())?
    }

    /// The other points at the bind position of `point`: the other sides of a seam whose weights differ.
    pub fn twins(&self, point: u32) -> impl Iterator<Item = u32> + '_ {
        let next = move |at: u32| self.next_coincident(at).filter(|&twin| twin != point);
        std::iter::successors(next(point), move |&at| next(at))
    }

    /// Each point that shares its bind position, with the next one there; in no order.
    pub fn coincident_pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.coincident.iter().map(|(&point, &next)| (point, next))
    }

    /// The number of each point's island: points joined by edges or seams have one number. Computed at the first call.
    pub fn islands(&self, n_points: usize) -> &[u32] {
        self.islands.get_or_init(|| {
            super::components::components(&self.triangles, self.coincident_pairs(), n_points)
        })
    }

    /// The entries of [`Mesh::normals`] at `point`.
    pub fn normals_of_point(&self, point: u32) -> Range<u32> {
        self.normal_starts[point as usize]..self.normal_starts[point as usize + 1]
    }

    /// The triangles that use `normal` (an index into [`Mesh::normals`]), ascending.
    pub fn faces_of_normal(&self, normal: u32) -> &[u32] {
        span(&self.normal_face_starts, &self.normal_faces, normal)
    }
}

/// For each point that shares its bind position with others, the next one in their cycle.
fn coincident(mesh: &Mesh) -> HashMap<u32, u32> {
    // Points at one position have one Morton code, so they are neighbours in memory, up to others of the same code;
    // sorting by position is simpler and exact.
    let mut order: Vec<u32> = (0..mesh.n_points() as u32).collect();
    let key = |p: u32| {
        (mesh.positions[p as usize] + glam::Vec3::ZERO)
            .to_array()
            .map(f32::to_bits)
    };
    order.sort_by_key(|&p| key(p));
    let mut next = HashMap::new();
    for group in order
        .chunk_by(|&a, &b| key(a) == key(b))
        .filter(|group| group.len() > 1)
    {
        next.extend(
            group
                .iter()
                .copied()
                .zip(group.iter().copied().cycle().skip(1)),
        );
    }
    next
}

fn span<'a>(starts: &[u32], items: &'a [u32], row: u32) -> &'a [u32] {
    &items[starts[row as usize] as usize..starts[row as usize + 1] as usize]
}

/// For each corner value, the triangles that have it, ascending, each once.
fn incidence(n: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let distinct = |t: &[u32; 3]| {
        let (a, b, c) = (t[0], t[1], t[2]);
        [
            Some(a),
            (b != a).then_some(b),
            (c != a && c != b).then_some(c),
        ]
    };
    let mut starts = vec![0u32; n + 1];
    for corner in triangles.iter().flat_map(distinct).flatten() {
        starts[corner as usize + 1] += 1;
    }
    for i in 0..n {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut items = vec![0u32; starts[n] as usize];
    for (f, triangle) in triangles.iter().enumerate() {
        for corner in distinct(triangle).into_iter().flatten() {
            let slot = &mut next[corner as usize];
            items[*slot as usize] = f as u32;
            *slot += 1;
        }
    }
    (starts, items)
}
