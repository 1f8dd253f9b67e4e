//! What real glTF files do that an importer gets wrong: one small file for each.

use crate::gltf_builder::{Gltf, TRIANGLE, skinned, triangle};
use crate::shared::shared_dir;
use bytes::Bytes;
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec2, Vec3};
use serde_json::{Value, json};
use sinew::document::{ClipId, InstanceId, MeshId, MeshItem, Parts, SkinId, SourceKind};
use sinew::finding::{Finding, Severity};
use sinew::io::{Imported, import_bytes, import_file};
use sinew::skeleton::{Channel, Interpolation, JointIndex, Property};
use sinew::task::Task;
use std::sync::Arc;

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

// Weights.

const JOINTS: [[u8; 4]; 3] = [[0, 1, 0, 0]; 3];

#[test]
fn weights_that_do_not_sum_to_1_are_divided_by_their_sum() {
    let weights = [[0.5, 0.5, 0., 0.], [0.5, 0.25, 0., 0.], [1., 0., 0., 0.]];
    let (parts, findings) = load(skinned(JOINTS, weights));
    let item = mesh(&parts, 0);
    assert_eq!(row(item, 0), [(0, 0.5), (1, 0.5)]);
    assert_eq!(row(item, 1), [(0, 0.5 / 0.75), (1, 0.25 / 0.75)]);
    assert_eq!(row(item, 2), [(0, 1.0)]);
    assert_found(&findings, "1 vertex");
    assert_found(&findings, "0.750");
    assert_eq!(item.influences, item.source_influences);
    for (now, source) in item
        .influences
        .chunks()
        .iter()
        .zip(item.source_influences.chunks())
    {
        assert!(Arc::ptr_eq(now, source));
    }
}

#[test]
fn a_vertex_without_weight_follows_its_first_joint() {
    let mut joints = JOINTS;
    joints[1] = [1, 0, 0, 0];
    let (parts, findings) = load(skinned(joints, [[0.0; 4]; 3]));
    assert_eq!(row(mesh(&parts, 0), 0), [(0, 1.0)]);
    assert_eq!(row(mesh(&parts, 0), 1), [(1, 1.0)]);
    assert_found(&findings, "no weight at all on 3 vertices");
}

#[test]
fn joints_out_of_range_and_broken_weights_are_dropped() {
    let joints = [[0, 7, 0, 0], [9, 0, 0, 0], [0, 1, 0, 0]];
    let weights = [
        [0.5, 0.5, 0., 0.],
        [1., 0., 0., 0.],
        [0.5, -3.0, f32::NAN, 0.],
    ];
    let (parts, findings) = load(skinned(joints, weights));
    for vertex in 0..3 {
        assert_eq!(row(mesh(&parts, 0), vertex), [(0, 1.0)], "{vertex}");
    }
    assert_found(
        &findings,
        "Vertex 0 of meshes[0].primitives[0] follows joint 7",
    );
    assert_found(&findings, "2 weights that are negative or not a number");
}

#[test]
fn all_sets_of_joints_are_kept_and_equal_joints_merged() {
    let mut gltf = skinned(JOINTS, [[0.25, 0.25, 0., 0.]; 3]);
    let more_joints = gltf.u16s("VEC4", &[1, 0, 0, 0].repeat(3));
    let more_weights = gltf.f32s("VEC4", &[0.25, 0.25, 0., 0.].repeat(3));
    let attributes = &mut gltf.json["meshes"][0]["primitives"][0]["attributes"];
    attributes["JOINTS_1"] = json!(more_joints);
    attributes["WEIGHTS_1"] = json!(more_weights);
    let parts = load_clean(gltf);
    assert_eq!(row(mesh(&parts, 0), 0), [(0, 0.5), (1, 0.5)]);
}

#[test]
fn weights_come_as_normalised_bytes_and_shorts() {
    for short in [false, true] {
        let mut gltf = skinned(JOINTS, [[0.0; 4]; 3]);
        let weights = if short {
            gltf.u16s("VEC4", &[13107, 52428, 0, 0].repeat(3))
        } else {
            gltf.u8s("VEC4", &[51, 204, 0, 0].repeat(3))
        };
        let weights = gltf.normalized(weights);
        gltf.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"] = json!(weights);
        let parts = load_clean(gltf);
        assert_eq!(row(mesh(&parts, 0), 2), [(0, 0.2), (1, 0.8)]);
    }
}

// Skins and instances.

#[test]
fn one_mesh_may_be_drawn_by_84_skins() {
    let mut gltf = skinned(JOINTS, [[0.5, 0.5, 0., 0.]; 3]);
    for skin in 1..84 {
        gltf.push("skins", json!({"joints": [1, 2], "skeleton": 0}));
        gltf.push("nodes", json!({"mesh": 0, "skin": skin}));
    }
    let parts = load_clean(gltf);
    assert_eq!(
        (parts.meshes.len(), parts.skins.len(), parts.instances.len()),
        (1, 84, 84)
    );
    assert_eq!(parts.instances[&InstanceId(85)].skin, Some(SkinId(83)));
    assert_eq!(
        parts.skins[&SkinId(83)].joints,
        [JointIndex(1), JointIndex(2)]
    );
}

