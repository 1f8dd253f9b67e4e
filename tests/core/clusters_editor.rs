//! Control clusters with the headless editor: strokes and commands are one undo step each, with a name in words.

use crate::brushes::{self, FINGER, event, ndc};
use crate::cluster_data::Water;
use crate::editing::EditorHarness;
use glam::{DQuat, Vec2, Vec3};
use sinew::cluster::{Base, ClusterMap, Glyph, GroupPreset, Interpolation, PatchSettings};
use sinew::deform::Correctives;
use sinew::document::session::{RadiusUnit, SelectKind};
use sinew::document::{CorrectivesEdit, Edit};
use sinew::editor::clusters::ClusterTarget;
use sinew::editor::{OpenRequest, OperationKind, ResetPart, SampleTask};
use sinew::io::open_sample;
use sinew::io::project::{apply_project, parse, to_project, to_text};
use sinew::math::{Axis, Worse};
use sinew::mesh::PointSet;
use sinew::psd::Displacements;
use sinew::skeleton::JointId;
use sinew::suggest::TrainingPoses;
use sinew::task::Task;
use sinew::tools::PointerKind;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The two fingers under a brush of half the width of one.
fn fingers() -> EditorHarness {
    let mut h = brushes::on_fingers();
    let brush = h.editor.brush_mut();
    brush.radius_unit = RadiusUnit::World;
    brush.radius_world = FINGER * 0.5;
    h
}

/// On the front of the left or of the right finger.
fn front(h: &EditorHarness, side: f32) -> Vec2 {
    ndc(h, Vec3::new(side * (FINGER + 0.0005), 0.05, FINGER))
}

fn map(h: &EditorHarness) -> ClusterMap {
    ClusterMap::clone(h.editor.clusters().expect("an object"))
}

fn marked(h: &EditorHarness) -> BTreeSet<u32> {
    map(h).clusters().iter().map(|c| c.0).collect()
}

pub(crate) fn undo_label(h: &EditorHarness) -> String {
    h.editor
        .history()
        .undo_label()
        .unwrap_or_default()
        .to_owned()
}

/// Drags with the brush; Ctrl and Shift as given.
fn stroke(h: &mut EditorHarness, from: Vec2, to: Vec2, ctrl: bool, shift: bool) {
    let at = |kind, place| sinew::tools::PointerEvent {
        invert: ctrl,
        smooth: shift,
        ..event(kind, place)
    };
    h.editor.begin_marking(&at(PointerKind::Press, from));
    for i in 1..=4 {
        let place = from.lerp(to, i as f32 / 4.0);
        h.editor.pointer(&at(PointerKind::Drag, place));
    }
    h.editor.pointer(&at(PointerKind::Release, to));
    h.settle();
}

pub(crate) fn select(h: &mut EditorHarness, points: &[u32]) {
    let mesh = h.editor.clustered_mesh().expect("an object");
    h.editor.set_select_kind(SelectKind::Points);
    h.editor
        .select_points_of([(mesh, points.iter().copied().collect::<PointSet>())]);
}

/// Undo and redo restore the document bit for bit.
pub(crate) fn undoes(h: &mut EditorHarness, change: impl FnOnce(&mut EditorHarness)) {
    let (before, n) = (h.editor.document().clone(), h.editor.history().n_undo());
    change(h);
    h.settle();
    assert_eq!(h.editor.history().n_undo(), n + 1, "{}", undo_label(h));
    let after = h.editor.document().clone();
    assert!(!after.same_content(&before));
    h.editor.undo();
    assert!(h.editor.document().same_content(&before));
    h.editor.redo();
    assert!(h.editor.document().same_content(&after));
    h.settle();
}

#[test]
fn a_stroke_marks_what_lies_under_it_as_one_step_with_a_name() {
    let mut h = fingers();
    assert!(map(&h).is_empty());
    let at = front(&h, 1.0);
    undoes(&mut h, |h| stroke(h, at, at, false, false));
    // The first stroke makes the group.
    let known = map(&h);
    assert_eq!(known.groups().len(), 1);
    assert_eq!(known.groups()[0].name, "Skin");
    let n = known.n_clusters();
    assert!(n > 3, "{n}");
    assert_eq!(undo_label(&h), format!("Mark {n} clusters · Skin"));
    // Only what is within the radius of the brush, along the surface.
    let mesh = h.editor.clustered_mesh().unwrap();
    let positions = &h.editor.document().meshes()[&mesh].geometry.positions;
    let centre = Vec3::new(FINGER + 0.0005, 0.05, FINGER);
    for point in marked(&h) {
        let far = positions[point as usize].distance(centre);
        assert!(far < FINGER * 0.55, "{far}");
    }
    // Marked again: nothing to do, no step.
    let steps = h.editor.history().n_undo();
    stroke(&mut h, at, at, false, false);
    assert_eq!(h.editor.history().n_undo(), steps);

    // Another group takes over what the brush reaches.
    assert!(h.editor.add_group(GroupPreset::PoseSpace));
    assert_eq!(h.editor.active_group(), Some(1));
    undoes(&mut h, |h| stroke(h, at, at, false, false));
    assert_eq!(undo_label(&h), format!("Mark {n} clusters · PSD"));
    assert_eq!(h.editor.cluster_counts(), [0, n]);
    // Ctrl makes them free.
    undoes(&mut h, |h| stroke(h, at, at, true, false));
    assert_eq!(undo_label(&h), format!("Unmark {n} clusters"));
    assert_eq!(map(&h).n_clusters(), 0);
    // Without clusters there is nothing to unmark or grow.
    let before = h.editor.document().clone();
    stroke(&mut h, at, at, true, false);
    assert!(
        h.last_notice().contains("has no clusters"),
        "{}",
        h.last_notice()
    );
    assert!(h.editor.document().same_content(&before));
}

