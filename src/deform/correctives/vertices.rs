//! Which vertices the samples of a set hold.

use crate::cluster::ClusterMap;
use crate::mesh::PointSet;

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
