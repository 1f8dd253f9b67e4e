//! Channels of recordings on the joints and the morph targets of their names: baked, undone, saved, written by the command line.

use crate::cli::{asset, done, fails, text};
use crate::editing::EditorHarness;
use crate::motion_streams::elbow;
use crate::shared::shared_dir;
use glam::DQuat;
use serde_json::json;
use sinew::cluster::channel::RecordingId;
use sinew::document::Document;
use sinew::editor::OpenRequest;
use sinew::editor::live::LiveKind;
use sinew::io::import_file;
use sinew::math::Worse;
use sinew::motion::ChannelKind;
use sinew::motion::bindings::{Binding, BoundTo};
use sinew::skeleton::{Clip, JointId, Pose, Property};
use sinew::task::Task;
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const FIRST: RecordingId = RecordingId(0);
/// Where the sensor of the forearm has no values, and returns to them, on its clock.
const GAP: std::ops::Range<f64> = 6.84..7.68;

fn joint(document: &Document, name: &str) -> JointId {
    let skeleton = document.skeleton();
    let mut joints = skeleton.live_joints();
    joints
        .find(|joint| skeleton.joint(*joint).name == name)
        .expect("a joint")
}

fn pose_at(document: &Document, clip: &Clip, time: f64) -> Pose {
    let mut pose = Pose::clone(document.rest_pose());
    clip.apply(time, &mut pose);
    pose
}

fn named<'a>(document: &'a Document, name: &str) -> &'a Clip {
    let mut clips = document.clips().values();
    clips.find(|clip| clip.name == name).expect("a clip")
}

/// How far the forearm of a clip of the recorded elbow is off its angles, degrees: at most, and root mean square, where the sensor
/// has values.
fn off(document: &Document, clip: &Clip) -> [f64; 2] {
    let forearm = joint(document, "forearm").get();
    let (mut worst, mut squares, mut n) = (0.0_f64, 0.0, 0);
    for i in 30..1740 {
        let common = f64::from(i) / 60.0;
        // The sensor is 200 ppm fast and began at 0.35 s; the clip begins with its first sample, at 0.0004 s.
        let device = (common - 0.35) * 1.0002;
        if device < 0.0 || GAP.contains(&device) {
            continue;
        }
        let found = pose_at(document, clip, device - 0.0004).locals[forearm].rotation;
        let truth = DQuat::from_rotation_x(elbow(common).to_radians());
        let off = 2.0 * found.dot(truth).abs().clamp(0.0, 1.0).acos().to_degrees();
        worst = worst.worse(off);
        squares += off * off;
        n += 1;
    }
    [worst, f64::sqrt(squares / f64::from(n))]
}

