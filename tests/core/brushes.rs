//! What each brush does, through the editor: geometry of a touch, semantics of a stroke, both sides at once.

use crate::editing::EditorHarness;
use crate::reference::larger;
use glam::{DAffine3, DQuat, DVec3, Vec2, Vec3};
use proptest::prelude::*;
use sinew::deform::MaskKind;
use sinew::document::session::{
    BrushKind, BrushOptions, FalloffShape, Normalising, PaintMask, PaintTarget, PaintedBones,
    Pressure, RadiusUnit, SelectKind, SmoothedBones,
};
use sinew::document::{Document, MeshSource, PrimitiveSource, Skin};
use sinew::editor::OpenRequest;
use sinew::io::gltf_build;
use sinew::math::{Axis, Transform};
use sinew::sample::SampleModel;
use sinew::skeleton::{Joint, JointId, JointRule};
use sinew::skinning::Influences;
use sinew::tools::{PointerEvent, PointerKind};
use sinew::weights::falloff::Falloff;

const SIZE: Vec2 = Vec2::new(1000.0, 800.0);
const N_AROUND: usize = 24;
const N_RINGS: usize = 41;
/// Metres.
pub(crate) const FINGER: f32 = 0.008;
const GAP: f32 = 0.001;
const HEIGHT: f32 = 0.08;

/// Two fingers that stand side by side, 1 mm apart, each the mirror image of the other across x = 0: the lower half
/// follows the hand, the upper one its finger.
fn fingers() -> SampleModel {
    let mut primitive = PrimitiveSource::default();
    for side in [1.0f32, -1.0] {
        let first = primitive.positions.len() as u32;
        for ring in 0..N_RINGS {
            let y = HEIGHT * ring as f32 / (N_RINGS - 1) as f32;
            for k in 0..N_AROUND {
                let angle = k as f32 / N_AROUND as f32 * std::f32::consts::TAU;
                let x = FINGER + GAP * 0.5 - FINGER * angle.cos();
                primitive
                    .positions
                    .push(Vec3::new(side * x, y, FINGER * angle.sin()));
                let up = (y / HEIGHT * 2.0 - 0.5).clamp(0.0, 1.0);
                let finger = if side > 0.0 { 1u16 } else { 2 };
                let row = [(0u16, 1.0 - up), (finger, up)];
                let row = row.into_iter().filter(|e| e.1 > 0.0);
                primitive.influences.push_pairs(row);
            }
        }
        let at = |ring: usize, k: usize| first + (ring * N_AROUND + k % N_AROUND) as u32;
        for ring in 0..N_RINGS - 1 {
            for k in 0..N_AROUND {
                let (a, b) = (at(ring, k), at(ring, k + 1));
                let (c, d) = (at(ring + 1, k), at(ring + 1, k + 1));
                let faces = [[a, b, c], [b, d, c]];
                let turned = |[a, b, c]: [u32; 3]| if side > 0.0 { [a, b, c] } else { [a, c, b] };
                primitive.triangles.extend(faces.map(turned));
            }
        }
    }
    let places = [
        ("hand", DVec3::ZERO),
        ("finger.L", DVec3::new(0.0085, 0.04, 0.0)),
        ("finger.R", DVec3::new(-0.0085, 0.04, 0.0)),
    ];
    let joints = places.map(|(name, at)| Joint {
        name: name.into(),
        parent: (name != "hand").then_some(JointId(0)),
        rest: Transform {
            translation: at,
            ..Transform::IDENTITY
        },
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    });
    SampleModel {
        name: "fingers".into(),
        joints: joints.to_vec(),
        skin: Skin {
            name: "fingers".into(),
            joints: (0..3).map(JointId).collect(),
            inverse_bind: places
                .map(|(_, at)| DAffine3::from_translation(-at))
                .to_vec(),
        },
        mesh: MeshSource {
            name: "fingers".into(),
            primitives: vec![primitive],
            morph_names: Vec::new(),
        },
        clips: Vec::new(),
    }
}

/// The editor on the two fingers, seen from the front, the left one active.
pub(crate) fn on_fingers() -> EditorHarness {
    on(&fingers())
}

fn on(model: &SampleModel) -> EditorHarness {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fingers.glb");
    std::fs::write(&path, gltf_build::to_glb(model)).unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(path));
    let camera = h.editor.camera_mut();
    (camera.yaw, camera.pitch) = (0.0, 0.0);
    camera.target = Vec3::new(0.0, HEIGHT * 0.5, 0.0);
    camera.distance = 0.25;
    h.editor.select_joint(Some(JointId(1)));
    h
}

pub(crate) fn ndc(h: &EditorHarness, place: Vec3) -> Vec2 {
    let camera = h.editor.document().session().camera;
    let clip = camera.clip_from_world(SIZE.x / SIZE.y);
    clip.project_point3(place).truncate()
}

pub(crate) fn event(kind: PointerKind, ndc: Vec2) -> PointerEvent {
    PointerEvent {
        kind,
        ndc,
        size_px: SIZE,
        invert: false,
        smooth: false,
        pressure: None,
    }
}

pub(crate) fn send(h: &mut EditorHarness, event: PointerEvent) {
    h.editor.pointer(&event);
    h.editor.poll(0.0);
}

