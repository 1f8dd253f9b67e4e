//! Meshes that several nodes draw. three.js binds a weights track to objects by name. The objects of a mesh of several primitives
//! have the same names in each node that draws the mesh, so that all tracks animate the first node. Each further node gets a
//! copy of the mesh's entry, which references the same data.

use super::json::{each, entry_mut, index, place};
use super::patch::Patch;
use super::report::ExportReport;
use crate::bake::Baked;
use crate::finding::{Finding, counted};
use serde_json::Value;

/// The largest number of nodes of a mesh that is copied: an import charges each copy to its memory budget.
const MOST_NODES: usize = 16;
/// Extensions that refer to meshes by index, or to their weights.
const REFER_TO_MESHES: [&str; 2] = ["VRM", "KHR_animation_pointer"];

/// Gives all but one of the nodes that draw a mesh of several primitives with new targets a copy of it.
pub(super) fn copy_for_each_node(baked: &Baked, patch: &mut Patch, report: &mut ExportReport) {
    let refers = |name: &Value| name.as_str().is_some_and(|n| REFER_TO_MESHES.contains(&n));
    let may_copy = !each(&patch.json, "extensionsUsed").any(refers);
    let corrected = baked.meshes.iter().filter(|(_, m)| !m.targets.is_empty());
    for mesh in corrected.map(|(mesh, _)| mesh.0 as usize) {
        let Some(entry) = entry_mut(&mut patch.json, "meshes", mesh).cloned() else {
            continue;
        };
        let primitives = entry.get("primitives").and_then(Value::as_array);
        let nodes = (0..).zip(each(&patch.json, "nodes"));
        let nodes = nodes.filter(|(_, node)| index(node.get("mesh")) == Some(mesh));
        let nodes: Vec<usize> = nodes.map(|(node, _)| node).collect();
        if primitives.is_none_or(|primitives| primitives.len() < 2) || nodes.len() < 2 {
            continue;
        }
        let copies = may_copy && nodes.len() <= MOST_NODES;
        for &node in nodes[1..].iter().filter(|_| copies) {
            let copy = place(&mut patch.json, "meshes", None, entry.clone());
            if let Some(node) = entry_mut(&mut patch.json, "nodes", node) {
                node.insert("mesh".into(), copy.into());
            }
        }
        let n = counted(nodes.len(), "node");
        let message = if copies {
            format!(
                "{n} use this mesh. All but one get a copy that shares its data, because three.js animates the morph targets \
                 of only one."
            )
        } else {
            format!("{n} use this mesh. three.js animates the morph targets of only one.")
        };
        let place = format!("meshes[{mesh}]");
        report.findings.push(if copies {
            Finding::info(place, message)
        } else {
            Finding::warning(place, message)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bake::{BakedMesh, BakedTarget};
    use crate::document::MeshId;
    use crate::io::gltf_export::allocator::Allocator;
    use crate::skinning::Influences;
    use serde_json::json;

    fn baked(n_targets: usize) -> Baked {
        let mesh = BakedMesh {
            influences: Influences::default(),
            reweighted: false,
            targets: vec![BakedTarget::default(); n_targets],
        };
        Baked {
            meshes: [(MeshId(0), mesh)].into(),
            ..Baked::default()
        }
    }

    fn meshes_of_nodes(n_targets: usize, n_primitives: usize, n_nodes: usize) -> (Value, usize) {
        with_extension("EXT_texture_webp", n_targets, n_primitives, n_nodes)
    }

    fn with_extension(
        name: &str,
        n_targets: usize,
        n_primitives: usize,
        n_nodes: usize,
    ) -> (Value, usize) {
        let primitives = vec![json!({"attributes": {"POSITION": 3}}); n_primitives];
        let mut nodes = vec![json!({"mesh": 0, "skin": 1}); n_nodes];
        nodes.push(json!({"mesh": 1}));
        let meshes = json!([{"name": "Body", "primitives": primitives}, {"primitives": []}]);
        let json = json!({"nodes": nodes, "meshes": meshes, "extensionsUsed": [name]});
        let mut patch = Patch::new(json, Allocator::default());
        let mut report = ExportReport::default();
        copy_for_each_node(&baked(n_targets), &mut patch, &mut report);
        let meshes = patch.json["meshes"].as_array().unwrap();
        assert!(meshes[2..].iter().all(|mesh| *mesh == meshes[0]));
        let drawn = each(&patch.json, "nodes").map(|node| node["mesh"].clone());
        (drawn.collect(), report.findings.len())
    }

    #[test]
    fn each_node_of_a_mesh_of_several_primitives_draws_its_own() {
        assert_eq!(meshes_of_nodes(1, 2, 3), (json!([0, 2, 3, 1]), 1));
        // One primitive has the name of the node; without new targets, nothing changes.
        assert_eq!(meshes_of_nodes(1, 1, 3), (json!([0, 0, 0, 1]), 0));
        assert_eq!(meshes_of_nodes(0, 2, 3), (json!([0, 0, 0, 1]), 0));
        assert_eq!(meshes_of_nodes(1, 2, 1), (json!([0, 1]), 0));
        // Too many, and with references by index: only a finding.
        let (many, n_findings) = meshes_of_nodes(1, 2, MOST_NODES + 1);
        assert!(n_findings == 1 && many[MOST_NODES] == 0);
        assert_eq!(with_extension("VRM", 1, 2, 2), (json!([0, 0, 1]), 1));
    }
}
