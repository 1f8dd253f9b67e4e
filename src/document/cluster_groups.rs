//! Which groups of control clusters are active and shown, and how many clusters they have.

use super::{Document, MeshId};
use crate::cluster::ClusterMap;

impl Document {
    /// The active group of control clusters of a mesh: the chosen one, else the first. `None` without groups.
    pub fn active_group(&self, mesh: MeshId) -> Option<u16> {
        let groups = self.meshes.get(&mesh)?.clusters.groups();
        let last = groups.len().checked_sub(1)? as u16;
        let chosen = self.session().active_groups.get(&mesh);
        Some(chosen.copied().unwrap_or_default().min(last))
    }

    /// The group of a mesh that is shown alone; `None` where all are shown.
    pub fn isolated_group(&self, mesh: MeshId) -> Option<u16> {
        let chosen = self.session().isolated_groups.get(&mesh).copied()?;
        let groups = self.meshes.get(&mesh)?.clusters.groups();
        (usize::from(chosen) < groups.len()).then_some(chosen)
    }

    /// The number of clusters of each group of a mesh. The sides of a seam count once.
    pub fn cluster_counts(&self, mesh: MeshId) -> Vec<usize> {
        let Some(item) = self.meshes.get(&mesh) else {
            return Vec::new();
        };
        let map: &ClusterMap = &item.clusters;
        let topology = item.geometry.topology();
        let mut counts = vec![0; map.groups().len()];
        for &(point, group) in map.clusters() {
            let is_counted = |side: u32| side < point && map.group_of(side) == Some(group);
            if !topology.twins(point).any(is_counted) {
                counts[usize::from(group)] += 1;
            }
        }
        counts
    }
}
