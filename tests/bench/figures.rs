//! The tables of `assets/manual/figures.md`: which exports and measurements they show, and how their rows are written.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// The page, below the repository's root.
pub(crate) const PAGE: &str = "assets/manual/figures.md";

/// Where the model of a row is.
#[derive(Clone, Copy)]
pub(crate) enum Model {
    /// A file in `assets`.
    Asset(&'static str),
    /// A file in the `models` folder of the shared test data.
    Shared(&'static str),
}

/// An export whose report is a row.
pub(crate) struct Export {
    /// What the first two columns say.
    pub(crate) label: &'static str,
    pub(crate) model: Model,
    /// The bone whose suggested corrective samples are added first.
    pub(crate) suggest: Option<&'static str>,
    pub(crate) flags: &'static [&'static str],
    /// Whether the tests export it too; the others take minutes.
    pub(crate) is_tested: bool,
}

/// The exports of the table, in its order.
pub(crate) const EXPORTS: [Export; 8] = [
    export("arm | DQS", Model::Asset("arm.glb"), DQS, true),
    export("arm | default", Model::Asset("arm.glb"), &[], true),
    export("hand | DQS", Model::Asset("hand.glb"), DQS, true),
    export("hand | default", Model::Asset("hand.glb"), &[], false),
    export("mannequin | DQS", Model::Asset("mannequin.glb"), DQS, false),
    export(
        "mannequin | default",
        Model::Asset("mannequin.glb"),
        &[],
        false,
    ),
    export("Fox | DQS", Model::Shared("fox/fox.glb"), DQS, true),
    export("Fox | default", Model::Shared("fox/fox.glb"), &[], true),
];

/// The exports of models with suggested corrective samples, each of one clip that bends the joint.
pub(crate) const CORRECTED: [Export; 5] = [
    Export {
        suggest: Some("forearm"),
        ..export(
            "arm | elbow",
            Model::Asset("arm.glb"),
            &["--clips", "Bend"],
            true,
        )
    },
    Export {
        suggest: Some("forearm"),
        ..export(
            "arm, LBS | elbow",
            Model::Asset("arm.glb"),
            &["--method", "lbs", "--clips", "Bend"],
            false,
        )
    },
    Export {
        suggest: Some("index.02.L"),
        ..export(
            "hand | knuckle",
            Model::Asset("hand.glb"),
            &["--clips", "Fist"],
            false,
        )
    },
    Export {
        suggest: Some("upper_arm.L"),
        ..export(
            "mannequin | shoulder",
            Model::Asset("mannequin.glb"),
            &["--clips", "Range of motion"],
            false,
        )
    },
    Export {
        suggest: Some("calf.l"),
        ..export(
            "mannequiny | knee",
            Model::Shared("mannequiny/mannequiny.glb"),
            &["--clips", "run_root.001"],
            false,
        )
    },
];

const DQS: &[&str] = &["--method", "dqs"];

const fn export(
    label: &'static str,
    model: Model,
    flags: &'static [&'static str],
    is_tested: bool,
) -> Export {
    Export {
        label,
        model,
        suggest: None,
        flags,
        is_tested,
    }
}

/// The header of the table of exports.
pub(crate) const EXPORTS_HEADER: &str = "\
| model | deformer stack | helper joints | morph targets | largest error | 99.9th percentile | RMS | not corrected | normals | size | 0.1 % |
|---|---|---|---|---|---|---|---|---|---|---|";

/// The header of the table of exports with corrective samples.
pub(crate) const CORRECTED_HEADER: &str = "\
| model | joint | samples | helper joints | morph targets | largest error | 99.9th percentile | RMS | not corrected | normals | size | 0.1 % | seconds |
|---|---|---|---|---|---|---|---|---|---|---|---|---|";

