//! Clusters that are moved by hand in the headless editor: the gizmo, soft selection, keyframes.

use crate::cluster_data::Water;
use crate::clustered::{SIZE, move_by};
use crate::clusters_editor::{select, shown, undo_label};
use crate::editing::EditorHarness;
use glam::{DVec3, Vec3};
use sinew::cluster::{Base, ControlMotion, GroupPreset};
use sinew::document::Edit;
use sinew::document::session::{PoseSpace, RadiusUnit, TransformKind};
use sinew::editor::OpenRequest;
use sinew::math::{Axis, Transform};
use sinew::mesh::PointSet;
use sinew::skeleton::{Moment, Pose};
use sinew::tools::SelectOp;
use std::collections::BTreeMap;

/// The sample arm with every 40th vertex a cluster that is moved by hand, one of them selected; the rest pose.
fn editor() -> (EditorHarness, u32) {
    let mut h = EditorHarness::new();
    h.editor.show_clip(None);
    let mesh = h.editor.document().meshes().keys().next().copied().unwrap();
    let n = h.editor.document().meshes()[&mesh].geometry.n_points() as u32;
    let points: PointSet = (0..n).step_by(40).collect();
    h.editor.select_points_of([(mesh, points.clone())]);
    assert!(h.editor.add_group(GroupPreset::Custom));
    h.editor.mark_selected();
    h.editor.set_group_base(0, Base::Hand);
    let known: Vec<u32> = h
        .editor
        .clusters()
        .unwrap()
        .clusters()
        .iter()
        .map(|c| c.0)
        .collect();
    let moved = known[known.len() / 2];
    h.editor
        .select_points_of([(mesh, [moved].into_iter().collect::<PointSet>())]);
    h.editor.set_pose_space(PoseSpace::World);
    h.settle();
    (h, moved)
}

fn hand(h: &EditorHarness) -> ControlMotion {
    h.editor.clusters().unwrap().groups()[0].hand.clone()
}

#[test]
fn the_gizmo_moves_a_cluster_by_what_was_typed_as_one_step() {
    let (mut h, moved) = editor();
    let (before, n) = (h.editor.document().clone(), h.editor.history().n_undo());
    let positions = shown(&h);
    move_by(&mut h, Axis::Y, "0.02");
    let by = shown(&h)[moved as usize] - positions[moved as usize];
    assert!(by.distance(Vec3::Y * 0.02) < 1e-6, "{by}");
    assert_eq!(h.editor.history().n_undo(), n + 1);
    assert_eq!(undo_label(&h), "Move 1 cluster");
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    assert_eq!(shown(&h), positions);
    h.editor.redo();
    h.settle();
    // Cancelled: nothing happened.
    let (after, n) = (h.editor.document().clone(), h.editor.history().n_undo());
    let at = SIZE / 2.0;
    h.editor
        .begin_cluster_transform(TransformKind::Rotate, None, at, SIZE);
    h.editor.type_transform('9');
    h.settle();
    h.editor.cancel_transform();
    assert!(h.editor.document().same_content(&after));
    assert_eq!(h.editor.history().n_undo(), n);
    // Back to the stack.
    h.editor.reset_clusters();
    h.settle();
    assert_eq!(undo_label(&h), "Reset 1 cluster");
    assert!(hand(&h).is_empty());
    assert_eq!(shown(&h), positions);
}

