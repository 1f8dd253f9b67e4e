//! A moment as a mesh: what the file shows is where the stacks put every vertex.

use crate::export_models::{open, reopen};
use crate::reference::larger;
use crate::shared::shared_dir;
use crate::{clustered, clusters_everywhere};
use glam::{DAffine3, DVec3, Vec3};
use serde_json::{Value, json};
use sinew::bake::static_shapes::{StaticPose, static_shapes};
use sinew::bake::{BakeMode, BakeOptions};
use sinew::deform::DeformStack;
use sinew::document::{ClipId, Document, Edit};
use sinew::export::export_obj;
use sinew::export::export_static_mesh_to_file;
use sinew::export::{ExportOptions, Exported, GltfFormat, export, export_static_mesh};
use sinew::io::Outputs;
use sinew::io::import_bytes;
use sinew::skeleton::{Clip, Property};
use sinew::task::Task;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("assets/{name}.glb"))
}

fn with_stack(mut document: Document, stack: &DeformStack) -> Document {
    let meshes: Vec<_> = document.meshes().keys().copied().collect();
    for mesh in meshes {
        let stack = Arc::new(stack.clone());
        document.apply(&mut Edit::Stack { mesh, stack }).unwrap();
    }
    document
}

/// 0.37 of the way through a clip.
fn moment_of(document: &Document, clip: usize) -> StaticPose {
    let Some((&id, clip)) = document.clips().iter().nth(clip) else {
        return StaticPose::default();
    };
    let (start, end) = (f64::from(clip.start_secs()), f64::from(clip.end_secs()));
    StaticPose {
        clip: Some(id),
        time: start + 0.37 * (end - start),
    }
}

/// World positions and normals of all vertices, by instance and in the order of the file.
fn seen(document: &Document, still: &StaticPose) -> Vec<(Vec<Vec3>, Vec<Vec3>)> {
    let pose = still.pose(document).unwrap();
    let shapes = static_shapes(document, &pose, &Task::new()).unwrap();
    let vertices = shapes.iter().map(|(id, shape)| {
        let mesh = &document.meshes()[&document.instances()[id].mesh].geometry;
        let at = |list: &[Vec3], of: &[u32]| of.iter().map(|&i| list[i as usize]).collect();
        (
            at(&shape.positions, &mesh.point_of_vertex),
            at(&shape.normals, &mesh.normal_of_vertex),
        )
    });
    vertices.collect()
}

/// The same of a model without skins, as its nodes place it.
fn shown(document: &Document) -> Vec<(Vec<Vec3>, Vec<Vec3>)> {
    let world = document.rest_pose().world_matrices(document.skeleton());
    let drawn = document.instances().values().map(|instance| {
        assert!(instance.skin.is_none());
        let mesh = &document.meshes()[&instance.mesh].geometry;
        let place: DAffine3 = world[instance.joint.get()];
        let back = place.matrix3.inverse().transpose();
        let positions = mesh.point_of_vertex.iter().map(|&p| {
            let p = mesh.positions[p as usize].as_dvec3();
            place.transform_point3(p).as_vec3()
        });
        let normals = mesh.normal_of_vertex.iter().map(|&n| {
            let n: DVec3 = back * mesh.normals[n as usize].as_dvec3();
            n.normalize_or(DVec3::Y).as_vec3()
        });
        (positions.collect(), normals.collect())
    });
    drawn.collect()
}

fn diagonal(drawn: &[(Vec<Vec3>, Vec<Vec3>)]) -> f32 {
    let points = || drawn.iter().flat_map(|d| &d.0).copied();
    let low = points().fold(Vec3::INFINITY, Vec3::min);
    let high = points().fold(Vec3::NEG_INFINITY, Vec3::max);
    (high - low).length()
}

fn still_of(document: &Document, still: &StaticPose, format: GltfFormat) -> Exported {
    let options = ExportOptions {
        format,
        ..ExportOptions::default()
    };
    export_static_mesh(document, still, &options, &Task::new()).unwrap()
}

