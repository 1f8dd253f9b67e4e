//! Cages that are bound to their clusters ahead of an evaluation, because that takes long.

use super::cage::{Cage, CageError};
use super::cage_mesh::CageMesh;
use crate::task::Cancelled;
use glam::DVec3;
use std::sync::Arc;

/// Triangles of a cage times clusters in it that are bound within an evaluation: some 30 ms.
const AT_ONCE: usize = 1 << 18;

/// Whether binding so many clusters to a cage takes too long for an evaluation.
pub fn is_slow_to_bind(mesh: &CageMesh, n_clusters: usize) -> bool {
    mesh.triangles().len().saturating_mul(n_clusters) > AT_ONCE
}

/// A cage bound to clusters.
#[derive(Clone, Debug)]
pub struct BoundCage {
    mesh: Arc<CageMesh>,
    /// The clusters, ascending.
    points: Vec<u32>,
    /// `None` where they cannot be bound.
    cage: Option<Arc<Cage>>,
}

impl BoundCage {
    /// Clusters at their positions at bind, mesh space, ascending by point. `bind` computes the coordinates.
    pub(super) fn new(
        mesh: &Arc<CageMesh>,
        clusters: &[(u32, DVec3)],
        bind: impl FnOnce(&CageMesh, &[DVec3]) -> Result<Cage, CageError>,
    ) -> Result<Self, Cancelled> {
        let positions: Vec<DVec3> = clusters.iter().map(|cluster| cluster.1).collect();
        let cage = match bind(mesh, &positions) {
            Err(CageError::Cancelled(cancelled)) => return Err(cancelled),
            bound => bound.ok().map(Arc::new),
        };
        Ok(Self {
            mesh: mesh.clone(),
            points: clusters.iter().map(|cluster| cluster.0).collect(),
            cage,
        })
    }

    /// Whether it binds these clusters, ascending, to this cage.
    pub fn is_of(&self, mesh: &Arc<CageMesh>, points: impl ExactSizeIterator<Item = u32>) -> bool {
        (Arc::ptr_eq(&self.mesh, mesh) || self.mesh == *mesh)
            && points.len() == self.points.len()
            && points.eq(self.points.iter().copied())
    }

    /// The cage on the clusters; `None` where they cannot be bound.
    pub fn cage(&self) -> Option<&Arc<Cage>> {
        self.cage.as_ref()
    }
}
