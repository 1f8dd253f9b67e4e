//! Edits of the character while motion is received: the map of its body, bones and bindings.

use crate::editing::EditorHarness;
use crate::humanoid::bone as human_bone;
use crate::live_motion::{BONES, character, frame, received, send, until};
use crate::motion_by_name::{face, kind_of};
use glam::{DQuat, DVec3};
use serde_json::{Value, json};
use sinew::cluster::channel::RecordingId;
use sinew::editor::OpenRequest;
use sinew::editor::live::LiveKind;
use sinew::motion::ChannelKind;
use sinew::motion::bindings::{Binding, BoundTo};
use sinew::skeleton::JointId;
use std::borrow::Cow;
use std::io::Write;
use std::net::{TcpStream, UdpSocket};

const FIRST: RecordingId = RecordingId(0);

fn bone(h: &EditorHarness, name: &str) -> JointId {
    JointId(h.joint(name))
}

/// A sender of JSON lines.
struct Sender {
    stream: TcpStream,
    n: usize,
}

impl Sender {
    fn to(h: &mut EditorHarness) -> Self {
        h.editor.listen(LiveKind::JsonLines, 0, false);
        let address = h.editor.live().unwrap().address().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        Self { stream, n: 0 }
    }

    /// Sends lines of a time, seconds, until they are received.
    fn send(&mut self, h: &mut EditorHarness, count: usize, line: impl Fn(f64) -> Value) {
        for _ in 0..count {
            let mut line = line(self.n as f64 * 0.02);
            line["t"] = json!(self.n as f64 * 0.02);
            writeln!(self.stream, "{line}").unwrap();
            self.n += 1;
        }
        let n = self.n;
        until(h, "all lines", |h| received(h) == n);
    }
}

fn bind(h: &mut EditorHarness, text: &str) {
    let binding: Binding = text.parse().unwrap();
    let channel = (&*binding.channel, kind_of(&binding));
    h.editor
        .bind_live_channel(channel, Some(binding.to.clone()));
}

/// The local rotation on screen of a bone.
fn rotation(h: &EditorHarness, name: &str) -> DQuat {
    h.editor.document().shown_pose().locals[h.joint(name) as usize].rotation
}

fn turn(q: DQuat) -> Value {
    json!([q.x, q.y, q.z, q.w])
}

#[test]
fn a_corrected_map_of_the_body_acts_at_once() {
    let mut h = character();
    h.editor.listen(LiveKind::Vmc, 0, false);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = h.editor.live().unwrap().address().unwrap();
    socket.connect(address).unwrap();
    let mut n = 0_u16;
    let mut shows = |h: &mut EditorHarness| {
        for _ in 0..30 {
            let bones = BONES.map(|name| {
                let place = if name == "Hips" {
                    DVec3::Y
                } else {
                    DVec3::ZERO
                };
                (name, place, DQuat::from_rotation_z(0.2))
            });
            send(&socket, [&frame(5.0 + f32::from(n) / 30.0, &bones)]);
            n += 1;
        }
        let all = usize::from(n);
        until(h, "frames", |h| received(h) == all);
        h.settle();
        let live = h.editor.live().unwrap();
        (live.moves(), live.failure().map(Cow::into_owned))
    };
    assert_eq!(shows(&mut h), (true, None));
    // A leg of the wrong bone: the body cannot be retargeted, and the reason is told.
    let head = bone(&h, "head");
    h.editor
        .set_human_bone(human_bone("leftUpperLeg"), Some(head));
    let (moves, why) = shows(&mut h);
    assert!(!moves && why.is_some(), "{why:?}");
    h.editor.undo();
    assert_eq!(shows(&mut h), (true, None));
}