/// A stroke through `places`, as the first event says.
fn stroke(h: &mut EditorHarness, first: PointerEvent, places: &[Vec2]) {
    send(h, first);
    for &ndc in places {
        let kind = PointerKind::Drag;
        send(h, PointerEvent { kind, ndc, ..first });
    }
    let kind = PointerKind::Release;
    let ndc = places.last().copied().unwrap_or(first.ndc);
    send(h, PointerEvent { kind, ndc, ..first });
    h.settle();
}

fn rows(document: &Document) -> &Influences {
    &document.meshes().values().next().unwrap().influences
}

fn changed(before: &Document, after: &Document) -> Vec<u32> {
    let (old, new) = (rows(before), rows(after));
    let points = 0..old.len() as u32;
    points.filter(|&p| old.row(p) != new.row(p)).collect()
}

pub(crate) fn bind(document: &Document, point: u32) -> Vec3 {
    let item = document.meshes().values().next().unwrap();
    item.geometry.positions[point as usize]
}

/// The front of the left finger, on the side of the right one.
fn inner_front() -> Vec3 {
    Vec3::new(GAP * 0.5 + FINGER * 0.3, HEIGHT * 0.5, FINGER * 0.7)
}

fn wide(shape: FalloffShape) -> impl Fn(&mut BrushOptions) {
    move |brush| {
        brush.falloff_shape = shape;
        brush.radius_unit = RadiusUnit::World;
        brush.radius_world = FINGER * 1.2;
        brush.normalise = Normalising::Live;
    }
}

#[test]
fn surface_stays_on_its_finger_where_a_ball_and_a_circle_reach_the_next() {
    for (shape, crosses) in [
        (FalloffShape::Surface, false),
        (FalloffShape::Volume, true),
        (FalloffShape::Screen, true),
    ] {
        let mut h = on_fingers();
        wide(shape)(h.editor.brush_mut());
        let before = h.editor.document().clone();
        let at = ndc(&h, inner_front());
        stroke(
            &mut h,
            event(PointerKind::Press, at),
            &[at + Vec2::new(0.0, 0.1)],
        );
        let touched = changed(&before, h.editor.document());
        assert!(touched.len() > 20, "{shape:?}: {}", touched.len());
        let other = touched
            .iter()
            .filter(|&&p| bind(&before, p).x < 0.0)
            .count();
        assert_eq!(other > 0, crosses, "{shape:?}: {other}");
    }
}

#[test]
fn hidden_points_are_reached_by_xray_alone() {
    // Seen from the side: the right finger stands behind the left one.
    let reached = |xray: bool, front: bool| {
        let mut h = on_fingers();
        h.editor.camera_mut().yaw = std::f32::consts::FRAC_PI_2;
        let brush = h.editor.brush_mut();
        brush.falloff_shape = FalloffShape::Screen;
        (brush.xray, brush.front_faces_only) = (xray, front);
        let before = h.editor.document().clone();
        let at = ndc(&h, Vec3::new(2.0 * FINGER, HEIGHT * 0.6, 0.0));
        stroke(&mut h, event(PointerKind::Press, at), &[]);
        let touched = changed(&before, h.editor.document());
        let places: Vec<Vec3> = touched.iter().map(|&p| bind(&before, p)).collect();
        let of = |inside: &dyn Fn(&Vec3) -> bool| places.iter().filter(|p| inside(p)).count();
        (
            of(&|p| p.x > FINGER + GAP),
            of(&|p| p.x > 0.0 && p.x < FINGER - GAP),
            of(&|p| p.x < 0.0),
        )
    };
    let (near, back, behind) = reached(false, false);
    assert!(
        near > 10 && back == 0 && behind == 0,
        "{near} {back} {behind}"
    );
    let (near, back, behind) = reached(true, true);
    assert!(
        near > 10 && back == 0 && behind > 10,
        "{near} {back} {behind}"
    );
    let (near, back, behind) = reached(true, false);
    assert!(
        near > 10 && back > 10 && behind > 10,
        "{near} {back} {behind}"
    );
}

#[test]
fn a_fast_pointer_leaves_no_gap_and_paints_what_a_slow_one_does() {
    let painted = |n_events: usize| {
        let mut h = on_fingers();
        h.editor.brush_mut().radius_px = 12.0;
        let from = ndc(&h, Vec3::new(0.0085, 0.01, FINGER));
        let to = ndc(&h, Vec3::new(0.0085, 0.07, FINGER));
        let places: Vec<Vec2> = (1..=n_events)
            .map(|i| from.lerp(to, i as f32 / n_events as f32))
            .collect();
        stroke(&mut h, event(PointerKind::Press, from), &places);
        h.editor.document().clone()
    };
    let (fast, slow) = (painted(1), painted(50));
    let start = on_fingers().editor.document().clone();
    // The points in front along the way: all of them gained, with no gap between touches.
    let row = |document: &Document, p: u32| rows(document).row(p).weight_of(1);
    let on_way = (0..rows(&fast).len() as u32).filter(|&p| {
        let at = bind(&fast, p);
        (at.x - 0.0085).abs() < 1e-4 && at.z > 0.0 && (0.015..0.035).contains(&at.y)
    });
    let on_way: Vec<u32> = on_way.collect();
    assert!(on_way.len() > 8);
    for p in on_way {
        assert!(row(&fast, p) > row(&start, p) + 0.3, "point {p}");
    }
    let points = 0..rows(&fast).len() as u32;
    let off = points.map(|p| (row(&fast, p) - row(&slow, p)).abs());
    assert!(
        off.fold(0.0, larger) < 2e-3,
        "it does not matter how many events there were"
    );
}

