//! JSON lines as they arrive, checked before they are used.

use super::clock::is_other_clock;
use super::samples::LiveSamples;
use crate::motion::table::{JsonLine, MAX_LINE_BYTES, MAX_PLACE};
use crate::motion::vmc::BONES;
use glam::{DQuat, DVec3};
use serde::Serialize;
use std::collections::BTreeMap;

/// The maximum nesting depth of objects and arrays.
const MAX_DEPTH: usize = 16;
/// The longest name or word, bytes.
const MAX_NAME_BYTES: usize = 64;
/// Larger numbers are malformed.
const MAX_NUMBER: f64 = 1e12;
/// The largest deviation of the length of a quaternion from 1.
const ROTATION_LENGTH: f64 = 1e-2;
/// A device whose time jumps back by more than this starts again; a device whose times differ from ours by more has a clock of
/// its own, seconds.
const RESTART_SECS: f64 = 1.0;
/// The most devices whose clocks are known.
const MAX_DEVICES: usize = 16;

/// The counters of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JsonCounts {
    /// Lines.
    pub received: usize,
    /// Lines and values that are not valid.
    pub malformed: usize,
    /// The fault of the last malformed one, a sentence without its full stop.
    pub last_malformed: Option<String>,
}

/// The clock of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
struct DeviceClock {
    /// Its last time, and when that arrived, seconds.
    last: (f64, f64),
    /// Added to its times.
    offset: f64,
}

/// The state of all senders of JSON lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonSource {
    counts: JsonCounts,
    /// The channels.
    pub samples: LiveSamples,
    device: Option<String>,
    /// Where the lines since [`JsonSource::take_rest_places`] have bones of the body at rest, metres.
    rest_places: BTreeMap<String, DVec3>,
    /// By the name of the device; lines without one are of one device.
    clocks: BTreeMap<String, DeviceClock>,
    /// The newest time, and when it arrived, seconds.
    newest: Option<(f64, f64)>,
}

impl JsonSource {
    /// The counters of lines.
    pub fn counts(&self) -> &JsonCounts {
        &self.counts
    }

    /// The device that the sender names.
    pub fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    /// The newest time, seconds.
    pub fn newest(&self) -> Option<f64> {
        self.newest.map(|(time, _)| time)
    }

    /// Where lines have bones of the body in their parents at rest, metres, since this was asked last. Of one bone the last counts.
    pub fn take_rest_places(&mut self) -> BTreeMap<String, DVec3> {
        std::mem::take(&mut self.rest_places)
    }

