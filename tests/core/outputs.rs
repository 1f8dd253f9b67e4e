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
        std::fs::write(at("marks.json"), "{\"meshes\": []}").unwrap();
        std::fs::write(at("s.csv"), "time,a\n0,1\n1,2\n").unwrap();
        std::fs::write(at("s.obj"), "v 0 0 0\nv 0 1 0\n").unwrap();
        std::fs::write(at("girths.csv"), "kind,bone,value\nlength,forearm,0.3\n").unwrap();
        let bvh =
            "HIERARCHY\nROOT a\n{\nCHANNELS 1 Xrotation\n}\nMOTION\nFrames: 1\nFrame Time: 1\n0\n";
        std::fs::write(at("m.bvh"), bvh).unwrap();
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

/// A call that writes what follows `@`, an ending: with everything that it can read at the same time.
const CALLS: &[&str] = &[
    "skin in.gltf --pose pose.json --out @npy",
    "skin in.gltf --pose pose.json --out @json",
    // A report in a folder has a test of its own, and a picture needs the window's fonts: see `tests/gui/sheets.rs`.
    #[cfg(feature = "gui")]
    "compare in.gltf --pose pose.json --methods lbs,dqs --out @png",
    "weights in.gltf --transfer p.ron --import w.json --out @glb",
    "weights in.gltf --transfer p.ron --import-merge w.json --out @gltf",
    "weights in.gltf --transfer p.ron --import w.json --out @ron",
    "weights in.gltf --transfer p.ron --import w.json --export-weights @json",
    "weights in.gltf --transfer rec.ron --export-weights @json",
    "weights t.ron --smooth 1 --out @glb",
    "export p.ron --out @glb",
    "export t.ron --out @gltf",
    "export t.ron --still --out @obj",
    "export t.ron --still --out @glb",
    "export t.ron --out x.glb --method dqs --correct clips --tolerance 5% --report @json",
    "psd in.gltf --from-stack dqs --pose pose.json --out @ron",
    "psd in.gltf --extract other.glb --pose pose.json --out @ron",
    "psd in.gltf --extract rec.ron --pose pose.json --out @ron",
    "clusters in.gltf --mark marks.json --pose pose.json --out @ron",
    "clusters in.gltf --layers layers.json --out @ron",
    "motion m.bvh --places 0 --out @npy",
    "motion in.gltf --stream s.csv --table @csv",
    "motion in.gltf --stream s.csv --out @glb",
    "motion in.gltf --bvh m.bvh --map map.ron --out @glb",
    "motion in.gltf --bvh m.bvh --map map.ron --out @ron",
    "motion in.gltf --bvh m.bvh --map map.ron --out x.glb --report @json",
    "motion in.gltf --from rec.ron --out @glb",
    "motion in.gltf --from other.glb --out @ron",
    "motion in.gltf --from rec.ron --out x.glb --report @json",
    "motion in.gltf --replay s.csv --out @glb",
    "motion in.gltf --replay s.csv --out @ron",
    "motion in.gltf --replay s.csv --out x.glb --report @json",
    "motion in.gltf --listen vmc:0 --record @jsonl",
    "body in.gltf --measure girths.csv --out @glb",
    "body in.gltf --measure girths.csv --out @ron",
    "body in.gltf --measure girths.csv --report @json",
    "body in.gltf --measure girths.csv --scan s.obj --pose pose.json --out @glb",
    "body in.gltf --scan s.obj --report @json",
    "rig in.gltf --rename forearm Elbow --out @glb",
    "rig in.gltf --rename forearm Elbow --out @gltf",
    "rig in.gltf --rename forearm Elbow --out @ron",
    "rig in.gltf --pose pose.json --pose-as-rest --out @glb",
    #[cfg(feature = "render")]
    "render in.gltf --pose pose.json --out @png",
];

/// Flags with a path that is read.
const READ: [&str; 14] = [
    "pose",
    "extract",
    "transfer",
    "import",
    "import-merge",
    "layers",
    "mark",
    "bvh",
    "from",
    "map",
    "replay",
    "stream",
    "measure",
    "scan",
];

