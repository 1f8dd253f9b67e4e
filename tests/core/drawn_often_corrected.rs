//! Tests that corrected files stay valid if nodes that are not instances draw a corrected mesh.

use crate::bake::{corrected, with_stack};
use crate::bake_sources::{add_morphs, add_second_chain, bend, channel, draw, tube};
use crate::gltf_builder::Gltf;
use crate::rig_files::remove;
use crate::rig_tools::refused;
use gltf::animation::Interpolation;
use gltf::animation::util::ReadOutputs;
use serde_json::json;
use sinew::bake::{BakeMode, BakeOptions};
use sinew::deform::DeformStack;
use sinew::document::{Document, Instance, InstanceId, LeftOut};
use sinew::export::{ExportOptions, GltfFormat, export, preflight};
use sinew::io::import_bytes;
use sinew::rig::Operation;
use sinew::skeleton::JointId;
use sinew::task::Task;
use std::sync::Arc;

/// The document of a file, without instances for these nodes, as if they exceeded the memory budget.
fn without(gltf: &Gltf, nodes: &[usize]) -> Document {
    let mut gltf = gltf.clone();
    let position = &gltf.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"];
    let position = position.as_u64().unwrap() as usize;
    // The validation of the `gltf` crate requires bounds.
    gltf.json["accessors"][position]["min"] = json!([-0.2, 0, -0.2]);
    gltf.json["accessors"][position]["max"] = json!([0.2, 2, 0.2]);
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    let mut parts = imported.parts;
    let of = |&node: &usize| parts.instances.remove(&InstanceId(node as u32));
    let taken: Vec<Arc<Instance>> = nodes.iter().filter_map(of).collect();
    assert_eq!(taken.len(), nodes.len());
    parts.left_out = Arc::new(LeftOut {
        nodes: taken.iter().map(|node| Instance::clone(node)).collect(),
        boxes: Vec::new(),
    });
    with_stack(Document::new(parts).unwrap(), &DeformStack::dqs())
}

/// Options without sparse accessors: the `gltf` crate expects a buffer view in accessors that are all zeros.
fn dense() -> BakeOptions {
    BakeOptions {
        sparse: false,
        ..BakeOptions::default()
    }
}

/// Reads a file with validation, and checks that each node, channel and joint index suits the mesh and skin of its node.
/// Returns the file.
fn valid(glb: &[u8]) -> gltf::Gltf {
    let file = gltf::Gltf::from_slice(glb).unwrap();
    let blob = file.blob.as_deref();
    let n_targets = |mesh: &gltf::Mesh<'_>| {
        let mut counts = mesh.primitives().map(|p| p.morph_targets().count());
        let first = counts.next().unwrap();
        assert!(counts.all(|n| n == first));
        first
    };
    for mesh in file.meshes() {
        let n = mesh.weights().map(<[f32]>::len);
        assert!(n.is_none_or(|n| n == n_targets(&mesh)), "{n:?}");
    }
    for node in file.nodes() {
        let Some(mesh) = node.mesh() else {
            assert!(node.weights().is_none() && node.skin().is_none());
            continue;
        };
        let n = node.weights().map(<[f32]>::len);
        assert!(n.is_none_or(|n| n == n_targets(&mesh)), "{n:?}");
        let n_joints = node.skin().map(|skin| skin.joints().count());
        for primitive in mesh.primitives() {
            let reader = primitive.reader(|_| blob);
            for set in 0.. {
                let Some(joints) = reader.read_joints(set) else {
                    break;
                };
                let largest = joints.into_u16().flatten().max().unwrap();
                let is_in = n_joints.is_none_or(|n| usize::from(largest) < n);
                assert!(is_in, "{largest} of {n_joints:?} in {}", node.index());
            }
        }
    }
    for channel in file.animations().flat_map(|clip| clip.channels()) {
        let reader = channel.reader(|_| blob);
        if let Some(ReadOutputs::MorphTargetWeights(weights)) = reader.read_outputs() {
            let n_keys = reader.read_inputs().unwrap().count();
            let is_cubic = channel.sampler().interpolation() == Interpolation::CubicSpline;
            let per_key = if is_cubic { 3 } else { 1 };
            let mesh = channel.target().node().mesh().unwrap();
            let expected = per_key * n_keys * n_targets(&mesh);
            assert_eq!(weights.into_f32().count(), expected);
        }
    }
    file
}

/// A tube with two morph targets, and two more nodes that draw it with weights and tracks of their own, the second in
/// another scene.
fn with_weights() -> (Gltf, [usize; 2]) {
    let mut gltf = tube(2);
    add_morphs(&mut gltf, true);
    let other = draw(&mut gltf, 0, 0);
    gltf.json["nodes"][other]["weights"] = json!([0.5, 0.25]);
    let elsewhere = json!({"mesh": 0, "skin": 0, "weights": [0.75, 0]});
    let elsewhere = gltf.push("nodes", elsewhere);
    gltf.push("scenes", json!({"nodes": [elsewhere, 1]}));
    let linear = bend(&mut gltf, "Linear", "LINEAR");
    let cubic = bend(&mut gltf, "Cubic", "CUBICSPLINE");
    for node in [other, elsewhere] {
        let keys = [0.0, 0.1, 0.2, 0.3];
        let times = [0.0, 1.0];
        channel(&mut gltf, linear, node, "weights", "LINEAR", &times, &keys);
        let keys = [0.0, 0.0, 0.1, 0.2, 0.0, 0.0, 0.0, 0.0, 0.3, 0.4, 0.0, 0.0];
        let how = "CUBICSPLINE";
        channel(&mut gltf, cubic, node, "weights", how, &times, &keys);
    }
    (gltf, [other, elsewhere])
}

