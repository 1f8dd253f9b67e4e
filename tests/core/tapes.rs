//! Girths of a posed person, and the body that a command is about.

use crate::cli::{asset, done, fails, text};
use glam::DVec3;
use serde_json::Value;
use sinew::evaluate::Evaluator;
use sinew::io::{open_any, project};
use sinew::math::Worse;
use sinew::skeleton::JointId;
use sinew::task::Task;
use sinew::twin::template::girth_at;
use sinew::twin::{FitOptions, Kind, Measurement, Sides};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Where the girths of the forearm are measured.
const SITES: [f64; 3] = [0.1, 0.5, 0.75];

/// The sample arm with a girth of its forearm at each of [`SITES`], as a project in `folder`.
fn measured_arm(folder: &Path) -> PathBuf {
    let arm = asset("arm");
    let body = open_any(Path::new(&arm), &Task::new())
        .unwrap()
        .document
        .body();
    let body = body.unwrap();
    let named = |joint: &JointId| body.skeleton().joint(*joint).name == "forearm";
    let forearm = body.bones().find(named).unwrap();
    let mut rows = String::from("kind,bone,value,at\n");
    for (at, factor) in SITES.into_iter().zip([1.25, 1.2, 1.25]) {
        let girth = girth_at(&body, forearm, at).unwrap();
        writeln!(rows, "girth,forearm,{},{at}", girth * factor).unwrap();
    }
    let (csv, project) = (folder.join("m.csv"), folder.join("p.ron"));
    std::fs::write(&csv, rows).unwrap();
    let (csv, out) = (text(&csv), text(&project));
    done(&[
        "body",
        &arm,
        "--measure",
        csv,
        "--taper",
        "--sides",
        "own",
        "--out",
        out,
    ]);
    project
}

#[test]
fn posed_girths_are_the_length_of_the_same_curve_on_the_skin() {
    let folder = tempfile::tempdir().unwrap();
    let template = open_any(&measured_arm(folder.path()), &Task::new())
        .unwrap()
        .document;
    let table = template.individual().unwrap().clone();
    let made = template
        .individualised(&table.rows, &table.options, &Task::new())
        .unwrap();
    let (document, tapes) = (made.document, made.tapes);
    assert_eq!(tapes.len(), 3);
    // At rest it is what the table asks for.
    for ((mesh, tape), row) in tapes.iter().zip(&made.report.rows) {
        assert!(document.meshes().contains_key(mesh));
        assert_eq!(tape.rest, row.measured);
    }
    let clip = document
        .clips()
        .values()
        .find(|clip| clip.name == "Bend")
        .unwrap();
    let id = *document.instances().keys().next().unwrap();
    let mut evaluator = Evaluator::for_shapes();
    let mut most = [0.0_f64; 3];
    for time in [0.0, 0.4, 0.8, 1.2] {
        evaluator.evaluate(&document, &document.pose_of_clip(clip, time));
        let posed = evaluator.plan(id).unwrap().positions();
        let points: Vec<DVec3> = posed.iter().map(|p| p.as_dvec3()).collect();
        for (i, (_, tape)) in tapes.iter().enumerate() {
            assert_eq!(tape.at, SITES[i]);
            let found = tape.length(|p| points[p as usize]).unwrap();
            most[i] = most[i].worse((found / tape.rest - 1.0).abs());
            // It grows with the skin.
            assert!(
                (tape
                    .length(|p| points[p as usize] * 2.0 + DVec3::ONE)
                    .unwrap()
                    / found
                    - 2.0)
                    .abs()
                    < 1e-12
            );
        }
    }
    // The weights blend near the elbow: beyond it the skin is rigid.
    assert!(most[0] > 1e-3 && most[0] < 0.5, "{most:?}");
    assert!(most[1] < 1e-5 && most[2] < 1e-5, "{most:?}");
    assert_eq!(tapes[0].1.length(|_| DVec3::NAN), None);
}

/// The bone of a joint without children is as long as half of its parent's in the template; on the individual it has its own
/// factor, and the girth is measured there.
#[test]
fn the_girth_of_a_leaf_is_followed_where_it_was_measured() {
    let document = open_any(Path::new("assets/mannequin.glb"), &Task::new())
        .unwrap()
        .document;
    let body = document.body().unwrap();
    let skeleton = body.skeleton();
    let is_leaf = |joint: &JointId| {
        let children = skeleton.logical_children(*joint);
        children.is_empty() && girth_at(&body, *joint, 0.5).is_some()
    };
    let leaf = body
        .bones()
        .find(is_leaf)
        .expect("a leaf with a closed skin");
    let above = skeleton.logical_parent(leaf).unwrap();
    let row = |kind: Kind, joint: JointId, value: f64| Measurement {
        kind,
        bone: skeleton.joint(joint).name.clone(),
        at: 0.5,
        value,
        ..Measurement::default()
    };
    let rows = [
        row(Kind::Length, above, 1.4 * body.line(above).length()),
        row(Kind::Girth, leaf, 1.1 * girth_at(&body, leaf, 0.5).unwrap()),
    ];
    let options = FitOptions {
        sides: Sides::Own,
        ..FitOptions::default()
    };
    let made = document
        .individualised(&rows, &options, &Task::new())
        .unwrap();
    assert_eq!(made.tapes[0].1.rest, made.report.rows[1].measured);
    assert!(made.report.rows[1].error.abs() < 1e-3);
}