#[test]
fn the_position_and_the_rotation_of_a_tracker_are_bound_each_for_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(face(folder.path())));
    let mut sender = Sender::to(&mut h);
    let line = |t: f64| {
        let q = DQuat::from_rotation_x(t.min(0.5));
        json!({"position": {"hand": [t.min(0.5), 0.0, 0.0]}, "rotation": {"hand": turn(q)}})
    };
    sender.send(&mut h, 1, line);
    bind(&mut h, "hand=move:body,2");
    bind(&mut h, "hand=rotation:head");
    let of = |h: &EditorHarness, kind| h.editor.live_binding_of(("hand", kind)).cloned();
    let bound_to =
        |h: &EditorHarness, kind| of(h, kind).and_then(|to| to.joint().map(str::to_owned));
    assert_eq!(bound_to(&h, ChannelKind::Marker).as_deref(), Some("body"));
    assert_eq!(bound_to(&h, ChannelKind::Rotation).as_deref(), Some("head"));
    h.editor.record_live();
    sender.send(&mut h, 40, line);
    let body = bone(&h, "body");
    let rest = h.editor.document().skeleton().joint(body).rest.translation;
    let moved =
        |h: &EditorHarness| h.editor.document().shown_pose().locals[body.get()].translation - rest;
    until(&mut h, "both", |h| {
        let turned = rotation(h, "head").angle_between(DQuat::from_rotation_x(0.5));
        turned < 1e-6 && moved(h).distance(DVec3::X) < 1e-6
    });
    // Where only one is shown, the other acts on.
    h.editor
        .bind_live_channel(("hand", ChannelKind::Marker), Some(BoundTo::Display));
    until(&mut h, "rest", |h| moved(h).length() < 1e-6);
    assert!(rotation(&h, "head").angle_between(DQuat::from_rotation_x(0.5)) < 1e-6);
    // The recording has both, its clip does the same, and the project keeps them.
    assert!(h.editor.stop_recording());
    h.settle();
    let kept = |h: &EditorHarness| {
        [ChannelKind::Marker, ChannelKind::Rotation].map(|kind| {
            let to = h.editor.binding_of(FIRST, ("hand", kind)).cloned();
            to.map(|to| (to == BoundTo::Display, to.joint().map(str::to_owned)))
        })
    };
    let expected = [Some((true, None)), Some((false, Some("head".to_owned())))];
    assert_eq!(kept(&h), expected);
    // Each has figures of its own.
    let figures = |h: &mut EditorHarness, kind| -> Vec<String> {
        let _ = h.editor.channel_numbers(FIRST, ("hand", kind));
        h.settle();
        let found = h.editor.channel_numbers(FIRST, ("hand", kind)).unwrap();
        found.iter().map(|of| of.name.clone()).collect()
    };
    let of_marker = figures(&mut h, ChannelKind::Marker);
    assert_eq!(of_marker, ["hand.x", "hand.y", "hand.z"]);
    assert_eq!(figures(&mut h, ChannelKind::Rotation), ["hand"]);
    h.editor.adjust_motion(FIRST);
    h.settle();
    let clips = h.editor.document().clips();
    let clip = clips.values().last().unwrap();
    let joints: Vec<JointId> = clip.channels.iter().map(|of| of.joint).collect();
    assert_eq!(joints, [bone(&h, "head")]);
    let path = folder.path().join("tracker.ron");
    h.editor.save_as(&path);
    h.settle();
    let again = EditorHarness::on(OpenRequest::Path(path));
    assert_eq!(kept(&again), expected);
    h.check();
}

#[test]
fn a_few_bones_are_no_body_in_their_recording_either() {
    let mut h = character();
    let arm = bone(&h, "upper_arm.L");
    h.editor.rename_joint(arm, "LeftUpperArm");
    let mut sender = Sender::to(&mut h);
    let line = |t: f64| {
        let q = DQuat::from_rotation_x(t.min(0.5));
        json!({
            "rotation": {"LeftUpperArm": turn(q), "forearm.R": turn(q)},
            "scalar": {"Jaw": t},
        })
    };
    sender.send(&mut h, 1, line);
    let live = h.editor.live().unwrap();
    assert!(!live.is_of_body(("LeftUpperArm", ChannelKind::Rotation)));
    bind(&mut h, "LeftUpperArm=none");
    h.editor.record_live();
    sender.send(&mut h, 40, line);
    until(&mut h, "a forearm", |h| {
        rotation(h, "forearm.R").angle_between(DQuat::from_rotation_x(0.5)) < 1e-6
    });
    assert!(h.editor.stop_recording());
    let right = bone(&h, "forearm.R");
    h.settle();
    let arm_channel = ("LeftUpperArm", ChannelKind::Rotation);
    assert!(!h.editor.moves_the_body(FIRST, arm_channel));
    assert_eq!(
        h.editor.binding_of(FIRST, arm_channel),
        Some(&BoundTo::Display)
    );
    h.editor.adjust_motion(FIRST);
    h.settle();
    let clips = h.editor.document().clips();
    let clip = clips.values().find(|clip| clip.name == "Take").unwrap();
    let joints: Vec<JointId> = clip.channels.iter().map(|of| of.joint).collect();
    assert_eq!(joints, [right], "what is only shown moves nothing");
    h.check();
}

#[test]
fn a_binding_that_no_longer_fits_is_not_recorded_and_the_others_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut h = EditorHarness::on(OpenRequest::Path(face(folder.path())));
    let mut sender = Sender::to(&mut h);
    let line = |t: f64| json!({"scalar": {"knee": 40.0 * t, "emg": 100.0 * t, "turn": 10.0 * t}});
    sender.send(&mut h, 1, line);
    bind(&mut h, "knee=hinge:wrist,x");
    bind(&mut h, "emg=morph:bulge,0.01");
    bind(&mut h, "turn=hinge:forearm,z");
    // A name that means another bone is not taken along, so no bone has that of the binding.
    let wrist = bone(&h, "wrist");
    h.editor.rename_joint(wrist, "head");
    sender.send(&mut h, 10, line);
    h.settle();
    let why = "There is no bone \"wrist\" to bind the channel \"knee\" to.";
    assert_eq!(h.editor.live().unwrap().failure().as_deref(), Some(why));
    h.editor.record_live();
    sender.send(&mut h, 30, line);
    assert!(h.editor.stop_recording());
    let notice = format!("{why} A binding that does not fit is not recorded.");
    // A bone that gets another name while the recording is made.
    let forearm = bone(&h, "forearm");
    h.editor.rename_joint(forearm, "lower arm");
    h.settle();
    assert!(h.notices.iter().any(|said| said.text == notice));
    let of = |name: &str| h.editor.binding_of(FIRST, (name, ChannelKind::Scalar));
    assert_eq!(of("knee"), None);
    assert!(of("emg").is_some());
    assert_eq!(of("turn").and_then(BoundTo::joint), Some("lower arm"));
    h.editor.adjust_motion(FIRST);
    h.settle();
    assert_eq!(h.editor.adding_motion().unwrap().failure(), None);
    h.check();
}
