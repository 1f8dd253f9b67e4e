//! Files for any clip: what the file says of its helper joints is enough to move them in clips that it never saw.
//!
//! The engine here knows glTF, the manual's page on driving helper joints, and nothing of `sinew::bake`.

use crate::cli::{asset, done, fails, text};
use crate::export_models::{open, reopen};
use crate::reference::larger;
use crate::shared::shared_dir;
use glam::{DMat3, DMat4, DQuat, DVec3, DVec4};
use serde_json::{Value, json};
use sinew::bake::{BakeMode, BakeOptions, training_clip};
use sinew::deform::DeformStack;
use sinew::document::{ClipId, Document, Edit};
use sinew::evaluate::Evaluator;
use sinew::export::{CorrectionReport, ExportOptions, Exported, export};
use sinew::skeleton::{JointId, Pose};
use sinew::task::Task;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) fn sample(name: &str, stack: &DeformStack) -> Document {
    with_stack(open(Path::new(&asset(name))), stack)
}

fn with_stack(mut document: Document, stack: &DeformStack) -> Document {
    let meshes: Vec<_> = document.meshes().keys().copied().collect();
    for mesh in meshes {
        let stack = Arc::new(stack.clone());
        document.apply(&mut Edit::Stack { mesh, stack }).unwrap();
    }
    document
}

/// The document with the first `n` of its clips.
pub(crate) fn with_clips(mut document: Document, n: usize) -> Document {
    let others: Vec<ClipId> = document.clips().keys().copied().skip(n).collect();
    for id in others {
        document.apply(&mut Edit::Clip { id, clip: None }).unwrap();
    }
    document
}

pub(crate) fn retarget(document: &Document) -> (Exported, CorrectionReport) {
    let correct = BakeOptions {
        mode: BakeMode::Retarget,
        ..BakeOptions::default()
    };
    let options = ExportOptions {
        correct: Some(correct),
        ..ExportOptions::default()
    };
    let exported = export(document, &options, &Task::new()).unwrap();
    let report = exported.correction.clone().unwrap();
    println!("{}", report.summary());
    (exported, report)
}

/// The JSON of a .glb.
pub(crate) fn json_of(glb: &[u8]) -> Value {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&glb[20..20 + length]).unwrap()
}

/// A glTF player that drives helper joints.
pub(crate) struct Engine {
    file: gltf::Gltf,
    pub(crate) block: Value,
    parents: Vec<Option<usize>>,
    /// By skin: node -> inverse bind matrix.
    inverse_bind: Vec<BTreeMap<usize, DMat4>>,
}

/// How a joint moves the points of a skin.
struct Motion {
    rotation: DQuat,
    translation: DVec3,
    inflate: DMat4,
}

impl Engine {
    pub(crate) fn new(glb: &[u8]) -> Self {
        let block = json_of(glb)["extras"]["sinew_skin"].clone();
        let file = gltf::Gltf::from_slice_without_validation(glb).unwrap();
        let mut parents = vec![None; file.nodes().count()];
        for node in file.nodes() {
            node.children()
                .for_each(|c| parents[c.index()] = Some(node.index()));
        }
        let blob = file.blob.clone().unwrap();
        let skins = file.skins().map(|skin| {
            let matrices = skin.reader(|_| Some(&blob)).read_inverse_bind_matrices();
            let nodes = skin.joints().map(|j| j.index());
            let matrices = matrices.unwrap().map(|m| matrix(&m));
            nodes.zip(matrices).collect()
        });
        Self {
            inverse_bind: skins.collect(),
            parents,
            block,
            file,
        }
    }

    /// The nodes' local transforms: those of a pose, and of helpers as the file has them at rest.
    pub(crate) fn locals(&self, pose: &Pose) -> Vec<DMat4> {
        let nodes = self.file.nodes().map(|n| matrix(&n.transform().matrix()));
        let mut locals: Vec<DMat4> = nodes.collect();
        let posed = pose.locals.iter().map(sinew::math::Transform::to_matrix);
        posed.zip(&mut locals).for_each(|(l, local)| *local = l);
        locals
    }

    fn world(&self, locals: &[DMat4], node: usize) -> DMat4 {
        match self.parents[node] {
            Some(parent) => self.world(locals, parent) * locals[node],
            None => locals[node],
        }
    }

