//! Live motion over the loopback: it moves the character while weights are painted, is calibrated, recorded and undone.

use crate::editing::EditorHarness;
use crate::shared::shared_dir;
use glam::{DQuat, DVec3, Vec2};
use rosc::{OscMessage, OscPacket, OscType};
use sinew::cluster::channel::RecordingId;
use sinew::editor::OpenRequest;
use sinew::editor::live::LiveKind;
use sinew::math::Worse;
use sinew::motion::live::{BoundSamples, Calibration, LivePose, LiveSamples, Origin};
use sinew::motion::retarget::{MotionSettings, Reference, Retarget, RetargetOptions};
use sinew::motion::vmc::{VmcSource, take_of_body};
use sinew::rig::Character;
use sinew::skeleton::Pose;
use std::f64::consts::FRAC_PI_2;
use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::time::{Duration, Instant};

/// Bones of a walking body, by the names of Unity.
pub(crate) const BONES: [&str; 15] = [
    "Hips",
    "Spine",
    "Head",
    "LeftUpperLeg",
    "LeftLowerLeg",
    "LeftFoot",
    "RightUpperLeg",
    "RightLowerLeg",
    "RightFoot",
    "LeftUpperArm",
    "LeftLowerArm",
    "LeftHand",
    "RightUpperArm",
    "RightLowerArm",
    "RightHand",
];

pub(crate) fn character() -> EditorHarness {
    EditorHarness::on(OpenRequest::Path("assets/mannequin.glb".into()))
}

/// Times of arrival and packets of the logged walk.
fn logged(test: &str) -> Option<Vec<(f64, Vec<u8>)>> {
    let bytes = std::fs::read(shared_dir(test)?.join("motion/live/vmc_walk.vmclog")).unwrap();
    let mut rest = &bytes[..];
    let mut found = Vec::new();
    while let Some((arrival, after)) = rest.split_first_chunk::<8>() {
        let (length, after) = after.split_first_chunk::<4>().unwrap();
        let (packet, next) = after.split_at(u32::from_le_bytes(*length) as usize);
        found.push((f64::from_le_bytes(*arrival), packet.to_vec()));
        rest = next;
    }
    Some(found)
}

/// A time and bones of Unity in one packet.
pub(crate) fn frame(time: f32, bones: &[(&str, DVec3, DQuat)]) -> Vec<u8> {
    let message = |addr: &str, args| {
        OscPacket::Message(OscMessage {
            addr: addr.into(),
            args,
        })
    };
    let bone = |(name, p, q): &(&str, DVec3, DQuat)| {
        let numbers = [-p.x, p.y, p.z, q.x, -q.y, -q.z, q.w].map(|n| OscType::Float(n as f32));
        let name = OscType::String((*name).into());
        message(
            "/VMC/Ext/Bone/Pos",
            std::iter::once(name).chain(numbers).collect(),
        )
    };
    let time = message("/VMC/Ext/T", vec![OscType::Float(time)]);
    let bundle = rosc::OscBundle {
        timetag: (0, 1).into(),
        content: std::iter::once(time)
            .chain(bones.iter().map(bone))
            .collect(),
    };
    rosc::encoder::encode(&OscPacket::Bundle(bundle)).unwrap()
}

