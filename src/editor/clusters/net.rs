//! The net of patches between the clusters, as shown: its corners that nobody marked, and edges that turn too far.

use super::Editor;
use crate::cluster::{Interpolation, MeshLayout};
use crate::document::{InstanceId, MeshId};
use crate::evaluate::NetEdge;
use crate::finding::counted;
use crate::mesh::PointSet;
use std::sync::Arc;

impl Editor {
    /// The patches of the active object, where they belong to its present clusters; `None` while they are computed.
    pub fn current_layout(&self) -> Option<&Arc<MeshLayout>> {
        self.current_layout_of(self.clustered_mesh()?)
    }

    pub(super) fn current_layout_of(&self, mesh: MeshId) -> Option<&Arc<MeshLayout>> {
        let item = self.document.meshes().get(&mesh)?;
        let layout = self.patch_layout(mesh)?;
        let is_current = item.clusters.acts() && layout.is_of(&item.geometry, &item.clusters);
        is_current.then_some(layout)
    }

    /// Those of some points of a mesh that follow patches: the document keeps their weights, which move nothing. None where
    /// free vertices keep their skin.
    pub(in crate::editor) fn resting(&self, mesh: MeshId, points: &[u32]) -> usize {
        let layout = self.layout_without_skin(mesh);
        layout.map_or(0, |layout| {
            let vertices = points.iter();
            let vertices = vertices.map(|&point| layout.surface().vertex_of_point(point));
            vertices.filter(|&v| layout.layout().is_free(v)).count()
        })
    }

    /// The number of vertices of the active object whose weights rest unused: they follow the patches between its control
    /// clusters.
    pub fn n_resting_weights(&self) -> usize {
        let mesh = self.clustered_mesh();
        let layout = mesh.and_then(|mesh| self.layout_without_skin(mesh));
        layout.map_or(0, |layout| layout.layout().free.len())
    }

    /// The patches of a mesh, unless its free vertices keep their skin.
    fn layout_without_skin(&self, mesh: MeshId) -> Option<&Arc<MeshLayout>> {
        let item = self.document.meshes().get(&mesh)?;
        let keeps = item.clusters.settings().interpolation == Interpolation::SkinnedFree;
        self.current_layout_of(mesh).filter(|_| !keeps)
    }

    /// The number of corners that the patches of the active object need and nobody marked.
    pub fn n_anchors(&self) -> usize {
        let layout = self.current_layout();
        layout.map_or(0, |layout| layout.layout().anchors.len())
    }

    /// The points of these corners, one side of a seam each.
    pub fn anchors(&self) -> Vec<u32> {
        let layout = self.current_layout();
        layout.map_or_else(Vec::new, |layout| {
            let anchors = layout.layout().anchors.iter();
            let points = anchors.map(|&vertex| layout.surface().points_of_vertex(vertex)[0]);
            points.collect()
        })
    }

    /// Marks the anchors as clusters of the active group.
    pub fn promote_anchors(&mut self) {
        let Some(layout) = self.current_layout().cloned() else {
            self.notify("There are no anchors to promote.");
            return;
        };
        let anchors = &layout.layout().anchors;
        let surface = layout.surface();
        let points = anchors.iter().flat_map(|&v| surface.points_of_vertex(v));
        let points: Vec<u32> = points.copied().collect();
        let Some(group) = self.active_group().filter(|_| !points.is_empty()) else {
            self.notify("There are no anchors to promote.");
            return;
        };
        let label = format!("Promote {}", counted(anchors.len(), "anchor"));
        self.change_clusters(&label, |map| Ok(map.with_points(&points, Some(group))));
    }

    /// The edges of the net of the active object, with how far the surface turns along each: in the pose on screen, or in
    /// that before a drag or the playback under way. None of more than [`MOST_PATCHES`](crate::evaluate::MOST_PATCHES).
    pub fn net_edges(&self) -> &[NetEdge] {
        let mesh = self.clustered_mesh();
        mesh.map_or(&[], |mesh| self.net_edges_of(mesh))
    }

    /// Selects the ends of the edges along which the surface turns by more than `degrees` in the pose on screen.
    pub fn select_sparse_ends(&mut self, degrees: f64) {
        let edges = self.net_edges();
        let sparse = edges.iter().filter(|edge| edge.degrees > degrees);
        let ends: PointSet = sparse.flat_map(|edge| edge.ends).collect();
        if let Some(mesh) = self.clustered_mesh() {
            self.select_points_of([(mesh, ends)]);
        }
    }

    /// The first visible instance of the active object.
    pub fn clustered_instance(&self) -> Option<InstanceId> {
        self.shown_instance_of(self.clustered_mesh()?)
    }

    pub(super) fn shown_instance_of(&self, mesh: MeshId) -> Option<InstanceId> {
        let mut instances = self.document.instances().iter();
        let found = instances.find(|(id, i)| i.mesh == mesh && !self.is_instance_hidden(**id));
        found.map(|(&id, _)| id)
    }
}
