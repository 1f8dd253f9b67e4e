//! What corrections add to a file's size: what they replace is written over, and nothing else changes.

use crate::bake::{corrected, with_stack};
use crate::bake_sources::{bend, document, json_of, tube};
use crate::export_models::open;
use serde_json::{Value, json};
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::Document;
use sinew::export::{ExportOptions, Exported, GltfFormat, export};
use sinew::task::Task;
use std::collections::BTreeSet;
use std::path::Path;

fn hand() -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/hand.glb");
    with_stack(open(&path), &DeformStack::dqs())
}

/// The binary chunk of a file.
fn bin(exported: &Exported) -> Vec<u8> {
    let bytes = &exported.files[0].1;
    let json = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    bytes[20 + json + 8..].to_vec()
}

fn number(entry: &Value, key: &str) -> usize {
    entry.get(key).map_or(0, |n| n.as_u64().unwrap() as usize)
}

/// Accessors that a skin or weights of vertices have, which corrections replace.
fn replaced(json: &Value) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut add = |value: &Value| {
        found.extend(value.as_u64().map(|n| n as usize));
    };
    for mesh in json["meshes"].as_array().unwrap() {
        for primitive in mesh["primitives"].as_array().unwrap() {
            for (key, accessor) in primitive["attributes"].as_object().unwrap() {
                if key.starts_with("JOINTS_") || key.starts_with("WEIGHTS_") {
                    add(accessor);
                }
            }
        }
    }
    for skin in json["skins"].as_array().unwrap() {
        add(&skin["inverseBindMatrices"]);
    }
    found
}

/// The view of an accessor, and its bytes.
fn view<'a>(json: &'a Value, bin: &'a [u8], accessor: usize) -> (&'a Value, &'a [u8]) {
    let view = &json["bufferViews"][number(&json["accessors"][accessor], "bufferView")];
    let start = number(view, "byteOffset");
    (view, &bin[start..start + number(view, "byteLength")])
}

#[test]
fn corrections_take_the_place_of_what_they_replace() {
    let document = hand();
    let source = document.source().unwrap().clone();
    let (exported, report) = corrected(&document, BakeOptions::default());
    assert!(report.met && report.helper_joints > 0, "{report:?}");
    let (json, bin) = (json_of(&exported), bin(&exported));
    let before = &source.buffers[0];
    let loose = replaced(&source.json);
    for i in 0..source.json["accessors"].as_array().unwrap().len() {
        if !loose.contains(&i) {
            assert_eq!(json["accessors"][i], source.json["accessors"][i]);
            assert_eq!(view(&json, &bin, i), view(&source.json, before, i));
        }
    }
    // The old weights take 20 bytes a vertex, the new ones 12: all the rest that was free is used before any is added.
    let ranges = json["bufferViews"].as_array().unwrap().iter();
    let held: usize = ranges.map(|view| number(view, "byteLength")).sum();
    let added = exported.report.n_bytes_added;
    assert_eq!(bin.len(), before.len() + added);
    let unused = bin.len() - held;
    assert!(
        added == 0 || unused < 512,
        "{unused} of {}, {added} added",
        bin.len()
    );
}

#[test]
fn tracks_and_targets_share_views() {
    let (exported, report) = corrected(&hand(), BakeOptions::default());
    let json = json_of(&exported);
    let source = hand().source().unwrap().json.clone();
    let n = |json: &Value, key: &str| json[key].as_array().unwrap().len();
    let n_accessors = n(&json, "accessors") - n(&source, "accessors");
    let n_views = n(&json, "bufferViews") - n(&source, "bufferViews");
    assert!(
        report.morph_targets > 0 && n_accessors > 20,
        "{n_accessors}"
    );
    assert!(n_views < 6, "{n_views} views of {n_accessors} accessors");
    for accessor in json["accessors"].as_array().unwrap() {
        let size = match accessor["componentType"].as_u64().unwrap() {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            _ => 4,
        };
        assert!(number(accessor, "byteOffset").is_multiple_of(size));
    }
}

#[test]
fn files_beside_a_model_stay_as_they_are() {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    let folder = tempfile::tempdir().unwrap();
    let glb = document(gltf);
    let options = ExportOptions {
        format: GltfFormat::Gltf,
        name: "tube".into(),
        ..ExportOptions::default()
    };
    let plain = export(&glb, &options, &Task::new()).unwrap();
    for (name, bytes) in &plain.files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let beside = with_stack(open(&folder.path().join("tube.gltf")), &DeformStack::dqs());
    let options = ExportOptions {
        correct: Some(BakeOptions::default()),
        name: "new".into(),
        ..options
    };
    let exported = export(&beside, &options, &Task::new()).unwrap();
    let own = |files: &[(String, bytes::Bytes)]| {
        let found = files.iter().find(|(name, _)| name == "tube.bin");
        found.unwrap().1.clone()
    };
    assert_eq!(own(&exported.files), own(&plain.files));
    let json: Value = serde_json::from_slice(&exported.files[0].1).unwrap();
    assert_eq!(json["buffers"][0]["uri"], json!("tube.bin"));
    assert_eq!(json["buffers"][1]["uri"], json!("new.bin"));
}