#[test]
fn a_mesh_of_two_skins_may_only_use_the_joints_of_both() {
    let mut gltf = skinned(JOINTS, [[0.5, 0.5, 0., 0.]; 3]);
    gltf.push("skins", json!({"joints": [1]}));
    gltf.push("nodes", json!({"mesh": 0, "skin": 1}));
    let (parts, findings) = load(gltf);
    assert_eq!(row(mesh(&parts, 0), 0), [(0, 1.0)]);
    assert_found(&findings, "follows joint 1");
}

#[test]
fn a_skinned_node_keeps_its_transform_as_a_joint_and_draws_with_its_skin() {
    let parts = load_clean(skinned(JOINTS, [[0.5, 0.5, 0., 0.]; 3]));
    let instance = &parts.instances[&InstanceId(0)];
    assert_eq!(
        (instance.skin, instance.joint),
        (Some(SkinId(0)), JointIndex(0))
    );
    let joints = parts.skeleton.joints();
    assert_eq!(joints[0].rest.translation, DVec3::splat(9.0));
    assert_eq!(
        (joints[2].name.as_str(), joints[2].parent),
        ("B", Some(JointIndex(1)))
    );
    assert_eq!(joints[2].source_node, Some(2));
}

#[test]
fn a_mesh_without_weights_follows_its_node() {
    let mut gltf = triangle();
    gltf.json["nodes"] = json!([{"children": [1]}, {"mesh": 0}, {"mesh": 0, "skin": 0}]);
    gltf.json["skins"] = json!([{"joints": [0]}]);
    let (parts, findings) = load(gltf);
    assert_eq!(parts.instances[&InstanceId(1)].skin, None);
    assert_eq!(parts.instances[&InstanceId(2)].skin, None);
    assert_found(
        &findings,
        "nodes[2] has a skin, but meshes[0] has no weights",
    );
}

#[test]
fn inverse_bind_matrices_may_be_absent_short_or_garbage_where_nothing_weighs() {
    let identity = DAffine3::IDENTITY;
    let weights_on_first = [[1., 0., 0., 0.]; 3];
    let parts = load_clean(skinned(JOINTS, weights_on_first));
    assert_eq!(parts.skins[&SkinId(0)].inverse_bind, [identity; 2]);

    let mut matrix = [0.0f32; 16];
    for i in [0, 5, 10, 15] {
        matrix[i] = 1.0;
    }
    matrix[12] = -4.0;
    let mut short = skinned(JOINTS, weights_on_first);
    let accessor = short.f32s("MAT4", &matrix);
    short.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
    let (parts, findings) = load(short);
    let moved = DAffine3::from_translation(DVec3::new(-4., 0., 0.));
    assert_eq!(parts.skins[&SkinId(0)].inverse_bind, [moved, identity]);
    assert_found(&findings, "1 matrix for 2 joints");

    for (weights, n_findings) in [(weights_on_first, 0), ([[0., 1., 0., 0.]; 3], 1)] {
        let mut garbage = skinned(JOINTS, weights);
        let both = [matrix, [f32::NAN; 16]];
        let accessor = garbage.f32s("MAT4", both.as_flattened());
        garbage.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
        let (parts, findings) = load(garbage);
        assert_eq!(findings.len(), n_findings, "{findings:?}");
        assert!(parts.skins[&SkinId(0)].inverse_bind[1].is_finite());
    }
}

#[test]
fn a_skin_with_a_missing_joint_keeps_its_slots() {
    let mut gltf = skinned([[2, 0, 0, 0]; 3], [[1., 0., 0., 0.]; 3]);
    gltf.json["skins"] = json!([{"joints": [1, 77, 2]}]);
    let (parts, findings) = load(gltf);
    assert_eq!(row(mesh(&parts, 0), 0), [(2, 1.0)]);
    assert_eq!(parts.skins[&SkinId(0)].joints[2], JointIndex(2));
    assert_found(
        &findings,
        "The index 77 of skins[0].joints[1] is outside of the 3 nodes.",
    );
}

// Nodes and scenes.

#[test]
fn matrices_are_taken_apart_exactly_and_trs_is_kept() {
    let sheared = [
        -2., 0.3, 0.1, 0., 0.5, 1., -0.7, 0., 0., 0.2, 3., 0., 7., 8., 9., 1.,
    ];
    let gltf = Gltf::new(json!({"nodes": [
        {"matrix": sheared},
        {"translation": [1, 2, 3], "rotation": [0, 0, 0.6, 0.8], "scale": [100, -1, 0.01]},
        {"rotation": [0, 0, 0, 0]},
        {"matrix": [1, 2, 3]},
        {"scale": [1, null, 1]}
    ]}));
    let (parts, findings) = load(gltf);
    let joints = parts.skeleton.joints();
    let linear = DMat3::from_cols_array(&[-2., 0.3, 0.1, 0.5, 1., -0.7, 0., 0.2, 3.]);
    assert!(joints[0].rest.linear().abs_diff_eq(linear, 4e-15));
    assert!(joints[0].rest.rotation.is_normalized() && joints[0].rest.has_shear());
    assert_eq!(joints[0].rest.translation, DVec3::new(7., 8., 9.));
    let trs = joints[1].rest;
    assert_eq!(trs.rotation, DQuat::from_xyzw(0., 0., 0.6, 0.8));
    assert_eq!(trs.scale(), DVec3::new(100., -1., 0.01));
    assert!(!trs.has_shear());
    assert_eq!(joints[2].rest.rotation, DQuat::IDENTITY);
    assert_found(&findings, "nodes[2].rotation has the length 0.000");
    assert_found(&findings, "nodes[3].matrix should be 16 numbers.");
    assert_found(&findings, "nodes[4].scale should be 3 numbers.");
}

