//! Applies the control clusters of a project, after its clips, whose numbers their keyframes name.

use super::ProjectError;
use super::apply::{NO_VERTEX, Opening, TWICE};
use super::cluster_entries::ClusterEntry;
use super::clusters;
use crate::document::{ClustersEdit, Edit};
use crate::finding::Finding;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Opening {
    /// The clusters of each mesh, as one edit.
    pub(super) fn clusters(&mut self, entries: Vec<ClusterEntry>) -> Result<(), ProjectError> {
        let mut seen = BTreeSet::new();
        for entry in entries {
            let place = clusters::place(&entry);
            let Some(mesh) = self.mesh(entry.mesh, &entry.name) else {
                continue;
            };
            if !seen.insert(mesh) {
                self.warn(place, TWICE);
                continue;
            }
            let Some(item) = self.document.meshes().get(&mesh) else {
                continue;
            };
            let (joints, findings) = (&mut self.joints, &mut self.findings);
            let (restored, clips) = (&self.restored_clips, &mut self.clips);
            let document = &self.document;
            let mut find_clip = |clip: u32, name: &str, findings: &mut Vec<Finding>| {
                let known = restored.get(&clip).copied();
                let found = known.or_else(|| clips.find(clip, Some(name), findings));
                found.filter(|id| document.clips().contains_key(id))
            };
            let geometry = &item.geometry;
            let restored = clusters::restore(entry, geometry, joints, &mut find_clip, findings)?;
            let conflicts = (restored.n_conflicts, "that are in another group already");
            let left_out = [(restored.n_missing, NO_VERTEX), conflicts];
            self.warn_of_skipped(&place, "Clusters", &left_out);
            match restored.map {
                Ok(map) => {
                    let edit = ClustersEdit::new(&self.document, mesh, Arc::new(map));
                    self.apply(&place, Edit::Clusters(edit));
                }
                Err(why) => self.warn(place, format!("They are skipped: {why}.")),
            }
        }
        Ok(())
    }
}
