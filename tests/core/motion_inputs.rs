//! Motions and recordings of every kind, and what the program does with one: no panic, and errors in a sentence. For the
//! seeded mutations, and for the fuzz targets of `tests/fuzz`.

use sinew::io::motion_file::{MotionFile, read_motion};
use sinew::io::motion_source::read_motions;
use sinew::math::Transform;
use sinew::motion::aggregate::{Aggregate, Stream, frame_times, overlap};
use sinew::motion::align::ClockMap;
use sinew::motion::bvh::{BvhPoses, Positions};
use sinew::motion::live::JsonSource;
use sinew::motion::statistics::numbers;
use sinew::motion::table::{parse_csv, write_json_lines};
use sinew::motion::vmc::{VmcSource, length_fault, take_of_body};
use sinew::motion::{Recording, Take};
use sinew::sentence::{MAX_CHARS, shortened};
use sinew::task::Task;

/// A walk, in the axes and channels of motion capture files.
pub(crate) const BVH: &str = include_str!("../data/walker.bvh");

/// A table with units, a marker and gaps.
pub(crate) const CSV: &str = "\
# two gauges, a marker and events
t[s],left[m],right[mm],wrist.x,wrist.y,wrist.z,knee[deg],state
0,1,1000,0,1,0,10,stand
1,1.25,,0,1.5,0.25,20.5,step
2.5,\"1\",1e3,,,,30,step
4,1,1,0,1,0,,
";

/// Lines of a device, with every kind of value.
pub(crate) const JSON_LINES: &str = r#"{"t": 0.0, "device": "band", "scalar": {"emg": 0.25, "grip": null}}
{"t": 0.01, "rotation": {"wrist": [0, 0, 0, 1]}, "position": {"wrist": [0, 1, 0]}, "event": "step"}
{"t": 0.02, "device": "band", "scalar": {"emg": 1e-3}, "label": {"state": "stand"}}
{"t": 0.03, "rotation": {"wrist": [0.1, 0.3, 0.3, 0.9]}, "space": "world"}
"#;

