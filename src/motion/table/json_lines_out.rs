//! A recording written as JSON lines, which read back as they were.

use crate::motion::recording::Recording;
use crate::motion::signal::Signal;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// A line with more values than this is written as several of one time, so that it is not longer than a reader takes.
const MAX_VALUES: usize = 200;

/// A line with the values of one time.
#[derive(Serialize)]
struct Line<'a> {
    t: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    arrival: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    device: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    rest: BTreeMap<&'a str, [f64; 3]>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    rotation: BTreeMap<&'a str, [f64; 4]>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    position: BTreeMap<&'a str, [f64; 3]>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    scalar: BTreeMap<&'a str, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    label: BTreeMap<&'a str, &'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    space: Option<&'static str>,
}

impl Line<'_> {
    fn at(t: f64) -> Self {
        Self {
            t,
            arrival: None,
            device: None,
            rest: BTreeMap::new(),
            rotation: BTreeMap::new(),
            position: BTreeMap::new(),
            scalar: BTreeMap::new(),
            label: BTreeMap::new(),
            event: None,
            space: None,
        }
    }

    fn n_values(&self) -> usize {
        self.rotation.len() + self.position.len() + self.scalar.len() + self.label.len()
    }

    /// Writes a line that is full, and begins another one of its time.
    fn write_full(&mut self, out: &mut dyn Write) -> std::io::Result<()> {
        if self.n_values() < MAX_VALUES {
            return Ok(());
        }
        self.write(out)?;
        let space = self.space;
        *self = Self::at(self.t);
        self.space = space;
        Ok(())
    }

    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

/// Writes a recording as [`parse_json_lines`](super::parse_json_lines) reads it: a line for each time with its valid values,
/// one more for the rotations of the world, and one for each event. The device and the places at rest are in the first line,
/// what arrived live has its arrivals. Scalars have the units of [`Recording`].
pub fn write_json_lines(recording: &Recording, out: &mut dyn Write) -> std::io::Result<()> {
    for (i, &t) in recording.times.iter().enumerate() {
        let mut line = Line::at(t);
        let mut in_world = Line::at(t);
        in_world.space = Some("world");
        line.device = recording.device.as_deref().filter(|_| i == 0);
        if i == 0 {
            let rest = recording.rest_places.iter();
            let rest = rest.filter(|(_, place)| place.is_valid());
            line.rest
                .extend(rest.map(|(name, place)| (&**name, place.to_array())));
        }
        let arrival = recording.arrivals.get(i).copied();
        line.arrival = arrival.filter(|arrival| arrival.is_finite());
        for track in &recording.rotations {
            let is_world = recording.world_rotations.contains(&track.name);
            let of = if is_world { &mut in_world } else { &mut line };
            let q = track.values[i];
            if q.is_valid() {
                of.rotation.insert(&track.name, q.to_array());
                of.write_full(out)?;
            }
        }
        for track in &recording.markers {
            if track.values[i].is_valid() {
                let place = track.values[i].to_array();
                line.position.insert(&track.name, place);
                line.write_full(out)?;
            }
        }
        for track in &recording.scalars {
            if track.values[i].is_valid() {
                line.scalar.insert(&track.name, track.values[i]);
                line.write_full(out)?;
            }
        }
        for track in &recording.labels {
            let word = track.values[i].and_then(|word| track.words.get(word as usize));
            line.label.extend(word.map(|word| (&*track.name, &**word)));
            line.write_full(out)?;
        }
        line.write(out)?;
        if !in_world.rotation.is_empty() {
            in_world.write(out)?;
        }
    }
    for event in &recording.events {
        let mut line = Line::at(event.time);
        line.event = Some(&event.name);
        line.write(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::table::parse_json_lines;
    use crate::task::Task;

    #[test]
    fn what_is_written_reads_back() {
        let text = concat!(
            r#"{"t":0.25,"device":"imu","rest":{"wrist":[0.1,0.2,0.25]},"rotation":{"arm":[0.0,0.0,0.6,0.8]},"position":{"wrist":[0.1,0.2,0.3]}}"#,
            "\n",
            r#"{"t":0.5,"arrival":0.262,"scalar":{"emg":41.2},"label":{"phase":"flex"}}"#,
            "\n",
            r#"{"t":0.5,"rotation":{"hand":[1.0,0.0,0.0,0.0]},"space":"world"}"#,
            "\n",
            r#"{"t":0.5,"event":"clap"}"#,
            "\n",
        );
        let recording = parse_json_lines(text, &Task::new()).unwrap();
        let mut written = Vec::new();
        write_json_lines(&recording, &mut written).unwrap();
        let written = String::from_utf8(written).unwrap();
        assert_eq!(written, text);
        let rest = recording.rest_places["wrist"];
        assert_eq!(rest, glam::DVec3::new(0.1, 0.2, 0.25));
        assert!(recording.arrivals[0].is_nan() && recording.arrivals[1] == 0.262);
        let again = parse_json_lines(&written, &Task::new()).unwrap();
        let show = |recording: &Recording| format!("{recording:?}");
        assert_eq!(show(&again), show(&recording));
    }
}
