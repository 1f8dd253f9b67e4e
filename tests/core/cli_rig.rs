//! `sinew rig`: operations in the order given, a report, refusals in sentences.

use crate::cli::{asset, done, fails, text};
use crate::inputs::check_sentence;
use crate::malformed::model_files;
use crate::rig_bind::stripped;
use crate::shared::shared_dir;
use serde_json::Value;
use std::process::Command;

fn report(args: &[&str]) -> Value {
    serde_json::from_str(&done(args)).unwrap()
}

#[test]
fn operations_run_in_their_order_and_report_in_text_and_json() {
    let folder = tempfile::tempdir().unwrap();
    let glb = folder.path().join("r.glb");
    let arm = asset("arm");
    let args = [
        "rig",
        &arm,
        "--insert",
        "forearm",
        "1",
        "--rename",
        "forearm_01",
        "mid",
        "--half",
        "#1",
        "--remove",
        "mid",
        "--out",
        text(&glb),
    ];
    let said = done(&args);
    for part in [
        "--insert forearm 1\nSubdivide bone: 1 bone added; 1 bone, ",
        "  New: forearm_01",
        "Rename bone: 1 bone changed; the mesh at rest does not move",
        "  New: forearm_half",
        "--remove mid\nRemove bone: ",
        "Wrote ",
    ] {
        assert!(said.contains(part), "{part} in\n{said}");
    }
    let json = report(&[&args[..], &["--json"]].concat());
    let steps = json["steps"].as_array().unwrap();
    let labels: Vec<&str> = steps
        .iter()
        .map(|s| s["operation"].as_str().unwrap())
        .collect();
    assert_eq!(
        labels,
        [
            "Subdivide bone",
            "Rename bone",
            "Add half bone",
            "Remove bone"
        ]
    );
    assert_eq!(steps[0]["flag"], "--insert forearm 1");
    assert_eq!(steps[0]["keyframes_changed"], 0);
    for clip in steps[0]["clips"].as_array().unwrap() {
        assert!(clip["percent"].as_f64().unwrap() < 1e-4, "{clip}");
    }
    let note = steps[2]["notes"][0].as_str().unwrap();
    assert!(note.starts_with("A constraint gives it half"), "{note}");
    let written = std::fs::read(&glb).unwrap();
    let names = String::from_utf8_lossy(&written);
    assert!(names.contains("forearm_half") && !names.contains("\"mid_"));
    // As a project, which is opened again with what was done.
    let ron = folder.path().join("r.ron");
    done(&[
        "rig",
        &arm,
        "--twist",
        "upper_arm",
        "2",
        "--out",
        text(&ron),
    ]);
    let again = report(&[
        "rig",
        text(&ron),
        "--remove",
        "upper_arm_twist_02",
        "--json",
    ]);
    assert_eq!(again["out"], Value::Null);
}

#[test]
fn clips_stay_under_every_operation_that_keeps_motion() {
    let mannequin = asset("mannequin");
    let json = report(&[
        "rig",
        &mannequin,
        "--orient",
        "forearm.L",
        "-y,+x",
        "--move",
        "shin.L",
        "0.01,-0.02,0",
        "--intent",
        "motion",
        "--reparent",
        "hand.R",
        "chest",
        "--json",
    ]);
    let steps = json["steps"].as_array().unwrap();
    for (step, most) in steps.iter().zip([1e-3, 0.02, 0.02]) {
        for clip in step["clips"].as_array().unwrap() {
            assert!(
                clip["percent"].as_f64().unwrap() < most,
                "{}: {clip}",
                step["flag"]
            );
        }
        assert!(step["at_rest_percent"].as_f64().unwrap() < 1e-4);
    }
    assert_eq!(steps[0]["keyframes_added"], 0);
    assert!(steps[1]["keyframes_added"].as_i64().unwrap() > 0);
    let pivot = report(&[
        "rig",
        &mannequin,
        "--move",
        "shin.L",
        "0.01,-0.02,0",
        "--json",
    ]);
    let step = &pivot["steps"][0];
    assert!(step["at_rest_percent"].as_f64().unwrap() < 1e-4);
    assert!(step["clips"][0]["percent"].as_f64().unwrap() > 0.05);
}