#[test]
fn a_stroke_that_begins_beside_the_model_starts_where_it_meets_it() {
    let mut h = on_fingers();
    h.editor.brush_mut().radius_px = 10.0;
    let before = h.editor.document().clone();
    let outside = ndc(&h, Vec3::new(0.06, 0.04, FINGER));
    let finger = ndc(&h, Vec3::new(0.0085, 0.04, FINGER));
    send(&mut h, event(PointerKind::Press, outside));
    assert!(h.editor.document().same_content(&before));
    assert!(!h.editor.history().is_open());
    stroke(
        &mut h,
        event(PointerKind::Drag, outside.lerp(finger, 0.3)),
        &[finger],
    );
    let touched = changed(&before, h.editor.document());
    assert!(touched.len() > 5);
    assert!(touched.iter().all(|&p| bind(&before, p).x > 0.0));
    assert_eq!(h.editor.history().n_undo(), 1);
    // One that never meets it is no step, and says nothing.
    let n_notices = h.notices.len();
    stroke(
        &mut h,
        event(PointerKind::Press, outside),
        &[outside + Vec2::new(0.05, 0.0)],
    );
    assert_eq!(
        (h.editor.history().n_undo(), h.notices.len()),
        (1, n_notices)
    );
}

#[test]
fn symmetry_paints_the_other_finger_with_its_own_bone_in_any_pose() {
    let mut h = on_fingers();
    h.editor.brush_mut().symmetry = Some(Axis::X);
    // Before the table is ready a stroke says so; nothing is done by halves.
    let at = ndc(&h, Vec3::new(0.0085, 0.03, FINGER));
    let before = h.editor.document().clone();
    h.editor.pointer(&event(PointerKind::Press, at));
    h.editor.pointer(&event(PointerKind::Release, at));
    h.settle();
    assert!(
        h.last_notice().contains("still being computed"),
        "{}",
        h.last_notice()
    );
    assert!(h.editor.document().same_content(&before));

    // Bend the left finger alone: where the mirrored half is, only the bind pose says.
    let mut pose = (**h.editor.document().pose()).clone();
    pose.locals[1].rotation = DQuat::from_rotation_x(0.3);
    let edit = sinew::document::Edit::pose_change(h.editor.document().pose(), &pose).unwrap();
    h.editor.apply(edit, "Pose").unwrap();
    h.settle();
    let before = h.editor.document().clone();
    stroke(
        &mut h,
        event(PointerKind::Press, at),
        &[at + Vec2::new(0.0, 0.05)],
    );
    let after = h.editor.document().clone();
    assert_eq!(h.editor.history().n_undo(), 2);
    let touched = changed(&before, &after);
    let (left, right): (Vec<u32>, Vec<u32>) =
        touched.into_iter().partition(|&p| bind(&before, p).x > 0.0);
    assert!(left.len() > 10 && left.len() == right.len());
    for &p in &left {
        let image = bind(&before, p) * Vec3::new(-1.0, 1.0, 1.0);
        let q = right
            .iter()
            .find(|&&q| bind(&before, q).distance(image) < 1e-6)
            .unwrap();
        let (a, b) = (rows(&after).row(p), rows(&after).row(*q));
        assert!((a.weight_of(1) - b.weight_of(2)).abs() < 1e-6);
        assert!((a.weight_of(0) - b.weight_of(0)).abs() < 1e-6);
        assert_eq!((a.weight_of(2), b.weight_of(1)), (0.0, 0.0));
    }
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before));
    // A locked bone on the other side keeps its weights, and the stroke says what it left out.
    h.editor.toggle_lock(JointId(2));
    let before = h.editor.document().clone();
    stroke(&mut h, event(PointerKind::Press, at), &[]);
    let touched = changed(&before, h.editor.document());
    assert!(touched.iter().all(|&p| bind(&before, p).x > 0.0));
    assert!(
        h.last_notice().contains("only this side was painted"),
        "{}",
        h.last_notice()
    );
}

/// Left and right are apart along X: across Z, a stroke paints the back of the same finger.
#[test]
fn symmetry_across_another_axis_paints_the_same_bone() {
    let mut h = on_fingers();
    h.editor.brush_mut().symmetry = Some(Axis::Z);
    h.settle();
    let at = ndc(&h, Vec3::new(0.0085, 0.05, FINGER));
    let before = h.editor.document().clone();
    stroke(&mut h, event(PointerKind::Press, at), &[]);
    let after = h.editor.document().clone();
    let (front, back): (Vec<u32>, Vec<u32>) = changed(&before, &after)
        .into_iter()
        .filter(|&p| bind(&before, p).z.abs() > 1e-6)
        .partition(|&p| bind(&before, p).z > 0.0);
    assert!(front.len() > 5 && front.len() == back.len());
    for &p in front.iter().chain(&back) {
        assert!(bind(&before, p).x > 0.0, "the left finger alone");
        let (old, new) = (rows(&before).row(p), rows(&after).row(p));
        assert!(new.weight_of(1) > old.weight_of(1));
        assert_eq!(new.weight_of(2), 0.0);
    }
}

