//! `sinew motion info`: the contents of a file of motion.

use super::Failure;
use super::motion_args::MotionInfoArgs;
use crate::finding::{counted, thousands, trimmed};
use crate::io::motion_file::{MotionFile, read_motion};
use crate::motion::bvh::{Bvh, BvhChannel, BvhPoses, Placement, Positions};
use crate::motion::signal::Signal;
use crate::motion::timing::Steps;
use crate::motion::{Channel, DelayFigures, Note, Recording, Sampling};
use crate::task::Task;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;

#[derive(Serialize)]
struct Info<C> {
    file: String,
    #[serde(flatten)]
    content: C,
    notes: Vec<NoteInfo>,
}

#[derive(Serialize)]
struct NoteInfo {
    line: usize,
    text: String,
}

#[derive(Serialize)]
struct BvhInfo {
    format: &'static str,
    frames: usize,
    frame_secs: f64,
    duration_secs: f64,
    channels: usize,
    roots: usize,
    end_sites: usize,
    joints: Vec<JointInfo>,
}

#[derive(Serialize)]
struct JointInfo {
    name: String,
    parent: Option<usize>,
    channels: Vec<String>,
    positions: Placement,
}

#[derive(Serialize)]
struct RecordingInfo {
    format: &'static str,
    samples: usize,
    start_secs: f64,
    end_secs: f64,
    rate: Option<f64>,
    /// The median of the steps between times, and the distance from it that 95 % of the steps keep, seconds.
    median_step_secs: f64,
    jitter_secs: f64,
    device: Option<String>,
    /// How late what was received live arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    delay: Option<DelayFigures>,
    channels: Vec<ChannelInfo>,
    events: Vec<EventInfo>,
}

#[derive(Serialize)]
struct ChannelInfo {
    name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    unit: String,
    samples: usize,
    /// Stretches that are too long to be interpolated, seconds.
    gaps: Vec<[f64; 2]>,
}

#[derive(Serialize)]
struct EventInfo {
    name: String,
    secs: f64,
}

pub(super) fn run(args: &MotionInfoArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let motion = read_motion(&args.file, &Task::new()).map_err(Failure::input)?;
    let file = args.file.display().to_string();
    match motion {
        MotionFile::Bvh(bvh) => {
            let info = info(file, of_bvh(&bvh), &bvh.notes);
            show(&info, args.json, out, print_bvh)
        }
        MotionFile::Recording(recording) => {
            let content = of_recording(&recording).map_err(Failure::Input)?;
            let info = info(file, content, &recording.notes);
            show(&info, args.json, out, print_recording)
        }
    }
}

fn info<C>(file: String, content: C, notes: &[Note]) -> Info<C> {
    let notes = notes.iter().map(|note| NoteInfo {
        line: note.line,
        text: note.text.clone(),
    });
    Info {
        file,
        content,
        notes: notes.collect(),
    }
}

