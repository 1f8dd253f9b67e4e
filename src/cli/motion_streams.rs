//! The recordings of a line of `sinew motion`, each on the common clock.

use super::motion_args::MotionArgs;
use super::stream_args::StreamArg;
use super::{Failure, load};
use crate::io::Outputs;
use crate::io::channels::read_recording;
use crate::math::Transform;
use crate::motion::aggregate::Stream;
use crate::motion::align::{ClockMap, fit_clock};
use crate::motion::stamp_pairs::fit_pairs;
use crate::motion::timing::regular_times;
use crate::motion::{Recording, Timing};
use crate::skeleton::joint_limits::JointLimits;
use crate::task::Task;
use glam::DQuat;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// What `--stream` names, and the model beside it.
pub(super) struct OpenStreams {
    /// Protects the files that are read.
    pub(super) outputs: Outputs,
    /// By name, the rest transforms of the model's joints, and their rotation limits.
    joints: BTreeMap<String, (Transform, Option<JointLimits>)>,
    recordings: Vec<(String, Recording, ClockMap)>,
}

impl OpenStreams {
    /// Reads all files; `out` takes a line about each clock.
    pub(super) fn open(args: &MotionArgs, out: &mut dyn Write) -> Result<Self, Failure> {
        let (mut outputs, joints) = match &args.file {
            Some(file) => {
                let loaded = load::load(file)?;
                let skeleton = loaded.document.skeleton();
                let joints = skeleton.live_joints().map(|j| {
                    let joint = skeleton.joint(j);
                    (joint.name.clone(), (joint.rest, joint.rule.limits))
                });
                let joints: BTreeMap<_, _> = joints.collect();
                (loaded.outputs, joints)
            }
            None => (Outputs::default(), BTreeMap::new()),
        };
        let mut recordings = Vec::new();
        let mut names = BTreeSet::new();
        for stream in &args.streams.0 {
            outputs.protect(&stream.path, "a recording");
            let recording = read_timed(stream)?;
            let stem = stream.path.file_stem().map(|stem| stem.to_string_lossy());
            let stem = stem.unwrap_or_default().into_owned();
            let numbered = (2..).map(|n| format!("{stem} {n}"));
            let name = std::iter::once(stem.clone())
                .chain(numbered)
                .find(|n| !names.contains(n));
            let name = name.unwrap_or_default();
            names.insert(name.clone());
            let clock = clock(stream, &name, &recording, out)?;
            recordings.push((name, recording, clock));
        }
        Ok(Self {
            outputs,
            joints,
            recordings,
        })
    }

    /// The recordings with their names.
    pub(super) fn streams(&self) -> Vec<Stream<'_>> {
        let streams = self.recordings.iter();
        streams
            .map(|(name, recording, clock)| Stream {
                name,
                recording,
                clock: *clock,
            })
            .collect()
    }

    /// The rest rotation of the model's joint of a name, the identity where there is none.
    pub(super) fn rest(&self, joint: &str) -> DQuat {
        let known = self.joints.get(joint);
        known.map_or(DQuat::IDENTITY, |(rest, _)| rest.rotation)
    }

    /// The rotation limits of the model's joint of a name, with its rest transform.
    pub(super) fn limits(&self, joint: &str) -> Option<(JointLimits, Transform)> {
        let (rest, limits) = self.joints.get(joint)?;
        Some(((*limits)?, *rest))
    }
}

/// The recording of a stream, with the times of its samples that are wanted.
pub(super) fn read_timed(stream: &StreamArg) -> Result<Recording, Failure> {
    let recording = read_recording(&stream.path, &Task::new()).map_err(Failure::input)?;
    if stream.timing != Some(Timing::Regular) {
        return Ok(recording);
    }
    let times = regular_times(&recording.times);
    let times =
        times.map_err(|why| Failure::Input(format!("{}: {why}.", stream.path.display())))?;
    Ok(recording.at_times(times))
}

/// Says which of the wanted channels there is not.
pub(super) fn check_channels(streams: &[Stream<'_>], wanted: &[String]) -> Result<(), Failure> {
    let known = channel_names(streams);
    let Some(missing) = wanted.iter().find(|name| !known.contains(*name)) else {
        return Ok(());
    };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    Err(Failure::Usage(format!(
        "--channels {missing}: there is no such channel; there are {}.",
        known.join(", ")
    )))
}

/// The names of all channels, as STREAM.CHANNEL.
fn channel_names(streams: &[Stream<'_>]) -> BTreeSet<String> {
    let of = |stream: &Stream<'_>| {
        let recording = stream.recording;
        let names = recording.markers.iter().map(|t| &t.name);
        let names = names.chain(recording.rotations.iter().map(|t| &t.name));
        let names = names.chain(recording.scalars.iter().map(|t| &t.name));
        let names = names.chain(recording.labels.iter().map(|t| &t.name));
        let name = stream.name;
        names
            .map(|channel| format!("{name}.{channel}"))
            .collect::<Vec<_>>()
    };
    streams.iter().flat_map(of).collect()
}

/// The clock of a stream: typed, from events, or as it is.
fn clock(
    stream: &StreamArg,
    name: &str,
    recording: &Recording,
    out: &mut dyn Write,
) -> Result<ClockMap, Failure> {
    let fault = |why| Failure::Usage(format!("The clock of \"{name}\": {why}."));
    if let Some((a, b)) = stream.clock {
        let map = match (b, &stream.events[..]) {
            (Some(b), []) => ClockMap::new(a, b).map_err(fault)?,
            (None, [event]) => {
                let known = ClockMap::new(a, 0.0).map_err(fault)?;
                let pairs = std::slice::from_ref(event);
                fit_pairs(pairs, known, 0.0).map_err(fault)?.map
            }
            (Some(_), _) => {
                return Err(Failure::Usage(format!(
                    "\"{name}\" has --clock and --event: give one of them, or --clock A and one event."
                )));
            }
            (None, _) => {
                return Err(Failure::Usage(format!(
                    "--clock of \"{name}\" has no offset: give A,B, or one --event."
                )));
            }
        };
        if b.is_none() {
            writeln!(out, "{name}: t = {} s + {}", map.a, map.b)?;
        }
        if let Some(warning) = map.warning() {
            writeln!(out, "{name}: {warning}")?;
        }
        return Ok(map);
    }
    if stream.events.is_empty() {
        return Ok(ClockMap::SAME);
    }
    let mut steps: Vec<f64> = recording.times.windows(2).map(|w| w[1] - w[0]).collect();
    steps.sort_by(f64::total_cmp);
    let step = steps.get(steps.len() / 2).copied().unwrap_or(0.0);
    let fit = fit_clock(&stream.events, step * 0.5).map_err(fault)?;
    let drift = match fit.drift_error {
        None => String::new(),
        Some(error) if fit.has_no_drift => {
            format!(", no significant drift (± {error:.0} ppm)")
        }
        Some(error) => format!(", drift {:.1} ± {error:.0} ppm", fit.map.drift()),
    };
    writeln!(out, "{name}: t = {} s + {}{drift}", fit.map.a, fit.map.b)?;
    if stream.events.len() > 1 {
        for ((event, off), odd) in stream.events.iter().zip(&fit.residuals).zip(&fit.is_odd) {
            let odd = if *odd {
                ", far more than the others"
            } else {
                ""
            };
            writeln!(
                out,
                "{name}: \"{}\" is off by {:.2} ms{odd}",
                event.name,
                off * 1e3
            )?;
        }
    }
    if let Some(warning) = fit.map.warning() {
        writeln!(out, "{name}: {warning}")?;
    }
    Ok(fit.map)
}
