//! What an export says of odd sources is what players show: corrections that are not better, files cut short, repairs, rest
//! poses without size, models far away, meshes of joints and primitives without vertices.

use crate::bake::{corrected, with_stack};
use crate::bake_sources::{bend, channel, document, json_of, tube};
use crate::cli;
use crate::export_models::{open, reopen};
use crate::gltf_builder::Gltf;
use serde_json::{Value, json};
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::Document;
use sinew::export::{CorrectionReport, ExportOptions, Exported, export};
use sinew::io::import_bytes;
use sinew::skeleton::JointId;
use sinew::task::Task;

fn bent() -> Gltf {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    gltf
}

/// A document that is shown as players do.
fn linear(gltf: Gltf) -> Document {
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    with_stack(Document::new(imported.parts).unwrap(), &DeformStack::lbs())
}

fn made(document: &Document) -> (Exported, CorrectionReport) {
    let (exported, report) = corrected(document, BakeOptions::default());
    println!("{}", report.summary());
    for finding in &exported.report.findings {
        println!("{finding}");
    }
    (exported, report)
}

/// A walk of 10 keyframes in which the hips, and all else, are smaller than rounding at first: what a correction adds to
/// the full size is far larger than the character then.
#[test]
fn a_correction_that_is_not_better_is_not_exported() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/vanishing.glb");
    let (exported, report) = made(&open(fixture.as_ref()));
    let rejected = report.rejected_percent.unwrap();
    assert!(rejected >= report.before_max_percent, "{report:?}");
    assert_eq!(report.max_percent, report.before_max_percent);
    assert!(!report.met && !report.nothing_to_do && report.meshes.is_empty());
    assert_eq!(exported.files[0].1, std::fs::read(fixture).unwrap());
    assert!(report.summary().contains("has no correction"));
    let findings = &exported.report.findings;
    assert!(findings[0].message.contains("missed"), "{findings:?}");
    assert!(
        findings[1].message.contains("no correction"),
        "{findings:?}"
    );
}

#[test]
fn a_file_that_is_cut_short_is_not_exported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (from, to) = (path("cut.glb"), path("out.glb"));
    let bytes = bent().glb();
    std::fs::write(&from, &bytes[..bytes.len() - 60]).unwrap();
    for correct in ["none", "clips"] {
        let said = cli::fails(&["export", &from, "--correct", correct, "--out", &to], 1);
        assert!(said.contains("cut short"), "{said}");
        assert!(!std::path::Path::new(&to).exists());
    }
    std::fs::write(&from, &bytes).unwrap();
    cli::done(&["export", &from, "--correct", "none", "--out", &to]);
}

/// The numbers of an accessor as the file has them.
fn raw(exported: &Exported, accessor: &Value) -> Vec<f32> {
    let bytes = &exported.files[0].1;
    let file = gltf::Gltf::from_slice_without_validation(bytes).unwrap();
    let accessor = file.accessors().nth(accessor.as_u64().unwrap() as usize);
    let accessor = accessor.unwrap();
    let view = accessor.view().unwrap();
    let start = view.offset() + accessor.offset();
    let n = accessor.count() * accessor.dimensions().multiplicity();
    let blob = file.blob.as_deref().unwrap();
    bytemuck::pod_collect_to_vec(&blob[start..start + 4 * n])
}

fn accessor_of(json: &Value, sampler: usize, key: &str) -> Value {
    json["animations"][0]["samplers"][sampler][key].clone()
}

#[test]
fn what_was_repaired_on_reading_is_in_the_file_where_its_error_is_measured() {
    let sound = bent().glb();
    let (exported, report) = made(&linear(bent()));
    assert_eq!(exported.files[0].1, sound);
    assert!(report.nothing_to_do && report.met);

    let mut gltf = bent();
    let json = gltf.json.clone();
    let number = |value: &Value| value.as_u64().unwrap() as usize;
    let sampler = &json["animations"][0]["samplers"][0];
    gltf.change_f32s(number(&sampler["output"]), |all| {
        all[4..8].iter_mut().for_each(|x| *x *= 1.5);
    });
    gltf.change_f32s(number(&sampler["input"]), |all| all.swap(0, 1));
    gltf.change_f32s(number(&json["skins"][0]["inverseBindMatrices"]), |all| {
        all[0] = f32::NAN;
    });
    gltf.json["nodes"][1]["rotation"] = json!([0, 0, 0.3, 1.2]);
    let source = gltf.clone().glb();
    let document = linear(gltf);
    let (exported, report) = made(&document);
    assert!(report.met && report.nothing_to_do, "{report:?}");
    let json = json_of(&exported);
    let times = raw(&exported, &accessor_of(&json, 0, "input"));
    assert!(times.is_sorted(), "{times:?}");
    for q in raw(&exported, &accessor_of(&json, 0, "output")).chunks(4) {
        let length = q.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-5, "{q:?}");
    }
    let matrices = raw(&exported, &json["skins"][0]["inverseBindMatrices"]);
    assert!(matrices.iter().all(|x| x.is_finite()), "{matrices:?}");
    let rotation = json["nodes"][1]["rotation"].as_array().unwrap();
    let square: f64 = rotation.iter().map(|x| x.as_f64().unwrap().powi(2)).sum();
    assert!((square - 1.0).abs() < 1e-6, "{rotation:?}");
    assert!(reopen(&exported).source().unwrap().repairs.is_empty());
    // Without a claim about its error, the file stays as it is.
    let plain = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
    assert_eq!(plain.files[0].1, source);
}

