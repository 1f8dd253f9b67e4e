//! Sculpting corrective samples: the surface moves with the pointer at any bend, both sides together, one undo step.

use crate::brushes::{self, FINGER, bind, event, ndc};
use crate::editing::EditorHarness;
use glam::{DQuat, DVec3, Vec2, Vec3};
use sinew::deform::{StackPreset, blended_rotations};
use sinew::document::InstanceId;
use sinew::document::session::{
    PaintMask, PoseSpace, RadiusUnit, SculptKind, SelectKind, TransformKind,
};
use sinew::editor::{OpenRequest, SurfacePlace};
use sinew::evaluate::Evaluator;
use sinew::math::{Axis, Worse};
use sinew::psd::Displacements;
use sinew::skeleton::JointId;
use sinew::tools::{PointerEvent, PointerKind, PointerPrecision};
use sinew::weights::falloff::Falloff;

const SIZE: Vec2 = Vec2::new(1000.0, 800.0);

/// Rotates a joint from rest and selects it.
fn pose(h: &mut EditorHarness, joint: JointId, axis: DVec3, degrees: f64) {
    let mut local = h.editor.document().rest_pose().locals[joint.get()];
    local.rotation *= DQuat::from_axis_angle(axis, degrees.to_radians());
    h.editor.begin_pose_field(joint, "Rotate");
    h.editor.set_pose_field(joint, local);
    h.editor.confirm_transform();
    h.editor.select_joint(Some(joint));
    h.settle();
}

/// The arm bent by 90 degrees under a stack, with a sample there that moves nothing, seen from its side.
pub(crate) fn bent_arm(preset: StackPreset) -> EditorHarness {
    let mut h = EditorHarness::new();
    h.editor.show_clip(None);
    h.editor.use_preset(preset);
    let forearm = JointId(h.joint("forearm"));
    pose(&mut h, forearm, DVec3::X, 90.0);
    assert!(h.editor.add_sample());
    h.settle();
    look_at_elbow(&mut h);
    h
}

pub(crate) fn elbow(h: &EditorHarness) -> Vec3 {
    h.editor.world()[h.joint("forearm") as usize]
        .translation
        .as_vec3()
}

fn look_at(h: &mut EditorHarness, target: Vec3) {
    let camera = h.editor.camera_mut();
    (camera.yaw, camera.pitch) = (0.7, 0.3);
    camera.target = target;
    camera.distance = 0.8;
}

fn look_at_elbow(h: &mut EditorHarness) {
    let at = elbow(h);
    look_at(h, at);
}

pub(crate) fn sculpted(h: &EditorHarness) -> Displacements {
    let (set, sample) = (
        h.editor.active_set().unwrap(),
        h.editor.active_sample().unwrap(),
    );
    h.editor.samples_of(set)[sample].displacements.clone()
}

pub(crate) fn shown(h: &EditorHarness) -> Vec<Vec3> {
    let displayed = h.editor.displayed().values().next().unwrap();
    displayed.positions.as_ref().clone()
}

