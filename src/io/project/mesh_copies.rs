//! Copies of meshes of the source <-> the project format.

use super::apply::Opening;
use super::joints::{self, JointRef};
use super::v11::{MeshCopyEntry, Named};
use crate::document::{Document, InstanceId, MeshId};
use std::collections::BTreeMap;

/// The copies, one entry per copy.
pub(super) fn collect(document: &Document) -> Vec<MeshCopyEntry> {
    let named = |id| {
        let item = document.meshes().get(&id)?;
        Some(Named(id.0, item.geometry.name.clone()))
    };
    let mut drawn: BTreeMap<MeshId, Vec<_>> = BTreeMap::new();
    for (id, instance) in document.instances() {
        if let Some(joint) = document.source_skeleton().joint_of_node(id.0) {
            let object = joints::reference(document, joint);
            drawn.entry(instance.mesh).or_default().push(object);
        }
    }
    let copies = document.mesh_copies().iter();
    let entries = copies.filter_map(|(&copy, &of)| {
        Some(MeshCopyEntry {
            mesh: named(copy)?,
            of: named(of)?,
            instances: drawn.remove(&copy).unwrap_or_default(),
        })
    });
    entries.collect()
}

impl Opening {
    /// Gives objects the copies of their meshes; one of a mesh that no object draws any more is a finding.
    pub(super) fn mesh_copies(&mut self, entries: Vec<MeshCopyEntry>) {
        for MeshCopyEntry {
            mesh,
            of,
            instances,
        } in entries
        {
            let made = self.mesh(of.0, &of.1).and_then(|source| {
                let place = format!("mesh {} “{}”", mesh.0, mesh.1);
                let mut ids = Vec::new();
                for object in &instances {
                    match self.object(object, source) {
                        Ok(id) => ids.push(id),
                        Err(why) => self.warn(
                            &place,
                            format!("An object that draws it is skipped: {why}."),
                        ),
                    }
                }
                let made = (!ids.is_empty())
                    .then(|| self.document.restore_mesh_copy(source, &mesh.1, &ids))
                    .flatten();
                if made.is_none() {
                    self.warn(
                        place,
                        format!(
                            "The model no longer has an object that draws “{}” there; the copy of the mesh is skipped.",
                            of.1
                        ),
                    );
                }
                made
            });
            self.copies.0.entry(mesh).or_insert(made);
        }
    }

    /// The object of a node of the source that draws `mesh`, or the end of a sentence that says why there is none.
    fn object(&mut self, object: &JointRef, mesh: MeshId) -> Result<InstanceId, String> {
        let joint = self.joints.find_named_joint(object, &mut self.findings)?;
        let node = self.document.skeleton().joint(joint).source_node;
        let id = node.map(InstanceId);
        let known = self.document.instances();
        let draws = |id: &InstanceId| known.get(id).is_some_and(|i| i.mesh == mesh);
        id.filter(draws).ok_or_else(|| {
            let label = self.document.skeleton().label(joint);
            format!("“{label}” does not draw that mesh")
        })
    }
}