#[test]
fn cycles_second_parents_and_missing_children_are_left_out() {
    let gltf = Gltf::new(json!({"scenes": [{"nodes": [3]}], "nodes": [
        {"children": [2, 99]}, {"children": [2]}, {"children": [0]}, {"children": [4]}, {"children": [3]}, {"children": [5]}
    ]}));
    let (parts, findings) = load(gltf);
    let parents: Vec<_> = parts
        .skeleton
        .joints()
        .iter()
        .map(|j| j.parent.map(|p| p.0))
        .collect();
    // Node 1 is the only true root; the scene enters the ring of 3 and 4 at 3.
    assert_eq!(parents, [Some(2), None, Some(1), None, Some(3), None]);
    assert_found(&findings, "The index 99 of nodes[0].children[1]");
    assert_found(
        &findings,
        "nodes[0] has node 2 as a child, which is above it",
    );
    assert_found(
        &findings,
        "nodes[5] has node 5 as a child, which is the node itself",
    );

    let two = Gltf::new(json!({"nodes": [{"children": [2]}, {"children": [2]}, {}]}));
    let (parts, findings) = load(two);
    assert_eq!(
        parts.skeleton.joint(JointIndex(2)).parent,
        Some(JointIndex(0))
    );
    assert_found(&findings, "which has another parent already");
}

#[test]
fn a_chain_of_20_000_nodes_needs_no_stack() {
    let nodes: Vec<Value> = (1..20_000)
        .map(|child| json!({"children": [child]}))
        .chain([json!({})])
        .collect();
    let (parts, _) = load(Gltf::new(
        json!({"nodes": nodes, "scenes": [{"nodes": [0]}]}),
    ));
    assert_eq!(parts.skeleton.order().len(), 20_000);
}

#[test]
fn only_the_default_scene_draws() {
    let instances = |scene: Value, scenes: Value| {
        let mut gltf = triangle();
        gltf.json["nodes"] = json!([{"mesh": 0, "children": [2]}, {"mesh": 0}, {"mesh": 0}]);
        gltf.json["scene"] = scene;
        gltf.json["scenes"] = scenes;
        let (parts, findings) = load(gltf);
        (
            parts.instances.keys().map(|i| i.0).collect::<Vec<_>>(),
            findings,
        )
    };
    let scenes = json!([{"nodes": [0]}, {"nodes": [1]}]);
    assert_eq!(instances(json!(1), scenes.clone()).0, [1]);
    assert_eq!(instances(Value::Null, scenes.clone()).0, [0, 2]);
    assert_eq!(instances(Value::Null, Value::Null).0, [0, 1, 2]);
    let (drawn, findings) = instances(json!(5), scenes);
    assert_eq!(drawn, [0, 2]);
    assert_found(
        &findings,
        "The index 5 of scene is outside of the 2 scenes.",
    );
    let (drawn, findings) = instances(json!(0), json!([{"nodes": []}]));
    assert!(drawn.is_empty());
    assert_found(&findings, "its scene shows none");
}

#[test]
fn names_may_be_absent_equal_or_odd() {
    let gltf = Gltf::new(
        json!({"nodes": [{}, {"name": "a"}, {"name": "a"}, {"name": "ф\u{0}\""}, {"name": 42}]}),
    );
    let (parts, findings) = load(gltf);
    let names: Vec<_> = parts
        .skeleton
        .joints()
        .iter()
        .map(|j| j.name.as_str())
        .collect();
    assert_eq!(names, ["", "a", "a", "ф\u{0}\"", ""]);
    assert_found(&findings, "nodes[4].name should be a text.");
}

// Geometry.

#[test]
fn every_primitive_mode_becomes_triangles_or_vertices_alone() {
    let n_triangles = |mode: u32| {
        let mut gltf = Gltf::new(json!({"nodes": [{"mesh": 0}]}));
        let positions: Vec<f32> = (0..6)
            .flat_map(|i| [i as f32, (i * i) as f32, 0.0])
            .collect();
        let positions = gltf.f32s("VEC3", &positions);
        let primitive = json!({"attributes": {"POSITION": positions}, "mode": mode});
        gltf.push("meshes", json!({"primitives": [primitive]}));
        let (parts, _) = load(gltf);
        let geometry = &mesh(&parts, 0).geometry;
        assert_eq!(geometry.n_vertices(), 6);
        geometry.triangles.len()
    };
    assert_eq!([0, 1, 2, 3].map(n_triangles), [0; 4]);
    assert_eq!([4, 5, 6].map(n_triangles), [2, 4, 4]);
}

