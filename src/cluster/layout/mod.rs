//! The patch layout: a coarse triangle mesh between clusters, on which every free vertex has a place.
//!
//! The surface is decimated until only the clusters are left, and each removed vertex is carried along in the parameter
//! plane of the hole it left (MAPS: Lee, Sweldens, Schroeder, Cowsar & Dobkin 1998). Vertices that cannot be removed
//! without breaking the surface stay as anchors. Decimation cannot fail: the worst case is a layout of anchors alone.
//!
//! Invariant: the same surface and clusters give the same layout.
//! Invariant: every vertex is a corner, free or excluded, and only one of these.

mod coarse;
mod decimate;
mod ears;
mod flips;
mod located;
mod queue;
mod ring;
mod stars;

use super::surface::ClusterSurface;
use crate::math::DisjointSets;
use crate::task::{Cancelled, Task};
use coarse::{CoarseMesh, NONE};
use decimate::State;
use located::Located;
use ring::Ring;

/// A free vertex: one that follows a patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Free {
    /// The vertex of the surface.
    pub vertex: u32,
    /// The triangle of [`Layout::triangles`] that it lies on.
    pub triangle: u32,
    /// Its barycentric coordinates in the order of the triangle's corners; not negative, sum 1.
    pub barycentric: [f64; 3],
}

/// The patches between the clusters of a [`ClusterSurface`]. All numbers are those of its vertices.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// The clusters and anchors, ascending: the corners of the patches.
    pub corners: Vec<u32>,
    /// Vertices that the layout needs as corners and the artist did not mark, ascending.
    pub anchors: Vec<u32>,
    /// Coarse triangles, wound as the surface is.
    pub triangles: Vec<[u32; 3]>,
    /// The free vertices, by triangle and then by number.
    pub free: Vec<Free>,
    /// Vertices of components without a cluster, ascending: they follow the base skin.
    pub excluded: Vec<u32>,
}

impl Layout {
    /// The layout between `clusters` (n_vertices of `surface`). Fails when it is cancelled.
    pub fn new(
        surface: &ClusterSurface,
        clusters: &[bool],
        task: &Task,
    ) -> Result<Self, Cancelled> {
        let included = included(surface, clusters);
        Self::of_components(surface, clusters, &included, task, true)
    }

    /// As [`Layout::new`], for work that reports progress of its own.
    pub(super) fn quietly(
        surface: &ClusterSurface,
        clusters: &[bool],
        task: &Task,
    ) -> Result<Self, Cancelled> {
        let included = included(surface, clusters);
        Self::of_components(surface, clusters, &included, task, false)
    }

    /// The index of a vertex in [`Layout::corners`].
    pub fn corner_of_vertex(&self, vertex: u32) -> Option<u32> {
        self.corners.binary_search(&vertex).ok().map(|i| i as u32)
    }

    /// Whether a vertex follows a patch.
    pub fn is_free(&self, vertex: u32) -> bool {
        self.corner_of_vertex(vertex).is_none() && self.excluded.binary_search(&vertex).is_err()
    }

    /// The layout of the `included` vertices.
    fn of_components(
        surface: &ClusterSurface,
        clusters: &[bool],
        included: &[bool],
        task: &Task,
        reports: bool,
    ) -> Result<Self, Cancelled> {
        task.check()?;
        let mut mesh = CoarseMesh::new(surface, included);
        let mut located = Located::new(surface.n_vertices(), mesh.faces.len());
        let mut ring = Ring::default();
        let mut states: Vec<State> = (0..surface.n_vertices() as u32)
            .map(|v| {
                // Also vertices of non-manifold edges and of several fans, whose ring has no order, are kept.
                if included[v as usize] && !clusters[v as usize] && ring.find(&mesh, v) {
                    State::Free {
                        is_boundary: !ring.is_closed,
                    }
                } else {
                    State::Kept
                }
            })
            .collect();
        decimate::decimate(&mut mesh, &mut located, &mut states, task, reports)?;
        flips::flip_edges(&mut mesh, &mut located, task)?;
        Ok(Self::collect(&mesh, &located, &states, clusters, included))
    }

    fn collect(
        mesh: &CoarseMesh<'_>,
        located: &Located,
        states: &[State],
        clusters: &[bool],
        included: &[bool],
    ) -> Self {
        let mut layout = Self::default();
        for v in 0..states.len() {
            if clusters[v] {
                layout.corners.push(v as u32);
            } else if !included[v] {
                layout.excluded.push(v as u32);
            } else if states[v] != State::Removed {
                layout.corners.push(v as u32);
                layout.anchors.push(v as u32);
            }
        }
        // In the order of the vertices on them: neighbours in space are then neighbours in memory.
        let mut lowest: Vec<u32> = mesh
            .faces
            .iter()
            .map(|f| f[0].min(f[1]).min(f[2]))
            .collect();
        for v in (0..states.len()).filter(|&v| states[v] == State::Removed) {
            let lowest = &mut lowest[located.face[v] as usize];
            *lowest = (*lowest).min(v as u32);
        }
        let is_face = |slot: &u32| mesh.faces[*slot as usize][0] != NONE;
        let mut slots: Vec<u32> = (0..mesh.faces.len() as u32).filter(is_face).collect();
        slots.sort_by_key(|&slot| lowest[slot as usize]);
        let mut number_of_slot = vec![NONE; mesh.faces.len()];
        for slot in slots {
            number_of_slot[slot as usize] = layout.triangles.len() as u32;
            layout.triangles.push(mesh.faces[slot as usize]);
        }
        layout.free = (0..states.len())
            .filter(|&v| states[v] == State::Removed)
            .map(|v| Free {
                vertex: v as u32,
                triangle: number_of_slot[located.face[v] as usize],
                barycentric: located.barycentric[v],
            })
            .collect();
        // Stable: by number within a triangle.
        layout.free.sort_by_key(|free| free.triangle);
        layout
    }
}

/// n_vertices: whether the vertex's component has a cluster.
fn included(surface: &ClusterSurface, clusters: &[bool]) -> Vec<bool> {
    let mut components = DisjointSets::new(surface.n_vertices());
    for &[a, b, c] in &surface.triangles {
        components.join(a, b);
        components.join(a, c);
    }
    let (n, component) = components.numbers();
    let mut has_cluster = vec![false; n];
    for (v, _) in clusters.iter().enumerate().filter(|(_, is)| **is) {
        has_cluster[component[v] as usize] = true;
    }
    component.iter().map(|&c| has_cluster[c as usize]).collect()
}
