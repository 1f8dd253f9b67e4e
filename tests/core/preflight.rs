//! What an export says before it is computed.

use crate::export_models::open;
use sinew::bake::{BakeMode, BakeOptions};
use sinew::deform::DeformStack;
use sinew::document::{Document, Edit};
use sinew::finding::{Finding, Place, Severity};
use sinew::io::gltf_export::{ExportOptions, estimate, preflight};
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
        narrow[0].message.contains("no helper joint fits"),
        "{narrow:?}"
    );
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
    let found = with(&arm(&DeformStack::dqs())).unwrap();
    println!("{found:?}");
    assert!(found.helper_joints + found.morph_targets > 0);
    assert!(found.before > 0.04 && found.promises(0.001), "{found:?}");
    // The corrected arm is 66 KB larger than its source.
    assert!((20e3..200e3).contains(&found.bytes), "{found:?}");
}
