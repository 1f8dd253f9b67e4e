//! A recording: the channels of one file over common times.

use super::rotation_part::RotationPart;
use super::sampling::Sampling;
use super::series::{Channel, ChannelError};
use super::signal::Signal;
use crate::sentence::shortened;
use glam::{DQuat, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// Channels with one value for each time. A missing position or scalar is NaN, a missing rotation all zeros.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recording {
    /// Seconds, strictly ascending.
    pub times: Vec<f64>,
    /// Frames a second, where the file says so.
    pub rate: Option<f64>,
    /// The device, where the file names it.
    pub device: Option<String>,
    /// Markers: positions, metres.
    pub markers: Vec<Track<DVec3>>,
    /// Rotations of joints in their parents' spaces, unit.
    pub rotations: Vec<Track<DQuat>>,
    /// The rotations that are those of joints in the world instead.
    pub world_rotations: BTreeSet<String>,
    /// Scalars.
    pub scalars: Vec<ScalarTrack>,
    /// Words.
    pub labels: Vec<LabelTrack>,
    /// Marked moments.
    pub events: Vec<Event>,
    /// Where bones are in their parents at rest, by the names of their markers, metres: bones that stretch do so from there. One that is
    /// not named is at rest where it is first.
    pub rest_places: BTreeMap<String, DVec3>,
    /// When the values of each time arrived, seconds of the computer that received them since the first did: n_times, NaN where
    /// that is not known. Empty unless they were received live.
    pub arrivals: Vec<f64>,
    /// What was repaired or left out, in the order of the file.
    pub notes: Vec<Note>,
}

/// A channel of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Track<V> {
    /// Its name.
    pub name: String,
    /// n_times.
    pub values: Vec<V>,
}

/// A scalar of a recording. Angles are in radians, lengths in metres, times in seconds, whatever the file's unit.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarTrack {
    /// Its name.
    pub name: String,
    /// The unit in the file; empty for none.
    pub unit: String,
    /// n_times.
    pub values: Vec<f64>,
}

/// Words of a recording, each held until the next.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelTrack {
    /// Its name.
    pub name: String,
    /// The different words.
    pub words: Vec<String>,
    /// n_times: indices into `words`; `None` where nothing is said.
    pub values: Vec<Option<u32>>,
}

/// A marked moment.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// Seconds.
    pub time: f64,
    /// How wide the peak is that it was found as, seconds; 0 for a moment that was stated.
    pub width: f64,
}

impl Event {
    /// A moment that is stated.
    pub fn new(name: impl Into<String>, time: f64) -> Self {
        Self {
            name: name.into(),
            time,
            width: 0.0,
        }
    }
}

/// Something that was repaired or left out while reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The line of the file, from 1; 0 for the whole.
    pub line: usize,
    /// What and why, a sentence.
    pub text: String,
}

impl Note {
    /// One about a line, from 1; long names lose their middle.
    pub fn new(line: usize, text: impl Into<String>) -> Self {
        Self {
            line,
            text: shortened(&text.into()).into_owned(),
        }
    }

    /// As text with its line.
    pub fn placed(&self) -> String {
        match self.line {
            0 => self.text.clone(),
            line => format!("line {line}: {}", self.text),
        }
    }
}

impl Recording {
    /// The marker of this name as a channel, with the rotation of this name if there is one; `None` if there is no marker.
    pub fn marker(
        &self,
        name: &str,
        sampling: Sampling,
    ) -> Option<Result<Channel<DVec3>, ChannelError>> {
        let track = self.markers.iter().find(|track| track.name == name)?;
        let channel = Channel::new(&self.times, &track.values, sampling);
        let mut rotations = self.rotations.iter();
        Some(match rotations.find(|track| track.name == name) {
            Some(of_body) => channel.map(|channel| channel.on_body(&self.times, &of_body.values)),
            None => channel,
        })
    }

