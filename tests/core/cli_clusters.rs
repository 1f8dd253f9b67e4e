//! Control clusters on the command line: marked, suggested, played, measured and compared.

use crate::cli::{asset, done, fails, text};
use crate::npy::read_npy;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

struct Arm {
    folder: tempfile::TempDir,
    arm: String,
}

impl Arm {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            arm: asset("arm"),
        }
    }

    fn join(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn marks(&self, marks: &Value) -> PathBuf {
        let path = self.join("marks.json");
        std::fs::write(&path, marks.to_string()).unwrap();
        path
    }

    fn skin(&self, file: &str, clip_time: &str) -> Vec<f64> {
        let out = self.join("skin.npy");
        done(&[
            "skin",
            file,
            "--out",
            text(&out),
            "--clip",
            "0",
            "--time",
            clip_time,
        ]);
        read_npy(&out).1
    }

    /// Marks every `nth` vertex of the whole arm.
    fn marked(&self, nth: usize, more: &[&str]) -> (PathBuf, Value) {
        let vertices: Vec<usize> = (0..3992).step_by(nth).collect();
        let marks = self.marks(&json!({"meshes": [
            {"mesh": 0, "primitive": 0, "vertices": vertices, "group": "Skin"}
        ]}));
        let out = self.join("marked.ron");
        let mut args = vec![
            "clusters",
            &self.arm,
            "--mark",
            text(&marks),
            "--out",
            text(&out),
            "--json",
        ];
        args.extend(more);
        let report = serde_json::from_str(&done(&args)).unwrap();
        (out, report)
    }
}

fn worst(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let pairs = a.chunks_exact(3).zip(b.chunks_exact(3));
    let apart = pairs.map(|(a, b)| {
        let squared: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        squared.sqrt()
    });
    apart.fold(
        0.0,
        |worst, d| if d > worst || d.is_nan() { d } else { worst },
    )
}

#[test]
fn marks_become_clusters_that_skin_and_measure_use() {
    let arm = Arm::new();
    let (project, report) = arm.marked(9, &[]);
    let mesh = &report["meshes"][0];
    let number = |name: &str| mesh[name].as_u64().unwrap();
    assert!(number("clusters") > 50 && number("patches") > number("clusters"));
    assert!(number("free") > number("clusters") && number("edges") > 100);
    assert_eq!(mesh["groups"][0]["name"], "Skin");
    assert_eq!(mesh["groups"][0]["base"], "stack");
    assert_eq!(
        mesh["anchor_vertices"].as_array().unwrap().len() as u64,
        number("anchors")
    );
    let again: Value =
        serde_json::from_str(&done(&["clusters", text(&project), "--json"])).unwrap();
    assert_eq!(again["meshes"][0]["patches"], mesh["patches"]);

    let plain = arm.skin(&arm.arm, "1");
    let clustered = arm.skin(text(&project), "1");
    let apart = worst(&plain, &clustered);
    assert!(apart > 1e-6 && apart < 0.05, "{apart}");
    // As the stack alone shows it.
    let measured = done(&[
        "measure",
        text(&project),
        "--clip",
        "0",
        "--time",
        "1",
        "--json",
        "--against",
        "psd",
    ]);
    let measured: Value = serde_json::from_str(&measured).unwrap();
    assert!(measured.to_string().contains("difference"), "{measured}");
}

#[test]
fn stack_flags_beside_marks_become_the_stack_of_the_project() {
    let arm = Arm::new();
    let (project, _) = arm.marked(11, &["--method", "lbs"]);
    let saved = std::fs::read_to_string(&project).unwrap();
    assert!(saved.contains("method: Lbs"), "{saved}");
    assert!(saved.starts_with("(\n    version: 11,"));
}

