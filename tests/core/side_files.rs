//! Exports of models whose buffers and pictures are other files: complete beside the export, or refused.

use crate::cli::{asset, done, fails, text};
use crate::export_models::open;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The arm as .gltf in the folder "model", with its buffer and a picture at these places relative to it. `uris`: how the
/// model names them.
struct Model(tempfile::TempDir);

/// The first bytes of a PNG file.
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\npixels";

impl Model {
    fn new(places: [&str; 2], uris: [&str; 2]) -> Self {
        let model = Self(tempfile::tempdir().unwrap());
        let folder = model.at("model");
        std::fs::create_dir_all(&folder).unwrap();
        done(&[
            "export",
            &asset("arm"),
            "--out",
            text(&folder.join("in.gltf")),
        ]);
        let bin = std::fs::read(folder.join("in.bin")).unwrap();
        std::fs::remove_file(folder.join("in.bin")).unwrap();
        for (place, bytes) in places.iter().zip([&bin[..], PICTURE]) {
            let path = folder.join(place);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        let mut json = read(&folder.join("in.gltf"));
        json["buffers"][0]["uri"] = json!(uris[0]);
        json["images"] = json!([{"uri": uris[1]}]);
        std::fs::write(folder.join("in.gltf"), json.to_string()).unwrap();
        model
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Exports with these flags; the arguments.
    fn args<'a>(&self, out: &'a str, flags: &[&'a str]) -> Vec<String> {
        let (from, to) = (self.at("model/in.gltf"), self.at(out));
        let args = ["export", text(&from), "--out", text(&to)];
        let args = args.iter().chain(flags);
        args.map(|arg| (*arg).to_owned()).collect()
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// Without a change, and with one.
const WAYS: [&[&str]; 2] = [
    &["--method", "lbs"],
    &["--method", "dqs", "--correct", "clips"],
];

#[test]
fn files_outside_of_the_models_folder_are_refused() {
    for (places, what) in [
        (["../out.bin", "in.png"], "../out.bin"),
        (["in.bin", "../pictures/out.png"], "../pictures/out.png"),
    ] {
        let model = Model::new(places, places);
        for flags in WAYS {
            let args = model.args("export/out.gltf", flags);
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let said = fails(&args, 1);
            assert!(
                said.contains(&format!("needs \"{what}\", which is outside")),
                "{said}"
            );
            assert!(!model.at("export").exists());
        }
    }
}

/// The model's name is a letter too long for the file system, that of its data is not.
#[test]
fn an_export_whose_model_cannot_be_written_takes_its_side_files_back() {
    let places = ["data/in.bin", "data/in.png"];
    let out = format!("export/{}.gltf", "n".repeat(251));
    for flags in WAYS {
        let model = Model::new(places, places);
        let args = model.args(&out, flags);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        assert!(fails(&args, 1).contains("cannot be written"));
        assert!(!model.at("export").exists());
        // What is there already stays: a file that the export needs, and another.
        let [picture, notes] = ["export/data/in.png", "export/data/notes.txt"].map(|n| model.at(n));
        std::fs::create_dir_all(model.at("export/data")).unwrap();
        std::fs::write(&picture, PICTURE).unwrap();
        std::fs::write(&notes, "mine").unwrap();
        fails(&args, 1);
        assert_eq!(std::fs::read(&picture).unwrap(), PICTURE);
        assert_eq!(std::fs::read(&notes).unwrap(), b"mine");
        let n = |folder: &str| std::fs::read_dir(model.at(folder)).unwrap().count();
        assert_eq!((n("export"), n("export/data")), (1, 2));
    }
}

#[test]
fn every_spelling_that_opens_is_exported_with_its_files() {
    for uris in [
        ["data/in.bin", "data/in.png"],
        ["data\\in.bin", "data\\in.png"],
        [".//data/./in.bin", "./data//in.png"],
        ["data/%69n.bin", "data/%69n.png"],
    ] {
        let model = Model::new(["data/in.bin", "data/in.png"], uris);
        for (i, flags) in WAYS.iter().enumerate() {
            let out = format!("export{i}/out.gltf");
            let args = model.args(&out, flags);
            done(&args.iter().map(String::as_str).collect::<Vec<_>>());
            let out = model.at(&out);
            let folder = out.parent().unwrap();
            assert!(folder.join("data/in.bin").is_file(), "{uris:?}");
            assert_eq!(std::fs::read(folder.join("data/in.png")).unwrap(), PICTURE);
            let images = &read(&out)["images"][0]["uri"];
            assert!(
                ["data/in.png", uris[1]].iter().any(|uri| images == uri)
                    && images != "data\\in.png"
            );
            assert!(!open(&out).clips().is_empty());
        }
    }
}