    /// Adds a line without its end that arrived at a time, seconds. Returns its time on the clock of the first device; `None`
    /// for one that is malformed, which is counted and changes nothing. A single value that is malformed is left out.
    pub fn receive(&mut self, arrival: f64, line: &[u8]) -> Option<f64> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        self.counts.received += 1;
        match read(line) {
            Ok(line) => {
                let time = self.time(arrival, &line);
                let before = self.counts.malformed;
                self.take(time, line);
                self.samples.push_arrival(time, arrival);
                // A line is counted once, however many of its values are malformed.
                self.counts.malformed = self.counts.malformed.min(before + 1);
                if self.newest.is_none_or(|(newest, _)| time >= newest) {
                    self.newest = Some((time, arrival));
                }
                Some(time)
            }
            Err(why) => {
                self.malformed(why);
                None
            }
        }
    }

    fn malformed(&mut self, why: String) {
        self.counts.malformed += 1;
        self.counts.last_malformed = Some(why);
    }

    /// The time of a line on the clock of the first device. A device that starts again, and one whose clock is far from it, continue
    /// at the time of arrival.
    fn time(&mut self, arrival: f64, line: &JsonLine) -> f64 {
        let name = line.device.as_deref().unwrap_or_default();
        let now = self
            .newest
            .map(|(newest, arrived)| newest + (arrival - arrived).max(0.0));
        let known = self.clocks.get(name);
        let offset = match (known, now) {
            (Some(clock), _)
                if is_other_clock(line.t - clock.last.0, (arrival - clock.last.1).max(0.0)) =>
            {
                let passed = (arrival - clock.last.1).max(0.0);
                clock.offset + clock.last.0 - line.t + passed
            }
            (Some(clock), _) => clock.offset,
            (None, Some(now)) if (line.t - now).abs() > RESTART_SECS => now - line.t,
            (None, _) => 0.0,
        };
        if name.len() <= MAX_NAME_BYTES && (known.is_some() || self.clocks.len() < MAX_DEVICES) {
            let clock = DeviceClock {
                last: (line.t, arrival),
                offset,
            };
            self.clocks.insert(name.to_owned(), clock);
        }
        line.t + offset
    }

    fn take(&mut self, time: f64, line: JsonLine) {
        let is_world = line.is_world();
        for (name, place) in line.rest() {
            let is_bone = || BONES.iter().any(|bone| bone.name == name);
            match place {
                Some(place) if is_bone() => {
                    self.rest_places.insert(name.to_owned(), place);
                }
                // Other names mean nothing here.
                Some(_) => {}
                None => {
                    let name: String = name.chars().take(MAX_NAME_BYTES).collect();
                    self.malformed(format!(
                        "the place of \"{name}\" at rest is not three numbers within 10 km"
                    ));
                }
            }
        }
        if self.device.is_none() {
            self.device = line.device.filter(|name| name.len() <= MAX_NAME_BYTES);
        }
        if let Some(event) = line.event {
            match checked(&event) {
                Ok(()) => self.samples.push_event(event, time),
                Err(why) => self.malformed(why),
            }
        }
        for (name, q) in line.rotation {
            // A value of null is none.
            let Some(q) = q.map(DQuat::from_array) else {
                continue;
            };
            let length = q.length();
            // NaN is no length either.
            let is_unit = (length - 1.0).abs() <= ROTATION_LENGTH;
            match checked(&name) {
                Ok(()) if is_unit && is_world => {
                    self.samples
                        .push_world_rotation(&name, time, q * (1.0 / length));
                }
                Ok(()) if is_unit => self.samples.push_rotation(&name, time, q * (1.0 / length)),
                Ok(()) => {
                    self.malformed(format!("the rotation \"{name}\" has the length {length}"));
                }
                Err(why) => self.malformed(why),
            }
        }
        for (name, p) in line.position {
            let Some(p) = p.map(DVec3::from_array) else {
                continue;
            };
            match checked(&name) {
                Ok(()) if p.abs().max_element() <= MAX_PLACE => {
                    self.samples.push_position(&name, time, p);
                }
                Ok(()) => self.malformed(format!("the position \"{name}\" is not within 10 km")),
                Err(why) => self.malformed(why),
            }
        }
        for (name, v) in line.scalar {
            let Some(v) = v else {
                continue;
            };
            match checked(&name) {
                Ok(()) if v.abs() <= MAX_NUMBER => self.samples.push_scalar(&name, time, v),
                Ok(()) => self.malformed(format!("the number \"{name}\" is larger than 1e12")),
                Err(why) => self.malformed(why),
            }
        }
        for (name, word) in line.label {
            let Some(word) = word else {
                continue;
            };
            match checked(&name).and_then(|()| checked(&word)) {
                Ok(()) => self.samples.push_label(&name, time, word),
                Err(why) => self.malformed(why),
            }
        }
    }
}

/// An error for a name or a word that is too long.
fn checked(name: &str) -> Result<(), String> {
    if name.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    Err(format!(
        "a name or a word is longer than {MAX_NAME_BYTES} bytes"
    ))
}

/// Reads a line that is neither too long nor nested too deep.
fn read(line: &[u8]) -> Result<JsonLine, String> {
    if line.len() > MAX_LINE_BYTES {
        return Err(format!(
            "a line is longer than {} KiB",
            MAX_LINE_BYTES >> 10
        ));
    }
    let text = std::str::from_utf8(line).map_err(|_| "a line is not UTF-8 text".to_owned())?;
    if depth(text) > MAX_DEPTH {
        return Err(format!(
            "objects or lists are nested more than {MAX_DEPTH} deep"
        ));
    }
    JsonLine::read(text)
}

