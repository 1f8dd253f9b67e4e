//! The bones of a live body at rest: as they are calibrated, as they are when recorded, and as they are in a pose made anew.

use crate::live_motion::{BONES, character, frame, received, send, until};
use glam::{DQuat, DVec3};
use sinew::cluster::channel::RecordingId;
use sinew::editor::live::LiveKind;
use sinew::math::Worse;
use sinew::motion::live::{BoundSamples, Calibration, LivePose, LiveSamples, Origin};
use sinew::motion::retarget::{MotionSettings, Reference, Retarget, RetargetOptions, RootMotion};
use sinew::motion::table::{parse_json_lines, write_json_lines};
use sinew::motion::vmc::{Body, take_of_body};
use sinew::rig::Character;
use sinew::skeleton::{JointId, Pose};
use sinew::task::Task;
use std::f64::consts::FRAC_PI_2;
use std::net::UdpSocket;

/// Where the hips begin.
const HIPS: DVec3 = DVec3::new(0.0, 0.95, 0.0);

/// The average body with the bones of [`BONES`].
fn body() -> Body {
    Body::new(|name| BONES.contains(&name), |_| None).unwrap()
}

/// By how much a bone of the walk is longer.
fn longer(bone: &str, walked: f64) -> f64 {
    match bone {
        "LeftLowerLeg" | "RightHand" => 1.0 + 0.2 * walked,
        _ => 1.0,
    }
}

/// Adds a body that has walked in a curve for some seconds, while its left thigh and right forearm became longer. `axes`: the world
/// rotation that the sender's bones have in a T-pose.
fn push_walk(samples: &mut LiveSamples, time: f64, walked: f64, axes: impl Fn(usize) -> DQuat) {
    let body = body();
    for bone in 0..body.bones.len() {
        let name = body.name(bone);
        let bent = match name {
            "LeftLowerArm" => DQuat::from_rotation_y(0.5 * walked),
            "RightUpperArm" => DQuat::from_rotation_z(0.4 * walked),
            "Hips" => DQuat::from_rotation_y(0.8 * walked) * DQuat::from_rotation_x(0.1 * walked),
            _ => DQuat::IDENTITY,
        };
        let place = if name == "Hips" {
            HIPS + DVec3::new(walked * walked, 0.05 * walked.sin(), 2.0 * walked)
        } else {
            body.offsets[bone] * longer(name, walked)
        };
        let above = body.parents[bone].map_or(DQuat::IDENTITY, &axes);
        samples.push_rotation(name, time, above.conjugate() * bent * axes(bone));
        samples.push_position(name, time, above.conjugate() * place);
    }
}

fn settings(root: RootMotion, keeps_stretch: bool) -> MotionSettings {
    MotionSettings {
        retarget: RetargetOptions {
            // Live the sender's rotations are those over its T-pose.
            reference: Reference::Zero,
            root,
            keeps_stretch,
            ..RetargetOptions::default()
        },
        ..MotionSettings::default()
    }
}

/// How far two poses are apart in any joint: radians, and metres.
fn apart(a: &Pose, b: &Pose) -> [f64; 2] {
    let mut most = [0.0_f64; 2];
    for (a, b) in a.locals.iter().zip(&b.locals) {
        most[0] = most[0].worse(a.rotation.angle_between(b.rotation));
        most[1] = most[1].worse(a.translation.distance(b.translation));
    }
    most
}