/// The row of an export, as the command line at `sinew` writes and reports it, and how long the export took. `shared`: the
/// folder of shared test data.
pub(crate) fn export_row(sinew: &Path, export: &Export, shared: &Path) -> (String, Duration) {
    let model = match export.model {
        Model::Asset(name) => root().join("assets").join(name),
        Model::Shared(name) => shared.join("models").join(name),
    };
    let folder = tempfile::tempdir().expect("a folder for the export");
    let report = folder.path().join("report.json");
    let (model, n_samples) = match export.suggest {
        Some(bone) => {
            let (project, n) = corrected(sinew, &model, export, bone, folder.path());
            (project, format!("{n} | "))
        }
        None => (model, String::new()),
    };
    let start = Instant::now();
    let output = Command::new(sinew)
        .arg("export")
        .arg(&model)
        .arg("--out")
        .arg(folder.path().join("out.glb"))
        .args(["--correct", "clips", "--report"])
        .arg(&report)
        .args(export.flags)
        .output()
        .expect("the program runs");
    let took = start.elapsed();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {said}", export.label);
    let text = std::fs::read(&report).expect("the report is written");
    let report: Value = serde_json::from_slice(&text).expect("the report is JSON");
    let number = |key: &str| {
        let value = report[key].as_f64();
        value.unwrap_or_else(|| panic!("{}: the report has no {key}", export.label))
    };
    let is_met = report["met"].as_bool().expect("met");
    let verdict = if is_met { "met" } else { "missed" };
    let normals = report["normals"]["p99_degrees"].as_f64();
    let normals = normals.map_or("none".into(), |degrees| format!("{degrees:.1}°"));
    let row = format!(
        "| {} | {n_samples}{} | {} | {:.3} % | {:.3} % | {:.3} % | {:.1} % | {normals} | × {:.2} | {verdict} |",
        export.label,
        report["helper_joints"],
        report["morph_targets"],
        number("max_percent"),
        number("p999_percent"),
        number("rms_percent"),
        number("before_max_percent"),
        number("size_ratio"),
    );
    (row, took)
}

/// The project of a model with the suggested samples of a bone, in `folder`, and the number of samples.
fn corrected(
    sinew: &Path,
    model: &Path,
    export: &Export,
    bone: &str,
    folder: &Path,
) -> (PathBuf, usize) {
    let project = folder.join("corrected.ron");
    let mut model = model.to_owned();
    // A stack of its own is that of the project: the samples are suggested on it.
    if let ["--method", method, ..] = export.flags {
        let based = folder.join("based.ron");
        let output = Command::new(sinew)
            .arg("clusters")
            .arg(&model)
            .args(["--method", method, "--out"])
            .arg(&based)
            .output()
            .expect("the program runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {said}", export.label);
        model = based;
    }
    let output = Command::new(sinew)
        .arg("psd")
        .arg(model)
        .args(["--suggest", bone, "--out"])
        .arg(&project)
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{bone}: {said}");
    let listed = Command::new(sinew)
        .arg("psd")
        .arg(&project)
        .arg("--json")
        .output()
        .expect("the program runs");
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("the sets are JSON");
    let sets = listed["sets"].as_array().expect("sets");
    let n_samples = |set: &Value| set["samples"].as_array().map_or(0, Vec::len);
    (project, sets.iter().map(n_samples).sum())
}

/// The repository's root.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The marks before and after what is written under `name`.
pub(crate) fn marks(name: &str) -> [String; 2] {
    [
        format!("<!-- {name}: written by tests/bench/report.rs -->\n"),
        format!("<!-- end of {name} -->\n"),
    ]
}

/// What stands in `page` under `name`.
pub(crate) fn section<'a>(page: &'a str, name: &str) -> &'a str {
    let [start, end] = marks(name);
    let parts = page.split_once(&start);
    let inside = parts.and_then(|(_, rest)| rest.split_once(&end));
    inside.unwrap_or_else(|| panic!("{PAGE} has no {name}")).0
}

/// The header of the table of methods on the sample arm of control clusters.
pub(crate) const CLUSTERS_HEADER: &str = "\
| method | volume at 30° | at 60° | at 90° | at 120° | sculpted | marked | muscles | stored |
|---|---|---|---|---|---|---|---|---|";

/// The rows of that table, as `sinew compare` of the program at `sinew` reports them.
pub(crate) fn cluster_rows(sinew: &Path) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("report");
    let project = root().join("projects/control-clusters-arm.ron");
    // The clip bends by 50 degrees a second: a pose every 30 degrees.
    let output = Command::new(sinew)
        .arg("compare")
        .arg(&project)
        .args([
            "--methods",
            "lbs,dqs,psd,ccm",
            "--clip",
            "Bend",
            "--rate",
            "1.6666667",
            "--out",
        ])
        .arg(&out)
        .output()
        .expect("sinew");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    let numbers = std::fs::read(out.join("numbers.json")).expect("numbers.json");
    let numbers: Value = serde_json::from_slice(&numbers).expect("JSON");
    let row = |series: &Value| {
        let name = series["name"].as_str().expect("a name").to_uppercase();
        let moments = series["moments"].as_array().expect("moments").iter();
        let volumes: Vec<String> = moments
            .skip(1)
            .map(|m| {
                format!(
                    "{:+.2} %",
                    100.0 * m["volume_change"].as_f64().expect("closed")
                )
            })
            .collect();
        let made = |key: &str| series["made"][key].as_u64().expect("a number");
        format!(
            "| {name} | {} | {} | {} | {} | {} bytes |",
            volumes.join(" | "),
            made("sculpted_vertices"),
            made("marked_vertices"),
            made("muscles"),
            made("bytes")
        )
    };
    numbers
        .as_array()
        .expect("series")
        .iter()
        .map(row)
        .collect()
}
