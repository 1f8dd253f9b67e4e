//! Where clusters are too sparse for the pose on screen, as problems whose click selects them.

use super::Editor;
use crate::document::{MeshId, MeshItem};
use crate::evaluate::{NetEdge, SPARSE_DEGREES, VERY_SPARSE_DEGREES};
use crate::finding::{Finding, Place, counted};
use std::collections::BTreeSet;

/// What the problems were found for.
#[derive(Default)]
pub(in crate::editor) struct SparseClusters {
    state: Option<(u64, u64, u64)>,
}

impl Editor {
    /// Finds the sparse clusters again once the pose or the clusters changed and nothing moves. Returns whether it did.
    pub(in crate::editor) fn find_sparse_clusters(&mut self) -> bool {
        let is_moving = self.is_playing() || self.history.is_open();
        let state = (
            self.model_serial,
            self.picture_serial,
            self.history.revision(),
        );
        if is_moving || self.sparse_clusters.state == Some(state) {
            return false;
        }
        self.sparse_clusters.state = Some(state);
        let meshes = self.document.meshes().iter();
        let measured = meshes.filter(|(_, item)| item.clusters.acts());
        let findings = measured.filter_map(|(&mesh, item)| {
            let edges = self.net_edges_of(mesh);
            finding(mesh, item, edges)
        });
        let findings: Vec<Finding> = findings.collect();
        self.problems.set_of_pose(findings);
        true
    }
}

/// The finding about the edges of a mesh that turn too far.
fn finding(mesh: MeshId, item: &MeshItem, edges: &[NetEdge]) -> Option<Finding> {
    let sparse = || edges.iter().filter(|edge| edge.degrees > SPARSE_DEGREES);
    let n = sparse().count();
    if n == 0 {
        return None;
    }
    let n_worse = edges
        .iter()
        .filter(|edge| edge.degrees > VERY_SPARSE_DEGREES);
    let n_worse = n_worse.count();
    let worse = if n_worse > 0 {
        format!("; along {n_worse} of them, by more than {VERY_SPARSE_DEGREES:.0}\u{b0}")
    } else {
        String::new()
    };
    let message = format!(
        "Clusters are too sparse in this pose: along {} between them the rotation differs by more than \
         {SPARSE_DEGREES:.0}\u{b0}{worse}. Mark more clusters there.",
        counted(n, "edge"),
    );
    let place = format!("control clusters of mesh \"{}\"", item.geometry.name);
    let points: BTreeSet<u32> = sparse().flat_map(|edge| edge.ends).collect();
    let target = Place::Points {
        mesh: mesh.0,
        points: points.into_iter().collect(),
    };
    Some(Finding::warning(place, message).at(target))
}
