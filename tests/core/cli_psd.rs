//! Corrective samples on the command line: a sculpted mesh becomes a sample, plays, and reaches the exported file.

use crate::cli::{asset, done, fails, text};
use crate::npy::read_npy;
use glam::DQuat;
use serde_json::{Value, json};
use sinew::deform::DeformStack;
use sinew::deform::correctives::{Correctives, Sample, SampleSet};
use sinew::document::{CorrectivesEdit, Edit};
use sinew::io::{open_any, project};
use sinew::math::Worse;
use sinew::psd::Kernel;
use sinew::task::Task;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The node of a bone of a .glb file.
fn node_of(file: &str, name: &str) -> u64 {
    let bytes = std::fs::read(file).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let model: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let nodes = model["nodes"].as_array().unwrap();
    nodes.iter().position(|node| node["name"] == name).unwrap() as u64
}

/// n vertices.
fn read(path: &Path) -> Vec<[f32; 3]> {
    let (shape, values) = read_npy(path);
    assert_eq!(shape[1], 3);
    let points = values.chunks_exact(3);
    points
        .map(|p| [p[0] as f32, p[1] as f32, p[2] as f32])
        .collect()
}

struct Elbow {
    folder: tempfile::TempDir,
    arm: String,
    node: u64,
}

impl Elbow {
    fn new() -> Self {
        let arm = asset("arm");
        Self {
            folder: tempfile::tempdir().unwrap(),
            node: node_of(&arm, "forearm"),
            arm,
        }
    }

    fn join(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A pose file with the elbow bent about its z axis.
    fn pose(&self, degrees: f64) -> PathBuf {
        let (sin, cos) = (degrees.to_radians() / 2.0).sin_cos();
        let path = self.join(&format!("pose{degrees}.json"));
        let pose = json!({"nodes": [{"node": self.node, "rotation": [0.0, 0.0, sin, cos]}]});
        std::fs::write(&path, pose.to_string()).unwrap();
        path
    }

    fn skin(&self, file: &str, pose: &Path, more: &[&str]) -> Vec<[f32; 3]> {
        let out = self.join("skin.npy");
        let mut args = vec!["skin", file, "--out", text(&out), "--pose", text(pose)];
        args.extend(more);
        done(&args);
        read(&out)
    }

    /// A sculpt of the posed shape: an OBJ-like bump on the vertices near the joint, written over a static export.
    fn sculpt(&self, file: &str, pose: &Path, size: f32) -> (PathBuf, Vec<[f32; 3]>) {
        let posed = self.skin(file, pose, &[]);
        let centre = posed.iter().fold([0.0; 3], |sum: [f32; 3], p| {
            std::array::from_fn(|k| sum[k] + p[k] / posed.len() as f32)
        });
        let bump = |p: &[f32; 3]| -> [f32; 3] {
            let r2: f32 = (0..3).map(|k| (p[k] - centre[k]).powi(2)).sum();
            let lift = (size * (1.0 - r2 / 0.01)).max(0.0);
            [p[0], p[1] + lift, p[2] + 0.5 * lift]
        };
        let sculpted: Vec<[f32; 3]> = posed.iter().map(bump).collect();
        let path = self.join(&format!("sculpt{size}.gltf"));
        write_gltf(&path, &sculpted);
        (path, sculpted)
    }

    /// A project with one sample, sculpted at a pose.
    fn project(&self, pose: &Path, name: &str) -> PathBuf {
        let (target, _) = self.sculpt(&self.arm, pose, 0.02);
        let project = self.join("q.ron");
        let from = ["--extract", text(&target), "--pose", text(pose)];
        let to = ["--out", text(&project), "--name", name];
        done(&[&["psd", &self.arm][..], &from, &to].concat());
        project
    }
}

/// A static model with these vertices, in triangles of neighbours.
fn write_gltf(path: &Path, positions: &[[f32; 3]]) {
    let mut bytes: Vec<u8> = positions
        .iter()
        .flatten()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let n_bytes = bytes.len();
    let corners = (0..positions.len() as u32 - 2).flat_map(|i| [i, i + 1, i + 2]);
    let corners: Vec<u32> = corners.collect();
    bytes.extend(corners.iter().flat_map(|i| i.to_le_bytes()));
    let range = |pick: fn(f32, f32) -> f32, start: f32| {
        positions.iter().fold([start; 3], |all, p| {
            std::array::from_fn(|k| pick(all[k], p[k]))
        })
    };
    let name = path.with_extension("bin");
    std::fs::write(&name, &bytes).unwrap();
    let uri = name.file_name().unwrap().to_str().unwrap();
    let model = json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "name": "sculpt"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [{
            "bufferView": 0, "componentType": 5126, "type": "VEC3", "count": positions.len(),
            "min": range(f32::min, f32::MAX), "max": range(f32::max, f32::MIN),
        }, {
            "bufferView": 1, "componentType": 5125, "type": "SCALAR", "count": corners.len(),
        }],
        "bufferViews": [
            {"buffer": 0, "byteLength": n_bytes},
            {"buffer": 0, "byteOffset": n_bytes, "byteLength": bytes.len() - n_bytes},
        ],
        "buffers": [{"uri": uri, "byteLength": bytes.len()}],
    });
    std::fs::write(path, model.to_string()).unwrap();
}