fn diagonal(positions: &[Vec3]) -> f32 {
    let (low, high) = positions
        .iter()
        .fold((Vec3::MAX, Vec3::MIN), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
    low.distance(high)
}

/// A stroke from the first place to the last.
pub(crate) fn stroke(h: &mut EditorHarness, places: &[Vec2], change: impl Fn(&mut PointerEvent)) {
    let mut press = event(PointerKind::Press, places[0]);
    change(&mut press);
    h.editor.begin_sculpt(&press);
    for (kind, ndc) in places[1..]
        .iter()
        .map(|&at| (PointerKind::Drag, at))
        .chain([(PointerKind::Release, *places.last().unwrap())])
    {
        h.editor.pointer(&PointerEvent { kind, ndc, ..press });
        h.editor.poll(0.0);
    }
    h.settle();
}

/// The visible vertex closest to a position, with its place on the screen.
pub(crate) fn vertex_near(h: &mut EditorHarness, place: Vec3) -> (u32, Vec2) {
    let hit = h.editor.surface_at(ndc(h, place), SIZE).unwrap();
    let positions = shown(h);
    let distance = |p: &u32| positions[*p as usize].distance(hit);
    let nearest = (0..positions.len() as u32).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let point = nearest.unwrap();
    (point, ndc(h, positions[point as usize]))
}

#[test]
fn grab_moves_the_surface_as_the_pointer_does_at_any_bend() {
    for preset in [StackPreset::Lbs, StackPreset::Dqs, StackPreset::Default] {
        let mut h = bent_arm(preset);
        h.editor.use_sculpt(SculptKind::Grab);
        h.editor.brush_mut().falloff = Falloff::Constant;
        let before = h.editor.document().clone();
        let positions = shown(&h);
        let place = elbow(&h);
        let (point, at) = vertex_near(&mut h, place);
        let to = at + Vec2::new(0.06, 0.04);
        let n_undo = h.editor.history().n_undo();
        stroke(&mut h, &[at, at.lerp(to, 0.4), to], |_| {});
        let camera = h.editor.document().session().camera;
        let ray = camera.ray(to, SIZE.x / SIZE.y);
        let start = positions[point as usize];
        let normal = camera.backward();
        let along = (start - ray.origin).dot(normal) / ray.direction.dot(normal);
        let wanted = ray.origin + ray.direction * along - start;
        let after = shown(&h);
        let moved = after[point as usize] - start;
        assert!(wanted.length() > 0.01, "{wanted}");
        let error = moved.distance(wanted);
        assert!(
            error < 1e-5 * diagonal(&positions),
            "{preset:?}: {moved} {wanted}"
        );
        // One step, and only what the brush reached is in the sample.
        assert_eq!(h.editor.history().n_undo(), n_undo + 1);
        assert_eq!(h.editor.history().undo_label(), Some("Sculpt"));
        let moved = sculpted(&h);
        for (p, (a, b)) in (0u32..).zip(positions.iter().zip(&after)) {
            assert_eq!(moved.get(p).is_some(), a != b, "{p}");
        }
        assert!(moved.n_points() > 10 && moved.n_points() < positions.len() / 2);
        h.editor.undo();
        h.settle();
        assert!(h.editor.document().same_content(&before));
        assert_eq!(shown(&h), positions);
    }
}

#[test]
fn the_rotations_of_points_are_those_of_the_stack() {
    for preset in [
        StackPreset::Lbs,
        StackPreset::Default,
        StackPreset::Compensation,
    ] {
        let h = bent_arm(preset);
        let document = h.editor.document();
        let (&id, instance) = document.instances().iter().next().unwrap();
        let item = &document.meshes()[&instance.mesh];
        let mut full = Evaluator::default();
        full.evaluate(document, &document.shown_pose());
        let points: Vec<u32> = (0..item.geometry.n_points() as u32).step_by(7).collect();
        let plan = full.plan(id).unwrap();
        let expected = blended_rotations(plan, &item.stack, &item.masks, &points);
        let rotations = document.point_rotations(id).unwrap();
        for (point, expected) in points.into_iter().zip(expected) {
            assert_eq!(rotations.at(point), expected);
        }
        assert!(document.point_rotations(InstanceId(999)).is_none());
    }
}

/// How much a stroke moved the vertices it reached, along their normals and at all.
fn effect(h: &mut EditorHarness, kind: SculptKind, invert: bool) -> (f32, f32) {
    h.editor.use_sculpt(kind);
    let (before, at) = (shown(h), elbow(h));
    let SurfacePlace { normal, .. } = h.editor.brush_places(ndc(h, at), SIZE).unwrap().0;
    let (_, place) = vertex_near(h, at);
    let places = [place, place + Vec2::new(0.02, 0.0)];
    stroke(h, &places, |event| event.invert = invert);
    let after = shown(h);
    let pairs = || after.iter().zip(&before);
    let along = pairs().map(|(a, b)| (*a - *b).dot(normal)).sum();
    (along, pairs().map(|(a, b)| a.distance(*b)).sum())
}

#[test]
fn every_brush_does_what_it_says_and_erase_takes_all_back() {
    let mut h = bent_arm(StackPreset::Default);
    let plain = shown(&h);
    let (out, _) = effect(&mut h, SculptKind::Inflate, false);
    let (back, _) = effect(&mut h, SculptKind::Inflate, true);
    assert!(out > 0.0 && back < 0.0, "{out} {back}");
    let around = |h: &EditorHarness| {
        // The mean distance of sculpted vertices from the mean of their neighbours.
        let positions = shown(h);
        let item = h.editor.document().meshes().values().next().unwrap();
        let topology = item.geometry.topology();
        let at = elbow(h);
        let rough = |p: u32| {
            let near = topology.neighbours(p);
            let sum: Vec3 = near.iter().map(|&q| positions[q as usize]).sum();
            positions[p as usize].distance(sum / near.len().max(1) as f32)
        };
        let near = (0..positions.len() as u32)
            .filter(|&p| positions[p as usize].distance(at) < 0.1)
            .map(rough);
        near.sum::<f32>()
    };
    for _ in 0..3 {
        effect(&mut h, SculptKind::Inflate, false);
    }
    let rough = around(&h);
    effect(&mut h, SculptKind::Smooth, false);
    let smooth = around(&h);
    assert!(smooth < rough, "{smooth} {rough}");
    for kind in [
        SculptKind::Relax,
        SculptKind::Flatten,
        SculptKind::Pinch,
        SculptKind::Slide,
        SculptKind::Grab,
    ] {
        let (_, moved) = effect(&mut h, kind, false);
        assert!(moved > 1e-3, "{kind:?}: {moved}");
    }
    // Erase: displacements only shrink, and a hundred strokes with a large brush leave none.
    h.editor.brush_mut().radius_px = 500.0;
    h.editor.brush_mut().strength = 1.0;
    h.editor.brush_mut().front_faces_only = false;
    h.editor.brush_mut().falloff = Falloff::Constant;
    let largest = |d: &Displacements| d.iter().map(|(_, d)| d.length()).fold(0.0, f32::worse);
    let before = sculpted(&h);
    assert!(before.n_points() > 10);
    effect(&mut h, SculptKind::Erase, false);
    let after = sculpted(&h);
    assert!(largest(&after) <= largest(&before));
    assert!(after.is_empty(), "{}", after.n_points());
    assert_eq!(shown(&h), plain);
}

#[test]
fn slide_keeps_vertices_on_the_surface_and_comes_back() {
    let mut h = bent_arm(StackPreset::Default);
    h.editor.use_sculpt(SculptKind::Slide);
    let before = shown(&h);
    let item = h.editor.document().meshes().values().next().unwrap();
    let triangles = item.geometry.topology().triangles.clone();
    let index = sinew::mesh::SurfaceIndex::new(&triangles, &before);
    let place = elbow(&h);
    let (_, at) = vertex_near(&mut h, place);
    let way = [0.0, 0.03, 0.08, 0.15].map(|x| at + Vec2::new(x, 0.6 * x));
    stroke(&mut h, &way, |_| {});
    let after = shown(&h);
    let mut n_moved = 0;
    for (a, b) in after.iter().zip(&before) {
        n_moved += usize::from(a.distance(*b) > 0.005);
        let closest = index.closest(*a, f32::MAX, &triangles, &before, |_| true);
        let off = closest.unwrap().distance;
        assert!(off < 1e-5 * diagonal(&before), "{a}: {off}");
    }
    assert!(n_moved > 5, "{n_moved}");
    // A drag that comes back moves nothing.
    h.editor.undo();
    h.settle();
    let back: Vec<Vec2> = way.iter().chain(way.iter().rev()).copied().collect();
    stroke(&mut h, &back, |_| {});
    assert!(sculpted(&h).is_empty(), "{}", sculpted(&h).n_points());
}

#[test]
fn shift_smooths_and_relax_ends_at_rest() {
    let mut h = bent_arm(StackPreset::Default);
    effect(&mut h, SculptKind::Inflate, false);
    let before = shown(&h);
    // Shift smooths whatever the brush is.
    let mut other = bent_arm(StackPreset::Default);
    effect(&mut other, SculptKind::Inflate, false);
    let place = elbow(&h);
    let (_, at) = vertex_near(&mut h, place);
    h.editor.use_sculpt(SculptKind::Inflate);
    stroke(&mut h, &[at], |event| event.smooth = true);
    other.editor.use_sculpt(SculptKind::Smooth);
    stroke(&mut other, &[at], |_| {});
    assert_eq!(shown(&h), shown(&other));
    assert_ne!(shown(&h), before);
    // Where nothing bends, the rest shape is where relaxing ends: the upper arm only rotates.
    let mut h = bent_arm(StackPreset::Default);
    let upper = elbow(&h) + Vec3::Y * 0.2;
    look_at(&mut h, upper);
    h.editor.use_sculpt(SculptKind::Relax);
    let before = shown(&h);
    if let Some(hit) = h.editor.surface_at(Vec2::ZERO, SIZE) {
        h.editor.brush_mut().radius_px = 20.0;
        let at = ndc(&h, hit);
        stroke(&mut h, &[at], |_| {});
        let moved = shown(&h);
        let worst = moved
            .iter()
            .zip(&before)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::worse);
        assert!(worst < 0.002, "{worst}");
    }
}

