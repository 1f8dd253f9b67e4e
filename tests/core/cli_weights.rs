//! `sinew weights` as a pipeline uses it: operations in order, reports, files, faults.

use crate::cli::{self, asset, text};
use crate::shared::shared_dir;
use serde_json::Value;
use sinew::document::{Document, MeshId};
use sinew::io::open_any;
use sinew::skinning::{Influences, RowRef};
use sinew::task::Task;
use std::path::{Path, PathBuf};
use std::process::Command;

fn weights<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["weights"], args].concat()
}

fn done(args: &[&str]) -> String {
    cli::done(&weights(args))
}

fn fails(args: &[&str], code: i32) -> String {
    cli::fails(&weights(args), code)
}

fn open(path: &Path) -> Document {
    open_any(path, &Task::new()).unwrap().document
}

fn rows(document: &Document) -> &Influences {
    &document.meshes()[&MeshId(0)].influences
}

#[test]
fn operations_run_in_the_order_given_and_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("arm.glb");
    let arm = asset("arm");
    let line = [
        &arm,
        "--smooth",
        "3",
        "--prune",
        "0.1",
        "--limit",
        "1",
        "--normalize",
        "--json",
        "--out",
        text(&out),
    ];
    let report: Value = serde_json::from_str(&done(&line)).unwrap();
    let steps = report["steps"].as_array().unwrap();
    let names: Vec<&str> = steps
        .iter()
        .map(|s| s["operation"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "Smooth weights",
            "Prune small weights",
            "Limit influences",
            "Normalise weights"
        ]
    );
    assert!(steps[0]["meshes"][0]["changed"].as_u64().unwrap() > 0);
    let document = open(&out);
    for row in rows(&document).iter() {
        assert_eq!((row.len(), row.weights[0]), (1, 1.0));
    }
}

#[test]
fn weights_go_out_and_come_back_bit_for_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (json, out) = (folder.path().join("w.json"), folder.path().join("back.ron"));
    let arm = asset("arm");
    let original = open(Path::new(&arm));
    let bones = &original.skins().values().next().unwrap().joints;
    let name = original.skeleton().label(bones[0]);
    let flood = format!("{name}=1");
    let said = done(&[
        &arm,
        "--export-weights",
        text(&json),
        "--flood",
        &flood,
        "--import",
        text(&json),
        "--out",
        text(&out),
    ]);
    assert!(said.contains("Import weights"), "{said}");
    let back = open(&out);
    let (a, b) = (rows(&original), rows(&back));
    for p in 0..a.len() as u32 {
        for (joint, weight) in a.row(p).iter() {
            assert_eq!(
                weight.to_bits(),
                b.row(p).weight_of(joint).to_bits(),
                "point {p}"
            );
        }
    }
}

#[test]
fn weights_come_back_onto_another_mesh_by_place() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("w.json");
    let (model, out) = (folder.path().join("fine.glb"), folder.path().join("o.glb"));
    let arm = asset("arm");
    done(&[&arm, "--export-weights", text(&json)]);
    let made = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["sample", "arm", "--points", "6000", "--out", text(&model)])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let before = open(&model);
    let said = done(&[text(&model), "--import", text(&json), "--out", text(&out)]);
    assert!(said.contains("the nearest one"), "{said}");
    let after = open(&out);
    let (a, b) = (rows(&before), rows(&after));
    let difference = |p: u32| sinew::weights::repair::difference(a.row(p), b.row(p));
    let n = a.len() as u32;
    let mean = (0..n).map(difference).sum::<f32>() / n as f32;
    assert!(mean < 0.05, "{mean}");
}

#[test]
fn locked_bones_keep_their_bits() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("o.ron");
    let hand = asset("hand");
    let original = open(Path::new(&hand));
    let bone = original.skins().values().next().unwrap().joints[2];
    let name = original.skeleton().label(bone);
    done(&[
        &hand,
        "--lock",
        &name,
        "--smooth",
        "10",
        "--prune",
        "0.2",
        "--limit",
        "2",
        "--out",
        text(&out),
    ]);
    let after = open(&out);
    let (a, b) = (rows(&original), rows(&after));
    for p in 0..a.len() as u32 {
        assert_eq!(
            a.row(p).weight_of(2).to_bits(),
            b.row(p).weight_of(2).to_bits(),
            "{p}"
        );
    }
    assert!(
        !after.locked().contains(&bone),
        "locked for the operations alone"
    );
}

