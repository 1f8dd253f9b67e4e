//! In-betweens along screws: what clips show, what a project keeps, what a file gets; poses blended; forward kinematics
//! in dual quaternions.

use crate::export_models::reopen;
use crate::project::strip;
use glam::{DMat3, DQuat, DVec3};
use proptest::prelude::*;
use sinew::document::{ClipId, Document, Edit};
use sinew::editor::{Editor, OpenRequest};
use sinew::export::{ExportOptions, export};
use sinew::io::project::{apply_project, to_project};
use sinew::math::transform::normalize_or_identity;
use sinew::math::{DualQuat, Transform};
use sinew::skeleton::screw::Tolerance;
use sinew::skeleton::{
    Channel, Clip, Interpolation, Joint, JointId, JointRule, Pose, Property, RigidInterpolation,
    Skeleton,
};
use sinew::task::Task;
use std::path::Path;
use std::sync::Arc;

fn channel(
    joint: u32,
    property: Property,
    interpolation: Interpolation,
    times: &[f32],
    values: &[f32],
) -> Channel {
    Channel {
        joint: JointId(joint),
        property,
        interpolation,
        times: times.into(),
        values: values.into(),
    }
}

fn rotations(joint: u32, keys: &[(f32, DQuat)]) -> Channel {
    let times: Vec<f32> = keys.iter().map(|k| k.0).collect();
    let values: Vec<f32> = keys
        .iter()
        .flat_map(|k| k.1.to_array().map(|x| x as f32))
        .collect();
    channel(
        joint,
        Property::Rotation,
        Interpolation::Linear,
        &times,
        &values,
    )
}

fn translations(joint: u32, keys: &[(f32, DVec3)]) -> Channel {
    let times: Vec<f32> = keys.iter().map(|k| k.0).collect();
    let values: Vec<f32> = keys
        .iter()
        .flat_map(|k| k.1.to_array().map(|x| x as f32))
        .collect();
    channel(
        joint,
        Property::Translation,
        Interpolation::Linear,
        &times,
        &values,
    )
}

fn screwing(channels: Vec<Channel>, rigid_interpolation: RigidInterpolation) -> Clip {
    Clip {
        channels,
        rigid_interpolation,
        ..Clip::named("Door")
    }
}

/// A joint that goes round, up and on: keys of both channels, not all at the same times.
fn door(rigid_interpolation: RigidInterpolation) -> Clip {
    let axis = DVec3::new(0.2, 1.0, -0.1).normalize_or_zero();
    let turn = |degrees: f64| DQuat::from_axis_angle(axis, degrees.to_radians());
    screwing(
        vec![
            rotations(
                1,
                &[(0.0, turn(0.0)), (1.0, turn(110.0)), (2.0, turn(-60.0))],
            ),
            translations(
                1,
                &[
                    (0.0, DVec3::X),
                    (0.5, DVec3::new(0.8, 0.2, -0.7)),
                    (2.0, DVec3::new(-1.0, 0.5, 0.3)),
                    (2.5, DVec3::new(-1.0, 0.5, 0.6)),
                ],
            ),
        ],
        rigid_interpolation,
    )
}

fn locals_at(clip: &Clip, time: f64, n_joints: usize) -> Vec<Transform> {
    let mut pose = Pose {
        locals: vec![Transform::IDENTITY; n_joints],
        morph_weights: vec![Vec::new(); n_joints],
        influences: Vec::new(),
    };
    clip.apply(time, &mut pose);
    pose.locals
}

fn motion(local: &Transform) -> DualQuat {
    DualQuat::from_rotation_translation(local.rotation, local.translation)
}

fn degrees_between(a: DQuat, b: DQuat) -> f64 {
    let turn = a.conjugate() * b;
    (2.0 * turn.xyz().length().atan2(turn.w.abs())).to_degrees()
}

