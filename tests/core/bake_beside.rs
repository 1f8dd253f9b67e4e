//! What a corrected file holds besides: animations that Sinew reads nothing of, others that draw the same mesh, morph
//! targets of more than places; and files in which there is nothing to look at.

use crate::bake::corrected;
use crate::bake_sources::{add_morphs, bend, channel, document, draw, json_of, tube};
use crate::export_models::reopen;
use crate::gltf_builder::Gltf;
use serde_json::{Value, json};
use sinew::bake::BakeOptions;
use sinew::document::{ClipId, Document, Edit};
use sinew::export::{Exported, read_back};
use sinew::finding::Severity;
use sinew::skeleton::Clip;
use sinew::task::Task;
use std::sync::Arc;

/// Options that leave no room for helper joints.
fn targets_only() -> BakeOptions {
    BakeOptions {
        max_joints: 2,
        ..BakeOptions::default()
    }
}

/// An animation of whose channels Sinew reads none.
fn unread(gltf: &mut Gltf, name: &str, target: &Value) {
    let input = gltf.f32s("SCALAR", &[0.0, 1.0]);
    let output = gltf.f32s("SCALAR", &[0.0, 1.0]);
    let animation = json!({
        "name": name,
        "channels": [{"sampler": 0, "target": target}],
        "samplers": [{"input": input, "output": output}]
    });
    gltf.push("animations", animation);
}

fn set_clip(document: &mut Document, id: u32, clip: Clip) {
    let (id, clip) = (ClipId(id), Some(Arc::new(clip)));
    document.apply(&mut Edit::Clip { id, clip }).unwrap();
}

/// The names of the clips that were exported, by those that a reader finds for them.
fn pairs(document: &Document, exported: &Exported) -> Vec<(String, String)> {
    let back = read_back(document, exported, &Task::new()).unwrap();
    let pairs = back.clips.iter().map(|(own, read)| {
        let name = |document: &Document, id| document.clips()[id].name.clone();
        (name(document, own), name(&back.document, read))
    });
    pairs.collect()
}

#[test]
fn animations_that_are_not_read_stay_and_nothing_is_missed() {
    let mut gltf = tube(2);
    let pointer = json!({
        "path": "pointer",
        "extensions": {"KHR_animation_pointer": {"pointer": "/materials/0/alphaCutoff"}}
    });
    unread(&mut gltf, "Pointer", &pointer);
    bend(&mut gltf, "Bend", "LINEAR");
    unread(&mut gltf, "Weights", &json!({"node": 0, "path": "weights"}));
    let mut document = document(gltf);
    let same = |names: &[&str]| -> Vec<(String, String)> {
        let pairs = names.iter().map(|n| ((*n).to_owned(), (*n).to_owned()));
        pairs.collect()
    };
    let (exported, report) = corrected(&document, BakeOptions::default());
    assert!(report.met && report.before_max_percent > 0.1, "{report:?}");
    let names = same(&["Pointer", "Bend", "Weights"]);
    assert_eq!(pairs(&document, &exported), names);
    assert_eq!(reopen(&exported).clips().len(), 3);

    // One with another name stays too, one that was taken out does not, and a new one without keys has no place.
    let mut renamed = Clip::clone(&document.clips()[&ClipId(0)]);
    renamed.name = "Pointer 2".into();
    set_clip(&mut document, 0, renamed);
    let (id, clip) = (ClipId(2), None);
    document.apply(&mut Edit::Clip { id, clip }).unwrap();
    set_clip(&mut document, 7, Clip::default());
    let (exported, report) = corrected(&document, BakeOptions::default());
    assert!(report.met, "{report:?}");
    assert_eq!(pairs(&document, &exported), same(&["Pointer 2", "Bend"]));
    assert_eq!(
        json_of(&exported)["animations"].as_array().unwrap().len(),
        2
    );
}

#[test]
fn tracks_of_others_that_draw_the_mesh_are_widened() {
    let mut gltf = tube(2);
    add_morphs(&mut gltf, false);
    let other = draw(&mut gltf, 0, 0);
    let node = gltf.json["nodes"][other].as_object_mut().unwrap();
    node.remove("skin");
    let clip = bend(&mut gltf, "Bend", "LINEAR");
    let weights = [0.0, 0.25, 1.0, 0.5];
    channel(
        &mut gltf,
        clip,
        other,
        "weights",
        "STEP",
        &[0.0, 0.5],
        &weights,
    );
    let document = document(gltf);
    let (exported, report) = corrected(&document, targets_only());
    assert!(report.met && report.morph_targets > 0, "{report:?}");
    let read = reopen(&exported);
    let channels = &read.clips()[&ClipId(0)].channels;
    let widened = channels.iter().find(|c| c.joint.get() == other).unwrap();
    let width = 2 + report.morph_targets;
    assert_eq!(widened.values.len(), 2 * width);
    for (row, weights) in widened.values.chunks(width).zip(weights.chunks(2)) {
        assert_eq!(&row[..2], weights);
        assert!(row[2..].iter().all(|w| *w == 0.0));
    }
}

#[test]
fn new_targets_have_the_attributes_of_the_others_in_their_types() {
    for sparse in [true, false] {
        let mut gltf = tube(2);
        add_morphs(&mut gltf, false);
        let kinds = [
            ("TEXCOORD_0", "VEC2", 2),
            ("COLOR_0", "VEC3", 3),
            ("COLOR_1", "VEC4", 4),
        ];
        for (name, kind, width) in kinds {
            let base = gltf.f32s(kind, &vec![0.5; 200 * width]);
            let moved = gltf.f32s(kind, &vec![0.25; 200 * width]);
            let primitive = &mut gltf.json["meshes"][0]["primitives"][0];
            primitive["attributes"][name] = json!(base);
            for target in primitive["targets"].as_array_mut().unwrap() {
                target[name] = json!(moved);
            }
        }
        bend(&mut gltf, "Bend", "LINEAR");
        let options = BakeOptions {
            sparse,
            ..targets_only()
        };
        let (exported, report) = corrected(&document(gltf), options);
        assert!(report.met && report.morph_targets > 0, "{report:?}");
        let json = json_of(&exported);
        let targets = &json["meshes"][0]["primitives"][0]["targets"];
        for target in targets.as_array().unwrap() {
            for (name, kind, _) in kinds {
                let accessor = &json["accessors"][target[name].as_u64().unwrap() as usize];
                assert_eq!(
                    (&accessor["type"], &accessor["count"]),
                    (&json!(kind), &json!(200))
                );
                assert!(sparse || accessor.get("bufferView").is_some());
            }
        }
    }
}

#[test]
fn without_a_clip_nothing_is_promised() {
    let lacks = |document: &Document, options: BakeOptions| {
        let (exported, report) = corrected(document, options);
        assert!(
            report.lacks_clip && !report.met && !report.nothing_to_do,
            "{report:?}"
        );
        assert!(report.summary().contains("There is no clip to correct"));
        let first = &exported.report.findings[0];
        assert_eq!(first.severity, Severity::Warning);
        assert_eq!(first.message, report.summary());
    };
    lacks(&document(tube(2)), BakeOptions::default());
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    let mut document = document(gltf);
    let mut preview = Clip::clone(&document.clips()[&ClipId(0)]);
    preview.preview = true;
    set_clip(&mut document, 1, preview);
    let clips = vec![ClipId(1)];
    let options = BakeOptions {
        clips,
        ..BakeOptions::default()
    };
    lacks(&document, options);
}