/// The nesting depth of objects and arrays, whether the text is valid or not.
fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let (mut is_string, mut is_escaped) = (false, false);
    for byte in text.bytes() {
        if is_string {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => is_string = true,
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_and_faults_are_named() {
        let mut source = JsonSource::default();
        let line = br#"{"t": 1.5, "device": "imu", "rotation": {"elbow": [0, 0, 0.6, 0.8]}, "scalar": {"emg": 4}, "label": {"phase": "flex"}, "later": [[1]]}"#;
        assert_eq!(source.receive(0.0, line), Some(1.5));
        assert_eq!(source.receive(0.0, b"  "), None);
        assert_eq!((source.device(), source.newest()), (Some("imu"), Some(1.5)));
        assert_eq!(source.samples.rotation("elbow").len(), 1);
        let world = br#"{"t": 1.6, "rotation": {"hip": [0, 0, 0, 1], "knee": null}, "space": "world", "position": {"wrist": [1, 2, 3]}, "event": "clap"}"#;
        assert_eq!(source.receive(0.1, world), Some(1.6));
        let names: Vec<_> = source.samples.rotation_names().collect();
        assert_eq!(names, [("elbow", false), ("hip", true)]);
        assert_eq!(source.counts().malformed, 0);
        let deep = format!("{{\"t\": 1, \"x\": {}1{}}}", "[".repeat(20), "]".repeat(20));
        let long = format!(
            "{{\"t\": 1, \"device\": \"{}\"}}",
            "x".repeat(MAX_LINE_BYTES)
        );
        let name = format!("{{\"t\": 1, \"scalar\": {{\"{}\": 1}}}}", "n".repeat(65));
        for (line, why) in [
            (deep.as_bytes(), "nested more than 16 deep"),
            (long.as_bytes(), "longer than 64 KiB"),
            (name.as_bytes(), "longer than 64 bytes"),
            (b"{\"t\": \xff}", "not UTF-8"),
            (b"{\"t\": \"x\"}", "invalid type"),
            (b"[1]", "it is not an object"),
            (b"{\"scalar\": {\"a\": 1}}", "missing field `t`"),
            (b"{\"t\": 1e300}", "more than 300 years"),
            (
                b"{\"t\": 1, \"rotation\": {\"a\": [0, 0, 0, 1.05]}}",
                "has the length 1.05",
            ),
            (
                b"{\"t\": 1, \"position\": {\"a\": [0, 20000, 0]}}",
                "within 10 km",
            ),
            (b"{\"t\": 1, \"scalar\": {\"a\": 1e13}}", "larger than 1e12"),
        ] {
            let before = source.counts().malformed;
            source.receive(0.0, line);
            let counts = source.counts();
            assert_eq!(counts.malformed, before + 1, "{why}");
            let said = counts.last_malformed.as_deref().unwrap();
            assert!(said.contains(why), "{said}");
        }
        let rest = br#"{"t": 2, "rest": {"LeftHand": [0.25, 0, 0], "Head": null, "tail": [0, 1, 0], "Neck": [1e300, 0, 0]}}"#;
        let before = source.counts().malformed;
        assert_eq!(source.receive(0.5, rest), Some(2.0));
        assert_eq!(source.counts().malformed, before + 1, "the neck");
        let rest = source.take_rest_places();
        assert_eq!(rest, [("LeftHand".to_owned(), 0.25 * DVec3::X)].into());
        assert!(source.take_rest_places().is_empty());
        let brackets = format!("{{\"t\": 2, \"device\": \"{}\"}}", "[\\\"".repeat(12));
        assert_eq!(
            source.receive(0.6, brackets.as_bytes()),
            Some(2.0),
            "text is no nesting"
        );
    }

    #[test]
    fn a_device_that_begins_anew_and_one_with_another_clock_go_on() {
        let mut source = JsonSource::default();
        let mut at = |arrival: f64, device: &str, t: f64| {
            let line =
                format!("{{\"t\": {t}, \"device\": \"{device}\", \"scalar\": {{\"a\": 1}}}}");
            source.receive(arrival, line.as_bytes()).unwrap()
        };
        assert_eq!(at(1.0, "imu", 500.0), 500.0);
        assert_eq!(at(1.5, "imu", 500.5), 500.5);
        // One that began a little earlier keeps its times.
        assert_eq!(at(1.5, "hand", 500.3), 500.3);
        // Another with a clock of its own.
        assert_eq!(at(2.0, "camera", 3.0), 501.0);
        assert_eq!(at(2.0, "imu", 501.0), 501.0);
        assert_eq!(at(2.25, "camera", 3.25), 501.25);
        // It begins anew after half a second.
        assert_eq!(at(2.75, "camera", 0.0), 501.75);
        assert_eq!(at(3.0, "camera", 0.25), 502.0);
        assert_eq!(source.newest(), Some(502.0));
        // However many devices are named, the memory is bounded.
        for i in 0..100 {
            let line = format!("{{\"t\": {i}, \"device\": \"d{i}\"}}");
            source.receive(3.0, line.as_bytes());
        }
        assert_eq!(source.clocks.len(), MAX_DEVICES);
    }
}
