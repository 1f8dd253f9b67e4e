//! Meshes that joints draw. three.js makes a bone of the node of a joint and finds no morph targets there to animate, so
//! a mesh that gets some moves to a child of the node. The child stays where the node is, and a skinned mesh does not
//! depend on its node (glTF 2.0, 3.7.3.3).

use super::json::{entry_mut, place};
use super::nodes::node_of;
use super::patch::Patch;
use super::report::ExportReport;
use crate::bake::Baked;
use crate::document::{Document, Instance, InstanceId};
use crate::finding::Finding;
use crate::skeleton::JointId;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The members of a node that move with its mesh.
const OF_MESH: [&str; 3] = ["mesh", "skin", "weights"];

/// Moves the meshes with new targets that joints draw. Returns the node of each by its joint, and reports the nodes of all
/// instances if there are any.
pub(super) fn move_from_joints(
    document: &Document,
    baked: &Baked,
    patch: &mut Patch,
    report: &mut ExportReport,
) -> BTreeMap<JointId, usize> {
    let skins = document.skins().values();
    let joints: BTreeSet<JointId> = skins.flat_map(|skin| skin.joints.iter().copied()).collect();
    let gets_targets = |instance: &Instance| {
        let mesh = baked.meshes.get(&instance.mesh);
        mesh.is_some_and(|mesh| !mesh.targets.is_empty()) && joints.contains(&instance.joint)
    };
    let mut moved = BTreeMap::new();
    for instance in document.instances().values().filter(|i| gets_targets(i)) {
        if let Some(node) = move_mesh(node_of(document, instance.joint), patch) {
            moved.insert(instance.joint, node);
            report.findings.push(Finding::info(
                format!("bone \"{}\"", document.skeleton().label(instance.joint)),
                "It draws a mesh that gets morph targets. The mesh is drawn by a new child of it, because three.js plays \
                 no weights of a node that is a joint.",
            ));
        }
    }
    if !moved.is_empty() {
        let instances = document.instances().iter();
        let in_file = instances.map(|(&id, instance)| match moved.get(&instance.joint) {
            Some(&node) => (id, InstanceId(node as u32)),
            None => (id, document.instance_in_file(id, instance.joint)),
        });
        report.instances = Some(in_file.collect());
    }
    moved
}

/// Moves the mesh of a node to a new child; its index.
fn move_mesh(node: usize, patch: &mut Patch) -> Option<usize> {
    let entry = entry_mut(&mut patch.json, "nodes", node)?;
    entry.get("mesh")?;
    let mut child = Map::new();
    if let Some(name) = entry.get("name").and_then(Value::as_str) {
        child.insert("name".into(), format!("{name} mesh").into());
    }
    for key in OF_MESH {
        child.extend(entry.shift_remove_entry(key));
    }
    let child = place(&mut patch.json, "nodes", None, child);
    let entry = entry_mut(&mut patch.json, "nodes", node)?;
    let children = entry.entry("children").or_insert_with(|| json!([]));
    children.as_array_mut()?.push(child.into());
    Some(child)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::gltf_export::allocator::Allocator;

    #[test]
    fn a_child_takes_the_mesh_and_its_weights() {
        let nodes = json!([
            {"name": "Head", "mesh": 0, "skin": 1, "weights": [0.5], "children": [1], "translation": [0, 1, 0]},
            {}
        ]);
        let mut patch = Patch::new(json!({ "nodes": nodes }), Allocator::default());
        assert_eq!(move_mesh(0, &mut patch), Some(2));
        assert_eq!(move_mesh(1, &mut patch), None);
        assert_eq!(
            patch.json["nodes"],
            json!([
                {"name": "Head", "children": [1, 2], "translation": [0, 1, 0]},
                {},
                {"name": "Head mesh", "mesh": 0, "skin": 1, "weights": [0.5]}
            ])
        );
    }
}