/// The file must show what the stacks show, and nothing that moves. `normals`: the source has some of its own.
fn agrees(document: &Document, still: &StaticPose, normals: bool, name: &str) {
    for format in [GltfFormat::Glb, GltfFormat::Gltf] {
        let exported = still_of(document, still, format);
        assert_eq!(said(&exported, "as read back"), 0, "{name}");
        let read = reopen(&exported);
        assert!(read.skins().is_empty() && read.clips().is_empty(), "{name}");
        assert!(read.meshes().values().all(|m| m.geometry.morphs.is_empty()));
        let (ours, theirs) = (seen(document, still), shown(&read));
        assert_eq!(ours.len(), theirs.len(), "{name}");
        let near = 1e-6 * diagonal(&ours);
        for ((positions, directions), (there, turned)) in ours.iter().zip(&theirs) {
            assert_eq!(positions.len(), there.len(), "{name}");
            let off = positions.iter().zip(there).map(|(a, b)| a.distance(*b));
            let worst = off.fold(0.0, larger);
            assert!(worst <= near, "{name}: {worst} of {near}");
            if normals {
                // Faces too small to have a direction leave a normal where it was.
                let same = directions.iter().zip(turned);
                let same = same.filter(|(a, b)| a.dot(**b) > 0.9999).count();
                assert!(100 * same >= 99 * directions.len(), "{name}: {same}");
            }
        }
    }
}

#[test]
fn an_arm_stands_still_as_its_stack_bends_it() {
    let document = with_stack(open(&asset("arm")), &DeformStack::default());
    for clip in 0..document.clips().len() {
        agrees(&document, &moment_of(&document, clip), true, "arm");
    }
    let rest = StaticPose::default();
    agrees(&document, &rest, true, "arm at rest");
    let size = |e: Exported| e.files[0].1.len();
    let source = document.source().unwrap().bytes.len();
    assert!(size(still_of(&document, &rest, GltfFormat::Glb)) < source);
}

#[test]
fn an_arm_stands_still_as_its_patches_bend_it() {
    let plain = with_stack(open(&asset("arm")), &DeformStack::default());
    let document = clustered::with(
        &plain,
        clusters_everywhere::map(clustered::every(&plain, 9)),
    );
    let still = moment_of(&document, 0);
    agrees(&document, &still, true, "clusters");
    let [(patched, _), (stack, _)] = [&document, &plain].map(|d| seen(d, &still).remove(0));
    assert!(clustered::apart(&patched, &stack) > 1e-4);
}

#[test]
fn any_number_of_threads_writes_the_same_still() {
    let document = open(&asset("mannequin"));
    let still = moment_of(&document, 0);
    let run = |n| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
        pool.unwrap().install(|| {
            let obj = export_obj(&document, &still, "m", &Task::new()).unwrap();
            (
                still_of(&document, &still, GltfFormat::Glb).files,
                obj.files,
            )
        })
    };
    assert!(run(1) == run(3));
}

/// `v`, `vt`, `vn` and `f` lines: (positions, coordinates, normals, corners of 1-based indices).
type Obj = (Vec<Vec3>, usize, Vec<Vec3>, Vec<[usize; 3]>);

fn read_obj(text: &str) -> Obj {
    let (mut v, mut vt, mut vn, mut corners) = (Vec::new(), 0, Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split(' ');
        let key = words.next().unwrap();
        let words: Vec<&str> = words.collect();
        let vector = || {
            Vec3::from_slice(
                &words
                    .iter()
                    .map(|w| w.parse().unwrap())
                    .collect::<Vec<f32>>(),
            )
        };
        match key {
            "v" => v.push(vector()),
            "vt" => vt += 1,
            "vn" => vn.push(vector()),
            "f" => corners.extend(words.iter().map(|w| {
                let mut parts = w.split('/').map(|n| n.parse().unwrap_or(0));
                std::array::from_fn(|_| parts.next().unwrap())
            })),
            _ => {}
        }
    }
    (v, vt, vn, corners)
}

