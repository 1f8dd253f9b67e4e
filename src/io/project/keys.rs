//! The keys of points in a project: the primitive, and the point's lowest vertex in it.

use crate::mesh::Mesh;
use rayon::prelude::*;

/// Vertices of a primitive whose points are in one block.
pub(super) const SPAN: u32 = 1 << 16;

/// A point and its key in a file.
pub(super) struct Key {
    pub(super) primitive: u32,
    /// The point's lowest vertex, as an index within the primitive.
    pub(super) vertex: u32,
    pub(super) point: u32,
}

/// The keys of distinct points of `mesh`, ascending by primitive and vertex.
pub(super) fn of_points(mesh: &Mesh, points: Vec<u32>) -> Vec<Key> {
    if points.is_empty() {
        return Vec::new();
    }
    let first_vertex = mesh.first_vertex_of_point();
    let mut points: Vec<(u32, u32)> = points
        .into_iter()
        .map(|point| (first_vertex[point as usize], point))
        .collect();
    points.par_sort_unstable();
    let mut primitive = 0;
    points
        .into_iter()
        .filter_map(|(vertex, point)| {
            // Vertices ascend and primitives are ranges of vertices: usually the same primitive as before.
            if !mesh.primitives.get(primitive)?.vertices.contains(&vertex) {
                primitive = mesh.primitive_of_vertex(vertex)?;
            }
            Some(Key {
                primitive: primitive as u32,
                vertex: vertex - mesh.primitives[primitive].vertices.start,
                point,
            })
        })
        .collect()
}

/// The parts of `keys` that are one block each.
pub(super) fn spans(keys: &[Key]) -> Vec<&[Key]> {
    keys.chunk_by(|a, b| a.primitive == b.primitive && a.vertex / SPAN == b.vertex / SPAN)
        .collect()
}

/// The differences of consecutive vertices; the first one from 0.
pub(super) fn steps(keys: &[Key]) -> impl ExactSizeIterator<Item = u32> + '_ {
    let mut previous = 0;
    keys.iter()
        .map(move |key| key.vertex - std::mem::replace(&mut previous, key.vertex))
}

/// The point with the key (primitive, vertex).
pub(super) fn point_of(mesh: &Mesh, primitive: u32, vertex: u32) -> Option<u32> {
    let vertices = &mesh.primitives.get(primitive as usize)?.vertices;
    let vertex = vertices.start.checked_add(vertex)?;
    if vertices.contains(&vertex) {
        mesh.point_of_vertex.get(vertex as usize).copied()
    } else {
        None
    }
}
