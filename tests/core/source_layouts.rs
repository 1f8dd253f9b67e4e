//! Corrections of sources whose vertices are stored in unusual ways take as few bytes as those of others.

use crate::bake::corrected;
use crate::bake_sources::{bend, document, json_of, tube};
use crate::export_models::reopen;
use crate::gltf_builder::Gltf;
use serde_json::{Value, json};
use sinew::bake::BakeOptions;
use sinew::document::{Document, MeshId, MeshItem};
use sinew::export::Exported;

/// A bent tube, whose correction rewrites its weights.
pub(crate) fn bent() -> Gltf {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    gltf
}

/// The accessor of an attribute of the first primitive.
pub(crate) fn attribute(gltf: &Gltf, name: &str) -> usize {
    let attributes = &gltf.json["meshes"][0]["primitives"][0]["attributes"];
    attributes[name].as_u64().unwrap() as usize
}

/// Morph targets alone, and helper joints alone.
fn both_kinds() -> [BakeOptions; 2] {
    let targets = BakeOptions {
        max_joints: 2,
        ..BakeOptions::default()
    };
    let helpers = BakeOptions {
        max_morphs: 0,
        tolerance: 0.004,
        ..BakeOptions::default()
    };
    [targets, helpers]
}

/// The bytes that a correction adds, and the file.
fn growth(gltf: Gltf, options: BakeOptions) -> (i64, Document, Exported) {
    let document = document(gltf);
    let (exported, report) = corrected(&document, options);
    println!("{}", report.summary());
    assert!(report.met && report.before_max_percent > 0.4, "{report:?}");
    let before = document.source().unwrap().bytes.len() as i64;
    (
        exported.files[0].1.len() as i64 - before,
        document,
        exported,
    )
}

/// The attributes of each vertex, as they are read.
fn vertices(item: &MeshItem) -> Vec<[f32; 6]> {
    let geometry = &item.geometry;
    let of_vertex = geometry
        .point_of_vertex
        .iter()
        .zip(&geometry.normal_of_vertex);
    let of_vertex = of_vertex.map(|(&point, &normal)| {
        let (position, normal) = (
            geometry.positions[point as usize],
            geometry.normals[normal as usize],
        );
        [
            position.x, position.y, position.z, normal.x, normal.y, normal.z,
        ]
    });
    of_vertex.collect()
}

#[test]
fn interleaved_weights_make_room_as_separate_ones_do() {
    for options in both_kinds() {
        let (separate, ..) = growth(bent(), options.clone());
        for order in [
            ["POSITION", "NORMAL", "JOINTS_0", "WEIGHTS_0"],
            ["WEIGHTS_0", "POSITION", "JOINTS_0", "NORMAL"],
        ] {
            let mut gltf = bent();
            gltf.interleave(&[order.map(|name| attribute(&gltf, name)).to_vec()]);
            let (grows, document, exported) = growth(gltf, options.clone());
            assert!((grows - separate).abs() <= 300, "{grows} {separate}");
            let read = reopen(&exported);
            let (own, read) = (&document.meshes()[&MeshId(0)], &read.meshes()[&MeshId(0)]);
            assert_eq!(vertices(own), vertices(read));
            assert_eq!(own.geometry.triangles, read.geometry.triangles);
            // The rows are the attributes that stay.
            let json = json_of(&exported);
            let rows = position_view(&json);
            assert_eq!(rows["byteStride"], 24);
        }
    }
}

/// A second primitive with a copy of the vertices, and the accessors of both.
fn add_copy(gltf: &mut Gltf, names: &[&str]) -> [Vec<usize>; 2] {
    let mut primitive = gltf.json["meshes"][0]["primitives"][0].clone();
    let own: Vec<usize> = names.iter().map(|name| attribute(gltf, name)).collect();
    let mut copies = Vec::new();
    for (name, &accessor) in names.iter().zip(&own) {
        let entry = gltf.json["accessors"][accessor].clone();
        let copy = gltf.push("accessors", entry);
        primitive["attributes"][*name] = json!(copy);
        copies.push(copy);
    }
    let primitives = gltf.json["meshes"][0]["primitives"].as_array_mut();
    primitives.unwrap().push(primitive);
    [own, copies]
}

#[test]
fn vertices_of_two_primitives_in_one_view_make_room_together() {
    let names = ["JOINTS_0", "POSITION", "WEIGHTS_0", "NORMAL"];
    for options in both_kinds() {
        let mut separate = bent();
        for column in add_copy(&mut separate, &names).concat() {
            separate.interleave(&[vec![column]]);
        }
        let mut together = bent();
        let groups = add_copy(&mut together, &names);
        together.interleave(&groups);
        let (separate, ..) = growth(separate, options.clone());
        let (grows, document, exported) = growth(together, options);
        assert!((grows - separate).abs() <= 400, "{grows} {separate}");
        let read = reopen(&exported);
        assert_eq!(
            vertices(&document.meshes()[&MeshId(0)]),
            vertices(&read.meshes()[&MeshId(0)])
        );
        assert_eq!(position_view(&json_of(&exported))["byteStride"], 24);
    }
}