#[test]
fn marking_shows_with_the_event_and_escape_takes_it_back() {
    let mut h = fingers();
    let before = h.editor.document().clone();
    let at = front(&h, 1.0);
    h.editor.begin_marking(&event(PointerKind::Press, at));
    // Before anything is computed: the picture of this frame has them.
    let n = map(&h).n_clusters();
    assert!(n > 0);
    h.editor.pointer(&event(PointerKind::Drag, front(&h, -1.0)));
    h.editor.cancel_tool();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    assert_eq!(h.editor.history().n_undo(), 0);
}

#[test]
fn shift_grows_and_both_keys_shrink_by_one_ring_however_often_the_pointer_passes() {
    let mut h = fingers();
    let at = front(&h, 1.0);
    stroke(&mut h, at, at, false, false);
    let first = marked(&h);
    let mesh = h.editor.clustered_mesh().unwrap();
    let geometry = h.editor.document().meshes()[&mesh].geometry.clone();
    h.editor.brush_mut().radius_world = FINGER * 4.0;
    let near = at + Vec2::new(0.0, 0.05);
    undoes(&mut h, |h| stroke(h, at, near, false, true));
    let grown = marked(&h);
    let topology = geometry.topology();
    let ring = |of: &BTreeSet<u32>| -> BTreeSet<u32> {
        let near = of
            .iter()
            .flat_map(|&p| topology.neighbours(p).iter().copied());
        near.chain(of.iter().copied()).collect()
    };
    assert_eq!(grown, ring(&first));
    let n = grown.len() - first.len();
    assert_eq!(undo_label(&h), format!("Mark {n} clusters · Skin"));
    undoes(&mut h, |h| stroke(h, at, near, true, true));
    assert_eq!(marked(&h), first);

    // The commands do the same to the whole group.
    undoes(&mut h, |h| h.editor.grow_group());
    assert_eq!(marked(&h), grown);
    assert_eq!(undo_label(&h), format!("Grow Skin · {n} clusters"));
    undoes(&mut h, |h| h.editor.shrink_group());
    assert_eq!(marked(&h), first);
    assert_eq!(undo_label(&h), format!("Shrink Skin · {n} clusters"));
}

#[test]
fn a_click_between_the_vertices_marks_the_nearest_one() {
    let mut h = fingers();
    h.editor.brush_mut().radius_world = 1e-5;
    let at = front(&h, 1.0) + Vec2::new(0.003, 0.004);
    stroke(&mut h, at, at, false, false);
    assert_eq!(map(&h).n_clusters(), 1);
    assert_eq!(undo_label(&h), "Mark 1 cluster · Skin");
}

#[test]
fn both_sides_are_marked_with_symmetry() {
    let mut h = fingers();
    h.editor.brush_mut().symmetry = Some(Axis::X);
    h.settle();
    let at = front(&h, 1.0);
    stroke(&mut h, at, at, false, false);
    let mesh = h.editor.clustered_mesh().unwrap();
    let positions = &h.editor.document().meshes()[&mesh].geometry.positions;
    let left = |p: &u32| positions[*p as usize].x > 0.0;
    let (left, right): (Vec<u32>, Vec<u32>) = marked(&h).into_iter().partition(left);
    assert!(left.len() > 3);
    assert_eq!(left.len(), right.len());
}