#[test]
fn the_plane_of_symmetry_follows_the_names_of_bones() {
    let mut beside = fingers();
    let by = Vec3::X;
    for place in &mut beside.mesh.primitives[0].positions {
        *place += by;
    }
    beside.joints[0].rest.translation += by.as_dvec3();
    for matrix in &mut beside.skin.inverse_bind {
        matrix.translation -= by.as_dvec3();
    }
    let mut h = on(&beside);
    h.editor.brush_mut().symmetry = Some(Axis::X);
    h.settle();
    let (&mesh, item) = h.editor.document().meshes().iter().next().unwrap();
    let n_points = item.geometry.n_points();
    let select = |h: &mut EditorHarness| {
        h.editor.select_points(mesh, &[0]);
        h.editor.select_mirrored();
        h.settle();
        h.editor.n_selected()
    };
    assert_eq!(h.editor.n_without_mirror_image(mesh), Some(0));
    assert_eq!(select(&mut h), 1);
    // No pair of bones is left that the plane could lie between.
    h.editor.rename_joint(JointId(1), "tip");
    h.settle();
    assert_eq!(h.editor.n_without_mirror_image(mesh), Some(n_points));
    assert_eq!(select(&mut h), 0);
    h.editor.undo();
    h.settle();
    assert_eq!(h.editor.n_without_mirror_image(mesh), Some(0));
    assert_eq!(select(&mut h), 1);
}

#[test]
fn a_stroke_over_both_halves_stays_symmetric() {
    let mut h = on_fingers();
    let brush = h.editor.brush_mut();
    brush.symmetry = Some(Axis::X);
    brush.falloff_shape = FalloffShape::Screen;
    brush.radius_px = 90.0;
    h.settle();
    let at = ndc(&h, Vec3::new(0.003, 0.03, FINGER));
    stroke(
        &mut h,
        event(PointerKind::Press, at),
        &[at + Vec2::new(-0.05, 0.08)],
    );
    let document = h.editor.document();
    let mesh = *document.meshes().keys().next().unwrap();
    for p in 0..rows(document).len() as u32 {
        let q = h.editor.mirror_image(mesh, p).unwrap();
        let (a, b) = (rows(document).row(p), rows(document).row(q));
        for (j, k) in [(0, 0), (1, 2), (2, 1)] {
            assert!(
                (a.weight_of(j) - b.weight_of(k)).abs() < 1e-5,
                "{a:?} {b:?}"
            );
        }
    }
}

#[test]
fn floor_and_ceiling_bound_what_a_stroke_makes() {
    for invert in [false, true] {
        let mut h = on_fingers();
        let brush = h.editor.brush_mut();
        (brush.floor, brush.ceiling, brush.strength) = (0.25, 0.75, 1.0);
        let before = h.editor.document().clone();
        let at = ndc(&h, Vec3::new(0.0085, 0.035, FINGER));
        let first = PointerEvent {
            invert,
            ..event(PointerKind::Press, at)
        };
        stroke(&mut h, first, &[at + Vec2::new(0.0, 0.1)]);
        let after = h.editor.document();
        let touched = changed(&before, after);
        assert!(touched.len() > 10);
        let mut reached = false;
        for p in touched {
            let (was, is) = (
                rows(&before).row(p).weight_of(1),
                rows(after).row(p).weight_of(1),
            );
            assert!(
                is >= was.min(0.25) - 1e-6 && is <= was.max(0.75) + 1e-6,
                "{was} {is}"
            );
            reached |= (is - if invert { 0.25 } else { 0.75 }).abs() < 1e-6;
        }
        assert!(reached);
    }
}

fn sum(influences: &Influences, point: u32) -> f32 {
    influences.row(point).weights.iter().sum()
}

#[test]
fn on_release_sums_come_back_with_the_button_and_in_the_same_step() {
    let mut h = on_fingers();
    h.editor.brush_mut().normalise = Normalising::OnRelease;
    let before = h.editor.document().clone();
    let at = ndc(&h, Vec3::new(0.0085, 0.035, FINGER));
    let to = at + Vec2::new(0.0, 0.1);
    send(&mut h, event(PointerKind::Press, at));
    // An event paints for some milliseconds only; the next ones go on from there.
    for _ in 0..100 {
        send(&mut h, event(PointerKind::Drag, to));
    }
    let during = h.editor.document().clone();
    let touched = changed(&before, &during);
    assert!(
        touched.iter().any(|&p| sum(rows(&during), p) > 1.05),
        "raw while it goes on"
    );
    stroke(&mut h, event(PointerKind::Drag, to), &[]);
    let after = h.editor.document().clone();
    for &p in &touched {
        assert!((sum(rows(&after), p) - 1.0).abs() < 1e-5);
        let raw = rows(&during).row(p).weight_of(1);
        assert!(
            (rows(&after).row(p).weight_of(1) - raw).abs() < 1e-6,
            "what was painted stays"
        );
    }
    assert_eq!(h.editor.history().n_undo(), 1);
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().same_content(&before), "bit for bit");
    h.editor.redo();
    h.settle();
    assert!(h.editor.document().same_content(&after));

    h.editor.undo();
    h.editor.brush_mut().normalise = Normalising::Off;
    stroke(&mut h, event(PointerKind::Press, at), &[to]);
    let off = h.editor.document();
    assert!(touched.iter().any(|&p| sum(rows(off), p) > 1.05), "as set");
    for &p in &touched {
        let (was, is) = (rows(&before).row(p), rows(off).row(p));
        assert_eq!(was.weight_of(0), is.weight_of(0), "the others stay");
    }
}