#[test]
fn a_pose_of_a_clip_becomes_the_rest_pose() {
    let arm = asset("arm");
    let json = report(&[
        "rig",
        &arm,
        "--pose-as-rest",
        "--clip",
        "Bend",
        "--time",
        "0.5",
        "--json",
    ]);
    let step = &json["steps"][0];
    assert!(step["at_rest_percent"].as_f64().unwrap() > 0.5);
    for clip in step["clips"].as_array().unwrap() {
        assert!(clip["percent"].as_f64().unwrap() < 1e-4, "{clip}");
    }
    // The same pose in the axes that an operation before has left.
    let turned = report(&[
        "rig",
        &arm,
        "--orient",
        "forearm",
        "-x,+z",
        "--pose-as-rest",
        "--clip",
        "Bend",
        "--time",
        "0.5",
        "--json",
    ]);
    let rest = |step: &Value| step["at_rest_percent"].as_f64().unwrap();
    assert!((rest(&turned["steps"][1]) - rest(step)).abs() < 1e-3);
    let said = done(&["rig", &arm, "--pose-as-rest"]);
    assert!(
        said.contains("Nothing changes: the pose is already the rest pose."),
        "{said}"
    );
}

#[test]
fn wrong_use_and_refusals_are_sentences() {
    let arm = asset("arm");
    for (flags, code, sentence) in [
        (&[][..], 2, "No operation was given"),
        (&["--insert", "elbow", "1"], 2, "there is no bone “elbow”"),
        (&["--insert", "#77", "1"], 2, "there is no bone “#77”"),
        (&["--insert", "forearm", "x"], 2, "N must be a whole number"),
        (&["--insert", "forearm", "0"], 1, "must be 1 - 16"),
        (&["--insert", "wrist", "1"], 1, "“wrist” has no child"),
        (&["--move", "forearm", "1,2"], 2, "an offset is x,y,z"),
        (&["--move", "forearm", "0,NaN,0"], 2, "an offset is x,y,z"),
        (
            &["--move", "forearm", "1e30,0,0"],
            1,
            "more than 10,000 times the size of the model",
        ),
        (&["--template", "dog"], 2, "use humanoid, quadruped, chain"),
        (&["--template", "chain"], 1, "already has bones"),
        (&["--centre", "elbow"], 2, "there is no bone “elbow”"),
        (
            &["--rename", "wrist", "forearm", "--half", "forearm"],
            2,
            "2 bones are named “forearm”",
        ),
        (
            &["--move", "forearm", "0,0,1", "--intent", "all"],
            2,
            "--intent is pivot, motion or children",
        ),
        (&["--intent", "motion"], 2, "it must follow a --move"),
        (
            &["--half", "wrist", "--intent", "motion"],
            2,
            "it must follow a --move",
        ),
        (&["--orient", "forearm", "y"], 2, "axes are two of"),
        (
            &["--orient", "forearm", "+y,-y"],
            1,
            "must differ from the axis",
        ),
        (
            &["--reparent", "forearm", "wrist"],
            1,
            "cannot be a child of",
        ),
        (&["--twist", "forearm", "9"], 1, "must be 1 - 6"),
        (&["--symmetrize", "forearm"], 1, "has no side in its name"),
        (&["--rename", "forearm", " "], 1, "needs a name"),
        (
            &["--constraint", "wrist", "glue:forearm"],
            2,
            "a type is copy-rotation, copy-location",
        ),
        (
            &["--constraint", "wrist", "copy-rotation"],
            2,
            "it needs a target",
        ),
        (
            &["--constraint", "wrist", "copy-rotation:elbow:axes=x"],
            2,
            "there is no bone “elbow”",
        ),
        (
            &["--constraint", "wrist", "copy-rotation:forearm:axes=q"],
            2,
            "write the axes as letters",
        ),
        (
            &["--constraint", "wrist", "twist-share:forearm:factor=2"],
            1,
            "out of its range",
        ),
        (
            &["--constraint", "forearm", "damped-track:wrist"],
            1,
            "dependency cycle",
        ),
        (
            &["--bind", "glue"],
            2,
            "use heat, voxel, biharmonic or rigid",
        ),
        (
            &["--remove", "forearm", "--half", "forearm"],
            2,
            "there is no bone",
        ),
        (
            &["--half", "wrist", "--clip", "0"],
            2,
            "need --pose-as-rest",
        ),
        (&["--out", "x.obj"], 2, "must end in .glb, .gltf or .ron"),
    ] {
        let why = fails(&[&["rig", arm.as_str()], flags].concat(), code);
        assert!(why.contains(sentence), "{flags:?}: {why}");
        check_sentence(why.trim_end(), "arm");
        assert!(why.chars().count() <= 310, "{why}");
    }
}