#[test]
fn between_two_keys_of_either_channel_a_joint_goes_along_one_screw() {
    let components = door(RigidInterpolation::Components);
    let screw = door(RigidInterpolation::Screw);
    // Keys of either channel are where they were.
    for time in [-1.0, 0.0, 0.5, 1.0, 2.0, 2.5, 9.0] {
        let (a, b) = (
            &locals_at(&screw, time, 2)[1],
            &locals_at(&components, time, 2)[1],
        );
        assert!(a.translation.abs_diff_eq(b.translation, 1e-12), "{time}");
        assert!(degrees_between(a.rotation, b.rotation) < 1e-9, "{time}");
    }
    let mut differs = false;
    for (start, end) in [(0.0, 0.5), (0.5, 1.0), (1.0, 2.0), (2.0, 2.5)] {
        let at = |time: f64| motion(&locals_at(&screw, time, 2)[1]);
        let (from, to) = (at(start), at(end));
        for i in 0..=10 {
            let u = f64::from(i) / 10.0;
            let time = start + (end - start) * u;
            let wanted = from.sclerp(to, u).to_affine();
            assert!(at(time).to_affine().abs_diff_eq(wanted, 1e-9), "{time}");
            let straight = locals_at(&components, time, 2)[1].translation;
            differs |= straight.distance(wanted.translation) > 0.05;
        }
    }
    assert!(differs, "the screw is no straight line");
    // Without a screw a clip shows what it always did, bit for bit.
    assert_eq!(locals_at(&components, 0.3, 2), {
        let mut pose = vec![Transform::IDENTITY; 2];
        let mut value = [0.0; 4];
        components.channels[0].sample(0.3, &mut value);
        pose[1].rotation = DQuat::from_array(value);
        components.channels[1].sample(0.3, &mut value[..3]);
        pose[1].translation = DVec3::from_slice(&value);
        pose
    });
}

#[test]
fn linear_blending_goes_along_the_same_screw_at_another_speed() {
    let (screw, dlb) = (
        door(RigidInterpolation::Screw),
        door(RigidInterpolation::ScrewDlb),
    );
    for (start, end) in [(0.0, 0.5), (0.5, 1.0), (1.0, 2.0)] {
        let at = |clip: &Clip, u: f64| motion(&locals_at(clip, start + (end - start) * u, 2)[1]);
        let middle = at(&screw, 0.5).to_affine();
        assert!(at(&dlb, 0.5).to_affine().abs_diff_eq(middle, 1e-9));
        // A quarter of the time is less than a quarter of the way, and on it.
        let (from, to) = (at(&screw, 0.0), at(&screw, 1.0));
        let whole = degrees_between(from.rotation(), to.rotation()).to_radians();
        let half = 0.5 * whole;
        let angle = 2.0 * (0.25 * half.sin()).atan2(0.75 + 0.25 * half.cos());
        let same_way = degrees_between(from.rotation(), at(&dlb, 0.25).rotation()).to_radians();
        assert!((same_way - angle).abs() < 1e-9);
        let axis = |q: DualQuat| {
            (from.conjugate() * q)
                .rotation()
                .to_scaled_axis()
                .normalize_or_zero()
        };
        assert!(axis(at(&dlb, 0.25)).abs_diff_eq(axis(at(&screw, 0.6)), 1e-6));
    }
}

#[test]
fn steps_splines_scale_and_morphs_stay_component_by_component() {
    let quarter = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
    let turning = || rotations(1, &[(0.0, DQuat::IDENTITY), (1.0, quarter)]);
    let stepping = channel(
        1,
        Property::Translation,
        Interpolation::Step,
        &[0.0, 1.0],
        &[1., 0., 0., 0., 1., 0.],
    );
    let growing = channel(
        1,
        Property::Scale,
        Interpolation::Linear,
        &[0.0, 1.0],
        &[1., 1., 1., 3., 3., 3.],
    );
    for channels in [
        vec![turning(), stepping, growing],
        // Only turning: the same way in any case.
        vec![turning()],
        vec![translations(1, &[(0.0, DVec3::ZERO), (1.0, DVec3::Y)])],
    ] {
        let plain = screwing(channels.clone(), RigidInterpolation::Components);
        let screw = screwing(channels, RigidInterpolation::Screw);
        for time in [0.0, 0.2, 0.7, 1.0] {
            assert_eq!(locals_at(&screw, time, 2), locals_at(&plain, time, 2));
        }
    }
}

#[test]
fn a_jump_stays_a_jump_and_the_way_to_it_leads_to_its_first_key() {
    let clip = screwing(
        vec![
            rotations(
                0,
                &[(0.0, DQuat::IDENTITY), (1.0, DQuat::from_rotation_z(1.0))],
            ),
            translations(
                0,
                &[
                    (0.0, DVec3::X),
                    (1.0, DVec3::Y),
                    (1.0, DVec3::Z),
                    (2.0, DVec3::Z),
                ],
            ),
        ],
        RigidInterpolation::Screw,
    );
    let before = locals_at(&clip, 1.0 - 1e-9, 1)[0].translation;
    assert!(before.abs_diff_eq(DVec3::Y, 1e-6), "{before}");
    assert_eq!(locals_at(&clip, 1.0, 1)[0].translation, DVec3::Z);
}