#[test]
fn accumulating_goes_on_where_a_plain_stroke_stops() {
    let gained = |accumulate: bool| {
        let mut h = on_fingers();
        let brush = h.editor.brush_mut();
        (brush.accumulate, brush.strength) = (accumulate, 0.1);
        let at = ndc(&h, Vec3::new(0.0085, 0.03, FINGER));
        let before = h.editor.document().clone();
        let there = at + Vec2::new(0.0, 0.03);
        stroke(
            &mut h,
            event(PointerKind::Press, at),
            &[there, at, there, at],
        );
        let after = h.editor.document();
        let gains = changed(&before, after)
            .into_iter()
            .map(|p| rows(after).row(p).weight_of(1) - rows(&before).row(p).weight_of(1));
        gains.fold(0.0, larger)
    };
    let once = gained(false);
    assert!(once > 0.05 && once <= 0.1 + 1e-6, "{once}");
    assert!(gained(true) > 0.5);
}

#[test]
fn smooth_evens_out_and_sharpen_does_not() {
    let roughness = |document: &Document| -> f32 {
        let item = document.meshes().values().next().unwrap();
        let topology = item.geometry.topology();
        (0..item.influences.len() as u32)
            .flat_map(|p| topology.neighbours(p).iter().map(move |&q| (p, q)))
            .map(|(p, q)| {
                let weight = |p| item.influences.row(p).weight_of(1);
                (weight(p) - weight(q)).powi(2)
            })
            .sum()
    };
    let mut h = on_fingers();
    // Noise: a few hard dots.
    let brush = h.editor.brush_mut();
    (brush.falloff, brush.radius_px, brush.strength) = (Falloff::Constant, 6.0, 0.8);
    for y in [0.025, 0.035, 0.045] {
        let at = ndc(&h, Vec3::new(0.0085, y, FINGER));
        stroke(&mut h, event(PointerKind::Press, at), &[]);
    }
    h.editor.brush_mut().radius_px = 60.0;
    let noisy = h.editor.document().clone();
    let (from, to) = (
        ndc(&h, Vec3::new(0.0085, 0.02, FINGER)),
        ndc(&h, Vec3::new(0.0085, 0.05, FINGER)),
    );
    for (kind, smooth, invert, evens) in [
        (BrushKind::Smooth, false, false, true),
        (BrushKind::Add, true, false, true),
        (BrushKind::Sharpen, false, true, true),
        (BrushKind::Sharpen, false, false, false),
        (BrushKind::Smooth, false, true, false),
    ] {
        for smoothed in [SmoothedBones::Painted, SmoothedBones::All] {
            let brush = h.editor.brush_mut();
            (brush.weights_kind, brush.smoothed) = (kind, smoothed);
            let first = PointerEvent {
                smooth,
                invert,
                ..event(PointerKind::Press, from)
            };
            stroke(&mut h, first, &[to]);
            let (was, is) = (roughness(&noisy), roughness(h.editor.document()));
            assert_eq!(
                is < was,
                evens,
                "{kind:?} {smooth} {invert} {smoothed:?}: {was} {is}"
            );
            assert_ne!(is, was);
            h.editor.undo();
            h.settle();
            assert!(h.editor.document().same_content(&noisy));
        }
    }
}

#[test]
fn selected_bones_are_painted_together_in_their_proportion() {
    let mut h = on_fingers();
    h.editor.document().session();
    h.editor.select_joint(Some(JointId(1)));
    h.editor
        .pick_joint(Some(JointId(0)), sinew::tools::SelectOp::Extend);
    let before = h.editor.document().clone();
    let at = ndc(&h, Vec3::new(-0.0085, 0.055, FINGER));
    stroke(
        &mut h,
        event(PointerKind::Press, at),
        &[at + Vec2::new(0.0, -0.05)],
    );
    let after = h.editor.document().clone();
    let touched = changed(&before, &after);
    assert!(touched.len() > 10, "{}", h.last_notice());
    for &p in &touched {
        let (was, is) = (rows(&before).row(p), rows(&after).row(p));
        let group = |row: sinew::skinning::RowRef<'_>| row.weight_of(0) + row.weight_of(1);
        assert!(group(is) > group(was));
        assert!((sum(rows(&after), p) - 1.0).abs() < 1e-5);
        if group(was) > 0.0 {
            let share = was.weight_of(0) / group(was);
            assert!((is.weight_of(0) / group(is) - share).abs() < 1e-4);
        } else {
            assert!((is.weight_of(0) - is.weight_of(1)).abs() < 1e-6, "equally");
        }
    }
    h.editor.undo();
    h.editor.brush_mut().bones = PaintedBones::Active;
    stroke(&mut h, event(PointerKind::Press, at), &[]);
    let alone = h.editor.document();
    let active = h.editor.document().session().active_joint.unwrap();
    for p in changed(&before, alone) {
        let other = 1 - active.0 as u16;
        assert!(rows(alone).row(p).weight_of(other) <= rows(&before).row(p).weight_of(other));
    }
    h.editor.undo();
    h.editor.brush_mut().bones = PaintedBones::Selected;
    // With all of the unlocked ones selected nobody can give.
    h.editor.toggle_lock(JointId(2));
    stroke(&mut h, event(PointerKind::Press, at), &[]);
    assert!(
        h.last_notice()
            .starts_with("All bones that are not locked are painted together")
    );
}