#[test]
fn symmetry_mirrors_the_sculpt_and_a_fast_pointer_does_what_a_slow_one_does() {
    let fingers = || {
        let mut h = brushes::on_fingers();
        let bend = DQuat::from_rotation_x(0.4);
        let mut pose = (**h.editor.document().pose()).clone();
        (pose.locals[1].rotation, pose.locals[2].rotation) = (bend, bend);
        let edit = sinew::document::Edit::pose_change(h.editor.document().pose(), &pose).unwrap();
        h.editor.apply(edit, "Pose").unwrap();
        h.editor.select_joint(Some(JointId(2)));
        h.editor.select_joint(Some(JointId(1)));
        assert!(h.editor.add_sample());
        h.editor.brush_mut().symmetry = Some(Axis::X);
        h.settle();
        h
    };
    for kind in SculptKind::BRUSHES {
        let mut h = fingers();
        let at = ndc(&h, Vec3::new(0.0085, 0.03, FINGER));
        let to = at + Vec2::new(0.02, 0.05);
        if kind == SculptKind::Erase {
            h.editor.use_sculpt(SculptKind::Inflate);
            stroke(&mut h, &[at, to], |_| {});
        }
        h.editor.use_sculpt(kind);
        let before = shown(&h);
        stroke(&mut h, &[at, to], |_| {});
        let (after, moved) = (shown(&h), sculpted(&h));
        let document = h.editor.document().clone();
        let n_changed = after.iter().zip(&before).filter(|(a, b)| a != b).count();
        assert!(n_changed > 10, "{kind:?}: {n_changed}");
        let mut n_left = 0;
        for (point, d) in moved.iter() {
            let image = bind(&document, point) * Vec3::new(-1.0, 1.0, 1.0);
            let partner = moved
                .iter()
                .find(|(q, _)| bind(&document, *q).distance(image) < 1e-6);
            let (_, theirs) = partner.unwrap();
            let wanted = Axis::X.reflect(d);
            assert!(theirs.distance(wanted) < 1e-6, "{kind:?}: {d} {theirs}");
            n_left += usize::from(bind(&document, point).x > 0.0);
        }
        assert_eq!(n_left * 2, moved.n_points());
        // The same path in ten events.
        let mut slow = fingers();
        if kind == SculptKind::Erase {
            slow.editor.use_sculpt(SculptKind::Inflate);
            stroke(&mut slow, &[at, to], |_| {});
        }
        slow.editor.use_sculpt(kind);
        let way: Vec<Vec2> = (0..=10).map(|i| at.lerp(to, i as f32 / 10.0)).collect();
        stroke(&mut slow, &way, |_| {});
        let slow = shown(&slow);
        let worst = slow
            .iter()
            .zip(&after)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::worse);
        assert!(worst < 2e-6, "{kind:?}: {worst}");
    }
}