#[test]
fn a_recorded_forearm_bends_the_joint_of_its_name() {
    let Some(folder) = shared_dir("a sensor on a forearm") else {
        return;
    };
    let imu = folder.join("motion/streams/imu_forearm.csv");
    let mut h = EditorHarness::on(OpenRequest::Path(asset("arm").into()));
    h.editor.add_recording(&imu);
    h.settle();
    h.editor.adjust_motion(FIRST);
    h.settle();
    let label = |h: &EditorHarness| h.editor.history().undo_label().unwrap_or("").to_owned();
    assert_eq!(label(&h), "Add motion · imu_forearm");
    let adding = h.editor.adding_motion().unwrap();
    assert!(!adding.has_body() && adding.pairs().iter().all(|pair| pair.bones[0].is_none()));
    let lines = adding.result().unwrap().lines();
    assert_eq!(lines[0], "1 bone follows the channel of its name: forearm");
    let clip = named(h.editor.document(), "imu_forearm");
    let [worst, rms] = off(h.editor.document(), clip);
    println!(
        "forearm: max {worst:.4}, rms {rms:.4} degrees, {}",
        lines[1]
    );
    // The noise of its stamps (0.0863, 0.0184), and the tolerance of fewer keys.
    assert!(worst < 0.2 && rms < 0.06, "{worst} {rms}");
    let n_keys = clip.channels[0].times.len();
    assert!(n_keys < 1500, "{n_keys} of 3000");
    // In the gap it relaxes, as live.
    let document = h.editor.document();
    let forearm = joint(document, "forearm");
    let rest = document.skeleton().joint(forearm).rest.rotation;
    let lost = pose_at(document, clip, 7.54).locals[forearm.get()].rotation;
    assert!(lost.dot(rest).abs().clamp(0.0, 1.0).acos().to_degrees() < 8.0);
    // It has settings, is undone, and is made again from the project.
    let mut settings = adding.settings().clone();
    settings.bake.tolerance = 0.0;
    h.editor.set_motion_settings(settings);
    h.settle();
    let all = named(h.editor.document(), "imu_forearm");
    assert!(all.channels[0].times.len() > 2900);
    let [worst, rms] = off(h.editor.document(), all);
    assert!(worst < 0.1 && rms < 0.02, "{worst} {rms}");
    let saved = tempfile::tempdir().unwrap();
    let path = saved.path().join("arm.ron");
    h.editor.save_as(&path);
    h.settle();
    h.editor.undo();
    h.settle();
    assert_eq!(label(&h), "Add recording · imu_forearm");
    h.check();
    let mut again = EditorHarness::on(OpenRequest::Path(path));
    again.editor.adjust_motion(FIRST);
    again.settle();
    let mut settings = again.editor.adding_motion().unwrap().settings().clone();
    assert_eq!(settings.bake.tolerance, 0.0);
    settings.bake.tolerance = 1e-3;
    again.editor.set_motion_settings(settings);
    again.settle();
    assert_eq!(label(&again), "Adjust motion · imu_forearm");
    let clip = named(again.editor.document(), "imu_forearm");
    assert_eq!(clip.channels[0].times.len(), n_keys);
    assert_eq!(again.editor.document().recordings().len(), 1);
}

/// A model with a joint `forearm` that turns about x by 90 degrees at rest, under one that is turned too, and a face with two
/// targets.
pub(crate) fn face(folder: &Path) -> PathBuf {
    let floats: Vec<f32> = vec![
        0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, // a triangle
        0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, // Joy
        0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, // bulge
    ];
    let bytes: Vec<u8> = floats.iter().flat_map(|f| f.to_le_bytes()).collect();
    std::fs::write(folder.join("face.bin"), &bytes).unwrap();
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let view = |i: usize| json!({"buffer": 0, "byteOffset": 36 * i, "byteLength": 36});
    let accessor = |i: usize| json!({"bufferView": i, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]});
    let model = json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [
            {"name": "body", "children": [1, 2], "rotation": [0, half, 0, half]},
            {"name": "forearm", "rotation": [half, 0, 0, half], "translation": [0, 1, 0], "children": [3]},
            {"name": "head", "mesh": 0},
            {"name": "wrist", "translation": [0, 1, 0]},
        ],
        "meshes": [{
            "name": "face",
            "primitives": [{"attributes": {"POSITION": 0}, "targets": [{"POSITION": 1}, {"POSITION": 2}]}],
            "weights": [0.0, 0.25],
            "extras": {"targetNames": ["Joy", "bulge"]},
        }],
        "buffers": [{"uri": "face.bin", "byteLength": bytes.len()}],
        "bufferViews": [view(0), view(1), view(2)],
        "accessors": [accessor(0), accessor(1), accessor(2)],
    });
    let path = folder.join("face.gltf");
    std::fs::write(&path, model.to_string()).unwrap();
    path
}

