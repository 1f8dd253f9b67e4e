//! Several recordings at common times: the multi-image of a physical twin.
//!
//! Sulema & Rudenko 2020: data of many devices, each value with its time, is synchronised and aggregated; Pester, Sulema,
//! Dychka & Sulema 2023 call the table an aggregate, an ordered collection of tuples of which one is the time. Here each
//! channel also has a column that says whether its value is one.

use super::align::ClockMap;
use super::fade::{Fade, Shown};
use super::recording::Recording;
use super::sampling::{Ends, Sampling};
use super::series::{Channel, ChannelError};
use super::signal::Signal;
use crate::task::{Cancelled, Task};
use glam::DQuat;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The largest number of values of a table.
pub const MAX_VALUES: usize = 50_000_000;
/// Rows between two checks for cancellation: less than 50 ms of work.
pub(super) const CHECKED_ROWS: usize = 4096;
/// The share of the progress at which all channels are sampled.
const SAMPLED: f32 = 0.5;

/// Why recordings make no table.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AggregateError {
    /// A channel cannot be sampled.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The task was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// A recording on the common clock.
#[derive(Clone, Copy, Debug)]
pub struct Stream<'a> {
    /// Its name in the columns.
    pub name: &'a str,
    /// Its channels.
    pub recording: &'a Recording,
    /// Its clock.
    pub clock: ClockMap,
}

/// The values of all channels of some recordings at common times.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// Seconds on the common clock, ascending.
    pub times: Vec<f64>,
    /// Frames a second.
    pub rate: f64,
    /// In the order of the streams, each with its positions, rotations, scalars and labels.
    pub channels: Vec<AggregateChannel>,
    /// A line about the clock of each stream.
    pub clocks: Vec<String>,
}

/// A channel at the common times.
#[derive(Clone, Debug, PartialEq)]
pub struct AggregateChannel {
    /// The stream's name and its own, with a point between.
    pub name: String,
    /// Its unit; empty for none.
    pub unit: String,
    /// The endings of its columns: `.x` ..., `.qx` ..., or one empty.
    pub components: &'static [&'static str],
    /// It is a rotation in the world, not in the space of the parent.
    pub is_world: bool,
    /// n_times x n_components; empty for a label.
    pub values: Vec<f64>,
    /// n_times words; empty for anything but a label.
    pub words: Vec<Option<String>>,
    /// n_times: whether the stream has a value then. If not, a scalar or a rotation is held and fades to rest.
    pub valid: Vec<bool>,
}

/// `start`, `start + 1 / rate` ... up to `end`, seconds.
pub fn frame_times(start: f64, end: f64, rate: f64) -> Vec<f64> {
    let n = ((end - start) * rate + 1e-9).floor();
    if n.is_nan() || n < 0.0 {
        return Vec::new();
    }
    (0..=n as usize).map(|i| start + i as f64 / rate).collect()
}

