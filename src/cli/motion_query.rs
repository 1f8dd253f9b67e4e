//! `sinew motion --query`: what recordings say, as JSON.

use super::Failure;
use super::motion_args::MotionArgs;
use super::motion_streams::{OpenStreams, check_channels};
use crate::motion::aggregate::Stream;
use crate::motion::beyond_limits::beyond_limits;
use crate::motion::statistics::{Numbers, Words, numbers, words};
use serde_json::{Map, Value, json};
use std::io::Write;
use std::process::ExitCode;

pub(super) fn run(args: &MotionArgs, out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let opened = OpenStreams::open(args, &mut std::io::sink())?;
    let streams = opened.streams();
    check_channels(&streams, &args.channels)?;
    let Some(range) = args.range.or_else(|| whole(&streams)) else {
        return Err(Failure::Input("The streams have no samples.".into()));
    };
    let clocks = streams.iter().map(|stream| {
        let (a, b) = (stream.clock.a, stream.clock.b);
        json!({"name": stream.name, "a": a, "b": b})
    });
    let clocks: Vec<Value> = clocks.collect();
    let mut channels = Vec::new();
    let mut events = Vec::new();
    for stream in &streams {
        let of = stream.recording;
        let is_chosen = |channel: &str| {
            let name = format!("{}.{channel}", stream.name);
            args.channels.is_empty() || args.channels.contains(&name)
        };
        let found = numbers(of, stream.clock, is_chosen, |joint| opened.rest(joint));
        let found = found.map_err(|why| Failure::Input(format!("{}: {why}.", stream.name)))?;
        let beyond = beyond_limits(of, stream.clock, is_chosen, |joint| opened.limits(joint));
        let beyond = beyond.map_err(|why| Failure::Input(format!("{}: {why}.", stream.name)))?;
        for numbers in &found {
            let mut answer = asked(args, stream.name, numbers, range);
            if let Some(beyond) = beyond.iter().find(|of| of.name == numbers.name) {
                answer["beyond_limits"] = against_limits(beyond, range);
            }
            channels.push(answer);
        }
        for track in of.labels.iter().filter(|track| is_chosen(&track.name)) {
            channels.push(said(
                args,
                stream.name,
                &words(of, track, stream.clock),
                range,
            ));
        }
        for event in &of.events {
            let time = stream.clock.common(event.time);
            events.push(json!({"stream": stream.name, "name": event.name, "t": time}));
        }
    }
    let answer = json!({"range": range, "streams": clocks, "channels": channels, "events": events});
    serde_json::to_writer_pretty(&mut *out, &answer).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(ExitCode::SUCCESS)
}

/// From the first sample of any stream to the last one of any, on the common clock.
fn whole(streams: &[Stream<'_>]) -> Option<[f64; 2]> {
    let ends = streams.iter().filter_map(|stream| {
        let times = &stream.recording.times;
        let common = |time: &f64| stream.clock.common(*time);
        Some([common(times.first()?), common(times.last()?)])
    });
    ends.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

fn asked(args: &MotionArgs, stream: &str, of: &Numbers, range: [f64; 2]) -> Value {
    let statistics = of.statistics(range);
    let place = |found: Option<[f64; 2]>| found.map(|[t, value]| json!({"t": t, "value": value}));
    let mut answer = Map::new();
    answer.insert("name".into(), json!(format!("{stream}.{}", of.name)));
    answer.insert("unit".into(), json!(of.unit));
    answer.insert("seconds".into(), json!(statistics.valid));
    answer.insert("min".into(), json!(place(statistics.min)));
    answer.insert("max".into(), json!(place(statistics.max)));
    answer.insert("mean".into(), json!(statistics.mean));
    if !args.at.is_empty() {
        let values = args.at.iter();
        let values = values.map(|t| json!({"t": t, "value": of.channel.at(*t)}));
        answer.insert("at".into(), values.collect());
    }
    if let Some(threshold) = args.above {
        let stretches = of.above(threshold, range);
        let seconds: f64 = stretches.iter().map(|[from, to]| to - from).sum();
        let above = json!({"threshold": threshold, "seconds": seconds, "stretches": stretches});
        answer.insert("above".into(), above);
    }
    Value::Object(answer)
}

/// How far and for how long a rotation exceeds the limits of its joint.
fn against_limits(of: &Numbers, range: [f64; 2]) -> Value {
    let stretches = of.above(0.0, range);
    let seconds: f64 = stretches.iter().map(|[from, to]| to - from).sum();
    let max = of.statistics(range).max.filter(|[_, value]| *value > 0.0);
    let max = max.map(|[t, value]| json!({"t": t, "value": value}));
    json!({"unit": "deg", "max": max, "seconds": seconds, "stretches": stretches})
}

fn said(args: &MotionArgs, stream: &str, of: &Words, range: [f64; 2]) -> Value {
    let inside = |time: f64| (range[0]..=range[1]).contains(&time);
    let words = of.times.iter().zip(&of.words);
    let words = words.filter(|(time, _)| inside(**time));
    let words: Vec<Value> = words
        .map(|(t, word)| json!({"t": t, "word": word}))
        .collect();
    let mut answer = json!({"name": format!("{stream}.{}", of.name), "words": words});
    if !args.at.is_empty() {
        let values = args.at.iter();
        let values = values.map(|t| json!({"t": t, "word": of.at(*t)}));
        answer["at"] = values.collect();
    }
    answer
}
