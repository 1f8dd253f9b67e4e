//! `--stream` of `sinew motion`. Clocks, events and times belong to the stream before them, so their order matters.

use crate::motion::Timing;
use crate::motion::align::ClockEvent;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::path::PathBuf;

pub(super) const STREAMS: &str = "Streams";

/// The recordings of a line, in its order.
#[derive(Clone, Debug, Default)]
pub struct Streams(pub Vec<StreamArg>);

/// `--stream` with the flags after it.
#[derive(Clone, Debug)]
pub struct StreamArg {
    /// The file.
    pub path: PathBuf,
    /// `--clock`: a and b of `t = a s + b`; without b, an event gives it.
    pub clock: Option<(f64, Option<f64>)>,
    /// `--event`: moments on its clock and on the common one.
    pub events: Vec<ClockEvent>,
    /// `--times`: what the times of its samples are.
    pub timing: Option<Timing>,
}

impl Args for Streams {
    fn augment_args(command: Command) -> Command {
        let flag = |name: &'static str, value: &'static str, help: &'static str| {
            Arg::new(name)
                .long(name)
                .value_name(value)
                .help(help)
                .help_heading(STREAMS)
                .action(ArgAction::Append)
        };
        command
            .arg(
                flag(
                    "stream",
                    "FILE",
                    "A recording: .csv, .tsv, .trc, .jsonl or .vmclog; --clock and --event after it apply to it. With a model and --out: \
                     retarget its body, and put its other rotations and values on the joints and morph targets of the same names",
                )
                .value_parser(clap::value_parser!(PathBuf)),
            )
            .arg(
                flag(
                    "clock",
                    "A[,B]",
                    "Its clock: common time = A x its time + B seconds; without B, one --event gives it",
                )
                .allow_hyphen_values(true)
                .value_parser(parse_clock)
                .requires("stream"),
            )
            .arg(
                flag(
                    "event",
                    "NAME=S@T",
                    "An event at S seconds on its clock and T on the common one: one event gives the offset, several \
                     also the drift",
                )
                .value_parser(parse_event)
                .requires("stream"),
            )
            .arg(
                flag(
                    "times",
                    "recorded|regular",
                    "The times of its samples: as recorded, or between gaps at a constant rate that is fitted to them",
                )
                .value_parser(parse_timing)
                .requires("stream"),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Streams {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        fn placed<T: Clone + Send + Sync + 'static>(
            matches: &ArgMatches,
            flag: &str,
        ) -> Vec<(usize, T)> {
            let places = matches.indices_of(flag).into_iter().flatten();
            let values = matches.get_many::<T>(flag).into_iter().flatten();
            places.zip(values.cloned()).collect()
        }
        let paths = placed::<PathBuf>(matches, "stream");
        let mut streams: Vec<StreamArg> = paths
            .iter()
            .map(|(_, path)| StreamArg {
                path: path.clone(),
                clock: None,
                events: Vec::new(),
                timing: None,
            })
            .collect();
        let owner = |place: usize, flag: &str| {
            let before = paths.partition_point(|(at, _)| *at < place);
            before.checked_sub(1).ok_or_else(|| {
                let what = format!("--{flag} must follow the --stream whose clock it sets\n");
                clap::Error::raw(ErrorKind::MissingRequiredArgument, what)
            })
        };
        for (place, clock) in placed::<(f64, Option<f64>)>(matches, "clock") {
            let stream = &mut streams[owner(place, "clock")?];
            if stream.clock.replace(clock).is_some() {
                let what = format!("{} has two --clock\n", stream.path.display());
                return Err(clap::Error::raw(ErrorKind::ArgumentConflict, what));
            }
        }
        for (place, timing) in placed::<Timing>(matches, "times") {
            let stream = &mut streams[owner(place, "times")?];
            if stream.timing.replace(timing).is_some() {
                let what = format!("{} has two --times\n", stream.path.display());
                return Err(clap::Error::raw(ErrorKind::ArgumentConflict, what));
            }
        }
        for (place, event) in placed::<ClockEvent>(matches, "event") {
            streams[owner(place, "event")?].events.push(event);
        }
        Ok(Self(streams))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Two finite numbers with a comma between.
pub(super) fn parse_two(text: &str) -> Option<[f64; 2]> {
    let (a, b) = text.split_once(',')?;
    let both = [a.trim().parse().ok()?, b.trim().parse().ok()?];
    both.iter().all(|v: &f64| v.is_finite()).then_some(both)
}

fn parse_clock(text: &str) -> Result<(f64, Option<f64>), String> {
    let both = parse_two(text).map(|[a, b]| (a, Some(b)));
    let one = || {
        Some((
            text.trim().parse().ok().filter(|a: &f64| a.is_finite())?,
            None,
        ))
    };
    both.or_else(one)
        .ok_or_else(|| "give two numbers, as in 1.0002,-3.5, or the first one alone".into())
}

fn parse_timing(text: &str) -> Result<Timing, String> {
    match text {
        "recorded" => Ok(Timing::AsStamped),
        "regular" => Ok(Timing::Regular),
        _ => Err("give recorded or regular".into()),
    }
}

fn parse_event(text: &str) -> Result<ClockEvent, String> {
    let event = text.rsplit_once('=').and_then(|(name, times)| {
        let (device, common) = times.split_once('@')?;
        Some(ClockEvent {
            name: name.to_owned(),
            device: device.trim().parse().ok()?,
            common: common.trim().parse().ok()?,
        })
    });
    let event = event.filter(|e| e.device.is_finite() && e.common.is_finite());
    event.ok_or_else(|| "give a name and two times in seconds, as in clap=41521.0@1.0".into())
}