/// The common time in which all streams have samples; `None` if there is none.
pub fn overlap(streams: &[Stream<'_>]) -> Option<[f64; 2]> {
    let ends = streams.iter().filter_map(|stream| {
        let times = &stream.recording.times;
        let end = |time: &f64| stream.clock.common(*time);
        Some([end(times.first()?), end(times.last()?)])
    });
    let [start, end] = ends.reduce(|a, b| [a[0].max(b[0]), a[1].min(b[1])])?;
    (start <= end).then_some([start, end])
}

impl Aggregate {
    /// The channels of these streams at these times (seconds, ascending). Channels whose names `chosen` refuses are left
    /// out. What is lost fades to 0, a rotation to the one that `rest` gives for its joint.
    pub fn new(
        streams: &[Stream<'_>],
        times: Vec<f64>,
        rate: f64,
        chosen: impl Fn(&str) -> bool,
        rest: impl Fn(&str) -> DQuat,
        task: &Task,
    ) -> Result<Self, AggregateError> {
        let n_channels: usize = streams.iter().map(|s| s.recording.n_channels()).sum();
        let mut channels = Vec::new();
        let mut clocks = Vec::new();
        let step = |n_done: usize| {
            let done = n_done as f32 / n_channels.max(1) as f32;
            task.step("Aggregating the recordings", SAMPLED * done)
        };
        for stream in streams {
            let of = stream.recording;
            let device = of.device.as_deref().unwrap_or("not named");
            let ClockMap { a, b } = stream.clock;
            clocks.push(format!("{}: a={a}, b={b}, device={device}", stream.name));
            let common: Vec<f64> = of.times.iter().map(|t| stream.clock.common(*t)).collect();
            let name = |channel: &str| {
                Some(format!("{}.{channel}", stream.name)).filter(|name| chosen(name))
            };
            for track in &of.markers {
                let Some(name) = name(&track.name) else {
                    continue;
                };
                step(channels.len())?;
                let parts = &["x", "y", "z"];
                let sampled = sample(&common, &track.values, &times, task)?;
                channels.push(channel(name, "m", parts, &sampled, |v, out| {
                    out.extend(v.to_array());
                }));
            }
            for track in &of.rotations {
                let Some(name) = name(&track.name) else {
                    continue;
                };
                step(channels.len())?;
                let parts = &["qx", "qy", "qz", "qw"];
                let rest = if of.world_rotations.contains(&track.name) {
                    DQuat::IDENTITY
                } else {
                    rest(&track.name)
                };
                let is_world = of.world_rotations.contains(&track.name);
                let mut sampled = sample_as(&common, &track.values, &times, task, |q| {
                    rest.conjugate() * q
                })?;
                if rest != DQuat::IDENTITY {
                    for shown in &mut sampled {
                        shown.value = rest * shown.value;
                    }
                }
                for i in 1..sampled.len() {
                    // Neighbouring rows on one half of the sphere, for readers that interpolate by component.
                    if sampled[i].value.dot(sampled[i - 1].value) < 0.0 {
                        sampled[i].value = -sampled[i].value;
                    }
                }
                let mut made = channel(name, "", parts, &sampled, |v, out| {
                    out.extend(v.to_array());
                });
                made.is_world = is_world;
                channels.push(made);
            }
            for track in &of.scalars {
                let Some(name) = name(&track.name) else {
                    continue;
                };
                step(channels.len())?;
                let unit = si_unit(&track.unit);
                let sampled = sample(&common, &track.values, &times, task)?;
                channels.push(channel(name, unit, &[""], &sampled, |v, out| out.push(v)));
            }
            for track in &of.labels {
                let Some(name) = name(&track.name) else {
                    continue;
                };
                step(channels.len())?;
                let ends = common.first().zip(common.last());
                let inside =
                    |t: f64| ends.is_some_and(|(first, last)| (*first..=*last).contains(&t));
                let word = |t: f64| {
                    let n = common.partition_point(|s| *s <= t);
                    let last = track.values[..n].iter().rev().find_map(|word| *word)?;
                    track.words.get(last as usize).cloned()
                };
                let words: Vec<Option<String>> = times.iter().map(|t| word(*t)).collect();
                channels.push(AggregateChannel {
                    name,
                    unit: String::new(),
                    components: &[""],
                    is_world: false,
                    values: Vec::new(),
                    valid: times
                        .iter()
                        .zip(&words)
                        .map(|(t, w)| inside(*t) && w.is_some())
                        .collect(),
                    words,
                });
            }
        }
        Ok(Self {
            times,
            rate,
            channels,
            clocks,
        })
    }

    /// Leaves out the rows in which a channel has no value.
    pub fn keep_valid(&mut self) {
        let n = self.times.len();
        let keep: Vec<bool> = (0..n)
            .map(|i| self.channels.iter().all(|c| c.valid[i]))
            .collect();
        let kept = |i: &usize| keep[*i];
        self.times = (0..n).filter(kept).map(|i| self.times[i]).collect();
        for channel in &mut self.channels {
            let width = channel.components.len();
            if channel.words.is_empty() {
                let rows = (0..n).filter(kept);
                channel.values = rows
                    .flat_map(|i| channel.values[i * width..(i + 1) * width].to_vec())
                    .collect();
            } else {
                channel.words = (0..n)
                    .filter(kept)
                    .map(|i| channel.words[i].take())
                    .collect();
            }
            channel.valid = (0..n).filter(kept).map(|i| channel.valid[i]).collect();
        }
    }

    /// As CSV, which [`super::table::parse_csv`] reads back: numbers with nine digits.
    pub fn to_csv(&self, task: &Task) -> Result<String, Cancelled> {
        let mut out = String::new();
        for clock in &self.clocks {
            let clock = clock.replace(['\n', '\r'], " ");
            // Writing into a text cannot fail.
            let _ = writeln!(out, "# clock {clock}");
        }
        let _ = writeln!(out, "# fps={}", self.rate);
        out.push('t');
        // A rotation and a position may have one name, and each has a column that says whether it is valid.
        let mut names = BTreeSet::from(["t".to_owned()]);
        for channel in &self.channels {
            for component in channel.components {
                let dot = if component.is_empty() { "" } else { "." };
                let unit = match channel.unit.as_str() {
                    "" => String::new(),
                    unit => format!("[{unit}]"),
                };
                let name = format!("{}{dot}{component}", channel.name);
                let name = unique(name, channel.kind(), &mut names);
                push_cell(&mut out, &format!("{name}{unit}"));
            }
            let valid = unique(
                format!("{}.valid", channel.name),
                channel.kind(),
                &mut names,
            );
            push_cell(&mut out, &valid);
        }
        out.push('\n');
        for (i, time) in self.times.iter().enumerate() {
            if i % CHECKED_ROWS == 0 {
                writing(i, self.times.len(), task)?;
            }
            push_number(&mut out, *time);
            for channel in &self.channels {
                let width = channel.components.len();
                if channel.words.is_empty() {
                    for value in &channel.values[i * width..(i + 1) * width] {
                        out.push(',');
                        push_number(&mut out, *value);
                    }
                } else {
                    push_cell(&mut out, channel.words[i].as_deref().unwrap_or_default());
                }
                out.push_str(if channel.valid[i] { ",1" } else { ",0" });
            }
            out.push('\n');
        }
        Ok(out)
    }
}

impl AggregateChannel {
    fn kind(&self) -> &'static str {
        match self.components.len() {
            3 => "position",
            4 => "rotation",
            _ if self.words.is_empty() => "scalar",
            _ => "label",
        }
    }
}

/// The name of a column, with its kind or a number where another column has it.
fn unique(name: String, kind: &str, names: &mut BTreeSet<String>) -> String {
    if names.insert(name.clone()) {
        return name;
    }
    let numbered = (2..).map(|n| format!("{name}.{kind}{n}"));
    let mut others = std::iter::once(format!("{name}.{kind}")).chain(numbered);
    others
        .find(|other| names.insert(other.clone()))
        .unwrap_or(name)
}

/// The progress after some rows of the text.
pub(super) fn writing(row: usize, n_rows: usize, task: &Task) -> Result<(), Cancelled> {
    let done = row as f32 / n_rows.max(1) as f32;
    task.step("Writing the table", SAMPLED + (1.0 - SAMPLED) * done)
}

/// The unit of a scalar as it is stored.
fn si_unit(unit: &str) -> &str {
    match unit {
        "m" | "cm" | "mm" => "m",
        "rad" | "deg" | "°" => "rad",
        "s" | "ms" | "us" | "µs" => "s",
        unit => unit,
    }
}

/// What a channel shows at the times; outside of its samples it has no value.
fn sample<V: Signal>(
    common: &[f64],
    values: &[V],
    times: &[f64],
    task: &Task,
) -> Result<Vec<Shown<V>>, AggregateError> {
    sample_as(common, values, times, task, |value| value)
}

/// The same of what `map` makes of the values.
fn sample_as<V: Signal>(
    common: &[f64],
    values: &[V],
    times: &[f64],
    task: &Task,
    map: impl Fn(V) -> V,
) -> Result<Vec<Shown<V>>, AggregateError> {
    let sampling = Sampling {
        ends: Ends::Invalid,
        ..Sampling::default()
    };
    let channel = Channel::new(common, values, sampling)?;
    let fade = Fade::default();
    let at = |time: &f64| match channel.at(*time) {
        // A table holds what was measured; the easing after a gap is for the eye.
        Some(value) => Shown {
            value: map(value),
            valid: true,
        },
        None => channel.shown_as(*time, &fade, &map),
    };
    let mut sampled = Vec::with_capacity(times.len());
    for rows in times.chunks(CHECKED_ROWS) {
        task.check()?;
        sampled.extend(rows.iter().map(at));
    }
    Ok(sampled)
}

fn channel<V: Copy>(
    name: String,
    unit: &str,
    components: &'static [&'static str],
    sampled: &[Shown<V>],
    push: impl Fn(V, &mut Vec<f64>),
) -> AggregateChannel {
    let mut values = Vec::with_capacity(sampled.len() * components.len());
    for shown in sampled {
        push(shown.value, &mut values);
    }
    AggregateChannel {
        name,
        unit: unit.to_owned(),
        components,
        is_world: false,
        values,
        words: Vec::new(),
        valid: sampled.iter().map(|shown| shown.valid).collect(),
    }
}