    /// Moves the helpers: manual, "Driving helper joints".
    pub(crate) fn drive(&self, locals: &mut [DMat4]) {
        for helper in self.block["helpers"].as_array().unwrap() {
            let skin = whole(&helper["skins"][0]);
            let entries = self.block["skins"].as_array().unwrap();
            let entry = entries.iter().find(|s| whole(&s["skin"]) == skin).unwrap();
            let (mut real, mut dual) = (DVec4::ZERO, DVec4::ZERO);
            let mut inflate = DMat4::ZERO;
            let mut first = None;
            let joints = helper["dlb"]["joints"].as_array().unwrap();
            let weights = helper["dlb"]["weights"].as_array().unwrap();
            for (joint, weight) in joints.iter().zip(weights) {
                let weight = weight.as_f64().unwrap();
                let motion = self.motion(entry, whole(joint), locals);
                let q = motion.rotation;
                let t = motion.translation;
                let first = *first.get_or_insert(q);
                let signed = if first.dot(q) < 0.0 { -weight } else { weight };
                real += DVec4::from(q) * signed;
                let half = DQuat::from_xyzw(t.x, t.y, t.z, 0.0) * q;
                dual += DVec4::from(half) * (0.5 * signed);
                inflate += motion.inflate * weight;
            }
            let (length, r) = (real.length(), DQuat::from_vec4(real.normalize()));
            let d = DQuat::from_vec4(dual / length) * r.conjugate();
            let rigid = DMat4::from_rotation_translation(r, DVec3::new(d.x, d.y, d.z) * 2.0);
            let node = whole(&helper["node"]);
            let unit = DMat4::from_scale(DVec3::splat(entry["unit"].as_f64().unwrap()));
            let world = rigid * inflate * unit * self.inverse_bind[skin][&node].inverse();
            let parent = whole(&helper["parent"]);
            assert_eq!(self.parents[node], Some(parent));
            locals[node] = self.world(locals, parent).inverse() * world;
        }
    }

    fn inverse_bind(&self, entry: &Value, node: usize) -> Option<DMat4> {
        let above = entry["above"].as_array().into_iter().flatten();
        let mut above = above.filter(|a| whole(&a["node"]) == node);
        let unit = DMat4::from_scale(DVec3::splat(1.0 / entry["unit"].as_f64().unwrap()));
        let listed = above.next().map(|a| {
            let numbers = a["inverseBind"].as_array().unwrap().iter();
            let numbers: Vec<f64> = numbers.map(|x| x.as_f64().unwrap()).collect();
            DMat4::from_cols_slice(&numbers)
        });
        let own = self.inverse_bind[whole(&entry["skin"])].get(&node).copied();
        Some(listed.or(own)? * unit)
    }

    fn motion(&self, entry: &Value, node: usize, locals: &[DMat4]) -> Motion {
        let inverse = self.inverse_bind(entry, node).unwrap();
        let matrix = self.world(locals, node) * inverse;
        let origin = inverse.inverse().w_axis.truncate();
        let linear = DMat3::from_mat4(matrix);
        let turn = rotation_of(linear);
        let rotation = DQuat::from_mat3(&turn);
        let (mut stretch, mut place) = (DMat3::IDENTITY, origin);
        if entry["stretch"] == "blend" {
            stretch = turn.transpose() * linear;
            let follows = entry["follows"].as_array().into_iter().flatten();
            let mut follows = follows.filter(|f| whole(&f["node"]) == node);
            let above = follows.next().map(|f| whole(&f["after"]));
            if let Some(above) = above.or(self.parents[node])
                && self.inverse_bind(entry, above).is_some()
            {
                let inflate = self.motion(entry, above, locals).inflate;
                place = inflate.transform_point3(origin);
            }
        }
        let mut inflate = DMat4::from_mat3(stretch);
        inflate.w_axis = (place - stretch * origin).extend(1.0);
        Motion {
            rotation,
            translation: matrix.transform_point3(origin) - rotation * place,
            inflate,
        }
    }