#[test]
fn root_motion_and_stretch_are_live_as_they_are_baked() {
    let h = character();
    let document = h.editor.document();
    let made = Character::of(document);
    let skeleton = document.skeleton();
    let none = BoundSamples::default();
    let mut samples = LiveSamples::default();
    let mut origin = Origin::default();
    for i in 0..=90 {
        let t = f64::from(i) / 60.0;
        push_walk(&mut samples, t, t, |_| DQuat::IDENTITY);
        if i == 0 {
            assert!(origin.add_bones(&samples));
        }
    }
    assert!(!origin.add_bones(&samples), "all are known");
    // It is recorded from a time on at which bones are stretched, and the time before is forgotten.
    samples.forget_before(0.8);
    origin.hips = Some(samples.position("Hips")[0].1);
    let mut recording = samples.recording(0.8);
    recording.rest_places = Calibration::default().rest_places(&origin);
    let mut lines = Vec::new();
    write_json_lines(&recording, &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let recording = parse_json_lines(&lines, &Task::new()).unwrap();
    let take = take_of_body(&recording).unwrap();
    for (root, keeps_stretch) in [
        (RootMotion::Hips, true),
        (RootMotion::Root, false),
        (RootMotion::Root, true),
    ] {
        let settings = settings(root, keeps_stretch);
        let [ours, theirs] = settings.roles(&take.rest, &made.rig).unwrap();
        let of = &settings.retarget;
        let baked = Retarget::new(&take, &ours, skeleton, &made.rig, &theirs, of).unwrap();
        let expected = baked.poses(false, &Task::new()).unwrap().0;
        let (mut live, why) = LivePose::new(
            &samples,
            &none,
            skeleton,
            &made.rig,
            &settings,
            Calibration::default(),
            origin.clone(),
        );
        assert_eq!(why, None);
        let rest = document.rest_pose();
        let hips = baked.hips();
        let hips_id = JointId(hips as u32);
        let (mut apart_by, mut moved): (Option<DVec3>, f64) = (None, 0.0);
        for (frame, of_frame) in expected.iter().enumerate() {
            let mut shown = Pose::clone(rest);
            let time = 0.8 + take.times[frame] + 1e-9;
            live.apply(&samples, &none, time, skeleton, &mut shown);
            let mut expected = Pose::clone(rest);
            for joint in baked.moved_joints() {
                expected.locals[joint].rotation = of_frame.rotations[joint];
            }
            expected.locals[hips].translation = of_frame.hips;
            for (joint, place) in baked.translated_joints().zip(&of_frame.translations) {
                expected.locals[joint].translation = *place;
                moved = moved.max(place.distance(rest.locals[joint].translation));
            }
            let off = apart(&shown, &expected)[0];
            assert!(off < 1e-6, "{root:?} {frame}: {off}");
            // All bones are apart by the same: the height of the floor is known only of a whole motion, and a motion begins where
            // the hips of its first frame are, which are tilted here.
            let [shown, expected] = [&shown, &expected].map(|pose| pose.world_matrices(skeleton));
            let off = |joint: usize| shown[joint].translation - expected[joint].translation;
            let by = *apart_by.get_or_insert(off(hips));
            for joint in 0..skeleton.len() {
                let id = JointId(joint as u32);
                let is_above = skeleton.ancestors(hips_id).any(|above| above == id);
                let is_below =
                    id == hips_id || skeleton.ancestors(id).any(|above| above == hips_id);
                let known = match (is_above, is_below, root) {
                    (false, true, _) => by,
                    (true, false, RootMotion::Root) => DVec3::new(by.x, 0.0, by.z),
                    (true, false, RootMotion::Hips) => DVec3::ZERO,
                    _ => continue,
                };
                let off = off(joint) - known;
                assert!(off.length() < 1e-6, "{root:?} {frame}, {joint}: {off}");
            }
        }
        let by = apart_by.unwrap_or(DVec3::NAN);
        assert!(by.x.abs() < 5e-3 && by.z.abs() < 5e-3, "{by}");
        let n_stretched = if keeps_stretch { 2 } else { 0 };
        let n_moved = n_stretched + usize::from(root == RootMotion::Root);
        assert_eq!(baked.translated_joints().count(), n_moved, "{root:?}");
        assert!(moved > 0.05, "{moved}");
    }
}

#[test]
fn a_calibrated_sender_with_axes_of_its_own_moves_a_character_as_one_without() {
    let h = character();
    let document = h.editor.document();
    let made = Character::of(document);
    let none = BoundSamples::default();
    let own = |bone: usize| {
        let turn = bone as f64;
        DQuat::from_rotation_x(1.3 * turn) * DQuat::from_rotation_z(0.7 - turn)
    };
    let mut plain = LiveSamples::default();
    let mut odd = LiveSamples::default();
    let mut push = |times: std::ops::Range<i32>| {
        for i in times {
            let t = f64::from(i) / 60.0;
            let walked = (t - 1.0).max(0.0);
            push_walk(&mut plain, t, walked, |_| DQuat::IDENTITY);
            push_walk(&mut odd, t, walked, own);
        }
        (plain.clone(), odd.clone())
    };
    let (in_t_pose, odd_in_t_pose) = push(0..60);
    let (mut plain, mut odd) = push(60..120);
    let settings = settings(RootMotion::Hips, true);
    let calibrations = [&in_t_pose, &odd_in_t_pose].map(|of| Calibration::of(of, 0.0).unwrap());
    let [mut as_plain, mut as_odd] = [(&plain, 0), (&odd, 1)].map(|(samples, i)| {
        let (live, why) = LivePose::new(
            samples,
            &none,
            document.skeleton(),
            &made.rig,
            &settings,
            calibrations[i].clone(),
            Origin::default(),
        );
        assert_eq!(why, None);
        live
    });
    for i in 0..119 {
        let time = f64::from(i) / 60.0;
        let mut poses = [(); 2].map(|()| Pose::clone(document.rest_pose()));
        let skeleton = document.skeleton();
        as_plain.apply(&plain, &none, time, skeleton, &mut poses[0]);
        as_odd.apply(&odd, &none, time, skeleton, &mut poses[1]);
        let off = apart(&poses[0], &poses[1]);
        assert!(off[0] < 1e-6 && off[1] < 1e-6, "{time}: {off:?}");
    }

    // So are their recordings.
    let takes = [(&mut plain, 0), (&mut odd, 1)].map(|(samples, i)| {
        let calibration: &Calibration = &calibrations[i];
        calibration.apply(samples);
        let mut recording = samples.recording(1.5);
        recording.rest_places = calibration.rest_places(&Origin::default());
        take_of_body(&recording).unwrap()
    });
    let rests = takes[0].rest.places.iter().zip(&takes[1].rest.places);
    let places = takes[0].places.iter().zip(&takes[1].places);
    for (a, b) in rests.chain(places) {
        assert!(a.distance(*b) < 1e-6, "{a} {b}");
    }
}

#[test]
fn a_pose_that_is_made_anew_goes_on_from_the_one_before() {
    let h = character();
    let document = h.editor.document();
    let made = Character::of(document);
    let skeleton = document.skeleton();
    let none = BoundSamples::default();
    // The body turns to the left, then lies down, where it has no heading. Its head, its thigh and its root are lost at the end.
    let mut samples = LiveSamples::default();
    let body = body();
    for i in 0..=120 {
        let t = f64::from(i) / 60.0;
        for bone in 0..body.bones.len() {
            let name = body.name(bone);
            let is_lost = t > 1.5 && ["Head", "LeftUpperLeg", "LeftLowerLeg"].contains(&name);
            if is_lost {
                continue;
            }
            let turned = match name {
                "Hips" => {
                    let left = DQuat::from_rotation_y(FRAC_PI_2 * t.min(1.0));
                    left * DQuat::from_rotation_x(-FRAC_PI_2 * (2.0 * (t - 1.0)).clamp(0.0, 1.0))
                }
                _ => DQuat::from_rotation_x(0.3),
            };
            let place = if name == "Hips" {
                HIPS
            } else {
                body.offsets[bone] * longer(name, 1.0 + t)
            };
            samples.push_rotation(name, t, turned);
            samples.push_position(name, t, place);
        }
        if t < 1.2 {
            samples.push_position("root", t, DVec3::new(3.0, 0.0, t));
            samples.push_rotation("root", t, DQuat::from_rotation_y(0.1 * t));
        }
    }
    let mut origin = Origin::default();
    origin.add_bones(&samples);
    let settings = settings(RootMotion::Root, true);
    let new = |samples: &LiveSamples, calibration: Calibration, origin: Origin| {
        let rig = &made.rig;
        LivePose::new(
            samples,
            &none,
            skeleton,
            rig,
            &settings,
            calibration,
            origin,
        )
        .0
    };
    let show = |live: &mut LivePose, samples: &LiveSamples, time: f64| {
        let mut pose = Pose::clone(document.rest_pose());
        live.apply(samples, &none, time, skeleton, &mut pose);
        pose
    };
    let calibration = Calibration::default;
    let mut live = new(&samples, calibration(), origin.clone());
    for i in 0..=111 {
        show(&mut live, &samples, f64::from(i) / 60.0);
    }
    samples.forget_before(1.4);
    let origin = origin.or_newest(&samples);
    let expected = show(&mut live.clone(), &samples, 1.9);
    let mut anew = new(&samples, calibration(), origin.clone()).going_on(&live);
    let off = apart(&expected, &show(&mut anew, &samples, 1.9));
    assert!(off[0] < 1e-6 && off[1] < 1e-6, "{off:?}");
    // One that does not go on faces to the front, with its head up.
    let mut first = new(&samples, calibration(), origin.clone());
    let off = apart(&expected, &show(&mut first, &samples, 1.9));
    assert!(off[0] > 1.0 && off[1] > 0.1, "{off:?}");
    // Without the bones at rest those that are stretched are at rest.
    let unknown = Origin {
        bones: std::collections::BTreeMap::new(),
        ..origin.clone()
    };
    let mut short = new(&samples, calibration(), unknown).going_on(&live);
    let off = apart(&expected, &show(&mut short, &samples, 1.9));
    assert!(off[1] > 0.05, "{off:?}");
    // Another calibration is another body, which begins anew.
    let other = Calibration::of(&samples, 1.6).unwrap();
    let begun = show(
        &mut new(&samples, other.clone(), origin.clone()),
        &samples,
        1.9,
    );
    let mut anew = new(&samples, other, origin).going_on(&live);
    assert_eq!(show(&mut anew, &samples, 1.9), begun);
}

#[test]
fn a_bone_that_is_stretched_when_it_is_recorded_stays_so() {
    let mut h = character();
    h.editor.listen(LiveKind::Vmc, 0, false);
    let mut settings = *h.editor.live_settings();
    settings.keeps_stretch = true;
    h.editor.set_live_settings(settings);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .connect(h.editor.live().unwrap().address().unwrap())
        .unwrap();
    let body = body();
    let bones = |factor: f64| -> Vec<(&str, DVec3, DQuat)> {
        let bone = |bone: usize| {
            let name = body.name(bone);
            let factor = if name == "LeftLowerLeg" { factor } else { 1.0 };
            (name, body.offsets[bone] * factor, DQuat::IDENTITY)
        };
        (0..body.bones.len()).map(bone).collect()
    };
    let (at_rest, stretched) = (bones(1.0), bones(1.2));
    let joint = h.joint("shin.L") as usize;
    let factor = |h: &sinew::editor::Editor| {
        let document = h.document();
        let [shown, rest] = [&document.shown_pose(), document.rest_pose()]
            .map(|pose| pose.locals[joint].translation.length());
        shown / rest
    };
    send(&socket, [&frame(10.0, &at_rest)]);
    until(&mut h, "the first frame", |h| received(h) == 1);
    // For longer than what is kept.
    let mut n = 1;
    let mut more = |h: &mut crate::editing::EditorHarness, frames: usize| {
        for _ in 0..frames {
            send(&socket, [&frame(10.0 + n as f32 / 60.0, &stretched)]);
            n += 1;
            h.editor.poll(0.0);
        }
        until(h, "the frames", |h| received(h) == n);
    };
    more(&mut h, 400);
    h.editor.record_live();
    more(&mut h, 60);
    // The pose is made anew.
    settings.root = RootMotion::Root;
    h.editor.set_live_settings(settings);
    let mut shown = factor(&h.editor);
    for _ in 0..40 {
        more(&mut h, 1);
        shown = factor(&h.editor);
    }
    assert!((shown - 1.2).abs() < 1e-5, "{shown}");
    assert!(h.editor.stop_recording());
    h.settle();
    let item = h.editor.document().recordings()[&RecordingId(0)].clone();
    let bones = 0..body.bones.len();
    let mut bones = bones.filter(|&bone| body.name(bone) == "LeftLowerLeg");
    let bone = bones.next().unwrap();
    let offset = body.offsets[bone];
    let rest = item.recording().unwrap().rest_places["LeftLowerLeg"];
    assert!(rest.distance(offset) < 1e-6, "{rest}");
    let take = take_of_body(item.recording().unwrap()).unwrap();
    let above = take.rest.parents[bone].unwrap();
    let length = |places: &[DVec3]| places[bone].distance(places[above]);
    let of_rest = length(&take.rest.places);
    for frame in 0..take.n_frames() {
        let longer = length(take.places(Some(frame))) / of_rest;
        assert!((longer - 1.2).abs() < 1e-5, "{frame}: {longer}");
    }
}
