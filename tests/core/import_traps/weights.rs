//! Influences that do not sum to 1, are missing, broken or doubled.

use super::{JOINTS, assert_found, load, load_clean, mesh, row};
use crate::gltf_builder::skinned;
use serde_json::json;
use std::sync::Arc;

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
    assert_found(&findings, "3 vertices of");
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
        "Vertex 0 of meshes[0].primitives[0] references joint 7",
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