#[test]
fn a_primitive_that_cannot_be_read_keeps_its_place() {
    let mut gltf = triangle();
    let good = gltf.json["meshes"][0]["primitives"][0].clone();
    let bad = json!({"attributes": {"POSITION": 4294967295u32}});
    gltf.json["meshes"][0]["primitives"] = json!([good, bad, good]);
    let (parts, findings) = load(gltf);
    let counts: Vec<_> = mesh(&parts, 0)
        .geometry
        .primitives
        .iter()
        .map(|p| p.vertices.len())
        .collect();
    assert_eq!(counts, [3, 0, 3]);
    assert_found(
        &findings,
        "The index 4294967295 of meshes[0].primitives[1].attributes.POSITION is outside of the 1 accessors.",
    );
}

#[test]
fn a_file_whose_meshes_all_fail_is_refused_with_the_first_fault() {
    let mut gltf = triangle();
    gltf.json["accessors"][0]["count"] = json!(5);
    assert_eq!(
        refused(gltf),
        "accessors[0] has 5 elements, which need 60 bytes from byte 0 of bufferViews[0], but it has only 36."
    );
}

#[test]
fn triangles_of_missing_vertices_are_left_out() {
    let mut gltf = triangle();
    let indices = gltf.u8s("SCALAR", &[0, 1, 2, 0, 1, 200]);
    gltf.json["meshes"][0]["primitives"][0]["indices"] = json!(indices);
    let (parts, findings) = load(gltf);
    assert_eq!(mesh(&parts, 0).geometry.triangles, [[0, 1, 2]]);
    assert_found(
        &findings,
        "names vertex 200, but there are only 3; 1 triangle was left out.",
    );
}

