//! What makes corrected exports smaller: fewer keyframes, and compressed data.

use crate::bake::{corrected, with_stack};
use crate::bake_sources::{bend, document, json_of, tube};
use crate::export_models::{open, reopen};
use serde_json::{Value, json};
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::{ClipId, Document, Edit, MeshId, MeshItem};
use sinew::export::{
    ExportOptions, Exported, GltfFormat, export, preflight, requires_quantization,
};
use sinew::finding::Finding;
use sinew::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use sinew::task::Task;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

fn arm() -> Document {
    let path = format!("{}/assets/arm.glb", env!("CARGO_MANIFEST_DIR"));
    with_stack(open(Path::new(&path)), &DeformStack::dqs())
}

/// The channels of helper joints in a clip.
fn of_helpers(read: &Document, clip: ClipId) -> Vec<&Channel> {
    let is_helper = |joint: JointId| read.skeleton().joint(joint).name.starts_with("Helper");
    let channels = read.clips()[&clip].channels.iter();
    channels.filter(|c| is_helper(c.joint)).collect()
}

#[test]
fn tracks_have_the_keyframes_that_the_tolerance_needs() {
    let mut document = arm();
    // A clip that bends the elbow by half a degree, which is within the tolerance without helper joints.
    let (_, first) = document.clips().first_key_value().unwrap();
    let elbow = &first.channels[0];
    let angles = (0..=20u8).map(|i| 0.25f32.to_radians() * (f32::from(i) * 0.6).sin());
    let still = Channel {
        interpolation: Interpolation::Linear,
        times: (0..=20u8).map(|i| f32::from(i) * 0.1).collect(),
        values: angles
            .flat_map(|half| [half.sin(), 0.0, 0.0, half.cos()])
            .collect(),
        ..elbow.clone()
    };
    assert_eq!(still.property, Property::Rotation);
    let added = ClipId(document.clips().len() as u32);
    let clip = Clip {
        name: "Still".into(),
        channels: vec![still],
        ..Clip::default()
    };
    let mut edit = Edit::Clip {
        id: added,
        clip: Some(Arc::new(clip)),
    };
    document.apply(&mut edit).unwrap();
    let (exported, report) = corrected(&document, BakeOptions::default());
    assert!(report.met && report.max_percent <= 0.1, "{report:?}");
    assert!(report.helper_joints > 0);
    let read = reopen(&exported);
    assert_eq!(of_helpers(&read, added).len(), 0);
    let (mut n_keys, mut most) = (0, 0);
    for &other in document.clips().keys().filter(|id| **id != added) {
        let tracks = of_helpers(&read, other);
        let times = tracks.iter().flat_map(|c| c.times.iter());
        let all: BTreeSet<u32> = times.map(|t| t.to_bits()).collect();
        n_keys += tracks.iter().map(|c| c.times.len()).sum::<usize>();
        most += tracks.len() * all.len();
    }
    println!("{n_keys} keyframes of {most}");
    assert!(most > 0 && 10 * n_keys < 9 * most);
}

/// A tube of two joints that bends, corrected with morph targets alone.
fn bent(how: &str, options: BakeOptions) -> (Document, Exported) {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", how);
    let document = document(gltf);
    let options = BakeOptions {
        max_joints: 2,
        ..options
    };
    let (exported, report) = corrected(&document, options);
    println!("{}", report.summary());
    assert!(report.met && report.helper_joints == 0 && report.morph_targets > 0);
    (document, exported)
}

/// An accessor of a file, by its index.
fn accessor<'a>(json: &'a Value, index: &Value) -> &'a Value {
    &json["accessors"][index.as_u64().unwrap() as usize]
}

/// The component type of an accessor, and whether it is normalised.
fn component(json: &Value, index: &Value) -> (Option<u64>, bool) {
    let accessor = accessor(json, index);
    let normalized = accessor["normalized"] == true;
    (accessor["componentType"].as_u64(), normalized)
}

/// The sampler of the weights track of the only clip.
fn weights_sampler(json: &Value) -> &Value {
    let clip = &json["animations"][0];
    let mut channels = clip["channels"].as_array().unwrap().iter();
    let channel = channels.find(|c| c["target"]["path"] == "weights");
    &clip["samplers"][channel.unwrap()["sampler"].as_u64().unwrap() as usize]
}