#[test]
fn the_selection_is_assigned_by_number_and_then_only_the_group_is_chosen() {
    let mut h = fingers();
    h.editor.assign_group(0);
    h.settle();
    assert!(h.last_notice().starts_with("There are no groups."));
    select(&mut h, &[3, 5, 9]);
    undoes(&mut h, |h| h.editor.mark_selected());
    assert_eq!(undo_label(&h), "Mark 3 clusters · Skin");
    assert!(h.editor.document().session().selected_points.is_empty());
    assert!(h.editor.add_group(GroupPreset::Procedural));
    assert_eq!(map(&h).groups()[1].glyph, Glyph::Triangle);
    // Undo brings the selection back, and the group that was active.
    select(&mut h, &[5, 9, 20]);
    h.editor.assign_group(1);
    assert_eq!(undo_label(&h), "Mark 3 clusters · Procedural");
    assert_eq!(h.editor.cluster_counts(), [1, 3]);
    h.editor.undo();
    let selected = &h.editor.document().session().selected_points;
    assert_eq!(selected.values().map(|set| set.count()).sum::<usize>(), 3);
    h.editor.redo();
    let steps = h.editor.history().n_undo();
    h.editor.assign_group(0);
    assert_eq!(
        (h.editor.active_group(), h.editor.history().n_undo()),
        (Some(0), steps)
    );
    h.editor.assign_group(6);
    h.settle();
    assert_eq!(
        h.last_notice(),
        "There is no group 7: the object has 2 groups."
    );

    h.editor.select_group(1);
    assert_eq!(h.editor.n_selected(), 3);
    undoes(&mut h, |h| h.editor.unmark_selected());
    assert_eq!(undo_label(&h), "Unmark 3 clusters");
    undoes(&mut h, |h| h.editor.unmark_all());
    assert_eq!(undo_label(&h), "Unmark 1 cluster");
}

#[test]
fn a_group_shown_alone_protects_the_others() {
    let mut h = fingers();
    select(&mut h, &[3, 5, 9]);
    h.editor.mark_selected();
    h.editor.add_group(GroupPreset::Custom);
    select(&mut h, &[20, 30]);
    h.editor.assign_group(1);
    h.editor.isolate_group(Some(0));
    assert_eq!(h.editor.isolated_group(), Some(0));
    h.editor.unmark_all();
    assert_eq!(h.editor.cluster_counts(), [0, 2]);
    select(&mut h, &[20, 21]);
    h.editor.mark_selected();
    assert_eq!(h.editor.cluster_counts(), [1, 2]);
    // To choose another group shows that one.
    h.editor.choose_group(1);
    assert_eq!(h.editor.isolated_group(), Some(1));
    h.editor.isolate_group(None);
    h.editor.unmark_all();
    assert_eq!(h.editor.cluster_counts(), [0, 0]);
}

#[test]
fn groups_are_changed_one_step_each() {
    let mut h = fingers();
    undoes(&mut h, |h| assert!(h.editor.add_group(GroupPreset::Skin)));
    assert_eq!(undo_label(&h), "Add group · Skin");
    undoes(&mut h, |h| assert!(h.editor.add_group(GroupPreset::Skin)));
    assert_eq!(map(&h).groups()[1].name, "Skin 2");
    select(&mut h, &[3, 5]);
    h.editor.mark_selected();
    undoes(&mut h, |h| h.editor.rename_group(1, "  Elbow "));
    assert_eq!(undo_label(&h), "Rename group · Elbow");
    let steps = h.editor.history().n_undo();
    h.editor.rename_group(1, "Skin");
    h.settle();
    assert!(
        h.last_notice().contains("have the name \"Skin\""),
        "{}",
        h.last_notice()
    );
    h.editor.rename_group(1, " ");
    assert_eq!(h.editor.history().n_undo(), steps);
    undoes(&mut h, |h| h.editor.set_group_base(1, Base::Lbs));
    assert_eq!(undo_label(&h), "Driven by · Linear blend");
    undoes(&mut h, |h| h.editor.set_group_glyph(1, Glyph::Star));
    undoes(&mut h, |h| h.editor.set_group_colour(1, [1, 2, 3]));
    let group = map(&h).groups()[1].clone();
    assert_eq!(
        (group.base, group.glyph, group.colour),
        (Base::Lbs, Glyph::Star, [1, 2, 3])
    );
    let settings = PatchSettings {
        interpolation: Interpolation::PointNormal,
        ..PatchSettings::default()
    };
    undoes(&mut h, |h| {
        assert!(h.editor.set_patch_settings("Patch surface", settings));
    });
    assert_eq!(h.editor.patch_settings(), settings);
    // The same again is no step.
    assert!(!h.editor.set_patch_settings("Patch surface", settings));
    h.editor.choose_group(1);
    undoes(&mut h, |h| h.editor.delete_group(0));
    assert_eq!(
        (h.editor.active_group(), h.editor.cluster_counts()),
        (Some(0), vec![2])
    );
    undoes(&mut h, |h| h.editor.delete_group(0));
    assert_eq!((h.editor.active_group(), map(&h).n_clusters()), (None, 0));
    h.editor.undo();
    assert_eq!(h.editor.active_group(), Some(0));
}