#[test]
fn masked_and_hidden_vertices_stay_and_escape_takes_the_stroke_back() {
    let mut h = bent_arm(StackPreset::Default);
    let place = elbow(&h);
    let (point, at) = vertex_near(&mut h, place);
    let mesh = h.editor.corrected_mesh().unwrap();
    h.editor.use_sculpt(SculptKind::Inflate);
    // An empty mask says so.
    h.editor.brush_mut().mask = PaintMask::Points;
    let before = h.editor.document().clone();
    stroke(&mut h, &[at], |_| {});
    assert!(
        h.last_notice().contains("nothing of"),
        "{}",
        h.last_notice()
    );
    assert!(h.editor.document().same_content(&before));
    h.editor.set_select_kind(SelectKind::Points);
    h.editor.select_points(mesh, &[point]);
    let positions = shown(&h);
    stroke(&mut h, &[at], |_| {});
    let after = shown(&h);
    for (p, (a, b)) in (0u32..).zip(positions.iter().zip(&after)) {
        assert_eq!(a == b, p != point, "{p}");
    }
    h.editor.brush_mut().mask = PaintMask::Off;
    // Esc.
    let before = h.editor.document().clone();
    h.editor.begin_sculpt(&event(PointerKind::Press, at));
    h.editor
        .pointer(&event(PointerKind::Drag, at + Vec2::new(0.02, 0.0)));
    assert!(h.editor.is_painting() && !h.editor.document().same_content(&before));
    h.editor.cancel_tool();
    h.settle();
    assert!(h.editor.document().same_content(&before));
}