#[test]
fn wrong_use_is_a_sentence() {
    let arm = asset("arm");
    for (args, part) in [
        (&["--limit", "x"][..], "is not a whole number"),
        (&["--flood", "nobody=1"], "no skin has a bone of that name"),
        (&["--mirror", "up"], "a side is +x"),
        (&["--auto", "magic"], "heat, voxel, biharmonic or rigid"),
        (&["--mesh", "nobody"], "there is no skinned mesh"),
        (&["--out", "o.obj"], "must end in"),
        (&["--smooth", "1=2=3"], "--help"),
    ] {
        let line: Vec<&str> = std::iter::once(arm.as_str())
            .chain(args.iter().copied())
            .collect();
        let said = fails(&line, 2);
        assert!(said.contains(part), "{args:?}: {said}");
    }
    for args in [
        &["--import", "/nowhere/w.json"][..],
        &["--prune", "7"],
        &["--transfer", "/nowhere/m.glb"],
    ] {
        let line: Vec<&str> = std::iter::once(arm.as_str())
            .chain(args.iter().copied())
            .collect();
        let said = fails(&line, 1);
        assert!(said.starts_with("sinew: "), "{said}");
    }
}

#[test]
fn every_shared_model_is_cleaned_up_and_exported() {
    let Some(shared) = shared_dir("every_shared_model_is_cleaned_up_and_exported") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut n = 0;
    for entry in std::fs::read_dir(shared.join("models")).unwrap() {
        let Some(model) = model_in(&entry.unwrap().path()) else {
            continue;
        };
        let out = folder.path().join(format!("{n}.glb"));
        let report = done(&[
            text(&model),
            "--normalize",
            "--prune",
            "0.01",
            "--smooth",
            "1=0.2",
            "--limit",
            "4",
            "--json",
            "--out",
            text(&out),
        ]);
        let report: Value = serde_json::from_str(&report).unwrap();
        assert_eq!(
            report["steps"].as_array().unwrap().len(),
            4,
            "{}",
            model.display()
        );
        let document = open(&out);
        for item in document.meshes().values() {
            for row in item.influences.iter() {
                let sum: f32 = row.weights.iter().sum();
                assert!(row.len() <= 4, "{}", model.display());
                assert!(
                    row.is_empty() || (sum - 1.0).abs() < 1e-2,
                    "{}: {sum}",
                    model.display()
                );
            }
        }
        n += 1;
    }
    assert!(n > 8, "{n}");
}

/// The model in a folder of the shared data.
fn model_in(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?;
    let mut models: Vec<PathBuf> = files
        .map(|f| f.unwrap().path())
        .filter(|p| p.extension().is_some_and(|e| e == "glb" || e == "gltf"))
        .collect();
    models.sort();
    models.into_iter().next()
}

/// Rows longer than four go out whole where nobody asked for less; where somebody did, the report says what was cut.
#[test]
fn long_rows_are_written_whole_or_it_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (project, model) = (folder.path().join("p.ron"), folder.path().join("m.glb"));
    let hand = asset("hand");
    let line = [
        &hand,
        "--max-influences",
        "8",
        "--smooth",
        "40",
        "--out",
        text(&project),
    ];
    done(&line);
    let long = |document: &Document| rows(document).iter().map(RowRef::len).max().unwrap();
    let before = open(&project);
    assert!(long(&before) > 4, "{}", long(&before));
    assert_eq!(
        before.session().brush.max_influences,
        4,
        "for the run alone"
    );

    let said = done(&[text(&project), "--out", text(&model)]);
    assert!(said.contains("Wrote"), "{said}");
    assert_eq!(long(&open(&model)), long(&before));

    let line = [
        text(&project),
        "--max-influences",
        "4",
        "--json",
        "--out",
        text(&model),
    ];
    let report: Value = serde_json::from_str(&done(&line)).unwrap();
    assert!(
        !report["findings"].as_array().unwrap().is_empty(),
        "{report}"
    );
    assert_eq!(long(&open(&model)), 4);
}