#[test]
fn loops_and_rings_start_from_an_edge() {
    let mut h = fingers();
    let mesh = h.editor.clustered_mesh().unwrap();
    let geometry = h.editor.document().meshes()[&mesh].geometry.clone();
    // Two neighbours on one ring of the finger.
    let height = |p: u32| geometry.positions[p as usize].y;
    let near = |a: u32| geometry.topology().neighbours(a).iter().copied();
    let (a, b) = (0..geometry.n_points() as u32)
        .find_map(|a| {
            let level = near(a).find(|&b| (height(a) - height(b)).abs() < 1e-6);
            level
                .filter(|_| (0.03..0.05).contains(&height(a)))
                .map(|b| (a, b))
        })
        .expect("an edge around the finger");
    select(&mut h, &[a]);
    h.editor.select_edge_loops();
    h.settle();
    assert!(
        h.last_notice()
            .starts_with("Select two neighbouring vertices")
    );
    select(&mut h, &[a, b]);
    h.editor.select_edge_loops();
    assert_eq!(h.editor.n_selected(), 24, "once around");
    undoes(&mut h, |h| h.editor.mark_selected());
    assert_eq!(undo_label(&h), "Mark 24 clusters · Skin");
    assert!(
        marked(&h)
            .iter()
            .all(|&p| (height(p) - height(a)).abs() < 1e-6)
    );
    select(&mut h, &[a, b]);
    h.editor.select_edge_rings();
    assert_eq!(h.editor.n_selected(), 2 * 41, "two columns");
}

#[test]
fn sparse_clusters_are_a_problem_of_the_pose_that_selects_the_ends() {
    let mut h = EditorHarness::new();
    h.editor.show_clip(None);
    let mesh = h.editor.clustered_mesh().expect("the arm");
    let n = h.editor.document().meshes()[&mesh].geometry.n_points() as u32;
    let every: Vec<u32> = (0..n).step_by(n as usize / 24).collect();
    select(&mut h, &every);
    h.editor.mark_selected();
    h.settle();
    assert!(h.editor.current_layout().is_some());
    let sparse = |h: &EditorHarness| {
        let mut found = h.editor.problems().iter();
        found
            .find(|f| f.message.starts_with("Clusters are too sparse"))
            .cloned()
    };
    assert_eq!(sparse(&h), None, "at rest nothing turns");
    let forearm = JointId(h.joint("forearm"));
    let mut local = h.editor.document().rest_pose().locals[forearm.get()];
    local.rotation *= DQuat::from_rotation_x(120f64.to_radians());
    h.editor.begin_pose_field(forearm, "Rotate");
    h.editor.set_pose_field(forearm, local);
    h.editor.confirm_transform();
    h.settle();
    let found = sparse(&h).expect("a problem");
    assert!(
        found.message.contains("by more than 90\u{b0}"),
        "{}",
        found.message
    );
    assert!(h.editor.go_to(&found));
    let selected = h.editor.document().session().selected_points[&mesh].clone();
    let anchors: BTreeSet<u32> = h.editor.anchors().into_iter().collect();
    let marked = marked(&h);
    assert!(selected.count() > 2);
    assert!(
        selected
            .iter()
            .all(|p| marked.contains(&p) || anchors.contains(&p))
    );
    // Anchors become clusters of the group.
    if !anchors.is_empty() {
        undoes(&mut h, |h| h.editor.promote_anchors());
        assert_eq!(h.editor.n_anchors(), 0);
        assert!(undo_label(&h).starts_with("Promote "));
    }
    h.editor.reset_pose(ResetPart::All);
    h.settle();
    assert_eq!(sparse(&h), None);
}

