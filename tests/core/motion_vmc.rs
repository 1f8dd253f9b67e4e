//! Packets of the Virtual Motion Capture protocol: a log against its truth, and broken ones.

use crate::shared::shared_dir;
use glam::{DQuat, DVec3};
use serde_json::Value;
use sinew::math::Worse;
use sinew::motion::Track;
use sinew::motion::roles::{check_roles, find_roles};
use sinew::motion::vmc::{VmcSource, guard, length_fault, read_log, take_of_body};
use sinew::task::Task;
use std::path::PathBuf;

fn folder(test: &str) -> Option<PathBuf> {
    Some(shared_dir(test)?.join("motion/live"))
}

#[test]
fn a_logged_walk_gives_its_poses_back() {
    let Some(folder) = folder("the VMC log") else {
        return;
    };
    let bytes = std::fs::read(folder.join("vmc_walk.vmclog")).unwrap();
    let truth: Value =
        serde_json::from_slice(&std::fs::read(folder.join("vmc_walk.truth.json")).unwrap())
            .unwrap();
    let source = read_log(&bytes, &Task::new()).unwrap();
    let counts = source.counts();
    assert_eq!((counts.received, counts.messages), (222, 3330));
    assert_eq!((counts.malformed, counts.ignored), (0, 0));
    let recording = source.recording();
    assert_eq!(recording.times.len(), 147);
    let n_samples: usize = recording
        .rotations
        .iter()
        .filter(|t| t.name != "root")
        .map(Track::n_valid)
        .sum();
    assert_eq!(n_samples, 2499);
    let mut worst = 0.0_f64;
    for frame in truth["frames"].as_array().unwrap() {
        let time = frame["t"].as_f64().unwrap();
        let Some(at) = recording.times.iter().position(|t| (t - time).abs() < 1e-3) else {
            continue;
        };
        for (bone, q) in frame["rot"].as_object().unwrap() {
            let q: Vec<f64> = q
                .as_array()
                .unwrap()
                .iter()
                .map(|v| v.as_f64().unwrap())
                .collect();
            let track = recording
                .rotations
                .iter()
                .find(|t| t.name == *bone)
                .unwrap();
            let truth = DQuat::from_slice(&q);
            let found = track.values[at];
            let sign = found.dot(truth).signum();
            worst = worst.worse((found * sign - truth).length());
        }
        let hips = recording
            .markers
            .iter()
            .find(|t| t.name == "Hips")
            .unwrap()
            .values[at];
        let axis = |i: usize| frame["hips"][i].as_f64().unwrap();
        worst = worst.worse(hips.distance(DVec3::new(axis(0), axis(1), axis(2))));
    }
    println!("off by {worst:.1e}");
    assert!(worst < 3e-7, "{worst}");
    // Joy is "happy" in VRM 1.
    assert!(recording.scalars.iter().any(|s| s.name == "blend:happy"));
    let take = take_of_body(&recording).unwrap();
    assert!(check_roles(&take.rest, &find_roles(&take.rest)).is_ok());
    assert_eq!(take.n_frames(), 180);
}

#[test]
fn broken_packets_are_counted_and_change_nothing() {
    let Some(folder) = folder("broken VMC packets") else {
        return;
    };
    let mut n = 0;
    for entry in std::fs::read_dir(folder.join("bad")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let packet = std::fs::read(&path).unwrap();
        let mut source = VmcSource::default();
        source.receive(1.0, &packet);
        let counts = source.counts().clone();
        let expected = match name.as_str() {
            "too_many_args" => (0, 0),
            "unknown_bone" | "unknown_address" | "address_pattern" => (0, 1),
            _ => (1, 0),
        };
        assert_eq!(
            (counts.malformed, counts.ignored),
            expected,
            "{name}: {counts:?}"
        );
        let used = usize::from(name == "too_many_args");
        assert_eq!(source.recording().rotations.len(), used, "{name}");
        n += 1;
    }
    assert_eq!(n, 21);
}

/// A packet with the sender's time alone.
fn time(secs: f32) -> Vec<u8> {
    let mut packet = b"/VMC/Ext/T\0\0,f\0\0".to_vec();
    packet.extend(secs.to_be_bytes());
    packet
}

