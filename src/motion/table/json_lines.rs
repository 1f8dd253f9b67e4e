//! Recorded channels as JSON lines: one object a line, with its time.
//!
//! ```text
//! {"t": 1.25, "device": "imu-1", "rotation": {"forearm": [x, y, z, w]}, "position": {"wrist": [x, y, z]},
//!  "scalar": {"emg": 41.2}, "label": {"phase": "flex"}, "event": "clap"}
//! ```
//!
//! All but `t` (seconds) is optional; unknown keys are ignored. `arrival` (seconds) is when the line arrived, on another clock; of
//! one time the first counts. `rest` has the places of bones at rest, as `position`, within 10 km. Right-handed, Y up, metres. Rotations are those
//! of joints in their parents' spaces; `"space": "world"` says otherwise.

use super::number::{MAX_PLACE, check_time};
use crate::motion::fault::Fault;
use crate::motion::recording::{Event, LabelTrack, Note, Recording, ScalarTrack, Track};
use crate::motion::signal::Signal;
use crate::task::Task;
use glam::{DQuat, DVec3};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The longest line, bytes.
pub const MAX_LINE_BYTES: usize = 64 << 10;
/// The largest number of channels.
const MAX_CHANNELS: usize = 4096;
/// So many values may always be missing.
const MIN_VALUES: usize = 1 << 20;
/// How far the length of a quaternion may be off 1.
const QUATERNION_LENGTH: f64 = 1e-2;
/// Lines between two checks for cancellation.
const SPAN: usize = 1 << 12;

/// What a line says; `None` and `null` are missing values.
#[derive(Deserialize)]
pub(in crate::motion) struct JsonLine {
    pub(in crate::motion) t: f64,
    #[serde(default)]
    pub(in crate::motion) device: Option<String>,
    #[serde(default)]
    pub(in crate::motion) rotation: BTreeMap<String, Option<[f64; 4]>>,
    #[serde(default)]
    pub(in crate::motion) position: BTreeMap<String, Option<[f64; 3]>>,
    #[serde(default)]
    pub(in crate::motion) scalar: BTreeMap<String, Option<f64>>,
    #[serde(default)]
    pub(in crate::motion) label: BTreeMap<String, Option<String>>,
    #[serde(default)]
    pub(in crate::motion) event: Option<String>,
    #[serde(default)]
    space: Option<Space>,
    /// A number in what Sinew writes; elsewhere a key that is not known, of any type.
    #[serde(default)]
    arrival: Option<serde_json::Value>,
    /// Places by name in what Sinew writes; elsewhere a key that is not known, of any type.
    #[serde(default)]
    rest: Option<serde_json::Value>,
}

#[derive(Clone, Copy, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Space {
    Parent,
    World,
}

/// Values of channels with their times, in the order of the file.
type Samples<V> = BTreeMap<String, Vec<(f64, V)>>;

/// Reads a recording from the text of a file of JSON lines. Lines that are not valid are left out and noted; more than a
/// tenth of them are an error.
pub fn parse_json_lines(text: &str, task: &Task) -> Result<Recording, Fault> {
    parse(text, &FILE, task)
}

/// The same of what Sinew itself has written: a recording of live motion, which may have long lines and few values.
pub(crate) fn parse_kept_json_lines(text: &str, task: &Task) -> Result<Recording, Fault> {
    parse(text, &KEPT, task)
}

/// The bounds of a text.
struct Limits {
    /// Of a line, bytes.
    line_bytes: usize,
    /// So many values may always be missing.
    n_missing: usize,
}

/// Those of a file, which may be anything.
const FILE: Limits = Limits {
    line_bytes: MAX_LINE_BYTES,
    n_missing: MIN_VALUES,
};

/// Those of what Sinew keeps. The table of a recording of live motion has at most 2^30 bytes.
const KEPT: Limits = Limits {
    line_bytes: 1 << 20,
    n_missing: 1 << 28,
};

/// The most bytes of a table whose values are not in the text.
const MAX_TABLE_BYTES: usize = 1 << 30;