#[test]
fn keyframes_are_inserted_moved_jumped_to_and_deleted_in_the_clip() {
    let (mut h, moved) = editor();
    let clip = *h.editor.document().clips().keys().next().unwrap();
    move_by(&mut h, Axis::Y, "0.02");
    h.editor.show_clip(Some(clip));
    h.editor.set_time(0.5);
    h.settle();
    // In a clip without keyframes, a displacement holds everywhere; the first keyframe has it.
    let n = h.editor.history().n_undo();
    h.editor.key_clusters();
    assert_eq!(h.editor.history().n_undo(), n + 1);
    let name = h.editor.cluster_groups()[0].name.clone();
    assert_eq!(
        undo_label(&h),
        format!("Insert keyframe for {name} at 0.50 s")
    );
    assert_eq!(hand(&h).keys(clip)[0].offsets, *hand(&h).still());
    h.editor.set_time(1.5);
    h.settle();
    move_by(&mut h, Axis::X, "0.04");
    assert_eq!(undo_label(&h), "Move 1 cluster · keyframe at 1.50 s");
    let times = |h: &EditorHarness| h.editor.group_keys()[0].times.clone();
    assert_eq!(times(&h), [0.5, 1.5]);
    let by = hand(&h).keys(clip)[1].offsets[0].1 - hand(&h).keys(clip)[0].offsets[0].1;
    assert!((by.length() - 0.04).abs() < 1e-6, "{by}");
    assert_eq!(hand(&h).keys(clip)[1].offsets[0].0, moved);
    // Halfway between the keyframes.
    h.editor.set_time(1.0);
    h.settle();
    let halfway = hand(&h).offsets_at(Moment::of(clip, 1.0))[0].1;
    let mean = (hand(&h).keys(clip)[0].offsets[0].1 + hand(&h).keys(clip)[1].offsets[0].1) * 0.5;
    assert!(halfway.distance(mean) < 1e-7);
    // Between are keyframes of bones.
    for _ in 0..20 {
        if h.editor.playback().time_secs > 0.5 {
            h.editor.previous_key();
        }
    }
    assert_eq!(h.editor.playback().time_secs, 0.5);

    let mesh = h.editor.clustered_mesh().unwrap();
    let before = h.editor.document().clone();
    h.editor.begin_group_key_drag(mesh, 0, 1.5);
    assert!(h.editor.is_dragging_keys());
    h.editor.drag_keys_by(0.25);
    h.editor.drag_keys_by(0.5);
    h.editor.end_key_drag();
    assert_eq!(times(&h), [0.5, 2.0]);
    assert_eq!(undo_label(&h), format!("Move keyframe of {name} at 1.50 s"));
    h.editor.undo();
    assert!(h.editor.document().same_content(&before));
    h.editor.set_time(1.5);
    h.editor.delete_cluster_key();
    assert_eq!(times(&h), [0.5]);
    assert_eq!(
        undo_label(&h),
        format!("Delete keyframe of {name} at 1.50 s")
    );
    h.settle();

    // A copy of the clip has the keyframes too; they go with a deleted clip and come back with it.
    h.editor.duplicate_clip();
    let copy = h.editor.playback().clip.unwrap();
    assert_eq!(hand(&h).keys(copy), hand(&h).keys(clip));
    let before = h.editor.document().clone();
    h.editor.delete_clip();
    assert!(hand(&h).keys(copy).is_empty());
    h.editor.undo();
    assert!(h.editor.document().same_content(&before));
    h.settle();
}

#[test]
fn a_new_clip_of_clusters_alone_plays_as_long_as_their_keyframes() {
    let (mut h, _) = editor();
    h.editor.new_clip();
    h.editor.set_time(0.0);
    h.editor.key_clusters();
    h.editor.set_time(2.0);
    h.settle();
    move_by(&mut h, Axis::Z, "0.03");
    assert_eq!(h.editor.clip_range(), Some((0.0, 2.0)));
    h.editor.toggle_play();
    assert!(h.editor.is_playing());
}

#[test]
fn what_cannot_be_moved_is_said() {
    let (mut h, _) = editor();
    let at = SIZE / 2.0;
    h.editor.select_points_of([]);
    assert!(
        !h.editor
            .begin_cluster_transform(TransformKind::Move, None, at, SIZE)
    );
    h.settle();
    assert!(
        h.last_notice()
            .starts_with("Select clusters of a group that is moved by hand first")
    );
    h.editor.set_group_base(0, Base::Stack);
    assert!(
        !h.editor
            .begin_cluster_transform(TransformKind::Move, None, at, SIZE)
    );
    h.settle();
    assert!(h.last_notice().starts_with("No group is moved by hand."));
    h.editor.key_clusters();
    h.settle();
    assert!(
        h.last_notice()
            .starts_with("The active group is not moved by hand.")
    );
}