fn show<C: Serialize>(
    info: &Info<C>,
    is_json: bool,
    out: &mut dyn Write,
    print: impl Fn(&C, &mut dyn Write) -> std::io::Result<()>,
) -> Result<ExitCode, Failure> {
    if is_json {
        serde_json::to_writer_pretty(&mut *out, info).map_err(Failure::input)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}", info.file)?;
        print(&info.content, out)?;
        for note in &info.notes {
            match note.line {
                0 => writeln!(out, "  {}", note.text)?,
                line => writeln!(out, "  line {line}: {}", note.text)?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn of_bvh(bvh: &Bvh) -> BvhInfo {
    let poses = BvhPoses::new(bvh, Positions::Auto);
    let name = |channel: &BvhChannel| {
        let (axis, what) = match channel {
            BvhChannel::Position(axis) => (axis, "position"),
            BvhChannel::Rotation(axis) => (axis, "rotation"),
        };
        format!("{}{what}", ["X", "Y", "Z"][*axis])
    };
    let joints = bvh.joints.iter().zip(poses.placements());
    BvhInfo {
        format: "bvh",
        frames: bvh.n_frames,
        frame_secs: bvh.frame_secs,
        duration_secs: bvh.duration(),
        channels: bvh.n_channels,
        roots: bvh.joints.iter().filter(|j| j.parent.is_none()).count(),
        end_sites: bvh.joints.iter().map(|j| j.end_sites.len()).sum(),
        joints: joints
            .map(|(joint, placement)| JointInfo {
                name: joint.name.clone(),
                parent: joint.parent,
                channels: joint.channels.iter().map(name).collect(),
                positions: *placement,
            })
            .collect(),
    }
}

fn print_bvh(info: &BvhInfo, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "  {}, {} at {} fps ({} s), {}, {}, {}",
        counted(info.joints.len(), "joint"),
        counted(info.frames, "frame"),
        trimmed(1.0 / info.frame_secs),
        trimmed(info.duration_secs),
        counted(info.channels, "channel"),
        counted(info.roots, "root"),
        counted(info.end_sites, "end site")
    )?;
    let count = |placement| {
        let joints = info.joints.iter();
        joints.filter(|j| j.positions == placement).count()
    };
    let (replace, add) = (count(Placement::Replace), count(Placement::Add));
    if replace + add > 0 {
        writeln!(
            out,
            "  positions: {} replace the offset, {} add to it",
            thousands(replace),
            thousands(add)
        )?;
    }
    Ok(())
}

fn of_recording(recording: &Recording) -> Result<RecordingInfo, String> {
    let times = &recording.times;
    let steps = Steps::of(times).unwrap_or_default();
    let mut channels = Vec::new();
    for track in &recording.markers {
        channels.push(channel(times, &track.name, "position", "m", &track.values)?);
    }
    for track in &recording.rotations {
        let kind = if recording.world_rotations.contains(&track.name) {
            "world rotation"
        } else {
            "rotation"
        };
        channels.push(channel(times, &track.name, kind, "", &track.values)?);
    }
    for track in &recording.scalars {
        channels.push(channel(
            times,
            &track.name,
            "scalar",
            &track.unit,
            &track.values,
        )?);
    }
    for track in &recording.labels {
        channels.push(ChannelInfo {
            name: track.name.clone(),
            kind: "label",
            unit: String::new(),
            samples: track.values.iter().filter(|word| word.is_some()).count(),
            gaps: Vec::new(),
        });
    }
    Ok(RecordingInfo {
        format: "channels",
        samples: times.len(),
        start_secs: times.first().copied().unwrap_or(0.0),
        end_secs: times.last().copied().unwrap_or(0.0),
        rate: recording.rate,
        median_step_secs: steps.median,
        jitter_secs: steps.jitter,
        device: recording.device.clone(),
        delay: DelayFigures::of(recording),
        channels,
        events: recording
            .events
            .iter()
            .map(|event| EventInfo {
                name: event.name.clone(),
                secs: event.time,
            })
            .collect(),
    })
}

fn channel<V: Signal>(
    times: &[f64],
    name: &str,
    kind: &'static str,
    unit: &str,
    values: &[V],
) -> Result<ChannelInfo, String> {
    let channel = Channel::new(times, values, Sampling::default());
    let channel = channel.map_err(|why| format!("\"{name}\": {why}"))?;
    Ok(ChannelInfo {
        name: name.to_owned(),
        kind,
        unit: unit.to_owned(),
        samples: channel.times().len(),
        gaps: channel.gaps().collect(),
    })
}

fn print_recording(info: &RecordingInfo, out: &mut dyn Write) -> std::io::Result<()> {
    let device = match &info.device {
        Some(device) => format!(", device {device}"),
        None => String::new(),
    };
    writeln!(
        out,
        "  {}, {} - {} s, one sample every {} ms (95 % within {} ms){device}",
        counted(info.samples, "sample"),
        trimmed(info.start_secs),
        trimmed(info.end_secs),
        trimmed(info.median_step_secs * 1e3),
        trimmed(info.jitter_secs * 1e3),
    )?;
    if let Some(delay) = &info.delay {
        writeln!(out, "  {}", delay.text())?;
    }
    for channel in &info.channels {
        let unit = match channel.unit.as_str() {
            "" => String::new(),
            unit => format!(" [{unit}]"),
        };
        let gaps = channel.gaps.iter();
        let gaps: Vec<String> = gaps
            .map(|[from, to]| format!("{} - {} s", trimmed(*from), trimmed(*to)))
            .collect();
        let gaps = if gaps.is_empty() {
            String::new()
        } else {
            format!(", no value {}", gaps.join(", "))
        };
        writeln!(
            out,
            "  {} \"{}\"{unit}: {}{gaps}",
            channel.kind,
            channel.name,
            counted(channel.samples, "sample")
        )?;
    }
    for event in &info.events {
        writeln!(
            out,
            "  event \"{}\" at {} s",
            event.name,
            trimmed(event.secs)
        )?;
    }
    Ok(())
}