/// A separator and a cell, in quotes where it needs them.
fn push_cell(out: &mut String, text: &str) {
    out.push(',');
    if text.contains([',', '"', '\n', '\r']) || text.starts_with([' ', '#']) {
        let _ = write!(out, "\"{}\"", text.replace('"', "\"\""));
    } else {
        out.push_str(text);
    }
}

/// A number with nine significant digits.
fn push_number(out: &mut String, value: f64) {
    // Adding 0 makes -0 a 0.
    let rounded: f64 = format!("{value:.8e}").parse().unwrap_or(value) + 0.0;
    let size = rounded.abs();
    let _ = if size != 0.0 && !(1e-6..1e15).contains(&size) {
        write!(out, "{rounded:e}")
    } else {
        write!(out, "{rounded}")
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::table::parse_csv;
    use crate::task::Task;

    fn recording(text: &str) -> Recording {
        parse_csv(text, &Task::new()).unwrap()
    }

    #[test]
    fn an_aggregate_reads_back_as_it_was() {
        let first = recording(
            "# device: imu\ntime,j.qx,j.qy,j.qz,j.qw,emg[mV],phase\n0,0,0,0,1,40.5,\"a, b\"\n0.1,0,0,0,-1,41,\n0.2,0.6,0,0,0.8,,c\n",
        );
        let second =
            recording("time[ms],w.x[mm],w.y,w.z\n1000,1,2,3\n1100,2,3,4\n1200,3,4,123456.789\n");
        let streams = [
            Stream {
                name: "imu",
                recording: &first,
                clock: ClockMap::SAME,
            },
            Stream {
                name: "cam",
                recording: &second,
                clock: ClockMap { a: 1.0, b: -1.0 },
            },
        ];
        let [start, end] = overlap(&streams).unwrap();
        assert!(start == 0.0 && (end - 0.2).abs() < 1e-12);
        let times = frame_times(start, 0.2, 20.0);
        let at_rest = |_: &str| DQuat::IDENTITY;
        let task = Task::new();
        let made = Aggregate::new(&streams, times, 20.0, |_| true, at_rest, &task).unwrap();
        let text = made.to_csv(&task).unwrap();
        let back = recording(&text);
        assert_eq!((back.rate, back.times.len()), (Some(20.0), 5));
        assert_eq!(back.times, made.times);
        let digits = |a: f64, b: f64| (a - b).abs() <= 5e-9 * b.abs();
        for (row, q) in made.channels[0]
            .values
            .chunks(4)
            .zip(&back.rotations[0].values)
        {
            assert!(
                row.iter().zip(q.to_array()).all(|(a, b)| digits(*a, b)),
                "{row:?} {q}"
            );
        }
        let last = back.markers[0].values[4];
        assert!(digits(last.z, 123.456789), "{last}");
        let at = |name: &str| back.scalars.iter().find(|s| s.name == name).unwrap();
        assert_eq!(at("imu.emg").unit, "mV");
        assert_eq!(at("imu.emg.valid").values, [1.0, 1.0, 1.0, 0.0, 0.0]);
        assert_eq!(back.label("imu.phase", 0.0), Some("a, b"));
        assert!(text.starts_with("# clock imu: a=1, b=0, device=imu\n# clock cam: a=1, b=-1,"));
        let mut valid = made.clone();
        valid.keep_valid();
        assert_eq!(valid.times.len(), 3);
        assert_eq!(valid.channels[0].values.len(), 12);
        let chosen = Aggregate::new(
            &streams,
            vec![0.0],
            20.0,
            |name| name == "cam.w",
            at_rest,
            &task,
        )
        .unwrap();
        assert_eq!(chosen.channels.len(), 1);
        task.cancel();
        let times = made.times.clone();
        let cancelled = Aggregate::new(&streams, times, 20.0, |_| true, at_rest, &task);
        assert_eq!(cancelled, Err(Cancelled.into()));
        assert_eq!(made.to_csv(&task), Err(Cancelled));
        for name in ["a.csv", "a.jsonl"] {
            assert_eq!(made.to_bytes(name.as_ref(), &task), Err(Cancelled));
        }
    }

    #[test]
    fn numbers_have_nine_digits() {
        for (value, text) in [
            (0.1 + 0.2, "0.3"),
            (-41520.123456789, "-41520.1235"),
            (1.0 / 3.0 * 1e-7, "3.33333333e-8"),
            (0.0, "0"),
            (1e16, "1e16"),
        ] {
            let mut out = String::new();
            push_number(&mut out, value);
            assert_eq!(out, text);
        }
        assert!(frame_times(1.0, 0.0, 60.0).is_empty());
    }
}