/// A player of a file, as most are: a straight line for the one, slerp for the other, in 32 bits.
fn play(clip: &Clip, joint: u32, time: f32) -> (DQuat, DVec3) {
    let span = |property: Property| {
        let channel = &clip.channels[clip.channel_of(JointId(joint), property).expect("keyed")];
        let times = &channel.times;
        let after = times.iter().position(|&t| t > time).unwrap_or(times.len());
        let k0 = after.saturating_sub(1);
        let k1 = after.min(times.len() - 1);
        let u = if times[k1] > times[k0] {
            ((time - times[k0]) / (times[k1] - times[k0])).clamp(0.0, 1.0)
        } else {
            0.0
        };
        (
            channel.key(k0).to_vec(),
            channel.key(k1).to_vec(),
            f64::from(u),
        )
    };
    let number = |v: &[f32]| v.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    let (a, b, u) = span(Property::Rotation);
    let (a, mut b) = (
        DQuat::from_slice(&number(&a)),
        DQuat::from_slice(&number(&b)),
    );
    let mut cos = a.dot(b);
    if cos < 0.0 {
        b = -b;
        cos = -cos;
    }
    let angle = cos.min(1.0).acos();
    let rotation = if angle < 1e-6 {
        a
    } else {
        (a * ((1.0 - u) * angle).sin() + b * (u * angle).sin()) * (1.0 / angle.sin())
    };
    let (a, b, u) = span(Property::Translation);
    let (a, b) = (
        DVec3::from_slice(&number(&a)),
        DVec3::from_slice(&number(&b)),
    );
    (normalize_or_identity(rotation), a + (b - a) * u)
}

#[test]
fn keys_are_put_in_until_players_follow() {
    for way in [RigidInterpolation::Screw, RigidInterpolation::ScrewDlb] {
        let clip = door(way);
        let tolerance = Tolerance {
            radians: 0.05f64.to_radians(),
            length: 2e-4,
        };
        let made = clip.component_wise(|_| tolerance, &Task::new()).unwrap();
        assert_eq!(
            made.clip.rigid_interpolation,
            RigidInterpolation::Components
        );
        assert!(
            (10..400).contains(&made.n_keys_added),
            "{}",
            made.n_keys_added
        );
        let n = |clip: &Clip| clip.channels.iter().map(|c| c.times.len()).sum::<usize>();
        assert_eq!(n(&made.clip) - n(&clip), made.n_keys_added);
        // A screw turns as slerp does: that channel is the same one.
        let same = Arc::ptr_eq(&made.clip.channels[0].times, &clip.channels[0].times);
        assert_eq!(same, way == RigidInterpolation::Screw);
        for i in 0..=5000u16 {
            let time = f32::from(i) / 2000.0;
            let wanted = &locals_at(&clip, f64::from(time), 2)[1];
            let (rotation, translation) = play(&made.clip, 1, time);
            assert!(
                translation.distance(wanted.translation) < 2e-4 + 1e-6,
                "{time}"
            );
            assert!(
                degrees_between(rotation, wanted.rotation) < 0.05 + 1e-4,
                "{time}"
            );
        }
    }
    // Nothing to do: nothing changed but the word.
    let plain = door(RigidInterpolation::Components);
    let tolerance = Tolerance {
        radians: 1e-3,
        length: 1e-3,
    };
    let made = plain.component_wise(|_| tolerance, &Task::new()).unwrap();
    assert_eq!((made.clip, made.n_keys_added), (plain, 0));
    let task = Task::new();
    task.cancel();
    assert!(
        door(RigidInterpolation::Screw)
            .component_wise(|_| tolerance, &task)
            .is_err()
    );
}

fn sample(name: &str) -> Document {
    sinew::io::open_sample(name, &Task::new()).unwrap().document
}

fn set_clip(document: &mut Document, id: u32, clip: Clip) {
    let clip = Some(Arc::new(clip));
    let mut edit = Edit::Clip {
        id: ClipId(id),
        clip,
    };
    document.apply(&mut edit).unwrap();
}