fn parse(text: &str, limits: &Limits, task: &Task) -> Result<Recording, Fault> {
    let mut recording = Recording::default();
    let (mut rotations, mut positions) = (Samples::new(), Samples::new());
    let (mut scalars, mut labels) = (Samples::new(), Samples::new());
    let mut times = Vec::new();
    let mut arrivals: Vec<(f64, f64)> = Vec::new();
    let mut bad: Option<(usize, String)> = None;
    let (mut n_lines, mut n_bad) = (0_usize, 0_usize);
    let mut back: Option<(usize, f64)> = None;
    let mut off_length: Option<(usize, String, f64)> = None;
    let mut off_rest: Option<(usize, String)> = None;
    for (i, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        n_lines += 1;
        if n_lines.is_multiple_of(SPAN) {
            task.step("Reading channels", 0.0)?;
        }
        let read = match JsonLine::read_within(line, limits.line_bytes) {
            Ok(read) => read,
            Err(why) => {
                n_bad += 1;
                bad.get_or_insert((i + 1, why));
                continue;
            }
        };
        if let Some(last) = times.last().filter(|last| read.t < **last) {
            back.get_or_insert((i + 1, last - read.t));
        }
        times.push(read.t);
        let is_world = read.is_world();
        arrivals.extend(read.arrival().map(|arrival| (read.t, arrival)));
        for (name, place) in read.rest() {
            match place {
                Some(place) => {
                    let known = recording.rest_places.entry(name.to_owned());
                    known.or_insert(place);
                }
                None if off_rest.is_none() => off_rest = Some((i + 1, name.to_owned())),
                None => {}
            }
        }
        if recording.device.is_none() {
            recording.device = read.device;
        }
        if let Some(name) = read.event {
            recording.events.push(Event::new(name, read.t));
        }
        for (name, q) in read.rotation {
            let q = DQuat::from_array(q.unwrap_or([0.0; 4]));
            let length = q.length();
            let is_unit = (length - 1.0).abs() <= QUATERNION_LENGTH;
            if !is_unit && length.is_finite() && length > 0.0 {
                off_length.get_or_insert_with(|| (i + 1, name.clone(), length));
            }
            let q = if is_unit {
                q * (1.0 / length)
            } else {
                DQuat::from_array([0.0; 4])
            };
            if is_world {
                recording.world_rotations.insert(name.clone());
            }
            rotations.entry(name).or_default().push((read.t, q));
        }
        for (name, p) in read.position {
            let p = p.map_or(DVec3::NAN, DVec3::from_array);
            positions.entry(name).or_default().push((read.t, p));
        }
        for (name, v) in read.scalar {
            scalars
                .entry(name)
                .or_default()
                .push((read.t, v.unwrap_or(f64::NAN)));
        }
        for (name, word) in read.label {
            labels.entry(name).or_default().push((read.t, word));
        }
        let n_channels = rotations.len() + positions.len() + scalars.len() + labels.len();
        if n_channels > MAX_CHANNELS {
            return Err(Fault::line(
                i + 1,
                format!("more than {MAX_CHANNELS} channels"),
            ));
        }
    }
    if let Some((line, why)) = bad {
        if n_bad * 10 > n_lines {
            let what = format!("{why}; {n_bad} of {n_lines} lines are not valid");
            return Err(Fault::line(line, what));
        }
        let others = match n_bad - 1 {
            0 => String::new(),
            n => format!(", and {n} more lines are not valid"),
        };
        recording.notes.push(Note::new(
            line,
            format!("The line is left out: {why}{others}."),
        ));
    }
    if times.is_empty() {
        return Err(Fault::whole("there are no lines with a time"));
    }
    if let Some((line, by)) = back {
        let text = format!("The time goes back by {by} s; the lines were sorted.");
        recording.notes.push(Note::new(line, text));
    }
    if let Some((line, name, length)) = off_length {
        let text = format!("The rotation \"{name}\" has the length {length}: missing.");
        recording.notes.push(Note::new(line, text));
    }
    if let Some((line, name)) = off_rest {
        let text = format!(
            "\"rest\": the place of \"{name}\" is not three numbers within 10 km: missing."
        );
        recording.notes.push(Note::new(line, text));
    }
    times.sort_by(f64::total_cmp);
    times.dedup();
    let n_channels = rotations.len() + positions.len() + scalars.len() + labels.len();
    let row = 32 * rotations.len() + 24 * positions.len() + 8 * (scalars.len() + labels.len());
    // A value in the text takes at least two letters.
    let most_bytes = MAX_TABLE_BYTES + text.len().saturating_mul(4);
    let is_sparse = times.len().saturating_mul(n_channels) > limits.n_missing + text.len();
    if is_sparse || times.len().saturating_mul(row) > most_bytes {
        let what = format!("almost all of the {n_channels} channels have no value at most times");
        return Err(Fault::whole(what));
    }
    let missing = DQuat::from_array([0.0; 4]);
    recording.rotations = tracks(&times, rotations, missing);
    recording.markers = tracks(&times, positions, DVec3::NAN);
    for track in tracks(&times, scalars, f64::NAN) {
        recording.scalars.push(ScalarTrack {
            name: track.name,
            unit: String::new(),
            values: track.values,
        });
    }
    recording.labels = labels
        .into_iter()
        .map(|(name, said)| label(&times, name, &said))
        .collect();
    if !arrivals.is_empty() {
        recording.arrivals = vec![f64::NAN; times.len()];
        // Of one time the first counts.
        for (time, arrival) in arrivals.into_iter().rev() {
            recording.arrivals[times.partition_point(|t| *t < time)] = arrival;
        }
    }
    recording.times = times;
    Ok(recording)
}

