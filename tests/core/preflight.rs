//! What an export says before it is computed.

use crate::export_models::open;
use sinew::bake::{BakeMode, BakeOptions};
use sinew::deform::DeformStack;
use sinew::document::{Document, Edit};
use sinew::export::{ExportOptions, estimate, export, preflight};
use sinew::finding::{Finding, Place, Severity};
use sinew::task::Task;
use std::path::Path;
use std::sync::Arc;

fn arm(stack: &DeformStack) -> Document {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/arm.glb");
    let mut document = open(Path::new(path));
    let meshes: Vec<_> = document.meshes().keys().copied().collect();
    for mesh in meshes {
        let stack = Arc::new(stack.clone());
        document.apply(&mut Edit::Stack { mesh, stack }).unwrap();
    }
    document
}

fn told(document: &Document, correct: Option<BakeOptions>) -> Vec<Finding> {
    let options = ExportOptions {
        correct,
        ..ExportOptions::default()
    };
    preflight(document, &options)
}

fn correct(mode: BakeMode) -> BakeOptions {
    BakeOptions {
        mode,
        ..BakeOptions::default()
    }
}

#[test]
fn without_correction_it_says_what_players_do_not_know() {
    let told = told(&arm(&DeformStack::default()), None);
    assert_eq!(told[0].severity, Severity::Warning);
    assert!(
        told[0]
            .message
            .contains("dual quaternion skinning, bulge compensation and bulge projection"),
        "{told:?}"
    );
    assert!(matches!(told[0].target, Some(Place::Mesh(_))));
}

#[test]
fn linear_skinning_needs_no_correction() {
    let document = arm(&DeformStack::lbs());
    assert!(told(&document, None).is_empty());
    let told = told(&document, Some(correct(BakeMode::Clips)));
    assert_eq!((told.len(), told[0].severity), (1, Severity::Info));
    // Frames take the place of the skin all the same.
    let told = self::told(&document, Some(correct(BakeMode::Frames)));
    assert!(told[0].message.contains("no skin"), "{told:?}");
}

#[test]
fn one_morph_target_of_weights_within_0_and_1_is_none() {
    let one = BakeOptions {
        max_morphs: 1,
        ..BakeOptions::default()
    };
    let document = arm(&DeformStack::dqs());
    let warned = |correct: BakeOptions| {
        let told = told(&document, Some(correct));
        told[0].message.contains("a limit of 1 allows none")
    };
    let signed = BakeOptions {
        unipolar: false,
        ..one.clone()
    };
    let any_clip = BakeOptions {
        mode: BakeMode::Retarget,
        ..one.clone()
    };
    assert!(warned(one) && !warned(signed) && !warned(any_clip));
}

#[test]
fn a_correction_says_what_changes_and_what_it_leaves() {
    let document = arm(&DeformStack::default());
    let clips = told(&document, Some(correct(BakeMode::Clips)));
    assert!(
        clips.iter().all(|f| f.severity == Severity::Info),
        "{clips:?}"
    );
    assert!(clips.iter().any(|f| f.message.contains("Helper joints")));
    let some = document.clips().keys().take(1).copied().collect();
    let one = BakeOptions {
        clips: some,
        ..BakeOptions::default()
    };
    assert!(
        told(&document, Some(one))[0]
            .message
            .contains("not corrected")
    );
    let retarget = told(&document, Some(correct(BakeMode::Retarget)));
    assert!(
        retarget[0]
            .message
            .contains("not its bulge compensation and bulge projection"),
        "{retarget:?}"
    );
    let narrow = BakeOptions {
        max_joints: 2,
        ..BakeOptions::default()
    };
    let narrow = told(&document, Some(narrow));
    assert!(
        narrow[0].message.contains("no room for a helper joint"),
        "{narrow:?}"
    );
}

