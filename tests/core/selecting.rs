//! Selecting and hiding through the headless editor, and the set operations behind them.

use crate::editing::EditorHarness;
use glam::{Vec2, Vec3};
use proptest::prelude::*;
use sinew::document::session::SelectKind;
use sinew::document::{MeshId, MeshSource, PrimitiveSource};
use sinew::editor::{OpenRequest, PickableBones};
use sinew::io::project::{apply_project, parse, to_project, to_text};
use sinew::math::{Camera, View};
use sinew::mesh::{Mesh, PointSet, SurfaceIndex, islands};
use sinew::skeleton::JointId;
use sinew::skeleton::bone_picking::pick_drawn;
use sinew::tools::{
    DepthBuffer, PointerKind, Region, ScreenView, SelectOp, SelectShape, SurfaceView, region,
};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

const SIZE: Vec2 = Vec2::new(1000.0, 800.0);

impl EditorHarness {
    fn select(&mut self, kind: PointerKind, ndc: Vec2, op: SelectOp) {
        let seen = PickableBones::XRay;
        self.editor.select_pointer(kind, ndc, SIZE, op, seen);
        self.check();
    }

    fn click(&mut self, ndc: Vec2, op: SelectOp) {
        self.select(PointerKind::Press, ndc, op);
        self.select(PointerKind::Release, ndc, op);
    }

    fn select_drag(&mut self, from: Vec2, to: Vec2, op: SelectOp) {
        self.select(PointerKind::Press, from, op);
        self.select(PointerKind::Drag, from.lerp(to, 0.5), op);
        self.select(PointerKind::Drag, to, op);
        self.select(PointerKind::Release, to, op);
    }

    fn everything(&mut self, op: SelectOp) {
        self.select_drag(Vec2::splat(-1.0), Vec2::splat(1.0), op);
    }

    fn selected_joints(&self) -> BTreeSet<JointId> {
        self.editor.document().session().selected_joints.clone()
    }

    fn selected_points(&self, mesh: MeshId) -> PointSet {
        let points = &self.editor.document().session().selected_points;
        points
            .get(&mesh)
            .map_or_else(PointSet::default, |s| (**s).clone())
    }

    fn only_mesh(&self) -> (MeshId, Arc<Mesh>) {
        let meshes = self.editor.document().meshes();
        let (id, item) = meshes.iter().next().unwrap();
        (*id, item.geometry.clone())
    }

    fn bones_of_skin(&self) -> BTreeSet<JointId> {
        let mask = self.editor.document().skin_joint_mask();
        (0..mask.len() as u32)
            .map(JointId)
            .filter(|j| mask[j.get()])
            .collect()
    }

    /// Where a displayed point is on the screen.
    fn place_of_point(&self, point: u32) -> Vec2 {
        let shown = self.editor.displayed().values().next().unwrap();
        let camera = self.editor.document().session().camera;
        let at = camera
            .clip_from_world(SIZE.x / SIZE.y)
            .project_point3(shown.positions[point as usize]);
        at.truncate()
    }

    /// The point nearest to the eye.
    fn front_point(&self) -> u32 {
        let shown = self.editor.displayed().values().next().unwrap();
        let backward = self.editor.document().session().camera.backward();
        let depth = |p: &u32| shown.positions[*p as usize].dot(backward);
        let points = 0..shown.positions.len() as u32;
        points.max_by(|a, b| depth(a).total_cmp(&depth(b))).unwrap()
    }
}

/// A closed grid wrapped to a torus: every point has the same surroundings.
fn torus(around: u32, along: u32) -> Mesh {
    let n = around * along;
    let positions = (0..n)
        .map(|i| {
            let turn = |k: u32, n: u32| (k as f32 / n as f32 * std::f32::consts::TAU).sin_cos();
            let ((sa, ca), (sb, cb)) = (turn(i % around, around), turn(i / around, along));
            Vec3::new((2.0 + ca) * cb, sa, (2.0 + ca) * sb)
        })
        .collect();
    let at = |a: u32, b: u32| a % around + b % along * around;
    let triangles = (0..n).flat_map(|i| {
        let (a, b) = (i % around, i / around);
        [
            [at(a, b), at(a + 1, b), at(a, b + 1)],
            [at(a + 1, b), at(a + 1, b + 1), at(a, b + 1)],
        ]
    });
    let primitive = PrimitiveSource {
        positions,
        triangles: triangles.collect(),
        ..PrimitiveSource::default()
    };
    let source = MeshSource {
        primitives: vec![primitive],
        ..MeshSource::default()
    };
    source.build().mesh
}