#[test]
fn quantised_and_interleaved_attributes_are_read() {
    let mut gltf =
        Gltf::new(json!({"nodes": [{"mesh": 0}], "extensionsRequired": ["KHR_mesh_quantization"]}));
    // x, y, z as normalised i16, 2 bytes of padding, u and v as u16, normalised.
    let vertex = |x: i16, u: u16| {
        let mut bytes = Vec::new();
        for value in [x, -32768, 32767, 0] {
            bytes.extend(value.to_le_bytes());
        }
        for value in [u, 65535] {
            bytes.extend(value.to_le_bytes());
        }
        bytes
    };
    let view = gltf.view(&[vertex(-32767, 0), vertex(0, 13107), vertex(32767, 65535)].concat());
    gltf.json["bufferViews"][view]["byteStride"] = json!(12);
    for (kind, component, offset) in [("VEC3", 5122, 0), ("VEC2", 5123, 8)] {
        gltf.push(
            "accessors",
            json!({
                "bufferView": view, "byteOffset": offset, "componentType": component,
                "normalized": true, "count": 3, "type": kind
            }),
        );
    }
    gltf.push(
        "meshes",
        json!({"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}}]}),
    );
    let parts = load_clean(gltf);
    let item = mesh(&parts, 0);
    assert_eq!(position(item, 0), Vec3::new(-1., -1., 1.));
    assert_eq!(position(item, 2), Vec3::new(1., -1., 1.));
    assert_eq!(item.geometry.uvs[1], Vec2::new(0.2, 1.0));
}

#[test]
fn sparse_accessors_replace_elements_of_a_view_or_of_zeros() {
    for with_view in [true, false] {
        let mut gltf = triangle();
        let indices = gltf.view(&[2]);
        let values = gltf.view(bytemuck::cast_slice(&[5.0f32, 6.0, 7.0]));
        gltf.json["accessors"][0]["sparse"] = json!({
            "count": 1,
            "indices": {"bufferView": indices, "componentType": 5121},
            "values": {"bufferView": values}
        });
        if !with_view {
            gltf.json["accessors"][0]
                .as_object_mut()
                .unwrap()
                .remove("bufferView");
        }
        let parts = load_clean(gltf);
        assert_eq!(position(mesh(&parts, 0), 2), Vec3::new(5., 6., 7.));
        assert_eq!(
            position(mesh(&parts, 0), 1).x,
            f32::from(u8::from(with_view))
        );
    }
}

#[test]
fn morph_targets_have_names_displacements_and_weights() {
    let mut gltf = triangle();
    let up = gltf.f32s("VEC3", &[0., 1., 0., 0., 0., 0., 0., 0., f32::NAN]);
    gltf.json["meshes"][0]["primitives"][0]["targets"] = json!([{"POSITION": up}, {"NORMAL": up}]);
    gltf.json["meshes"][0]["weights"] = json!([0.25, 0.5]);
    gltf.json["meshes"][0]["extras"] = json!({"targetNames": ["smile"]});
    gltf.json["nodes"] = json!([{"mesh": 0}, {"mesh": 0, "weights": [1]}]);
    let (parts, findings) = load(gltf);
    let item = mesh(&parts, 0);
    let morphs = &item.geometry.morphs;
    assert_eq!(
        (morphs[0].name.as_str(), morphs[1].name.as_str()),
        ("smile", "")
    );
    let first = item.geometry.point_of_vertex[0] as usize;
    assert_eq!(morphs[0].deltas[first], Vec3::Y);
    assert_eq!(morphs[1].deltas, [Vec3::ZERO; 3]);
    assert_eq!(item.morph_weights, [0.25, 0.5]);
    assert_eq!(parts.rest_morph_weights[&JointIndex(0)], [0.25, 0.5]);
    assert_eq!(parts.rest_morph_weights[&JointIndex(1)], [1.0, 0.0]);
    assert_found(&findings, "1 displacement that is not finite");
    assert_found(
        &findings,
        "nodes[1].weights has 1 numbers for 2 morph targets",
    );
}

#[test]
fn compressed_geometry_is_read() {
    let Some(shared) = shared_dir("compressed_geometry_is_read") else {
        return;
    };
    let load = |name: &str, file: &str| {
        let path = shared.join("malformed").join(name).join(file);
        import_file(&path, &Task::new()).unwrap().parts
    };
    let parts = load("gltftransform__BoxMeshopt", "gltftransform__BoxMeshopt.glb");
    let geometry = &mesh(&parts, 0).geometry;
    assert_eq!(
        (
            geometry.n_vertices(),
            geometry.n_points(),
            geometry.triangles.len()
        ),
        (24, 8, 12)
    );
    assert!(
        geometry
            .positions
            .iter()
            .all(|p| p.to_array().iter().all(|&x| x == 0.0 || x == 16383.0))
    );
    assert_eq!(geometry.normals.len(), 24);

    let parts = load(
        "gltftransform__DracoSparseMesh",
        "gltftransform__DracoSparseMesh.gltf",
    );
    let geometry = &mesh(&parts, 0).geometry;
    assert_eq!((geometry.n_vertices(), geometry.triangles.len()), (62, 102));
    let low = geometry.positions.iter().fold(Vec3::MAX, |a, &b| a.min(b));
    let high = geometry.positions.iter().fold(Vec3::MIN, |a, &b| a.max(b));
    let wanted = Vec3::new(-0.039651595, 0.049586490, 0.028698957);
    assert!(low.abs_diff_eq(wanted, 1e-5), "{low}");
    let wanted = Vec3::new(-0.013482682, 0.089125849, 0.031650592);
    assert!(high.abs_diff_eq(wanted, 1e-5), "{high}");
}

#[test]
fn meshopt_views_are_decoded_with_their_filters() {
    let mut gltf = triangle();
    let encoded = meshopt::encode_vertex_buffer(TRIANGLE.as_chunks::<3>().0).unwrap();
    let source = gltf.view(&encoded);
    let source = gltf.json["bufferViews"][source].clone();
    gltf.json["bufferViews"][0] = json!({"buffer": 1, "byteLength": 36, "extensions": {"EXT_meshopt_compression": {
        "buffer": 0, "byteOffset": source["byteOffset"], "byteLength": source["byteLength"],
        "byteStride": 12, "count": 3, "mode": "ATTRIBUTES"
    }}});
    let normals: Vec<[i8; 4]> = meshopt::encode_filter_oct(&[[0., 0., 1., 0.]; 3], 8);
    let encoded = meshopt::encode_vertex_buffer(&normals).unwrap();
    let view = gltf.view(&encoded);
    let source = gltf.json["bufferViews"][view].clone();
    gltf.json["bufferViews"][view]["extensions"] = json!({"EXT_meshopt_compression": {
        "buffer": 0, "byteOffset": source["byteOffset"], "byteLength": source["byteLength"],
        "byteStride": 4, "count": 3, "mode": "ATTRIBUTES", "filter": "OCTAHEDRAL"
    }});
    gltf.json["bufferViews"][view]["byteStride"] = json!(4);
    let normal = gltf.push("accessors", json!({
        "bufferView": view, "componentType": 5120, "normalized": true, "count": 3, "type": "VEC3"
    }));
    gltf.json["meshes"][0]["primitives"][0]["attributes"]["NORMAL"] = json!(normal);
    let parts = load_clean(gltf);
    assert_eq!(position(mesh(&parts, 0), 1), Vec3::X);
    assert!(mesh(&parts, 0).geometry.normals[0].abs_diff_eq(Vec3::Z, 0.01));
}

#[test]
fn unknown_required_extensions_are_named() {
    let mut gltf = triangle();
    gltf.json["extensionsRequired"] = json!(["ACME_hair", "KHR_materials_variants"]);
    let (_, findings) = load(gltf.clone());
    assert_eq!(findings.len(), 1);
    assert_found(&findings, "The file requires ACME_hair");
    gltf.json["accessors"] = json!([]);
    assert!(refused(gltf).ends_with("the file requires ACME_hair, which is not known here."));
}

// Clips.

/// A file of one node with one clip of one channel.
fn animated(path: &str, interpolation: &str, times: &[f32], kind: &str, values: &[f32]) -> Gltf {
    let mut gltf = Gltf::new(json!({"nodes": [{}]}));
    let input = gltf.f32s("SCALAR", times);
    let output = gltf.f32s(kind, values);
    gltf.push(
        "animations",
        json!({
            "name": "clip",
            "samplers": [{"input": input, "output": output, "interpolation": interpolation}],
            "channels": [{"sampler": 0, "target": {"node": 0, "path": path}}]
        }),
    );
    gltf
}

fn channels(parts: &Parts) -> &[Channel] {
    &parts.clips[&ClipId(0)].channels
}

#[test]
fn keys_are_kept_raw_whatever_the_interpolation() {
    let (parts, findings) = load(animated(
        "rotation",
        "STEP",
        &[0.5, 1.0],
        "VEC4",
        &[0., 0., 0., 3., 0., 2., 0., 0.],
    ));
    // A file of clips alone is fine, and said.
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].severity, Severity::Info);
    let channel = &channels(&parts)[0];
    assert_eq!(
        (channel.property, channel.interpolation),
        (Property::Rotation, Interpolation::Step)
    );
    assert_eq!(channel.values[..], [0., 0., 0., 3., 0., 2., 0., 0.]);
    assert_eq!(parts.clips[&ClipId(0)].start_secs(), 0.5);

    let values: Vec<f32> = (0..9).map(|i| i as f32).collect();
    let (parts, _) = load(animated(
        "translation",
        "CUBICSPLINE",
        &[2.0],
        "VEC3",
        &values,
    ));
    let channel = &channels(&parts)[0];
    assert_eq!(
        (channel.interpolation, channel.width()),
        (Interpolation::CubicSpline, 3)
    );
    assert_eq!(channel.key(0), [3., 4., 5.]);
    let clip = &parts.clips[&ClipId(0)];
    assert_eq!((clip.start_secs(), clip.end_secs()), (2.0, 2.0));
}

