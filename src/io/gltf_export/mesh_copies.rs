//! Writes copies of meshes, and has their instances draw them.

use super::json::{entry_mut, place};
use crate::document::Document;
use serde_json::Value;

/// Appends the copies of meshes ([`Document::mesh_copies`]) to those of the source, with the same accessors: what is changed in
/// one of them gets accessors of its own.
pub(super) fn add(document: &Document, json: &mut Value) {
    for (&copy, &of) in document.mesh_copies() {
        let Some(item) = document.meshes().get(&copy) else {
            continue;
        };
        let mut entry = entry_mut(json, "meshes", of.0 as usize)
            .cloned()
            .unwrap_or_default();
        if !item.geometry.name.is_empty() {
            entry.insert("name".into(), item.geometry.name.as_str().into());
        }
        let at = place(json, "meshes", None, entry);
        debug_assert_eq!(at, copy.0 as usize);
        let drawn = document.instances().iter().filter(|(_, i)| i.mesh == copy);
        for (id, _) in drawn {
            if let Some(node) = entry_mut(json, "nodes", id.0 as usize) {
                node.insert("mesh".into(), at.into());
            }
        }
    }
}