#[test]
fn a_time_that_jumps_far_is_another_clock_and_a_pause_is_none() {
    let mut source = VmcSource::default();
    let mut newest = |arrival: f64, secs: f32| {
        source.receive(arrival, &time(secs));
        (source.newest().unwrap().0, source.counts().malformed)
    };
    assert_eq!(newest(0.0, 10.0), (10.0, 0));
    assert_eq!(newest(0.5, 1e12), (10.0, 1), "no time at all");
    assert_eq!(newest(0.5, f32::NAN), (10.0, 2));
    assert_eq!(newest(1.0, 5000.0), (11.0, 2), "another clock");
    assert_eq!(newest(2.0, 5001.0), (12.0, 2));
    assert_eq!(newest(102.0, 5101.0), (112.0, 2), "a pause");
    assert_eq!(newest(103.0, 7.0), (113.0, 2), "it began anew");
}

#[test]
fn a_recording_in_a_wrong_unit_has_no_body_and_says_why() {
    let row = |t: f64| format!("{{\"t\":{t},\"rotation\":{{\"Hips\":[0,0,0,1]}}}}\n");
    let read = |last: f64| {
        let text = row(0.0) + &row(1.0) + &row(last);
        sinew::motion::table::parse_json_lines(&text, &sinew::task::Task::new()).unwrap()
    };
    let usual = read(600.0);
    assert!(length_fault(&usual).is_none() && take_of_body(&usual).is_some());
    let long = read(1.7e9);
    let why = length_fault(&long).unwrap();
    assert!(
        why.contains("1700000000 s") && why.contains("unit"),
        "{why}"
    );
    assert!(take_of_body(&long).is_none());
}

#[test]
fn random_bytes_are_no_packets() {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut source = VmcSource::default();
    let good = b"#bundle\0\0\0\0\0\0\0\0\x01\0\0\0\x14/VMC/Ext/T\0\0,f\0\0\x41\x20\0\0";
    let mut n_bytes = 0;
    for round in 0..1_000_000 {
        if round % 1000 == 0 {
            source.samples.forget_before(0.01 * f64::from(round) - 3.0);
            n_bytes = n_bytes.max(source.samples.heap_bytes());
        }
        let mut packet = good.to_vec();
        if round % 2 == 0 {
            packet = (0..next() % 64).map(|_| next() as u8).collect();
        } else {
            let at = (next() % packet.len() as u64) as usize;
            packet[at] = next() as u8;
        }
        let _ = guard(&packet);
        source.receive(0.01 * f64::from(round), &packet);
    }
    assert_eq!(source.counts().received, 1_000_000);
    assert!(n_bytes < 1_000_000, "{n_bytes} bytes");
}

#[test]
fn four_senders_are_heard_and_a_silent_one_gives_its_place() {
    use std::net::SocketAddr;
    let address = |port: u16| Some(SocketAddr::from(([127, 0, 0, 1], port)));
    let mut source = VmcSource::default();
    for i in 0..50_u16 {
        for port in 1..=5 {
            let arrival = 0.02 * f64::from(i) + 0.001 * f64::from(port);
            // Clocks of their own, of which two are not even near.
            let clock = 1000.0 * f32::from(port) + 0.02 * f32::from(i);
            let found = source.receive_from(arrival, address(port), &time(clock));
            let Some((place, found)) = found else {
                assert_eq!(port, 5, "one too many");
                continue;
            };
            assert_eq!(place, usize::from(port) - 1);
            let expected = 1000.0 + 0.02 * f64::from(i);
            assert!(
                (found - expected).abs() < 5e-3,
                "{port}: {found} {expected}"
            );
        }
    }
    assert_eq!(source.counts().others, 50);
    assert_eq!(
        (source.n_senders(), source.has_too_many_senders()),
        (4, true)
    );
    let note = &source.recording().notes[0].text;
    assert!(note.contains("50 packets of further senders"), "{note}");
    // The first one is gone, and the others go on: its clock is still that of all.
    for i in 0..200_u16 {
        for port in 2..=5 {
            let arrival = 1.0 + 0.02 * f64::from(i) + 0.001 * f64::from(port);
            let clock = 1000.0 * f32::from(port) + 1.0 + 0.02 * f32::from(i);
            if let Some((_, found)) = source.receive_from(arrival, address(port), &time(clock)) {
                let expected = 1001.0 + 0.02 * f64::from(i);
                assert!(
                    (found - expected).abs() < 1e-2,
                    "{port}: {found} {expected}"
                );
            } else {
                assert!(port == 5 && arrival < 2.1, "{port} at {arrival}");
            }
        }
    }
    assert_eq!(
        (source.n_senders(), source.has_too_many_senders()),
        (4, false)
    );
}

