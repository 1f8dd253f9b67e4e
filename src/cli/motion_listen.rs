//! `sinew motion --listen`: live motion, recorded for some seconds.

use super::motion_args::{ListenArg, MotionArgs};
use super::{Failure, load};
use crate::finding::{counted, trimmed};
use crate::io::live::Listener;
use crate::io::{Outputs, is_model, is_project};
use crate::motion::table::write_json_lines;
use crate::motion::vmc::VmcSource;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub(super) fn run(
    args: &MotionArgs,
    listen: ListenArg,
    out: &mut dyn Write,
) -> Result<ExitCode, Failure> {
    let Some(to) = &args.record else {
        return Err(Failure::Usage(
            "--listen needs --record with the file to write: .jsonl.".into(),
        ));
    };
    if to
        .extension()
        .is_none_or(|e| !e.eq_ignore_ascii_case("jsonl"))
    {
        return Err(Failure::Usage(format!(
            "--record {} must end in .jsonl.",
            to.display()
        )));
    }
    let mut outputs = match &args.file {
        Some(file) if is_model(file) || is_project(file) => load::load(file)?.outputs,
        Some(file) => {
            return Err(Failure::Usage(format!(
                "{} is not a model or project.",
                file.display()
            )));
        }
        None => Outputs::default(),
    };
    let output = outputs.claim(to).map_err(Failure::input)?;
    let listener = Listener::new(listen.port, args.all_interfaces).map_err(Failure::input)?;
    let whom = if args.all_interfaces {
        ": any computer in your network can send motion"
    } else {
        ""
    };
    writeln!(
        out,
        "Listening on {} for {} s{whom}",
        listener.address(),
        trimmed(args.seconds)
    )?;
    out.flush()?;
    let end = Instant::now() + Duration::from_secs_f64(args.seconds);
    let mut source = VmcSource::default();
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        if let Some(packet) = listener.next_within(left) {
            source.receive(packet.arrival, &packet.bytes);
        }
    }
    let counts = source.counts();
    let mut said = vec![
        counted(counts.received, "packet"),
        counted(counts.messages, "message"),
    ];
    if let Some(why) = counts.last_malformed.filter(|_| counts.malformed > 0) {
        said.push(format!("{} malformed (the last: {why})", counts.malformed));
    }
    if counts.ignored > 0 {
        said.push(format!("{} not read", counts.ignored));
    }
    if listener.n_dropped() > 0 {
        let n = counted(listener.n_dropped(), "packet");
        said.push(format!("{n} dropped, because too many came"));
    }
    writeln!(out, "{}", said.join(", "))?;
    let recording = source.recording();
    if recording.times.is_empty() {
        return Err(Failure::Input(format!(
            "No motion was received at {}, so nothing was written.",
            listener.address()
        )));
    }
    let mut text = Vec::new();
    write_json_lines(&recording, &mut text)?;
    output.write(&text).map_err(Failure::input)?;
    writeln!(
        out,
        "{}, {} s. Wrote {}",
        counted(recording.n_channels(), "channel"),
        trimmed(recording.times.last().copied().unwrap_or(0.0)),
        to.display()
    )?;
    Ok(ExitCode::SUCCESS)
}
