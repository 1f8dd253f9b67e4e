//! Normals of corrected exports: what a player shades is what the stack shows.

use crate::bake::{corrected, with_stack};
use crate::export_models::{open, reopen};
use crate::shared::shared_dir;
use sinew::bake::BakeOptions;
use sinew::deform::DeformStack;
use sinew::document::Document;
use sinew::finding::{Finding, Severity};
use std::path::Path;

fn model(test: &str, path: &str) -> Option<Document> {
    Some(open(&shared_dir(test)?.join("models").join(path)))
}

#[test]
fn targets_that_move_nothing_turn_normals_where_helper_joints_move_the_skin() {
    let test = "targets_that_move_nothing_turn_normals_where_helper_joints_move_the_skin";
    let Some(document) = model(test, "skinned_cylinder/skinned_cylinder.gltf") else {
        return;
    };
    let document = with_stack(document, &DeformStack::dqs());
    let (_, without) = corrected(
        &document,
        BakeOptions {
            normals: false,
            ..BakeOptions::default()
        },
    );
    let (exported, with) = corrected(&document, BakeOptions::default());
    assert!(with.met && without.met);
    assert!(
        without.helper_joints > 0 && without.morph_targets == 0,
        "{without:?}"
    );
    assert!(without.normals.p99_degrees > 4.0, "{without:?}");
    assert!(with.normals.p99_degrees < 2.0, "{with:?}");
    // The positions are the same: the further targets move no vertex.
    assert!((with.max_percent - without.max_percent).abs() < 1e-3);
    let read = reopen(&exported);
    let morphs = &read.meshes().values().next().unwrap().geometry.morphs;
    assert_eq!(morphs.len(), with.morph_targets);
    assert!(morphs.iter().any(|morph| !morph.normals.is_empty()));
    for morph in morphs {
        assert!(morph.deltas.iter().all(|delta| delta.length() < 1e-6));
    }
    // No more targets than are allowed.
    let (_, few) = corrected(
        &document,
        BakeOptions {
            max_morphs: 0,
            ..BakeOptions::default()
        },
    );
    assert_eq!(few.morph_targets, 0);
}

#[test]
fn a_larger_share_makes_normals_more_exact() {
    let path = format!("{}/assets/coarse-arm.glb", env!("CARGO_MANIFEST_DIR"));
    let document = open(Path::new(&path));
    let with_share = |normals_share: f64| {
        let options = BakeOptions {
            normals_share,
            ..BakeOptions::default()
        };
        let (exported, report) = corrected(&document, options);
        assert!(report.met, "{report:?}");
        (exported.files[0].1.len(), report.normals.p99_degrees)
    };
    let [small, medium] = [0.01, 0.04].map(with_share);
    assert!(small.0 < medium.0, "{small:?} {medium:?}");
    assert!(small.1 > medium.1 + 0.5, "{small:?} {medium:?}");
    for wrong in [0.0, 0.009, 1.1, -1.0, f64::NAN, f64::INFINITY] {
        let options = BakeOptions {
            normals_share: wrong,
            ..BakeOptions::default()
        };
        let why = options.check().unwrap_err();
        assert!(why.contains("share of normals"), "{why}");
    }
}

#[test]
fn deltas_never_make_normals_worse() {
    let test = "deltas_never_make_normals_worse";
    let Some(document) = model(test, "skinned_cylinder/skinned_cylinder.gltf") else {
        return;
    };
    let (_, with) = corrected(&document, BakeOptions::default());
    let options = BakeOptions {
        normals: false,
        ..BakeOptions::default()
    };
    let (_, without) = corrected(&document, options);
    for (with, without) in [
        (with.normals.p99_degrees, without.normals.p99_degrees),
        (with.normals.mean_degrees, without.normals.mean_degrees),
    ] {
        assert!(with <= without, "{with} {without}");
    }
    assert!(with.normals.p99_degrees < 2.0, "{with:?}");
}

/// Displacements alone do not change normals, so the errors with and without correction are equal at the same moments.
#[test]
fn angles_with_and_without_a_correction_are_of_the_same_moments() {
    let path = format!("{}/assets/arm.glb", env!("CARGO_MANIFEST_DIR"));
    let document = open(Path::new(&path));
    let options = BakeOptions {
        normals: false,
        max_joints: 1,
        tolerance: 0.003,
        ..BakeOptions::default()
    };
    let (_, report) = corrected(&document, options);
    assert_eq!((report.helper_joints, report.morph_targets > 0), (0, true));
    assert!(report.meshes.iter().all(|mesh| !mesh.reweighted));
    assert!(report.normals.p99_degrees > 10.0, "{report:?}");
    // The weights of vertices are rounded to 16 bits.
    let (before, now) = (&report.normals_before, &report.normals);
    assert!((before.mean_degrees - now.mean_degrees).abs() < 1e-4);
    assert!((before.p99_degrees - now.p99_degrees).abs() < 0.02);
    assert!((before.max_degrees - now.max_degrees).abs() < 0.01);
}

/// Helper joints follow positions; without morph targets nothing turns normals back.
#[test]
fn normals_that_a_correction_makes_worse_are_warned_of() {
    let path = format!("{}/assets/coarse-arm.glb", env!("CARGO_MANIFEST_DIR"));
    let document = open(Path::new(&path));
    let options = BakeOptions {
        max_morphs: 0,
        ..BakeOptions::default()
    };
    let (exported, report) = corrected(&document, options);
    let [before, now] = [&report.normals_before, &report.normals].map(|n| n.p99_degrees);
    assert!(report.met && report.helper_joints > 0, "{report:?}");
    assert!(now > before + 1.0, "{now} {before}");
    let said = format!(
        "makes normals at joints worse: {now:.1} instead of {before:.1} degrees off at the 99th percentile. They follow the \
         helper joints and new weights, which are fitted to positions. More morph targets (`--max-morphs`) can correct them."
    );
    let findings = &exported.report.findings;
    let is_said = |f: &Finding| f.severity == Severity::Warning && f.message.contains(&said);
    assert!(findings.iter().any(is_said), "{findings:#?}");
    // What it says is true.
    let (exported, report) = corrected(&document, BakeOptions::default());
    assert!(report.normals.p99_degrees < 2.0, "{report:?}");
    let findings = &exported.report.findings;
    let is_warning = |f: &Finding| f.severity == Severity::Warning;
    assert!(!findings.iter().any(is_warning), "{findings:#?}");
}
