//! What players show of a file without correction: measured on that file, and said before and after an export.

use crate::bake::{corrected, with_stack};
use crate::bake_sources::{channel, clip, tube, turn};
use crate::cli;
use crate::export_models::reopen;
use glam::Vec3;
use sinew::bake::static_shapes::{StaticPose, static_shapes};
use sinew::bake::{BakeMode, BakeOptions};
use sinew::deform::DeformStack;
use sinew::document::{ClipId, Document, Edit};
use sinew::export::{ExportOptions, export, preflight};
use sinew::finding::Severity;
use sinew::io::import_bytes;
use sinew::math::Worse;
use sinew::skeleton::{JointId, JointRule};
use sinew::task::Task;

/// A tube over three joints, the second of which grows; the third compensates for that if `compensates`.
fn growing(compensates: bool) -> Document {
    let mut gltf = tube(3);
    let clip = clip(&mut gltf, "Grow");
    let sizes = [[1.0; 3], [1.0, 1.4, 1.6], [1.0; 3]].concat();
    let times = [0.0, 0.5, 1.0];
    channel(&mut gltf, clip, 2, "scale", "LINEAR", &times, &sizes);
    turn(&mut gltf, clip, 3, "LINEAR", &times, &[0.0, 60.0, 0.0]);
    let imported = import_bytes(gltf.glb(), None, None, &Task::new()).unwrap();
    let mut document = with_stack(Document::new(imported.parts).unwrap(), &DeformStack::lbs());
    let rule = JointRule {
        compensates_scale: compensates,
        ..JointRule::default()
    };
    let joint = JointId(3);
    document
        .apply(&mut Edit::JointRule { joint, rule })
        .unwrap();
    document
}

/// The largest distance of a vertex in the file from the same vertex of the document, percent of `diagonal`.
fn error(document: &Document, read: &Document, time: f64, diagonal: f64) -> f64 {
    let pose = StaticPose {
        clip: Some(ClipId(0)),
        time,
    };
    let vertices = |document: &Document| -> Vec<Vec3> {
        let posed = pose.pose(document).unwrap();
        let shapes = static_shapes(document, &posed, &Task::new()).unwrap();
        let shape = shapes.values().next().unwrap();
        let mesh = &document.meshes().values().next().unwrap().geometry;
        let points = mesh.point_of_vertex.iter();
        points.map(|&p| shape.positions[p as usize]).collect()
    };
    let (seen, shown) = (vertices(document), vertices(read));
    assert_eq!(seen.len(), shown.len());
    let distances = seen.iter().zip(&shown).map(|(a, b)| a.distance(*b));
    100.0 * f64::from(distances.fold(0.0, f32::worse)) / diagonal
}

#[test]
fn bones_that_compensate_for_scale_are_measured_on_the_plain_file() {
    let document = growing(true);
    let plain = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
    let read = with_stack(reopen(&plain), &DeformStack::lbs());
    let (_, report) = corrected(&document, BakeOptions::default());
    let off = error(&document, &read, 0.5, report.diagonal);
    assert!(off > 5.0, "{off}");

    let findings = &plain.report.findings;
    let about: Vec<_> = findings
        .iter()
        .filter(|f| f.message.contains("compensates for the scale"))
        .collect();
    let said = format!("up to {off:.3} % of the diagonal (clip \"Grow\" at 0.500 s");
    assert!(
        about.len() == 1 && about[0].severity == Severity::Warning,
        "{findings:?}"
    );
    assert!(about[0].message.contains(&said), "{said}: {about:?}");

    for mode in [BakeMode::Clips, BakeMode::Retarget, BakeMode::Frames] {
        let options = BakeOptions {
            mode,
            ..BakeOptions::default()
        };
        let (_, report) = corrected(&document, options);
        println!("{}", report.summary());
        assert!(
            (report.before_max_percent - off).abs() < 1e-3,
            "{off}: {report:?}"
        );
        // Helper joints follow the skinning of the joints that a player has.
        assert!(mode == BakeMode::Retarget || report.met, "{report:?}");
    }
}

#[test]
fn nothing_is_said_of_bones_whose_file_is_exact() {
    let document = growing(false);
    let plain = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
    assert!(plain.report.findings.is_empty());
    let options = |correct| ExportOptions {
        correct,
        ..ExportOptions::default()
    };
    let said = |document: &Document| {
        let with = options(Some(BakeOptions::default()));
        let findings = preflight(document, &with);
        findings
            .iter()
            .any(|f| f.message.contains("no correction is needed"))
    };
    assert!(said(&document) && !said(&growing(true)));
    assert!(preflight(&document, &options(None)).is_empty());
}

#[test]
fn the_command_line_prints_the_checks_before_an_export_once() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("arm.glb");
    let arm = cli::asset("arm");
    let base = ["export", &arm, "--out", cli::text(&out)];
    let with = |more: &[&str]| cli::done(&[&base[..], more].concat());
    let said = with(&["--method", "dqs"]);
    assert_eq!(
        said.matches("Players do not support its").count(),
        1,
        "{said}"
    );
    let said = with(&["--method", "dqs", "--correct", "clips"]);
    assert_eq!(
        said.matches("Helper joints, new weights").count(),
        1,
        "{said}"
    );
    let said = with(&["--method", "lbs"]);
    assert!(!said.contains("Players do not support"), "{said}");
}