#[test]
fn blend_values_become_morph_weights_and_world_rotations_go_through_the_parent() {
    let folder = tempfile::tempdir().unwrap();
    let model = face(folder.path());
    let lines = folder.path().join("take.jsonl");
    let mut take = String::new();
    for i in 0..=50 {
        let t = f64::from(i) * 0.02;
        let q = DQuat::from_rotation_z(0.5 * t);
        let _ = writeln!(
            take,
            "{{\"t\":{},\"space\":\"world\",\"rotation\":{{\"forearm\":[{},{},{},{}]}},\"scalar\":{{\"blend:happy\":{t},\"emg\":9}}}}",
            10.0 + t,
            q.x,
            q.y,
            q.z,
            q.w
        );
    }
    std::fs::write(&lines, take).unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(model.clone()));
    h.editor.add_recording(&lines);
    h.settle();
    h.editor.adjust_motion(FIRST);
    h.settle();
    let document = h.editor.document();
    let clip = named(document, "take");
    let said = h.editor.adding_motion().unwrap().result().unwrap().lines();
    let expected = "1 bone and 1 morph target follow the channels of their names: forearm, Joy";
    assert_eq!(said[0], expected);
    let (forearm, head) = (joint(document, "forearm"), joint(document, "head"));
    for time in [0.0, 0.31, 1.0] {
        let pose = pose_at(document, clip, time);
        let world = pose.world_matrices(document.skeleton())[forearm.get()].matrix3;
        let truth = glam::DMat3::from_rotation_z(0.5 * time);
        assert!(world.abs_diff_eq(truth, 2e-3), "{time}: {world}");
        let weights = &pose.morph_weights[head.get()];
        assert!(
            (f64::from(weights[0]) - time).abs() < 2e-3,
            "{time} {weights:?}"
        );
        assert_eq!(weights[1], 0.25, "no channel moves it");
    }
    let morphs = clip.channels.iter();
    let mut morphs = morphs.filter(|channel| channel.property == Property::MorphWeights);
    let keys = morphs.next().unwrap().times.len();
    assert_eq!(keys, 2, "a straight line");
    // The command line makes the same clip; a value of no morph target moves nothing.
    let glb = folder.path().join("out.glb");
    let said = done(&[
        "motion",
        text(&model),
        "--stream",
        text(&lines),
        "--out",
        text(&glb),
    ]);
    assert!(said.contains(expected), "{said}");
    let made = Document::new(import_file(&glb, &Task::new()).unwrap().parts).unwrap();
    let pose = pose_at(&made, named(&made, "take"), 0.5);
    let weights = &pose.morph_weights[joint(&made, "head").get()];
    assert!((weights[0] - 0.5).abs() < 2e-3, "{weights:?}");
    let replayed = [
        "motion",
        text(&model),
        "--replay",
        text(&lines),
        "--out",
        text(&glb),
    ];
    assert!(done(&replayed).contains(expected));
    let emg = folder.path().join("emg.csv");
    std::fs::write(&emg, "t,emg\n0,1\n1,2\n").unwrap();
    let why = fails(
        &[
            "motion",
            text(&model),
            "--stream",
            text(&emg),
            "--out",
            text(&glb),
        ],
        1,
    );
    assert!(
        why.contains("None of its rotations is named after"),
        "{why}"
    );
    // Wrong units of time make no endless clip.
    let late = folder.path().join("late.csv");
    std::fs::write(&late, "t,bulge\n0,1\n0.01,1\n0.02,1\n1e9,2\n").unwrap();
    let why = fails(
        &[
            "motion",
            text(&model),
            "--stream",
            text(&late),
            "--out",
            text(&glb),
        ],
        1,
    );
    assert!(why.contains("is the unit of its times right?"), "{why}");
}

/// A recording of a knee angle, a muscle, a marker and a sensor, on the model of [`face`].
fn bound_take(folder: &Path) -> PathBuf {
    let path = folder.join("bound.csv");
    let mut csv = String::from(
        "t,knee[deg],emg,hip.x,hip.y,hip.z,forearm.qx,forearm.qy,forearm.qz,forearm.qw\n",
    );
    for i in 0..=50 {
        let t = f64::from(i) * 0.02;
        let q = DQuat::from_rotation_z(0.5 * t);
        let _ = writeln!(
            csv,
            "{t},{},{},{},2,0,{},{},{},{}",
            40.0 * t,
            100.0 * t,
            3.0 + t,
            q.x,
            q.y,
            q.z,
            q.w
        );
    }
    std::fs::write(&path, csv).unwrap();
    path
}

/// The kind of the channel of a binding; that of a channel which is only shown is a rotation here.
pub(crate) fn kind_of(binding: &Binding) -> ChannelKind {
    binding.kind().unwrap_or(ChannelKind::Rotation)
}

