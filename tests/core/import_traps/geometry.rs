//! Attributes, indices, modes, morph targets and compression.

use super::{assert_found, load, load_clean, mesh, position, refused, row};
use crate::gltf_builder::{Gltf, TRIANGLE, triangle};
use crate::shared::shared_dir;
use glam::{Vec2, Vec3};
use serde_json::json;
use sinew::io::import_file;
use sinew::skeleton::JointId;
use sinew::task::Task;

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
        "references vertex 200, but there are only 3; 1 triangle was left out.",
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
    assert_eq!(parts.rest_morph_weights[&JointId(0)], [0.25, 0.5]);
    assert_eq!(parts.rest_morph_weights[&JointId(1)], [1.0, 0.0]);
    assert_found(&findings, "1 displacement that is not finite");
    assert_found(
        &findings,
        "nodes[1].weights has 1 weights for 2 morph targets",
    );
}

#[test]
fn compressed_geometry_is_read() {
    let Some(shared) = shared_dir("compressed_geometry_is_read") else {
        return;
    };
    let load_shared = |name: &str, file: &str| {
        let path = shared.join("malformed").join(name).join(file);
        import_file(&path, &Task::new()).unwrap().parts
    };
    let parts = load_shared("gltftransform__BoxMeshopt", "gltftransform__BoxMeshopt.glb");
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

    let parts = load_shared(
        "gltftransform__DracoSparseMesh",
        "gltftransform__DracoSparseMesh.gltf",
    );
    let geometry = &mesh(&parts, 0).geometry;
    assert_eq!((geometry.n_vertices(), geometry.triangles.len()), (62, 102));
    let low = geometry.positions.iter().fold(Vec3::MAX, |a, &b| a.min(b));
    let high = geometry.positions.iter().fold(Vec3::MIN, |a, &b| a.max(b));
    let wanted = Vec3::new(-0.039651595, 0.04958649, 0.028698957);
    assert!(low.abs_diff_eq(wanted, 1e-5), "{low}");
    let wanted = Vec3::new(-0.013482682, 0.08912585, 0.03165059);
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
    assert!(refused(gltf).ends_with("the file requires ACME_hair, which Sinew does not support."));
}

/// A Draco stream of a triangle: positions (id 0), joints (id 1) as bytes, weights (id 2) as normalised bytes.
fn draco_stream(joints: &[u8; 12], weights: &[u8; 12]) -> Vec<u8> {
    use draco_core::{
        DataType, EncoderBuffer, EncoderOptions, FaceIndex, GeometryAttributeType, Mesh,
        MeshEncoder, PointAttribute, PointIndex,
    };
    let mut mesh = Mesh::new();
    let mut add = |kind, width, data, bytes: &[u8]| {
        let mut attribute = PointAttribute::new();
        attribute.init(kind, width, data, false, 3);
        attribute.buffer_mut().write(0, bytes);
        mesh.add_attribute(attribute);
    };
    let positions: &[u8] = bytemuck::cast_slice(&TRIANGLE);
    add(
        GeometryAttributeType::Position,
        3,
        DataType::Float32,
        positions,
    );
    add(GeometryAttributeType::Generic, 4, DataType::Uint8, joints);
    add(GeometryAttributeType::Generic, 4, DataType::Uint8, weights);
    mesh.set_num_faces(1);
    mesh.set_face(FaceIndex(0), [PointIndex(0), PointIndex(1), PointIndex(2)]);
    let mut encoder = MeshEncoder::new();
    encoder.set_mesh(mesh);
    let mut out = EncoderBuffer::new();
    encoder.encode(&EncoderOptions::new(), &mut out).unwrap();
    out.data().to_vec()
}

#[test]
fn draco_streams_carry_joints_and_weights() {
    let stream = draco_stream(
        &[0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0],
        &[51, 204, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0],
    );
    let mut gltf = Gltf::new(json!({
        "nodes": [{"mesh": 0, "skin": 0}, {"children": [2]}, {}], "skins": [{"joints": [1, 2]}],
        "extensionsRequired": ["KHR_draco_mesh_compression"],
        "accessors": [
            {"componentType": 5126, "count": 3, "type": "VEC3"},
            {"componentType": 5121, "count": 3, "type": "VEC4"},
            {"componentType": 5121, "count": 3, "type": "VEC4", "normalized": true}
        ]
    }));
    let view = gltf.view(&stream);
    let attributes = json!({"POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2});
    gltf.push(
        "meshes",
        json!({"primitives": [{"attributes": attributes, "extensions": {
            "KHR_draco_mesh_compression": {"bufferView": view, "attributes": attributes}
        }}]}),
    );
    let damaged = {
        let mut gltf = gltf.clone();
        gltf.json["bufferViews"][view]["byteLength"] = json!(stream.len() / 2);
        refused(gltf)
    };
    assert!(damaged.contains("cannot be decoded"), "{damaged}");
    let parts = load_clean(gltf);
    let item = mesh(&parts, 0);
    assert_eq!(item.geometry.triangles.len(), 1);
    // The encoder may reorder vertices: find each by its position.
    let row_at = |wanted: Vec3| {
        let at = |&v: &usize| position(item, v).abs_diff_eq(wanted, 1e-3);
        row(item, (0..3).find(at).unwrap())
    };
    assert_eq!(row_at(Vec3::ZERO), [(0, 0.2), (1, 0.8)]);
    assert_eq!(row_at(Vec3::X), [(1, 1.0)]);
    assert_eq!(row_at(Vec3::Y), [(1, 1.0)]);
}
