//! Samples of channels in order of arrival.

use super::arrivals::Arrivals;
use crate::motion::channel_kind::ChannelKind;
use crate::motion::gaps::{MIN_GAP, longest_step};
use crate::motion::recording::{Event, LabelTrack, Recording, ScalarTrack, Track};
use crate::motion::signal::Signal;
use crate::motion::vmc::{is_body_bone, is_body_channel};
use glam::{DQuat, DVec3};
use std::collections::{BTreeMap, BTreeSet};

/// The largest number of channels of a source.
const MAX_CHANNELS: usize = 256;
/// The number of samples of a channel that are kept at most while older ones are forgotten.
const MAX_KEPT: usize = 10_000;
/// The largest number of marked moments.
const MAX_EVENTS: usize = 4096;

/// The newest samples of a channel that give its step.
const GAP_SAMPLES: usize = 9;
/// The fewest steps that have a median.
const MIN_STEPS: usize = 3;

/// Values of one kind by channel, each with the sender's time, in order of arrival.
type Channels<V> = BTreeMap<String, Vec<(f64, V)>>;

/// The samples of one sender.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LiveSamples {
    rotations: Channels<DQuat>,
    positions: Channels<DVec3>,
    scalars: Channels<f64>,
    labels: Channels<String>,
    /// The rotations that are those of joints in the world.
    world: BTreeSet<String>,
    events: Vec<Event>,
    arrivals: Arrivals,
    /// The bytes of the words.
    word_bytes: usize,
    /// The time of the newest sample, and how often that was another since samples were last handed over or forgotten.
    stamps: (Option<f64>, usize),
    /// Whether a channel was refused because there are too many.
    has_too_many: bool,
}

impl LiveSamples {
    /// Adds the rotation of a joint in its parent, unit.
    pub fn push_rotation(&mut self, name: &str, time: f64, value: DQuat) {
        self.stamp(time);
        let is_full = self.is_full();
        self.has_too_many |= !push(&mut self.rotations, name, is_full, time, value);
    }

    /// Adds the rotation of a joint in the world, unit.
    pub fn push_world_rotation(&mut self, name: &str, time: f64, value: DQuat) {
        self.push_rotation(name, time, value);
        if self.rotations.contains_key(name) && !self.world.contains(name) {
            self.world.insert(name.to_owned());
        }
    }

    /// Adds a position, metres.
    pub fn push_position(&mut self, name: &str, time: f64, value: DVec3) {
        self.stamp(time);
        let is_full = self.is_full();
        self.has_too_many |= !push(&mut self.positions, name, is_full, time, value);
    }

    /// Adds a number.
    pub fn push_scalar(&mut self, name: &str, time: f64, value: f64) {
        self.stamp(time);
        let is_full = self.is_full();
        self.has_too_many |= !push(&mut self.scalars, name, is_full, time, value);
    }

    /// Adds a word.
    pub fn push_label(&mut self, name: &str, time: f64, value: String) {
        self.stamp(time);
        let is_full = self.is_full();
        let last = self.labels.get(name).and_then(|said| said.last());
        let replaced = last.filter(|last| last.0 == time);
        let replaced = replaced.map_or(0, |(_, word)| word.len());
        let n_bytes = value.len();
        let has_room = push(&mut self.labels, name, is_full, time, value);
        if has_room {
            self.word_bytes = (self.word_bytes + n_bytes).saturating_sub(replaced);
        }
        self.has_too_many |= !has_room;
    }

    fn stamp(&mut self, time: f64) {
        if self.stamps.0 != Some(time) {
            self.stamps = (Some(time), self.stamps.1 + 1);
        }
    }

    /// Says when the samples of a time arrived, seconds. Of one time the first arrival counts.
    pub fn push_arrival(&mut self, time: f64, arrival: f64) {
        self.arrivals.push(time, arrival);
    }

