//! The shared models survive edit, export and import, and the Khronos validator finds nothing new in them.

use crate::shared::shared_dir;
use glam::DQuat;
use serde_json::Value;
use sinew::document::repairs::is_unit;
use sinew::document::{ClipId, Document, Edit, MeshId};
use sinew::export::{ExportOptions, Exported, GltfFormat, export};
use sinew::io::{import_bytes, import_file};
use sinew::skeleton::{Channel, Clip, Interpolation, JointId, Property};
use sinew::skinning::Rows;
use sinew::task::Task;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn open(path: &Path) -> Document {
    let imported = import_file(path, &Task::new());
    let imported = imported.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    Document::new(imported.parts).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What export wrote, read again from memory.
pub(crate) fn reopen(exported: &Exported) -> Document {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in &exported.files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    let bytes = exported.files[0].1.clone();
    let imported = import_bytes(bytes, Some(folder.path()), None, &Task::new()).unwrap();
    Document::new(imported.parts).unwrap()
}

/// Moves 10 % of the heaviest weight of every `step`-th point to another joint.
pub(crate) fn edit_weights(document: &mut Document, mesh: MeshId, step: usize) {
    let n_joints = document.n_skin_joints(mesh).unwrap_or(0) as u16;
    let item = &document.meshes()[&mesh];
    let (mut points, mut rows) = (Vec::new(), Rows::default());
    for (point, row) in item.influences.iter().enumerate().step_by(step) {
        let heaviest = row.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((joint, weight)) = heaviest.filter(|_| n_joints > 1) else {
            continue;
        };
        let other = (joint + 1) % n_joints;
        let moved = 0.1 * weight;
        let mut pairs: Vec<(u16, f32)> = row.iter().collect();
        pairs
            .iter_mut()
            .filter(|p| p.0 == joint)
            .for_each(|p| p.1 -= moved);
        match pairs.iter_mut().find(|p| p.0 == other) {
            Some(pair) => pair.1 += moved,
            None => pairs.push((other, moved)),
        }
        points.push(point as u32);
        rows.push_pairs(pairs);
    }
    let mut edit = Edit::influences(mesh, points, rows);
    document.apply(&mut edit).unwrap();
}

/// Moves the keys of a channel by `seconds`.
pub(crate) fn shift(clip: &Clip, channel: usize, seconds: f32) -> Clip {
    let mut clip = clip.clone();
    let old = &clip.channels[channel];
    clip.channels[channel] = Channel {
        times: old.times.iter().map(|t| t + seconds).collect(),
        ..old.clone()
    };
    clip
}

fn edit_everything(document: &mut Document) {
    let meshes: Vec<MeshId> = document.meshes().keys().copied().collect();
    for mesh in meshes {
        edit_weights(document, mesh, 7);
    }
    let first = document
        .clips()
        .iter()
        .next()
        .map(|(id, clip)| (*id, clip.clone()));
    if let Some((id, clip)) = first.filter(|(_, clip)| !clip.channels.is_empty()) {
        let shifted = shift(&clip, clip.channels.len() / 2, 0.03);
        for (id, clip) in [
            (id, Some(Arc::new(shifted.clone()))),
            (
                ClipId(document.clips().len() as u32),
                Some(Arc::new(Clip {
                    name: "Added".into(),
                    ..shifted
                })),
            ),
        ] {
            document.apply(&mut Edit::Clip { id, clip }).unwrap();
        }
    }
    let joints = document
        .skins()
        .values()
        .flat_map(|skin| skin.joints.clone());
    let joints: BTreeSet<JointId> = joints.collect();
    let mut pose = (**document.pose()).clone();
    for &joint in joints.iter().skip(1).step_by(3) {
        let local = &mut pose.locals[joint.get()];
        local.rotation = (local.rotation * DQuat::from_rotation_x(0.3)).normalize_or_identity();
    }
    if let Some(mut edit) = Edit::pose_change(document.pose(), &pose) {
        document.apply(&mut edit).unwrap();
    }
}

trait Guarded {
    fn normalize_or_identity(self) -> Self;
}

impl Guarded for DQuat {
    fn normalize_or_identity(self) -> Self {
        sinew::math::transform::normalize_or_identity(self)
    }
}

/// Asserts that both carry the same influences for each vertex, bit for bit.
pub(crate) fn assert_same_weights(a: &Document, b: &Document, limit: usize, name: &str) {
    assert_eq!(a.meshes().len(), b.meshes().len(), "{name}");
    for (id, x) in a.meshes() {
        let y = &b.meshes()[id];
        assert_eq!(x.geometry.n_vertices(), y.geometry.n_vertices(), "{name}");
        let pairs = x
            .geometry
            .point_of_vertex
            .iter()
            .zip(&y.geometry.point_of_vertex);
        for (v, (&px, &py)) in pairs.enumerate() {
            let (rx, ry) = (x.influences.row(px), y.influences.row(py));
            if rx.len() <= limit {
                assert_eq!(rx, ry, "{name}: mesh {} vertex {v}", id.0);
            }
        }
    }
}

fn models(shared: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in std::fs::read_dir(shared.join("models")).unwrap() {
        let Ok(files) = std::fs::read_dir(folder.unwrap().path()) else {
            continue;
        };
        let files = files.map(|f| f.unwrap().path());
        found.extend(files.filter(|path| GltfFormat::of_path(path).is_some()));
    }
    found.sort();
    assert!(found.len() >= 12, "{found:?}");
    found
}

fn options(influences: usize, format: GltfFormat) -> ExportOptions {
    ExportOptions {
        format,
        influences,
        write_pose_as_rest: true,
        ..ExportOptions::default()
    }
}

/// Clips as a file has them: rotations of unit length, which players need.
fn in_unit_rotations(clips: &BTreeMap<ClipId, Arc<Clip>>) -> BTreeMap<ClipId, Arc<Clip>> {
    let written = |channel: &Channel| {
        let mut channel = channel.clone();
        let is_linear = channel.interpolation != Interpolation::CubicSpline;
        if channel.property == Property::Rotation && is_linear {
            let mut values = channel.values.to_vec();
            for q in values.chunks_exact_mut(4).filter(|q| !is_unit(q)) {
                let length = q.iter().map(|x| x * x).sum::<f32>().sqrt();
                for x in q {
                    *x /= length;
                }
            }
            channel.values = values.into();
        }
        channel
    };
    let clips = clips.iter().map(|(id, clip)| {
        let mut clip = Clip::clone(clip);
        clip.channels = clip.channels.iter().map(written).collect();
        (*id, Arc::new(clip))
    });
    clips.collect()
}

#[test]
fn edited_models_come_back_bit_for_bit() {
    let Some(shared) = shared_dir("edited_models_come_back_bit_for_bit") else {
        return;
    };
    for path in models(&shared) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut document = open(&path);
        edit_everything(&mut document);
        for (limit, format) in [(8, GltfFormat::Glb), (4, GltfFormat::Gltf)] {
            let exported = export(&document, &options(limit, format), &Task::new()).unwrap();
            for finding in &exported.report.findings {
                println!("{name}, {limit} influences: {finding}");
            }
            let again = reopen(&exported);
            assert_same_weights(&document, &again, limit, &name);
            assert_eq!(document.skins(), again.skins(), "{name}");
            assert_eq!(document.instances(), again.instances(), "{name}");
            assert_eq!(
                in_unit_rotations(document.clips()),
                *again.clips(),
                "{name}"
            );
            for (a, b) in document.pose().locals.iter().zip(&again.rest_pose().locals) {
                assert!(
                    a.to_matrix().abs_diff_eq(b.to_matrix(), 1e-12),
                    "{name}: {a:?} {b:?}"
                );
            }
        }
    }
}