#[test]
fn suggested_clusters_stay_within_the_error() {
    let arm = Arm::new();
    let out = arm.join("suggested.ron");
    let said = done(&[
        "clusters",
        &arm.arm,
        "--suggest",
        "0.5%",
        "--out",
        text(&out),
        "--json",
    ]);
    let report: Value = serde_json::from_str(&said).unwrap();
    let mesh = &report["meshes"][0];
    let rounds = mesh["suggested"].as_array().unwrap();
    let last = rounds.last().unwrap();
    assert!(last["max"].as_f64().unwrap() <= 0.005, "{last}");
    assert_eq!(last["n_clusters"], mesh["clusters"]);
    let (plain, clustered) = (arm.skin(&arm.arm, "1"), arm.skin(text(&out), "1"));
    let rest = arm.skin(&arm.arm, "0");
    let span = |axis: usize| {
        let values = rest.iter().skip(axis).step_by(3);
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(*v), h.max(*v)));
        high - low
    };
    let diagonal = (0..3).map(|k| span(k) * span(k)).sum::<f64>().sqrt();
    // Between the training poses a little more.
    assert!(worst(&plain, &clustered) < 0.0075 * diagonal);
    // A number of clusters instead: the error is what they leave.
    let share = ["--suggest", "0.001%", "--at-most", "2.5%", "--json"];
    let said = done(&[&["clusters", &arm.arm], &share[..]].concat());
    let report: Value = serde_json::from_str(&said).unwrap();
    let mesh = &report["meshes"][0];
    let [clusters, points] = ["clusters", "points"].map(|key| mesh[key].as_f64().unwrap());
    let expected = 0.025 * points;
    // Both sides of a seam are clusters.
    assert!(
        (expected - 1.0..1.2 * expected).contains(&clusters),
        "{mesh}"
    );
    // Without --out it only prints.
    let said = done(&["clusters", &arm.arm, "--suggest", "2%"]);
    assert!(
        said.contains("suggested ") && !said.contains("Wrote"),
        "{said}"
    );
}

#[test]
fn compare_shows_stack_samples_and_clusters_side_by_side() {
    let arm = Arm::new();
    let (project, _) = arm.marked(9, &[]);
    let report = arm.join("report");
    done(&[
        "compare",
        text(&project),
        "--methods",
        "lbs,dqs,psd,ccm",
        "--clip",
        "0",
        "--time",
        "1",
        "--out",
        text(&report),
        "--moments",
        "1",
    ]);
    let numbers = std::fs::read_to_string(report.join("numbers.json")).unwrap();
    let numbers: Value = serde_json::from_str(&numbers).unwrap();
    let of = |i: usize| &numbers[i];
    assert_eq!(
        (&of(2)["name"], &of(3)["name"]),
        (&json!("psd"), &json!("ccm"))
    );
    assert_ne!(of(2)["moments"], of(3)["moments"]);
}

/// The exported file plays the clusters in any glTF player: its bake follows the plan.
#[test]
fn an_export_for_clips_bakes_clusters() {
    let arm = Arm::new();
    let (project, _) = arm.marked(14, &[]);
    let (out, report) = (arm.join("baked.glb"), arm.join("report.json"));
    done(&[
        "export",
        text(&project),
        "--out",
        text(&out),
        "--correct",
        "clips",
        "--tolerance",
        "0.2%",
        "--report",
        text(&report),
    ]);
    let wanted = arm.skin(text(&project), "1");
    let played = {
        let npy = arm.join("played.npy");
        done(&[
            "skin",
            text(&out),
            "--out",
            text(&npy),
            "--method",
            "lbs",
            "--clip",
            "0",
            "--time",
            "1",
        ]);
        read_npy(&npy).1
    };
    let rest = arm.skin(&arm.arm, "0");
    let size = rest.iter().fold(0.0f64, |size, v| size.max(v.abs()));
    assert!(worst(&wanted, &played) < 0.005 * size);
}