fn set(points: &BTreeSet<u32>) -> PointSet {
    points.iter().copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn point_sets_behave_as_sets(
        a in prop::collection::btree_set(0u32..400, 0..80),
        b in prop::collection::btree_set(0u32..400, 0..80),
        p in 0u32..400,
    ) {
        let (sa, sb) = (set(&a), set(&b));
        let mut s = sa.clone();
        s.union(&sb);
        prop_assert_eq!(&s, &set(&(&a | &b)));
        let mut s = sa.clone();
        s.subtract(&sb);
        prop_assert_eq!(&s, &set(&(&a - &b)));
        let mut s = sa.clone();
        s.intersect(&sb);
        prop_assert_eq!(&s, &set(&(&a & &b)));
        prop_assert_eq!(sa.intersects(&sb), !s.is_empty());
        let mut s = sa.clone();
        s.invert(400);
        prop_assert_eq!(s.count(), 400 - a.len());
        s.invert(400);
        prop_assert_eq!(&s, &sa);
        prop_assert!(sa.iter().eq(a.iter().copied()));
        prop_assert_eq!(sa.count(), a.len());
        let mut s = sa.clone();
        prop_assert_eq!(s.insert(p), !a.contains(&p));
        prop_assert!(s.remove(p) && !s.contains(p));
        prop_assert!(sa.runs().into_iter().flatten().eq(a.iter().copied()));
    }

    #[test]
    fn growing_then_shrinking_loses_nothing(
        points in prop::collection::btree_set(0u32..600, 0..60),
    ) {
        let mesh = torus(20, 30);
        let (topology, n) = (mesh.topology(), mesh.n_points());
        let points = set(&points);
        let grown = islands::grow(topology, &points, n);
        let mut others = grown.clone();
        others.invert(n);
        let back = islands::shrink(topology, &grown, &others, n);
        let mut lost = points.clone();
        lost.subtract(&back);
        prop_assert!(lost.is_empty());
        // One ring: exactly the points with a selected neighbour.
        for p in 0..n as u32 {
            let near = topology.neighbours(p).iter().any(|&q| points.contains(q));
            prop_assert_eq!(grown.contains(p), points.contains(p) || near);
        }
        let linked = islands::linked(topology, &points, n);
        prop_assert_eq!(linked.count(), if points.is_empty() { 0 } else { n });
    }
}

/// The seen ones are those that a ray reaches, also of a surface that is turned inside out.
#[test]
fn a_box_holds_what_is_projected_into_it_and_only_what_is_seen() {
    let outside_out = torus(48, 96);
    check_box(&outside_out, &outside_out.normals);
    let inward: Vec<Vec3> = outside_out.normals.iter().map(|n| -*n).collect();
    check_box(&outside_out, &inward);
}

fn check_box(mesh: &Mesh, normals: &[Vec3]) {
    let positions = Arc::new(mesh.positions.clone());
    let (mut index, mut stale) = (None, true);
    let surface = SurfaceView {
        mesh,
        positions: &positions,
        normals,
        index: &mut index,
        index_stale: &mut stale,
        unfitted: &mut Vec::new(),
        hidden: None,
    };
    let camera = Camera {
        yaw: 0.4,
        pitch: 0.5,
        distance: 9.0,
        ..Camera::default()
    };
    let view = ScreenView::new(&camera, SIZE);
    let region = Region::between(Vec2::new(420.0, 330.0), Vec2::new(700.0, 640.0));
    let clip = camera.clip_from_world(SIZE.x / SIZE.y);
    let inside = |p: Vec3| {
        let at = (clip.project_point3(p).truncate() * 0.5 + 0.5) * SIZE;
        at.x >= 420.0 && at.x <= 700.0 && at.y >= 330.0 && at.y <= 640.0
    };
    let through = region::points_in(&region, &view, &surface, None);
    for p in 0..mesh.n_points() as u32 {
        assert_eq!(through.contains(p), inside(positions[p as usize]), "{p}");
    }
    // What is seen, by a ray to each point.
    let depth = DepthBuffer::new(&view, [&surface]);
    let found = region::points_in(&region, &view, &surface, Some(&depth));
    let triangles = &mesh.topology().triangles;
    let rays = SurfaceIndex::new(triangles, &positions);
    let is_free = |p: u32, slack: f32| {
        let to = positions[p as usize] - camera.eye();
        let ray = sinew::math::Ray {
            origin: camera.eye(),
            direction: to.normalize_or(Vec3::Z),
        };
        let hit = rays.cast_ray(&ray, triangles, &positions, |_| true);
        hit.is_none_or(|hit| hit.distance >= to.length() - slack)
    };
    let mut n_wrong = 0;
    for p in through.iter() {
        n_wrong += usize::from(found.contains(p) != is_free(p, 0.02));
    }
    assert!(
        found.count() * 3 < through.count() * 2,
        "half of it is covered"
    );
    assert!(
        n_wrong * 100 <= 3 * through.count(),
        "{n_wrong} of {} at the outline",
        through.count()
    );
}