/// An argument of a message.
enum Arg {
    Text(&'static str),
    Float(f32),
    Int(i32),
}

/// An OSC 1.0 message.
fn message(address: &str, args: &[Arg]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let push_text = |text: &str| {
        let mut text = text.as_bytes().to_vec();
        text.resize(text.len() / 4 * 4 + 4, 0);
        text
    };
    bytes.extend(push_text(address));
    let types = args.iter().map(|arg| match arg {
        Arg::Text(_) => 's',
        Arg::Float(_) => 'f',
        Arg::Int(_) => 'i',
    });
    let types: String = std::iter::once(',').chain(types).collect();
    bytes.extend(push_text(&types));
    for arg in args {
        match arg {
            Arg::Text(text) => bytes.extend(push_text(text)),
            Arg::Float(number) => bytes.extend(number.to_be_bytes()),
            Arg::Int(number) => bytes.extend(number.to_be_bytes()),
        }
    }
    bytes
}

/// A log of VMC packets: the root, two bones, a tracker, a blend shape, and a bundle.
pub(crate) fn packets() -> Vec<u8> {
    let placed = |name| {
        let mut args = vec![Arg::Text(name)];
        args.extend([0.0, 1.0, 0.5, 0.0, 0.6, 0.0, 0.8].map(Arg::Float));
        args
    };
    let mut all = Vec::new();
    for i in 0..3 {
        let time = 0.1 * i as f32;
        let messages = [
            message("/VMC/Ext/OK", &[Arg::Int(1)]),
            message("/VMC/Ext/T", &[Arg::Float(time)]),
            message("/VMC/Ext/Root/Pos", &placed("root")),
            message("/VMC/Ext/Bone/Pos", &placed("Hips")),
            message("/VMC/Ext/Bone/Pos", &placed("LeftUpperArm")),
            message("/VMC/Ext/Tra/Pos", &placed("LHR-1")),
            message("/VMC/Ext/Blend/Val", &[Arg::Text("Joy"), Arg::Float(0.5)]),
            message("/VMC/Ext/Blend/Apply", &[]),
        ];
        let mut bundle = b"#bundle\0\0\0\0\0\0\0\0\x01".to_vec();
        for message in &messages {
            bundle.extend((message.len() as u32).to_be_bytes());
            bundle.extend(message);
        }
        for packet in [&bundle, &messages[3]] {
            all.extend(f64::from(time).to_le_bytes());
            all.extend((packet.len() as u32).to_le_bytes());
            all.extend(packet);
        }
    }
    all
}

/// Everything that the command line does with a motion or recording of an extension; whether it is one.
pub(crate) fn use_motion(bytes: &[u8], extension: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x").with_extension(extension);
    std::fs::write(&path, bytes).unwrap();
    let task = Task::new();
    // As a motion of a character.
    if let Err(error) = read_motions(&path, &task) {
        check_sentence(&error.to_string());
    }
    // As channels.
    match read_motion(&path, &task) {
        Ok(MotionFile::Bvh(bvh)) => {
            let poses = BvhPoses::new(&bvh, Positions::default());
            for frame in [None, Some(0), Some(bvh.n_frames.saturating_sub(1))] {
                let _ = poses.places(frame);
            }
            let take = Take::of_bvh(&bvh, Positions::default());
            assert_eq!(take.n_frames(), bvh.n_frames);
            true
        }
        Ok(MotionFile::Recording(recording)) => {
            let mut out = Vec::new();
            write_json_lines(&recording, &mut out).unwrap();
            let _ = recording.driving_channels();
            use_recording(&recording);
            true
        }
        Err(error) => {
            check_sentence(&error.to_string());
            false
        }
    }
}

/// Lines and packets as they come from the network: what is malformed is counted.
pub(crate) fn use_stream(bytes: &[u8]) {
    let mut lines = JsonSource::default();
    for (i, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        lines.receive(0.01 * i as f64, line);
    }
    let counts = lines.counts();
    assert!(counts.malformed <= counts.received);
    let mut packets = VmcSource::default();
    // Of all lengths, whatever the bytes say.
    for (i, packet) in bytes.chunks(1 + bytes.len() % 1500).enumerate() {
        packets.receive(0.01 * i as f64, packet);
    }
    use_recording(&packets.recording());
}

/// What a recording becomes: the motion of a body, statistics of its channels, and a table that reads back.
fn use_recording(recording: &Recording) {
    match length_fault(recording) {
        Some(fault) => check_sentence(&fault),
        None => {
            let _ = take_of_body(recording);
        }
    }
    let streams = [Stream {
        name: "x",
        recording,
        clock: ClockMap::default(),
    }];
    let Some([start, end]) = overlap(&streams) else {
        return;
    };
    // As many rows as the first of them show what a longer table has, too.
    let end = end.min(start + 2.0);
    let task = Task::new();
    let times = frame_times(start, end, 60.0);
    let table = Aggregate::new(
        &streams,
        times,
        60.0,
        |_| true,
        |_| Transform::IDENTITY.rotation,
        &task,
    );
    if let Ok(table) = table {
        let text = table.to_csv(&task).unwrap();
        if !table.channels.is_empty() {
            // Names of channels may be anything, also what a header means otherwise.
            match parse_csv(&text, &task) {
                Ok(back) => assert_eq!(back.times.len(), table.times.len(), "{text}"),
                Err(why) => check_sentence(&why.to_string()),
            }
        }
    }
    if let Ok(channels) = numbers(
        recording,
        ClockMap::default(),
        |_| true,
        |_| Transform::IDENTITY.rotation,
    ) {
        for channel in channels {
            let statistics = channel.statistics([start, end]);
            let ends = statistics.min.zip(statistics.max);
            assert!(
                ends.is_none_or(|(min, max)| min[1] <= max[1]),
                "{}",
                channel.name
            );
        }
    }
}

fn check_sentence(error: &str) {
    // What it quotes may be anything.
    let shown = shortened(error);
    assert!(
        shown.chars().count() <= MAX_CHARS && !shown.contains('\n'),
        "{shown}"
    );
}
