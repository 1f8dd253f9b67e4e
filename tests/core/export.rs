//! What an export writes, and what it leaves alone.

use crate::export_models::{assert_same_weights, edit_weights, reopen, shift};
use serde_json::{Value, json};
use sinew::bake::BakeOptions;
use sinew::document::{ClipId, Document, Edit, MeshId};
use sinew::export::{ExportError, ExportOptions, Exported, GltfFormat, export, export_to_file};
use sinew::io::Outputs;
use sinew::io::import_bytes;
use sinew::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use sinew::skinning::{RowRef, Rows};
use sinew::task::Task;
use std::path::Path;
use std::sync::Arc;

/// A buffer in the making: views and accessors of its own for each array.
#[derive(Default)]
struct Data {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Data {
    fn floats(&mut self, kind: &str, width: usize, values: &[f32]) -> usize {
        let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let i = self.add(5126, kind, values.len() / width, bytes);
        if kind != "VEC4" {
            let fold = |f: fn(f32, f32) -> f32, start: f32| -> Vec<f32> {
                (0..width)
                    .map(|c| {
                        values
                            .iter()
                            .skip(c)
                            .step_by(width)
                            .fold(start, |a, &b| f(a, b))
                    })
                    .collect()
            };
            self.accessors[i]["min"] = json!(fold(f32::min, f32::INFINITY));
            self.accessors[i]["max"] = json!(fold(f32::max, f32::NEG_INFINITY));
        }
        i
    }

    fn add(&mut self, component: u32, kind: &str, count: usize, bytes: Vec<u8>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views
            .push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()}));
        self.bytes.extend(bytes);
        self.accessors.push(
            json!({"bufferView": self.views.len() - 1, "componentType": component,
            "count": count, "type": kind}),
        );
        self.accessors.len() - 1
    }
}

const N: usize = 6;

/// Two meshes of six vertices that share all their attributes, a skin of three joints, two clips of one time accessor.
fn model() -> Value {
    let mut data = Data::default();
    let positions: Vec<f32> = (0..N)
        .flat_map(|i| [i as f32, (i % 2) as f32, 0.0])
        .collect();
    let position = data.floats("VEC3", 3, &positions);
    let joints = data.add(
        5121,
        "VEC4",
        N,
        (0..N)
            .flat_map(|i| [i as u8 % 3, (i as u8 + 1) % 3, 0, 0])
            .collect(),
    );
    let weights = data.floats("VEC4", 4, &[0.75, 0.25, 0.0, 0.0].repeat(N));
    let time = data.floats("SCALAR", 1, &[0.0, 0.5, 1.0]);
    let turn = data.floats("VEC4", 4, &[0.0, 0.0, 0.0, 1.0].repeat(3));
    let attributes = json!({"POSITION": position, "JOINTS_0": joints, "WEIGHTS_0": weights});
    let channel = |node: u32, sampler: u32| json!({"sampler": sampler, "target": {"node": node, "path": "rotation"}, "extras": {"n": node}});
    json!({
        "asset": {"version": "2.0", "generator": "a test"},
        "extensionsUsed": ["VENDOR_thing"],
        "scene": 0,
        "scenes": [{"nodes": [0, 1, 2]}],
        "nodes": [
            {"name": "Body", "mesh": 0, "skin": 0},
            {"name": "Twin", "mesh": 1, "skin": 0},
            {"name": "Root", "children": [3], "extras": {"precise": "PRECISE"}},
            {"name": "Mid", "children": [4], "translation": [0, 1, 0]},
            {"name": "Tip", "translation": [0, 1, 0]}
        ],
        "meshes": [
            {"name": "Body", "primitives": [{"attributes": attributes, "extensions": {"VENDOR_thing": {"deep": "PRECISE"}}}]},
            {"name": "Twin", "primitives": [{"attributes": attributes}]}
        ],
        "skins": [{"joints": [2, 3, 4]}],
        "animations": [
            {"name": "Wave", "extras": {"loop": true}, "channels": [channel(2, 0), channel(3, 0), channel(4, 1)],
             "samplers": [{"input": time, "output": turn}, {"input": time, "output": turn, "interpolation": "STEP"}]},
            {"name": "Rest", "channels": [channel(2, 0)], "samplers": [{"input": time, "output": turn}]}
        ],
        "accessors": data.accessors,
        "bufferViews": data.views,
        "buffers": [{"byteLength": data.bytes.len(), "uri": data_uri(&data.bytes)}]
    })
}