#[test]
fn gradients_are_drawn_from_place_to_place_and_follow_the_pointer_back() {
    for kind in [BrushKind::Gradient, BrushKind::Radial] {
        let mut h = on_fingers();
        let brush = h.editor.brush_mut();
        (brush.weights_kind, brush.strength, brush.falloff) = (kind, 1.0, Falloff::Linear);
        let before = h.editor.document().clone();
        let (from, to) = (Vec3::new(0.0085, 0.01, 0.0), Vec3::new(0.0085, 0.05, 0.0));
        let places = [from, to].map(|p| ndc(&h, p + Vec3::Z * FINGER));
        // First too far, then back: only the last place counts.
        let far = places[0].lerp(places[1], 1.6);
        stroke(
            &mut h,
            event(PointerKind::Press, places[0]),
            &[far, places[1]],
        );
        let after = h.editor.document();
        let front: Vec<u32> = (0..rows(after).len() as u32)
            .filter(|&p| {
                (bind(after, p) - Vec3::new(0.0085, 0.0, FINGER))
                    .with_y(0.0)
                    .length()
                    < 1e-4
            })
            .collect();
        assert_eq!(front.len(), N_RINGS);
        for p in front {
            let (y, w) = (bind(after, p).y, rows(after).row(p).weight_of(1));
            let was = rows(&before).row(p).weight_of(1);
            let share = ((y - 0.01) / 0.04).max(if kind == BrushKind::Radial {
                (0.01 - y) / 0.04
            } else {
                0.0
            });
            let expected = was + (1.0 - was) * (1.0 - share).clamp(0.0, 1.0);
            assert!(
                (w - expected).abs() < 0.02,
                "{kind:?} at {y}: {w} {expected}"
            );
            if share > 1.0 {
                assert_eq!(
                    rows(after).row(p),
                    rows(&before).row(p),
                    "not touched at all"
                );
            }
        }
        assert_eq!(h.editor.history().n_undo(), 1);
        h.editor.undo();
        h.settle();
        assert!(h.editor.document().same_content(&before));
    }
}

#[test]
fn a_gradient_from_beside_the_model_is_that_of_the_active_object() {
    let mut h = on_fingers();
    h.editor.brush_mut().weights_kind = BrushKind::Gradient;
    let before = h.editor.document().clone();
    let outside = ndc(&h, Vec3::new(0.05, 0.04, 0.0));
    let to = ndc(&h, Vec3::new(0.0, 0.04, 0.0));
    stroke(&mut h, event(PointerKind::Press, outside), &[to]);
    let touched = changed(&before, h.editor.document());
    assert!(touched.len() > 50, "{}", touched.len());
    assert!(
        touched.iter().all(|&p| bind(&before, p).z > -0.5 * FINGER),
        "what faces away stays"
    );
}

#[test]
fn the_sample_brush_takes_what_is_there_and_changes_nothing() {
    let mut h = on_fingers();
    h.editor.brush_mut().weights_kind = BrushKind::Sample;
    let before = h.editor.document().clone();
    let place = |y: f32| Vec3::new(0.0085, y, FINGER);
    let (low, high) = (ndc(&h, place(0.04)), ndc(&h, place(0.05)));
    stroke(&mut h, event(PointerKind::Press, low), &[high]);
    let brush = h.editor.document().session().brush;
    assert!((brush.weight - 0.75).abs() < 0.02, "{}", brush.weight);
    assert!(h.editor.document().same_content(&before));
    assert_eq!(h.editor.history().n_undo(), 0);
    let other = ndc(&h, place(0.07) * Vec3::new(-1.0, 1.0, 1.0));
    let first = PointerEvent {
        invert: true,
        ..event(PointerKind::Press, other)
    };
    stroke(&mut h, first, &[]);
    assert_eq!(h.editor.document().session().active_joint, Some(JointId(2)));
}

#[test]
fn the_paint_mask_lets_only_the_selection_through() {
    let mut h = on_fingers();
    let at = ndc(&h, Vec3::new(0.0085, 0.022, FINGER));
    h.editor.brush_mut().mask = PaintMask::Points;
    stroke(&mut h, event(PointerKind::Press, at), &[]);
    assert!(
        h.last_notice()
            .contains("no vertex of \"fingers\" is selected"),
        "{}",
        h.last_notice()
    );
    h.editor.set_select_kind(SelectKind::Points);
    h.editor.select_moved_points();
    // The finger's own points begin above a quarter of its height.
    for mask in [PaintMask::Points, PaintMask::Faces] {
        h.editor.brush_mut().mask = mask;
        let before = h.editor.document().clone();
        stroke(&mut h, event(PointerKind::Press, at), &[]);
        let touched = changed(&before, h.editor.document());
        assert!(touched.len() > 5);
        assert!(touched.iter().all(|&p| bind(&before, p).y > HEIGHT * 0.25));
        h.editor.undo();
        h.settle();
    }
}