#[test]
fn frames_say_what_is_left_out_and_what_they_need() {
    let mut document = arm(&DeformStack::default());
    let first = *document.clips().keys().next().unwrap();
    let one = BakeOptions {
        clips: vec![first],
        ..correct(BakeMode::Frames)
    };
    let some = told(&document, Some(one));
    assert_eq!(some[0].severity, Severity::Warning);
    assert!(some.iter().any(|f| f.message.contains("not in the file")));
    for id in document.clips().keys().copied().collect::<Vec<_>>() {
        let mut gone = Edit::Clip { id, clip: None };
        document.apply(&mut gone).unwrap();
    }
    let options = ExportOptions {
        correct: Some(correct(BakeMode::Frames)),
        ..ExportOptions::default()
    };
    let none = preflight(&document, &options);
    assert_eq!(none[0].severity, Severity::Error);
    assert!(
        none[0]
            .message
            .contains("export the current frame as a mesh")
    );
    assert_eq!(estimate(&document, &options, &Task::new()).unwrap(), None);
}

#[test]
fn an_estimate_of_frames_is_near_to_what_they_come_to() {
    // All of the clips are looked at, or stretches of them.
    let document = arm(&DeformStack::default());
    let first: Vec<_> = document.clips().keys().take(1).copied().collect();
    for (clips, tolerance, near) in [
        (first, 0.02, 1.0..1.01),
        (Vec::new(), 0.02, 0.7..1.4),
        (Vec::new(), 0.001, 0.7..1.4),
    ] {
        let options = ExportOptions {
            correct: Some(BakeOptions {
                tolerance,
                clips,
                ..correct(BakeMode::Frames)
            }),
            ..ExportOptions::default()
        };
        let found = estimate(&document, &options, &Task::new()).unwrap();
        let found = found.unwrap();
        let exported = export(&document, &options, &Task::new()).unwrap();
        let came = exported.correction.unwrap();
        println!("{found:?}\n{}", came.summary());
        assert!(found.promises(tolerance) && came.met && found.helper_joints == 0);
        let ratio = found.morph_targets as f64 / came.morph_targets as f64;
        assert!(near.contains(&ratio), "{ratio}");
        let grown = came.bytes as f64 - came.source_bytes as f64;
        let ratio = found.bytes / grown;
        assert!((0.6..1.6).contains(&ratio), "{} {grown}", found.bytes);
    }
}

#[test]
fn an_estimate_is_near_to_what_the_export_comes_to() {
    let with = |document: &Document| {
        let options = ExportOptions {
            correct: Some(correct(BakeMode::Clips)),
            ..ExportOptions::default()
        };
        estimate(document, &options, &Task::new()).unwrap()
    };
    assert_eq!(with(&arm(&DeformStack::lbs())), None);
    let document = arm(&DeformStack::dqs());
    let with = |correct: BakeOptions| {
        let options = ExportOptions {
            correct: Some(correct),
            ..ExportOptions::default()
        };
        let found = estimate(&document, &options, &Task::new()).unwrap();
        (found.unwrap(), options)
    };
    let (found, options) = with(correct(BakeMode::Clips));
    let exported = export(&document, &options, &Task::new()).unwrap();
    let came = exported.correction.unwrap();
    println!("{found:?}\n{}", came.summary());
    assert!(found.helper_joints > 0 && came.helper_joints > 0);
    // Further targets only turn normals.
    assert!(found.morph_targets <= came.morph_targets);
    let grown = came.bytes as f64 - came.source_bytes as f64;
    let ratio = found.bytes / grown;
    assert!((0.5..2.0).contains(&ratio), "{} {grown}", found.bytes);
    // It looks at some moments only: it may be a twentieth short of the largest error without correction, and with it
    // as far off as the tolerance is wide.
    let before = came.before_max_percent / 100.0;
    let told = found.before.unwrap();
    assert!(told <= before + 1e-6 && told > 0.95 * before);
    assert!(found.promises(0.001) && came.met, "{found:?}");
    // Key reduction uses at most what the solution leaves of the tolerance.
    assert!(found.error >= came.max_percent / 100.0 * 0.99, "{found:?}");

    // Without helpers the arm takes as many targets as a whole mesh may have, and one more for weights within 0 - 1.
    let (found, _) = with(BakeOptions {
        max_joints: 2,
        ..correct(BakeMode::Clips)
    });
    assert_eq!((found.helper_joints, found.morph_targets), (0, 9));
}