impl JsonLine {
    /// Reads a line; an error says why it is not valid.
    pub(in crate::motion) fn read(line: &str) -> Result<Self, String> {
        Self::read_within(line, MAX_LINE_BYTES)
    }

    fn read_within(line: &str, most_bytes: usize) -> Result<Self, String> {
        if line.len() > most_bytes {
            return Err(format!("it is longer than {} KiB", most_bytes >> 10));
        }
        // A list would be read as the fields in order.
        if !line.trim_start().starts_with('{') {
            return Err("it is not an object".into());
        }
        let read: Self = serde_json::from_str(line).map_err(|why| {
            // Its own place is always the first line.
            let text = why.to_string();
            text.split(" at line ")
                .next()
                .unwrap_or_default()
                .to_owned()
        })?;
        check_time(read.t)?;
        Ok(read)
    }

    /// When it arrived, seconds. What cannot be that is another program's key.
    fn arrival(&self) -> Option<f64> {
        let arrival = self.arrival.as_ref()?.as_f64()?;
        check_time(arrival).is_ok().then_some(arrival)
    }

    /// The places of bones at rest, metres; `None` where one is not three numbers within 10 km. A value of null is none, and `rest` that
    /// is no object is another program's key.
    pub(in crate::motion) fn rest(&self) -> impl Iterator<Item = (&str, Option<DVec3>)> {
        let all = self
            .rest
            .iter()
            .filter_map(|rest| rest.as_object())
            .flatten();
        let said = all.filter(|(_, place)| !place.is_null());
        said.map(|(name, place)| {
            let place = <[f64; 3]>::deserialize(place).ok().map(DVec3::from_array);
            // NaN is not within either.
            (
                &**name,
                place.filter(|place| place.abs().max_element() <= MAX_PLACE),
            )
        })
    }

    /// Whether its rotations are those of joints in the world.
    pub(in crate::motion) fn is_world(&self) -> bool {
        self.space == Some(Space::World)
    }
}

/// Channels over common times; of equal times the last value stays.
fn tracks<V: Signal>(times: &[f64], samples: Samples<V>, missing: V) -> Vec<Track<V>> {
    let of = |(name, samples): (String, Vec<(f64, V)>)| {
        let mut values = vec![missing; times.len()];
        for (time, value) in samples {
            if value.is_valid() {
                values[times.partition_point(|t| *t < time)] = value;
            }
        }
        Track { name, values }
    };
    samples.into_iter().map(of).collect()
}