#[test]
fn a_click_on_a_bone_selects_it_and_one_beside_it_the_bone_that_moves_the_skin() {
    let mut h = EditorHarness::new();
    let (upper, fore) = (h.joint("upper_arm"), h.joint("forearm"));
    let (shoulder, elbow) = (h.place_of(upper), h.place_of(fore));
    h.click(shoulder.lerp(elbow, 0.4), SelectOp::Replace);
    assert_eq!(
        h.editor.document().session().active_joint,
        Some(JointId(upper))
    );
    // Far from every bone, on the skin.
    let point = h.front_point();
    let at = h.place_of_point(point);
    let in_skin = h.editor.pick_joint_in_skin(at, SIZE).unwrap();
    h.editor.select_joint(None);
    h.editor.select_pointer(
        PointerKind::Press,
        at,
        SIZE,
        SelectOp::Replace,
        PickableBones::None,
    );
    h.editor.select_pointer(
        PointerKind::Release,
        at,
        SIZE,
        SelectOp::Replace,
        PickableBones::None,
    );
    assert_eq!(h.editor.document().session().active_joint, Some(in_skin));
    // Hidden, it is passed over.
    h.editor.set_joint_hidden(in_skin, true);
    assert_ne!(h.editor.pick_joint_in_skin(at, SIZE), Some(in_skin));
    // The empty background clears.
    h.click(Vec2::splat(0.98), SelectOp::Replace);
    assert!(h.selected_joints().is_empty());
    assert_eq!(h.editor.document().session().active_joint, None);
}

#[test]
fn what_is_drawn_on_top_is_picked_however_far_behind_the_skin() {
    let mut h = EditorHarness::on(OpenRequest::Sample("mannequin".into()));
    // From the side one arm and one leg are drawn through the body in front of them.
    let camera = h.editor.document().session().camera;
    *h.editor.camera_mut() = camera.turned_to(View::Right);
    h.settle();
    let camera = h.editor.document().session().camera;
    let clip = camera.clip_from_world(SIZE.x / SIZE.y);
    let bones = h.editor.bones();
    let (mut n_drawn, mut n_behind) = (0, 0);
    for bone in &bones {
        for t in [0.2, 0.5, 0.8] {
            let at = clip.project_point3(bone.head.lerp(bone.tail, t)).truncate();
            let ray = camera.ray(at, SIZE.x / SIZE.y);
            let Some(top) = pick_drawn(&ray, &bones, f32::INFINITY) else {
                continue;
            };
            n_drawn += 1;
            let top = bones[top].joint;
            let picked = h.editor.pick_for_selection(at, SIZE, PickableBones::XRay);
            assert_eq!(picked, Some(top));
            let dragged = h.editor.pick_bone_in_view(at, SIZE, PickableBones::XRay);
            assert_eq!(dragged, Some(top));
            let skin = h.editor.pick_joint_in_skin(at, SIZE);
            n_behind += usize::from(skin.is_some() && skin != Some(top));
            assert_eq!(
                h.editor.pick_for_selection(at, SIZE, PickableBones::None),
                skin
            );
        }
    }
    assert!(n_drawn > 20 && n_behind > 3, "{n_drawn} {n_behind}");
}

#[test]
fn shift_adds_bones_and_ctrl_takes_them_away() {
    let mut h = EditorHarness::new();
    let (upper, fore) = (JointId(h.joint("upper_arm")), JointId(h.joint("forearm")));
    h.editor.pick_joint(Some(upper), SelectOp::Replace);
    h.editor.pick_joint(Some(fore), SelectOp::Extend);
    assert_eq!(h.selected_joints(), [upper, fore].into());
    assert_eq!(h.editor.document().session().active_joint, Some(fore));
    h.editor.pick_joint(Some(fore), SelectOp::Subtract);
    assert_eq!(h.selected_joints(), [upper].into());
    assert_eq!(h.editor.document().session().active_joint, Some(upper));
    h.everything(SelectOp::Replace);
    assert_eq!(h.selected_joints(), h.bones_of_skin());
    h.everything(SelectOp::Subtract);
    assert!(h.selected_joints().is_empty());
}