    /// Adds a marked moment.
    pub fn push_event(&mut self, name: String, time: f64) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(Event::new(name, time));
        }
    }

    /// Whether the largest number of channels is reached. A rotation and a position of one name count as one.
    fn is_full(&self) -> bool {
        let transforms = self.rotations.len().max(self.positions.len());
        transforms + self.scalars.len() + self.labels.len() >= MAX_CHANNELS
    }

    /// The number of channels, as [`Self::channels`] lists them.
    pub fn n_channels(&self) -> usize {
        let transforms = self.rotations.len() + self.positions.len();
        transforms + self.scalars.len() + self.labels.len()
    }

    /// Whether a channel was refused because there are too many.
    pub fn has_too_many(&self) -> bool {
        self.has_too_many
    }

    /// The names of the rotations, with whether they are those of the world.
    pub fn rotation_names(&self) -> impl Iterator<Item = (&str, bool)> {
        let names = self.rotations.keys();
        names.map(|name| (name.as_str(), self.world.contains(name)))
    }

    /// The names of the numbers.
    pub fn scalar_names(&self) -> impl Iterator<Item = &str> {
        self.scalars.keys().map(String::as_str)
    }

    /// The samples of a number.
    pub fn scalar(&self, name: &str) -> &[(f64, f64)] {
        self.scalars.get(name).map_or(&[], Vec::as_slice)
    }

    /// The newest position of a name.
    pub fn newest_position(&self, name: &str) -> Option<DVec3> {
        Some(self.positions.get(name)?.last()?.1)
    }

    /// The samples of a rotation.
    pub fn rotation(&self, name: &str) -> &[(f64, DQuat)] {
        self.rotations.get(name).map_or(&[], Vec::as_slice)
    }

    /// The samples of a position.
    pub fn position(&self, name: &str) -> &[(f64, DVec3)] {
        self.positions.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a channel of this name has arrived.
    pub(super) fn has_channel(&self, name: &str) -> bool {
        self.rotations.contains_key(name)
            || self.positions.contains_key(name)
            || self.scalars.contains_key(name)
            || self.labels.contains_key(name)
    }

    /// The earliest time of any sample, seconds; 0 without one.
    pub(super) fn first_time(&self) -> f64 {
        let rotations = self.rotations.values().flatten().map(|s| s.0);
        let positions = self.positions.values().flatten().map(|s| s.0);
        let scalars = self.scalars.values().flatten().map(|s| s.0);
        let labels = self.labels.values().flatten().map(|s| s.0);
        let all = rotations.chain(positions).chain(scalars).chain(labels);
        all.min_by(f64::total_cmp).unwrap_or(0.0)
    }

    /// Of some channels the samples from which their values at a time, and their longest gaps, follow.
    pub(super) fn newest_of(&self, names: &BTreeSet<String>, time: f64) -> Self {
        fn of<V: Clone>(
            channels: &Channels<V>,
            names: &BTreeSet<String>,
            time: f64,
        ) -> Channels<V> {
            let chosen = channels.iter().filter(|(name, _)| names.contains(*name));
            chosen
                .map(|(name, samples)| {
                    let since = time - 2.0 * max_gap(samples);
                    let newest = samples.iter().rev().enumerate();
                    let newest = newest.take_while(|(i, s)| *i < GAP_SAMPLES || s.0 >= since);
                    // One before it, of which the value at that time is made.
                    let n = (newest.count() + 1).min(samples.len());
                    (name.clone(), samples[samples.len() - n..].to_vec())
                })
                .collect()
        }
        Self {
            rotations: of(&self.rotations, names, time),
            positions: of(&self.positions, names, time),
            scalars: of(&self.scalars, names, time),
            labels: of(&self.labels, names, time),
            world: self.world.clone(),
            ..Self::default()
        }
    }

    /// The channels that have arrived, each with its kind, in the order in which a recording of them has them.
    pub fn channels(&self) -> Vec<(&str, ChannelKind)> {
        let positions = self
            .positions
            .keys()
            .map(|name| (name, ChannelKind::Marker));
        let rotations = self
            .rotations
            .keys()
            .map(|name| (name, ChannelKind::Rotation));
        let scalars = self.scalars.keys().map(|name| (name, ChannelKind::Scalar));
        let labels = self.labels.keys().map(|name| (name, ChannelKind::Text));
        let all = positions.chain(rotations).chain(scalars).chain(labels);
        all.map(|(name, kind)| (name.as_str(), kind)).collect()
    }

    /// Whether a rotation of a humanoid bone has arrived.
    pub fn has_body(&self) -> bool {
        self.rotation_names()
            .any(|(name, is_world)| is_body_bone(name, is_world))
    }

    /// Whether a channel is that of a humanoid bone, or of what carries it.
    pub fn is_of_body(&self, channel: (&str, ChannelKind)) -> bool {
        let (name, _) = channel;
        let has_rotation = || self.rotations.contains_key(name);
        is_body_channel(channel, has_rotation, self.world.contains(name))
    }

    /// Drops the samples before a time. Channels stay.
    pub fn forget_before(&mut self, time: f64) {
        forget(&mut self.rotations, time);
        forget(&mut self.positions, time);
        forget(&mut self.scalars, time);
        forget(&mut self.labels, time);
        forget_samples(&mut self.arrivals.of_times, time);
        self.events.retain(|event| event.time >= time);
        self.count_anew();
    }

    /// Counts the words and the times that are kept.
    fn count_anew(&mut self) {
        let words = self.labels.values().flatten();
        self.word_bytes = words.map(|(_, word)| word.len()).sum();
        // The channel with most samples has nearly all of the times.
        let n = |of: Option<usize>| of.unwrap_or(0);
        let n_times = n(self.rotations.values().map(Vec::len).max())
            .max(n(self.positions.values().map(Vec::len).max()))
            .max(n(self.scalars.values().map(Vec::len).max()))
            .max(n(self.labels.values().map(Vec::len).max()));
        self.stamps.1 = n_times;
    }

    /// Returns all samples, and keeps those since a time with all channels.
    #[must_use]
    pub fn hand_over(&mut self, from: f64) -> Self {
        fn since<V: Clone>(channels: &Channels<V>, from: f64) -> Channels<V> {
            let recent = |samples: &Vec<(f64, V)>| {
                let recent = samples.iter().filter(|sample| sample.0 >= from);
                recent.cloned().collect()
            };
            channels
                .iter()
                .map(|(name, of)| (name.clone(), recent(of)))
                .collect()
        }
        let next = Self {
            rotations: since(&self.rotations, from),
            positions: since(&self.positions, from),
            scalars: since(&self.scalars, from),
            labels: since(&self.labels, from),
            world: self.world.clone(),
            events: Vec::new(),
            arrivals: self.arrivals.since(from),
            word_bytes: 0,
            stamps: self.stamps,
            has_too_many: self.has_too_many,
        };
        let all = std::mem::replace(self, next);
        self.count_anew();
        all
    }

    /// The memory of the samples, bytes.
    pub fn heap_bytes(&self) -> usize {
        fn of<V>(channels: &Channels<V>) -> usize {
            let n: usize = channels.values().map(Vec::len).sum();
            n * size_of::<(f64, V)>()
        }
        of(&self.rotations)
            + of(&self.positions)
            + of(&self.scalars)
            + of(&self.labels)
            + self.arrivals.heap_bytes()
            + self.word_bytes
    }

    /// At most the memory of these samples as a recording, bytes: a table with a value of every channel at each time of any.
    pub fn recording_bytes(&self) -> usize {
        let arrival = usize::from(!self.arrivals.of_times.is_empty());
        let row = (1 + arrival) * size_of::<f64>()
            + self.rotations.len() * size_of::<DQuat>()
            + self.positions.len() * size_of::<DVec3>()
            + self.scalars.len() * size_of::<f64>()
            + self.labels.len() * size_of::<Option<u32>>();
        self.stamps
            .1
            .saturating_mul(row)
            .saturating_add(self.word_bytes)
    }

    /// The longest step between two samples of any channel that is interpolated, seconds.
    pub fn longest_gap(&self) -> f64 {
        let rotations = self.rotations.values().map(|of| max_gap(of));
        let positions = self.positions.values().map(|of| max_gap(of));
        let scalars = self.scalars.values().map(|of| max_gap(of));
        let all = rotations.chain(positions).chain(scalars);
        all.fold(MIN_GAP, f64::max)
    }

    /// Changes every sample of a rotation.
    pub fn turn(&mut self, name: &str, turn: impl Fn(DQuat) -> DQuat) {
        for (_, value) in self.rotations.get_mut(name).into_iter().flatten() {
            *value = turn(*value);
        }
    }

    /// Changes every sample of a position.
    pub fn place(&mut self, name: &str, place: impl Fn(DVec3) -> DVec3) {
        for (_, value) in self.positions.get_mut(name).into_iter().flatten() {
            *value = place(*value);
        }
    }

    /// The channels since a time of the sender, as a recording that begins at 0. Of samples at one time the last stays.
    pub fn recording(&self, since: f64) -> Recording {
        let mut times: Vec<f64> = Vec::new();
        let mut add = |time: f64| {
            if time >= since {
                times.push(time);
            }
        };
        self.rotations.values().flatten().for_each(|s| add(s.0));
        self.positions.values().flatten().for_each(|s| add(s.0));
        self.scalars.values().flatten().for_each(|s| add(s.0));
        self.labels.values().flatten().for_each(|s| add(s.0));
        times.sort_by(f64::total_cmp);
        times.dedup();
        let first = times.first().copied().unwrap_or(0.0);
        let times: Vec<f64> = times.into_iter().map(|t| t - first).collect();
        let missing = DQuat::from_array([0.0; 4]);
        let mut recording = Recording {
            rotations: tracks(&times, first, &self.rotations, missing),
            markers: tracks(&times, first, &self.positions, DVec3::NAN),
            world_rotations: self.world.clone(),
            ..Recording::default()
        };
        for track in tracks(&times, first, &self.scalars, f64::NAN) {
            recording.scalars.push(ScalarTrack {
                name: track.name,
                unit: String::new(),
                values: track.values,
            });
        }
        for (name, said) in &self.labels {
            let words: BTreeSet<&String> = said.iter().map(|(_, word)| word).collect();
            let words: Vec<String> = words.into_iter().cloned().collect();
            let index = |word: &String| words.binary_search(word).ok().map(|i| i as u32);
            let indices: Vec<(f64, Option<u32>)> =
                said.iter().map(|(t, w)| (*t, index(w))).collect();
            recording.labels.push(LabelTrack {
                name: name.clone(),
                values: spread(&times, first, &indices, None),
                words,
            });
        }
        let events = self.events.iter().filter(|event| event.time >= since);
        let events = events.map(|event| Event::new(event.name.clone(), event.time - first));
        recording.events = events.collect();
        recording.arrivals = self.arrivals.at(&times, first);
        recording.times = times;
        recording
    }
}