/// How far the local rotation of a joint is from its rest about x, degrees.
fn about_x(document: &Document, pose: &Pose, name: &str) -> f64 {
    let joint = joint(document, name);
    let rest = document.skeleton().joint(joint).rest.rotation;
    let turn = rest.conjugate() * pose.locals[joint.get()].rotation;
    2.0 * turn.x.atan2(turn.w).to_degrees()
}

#[test]
fn channels_move_what_they_are_bound_to_instead_of_what_has_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let model = face(folder.path());
    let take = bound_take(folder.path());
    let mut h = EditorHarness::on(OpenRequest::Path(model.clone()));
    h.editor.add_recording(&take);
    h.settle();
    let bind = |h: &mut EditorHarness, text: &str| {
        let binding: Binding = text.parse().unwrap();
        let channel = (&*binding.channel, kind_of(&binding));
        h.editor
            .bind_channel(FIRST, channel, Some(binding.to.clone()));
        h.settle();
    };
    bind(&mut h, "knee=hinge:wrist,x,-2,10");
    let label = |h: &EditorHarness| h.editor.history().undo_label().unwrap_or("").to_owned();
    assert_eq!(label(&h), "Bind channels · bound");
    // A bone that gets another name takes its bindings along, in one step.
    let wrist = joint(h.editor.document(), "wrist");
    let bound_to = |h: &EditorHarness| {
        let to = h
            .editor
            .binding_of(FIRST, ("knee", ChannelKind::Scalar))
            .cloned();
        to.and_then(|to| to.joint().map(str::to_owned))
    };
    h.editor.rename_joint(wrist, "hand");
    h.settle();
    assert_eq!(
        (label(&h), bound_to(&h)),
        ("Rename bone".into(), Some("hand".into()))
    );
    // One that gets a name which means another bone does not take them to that.
    h.editor.rename_joint(wrist, "head");
    h.settle();
    assert_eq!(bound_to(&h).as_deref(), Some("hand"));
    h.editor.undo();
    h.editor.undo();
    h.settle();
    assert_eq!(bound_to(&h).as_deref(), Some("wrist"));
    bind(&mut h, "emg=morph:bulge,0.01");
    bind(&mut h, "hip=move:body,0.5");
    bind(&mut h, "forearm=none");
    let document = h.editor.document();
    let clip = named(document, "bound");
    assert_eq!(
        document
            .clips()
            .values()
            .filter(|c| c.name.starts_with("bound"))
            .count(),
        1
    );
    let body = joint(document, "body");
    for time in [0.0, 0.5, 1.0] {
        let pose = pose_at(document, clip, time);
        let angle = about_x(document, &pose, "wrist");
        assert!(
            (angle - (10.0 - 80.0 * time)).abs() < 0.2,
            "{time}: {angle}"
        );
        let weight = pose.morph_weights[joint(document, "head").get()][1];
        assert!((f64::from(weight) - time).abs() < 2e-3, "{time}: {weight}");
        let place = pose.locals[body.get()].translation;
        let truth = glam::DVec3::X * 0.5 * time;
        assert!(place.distance(truth) < 5e-3, "{time}: {place}");
        let forearm = joint(document, "forearm");
        let rest = document.skeleton().joint(forearm).rest.rotation;
        assert!(
            pose.locals[forearm.get()].rotation.abs_diff_eq(rest, 1e-9),
            "only shown"
        );
    }
    // The bindings are in the project, each is undone by itself, and the default comes back.
    let path = folder.path().join("bound.ron");
    h.editor.save_as(&path);
    h.settle();
    let again = EditorHarness::on(OpenRequest::Path(path));
    let knee = again
        .editor
        .binding_of(FIRST, ("knee", ChannelKind::Scalar))
        .cloned();
    assert_eq!(
        knee,
        "knee=hinge:wrist,x,-2,10"
            .parse::<Binding>()
            .ok()
            .map(|b| b.to)
    );
    assert_eq!(
        again
            .editor
            .binding_of(FIRST, ("forearm", ChannelKind::Rotation)),
        Some(&BoundTo::Display)
    );
    h.editor.undo();
    h.settle();
    assert_eq!(
        h.editor
            .binding_of(FIRST, ("forearm", ChannelKind::Rotation)),
        None
    );
    h.editor
        .bind_channel(FIRST, ("knee", ChannelKind::Scalar), None);
    h.settle();
    let document = h.editor.document();
    let pose = pose_at(document, named(document, "bound"), 1.0);
    assert!(about_x(document, &pose, "wrist").abs() < 1e-6);
    h.check();
    // What is not there is said, and nothing changes.
    bind(&mut h, "knee=hinge:toe,x");
    assert_eq!(
        h.editor.binding_of(FIRST, ("knee", ChannelKind::Scalar)),
        None
    );
    // The command line makes the same clip.
    let glb = folder.path().join("out.glb");
    let line = |bind: &[&str]| {
        let mut line = vec!["motion", text(&model), "--stream", text(&take)];
        line.extend(bind.iter().flat_map(|bind| ["--bind", bind]));
        line.extend(["--out", text(&glb)]);
        line.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let run = |bind: &[&str]| {
        let line = line(bind);
        done(&line.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let said = run(&[
        "knee=hinge:wrist,x,-2,10",
        "emg=morph:bulge,0.01",
        "forearm=rotation:head",
    ]);
    assert!(
        said.contains("2 bones and 1 morph target follow their channels: "),
        "{said}"
    );
    let made = Document::new(import_file(&glb, &Task::new()).unwrap().parts).unwrap();
    let pose = pose_at(&made, named(&made, "bound"), 0.5);
    assert!((about_x(&made, &pose, "wrist") + 30.0).abs() < 0.2);
    let head = pose.locals[joint(&made, "head").get()].rotation;
    assert!(
        head.dot(DQuat::from_rotation_z(0.25)).abs() > 1.0 - 1e-5,
        "{head}"
    );
    for (wrong, why) in [
        (
            "knee=hinge:toe,x",
            "There is no bone \"toe\" to bind the channel ",
        ),
        ("knee=hinge:wrist", "leave no single axis: choose X, Y or Z"),
        ("hip=morph:bulge", "\"hip\" is no number"),
        ("ankle=none", "There is no channel \"ankle\" to bind"),
        ("knee=morph:smile", "There is no morph target \"smile\""),
    ] {
        let line = line(&[wrong]);
        let said = fails(&line.iter().map(String::as_str).collect::<Vec<_>>(), 1);
        assert!(said.contains(why), "{wrong}: {said}");
    }
}

#[test]
fn live_channels_move_what_they_are_bound_to_and_their_recording_has_the_bindings() {
    let folder = tempfile::tempdir().unwrap();
    let model = face(folder.path());
    let mut h = EditorHarness::on(OpenRequest::Path(model));
    h.editor.listen(LiveKind::JsonLines, 0, false);
    let address = h.editor.live().unwrap().address().unwrap();
    let mut sender = TcpStream::connect(address).unwrap();
    let mut send = |i: i32| {
        let t = f64::from(i) * 0.02;
        let line = json!({
            "t": t,
            "position": {"hip": [t, 0.0, 0.0]},
            "scalar": {"knee": 40.0 * t, "emg": 100.0 * t},
        });
        writeln!(sender, "{line}").unwrap();
    };
    let until = |h: &mut EditorHarness, what: &str, done: &dyn Fn(&EditorHarness) -> bool| {
        let deadline = Instant::now() + Duration::from_mins(1);
        while !done(h) {
            assert!(Instant::now() < deadline, "waited too long: {what}");
            h.editor.poll(0.0);
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let received = |h: &EditorHarness| h.editor.live().map_or(0, |live| live.counts().received);
    send(0);
    until(&mut h, "a line", &|h| received(h) == 1);
    let bind = |h: &mut EditorHarness, text: &str| {
        let binding: Binding = text.parse().unwrap();
        let channel = (&*binding.channel, kind_of(&binding));
        h.editor
            .bind_live_channel(channel, Some(binding.to.clone()));
    };
    bind(&mut h, "knee=hinge:wrist,x,-2,10");
    bind(&mut h, "emg=morph:bulge,0.01");
    bind(&mut h, "hip=move:body,0.5");
    // What cannot be carried out is refused, and the others stay.
    bind(&mut h, "hip=rotation:head");
    h.settle();
    assert!(
        h.last_notice().contains("is no rotation"),
        "{}",
        h.last_notice()
    );
    bind(&mut h, "knee=hinge:toe,x");
    let knee = h
        .editor
        .live_binding_of(("knee", ChannelKind::Scalar))
        .cloned();
    assert!(knee.is_some_and(|to| to.joint() == Some("wrist")));
    assert_eq!(h.editor.history().undo_label(), None, "no edit");
    // A bone that gets another name stays bound, and so it does when that is undone.
    let wrist = joint(h.editor.document(), "wrist");
    let bound_to = |h: &EditorHarness| {
        let to = h
            .editor
            .live_binding_of(("knee", ChannelKind::Scalar))
            .cloned();
        to.and_then(|to| to.joint().map(str::to_owned))
    };
    h.settle();
    h.editor.rename_joint(wrist, "hand");
    h.settle();
    assert_eq!(bound_to(&h).as_deref(), Some("hand"));
    h.editor.undo();
    h.settle();
    assert_eq!(bound_to(&h).as_deref(), Some("wrist"));
    // A name that means another bone is not taken along.
    h.editor.rename_joint(wrist, "head");
    h.settle();
    assert_eq!(bound_to(&h).as_deref(), Some("wrist"));
    h.editor.undo();
    h.settle();
    for i in 1..=25 {
        send(i);
    }
    until(&mut h, "the first part", &|h| received(h) == 26);
    h.editor.record_live();
    for i in 26..=50 {
        send(i);
    }
    let wrist = joint(h.editor.document(), "wrist");
    let shows = |h: &EditorHarness| {
        let document = h.editor.document();
        let pose = document.shown_pose();
        let weight = pose.morph_weights[joint(document, "head").get()][1];
        let place = pose.locals[joint(document, "body").get()].translation;
        let is_placed = (place - glam::DVec3::X * 0.5).length() < 1e-6;
        let angle = about_x(document, &pose, "wrist");
        is_placed && (angle + 70.0).abs() < 1e-4 && (weight - 1.0).abs() < 1e-6
    };
    until(&mut h, "the pose", &|h| shows(h));
    h.editor.stop_recording();
    h.settle();
    let item = h.editor.document().recordings()[&FIRST].clone();
    let motion = item.motion.as_ref().unwrap();
    let recording = item.recording().unwrap();
    assert_eq!(recording.arrivals.len(), recording.times.len());
    let channels: Vec<&str> = motion
        .settings
        .bindings
        .iter()
        .map(|b| &*b.channel)
        .collect();
    assert_eq!(channels, ["knee", "emg", "hip"]);
    h.editor.stop_listening();
    h.editor.adjust_motion(FIRST);
    h.settle();
    // The clip ends with the pose that was shown, though it began where the hip was already away.
    let document = h.editor.document();
    let clip = named(document, "Take");
    let end = f64::from(clip.end_secs());
    let pose = pose_at(document, clip, end);
    assert!((about_x(document, &pose, "wrist") + 70.0).abs() < 1e-4);
    let body = joint(document, "body").get();
    let place = pose.locals[body].translation;
    assert!((place - glam::DVec3::X * 0.5).length() < 1e-6, "{place}");
    let start = pose_at(document, clip, 0.0).locals[body].translation;
    assert!((start.x - 0.25).abs() < 0.011, "{start}");
    assert!(clip.channels.iter().any(|c| c.joint == wrist));
    // It is saved with where the location counts from.
    let saved = tempfile::tempdir().unwrap();
    let path = saved.path().join("face.ron");
    h.editor.save_as(&path);
    h.settle();
    let again = EditorHarness::on(OpenRequest::Path(path));
    let kept = &again.editor.document().recordings()[&FIRST];
    let arrivals = &kept.recording().unwrap().arrivals;
    assert_eq!(*arrivals, recording.arrivals);
    assert_eq!(
        kept.motion.as_ref().unwrap().settings.bindings,
        motion.settings.bindings
    );
    h.check();
}
