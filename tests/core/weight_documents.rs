//! Operations over documents: history, the samples' two sides, rows out of weights files.

use crate::models::tube;
use crate::shared::shared_dir;
use sinew::document::subject::{PointScope, SubjectScope};
use sinew::document::transfer_source::transfer_source;
use sinew::document::{Document, History, MeshId};
use sinew::io::import_bytes;
use sinew::io::weights_file::weights_of;
use sinew::math::Axis;
use sinew::skinning::Rows;
use sinew::task::Task;
use sinew::weights::file::WeightsFile;
use sinew::weights::operation::{Flood, Import, Mirroring, Operation, OperationError, Outcome};
use std::sync::Arc;

const MESH: MeshId = MeshId(0);

/// A built-in sample.
fn asset(name: &str) -> Document {
    let path = format!("{}/assets/{name}.glb", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(path).unwrap();
    let imported = import_bytes(bytes.into(), None, None, &Task::new()).unwrap();
    Document::new(imported.parts).unwrap()
}

fn outcome(document: &Document, operation: &Operation) -> Result<Outcome, OperationError> {
    let parts = document.subject(MESH, SubjectScope::default()).unwrap();
    operation.run(&parts.view(), &Task::new())
}

fn apply(document: &mut Document, history: &mut History, operation: &Operation) -> Outcome {
    let outcome = outcome(document, operation).unwrap();
    let edit = document.paint_edit(MESH, outcome.points.clone(), outcome.rows.clone());
    history.apply(document, edit, operation.label()).unwrap();
    outcome
}

fn import(file: &WeightsFile, replace: bool) -> Operation {
    Operation::Import(Import {
        file: Arc::new(file.clone()),
        replace,
    })
}

fn smooth() -> Operation {
    Operation::Smooth {
        iterations: 4,
        strength: 0.7,
    }
}

#[test]
fn undoing_operations_restores_every_bit() {
    let mut document = asset("arm");
    let before = document.clone();
    let mut history = History::default();
    let operations = [
        smooth(),
        Operation::Prune { below: 0.05 },
        Operation::Quantise { steps: 20 },
        Operation::Mirror(Mirroring {
            axis: Axis::Z,
            ..Mirroring::default()
        }),
        Operation::Limit { most: 1 },
        Operation::Hammer,
    ];
    let mut n_steps = 0;
    for operation in &operations {
        let outcome = apply(&mut document, &mut history, operation);
        n_steps += usize::from(!outcome.points.is_empty());
    }
    let after = document.clone();
    assert!(n_steps >= 4 && !after.same_content(&before));
    while history.undo(&mut document).is_some() {}
    assert!(document.same_content(&before));
    while history.redo(&mut document).is_some() {}
    assert!(document.same_content(&after));
}

#[test]
fn points_in_another_order_are_found_by_their_places() {
    let source = asset("arm");
    let mut file = weights_of(&source).unwrap();
    let mesh = &mut file.meshes[0];
    mesh.positions.reverse();
    let rows: Vec<Vec<(u16, f32)>> = mesh.rows.iter().map(|r| r.iter().collect()).collect();
    mesh.rows = rows.into_iter().rev().collect();
    mesh.name = "Other".into();
    let outcome = outcome(&source, &import(&file, true)).unwrap();
    assert!(outcome.points.is_empty(), "every point finds its own row");
    let notes = outcome.report.notes.join(" ");
    assert!(notes.contains("the nearest one"), "{notes}");
}

#[test]
fn merging_changes_only_the_bones_that_the_file_names() {
    let mut document = tube(9);
    let mut history = History::default();
    let mut file = weights_of(&document).unwrap();
    let n = file.meshes[0].rows.len();
    file.meshes[0].bones = vec![file.meshes[0].bones[2].clone(), "Nobody".into()];
    let rows: Rows = (0..n).map(|_| vec![(0, 0.25), (1, 0.0)]).collect();
    file.meshes[0].rows = rows;
    let before = document.clone();
    let outcome = apply(&mut document, &mut history, &import(&file, false));
    assert!(
        outcome.report.notes[0].contains("\"Nobody\""),
        "{:?}",
        outcome.report.notes
    );
    let left: usize = outcome
        .report
        .left_out
        .iter()
        .map(|l| l.points.count())
        .sum();
    let mut n_checked = 0;
    let all = before.meshes()[&MESH].influences.iter();
    for (was, is) in all.zip(document.meshes()[&MESH].influences.iter()) {
        let sum: f32 = is.weights.iter().sum();
        assert!((sum - 1.0).abs() < 1e-5);
        if was.weight_of(2) < 1.0 {
            n_checked += 1;
            assert_eq!(is.weight_of(2), 0.25);
            let [a, b] =
                [was, is].map(|row| row.weight_of(0) / (row.weight_of(0) + row.weight_of(1)));
            assert!((a - b).abs() < 1e-5, "the others keep their proportion");
        }
    }
    assert_eq!(n_checked + left, n, "where nobody else is, it is told");
    let outcome = outcome_of_strangers(&before, &mut file);
    assert!(outcome.contains("none of the file's bones"), "{outcome}");
}

fn outcome_of_strangers(document: &Document, file: &mut WeightsFile) -> String {
    file.meshes[0].bones = vec!["Nobody".into(), "Noone".into()];
    outcome(document, &import(file, true))
        .unwrap_err()
        .to_string()
}

#[test]
fn the_samples_sides_match_and_mirroring_them_twice_is_once() {
    let mut document = asset("mannequin");
    let mut history = History::default();
    let parts = document.subject(MESH, SubjectScope::default()).unwrap();
    let symmetry = parts.view().symmetry(Axis::X, 0.01, &Task::new()).unwrap();
    let counts = symmetry.counts();
    let n_points = symmetry.n_points();
    assert!(
        counts.unmatched * 100 < n_points && counts.centre > 10,
        "{counts:?} of {n_points}"
    );
    drop(parts);
    let left = |name: &str| {
        let joints = document.skeleton().joints().iter();
        joints.clone().position(|j| j.name == name)
    };
    let arm = [
        "upper_arm.L",
        "UpperArm.L",
        "LeftArm",
        "upperarm_l",
        "arm.L",
    ];
    let joint = arm.iter().find_map(|name| left(name)).expect("a left arm");
    let points: sinew::mesh::PointSet = (0..n_points as u32).step_by(3).collect();
    let scope = SubjectScope {
        points: PointScope::These(Arc::new(points)),
        ..SubjectScope::default()
    };
    let flood = Operation::Flood {
        joint: sinew::skeleton::JointId(joint as u32),
        value: 0.5,
        how: Flood::Add,
    };
    let parts = document.subject(MESH, scope).unwrap();
    let flooded = flood.run(&parts.view(), &Task::new()).unwrap();
    drop(parts);
    let mut edit = document.paint_edit(MESH, flooded.points, flooded.rows);
    document.apply(&mut edit).unwrap();
    let mirror = Operation::Mirror(Mirroring::default());
    let first = apply(&mut document, &mut history, &mirror);
    assert!(first.report.changed > 0);
    assert!(outcome(&document, &mirror).unwrap().points.is_empty());
}

/// The mesh of CesiumMan has its left and right along Y, not along X.
#[test]
fn the_axis_between_the_sides_is_found() {
    let mannequin = asset("mannequin");
    assert_eq!(mannequin.side_axis(MESH), Some(Axis::X));
    assert_eq!(asset("arm").side_axis(MESH), None);
    let Some(shared) = shared_dir("the_axis_between_the_sides_is_found") else {
        return;
    };
    let path = shared.join("models/cesium_man/cesium_man.glb");
    let imported = import_bytes(
        std::fs::read(path).unwrap().into(),
        None,
        None,
        &Task::new(),
    );
    let document = Document::new(imported.unwrap().parts).unwrap();
    assert_eq!(document.side_axis(MESH), Some(Axis::Y));
    let across = |axis| {
        Operation::Mirror(Mirroring {
            axis,
            ..Mirroring::default()
        })
    };
    let sides = outcome(&document, &across(Axis::Y)).unwrap();
    let n = document.meshes()[&MESH].geometry.n_points();
    assert!(sides.report.changed > 0 && sides.report.changed < n);
    // From front to back, no bone gets the weights of the other leg.
    let depth = outcome(&document, &across(Axis::X)).unwrap();
    let note = &depth.report.notes[0];
    assert!(note.contains("apart along Y, not along X"), "{note}");
    // From front to back, a vertex gets the weights of the same bones as its mirror image.
    let parts = document.subject(MESH, SubjectScope::default()).unwrap();
    let symmetry = parts.view().symmetry(Axis::X, 0.01, &Task::new()).unwrap();
    let influences = &document.meshes()[&MESH].influences;
    let mut n_checked = 0;
    for (&point, row) in depth.points.iter().zip(depth.rows.iter()) {
        let image = symmetry.source(point).unwrap();
        if image != point {
            let bones = influences.row(image).joints;
            assert!(
                row.joints.iter().all(|j| bones.contains(j)),
                "vertex {point}"
            );
            n_checked += 1;
        }
    }
    assert!(n_checked > 20, "{n_checked}");
}

#[test]
fn a_document_is_a_source_of_weights() {
    let source = transfer_source(&asset("arm"), "arm").unwrap();
    assert_eq!(source.positions.len(), source.rows.len());
}