#[test]
fn weights_of_targets_take_a_byte_if_the_tolerance_allows_it_and_those_of_vertices_two() {
    let quantize = BakeOptions {
        quantize: true,
        ..BakeOptions::default()
    };
    let finer = BakeOptions {
        // So fine that 16 bits need scaled targets.
        tolerance: 2e-4,
        ..quantize.clone()
    };
    for (how, options, of_weights) in [
        ("LINEAR", BakeOptions::default(), 5121),
        ("STEP", BakeOptions::default(), 5121),
        ("LINEAR", quantize, 5121),
        ("LINEAR", finer, 5123),
    ] {
        let (document, exported) = bent(how, options);
        let json = json_of(&exported);
        let sampler = weights_sampler(&json);
        assert_eq!(
            component(&json, &sampler["output"]),
            (Some(of_weights), true)
        );
        // No row changes, but floats of corrected meshes become 16 bits.
        let primitive = &json["meshes"][0]["primitives"][0];
        let attributes = &primitive["attributes"];
        assert_eq!(
            component(&json, &attributes["JOINTS_0"]),
            (Some(5121), false)
        );
        assert_eq!(
            component(&json, &attributes["WEIGHTS_0"]),
            (Some(5123), true)
        );
        let read = reopen(&exported);
        let (own, read) = (&document.meshes()[&MeshId(0)], &read.meshes()[&MeshId(0)]);
        for point in 0..own.influences.len() as u32 {
            let weights = |item: &MeshItem| -> BTreeMap<u16, f32> {
                let pairs = item.influences.row(point).iter();
                pairs.filter(|pair| pair.1 > 0.0).collect()
            };
            let (own, read) = (weights(own), weights(read));
            for slot in own.keys().chain(read.keys()) {
                let of = |row: &BTreeMap<u16, f32>| row.get(slot).copied().unwrap_or(0.0);
                assert!((of(&own) - of(&read)).abs() <= 2.0 / 65535.0);
            }
        }
        // glTF requires bounds of displacements only.
        for target in primitive["targets"].as_array().unwrap() {
            let has_bounds = |name: &str| accessor(&json, &target[name]).get("min").is_some();
            assert!(has_bounds("POSITION"));
            let sparse = accessor(&json, &target["NORMAL"]).get("sparse");
            assert!(sparse.is_none() || !has_bounds("NORMAL"));
        }
    }
}

#[test]
fn targets_are_quantized_if_the_model_requires_that_of_players() {
    for requires in [true, false] {
        let mut gltf = tube(2);
        bend(&mut gltf, "Bend", "LINEAR");
        if requires {
            for key in ["extensionsUsed", "extensionsRequired"] {
                gltf.json[key] = json!(["KHR_mesh_quantization"]);
            }
        }
        let document = document(gltf);
        assert_eq!(requires_quantization(&document), requires);
        let options = BakeOptions {
            max_joints: 2,
            ..BakeOptions::default()
        };
        let all = ExportOptions {
            correct: Some(options.clone()),
            ..ExportOptions::default()
        };
        let found = preflight(&document, &all);
        let says = |finding: &Finding| finding.message.contains("KHR_mesh_quantization");
        assert_eq!(
            found.iter().filter(|f| says(f)).count(),
            usize::from(requires)
        );
        let (exported, report) = corrected(&document, options);
        assert!(report.met && report.morph_targets > 0, "{report:?}");
        let json = json_of(&exported);
        let targets = json["meshes"][0]["primitives"][0]["targets"].as_array();
        let are = |name: &str, kind: (Option<u64>, bool)| {
            let mut targets = targets.unwrap().iter();
            targets.any(|target| component(&json, &target[name]) == kind)
        };
        assert_eq!(are("POSITION", (Some(5122), true)), requires);
        assert_eq!(are("NORMAL", (Some(5120), true)), requires);
    }
}

#[test]
fn signed_weights_need_no_more_keyframes() {
    let keyframes = |unipolar: bool| {
        let options = BakeOptions {
            unipolar,
            ..BakeOptions::default()
        };
        let (_, exported) = bent("LINEAR", options);
        let json = json_of(&exported);
        let sampler = weights_sampler(&json);
        let times = accessor(&json, &sampler["input"])["count"].as_u64();
        (times.unwrap(), component(&json, &sampler["output"]))
    };
    let (unsigned, signed) = (keyframes(true), keyframes(false));
    println!("{unsigned:?} {signed:?}");
    assert_eq!(signed.1, (Some(5126), false));
    assert!(signed.0 <= unsigned.0 + 1);
}

#[test]
fn compressed_files_are_smaller_and_hold_the_same() {
    let document = arm();
    for (format, correct) in [
        (GltfFormat::Glb, Some(BakeOptions::default())),
        (GltfFormat::Gltf, None),
    ] {
        let write = |meshopt: bool| {
            let options = ExportOptions {
                format,
                meshopt,
                correct: correct.clone(),
                ..ExportOptions::default()
            };
            export(&document, &options, &Task::new()).unwrap()
        };
        let (plain, small) = (write(false), write(true));
        let size = |files: &[(String, bytes::Bytes)]| -> usize {
            files.iter().map(|(_, bytes)| bytes.len()).sum()
        };
        let sizes = (size(&plain.files), size(&small.files));
        println!("{sizes:?}");
        assert!(10 * sizes.1 < 8 * sizes.0, "{sizes:?}");
        let (plain, small) = (reopen(&plain), reopen(&small));
        assert_eq!(plain.clips(), small.clips());
        for (id, item) in plain.meshes() {
            let other = &small.meshes()[id];
            assert_eq!(item.geometry.positions, other.geometry.positions);
            assert_eq!(item.geometry.normals, other.geometry.normals);
            assert_eq!(item.influences, other.influences);
            let source = small.source().unwrap();
            let required = source.json["extensionsRequired"].to_string();
            assert!(required.contains("EXT_meshopt_compression"), "{required}");
        }
    }
}
