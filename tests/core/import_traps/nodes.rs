//! Transforms, trees that are none, scenes and names.

use super::{assert_found, load};
use crate::gltf_builder::{Gltf, triangle};
use glam::{DMat3, DQuat, DVec3};
use serde_json::{Value, json};
use sinew::skeleton::JointId;

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
    assert_found(&findings, "nodes[2].rotation has length 0.000");
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
        "nodes[0] has node 2 as a child, which is its ancestor",
    );
    assert_found(
        &findings,
        "nodes[5] has node 5 as a child, which is the node itself",
    );

    let two = Gltf::new(json!({"nodes": [{"children": [2]}, {"children": [2]}, {}]}));
    let (parts, findings) = load(two);
    assert_eq!(parts.skeleton.joint(JointId(2)).parent, Some(JointId(0)));
    assert_found(&findings, "which already has a parent");
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
    assert_found(&findings, "nodes[4].name should be a string.");
}
