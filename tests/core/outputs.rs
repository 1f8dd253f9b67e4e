//! No output replaces what the same call reads, nor another output of it.

use crate::cli::{asset, done, fails, text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A model with a buffer and a picture beside it, a project of it, a pose, weights and another model.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        let at = |name: &str| place.at(name);
        std::fs::copy(asset("arm"), at("in.glb")).unwrap();
        std::fs::copy(asset("arm"), at("other.glb")).unwrap();
        done(&["export", text(&at("in.glb")), "--out", text(&at("in.gltf"))]);
        assert!(at("in.bin").is_file());
        let model = std::fs::read_to_string(at("in.gltf")).unwrap();
        let mut model: serde_json::Value = serde_json::from_str(&model).unwrap();
        model["images"] = serde_json::json!([{"uri": "a%20picture.png"}]);
        std::fs::write(at("in.gltf"), model.to_string()).unwrap();
        std::fs::write(at("a picture.png"), "pixels").unwrap();
        for (from, to) in [("in.glb", "p.ron"), ("in.gltf", "t.ron")] {
            let (from, to) = (at(from), at(to));
            done(&["weights", text(&from), "--smooth", "1", "--out", text(&to)]);
        }
        done(&[
            "weights",
            text(&at("in.glb")),
            "--export-weights",
            text(&at("w.json")),
        ]);
        std::fs::write(at("pose.json"), "{\"nodes\": []}").unwrap();
        #[cfg(unix)]
        {
            std::fs::hard_link(at("in.glb"), at("hard.glb")).unwrap();
            std::os::unix::fs::symlink("in.glb", at("soft.glb")).unwrap();
            std::os::unix::fs::symlink("in.glb", at("soft.ron")).unwrap();
            std::os::unix::fs::symlink("in.glb", at("soft.json")).unwrap();
            std::os::unix::fs::symlink("in.bin", at("bin.json")).unwrap();
        }
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Every file and its bytes.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn add(folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    add(&path, files);
                } else {
                    files.insert(path.clone(), std::fs::read(&path).unwrap());
                }
            }
        }
        let mut files = BTreeMap::new();
        add(self.0.path(), &mut files);
        files
    }

    /// Runs `line`, whose words with a dot (and no %) are files here, and expects a refusal that has `sentence`, and no file
    /// changed or added.
    fn refuses(&self, line: &str, sentence: &str) {
        let before = self.files();
        let args: Vec<String> = line
            .split(' ')
            .map(|word| {
                if word.contains('.') && !word.contains('%') {
                    text(&self.at(word)).to_owned()
                } else {
                    word.to_owned()
                }
            })
            .collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let why = fails(&args, 1);
        assert!(why.contains(sentence), "{line}: {why}");
        assert!(self.files() == before, "{line}: a file changed");
    }
}

const MODEL: &str = "is the model itself. Choose another name";
const PART: &str = "is a file of the model. Choose another name";
const PROJECT: &str = "is the project itself. Choose another name";
const POSE: &str = "is the pose file. Choose another name";
const IMPORTED: &str = "is the weights file that is imported. Choose another name";
const TRANSFERRED: &str = "is the model that weights are transferred from. Choose another name";
const TWICE: &str = "would be written twice";

#[test]
fn no_subcommand_replaces_what_it_reads() {
    let place = Place::new();
    for (line, sentence) in [
        ("export in.glb --out in.glb", MODEL),
        (
            "export in.glb --out in.glb --method lbs --correct clips",
            MODEL,
        ),
        ("export p.ron --out in.glb", MODEL),
        ("export in.glb --still --out in.glb", MODEL),
        ("export p.ron --still --out in.glb", MODEL),
        ("export in.gltf --still --out in.gltf", MODEL),
        (
            "export in.glb --out x.glb --correct clips --report in.glb",
            MODEL,
        ),
        (
            "export p.ron --out x.glb --correct clips --report in.glb",
            MODEL,
        ),
        (
            "export p.ron --out x.glb --correct clips --report p.ron",
            PROJECT,
        ),
        (
            "export in.gltf --out x.glb --correct clips --report in.bin",
            PART,
        ),
        (
            "export in.gltf --out x.glb --correct clips --report ./sub/../in.bin",
            PART,
        ),
        ("weights in.glb --smooth 1 --out in.glb", MODEL),
        ("weights p.ron --smooth 1 --out in.glb", MODEL),
        ("weights in.glb --export-weights in.glb", MODEL),
        ("weights p.ron --export-weights in.glb", MODEL),
        ("weights p.ron --export-weights p.ron", PROJECT),
        ("weights in.gltf --export-weights in.bin", PART),
        (
            "weights in.glb --import w.json --export-weights w.json",
            IMPORTED,
        ),
        ("weights in.glb --transfer p.ron --out p.ron", TRANSFERRED),
        (
            "weights other.glb --transfer p.ron --out in.glb",
            TRANSFERRED,
        ),
        (
            "weights other.glb --transfer t.ron --export-weights in.bin",
            PART,
        ),
        (
            "weights other.glb --transfer in.glb --export-weights in.glb",
            TRANSFERRED,
        ),
        (
            "weights other.glb --export-weights in.glb --transfer in.glb",
            TRANSFERRED,
        ),
    ] {
        place.refuses(line, sentence);
    }
}