#[test]
fn a_drag_shows_its_selection_at_once_and_escape_takes_it_back() {
    let mut h = EditorHarness::new();
    h.editor.set_select_kind(SelectKind::Points);
    let (mesh, _) = h.only_mesh();
    h.everything(SelectOp::Replace);
    let seen = h.selected_points(mesh);
    assert!(!seen.is_empty());
    h.select(PointerKind::Press, Vec2::splat(-1.0), SelectOp::Subtract);
    h.select(PointerKind::Drag, Vec2::splat(1.0), SelectOp::Subtract);
    assert!(h.selected_points(mesh).is_empty());
    assert_eq!(h.editor.n_in_region(), seen.count());
    h.editor.cancel_select();
    assert_eq!(h.selected_points(mesh), seen);
    // The release comes after all; it means nothing now.
    h.select(PointerKind::Release, Vec2::splat(1.0), SelectOp::Subtract);
    assert_eq!(h.selected_points(mesh), seen);
    assert_eq!(h.editor.history().n_undo(), 0);
}

#[test]
fn circle_and_lasso_select_what_they_pass_over_and_enclose() {
    let mut h = EditorHarness::new();
    h.editor.set_select_kind(SelectKind::Points);
    h.editor.set_select_through(true);
    let (mesh, geometry) = h.only_mesh();
    h.editor.arm_select(Some(SelectShape::Circle));
    let at = h.place_of_point(h.front_point());
    h.click(at, SelectOp::Replace);
    let dab = h.selected_points(mesh);
    assert!(!dab.is_empty() && dab.count() < geometry.n_points());
    for p in 0..geometry.n_points() as u32 {
        let gap = (h.place_of_point(p) - at) * SIZE * 0.5;
        let is_near = gap.length() <= h.editor.select_tool().radius_px();
        assert!(dab.contains(p) == is_near || (gap.length() - 25.0).abs() < 0.01);
    }
    h.editor.resize_select_circle(3.0);
    h.click(at, SelectOp::Replace);
    assert!(
        h.selected_points(mesh).count() > dab.count(),
        "a second dab adds"
    );
    h.editor.cancel_select();
    h.editor.select_none();
    h.editor.arm_select(Some(SelectShape::Lasso));
    let corners = [(-0.99, -0.99), (0.99, -0.99), (0.99, 0.99), (-0.99, 0.99)].map(Vec2::from);
    h.select(PointerKind::Press, corners[0], SelectOp::Replace);
    for corner in corners {
        h.select(PointerKind::Drag, corner, SelectOp::Replace);
    }
    h.select(PointerKind::Release, corners[3], SelectOp::Replace);
    assert_eq!(h.selected_points(mesh), PointSet::full(geometry.n_points()));
    assert_eq!(
        h.editor.select_tool().armed(),
        None,
        "a lasso is asked for once"
    );
}

#[test]
fn a_click_picks_the_nearest_point_that_is_seen() {
    let mut h = EditorHarness::new();
    h.editor.set_select_kind(SelectKind::Points);
    let (mesh, _) = h.only_mesh();
    let point = h.front_point();
    let at = h.place_of_point(point);
    h.click(at, SelectOp::Replace);
    assert_eq!(h.selected_points(mesh), [point].into_iter().collect());
    h.click(at, SelectOp::Subtract);
    assert!(h.selected_points(mesh).is_empty());
    h.click(at, SelectOp::Extend);
    h.click(Vec2::splat(0.98), SelectOp::Extend);
    assert_eq!(h.selected_points(mesh).count(), 1);
    h.click(Vec2::splat(0.98), SelectOp::Replace);
    assert!(h.selected_points(mesh).is_empty());
}

#[test]
fn undo_brings_back_the_points_that_were_selected_with_the_step() {
    let mut h = EditorHarness::new();
    let (mesh, _) = h.only_mesh();
    let fore = JointId(h.joint("forearm"));
    h.editor.set_select_kind(SelectKind::Points);
    h.editor.select_joint(Some(fore));
    h.editor.select_all();
    let all = h.selected_points(mesh);
    let elbow = h.place_of(fore.0);
    h.drag(elbow, elbow + Vec2::new(0.05, 0.0), false);
    h.editor.select_none();
    h.editor.undo();
    assert_eq!(h.selected_points(mesh), all);
    h.settle();
}