/// Numbers whose text any rewriting would change.
const PRECISE: &str = "[1.50, -0.0, 1e-7, 9007199254740993, 12345678901234567890123, 0.1000]";

fn data_uri(bytes: &[u8]) -> String {
    use base64::Engine;
    let text = base64::engine::general_purpose::STANDARD.encode(bytes);
    format!("data:application/octet-stream;base64,{text}")
}

fn open(json: &Value) -> Document {
    let text = json.to_string().replace("\"PRECISE\"", PRECISE);
    open_bytes(text.into_bytes())
}

fn open_bytes(bytes: Vec<u8>) -> Document {
    let imported = import_bytes(bytes.into(), None, None, &Task::new()).unwrap();
    Document::new(imported.parts).unwrap()
}

fn gltf() -> ExportOptions {
    ExportOptions {
        format: GltfFormat::Gltf,
        ..ExportOptions::default()
    }
}

fn exported(document: &Document, options: &ExportOptions) -> Exported {
    export(document, options, &Task::new()).unwrap()
}

fn json_of(exported: &Exported) -> Value {
    reopen(exported).source().unwrap().json.clone()
}

fn set_clip(document: &mut Document, id: u32, clip: Option<Clip>) {
    let mut edit = Edit::Clip {
        id: ClipId(id),
        clip: clip.map(Arc::new),
    };
    document.apply(&mut edit).unwrap();
}

