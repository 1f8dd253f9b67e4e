//! Writes copies of meshes, and has their instances draw them.

use super::error::GltfWriteError;
use super::json::{each, entry_mut, place};
use crate::document::{Document, MeshId};
use crate::finding::{Finding, counted};
use serde_json::Value;
use std::collections::BTreeMap;

/// Appends the copies of meshes ([`Document::mesh_copies`]) to those of the source, with the same accessors: what is changed in
/// one of them gets accessors of its own. Extensions that name a mesh by its number have no part in the copies, which is a finding.
///
/// Fails where the source lacks a mesh, or has another number of them than the document.
pub(super) fn add(
    document: &Document,
    json: &mut Value,
    findings: &mut Vec<Finding>,
) -> Result<(), GltfWriteError> {
    let copies = document.mesh_copies();
    if copies.is_empty() {
        return Ok(());
    }
    let mut drawn: BTreeMap<MeshId, Vec<usize>> = BTreeMap::new();
    for (id, instance) in document.instances() {
        drawn.entry(instance.mesh).or_default().push(id.0 as usize);
    }
    for (&copy, &of) in copies {
        let Some(item) = document.meshes().get(&copy) else {
            continue;
        };
        let missing = GltfWriteError::MeshMissing { mesh: of.0 };
        let entry = entry_mut(json, "meshes", of.0 as usize).cloned();
        let mut entry = entry.ok_or(missing)?;
        if !item.geometry.name.is_empty() {
            entry.insert("name".into(), item.geometry.name.as_str().into());
        }
        let at = place(json, "meshes", None, entry);
        if at != copy.0 as usize {
            return Err(GltfWriteError::MeshNumber {
                mesh: copy.0,
                found: at,
            });
        }
        for &node in drawn.get(&copy).into_iter().flatten() {
            if let Some(node) = entry_mut(json, "nodes", node) {
                node.insert("mesh".into(), at.into());
            }
        }
    }
    if names_meshes(json) {
        findings.push(Finding::warning(
            "meshes",
            format!(
                "Expressions and animations of extensions (VRM 0.x, KHR_animation_pointer) name meshes by their numbers: they do not act on {}.",
                counted(copies.len(), "copied mesh")
            ),
        ));
    }
    Ok(())
}

/// Whether an extension refers to meshes by their numbers.
fn names_meshes(json: &Value) -> bool {
    let groups = json.pointer("/extensions/VRM/blendShapeMaster");
    let mut groups = groups
        .into_iter()
        .flat_map(|master| each(master, "blendShapeGroups"));
    let is_pointer = |channel: &Value| {
        let pointer = channel.pointer("/target/extensions/KHR_animation_pointer/pointer");
        let pointer = pointer.and_then(Value::as_str);
        pointer.is_some_and(|pointer| pointer.starts_with("/meshes/"))
    };
    let mut animations = each(json, "animations");
    groups.any(|group| each(group, "binds").next().is_some())
        || animations.any(|animation| each(animation, "channels").any(is_pointer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn extensions_that_name_meshes_are_found() {
        let vrm = |binds: Value| json!({"extensions": {"VRM": {"blendShapeMaster": {"blendShapeGroups": [{"binds": binds}]}}}});
        assert!(names_meshes(&vrm(
            json!([{"mesh": 0, "index": 1, "weight": 100}])
        )));
        assert!(!names_meshes(&vrm(json!([]))));
        let pointer = |to: &str| {
            let target = json!({"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer": to}}});
            json!({"animations": [{"channels": [{"sampler": 0, "target": target}]}]})
        };
        assert!(names_meshes(&pointer("/meshes/0/weights")));
        assert!(!names_meshes(&pointer("/nodes/0/translation")));
    }
}