#[test]
fn quantised_and_interleaved_keys_are_read() {
    let mut gltf = animated("rotation", "LINEAR", &[0.0, 1.0], "VEC4", &[0.0; 8]);
    let output = gltf.i16s("VEC4", &[0, 0, 0, 32767, -32768, 0, 0, 0]);
    gltf.normalized(output);
    // Times and something else in turn.
    let view = gltf.view(bytemuck::cast_slice(&[0.25f32, 9., 0.75, 9.]));
    gltf.json["bufferViews"][view]["byteStride"] = json!(8);
    let input = gltf.push(
        "accessors",
        json!({"bufferView": view, "componentType": 5126, "count": 2, "type": "SCALAR"}),
    );
    gltf.json["animations"][0]["samplers"][0] = json!({"input": input, "output": output});
    let (parts, _) = load(gltf);
    let channel = &channels(&parts)[0];
    assert_eq!(channel.times[..], [0.25, 0.75]);
    assert_eq!(channel.values[..], [0., 0., 0., 1., -1., 0., 0., 0.]);
    assert_eq!(channel.interpolation, Interpolation::Linear);
}

#[test]
fn keys_are_put_in_order_and_broken_ones_left_out() {
    let times = [1.0, 0.0, f32::NAN, 2.0, -1.0];
    let values: Vec<f32> = [1.0f32, 0., 7., f32::INFINITY, -1.]
        .iter()
        .flat_map(|&v| [v; 3])
        .collect();
    let (parts, findings) = load(animated("scale", "LINEAR", &times, "VEC3", &values));
    let channel = &channels(&parts)[0];
    assert_eq!(channel.times[..], [-1.0, 0.0, 1.0]);
    assert_eq!(channel.values[..], [-1., -1., -1., 0., 0., 0., 1., 1., 1.]);
    assert_found(&findings, "2 keys that are not finite");
    assert_found(&findings, "do not ascend");
    assert_found(&findings, "before time 0");
}

#[test]
fn too_few_and_too_many_values_keep_the_keys_that_are_whole() {
    let (parts, findings) = load(animated(
        "scale",
        "LINEAR",
        &[0., 1., 2.],
        "VEC3",
        &[1.0; 6],
    ));
    assert_eq!(channels(&parts)[0].times[..], [0., 1.]);
    assert_found(&findings, "6 numbers for 3 keys");
    let (parts, _) = load(animated("scale", "LINEAR", &[0.], "VEC3", &[1.0; 6]));
    assert_eq!(channels(&parts)[0].values.len(), 3);
    let (parts, findings) = load(animated("scale", "CUBICSPLINE", &[0.], "VEC3", &[1.0; 6]));
    assert!(channels(&parts).is_empty());
    assert_found(&findings, "makes no key");
    let (parts, findings) = load(animated("rotation", "LINEAR", &[0.], "VEC3", &[1.0; 3]));
    assert!(channels(&parts).is_empty());
    assert_found(&findings, "3 numbers an element, but 4 are needed");
}

#[test]
fn of_two_channels_for_one_property_the_last_wins() {
    let mut gltf = animated("scale", "LINEAR", &[0.0], "VEC3", &[1.0; 3]);
    let output = gltf.f32s("VEC3", &[2.0; 3]);
    let animation = &mut gltf.json["animations"][0];
    animation["samplers"]
        .as_array_mut()
        .unwrap()
        .push(json!({"input": 0, "output": output}));
    for (sampler, path) in [(1, "scale"), (0, "translation"), (0, "pointer")] {
        let channel = json!({"sampler": sampler, "target": {"node": 0, "path": path}});
        animation["channels"].as_array_mut().unwrap().push(channel);
    }
    let (parts, findings) = load(gltf);
    assert_eq!(channels(&parts).len(), 2);
    assert_eq!(channels(&parts)[0].values[..], [2.0; 3]);
    assert_found(&findings, "moves the scale of node 0 again");
    assert_found(&findings, "moves \"pointer\", which is not shown");
    // Both channels' times are one array.
    assert!(Arc::ptr_eq(
        &channels(&parts)[0].times,
        &channels(&parts)[1].times
    ));
}