#[test]
fn a_pen_that_presses_lightly_paints_less() {
    let gained = |pressure: Option<f32>, means: Pressure| {
        let mut h = on_fingers();
        h.editor.brush_mut().pressure = means;
        let before = h.editor.document().clone();
        let at = ndc(&h, Vec3::new(0.0085, 0.03, FINGER));
        let first = PointerEvent {
            pressure,
            ..event(PointerKind::Press, at)
        };
        stroke(&mut h, first, &[]);
        let after = h.editor.document();
        let touched = changed(&before, after);
        let gain = |p: &u32| rows(after).row(*p).weight_of(1) - rows(&before).row(*p).weight_of(1);
        let most = touched.iter().map(gain).fold(0.0, larger);
        (touched.len(), most)
    };
    let (n_plain, plain) = gained(None, Pressure::Both);
    assert_eq!(gained(Some(0.2), Pressure::Off), (n_plain, plain));
    let (n, most) = gained(Some(0.2), Pressure::Strength);
    assert!(n == n_plain && most < plain * 0.3);
    let (n, _) = gained(Some(0.4), Pressure::Size);
    assert!(n > 0 && n * 2 < n_plain, "{n} {n_plain}");
}

#[test]
fn maps_have_brushes_of_their_own() {
    let mut h = on_fingers();
    let kind = MaskKind::Compensation;
    h.editor.set_paint_target(PaintTarget::Mask(kind));
    assert_eq!(
        h.editor.document().session().brush.kind(),
        BrushKind::Replace
    );
    let at = ndc(&h, Vec3::new(0.0085, 0.03, FINGER));
    let values = |h: &EditorHarness| -> Vec<f32> {
        let item = h.editor.document().meshes().values().next().unwrap();
        (0..item.influences.len() as u32)
            .map(|p| item.masks.value(kind, p))
            .collect()
    };
    let brush = h.editor.brush_mut();
    *brush.value_mut() = 0.5;
    *brush.kind_mut() = BrushKind::Add;
    brush.strength = 1.0;
    stroke(&mut h, event(PointerKind::Press, at), &[]);
    assert_eq!(values(&h).into_iter().fold(0.0, larger), 1.5);
    let first = PointerEvent {
        invert: true,
        ..event(PointerKind::Press, at)
    };
    stroke(&mut h, first, &[]);
    assert!(values(&h).into_iter().all(|v| (v - 1.0).abs() < 0.02));
    h.editor.undo();
    let rough = values(&h);
    let first = PointerEvent {
        smooth: true,
        ..event(PointerKind::Press, at)
    };
    stroke(&mut h, first, &[]);
    let most = |values: Vec<f32>| values.into_iter().fold(0.0, larger);
    assert!(most(values(&h)) < most(rough));
    assert_eq!(
        h.editor.document().session().brush.kind(),
        BrushKind::Add,
        "Shift is a loan"
    );
}

fn any_brush() -> impl Strategy<Value = BrushOptions> {
    let kinds = proptest::sample::select(&BrushKind::ALL[..7]);
    let symmetry = proptest::option::of(Just(Axis::X));
    let numbers = (
        0.0..=1.0f32,
        0.05..=1.0f32,
        5.0..80.0f32,
        0.0..=0.5f32,
        0.5..=1.0f32,
    );
    let modes = (
        proptest::sample::select(&FalloffShape::ALL[..]),
        proptest::sample::select(&Normalising::ALL[..]),
        proptest::sample::select(&Falloff::ALL[..]),
    );
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (kinds, symmetry, numbers, modes, switches, 1..=8usize).prop_map(
        |(kind, symmetry, numbers, modes, switches, max_influences)| {
            let (weight, strength, radius_px, floor, ceiling) = numbers;
            let (falloff_shape, normalise, falloff) = modes;
            let (accumulate, xray, front_faces_only, all) = switches;
            BrushOptions {
                weights_kind: kind,
                symmetry,
                weight,
                strength,
                radius_px,
                floor,
                ceiling,
                falloff_shape,
                normalise,
                falloff,
                accumulate,
                xray,
                front_faces_only,
                max_influences,
                spacing: 0.3,
                smoothed: if all {
                    SmoothedBones::All
                } else {
                    SmoothedBones::Painted
                },
                ..BrushOptions::default()
            }
        },
    )
}

type Stroke = (
    BrushOptions,
    (f32, f32),
    (f32, f32),
    bool,
    bool,
    u32,
    Option<u32>,
);

fn any_stroke() -> impl Strategy<Value = Stroke> {
    let place = || (-0.02..0.02f32, 0.0..0.08f32);
    (
        any_brush(),
        place(),
        place(),
        any::<bool>(),
        proptest::bool::weighted(0.2),
        0..3u32,
        proptest::option::weighted(0.3, 0..3u32),
    )
}

#[test]
fn a_long_way_is_painted_after_the_button_came_up_as_one_step() {
    let painted = |press_again: bool| {
        let mut h = on_fingers();
        let brush = h.editor.brush_mut();
        (brush.radius_px, brush.spacing) = (30.0, 0.01);
        let from = ndc(&h, Vec3::new(0.0085, 0.01, FINGER));
        let to = ndc(&h, Vec3::new(0.0085, 0.07, FINGER));
        h.editor.pointer(&event(PointerKind::Press, from));
        // Back and forth: far more than a frame has time for.
        for i in 1..=200 {
            let at = if i % 2 == 0 { from } else { to };
            h.editor.trace_stroke(&event(PointerKind::Drag, at));
        }
        h.editor.pointer(&event(PointerKind::Release, to));
        assert!(h.editor.is_ending_stroke());
        assert_eq!(h.editor.history().n_undo(), 0);
        if press_again {
            h.editor.pointer(&event(PointerKind::Press, to));
            assert!(!h.editor.is_ending_stroke());
            assert_eq!(h.editor.history().n_undo(), 1);
            h.editor.cancel_tool();
        } else {
            // Looking elsewhere moves nothing of it.
            h.editor.camera_mut().yaw = 1.0;
        }
        h.settle();
        assert!(!h.editor.is_ending_stroke() && !h.editor.is_painting());
        assert_eq!(h.editor.history().n_undo(), 1);
        h.editor.document().clone()
    };
    let (alone, pressed) = (painted(false), painted(true));
    let points = 0..rows(&alone).len() as u32;
    let off = points
        .map(|p| (rows(&alone).row(p).weight_of(1) - rows(&pressed).row(p).weight_of(1)).abs());
    assert!(off.fold(0.0, larger) < 1e-6);
}