/// The longest step between samples of a channel, in any order, that is interpolated, seconds: four median steps of its newest
/// samples, and at least 0.1 s.
pub(super) fn max_gap<V>(samples: &[(f64, V)]) -> f64 {
    let newest = &samples[samples.len().saturating_sub(GAP_SAMPLES)..];
    let mut times = [0.0; GAP_SAMPLES];
    let times = &mut times[..newest.len()];
    for (time, sample) in times.iter_mut().zip(newest) {
        *time = sample.0;
    }
    times.sort_by(f64::total_cmp);
    let mut steps = [0.0; GAP_SAMPLES];
    let mut n = 0;
    for pair in times.windows(2) {
        if pair[1] > pair[0] {
            steps[n] = pair[1] - pair[0];
            n += 1;
        }
    }
    // Of fewer, a gap would be as good as a step.
    if n < MIN_STEPS {
        return MIN_GAP;
    }
    steps[..n].sort_by(f64::total_cmp);
    longest_step(steps[n / 2])
}

/// Adds a sample. Returns whether there is room for its channel.
fn push<V>(channels: &mut Channels<V>, name: &str, is_full: bool, time: f64, value: V) -> bool {
    if let Some(samples) = channels.get_mut(name) {
        match samples.last_mut() {
            // Of one time the last counts: a sender whose time stands still takes no memory.
            Some(last) if last.0 == time => *last = (time, value),
            _ => samples.push((time, value)),
        }
        return true;
    }
    if !is_full {
        channels.insert(name.to_owned(), vec![(time, value)]);
    }
    !is_full
}