#[test]
fn an_obj_has_every_number_of_the_moment() {
    for name in ["arm", "hand", "mannequin"] {
        let document = open(&asset(name));
        let still = moment_of(&document, 0);
        let exported = export_obj(&document, &still, "x", &Task::new()).unwrap();
        let text = std::str::from_utf8(&exported.files[0].1).unwrap();
        let (v, n_uvs, vn, corners) = read_obj(text);
        let shapes = static_shapes(&document, &still.pose(&document).unwrap(), &Task::new());
        let shapes = shapes.unwrap();
        let positions: Vec<Vec3> = shapes.values().flat_map(|s| s.positions.clone()).collect();
        assert_eq!(v, positions);
        let meshes = || {
            document
                .instances()
                .values()
                .map(|i| &document.meshes()[&i.mesh].geometry)
        };
        assert_eq!(
            corners.len(),
            meshes().map(|m| 3 * m.triangles.len()).sum::<usize>()
        );
        assert!(corners.iter().all(|c| (1..=v.len()).contains(&c[0])
            && c[1] <= n_uvs
            && (1..=vn.len()).contains(&c[2])));
        // Triangles turn to the side of their normals.
        let sides = corners.chunks_exact(3).filter(|t| {
            let [a, b, c] = [0, 1, 2].map(|i| v[t[i][0] - 1]);
            (b - a).cross(c - a).dot(vn[t[0][2] - 1]) > 0.0
        });
        assert!(sides.count() * 100 > 95 * corners.len() / 3);
        for (_, bytes) in &exported.files[1..] {
            assert!(!bytes.is_empty());
        }
    }
}

#[test]
fn stills_are_replaced_with_their_files_and_never_the_source() {
    let folder = tempfile::tempdir().unwrap();
    // Files in the source's own folder are never replaced.
    let source = folder.path().join("source/arm.glb");
    std::fs::create_dir(folder.path().join("source")).unwrap();
    std::fs::copy(asset("arm"), &source).unwrap();
    let document = open(&source);
    let still = moment_of(&document, 0);
    let write = |name: &str, still: &StaticPose| {
        let mut outputs = Outputs::of(&document);
        let path = folder.path().join(name);
        export_static_mesh_to_file(&document, &path, still, false, &mut outputs, &Task::new())
    };
    write("a.obj", &StaticPose::default()).unwrap();
    write("a.obj", &still).unwrap();
    write("a.gltf", &still).unwrap();
    write("a.gltf", &StaticPose::default()).unwrap();
    let refused = write("source/arm.glb", &still).unwrap_err().to_string();
    assert!(refused.contains("is the model itself"), "{refused}");
    let refused = write("a.fbx", &still).unwrap_err().to_string();
    assert!(refused.contains("neither the extension"), "{refused}");
    let gone = StaticPose {
        clip: Some(ClipId(99)),
        time: 0.0,
    };
    assert_eq!(
        write("b.obj", &gone).unwrap_err().to_string(),
        "The model has no such clip."
    );
    let task = Task::new();
    task.cancel();
    let stopped = export_static_mesh_to_file(
        &document,
        &folder.path().join("c.obj"),
        &still,
        false,
        &mut Outputs::default(),
        &task,
    );
    assert_eq!(
        stopped.unwrap_err().to_string(),
        "The export was cancelled."
    );
    assert!(!folder.path().join("c.obj").exists());
}

#[test]
fn the_command_line_writes_stills_and_says_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, flags: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .arg("export")
            .arg(asset("arm"))
            .arg("--out")
            .arg(folder.path().join(name))
            .args(flags)
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (out.status.code(), text(out.stdout), text(out.stderr))
    };
    let (code, said, _) = run("a.obj", &["--still", "--clip", "0", "--time", "0.5"]);
    assert!(code == Some(0) && said.contains("deformed"), "{said}");
    assert_eq!(run("a.glb", &["--still", "--method", "dqs"]).0, Some(0));
    for (name, flags, word) in [
        ("b.obj", &[][..], "--still"),
        ("b.fbx", &["--still"], ".obj"),
        ("b.glb", &["--still", "--clip", "nothing"], "no clip"),
        (
            "b.glb",
            &["--still", "--clip", "0", "--time", "nan"],
            "not a time",
        ),
        ("b.glb", &["--still", "--correct", "clips"], "--correct"),
        (
            "b.glb",
            &["--still", "--write-pose-as-rest"],
            "--write-pose-as-rest",
        ),
        ("b.glb", &["--still", "--tolerance", "1%"], "--tolerance"),
        ("b.glb", &["--clip", "0"], "--still"),
        ("b.glb", &["--dense"], "frames"),
        ("b.glb", &["--correct", "retarget", "--dense"], "--dense"),
        (
            "b.glb",
            &["--correct", "retarget", "--no-normals"],
            "--no-normals",
        ),
        (
            "b.glb",
            &["--correct", "frames", "--max-morphs", "4"],
            "--max-morphs",
        ),
        ("b.glb", &["--normals-share", "20%"], "frames"),
        (
            "b.glb",
            &["--correct", "retarget", "--normals-share", "20%"],
            "--normals-share",
        ),
        (
            "b.glb",
            &["--correct", "frames", "--normals-share", "20%"],
            "--normals-share",
        ),
        (
            "b.glb",
            &[
                "--correct",
                "clips",
                "--no-normals",
                "--normals-share",
                "20%",
            ],
            "--no-normals",
        ),
        (
            "b.glb",
            &["--correct", "clips", "--normals-share", "0.5%"],
            "1% to 100%",
        ),
    ] {
        let (code, _, error) = run(name, flags);
        assert!(
            code == Some(2) && error.contains(word),
            "{flags:?}: {error}"
        );
        assert!(!folder.path().join(name).exists());
    }
}