#[test]
fn a_stroke_that_can_do_nothing_says_why() {
    let mut h = on_fingers();
    h.editor.brush_mut().strength = 1.0;
    // The tip follows its finger alone: nothing else can take its weight.
    let tip = ndc(&h, Vec3::new(0.0085, 0.075, FINGER));
    let less = PointerEvent {
        invert: true,
        ..event(PointerKind::Press, tip)
    };
    stroke(&mut h, less, &[]);
    assert!(
        h.last_notice()
            .contains("only this bone. Paint another bone there instead"),
        "{}",
        h.last_notice()
    );
    assert_eq!(h.editor.history().n_undo(), 0);
    // The finger is locked: it leaves no weight to the hand.
    h.editor.toggle_lock(JointId(1));
    h.editor.select_joint(Some(JointId(0)));
    stroke(&mut h, event(PointerKind::Press, tip), &[]);
    assert!(
        h.last_notice()
            .starts_with("Locked bones have all weight of"),
        "{}",
        h.last_notice()
    );
}

#[test]
fn the_mirror_plane_lies_between_left_and_right_wherever_the_model_stands() {
    const ASIDE: f32 = 1.5;
    let mut model = fingers();
    for p in &mut model.mesh.primitives[0].positions {
        p.x += ASIDE;
    }
    let aside = DVec3::X * f64::from(ASIDE);
    for inverse in &mut model.skin.inverse_bind {
        *inverse *= DAffine3::from_translation(-aside);
    }
    model.joints[0].rest.translation += aside;
    let mut h = on(&model);
    h.editor.camera_mut().target.x = ASIDE;
    h.editor.brush_mut().symmetry = Some(Axis::X);
    h.settle();
    let before = h.editor.document().clone();
    let at = ndc(&h, Vec3::new(0.0085 + ASIDE, 0.03, FINGER));
    stroke(&mut h, event(PointerKind::Press, at), &[]);
    let after = h.editor.document().clone();
    let gained = |joint: u16| {
        let weight = |document: &Document, p: u32| rows(document).row(p).weight_of(joint);
        let points = changed(&before, &after).into_iter();
        let gain = |p: &u32| weight(&after, *p) > weight(&before, *p);
        points.filter(gain).count()
    };
    let (left, right) = (gained(1), gained(2));
    assert!(left > 0 && left == right, "{left} {right}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// After any strokes: weights are in range, sums are 1 unless they were to be left alone, locked bones keep every
    /// bit, no bone but the painted ones gains where it had none, and undo restores every bit.
    #[test]
    fn any_strokes_keep_their_promises(strokes in proptest::collection::vec(any_stroke(), 1..5)) {
        let mut h = on_fingers();
        let start = h.editor.document().clone();
        let n_before = h.editor.history().n_undo();
        let mut plain_sums = true;
        for (brush, from, to, invert, smooth, active, lock) in strokes {
            *h.editor.brush_mut() = brush;
            h.editor.select_joint(Some(JointId(active)));
            if let Some(lock) = lock {
                h.editor.toggle_lock(JointId(lock));
            }
            h.settle();
            let before = h.editor.document().clone();
            let at = |(x, y): (f32, f32)| ndc(&h, Vec3::new(x, y, FINGER));
            let (from, to) = (at(from), at(to));
            let first = PointerEvent { invert, smooth, ..event(PointerKind::Press, from) };
            stroke(&mut h, first, &[from.lerp(to, 0.4), to]);
            let after = h.editor.document().clone();
            let live = brush.normalise == Normalising::Live;
            plain_sums &= brush.normalise != Normalising::Off;
            let averages = smooth || brush.weights_kind.averages();
            let mirrored = [0u16, 2, 1][active as usize];
            for p in changed(&before, &after) {
                let (was, is) = (rows(&before).row(p), rows(&after).row(p));
                for j in 0..3u16 {
                    let (a, b) = (was.weight_of(j), is.weight_of(j));
                    prop_assert!((0.0..=1.0).contains(&b), "{b}");
                    if before.locked().contains(&JointId(u32::from(j))) {
                        prop_assert_eq!(a.to_bits(), b.to_bits());
                    }
                    let painted = j == active as u16
                        || (brush.symmetry.is_some() && j == mirrored)
                        || (averages && brush.smoothed == SmoothedBones::All);
                    if live && !painted {
                        prop_assert!(b == 0.0 || a > 0.0, "{j} gained at {p}: {was:?} {is:?}");
                    }
                }
                if plain_sums {
                    prop_assert!((sum(rows(&after), p) - 1.0).abs() < 1e-5, "{is:?}");
                }
            }
        }
        while h.editor.history().n_undo() > n_before {
            h.editor.undo();
        }
        h.settle();
        prop_assert!(h.editor.document().same_content(&start));
    }
}
