//! `sinew motion --listen`: live motion, recorded for some seconds.

use super::motion_args::{ListenArg, MotionArgs};
use super::{Failure, load};
use crate::finding::{counted, trimmed};
use crate::io::live::{Access, Listener};
use crate::io::{Outputs, is_model, is_project};
use crate::motion::live::{JsonSource, Origin};
use crate::motion::table::write_json_lines;
use crate::motion::vmc::{MAX_SENDERS, VmcSource};
use crate::motion::{DelayFigures, Recording};
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The memory at which a recording ends, bytes.
const MAX_BYTES: usize = 1_000_000_000;
/// How often the end of the standard input is checked.
const PATIENCE: Duration = Duration::from_millis(50);

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
    let is_vmc = matches!(listen, ListenArg::Vmc(_));
    if args.sender.is_some() && listen == ListenArg::Input {
        return Err(Failure::Usage(
            "--sender is an address in the network, and --listen json:- reads the standard input."
                .into(),
        ));
    }
    let access = Access {
        all_interfaces: args.all_interfaces,
        only: args.sender,
    };
    let listener = match listen {
        ListenArg::Vmc(port) => Listener::udp(port, access, || {}),
        ListenArg::Json(port) => Listener::tcp(port, access, || {}),
        ListenArg::Input => Listener::of_reader(std::io::stdin(), || {}),
    };
    let listener = listener.map_err(Failure::input)?;
    let at = match listener.address() {
        Some(address) => address.to_string(),
        None => "the standard input".to_owned(),
    };
    let whom = match args.sender {
        Some(only) => format!(": only {only} can send motion"),
        None if args.all_interfaces => ": any computer in your network can send motion".to_owned(),
        None => String::new(),
    };
    writeln!(
        out,
        "Listening on {at} for {} s{whom}",
        trimmed(args.seconds)
    )?;
    out.flush()?;
    let end = Instant::now() + Duration::from_secs_f64(args.seconds);
    let (mut packets, mut lines) = (VmcSource::default(), JsonSource::default());
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        let wait = left.min(PATIENCE);
        match listener.next_within(wait) {
            Some(packet) if is_vmc => {
                packets.receive_from(packet.arrival, packet.from, &packet.bytes);
            }
            Some(packet) => {
                lines.receive(packet.arrival, &packet.bytes);
            }
            None if listener.has_ended() => break,
            None => {}
        }
        let samples = if is_vmc {
            &packets.samples
        } else {
            &lines.samples
        };
        if samples.heap_bytes().max(samples.recording_bytes()) > MAX_BYTES {
            writeln!(out, "The recording ends at 1 GB.")?;
            break;
        }
    }
    let (mut said, malformed, why) = if is_vmc {
        let counts = packets.counts();
        let said = vec![
            counted(counts.received, "packet"),
            counted(counts.messages, "message"),
        ];
        let why = counts.last_malformed.unwrap_or_default().to_owned();
        (said, counts.malformed, why)
    } else {
        let counts = lines.counts();
        let why = counts.last_malformed.clone().unwrap_or_default();
        (
            vec![counted(counts.received, "line")],
            counts.malformed,
            why,
        )
    };
    if malformed > 0 {
        said.push(format!("{malformed} malformed (the last: {why})"));
    }
    if packets.counts().ignored > 0 {
        said.push(format!("{} not read", packets.counts().ignored));
    }
    if packets.counts().others > 0 {
        let n = counted(packets.counts().others, "packet");
        said.push(format!(
            "{n} of further senders not read, as {MAX_SENDERS} are heard at a time"
        ));
    }
    if listener.n_others() > 0 {
        said.push(format!("{} from other addresses", listener.n_others()));
    }
    if listener.n_dropped() > 0 {
        let n = counted(listener.n_dropped(), "packet");
        said.push(format!("{n} dropped, because too many came"));
    }
    writeln!(out, "{}", said.join(", "))?;
    let mut recording = if is_vmc {
        packets.recording()
    } else {
        Recording {
            device: lines.device().map(str::to_owned),
            ..lines.samples.recording(f64::NEG_INFINITY)
        }
    };
    if recording.times.is_empty() {
        return Err(Failure::Input(format!(
            "No motion was received at {at}, so nothing was written."
        )));
    }
    let mut origin = Origin::default();
    origin.add_bones(if is_vmc {
        &packets.samples
    } else {
        &lines.samples
    });
    origin.set_bones(lines.take_rest_places());
    recording.rest_places = origin.bones;
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
    if let Some(delay) = DelayFigures::of(&recording) {
        writeln!(out, "{}", delay.text())?;
    }
    Ok(ExitCode::SUCCESS)
}