#[test]
fn bones_grow_to_neighbours_and_link_to_the_chain_below() {
    let mut h = EditorHarness::new();
    let bones = h.bones_of_skin();
    let fore = JointId(h.joint("forearm"));
    let skeleton = h.editor.document().skeleton().clone();
    h.editor.select_joint(Some(fore));
    h.editor.select_more();
    let mut near: BTreeSet<JointId> = skeleton.children(fore).iter().copied().collect();
    near.extend(skeleton.joint(fore).parent);
    near.insert(fore);
    assert_eq!(h.selected_joints(), &near & &bones);
    h.editor.select_joint(Some(fore));
    h.editor.select_linked();
    let below = |j: &JointId| *j == fore || skeleton.ancestors(*j).any(|a| a == fore);
    assert_eq!(
        h.selected_joints(),
        bones.iter().copied().filter(below).collect()
    );
    h.editor.select_inverse();
    assert!(h.selected_joints().iter().all(|j| !below(j)));
    h.editor.select_all();
    h.editor.select_less();
    assert_eq!(h.selected_joints(), bones, "the whole has no border");
}

#[test]
fn the_points_a_bone_moves_are_selected() {
    let mut h = EditorHarness::new();
    let (mesh, _) = h.only_mesh();
    let fore = JointId(h.joint("forearm"));
    h.editor.select_joint(Some(fore));
    h.editor.select_moved_points();
    let n_moved = h.editor.heat()[&mesh].n_marked;
    assert_eq!(
        (h.editor.n_selected(), h.editor.select_kind()),
        (n_moved, SelectKind::Points)
    );
    let selected = h.selected_points(mesh);
    for (p, &heat) in (0..).zip(h.editor.heat()[&mesh].values.iter()) {
        assert_eq!(selected.contains(p), heat > 0.0);
    }
}

#[test]
fn hidden_points_are_neither_picked_nor_painted() {
    let mut h = EditorHarness::new();
    let (mesh, geometry) = h.only_mesh();
    let fore = JointId(h.joint("forearm"));
    h.editor.select_joint(Some(fore));
    h.editor.set_select_kind(SelectKind::Points);
    let at = h.place_of_point(h.front_point());
    h.editor.arm_select(Some(SelectShape::Circle));
    h.click(at, SelectOp::Replace);
    h.editor.arm_select(None);
    let hidden = h.selected_points(mesh);
    h.editor.hide_selected();
    assert!(h.selected_points(mesh).is_empty() && h.editor.has_hidden());

    let before = h.editor.document().meshes()[&mesh].influences.clone();
    h.editor.brush_mut().radius_px = 200.0;
    let beside = h.place_of(fore.0);
    h.drag(at, beside, false);
    h.drag(beside, at, true);
    let after = &h.editor.document().meshes()[&mesh].influences;
    assert_ne!(*after, before, "something was painted");
    for p in hidden.iter() {
        assert_eq!(after.row(p), before.row(p), "hidden point {p} was painted");
    }
    h.editor.select_all();
    let all = h.selected_points(mesh);
    assert_eq!(all.count(), geometry.n_points() - hidden.count());
    for command in [
        sinew::editor::Editor::select_more,
        sinew::editor::Editor::select_linked,
        sinew::editor::Editor::select_inverse,
        sinew::editor::Editor::select_moved_points,
    ] {
        command(&mut h.editor);
        assert!(!h.selected_points(mesh).intersects(&hidden));
    }
    h.everything(SelectOp::Extend);
    assert!(!h.selected_points(mesh).intersects(&hidden));
    h.editor.undo();
    h.editor.undo();
    assert!(
        !h.selected_points(mesh).intersects(&hidden),
        "undo selects nothing hidden"
    );
    h.editor.show_all();
    assert_eq!(
        h.selected_points(mesh),
        hidden,
        "what comes back is selected"
    );
    assert!(!h.editor.has_hidden());
    h.settle();
}

