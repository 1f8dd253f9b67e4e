//! Displacements reduced to the vertices that the samples of a set hold.

use super::{Correctives, Sample, SampleSet, SampleVertices};
use crate::cluster::ClusterMap;
use crate::mesh::PointSet;
use crate::psd::Displacements;

impl Correctives {
    /// The same without displacements of vertices that the samples of a set may not hold, for these clusters of the mesh.
    /// Samples that `before` has in a set with the same rule keep theirs: a vertex may be marked again.
    #[must_use]
    pub fn held_to(&self, map: &ClusterMap, before: &Self) -> Self {
        let mut held = self.clone();
        for set in 0..self.sets().len() {
            let known = &self.sets()[set];
            let Some(points) = known.vertices.points(map) else {
                continue;
            };
            for sample in 0..known.samples.len() {
                let own = &known.samples[sample].displacements;
                let had = before
                    .sets()
                    .iter()
                    .filter(|set| set.vertices == known.vertices);
                let mut had = had.flat_map(|set| &set.samples);
                if had.any(|sample| sample.displacements == *own) {
                    continue;
                }
                if own.iter().any(|(point, _)| !points.contains(point)) {
                    held = held.with_displacements(set, sample, among(own, &points));
                }
            }
        }
        held
    }
}

impl SampleSet {
    /// Whether a sample of the set moves nothing but control clusters: without the patches between them, which no file has,
    /// each would be a spike.
    pub fn needs_patches(&self, sample: &Sample, map: &ClusterMap) -> bool {
        if self.vertices != SampleVertices::All {
            return true;
        }
        let mut moved = sample.displacements.iter();
        map.acts() && moved.all(|(point, _)| map.group_of(point).is_some())
    }

    /// What of `displacements` its samples may hold, for these clusters of the mesh.
    pub fn held(&self, displacements: &Displacements, map: &ClusterMap) -> Displacements {
        let points = self.vertices.points(map);
        points.map_or_else(|| displacements.clone(), |own| among(displacements, &own))
    }
}

fn among(displacements: &Displacements, points: &PointSet) -> Displacements {
    let own = displacements.iter().filter(|(p, _)| points.contains(*p));
    Displacements::new(own.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{ClusterGroup, PatchSettings};
    use glam::Vec3;
    use std::sync::Arc;

    #[test]
    fn sets_hold_all_points_those_of_clusters_or_of_one_group() {
        let groups = ["Calf", "Thigh"].map(|name| Arc::new(ClusterGroup::new(name, 0)));
        let marks = vec![(2, 0), (5, 1), (7, 1), (3000, 0)];
        let map = ClusterMap::new(groups.to_vec(), marks, PatchSettings::default()).unwrap();
        let moved: Vec<(u32, Vec3)> = [1, 2, 5, 6, 7, 2999, 3000].map(|p| (p, Vec3::X)).to_vec();
        let moved = Displacements::new(moved);
        let held = |vertices: SampleVertices| -> Vec<u32> {
            let set = SampleSet {
                vertices,
                ..SampleSet::new(String::new(), Vec::new())
            };
            let held = set.held(&moved, &map);
            held.iter().map(|(point, _)| point).collect()
        };
        assert_eq!(held(SampleVertices::All), [1, 2, 5, 6, 7, 2999, 3000]);
        assert_eq!(held(SampleVertices::Clusters), [2, 5, 7, 3000]);
        assert_eq!(held(SampleVertices::Group("Thigh".into())), [5, 7]);
        let gone = SampleVertices::Group("Hip".into());
        assert!(gone.is_lost(&map));
        assert_eq!(held(gone).len(), 7);
        let none = ClusterMap::default();
        assert_eq!(
            SampleVertices::Clusters.points(&none),
            Some(PointSet::default())
        );
    }
}