#[test]
fn what_cannot_be_sculpted_says_why_and_changes_nothing() {
    let mut h = EditorHarness::new();
    h.editor.show_clip(None);
    let forearm = JointId(h.joint("forearm"));
    pose(&mut h, forearm, DVec3::X, 90.0);
    look_at_elbow(&mut h);
    let refused = |h: &mut EditorHarness, why: &str| {
        let before = h.editor.document().clone();
        let at = ndc(h, elbow(h));
        let n = h.editor.history().n_undo();
        stroke(h, &[at, at + Vec2::new(0.05, 0.0)], |_| {});
        assert_eq!(h.last_notice(), why);
        assert!(h.editor.document().same_content(&before));
        assert_eq!(h.editor.history().n_undo(), n);
    };
    refused(&mut h, "Add a sample at this pose first, or select one.");
    assert!(h.editor.add_sample());
    h.editor.set_sample_strength(0, 0.1);
    refused(
        &mut h,
        "Raise the strength of \"forearm 90°\" first: it is 0.10.",
    );
    h.editor.set_sample_strength(0, 1.0);
    h.editor.mute_sample(0, true);
    refused(&mut h, "Unmute \"forearm 90°\" first, to sculpt it.");
    h.editor.mute_sample(0, false);
    pose(&mut h, forearm, DVec3::X, 10.0);
    look_at_elbow(&mut h);
    let weight = h.editor.sample_weights()[0];
    assert!(weight < 0.25);
    refused(
        &mut h,
        &format!("Go to \"forearm 90°\" first: its weight in this pose is {weight:.2}."),
    );
}

#[test]
fn a_drag_beside_the_surface_says_where_to_press() {
    let mut h = bent_arm(StackPreset::Default);
    let before = h.editor.document().clone();
    let n = h.editor.history().n_undo();
    let beside = Vec2::new(-0.95, 0.9);
    for (kind, name) in [(SculptKind::Grab, "Grab"), (SculptKind::Slide, "Slide")] {
        h.editor.use_sculpt(kind);
        stroke(&mut h, &[beside, Vec2::ZERO], |_| {});
        let said = h.last_notice();
        assert!(
            said.starts_with(name) && said.ends_with("start the stroke on the mesh."),
            "{said}"
        );
    }
    assert!(h.editor.document().same_content(&before));
    assert_eq!(h.editor.history().n_undo(), n);
}