#[test]
fn isolating_twice_shows_what_was_shown_before() {
    let mut h = EditorHarness::new();
    let (upper, fore) = (JointId(h.joint("upper_arm")), JointId(h.joint("forearm")));
    h.editor.set_joint_hidden(upper, true);
    h.editor.select_joint(Some(fore));
    h.editor.toggle_isolate();
    assert!(h.editor.bones().iter().all(|bone| bone.joint == fore));
    assert!(h.editor.is_isolated());
    h.editor.toggle_isolate();
    let hidden = &h.editor.document().session().hidden_joints;
    assert_eq!(*hidden, [upper].into());
    h.editor.select_none();
    h.editor.toggle_isolate();
    assert!(!h.editor.is_isolated());
    h.settle();
    assert!(
        h.last_notice().contains("Nothing is selected"),
        "{}",
        h.last_notice()
    );
    // A whole object.
    let id = *h.editor.displayed().keys().next().unwrap();
    let at = h.place_of_point(h.front_point());
    h.editor.set_instance_hidden(id, true);
    assert_eq!(h.editor.surface_at(at, SIZE), None);
    h.editor.show_all();
    assert!(h.editor.surface_at(at, SIZE).is_some());
}

#[test]
fn what_is_hidden_while_isolated_stays_hidden_and_what_is_shown_shows() {
    let mut h = EditorHarness::new();
    let (upper, fore) = (JointId(h.joint("upper_arm")), JointId(h.joint("forearm")));
    let id = *h.editor.displayed().keys().next().unwrap();
    h.editor.select_joint(Some(fore));
    h.editor.toggle_isolate();
    h.editor.set_instance_hidden(id, true);
    h.editor.set_joints_hidden(&[upper, fore].into(), false);
    h.editor.set_joints_hidden(&[upper, fore].into(), true);
    h.editor.toggle_isolate();
    assert!(!h.editor.is_isolated() && h.editor.is_instance_hidden(id));
    let hidden = &h.editor.document().session().hidden_joints;
    assert_eq!(*hidden, [upper, fore].into(), "the rest is back");
}

#[test]
fn what_is_selected_and_hidden_is_saved_in_a_few_kilobytes() {
    let mut h = EditorHarness::new();
    let (mesh, geometry) = h.only_mesh();
    h.editor.set_select_kind(SelectKind::Points);
    let at = h.place_of_point(h.front_point());
    h.editor.arm_select(Some(SelectShape::Circle));
    h.click(at, SelectOp::Replace);
    h.editor.hide_selected();
    h.editor.set_joint_hidden(JointId(h.joint("forearm")), true);
    h.editor.select_all();
    let plain =
        to_text(&to_project(&EditorHarness::new().editor.document().clone(), None).unwrap())
            .unwrap();
    let document = h.editor.document().clone();
    let text = to_text(&to_project(&document, None).unwrap()).unwrap();
    assert!(
        text.len() < plain.len() + 4096,
        "{} bytes",
        text.len() - plain.len()
    );
    let fresh = EditorHarness::new().editor.document().clone();
    let (opened, findings) = apply_project(fresh, parse(&text).unwrap()).unwrap();
    assert_eq!(findings, []);
    assert_eq!(opened.session(), document.session());
    assert!(opened.session().hidden_points[&mesh].count() > 0);
    // Every other point: bits, not runs.
    let mut dotted = document.clone();
    let every_other: PointSet = (0..geometry.n_points() as u32)
        .filter(|p| p % 2 == 0)
        .collect();
    dotted.session_mut().hidden_points.clear();
    dotted
        .session_mut()
        .selected_points
        .insert(mesh, every_other.clone().into());
    let text = to_text(&to_project(&dotted, None).unwrap()).unwrap();
    let fresh = EditorHarness::new().editor.document().clone();
    let (opened, _) = apply_project(fresh, parse(&text).unwrap()).unwrap();
    assert_eq!(*opened.session().selected_points[&mesh], every_other);
}

#[test]
fn linked_finds_the_islands_of_the_mannequin() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/mannequin.glb");
    let h = EditorHarness::on(OpenRequest::Path(path));
    let meshes: Vec<MeshId> = h.editor.document().meshes().keys().copied().collect();
    for mesh in meshes {
        let geometry = h.editor.document().meshes()[&mesh].geometry.clone();
        let n = geometry.n_points();
        let topology = geometry.topology();
        // Islands found by walking.
        let mut unseen = PointSet::full(n);
        let mut n_islands = 0;
        let mut next = unseen.iter().next();
        while let Some(start) = next {
            n_islands += 1;
            let linked = islands::linked(topology, &[start].into_iter().collect(), n);
            let (mut walked, mut queue) = (PointSet::default(), vec![start]);
            while let Some(p) = queue.pop() {
                if walked.insert(p) {
                    queue.extend(topology.neighbours(p));
                    queue.extend(topology.next_coincident(p));
                }
            }
            assert_eq!(linked, walked);
            unseen.subtract(&walked);
            next = unseen.iter().next();
        }
        assert!(n_islands >= 1);
    }
}