/// Sends packets with pauses, so that the system's buffer does not overflow.
pub(crate) fn send<'a>(socket: &UdpSocket, packets: impl IntoIterator<Item = &'a Vec<u8>>) {
    for packet in packets {
        socket.send(packet).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Polls until something holds.
pub(crate) fn until(h: &mut EditorHarness, what: &str, done: impl Fn(&EditorHarness) -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !done(h) {
        assert!(Instant::now() < deadline, "waited too long: {what}");
        h.editor.poll(0.0);
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn received(h: &EditorHarness) -> usize {
    h.editor.live().map_or(0, |live| live.counts().received)
}

/// How far the pose on screen is from the one at rest, the sum of the angles of all bones.
fn turned(h: &EditorHarness) -> f64 {
    let document = h.editor.document();
    let (shown, rest) = (document.shown_pose(), document.rest_pose());
    let pairs = shown.locals.iter().zip(&rest.locals);
    pairs
        .map(|(a, b)| a.rotation.angle_between(b.rotation))
        .sum()
}

/// The direction of the left upper arm on screen.
fn left_arm(h: &EditorHarness) -> DVec3 {
    let document = h.editor.document();
    let world = document.shown_pose().world_matrices(document.skeleton());
    let place = |name: &str| world[h.joint(name) as usize].translation;
    (place("forearm.L") - place("upper_arm.L")).normalize_or(DVec3::ZERO)
}

#[test]
fn a_logged_walk_moves_the_character_while_weights_are_painted() {
    let Some(packets) = logged("a live walk") else {
        return;
    };
    let mut h = character();
    h.editor.listen(LiveKind::Vmc, 0, false);
    let address = h.editor.live().unwrap().address().unwrap();
    assert!(address.ip().is_loopback());
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(address).unwrap();
    let (first, second) = packets.split_at(packets.len() / 2);
    send(&socket, first.iter().map(|(_, p)| p));
    until(&mut h, "the first half", |h| received(h) == first.len());
    h.settle();
    assert!(h.editor.live().unwrap().moves());
    assert_eq!(h.editor.live().unwrap().failure(), None);
    assert!(turned(&h) > 0.5, "{}", turned(&h));
    assert_eq!(
        h.editor.history().undo_label(),
        None,
        "a pose on screen is no edit"
    );

    // Paint, and record the rest.
    h.editor.record_live();
    send(&socket, second.iter().map(|(_, p)| p));
    let joint = h.joint("upper_arm.L");
    let joint = sinew::skeleton::JointId(joint);
    h.editor.select_joint(Some(joint));
    let at = h.place_of(joint.0);
    h.drag(at - Vec2::new(0.1, 0.0), at + Vec2::new(0.1, 0.0), false);
    until(&mut h, "the second half", |h| received(h) == packets.len());
    h.settle();
    let painted = h
        .editor
        .history()
        .undo_label()
        .unwrap_or_default()
        .to_owned();
    assert!(!painted.is_empty(), "painting goes on");
    let counts = h.editor.live().unwrap().counts();
    assert_eq!((counts.malformed, counts.dropped), (0, 0), "{counts:?}");
    assert!(
        counts.lost >= 30,
        "frames 40 - 42 and 100 - 129: {counts:?}"
    );
    socket.send(b"not a packet").unwrap();
    until(&mut h, "a malformed one", |h| {
        received(h) == packets.len() + 1
    });
    let counts = h.editor.live().unwrap().counts();
    assert_eq!(counts.malformed, 1);
    assert!(counts.last_malformed.is_some());
    let of_live = |h: &EditorHarness| {
        let problems = h.editor.problems().iter();
        problems.filter(|f| f.place == "live motion").count()
    };
    assert_eq!(of_live(&h), 1, "one row, however many there are");

    assert!(h.editor.live().unwrap().recorded_secs().unwrap() > 1.0);
    h.editor.stop_recording();
    h.settle();
    assert_eq!(
        h.editor.history().undo_label(),
        Some("Record motion · Take")
    );
    let id = RecordingId(0);
    let item = h.editor.document().recordings()[&id].clone();
    assert!(item.is_kept() && item.motion.is_some());
    let secs = item.span().unwrap()[1];
    assert!((1.0..2.0).contains(&secs), "{secs}");
    h.editor.undo();
    h.settle();
    assert!(h.editor.document().recordings().is_empty());
    assert_eq!(h.editor.history().undo_label(), Some(painted.as_str()));
    h.editor.redo();
    h.settle();

    // The lost body fades to a T-pose; then nothing is received, and the artist's pose is back.
    std::thread::sleep(Duration::from_millis(900));
    h.settle();
    assert!(left_arm(&h).x > 0.99, "{}", left_arm(&h));
    h.editor.stop_listening();
    h.settle();
    assert!(h.editor.live().is_none());
    assert_eq!(of_live(&h), 0, "not while nothing is received");
    assert!(h.editor.document().session().live_pose.is_none());
    h.editor.adjust_motion(id);
    h.settle();
    assert_eq!(h.editor.history().undo_label(), Some("Add motion · Take"));
    h.check();
}

#[test]
fn a_root_carries_the_character_from_where_it_stands() {
    let h = character();
    let document = h.editor.document();
    let made = Character::of(document);
    let skeleton = document.skeleton();
    // Senders with locomotion keep the hips over their root, and move that: two metres ahead, where it turns to the left. It starts
    // somewhere in the sender's room, facing its +X. Between 0.4 and 0.9 s the root is lost, though the bones are not.
    let mut samples = LiveSamples::default();
    let start = DQuat::from_rotation_y(FRAC_PI_2);
    let root = |t: f64| {
        let turned = DQuat::from_rotation_y(FRAC_PI_2 * (t - 1.0).max(0.0)) * start;
        (DVec3::new(5.0 + 2.0 * t.min(1.0), 0.2, -3.0), turned)
    };
    for i in 0..=120 {
        let t = f64::from(i) / 60.0;
        for bone in BONES {
            let bent = if bone == "LeftLowerArm" { 1.0 } else { 0.0 };
            samples.push_rotation(bone, 10.0 + t, DQuat::from_rotation_y(bent));
        }
        samples.push_position("Hips", 10.0 + t, DVec3::new(0.0, 0.95, 0.0));
        if (0.4..=0.9).contains(&t) {
            continue;
        }
        let (place, rotation) = root(t);
        samples.push_position("root", 10.0 + t, place);
        samples.push_rotation("root", 10.0 + t, rotation);
    }
    let take = take_of_body(&samples.recording(f64::NEG_INFINITY)).unwrap();
    let hips_in_take = |frame: usize| take.places[frame * take.rest.names.len()];
    let ahead = hips_in_take(66) - hips_in_take(0);
    assert!((ahead.z - 2.0).abs() < 1e-9, "{ahead}");
    // In the gap it stays where it was seen last, and then eases to where it is.
    let before_gap = hips_in_take(23);
    assert!((before_gap.z - hips_in_take(0).z - 23.0 / 30.0).abs() < 1e-9);
    for frame in 24..=54 {
        assert_eq!(hips_in_take(frame), before_gap, "{frame}");
    }
    let settings = MotionSettings::default();
    let [ours, theirs] = settings.roles(&take.rest, &made.rig).unwrap();
    let options = RetargetOptions {
        reference: Reference::Zero,
        ..RetargetOptions::default()
    };
    let offline = Retarget::new(&take, &ours, skeleton, &made.rig, &theirs, &options).unwrap();
    let none = Calibration::default();
    let (origin, unbound) = (Origin::default(), BoundSamples::default());
    let (mut live, _) = LivePose::new(
        &samples, &unbound, skeleton, &made.rig, &settings, none, origin,
    );
    let hips = offline.hips();
    let at_rest = document.rest_pose().locals[hips];
    let mut steps: Vec<f64> = Vec::new();
    let mut before: Option<DVec3> = None;
    for frame in 0..take.n_frames() {
        let mut pose = Pose::clone(document.rest_pose());
        let time = 10.0 + take.times[frame] + 1e-9;
        live.apply(&samples, &unbound, time, skeleton, &mut pose);
        let expected = offline.pose(frame);
        let found = pose.locals[hips];
        assert!(
            found.translation.distance(expected.hips) < 1e-6,
            "{frame}: {} {}",
            found.translation,
            expected.hips
        );
        let off = found.rotation.angle_between(expected.rotations[hips]);
        assert!(off < 1e-6, "{frame}: {off}");
        if frame == 0 {
            assert!(found.rotation.angle_between(at_rest.rotation) < 1e-6);
        }
        if let Some(before) = before.replace(found.translation) {
            steps.push(before.distance(found.translation));
        }
    }
    let total: f64 = steps.iter().sum();
    let largest = steps.iter().copied().fold(0.0, f64::worse);
    assert!(
        total > 0.5 && largest < 0.2 * total,
        "a jump of {largest} of {total}"
    );
    // No samples come any more: it relaxes where it is.
    let mut pose = Pose::clone(document.rest_pose());
    live.apply(&samples, &unbound, 15.0, skeleton, &mut pose);
    let last = offline.pose(take.n_frames() - 1);
    assert!(pose.locals[hips].translation.distance(last.hips) < 1e-6);
    let relaxed = offline.moved_joints().into_iter().filter(|&joint| {
        let bent = last.rotations[joint];
        pose.locals[joint].rotation.angle_between(bent) > 0.5
    });
    assert_eq!(relaxed.count(), 1, "the elbow, and nothing else");
}

#[test]
fn what_is_shown_live_is_what_the_log_becomes() {
    let Some(packets) = logged("live poses") else {
        return;
    };
    let h = character();
    let document = h.editor.document();
    let made = Character::of(document);
    let mut source = VmcSource::default();
    for (at, packet) in &packets {
        source.receive(*at, packet);
    }
    let recording = source.recording();
    let take = take_of_body(&recording).unwrap();
    let settings = MotionSettings::default();
    let [ours, theirs] = settings.roles(&take.rest, &made.rig).unwrap();
    let options = RetargetOptions {
        reference: Reference::Zero,
        ..RetargetOptions::default()
    };
    let skeleton = document.skeleton();
    let offline = Retarget::new(&take, &ours, skeleton, &made.rig, &theirs, &options).unwrap();
    let (none, unbound) = (Calibration::default(), BoundSamples::default());
    let (mut live, why) = LivePose::new(
        &source.samples,
        &unbound,
        skeleton,
        &made.rig,
        &settings,
        none,
        Origin::default(),
    );
    assert_eq!(why, None);
    let start = source.samples.rotation("Hips")[0].0;
    let (mut worst, mut jump, mut n) = (0.0_f64, 0.0_f64, 0);
    let (mut before, mut from): (Option<Pose>, Option<DVec3>) = (None, None);
    let mut usual = 0.0_f64;
    for frame in 0..take.n_frames() {
        let time = start + take.times[frame] + 1e-9;
        let mut pose = Pose::clone(document.rest_pose());
        live.apply(&source.samples, &unbound, time, skeleton, &mut pose);
        let expected = offline.pose(frame);
        // The lost frames, and the return after them.
        if !(98..=140).contains(&frame) {
            n += 1;
            for joint in offline.moved_joints() {
                let off = pose.locals[joint]
                    .rotation
                    .angle_between(expected.rotations[joint]);
                worst = worst.worse(off.to_degrees());
            }
            // Nothing else moves: the sender's "root" is not the joint of that name.
            let rest = &document.rest_pose().locals;
            for (joint, local) in pose.locals.iter().enumerate() {
                let is_moved = offline.is_driven(joint) || joint == offline.hips();
                assert!(is_moved || *local == rest[joint], "joint {joint}");
            }
            // It travels as far, from where it stood when the pose was made.
            let off = pose.locals[offline.hips()].translation - expected.hips;
            let apart = off - *from.get_or_insert(off);
            assert!(apart.length() < 1e-6, "{apart}");
        }
        let step = |from: &[DQuat], to: &[DQuat]| {
            let steps = from.iter().zip(to).map(|(a, b)| a.angle_between(*b));
            steps.fold(0.0, f64::worse).to_degrees()
        };
        if let Some(before) = &before {
            let rotations =
                |pose: &Pose| pose.locals.iter().map(|l| l.rotation).collect::<Vec<_>>();
            jump = jump.worse(step(&rotations(before), &rotations(&pose)));
            let expected = [frame - 1, frame].map(|frame| offline.pose(frame).rotations);
            usual = f64::max(usual, step(&expected[0], &expected[1]));
        }
        before = Some(pose);
    }
    println!("{n} frames off by {worst:.1e} degrees; steps up to {jump:.2}, offline {usual:.2}");
    assert!(worst < 1e-3, "{worst}");
    assert!(
        usual.is_finite() && jump <= 1.1 * usual,
        "no jump: {jump}, offline {usual}"
    );
}

#[test]
fn a_sender_with_axes_of_its_own_is_calibrated() {
    let mut h = character();
    h.editor.listen(LiveKind::Vmc, 0, false);
    h.editor.calibrate_live(0.0);
    h.settle();
    assert!(
        h.last_notice().contains("Start the sender"),
        "{}",
        h.last_notice()
    );
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .connect(h.editor.live().unwrap().address().unwrap())
        .unwrap();
    // The bone of the upper arm is turned, and so are the axes in which the place of the lower arm is.
    let odd = DQuat::from_rotation_z(-0.8);
    let bones: Vec<(&str, DVec3, DQuat)> = BONES
        .iter()
        .map(|name| match *name {
            "Hips" => (*name, DVec3::new(0.4, 0.95, 0.0), DQuat::IDENTITY),
            "LeftUpperArm" => (*name, DVec3::new(0.16, 0.4, 0.0), odd),
            "LeftLowerArm" => {
                let place = odd.conjugate() * DVec3::new(0.27, 0.0, 0.0);
                (*name, place, odd.conjugate())
            }
            _ => (*name, DVec3::ZERO, DQuat::IDENTITY),
        })
        .collect();
    for i in 0..80_u8 {
        if i == 5 {
            until(&mut h, "some frames", |h| received(h) == 5);
            h.editor.calibrate_live(0.0);
            assert_eq!(h.editor.live().unwrap().calibrates_in(), Some(0.0));
        }
        send(&socket, [&frame(50.0 + f32::from(i) / 60.0, &bones)]);
    }
    until(&mut h, "all frames", |h| received(h) == 80);
    h.settle();
    assert!(
        h.last_notice().starts_with("Calibrated"),
        "{}",
        h.last_notice()
    );
    // A T-pose: the arm points to the left.
    assert!(left_arm(&h).x > 0.99, "{}", left_arm(&h));

    // A recording holds what was calibrated.
    h.editor.record_live();
    for i in 80..140_u8 {
        send(&socket, [&frame(50.0 + f32::from(i) / 60.0, &bones)]);
    }
    until(&mut h, "the rest", |h| received(h) == 140);
    h.editor.stop_listening();
    h.settle();
    let item = h.editor.document().recordings()[&RecordingId(0)].clone();
    let recording = item.recording().unwrap();
    let mut tracks = recording.rotations.iter();
    let arm = tracks.find(|t| t.name == "LeftUpperArm").unwrap();
    assert!(arm.values[20].angle_between(DQuat::IDENTITY) < 1e-5);
    let mut tracks = recording.markers.iter();
    let arm = tracks.find(|t| t.name == "LeftLowerArm").unwrap();
    let place = DVec3::new(0.27, 0.0, 0.0);
    assert!(arm.values[20].distance(place) < 1e-5, "{}", arm.values[20]);
    let rest = recording.rest_places["LeftLowerArm"];
    assert!(rest.distance(place) < 1e-5, "{rest}");
}

#[test]
fn a_calibration_is_offered_where_the_body_begins_far_from_a_t_pose() {
    // The bones of a sender whose arms and legs have axes of their own, then of one in a T-pose.
    for (turn, is_far) in [(1.4, true), (0.0, false)] {
        let mut h = character();
        h.editor.listen(LiveKind::Vmc, 0, false);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket
            .connect(h.editor.live().unwrap().address().unwrap())
            .unwrap();
        let bones: Vec<(&str, DVec3, DQuat)> = BONES
            .iter()
            .map(|name| {
                let is_limb = name.contains("Upper") && !name.contains("Chest");
                let turn = if is_limb { turn } else { 0.0 };
                (
                    *name,
                    DVec3::new(0.0, 0.9, 0.0),
                    DQuat::from_rotation_z(turn),
                )
            })
            .collect();
        for i in 0..40_u8 {
            send(&socket, [&frame(50.0 + f32::from(i) / 60.0, &bones)]);
        }
        until(&mut h, "all frames", |h| received(h) == 40);
        h.settle();
        let offer = |h: &EditorHarness| h.editor.live().unwrap().calibration_offer();
        assert_eq!(offer(&h).is_some(), is_far, "{:?}", offer(&h));
        let said = h
            .notices
            .iter()
            .filter(|n| n.text.contains("calibrate it in the Motion panel"));
        assert_eq!(said.count(), usize::from(is_far));
        if is_far {
            assert!(offer(&h).unwrap() > 35.0);
            // While it is taken, and when it is declined, there is no offer.
            h.editor.calibrate_live(3.0);
            assert!(offer(&h).is_none());
            h.editor.cancel_live_calibration();
            assert!(offer(&h).is_some());
            h.editor.decline_live_calibration();
            assert!(offer(&h).is_none());
        }
    }
}

#[test]
fn lines_over_tcp_turn_bones_by_name() {
    let mut h = character();
    h.editor.listen(LiveKind::JsonLines, 0, false);
    let address = h.editor.live().unwrap().address().unwrap();
    let mut sender = TcpStream::connect(address).unwrap();
    let rest = h.editor.document().rest_pose().locals[h.joint("forearm.L") as usize].rotation;
    let wanted = rest * DQuat::from_rotation_x(0.7);
    for i in 0..10 {
        let [x, y, z, w] = wanted.to_array();
        let t = f64::from(i) / 30.0;
        writeln!(
            sender,
            "{{\"t\": {t}, \"device\": \"imu\", \"rotation\": {{\"forearm.L\": [{x}, {y}, {z}, {w}]}}, \"scalar\": {{\"emg\": {i}}}}}"
        )
        .unwrap();
        if i == 4 {
            until(&mut h, "five lines", |h| received(h) == 5);
            h.editor.record_live();
        }
    }
    writeln!(sender, "{{\"t\": \"now\"}}").unwrap();
    until(&mut h, "all lines", |h| received(h) == 11);
    // The pose is shown after the latency, and fades when no more lines come.
    let joint = h.joint("forearm.L") as usize;
    until(&mut h, "the pose", |h| {
        let shown = h.editor.document().shown_pose();
        shown.locals[joint].rotation.angle_between(wanted) < 1e-6
    });
    let counts = h.editor.live().unwrap().counts();
    assert_eq!((counts.malformed, counts.received), (1, 11));
    assert!(counts.last_malformed.unwrap().contains("invalid type"));
    h.editor.stop_recording();
    h.settle();
    let item = h.editor.document().recordings()[&RecordingId(0)].clone();
    let recording = item.recording().unwrap();
    assert_eq!(recording.device.as_deref(), Some("imu"));
    assert_eq!(recording.scalars[0].values.len(), 6);
    assert!(item.motion.is_none(), "one bone is no body");

    let taken = address.port();
    let mut other = character();
    other.editor.listen(LiveKind::JsonLines, taken, false);
    let why = other.editor.listen_failure().unwrap();
    assert!(why.contains("is in use"), "{why}");
    assert!(other.editor.live().is_none());
}

/// Sends the rotation of the forearm as lines, so that it is shown.
fn forearm_turned(h: &mut EditorHarness, radians: f64) -> (TcpStream, DQuat) {
    let address = h.editor.live().unwrap().address().unwrap();
    let mut sender = TcpStream::connect(address).unwrap();
    let rest = h.editor.document().rest_pose().locals[h.joint("forearm.L") as usize].rotation;
    let wanted = rest * DQuat::from_rotation_x(radians);
    let [x, y, z, w] = wanted.to_array();
    for i in 0..60 {
        let t = f64::from(i) / 30.0;
        writeln!(
            sender,
            "{{\"t\": {t}, \"rotation\": {{\"forearm.L\": [{x}, {y}, {z}, {w}]}}}}"
        )
        .unwrap();
    }
    until(h, "the forearm", |h| {
        let shown = h.editor.document().shown_pose();
        let found = shown.locals[h.joint("forearm.L") as usize].rotation;
        received(h) == 60 && found.angle_between(wanted) < 1e-6
    });
    (sender, wanted)
}

#[test]
fn what_is_shown_live_is_keyed_and_posed_and_gives_way_to_a_clip() {
    let mut h = character();
    let clip = *h.editor.document().clips().keys().next().unwrap();
    h.editor.show_clip(Some(clip));
    h.editor.set_time(0.2);
    h.editor.toggle_play();
    h.editor.listen(LiveKind::JsonLines, 0, false);
    // Recording waits for the first value.
    h.editor.record_live();
    assert_eq!(h.editor.live().unwrap().recorded_secs(), Some(0.0));
    let (_sender, wanted) = forearm_turned(&mut h, 0.7);
    assert!(!h.editor.is_playing(), "the clip waits");
    assert!(h.editor.live().unwrap().recorded_secs().unwrap() > 1.9);

    // A keyframe holds what is shown, not what the clip has there, and live motion goes on.
    let forearm = sinew::skeleton::JointId(h.joint("forearm.L"));
    let time = h.editor.playback().time_secs;
    h.editor.key_pose();
    assert!(h.editor.shows_live() && !h.editor.playback().unkeyed);
    let document = h.editor.document();
    let keyed = document.keyed_pose(&document.clips()[&clip], time);
    let found = keyed.locals[forearm.get()].rotation;
    assert!(found.angle_between(wanted) < 1e-5, "{found}");
    h.editor.undo();
    assert!(h.editor.shows_live());

    // Posing goes on from what is shown.
    let before = h.editor.document().pose().clone();
    h.editor.begin_pose_field(forearm, "Rotate");
    assert!(!h.editor.shows_live());
    let shown = |h: &EditorHarness| h.editor.document().shown_pose().locals[forearm.get()];
    assert!(shown(&h).rotation.angle_between(wanted) < 1e-6, "no jump");
    let mut next = shown(&h);
    next.rotation = wanted * DQuat::from_rotation_x(0.2);
    h.editor.set_pose_field(forearm, next);
    h.editor.confirm_transform();
    assert!(shown(&h).rotation.angle_between(next.rotation) < 1e-6);
    h.settle();
    assert!(h.last_notice().starts_with("Live motion is hidden"));
    h.editor.undo();
    assert_eq!(*h.editor.document().pose(), before);
    h.editor.begin_pose_field(forearm, "Rotate");
    h.editor.cancel_transform();
    assert_eq!(*h.editor.document().pose(), before);

    // Playing a clip shows it; live motion comes back where it is asked for.
    let mut settings = *h.editor.live_settings();
    settings.is_shown = true;
    h.editor.set_live_settings(settings);
    h.settle();
    assert!(h.editor.shows_live());
    h.editor.toggle_play();
    assert!(h.editor.is_playing() && !h.editor.shows_live());
    h.editor.poll(0.05);
    assert!(!h.editor.shows_live() && h.editor.is_playing());
    h.editor.pause();
    assert!(h.editor.is_recording_live(), "it is still received");
    assert!(h.editor.stop_recording());
    assert!(!h.editor.stop_recording());
    h.settle();
    assert_eq!(h.editor.document().recordings().len(), 1);
}

#[test]
fn a_calibration_counts_down_and_can_be_cancelled_and_cleared() {
    let mut h = character();
    h.editor.listen(LiveKind::Vmc, 0, false);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .connect(h.editor.live().unwrap().address().unwrap())
        .unwrap();
    let of_body = [
        "Hips",
        "LeftUpperLeg",
        "LeftLowerLeg",
        "LeftFoot",
        "RightUpperLeg",
        "RightLowerLeg",
        "RightFoot",
        "LeftUpperArm",
        "RightUpperArm",
    ];
    let bone = |name: &'static str| {
        let turned = DQuat::from_rotation_y(if name == "Hips" { 0.6 } else { 0.0 });
        let place = if name == "Hips" {
            DVec3::new(0.0, 0.9, 0.0)
        } else {
            DVec3::ZERO
        };
        (name, place, turned)
    };
    let bones = of_body.map(bone);
    let mut n = 0_u16;
    let mut more = |h: &mut EditorHarness, frames: u16| {
        for _ in 0..frames {
            send(&socket, [&frame(5.0 + f32::from(n) / 30.0, &bones)]);
            n += 1;
        }
        let all = usize::from(n);
        until(h, "frames", |h| received(h) == all);
    };
    let left = |h: &EditorHarness| h.editor.live().unwrap().calibrates_in();
    more(&mut h, 2);
    h.editor.calibrate_live(1.0);
    assert!((left(&h).unwrap() - 1.0).abs() < 1e-5);
    more(&mut h, 15);
    assert!((left(&h).unwrap() - 0.5).abs() < 1e-5, "{:?}", left(&h));
    h.editor.cancel_live_calibration();
    more(&mut h, 60);
    assert!(left(&h).is_none() && !h.editor.live().unwrap().is_calibrated());
    h.editor.calibrate_live(1.0);
    more(&mut h, 45);
    assert_eq!(left(&h), Some(0.0), "it is taken");
    more(&mut h, 17);
    assert!(left(&h).is_none() && h.editor.live().unwrap().is_calibrated());
    h.editor.clear_live_calibration();
    assert!(!h.editor.live().unwrap().is_calibrated());
}

/// A head that is tracked a moment later makes the pose anew: the body stays where it has walked.
#[test]
fn a_bone_that_appears_later_keeps_the_travel_of_the_body() {
    let mut h = character();
    h.editor.listen(LiveKind::Vmc, 0, false);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .connect(h.editor.live().unwrap().address().unwrap())
        .unwrap();
    let hips = h.joint("hips") as usize;
    let travel = |h: &EditorHarness| {
        let document = h.editor.document();
        let [shown, rest] = [&document.shown_pose(), document.rest_pose()]
            .map(|pose| pose.world_matrices(document.skeleton())[hips].translation);
        (shown - rest).z
    };
    let mut n_sent = 0;
    let start = Instant::now();
    for (z, with_head) in [(0.0, false), (0.5, false), (0.5, true)] {
        let bones = BONES.iter().filter(|name| with_head || **name != "Head");
        let bones: Vec<(&str, DVec3, DQuat)> = bones
            .map(|name| {
                let place = if *name == "Hips" {
                    DVec3::new(0.0, 0.95, z)
                } else {
                    DVec3::ZERO
                };
                (*name, place, DQuat::IDENTITY)
            })
            .collect();
        // In real time, because the pose on screen is that of the sender's clock; a busy machine sends fewer frames a second.
        // The farthest place counts, once the latency is over.
        let mut found: f64 = 0.0;
        for i in 0..40 {
            let time = start.elapsed().as_secs_f32();
            socket.send(&frame(time, &bones)).unwrap();
            n_sent += 1;
            std::thread::sleep(Duration::from_millis(16));
            h.editor.poll(0.0);
            if i >= 20 {
                found = found.worse(travel(&h).abs());
            }
        }
        until(&mut h, "the frames", |h| received(h) == n_sent);
        assert!(
            if z > 0.0 { found > 0.2 } else { found < 0.05 },
            "{found} with the hips at {z}, with a head: {with_head}"
        );
    }
}

#[test]
fn a_body_is_judged_when_it_comes_and_again_when_its_sender_starts_again() {
    let mut h = character();
    h.editor.listen(LiveKind::Vmc, 0, false);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .connect(h.editor.live().unwrap().address().unwrap())
        .unwrap();
    let bones: Vec<(&str, DVec3, DQuat)> = BONES
        .iter()
        .map(|name| {
            let is_limb = name.contains("Upper") && !name.contains("Chest");
            let turn = if is_limb { 1.4 } else { 0.0 };
            (
                *name,
                DVec3::new(0.0, 0.9, 0.0),
                DQuat::from_rotation_z(turn),
            )
        })
        .collect();
    let hips = &bones[..1];
    let offer = |h: &EditorHarness| h.editor.live().unwrap().calibration_offer();
    // A second without limbs tells nothing.
    for i in 0..60_u8 {
        send(&socket, [&frame(50.0 + f32::from(i) / 60.0, hips)]);
    }
    until(&mut h, "the hips", |h| received(h) == 60);
    h.settle();
    assert!(offer(&h).is_none());
    // Then the sender starts again, with a body.
    for i in 0..60_u8 {
        send(&socket, [&frame(1.0 + f32::from(i) / 60.0, &bones)]);
    }
    until(&mut h, "the body", |h| received(h) == 120);
    h.settle();
    assert!(
        offer(&h).is_some_and(|degrees| degrees > 35.0),
        "{:?}",
        offer(&h)
    );
}

/// A time and a blend value in one packet.
fn face(time: f32, value: f32) -> Vec<u8> {
    let message = |addr: &str, args| {
        OscPacket::Message(OscMessage {
            addr: addr.into(),
            args,
        })
    };
    let name = OscType::String("Joy".into());
    let bundle = rosc::OscBundle {
        timetag: (0, 1).into(),
        content: vec![
            message("/VMC/Ext/T", vec![OscType::Float(time)]),
            message("/VMC/Ext/Blend/Val", vec![name, OscType::Float(value)]),
            message("/VMC/Ext/Blend/Apply", Vec::new()),
        ],
    };
    rosc::encoder::encode(&OscPacket::Bundle(bundle)).unwrap()
}

#[test]
fn a_body_and_a_face_with_clocks_far_apart_move_the_character_together() {
    let mut h = character();
    h.editor.listen(LiveKind::Vmc, 0, false);
    let address = h.editor.live().unwrap().address().unwrap();
    let senders: Vec<UdpSocket> = (0..3)
        .map(|_| {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.connect(address).unwrap();
            socket
        })
        .collect();
    h.editor.record_live();
    let rest = turned(&h);
    let start = Instant::now();
    let bones = BONES.map(|bone| {
        let bent = if bone == "LeftLowerArm" { 1.0 } else { 0.0 };
        (bone, DVec3::ZERO, DQuat::from_rotation_y(bent))
    });
    // Another body says the opposite: the bones are those of the one that was heard first.
    let others = BONES.map(|bone| (bone, DVec3::ZERO, DQuat::from_rotation_y(-1.0)));
    let mut n = 0;
    while start.elapsed() < Duration::from_millis(1500) {
        let secs = start.elapsed().as_secs_f32();
        senders[0].send(&frame(5000.0 + secs, &bones)).unwrap();
        senders[1].send(&face(3.0 + secs, secs)).unwrap();
        senders[2].send(&frame(90.0 + secs, &others)).unwrap();
        n += 3;
        h.editor.poll(0.0);
        std::thread::sleep(Duration::from_millis(10));
    }
    until(&mut h, "all packets", |h| received(h) == n);
    let live = h.editor.live().unwrap();
    assert_eq!((live.n_senders(), live.has_too_many_senders()), (3, false));
    assert!(live.recorded_secs().unwrap() < 3.0);
    assert!(live.counts().lost < n / 10, "{:?}", live.counts());
    assert!((turned(&h) - rest).abs() > 0.5, "{}", turned(&h));
    assert!(h.editor.stop_recording());
    h.settle();
    let item = h.editor.document().recordings()[&RecordingId(0)].clone();
    let recording = item.content.as_ref().unwrap();
    let length = recording.times.last().unwrap() - recording.times[0];
    assert!((1.0..3.0).contains(&length), "{length}");
    // The face is on the clock of the body: its value is the time, from its first packet on.
    let joy = &recording.scalars[0];
    assert_eq!(joy.name, "blend:happy");
    let pairs = recording.times.iter().zip(&joy.values);
    let off: Vec<f64> = pairs
        .filter(|(_, v)| v.is_finite())
        .map(|(t, v)| t - v)
        .collect();
    assert!(off.len() > 30);
    let mean = off.iter().sum::<f64>() / off.len() as f64;
    assert!(mean.abs() < 0.1, "{mean}");
    let arm = recording
        .rotations
        .iter()
        .find(|of| of.name == "LeftLowerArm");
    let bent = arm.unwrap().values.iter().filter(|q| q.length() > 0.5);
    for q in bent {
        assert!(q.angle_between(DQuat::from_rotation_y(1.0)) < 1e-3, "{q}");
    }
}
