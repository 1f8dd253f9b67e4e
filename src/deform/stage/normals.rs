//! Stage 10: the normals of the bind shape, carried to the deformed one.

use super::changed::Changed;
use crate::deform::normal_transport::{blocks_of, transport_blocks, transport_normals};
use crate::mesh::{Mesh, PointSet};
use glam::Vec3;

/// The normals of an instance, world space.
#[derive(Default)]
pub(in crate::deform) struct Normals {
    normals: Vec<Vec3>,
}

/// Which normals changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::deform) enum ChangedNormals {
    /// These, ascending.
    Some(Vec<u32>),
    /// Every normal may have.
    All,
}

impl Normals {
    /// Carries the normals of `mesh` to `shape`, n_points, of which `changed` is another than in the latest run. Authored
    /// normals belong to the bind shape without morph targets, so they are carried from that.
    pub(in crate::deform) fn run(
        &mut self,
        mesh: &Mesh,
        shape: &[Vec3],
        changed: &Changed,
    ) -> ChangedNormals {
        let points = match changed {
            Changed::Nothing => return ChangedNormals::Some(Vec::new()),
            Changed::All => {
                self.normals.resize(mesh.normals.len(), Vec3::ZERO);
                transport_normals(mesh, shape, &mut self.normals);
                return ChangedNormals::All;
            }
            Changed::Points(points) => points,
        };
        let topology = mesh.topology();
        // Neighbours share most of their blocks: bits sort them and keep each once.
        let blocks: PointSet = points
            .iter()
            .flat_map(|&p| topology.neighbours(p).iter().copied().chain([p]))
            .flat_map(|p| blocks_of(topology.normals_of_point(p)))
            .collect();
        let blocks: Vec<u32> = blocks.iter().collect();
        ChangedNormals::Some(transport_blocks(mesh, shape, &blocks, &mut self.normals))
    }

    /// n_normals, unit; empty before the first run.
    pub(in crate::deform) fn normals(&self) -> &[Vec3] {
        &self.normals
    }
}