/// The last joint of the arm swings round while it moves.
fn swinging(document: &Document, rigid_interpolation: RigidInterpolation) -> (u32, Clip) {
    let joint = document.skeleton().len() as u32 - 1;
    let rest = document.skeleton().joint(JointId(joint)).rest;
    let turned = rest.rotation * DQuat::from_rotation_z(2.0);
    let channels = vec![
        rotations(joint, &[(0.0, rest.rotation), (1.0, turned)]),
        translations(
            joint,
            &[
                (0.0, rest.translation),
                (1.0, rest.translation + DVec3::new(0.4, 0.2, 0.1)),
            ],
        ),
    ];
    (joint, screwing(channels, rigid_interpolation))
}

#[test]
fn an_exported_clip_follows_its_screws_in_any_player() {
    let mut document = sample("arm");
    let world = Pose::rest(document.skeleton()).world_matrices(document.skeleton());
    let (low, high) = world
        .iter()
        .fold((DVec3::MAX, DVec3::MIN), |(low, high), m| {
            (low.min(m.translation), high.max(m.translation))
        });
    let size = (high - low).length();
    for way in [RigidInterpolation::Screw, RigidInterpolation::ScrewDlb] {
        let (joint, clip) = swinging(&document, way);
        set_clip(&mut document, 40, clip.clone());
        let out = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
        assert!(out.report.n_keys_added > 5);
        let closing = out.report.closing();
        let keys = format!("{} keyframes added to 1 clip", out.report.n_keys_added);
        assert!(closing.contains(&keys), "{closing}");
        let again = reopen(&out);
        let written = again.clips().values().find(|c| c.name == "Door").unwrap();
        assert_eq!(written.rigid_interpolation, RigidInterpolation::Components);
        for i in 0..=1000u16 {
            let time = f32::from(i) / 1000.0;
            let wanted = &document.pose_of_clip(&clip, f64::from(time)).locals[joint as usize];
            let (rotation, translation) = play(written, joint, time);
            assert!(
                translation.distance(wanted.translation) < 1e-4 * size + 1e-6,
                "{time}"
            );
            assert!(
                degrees_between(rotation, wanted.rotation) < 0.05 + 1e-4,
                "{time}"
            );
        }
        // The document keeps its few keys.
        assert_eq!(document.clips()[&ClipId(40)].channels[0].times.len(), 2);
    }
}

#[test]
fn a_clip_whose_screws_are_none_leaves_the_file_as_it_is() {
    // Every bone of the sample only turns: the same way along a screw.
    let mut document = sample("arm");
    let ids: Vec<u32> = document.clips().keys().map(|id| id.0).collect();
    for id in ids {
        let clip = Clip {
            rigid_interpolation: RigidInterpolation::Screw,
            ..Clip::clone(&document.clips()[&ClipId(id)])
        };
        set_clip(&mut document, id, clip);
    }
    let out = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
    assert!(out.report.verbatim);
    assert_eq!(
        (out.report.n_keys_added, out.report.closing()),
        (0, String::new())
    );
}

#[test]
fn preview_clips_stay_out_of_the_file_until_asked_for() {
    let mut document = sample("arm");
    let n = document.clips().len();
    let (_, clip) = swinging(&document, RigidInterpolation::Components);
    let preview = Clip {
        preview: true,
        ..clip.clone()
    };
    set_clip(&mut document, 40, preview);
    let out = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
    assert!(out.report.verbatim, "nothing but a preview clip was made");
    assert_eq!(out.report.closing(), "1 preview clip left out.");
    assert!(out.report.findings[0].message.contains("preview clip"));
    // One of the file's own, too.
    let own = *document.clips().keys().next().unwrap();
    let hidden = Clip {
        preview: true,
        ..Clip::clone(&document.clips()[&own])
    };
    set_clip(&mut document, own.0, hidden);
    let out = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
    assert_eq!(
        (out.report.n_clips_left_out, out.report.n_clips_removed),
        (2, 1)
    );
    assert_eq!(reopen(&out).clips().len(), n - 1);
    set_clip(&mut document, 40, clip);
    let out = export(&document, &ExportOptions::default(), &Task::new()).unwrap();
    assert!(reopen(&out).clips().values().any(|c| c.name == "Door"));
}