fn worst(a: &[[f32; 3]], b: &[[f32; 3]]) -> f32 {
    assert_eq!(a.len(), b.len());
    let apart = a.iter().zip(b).map(|(a, b)| {
        let squares = (0..3).map(|k| (a[k] - b[k]).powi(2));
        squares.sum::<f32>().sqrt()
    });
    apart.fold(0.0, f32::worse)
}

#[test]
fn a_sculpt_is_extracted_played_and_exported() {
    let elbow = Elbow::new();
    let (bent, more) = (elbow.pose(70.0), elbow.pose(120.0));
    let project = elbow.join("q.ron");
    let (target, sculpted) = elbow.sculpt(&elbow.arm, &bent, 0.02);
    let said = done(&[
        "psd",
        &elbow.arm,
        "--extract",
        text(&target),
        "--pose",
        text(&bent),
        "--out",
        text(&project),
    ]);
    assert!(
        said.starts_with("Sample \"Sample 1\" of \"forearm\": "),
        "{said}"
    );
    // A second one, into the same project.
    let (second, sculpted_more) = elbow.sculpt(&elbow.arm, &more, 0.03);
    done(&[
        "psd",
        text(&project),
        "--extract",
        text(&second),
        "--pose",
        text(&more),
        "--out",
        text(&project),
        "--name",
        "Deep",
    ]);
    for (pose, expected) in [(&bent, &sculpted), (&more, &sculpted_more)] {
        let skinned = elbow.skin(text(&project), pose, &[]);
        let error = worst(&skinned, expected);
        assert!(error < 1e-5, "{error}");
    }
    let at_rest = elbow.pose(0.0);
    let rest = elbow.skin(&elbow.arm, &at_rest, &[]);
    assert!(worst(&elbow.skin(text(&project), &at_rest, &[]), &rest) < 1e-9);

    let report = done(&["psd", text(&project), "--json", "--pose", text(&bent)]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let set = &report["sets"][0];
    assert_eq!(
        set["drivers"][0],
        json!({"node": elbow.node, "mode": "ball", "lambda": 1.0})
    );
    assert_eq!(
        (&set["kernel"], &set["clamp"]),
        (&json!("multiquadric"), &json!([-0.15, 1.15]))
    );
    assert_eq!(set["bind"].as_array().unwrap().len(), 1);
    let samples = set["samples"].as_array().unwrap();
    let weights: Vec<f64> = samples
        .iter()
        .map(|s| s["weight"].as_f64().unwrap())
        .collect();
    assert!(
        (weights[0] - 1.0).abs() < 1e-9 && weights[1].abs() < 1e-9,
        "{weights:?}"
    );
    assert_eq!(samples[1]["name"], "Deep");
    assert!(samples[0]["points"].as_u64().unwrap() > 50);

    // On another stack the samples are stale: `check` names them.
    let checked = done(&["check", text(&project)]);
    assert!(!checked.contains("another deformer stack"), "{checked}");
    let odd = std::fs::read_to_string(&project)
        .unwrap()
        .replacen("power: 2.0", "power: 3.0", 1);
    let odd_project = elbow.join("odd.ron");
    std::fs::write(&odd_project, odd).unwrap();
    let checked = done(&["check", text(&odd_project)]);
    assert!(
        !checked.contains("Sample 1"),
        "a fresh sample follows its mesh: {checked}"
    );

    // Every correction has the samples in its file.
    let still = elbow.join("still.glb");
    let moment = ["--clip", "0", "--time", "0.5"];
    let export = ["export", text(&project), "--out", text(&still), "--still"];
    done(&[&export[..], &moment].concat());
    let shape = |file: &str, more: &[&str]| {
        let npy = elbow.join("still.npy");
        done(&[&["skin", file, "--out", text(&npy)], more].concat());
        read(&npy)
    };
    let (wanted, frozen) = (shape(text(&project), &moment), shape(text(&still), &[]));
    assert!(worst(&wanted, &frozen) < 1e-6);
    assert!(worst(&wanted, &shape(&elbow.arm, &moment)) > 1e-3);
    for mode in ["clips", "frames"] {
        let out = elbow.join(&format!("{mode}.glb"));
        let said = done(&[
            "export",
            text(&project),
            "--out",
            text(&out),
            "--correct",
            mode,
        ]);
        assert!(said.contains('%'), "{said}");
        for time in ["0.4", "0.8"] {
            let shape = |file: &Path, more: &[&str]| {
                let npy = elbow.join("played.npy");
                let mut args = vec![
                    "skin",
                    text(file),
                    "--out",
                    text(&npy),
                    "--clip",
                    "0",
                    "--time",
                    time,
                ];
                args.extend(more);
                done(&args);
                read(&npy)
            };
            let (wanted, played) = (shape(&project, &[]), shape(&out, &["--method", "lbs"]));
            let size = 0.8;
            let error = worst(&wanted, &played) / size;
            assert!(error < 2e-3, "{mode} at {time}: {error}");
        }
    }
}

#[test]
fn what_cannot_be_extracted_is_one_sentence() {
    let elbow = Elbow::new();
    let bent = elbow.pose(70.0);
    let project = elbow.join("q.ron");
    let (target, _) = elbow.sculpt(&elbow.arm, &bent, 0.02);
    let extract = |file: &str, target: &Path, more: &[&str], code| {
        let mut args = vec![
            "psd",
            file,
            "--extract",
            text(target),
            "--out",
            text(&project),
        ];
        args.extend(more);
        fails(&args, code)
    };
    let said = extract(&elbow.arm, &target, &[], 2);
    assert!(said.contains("needs the pose"), "{said}");
    let other = PathBuf::from(asset("hand"));
    let said = extract(&elbow.arm, &other, &["--pose", text(&bent)], 1);
    assert!(said.contains("has no mesh with the vertices"), "{said}");
    let said = extract(
        &elbow.arm,
        &target,
        &["--pose", text(&bent), "--drivers", "tail"],
        2,
    );
    assert!(said.contains("--drivers tail"), "{said}");
    // The same pose twice.
    let args = [
        "psd",
        &elbow.arm,
        "--extract",
        text(&target),
        "--pose",
        text(&bent),
        "--out",
        text(&project),
    ];
    done(&args);
    let said = extract(
        text(&project),
        &target,
        &["--pose", text(&bent), "--name", "Twin"],
        1,
    );
    assert!(
        said.contains("\"Sample 1\" and \"Twin\" have the same driver pose"),
        "{said}"
    );
    // No input is written over.
    let said = fails(
        &[
            "psd",
            &elbow.arm,
            "--extract",
            text(&target),
            "--pose",
            text(&bent),
            "--out",
            &elbow.arm,
        ],
        2,
    );
    assert!(said.contains(".ron"), "{said}");
    // The pose at rest.
    let rest = elbow.pose(0.0);
    let (still, _) = elbow.sculpt(&elbow.arm, &rest, 0.02);
    let said = extract(&elbow.arm, &still, &["--pose", text(&rest)], 1);
    assert!(said.contains("correct the bind mesh"), "{said}");
}

#[test]
fn samples_come_from_other_stacks_and_from_obj_files() {
    let elbow = Elbow::new();
    let bent = elbow.pose(90.0);
    let project = elbow.join("q.ron");
    let add = |file: &str, how: &[&str], more: &[&str]| {
        let mut args = vec!["psd", file, "--pose", text(&bent), "--out", text(&project)];
        args.extend(how);
        args.extend(more);
        args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>()
    };
    let run = |args: Vec<String>| done(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let said = run(add(&elbow.arm, &["--from-stack", "lbs"], &[]));
    assert!(
        said.starts_with("Sample \"Sample 1\" of \"forearm\": "),
        "{said}"
    );
    let linear = elbow.skin(&elbow.arm, &bent, &["--method", "lbs"]);
    let error = worst(&elbow.skin(text(&project), &bent, &[]), &linear);
    assert!(error < 1e-5, "{error}");
    // Its own stack is not another shape.
    let refused =
        |args: Vec<String>, code| fails(&args.iter().map(String::as_str).collect::<Vec<_>>(), code);
    let said = refused(add(&elbow.arm, &["--from-stack", "project"], &[]), 1);
    assert!(said.contains("does not differ"), "{said}");
    let said = refused(add(&elbow.arm, &["--from-morph", "smile"], &[]), 1);
    assert!(said.contains("has the morph target \"smile\""), "{said}");
    let said = refused(add(&elbow.arm, &["--mirror", "--flip"], &[]), 2);
    assert!(said.contains("cannot be used with"), "{said}");

    let (_, sculpted) = elbow.sculpt(&elbow.arm, &bent, 0.02);
    let lines = sculpted.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n"));
    let target = elbow.join("sculpt.obj");
    std::fs::write(&target, lines.collect::<String>()).unwrap();
    run(add(&elbow.arm, &["--extract", text(&target)], &[]));
    let error = worst(&elbow.skin(text(&project), &bent, &[]), &sculpted);
    assert!(error < 1e-5, "{error}");
    std::fs::write(&target, "# bad\nv 1 2\n").unwrap();
    let said = refused(add(&elbow.arm, &["--extract", text(&target)], &[]), 1);
    assert!(
        said.contains("sculpt.obj: The OBJ file cannot be read at line 2"),
        "{said}"
    );
}

#[test]
fn samples_are_mirrored_and_captured_again() {
    let elbow = Elbow::new();
    let body = asset("mannequin");
    let node = node_of(&body, "forearm.L");
    let pose = elbow.join("left.json");
    let rotation = [0.0, 0.6, 0.0, 0.8];
    let bent = json!({"nodes": [{"node": node, "rotation": rotation}]});
    std::fs::write(&pose, bent.to_string()).unwrap();
    let (first, both) = (elbow.join("first.ron"), elbow.join("both.ron"));
    let (pose, first, both) = (text(&pose), text(&first), text(&both));
    done(&[
        "psd",
        &body,
        "--from-stack",
        "lbs",
        "--pose",
        pose,
        "--out",
        first,
    ]);
    let said = done(&["psd", first, "--mirror", "--out", both]);
    assert!(said.starts_with("1 sample mirrored."), "{said}");
    let report: Value = serde_json::from_str(&done(&["psd", both, "--json"])).unwrap();
    let names = report["sets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|set| &set["name"]);
    assert!(names.eq(["forearm.L", "forearm.R"]), "{report}");
    let said = done(&["psd", both, "--retarget", "--out", both]);
    assert!(said.starts_with("No sample was re-targeted."), "{said}");
}

/// Measured on a finger: three samples; crossing triangles 0, 27 and 40 -> 0.
#[test]
fn samples_are_suggested_and_added() {
    let folder = tempfile::tempdir().unwrap();
    let (hand, project) = (asset("hand"), folder.path().join("hand.ron"));
    let ask = ["psd", &hand, "--suggest", "index.02.L"];
    let said = done(&[&ask[..], &["--json", "--out", text(&project)]].concat());
    let found: Value = serde_json::from_str(&said).unwrap();
    let suggestions = found["suggestions"].as_array().unwrap();
    assert_eq!(suggestions.len(), 1);
    let suggestion = &suggestions[0];
    assert_eq!(suggestion["node"], node_of(&hand, "index.02.L"));
    assert_eq!(
        (&suggestion["mode"], &suggestion["free"]),
        (&json!("hinge"), &json!(221))
    );
    let proposals = suggestion["proposals"].as_array().unwrap();
    let degrees: Vec<f64> = proposals
        .iter()
        .map(|p| p["degrees"].as_f64().unwrap())
        .collect();
    assert_eq!(
        degrees.iter().map(|d| d.round()).collect::<Vec<_>>(),
        [50.0, 80.0, 96.0]
    );
    for (proposal, crossing) in proposals.iter().zip([0i64, 27, 40]) {
        let (before, after) = (&proposal["before"], &proposal["after"]);
        let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
        assert!(
            (before["crossings"].as_i64().unwrap() - crossing).abs() <= 3,
            "{proposal}"
        );
        assert_eq!(
            (&after["crossings"], &proposal["recommended"]),
            (&json!(0), &json!(true))
        );
        assert!(
            number(after, "strain") < 0.6 * number(before, "strain"),
            "{proposal}"
        );
        assert!(number(after, "volume").abs() <= 0.02 + 1e-9, "{proposal}");
        assert!(number(after, "displacement") > 0.2, "{proposal}");
    }
    // What was printed is what the project holds.
    let held = done(&["psd", text(&project), "--json"]);
    for proposal in proposals {
        let name = proposal["name"].as_str().unwrap();
        assert!(held.contains(name), "{name}: {held}");
    }
    let said = done(&[&ask[..], &["--out", text(&project)]].concat());
    assert!(said.contains("crossing triangles 27 -> 0"), "{said}");
    assert!(said.contains("hand.ron with 3 samples added"), "{said}");
    let again = done(&ask);
    assert!(!again.contains("Wrote") && again.starts_with("index.02.L, mesh \"hand\": hinge"));
}

#[test]
fn what_cannot_be_suggested_is_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let (arm, model) = (asset("arm"), folder.path().join("arm.glb"));
    for (bone, more, code, sentence) in [
        (
            "nobody",
            &[][..],
            2,
            "--suggest nobody: there is no bone of that name.",
        ),
        ("wrist", &[], 1, "No vertices blend across \"wrist\"."),
        (
            "forearm",
            &["--out", text(&model)],
            2,
            "--suggest writes a project: give --out a name that ends in .ron.",
        ),
    ] {
        let said = fails(
            &[&["psd", &arm, "--suggest", bone][..], more].concat(),
            code,
        );
        assert_eq!(said.trim_end(), format!("sinew: {sentence}"));
    }
    let both = [
        "psd",
        &arm,
        "--suggest",
        "forearm",
        "--mirror",
        "--out",
        text(&model),
    ];
    assert!(fails(&both, 2).contains("cannot be used with"));
    assert!(!model.exists());
}

/// A sample becomes a morph target of the file, and a morph target a sample again.
#[test]
fn samples_become_morph_targets_and_come_back() {
    let elbow = Elbow::new();
    let bent = elbow.pose(60.0);
    let (project, file) = (elbow.join("q.ron"), elbow.join("targets.glb"));
    let (target, _) = elbow.sculpt(&elbow.arm, &bent, 0.02);
    let (project, file) = (text(&project), text(&file));
    let (target, pose) = (text(&target), text(&bent));
    let add = ["psd", &elbow.arm, "--extract", target, "--pose", pose];
    done(&[&add[..], &["--out", project, "--name", "Bump"]].concat());
    done(&["export", project, "--out", file, "--sample-targets"]);
    let bytes = std::fs::read(file).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let model: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let mesh = &model["meshes"][0];
    assert_eq!(mesh["extras"]["targetNames"], json!(["Bump"]));
    for primitive in mesh["primitives"].as_array().unwrap() {
        assert_eq!(primitive["targets"].as_array().unwrap().len(), 1);
        assert!(primitive["targets"][0]["NORMAL"].is_u64(), "{primitive}");
    }
    // The displacement is that of the sample, carried by skinning instead of added after it.
    let again = elbow.join("again.ron");
    let back = ["psd", file, "--from-morph", "Bump", "--pose", pose];
    done(&[&back[..], &["--out", text(&again)]].concat());
    let (first, second) = (
        elbow.skin(project, &bent, &[]),
        elbow.skin(text(&again), &bent, &[]),
    );
    let plain = elbow.skin(&elbow.arm, &bent, &[]);
    let moved = worst(&first, &plain);
    assert!(moved > 0.01);
    // Bulge compensation and projection see the shape of the target, which a sample is added to.
    let error = worst(&first, &second);
    assert!(error < 0.2 * moved, "{error} of {moved}");
    let said = fails(
        &[
            "export",
            project,
            "--out",
            file,
            "--sample-targets",
            "--correct",
            "clips",
        ],
        2,
    );
    assert!(said.contains("--sample-targets cannot be used"), "{said}");
}

/// Targets are in the units of the mesh, samples in metres.
#[test]
fn morph_targets_of_samples_are_as_large_under_a_scaled_armature() {
    let mut elbow = Elbow::new();
    let mut moved = Vec::new();
    for scale in [1.0, 0.01] {
        let arm = elbow.join(&format!("arm{scale}.glb"));
        std::fs::write(&arm, crate::lengths::scaled_arm(scale)).unwrap();
        elbow.arm = text(&arm).to_owned();
        let bent = elbow.pose(60.0);
        let (sculpt, _) = elbow.sculpt(&elbow.arm, &bent, 0.02 * scale as f32);
        let (project, file) = (elbow.join("q.ron"), elbow.join("targets.glb"));
        let (project, file) = (text(&project), text(&file));
        let add = [
            "psd",
            &elbow.arm,
            "--extract",
            text(&sculpt),
            "--pose",
            text(&bent),
        ];
        done(&[&add[..], &["--out", project, "--name", "Bump"]].concat());
        done(&["export", project, "--out", file, "--sample-targets"]);
        let bytes = std::fs::read(file).unwrap();
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let model: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
        let target = &model["meshes"][0]["primitives"][0]["targets"][0]["POSITION"];
        let accessor = &model["accessors"][target.as_u64().unwrap() as usize];
        moved.push(accessor["max"][1].as_f64().unwrap());
    }
    let [plain, scaled] = moved[..] else {
        panic!("{moved:?}");
    };
    assert!(
        plain > 0.005 && (0.6..1.6).contains(&(scaled / plain)),
        "{moved:?}"
    );
}

/// As the manual's page of the command line says; rotations are local, as in a pose file.
#[test]
fn the_json_of_samples_has_what_a_pipeline_needs() {
    let elbow = Elbow::new();
    let (bent, half) = (elbow.pose(90.0), elbow.pose(45.0));
    let project = elbow.project(&bent, "Bent");
    let (project, bent) = (text(&project), text(&bent));
    let ask = |more: &[&str]| -> Value {
        let said = done(&[&["psd", project, "--json"], more].concat());
        serde_json::from_str(&said).unwrap()
    };
    let report = ask(&["--pose", text(&half)]);
    let sets = report["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 1);
    let set = &sets[0];
    assert_eq!(
        set["drivers"],
        json!([{"node": elbow.node, "mode": "ball", "lambda": 1.0}])
    );
    let number = |value: &Value| value.as_f64().unwrap();
    let near = |a: &Value, b: f64| (number(a) - b).abs() < 1e-6;
    assert_eq!(set["kernel"], "multiquadric");
    // 0.2 of the distance from bind: 2 sin(45 degrees).
    assert!(near(&set["c"], 0.2 * 2f64.sqrt()), "{set}");
    assert_eq!(set["smoothing"], 0.0);
    assert_eq!(set["clamp"], json!([-0.15, 1.15]));
    let quaternion = |value: &Value, expected: [f64; 4]| {
        let found = value.as_array().unwrap();
        assert_eq!(found.len(), 4);
        let same = found.iter().zip(expected).all(|(a, b)| near(a, b));
        assert!(same, "{value} is not {expected:?}");
    };
    assert_eq!(set["bind"].as_array().unwrap().len(), 1);
    quaternion(&set["bind"][0], [0.0, 0.0, 0.0, 1.0]);
    let samples = set["samples"].as_array().unwrap();
    assert_eq!(samples.len(), 1);
    let sample = &samples[0];
    assert_eq!(sample["name"], "Bent");
    let half_root = 0.5f64.sqrt();
    assert_eq!(sample["rotations"].as_array().unwrap().len(), 1);
    quaternion(&sample["rotations"][0], [0.0, 0.0, half_root, half_root]);
    assert!(sample["points"].as_u64().unwrap() > 50);
    let weight = number(&sample["weight"]);
    assert!((0.3..0.7).contains(&weight), "{weight}");
    // Elsewhere than in the rest pose, by a file or by a moment of a clip.
    let weight = |more: &[&str]| number(&ask(more)["sets"][0]["samples"][0]["weight"]);
    assert!(weight(&[]).abs() < 1e-12);
    assert!((weight(&["--pose", bent]) - 1.0).abs() < 1e-9);
    let moments = ["0.2", "0.6"].map(|time| weight(&["--clip", "0", "--time", time]));
    assert!(moments[0] != moments[1], "{moments:?}");
}

/// `check` says which samples are of another stack, hardly apart, ill-conditioned, or missed by their own weights.
#[test]
fn check_names_what_is_wrong_with_samples() {
    let elbow = Elbow::new();
    let project = elbow.join("q.ron");
    for (degrees, name) in [(60.0, "First"), (90.0, "Second"), (91.0, "Third")] {
        let pose = elbow.pose(degrees);
        let from = if project.exists() {
            &project
        } else {
            Path::new(&elbow.arm)
        };
        let (target, _) = elbow.sculpt(text(from), &pose, 0.02);
        let add = [
            "psd",
            text(from),
            "--extract",
            text(&target),
            "--pose",
            text(&pose),
        ];
        done(&[&add[..], &["--out", text(&project), "--name", name]].concat());
    }
    let said = done(&["check", text(&project)]);
    assert!(said.contains("\"Second\" and \"Third\" are only"), "{said}");
    assert!(!said.contains("another deformer stack"), "{said}");

    let changed = |name: &str, change: &dyn Fn(&mut SampleSet), stack: Option<DeformStack>| {
        let mut document = open_any(&project, &Task::new()).unwrap().document;
        let (&mesh, item) = document.meshes().iter().next().unwrap();
        let mut sets = item.correctives.sets().to_vec();
        change(Arc::make_mut(&mut sets[0]));
        let made = Arc::new(Correctives::default().with_set(SampleSet::clone(&sets[0])));
        let edit = CorrectivesEdit::new(&document, mesh, made);
        document.apply(&mut Edit::Correctives(edit)).unwrap();
        if let Some(stack) = stack {
            let stack = Arc::new(stack);
            document.apply(&mut Edit::Stack { mesh, stack }).unwrap();
        }
        let path = elbow.join(name);
        project::save(&document, &path, &Task::new()).unwrap();
        path
    };
    let stale = changed("stale.ron", &|_| (), Some(DeformStack::lbs()));
    let said = done(&["check", text(&stale)]);
    assert!(said.contains("on another deformer stack"), "{said}");
    let smooth = changed("smooth.ron", &|set| set.smoothing = 0.05, None);
    let said = done(&["check", text(&smooth)]);
    assert!(said.contains("smoothing"), "{said}");
    let json: Value = serde_json::from_str(&done(&["psd", text(&smooth), "--json"])).unwrap();
    let set = &json["sets"][0];
    assert!(set["cardinality"].as_f64().unwrap() > 1e-3, "{set}");
    // Two samples at one pose switch their set off.
    let twice = changed(
        "twice.ron",
        &|set| {
            let mut twin = Sample::clone(&set.samples[0]);
            twin.name = "Twin".into();
            set.samples.push(Arc::new(twin));
        },
        None,
    );
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["check", text(&twice)])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        said.contains("\"First\" and \"Twin\" have the same driver pose"),
        "{said}"
    );
}

/// Many samples close together under a wide Gaussian.
#[test]
fn check_names_ill_conditioned_samples() {
    let elbow = Elbow::new();
    let project = elbow.project(&elbow.pose(90.0), "Bent");
    let mut document = open_any(&project, &Task::new()).unwrap().document;
    let (&mesh, item) = document.meshes().iter().next().unwrap();
    let mut set = SampleSet::clone(&item.correctives.sets()[0]);
    let known = Sample::clone(&set.samples[0]);
    set.samples = (1..=9)
        .map(|k| {
            Arc::new(Sample {
                name: format!("{k}"),
                rotations: vec![DQuat::from_rotation_z(f64::from(k) * 0.1)],
                ..known.clone()
            })
        })
        .collect();
    (set.kernel, set.radius) = (Kernel::Gaussian, 4.0);
    let made = Arc::new(Correctives::default().with_set(set));
    let edit = CorrectivesEdit::new(&document, mesh, made);
    document.apply(&mut Edit::Correctives(edit)).unwrap();
    project::save(&document, &project, &Task::new()).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["check", text(&project)])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = ["uses the linear kernel", "too close to each other"];
    assert!(names.iter().any(|name| said.contains(name)), "{said}");
    // A warning keeps the exit code at 0, a refusal gives 1.
    let code = i32::from(said.contains(names[1]));
    assert_eq!(output.status.code(), Some(code), "{said}");
}