#[test]
fn shared_models_stand_still_as_their_stacks_bend_them() {
    let Some(shared) = shared_dir("shared_models_stand_still_as_their_stacks_bend_them") else {
        return;
    };
    let models = [
        ("cesium_man/cesium_man.glb", true),
        ("fox/fox.glb", false),
        ("fox_quantized/fox_quantized.glb", false),
        ("greenman/greenman.glb", true),
        ("greenman_cubic_8inf/greenman_cubic_8inf.glb", true),
        ("kaykit_knight/kaykit_knight.glb", true),
        ("mannequiny/mannequiny.glb", true),
        ("quad_skin/quad_skin.glb", false),
        ("robot_expressive/robot_expressive.glb", true),
        ("simple_skin/simple_skin.gltf", false),
        ("skinned_cylinder/skinned_cylinder.gltf", true),
        ("webxr_hand_left/webxr_hand_left.glb", true),
    ];
    for (name, normals) in models {
        let document = open(&shared.join("models").join(name));
        agrees(
            &document,
            &moment_of(&document, 1.min(document.clips().len().saturating_sub(1))),
            normals,
            name,
        );
    }
}

fn framed(document: &Document, options: BakeOptions) -> Exported {
    let options = ExportOptions {
        correct: Some(BakeOptions {
            mode: BakeMode::Frames,
            ..options
        }),
        ..ExportOptions::default()
    };
    export(document, &options, &Task::new()).unwrap()
}

/// A file of frames must move as the stacks say, without a skin, and say how many targets that takes.
fn plays_frames(document: &Document, clips: Vec<ClipId>) -> (Exported, Document) {
    let n_clips = if clips.is_empty() {
        document.clips().len()
    } else {
        clips.len()
    };
    let exported = framed(
        document,
        BakeOptions {
            clips,
            ..BakeOptions::default()
        },
    );
    let report = exported.correction.clone().unwrap();
    println!("{}", report.summary());
    assert!(
        report.met && report.max_percent <= 0.1 && report.morph_targets > 0,
        "{report:?}"
    );
    let mut findings = exported.report.findings.iter();
    let says_worse = |f: &sinew::finding::Finding| f.message.contains("export it with its skin");
    assert!(!findings.any(says_worse), "{:?}", exported.report.findings);
    assert!(report.before_max_percent > 0.1 && report.helper_joints == 0);
    // What the bake found itself, and nothing of normals, which nobody looked at.
    assert!(report.expected_max_percent > 0.0 && report.expected_max_percent <= 0.1);
    assert!(!report.summary().contains("normal error"));
    let json = serde_json::to_value(&report).unwrap();
    assert!(json.get("normals").is_none() && json.get("normals_before").is_none());
    let read = reopen(&exported);
    assert!(read.skins().is_empty());
    assert_eq!(read.clips().len(), n_clips);
    let n_targets = read
        .meshes()
        .values()
        .map(|m| m.geometry.morphs.len())
        .max();
    assert_eq!(n_targets, Some(report.morph_targets));
    let weights = read.clips().values().flat_map(|c| &c.channels);
    for channel in weights.filter(|c| c.property == Property::MorphWeights) {
        for k in 0..channel.times.len() {
            let key = channel.key(k);
            assert!(key.iter().all(|w| *w == 0.0 || *w == 1.0) && key.iter().sum::<f32>() <= 1.0);
        }
    }
    // What is drawn without a clip is the rest pose, and the clips last as long as they did.
    let (ours, theirs) = (seen(document, &StaticPose::default()), shown(&read));
    for ((a, _), (b, _)) in ours.iter().zip(&theirs) {
        let off = a
            .iter()
            .zip(b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, larger);
        assert!(off <= 1e-6 * diagonal(&ours), "{off}");
    }
    for clip in read.clips().values() {
        let source = document
            .clips()
            .values()
            .find(|c| c.name == clip.name)
            .unwrap();
        assert_eq!(clip.end_secs(), source.end_secs());
    }
    (exported, read)
}