    /// The rotation of this name as a channel; `None` if there is none.
    pub fn rotation(
        &self,
        name: &str,
        sampling: Sampling,
    ) -> Option<Result<Channel<DQuat>, ChannelError>> {
        let track = self.rotations.iter().find(|track| track.name == name)?;
        Some(Channel::new(&self.times, &track.values, sampling))
    }

    /// The scalar of this name as a channel: one of the file, else a part of a rotation, as `knee.twist_x`
    /// ([`RotationPart`]); `None` if there is none.
    pub fn scalar(
        &self,
        name: &str,
        sampling: Sampling,
    ) -> Option<Result<Channel<f64>, ChannelError>> {
        if let Some(track) = self.scalars.iter().find(|track| track.name == name) {
            return Some(Channel::new(&self.times, &track.values, sampling));
        }
        let (rotation, part) = RotationPart::split(name)?;
        let mut rotations = self.rotations.iter();
        let track = rotations.find(|track| track.name == rotation)?;
        Some(Channel::new(
            &self.times,
            &part.values(&track.values),
            sampling,
        ))
    }

    /// The names of what can drive as a scalar: the scalars of the file and the parts of its rotations, in its order.
    pub fn driving_channels(&self) -> Vec<String> {
        let scalars = self.scalars.iter().map(|track| track.name.clone());
        let rotations = self.rotations.iter();
        let parts = rotations.flat_map(|track| {
            RotationPart::ALL.map(|part| format!("{}{}", track.name, part.suffix()))
        });
        scalars.chain(parts).collect()
    }

    /// Whether something of this name can drive as a scalar: a scalar of the file or a part of a rotation.
    pub fn drives(&self, name: &str) -> bool {
        let is_part = || {
            let (rotation, _) = RotationPart::split(name)?;
            self.rotations.iter().find(|track| track.name == rotation)
        };
        self.scalars.iter().any(|track| track.name == name) || is_part().is_some()
    }

    /// The unit in which a scalar is shown, and the number by which its values are divided for that: degrees for angles,
    /// else what the file has.
    pub fn shown_unit(&self, name: &str) -> (&str, f64) {
        let track = self.scalars.iter().find(|track| track.name == name);
        match track.map(|track| track.unit.as_str()) {
            Some("deg" | "\u{b0}" | "rad") => ("\u{b0}", std::f64::consts::PI / 180.0),
            Some("cm" | "mm") => ("m", 1.0),
            Some("ms" | "us" | "\u{b5}s") => ("s", 1.0),
            Some(unit) => (unit, 1.0),
            None if RotationPart::split(name).is_some() => ("\u{b0}", std::f64::consts::PI / 180.0),
            None => ("", 1.0),
        }
    }

    /// The word of this name at `time`: the last one said at or before it.
    pub fn label(&self, name: &str, time: f64) -> Option<&str> {
        let track = self.labels.iter().find(|track| track.name == name)?;
        let n = self.times.partition_point(|t| *t <= time);
        let word = track.values[..n].iter().rev().find_map(|word| *word)?;
        track.words.get(word as usize).map(String::as_str)
    }

    /// Samples a second: what the file says, else by the median step; `None` for fewer than two samples.
    pub fn sample_rate(&self) -> Option<f64> {
        if self.rate.is_some() {
            return self.rate;
        }
        let mut steps: Vec<f64> = self.times.windows(2).map(|w| w[1] - w[0]).collect();
        let middle = steps.len() / 2;
        if steps.is_empty() {
            return None;
        }
        let (_, median, _) = steps.select_nth_unstable_by(middle, f64::total_cmp);
        (*median > 0.0).then(|| 1.0 / *median)
    }

    /// The number of channels.
    pub fn n_channels(&self) -> usize {
        self.markers.len() + self.rotations.len() + self.scalars.len() + self.labels.len()
    }
}

impl<V: Signal> Track<V> {
    /// The number of times at which it has a value.
    pub fn n_valid(&self) -> usize {
        self.values.iter().filter(|v| v.is_valid()).count()
    }
}
