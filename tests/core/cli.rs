//! The program as a pipeline uses it: outputs, exit codes, sentences.

use crate::npy::read_npy;
use crate::reference::larger;
use crate::shared::shared_dir;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(args)
        .output()
        .unwrap()
}

/// What a call wrote to stderr, without the progress that slow machines show and the warnings of graphics drivers.
pub(crate) fn messages(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let is_progress = |line: &&str| line.starts_with("sinew: ") && line.ends_with(" %");
    let is_of_driver = |line: &&str| line.starts_with("libEGL ") || line.starts_with("MESA");
    let lines = stderr.split_inclusive('\n');
    lines
        .filter(|line| !is_progress(&line.trim_end()) && !is_of_driver(line))
        .collect()
}

pub(crate) fn done(args: &[&str]) -> String {
    let output = sinew(args);
    let stderr = messages(&output);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {stderr}");
    assert!(stderr.is_empty(), "{args:?}: {stderr}");
    String::from_utf8(output.stdout).unwrap()
}

/// The one sentence on stderr of a failed call.
pub(crate) fn fails(args: &[&str], code: i32) -> String {
    let output = sinew(args);
    let stderr = messages(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    stderr
}

pub(crate) fn asset(name: &str) -> String {
    format!("{}/assets/{name}.glb", env!("CARGO_MANIFEST_DIR"))
}

pub(crate) fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn join(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

#[test]
fn skin_writes_vertices_in_the_files_order_as_npy_and_json() {
    let folder = Folder::new();
    let (npy, json) = (folder.join("r.npy"), folder.join("r.json"));
    let arm = asset("arm");
    done(&[
        "skin",
        &arm,
        "--clip",
        "Bend",
        "--time",
        "0.5",
        "--out",
        text(&npy),
    ]);
    done(&[
        "skin",
        &arm,
        "--clip",
        "0",
        "--time",
        "0.5",
        "--out",
        text(&json),
    ]);
    let (shape, values) = read_npy(&npy);
    let json: Value = serde_json::from_slice(&std::fs::read(&json).unwrap()).unwrap();
    let positions = json["positions"].as_array().unwrap();
    assert_eq!(shape, [positions.len(), 3]);
    assert_eq!(
        json["draws"][0]["count"].as_u64().unwrap() as usize,
        positions.len()
    );
    for (i, row) in positions.iter().enumerate() {
        for axis in 0..3 {
            assert_eq!(
                row[axis].as_f64().unwrap() as f32,
                values[3 * i + axis] as f32
            );
        }
    }
}

#[test]
fn flags_of_the_stack_and_the_pose_mean_what_they_say() {
    let folder = Folder::new();
    let arm = asset("arm");
    let skin = |name: &str, flags: &[&str]| {
        let out = folder.join(name);
        let mut args = vec![
            "skin",
            arm.as_str(),
            "--out",
            text(&out),
            "--clip",
            "Bend",
            "--time",
            "0.8",
        ];
        args.extend_from_slice(flags);
        done(&args);
        read_npy(&out).1
    };
    let default = skin("default.npy", &[]);
    assert!(
        default == skin("both.npy", &["--method", "dqs", "--bulge", "both"]),
        "the default stack is two-phase DQS, compensation and projection"
    );
    let dqs = skin("dqs.npy", &["--method", "dqs"]);
    assert!(default != dqs, "a method alone is bare");
    assert!(dqs == skin("two.npy", &["--scale", "two-phase", "--bulge", "none"]));
    let with = |flags: &[&str]| skin("with.npy", &[&["--method", "dqs"], flags].concat());
    let compensated = with(&["--bulge", "compensation"]);
    let different = [
        dqs.clone(),
        compensated.clone(),
        with(&["--bulge", "compensation", "--strength", "0.5"]),
        with(&["--bulge", "compensation", "--polynomial", "original"]),
        with(&["--bulge", "compensation", "--variant", "published"]),
        with(&["--bulge", "projection"]),
        with(&["--bulge", "projection", "--variant", "published"]),
        with(&["--bulge", "projection", "--power", "4"]),
    ];
    for (i, a) in different.iter().enumerate() {
        assert!(different[..i].iter().all(|b| a != b), "number {i}");
    }
    assert!(dqs == with(&["--bulge", "both", "--strength", "0"]));
    assert!(compensated == with(&["--bulge", "compensation", "--strength", "1"]));
    assert!(default != skin("lbs.npy", &["--method", "lbs"]));

    let pose = folder.join("pose.json");
    std::fs::write(
        &pose,
        r#"{"nodes": [{"node": 1, "rotation": [0, 0, 0.6, 0.8]}]}"#,
    )
    .unwrap();
    let out = folder.join("posed.npy");
    done(&["skin", &arm, "--pose", text(&pose), "--out", text(&out)]);
    assert!(read_npy(&out).1 != default);
}

#[test]
fn skin_agrees_with_the_oracle_on_the_fox() {
    let Some(shared) = shared_dir("the command line's oracle") else {
        return;
    };
    let folder = Folder::new();
    let fox = shared.join("models/fox");
    for (method, reference) in [("lbs", "lbs_three_p1.npy"), ("dqs", "dqs_spec_p1.npy")] {
        let out = folder.join("fox.npy");
        let (model, pose) = (fox.join("fox.glb"), fox.join("oracle/pose_p1.json"));
        done(&[
            "skin",
            text(&model),
            "--method",
            method,
            "--pose",
            text(&pose),
            "--out",
            text(&out),
        ]);
        let (ours, theirs) = (
            read_npy(&out).1,
            read_npy(&fox.join("oracle").join(reference)).1,
        );
        let worst = ours
            .iter()
            .zip(&theirs)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, larger);
        assert!(worst < 1e-5 * 175.0, "{method}: {worst}");
    }
}

#[test]
fn info_and_check_say_what_is_in_a_file() {
    let mannequin = asset("mannequin");
    let info: Value = serde_json::from_str(&done(&["info", &mannequin, "--json"])).unwrap();
    assert!(
        (8900..=9100).contains(&info["meshes"][0]["points"].as_u64().unwrap()),
        "{info}"
    );
    assert_eq!(info["clips"].as_array().unwrap().len(), 2);
    assert!(done(&["info", &mannequin]).contains("Range of motion"));
    assert!(done(&["check", &mannequin]).contains("0 errors, 0 warnings"));
}

#[test]
fn export_without_an_edit_hands_back_the_files_bytes() {
    let folder = Folder::new();
    let out = folder.join("same.glb");
    let said = done(&[
        "export",
        &asset("hand"),
        "--out",
        text(&out),
        "--correct",
        "none",
    ]);
    assert!(said.contains("a copy of the source"), "{said}");
    assert_eq!(
        std::fs::read(out).unwrap(),
        std::fs::read(asset("hand")).unwrap()
    );
}

#[test]
fn flags_of_corrections_reach_the_file_and_need_corrections() {
    let folder = Folder::new();
    let (out, report) = (folder.join("arm.glb"), folder.join("arm.json"));
    let (arm, out) = (asset("arm"), text(&out));
    let base = ["export", &arm, "--out", out, "--method", "dqs"];
    let flags = ["--dense", "--no-normals"];
    let corrected = [
        "--correct",
        "clips",
        "--max-joints",
        "2",
        "--tolerance",
        "0.5%",
        "--report",
        text(&report),
    ];
    done(&[&base[..], &corrected, &flags].concat());
    let read = |path: &Path| std::fs::read(path).unwrap();
    let report: Value = serde_json::from_slice(&read(&report)).unwrap();
    assert!(report["morph_targets"].as_u64() > Some(0), "{report}");
    assert_eq!(report["meshes"][0]["turned_normals"], 0);
    assert!(report["normals_before"]["p99_degrees"].as_f64() > Some(0.0));
    let bytes = read(Path::new(out));
    let words = |word: &[u8]| bytes.windows(word.len()).filter(|w| *w == word).count();
    assert!(words(b"\"targets\"") > 0 && words(b"\"sparse\"") == 0);
    for flag in flags {
        fails(&[&base[..], &[flag]].concat(), 2);
    }
}

#[test]
fn a_preset_writes_what_its_program_reads_and_flags_win_over_it() {
    let folder = Folder::new();
    let arm = asset("arm");
    let written = |model: &str, preset: &str, more: &[&str]| {
        let out = folder.join("preset.glb");
        let base = ["export", model, "--out", text(&out), "--correct", "clips"];
        done(&[&base[..], &["--preset", preset], more].concat());
        let bytes = std::fs::read(&out).unwrap();
        let says = |word: &str| bytes.windows(word.len()).any(|w| w == word.as_bytes());
        (
            says("KHR_mesh_quantization"),
            says("EXT_meshopt_compression"),
        )
    };
    // The hand needs morph targets, which are what is quantized.
    let hand = asset("hand");
    assert_eq!(written(&hand, "three.js", &[]), (true, false));
    assert_eq!(written(&hand, "godot", &[]), (false, false));
    assert_eq!(written(&hand, "blender", &["--quantize"]), (true, false));
    let dqs = ["--method", "dqs", "--meshopt"];
    // So do normals, on the arm.
    assert_eq!(written(&arm, "unity", &dqs), (true, true));
    // Blender's preset writes no normals, unless a flag asks for them.
    let report = folder.join("normals.json");
    let said = ["--method", "dqs", "--report", text(&report)];
    for (share, is_turned) in [(&[][..], false), (&["--normals-share", "20%"], true)] {
        written(&arm, "blender", &[&said[..], share].concat());
        let text = std::fs::read(&report).unwrap();
        let report: Value = serde_json::from_slice(&text).unwrap();
        let n_turned = report["meshes"][0]["turned_normals"].as_u64().unwrap();
        assert_eq!(n_turned > 0, is_turned);
    }
    // Without a correction: influences only.
    let out = folder.join("plain.glb");
    done(&["export", &arm, "--out", text(&out), "--preset", "unreal"]);
    fails(
        &["export", &arm, "--out", text(&out), "--preset", "maya"],
        2,
    );
}

#[test]
fn a_project_works_wherever_a_model_does() {
    let folder = Folder::new();
    let project = format!("{}/projects/arm.ron", env!("CARGO_MANIFEST_DIR"));
    let (posed, rest) = (folder.join("posed.npy"), folder.join("rest.npy"));
    done(&["skin", &project, "--out", text(&posed)]);
    done(&["skin", &asset("arm"), "--out", text(&rest)]);
    assert_ne!(
        read_npy(&posed).1,
        read_npy(&rest).1,
        "the project's own pose and weights count"
    );
    let out = folder.join("arm.glb");
    let said = done(&["export", &project, "--out", text(&out)]);
    assert!(said.contains("rewritten, "), "{said}");
    assert!(said.contains(" of buffer data added"), "{said}");
    assert!(done(&["check", text(&out)]).contains("0 errors"));
}

#[test]
fn the_samples_come_in_the_wished_size() {
    let folder = Folder::new();
    let out = folder.join("c.glb");
    done(&[
        "sample",
        "cylinder",
        "--points",
        "2000",
        "--out",
        text(&out),
    ]);
    let info: Value = serde_json::from_str(&done(&["info", text(&out), "--json"])).unwrap();
    let points = info["meshes"][0]["points"].as_u64().unwrap();
    assert!((1800..=2200).contains(&points), "{points}");
}

#[test]
fn bench_prints_the_promised_rows() {
    let rows: Value =
        serde_json::from_str(&done(&["bench", "--points", "3000", "--json"])).unwrap();
    let rows = rows.as_array().unwrap();
    for name in ["lbs", "dqs", "floor"] {
        let row = rows
            .iter()
            .find(|r| r["name"] == name)
            .unwrap_or_else(|| panic!("no row {name}"));
        assert_eq!(row["points"], 3000);
        assert!(row["threads"].as_u64().unwrap() >= 1);
        assert!(row["ns_per_point"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn an_input_at_fault_exits_with_1_and_one_sentence() {
    let folder = Folder::new();
    let missing = fails(&["info", "nowhere.glb"], 1);
    assert!(
        missing.contains("nowhere.glb") && missing.trim().lines().count() == 1,
        "{missing}"
    );
    let junk = folder.join("junk.glb");
    std::fs::write(&junk, b"not a model").unwrap();
    for command in [
        vec!["check"],
        vec!["info"],
        vec!["skin", "--out", "x.npy"],
        vec!["export", "--out", "x.glb"],
    ] {
        let mut args = command;
        args.insert(1, text(&junk));
        let said = fails(&args, 1);
        assert!(
            said.starts_with("sinew: ") && said.trim().lines().count() == 1,
            "{said}"
        );
    }
    let unwritable = fails(&["skin", &asset("arm"), "--out", "/nowhere/at/all.npy"], 1);
    assert!(unwritable.contains("/nowhere/at/all.npy"), "{unwritable}");
    let pose = folder.join("pose.json");
    for (broken, word) in [
        (
            r#"{"nodes": [{"node": 99, "rotation": [0, 0, 0, 1]}]}"#,
            "node 99",
        ),
        (r#"{"nodes": [{"node": 0, "spin": 3}]}"#, "spin"),
        ("[", "not a pose file"),
    ] {
        std::fs::write(&pose, broken).unwrap();
        let said = fails(
            &[
                "skin",
                &asset("arm"),
                "--pose",
                text(&pose),
                "--out",
                "x.npy",
            ],
            1,
        );
        assert!(said.contains(word), "{said}");
    }
    assert!(!Path::new("x.npy").exists());
}

#[test]
fn wrong_use_exits_with_2() {
    let arm = asset("arm");
    assert!(fails(&["skin", &arm, "--out", "x.txt"], 2).contains(".npy or .json"));
    assert!(fails(&["skin", &arm, "--out", "x.npy", "--clip", "Dance"], 2).contains("\"Bend\""));
    fails(&["skin", &arm], 2);
    fails(&["skin", &arm, "--out", "x.npy", "--method", "magic"], 2);
    fails(&["skin", &arm, "--out", "x.npy", "--time", "1"], 2);
    fails(&["sample", "dragon", "--out", "x.glb"], 2);
    fails(&["sample", "arm", "--points", "3", "--out", "x.glb"], 2);
    fails(&["frobnicate", &arm], 2);
    fails(&["export", &arm, "--out", "x.fbx"], 2);
}

#[test]
fn help_teaches_every_subcommand() {
    let help = done(&["--help"]);
    for command in [
        "info", "skin", "measure", "compare", "export", "check", "bench", "sample",
    ] {
        assert!(help.contains(command), "{help}");
        assert!(done(&[command, "--help"]).len() > 100);
    }
}

#[test]
fn measure_names_the_worst_over_a_clip_with_time_and_vertex() {
    let arm = asset("arm");
    let args = ["measure", &arm, "--clip", "Bend", "--rate", "2.5", "--json"];
    let report: Value = serde_json::from_str(&done(&args)).unwrap();
    let times = report["times"].as_array().unwrap();
    assert_eq!(times.len(), 7, "2.4 s at 2.5 a second, both ends");
    let instance = &report["instances"][0];
    assert_eq!(instance["closed"], true);
    assert_eq!(instance["frames"].as_array().unwrap().len(), 7);
    let metric = |name: &str| {
        let rows = instance["metrics"].as_array().unwrap().iter();
        rows.clone()
            .find(|m| m["metric"] == name)
            .unwrap_or_else(|| panic!("no {name}"))
    };
    let bulge = metric("bulge");
    assert!(bulge["max"]["value"].as_f64().unwrap() < 0.02, "{bulge}");
    assert!(bulge["p99"].as_f64() <= bulge["max"]["value"].as_f64());
    assert!(metric("discontinuity")["max"]["value"].as_f64().unwrap() < 1.5);
    for key in ["strain", "area", "crease", "fold", "normals", "difference"] {
        let max = &metric(key)["max"];
        assert!(max["value"].is_f64() && max["time"].is_f64(), "{key} {max}");
        assert_eq!(max["vertex"]["mesh"], "arm");
        assert!(max["vertex"]["vertex"].as_u64().unwrap() < 4200);
    }
    let bare = done(&[
        "measure", &arm, "--clip", "0", "--rate", "2.5", "--method", "dqs",
    ]);
    assert!(
        bare.contains("Bulge") && bare.contains("+14") && bare.contains("primitive 0 vertex"),
        "{bare}"
    );
    assert!(
        bare.contains("Volume") && bare.contains("approximate"),
        "{bare}"
    );

    // One pose has no times; a model without a closed part says open.
    let rest = done(&["measure", &arm]);
    assert!(
        !rest.contains("at 0.") && rest.contains("Folded faces"),
        "{rest}"
    );
}

#[test]
fn measure_and_compare_agree_on_the_worst() {
    let folder = Folder::new();
    let arm = asset("arm");
    let out = folder.join("report");
    let args = [
        "compare",
        &arm,
        "--methods",
        "lbs,dqs,default",
        "--clip",
        "0",
        "--rate",
        "2.5",
        "--out",
        text(&out),
    ];
    let said = done(&args);
    assert!(said.contains("index.html"), "{said}");
    let html = std::fs::read_to_string(out.join("index.html")).unwrap();
    let has_pictures = html.contains("data:image/png;base64,");
    assert_eq!(
        has_pictures,
        !html.contains("This build draws no pictures"),
        "a report without pictures says so"
    );
    assert_eq!(html.matches("<svg viewBox").count(), 4, "four plots");
    for word in [
        "arm.glb",
        "Discontinuity",
        "default",
        "prefers-color-scheme",
    ] {
        assert!(html.contains(word), "{word}");
    }
    for outside in ["http:", "https:", "<script", "<link", "@import"] {
        assert!(!html.contains(outside), "{outside}");
    }
    let numbers: Value =
        serde_json::from_slice(&std::fs::read(out.join("numbers.json")).unwrap()).unwrap();
    let worst = |stack: usize, metric: &str| {
        let rows = numbers[stack]["worst"].as_array().unwrap().iter();
        let row = rows.clone().find(|m| m["metric"] == metric).unwrap();
        row["max"]["value"].as_f64().unwrap()
    };
    assert!(worst(1, "bulge") > 0.13 && worst(2, "bulge") < 0.02);
    assert_eq!(worst(1, "discontinuity"), 0.0);
    assert_eq!(worst(0, "difference"), 0.0);
    let args = [
        "measure", &arm, "--method", "dqs", "--clip", "0", "--rate", "2.5", "--json",
    ];
    let measured: Value = serde_json::from_str(&done(&args)).unwrap();
    let bulge = &measured["instances"][0]["metrics"][0];
    assert_eq!(bulge["max"]["value"].as_f64().unwrap(), worst(1, "bulge"));
}

#[test]
fn wrong_use_of_stacks_and_reports_is_a_sentence() {
    let arm = asset("arm");
    for (args, word) in [
        (vec!["skin", "--out", "x.npy", "--strength", "3"], "0 to 2"),
        (
            vec!["skin", "--out", "x.npy", "--strength", "nan"],
            "0 to 2",
        ),
        (
            vec!["skin", "--out", "x.npy", "--method", "lbs", "--power", "2"],
            "--power needs --bulge",
        ),
        (
            vec!["skin", "--out", "x.npy", "--polynomial", "3"],
            "manual, original",
        ),
        (vec!["measure", "--rate", "0"], "above 0"),
        (vec!["measure", "--against", "magic"], "is not a stack"),
        (vec!["measure", "--clip", "Dance"], "\"Bend\""),
        (
            vec!["compare", "--methods", "lbs,dqs+glue", "--out", "x"],
            "is not a stack",
        ),
        (vec!["compare", "--out", "Cargo.toml"], "is a file"),
    ] {
        let mut args = args;
        args.insert(1, &arm);
        let said = fails(&args, 2);
        assert!(said.contains(word), "{args:?}: {said}");
    }
    assert!(!Path::new("x").exists());
}