/// Constraints are added in the order given, each with its report; a project keeps them.
#[test]
fn constraints_are_added_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let ron = folder.path().join("c.ron");
    let arm = asset("arm");
    let args = [
        "rig",
        &arm,
        "--constraint",
        "forearm",
        "copy-rotation:upper_arm:axes=xz,invert=z,influence=0.5",
        "--constraint",
        "forearm",
        "limit-rotation:x=-10..20",
        "--out",
        text(&ron),
    ];
    let said = done(&args);
    assert!(
        said.contains("\nAdd constraint: 1 bone changed; the mesh at rest does not move"),
        "{said}"
    );
    let json = report(&[&args[..], &["--json"]].concat());
    let steps = json["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 2);
    assert_eq!(steps[0]["operation"], "Add constraint");
    assert_eq!(steps[0]["bones"], 1);
    assert_eq!(
        steps[1]["flag"],
        "--constraint forearm limit-rotation:x=-10..20"
    );
    let most = steps[0]["clips"].as_array().unwrap().iter();
    let most = most.filter_map(|clip| clip["percent"].as_f64());
    assert!(most.fold(0.0, f64::max) > 0.1, "{}", steps[0]);
    let saved = std::fs::read_to_string(&ron).unwrap();
    for part in [
        "axes: (true, false, true)",
        "inverted: (false, false, true)",
        "influence: 0.5",
        "LimitRotation",
    ] {
        assert!(saved.contains(part), "{part} in\n{saved}");
    }
}

/// Names that several bones have: by number, also of bones made in the same call; a bone of a skin before other nodes.
#[test]
fn bones_of_one_name_are_told_apart() {
    let arm = asset("arm");
    let json = report(&[
        "rig",
        &arm,
        "--insert",
        "forearm",
        "1",
        "--rename",
        "forearm_01",
        "wrist",
        "--rename",
        "wrist.001",
        "middle",
        "--move",
        "wrist",
        "0,0.01,0",
        "--rename",
        "middle",
        "middle",
        "--json",
    ]);
    let steps = json["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 5);
    let note = &steps[4]["notes"][0];
    assert_eq!(note, "Nothing changes: “middle” already has this name.");

    let folder = tempfile::tempdir().unwrap();
    let bare = folder.path().join("bare.glb");
    let glb = std::fs::read(asset("mannequin")).unwrap();
    std::fs::write(&bare, stripped(&glb, true)).unwrap();
    let rigged = folder.path().join("rigged.glb");
    let args = [
        "rig",
        text(&bare),
        "--template",
        "humanoid",
        "--bind",
        "rigid",
        "--rename",
        "hand.L",
        "palm.L",
        "--out",
        text(&rigged),
    ];
    let said = done(&args);
    assert!(said.contains("  New: hips, "), "{said}");
    // The nodes of the old skeleton have the same names.
    let json = report(&["rig", text(&rigged), "--remove", "forearm.L", "--json"]);
    assert!(json["steps"][0]["vertices"].as_u64().unwrap() > 10);
    let json = report(&["rig", text(&rigged), "--rename", "palm.L", "hand", "--json"]);
    assert_eq!(json["steps"][0]["bones"], 1);
}

/// Operations on the first bones of every shared file: a model, or one sentence.
#[test]
fn every_shared_file_is_changed_or_refused_in_a_sentence() {
    let Some(shared) = shared_dir("every_shared_file_is_changed_or_refused_in_a_sentence") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.glb");
    let mut n_written = 0;
    let mut files = model_files(shared.join("malformed"));
    let small = [
        "simple_skin",
        "quad_skin",
        "greenman",
        "skinned_cylinder",
        "webxr_hand_left",
    ];
    files.extend(
        small
            .into_iter()
            .flat_map(|name| model_files(shared.join("models").join(name))),
    );
    for file in files {
        for flags in [
            &["--insert", "#1", "1", "--half", "#2"][..],
            &["--orient", "#1", "+y,+z", "--move", "#1", "0.01,0,0"],
            &["--twist", "#1", "2", "--remove", "#2"],
            &["--symmetrize", "#1"],
            &["--freeze-scale", "#0"],
            &["--bind", "rigid"],
        ] {
            let head = ["rig", text(&file)];
            let tail = ["--out", text(&out)];
            let args = [&head[..], flags, &tail].concat();
            let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
                .args(&args)
                .output()
                .unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => n_written += 1,
                Some(1 | 2) => {
                    let line = stderr.lines().last().unwrap_or_default();
                    println!("{} {flags:?}: {line}", file.display());
                    check_sentence(line, &file.display().to_string());
                }
                code => panic!("{args:?}: {code:?} {stderr}"),
            }
        }
    }
    println!("{n_written} files written");
    assert!(n_written > 20, "{n_written}");
}