fn label(times: &[f64], name: String, said: &[(f64, Option<String>)]) -> LabelTrack {
    let words: BTreeSet<&String> = said.iter().filter_map(|(_, word)| word.as_ref()).collect();
    let words: Vec<String> = words.into_iter().cloned().collect();
    let mut values = vec![None; times.len()];
    for (time, word) in said {
        let at = times.partition_point(|t| t < time);
        let index = word
            .as_ref()
            .and_then(|word| words.binary_search(word).ok());
        values[at] = index.map(|index| index as u32);
    }
    LabelTrack {
        name,
        words,
        values,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_several_devices_become_channels_over_common_times() {
        let text = r#"{"t": 0.1, "device": "imu", "rotation": {"arm": [0, 0, 0, 1]}, "later": {"key": 1}}
            {"t": 0.0, "scalar": {"emg": 41.5}, "label": {"phase": "flex"}, "event": "clap"}
            {"t": 0.1, "position": {"wrist": [1, 2, 3]}, "scalar": {"emg": null}}

            {"t": 0.2, "rotation": {"arm": [0, 0, 0, 1.05]}, "space": "world", "label": {"phase": "rest"}}
        "#;
        let found = parse_json_lines(text, &Task::new()).unwrap();
        assert_eq!(found.times, [0.0, 0.1, 0.2]);
        assert_eq!(found.device.as_deref(), Some("imu"));
        assert_eq!(
            (found.events[0].time, found.events[0].name.as_str()),
            (0.0, "clap")
        );
        assert_eq!(found.rotations[0].n_valid(), 1);
        assert_eq!(found.rotations[0].values[1], DQuat::IDENTITY);
        assert!(found.world_rotations.contains("arm"));
        assert_eq!(found.markers[0].values[1], DVec3::new(1.0, 2.0, 3.0));
        assert_eq!(found.scalars[0].values[0], 41.5);
        assert_eq!(found.label("phase", 0.15), Some("flex"));
        assert_eq!(found.label("phase", 0.25), Some("rest"));
        let notes: Vec<_> = found
            .notes
            .iter()
            .map(|n| (n.line, n.text.as_str()))
            .collect();
        assert_eq!(
            notes,
            [
                (2, "The time goes back by 0.1 s; the lines were sorted."),
                (5, "The rotation \"arm\" has the length 1.05: missing."),
            ]
        );
    }

    #[test]
    fn what_is_kept_may_be_sparse_and_its_lines_long() {
        // One value of one channel at each time.
        let line = |i: usize| format!("{{\"t\":{i},\"scalar\":{{\"s{}\":1}}}}\n", i % 200);
        let text: String = (0..8_000).map(line).collect();
        let why = parse_json_lines(&text, &Task::new()).unwrap_err();
        assert!(why.to_string().contains("almost all of the 200 channels"));
        let kept = parse_kept_json_lines(&text, &Task::new()).unwrap();
        assert_eq!((kept.times.len(), kept.scalars.len()), (8_000, 200));
        // 256 transforms with long names.
        let name = |i: usize| format!("{i:0>64}");
        let all: Vec<String> = (0..256)
            .map(|i| {
                format!(
                    "\"{}\":[0.1234567890123456,0.1234567890123456,0.1234567890123456,0.9768]",
                    name(i)
                )
            })
            .collect();
        let places: Vec<String> = (0..256)
            .map(|i| {
                format!(
                    "\"{}\":[0.1234567890123456,0.1234567890123456,0.1234567890123456]",
                    name(i)
                )
            })
            .collect();
        let text = format!(
            "{{\"t\":1,\"rotation\":{{{}}},\"position\":{{{}}}}}",
            all.join(","),
            places.join(",")
        );
        assert!(text.len() > MAX_LINE_BYTES);
        let kept = parse_kept_json_lines(&text, &Task::new()).unwrap();
        assert_eq!((kept.rotations.len(), kept.markers.len()), (256, 256));
        let why = parse_json_lines("{\"t\": 1e12}", &Task::new()).unwrap_err();
        assert!(why.to_string().contains("it may be in another unit"));
    }

    #[test]
    fn the_first_arrival_of_a_time_counts_and_what_is_none_is_left_out() {
        let read = |text: &str| parse_json_lines(text, &Task::new()).unwrap().arrivals;
        let text = r#"{"t": 0, "arrival": 0.25}
            {"t": 1, "arrival": 1.5}
            {"t": 1, "arrival": 1.25}"#;
        assert_eq!(read(text), [0.25, 1.5]);
        let text = r#"{"t": 0, "arrival": 1e300}
            {"t": 1, "arrival": 1790000000000}
            {"t": 2, "arrival": "gate 4"}"#;
        assert!(read(text).is_empty(), "milliseconds of a calendar");
    }

    #[test]
    fn bad_lines_are_left_out_up_to_a_tenth() {
        let good = "{\"t\": 1, \"scalar\": {\"a\": 1}}\n".repeat(19);
        let read = |text: &str| parse_json_lines(text, &Task::new());
        let found = read(&format!("{good}{{\"t\": \"x\"}}\n")).unwrap();
        assert_eq!(found.notes[0].line, 20);
        assert!(
            found.notes[0].text.contains("invalid type"),
            "{}",
            found.notes[0].text
        );
        let why = read("{\"t\": 1}\n{}\n").unwrap_err().to_string();
        assert_eq!(why, "line 2: missing field `t`; 1 of 2 lines are not valid");
        let long = format!(
            "{{\"t\": 1, \"device\": \"{}\"}}",
            "x".repeat(MAX_LINE_BYTES)
        );
        let why = read(&long).unwrap_err().to_string();
        assert!(why.contains("longer than 64 KiB"), "{why}");
        let why = read("\n").unwrap_err().to_string();
        assert_eq!(why, "there are no lines with a time");
        let why = read("[1]\n").unwrap_err().to_string();
        assert!(why.contains("it is not an object"), "{why}");
        let deep = format!("{{\"t\": 1, \"x\": {}", "[".repeat(60_000));
        assert!(read(&deep).is_err());
    }

    #[test]
    fn a_bad_place_at_rest_leaves_the_others() {
        let text = r#"{"t": 0, "rest": {"A": [0, 1, 0], "B": null, "C": [0, 1e300, 0], "D": [1, 2]}}
            {"t": 1, "rest": {"A": [5, 5, 5], "B": [0, 0.5, 0], "E": "far"}}
            {"t": 2, "rest": 8}
        "#;
        let found = parse_json_lines(text, &Task::new()).unwrap();
        let known = [("A", DVec3::Y), ("B", 0.5 * DVec3::Y)];
        let known = known.map(|(name, place)| (name.to_owned(), place));
        assert_eq!(found.rest_places, BTreeMap::from(known));
        let notes: Vec<_> = found.notes.iter().map(|n| (n.line, &*n.text)).collect();
        let why = "\"rest\": the place of \"C\" is not three numbers within 10 km: missing.";
        assert_eq!(notes, [(1, why)]);
    }
}