/// The paths where two files differ.
fn differences(a: &Value, b: &Value) -> Vec<String> {
    fn walk(a: &Value, b: &Value, path: &str, out: &mut Vec<String>) {
        match (a, b) {
            (Value::Object(x), Value::Object(y)) => {
                for key in x.keys().chain(y.keys().filter(|k| !x.contains_key(*k))) {
                    walk(&a[key], &b[key], &format!("{path}/{key}"), out);
                }
            }
            (Value::Array(x), Value::Array(y)) => {
                for i in 0..x.len().max(y.len()) {
                    let at = |v: &[Value]| v.get(i).cloned().unwrap_or_default();
                    walk(&at(x), &at(y), &format!("{path}/{i}"), out);
                }
            }
            _ if a != b => out.push(path.to_owned()),
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(a, b, "", &mut out);
    out
}

#[test]
fn without_edits_the_bytes_are_the_sources() {
    let document = open(&model());
    let out = exported(&document, &gltf());
    assert!(out.report.verbatim);
    assert_eq!(out.files.len(), 1);
    assert_eq!(out.files[0].1, document.source().unwrap().bytes);
    // The pose on screen is no edit unless it is asked for.
    let mut posed = document.clone();
    let mut pose = (**posed.pose()).clone();
    pose.locals[3].translation.x = 0.5;
    let mut edit = Edit::pose_change(posed.pose(), &pose).unwrap();
    posed.apply(&mut edit).unwrap();
    assert!(exported(&posed, &gltf()).report.verbatim);
    let rest = exported(
        &posed,
        &ExportOptions {
            write_pose_as_rest: true,
            ..gltf()
        },
    );
    assert_eq!(
        differences(&document.source().unwrap().json, &json_of(&rest)),
        ["/nodes/3/translation/0"]
    );
}

#[test]
fn the_container_changes_and_nothing_else() {
    let document = open(&model());
    let glb = exported(&document, &ExportOptions::default());
    assert!(glb.files[0].1.starts_with(b"glTF"));
    assert_eq!(
        differences(&document.source().unwrap().json, &json_of(&glb)),
        ["/buffers/0/uri"]
    );
    let text = String::from_utf8_lossy(&glb.files[0].1).into_owned();
    assert_eq!(text.matches(PRECISE).count(), 2, "numbers keep their text");
    let back = exported(
        &reopen(&glb),
        &ExportOptions {
            name: "a b".into(),
            ..gltf()
        },
    );
    assert_eq!(back.files[1].0, "a b.bin");
    assert_eq!(back.files[1].1, document.source().unwrap().buffers[0]);
    assert_eq!(json_of(&back)["buffers"][0]["uri"], "a%20b.bin");
    assert!(String::from_utf8_lossy(&back.files[0].1).contains(PRECISE));
}

#[test]
fn buffers_and_pictures_are_merged_into_one_binary_chunk() {
    let mut json = model();
    let pixel: &[u8] = b"\x89PNG\r\n\x1a\nnot much of a picture";
    json["images"] = json!([{"name": "Skin", "uri": data_uri(pixel).replace("octet-stream", "x")}]);
    // The weights move to a second buffer.
    let bytes = open(&model()).source().unwrap().buffers[0].clone();
    let view = json["bufferViews"][2].as_object().unwrap().clone();
    let (start, length) = (
        view["byteOffset"].as_u64().unwrap() as usize,
        view["byteLength"].as_u64().unwrap() as usize,
    );
    json["bufferViews"][2] = json!({"buffer": 1, "byteOffset": 4, "byteLength": length});
    let second = [b"skip", &bytes[start..start + length]].concat();
    let buffers = json["buffers"].as_array_mut().unwrap();
    buffers.push(json!({"byteLength": second.len(), "uri": data_uri(&second)}));
    let document = open(&json);
    let out = exported(&document, &ExportOptions::default());
    assert_eq!(out.files.len(), 1);
    let again = reopen(&out);
    assert_same_weights(&document, &again, 4, "merged");
    assert_eq!(document.clips(), again.clips());
    let source = again.source().unwrap();
    assert_eq!(source.buffers.len(), 1);
    let image = &source.json["images"][0];
    assert_eq!(
        *image,
        json!({"name": "Skin", "bufferView": 5, "mimeType": "image/png"})
    );
    let view = &source.json["bufferViews"][5];
    let start = view["byteOffset"].as_u64().unwrap() as usize;
    assert_eq!(&source.buffers[0][start..start + pixel.len()], pixel);
}

#[test]
fn extra_chunks_of_a_glb_survive() {
    let document = open(&model());
    let mut bytes = exported(&document, &ExportOptions::default()).files[0]
        .1
        .to_vec();
    let extra = b"\x08\0\0\0XTRA8 bytes.";
    bytes.extend_from_slice(extra);
    let length = bytes.len() as u32;
    bytes[8..12].copy_from_slice(&length.to_le_bytes());
    let mut document = open_bytes(bytes);
    edit_weights(&mut document, MeshId(0), 1);
    let out = exported(&document, &ExportOptions::default());
    assert!(out.files[0].1.ends_with(extra));
}

#[test]
fn only_edited_weights_change_and_the_twin_keeps_its_own() {
    let mut document = open(&model());
    edit_weights(&mut document, MeshId(0), 4);
    let out = exported(&document, &gltf());
    assert_eq!(out.report.n_primitives_rewritten, 1);
    let source = document.source().unwrap().clone();
    let json = json_of(&out);
    let n = source.json["accessors"].as_array().unwrap().len();
    assert_eq!(
        differences(&source.json, &json),
        [
            "/meshes/0/primitives/0/attributes/JOINTS_0".to_owned(),
            "/meshes/0/primitives/0/attributes/WEIGHTS_0".to_owned(),
            format!("/accessors/{n}"),
            format!("/accessors/{}", n + 1),
            format!("/bufferViews/{n}"),
            format!("/bufferViews/{}", n + 1),
            "/buffers/1".to_owned(),
        ],
        "the source's data and entries stay"
    );
    assert_eq!(
        String::from_utf8_lossy(&out.files[0].1)
            .matches(PRECISE)
            .count(),
        2
    );
    assert_same_weights(&document, &reopen(&out), 4, "model");
    // The same edit of both: data of their own is shared again, in the place of the old.
    edit_weights(&mut document, MeshId(1), 4);
    let json = json_of(&exported(&document, &gltf()));
    assert_eq!(json["accessors"].as_array().unwrap().len(), n);
    assert_eq!(json["meshes"], source.json["meshes"]);
}

#[test]
fn glb_data_is_appended_after_the_sources_bytes() {
    let document = open(&model());
    let mut document = reopen(&exported(&document, &ExportOptions::default()));
    edit_weights(&mut document, MeshId(0), 1);
    let again = reopen(&exported(&document, &ExportOptions::default()));
    let (before, after) = (
        &document.source().unwrap().buffers[0],
        &again.source().unwrap().buffers[0],
    );
    assert!(after.len() > before.len() && after.starts_with(before));
    assert_eq!(
        again.source().unwrap().json["buffers"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn points_with_more_influences_are_reduced_and_reported() {
    let mut json = model();
    let mut more = Data::default();
    let old = json["buffers"][0]["byteLength"].as_u64().unwrap() as usize;
    // A second set: joint 2 of vertex 0 gets weight 0.125 twice removed from the first.
    let joints = more.add(5121, "VEC4", N, [3, 4, 5, 0].repeat(N));
    let weights = more.floats("VEC4", 4, &[0.5, 0.375, 0.25, 0.0].repeat(N));
    assert_eq!((joints, weights), (0, 1));
    for (key, list) in [("accessors", more.accessors), ("bufferViews", more.views)] {
        let n_views = 5;
        let items = json[key].as_array_mut().unwrap();
        for mut item in list {
            if let Some(view) = item["bufferView"].as_u64() {
                item["bufferView"] = (view + n_views).into();
            } else {
                item["byteOffset"] = (item["byteOffset"].as_u64().unwrap() + old as u64).into();
            }
            items.push(item);
        }
    }
    let first = open(&model()).source().unwrap().buffers[0].to_vec();
    let all: Vec<u8> = first.into_iter().chain(more.bytes).collect();
    json["buffers"][0] = json!({"byteLength": all.len(), "uri": data_uri(&all)});
    json["meshes"][0]["primitives"][0]["attributes"]["JOINTS_1"] = 5.into();
    json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_1"] = 6.into();
    for _ in 0..3 {
        json["nodes"]
            .as_array_mut()
            .unwrap()
            .push(json!({"name": "More"}));
    }
    json["scenes"][0]["nodes"] = json!([0, 1, 2, 5, 6, 7]);
    json["skins"][0]["joints"] = json!([2, 3, 4, 5, 6, 7]);
    let mut document = open(&json);
    assert_eq!(document.meshes()[&MeshId(0)].influences.row(0).len(), 5);
    edit_weights(&mut document, MeshId(0), 100);

    let eight = exported(
        &document,
        &ExportOptions {
            influences: 8,
            ..gltf()
        },
    );
    assert_eq!(eight.report.n_points_reduced, 0);
    assert_same_weights(&document, &reopen(&eight), 8, "eight");

    let four = exported(&document, &gltf());
    let report = &four.report;
    assert_eq!(
        report.n_points_reduced,
        document.meshes()[&MeshId(0)].influences.len()
    );
    assert!(
        report.largest_weight_lost > 0.05,
        "{}",
        report.largest_weight_lost
    );
    assert!(
        report
            .findings
            .iter()
            .any(|f| f.message.contains("more than 4 influences")),
        "{:?}",
        report.findings
    );
    let json = json_of(&four);
    let attributes = json["meshes"][0]["primitives"][0]["attributes"]
        .as_object()
        .unwrap();
    assert!(!attributes.contains_key("JOINTS_1") && !attributes.contains_key("WEIGHTS_1"));
    for row in reopen(&four).meshes()[&MeshId(0)].influences.iter() {
        let sum: f64 = row.weights.iter().map(|&w| f64::from(w)).sum();
        assert!(row.len() == 4 && (sum - 1.0).abs() < 1e-7, "{row:?}");
    }
}

#[test]
fn only_the_edited_channel_of_a_clip_changes() {
    let mut document = open(&model());
    let wave = shift(&document.clips()[&ClipId(0)], 1, 0.25);
    set_clip(&mut document, 0, Some(wave));
    let out = exported(&document, &gltf());
    let source = &document.source().unwrap().json;
    let json = json_of(&out);
    assert_eq!(reopen(&out).clips(), document.clips());
    let n = source["accessors"].as_array().unwrap().len();
    assert_eq!(
        differences(source, &json),
        [
            "/animations/0/channels/1/sampler".to_owned(),
            "/animations/0/samplers/2".to_owned(),
            format!("/accessors/{n}"),
            format!("/accessors/{}", n + 1),
            format!("/bufferViews/{n}"),
            "/buffers/1".to_owned(),
        ]
    );
    assert_eq!(json["accessors"][n]["min"], json!([0.25]));
    assert_eq!(json["accessors"][n]["max"], json!([1.25]));
}

#[test]
fn clips_are_added_renamed_and_removed() {
    let mut document = open(&model());
    let spline = Clip {
        channels: vec![Channel {
            joint: JointId(4),
            property: Property::Scale,
            interpolation: Interpolation::CubicSpline,
            times: [0.0, 1.0].into(),
            values: (0..18).map(|i| 1.0 + i as f32 / 16.0).collect(),
        }],
        ..Clip::named("New")
    };
    set_clip(&mut document, 2, Some(spline));
    let renamed = Clip {
        name: "Wink".into(),
        ..(*document.clips()[&ClipId(1)]).clone()
    };
    set_clip(&mut document, 1, Some(renamed));
    set_clip(&mut document, 0, None);
    let out = exported(&document, &ExportOptions::default());
    assert_eq!(
        (out.report.n_clips_written, out.report.n_clips_removed),
        (2, 1)
    );
    let again = reopen(&out);
    let names: Vec<&str> = again
        .clips()
        .values()
        .map(|clip| clip.name.as_str())
        .collect();
    assert_eq!(names, ["Wink", "New"]);
    assert!(again.clips().values().eq(document.clips().values()));
    for id in [1, 2] {
        set_clip(&mut document, id, None);
    }
    let json = json_of(&exported(&document, &ExportOptions::default()));
    assert!(json.get("animations").is_none());
}

#[test]
fn a_clip_on_a_matrix_node_makes_it_animatable() {
    let mut json = model();
    json["nodes"][4] =
        json!({"name": "Tip", "matrix": [2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 1, 0, 1]});
    json["animations"] = json!([]);
    let mut document = open(&json);
    let moves = Channel {
        joint: JointId(4),
        property: Property::Translation,
        interpolation: Interpolation::Linear,
        times: [0.0].into(),
        values: [0.0, 3.0, 0.0].into(),
    };
    set_clip(
        &mut document,
        0,
        Some(Clip {
            channels: vec![moves],
            ..Clip::default()
        }),
    );
    let out = json_of(&exported(&document, &gltf()));
    assert_eq!(
        out["nodes"][4],
        json!({"name": "Tip", "translation": [0, 1, 0], "scale": [2, 2, 2]})
    );
}

#[test]
fn names_are_written_to_their_nodes() {
    let mut document = open(&model());
    for (joint, name) in [(3, "Spine"), (4, "")] {
        let mut edit = Edit::JointName {
            joint: JointId(joint),
            name: name.into(),
        };
        document.apply(&mut edit).unwrap();
    }
    let out = exported(&document, &gltf());
    let source = &document.source().unwrap().json;
    assert_eq!(
        differences(source, &json_of(&out)),
        ["/nodes/3/name", "/nodes/4/name"]
    );
    assert!(json_of(&out)["nodes"][4].get("name").is_none());
}

#[test]
fn a_point_without_weight_follows_the_first_joint() {
    let mut document = open(&model());
    let mut rows = Rows::default();
    rows.push(RowRef {
        joints: &[],
        weights: &[],
    });
    document
        .apply(&mut Edit::influences(MeshId(0), vec![2], rows))
        .unwrap();
    let out = exported(&document, &gltf());
    assert!(
        out.report.findings[0].message.contains("no weight"),
        "{:?}",
        out.report.findings
    );
    let again = reopen(&out);
    let item = &document.meshes()[&MeshId(0)];
    let vertex = item.geometry.first_vertex_of_point()[2] as usize;
    let item = &again.meshes()[&MeshId(0)];
    let row = item.influences.row(item.geometry.point_of_vertex[vertex]);
    assert_eq!((row.joints, row.weights), (&[0][..], &[1.0][..]));
}

fn fixture(name: &str) -> Document {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name);
    crate::export_models::open(&path)
}

#[test]
fn draco_primitives_with_new_weights_are_written_uncompressed() {
    let folder = tempfile::tempdir().unwrap();
    // An uncompressed copy goes with its compressed one.
    for mut document in [
        fixture("simple_skin_draco.glb"),
        with_uncompressed_copy(folder.path()),
    ] {
        edit_weights(&mut document, MeshId(0), 2);
        let out = exported(&document, &ExportOptions::default());
        assert_is_uncompressed(&out);
        let again = reopen(&out);
        assert_same_weights(&document, &again, 4, "draco");
        assert_same_shape(&document, &again);
    }
    // Other edits leave the compressed data alone.
    let mut renamed = fixture("simple_skin_draco.glb");
    renamed
        .apply(&mut Edit::JointName {
            joint: JointId(1),
            name: "A".into(),
        })
        .unwrap();
    let out = exported(&renamed, &ExportOptions::default());
    assert_eq!(
        differences(&renamed.source().unwrap().json, &json_of(&out)),
        ["/nodes/1/name"]
    );
}

const DRACO: &str = "KHR_draco_mesh_compression";

fn assert_is_uncompressed(out: &Exported) {
    let findings = &out.report.findings;
    assert!(findings.iter().any(|f| f.message.contains("Draco")));
    let json = json_of(out);
    assert!(json.get("extensionsUsed").is_none() && json.get("extensionsRequired").is_none());
    let primitive = &json["meshes"][0]["primitives"][0];
    assert!(primitive.get("extensions").is_none());
}

fn assert_same_shape(a: &Document, b: &Document) {
    let (a, b) = (
        &a.meshes()[&MeshId(0)].geometry,
        &b.meshes()[&MeshId(0)].geometry,
    );
    assert_eq!(a.triangles, b.triangles);
    for (&p, &q) in a.point_of_vertex.iter().zip(&b.point_of_vertex) {
        assert_eq!(a.positions[p as usize], b.positions[q as usize]);
    }
}

/// Players read morph targets beside compressed vertices, but no plain weights.
#[test]
fn draco_primitives_stay_compressed_beside_morph_targets_alone() {
    let folder = tempfile::tempdir().unwrap();
    let fewer = with_other_count(folder.path());
    for (document, options, stays) in [
        (fixture("simple_skin_draco.glb"), targets_alone(), true),
        (fixture("simple_skin_draco.glb"), helpers_alone(), false),
        (
            with_uncompressed_copy(folder.path()),
            targets_alone(),
            false,
        ),
        (fewer, targets_alone(), false),
    ] {
        let document = crate::bake::with_stack(document, &sinew::deform::DeformStack::dqs());
        let (out, report) = crate::bake::corrected(&document, options);
        println!("{}", report.summary());
        assert!(report.met && report.before_max_percent > 0.4, "{report:?}");
        let again = reopen(&out);
        assert_same_shape(&document, &again);
        if report.helper_joints == 0 {
            assert_same_weights(&document, &again, 4, "draco");
        }
        if stays {
            let (before, now) = (&document.source().unwrap().json, json_of(&out));
            let draco =
                |json: &Value| json["meshes"][0]["primitives"][0]["extensions"][DRACO].clone();
            assert_eq!(draco(&now), draco(before));
            assert_eq!(now["extensionsRequired"], before["extensionsRequired"]);
            assert!(
                out.report
                    .findings
                    .iter()
                    .all(|f| !f.message.contains("Draco"))
            );
        } else {
            assert_is_uncompressed(&out);
        }
    }
}

/// All primitives of a mesh get the same morph targets.
#[test]
fn a_compressed_primitive_without_weights_is_written_uncompressed_where_it_must_be() {
    let folder = tempfile::tempdir().unwrap();
    let document = changed_fixture(folder.path(), |json| {
        let mut second = json["meshes"][0]["primitives"][0].clone();
        for attributes in [
            "/attributes",
            "/extensions/KHR_draco_mesh_compression/attributes",
        ] {
            let attributes = second.pointer_mut(attributes).unwrap();
            attributes
                .as_object_mut()
                .unwrap()
                .retain(|name, _| name == "POSITION");
        }
        let accessors = json["accessors"].as_array_mut().unwrap();
        let position = second["attributes"]["POSITION"].as_u64().unwrap() as usize;
        let mut longer = accessors[position].clone();
        longer["count"] = json!(longer["count"].as_u64().unwrap() + 3);
        second["attributes"]["POSITION"] = json!(accessors.len());
        accessors.push(longer);
        json["meshes"][0]["primitives"]
            .as_array_mut()
            .unwrap()
            .push(second);
    });
    let document = crate::bake::with_stack(document, &sinew::deform::DeformStack::dqs());
    let (out, report) = crate::bake::corrected(&document, targets_alone());
    assert!(report.met && report.morph_targets > 0, "{report:?}");
    let json = json_of(&out);
    let is_compressed = |p: usize| {
        json["meshes"][0]["primitives"][p]
            .get("extensions")
            .is_some()
    };
    assert!(is_compressed(0) && !is_compressed(1));
    assert_same_shape(&document, &reopen(&out));
}

fn targets_alone() -> BakeOptions {
    BakeOptions {
        max_joints: 2,
        ..BakeOptions::default()
    }
}

fn helpers_alone() -> BakeOptions {
    BakeOptions {
        max_morphs: 0,
        tolerance: 0.004,
        ..BakeOptions::default()
    }
}

/// The fixture with another number of vertices in its accessors than in its bitstream, as some files have it.
fn with_other_count(folder: &Path) -> Document {
    changed_fixture(folder, |json| {
        let attributes = json["meshes"][0]["primitives"][0]["attributes"].clone();
        for accessor in attributes.as_object().unwrap().values() {
            let entry = &mut json["accessors"][accessor.as_u64().unwrap() as usize];
            entry["count"] = json!(entry["count"].as_u64().unwrap() + 3);
        }
    })
}

fn changed_fixture(folder: &Path, change: impl FnOnce(&mut Value)) -> Document {
    let document = fixture("simple_skin_draco.glb");
    let source = document.source().unwrap();
    let mut json = source.json.clone();
    change(&mut json);
    json["buffers"][0]["uri"] = "other.bin".into();
    std::fs::write(folder.join("other.bin"), &source.buffers[0]).unwrap();
    let path = folder.join("other.gltf");
    std::fs::write(&path, json.to_string()).unwrap();
    crate::export_models::open(&path)
}

/// The fixture with positions of its own beside the compressed ones.
fn with_uncompressed_copy(folder: &Path) -> Document {
    let document = fixture("simple_skin_draco.glb");
    let source = document.source().unwrap();
    let mut json = source.json.clone();
    let mut bytes = source.buffers[0].to_vec();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let start = bytes.len();
    let geometry = &document.meshes()[&MeshId(0)].geometry;
    for &point in &geometry.point_of_vertex {
        bytes.extend_from_slice(bytemuck::bytes_of(&geometry.positions[point as usize]));
    }
    let views = json["bufferViews"].as_array_mut().unwrap();
    views.push(json!({"buffer": 0, "byteOffset": start, "byteLength": bytes.len() - start}));
    let view = views.len() - 1;
    let position = json["meshes"][0]["primitives"][0]["attributes"]["POSITION"].as_u64();
    json["accessors"][position.unwrap() as usize]["bufferView"] = view.into();
    json["buffers"][0] = json!({"byteLength": bytes.len(), "uri": "copy.bin"});
    std::fs::write(folder.join("copy.bin"), bytes).unwrap();
    let path = folder.join("copy.gltf");
    std::fs::write(&path, json.to_string()).unwrap();
    crate::export_models::open(&path)
}

#[test]
fn meshopt_stays_on_everything_but_the_weights() {
    let mut document = fixture("simple_skin_meshopt.glb");
    edit_weights(&mut document, MeshId(0), 2);
    let out = exported(&document, &ExportOptions::default());
    assert!(
        out.report
            .findings
            .iter()
            .any(|f| f.message.contains("meshopt"))
    );
    let json = json_of(&out);
    let compressed = |view: &Value| view.get("extensions").is_some();
    let views = json["bufferViews"].as_array().unwrap();
    assert_eq!(
        views.iter().filter(|view| compressed(view)).count(),
        views.len() - 2
    );
    let required = document.source().unwrap().json["extensionsRequired"].clone();
    assert_eq!(json["extensionsRequired"], required);
    assert_same_weights(&document, &reopen(&out), 4, "meshopt");
}

#[test]
fn files_are_written_beside_each_other_and_strangers_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    let target = folder.path().join("target");
    for path in [&source, &target] {
        std::fs::create_dir(path).unwrap();
    }
    let mut json = model();
    let bytes = open(&json).source().unwrap().buffers[0].clone();
    json["buffers"][0]["uri"] = "parts/model%201.bin".into();
    std::fs::create_dir(source.join("parts")).unwrap();
    std::fs::write(source.join("parts/model 1.bin"), &bytes).unwrap();
    let text = json.to_string().replace("\"PRECISE\"", PRECISE);
    std::fs::write(source.join("model.gltf"), text).unwrap();
    let mut document = crate::export_models::open(&source.join("model.gltf"));
    edit_weights(&mut document, MeshId(0), 1);

    std::fs::write(target.join("new.bin"), b"a stranger").unwrap();
    let path = target.join("new.gltf");
    let outputs = || Outputs::of(&document);
    let write = || {
        export_to_file(
            &document,
            &path,
            &ExportOptions::default(),
            &mut outputs(),
            &Task::new(),
        )
    };
    write().unwrap();
    let again = crate::export_models::open(&path);
    assert_same_weights(&document, &again, 4, "written");
    assert_eq!(
        std::fs::read(target.join("new.bin")).unwrap(),
        b"a stranger"
    );
    assert_eq!(
        std::fs::read(target.join("parts/model 1.bin")).unwrap(),
        bytes
    );
    // Written again, it takes the same names.
    write().unwrap();
    let mut names: Vec<_> = std::fs::read_dir(&target)
        .unwrap()
        .map(|f| f.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(names, ["new-1.bin", "new.bin", "new.gltf", "parts"]);
    // A file of another model in the way.
    std::fs::write(source.join("parts/model 1.bin"), b"changed since").unwrap();
    let error = export_to_file(
        &document,
        &source.join("copy.gltf"),
        &ExportOptions::default(),
        &mut outputs(),
        &Task::new(),
    );
    assert!(
        matches!(error, Err(ExportError::Occupied { .. })),
        "{error:?}"
    );
    assert!(!source.join("copy.gltf").exists());
    let error = export_to_file(
        &document,
        &target.join("new.obj"),
        &ExportOptions::default(),
        &mut outputs(),
        &Task::new(),
    );
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("neither the extension .glb nor .gltf")
    );
}
