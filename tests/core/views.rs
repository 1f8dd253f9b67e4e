//! One model under several stacks at once: each view is what an evaluation of its own gives, and what nobody looks at
//! is freed.

use crate::documents::any_edit;
use crate::editing::EditorHarness;
use crate::models::tube;
use glam::Vec2;
use proptest::prelude::*;
use sinew::deform::{DeformStack, Moved, ScaleMode, StackChoice, StackPreset};
use sinew::document::{Document, Edit, InstanceId};
use sinew::evaluate::{Evaluator, ViewId, ViewRequest};
use sinew::skeleton::JointId;
use sinew::tools::SelectOp;
use std::sync::Arc;

fn request(view: u32, stack: StackChoice) -> ViewRequest {
    ViewRequest {
        view: ViewId(view),
        stack,
        plain: false,
    }
}

fn views() -> Vec<ViewRequest> {
    let custom = DeformStack {
        scale: ScaleMode::Drop,
        ..DeformStack::dqs()
    };
    let mut views = vec![
        ViewRequest::own(),
        request(3, StackChoice::Custom(Arc::new(custom))),
    ];
    let presets = StackPreset::ALL.into_iter().zip(10..);
    views.extend(presets.map(|(preset, id)| request(id, StackChoice::Preset(preset))));
    views
}

/// `document` with every mesh under the stack of a view.
fn under(document: &Document, choice: &StackChoice) -> Document {
    let mut document = document.clone();
    if let Some(stack) = choice.instead() {
        let meshes: Vec<_> = document.meshes().keys().copied().collect();
        for mesh in meshes {
            let stack = stack.clone();
            document.apply(&mut Edit::Stack { mesh, stack }).unwrap();
        }
    }
    document
}

fn same_bits(evaluator: &Evaluator, document: &Document, views: &[ViewRequest]) {
    for view in views {
        let alone = under(document, &view.stack);
        let mut separate = Evaluator::default();
        separate.evaluate(&alone, alone.pose());
        for id in document.instances().keys() {
            let a = evaluator.plan_in(view.view, *id).unwrap();
            let b = separate.plan(*id).unwrap();
            assert!(a.positions() == b.positions(), "{view:?}");
            assert!(a.normals() == b.normals(), "{view:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_view_equals_an_evaluation_of_its_own_bit_for_bit(edits in prop::collection::vec(any_edit(120 * 16), 1..6)) {
        let mut document = tube(120);
        let views = views();
        let mut together = Evaluator::default();
        for edit in edits {
            document.apply(&mut edit.clone()).unwrap();
            let pose = document.pose().clone();
            together.evaluate_views(&document, &pose, &views);
        }
        same_bits(&together, &document, &views);
    }
}

#[test]
fn a_view_costs_nothing_where_nothing_changed_and_is_freed_when_nobody_asks() {
    let document = tube(60);
    let pose = document.pose().clone();
    let skinned = InstanceId(3);
    let (own, lbs) = (ViewRequest::own(), StackChoice::Preset(StackPreset::Lbs));
    let both = [own.clone(), request(1, lbs.clone())];
    let mut evaluator = Evaluator::default();
    let moved = evaluator.evaluate_views(&document, &pose, &both);
    assert!(moved.iter().all(|(_, _, moved)| *moved == Moved::All));
    let order: Vec<_> = moved.iter().map(|(view, id, _)| (*view, *id)).collect();
    assert!(order.is_sorted(), "{order:?}");
    let moved = evaluator.evaluate_views(&document, &pose, &both);
    assert!(moved.iter().all(|(_, _, moved)| *moved == Moved::Nothing));

    // Another stack of the document is none of the other view's business.
    let other = under(
        &document,
        &StackChoice::Preset(StackPreset::CentresOfRotation),
    );
    let moved = evaluator.evaluate_views(&other, &pose, &both);
    for (view, id, moved) in moved.iter().filter(|m| m.1 == skinned) {
        let all = *view == ViewId::OWN;
        assert_eq!(*moved == Moved::All, all, "{view:?} {id:?}");
    }
    // A view that is given another stack is made anew.
    let dqs = [
        own.clone(),
        request(1, StackChoice::Preset(StackPreset::Dqs)),
    ];
    let moved = evaluator.evaluate_views(&document, &pose, &dqs);
    let all = moved.iter().filter(|m| m.2 == Moved::All && m.1 == skinned);
    assert_eq!(all.count(), 2);

    evaluator.evaluate_views(&document, &pose, &[own]);
    assert!(evaluator.plan_in(ViewId(1), skinned).is_none());
    assert!(evaluator.plan(skinned).is_some());
}

#[test]
fn the_editor_shows_each_choice_once_and_frees_what_nobody_looks_at() {
    let mut h = EditorHarness::new();
    bend(&mut h);
    let (lbs, dqs) = (
        StackChoice::Preset(StackPreset::Lbs),
        StackChoice::Preset(StackPreset::Dqs),
    );
    let snapshots = h.editor.n_snapshots();
    h.editor.show_views(&[StackChoice::Project]);
    h.settle();
    assert_eq!(h.editor.n_snapshots(), snapshots, "it is there already");
    h.editor
        .show_views(&[lbs.clone(), StackChoice::Project, lbs.clone(), dqs.clone()]);
    h.settle();
    assert_eq!(
        (h.editor.n_views(), h.editor.n_snapshots()),
        (3, snapshots + 1)
    );
    let [own, linear, dual] = [&StackChoice::Project, &lbs, &dqs].map(|c| {
        let view = h.editor.view_of(c).unwrap();
        assert!(h.editor.is_view_shown(view));
        view
    });
    assert_eq!(own, ViewId::OWN);
    same_picture(&h, &lbs);
    same_picture(&h, &dqs);
    assert!(positions(&h, linear) != positions(&h, dual));
    // Every buffer has a name of its own.
    let keys = [own, linear, dual].map(|v| h.editor.displayed_in(v).values().next().unwrap().key);
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2]);

    // Weights painted in one view change all of them.
    let forearm = JointId(h.joint("forearm"));
    h.editor.select_joint(Some(forearm));
    h.editor.point_in(linear);
    let elbow = h.place_of(forearm.0);
    h.drag(elbow, elbow + Vec2::new(0.03, 0.0), false);
    same_picture(&h, &lbs);
    same_picture(&h, &dqs);

    h.editor.show_views(std::slice::from_ref(&dqs));
    h.settle();
    assert_eq!(h.editor.n_views(), 2);
    assert!(h.editor.displayed_in(linear).is_empty());
    assert_eq!(h.editor.view_of(&dqs), Some(dual), "it stays as it was");
    assert_eq!(h.editor.pointed_view(), own, "the other is gone");

    h.editor
        .open(sinew::editor::OpenRequest::Sample("hand".into()));
    h.settle();
    same_picture(&h, &dqs);
    h.editor.show_views(&[]);
    h.settle();
    assert_eq!(h.editor.n_views(), 1);
}

