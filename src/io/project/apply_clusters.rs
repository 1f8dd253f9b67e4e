//! Applies the control clusters of a project, after its clips, whose numbers their keyframes name.

use super::ProjectError;
use super::apply::{NO_VERTEX, Opening};
use super::cluster_entries::ClusterEntry;
use super::{clusters, unplaced};
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
            let mut about_mesh = Vec::new();
            let found = self.find_mesh(entry.mesh, &entry.name, &mut about_mesh);
            let placed = found.and_then(|mesh| Some((mesh, self.document.meshes().get(&mesh)?)));
            let Some((mesh, item)) = placed.map(|(mesh, item)| (mesh, item.clone())) else {
                let why = "The model does not have this mesh. The project keeps them.";
                let kept = unplaced::kept(&entry, &place)?;
                self.warn(place, why);
                self.document.keep_unplaced_clusters(kept);
                continue;
            };
            self.findings.append(&mut about_mesh);
            if !seen.insert(mesh) {
                let why =
                    "The mesh has other clusters. The project keeps these, and they do not act.";
                let kept = unplaced::kept(&entry, &place)?;
                self.warn(place, why);
                self.document.keep_unplaced_clusters(kept);
                continue;
            }
            let (joints, findings) = (&mut self.joints, &mut self.findings);
            let (restored, clips) = (&self.restored_clips, &mut self.clips);
            let document = &self.document;
            let mut find_clip = |clip: u32, name: &str, findings: &mut Vec<Finding>| {
                let known = restored.get(&clip).copied();
                let found = known.or_else(|| clips.find(clip, Some(name), findings));
                found.filter(|id| document.clips().contains_key(id))
            };
            let spare = entry.clone();
            let model = (&*item.geometry, &**document.recordings());
            let restored = clusters::restore(entry, model, joints, &mut find_clip, findings)?;
            let conflicts = (restored.n_conflicts, "that are in another group already");
            let left_out = [(restored.n_missing, NO_VERTEX), conflicts];
            self.warn_of_skipped(&place, "Clusters", &left_out);
            let applied = restored.map.map_err(|why| why.to_string()).and_then(|map| {
                let edit = ClustersEdit::new(&self.document, mesh, Arc::new(map));
                let applied = self.document.apply(&mut Edit::Clusters(edit));
                applied.map(drop).map_err(|why| why.to_string())
            });
            if let Err(why) = applied {
                let why = format!("They are not valid: {why}. The project keeps them.");
                let kept = unplaced::kept(&spare, &place)?;
                self.warn(place, why);
                self.document.keep_unplaced_clusters(kept);
            }
        }
        Ok(())
    }
}