#[cfg(feature = "render")]
#[test]
fn no_picture_replaces_what_it_shows() {
    let place = Place::new();
    for (line, sentence) in [
        ("render in.glb --out in.glb", MODEL),
        ("render p.ron --out in.glb", MODEL),
        ("render p.ron --out p.ron", PROJECT),
        ("render t.ron --out in.gltf", MODEL),
        ("render in.gltf --out in.bin", PART),
        ("render in.glb --pose pose.json --out pose.json", POSE),
    ] {
        place.refuses(line, sentence);
    }
    let before = std::fs::read(place.at("a picture.png")).unwrap();
    let (model, picture) = (place.at("in.gltf"), place.at("a picture.png"));
    let why = fails(&["render", text(&model), "--out", text(&picture)], 1);
    assert!(why.contains(PART), "{why}");
    assert_eq!(std::fs::read(picture).unwrap(), before);
}

#[test]
fn arrays_and_reports_replace_nothing_that_they_come_from() {
    let place = Place::new();
    place.refuses("skin in.glb --pose pose.json --out pose.json", POSE);
    let report = place.at("report");
    std::fs::create_dir(&report).unwrap();
    std::fs::copy(place.at("pose.json"), report.join("numbers.json")).unwrap();
    place.refuses(
        "compare in.glb --pose report/numbers.json --out ./report",
        POSE,
    );
}

#[cfg(unix)]
#[test]
fn links_lead_to_the_file_that_they_name() {
    let place = Place::new();
    for (line, sentence) in [
        ("export p.ron --out hard.glb", MODEL),
        ("export p.ron --out soft.glb", MODEL),
        ("export soft.glb --still --out in.glb", MODEL),
        ("export hard.glb --still --out in.glb", MODEL),
        ("weights in.glb --smooth 1 --out soft.ron", MODEL),
        ("weights p.ron --smooth 1 --out soft.ron", MODEL),
        ("weights in.glb --export-weights soft.json", MODEL),
        ("skin in.glb --out soft.json", MODEL),
        ("skin in.gltf --out bin.json", PART),
        (
            "export in.gltf --out x.glb --correct clips --report bin.json",
            PART,
        ),
    ] {
        place.refuses(line, sentence);
    }
}

#[test]
fn two_outputs_of_a_call_are_two_files() {
    let place = Place::new();
    for line in [
        "weights in.glb --export-weights x.glb --out x.glb",
        "weights in.glb --export-weights x.ron --out x.ron",
        "weights in.glb --export-weights x.json --smooth 1 --export-weights ./x.json",
        "export in.glb --method dqs --correct clips --tolerance 5% --out x.glb --report x.glb",
        // The data beside the model.
        "export in.glb --method dqs --correct clips --tolerance 5% --out x.gltf --report x.bin",
    ] {
        place.refuses(line, TWICE);
    }
}

#[test]
fn a_project_is_saved_over_itself() {
    let place = Place::new();
    let project = place.at("p.ron");
    let before = std::fs::read(&project).unwrap();
    let path = text(&project);
    done(&["weights", path, "--smooth", "2", "--out", path]);
    assert_ne!(std::fs::read(&project).unwrap(), before);
    // Another file of the same content is not the model.
    let (model, other) = (place.at("in.glb"), place.at("other.glb"));
    done(&[
        "weights",
        text(&model),
        "--smooth",
        "1",
        "--out",
        text(&other),
    ]);
    // Data that is there already is shared, not replaced.
    let (model, copy) = (place.at("in.gltf"), place.at("copy.gltf"));
    done(&[
        "weights",
        text(&model),
        "--smooth",
        "1",
        "--out",
        text(&copy),
    ]);
}