#[test]
fn untouched_models_are_verbatim() {
    let Some(shared) = shared_dir("untouched_models_are_verbatim") else {
        return;
    };
    for path in models(&shared) {
        let document = open(&path);
        let format = GltfFormat::of_path(&path).unwrap();
        let keep = ExportOptions {
            format,
            ..ExportOptions::default()
        };
        let exported = export(&document, &keep, &Task::new()).unwrap();
        assert!(exported.report.verbatim);
        for (name, bytes) in &exported.files {
            assert!(
                std::fs::read(path.with_file_name(name)).unwrap() == *bytes,
                "{name}"
            );
        }
        let other = match format {
            GltfFormat::Glb => GltfFormat::Gltf,
            GltfFormat::Gltf => GltfFormat::Glb,
        };
        let exported = export(
            &document,
            &ExportOptions {
                format: other,
                ..keep
            },
            &Task::new(),
        )
        .unwrap();
        let again = reopen(&exported);
        assert_same_weights(&document, &again, usize::MAX, &path.to_string_lossy());
        assert_eq!(document.clips(), again.clips());
        let (mut before, mut after) = (
            document.source().unwrap().json.clone(),
            again.source().unwrap().json.clone(),
        );
        for json in [&mut before, &mut after] {
            json.as_object_mut().unwrap().shift_remove("buffers");
            json.as_object_mut().unwrap().shift_remove("bufferViews");
        }
        assert_eq!(before, after, "{}", path.display());
    }
}