fn forget<V>(channels: &mut Channels<V>, time: f64) {
    for samples in channels.values_mut() {
        forget_samples(samples, time);
    }
}

fn forget_samples<V>(samples: &mut Vec<(f64, V)>, time: f64) {
    // In one piece, and seldom: most samples are in order.
    let old = samples.iter().take_while(|sample| sample.0 < time).count();
    if old > samples.len() / 2 {
        samples.drain(..old);
    }
    // Times that go to and fro are never old.
    if samples.len() > 2 * MAX_KEPT {
        samples.drain(..samples.len() - MAX_KEPT);
    }
}

fn tracks<V: Signal>(times: &[f64], first: f64, of: &Channels<V>, missing: V) -> Vec<Track<V>> {
    let track = |(name, samples): (&String, &Vec<(f64, V)>)| Track {
        name: name.clone(),
        values: spread(times, first, samples, missing),
    };
    of.iter().map(track).collect()
}

/// The values at common times, `missing` where there is none; of equal times the last.
fn spread<V: Copy>(times: &[f64], first: f64, samples: &[(f64, V)], missing: V) -> Vec<V> {
    let mut values = vec![missing; times.len()];
    for (time, value) in samples.iter().filter(|sample| sample.0 >= first) {
        let time = time - first;
        let at = times.partition_point(|t| *t < time);
        if at < values.len() {
            values[at] = *value;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_become_a_recording_from_a_time_on_and_are_forgotten() {
        let mut samples = LiveSamples::default();
        for i in 0..10 {
            let time = 100.0 + 0.1 * f64::from(i);
            samples.push_rotation("Hips", time, DQuat::IDENTITY);
            if i % 2 == 0 {
                samples.push_scalar("emg", time, f64::from(i));
            }
        }
        samples.push_world_rotation("sensor", 100.9, DQuat::IDENTITY);
        samples.push_label("phase", 100.5, "flex".into());
        samples.push_event("clap".into(), 100.7);
        let found = samples.recording(100.45);
        assert_eq!(found.times.len(), 5);
        assert_eq!(found.times[0], 0.0);
        assert_eq!(found.rotations[0].n_valid(), 5);
        assert_eq!(
            found.scalars[0]
                .values
                .iter()
                .filter(|v| v.is_finite())
                .count(),
            2
        );
        assert_eq!(found.label("phase", 1.0), Some("flex"));
        assert!(found.world_rotations.contains("sensor"));
        assert!((found.events[0].time - 0.2).abs() < 1e-9);
        samples.forget_before(100.85);
        assert_eq!(samples.rotation("Hips").len(), 1);
        assert!(samples.recording(0.0).times.len() < 4);
    }

    #[test]
    fn a_time_that_stands_still_takes_no_memory() {
        let mut samples = LiveSamples::default();
        for i in 0..1_000_000 {
            samples.push_position("wrist", 5.0, DVec3::splat(f64::from(i)));
            if i == 10 {
                samples.push_scalar("emg", 5.0, 1.0);
            }
        }
        assert_eq!(samples.heap_bytes(), size_of::<(f64, DVec3)>() + 16);
        assert_eq!(
            samples.newest_position("wrist"),
            Some(DVec3::splat(999_999.0))
        );
        // To and fro by less than a restart.
        for i in 0..100_000 {
            samples.push_scalar("emg", 5.0 + 0.5 * f64::from(i % 2), 1.0);
            samples.forget_before(2.5);
        }
        assert!(samples.heap_bytes() < 1_000_000, "{}", samples.heap_bytes());
    }

    #[test]
    fn the_bound_of_a_recording_is_that_of_its_table() {
        let mut samples = LiveSamples::default();
        // One channel a time: the table is far larger than the samples.
        for i in 0..10_000_u32 {
            let name = format!("s{}", i % 200);
            samples.push_scalar(&name, f64::from(i) * 1e-3, 1.0);
        }
        let table = samples.recording(f64::NEG_INFINITY);
        let n_values = table.times.len() * (1 + table.scalars.len());
        assert_eq!(samples.recording_bytes(), 8 * n_values);
        assert!(samples.recording_bytes() > 50 * samples.heap_bytes());
        // Frames of many channels take hardly more than their samples.
        let mut frames = LiveSamples::default();
        for i in 0..20_000_u32 {
            frames.push_scalar(&format!("s{}", i % 200), f64::from(i / 200), 1.0);
        }
        assert!(frames.recording_bytes() < frames.heap_bytes());
        let _ = samples.hand_over(9.0);
        assert!(samples.recording_bytes() < 200 * 201 * 8, "counted anew");
    }

    #[test]
    fn the_gap_of_a_channel_is_four_of_its_own_steps() {
        let at = |step: f64, n: u32| -> Vec<(f64, ())> {
            (0..n).map(|i| (step * f64::from(i), ())).collect()
        };
        assert_eq!(max_gap::<()>(&[]), MIN_GAP);
        assert_eq!(max_gap(&at(0.2, 3)), MIN_GAP, "too few");
        assert!((max_gap(&at(0.2, 20)) - 0.8).abs() < 1e-9);
        assert_eq!(max_gap(&at(0.01, 20)), MIN_GAP);
        // Steps change, samples come late, and a gap is no step.
        let mut mixed = at(0.01, 50);
        mixed.extend((1..10_u32).map(|i| (9.0 + 0.1 * f64::from(i), ())));
        mixed.swap(55, 56);
        assert!((max_gap(&mixed) - 0.4).abs() < 1e-9);
    }

    #[test]
    fn channels_are_bounded() {
        let mut samples = LiveSamples::default();
        for i in 0..400 {
            samples.push_scalar(&format!("s{i}"), 1.0, 1.0);
            samples.push_position("wrist", 1.0, DVec3::ONE);
        }
        assert_eq!(samples.n_channels(), MAX_CHANNELS);
        assert!(samples.has_too_many());
        assert_eq!(samples.newest_position("wrist"), Some(DVec3::ONE));
    }
}
