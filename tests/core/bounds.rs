//! What a file may cost, where it may lead, and how long the sentence about it may be.

use crate::cli::{asset, done, text};
use crate::gltf_builder::skinned;
use serde_json::{Value, json};
use sinew::export::ExportError;
use sinew::io::atomic::WriteError;
use sinew::io::pose_file::PoseFileError;
use sinew::io::project::ProjectError;
use sinew::io::weights_file::WeightsFileError;
use sinew::io::{Fault, ImportError, OpenError, import_bytes};
use sinew::sentence::{MAX_CHARS, shortened};
use sinew::task::Task;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs the program and ends it if it does not end itself.
fn sinew(args: &[&str]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_mins(1) {
            child.kill().unwrap();
            panic!("{args:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// The sentence on stderr of a call that is refused.
#[track_caller]
fn refused(args: &[&str], code: i32) -> String {
    let output = sinew(args);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {stderr}");
    let longest = stderr.lines().map(|line| line.chars().count()).max();
    let most = "sinew: ".len() + MAX_CHARS;
    assert!(
        longest.unwrap_or(0) <= most,
        "{longest:?} letters: {stderr}"
    );
    stderr
}

#[test]
fn accessors_without_a_view_are_no_way_to_much_memory() {
    let mut gltf = skinned([[0, 1, 0, 0]; 3], [[0.5, 0.5, 0.0, 0.0]; 3]);
    let zeros = json!({"componentType": 5126, "type": "VEC3", "count": 400_000});
    let zeros = gltf.push("accessors", zeros);
    gltf.json["meshes"][0]["primitives"][0]["attributes"] = json!({"POSITION": zeros});
    let why = import_bytes(gltf.glb(), None, None, &Task::new())
        .unwrap_err()
        .to_string();
    assert!(why.contains("elements without a buffer view"), "{why}");
    // As exporters write morph targets that move nothing.
    let mut gltf = skinned([[0, 1, 0, 0]; 3], [[0.5, 0.5, 0.0, 0.0]; 3]);
    let zeros = gltf.push(
        "accessors",
        json!({"componentType": 5126, "type": "VEC3", "count": 3}),
    );
    gltf.json["meshes"][0]["primitives"][0]["targets"] = json!([{"POSITION": zeros}]);
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    assert!(imported.findings.is_empty(), "{:?}", imported.findings);
}

/// A folder with a model in a folder of its own.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.at("model")).unwrap();
        std::fs::copy(asset("arm"), place.at("arm.glb")).unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The arm as model/arm.gltf; its buffer and its picture as their URIs say.
    fn model(&self, buffer: &str, picture: &str) -> PathBuf {
        let (arm, out) = (self.at("arm.glb"), self.at("model/arm.gltf"));
        done(&["export", text(&arm), "--out", text(&out)]);
        let mut json: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
        json["buffers"][0]["uri"] = json!(buffer);
        json["images"] = json!([{"uri": picture}]);
        json["textures"] = json!([{"source": 0}]);
        json["materials"] = json!([{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]);
        json["meshes"][0]["primitives"][0]["material"] = json!(0);
        std::fs::write(&out, json.to_string()).unwrap();
        let pixels = image::RgbImage::from_pixel(4, 4, image::Rgb([255, 128, 0]));
        pixels.save(self.at("picture.png")).unwrap();
        out
    }
}

#[test]
fn data_outside_of_the_models_folder_is_found_and_exported_only_if_chosen() {
    let place = Place::new();
    let model = place.model("../secret.bin", "../picture.png");
    std::fs::rename(place.at("model/arm.bin"), place.at("secret.bin")).unwrap();
    let checked = String::from_utf8(sinew(&["check", text(&model)]).stdout).unwrap();
    for place in ["buffers[0].uri", "images[0].uri"] {
        let line = checked.lines().find(|line| line.contains(place));
        let line = line.unwrap_or_else(|| panic!("{place} is not in {checked}"));
        assert!(line.contains("outside the model's folder"), "{line}");
    }
    let out = place.at("out.glb");
    for more in [&[][..], &["--still"], &["--fix-weights"]] {
        let args = [&["export", text(&model), "--out", text(&out)][..], more].concat();
        let why = refused(&args, 1);
        assert!(
            why.contains("\"../secret.bin\" is outside") && why.contains("--include-outside"),
            "{why}"
        );
        assert!(!out.exists());
    }
    done(&[
        "export",
        text(&model),
        "--include-outside",
        "--out",
        text(&out),
    ]);
    let packed = import_bytes(
        std::fs::read(&out).unwrap().into(),
        None,
        None,
        &Task::new(),
    )
    .unwrap();
    assert!(packed.findings.is_empty(), "{:?}", packed.findings);
    assert!(
        packed.parts.images[0].is_some(),
        "the picture is packed, too"
    );
}

#[cfg(unix)]
#[test]
fn symbolic_links_out_of_the_models_folder_are_no_way_around() {
    let place = Place::new();
    let model = place.model("arm.bin", "link.png");
    std::os::unix::fs::symlink("../picture.png", place.at("model/link.png")).unwrap();
    let (glb, gltf) = (place.at("out.glb"), place.at("elsewhere/out.gltf"));
    let export = |out: &Path, more: &[&str]| {
        let args = [&["export", text(&model), "--out", text(out)][..], more].concat();
        let output = sinew(&args);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(export(&glb, &[]).contains("outside the model's folder"));
    let images = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        let imported = import_bytes(bytes.into(), path.parent(), Some(path), &Task::new()).unwrap();
        imported.parts.images[0].is_some()
    };
    assert!(!images(&glb));
    export(&glb, &["--include-outside"]);
    assert!(images(&glb));
    export(&gltf, &[]);
    assert!(!place.at("elsewhere/link.png").exists());
    export(&gltf, &["--include-outside"]);
    assert!(place.at("elsewhere/link.png").is_file());
    // The same for the buffer.
    std::fs::rename(place.at("model/arm.bin"), place.at("secret.bin")).unwrap();
    std::os::unix::fs::symlink("../secret.bin", place.at("model/arm.bin")).unwrap();
    for out in [&glb, &gltf] {
        let why = refused(&["export", text(&model), "--out", text(out)], 1);
        assert!(why.contains("\"arm.bin\" is outside"), "{why}");
    }
    // A folder that is itself a link is the model's folder.
    std::os::unix::fs::symlink("model", place.at("link")).unwrap();
    std::fs::remove_file(place.at("model/arm.bin")).unwrap();
    std::fs::rename(place.at("secret.bin"), place.at("model/arm.bin")).unwrap();
    done(&["info", text(&place.at("link/arm.gltf"))]);
    let checked =
        String::from_utf8(sinew(&["check", text(&place.at("link/arm.gltf"))]).stdout).unwrap();
    assert!(!checked.contains("buffers[0].uri"), "{checked}");
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_refused_before_they_are_read() {
    let place = Place::new();
    let at = |name: &str| text(&place.at(name)).to_owned();
    let arm = at("arm.glb");
    for (kind, make) in [
        ("pipe", None),
        ("zero", Some("/dev/zero")),
        ("null", Some("/dev/null")),
    ] {
        let named = |ending: &str| {
            let path = place.at(&format!("{kind}.{ending}"));
            match make {
                None => assert!(
                    Command::new("mkfifo")
                        .arg(&path)
                        .status()
                        .unwrap()
                        .success()
                ),
                Some(device) => std::os::unix::fs::symlink(device, &path).unwrap(),
            }
            text(&path).to_owned()
        };
        let (glb, ron, json, obj) = (named("glb"), named("ron"), named("json"), named("obj"));
        let gltf = named("gltf");
        let (out, project) = (at("out.npy"), at("out.ron"));
        for args in [
            vec!["info", &glb],
            vec!["check", &ron],
            vec!["skin", &arm, "--pose", &json, "--out", &out],
            vec!["measure", &arm, "--pose", &json],
            vec!["weights", &arm, "--import", &json],
            vec!["weights", &arm, "--transfer", &glb],
            vec![
                "psd",
                &arm,
                "--clip",
                "0",
                "--extract",
                &obj,
                "--out",
                &project,
            ],
        ] {
            let why = refused(&args, 1);
            assert!(why.contains("is not a regular file"), "{args:?}: {why}");
        }
        // Nor is one replaced.
        for (to, way) in [
            (&glb, &[][..]),
            (&gltf, &[]),
            (&glb, &["--still"]),
            (&gltf, &["--still"]),
            (&obj, &["--still"]),
        ] {
            let before = n_files(&place);
            let args = [&["export", &arm, "--out", to][..], way].concat();
            let why = refused(&args, 1);
            assert!(why.contains("it is not a regular file"), "{to}: {why}");
            assert_eq!(n_files(&place), before, "{to}");
        }
        assert!(!place.at("out.npy").exists() && !place.at("out.ron").exists());
    }
    let mut json =
        json!({"asset": {"version": "2.0"}, "buffers": [{"uri": "pipe.json", "byteLength": 4}]});
    for (uri, _) in [("pipe.json", 0), ("zero.json", 0)] {
        json["buffers"][0]["uri"] = json!(uri);
        std::fs::write(place.at("x.gltf"), json.to_string()).unwrap();
        let output = sinew(&["info", &at("x.gltf")]);
        let all = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(all.contains("it is not a regular file"), "{all}");
    }
}

#[cfg(unix)]
fn n_files(place: &Place) -> usize {
    std::fs::read_dir(place.0.path()).unwrap().count()
}

/// An OBJ is looked through for its own files before it is replaced.
#[cfg(unix)]
#[test]
fn pipes_and_devices_that_an_old_obj_names_are_not_read() {
    let place = Place::new();
    let (model, old) = (
        place.model("arm.bin", "../picture.png"),
        place.at("arm.obj"),
    );
    let pipe = place.at("pipe.mtl");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let args = ["export", text(&model), "--still", "--out", text(&old)];
    for library in ["pipe.mtl", "/dev/zero"] {
        std::fs::write(&old, format!("mtllib {library}\n")).unwrap();
        let output = sinew(&args);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let written = std::fs::read_to_string(&old).unwrap();
        assert!(written.contains("mtllib arm.mtl"), "{written}");
        std::fs::remove_file(place.at("arm.mtl")).unwrap();
    }
    // One that stands where the materials go is not replaced, and the old model stays.
    std::fs::rename(&pipe, place.at("arm.mtl")).unwrap();
    std::fs::write(&old, "mtllib arm.mtl\n").unwrap();
    let why = refused(&args, 1);
    assert!(
        why.contains("arm.mtl\" cannot be written: it is not a regular file"),
        "{why}"
    );
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "mtllib arm.mtl\n");
}

#[test]
fn poses_that_no_model_can_take_are_refused() {
    let place = Place::new();
    let (arm, pose, out) = (
        place.at("arm.glb"),
        place.at("pose.json"),
        place.at("out.npy"),
    );
    for (part, words) in [
        (r#""rotation": [0, 0, 0, 0]"#, "has length 0"),
        (r#""scale": [0, 0, 0]"#, "has a 0"),
        (r#""translation": [1e30, 0, 0]"#, "at most 1e12"),
        (r#""translation": [1e999, 0, 0]"#, "out of range"),
    ] {
        std::fs::write(&pose, format!(r#"{{"nodes": [{{"node": 1, {part}}}]}}"#)).unwrap();
        let why = refused(
            &[
                "skin",
                text(&arm),
                "--pose",
                text(&pose),
                "--out",
                text(&out),
            ],
            1,
        );
        assert!(why.contains(words) && !out.exists(), "{why}");
    }
}

#[test]
fn long_names_are_cut_in_every_sentence() {
    let place = Place::new();
    let long = "n".repeat(5000);
    let mut gltf = skinned([[0, 1, 0, 0]; 3], [[0.5, 0.5, 0.0, 0.0]; 3]);
    let times = gltf.f32s("SCALAR", &[0.0, 1.0]);
    let turns = gltf.f32s("VEC4", &[0., 0., 0., 1., 0., 0., 1., 0.]);
    for i in 0..3 {
        gltf.push(
            "animations",
            json!({"name": format!("{long}{i}"),
            "samplers": [{"input": times, "output": turns}],
            "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}}]}),
        );
    }
    gltf.json["nodes"][1]["name"] = json!(long);
    gltf.json["extensionsRequired"] = json!([long]);
    let model = place.at("long.glb");
    std::fs::write(&model, gltf.glb()).unwrap();
    let model = text(&model);
    let deep = format!("{}/x.glb", "folder name/".repeat(300));
    let pose = place.at("pose.json");
    std::fs::write(&pose, format!("{{\"{long}\": 0}}")).unwrap();
    let ron = place.at("x.ron");
    std::fs::write(&ron, format!("(version: 6, {long}: 1)")).unwrap();
    let weights = place.at("w.json");
    std::fs::write(
        &weights,
        format!("{{\"format\": \"{long}\", \"version\": 1, \"meshes\": []}}"),
    )
    .unwrap();
    let out = place.at("out.npy");
    for args in [
        vec!["skin", model, "--clip", &long, "--out", text(&out)],
        vec!["skin", model, "--pose", text(&pose), "--out", text(&out)],
        vec!["skin", model, "--out", &long],
        vec!["export", model, "--out", &long],
        vec!["export", model, "--correct", &long, "--out", "x.glb"],
        vec!["info", &deep],
        vec!["info", &long],
        vec!["check", text(&ron)],
        vec!["weights", model, "--import", text(&weights)],
        vec!["psd", model, "--suggest", &long],
    ] {
        let output = sinew(&args);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let most = "sinew: ".len() + MAX_CHARS;
        let first = args[0];
        assert!(
            stderr.lines().all(|line| line.chars().count() <= most),
            "{first}: {stderr}"
        );
        assert!(stderr.contains('…'), "{first}: {stderr}");
    }
    let output = sinew(&["check", model]);
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(
        stdout
            .lines()
            .all(|line| line.chars().count() <= 2 * MAX_CHARS + 20),
        "{stdout}"
    );
}

#[test]
fn every_error_with_a_long_name_becomes_a_short_sentence_with_its_end() {
    let name = "n".repeat(3000);
    let path = || PathBuf::from(format!("/folder with spaces/{name}.glb"));
    let why = || name.clone();
    let io = || std::io::Error::other(why());
    let fault = || Fault {
        place: why(),
        message: format!("The file \"{name}\" cannot be read."),
    };
    let refused = || WriteError::Refused {
        path: path(),
        what: why(),
    };
    let errors: Vec<Box<dyn std::error::Error>> = vec![
        Box::new(ImportError::Io {
            path: path(),
            source: io(),
        }),
        Box::new(ImportError::NotGltf { found: why() }),
        Box::new(ImportError::Version {
            place: "version",
            version: why(),
        }),
        Box::new(ImportError::Json {
            line: 1,
            column: 1,
            message: why(),
        }),
        Box::new(ImportError::TooLarge {
            place: why(),
            needed: 2,
            limit: 1,
            file: 0,
        }),
        Box::new(ImportError::Broken(fault())),
        Box::new(OpenError::Import(ImportError::Broken(fault()))),
        Box::new(OpenError::NoSample(why())),
        Box::new(ProjectError::Io {
            path: path(),
            what: why(),
        }),
        Box::new(ProjectError::Parse {
            line: 1,
            column: 1,
            message: why(),
        }),
        Box::new(ProjectError::Unknown {
            what: why(),
            found: why(),
            inside: Some(why()),
            line: 1,
            column: 1,
        }),
        Box::new(ProjectError::Damaged {
            place: why(),
            why: why(),
        }),
        Box::new(ProjectError::SourceMissing {
            path: path(),
            name: why(),
            fingerprint: why(),
        }),
        Box::new(ProjectError::Model {
            model: why(),
            why: fault().message,
        }),
        Box::new(ProjectError::ChangedOnDisk {
            path: path(),
            is_model: true,
        }),
        Box::new(ProjectError::Output(refused())),
        Box::new(refused()),
        Box::new(WriteError::IsInput {
            path: path(),
            what: "the model itself",
        }),
        Box::new(WriteError::WrittenTwice { path: path() }),
        Box::new(ExportError::Extension { path: path() }),
        Box::new(ExportError::Correction { why: why() }),
        Box::new(ExportError::Unreadable { why: why() }),
        Box::new(ExportError::Outside { uri: why() }),
        Box::new(ExportError::Occupied { path: path() }),
        Box::new(ExportError::Write(refused())),
        Box::new(WeightsFileError::Read {
            path: path(),
            why: io(),
        }),
        Box::new(WeightsFileError::Format {
            path: path(),
            why: why(),
        }),
        Box::new(PoseFileError::Read {
            path: path(),
            why: io(),
        }),
        Box::new(PoseFileError::Format {
            path: path(),
            why: why(),
        }),
        Box::new(ImportError::Obj {
            line: 7,
            why: why(),
        }),
    ];
    for error in errors {
        let long = error.to_string();
        let short = shortened(&long);
        assert!(short.chars().count() <= MAX_CHARS, "{short}");
        assert_eq!(short.chars().last(), long.chars().last(), "{short}");
        let first: String = long.chars().take(4).collect();
        assert!(short.starts_with(&first), "{short}");
    }
}