/// On an object whose node mirrors it, too, the gizmo moves clusters and control points to where it is dragged.
#[test]
fn the_gizmo_moves_clusters_of_a_mirrored_object_with_the_pointer() {
    let water = Water::new();
    for base in [Base::Hand, Base::Lattice] {
        let mut h = EditorHarness::on(OpenRequest::Path(water.join("water.glb")));
        h.editor.show_clip(None);
        let mut pose = Pose::clone(h.editor.document().pose());
        let local = pose.locals[0];
        let scale = DVec3::new(-1.0, 1.0, 3.0);
        pose.locals[0] = Transform::from_trs(local.translation, local.rotation, scale);
        let edit = Edit::pose_change(h.editor.document().pose(), &pose).unwrap();
        h.editor.apply(edit, "Mirror").unwrap();
        let points: Vec<u32> = (0..81).collect();
        select(&mut h, &points);
        h.editor.mark_selected();
        h.editor.set_group_base(0, base);
        h.editor.set_pose_space(PoseSpace::World);
        if base == Base::Hand {
            select(&mut h, &points);
        } else {
            h.editor.set_moves_clusters(true);
            h.settle();
            let around = h.editor.control_points().unwrap();
            let places = || around.places.iter().map(|p| p.abs().z);
            // The box is around the surface as it is on screen.
            assert!(places().all(|z| z > 5.9), "{:?}", around.places);
            let all = 0..around.places.len() as u32;
            h.editor.select_controls(all, SelectOp::Replace);
        }
        h.settle();
        let before = shown(&h);
        move_by(&mut h, Axis::X, "0.3");
        let after = shown(&h);
        for (p, (a, b)) in after.iter().zip(&before).enumerate() {
            let by = *a - *b;
            assert!(by.distance(Vec3::X * 0.3) < 1e-4, "{base:?} {p}: {by}");
        }
    }
}

/// The clusters beside the moved one follow with the falloff of the brush, others stay; undone as one step.
#[test]
fn soft_selection_takes_clusters_near_along() {
    let (mut h, moved) = editor();
    let places: BTreeMap<u32, Vec3> = {
        let shown = shown(&h);
        let known = h.editor.clusters().unwrap().clusters().to_vec();
        known
            .into_iter()
            .map(|(p, _)| (p, shown[p as usize]))
            .collect()
    };
    let apart = |p: u32| places[&p].distance(places[&moved]);
    let radius = 0.1;
    let brush = h.editor.brush_mut();
    (brush.radius_unit, brush.radius_world) = (RadiusUnit::World, radius);
    let (before, n) = (h.editor.document().clone(), h.editor.history().n_undo());
    h.editor.set_soft_selection(true);
    let at = SIZE / 2.0;
    assert!(
        h.editor
            .begin_cluster_transform(TransformKind::Move, None, at, SIZE)
    );
    assert_eq!(h.editor.soft_reach().unwrap().1, radius);
    h.editor.press_axis(Axis::Y, false);
    h.editor.type_transform('1');
    let still = hand(&h).still().to_vec();
    let soft: BTreeMap<u32, f32> = still.into_iter().map(|(p, d)| (p, d.length())).collect();
    assert!((soft[&moved] - 1.0).abs() < 1e-5, "{}", soft[&moved]);
    let near: Vec<u32> = places
        .keys()
        .copied()
        .filter(|&p| apart(p) < 0.99 * radius)
        .collect();
    assert!(near.len() > 4, "{}", near.len());
    for (&p, length) in &soft {
        assert!(apart(p) < radius, "{p}");
        let effect = h
            .editor
            .document()
            .session()
            .brush
            .fades_to(apart(p) / radius);
        let expected = if p == moved { 1.0 } else { effect };
        assert!((length - expected).abs() < 1e-4, "{p}: {length} {expected}");
    }
    assert!(near.iter().filter(|p| soft.contains_key(p)).count() + 1 >= near.len());
    // Off again during the move: only the selected one is moved.
    h.editor.set_soft_selection(false);
    assert_eq!(hand(&h).still().len(), 1);
    h.editor.set_soft_selection(true);
    assert_eq!(hand(&h).still().len(), soft.len());
    h.editor.confirm_transform();
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n + 1);
    h.editor.undo();
    assert!(h.editor.document().same_content(&before));
}
