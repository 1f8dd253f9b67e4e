//! Channels and keys.

use super::{assert_found, load, load_clean};
use crate::gltf_builder::{Gltf, TRIANGLE, triangle};
use glam::DVec3;
use serde_json::json;
use sinew::document::{ClipId, Parts};
use sinew::finding::Severity;
use sinew::skeleton::{Channel, Interpolation, JointId, Property};
use std::sync::Arc;

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
    assert_found(&findings, "2 keyframes that are not finite");
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
    assert_found(&findings, "6 numbers for 3 keyframes");
    let (parts, _) = load(animated("scale", "LINEAR", &[0.], "VEC3", &[1.0; 6]));
    assert_eq!(channels(&parts)[0].values.len(), 3);
    let (parts, findings) = load(animated("scale", "CUBICSPLINE", &[0.], "VEC3", &[1.0; 6]));
    assert!(channels(&parts).is_empty());
    assert_found(&findings, "gives no keyframe");
    let (parts, findings) = load(animated("rotation", "LINEAR", &[0.], "VEC3", &[1.0; 3]));
    assert!(channels(&parts).is_empty());
    assert_found(&findings, "3 components per element, but 4 are required");
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
    assert_found(&findings, "animates the scale of node 0 again");
    assert_found(&findings, "animates \"pointer\", which is not supported");
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
        parts.skeleton.joint(JointId(0)).rest.scale(),
        DVec3::splat(2.0)
    );
    assert_found(&findings, "the matrix was decomposed");
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
        "animates the morph targets of node 0, which has none",
    );
}
