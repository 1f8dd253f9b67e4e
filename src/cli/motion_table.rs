//! `sinew motion --table`: several recordings at common times.

use super::motion_args::{MotionArgs, StreamArg};
use super::{Failure, load};
use crate::finding::{counted, trimmed};
use crate::io::Outputs;
use crate::io::channels::read_recording;
use crate::motion::Recording;
use crate::motion::aggregate::{Aggregate, Stream, frame_times, overlap};
use crate::motion::align::{ClockMap, fit_clock};
use crate::task::Task;
use glam::DQuat;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The largest number of values of a table.
const MAX_VALUES: usize = 50_000_000;

pub(super) fn run(
    args: &MotionArgs,
    table: &Path,
    out: &mut dyn Write,
) -> Result<ExitCode, Failure> {
    let (mut outputs, rest) = match &args.file {
        Some(file) => {
            let loaded = load::load(file)?;
            let skeleton = loaded.document.skeleton();
            let rest = skeleton.live_joints().map(|j| {
                let joint = skeleton.joint(j);
                (joint.name.clone(), joint.rest.rotation)
            });
            let rest: BTreeMap<String, DQuat> = rest.collect();
            (loaded.outputs, rest)
        }
        None => (Outputs::default(), BTreeMap::new()),
    };
    let mut recordings = Vec::new();
    let mut names = BTreeSet::new();
    for stream in &args.streams.0 {
        outputs.protect(&stream.path, "a recording");
        let recording = read_recording(&stream.path, &Task::new()).map_err(Failure::input)?;
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
    let output = outputs.claim(table).map_err(Failure::input)?;
    let streams: Vec<Stream<'_>> = recordings
        .iter()
        .map(|(name, recording, clock)| Stream {
            name,
            recording,
            clock: *clock,
        })
        .collect();
    let Some([start, end]) = args.range.or_else(|| overlap(&streams)) else {
        return Err(Failure::Input(
            "The streams have no time in common: give each a --clock or an --event, or a --range."
                .into(),
        ));
    };
    let n_channels: usize = streams.iter().map(|s| s.recording.n_channels()).sum();
    let n_rows = (end - start) * args.rate + 1.0;
    if n_rows * n_channels as f64 > MAX_VALUES as f64 {
        return Err(Failure::Usage(format!(
            "{n_rows:.0} rows of {n_channels} channels are too many: give a --range or a lower --rate."
        )));
    }
    let known = channel_names(&streams);
    if let Some(wanted) = args.channels.iter().find(|name| !known.contains(*name)) {
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        return Err(Failure::Usage(format!(
            "--channels {wanted}: there is no such channel; there are {}.",
            known.join(", ")
        )));
    }
    let chosen = |name: &str| args.channels.is_empty() || args.channels.iter().any(|c| c == name);
    let times = frame_times(start, end, args.rate);
    let at_rest = |joint: &str| rest.get(joint).copied().unwrap_or(DQuat::IDENTITY);
    let made = Aggregate::new(&streams, times, args.rate, chosen, at_rest);
    let mut made = made.map_err(|why| Failure::Input(format!("A recording: {why}.")))?;
    for channel in &made.channels {
        let n = channel.valid.iter().filter(|valid| !**valid).count();
        if n > 0 {
            writeln!(out, "{}: no value in {}", channel.name, counted(n, "row"))?;
        }
    }
    if args.valid {
        made.keep_valid();
    }
    output
        .write(made.to_csv().as_bytes())
        .map_err(Failure::input)?;
    writeln!(
        out,
        "{}: {} of {}, {} - {} s",
        table.display(),
        counted(made.times.len(), "row"),
        counted(made.channels.len(), "channel"),
        trimmed(start),
        trimmed(end)
    )?;
    Ok(ExitCode::SUCCESS)
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
    if let Some([a, b]) = stream.clock {
        if !stream.events.is_empty() {
            return Err(Failure::Usage(format!(
                "\"{name}\" has --clock and --event: give one of them."
            )));
        }
        let map = ClockMap::new(a, b).map_err(fault)?;
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
