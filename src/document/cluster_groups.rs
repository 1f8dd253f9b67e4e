//! Which groups of control clusters are active and shown, and how many clusters they have.

use super::{ClipId, Document, MeshId};
use crate::cluster::{Base, ClusterMap};
use crate::mesh::PointSet;

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

    /// The clusters of a mesh that are moved by hand, of the isolated group only if one is.
    pub fn points_by_hand(&self, mesh: MeshId) -> PointSet {
        let Some(item) = self.meshes.get(&mesh) else {
            return PointSet::default();
        };
        let map: &ClusterMap = &item.clusters;
        let alone = self.isolated_group(mesh);
        let is_by_hand = |group: u16| {
            let known = map.groups().get(usize::from(group));
            known.is_some_and(|known| known.base == Base::Hand)
                && alone.is_none_or(|alone| alone == group)
        };
        let own = map.clusters().iter().filter(|c| is_by_hand(c.1));
        own.map(|c| c.0).collect()
    }

    /// The times of the keyframes in a clip of all cluster groups that control points move, seconds, ascending.
    pub fn cluster_key_times(&self, clip: ClipId) -> Vec<f32> {
        let groups = self.meshes().values();
        let groups = groups.flat_map(|item| item.clusters.groups());
        let motions = groups.filter_map(|group| group.motion());
        let mut times: Vec<f32> = motions
            .flat_map(|motion| motion.keys(clip).iter().map(|key| key.secs))
            .collect();
        times.sort_by(f32::total_cmp);
        times.dedup();
        times
    }

    /// The first and the last keyframe of a clip, of bones or clusters, seconds; `None` without the clip.
    pub fn clip_span(&self, clip: ClipId) -> Option<(f64, f64)> {
        let bones = self.clips().get(&clip)?;
        let (mut start, mut end) = (f64::from(bones.start_secs()), f64::from(bones.end_secs()));
        let keys = self.cluster_key_times(clip);
        if let (Some(&first), Some(&last)) = (keys.first(), keys.last()) {
            let has_bones = bones.channels.iter().any(|c| !c.times.is_empty());
            start = if has_bones {
                start.min(f64::from(first))
            } else {
                f64::from(first)
            };
            end = end.max(f64::from(last));
        }
        Some((start, end))
    }
}