/// A tube that bends while its armature grows from `first` to `last`; at rest it has the size `first`.
fn appearing(first: f32, last: f32) -> Document {
    let mut gltf = bent();
    gltf.json["nodes"][1]["scale"] = json!([first, first, first]);
    let sizes = [[first; 3], [last; 3]].concat();
    channel(&mut gltf, 0, 1, "scale", "LINEAR", &[0.0, 0.4], &sizes);
    document(gltf)
}

#[test]
fn a_rest_pose_without_size_takes_its_size_from_the_clips() {
    for (first, last) in [(0.0, 1.0), (1e-6, 1.0), (0.0, 0.001)] {
        let (_, report) = made(&appearing(first, last));
        let size = report.diagonal / f64::from(last);
        assert!((1.5..2.5).contains(&size), "{first}, {last}: {report:?}");
        assert!(report.before_max_percent > 0.5, "{report:?}");
        assert!(report.met && report.morph_targets > 0, "{report:?}");
    }
}

#[test]
fn errors_below_the_rounding_of_positions_are_not_aimed_at() {
    let mut gltf = bent();
    gltf.json["nodes"][1]["translation"] = json!([1e7, 0, 0]);
    let (exported, report) = made(&document(gltf));
    assert!(report.rounding_percent > 100.0, "{report:?}");
    assert_eq!((report.morph_targets, report.helper_joints), (0, 0));
    let findings = &exported.report.findings;
    assert!(
        findings
            .iter()
            .any(|f| f.message.contains("far from the origin"))
    );
    // Beside the origin, rounding is not worth a word.
    let (_, report) = made(&document(bent()));
    assert!(report.met && report.rounding_percent == 0.0, "{report:?}");
}

#[test]
fn morph_targets_of_a_mesh_that_a_joint_draws_are_animated_beside_it() {
    let mut gltf = bent();
    let identity = [
        1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.,
    ];
    let mut second = identity;
    second[13] = -1.0;
    let matrices = gltf.f32s("MAT4", &[identity, second, identity].concat());
    gltf.json["skins"][0] = json!({"joints": [1, 2, 0], "inverseBindMatrices": matrices});
    let document = document(gltf);
    let (exported, report) = made(&document);
    assert!(report.met && report.morph_targets > 0, "{report:?}");
    let json = json_of(&exported);
    let nodes = json["nodes"].as_array().unwrap();
    let (last, joint) = (nodes.len() - 1, &nodes[0]);
    assert!(joint.get("mesh").is_none() && joint.get("skin").is_none());
    assert!(
        joint.get("children").is_none(),
        "a skinned mesh is drawn by a root: {joint}"
    );
    let roots = json["scenes"][0]["nodes"].as_array().unwrap();
    assert_eq!(roots.last(), Some(&json!(last)));
    assert_eq!(
        (&nodes[last]["mesh"], &nodes[last]["skin"]),
        (&json!(0), &json!(0))
    );
    let channels = json["animations"][0]["channels"].as_array().unwrap();
    let weights = channels.iter().filter(|c| c["target"]["path"] == "weights");
    let nodes: Vec<&Value> = weights.map(|c| &c["target"]["node"]).collect();
    assert_eq!(nodes, [&json!(last)]);
    let instances = exported.report.instances.clone().unwrap();
    let read = reopen(&exported);
    let there = &read.instances()[instances.values().next().unwrap()];
    assert_eq!(there.joint, JointId(last as u32));
}

#[test]
fn one_of_several_channels_with_a_target_is_written() {
    let mut gltf = bent();
    // Players blend the two, or play one of them.
    let still = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let clip = 0;
    let first = gltf.json["animations"][clip]["channels"][0].clone();
    let node = first["target"]["node"].as_u64().unwrap() as usize;
    channel(
        &mut gltf,
        clip,
        node,
        "rotation",
        "LINEAR",
        &[0.0, 1.0],
        &still,
    );
    let channels = gltf.json["animations"][clip]["channels"]
        .as_array_mut()
        .unwrap();
    channels.rotate_right(1);
    let (exported, report) = made(&linear(gltf));
    assert!(report.met, "{report:?}");
    let json = json_of(&exported);
    let channels = json["animations"][clip]["channels"].as_array().unwrap();
    let targets = channels.iter().filter(|c| c["target"] == first["target"]);
    assert_eq!(targets.count(), 1, "{channels:?}");
    let read = reopen(&exported);
    assert!(read.source().unwrap().repairs.is_empty());
    // The last one of the source: the bend.
    let bend = read.clips().values().next().unwrap();
    let turning = bend
        .channels
        .iter()
        .find(|c| c.joint == JointId(node as u32));
    assert_eq!(turning.unwrap().times.len(), 3);
}

#[test]
fn a_primitive_without_vertices_gets_no_targets() {
    let mut gltf = bent();
    let primitives = gltf.json["meshes"][0]["primitives"].as_array_mut().unwrap();
    let mut empty = primitives[0].clone();
    empty["attributes"]
        .as_object_mut()
        .unwrap()
        .shift_remove("POSITION");
    primitives.insert(0, empty);
    let (exported, report) = made(&document(gltf));
    assert!(report.met && report.morph_targets > 0, "{report:?}");
    let json = json_of(&exported);
    let primitives = json["meshes"][0]["primitives"].as_array().unwrap();
    assert_eq!(primitives.len(), 1);
    assert!(primitives[0]["attributes"].get("POSITION").is_some());
    for accessor in json["accessors"].as_array().unwrap() {
        assert!(accessor["count"].as_u64() > Some(0), "{accessor}");
    }
    let findings = &exported.report.findings;
    assert!(
        findings
            .iter()
            .any(|f| f.message.contains("no vertex with a position"))
    );
}
