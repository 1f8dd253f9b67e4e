//! Recordings of a document: which layers read them.

use super::edit_error::EditError;
use super::{ClustersEdit, Document, Edit, MeshId, MeshItem};
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::cluster::{ClusterGroup, ClusterMap, DataLayer};
use crate::motion::timing::moved_time;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Document {
    /// The first group of clusters whose layers read a recording, those that are only kept among them: its mesh and its index.
    pub fn reader_of(&self, recording: RecordingId) -> Option<(MeshId, u16)> {
        self.meshes.iter().find_map(|(&mesh, item)| {
            let map = &item.clusters;
            let drivers = map.drivers().map(|(g, driver)| (g, driver.recording()));
            let data = map.data().map(|(g, data)| (g, Some(data.played.recording)));
            let groups = (0u16..).zip(map.groups());
            let kept = groups.flat_map(|(g, group)| {
                let kept = group.unplaced.iter();
                kept.map(move |layer| (g, layer.recording))
            });
            let mut reads = drivers.chain(data).chain(kept);
            let found = reads.find(|(_, read)| *read == Some(recording));
            Some((mesh, found?.0))
        })
    }

    /// The first mesh whose surface a recording colours.
    pub fn coloured_by(&self, recording: RecordingId) -> Option<MeshId> {
        let mut meshes = self.meshes.iter();
        let found = meshes.find(|(_, item)| {
            let colour = item.clusters.display().colour.as_ref();
            colour.is_some_and(|colour| colour.recording == recording)
        });
        Some(*found?.0)
    }

    /// An id that no recording has, and that no layer reads which the project keeps.
    pub fn free_recording(&self) -> RecordingId {
        let groups = self.meshes.values().flat_map(|item| item.clusters.groups());
        let kept = groups.flat_map(|group| &group.unplaced);
        let kept: BTreeSet<RecordingId> = kept.filter_map(|layer| layer.recording).collect();
        let last = self.recordings.keys().next_back();
        let next = last.map_or(0, |id| id.0.saturating_add(1));
        let mut ids = (next..=u32::MAX).chain(0..next).map(RecordingId);
        let is_free = |id: &RecordingId| !self.recordings.contains_key(id) && !kept.contains(id);
        ids.find(is_free).unwrap_or(RecordingId(next))
    }

    /// The edits of data whose reference time keeps its place among the samples of a recording, when that gets other times.
    pub fn follow_timed_recording(&self, id: RecordingId, timed: &RecordingItem) -> Vec<Edit> {
        let known = self.recordings.get(&id);
        let known = known.filter(|known| known.timing != timed.timing);
        let times = known.and_then(|known| Some((known.recording()?, timed.recording()?)));
        let Some((now, then)) = times else {
            return Vec::new();
        };
        let follow = |(&mesh, item): (&MeshId, &Arc<MeshItem>)| {
            let mut map = ClusterMap::clone(&item.clusters);
            let has_reference =
                |data: &DataLayer| data.played.recording == id && data.reference.is_some();
            let groups = (0u16..).zip(item.clusters.groups());
            for (at, group) in groups.filter(|(_, group)| group.data.iter().any(has_reference)) {
                let mut group = ClusterGroup::clone(group);
                for data in group.data.iter_mut().filter(|data| has_reference(data)) {
                    let reference = data.reference.iter_mut();
                    reference.for_each(|at| *at = moved_time(*at, &now.times, &then.times));
                }
                // Only a name could be refused, and that stays.
                map = map.with_group(Some(at), group).ok()?;
            }
            let is_moved = map != *item.clusters;
            is_moved.then(|| Edit::Clusters(ClustersEdit::new(self, mesh, Arc::new(map))))
        };
        self.meshes.iter().filter_map(follow).collect()
    }

    /// The recording of this name.
    pub fn recording_named(&self, name: &str) -> Option<RecordingId> {
        let mut recordings = self.recordings.iter();
        Some(*recordings.find(|(_, item)| item.name == name)?.0)
    }

    /// Whether a recording may be added, replaced or removed.
    pub(super) fn check_recording(
        &self,
        id: RecordingId,
        recording: Option<&RecordingItem>,
    ) -> Result<(), EditError> {
        let known = self.recordings.get(&id);
        match recording {
            Some(new) => {
                let mut others = self.recordings.iter();
                match others.find(|(other, item)| **other != id && item.name == new.name) {
                    Some(_) => Err(EditError::RecordingName(new.name.clone())),
                    None => Ok(()),
                }
            }
            None if known.is_none() => Err(EditError::NoRecording(id)),
            None => match self.reader_of(id) {
                Some((mesh, group)) => Err(EditError::RecordingInUse {
                    recording: known.map_or_else(String::new, |item| item.name.clone()),
                    group: (self.meshes[&mesh].clusters.groups())
                        .get(usize::from(group))
                        .map_or_else(String::new, |group| group.name.clone()),
                }),
                None => match self.coloured_by(id) {
                    Some(mesh) => Err(EditError::RecordingColours {
                        recording: known.map_or_else(String::new, |item| item.name.clone()),
                        mesh: self.meshes[&mesh].geometry.name.clone(),
                    }),
                    None => Ok(()),
                },
            },
        }
    }
}
