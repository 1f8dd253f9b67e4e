//! Operations on weights in the headless editor: shown at once, adjusted until the next edit, one undo step.

use crate::editing::EditorHarness;
use sinew::document::{Document, MeshId};
use sinew::editor::operations::{Scope, ScopeBones, ScopePoints};
use sinew::editor::{OpenRequest, OperationKind};
use sinew::weights::operation::{Flood, Operation, PasteBy};

fn mesh(document: &Document) -> MeshId {
    *document.meshes().keys().next().unwrap()
}

fn weight(document: &Document, point: u32) -> f32 {
    let mesh = mesh(document);
    let joint = document.session().active_joint.unwrap();
    let index = document.skin_joint(mesh, joint).unwrap();
    document.meshes()[&mesh]
        .influences
        .row(point)
        .weight_of(index)
}

fn on_arm() -> EditorHarness {
    let mut harness = EditorHarness::new();
    let joint = harness
        .editor
        .document()
        .skins()
        .values()
        .next()
        .unwrap()
        .joints[1];
    harness.editor.select_joint(Some(joint));
    harness.settle();
    harness
}

fn flood(harness: &mut EditorHarness, value: f32) {
    let joint = harness.editor.document().session().active_joint.unwrap();
    let operation = Operation::Flood {
        joint,
        value,
        how: Flood::Replace,
    };
    if harness.editor.adjusting().is_some() {
        harness.editor.set_operation(operation);
    } else {
        let kind = OperationKind::Flood;
        harness
            .editor
            .begin_operation_with(kind, operation, Scope::default());
    }
    harness.settle();
}

#[test]
fn settings_never_pile_up_and_are_one_step() {
    let mut harness = on_arm();
    let before = harness.editor.document().clone();
    flood(&mut harness, 0.25);
    assert_eq!(weight(harness.editor.document(), 0), 0.25);
    assert_eq!(harness.editor.history().n_steps(), 1);
    flood(&mut harness, 0.75);
    assert_eq!(weight(harness.editor.document(), 0), 0.75);
    let labels: Vec<_> = harness.editor.history().labels().collect();
    assert_eq!(labels, ["Flood weights"]);
    assert_eq!(harness.editor.adjusting().unwrap().reports().len(), 1);
    harness.editor.undo();
    harness.settle();
    assert!(harness.editor.document().same_content(&before));
    assert!(
        harness.editor.adjusting().is_none(),
        "undo ends the adjusting"
    );
    harness.editor.redo();
    harness.settle();
    assert_eq!(weight(harness.editor.document(), 0), 0.75);
}

#[test]
fn the_next_edit_keeps_the_operation_and_ends_the_adjusting() {
    let mut harness = on_arm();
    flood(&mut harness, 0.5);
    let joint = harness.editor.document().session().active_joint.unwrap();
    harness.editor.toggle_lock(joint);
    harness.settle();
    assert!(harness.editor.adjusting().is_none());
    assert_eq!(weight(harness.editor.document(), 0), 0.5);
    assert_eq!(harness.editor.history().n_steps(), 2);
}

#[test]
fn a_locked_bone_is_not_flooded_and_says_so() {
    let mut harness = on_arm();
    let joint = harness.editor.document().session().active_joint.unwrap();
    harness.editor.toggle_lock(joint);
    let before = harness.editor.document().clone();
    flood(&mut harness, 0.5);
    assert!(harness.editor.document().same_content(&before));
    let adjusting = harness.editor.adjusting().unwrap();
    let said =
        adjusting.failure().is_some() || adjusting.reports().iter().any(|(_, r)| r.changed == 0);
    assert!(said);
}

#[test]
fn only_the_points_selected_when_it_began_are_worked_on() {
    let mut harness = on_arm();
    let id = mesh(harness.editor.document());
    let influences = &harness.editor.document().meshes()[&id].influences;
    let n = influences.len() as u32;
    // Where there is another bone that can take the rest.
    let shared: Vec<u32> = (0..n).filter(|&p| influences.row(p).len() > 1).collect();
    let chosen = [shared[3], shared[17], shared[shared.len() - 1]];
    let some = chosen.into_iter().collect();
    harness.editor.select_left_out(id, &some);
    let joint = harness.editor.document().session().active_joint.unwrap();
    let before = harness.editor.document().clone();
    harness.editor.begin_operation(OperationKind::Flood);
    assert_eq!(
        harness.editor.adjusting().unwrap().scope().points,
        ScopePoints::Selected
    );
    harness.editor.set_operation(Operation::Flood {
        joint,
        value: 0.125,
        how: Flood::Replace,
    });
    harness.settle();
    let rows = |d: &Document| d.meshes()[&id].influences.clone();
    let (old, new) = (rows(&before), rows(harness.editor.document()));
    let changed: Vec<u32> = (0..n).filter(|&p| old.row(p) != new.row(p)).collect();
    assert_eq!(changed, chosen);
}