/// What a call must not replace: the files that it names and those that they refer to.
fn inputs_of(call: &str) -> Vec<&'static str> {
    let mut inputs = Vec::new();
    for (word, files) in [
        ("in.gltf", &["in.gltf", "in.bin", "a picture.png"][..]),
        ("p.ron", &["p.ron", "in.glb"]),
        ("t.ron", &["t.ron", "in.gltf", "in.bin", "a picture.png"]),
        (
            "rec.ron",
            &["rec.ron", "s.csv", "in.gltf", "in.bin", "a picture.png"],
        ),
        ("pose.json", &["pose.json"]),
        ("w.json", &["w.json"]),
        ("marks.json", &["marks.json"]),
        ("layers.json", &["layers.json", "s.csv"]),
        ("map.ron", &["map.ron"]),
        ("m.bvh", &["m.bvh"]),
        ("s.csv", &["s.csv"]),
        ("s.obj", &["s.obj"]),
        ("girths.csv", &["girths.csv"]),
        ("other.glb", &["other.glb"]),
    ] {
        if call.split(' ').any(|w| w == word) {
            inputs.extend(files);
        }
    }
    inputs
}

#[cfg(unix)]
#[test]
fn every_output_of_every_subcommand_spares_every_input() {
    let place = Place::new();
    let recordings = r#"{"recordings": [{"name": "s", "file": "s.csv"}]}"#;
    std::fs::write(place.at("layers.json"), recordings).unwrap();
    std::fs::write(place.at("map.ron"), "(roles: {})").unwrap();
    let [model, layers, project] = ["in.gltf", "layers.json", "rec.ron"].map(|name| place.at(name));
    let (layers, out) = (text(&layers), text(&project));
    done(&["clusters", text(&model), "--layers", layers, "--out", out]);
    let bent = r#"{"nodes": [{"node": 1, "rotation": [0, 0, 0.7071068, 0.7071068]}]}"#;
    std::fs::write(place.at("pose.json"), bent).unwrap();
    let mut n = 0;
    for call in CALLS {
        let (before, ending) = call.split_once('@').unwrap();
        for input in inputs_of(call) {
            for is_hard in [true, false] {
                let link = place.at(&format!("to.{ending}"));
                if is_hard {
                    std::fs::hard_link(place.at(input), &link).unwrap();
                } else {
                    std::os::unix::fs::symlink(input, &link).unwrap();
                }
                place.refuses(&format!("{before}to.{ending}"), "Choose another name");
                std::fs::remove_file(&link).unwrap();
                n += 1;
            }
        }
    }
    assert!(n > 80, "{n}");
}

/// A flag with a path that is neither read nor in [`CALLS`] fails here.
#[test]
fn every_path_of_every_subcommand_is_in_the_table() {
    use clap::CommandFactory;
    let path = clap::value_parser!(PathBuf).type_id();
    let command = sinew::cli::args::Cli::command();
    let mut n = 0;
    for subcommand in command.get_subcommands() {
        for argument in subcommand.get_arguments() {
            let is_file = argument
                .get_value_names()
                .is_some_and(|names| names.iter().any(|name| name == "FILE"));
            let Some(flag) = argument.get_long() else {
                continue;
            };
            if !(is_file || argument.get_value_parser().type_id() == path) || READ.contains(&flag) {
                continue;
            }
            let name = subcommand.get_name();
            let is_covered = CALLS.iter().any(|call| {
                call.starts_with(&format!("{name} ")) && call.contains(&format!("--{flag} @"))
            });
            // A sample is made from nothing; a comparison's picture needs the window's fonts.
            let is_apart = name == "sample" || (name == "compare" && !cfg!(feature = "gui"));
            assert!(is_covered || is_apart, "{name} --{flag} is in no call");
            n += 1;
        }
    }
    assert!(n >= 7, "{n}");
}

/// A flag that is read beside an output, but of which no call in [`CALLS`] has an input, fails here.
#[test]
fn every_flag_that_is_read_is_an_input_in_the_table() {
    use clap::CommandFactory;
    let is_input = |call: &str, flag: &str| {
        let mut words = call.split(' ').skip_while(|word| *word != flag).skip(1);
        words.next().is_some_and(|word| !inputs_of(word).is_empty())
    };
    let command = sinew::cli::args::Cli::command();
    let mut missing = Vec::from(READ);
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name();
        let own = || {
            CALLS
                .iter()
                .filter(move |c| c.split(' ').next() == Some(name))
        };
        let flags = subcommand
            .get_arguments()
            .filter_map(clap::Arg::get_long)
            .filter(|flag| READ.contains(flag));
        // `measure` has no output; a comparison's picture needs the window's fonts.
        let is_apart = name == "measure" || (name == "compare" && !cfg!(feature = "gui"));
        for flag in flags {
            let is_covered = own().any(|call| is_input(call, &format!("--{flag}")));
            assert!(is_covered || is_apart, "{name} --{flag} is in no call");
            missing.retain(|read| *read != flag);
        }
    }
    assert_eq!(missing, [""; 0], "flags of no subcommand");
}