#[test]
fn a_view_stays_until_the_one_in_its_place_has_come() {
    let mut h = EditorHarness::new();
    let (lbs, dqs) = (
        StackChoice::Preset(StackPreset::Lbs),
        StackChoice::Preset(StackPreset::Dqs),
    );
    h.editor.show_views(std::slice::from_ref(&lbs));
    h.settle();
    let linear = h.editor.view_of(&lbs).unwrap();
    h.editor.show_views(std::slice::from_ref(&dqs));
    let dual = h.editor.view_of(&dqs).unwrap();
    assert!(h.editor.is_view_shown(linear) && !h.editor.is_view_shown(dual));
    assert!(!h.editor.displayed_in(linear).is_empty());
    h.settle();
    assert!(!h.editor.is_view_shown(linear) && h.editor.is_view_shown(dual));
}

#[test]
fn what_is_picked_is_what_the_view_shows() {
    let mut h = EditorHarness::new();
    bend(&mut h);
    let lbs = StackChoice::Preset(StackPreset::Lbs);
    h.editor.show_views(std::slice::from_ref(&lbs));
    h.settle();
    let linear = h.editor.view_of(&lbs).unwrap();
    // Along a fine raster some ray meets one shape and misses the other, or meets it elsewhere.
    let mut differences = 0;
    for i in 0..400 {
        let ndc = Vec2::new((i % 20) as f32 / 10.0 - 1.0, (i / 20) as f32 / 10.0 - 1.0);
        let mut meet = |view| {
            h.editor.point_in(view);
            h.editor.surface_at(ndc, Vec2::new(800.0, 600.0))
        };
        let (own, other) = (meet(ViewId::OWN), meet(linear));
        differences += usize::from(own != other);
    }
    assert!(differences > 5, "{differences}");
    // Selecting reads the depth of the view, too.
    let mut visible = |view| {
        h.editor.point_in(view);
        h.editor
            .set_select_kind(sinew::document::session::SelectKind::Points);
        for kind in [
            (sinew::tools::PointerKind::Press, Vec2::splat(-1.0)),
            (sinew::tools::PointerKind::Drag, Vec2::splat(1.0)),
            (sinew::tools::PointerKind::Release, Vec2::splat(1.0)),
        ] {
            let seen = sinew::editor::PickableBones::XRay;
            let size = Vec2::new(800.0, 600.0);
            h.editor
                .select_pointer(kind.0, kind.1, size, SelectOp::Replace, seen);
        }
        h.editor.document().session().selected_points.clone()
    };
    assert_ne!(visible(ViewId::OWN), visible(linear));
}

fn bend(h: &mut EditorHarness) {
    let forearm = JointId(h.joint("forearm"));
    let mut pose = (**h.editor.document().pose()).clone();
    let local = &mut pose.locals[forearm.get()];
    local.rotation = glam::DQuat::from_rotation_z(1.4) * local.rotation;
    let edit = Edit::pose_change(h.editor.document().pose(), &pose).unwrap();
    h.editor.apply(edit, "Bend").unwrap();
    h.settle();
}

fn positions(h: &EditorHarness, view: ViewId) -> Vec<Arc<Vec<glam::Vec3>>> {
    let shown = h.editor.displayed_in(view).values();
    shown.map(|d| d.positions.clone()).collect()
}

/// Whether the view of `choice` shows what the document would under that stack.
fn same_picture(h: &EditorHarness, choice: &StackChoice) {
    let view = h.editor.view_of(choice).unwrap();
    let alone = under(h.editor.document(), choice);
    let mut separate = Evaluator::default();
    separate.evaluate(&alone, &alone.shown_pose());
    let shown = h.editor.displayed_in(view);
    assert_eq!(shown.len(), alone.instances().len());
    for (id, shown) in shown {
        let plan = separate.plan(*id).unwrap();
        assert!(shown.positions.as_slice() == plan.positions());
        assert!(shown.normals.as_slice() == plan.normals());
    }
}