#[test]
fn copied_weights_come_back() {
    let mut harness = on_arm();
    let original = harness.editor.document().clone();
    let n = harness.editor.copy_weights();
    assert!(n > 0);
    flood(&mut harness, 1.0);
    assert!(!harness.editor.document().same_content(&original));
    for by in [PasteBy::Point, PasteBy::Surface] {
        harness.editor.begin_operation(OperationKind::Paste(by));
        harness.settle();
        let id = mesh(&original);
        let rows = &harness.editor.document().meshes()[&id].influences;
        let before = &original.meshes()[&id].influences;
        for p in 0..rows.len() as u32 {
            for (joint, weight) in before.row(p).iter() {
                assert!(
                    (rows.row(p).weight_of(joint) - weight).abs() < 1e-4,
                    "{by:?} {p}"
                );
            }
        }
    }
}

#[test]
fn pairs_that_the_artist_chose_are_used_and_forgotten() {
    let mut harness = EditorHarness::on(OpenRequest::Sample("mannequin".into()));
    let joints = harness
        .editor
        .document()
        .skins()
        .values()
        .next()
        .unwrap()
        .joints
        .clone();
    let (a, b) = (joints[1], joints[2]);
    harness.editor.set_joint_pair(a, Some(b));
    let pairs = &harness.editor.document().session().joint_pairs;
    assert_eq!(pairs.get(&a), Some(&b));
    harness.editor.set_joint_pair(b, Some(b));
    let pairs = &harness.editor.document().session().joint_pairs;
    assert_eq!((pairs.get(&a), pairs.get(&b)), (None, Some(&b)));
    harness.editor.set_joint_pair(b, None);
    assert!(harness.editor.document().session().joint_pairs.is_empty());
}

#[test]
fn another_model_ends_the_adjusting() {
    let mut harness = on_arm();
    flood(&mut harness, 0.5);
    harness.editor.open(OpenRequest::Sample("cylinder".into()));
    harness.settle();
    if harness.editor.waiting_model().is_some() {
        harness.editor.show_waiting_model();
        harness.settle();
    }
    assert!(harness.editor.adjusting().is_none());
}

#[test]
fn operations_that_shape_a_bone_begin_with_the_active_one() {
    let mut harness = on_arm();
    let joint = harness.editor.document().session().active_joint.unwrap();
    let before = harness.editor.document().clone();
    for kind in [OperationKind::Smooth, OperationKind::Levels] {
        harness.editor.begin_operation(kind);
        harness.settle();
        let adjusting = harness.editor.adjusting().unwrap();
        assert_eq!(adjusting.scope().bones, ScopeBones::Active);
        if kind == OperationKind::Smooth {
            let changed = adjusting.reports()[0].1.changed;
            assert!(changed > 10, "it changes {changed} vertices");
            let now = harness.editor.document();
            assert_eq!(now.session().active_joint, Some(joint));
            let n = now.meshes()[&mesh(now)].geometry.n_points() as u32;
            let differs = |p: &u32| weight(now, *p).to_bits() != weight(&before, *p).to_bits();
            assert_eq!((0..n).filter(differs).count(), changed, "that bone changes");
        }
        harness.editor.take_back_operation();
        harness.settle();
    }
    harness.editor.begin_operation(OperationKind::Normalise);
    harness.settle();
    let scope = harness.editor.adjusting().unwrap().scope();
    assert_eq!(scope.bones, ScopeBones::Unlocked);
}

#[test]
fn a_cancelled_operation_restores_every_bit() {
    let mut harness = EditorHarness::on(OpenRequest::Sample("mannequin".into()));
    harness.settle();
    let before = harness.editor.document().clone();
    let n_steps = harness.editor.history().n_undo();
    harness.editor.begin_operation(OperationKind::Smooth);
    harness.settle();
    let scope = harness.editor.adjusting().unwrap().scope();
    assert_eq!(scope.bones, ScopeBones::Unlocked);
    assert!(!harness.editor.document().same_content(&before));
    assert_eq!(harness.editor.history().n_undo(), n_steps + 1);
    harness.editor.take_back_operation();
    harness.settle();
    assert!(harness.editor.document().same_content(&before));
    assert_eq!(harness.editor.history().n_undo(), n_steps);
    assert!(harness.editor.adjusting().is_none());
}