    /// World positions of all vertices of skinned meshes, by node and primitive.
    pub(crate) fn skinned(&self, locals: &[DMat4]) -> Vec<DVec3> {
        let blob = self.file.blob.as_deref().unwrap();
        let mut places = Vec::new();
        for node in self.file.nodes() {
            let (Some(mesh), Some(skin)) = (node.mesh(), node.skin()) else {
                continue;
            };
            let inverse_bind = &self.inverse_bind[skin.index()];
            let joints = skin.joints().map(|j| j.index());
            let matrices: Vec<DMat4> = joints
                .map(|j| self.world(locals, j) * inverse_bind[&j])
                .collect();
            for primitive in mesh.primitives() {
                let reader = primitive.reader(|_| Some(blob));
                let positions = reader.read_positions().unwrap();
                let joints = reader.read_joints(0).unwrap().into_u16();
                let weights = reader.read_weights(0).unwrap().into_f32();
                places.extend(positions.zip(joints).zip(weights).map(|((p, j), w)| {
                    let p = DVec3::from(p.map(f64::from));
                    let total: f64 = w.iter().map(|w| f64::from(*w)).sum();
                    let parts = j.iter().zip(w);
                    let of = |(j, w): (&u16, f32)| {
                        matrices[usize::from(*j)].transform_point3(p) * f64::from(w)
                    };
                    parts.map(of).sum::<DVec3>() / total
                }));
            }
        }
        places
    }
}

fn matrix(columns: &[[f32; 4]; 4]) -> DMat4 {
    DMat4::from_cols_array_2d(&columns.map(|c| c.map(f64::from)))
}

