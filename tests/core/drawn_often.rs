//! Tests how Sinew shows and exports meshes that thousands of nodes instantiate.

#[cfg(feature = "render")]
use crate::cli::{done, text};
use crate::gltf_builder::{Gltf, skinned};
use glam::Vec3;
use serde_json::json;
use sinew::bake::BakeOptions;
use sinew::bake::static_shapes::StaticPose;
use sinew::document::{Document, Instance, LeftOut, MeshId};
use sinew::export::{ExportOptions, export, export_obj, export_static_mesh, preflight};
use sinew::finding::Finding;
use sinew::io::import_bytes;
use sinew::sentence::MAX_CHARS;
use sinew::task::Task;
use std::sync::Arc;

/// A skinned triangle that many nodes draw.
fn drawn_by(n_nodes: usize, n_vertices: usize) -> Gltf {
    let mut gltf = skinned([[0, 1, 0, 0]; 3], [[0.5, 0.5, 0.0, 0.0]; 3]);
    let mut positions = Vec::new();
    for i in 0..n_vertices {
        positions.extend([i as f32, (i % 7) as f32, (i % 3) as f32]);
    }
    let positions = gltf.f32s("VEC3", &positions);
    let joints = gltf.u8s("VEC4", &vec![0; 4 * n_vertices]);
    let weights: Vec<f32> = [1.0, 0.0, 0.0, 0.0].repeat(n_vertices);
    let weights = gltf.f32s("VEC4", &weights);
    gltf.json["meshes"][0]["primitives"][0]["attributes"] =
        json!({"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights});
    for _ in 0..n_nodes {
        gltf.push("nodes", json!({"mesh": 0, "skin": 0}));
    }
    gltf
}

#[test]
fn a_mesh_drawn_thousands_of_times_is_drawn_as_often_as_the_file_may_cost() {
    let gltf = drawn_by(20_000, 3000);
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    let n = imported.parts.instances.len();
    // An instance takes 1,300 bytes for each of 3,000 vertices; the budget is 1 GiB and 20 times the file.
    assert!((240..320).contains(&n), "{n}");
    let found: Vec<&str> = imported
        .findings
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(found.len(), 1, "{found:?}");
    let first = format!("nodes[{}] and ", n + 2);
    assert!(found[0].starts_with(&first), "{found:?}");
    assert!(
        found[0].contains("more nodes instantiate a mesh again"),
        "{found:?}"
    );
    assert!(
        found[0].contains("They are shown as bounding boxes in the rest pose"),
        "{found:?}"
    );
    assert!(found[0].chars().count() <= MAX_CHARS, "{found:?}");
    // The skin places all of them in one box.
    let left_out = &imported.parts.left_out;
    assert_eq!(n + left_out.nodes.len(), 20_001);
    assert!(left_out.draws(MeshId(0)) && !left_out.draws(MeshId(1)));
    let [[low, .., high]] = left_out.boxes[..] else {
        panic!("{:?}", left_out.boxes);
    };
    assert_eq!((low, high), (Vec3::ZERO, Vec3::new(2999.0, 6.0, 2.0)));
    // The nodes stay; a scene of usual size is drawn completely.
    assert_eq!(imported.parts.skeleton.len(), 20_003);
    // Without a skin, it takes less.
    let rigid = beside_each_other(1200, 3000, 0.0).glb();
    let rigid = import_bytes(rigid, None, None, &Task::new()).unwrap();
    let n_rigid = rigid.parts.instances.len();
    assert!((900..1300).contains(&n_rigid), "{n_rigid}");
    let usual = import_bytes(drawn_by(300, 999).glb(), None, None, &Task::new()).unwrap();
    assert_eq!(
        (usual.parts.instances.len(), usual.findings.len()),
        (301, 0)
    );
    assert_eq!(*usual.parts.left_out, LeftOut::default());
}

/// Meshes that one node each draws take nothing of the budget for meshes that are drawn again.
#[test]
fn the_first_node_of_each_mesh_is_free() {
    let n_of = |n_meshes: usize| {
        let mut gltf = drawn_by(400, 3000);
        let mesh = gltf.json["meshes"][0].clone();
        for _ in 0..n_meshes {
            let other = gltf.push("meshes", mesh.clone());
            let nodes = gltf.json["nodes"].as_array_mut().unwrap();
            // Before those that draw the first mesh again.
            nodes.insert(3, json!({"mesh": other, "skin": 0}));
        }
        let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
        imported.parts.instances.len()
    };
    let (without, with) = (n_of(0), n_of(20));
    assert!(with >= without + 20, "{with} {without}");
}

#[test]
fn the_box_of_a_skinned_mesh_is_where_its_joint_puts_it() {
    let mut gltf = drawn_by(2000, 3000);
    // A skin ignores the transforms of its nodes.
    let nodes = gltf.json["nodes"].as_array_mut().unwrap();
    for (i, node) in nodes[3..].iter_mut().enumerate() {
        node["translation"] = json!([i, 50, 0]);
    }
    // All weight is on the second joint, B, at 1 0 0.
    let joints = gltf.u8s("VEC4", &[1, 0, 0, 0].repeat(3000));
    gltf.json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_0"] = json!(joints);
    // The inverse bind matrix of A translates by 100; that of B scales by 2 and translates by 5.
    let mut matrices = [0.0; 32];
    for (matrix, scale, translation) in [(0, 1.0, 100.0), (16, 2.0, 5.0)] {
        for diagonal in [0, 5, 10] {
            matrices[matrix + diagonal] = scale;
        }
        matrices[matrix + 13] = translation;
        matrices[matrix + 15] = 1.0;
    }
    let matrices = gltf.f32s("MAT4", &matrices);
    gltf.json["skins"][0]["inverseBindMatrices"] = json!(matrices);
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    let left_out = &imported.parts.left_out;
    assert!(left_out.nodes.len() > 500, "{}", left_out.nodes.len());
    let [[low, .., high]] = left_out.boxes[..] else {
        panic!("{:?}", left_out.boxes);
    };
    assert_eq!(low, Vec3::new(1.0, 5.0, 0.0));
    assert_eq!(high, Vec3::new(2.0 * 2999.0 + 1.0, 2.0 * 6.0 + 5.0, 4.0));
}

/// The nodes of [`drawn_by`] without a skin, each moved by `step` along X from the one before.
fn beside_each_other(n_nodes: usize, n_vertices: usize, step: f32) -> Gltf {
    let mut gltf = drawn_by(n_nodes, n_vertices);
    let nodes = gltf.json["nodes"].as_array_mut().unwrap();
    for (i, node) in nodes[3..].iter_mut().enumerate() {
        *node = json!({"mesh": 0, "translation": [i as f32 * step, 0, 0]});
    }
    gltf
}

#[test]
fn boxes_lie_where_their_nodes_are_and_are_not_too_many() {
    let gltf = beside_each_other(5000, 3000, 2.0);
    let parts = import_bytes(gltf.glb(), None, None, &Task::new())
        .unwrap()
        .parts;
    let last = *parts.instances.keys().next_back().unwrap();
    // These nodes start at index 3.
    let next = 2.0 * (last.0 - 2) as f32;
    let left_out = &parts.left_out;
    assert_eq!(left_out.boxes[0][0], Vec3::new(next, 0.0, 0.0));
    assert_eq!(left_out.boxes[1][0], Vec3::new(next + 2.0, 0.0, 0.0));
    assert!(left_out.nodes.len() > 2 * LeftOut::MAX_BOXES);
    assert_eq!(left_out.boxes.len(), LeftOut::MAX_BOXES);
}

#[test]
fn an_export_says_which_nodes_it_does_not_correct() {
    for (n_nodes, nodes, shown, them) in [
        (7, "7 nodes instantiate", "them as bounding boxes", "them"),
        (1, "1 node instantiates", "it as a bounding box", "it"),
    ] {
        let gltf = skinned([[0, 1, 0, 0]; 3], [[0.5, 0.5, 0.0, 0.0]; 3]);
        let mut parts = import_bytes(gltf.glb(), None, None, &Task::new())
            .unwrap()
            .parts;
        let drawn = Instance::clone(parts.instances.values().next().unwrap());
        parts.left_out = Arc::new(LeftOut {
            nodes: vec![drawn; n_nodes],
            ..LeftOut::default()
        });
        let document = Document::new(parts).unwrap();
        let n_found = |findings: &[Finding], what: &str| {
            let message = format!(
                "{nodes} a mesh again and would need more memory than a file of this size may use. Sinew shows {shown}; the export {what}."
            );
            findings.iter().filter(|f| f.message == message).count()
        };
        let what = format!("neither corrects nor checks {them}");
        for (correct, n) in [(Some(BakeOptions::default()), 1), (None, 0)] {
            let options = ExportOptions {
                correct,
                ..ExportOptions::default()
            };
            assert_eq!(n_found(&preflight(&document, &options), &what), n);
            let exported = export(&document, &options, &Task::new()).unwrap();
            assert_eq!(n_found(&exported.report.findings, &what), n);
        }
        let pose = StaticPose::default();
        let options = ExportOptions::default();
        let frame = export_static_mesh(&document, &pose, &options, &Task::new()).unwrap();
        let what = format!("does not pose {them}");
        assert_eq!(n_found(&frame.report.findings, &what), 1);
        let frame = export_obj(&document, &pose, "frame", &Task::new()).unwrap();
        let what = format!("leaves {them} out");
        assert_eq!(n_found(&frame.report.findings, &what), 1);
    }
}

#[cfg(feature = "render")]
#[test]
fn a_picture_of_thousands_of_objects_shows_those_that_it_can_afford() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model.glb");
    let picture = folder.path().join("picture.png");
    let render = |gltf: Gltf| {
        std::fs::write(&model, gltf.glb()).unwrap();
        let _ = std::fs::remove_file(&picture);
        let said = done(&[
            "render",
            text(&model),
            "--size",
            "160x120",
            "--out",
            text(&picture),
        ]);
        assert!(picture.exists());
        said
    };
    // Objects in one place are drawn once.
    assert_eq!(render(drawn_by(20_000, 6)), "");
    let said = render(beside_each_other(20_000, 6, 1e-5));
    let (n, rest) = said.split_once(' ').unwrap();
    assert_eq!(
        rest.trim_end(),
        "objects would cause too much overdraw. The picture shows the first 1000 as bounding boxes."
    );
    let n: usize = n.replace(',', "").parse().unwrap();
    assert!(n > 15_000, "{said}");
    // Few enough objects for each to have a box.
    let said = render(beside_each_other(1400, 6, 1e-5));
    assert!(
        said.ends_with(
            "objects would cause too much overdraw. The picture shows bounding boxes instead.\n"
        ),
        "{said}"
    );
    let said = render(drawn_by(4000, 3000));
    let expected = " objects would need more memory than a file of this size may use. \
                    The picture shows bounding boxes instead, in the rest pose.";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn a_skin_of_many_joints_counts_for_each_node_that_draws_with_it() {
    let mut gltf = drawn_by(3000, 3);
    let first = gltf.json["nodes"].as_array().unwrap().len();
    let joints: Vec<usize> = (0..5000).map(|i| first + i).collect();
    for _ in &joints {
        gltf.push("nodes", json!({}));
    }
    gltf.push("nodes", json!({"children": joints}));
    gltf.json["skins"][0]["joints"] = json!(joints);
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    assert!(imported.parts.instances.len() < 1000);
}