#[test]
fn an_arm_plays_frames_without_a_skin() {
    let document = with_stack(open(&asset("arm")), &DeformStack::default());
    let (exported, read) = plays_frames(&document, Vec::new());
    let few = read
        .meshes()
        .values()
        .all(|m| m.geometry.morphs.len() <= 64);
    let warned = exported.report.findings.iter();
    assert_eq!(
        few,
        warned
            .filter(|f| f.message.contains("no more than 64"))
            .count()
            == 0
    );
    // Clips that were not asked for would stand still: they go, and that is said.
    let first = *document.clips().keys().next().unwrap();
    let (exported, _) = plays_frames(&document, vec![first]);
    assert!(document.clips().len() > 1);
    assert_eq!(said(&exported, "without frames"), 1);
}

/// A model whose JSON was changed.
fn changed(path: &Path, change: impl Fn(&mut Value)) -> Document {
    let bytes = std::fs::read(path).unwrap();
    let end = 20 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut json: Value = serde_json::from_slice(&bytes[20..end]).unwrap();
    change(&mut json);
    let mut text = serde_json::to_vec(&json).unwrap();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = bytes[..12].to_vec();
    out.extend((text.len() as u32).to_le_bytes());
    out.extend(b"JSON");
    out.extend(text);
    out.extend(&bytes[end..]);
    let length = out.len() as u32;
    out[8..12].copy_from_slice(&length.to_le_bytes());
    let imported = import_bytes(out.into(), None, None, &Task::new()).unwrap();
    Document::new(imported.parts).unwrap()
}

fn said(exported: &Exported, words: &str) -> usize {
    let findings = exported.report.findings.iter();
    findings.filter(|f| f.message.contains(words)).count()
}

#[test]
fn what_a_file_without_skins_cannot_keep_goes_and_is_said() {
    let document = changed(&asset("arm"), |json| {
        let attributes = &mut json["meshes"][0]["primitives"][0]["attributes"];
        attributes["TANGENT"] = attributes["WEIGHTS_0"].clone();
        json["extras"] = json!({
            "sinew_skin": {"version": 1, "skins": [{"skin": 0, "helpers": []}]},
            "author": "kept"
        });
    });
    let first = *document.clips().keys().next().unwrap();
    let options = BakeOptions {
        clips: vec![first],
        ..BakeOptions::default()
    };
    let still = still_of(&document, &moment_of(&document, 0), GltfFormat::Glb);
    for exported in [still, framed(&document, options)] {
        assert_eq!(said(&exported, "Tangents"), 1);
        let read = reopen(&exported);
        let json = &read.source().unwrap().json;
        assert_eq!(json["extras"], json!({"author": "kept"}));
        assert!(
            json["meshes"][0]["primitives"][0]["attributes"]
                .get("TANGENT")
                .is_none()
        );
    }
    let alone = changed(&asset("arm"), |json| {
        json["extras"] = json!({ "sinew_skin": {"version": 1} });
    });
    let read = reopen(&still_of(&alone, &StaticPose::default(), GltfFormat::Glb));
    assert!(read.source().unwrap().json.get("extras").is_none());
}

#[test]
fn frames_are_dense_and_without_normals_where_asked() {
    let document = with_stack(open(&asset("arm")), &DeformStack::default());
    let first = *document.clips().keys().next().unwrap();
    let write = |sparse, normals| {
        let options = BakeOptions {
            clips: vec![first],
            sparse,
            normals,
            ..BakeOptions::default()
        };
        let exported = framed(&document, options);
        let json = reopen(&exported).source().unwrap().json.clone();
        assert!(exported.correction.as_ref().unwrap().met);
        let targets = json["meshes"][0]["primitives"][0]["targets"].as_array();
        let turned = targets
            .unwrap()
            .iter()
            .filter(|t| t.get("NORMAL").is_some());
        let n_turned = turned.count();
        let accessors = json["accessors"].as_array().unwrap().iter();
        let n_sparse = accessors.filter(|a| a.get("sparse").is_some()).count();
        (exported.files[0].1.len(), n_sparse, n_turned)
    };
    let (few, dense, plain) = (write(true, true), write(false, true), write(true, false));
    println!("{few:?} {dense:?} {plain:?}");
    assert!(few.2 > 0 && few.1 > 0 && few.0 < dense.0);
    assert!(dense.1 == 0 && dense.2 == few.2);
    assert!(plain.2 == 0 && plain.0 < few.0);
}

