//! Skins, and meshes that several draw.

use super::{JOINTS, assert_found, load, load_clean, mesh, row};
use crate::gltf_builder::{skinned, triangle};
use glam::{DAffine3, DVec3};
use serde_json::json;
use sinew::document::{InstanceId, SkinId};
use sinew::skeleton::JointId;

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
    assert_eq!(parts.skins[&SkinId(83)].joints, [JointId(1), JointId(2)]);
}

#[test]
fn a_mesh_of_two_skins_may_only_use_the_joints_of_both() {
    let mut gltf = skinned(JOINTS, [[0.5, 0.5, 0., 0.]; 3]);
    gltf.push("skins", json!({"joints": [1]}));
    gltf.push("nodes", json!({"mesh": 0, "skin": 1}));
    let (parts, findings) = load(gltf);
    assert_eq!(row(mesh(&parts, 0), 0), [(0, 1.0)]);
    assert_found(&findings, "references joint 1");
}

#[test]
fn a_skinned_node_keeps_its_transform_as_a_joint_and_draws_with_its_skin() {
    let parts = load_clean(skinned(JOINTS, [[0.5, 0.5, 0., 0.]; 3]));
    let instance = &parts.instances[&InstanceId(0)];
    assert_eq!(
        (instance.skin, instance.joint),
        (Some(SkinId(0)), JointId(0))
    );
    let joints = parts.skeleton.joints();
    assert_eq!(joints[0].rest.translation, DVec3::splat(9.0));
    assert_eq!(
        (joints[2].name.as_str(), joints[2].parent),
        ("B", Some(JointId(1)))
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
    assert_eq!(parts.skins[&SkinId(0)].joints[2], JointId(2));
    assert_found(
        &findings,
        "The index 77 of skins[0].joints[1] is outside of the 3 nodes.",
    );
}

#[test]
fn a_joint_that_a_skin_lists_twice_is_reported_and_kept() {
    let mut gltf = skinned(JOINTS, [[1., 0., 0., 0.]; 3]);
    gltf.json["skins"] = json!([{"joints": [1, 2, 1]}]);
    let (parts, findings) = load(gltf);
    assert_eq!(parts.skins[&SkinId(0)].joints.len(), 3);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_found(
        &findings,
        "skins[0].joints lists node 1 more than once, in entries 0 and 2",
    );
}

#[test]
fn inverse_bind_matrices_that_are_not_affine_are_reported_where_they_weigh() {
    let mut matrix = [0.0f32; 16];
    for i in [0, 5, 10, 15] {
        matrix[i] = 1.0;
    }
    for (entry, number, n_findings) in [
        (3, 0.5, 1),
        (15, 2.0, 1),
        (15, f32::NAN, 1),
        (15, 1.000_001, 0),
    ] {
        for (weights, n_findings) in [
            ([[0., 1., 0., 0.]; 3], n_findings),
            ([[1., 0., 0., 0.]; 3], 0),
        ] {
            let mut odd = matrix;
            odd[entry] = number;
            let mut gltf = skinned(JOINTS, weights);
            let accessor = gltf.f32s("MAT4", [matrix, odd].as_flattened());
            gltf.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
            let (_, findings) = load(gltf);
            assert_eq!(findings.len(), n_findings, "{entry} {number}: {findings:?}");
            if n_findings > 0 {
                assert_found(&findings, "is not 0 0 0 1");
            }
        }
    }
}

#[test]
fn a_skin_whose_joints_have_no_common_root_is_reported() {
    let mut gltf = skinned(JOINTS, [[1., 0., 0., 0.]; 3]);
    gltf.json["nodes"][1] = json!({"name": "A"});
    let (_, findings) = load(gltf);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_found(
        &findings,
        "The joints of skins[0] have no common root: they lie under 2 separate nodes, such as 1 and 2.",
    );
}