#[test]
fn a_project_keeps_the_way_of_a_clip_and_says_nothing_of_the_usual_one() {
    let path = Path::new("models/strip.gltf");
    let mut document = strip(12, &["Root", "Mid", "Tip"], path);
    let text = |document: &Document| ron::to_string(&to_project(document, None).unwrap()).unwrap();
    set_clip(&mut document, 7, door(RigidInterpolation::Components));
    let plain = text(&document);
    assert!(!plain.contains("in_betweens") && !plain.contains("preview"));
    for way in [RigidInterpolation::Screw, RigidInterpolation::ScrewDlb] {
        let clip = Clip {
            preview: way == RigidInterpolation::Screw,
            ..door(way)
        };
        set_clip(&mut document, 7, clip);
        let saved = text(&document);
        let read = ron::from_str(&saved).unwrap();
        let fresh = strip(12, &["Root", "Mid", "Tip"], path);
        let (again, findings) = apply_project(fresh, read).unwrap();
        assert!(findings.is_empty(), "{findings:?}");
        assert_eq!(again.clips(), document.clips());
    }
    // A project from before opens as it was.
    let read = ron::from_str(&plain).unwrap();
    let fresh = strip(12, &["Root", "Mid", "Tip"], path);
    let (again, _) = apply_project(fresh, read).unwrap();
    assert_eq!(
        *again.clips()[&ClipId(7)],
        door(RigidInterpolation::Components)
    );
}