#[test]
fn weights_of_other_meshes_in_the_same_rows_stay() {
    let names = ["JOINTS_0", "POSITION", "WEIGHTS_0", "NORMAL"];
    let mut gltf = bent();
    let [own, copies] = add_copy(&mut gltf, &names);
    // The copy is a mesh of its own, whose vertices all follow one joint.
    let primitives = gltf.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    let primitive = primitives.pop().unwrap();
    let n = gltf.json["accessors"][own[0]]["count"].as_u64().unwrap() as usize;
    let rigid = gltf.f32s("VEC4", &[1.0, 0.0, 0.0, 0.0].repeat(n));
    gltf.json["accessors"]
        .as_array_mut()
        .unwrap()
        .swap(copies[2], rigid);
    let mesh = gltf.push("meshes", json!({"primitives": [primitive]}));
    let node = gltf.push("nodes", json!({"mesh": mesh, "skin": 0}));
    gltf.json["scenes"][0]["nodes"]
        .as_array_mut()
        .unwrap()
        .push(json!(node));
    gltf.interleave(&[own, copies]);
    let [targets, _] = both_kinds();
    let (_, document, exported) = growth(gltf, targets);
    let json = json_of(&exported);
    for mesh in 0..2 {
        let weights = &json["meshes"][mesh]["primitives"][0]["attributes"]["WEIGHTS_0"];
        let accessor = &json["accessors"][weights.as_u64().unwrap() as usize];
        assert_eq!(accessor["componentType"], 5126);
    }
    assert_eq!(position_view(&json)["byteStride"], 44);
    let read = reopen(&exported);
    for (id, item) in document.meshes() {
        assert_eq!(vertices(item), vertices(&read.meshes()[id]));
        assert_eq!(item.influences, read.meshes()[id].influences);
    }
}

fn position_view(json: &Value) -> &Value {
    let primitive = &json["meshes"][0]["primitives"][0];
    let at = |list: &str, i: &Value| &json[list][i.as_u64().unwrap() as usize];
    at(
        "bufferViews",
        &at("accessors", &primitive["attributes"]["POSITION"])["bufferView"],
    )
}

#[test]
fn rows_that_something_else_reads_stay() {
    let options = || both_kinds()[0].clone();
    let mut gltf = bent();
    let columns = ["POSITION", "JOINTS_0", "WEIGHTS_0"].map(|name| attribute(&gltf, name));
    gltf.interleave(&[columns.to_vec()]);
    let mut shared = gltf.clone();
    // A buffer view over the same bytes.
    let at = shared.json["accessors"][attribute(&shared, "POSITION")]["bufferView"].clone();
    let mut copy = shared.json["bufferViews"][at.as_u64().unwrap() as usize].clone();
    copy["byteStride"] = Value::Null;
    copy.as_object_mut().unwrap().remove("byteStride");
    shared.push("bufferViews", copy);
    let (own, ..) = growth(gltf, options());
    let (grows, document, exported) = growth(shared, options());
    assert!(grows > own + 500, "{grows} {own}");
    assert_eq!(position_view(&json_of(&exported))["byteStride"], 32);
    let read = reopen(&exported);
    assert_eq!(
        vertices(&document.meshes()[&MeshId(0)]),
        vertices(&read.meshes()[&MeshId(0)])
    );
}

#[test]
fn primitives_that_share_their_vertices_share_smaller_weights() {
    let mut gltf = bent();
    // The triangles in two primitives, as of two materials.
    let primitive = gltf.json["meshes"][0]["primitives"][0].clone();
    let triangles = primitive["indices"].as_u64().unwrap() as usize;
    let half = gltf.json["accessors"][triangles]["count"].as_u64().unwrap() / 6 * 3;
    let mut second = gltf.json["accessors"][triangles].clone();
    gltf.json["accessors"][triangles]["count"] = json!(half);
    second["byteOffset"] = json!(2 * half);
    second["count"] = json!(second["count"].as_u64().unwrap() - half);
    let second = gltf.push("accessors", second);
    let mut other = primitive;
    other["indices"] = json!(second);
    gltf.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(other);
    for options in both_kinds() {
        let (_, document, exported) = growth(gltf.clone(), options);
        let json = json_of(&exported);
        let weights = |primitive: usize, name: &str| {
            json["meshes"][0]["primitives"][primitive]["attributes"][name].clone()
        };
        for (name, component) in [("JOINTS_0", 5121), ("WEIGHTS_0", 5123)] {
            assert_eq!(weights(0, name), weights(1, name));
            let accessor = weights(0, name).as_u64().unwrap() as usize;
            assert_eq!(json["accessors"][accessor]["componentType"], component);
        }
        let read = reopen(&exported);
        assert_eq!(
            vertices(&document.meshes()[&MeshId(0)]),
            vertices(&read.meshes()[&MeshId(0)])
        );
    }
}
