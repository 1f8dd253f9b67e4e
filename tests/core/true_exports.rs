//! What an export says of odd sources is what players show: corrections that are not better, files cut short, repairs, rest
//! poses without size, models far away, meshes of joints and primitives without vertices.

use crate::bake::corrected;
use crate::bake_sources::{bend, document, tube};
use crate::cli;
use crate::export_models::open;
use crate::gltf_builder::Gltf;

use sinew::bake::BakeOptions;
use sinew::document::Document;
use sinew::export::{CorrectionReport, Exported, export};

fn bent() -> Gltf {
    let mut gltf = tube(2);
    bend(&mut gltf, "Bend", "LINEAR");
    gltf
}

fn made(document: &Document) -> (Exported, CorrectionReport) {
    let (exported, report) = corrected(document, BakeOptions::default());
    println!("{}", report.summary());
    for finding in &exported.report.findings {
        println!("{finding}");
    }
    (exported, report)
}

/// A walk of 10 keyframes in which the hips, and all else, are smaller than rounding at first: what a correction adds to
/// the full size is far larger than the character then.
#[test]
fn a_correction_that_is_not_better_is_not_exported() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/vanishing.glb");
    let (exported, report) = made(&open(fixture.as_ref()));
    let rejected = report.rejected_percent.unwrap();
    assert!(rejected >= report.before_max_percent, "{report:?}");
    assert_eq!(report.max_percent, report.before_max_percent);
    assert!(!report.met && !report.nothing_to_do && report.meshes.is_empty());
    assert_eq!(exported.files[0].1, std::fs::read(fixture).unwrap());
    assert!(report.summary().contains("has no correction"));
    let findings = &exported.report.findings;
    assert!(findings[0].message.contains("missed"), "{findings:?}");
    assert!(
        findings[1].message.contains("no correction"),
        "{findings:?}"
    );
}

#[test]
fn a_file_that_is_cut_short_is_not_exported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (from, to) = (path("cut.glb"), path("out.glb"));
    let bytes = bent().glb();
    std::fs::write(&from, &bytes[..bytes.len() - 60]).unwrap();
    for correct in ["none", "clips"] {
        let said = cli::fails(&["export", &from, "--correct", correct, "--out", &to], 1);
        assert!(said.contains("cut short"), "{said}");
        assert!(!std::path::Path::new(&to).exists());
    }
    std::fs::write(&from, &bytes).unwrap();
    cli::done(&["export", &from, "--correct", "none", "--out", &to]);
}
