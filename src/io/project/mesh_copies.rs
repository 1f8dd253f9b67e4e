//! Copies of meshes of the source <-> the project format.

use super::apply::Opening;
use super::v11::{MeshCopyEntry, Named};
use crate::document::{Document, InstanceId};

/// The copies, one entry per copy.
pub(super) fn collect(document: &Document) -> Vec<MeshCopyEntry> {
    let named = |id| {
        let item = document.meshes().get(&id)?;
        Some(Named(id.0, item.geometry.name.clone()))
    };
    let copies = document.mesh_copies().iter();
    let entries = copies.filter_map(|(&copy, &of)| {
        let drawn = document.instances().iter();
        let drawn = drawn.filter(|(_, instance)| instance.mesh == copy);
        Some(MeshCopyEntry {
            mesh: named(copy)?,
            of: named(of)?,
            instances: drawn.map(|(id, _)| id.0).collect(),
        })
    });
    entries.collect()
}

impl Opening {
    /// Gives instances the copies of their meshes; one of a mesh that no instance draws any more is a finding.
    pub(super) fn mesh_copies(&mut self, entries: Vec<MeshCopyEntry>) {
        for MeshCopyEntry {
            mesh,
            of,
            instances,
        } in entries
        {
            let Some(source) = self.mesh(of.0, &of.1) else {
                continue;
            };
            let known = self.document.instances();
            let ids = instances.into_iter().map(InstanceId);
            let ids: Vec<InstanceId> = ids
                .filter(|id| known.get(id).is_some_and(|i| i.mesh == source))
                .collect();
            let made = (!ids.is_empty())
                .then(|| self.document.restore_mesh_copy(source, &mesh.1, &ids))
                .flatten();
            match made {
                Some(id) => self.add_mesh(id, mesh.1),
                None => self.warn(
                    format!("mesh {} “{}”", mesh.0, mesh.1),
                    format!(
                        "The model no longer has an object that draws “{}” there; the copy of the mesh is skipped.",
                        of.1
                    ),
                ),
            }
        }
    }
}