#[test]
fn sparse_edges_are_measured_by_what_moves_the_clusters_in_the_window_and_on_the_command_line() {
    let mut h = marked_arm();
    let mesh = h.editor.clustered_mesh().expect("the arm");
    bend_elbow(&mut h, 120.0);
    let worst = |h: &EditorHarness| {
        let edges = h.editor.net_edges().iter();
        edges.map(|edge| edge.degrees).fold(0.0, f64::worse)
    };
    let of_skin = worst(&h);
    assert!(of_skin < 90.0, "{of_skin}");
    // The hand is held where it is at rest: the forearm turns by 120 degrees beside it, and its own bone bends nothing there.
    let geometry = h.editor.document().meshes()[&mesh].geometry.clone();
    let bent = shown(&h);
    let moved = |p: u32| geometry.positions[p as usize].distance(bent[p as usize]);
    let most = (0..bent.len() as u32).map(moved).fold(0.0, f32::max);
    let held = marked(&h).into_iter().filter(|&p| moved(p) > 0.8 * most);
    let held: Vec<u32> = held.collect();
    assert!(held.len() > 10);
    h.editor.add_group(GroupPreset::Skin);
    let group = h.editor.active_group().expect("a group");
    select(&mut h, &held);
    h.editor.assign_group(group);
    h.editor.set_group_base(group, Base::Fixed);
    h.settle();
    assert_eq!(map(&h).groups()[usize::from(group)].base, Base::Fixed);
    assert!((worst(&h) - 120.0).abs() < 2.0, "{}", worst(&h));
    let is_found = |f: &sinew::finding::Finding| f.message.starts_with("Clusters are too sparse");
    assert!(h.editor.problems().iter().any(is_found));

    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("held.ron");
    h.editor.save_as(&project);
    h.settle();
    let report = crate::cli::done(&["clusters", crate::cli::text(&project), "--json"]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let report = &report["meshes"][0];
    let edges = h.editor.net_edges();
    let above = |degrees: f64| edges.iter().filter(|e| e.degrees > degrees).count();
    assert_eq!(report["edges"], edges.len());
    assert_eq!(report["sparse_edges"], above(60.0));
    assert_eq!(report["very_sparse_edges"], above(90.0));
    assert_eq!(report["worst_edge_degrees"], worst(&h));

    // While something moves, the angles stay; at rest nothing turns.
    h.editor.reset_pose(ResetPart::All);
    h.settle();
    assert!(worst(&h) < 1e-5, "{}", worst(&h));
}

/// Rotates the forearm of the arm about its own x axis.
pub(crate) fn bend_elbow(h: &mut EditorHarness, degrees: f64) -> JointId {
    h.editor.show_clip(None);
    let forearm = JointId(h.joint("forearm"));
    let mut local = h.editor.document().rest_pose().locals[forearm.get()];
    local.rotation *= DQuat::from_rotation_x(degrees.to_radians());
    h.editor.begin_pose_field(forearm, "Rotate");
    h.editor.set_pose_field(forearm, local);
    h.editor.confirm_transform();
    h.settle();
    forearm
}

/// The arm with every 3rd vertex marked.
pub(crate) fn marked_arm() -> EditorHarness {
    let mut h = EditorHarness::new();
    let mesh = h.editor.clustered_mesh().expect("the arm");
    let n = h.editor.document().meshes()[&mesh].geometry.n_points() as u32;
    let every: Vec<u32> = (0..n).step_by(3).collect();
    select(&mut h, &every);
    h.editor.mark_selected();
    h.settle();
    h
}

pub(crate) fn shown(h: &EditorHarness) -> Vec<Vec3> {
    let displayed = h.editor.displayed().values();
    displayed
        .flat_map(|d| d.positions.iter().copied())
        .collect()
}

#[test]
fn the_control_net_is_found_while_it_is_shown() {
    let mut h = marked_arm();
    assert_eq!(h.editor.control_net(), None);
    h.editor.show_control_net(true);
    h.settle();
    assert_eq!(h.editor.control_net(), None, "no view draws it");
    h.editor.set_control_net_visible(true);
    h.settle();
    let net = h.editor.control_net().expect("a net").clone();
    let layout = h.editor.current_layout().expect("patches").clone();
    let n_patches = layout.layout().triangles.len();
    assert_eq!(net.middles.len(), n_patches);
    assert_eq!(net.borders.len(), h.editor.net_edges().len());
    // At rest the ends are the clusters, and the control points are near the lines between them.
    let surface = layout.surface();
    for (ends, [a, b, c, d]) in &net.borders {
        for (&end, corner) in ends.iter().zip([a, d]) {
            let at = surface.positions[end as usize].as_vec3();
            assert!(at.distance(*corner) < 1e-6);
        }
        let length = a.distance(*d);
        assert!(b.distance(a.lerp(*d, 1.0 / 3.0)) < 0.5 * length);
        assert!(c.distance(a.lerp(*d, 2.0 / 3.0)) < 0.5 * length);
    }
    // It follows the pose and the kind of patch.
    bend_elbow(&mut h, 90.0);
    let bent = h.editor.control_net().expect("a net");
    assert_ne!(bent.borders, net.borders);
    let settings = PatchSettings {
        interpolation: Interpolation::Gregory,
        ..h.editor.patch_settings()
    };
    h.editor.set_patch_settings("Patch surface", settings);
    h.settle();
    assert!(h.editor.control_net().expect("a net").middles.is_empty());
    h.editor.show_control_net(false);
    h.settle();
    assert_eq!(h.editor.control_net(), None);
}

#[test]
fn weights_of_free_vertices_rest_unused_and_are_kept() {
    let mut h = marked_arm();
    let mesh = h.editor.clustered_mesh().expect("the arm");
    let rows = |h: &EditorHarness| h.editor.document().meshes()[&mesh].influences.clone();
    let before = rows(&h);
    assert!(h.editor.n_resting_weights() > 100);
    h.editor.begin_operation(OperationKind::Smooth);
    let said = h.settle_and_notice();
    assert!(said.contains("free vertices are ignored."), "{said}");
    let smoothed = rows(&h);
    assert!(smoothed != before);
    // They work again without clusters.
    select(&mut h, &(0..smoothed.len() as u32).collect::<Vec<u32>>());
    h.editor.unmark_selected();
    h.settle();
    assert_eq!(h.editor.n_resting_weights(), 0);
    assert!(rows(&h) == smoothed);
}

#[test]
fn a_muscle_is_added_on_the_selected_bone_towards_its_bend() {
    let mut h = EditorHarness::new();
    h.editor.add_group(GroupPreset::Procedural);
    assert!(!h.editor.add_muscle());
    assert!(
        h.settle_and_notice()
            .contains("Mark vertices over the muscle first")
    );
    let mut h = marked_arm();
    let forearm = bend_elbow(&mut h, 90.0);
    let skeleton = h.editor.document().skeleton().clone();
    let upper = skeleton.joint(forearm).parent.unwrap();
    h.editor.select_joint(Some(upper));
    assert_eq!(h.editor.selected_muscle_bone(), Some([upper, forearm]));
    undoes(&mut h, |h| assert!(h.editor.add_muscle()));
    assert_eq!(undo_label(&h), "Add muscle · Muscle");
    let muscle = h.editor.active_muscle().unwrap().1.clone();
    assert_eq!([muscle.upper, muscle.lower], [upper, forearm]);
    let site = h.editor.muscle_site().unwrap().clone();
    let percent = muscle.settings.amplitude / site.radius;
    assert!((percent - 0.15).abs() < 1e-12, "{percent}");
    assert!(site.radius > 0.1 * site.length() && site.radius < site.length());
    let bend = h.editor.muscle_bend().unwrap().to_degrees();
    assert!((bend - 90.0).abs() < 1e-6, "{bend}");
    // The hand turned to the side on which the muscle lies.
    let side = muscle.settings.side;
    assert!(side.dot(site.along()).abs() < 1e-9);
    let hand = skeleton.children(forearm)[0];
    let rest = h.editor.document().rest_pose().world_matrices(&skeleton);
    let moved = h.editor.world()[hand.get()].translation - rest[hand.get()].translation;
    let to_world = site.posed(h.editor.world()).unwrap().matrix3;
    let turned = (to_world * side).dot(moved) / (to_world * side).length();
    assert!(turned > 0.5 * moved.length(), "{turned} of {moved}");
    // It moves the clusters, unless it is muted.
    h.settle();
    let bulged = shown(&h);
    undoes(&mut h, |h| h.editor.mute_muscle(0, true));
    assert_eq!(undo_label(&h), "Mute muscle · Muscle");
    let flat = shown(&h);
    let most = bulged.iter().zip(&flat).map(|(a, b)| a.distance(*b));
    let most = f64::from(most.fold(0.0, f32::worse));
    let full = muscle.settings.amplitude;
    assert!(most > 0.3 * full && most < 1.3 * full, "{most} of {full}");
}

/// The marked arm with its elbow bent, and a muscle on the upper arm that was added in this pose.
fn arm_with_muscle(degrees: f64) -> EditorHarness {
    let mut h = marked_arm();
    let forearm = bend_elbow(&mut h, degrees);
    let upper = h.editor.document().skeleton().joint(forearm).parent;
    h.editor.select_joint(upper);
    assert!(h.editor.add_muscle());
    h.settle();
    h
}

#[test]
fn a_muscle_bulges_in_flexion_alone_and_can_be_flipped() {
    let mut h = arm_with_muscle(60.0);
    let settings = |h: &EditorHarness| h.editor.active_muscle().unwrap().1.settings.clone();
    // The side to which the pose bends it.
    assert_eq!(settings(&h).flexion, Some(settings(&h).side));
    let bulge = |h: &mut EditorHarness, degrees: f64| -> (f64, f64) {
        bend_elbow(h, degrees);
        let bulged = shown(h);
        h.editor.mute_muscle(0, true);
        h.settle();
        let flat = shown(h);
        h.editor.mute_muscle(0, false);
        h.settle();
        let apart = bulged.iter().zip(&flat).map(|(a, b)| a.distance(*b));
        let most = f64::from(apart.fold(0.0, f32::worse));
        (h.editor.muscle_bend().unwrap().to_degrees(), most)
    };
    let (flexed, full) = bulge(&mut h, 60.0);
    assert!(
        (flexed - 60.0).abs() < 1e-6 && full > 0.0,
        "{flexed} {full}"
    );
    let (extended, none) = bulge(&mut h, -60.0);
    assert!((extended + 60.0).abs() < 1e-6, "{extended}");
    assert_eq!(none, 0.0);
    undoes(&mut h, |h| h.editor.flip_muscle_flexion(0));
    assert_eq!(undo_label(&h), "Flexion of muscle");
    let (flipped, other) = bulge(&mut h, -60.0);
    assert!(
        (flipped - 60.0).abs() < 1e-6 && other > 0.5 * full,
        "{flipped} {other}"
    );
    assert_eq!(bulge(&mut h, 60.0).1, 0.0);
    // Any bend counts.
    undoes(&mut h, |h| h.editor.set_muscle_flexes(0, false));
    assert_eq!(settings(&h).flexion, None);
    assert_eq!(h.editor.muscle_flexion(), None);
    assert!(bulge(&mut h, 60.0).1 > 0.0 && bulge(&mut h, -60.0).1 > 0.0);
    // On one side again: that to which the pose bends it now.
    let toward = settings(&h).side;
    undoes(&mut h, |h| h.editor.set_muscle_flexes(0, true));
    let flexion = settings(&h).flexion.unwrap();
    assert!(flexion.dot(toward) < -0.9, "{flexion} {toward}");
    // A project keeps it.
    let document = h.editor.document().clone();
    let text = to_text(&to_project(&document, Some(Path::new("/p/arm.ron"))).unwrap()).unwrap();
    let plain = open_sample("arm", &Task::new()).unwrap().document;
    let (again, findings) = apply_project(plain, parse(&text).unwrap()).unwrap();
    assert_eq!(findings, []);
    let mesh = h.editor.clustered_mesh().unwrap();
    assert_eq!(
        again.meshes()[&mesh].clusters,
        document.meshes()[&mesh].clusters
    );
}

#[test]
fn a_muscle_takes_its_flexion_from_clips_and_from_the_rest_pose() {
    // At rest, with clips that bend the elbow.
    let mut h = arm_with_muscle(0.0);
    let clip = *h.editor.document().clips().keys().next().expect("a clip");
    h.editor.show_clip(Some(clip));
    let item = h.editor.document().clips()[&clip].clone();
    let (start, end) = (f64::from(item.start_secs()), f64::from(item.end_secs()));
    let mut most = 0.0f64;
    for i in 0..24 {
        h.editor
            .set_time(start + (end - start) * f64::from(i) / 23.0);
        h.settle();
        let bend = h.editor.muscle_bend().unwrap();
        if bend.abs() > most.abs() {
            most = bend;
        }
    }
    assert!(
        most > 0.3,
        "the largest bend of the clip is a flexion: {most}"
    );
}

impl EditorHarness {
    pub(crate) fn settle_and_notice(&mut self) -> String {
        self.settle();
        self.last_notice().to_owned()
    }
}

#[test]
fn a_muscle_is_named_shaped_and_deleted_in_one_step_each() {
    let mut h = marked_arm();
    assert!(
        h.editor.add_muscle(),
        "on the bone that moves its clusters most"
    );
    assert!(h.editor.add_muscle());
    let names: Vec<&str> = h.editor.muscles().iter().map(|m| m.name.as_str()).collect();
    assert_eq!(names, ["Muscle", "Muscle (2)"]);
    assert_eq!(h.editor.active_muscle().unwrap().0, 1);
    undoes(&mut h, |h| h.editor.rename_muscle(0, " Biceps "));
    assert_eq!(undo_label(&h), "Rename muscle · Biceps");
    undoes(&mut h, |h| h.editor.delete_muscle(1));
    assert_eq!(undo_label(&h), "Delete muscle · Muscle (2)");
    // A drag is one step; Esc takes it back.
    undoes(&mut h, |h| {
        h.editor.begin_step("Place of muscle");
        for centre in [0.3, 0.4, 0.7] {
            assert!(
                h.editor
                    .set_muscle(0, "Place of muscle", |s| s.centre = centre)
            );
        }
        h.editor.end_step();
    });
    assert_eq!(undo_label(&h), "Place of muscle");
    let before = h.editor.document().clone();
    h.editor.begin_step("Reach of muscle");
    h.editor.set_muscle(0, "Reach of muscle", |s| {
        s.profile = sinew::cluster::procedural::Profile::Cosine { half_width: 0.9 };
    });
    h.editor.cancel_step();
    assert!(h.editor.document().same_content(&before));
    // Another bone: the same part of its limb.
    let percent = |h: &mut EditorHarness| {
        let radius = h.editor.muscle_site().unwrap().radius;
        h.editor.muscles()[0].settings.amplitude / radius
    };
    let was = percent(&mut h);
    let own = [h.editor.muscles()[0].upper, h.editor.muscles()[0].lower];
    let other = h
        .editor
        .muscle_bones()
        .into_iter()
        .find(|bone| *bone != own);
    undoes(&mut h, |h| {
        h.editor.set_muscle_bone(0, other.expect("another bone"));
    });
    let now = percent(&mut h);
    assert!((now - was).abs() < 1e-9, "{was} {now}");
    // Out of its range: nothing changes, and it says why.
    let before = h.editor.document().clone();
    assert!(
        !h.editor
            .set_muscle(0, "Falloff of muscle", |s| s.power = f64::NAN)
    );
    assert!(h.editor.document().same_content(&before));
    let said = h.settle_and_notice();
    assert!(said.contains("power of the muscle is NaN"), "{said}");
}

#[test]
fn suggested_clusters_are_held_until_a_point_of_the_curve_is_accepted() {
    let mut h = EditorHarness::new();
    let target = ClusterTarget {
        error: 0.003,
        poses: TrainingPoses::RangeOfMotion,
    };
    h.editor.set_cluster_target(target);
    let before = h.editor.document().clone();
    h.editor.suggest_clusters();
    assert!(h.editor.suggesting_clusters().is_some());
    h.editor.cancel_suggesting_clusters();
    h.settle();
    assert!(h.editor.suggested_clusters().is_none());
    h.editor.suggest_clusters();
    h.settle();
    assert!(h.editor.document().same_content(&before), "only a proposal");
    let (suggested, chosen) = h.editor.suggested_clusters().expect("clusters");
    let rounds = suggested.rounds.clone();
    assert_eq!(chosen, rounds.len() - 1);
    assert!(
        rounds.len() > 1 && rounds[chosen].max <= 0.003,
        "{rounds:?}"
    );
    assert_eq!(suggested.of_round(chosen), suggested.map);
    // Fewer than were asked for.
    h.editor.choose_suggested_round(0);
    undoes(&mut h, |h| {
        assert!(h.editor.accept_suggested_clusters());
    });
    let n = rounds[0].n_clusters;
    assert_eq!(map(&h).n_clusters(), n);
    assert!(n < rounds[chosen].n_clusters);
    let places = h.editor.cluster_counts().iter().sum::<usize>();
    assert_eq!(
        undo_label(&h),
        format!("Accept {places} suggested clusters")
    );
    assert!(h.editor.suggested_clusters().is_none());
    // What was suggested for another state of the model is refused.
    h.editor.suggest_clusters();
    h.settle();
    h.editor.unmark_all();
    let steps = h.editor.history().n_undo();
    assert!(!h.editor.accept_suggested_clusters());
    assert_eq!(h.editor.history().n_undo(), steps);
    assert!(h.settle_and_notice().starts_with("The model changed"));
}

#[test]
fn samples_are_reduced_to_clusters_and_say_what_is_lost() {
    let mut h = EditorHarness::new();
    let forearm = bend_elbow(&mut h, 80.0);
    h.editor.select_joint(Some(forearm));
    assert!(h.editor.add_sample());
    // A smooth bump around the elbow.
    let mesh = h.editor.clustered_mesh().unwrap();
    let geometry = h.editor.document().meshes()[&mesh].geometry.clone();
    let skin = h.editor.document().skin_of_mesh(mesh).unwrap().1.clone();
    let slot = skin.joints.iter().position(|j| *j == forearm).unwrap();
    let elbow = skin.inverse_bind[slot].inverse().translation.as_vec3();
    let far = geometry.positions.iter().map(|p| p.distance(elbow));
    let reach = 0.3 * far.fold(0.0, f32::max);
    let moved = (0u32..).zip(&geometry.positions).filter_map(|(point, p)| {
        let x = p.distance(elbow) / reach;
        let out = (*p - elbow).normalize_or_zero() * 0.1 * reach;
        (x < 1.0).then(|| (point, out * (1.0 - x * x).powi(2)))
    });
    let moved: Vec<(u32, Vec3)> = moved.collect();
    let mut sets = h.editor.correctives().unwrap().sets().to_vec();
    let set = Arc::make_mut(&mut sets[0]);
    Arc::make_mut(&mut set.samples[0]).displacements = Displacements::new(moved.clone());
    let changed = Arc::new(Correctives::new(sets).unwrap());
    let edit = CorrectivesEdit::new(h.editor.document(), mesh, changed);
    h.editor.apply(Edit::Correctives(edit), "Sculpt").unwrap();
    h.settle();
    // Nothing to keep: it says so, and nothing changes.
    let before = h.editor.document().clone();
    h.editor.change_samples(SampleTask::Reduce);
    assert!(
        h.settle_and_notice()
            .starts_with("The object has no clusters.")
    );
    assert!(h.editor.document().same_content(&before));
    let every: Vec<u32> = (0..geometry.n_points() as u32).step_by(4).collect();
    select(&mut h, &every);
    h.editor.mark_selected();
    h.settle();
    undoes(&mut h, |h| h.editor.change_samples(SampleTask::Reduce));
    assert_eq!(undo_label(&h), "Reduce samples to clusters");
    let said = h.editor.reduced_samples().expect("what is kept").to_owned();
    let kept = h.editor.samples_of(0)[0].displacements.clone();
    let clusters = marked(&h);
    assert!(kept.iter().all(|(p, d)| {
        clusters.contains(&p)
            && moved
                .binary_search_by_key(&p, |m| m.0)
                .is_ok_and(|i| moved[i].1 == d)
    }));
    let n = moved
        .iter()
        .filter(|m| clusters.contains(&m.0) && m.1 != Vec3::ZERO)
        .count();
    assert_eq!(kept.n_points(), n);
    let lost = said
        .split("; ")
        .nth(1)
        .and_then(|part| part.split(' ').next());
    let lost: f64 = lost.unwrap().parse().unwrap();
    println!("{said}");
    assert!(lost > 0.0 && lost < 40.0, "{said}");
    assert!(said.contains(&format!("{n} of ")), "{said}");
}

/// Symmetry takes the mirror image from a skin; without one the window says that one side was marked.
#[test]
fn symmetry_without_a_skin_is_said_to_mark_one_side() {
    let water = Water::new();
    let mut h = EditorHarness::on(OpenRequest::Path(water.join("water.glb")));
    h.editor.brush_mut().symmetry = Some(Axis::X);
    h.settle();
    let at = ndc(&h, Vec3::new(0.5, 0.0, 0.5));
    stroke(&mut h, at, at, false, false);
    assert!(!marked(&h).is_empty());
    let said = h.settle_and_notice();
    assert!(said.contains("one side was marked"), "{said}");
}