#[test]
fn wrong_use_is_a_sentence() {
    let arm = Arm::new();
    let out = arm.join("q.ron");
    let out = text(&out);
    let wrong = |marks: Value| {
        let path = arm.marks(&marks);
        fails(
            &["clusters", &arm.arm, "--mark", text(&path), "--out", out],
            1,
        )
    };
    let said = wrong(json!({"meshes": [{"mesh": 0, "primitive": 0, "vertices": [9_999_999]}]}));
    assert!(
        said.contains("vertex 9999999 of mesh 0 primitive 0"),
        "{said}"
    );
    let said = wrong(json!({"meshes": [{"mesh": 0, "vertices": [-1]}]}));
    assert!(said.contains("not a file of marks"), "{said}");
    let said = wrong(json!([]));
    assert!(said.contains("not a file of marks"), "{said}");
    assert!(!Path::new(out).exists());
    let marks = arm.marks(&json!({"meshes": []}));
    fails(&["clusters", &arm.arm, "--mark", text(&marks)], 2);
    let said = fails(
        &[
            "clusters",
            &arm.arm,
            "--mark",
            text(&marks),
            "--out",
            "q.glb",
        ],
        2,
    );
    assert!(said.contains(".ron"), "{said}");
    fails(&["clusters", &arm.arm, "--suggest", "0", "--out", out], 2);
    fails(
        &[
            "clusters",
            &arm.arm,
            "--mark",
            "/no/such.json",
            "--out",
            out,
        ],
        1,
    );
}

/// The comparison of the paper: four methods over the bend, and what the artist had to make for each.
#[test]
fn the_four_methods_of_the_paper_are_compared_over_the_bend() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report");
    let project = format!(
        "{}/projects/control-clusters-arm.ron",
        env!("CARGO_MANIFEST_DIR")
    );
    done(&[
        "compare",
        &project,
        "--methods",
        "lbs,dqs,psd,ccm",
        "--clip",
        "Bend",
        "--rate",
        "5",
        "--even",
        "--moments",
        "5",
        "--out",
        text(&out),
        #[cfg(feature = "render")]
        "--size",
        #[cfg(feature = "render")]
        "96x64",
    ]);
    let numbers = std::fs::read(out.join("numbers.json")).unwrap();
    let numbers: Value = serde_json::from_slice(&numbers).unwrap();
    let volume = |k: usize| {
        let moments = numbers[k]["moments"].as_array().unwrap();
        moments.last().unwrap()["volume_change"].as_f64().unwrap()
    };
    // Linear skinning collapses, dual quaternions keep the volume, the biceps adds to it.
    assert!(
        volume(0) < 3.0 * volume(1).min(-0.002),
        "{} {}",
        volume(0),
        volume(1)
    );
    assert!(
        volume(3) > 0.01 && volume(3) > volume(2),
        "{} {}",
        volume(3),
        volume(2)
    );
    let made = |k: usize, key: &str| numbers[k]["made"][key].as_u64().unwrap();
    for k in [0, 1] {
        assert_eq!((made(k, "sculpted_vertices"), made(k, "bytes")), (0, 0));
    }
    assert_eq!(
        (made(2, "sculpted_vertices"), made(2, "marked_vertices")),
        (4, 0)
    );
    assert_eq!((made(3, "sculpted_vertices"), made(3, "muscles")), (4, 1));
    assert!(made(3, "marked_vertices") > 100);
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    for word in ["Sculpted", "Marked", "Muscles", "Stored", "ccm", "Volume"] {
        assert!(page.contains(word), "{word}");
    }
    if cfg!(feature = "render") {
        // The frames over the bend: 0, 0.6, 1.2, 1.8 and 2.4 s.
        for time in ["0.00 s", "0.60 s", "1.20 s", "1.80 s", "2.40 s"] {
            assert!(page.contains(&format!("<h3>{time}</h3>")), "{time}");
        }
    }
    // A model without samples and clusters has no such columns.
    let arm = Arm::new();
    done(&[
        "compare",
        &arm.arm,
        "--methods",
        "lbs,dqs",
        "--out",
        text(&out),
    ]);
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(!page.contains("Sculpted") && !page.contains("Stored"));
    let said = fails(&["compare", &arm.arm, "--even", "--out", text(&out)], 2);
    assert!(said.contains("--clip"), "{said}");
}