#[test]
fn weights_of_all_nodes_are_as_many_as_the_targets() {
    let (gltf, [other, elsewhere]) = with_weights();
    let document = without(&gltf, &[other]);
    let options = BakeOptions {
        max_joints: 2,
        ..dense()
    };
    let (exported, report) = corrected(&document, options);
    assert!(report.morph_targets > 0, "{report:?}");
    let file = valid(&exported.files[0].1);
    let n = 2 + report.morph_targets;
    for (node, own) in [(other, [0.5, 0.25]), (elsewhere, [0.75, 0.0])] {
        let node = file.nodes().nth(node).unwrap();
        let weights = node.weights().unwrap();
        assert_eq!((weights.len(), &weights[..2]), (n, &own[..]));
        assert!(weights[2..].iter().all(|w| *w == 0.0));
    }
    // The tracks keep their values, with zeros for the new targets.
    let mut n_tracks = 0;
    for channel in file.animations().flat_map(|clip| clip.channels()) {
        let is_theirs = [other, elsewhere].contains(&channel.target().node().index());
        let reader = channel.reader(|_| file.blob.as_deref());
        let outputs = reader.read_outputs().filter(|_| is_theirs);
        if let Some(ReadOutputs::MorphTargetWeights(weights)) = outputs {
            let weights: Vec<f32> = weights.into_f32().collect();
            let rows: Vec<&[f32]> = weights.chunks(n).collect();
            let first = if rows.len() == 2 { rows[1] } else { rows[4] };
            let expected = if rows.len() == 2 {
                [0.2, 0.3]
            } else {
                [0.3, 0.4]
            };
            assert_eq!(first[..2], expected);
            assert!(rows.iter().all(|row| row[2..].iter().all(|w| *w == 0.0)));
            n_tracks += 1;
        }
    }
    assert_eq!(n_tracks, 4);
}

#[test]
fn morph_frames_leave_their_own_mesh_to_other_nodes() {
    let (gltf, [other, _]) = with_weights();
    let mut gltf = gltf;
    gltf.json["scenes"].as_array_mut().unwrap().pop();
    let options = BakeOptions {
        mode: BakeMode::Frames,
        ..dense()
    };
    let (exported, report) = corrected(&without(&gltf, &[other]), options);
    assert!(report.morph_targets > 2, "{report:?}");
    let file = gltf::Gltf::from_slice(&exported.files[0].1).unwrap();
    let theirs = file.nodes().find(|n| n.weights() == Some(&[0.5, 0.25]));
    let mesh = theirs.unwrap().mesh().unwrap();
    let n = mesh.primitives().map(|p| p.morph_targets().count());
    assert_eq!(n.collect::<Vec<_>>(), [2]);
}

const NO_HELPERS: &str = "only morph targets are used";

#[test]
fn a_skin_that_would_lack_helper_joints_gets_a_mesh_without_them() {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    let skin = add_second_chain(&mut gltf);
    let node = draw(&mut gltf, 0, skin);
    let also = draw(&mut gltf, 0, 0);
    for (left_out, has_helpers) in [(vec![], true), (vec![also], true), (vec![node], false)] {
        let document = without(&gltf, &left_out);
        // Morph targets of regions take fewer bytes here, so helper joints must be requested.
        let options = BakeOptions {
            max_morphs: if has_helpers { 0 } else { 128 },
            ..dense()
        };
        let (exported, report) = corrected(&document, options.clone());
        assert!(report.met, "{report:?}");
        assert_eq!(report.helper_joints > 0, has_helpers, "{report:?}");
        valid(&exported.files[0].1);
        let options = ExportOptions {
            correct: Some(options),
            ..ExportOptions::default()
        };
        for findings in [preflight(&document, &options), exported.report.findings] {
            let is_said = findings.iter().any(|f| f.message.contains(NO_HELPERS));
            assert_eq!(is_said, !has_helpers, "{findings:?}");
        }
    }
}

/// JOINTS_n of the mesh index the joints of both skins, so both skins must leave out the same slots.
#[test]
fn a_removed_joint_keeps_its_slot_where_a_skin_of_another_node_has_it() {
    let mut gltf = tube(2);
    let skin = add_second_chain(&mut gltf);
    let node = draw(&mut gltf, 0, skin);
    let mut document = without(&gltf, &[node]);
    remove(&mut document, JointId(2));
    let options = ExportOptions {
        format: GltfFormat::Glb,
        ..ExportOptions::default()
    };
    let exported = export(&document, &options, &Task::new()).unwrap();
    let file = valid(&exported.files[0].1);
    let lengths = file.skins().map(|skin| skin.joints().count());
    assert_eq!(lengths.collect::<Vec<_>>(), [2, 2]);
}

#[test]
fn a_mesh_that_other_nodes_draw_stays_bound() {
    let mut gltf = tube(2);
    let node = draw(&mut gltf, 0, 0);
    let why = refused(&without(&gltf, &[node]), &Operation::Unbind);
    assert!(why.contains("has 2 instances"), "{why}");
}