#[test]
fn commands_are_about_the_body_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let measured = measured_arm(folder.path());
    let (measured, arm) = (text(&measured), asset("arm"));
    let skin = |file: &str, body: &[&str]| -> Vec<f32> {
        let out = at("points.npy");
        let mut args = vec![
            "skin",
            file,
            "--clip",
            "Bend",
            "--time",
            "1",
            "--out",
            text(&out),
        ];
        args.extend(body);
        done(&args);
        let npy = std::fs::read(&out).unwrap();
        let numbers = npy[10 + usize::from(npy[8]) + 256 * usize::from(npy[9])..].chunks(4);
        numbers
            .map(|n| f32::from_le_bytes(n.try_into().unwrap()))
            .collect()
    };
    let is_near = |a: &[f32], b: &[f32]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6)
    };
    let template = skin(&arm, &[]);
    assert!(skin(measured, &["--body", "template"]) == template);
    let individual = skin(measured, &["--body", "individual"]);
    assert!(!is_near(&individual, &template));
    // The same as the file of the body.
    let glb = at("x.glb");
    done(&["body", measured, "--out", text(&glb)]);
    assert!(is_near(&skin(text(&glb), &[]), &individual));
    let other = at("y.glb");
    let export = [
        "export",
        measured,
        "--body",
        "individual",
        "--correct",
        "none",
        "--out",
    ];
    done(&[&export[..], &[text(&other)]].concat());
    assert!(is_near(&skin(text(&other), &[]), &individual));
    // Without the flag it is the body that the window shows.
    let shows = at("shown.ron");
    let mut document = open_any(Path::new(measured), &Task::new())
        .unwrap()
        .document;
    document.session_mut().shows_individual = true;
    project::save(&document, &shows, &Task::new()).unwrap();
    assert!(skin(measured, &[]) == template);
    assert!(skin(text(&shows), &[]) == individual);
    assert!(skin(text(&shows), &["--body", "template"]) == template);

    let report = at("report");
    let compare = [
        "compare",
        measured,
        "--body",
        "individual",
        "--clip",
        "Bend",
        "--rate",
        "5",
        "--methods",
        "lbs,dqs",
    ];
    done(&[&compare[..], &["--out", text(&report)]].concat());
    let numbers = std::fs::read(report.join("numbers.json")).unwrap();
    let numbers: Value = serde_json::from_slice(&numbers).unwrap();
    let girths = numbers[0]["moments"][5]["girths"].as_array().unwrap();
    assert_eq!(girths.len(), 3);
    let (rest, posed) = (&girths[2]["rest"], &girths[2]["posed"]);
    let off = posed.as_f64().unwrap() / rest.as_f64().unwrap() - 1.0;
    assert!(off.abs() < 1e-5, "{off}");
    // Stacks keep the girth near the elbow differently well.
    let elbow = |stack: usize| {
        numbers[stack]["moments"][5]["girths"][0]["posed"]
            .as_f64()
            .unwrap()
    };
    assert!(
        (elbow(0) / elbow(1) - 1.0).abs() > 1e-3,
        "{} {}",
        elbow(0),
        elbow(1)
    );
    assert_eq!(numbers[0]["body"], "individual");
    let page = std::fs::read_to_string(report.join("index.html")).unwrap();
    assert!(page.contains("Girth of forearm at 75 %") && page.contains(", individual"));
    let json = |body: &str| -> Value {
        let args = [
            "measure", measured, "--body", body, "--clip", "Bend", "--time", "1", "--json",
        ];
        serde_json::from_str(&done(&args)).unwrap()
    };
    let volume = |json: &Value| {
        json["instances"][0]["volume"]["parts"][0]["rest_m3"]
            .as_f64()
            .unwrap()
    };
    let (theirs, own) = (json("individual"), json("template"));
    assert!(volume(&theirs) > 1.05 * volume(&own));
    assert!(theirs["body"] == "individual" && own.get("body").is_none());
    let still = at("still.glb");
    done(&["export", text(&shows), "--still", "--out", text(&still)]);
    let (a, b) = (std::fs::read(&still).unwrap(), at("other.glb"));
    done(&[
        "export",
        text(&shows),
        "--body",
        "template",
        "--still",
        "--out",
        text(&b),
    ]);
    assert!(a != std::fs::read(&b).unwrap());

    let why = fails(
        &[
            "skin",
            &arm,
            "--body",
            "what-if",
            "--out",
            text(&at("z.npy")),
        ],
        1,
    );
    assert!(
        why.contains("--body what-if: the file has no measurements for it."),
        "{why}"
    );
}