/// A press on a large surface that has just moved: the index is refitted on a worker, and the stroke begins then, with all
/// of its way.
#[test]
fn a_stroke_on_a_large_surface_that_moved_waits_without_blocking_the_window() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    let arm = sinew::sample::sample(sinew::sample::SampleKind::Arm, 60_000);
    std::fs::write(&path, sinew::io::gltf_build::to_glb(&arm)).unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(path));
    let forearm = JointId(h.joint("forearm"));
    pose(&mut h, forearm, DVec3::X, 90.0);
    assert!(h.editor.add_sample());
    h.settle();
    look_at_elbow(&mut h);
    h.editor.use_sculpt(SculptKind::Inflate);
    let at = ndc(&h, elbow(&h));
    let before = h.editor.document().clone();
    let n_undo = h.editor.history().n_undo();
    let way: Vec<Vec2> = (0..6)
        .map(|k| at + Vec2::new(0.02 * k as f32, 0.0))
        .collect();
    let send = |h: &mut EditorHarness, kind, at| h.editor.pointer(&event(kind, at));
    // Esc takes it back before it has begun.
    h.editor.begin_sculpt(&event(PointerKind::Press, at));
    assert!(h.editor.is_painting());
    h.editor.cancel_tool();
    assert!(!h.editor.is_painting());
    // Pressed, moved and released before the first frame: nothing is lost.
    h.editor.begin_sculpt(&event(PointerKind::Press, at));
    for &to in &way[1..] {
        send(&mut h, PointerKind::Drag, to);
    }
    send(&mut h, PointerKind::Release, way[5]);
    assert!(h.editor.document().same_content(&before), "it waits");
    h.settle();
    assert!(!h.editor.is_painting());
    assert_eq!(h.editor.history().n_undo(), n_undo + 1);
    let waited = sculpted(&h);
    assert!(waited.n_points() > 100);
    // On a surface that was prepared the same stroke gives the same.
    h.editor.undo();
    h.settle();
    h.editor.surface_at(at, SIZE);
    h.settle();
    stroke(&mut h, &way, |_| {});
    assert!(sculpted(&h) == waited);
}

#[test]
fn between_samples_the_surface_still_follows_the_pointer() {
    // At 60 degrees the sample of 90 has a weight below 1: its displacements are larger than the offset on screen.
    let mut h = bent_arm(StackPreset::Default);
    let forearm = JointId(h.joint("forearm"));
    pose(&mut h, forearm, DVec3::X, 60.0);
    look_at_elbow(&mut h);
    let weight = h.editor.sample_weights()[0];
    assert!(weight > 0.3 && weight < 0.95, "{weight}");
    let before = shown(&h);
    let place = elbow(&h);
    let (_, at) = vertex_near(&mut h, place);
    stroke(&mut h, &[at, at + Vec2::new(0.05, 0.0)], |_| {});
    let (after, moved) = (shown(&h), sculpted(&h));
    assert!(moved.n_points() > 10);
    for (p, d) in moved.iter() {
        let offset = after[p as usize].distance(before[p as usize]);
        assert!((offset - d.length() * weight as f32).abs() < 2e-6);
    }
}

/// Types a number into the running transform.
fn type_number(h: &mut EditorHarness, text: &str) {
    for c in text.chars() {
        assert!(h.editor.type_transform(c), "{c}");
    }
}

/// Selects the vertex nearest to the elbow; returns it.
pub(crate) fn select_at_elbow(h: &mut EditorHarness) -> u32 {
    h.editor.use_sculpt(SculptKind::Vertices);
    h.editor.set_pose_space(PoseSpace::World);
    let place = elbow(h);
    let (point, _) = vertex_near(h, place);
    let mesh = h.editor.document().session().active_mesh.unwrap();
    h.editor.select_points(mesh, &[point]);
    point
}

