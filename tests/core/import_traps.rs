//! What real glTF files do that an importer gets wrong: one small file for each.

#[path = "import_traps/clips.rs"]
mod clips;
#[path = "import_traps/geometry.rs"]
mod geometry;
#[path = "import_traps/limits.rs"]
mod limits;
#[path = "import_traps/materials.rs"]
mod materials;
#[path = "import_traps/nodes.rs"]
mod nodes;
#[path = "import_traps/skins.rs"]
mod skins;
#[path = "import_traps/weights.rs"]
mod weights;

use crate::gltf_builder::Gltf;
use glam::Vec3;
use sinew::document::{MeshId, MeshItem, Parts};
use sinew::finding::Finding;
use sinew::io::{Imported, import_bytes};
use sinew::task::Task;
use std::sync::Arc;

/// Each vertex follows joints 0 and 1 of the skin.
const JOINTS: [[u8; 4]; 3] = [[0, 1, 0, 0]; 3];

fn load(gltf: Gltf) -> (Parts, Vec<Finding>) {
    let Imported { parts, findings } = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    (parts, findings)
}

/// What was loaded from a file with which nothing is wrong.
#[track_caller]
fn load_clean(gltf: Gltf) -> Parts {
    let (parts, findings) = load(gltf);
    assert!(findings.is_empty(), "{findings:?}");
    parts
}

fn refused(gltf: Gltf) -> String {
    import_bytes(gltf.glb(), None, None, &Task::new())
        .unwrap_err()
        .to_string()
}

#[track_caller]
fn assert_found(findings: &[Finding], words: &str) {
    assert!(
        findings.iter().any(|f| f.message.contains(words)),
        "\"{words}\" is not in {findings:#?}"
    );
}

/// The influences of a vertex in file order.
fn row(item: &MeshItem, vertex: usize) -> Vec<(u16, f32)> {
    let point = item.geometry.point_of_vertex[vertex];
    item.influences.row(point).iter().collect()
}

fn position(item: &MeshItem, vertex: usize) -> Vec3 {
    item.geometry.positions[item.geometry.point_of_vertex[vertex] as usize]
}

fn mesh(parts: &Parts, mesh: u32) -> &Arc<MeshItem> {
    &parts.meshes[&MeshId(mesh)]
}