#[test]
fn a_compressed_mesh_drawn_with_and_without_a_skin_plays_frames() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/simple_skin_draco.glb");
    let document = changed(&path, |json| {
        let nodes = json["nodes"].as_array_mut().unwrap();
        nodes.push(json!({"mesh": 0, "translation": [2, 0, 0]}));
        let new = nodes.len() - 1;
        json["scenes"][0]["nodes"]
            .as_array_mut()
            .unwrap()
            .push(new.into());
    });
    assert_eq!(document.instances().len(), 2);
    let exported = framed(&document, BakeOptions::default());
    assert!(exported.correction.as_ref().unwrap().met);
    let read = reopen(&exported);
    let json = &read.source().unwrap().json;
    assert!(json.get("extensionsUsed").is_none());
    for mesh in json["meshes"].as_array().unwrap() {
        let primitive = &mesh["primitives"][0];
        assert!(primitive.get("extensions").is_none());
        assert!(primitive["attributes"].get("WEIGHTS_0").is_none());
    }
    let (ours, theirs) = (seen(&document, &StaticPose::default()), shown(&read));
    assert_eq!((ours.len(), theirs.len()), (2, 2));
    for ((a, _), (b, _)) in ours.iter().zip(&theirs) {
        assert_eq!(a.len(), b.len());
        assert!(a.iter().zip(b).all(|(a, b)| a.distance(*b) < 1e-5));
    }
}

#[test]
fn clips_not_chosen_and_clips_that_stand_still_are_told_apart() {
    let mut document = with_stack(open(&asset("arm")), &DeformStack::default());
    let (&first, clip) = document.clips().iter().next().unwrap();
    let mut still = Clip::clone(clip);
    still.channels.clear();
    still.name = "Nothing".into();
    let id = ClipId(document.clips().keys().last().unwrap().0 + 1);
    let clip = Some(Arc::new(still));
    document.apply(&mut Edit::Clip { id, clip }).unwrap();
    let others = document.clips().len() - 2;
    let options = BakeOptions {
        clips: vec![first, id],
        ..BakeOptions::default()
    };
    let exported = framed(&document, options);
    assert_eq!(said(&exported, "not chosen"), usize::from(others > 0));
    assert_eq!(
        said(
            &exported,
            "1 clip without frames: not in the file, because nothing"
        ),
        1
    );
}

#[test]
fn any_number_of_threads_writes_the_same_frames() {
    let document = open(&asset("arm"));
    let first = *document.clips().keys().next().unwrap();
    let run = |n| {
        let options = BakeOptions {
            clips: vec![first],
            ..BakeOptions::default()
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
        pool.unwrap().install(|| framed(&document, options).files)
    };
    assert!(run(1) == run(3));
}

#[test]
fn frames_need_clips_and_skins() {
    let refused = |document: &Document| {
        let options = ExportOptions {
            correct: Some(BakeOptions {
                mode: BakeMode::Frames,
                ..BakeOptions::default()
            }),
            ..ExportOptions::default()
        };
        export(document, &options, &Task::new())
            .unwrap_err()
            .to_string()
    };
    let arm = open(&asset("arm"));
    let still = reopen(&still_of(&arm, &StaticPose::default(), GltfFormat::Glb));
    assert!(refused(&still).contains("no clip"));
    let task = Task::new();
    task.cancel();
    let none = std::collections::BTreeMap::new();
    let stopped = sinew::bake::frames::frames(&arm, arm.clips(), 0.001, &none, &task);
    let said = stopped.unwrap_err().to_string();
    assert!(said.contains("cancelled"), "{said}");
}

#[test]
fn a_robot_with_many_parts_plays_frames() {
    let Some(shared) = shared_dir("a_robot_with_many_parts_plays_frames") else {
        return;
    };
    for name in ["robot_expressive/robot_expressive.glb", "fox/fox.glb"] {
        let document = open(&shared.join("models").join(name));
        let document = with_stack(document, &DeformStack::dqs());
        let second = *document.clips().keys().nth(1).unwrap();
        plays_frames(&document, vec![second]);
    }
}
