//! Which vertices the samples of a set hold.

use super::{Correctives, SampleSet};
use crate::cluster::ClusterMap;
use crate::mesh::PointSet;
use crate::psd::Displacements;

/// Which vertices the samples of a set hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SampleVertices {
    /// All that they move.
    #[default]
    All,
    /// Control clusters, of any group: the patches carry the correction to the vertices between them.
    Clusters,
    /// Control clusters of the group with this name.
    Group(String),
}

impl SampleVertices {
    /// Its name in files and on the command line, without that of the group.
    pub fn key(&self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Clusters => "clusters",
            Self::Group(_) => "group",
        }
    }

    /// The name of the group, if it is one.
    pub fn group(&self) -> Option<&str> {
        match self {
            Self::Group(name) => Some(name),
            Self::All | Self::Clusters => None,
        }
    }

    /// Whether it is a group that `map` does not have.
    pub fn is_lost(&self, map: &ClusterMap) -> bool {
        self.group()
            .is_some_and(|name| map.groups().iter().all(|group| group.name != name))
    }

    /// The points that may be held; `None`: all. A group that does not exist holds what it held.
    pub fn points(&self, map: &ClusterMap) -> Option<PointSet> {
        if *self == Self::All || self.is_lost(map) {
            return None;
        }
        let is_own = |group: u16| {
            let group = map.groups().get(usize::from(group));
            self.group()
                .is_none_or(|name| group.is_some_and(|group| group.name == name))
        };
        let own = map.clusters().iter().filter(|(_, group)| is_own(*group));
        let mut points = PointSet::default();
        for &(point, _) in own {
            points.insert(point);
        }
        Some(points)
    }
}

impl Correctives {
    /// The same without displacements of vertices that the samples of a set may not hold, for these clusters of the mesh.
    #[must_use]
    pub fn held_to(&self, map: &ClusterMap) -> Self {
        let mut held = self.clone();
        for set in 0..self.sets().len() {
            let known = &self.sets()[set];
            let Some(points) = known.vertices.points(map) else {
                continue;
            };
            for sample in 0..known.samples.len() {
                let own = &known.samples[sample].displacements;
                if own.iter().any(|(point, _)| !points.contains(point)) {
                    held = held.with_displacements(set, sample, among(own, &points));
                }
            }
        }
        held
    }
}

impl SampleSet {
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
