//! Meshes that joints draw. three.js makes a bone of the node of a joint and finds no morph targets there to animate, so
//! a mesh that gets some moves to a new node: a rigid one to a child, which stays where the node is, and a skinned one to a
//! root of the scene, since it does not depend on its node (glTF 2.0, 3.7.3.3).

use super::json::{entry_mut, place};
use super::nodes::node_of;
use super::patch::Patch;
use super::report::ExportReport;
use super::shapes::add_root;
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
                "It draws a mesh that gets morph targets. A new node draws the mesh, because three.js plays no weights of \
                 a node that is a joint.",
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

/// Moves the mesh of a node to a new node; its index.
fn move_mesh(node: usize, patch: &mut Patch) -> Option<usize> {
    let entry = entry_mut(&mut patch.json, "nodes", node)?;
    entry.get("mesh")?;
    let mut new = Map::new();
    if let Some(name) = entry.get("name").and_then(Value::as_str) {
        new.insert("name".into(), format!("{name} mesh").into());
    }
    for key in OF_MESH {
        new.extend(entry.shift_remove_entry(key));
    }
    let is_skinned = new.contains_key("skin");
    let new = place(&mut patch.json, "nodes", None, new);
    if is_skinned && add_root(&mut patch.json, new, node) {
        return Some(new);
    }
    let entry = entry_mut(&mut patch.json, "nodes", node)?;
    let children = entry.entry("children").or_insert_with(|| json!([]));
    children.as_array_mut()?.push(new.into());
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::gltf_export::allocator::Allocator;

    #[test]
    fn a_child_takes_a_rigid_mesh_and_a_root_of_the_scene_a_skinned_one() {
        let head = json!({"name": "Head", "mesh": 0, "weights": [0.5], "children": [1], "translation": [0, 1, 0]});
        let nodes = json!([head, {}, {"mesh": 0, "skin": 1, "weights": [0.5]}]);
        let scenes = json!([{"nodes": [0, 2]}, {"nodes": [0]}]);
        let json = json!({ "nodes": nodes, "scenes": scenes });
        let mut patch = Patch::new(json, Allocator::default());
        assert_eq!(move_mesh(0, &mut patch), Some(3));
        assert_eq!(move_mesh(1, &mut patch), None);
        assert_eq!(move_mesh(2, &mut patch), Some(4));
        assert_eq!(
            patch.json["nodes"],
            json!([
                {"name": "Head", "children": [1, 3], "translation": [0, 1, 0]},
                {},
                {},
                {"name": "Head mesh", "mesh": 0, "weights": [0.5]},
                {"mesh": 0, "skin": 1, "weights": [0.5]}
            ])
        );
        assert_eq!(
            patch.json["scenes"],
            json!([{"nodes": [0, 2, 4]}, {"nodes": [0]}])
        );
    }

    #[test]
    fn a_skinned_mesh_of_no_scene_stays_below_its_joint() {
        let json = json!({ "nodes": [{"mesh": 0, "skin": 1}] });
        let mut patch = Patch::new(json, Allocator::default());
        assert_eq!(move_mesh(0, &mut patch), Some(1));
        assert_eq!(patch.json["nodes"][0], json!({"children": [1]}));
    }
}