/// A packet with a time and a bone.
fn bone_at(secs: f32, name: &str) -> Vec<u8> {
    let message = |addr: &str, args| {
        let addr = addr.into();
        rosc::OscPacket::Message(rosc::OscMessage { addr, args })
    };
    let numbers = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0].map(rosc::OscType::Float);
    let name = std::iter::once(rosc::OscType::String(name.into()));
    let content = vec![
        message("/VMC/Ext/T", vec![rosc::OscType::Float(secs)]),
        message("/VMC/Ext/Bone/Pos", name.chain(numbers).collect()),
    ];
    rosc::encoder::encode(&rosc::OscPacket::Bundle(rosc::OscBundle {
        timetag: (0, 1).into(),
        content,
    }))
    .unwrap()
}

#[test]
fn a_program_that_opens_a_port_for_each_packet_is_one_sender() {
    let there = std::net::SocketAddr::from(([192, 168, 1, 20], 5000));
    for frame_packets in [1_u16, 2] {
        let mut source = VmcSource::default();
        let mut places = std::collections::BTreeMap::new();
        let mut port = 10_000;
        for i in 0..600_u16 {
            let at = f64::from(i) / 60.0;
            let clock = |from: f32| from + f32::from(i) / 60.0;
            port += 1;
            for k in 0..frame_packets {
                let name = ["Hips", "Spine"][usize::from(k)];
                let arrival = at + 0.0005 * f64::from(k);
                source.receive_from(arrival, Some(here(port)), &bone_at(clock(100.0), name));
            }
            // Others of the same computer: one from the start, one that comes later, and one of another computer.
            let mut others = vec![(here(7), "Head", 3000.0), (there, "Neck", 5000.0)];
            if i >= 240 {
                others.push((here(9), "Chest", 9000.0));
            }
            for (address, name, from) in others {
                let packet = bone_at(clock(from), name);
                let found = source.receive_from(at + 0.004, Some(address), &packet);
                if let Some((place, _)) = found
                    && i > 250
                {
                    assert_eq!(*places.entry(address).or_insert(place), place, "{i}");
                }
            }
            if i == 200 {
                assert_eq!(
                    (source.n_senders(), source.has_too_many_senders()),
                    (3, false)
                );
            }
        }
        assert_eq!(
            (source.n_senders(), source.has_too_many_senders()),
            (4, false)
        );
        let kept: std::collections::BTreeSet<usize> = places.values().copied().collect();
        assert_eq!(kept.len(), 3, "each has a place of its own: {places:?}");
        let n = |name: &str| source.samples.rotation(name).len();
        // A quarter of a second passes before it is known.
        assert!(n("Hips") >= 580, "{}", n("Hips"));
        assert!(frame_packets == 1 || n("Spine") >= 580, "{}", n("Spine"));
        assert!(n("Head") >= 580 && n("Neck") >= 580 && n("Chest") >= 355);
        assert!(source.counts().others < 40, "{:?}", source.counts());
        // Its clock is one clock.
        let times = source.samples.rotation("Hips").windows(2);
        let steps = times.map(|pair| pair[1].0 - pair[0].0);
        assert!(steps.skip(1).all(|step| (step - 1.0 / 60.0).abs() < 2e-3));
    }
}

/// A packet with a bone alone.
fn bone(name: &str) -> Vec<u8> {
    let numbers = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0].map(rosc::OscType::Float);
    let name = rosc::OscType::String(name.into());
    rosc::encoder::encode(&rosc::OscPacket::Message(rosc::OscMessage {
        addr: "/VMC/Ext/Bone/Pos".into(),
        args: std::iter::once(name).chain(numbers).collect(),
    }))
    .unwrap()
}

fn here(port: u16) -> std::net::SocketAddr {
    std::net::SocketAddr::from(([127, 0, 0, 1], port))
}

/// The steps between the times of a bone are those of 60 frames a second, but for those before its sender is known.
fn assert_steady(source: &VmcSource, name: &str) {
    let times = source.samples.rotation(name).windows(2);
    let steps = times.map(|pair| pair[1].0 - pair[0].0);
    for (i, step) in steps.enumerate().skip(2) {
        assert!((step - 1.0 / 60.0).abs() < 2e-3, "{name} {i}: {step}");
    }
}

