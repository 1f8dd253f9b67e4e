//! Posing with the headless editor: exact numbers, one undo step, undo to the same bits, pins, mirrored poses.

use crate::shared::shared_dir;
use glam::{DQuat, DVec3, Vec2};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use sinew::document::session::{PoseSpace, TransformKind};
use sinew::document::{ClipId, Document};
use sinew::editor::constraints::ConstraintKind;
use sinew::editor::{Editor, OpenRequest, ResetPart};
use sinew::skeleton::{JointId, Pose};
use sinew::tools::{Axis, Constraint, Handle, PointerPrecision, Screen, SelectOp};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const SIZE: Vec2 = Vec2::new(1000.0, 800.0);
const PLAIN: PointerPrecision = PointerPrecision {
    snap: false,
    precise: false,
};

pub(crate) fn open(request: OpenRequest) -> Editor {
    let mut editor = Editor::new(None, || {}).unwrap();
    editor.open(request);
    settle(&mut editor);
    editor
}

pub(crate) fn arm() -> Editor {
    open(OpenRequest::Sample("arm".into()))
}

pub(crate) fn settle(editor: &mut Editor) {
    let deadline = Instant::now() + Duration::from_mins(2);
    loop {
        editor.poll(0.0);
        if editor.is_idle() {
            break;
        }
        assert!(Instant::now() < deadline, "the editor does not rest");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn select(editor: &mut Editor, joints: &[JointId]) {
    editor.pick_joint(None, SelectOp::Replace);
    for &joint in joints {
        editor.pick_joint(Some(joint), SelectOp::Extend);
    }
}

fn place(editor: &Editor, joint: JointId) -> DVec3 {
    let document = editor.document();
    document.shown_pose().world_matrices(document.skeleton())[joint.get()].translation
}

fn seen_at(editor: &Editor, joint: JointId) -> Vec2 {
    let screen = Screen::new(editor.document().session().camera, SIZE);
    screen.project(place(editor, joint).as_vec3()).unwrap()
}

fn deepest(document: &Document) -> JointId {
    let mask = document.skin_joint_mask();
    let skeleton = document.skeleton();
    (0..skeleton.len() as u32)
        .map(JointId)
        .filter(|j| mask[j.get()])
        .max_by_key(|&j| skeleton.ancestors(j).count())
        .unwrap()
}

pub(crate) fn same_bits(a: &Pose, b: &Pose) -> bool {
    let bits = |pose: &Pose| -> Vec<u64> {
        let numbers = pose.locals.iter().flat_map(|l| {
            let (t, q, s) = (l.translation, l.rotation, l.stretch.to_cols_array());
            [t.x, t.y, t.z, q.x, q.y, q.z, q.w].into_iter().chain(s)
        });
        numbers.map(f64::to_bits).collect()
    };
    bits(a) == bits(b)
}

/// Over a clip, the pose that was left unkeyed at another time is not the one on screen.
#[test]
fn the_same_rotation_again_after_a_change_of_time_is_confirmed() {
    let mut editor = arm();
    let clip = *editor.document().clips().keys().next().unwrap();
    editor.show_clip(Some(clip));
    editor.set_time(0.0);
    let bone = JointId(editor.document().skeleton().order()[1]);
    select(&mut editor, &[bone]);
    let turn = |editor: &mut Editor| {
        assert!(editor.begin_transform(TransformKind::Rotate, None, SIZE * 0.5, SIZE));
        editor.press_axis(Axis::X, false);
        for c in "70".chars() {
            assert!(editor.type_transform(c));
        }
        editor.confirm_transform();
        editor.document().shown_pose().locals[bone.get()]
    };
    let keyed = editor.document().shown_pose().locals[bone.get()];
    let first = turn(&mut editor);
    assert_ne!(first, keyed);
    editor.set_time(0.5);
    editor.set_time(0.0);
    assert_eq!(editor.document().shown_pose().locals[bone.get()], keyed);
    let n_before = editor.history().n_undo();
    assert_eq!(turn(&mut editor), first);
    assert!(editor.playback().unkeyed);
    assert_eq!(editor.history().n_undo(), n_before + 1);
    editor.undo();
    assert_eq!(editor.document().shown_pose().locals[bone.get()], keyed);
}

#[test]
fn a_typed_rotation_is_exact_one_step_and_undone_bit_for_bit() {
    let mut editor = arm();
    let bone = JointId(editor.document().skeleton().order()[1]);
    select(&mut editor, &[bone]);
    let before = editor.document().pose().clone();
    let n_before = editor.history().n_undo();
    assert!(editor.begin_transform(TransformKind::Rotate, None, SIZE * 0.5, SIZE));
    editor.press_axis(Axis::X, false);
    for c in "91".chars() {
        assert!(editor.type_transform(c));
    }
    editor.untype_transform();
    assert!(editor.type_transform('0'));
    editor.update_transform(SIZE * 0.7, PLAIN);
    assert_eq!(
        editor.transform_readout().as_deref(),
        Some("Rotate X (local) 90°")
    );
    editor.confirm_transform();
    let quarter = DQuat::from_axis_angle(DVec3::X, 90f64.to_radians());
    let expected = before.locals[bone.get()].rotation * quarter;
    assert_eq!(
        editor.document().pose().locals[bone.get()].rotation,
        expected
    );
    assert_eq!(editor.history().n_undo(), n_before + 1);
    let label = editor.document().skeleton().label(bone);
    assert_eq!(
        editor.history().undo_label(),
        Some(format!("Rotate {label}").as_str())
    );
    editor.undo();
    assert!(same_bits(editor.document().pose(), &before));
    editor.redo();
    assert_eq!(
        editor.document().pose().locals[bone.get()].rotation,
        expected
    );
}

/// What constraints make of other bones is neither posed nor keyed.
#[test]
fn posing_and_keyframes_hold_the_pose_before_constraints() {
    let mut editor = arm();
    let order = editor.document().skeleton().order();
    let (driver, follower) = (JointId(order[1]), JointId(order[2]));
    editor.add_constraint(follower, ConstraintKind::CopyRotation);
    editor.change_constraint(follower, 0, "Change constraint", |constraint| {
        constraint.rule = constraint.rule.clone().following(driver);
        constraint.influence = 0.5;
        constraint.is_muted = false;
    });
    select(&mut editor, &[driver]);
    assert!(editor.begin_transform(TransformKind::Rotate, None, SIZE * 0.5, SIZE));
    editor.press_axis(Axis::X, false);
    for c in "80".chars() {
        assert!(editor.type_transform(c));
    }
    editor.confirm_transform();
    let document = editor.document();
    let rest = document.rest_pose().locals[follower.get()];
    assert_eq!(document.pose().locals[follower.get()], rest);
    let shown = document.shown_pose().locals[follower.get()];
    let turned = (rest.rotation.inverse() * shown.rotation).to_axis_angle().1;
    assert!((turned.to_degrees() - 40.0).abs() < 1e-9, "{turned}");

    select(&mut editor, &[driver, follower]);
    editor.key_pose();
    let document = editor.document();
    let clip = document.session().playback.clip.unwrap();
    let clip = &document.clips()[&clip];
    let keyed = document.keyed_pose(clip, document.session().playback.time_secs);
    let off = keyed.locals[follower.get()].rotation.dot(rest.rotation);
    assert!(off.abs() > 1.0 - 1e-9);
    let again = document.shown_pose().locals[follower.get()].rotation;
    assert!(again.dot(shown.rotation).abs() > 1.0 - 1e-9);
}

#[test]
fn esc_leaves_no_trace_and_nothing_moved_is_no_step() {
    let mut editor = arm();
    let bone = deepest(editor.document());
    select(&mut editor, &[bone]);
    let before = editor.document().pose().clone();
    let n_before = editor.history().n_undo();
    for kind in [
        TransformKind::Move,
        TransformKind::Rotate,
        TransformKind::Scale,
    ] {
        editor.begin_transform(kind, None, SIZE * 0.3, SIZE);
        editor.update_transform(SIZE * 0.8, PLAIN);
        assert!(!same_bits(editor.document().pose(), &before), "{kind:?}");
        editor.cancel_transform();
        assert!(same_bits(editor.document().pose(), &before));
        // Undo during a drag takes the drag back.
        editor.begin_transform(kind, None, SIZE * 0.3, SIZE);
        editor.update_transform(SIZE * 0.8, PLAIN);
        editor.undo();
        assert!(same_bits(editor.document().pose(), &before) && !editor.is_posing());
        // Back where it began.
        editor.begin_transform(kind, None, SIZE * 0.3, SIZE);
        editor.update_transform(SIZE * 0.8, PLAIN);
        editor.press_axis(Axis::Y, false);
        assert!(editor.type_transform(if kind == TransformKind::Scale {
            '1'
        } else {
            '0'
        }));
        editor.confirm_transform();
        assert!(same_bits(editor.document().pose(), &before), "{kind:?}");
    }
    assert_eq!(editor.history().n_undo(), n_before);
}

#[test]
fn a_pose_over_a_clip_begins_from_what_is_shown() {
    let mut editor = open(OpenRequest::Sample("mannequin".into()));
    let clip: ClipId = *editor.document().clips().keys().next().unwrap();
    editor.show_clip(Some(clip));
    editor.set_time(0.4);
    settle(&mut editor);
    let shown = editor.document().shown_pose();
    let before = editor.document().pose().clone();
    assert_ne!(shown.locals, before.locals);
    let bone = deepest(editor.document());
    select(&mut editor, &[bone]);
    editor.begin_transform(TransformKind::Rotate, None, SIZE * 0.3, SIZE);
    assert!(!editor.document().session().playback.unkeyed);
    editor.press_axis(Axis::Z, false);
    editor.type_transform('9');
    assert!(editor.document().session().playback.unkeyed);
    editor.confirm_transform();
    let posed = editor.document().shown_pose();
    for (j, (posed, shown)) in posed.locals.iter().zip(&shown.locals).enumerate() {
        assert_eq!(posed == shown, j != bone.get(), "bone {j}");
    }
    editor.undo();
    assert!(!editor.document().session().playback.unkeyed);
    assert!(same_bits(editor.document().pose(), &before));
    assert!(same_bits(&editor.document().shown_pose(), &shown));
    editor.redo();
    assert!(editor.document().session().playback.unkeyed);
    assert!(same_bits(&editor.document().shown_pose(), &posed));
    editor.set_time(0.5);
    assert!(!editor.document().session().playback.unkeyed);
    assert_ne!(editor.document().shown_pose().locals, posed.locals);
}

#[test]
fn pulling_an_end_bends_its_chain_to_the_pointer() {
    let mut editor = open(OpenRequest::Sample("mannequin".into()));
    let chains: Vec<_> = (0..editor.document().skeleton().len() as u32)
        .filter_map(|j| editor.chain_of(JointId(j)))
        .collect();
    assert!(chains.len() > 5);
    for chain in chains {
        let start = seen_at(&editor, chain.end);
        let before = editor.document().pose().clone();
        let lengths = |e: &Editor| {
            let [a, b, c] = [chain.root, chain.mid, chain.end].map(|j| place(e, j));
            (a.distance(b), b.distance(c))
        };
        let (a, b) = lengths(&editor);
        // Toward the root, so that it can be reached.
        let to = start + (seen_at(&editor, chain.root) - start) * 0.2;
        assert!(editor.begin_reach(chain.end, start, SIZE));
        editor.update_transform(to, PLAIN);
        editor.confirm_transform();
        let (c, d) = lengths(&editor);
        assert!((a - c).abs() < 1e-9 && (b - d).abs() < 1e-9);
        let reached = seen_at(&editor, chain.end);
        let root = place(&editor, chain.root);
        let can = place(&editor, chain.end).distance(root) > (a - b).abs() * 1.001;
        assert!(!can || reached.distance(to) < 0.5, "{reached} {to}");
        editor.undo();
        assert!(same_bits(editor.document().pose(), &before));
    }
}

#[test]
fn pinned_feet_stay_while_the_hips_sink() {
    let mut editor = open(OpenRequest::Sample("mannequin".into()));
    let skeleton = editor.document().skeleton().clone();
    let feet: Vec<JointId> = (0..skeleton.len() as u32)
        .map(JointId)
        .filter(|&j| skeleton.joint(j).name.to_lowercase().contains("foot"))
        .collect();
    assert_eq!(
        feet.len(),
        2,
        "{:?}",
        skeleton
            .joints()
            .iter()
            .map(|j| &j.name)
            .collect::<Vec<_>>()
    );
    select(&mut editor, &feet);
    editor.toggle_pins();
    assert!(feet.iter().all(|&f| editor.is_pinned(f)));
    let hips = skeleton
        .ancestors(feet[0])
        .filter(|&j| editor.document().skin_joint_mask()[j.get()])
        .last()
        .unwrap();
    let lies = |e: &Editor, j: JointId| {
        e.document()
            .shown_pose()
            .world_matrices(e.document().skeleton())[j.get()]
        .matrix3
    };
    let before: Vec<_> = feet
        .iter()
        .map(|&f| (place(&editor, f), lies(&editor, f)))
        .collect();
    select(&mut editor, &[hips]);
    let (from, hips_from) = (seen_at(&editor, hips), place(&editor, hips));
    editor.begin_transform(TransformKind::Move, None, from, SIZE);
    editor.update_transform(from + Vec2::new(10.0, 40.0), PLAIN);
    editor.confirm_transform();
    assert!(place(&editor, hips).distance(hips_from) > 0.01);
    for (&foot, (at, lay)) in feet.iter().zip(&before) {
        assert!(place(&editor, foot).abs_diff_eq(*at, 1e-9));
        assert!(lies(&editor, foot).abs_diff_eq(*lay, 1e-9));
    }
    assert_eq!(editor.history().n_undo(), 1);
    // A pinned foot is moved by bending its leg.
    select(&mut editor, &feet[..1]);
    let chain = editor.chain_of(feet[0]).unwrap();
    let from = seen_at(&editor, feet[0]);
    let knee = editor.document().pose().locals[chain.mid.get()];
    let own = editor.document().pose().locals[feet[0].get()].translation;
    editor.begin_transform(TransformKind::Move, None, from, SIZE);
    editor.update_transform(from - Vec2::new(0.0, 30.0), PLAIN);
    editor.confirm_transform();
    assert_ne!(editor.document().pose().locals[chain.mid.get()], knee);
    assert_eq!(
        editor.document().pose().locals[feet[0].get()].translation,
        own
    );
    assert!(seen_at(&editor, feet[0]).distance(from - Vec2::new(0.0, 30.0)) < 0.5);
    select(&mut editor, &feet);
    editor.toggle_pins();
    assert!(editor.document().session().pins.is_empty());
}

#[test]
fn reset_takes_back_what_is_asked_of_the_selection_or_all() {
    let mut editor = arm();
    let bone = deepest(editor.document());
    let rest = editor.document().rest_pose().clone();
    let pose_all = |editor: &mut Editor| {
        select(editor, &[bone]);
        for kind in [
            TransformKind::Move,
            TransformKind::Rotate,
            TransformKind::Scale,
        ] {
            editor.begin_transform(kind, None, SIZE * 0.3, SIZE);
            editor.press_axis(Axis::Y, false);
            editor.type_transform('2');
            editor.confirm_transform();
        }
    };
    pose_all(&mut editor);
    let local = |e: &Editor| e.document().pose().locals[bone.get()];
    editor.reset_pose(ResetPart::Rotation);
    assert_eq!(local(&editor).rotation, rest.locals[bone.get()].rotation);
    assert_ne!(
        local(&editor).translation,
        rest.locals[bone.get()].translation
    );
    editor.reset_pose(ResetPart::Scale);
    editor.reset_pose(ResetPart::Location);
    assert!(same_bits(editor.document().pose(), &rest));
    let n = editor.history().n_undo();
    editor.reset_pose(ResetPart::All);
    assert_eq!(editor.history().n_undo(), n, "nothing to do is no step");
    pose_all(&mut editor);
    editor.select_joint(None);
    editor.reset_pose(ResetPart::All);
    assert!(same_bits(editor.document().pose(), &rest));
    assert_eq!(editor.history().undo_label(), Some("Reset all bones"));
}

/// Turns all bones somehow, repeatably.
fn scramble(editor: &mut Editor) {
    let n = editor.document().skeleton().len() as u32;
    let mask = editor.document().skin_joint_mask();
    for j in (0..n).filter(|&j| mask[j as usize]) {
        select(editor, &[JointId(j)]);
        editor.begin_transform(TransformKind::Rotate, None, SIZE * 0.3, SIZE);
        editor.press_axis(Axis::ALL[j as usize % 3], false);
        for c in format!("{}", 5 + (j * 7) % 40).chars() {
            editor.type_transform(c);
        }
        editor.confirm_transform();
    }
    editor.select_joint(None);
}

#[test]
fn a_pose_pasted_flipped_twice_is_as_before_on_the_shared_characters() {
    let test = "a_pose_pasted_flipped_twice_is_as_before_on_the_shared_characters";
    let mut requests = vec![OpenRequest::Sample("mannequin".into())];
    if let Some(shared) = shared_dir(test) {
        for name in ["fox", "cesium_man", "mannequiny", "robot_expressive"] {
            let path = shared.join(format!("models/{name}/{name}.glb"));
            requests.push(OpenRequest::Path(path));
        }
    }
    for request in requests {
        let mut editor = open(request);
        let name = editor.model_name();
        editor.show_clip(None);
        let mirror = editor.mirror();
        let n = editor.document().skeleton().len() as u32;
        let paired = (0..n)
            .map(JointId)
            .filter(|&j| mirror.partner(j).is_some_and(|p| p != j));
        assert!(paired.count() >= 8, "{name} has pairs");
        let mask = editor.document().skin_joint_mask();
        // Characters without an arm of its own on a side.
        let unpaired: Vec<_> = mirror
            .unpaired()
            .filter(|j| mask[j.get()])
            .map(|j| editor.document().skeleton().label(j))
            .collect();
        assert!(unpaired.is_empty(), "{name}: {unpaired:?}");
        scramble(&mut editor);
        let posed = editor.document().pose().clone();
        assert_ne!(posed.locals, editor.document().rest_pose().locals);
        let world = |pose: &Pose, e: &Editor| pose.world_matrices(e.document().skeleton());
        editor.copy_pose();
        assert!(editor.paste_pose(true) > 0);
        let flipped = editor.document().pose().clone();
        assert_ne!(flipped.locals, posed.locals);

        // What is seen is the mirror image, as far as the rest pose is its own: turned the same way from rest.
        let rest = world(editor.document().rest_pose(), &editor);
        let (a, b) = (world(&posed, &editor), world(&flipped, &editor));
        let turn =
            |now: &glam::DAffine3, rest: &glam::DAffine3| now.matrix3 * rest.matrix3.inverse();
        let reflect = mirror.reflection();
        for j in (0..n).map(JointId) {
            let Some(p) = mirror.partner(j) else { continue };
            let seen = reflect * turn(&a[j.get()], &rest[j.get()]) * reflect;
            let there = turn(&b[p.get()], &rest[p.get()]);
            assert!(
                there.abs_diff_eq(seen, 1e-3),
                "{name} {}",
                editor.document().skeleton().label(j)
            );
        }

        editor.copy_pose();
        editor.paste_pose(true);
        for (now, before) in editor.document().pose().locals.iter().zip(&posed.locals) {
            assert!(now.rotation.abs_diff_eq(before.rotation, 1e-9), "{name}");
            assert!(
                now.translation.abs_diff_eq(before.translation, 1e-9),
                "{name}"
            );
            assert!(now.stretch.abs_diff_eq(before.stretch, 1e-9), "{name}");
        }
        editor.undo();
        editor.undo();
        assert!(same_bits(editor.document().pose(), &posed), "{name}");
    }
}

#[test]
fn a_pose_is_pasted_into_another_model_by_names() {
    let mut editor = open(OpenRequest::Sample("mannequin".into()));
    scramble(&mut editor);
    let posed = editor.document().pose().clone();
    let n = editor.copy_pose();
    assert!(editor.has_copied_pose());
    editor.open(OpenRequest::Sample("arm".into()));
    settle(&mut editor);
    let found = editor.paste_pose(false);
    assert!(found < n);
    editor.open(OpenRequest::Sample("mannequin".into()));
    settle(&mut editor);
    assert_eq!(editor.paste_pose(false), n);
    assert!(same_bits(editor.document().pose(), &posed));
}

/// Something an artist does while posing.
#[derive(Clone, Debug)]
enum Act {
    Select(Vec<u32>),
    Begin(u8),
    Grab(u8, u8),
    Reach(u32),
    To(f32, f32, bool, bool),
    Axis(u8, bool),
    Type(char),
    Confirm,
    Cancel,
    Reset(u8),
    Copy,
    Paste(bool),
    Pin,
    Undo,
    Redo,
    Clip(bool),
    Time(f64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        1 => prop::collection::vec(0..64u32, 0..4).prop_map(Act::Select),
        1 => (0..3u8).prop_map(Act::Begin),
        1 => (0..3u8, 0..3u8).prop_map(|(k, a)| Act::Grab(k, a)),
        1 => (0..64u32).prop_map(Act::Reach),
        6 => (0.0..1.0f32, 0.0..1.0f32, any::<bool>(), any::<bool>())
            .prop_map(|(x, y, s, p)| Act::To(x, y, s, p)),
        1 => (0..3u8, any::<bool>()).prop_map(|(a, p)| Act::Axis(a, p)),
        1 => prop::sample::select(vec!['1', '9', '-', '.']).prop_map(Act::Type),
        2 => Just(Act::Confirm),
        1 => Just(Act::Cancel),
        1 => (0..4u8).prop_map(Act::Reset),
        1 => Just(Act::Copy),
        1 => any::<bool>().prop_map(Act::Paste),
        1 => Just(Act::Pin),
        1 => Just(Act::Undo),
        1 => Just(Act::Redo),
        1 => any::<bool>().prop_map(Act::Clip),
        1 => (0.0..2.0f64).prop_map(Act::Time),
    ]
}

fn perform(editor: &mut Editor, act: &Act) {
    let n = editor.document().skeleton().len() as u32;
    let kind = |k: u8| {
        [
            TransformKind::Move,
            TransformKind::Rotate,
            TransformKind::Scale,
        ][k as usize]
    };
    match act {
        Act::Select(joints) => {
            let joints: Vec<_> = joints.iter().map(|j| JointId(j % n)).collect();
            editor.finish_tool();
            select(editor, &joints);
        }
        Act::Begin(k) => {
            editor.begin_transform(kind(*k), None, SIZE * 0.4, SIZE);
        }
        Act::Grab(k, a) => {
            let handle = Handle {
                kind: kind(*k),
                constraint: Constraint::Axis(Axis::ALL[*a as usize]),
            };
            editor.begin_transform(kind(*k), Some(handle), SIZE * 0.45, SIZE);
        }
        Act::Reach(j) => {
            editor.begin_reach(JointId(j % n), SIZE * 0.4, SIZE);
        }
        Act::To(x, y, snap, precise) => editor.update_transform(
            SIZE * Vec2::new(*x, *y),
            PointerPrecision {
                snap: *snap,
                precise: *precise,
            },
        ),
        Act::Axis(a, plane) => editor.press_axis(Axis::ALL[*a as usize], *plane),
        Act::Type(c) => {
            editor.type_transform(*c);
        }
        Act::Confirm => editor.confirm_transform(),
        Act::Cancel => editor.cancel_transform(),
        Act::Reset(part) => editor.reset_pose(
            [
                ResetPart::Location,
                ResetPart::Rotation,
                ResetPart::Scale,
                ResetPart::All,
            ][*part as usize],
        ),
        Act::Copy => {
            editor.copy_pose();
        }
        Act::Paste(flipped) => {
            editor.paste_pose(*flipped);
        }
        Act::Pin => editor.toggle_pins(),
        Act::Undo => editor.undo(),
        Act::Redo => editor.redo(),
        Act::Clip(shown) => {
            let clip = editor.document().clips().keys().next().copied();
            editor.finish_tool();
            editor.show_clip(clip.filter(|_| *shown));
        }
        Act::Time(time) => {
            editor.finish_tool();
            editor.set_time(*time);
        }
    }
}

#[test]
fn whatever_is_done_can_be_undone_to_the_same_document() {
    let mut editor = open(OpenRequest::Sample("mannequin".into()));
    let first = editor.document().clone();
    let mut runner = TestRunner::new(Config {
        cases: 24,
        failure_persistence: None,
        ..Config::default()
    });
    let acts = prop::collection::vec(act(), 1..40);
    let editor = std::cell::RefCell::new(&mut editor);
    let outcome = runner.run(&acts, |acts| {
        let editor = &mut **editor.borrow_mut();
        for act in &acts {
            perform(editor, act);
            prop_assert!(
                editor
                    .document()
                    .pose()
                    .locals
                    .iter()
                    .all(sinew::math::Transform::is_finite)
            );
            prop_assert!(
                editor
                    .document()
                    .shown_pose()
                    .locals
                    .iter()
                    .all(sinew::math::Transform::is_finite)
            );
        }
        editor.finish_tool();
        while editor.history().undo_label().is_some() {
            editor.undo();
        }
        prop_assert!(editor.document().same_content(&first));
        prop_assert!(same_bits(editor.document().pose(), first.pose()));
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn many_moves_between_two_frames_are_one_snapshot() {
    let mut editor = arm();
    let bone = deepest(editor.document());
    select(&mut editor, &[bone]);
    editor.begin_transform(TransformKind::Rotate, None, SIZE * 0.3, SIZE);
    let before = editor.n_snapshots();
    for i in 0..200 {
        editor.update_transform(SIZE * (0.3 + 0.002 * i as f32), PLAIN);
    }
    editor.poll(0.0);
    assert_eq!(editor.n_snapshots(), before + 1);
    editor.confirm_transform();
    settle(&mut editor);
    assert_eq!(editor.n_snapshots(), before + 1);
}

#[test]
fn the_axes_go_round() {
    let mut editor = arm();
    let mut seen = vec![editor.pose_options().space];
    for _ in 0..3 {
        editor.cycle_pose_space();
        seen.push(editor.pose_options().space);
    }
    assert_eq!(
        seen,
        [
            PoseSpace::Local,
            PoseSpace::World,
            PoseSpace::Parent,
            PoseSpace::Local
        ]
    );
}

/// The mannequin with a pinned hand dragged up by inverse kinematics; the hand.
fn reached(auto_key: bool) -> (Editor, JointId) {
    let mut editor = open(OpenRequest::Sample("mannequin".into()));
    let skeleton = editor.document().skeleton().clone();
    let is_hand = |j: &JointId| skeleton.joint(*j).name.to_lowercase().contains("hand");
    let mut joints = (0..skeleton.len() as u32).map(JointId);
    let hand = joints
        .find(|j| is_hand(j) && editor.chain_of(*j).is_some())
        .unwrap();
    select(&mut editor, &[hand]);
    editor.toggle_pins();
    editor.new_clip();
    editor.set_auto_key(auto_key);
    let from = seen_at(&editor, hand);
    assert!(editor.begin_reach(hand, from, SIZE));
    editor.update_transform(from + Vec2::new(0.0, -40.0), PLAIN);
    editor.confirm_transform();
    settle(&mut editor);
    (editor, hand)
}

/// The bones with keyframes in the clip on screen.
fn keyed(editor: &Editor) -> BTreeSet<JointId> {
    let (_, clip) = editor.shown_clip().unwrap();
    clip.channels.iter().map(|c| c.joint).collect()
}

#[test]
fn a_keyframe_after_inverse_kinematics_keys_the_whole_chain() {
    let (mut editor, hand) = reached(false);
    let chain = editor.chain_of(hand).unwrap();
    let reached_at = place(&editor, hand);
    assert!(editor.playback().unkeyed && keyed(&editor).is_empty());
    editor.key_pose();
    settle(&mut editor);
    assert!(keyed(&editor).is_superset(&BTreeSet::from([chain.root, chain.mid, hand])));
    // Nothing is left over: the clip itself shows the reached place.
    assert!(!editor.playback().unkeyed);
    assert!(place(&editor, hand).distance(reached_at) < 1e-5);
}

#[test]
fn auto_keying_keys_what_a_change_moved_in_the_same_step() {
    let (mut editor, hand) = reached(true);
    let chain = editor.chain_of(hand).unwrap();
    assert!(keyed(&editor).is_superset(&BTreeSet::from([chain.root, chain.mid])));
    assert!(!editor.playback().unkeyed);
    let label = editor.history().undo_label().unwrap().to_owned();
    assert!(label.starts_with("Bend chain to"), "{label}");
    let reached_at = place(&editor, hand);
    editor.undo();
    settle(&mut editor);
    assert!(
        keyed(&editor).is_empty(),
        "one undo takes back pose and keyframes"
    );
    assert!(place(&editor, hand).distance(reached_at) > 0.01);
    // Off, a change of the pose is not keyed.
    editor.set_auto_key(false);
    let from = seen_at(&editor, hand);
    editor.begin_reach(hand, from, SIZE);
    editor.update_transform(from + Vec2::new(0.0, -40.0), PLAIN);
    editor.confirm_transform();
    assert!(keyed(&editor).is_empty() && editor.playback().unkeyed);
}