#[test]
fn selected_vertices_move_by_the_transform_at_any_bend() {
    for preset in [StackPreset::Lbs, StackPreset::Dqs, StackPreset::Default] {
        let mut h = bent_arm(preset);
        let point = select_at_elbow(&mut h);
        let (positions, before) = (shown(&h), h.editor.document().clone());
        let n_undo = h.editor.history().n_undo();
        let (pivot, _) = h.editor.vertex_gizmo_frame().unwrap();
        assert_eq!(pivot, positions[point as usize]);
        assert!(
            h.editor
                .begin_vertex_transform(TransformKind::Move, None, SIZE / 2.0, SIZE)
        );
        h.editor.press_axis(Axis::Y, false);
        type_number(&mut h, "0.02");
        assert_eq!(
            h.editor.transform_readout().unwrap(),
            "Move Y (global) 0.02 m"
        );
        h.editor.confirm_transform();
        h.settle();
        let after = shown(&h);
        let tolerance = 1e-5 * diagonal(&positions);
        for (p, (a, b)) in (0u32..).zip(positions.iter().zip(&after)) {
            let wanted = if p == point {
                Vec3::Y * 0.02
            } else {
                Vec3::ZERO
            };
            assert!(
                (*b - *a).distance(wanted) < tolerance,
                "{preset:?}: {p} {}",
                *b - *a
            );
        }
        assert_eq!(sculpted(&h).n_points(), 1);
        assert_eq!(h.editor.history().n_undo(), n_undo + 1);
        assert_eq!(h.editor.history().undo_label(), Some("Move 1 vertex"));
        h.editor.undo();
        h.settle();
        assert!(h.editor.document().same_content(&before));
        assert_eq!(shown(&h), positions);
    }
}

#[test]
fn soft_selection_fades_along_the_surface_and_follows_the_wheel() {
    let mut h = bent_arm(StackPreset::Default);
    let point = select_at_elbow(&mut h);
    let brush = h.editor.brush_mut();
    (brush.radius_unit, brush.radius_world) = (RadiusUnit::World, 0.06);
    h.editor.set_soft_selection(true);
    let positions = shown(&h);
    let n_undo = h.editor.history().n_undo();
    h.editor
        .begin_vertex_transform(TransformKind::Move, None, SIZE / 2.0, SIZE);
    h.editor.press_axis(Axis::Y, false);
    type_number(&mut h, "0.02");
    h.settle();
    let moved = |h: &EditorHarness| -> Vec<f32> {
        let pairs = shown(h).into_iter().zip(&positions);
        pairs.map(|(a, b)| a.distance(*b)).collect()
    };
    let near = moved(&h);
    assert!((near[point as usize] - 0.02).abs() < 1e-5);
    let n_near = near.iter().filter(|d| **d > 1e-6).count();
    assert!(n_near > 20, "{n_near}");
    for (p, d) in near.iter().enumerate() {
        let distance = positions[p].distance(positions[point as usize]);
        assert!(*d <= 0.02 + 1e-5, "{p}");
        assert!(*d < 1e-6 || distance < 0.06, "{p}: {d} at {distance}");
    }
    // A smaller radius lets go of what it does not reach any more.
    h.editor.resize_soft_selection(0.5);
    h.settle();
    let n_small = moved(&h).iter().filter(|d| **d > 1e-6).count();
    assert!(n_small > 1 && n_small < n_near / 2, "{n_small} of {n_near}");
    h.editor.cancel_transform();
    h.settle();
    assert_eq!(shown(&h), positions);
    assert_eq!(h.editor.history().n_undo(), n_undo);
    // A transform that moves nothing leaves no step.
    h.editor
        .begin_vertex_transform(TransformKind::Rotate, None, SIZE / 2.0, SIZE);
    h.editor
        .update_transform(SIZE / 2.0, PointerPrecision::default());
    h.editor.confirm_transform();
    assert_eq!(h.editor.history().n_undo(), n_undo);
}

#[test]
fn a_transform_without_selected_vertices_says_so() {
    let mut h = bent_arm(StackPreset::Default);
    h.editor.use_sculpt(SculptKind::Vertices);
    assert!(
        !h.editor
            .begin_vertex_transform(TransformKind::Move, None, SIZE / 2.0, SIZE)
    );
    h.settle();
    let said = h.last_notice();
    assert!(said.starts_with("Select vertices first"), "{said}");
}