#[test]
fn a_second_program_does_not_move_the_clock_of_one_that_opens_ports() {
    // Both started less than a minute apart, and the second one is heard three seconds later. It sends its time before or after
    // its bone, or with it.
    for (first, second) in [(100.0, 130.0), (130.0, 100.0), (100.0, 102.0)] {
        for order in 0..3 {
            let mut source = VmcSource::default();
            for i in 0..600_u16 {
                let at = f64::from(i) / 60.0;
                let clock = |from: f32| from + f32::from(i) / 60.0;
                source.receive_from(at, Some(here(10_000 + i)), &bone_at(clock(first), "Hips"));
                if i < 180 {
                    continue;
                }
                let time = time(clock(second));
                let both = bone_at(clock(second), "Head");
                let packets = match order {
                    0 => vec![both],
                    1 => vec![time, bone("Head")],
                    _ => vec![bone("Head"), time],
                };
                for packet in packets {
                    source.receive_from(at + 0.004, Some(here(7)), &packet);
                }
            }
            assert_eq!(source.n_senders(), 2, "{first} {second} {order}");
            let n = |name: &str| source.samples.rotation(name).len();
            assert!(n("Hips") >= 580 && n("Head") >= 418, "{}", n("Head"));
            assert_steady(&source, "Hips");
            assert_steady(&source, "Head");
            let (newest, arrival) = source.newest().unwrap();
            let off = newest - f64::from(first) - arrival;
            assert!(off.abs() < 0.05, "{first} {second} {order}: {off}");
        }
    }
}

#[test]
fn programs_that_open_a_port_for_each_message_stay_apart() {
    // 31 packets a frame with a port each; the time is one of them. The other programs keep a port without sending times, keep a
    // port, or open ports, too.
    for kind in 0..3 {
        let mut source = VmcSource::default();
        let mut port = 10_000;
        for i in 0..300_u16 {
            let at = f64::from(i) / 60.0;
            let clock = |from: f32| from + f32::from(i) / 60.0;
            port += 1;
            source.receive_from(at, Some(here(port)), &time(clock(100.0)));
            for k in 0..30 {
                port += 1;
                let name = ["Hips", "Spine", "Neck"][k % 3];
                source.receive_from(at + 5e-5 * k as f64, Some(here(port)), &bone(name));
            }
            if i < 120 {
                continue;
            }
            let (other, packet) = match kind {
                0 => (7, bone("Head")),
                1 => (7, bone_at(clock(140.0), "Head")),
                _ => (port + 20_000, bone_at(clock(140.0), "Head")),
            };
            source.receive_from(at + 0.008, Some(here(other)), &packet);
        }
        assert_eq!(
            (source.n_senders(), source.has_too_many_senders()),
            (2, false),
            "{kind}"
        );
        let n = |name: &str| source.samples.rotation(name).len();
        assert!(n("Hips") >= 280 && n("Spine") >= 280, "{}", n("Hips"));
        assert!(n("Head") >= 160, "{kind}: {}", n("Head"));
        for name in ["Hips", "Spine", "Neck"] {
            assert_steady(&source, name);
        }
        let (newest, arrival) = source.newest().unwrap();
        assert!((newest - 100.0 - arrival).abs() < 0.05, "{kind}: {newest}");
    }
}

#[test]
fn a_program_without_times_does_not_take_those_of_another_one() {
    let mut source = VmcSource::default();
    for i in 0..300_u16 {
        let at = f64::from(i) / 60.0;
        source.receive_from(at, Some(here(10_000 + i)), &bone("Hips"));
        if i >= 120 {
            let clock = 40.0 + f32::from(i) / 60.0;
            source.receive_from(at + 0.004, Some(here(7)), &bone_at(clock, "Head"));
        }
    }
    assert_eq!(source.n_senders(), 2);
    assert!(source.samples.rotation("Hips").len() >= 280);
    assert_steady(&source, "Hips");
}

#[test]
fn packets_without_times_that_arrive_together_are_one_frame() {
    let mut source = VmcSource::default();
    for i in 0..60_u16 {
        for (k, name) in ["Hips", "Spine", "Head", "LeftHand"].iter().enumerate() {
            let arrival = f64::from(i) / 60.0 + 0.0003 * k as f64;
            source.receive(arrival, &bone(name));
        }
    }
    let recording = source.recording();
    assert_eq!(recording.times.len(), 60);
    assert!(recording.rotations.iter().all(|of| of.n_valid() == 60));
    // A sender that sends times only later goes on from there.
    source.receive(1.0, &time(7000.0));
    source.receive(1.0, &bone("Hips"));
    let recording = source.recording();
    assert_eq!((recording.times.len(), recording.times[60]), (61, 1.0));
}
