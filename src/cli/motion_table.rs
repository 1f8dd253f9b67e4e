//! `sinew motion --table`: several recordings at common times.

use super::Failure;
use super::motion_args::MotionArgs;
use super::motion_streams::{OpenStreams, check_channels};
use crate::finding::{counted, trimmed};
use crate::motion::aggregate::{Aggregate, MAX_VALUES, frame_times, overlap};
use crate::task::Task;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(
    args: &MotionArgs,
    table: &Path,
    out: &mut dyn Write,
) -> Result<ExitCode, Failure> {
    let mut opened = OpenStreams::open(args, out)?;
    let output = opened.outputs.claim(table).map_err(Failure::input)?;
    let streams = opened.streams();
    let Some([start, end]) = args.range.or_else(|| overlap(&streams)) else {
        return Err(Failure::Input(
            "The streams have no time in common: give each a --clock or an --event, or a --range."
                .into(),
        ));
    };
    let n_channels: usize = streams.iter().map(|s| s.recording.n_channels()).sum();
    let n_rows = (end - start) * args.rate + 1.0;
    // The first column is the time.
    if n_rows * (1 + n_channels) as f64 > MAX_VALUES as f64 {
        return Err(Failure::Usage(format!(
            "{n_rows:.0} rows of {n_channels} channels are too many: give a --range or a lower --rate."
        )));
    }
    check_channels(&streams, &args.channels)?;
    let chosen = |name: &str| args.channels.is_empty() || args.channels.iter().any(|c| c == name);
    let times = frame_times(start, end, args.rate);
    let at_rest = |joint: &str| opened.rest(joint);
    let task = Task::new();
    let made = Aggregate::new(&streams, times, args.rate, chosen, at_rest, &task);
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
    let bytes = made.to_bytes(table, &task).map_err(Failure::input)?;
    output.write(&bytes).map_err(Failure::input)?;
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