pub(crate) fn whole(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// Polar decomposition by Newton's iteration.
fn rotation_of(mut m: DMat3) -> DMat3 {
    for _ in 0..20 {
        m = (m + m.inverse().transpose()) * 0.5;
    }
    m
}

/// World positions of all vertices of skinned meshes as the document's stack has them.
pub(crate) fn wanted(document: &Document, pose: &Pose) -> Vec<DVec3> {
    let mut evaluator = Evaluator::default();
    evaluator.evaluate(document, pose);
    let mut places = Vec::new();
    for (&id, instance) in document.instances() {
        if instance.skin.is_some() {
            let positions = evaluator.plan(id).unwrap().positions();
            let points = &document.meshes()[&instance.mesh].geometry.point_of_vertex;
            places.extend(points.iter().map(|&p| positions[p as usize].as_dvec3()));
        }
    }
    places
}

pub(crate) fn worst(a: &[DVec3], b: &[DVec3]) -> f64 {
    assert_eq!(a.len(), b.len());
    let distances = a.iter().zip(b).map(|(a, b)| a.distance(*b));
    distances.fold(0.0, larger)
}

pub(crate) fn diagonal(places: &[DVec3]) -> f64 {
    let low = places.iter().fold(DVec3::INFINITY, |a, p| a.min(*p));
    let high = places.iter().fold(DVec3::NEG_INFINITY, |a, p| a.max(*p));
    (high - low).length()
}

/// The largest errors over `poses`, percent of the diagonal: driven, and by linear skinning of the source.
fn errors(document: &Document, glb: &[u8], poses: &[Pose]) -> (f64, f64) {
    let engine = Engine::new(glb);
    let linear = with_stack(document.clone(), &DeformStack::lbs());
    let size = diagonal(&wanted(document, document.rest_pose()));
    let (mut driven, mut plain) = (0.0f64, 0.0f64);
    for pose in poses {
        let target = wanted(document, pose);
        let mut locals = engine.locals(pose);
        engine.drive(&mut locals);
        driven = larger(driven, worst(&engine.skinned(&locals), &target));
        plain = larger(plain, worst(&wanted(&linear, pose), &target));
    }
    (100.0 * driven / size, 100.0 * plain / size)
}

/// Bends the arm's forearm and twists it, by up to 120 and 150 degrees.
pub(crate) fn bent_and_twisted(document: &Document, steps: usize) -> Vec<(JointId, DQuat, Pose)> {
    let forearm = JointId(1);
    let poses = (0..=steps).map(|step| {
        let share = step as f64 / steps as f64;
        let bend = DQuat::from_rotation_z((120.0 * share).to_radians());
        let twist = DQuat::from_rotation_y((150.0 * share * share).to_radians());
        let mut pose = Pose::clone(document.rest_pose());
        let local = &mut pose.locals[forearm.get()];
        local.rotation =
            sinew::math::transform::normalize_or_identity(local.rotation * bend * twist);
        (forearm, local.rotation, pose)
    });
    poses.collect()
}

#[test]
fn an_engine_drives_the_arm_through_a_clip_that_the_file_never_saw() {
    let document = with_clips(sample("arm", &DeformStack::dqs()), 1);
    let (exported, report) = retarget(&document);
    assert_eq!(report.mode, BakeMode::Retarget);
    assert!(report.met && report.max_percent <= 0.1, "{report:?}");
    assert!(report.helper_joints > 0 && report.morph_targets == 0);
    let driven = report.driven.unwrap();
    assert!(driven.max_percent <= 0.1 && driven.before_max_percent.unwrap() > 1.0);
    assert!(report.whole_stack.is_none());

    let glb = &exported.files[0].1;
    let poses = bent_and_twisted(&document, 40).into_iter().map(|p| p.2);
    let mut poses: Vec<Pose> = poses.collect();
    let (driven, plain) = errors(&document, glb, &poses);
    println!("bend and twist: driven {driven:.4} %, linear {plain:.3} %");
    assert!(driven <= 0.6 && plain > 3.0, "{driven} {plain}");

    // Joints that are stretched, and what hangs below them.
    for (i, pose) in poses.iter_mut().enumerate() {
        let grown = 1.0 + 0.01 * i as f64;
        for (joint, scale) in [(0, [1.1, grown, 0.9]), (1, [grown, 0.8, 1.2])] {
            pose.locals[joint].stretch *= DMat3::from_diagonal(DVec3::from(scale));
        }
    }
    let (driven, plain) = errors(&document, glb, &poses);
    println!("stretched too: driven {driven:.4} %, linear {plain:.3} %");
    assert!(driven <= 0.6 && plain > 3.0, "{driven} {plain}");
}

#[test]
fn without_clips_there_are_helpers_and_no_tracks() {
    let document = with_clips(sample("arm", &DeformStack::dqs()), 0);
    let (exported, report) = retarget(&document);
    assert!(report.helper_joints > 0 && report.moments == 0 && report.met);
    assert_eq!(report.before_max_percent, 0.0);
    let read = reopen(&exported);
    assert!(read.clips().is_empty());
    // At rest nothing differs.
    let engine = Engine::new(&exported.files[0].1);
    let rest = document.rest_pose();
    let shown = engine.skinned(&engine.locals(rest));
    assert!(worst(&shown, &wanted(&document, rest)) < 1e-5);
    let poses: Vec<Pose> = bent_and_twisted(&document, 5)
        .into_iter()
        .map(|p| p.2)
        .collect();
    let (driven, plain) = errors(&document, &exported.files[0].1, &poses);
    assert!(driven <= 0.6 && plain > 3.0, "{driven} {plain}");
}

#[test]
fn any_number_of_threads_writes_the_same_bytes() {
    let document = with_clips(sample("arm", &DeformStack::dqs()), 0);
    let run = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
        pool.unwrap().install(|| retarget(&document).0.files)
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn helpers_of_a_file_are_no_free_joints_when_it_is_exported_again() {
    let document = with_clips(sample("arm", &DeformStack::dqs()), 0);
    let n_own = document.skeleton().len();
    let (exported, _) = retarget(&document);
    let read = with_stack(reopen(&exported), &DeformStack::dqs());
    let training = training_clip(&read);
    assert!(!training.channels.is_empty());
    assert!(training.channels.iter().all(|c| c.joint.get() < n_own));
    let (exported, report) = retarget(&read);
    let driven = report.driven.unwrap();
    let block = &json_of(&exported.files[0].1)["extras"]["sinew_skin"];
    let n_helpers = read.skeleton().len() - n_own + report.helper_joints;
    assert_eq!(block["helpers"].as_array().unwrap().len(), n_helpers);
    // Old and new helpers together.
    assert!(driven.max_percent <= 0.1, "{driven:?}");
}

#[test]
fn what_follows_the_skinning_is_said_to_be_missing() {
    let document = with_clips(sample("arm", &DeformStack::default()), 1);
    let (exported, report) = retarget(&document);
    let whole = report.whole_stack.unwrap();
    assert!(report.met && whole.max_percent > report.max_percent);
    let said = exported.report.findings.iter();
    let mut said = said.filter(|f| f.message.contains("complete stack"));
    assert!(said.next().is_some(), "{:?}", exported.report.findings);
}

#[test]
fn the_block_is_kept_and_other_extras_stay() {
    let with_extras = |extras: Value| {
        let glb = std::fs::read(asset("arm")).unwrap();
        let mut json = json_of(&glb);
        json["extras"] = extras;
        let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
        let mut text = serde_json::to_vec(&json).unwrap();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut file = glb[..8].to_vec();
        let rest = &glb[20 + length..];
        file.extend(((20 + text.len() + rest.len()) as u32).to_le_bytes());
        file.extend((text.len() as u32).to_le_bytes());
        file.extend(&glb[16..20]);
        file.extend(text);
        file.extend(rest);
        let imported = sinew::io::import_bytes(file.into(), None, None, &Task::new()).unwrap();
        let document = Document::new(imported.parts).unwrap();
        with_clips(with_stack(document, &DeformStack::dqs()), 0)
    };
    let (exported, _) = retarget(&with_extras(json!({"studio": [1, 2]})));
    let extras = json_of(&exported.files[0].1)["extras"].clone();
    assert_eq!(extras["studio"], json!([1, 2]));
    assert_eq!(extras["sinew_skin"]["version"], 1);

    // Read and written again, edited so that it is no copy of the bytes.
    let mut read = reopen(&exported);
    crate::export_models::edit_weights(&mut read, sinew::document::MeshId(0), 50);
    let again = export(&read, &ExportOptions::default(), &Task::new()).unwrap();
    assert!(!again.report.verbatim);
    assert_eq!(json_of(&again.files[0].1)["extras"], extras);

    let (exported, _) = retarget(&with_extras(json!("made by hand")));
    let extras = json_of(&exported.files[0].1)["extras"].clone();
    assert_eq!(extras["extras"], "made by hand");
    assert_eq!(extras["sinew_skin"]["version"], 1);
    let findings = &exported.report.findings;
    assert!(findings.iter().any(|f| f.message.contains("extras")));
}

#[test]
fn the_manual_quotes_the_driver_that_is_tested() {
    let read = |name: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        std::fs::read_to_string(path).unwrap()
    };
    let driver = read("tests/fixtures/drive_helpers.js");
    let page = read("assets/manual/helper-joints.md");
    assert!(page.contains(&format!("```js\n{driver}```\n")));
}

#[test]
fn the_command_line_knows_the_mode() {
    let folder = tempfile::tempdir().unwrap();
    let (out, report) = (folder.path().join("arm.glb"), folder.path().join("r.json"));
    let arm = asset("arm");
    let (out, report) = (text(&out), text(&report));
    let call = ["export", &arm, "--out", out, "--correct", "retarget"];
    for (more, word) in [
        (vec!["--max-morphs", "2"], "--max-morphs"),
        (vec!["--signed-weights"], "--signed-weights"),
        (vec!["--write-pose-as-rest"], "--write-pose-as-rest"),
    ] {
        let said = fails(&[&call[..], &more].concat(), 2);
        assert!(
            said.contains(word) && said.contains("--correct retarget"),
            "{said}"
        );
        assert_eq!(said.trim().lines().count(), 1, "{said}");
    }
    let more = [
        "--method",
        "dqs",
        "--tolerance",
        "0.5%",
        "--max-joints",
        "20",
        "--clips",
        "Bend",
        "--report",
        report,
    ];
    let said = done(&[&call[..], &more].concat());
    assert!(said.contains("helper joints for any clip"), "{said}");
    let report: Value = serde_json::from_slice(&std::fs::read(report).unwrap()).unwrap();
    assert_eq!(report["mode"], "retarget");
    assert!(report["driven"]["max_percent"].as_f64().unwrap() < 0.5);
    let file = std::fs::read(out).unwrap();
    assert_eq!(json_of(&file)["extras"]["sinew_skin"]["tolerance"], 0.005);
}

/// What three.js draws with the manual's driver, at the keys of a clip that the file does not have: vertices by key.
/// `None`, said: there is no three.js.
fn three_js(
    exported: &Exported,
    keys: &[(JointId, DQuat, Pose)],
    test: &str,
) -> Option<Vec<Vec<DVec3>>> {
    let times: Vec<f64> = (0..keys.len()).map(|k| 0.125 * k as f64).collect();
    let rotations: Vec<f64> = keys.iter().flat_map(|k| k.1.to_array()).collect();
    let clip = json!({
        "moments": times,
        "tracks": [{"node": keys[0].0.0, "kind": "quaternion", "times": times, "values": rotations}]
    });
    let played = run_three_js("play_driven.mjs", exported, &[], &clip, test)?;
    assert_eq!(played.len(), keys.len());
    Some(played)
}

/// What three.js draws at moments of a clip of the file, by its index: vertices by moment. `None`, said: there is no
/// three.js.
pub(crate) fn clip_in_three_js(
    exported: &Exported,
    clip: usize,
    moments: &[f64],
    test: &str,
) -> Option<Vec<Vec<DVec3>>> {
    let clip = clip.to_string();
    let played = run_three_js("play_clip.mjs", exported, &[&clip], &json!(moments), test)?;
    assert_eq!(played.len(), moments.len());
    Some(played)
}

/// Runs a script of the fixtures on an exported file with these arguments and this input.
fn run_three_js(
    script: &str,
    exported: &Exported,
    more: &[&str],
    input: &Value,
    test: &str,
) -> Option<Vec<Vec<DVec3>>> {
    let Some(tools) = std::env::var_os("SINEW_THREE").map(PathBuf::from) else {
        println!("skipped: {test} needs SINEW_THREE=folder of three_lib.mjs and its node_modules");
        return None;
    };
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    #[cfg(unix)]
    std::os::unix::fs::symlink(tools.join("node_modules"), at("node_modules")).unwrap();
    std::fs::write(at("package.json"), r#"{"type": "module"}"#).unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    for name in ["drive_helpers.js", script] {
        std::fs::copy(fixtures.join(name), at(name)).unwrap();
    }
    std::fs::write(at("model.glb"), &exported.files[0].1).unwrap();
    std::fs::write(at("input.json"), input.to_string()).unwrap();
    let run = std::process::Command::new("node")
        .arg(at(script))
        .args([&tools, &at("model.glb")])
        .args(more)
        .args([&at("input.json"), &at("out.json")])
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let played: Vec<Vec<f64>> =
        serde_json::from_slice(&std::fs::read(at("out.json")).unwrap()).unwrap();
    let vertices = |played: &Vec<f64>| played.chunks_exact(3).map(DVec3::from_slice).collect();
    Some(played.iter().map(vertices).collect())
}

/// The largest distance of what three.js draws at keys of a clip from the document's stack, percent of the diagonal.
pub(crate) fn played_by_three_js(
    document: &Document,
    exported: &Exported,
    keys: &[(JointId, DQuat, Pose)],
    test: &str,
) -> Option<f64> {
    let played = three_js(exported, keys, test)?;
    let size = diagonal(&wanted(document, document.rest_pose()));
    let keys = played.iter().zip(keys);
    let off = keys.map(|(played, (_, _, pose))| worst(played, &wanted(document, pose)));
    Some(100.0 * off.fold(0.0, larger) / size)
}

/// Runs the manual's driver in three.js on a clip that the file does not have.
#[test]
fn three_js_drives_the_arm_through_a_clip_that_the_file_never_saw() {
    let document = with_clips(sample("arm", &DeformStack::dqs()), 1);
    let (exported, _) = retarget(&document);
    let keys = bent_and_twisted(&document, 24);
    let name = "three_js_drives_the_arm_through_a_clip_that_the_file_never_saw";
    let Some(played) = three_js(&exported, &keys, name) else {
        return;
    };
    let engine = Engine::new(&exported.files[0].1);
    let size = diagonal(&wanted(&document, document.rest_pose()));
    let (mut off, mut apart) = (0.0f64, 0.0f64);
    for (places, (_, _, pose)) in played.iter().zip(&keys) {
        off = larger(off, worst(places, &wanted(&document, pose)) / size);
        let mut locals = engine.locals(pose);
        engine.drive(&mut locals);
        apart = larger(apart, worst(places, &engine.skinned(&locals)) / size);
    }
    println!(
        "three.js: {:.4} % off, {:.1e} from our own driver",
        100.0 * off,
        apart
    );
    assert!(off <= 0.006 && apart < 1e-5, "{off} {apart}");
}

#[test]
fn unseen_clips_of_shared_models_follow_the_first() {
    let Some(shared) = shared_dir("unseen_clips_of_shared_models_follow_the_first") else {
        return;
    };
    let fox = open(&shared.join("models/fox/fox.glb"));
    let document = with_stack(fox, &DeformStack::dqs());
    let (exported, _) = retarget(&with_clips(document.clone(), 1));
    let unseen = document.clips().values().skip(1);
    let poses =
        unseen.flat_map(|clip| (0..24).map(|k| document.pose_of_clip(clip, 0.05 * f64::from(k))));
    let poses: Vec<Pose> = poses.collect();
    let (driven, plain) = errors(&document, &exported.files[0].1, &poses);
    println!("Fox, Walk and Run unseen: driven {driven:.4} %, linear {plain:.3} %");
    assert!(driven <= 0.6 && plain > 2.0, "{driven} {plain}");
}