#[test]
fn channels_of_matrix_nodes_and_missing_nodes_are_reported() {
    let mut gltf = animated("translation", "LINEAR", &[0.0], "VEC3", &[1.0; 3]);
    gltf.json["nodes"] = json!([{"matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1]}]);
    let lost = json!({"sampler": 0, "target": {"node": 8, "path": "scale"}});
    gltf.json["animations"][0]["channels"]
        .as_array_mut()
        .unwrap()
        .push(lost);
    let (parts, findings) = load(gltf);
    assert_eq!(channels(&parts).len(), 1);
    assert_eq!(
        parts.skeleton.joint(JointIndex(0)).rest.scale(),
        DVec3::splat(2.0)
    );
    assert_found(&findings, "given as a matrix");
    assert_found(
        &findings,
        "The index 8 of animations[0].channels[1].target.node",
    );
}

#[test]
fn morph_weight_tracks_have_one_value_a_target() {
    let mut gltf = triangle();
    let deltas = gltf.f32s("VEC3", &TRIANGLE);
    gltf.json["meshes"][0]["primitives"][0]["targets"] =
        json!([{"POSITION": deltas}, {"POSITION": deltas}]);
    let input = gltf.f32s("SCALAR", &[0., 1.]);
    let output = gltf.u8s("SCALAR", &[0, 255, 51, 0]);
    let output = gltf.normalized(output);
    gltf.push(
        "animations",
        json!({
            "samplers": [{"input": input, "output": output}],
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}]
        }),
    );
    let parts = load_clean(gltf);
    let channel = &channels(&parts)[0];
    assert_eq!(
        (channel.property, channel.width()),
        (Property::MorphWeights, 2)
    );
    assert_eq!(channel.key(1), [0.2, 0.0]);

    let (parts, findings) = load(animated("weights", "LINEAR", &[0.], "SCALAR", &[1.]));
    assert!(channels(&parts).is_empty());
    assert_found(
        &findings,
        "moves the morph targets of node 0, which has none",
    );
}

// Materials and pictures.

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let picture = image::RgbImage::from_pixel(width, height, image::Rgb([255, 128, 0]));
    let mut cursor = std::io::Cursor::new(&mut bytes);
    picture
        .write_to(&mut cursor, image::ImageFormat::Png)
        .unwrap();
    bytes
}