#[test]
fn broken_models_that_load_can_be_exported() {
    let Some(shared) = shared_dir("broken_models_that_load_can_be_exported") else {
        return;
    };
    let mut n_exported = 0;
    for folder in std::fs::read_dir(shared.join("malformed")).unwrap() {
        let Ok(files) = std::fs::read_dir(folder.unwrap().path()) else {
            continue;
        };
        let files = files.map(|f| f.unwrap().path());
        for path in files.filter(|path| GltfFormat::of_path(path).is_some()) {
            let Ok(imported) = import_file(&path, &Task::new()) else {
                continue;
            };
            let Ok(mut document) = Document::new(imported.parts) else {
                continue;
            };
            edit_everything(&mut document);
            for format in [GltfFormat::Glb, GltfFormat::Gltf] {
                match export(&document, &options(4, format), &Task::new()) {
                    Ok(exported) => {
                        let again = reopen(&exported);
                        assert_same_weights(&document, &again, 4, &path.to_string_lossy());
                        n_exported += 1;
                    }
                    Err(error) => println!("{}: {error}", path.display()),
                }
            }
        }
    }
    println!("{n_exported} exports");
    assert!(n_exported > 20);
}

/// The validator's verdicts, as `node $SINEW_VALIDATOR files --json` prints them.
fn validate(script: &Path, files: &[PathBuf]) -> Vec<Value> {
    let mut command = std::process::Command::new("node");
    let output = command
        .arg(script)
        .args(files)
        .arg("--json")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn the_validator_finds_nothing_new() {
    let Some(shared) = shared_dir("the_validator_finds_nothing_new") else {
        return;
    };
    let Some(script) = std::env::var_os("SINEW_VALIDATOR").map(PathBuf::from) else {
        println!(
            "skipped: the_validator_finds_nothing_new needs SINEW_VALIDATOR=path of validate.mjs"
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut files = Vec::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut sources = models(&shared);
    sources.extend(["simple_skin_draco.glb", "simple_skin_meshopt.glb"].map(|f| fixtures.join(f)));
    if let Some(more) = std::env::var_os("SINEW_MORE_MODELS") {
        let more = std::fs::read_dir(more).unwrap().map(|f| f.unwrap().path());
        sources.extend(more.filter(|path| GltfFormat::of_path(path).is_some()));
    }
    for path in sources {
        let mut document = open(&path);
        edit_everything(&mut document);
        files.push(path.clone());
        for (limit, format) in [
            (4, GltfFormat::Glb),
            (8, GltfFormat::Glb),
            (4, GltfFormat::Gltf),
        ] {
            let exported = export(&document, &options(limit, format), &Task::new()).unwrap();
            let folder = folder.path().join(format!("{limit}"));
            for (name, bytes) in &exported.files {
                let target = folder.join(name);
                std::fs::create_dir_all(target.parent().unwrap()).unwrap();
                std::fs::write(&target, bytes).unwrap();
            }
            files.push(folder.join(&exported.files[0].0));
        }
    }
    let verdicts = validate(&script, &files);
    assert_eq!(verdicts.len(), files.len());
    let mut worse = Vec::new();
    for group in verdicts.chunks(4) {
        let codes = |v: &Value| v["codes"].as_object().unwrap().clone();
        let before = codes(&group[0]);
        for after in &group[1..] {
            println!(
                "| {} | {}/{}/{} | {}/{}/{} |",
                after["file"],
                group[0]["errors"],
                group[0]["warnings"],
                group[0]["infos"],
                after["errors"],
                after["warnings"],
                after["infos"],
            );
            for (code, n) in codes(after) {
                let n_before = before.get(&code).and_then(Value::as_u64).unwrap_or(0);
                if n_before == 0 && (code.starts_with("E:") || code.starts_with("W:")) {
                    worse.push(format!("{}: {code} x {n}", after["file"]));
                } else if n_before == 0 {
                    println!("    new: {code} x {n}");
                }
            }
        }
    }
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}
