//! The drivers, the data and the control points of all groups of a mesh.

use super::channel::RecordingId;
use super::data::DataLayer;
use super::drivers::DriverLayer;
use super::map::ClusterMap;
use std::collections::BTreeSet;

impl ClusterMap {
    /// The drivers of all groups, each with the index of its group.
    pub fn drivers(&self) -> impl Iterator<Item = (u16, &DriverLayer)> {
        let groups = (0u16..).zip(self.groups());
        groups.flat_map(|(g, group)| group.drivers.iter().map(move |driver| (g, driver)))
    }

    /// The data of all groups, each with the index of its group.
    pub fn data(&self) -> impl Iterator<Item = (u16, &DataLayer)> {
        let groups = (0u16..).zip(self.groups());
        groups.flat_map(|(g, group)| group.data.iter().map(move |data| (g, data)))
    }

    /// The recordings that its layers read.
    pub fn recordings(&self) -> BTreeSet<RecordingId> {
        let drivers = self.drivers().filter_map(|(_, driver)| driver.recording());
        let data = self.data().map(|(_, data)| data.played.recording);
        let colour = self.display().colour.as_ref();
        let colour = colour.map(|colour| colour.recording);
        drivers.chain(data).chain(colour).collect()
    }

    /// Whether some layer besides muscles acts.
    pub fn has_driven(&self) -> bool {
        self.drivers().any(|(_, driver)| !driver.muted) || self.data().any(|(_, data)| !data.muted)
    }

    /// Whether clusters move a surface that no skin moves, other than with its node: layers besides muscles, displaced control
    /// points, or groups that stay at rest.
    pub fn moves_without_skin(&self) -> bool {
        let stays = |&(_, g): &(u32, u16)| {
            let group = self.groups().get(usize::from(g));
            group.is_some_and(|group| group.base.is_at_rest())
        };
        self.has_driven() || self.has_displaced() || self.clusters().iter().any(stays)
    }

    /// Whether some control point is displaced at some time.
    pub fn has_displaced(&self) -> bool {
        let mut groups = self.groups().iter();
        groups.any(|group| group.motion().is_some_and(|motion| !motion.is_empty()))
    }
}