/// A triangle whose material shows `image`.
fn textured(image: Value) -> Gltf {
    let mut gltf = triangle();
    gltf.json["meshes"][0]["primitives"][0]["material"] = json!(0);
    gltf.json["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
    gltf.json["textures"] = json!([{"source": 0}]);
    gltf.json["images"] = json!([image]);
    gltf
}

#[test]
fn materials_have_colour_metal_roughness_sides_and_cutoff() {
    let mut gltf = triangle();
    gltf.json["materials"] = json!([
        {"name": "skin", "doubleSided": true, "alphaMode": "MASK", "pbrMetallicRoughness": {
            "baseColorFactor": [0.5, 0.25, 2, 1], "metallicFactor": 0.125, "roughnessFactor": 0.75}},
        {},
        {"pbrMetallicRoughness": "shiny", "alphaCutoff": 0.3}
    ]);
    gltf.json["meshes"][0]["primitives"][0]["material"] = json!(7);
    let (parts, findings) = load(gltf);
    let first = &parts.materials[0];
    assert_eq!(
        (first.name.as_str(), first.double_sided, first.alpha_cutoff),
        ("skin", true, Some(0.5))
    );
    assert_eq!(first.base_color, [0.5, 0.25, 1.0, 1.0]);
    assert_eq!((first.metallic, first.roughness), (0.125, 0.75));
    assert_eq!(
        (parts.materials[1].base_color, parts.materials[1].metallic),
        ([1.0; 4], 1.0)
    );
    assert_eq!(parts.materials[2].alpha_cutoff, None);
    assert_found(
        &findings,
        "materials[2].pbrMetallicRoughness should be an object.",
    );
    assert_found(&findings, "The index 7 of meshes[0].primitives[0].material");
    assert_eq!(mesh(&parts, 0).geometry.primitives[0].material, None);
}

#[test]
fn pictures_come_from_views_data_uris_and_files() {
    use base64::Engine;
    let mut in_view = textured(json!({}));
    let view = in_view.view(&png(3, 2));
    in_view.json["images"][0] = json!({"bufferView": view, "mimeType": "image/png"});
    let data = base64::engine::general_purpose::STANDARD.encode(png(3, 2));
    let in_uri = textured(json!({"uri": format!("data:image/png;base64,{data}")}));
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tex")).unwrap();
    std::fs::write(folder.path().join("tex/my skin.png"), png(3, 2)).unwrap();
    let in_file = textured(json!({"uri": "tex/my%20skin.png"}));
    for gltf in [in_view, in_uri, in_file] {
        let Imported { parts, findings } =
            import_bytes(gltf.glb(), Some(folder.path()), None, &Task::new()).unwrap();
        assert!(findings.is_empty(), "{findings:?}");
        let image = parts.images[0].as_ref().unwrap();
        assert_eq!((image.width, image.height), (3, 2));
        assert_eq!(image.rgba[..4], [255, 128, 0, 255]);
        assert_eq!(parts.materials[0].base_color_image, Some(0));
    }
}

#[test]
fn textures_of_extensions_are_found() {
    for extension in ["EXT_texture_webp", "MSFT_texture_dds"] {
        let mut gltf = textured(json!({}));
        let view = gltf.view(&png(1, 1));
        gltf.json["images"] = json!([{"uri": "unused.png"}, {"bufferView": view}]);
        gltf.json["textures"] = json!([{"extensions": {extension: {"source": 1}}}]);
        let parts = load_clean(gltf);
        assert_eq!(parts.materials[0].base_color_image, Some(1));
        assert!(parts.images[0].is_none() && parts.images[1].is_some());
    }
}

#[test]
fn pictures_that_cannot_be_shown_are_reported() {
    let mut ktx = b"\xabKTX 20\xbb\r\n\x1a\n".to_vec();
    ktx.resize(80, 0);
    let cut = png(64, 64);
    for (bytes, words) in [
        (&ktx[..], "KTX2"),
        (b"GIF89a or so", "cannot be decoded"),
        (&cut[..cut.len() / 2], "cannot be decoded"),
    ] {
        let mut gltf = textured(json!({}));
        let view = gltf.view(bytes);
        gltf.json["images"][0] = json!({"bufferView": view});
        let (parts, findings) = load(gltf);
        assert!(parts.images[0].is_none());
        assert_found(&findings, words);
    }
    let (_, findings) = load(textured(json!({"uri": "https://example.org/a.png"})));
    assert_found(&findings, "only files beside the model can be read");
}

#[test]
fn a_small_file_with_a_huge_picture_is_shown_smaller_or_not_at_all() {
    // The first takes 48 MiB while it is decoded, which leaves no room for its full size; the second 192 MiB.
    for (side, shown) in [(4096, Some(1024)), (8192, None)] {
        let mut gltf = textured(json!({}));
        let view = gltf.view(&png(side, side));
        gltf.json["images"][0] = json!({"bufferView": view});
        let (parts, findings) = load(gltf);
        assert_eq!(parts.images[0].as_ref().map(|i| i.width), shown);
        assert_eq!(findings.len(), 1, "{findings:?}");
    }
}

// What a small file must not make large.

#[test]
fn counts_that_no_byte_backs_are_refused() {
    for count in [1_000_000_000u64, 4_294_967_295, u64::MAX] {
        let mut gltf = triangle();
        gltf.json["accessors"][0] = json!({"componentType": 5126, "count": count, "type": "VEC3"});
        let sentence = refused(gltf);
        assert!(
            sentence.contains("accessors[0]") || sentence.contains("meshes[0]"),
            "{sentence}"
        );
    }
    let mut gltf = triangle();
    gltf.json["accessors"][0]["byteOffset"] = json!(u64::MAX);
    assert!(refused(gltf).contains("accessors[0]"));
}

#[test]
fn one_accessor_drawn_a_thousand_times_stays_within_the_limit() {
    let mut gltf = Gltf::new(json!({"nodes": [{"mesh": 0}]}));
    let positions = gltf.f32s("VEC3", &vec![0.5; 3 * 50_000]);
    let primitive = json!({"attributes": {"POSITION": positions}});
    gltf.push("meshes", json!({"primitives": vec![primitive; 1000]}));
    let (parts, findings) = load(gltf);
    assert_found(&findings, "allowed for a file of");
    assert!(mesh(&parts, 0).geometry.n_vertices() < 1_000_000);
}

#[test]
fn deep_and_huge_json_is_refused() {
    let load = |text: String| {
        import_bytes(Bytes::from(text), None, None, &Task::new())
            .unwrap_err()
            .to_string()
    };
    let deep = format!(
        "{{\"extras\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(load(deep).contains("nests 100 levels deep"));
    let wide = format!("{{\"extras\":[{}0]}}", "0,".repeat(2_000_000));
    assert!(load(wide).contains("bytes of memory"));
}

#[test]
fn text_files_read_as_well_as_binary_ones() {
    let text = r#"{"asset": {"version": "2.0"}, "nodes": [{}]}"#;
    let imported = import_bytes(Bytes::from(text), None, None, &Task::new()).unwrap();
    assert_eq!(imported.parts.source.unwrap().kind, SourceKind::Gltf);
    let old = Bytes::from(r#"{"asset": {"version": "1.0"}}"#);
    let error = import_bytes(old, None, None, &Task::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "The glTF version of the file (asset.version) is 1.0, but only version 2 can be opened."
    );
}