fn editor_on(sample: &str) -> Editor {
    let mut editor = Editor::new(None, || {}).unwrap();
    editor.open(OpenRequest::Sample(sample.into()));
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(2);
    while !editor.is_idle() || editor.document().skeleton().is_empty() {
        editor.poll(0.0);
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    editor
}

#[test]
fn the_way_of_a_clip_and_whether_it_is_exported_can_be_undone() {
    let mut e = editor_on("arm");
    let id = *e.document().clips().keys().next().unwrap();
    e.show_clip(Some(id));
    let before = e.document().clone();
    e.set_rigid_interpolation(RigidInterpolation::Screw);
    let name = before.clips()[&id].name.clone();
    let label = e.history().undo_label().map(str::to_owned);
    assert_eq!(label, Some(format!("Interpolation of \"{name}\": Screw")));
    assert_eq!(
        e.shown_clip().unwrap().1.rigid_interpolation,
        RigidInterpolation::Screw
    );
    e.set_rigid_interpolation(RigidInterpolation::Screw);
    e.set_exported(false);
    assert!(e.shown_clip().unwrap().1.preview);
    assert_eq!(e.history().n_undo(), 2);
    e.undo();
    e.undo();
    assert!(e.document().same_content(&before));
    // What else is done with a clip keeps both.
    e.set_rigid_interpolation(RigidInterpolation::ScrewDlb);
    e.set_exported(false);
    e.rename_clip("Other");
    e.duplicate_clip();
    let clip = e.shown_clip().unwrap().1;
    assert_eq!(
        (clip.rigid_interpolation, clip.preview),
        (RigidInterpolation::ScrewDlb, true)
    );
}

// Forward kinematics.

fn any_rotation() -> impl Strategy<Value = DQuat> {
    prop::array::uniform4(-1.0f64..1.0).prop_filter_map("a length", |v| {
        let q = DQuat::from_array(v);
        (q.length() > 1e-3).then(|| normalize_or_identity(q))
    })
}

fn any_tree() -> impl Strategy<Value = (Skeleton, Pose)> {
    let joint = (
        any::<prop::sample::Index>(),
        any_rotation(),
        prop::array::uniform3(-2.0f64..2.0),
    );
    prop::collection::vec(joint, 1..60).prop_map(|joints| {
        let list = joints
            .iter()
            .enumerate()
            .map(|(j, (parent, rotation, at))| Joint {
                name: String::new(),
                parent: (j > 0).then(|| JointId(parent.index(j.max(1)) as u32)),
                rest: Transform::from_rotation_translation(*rotation, DVec3::from_array(*at)),
                source_node: None,
                content_of: None,
                removed: false,
                rule: JointRule::default(),
            });
        let skeleton = Skeleton::new(list.collect()).unwrap();
        let pose = Pose::rest(&skeleton);
        (skeleton, pose)
    })
}

proptest! {
    // Seed 003: both walks of the tree agree.
    #[test]
    fn seed_003_dual_quaternions_and_matrices_lead_to_the_same_world((skeleton, pose) in any_tree()) {
        let matrices = pose.world_matrices(&skeleton);
        let motions = pose.world_motions(&skeleton).unwrap();
        prop_assert_eq!(matrices.len(), motions.len());
        for (matrix, motion) in matrices.iter().zip(&motions) {
            // A chain of 60 joints is up to 200 metres long.
            let size = 1.0 + matrix.translation.length();
            prop_assert!(motion.to_affine().abs_diff_eq(*matrix, 1e-12 * size));
            prop_assert!((motion.real.length() - 1.0).abs() < 1e-12);
            prop_assert!(motion.real.dot(motion.dual).abs() < 1e-12 * size);
        }
    }
}

#[test]
fn a_chain_of_1000_joints_does_not_drift_and_a_scaled_one_has_no_motions() {
    let joints = (0..1000u32).map(|j| Joint {
        name: String::new(),
        parent: j.checked_sub(1).map(JointId),
        rest: Transform::from_rotation_translation(
            DQuat::from_scaled_axis(DVec3::new(0.1, 0.02 * f64::from(j % 5), -0.05)),
            DVec3::new(0.1, 0.01, 0.0),
        ),
        source_node: None,
        content_of: None,
        removed: false,
        rule: JointRule::default(),
    });
    let skeleton = Skeleton::new(joints.collect()).unwrap();
    let mut pose = Pose::rest(&skeleton);
    let matrices = pose.world_matrices(&skeleton);
    let motions = pose.world_motions(&skeleton).unwrap();
    for (matrix, motion) in matrices.iter().zip(motions) {
        assert!(motion.to_affine().abs_diff_eq(*matrix, 1e-11));
    }
    pose.locals[500].stretch = DMat3::from_diagonal(DVec3::new(1.0, 1.1, 1.0));
    assert!(pose.world_motions(&skeleton).is_none());
}

// ScLERP and sDLB: what no choice of frame and no sign changes.

fn any_motion() -> impl Strategy<Value = DualQuat> {
    let at = prop::array::uniform3(-3.0f64..3.0).prop_map(DVec3::from_array);
    (any_rotation(), at, any::<bool>()).prop_map(|(rotation, at, negative)| {
        let q = DualQuat::from_rotation_translation(rotation, at);
        if negative { -q } else { q }
    })
}

/// Direction and moment of the axis of a motion: where it is, whatever the angle.
fn axis(q: DualQuat) -> (DVec3, DVec3) {
    let q = if q.real.w < 0.0 { -q } else { q };
    let s = q.real.xyz().length();
    let direction = q.real.xyz() / s;
    let half_pitch = -q.dual.w / s;
    let moment = (q.dual.xyz() - direction * (half_pitch * q.real.w)) / s;
    (direction, moment)
}

proptest! {
    #[test]
    fn seed_003_both_ways_share_their_screw_axis(a in any_motion(), b in any_motion(), t in 0.05f64..0.95) {
        let relative = a.conjugate() * b;
        // Of a turn by almost nothing or by half a turn the axis is lost in rounding.
        prop_assume!(relative.real.xyz().length() > 0.1 && relative.real.w.abs() > 0.02);
        let whole = axis(relative);
        for part in [a.sclerp(b, t), a.dlb(b, t)] {
            let (direction, moment) = axis(a.conjugate() * part);
            prop_assert!(direction.abs_diff_eq(whole.0, 1e-9), "{direction} {}", whole.0);
            prop_assert!(moment.abs_diff_eq(whole.1, 1e-7), "{moment} {}", whole.1);
        }
    }

    #[test]
    fn seed_003_eqs_9_to_11_no_frame_and_no_sign_changes_the_way(
        a in any_motion(), b in any_motion(), c in any_motion(), t in 0.0f64..1.0
    ) {
        let relative = a.conjugate() * b;
        prop_assume!(relative.real.w.abs() > 1e-3);
        let p = DVec3::new(0.3, -1.0, 0.7);
        for way in [DualQuat::sclerp, DualQuat::dlb] {
            let plain = way(a, b, t);
            let cases = [
                (way(c * a, c * b, t), c * plain),
                (way(a * c, b * c, t), plain * c),
                (way(c * a * c.conjugate(), c * b * c.conjugate(), t), c * plain * c.conjugate()),
                // The same poses, written with the other sign.
                (way(-a, b, t), plain),
                (way(a, -b, t), plain),
                // The way back is the way there.
                (way(b, a, 1.0 - t), plain),
            ];
            for (found, wanted) in cases {
                let (found, wanted) = (found.transform_point3(p), wanted.transform_point3(p));
                prop_assert!(found.abs_diff_eq(wanted, 1e-9), "{found} {wanted}");
            }
        }
    }
}
