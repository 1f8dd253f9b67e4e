//! Edge loops and edge rings of selected vertices.

use super::Editor;
use crate::document::session::{PointsOfMeshes, SelectKind};
use crate::mesh::loops::{edge_loops, edge_rings};
use crate::mesh::{Mesh, PointSet};
use std::sync::Arc;

impl Editor {
    /// Extends the selected vertices to the edge loops through the edges between them.
    pub fn select_edge_loops(&mut self) {
        self.select_along(edge_loops);
    }

    /// Extends the selected vertices to the edge rings through the edges between them.
    pub fn select_edge_rings(&mut self) {
        self.select_along(edge_rings);
    }

    fn select_along(&mut self, find: impl Fn(&Mesh, &PointSet) -> Option<PointSet>) {
        let session = self.document.session();
        let found = session
            .selected_points
            .iter()
            .filter_map(|(&id, selected)| {
                let mesh = &self.document.meshes().get(&id)?.geometry;
                Some((id, Arc::new(find(mesh, selected)?)))
            });
        let found: PointsOfMeshes = found.collect();
        if found.is_empty() {
            self.notify("Select two neighbouring vertices first: they are the edge to start from.");
            return;
        }
        if self.select_kind() != SelectKind::Points {
            self.set_select_kind(SelectKind::Points);
        }
        self.select_by(|_, selection| {
            for (mesh, points) in found {
                Arc::make_mut(selection.points.entry(mesh).or_default()).union(&points);
            }
        });
    }
}
