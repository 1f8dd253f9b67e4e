//! Summaries of recordings, for lists that are drawn in every frame.

use super::channel_kind::ChannelKind;
use super::delay::DelayFigures;
use super::gaps::{MIN_GAP, is_gap, longest_step, median_step};
use super::recording::Recording;
use super::signal::Signal;
use super::timing::Steps;

/// The rate of a recording and how much of each channel it has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordingSummary {
    /// Samples a second, see [`Recording::sample_rate`].
    pub rate: Option<f64>,
    /// How late its samples arrived, where it was received live.
    pub delay: Option<DelayFigures>,
    /// How regular its samples are; `None` for fewer than two.
    pub steps: Option<Steps>,
    /// Its channels, in the order of the file's kinds.
    pub channels: Vec<ChannelSummary>,
    /// From when to when any of them has values without a gap, in its own seconds, ascending.
    pub stretches: Vec<[f64; 2]>,
    /// The parts of these between samples that are farther apart than usual: what is shown there is interpolated.
    pub interpolated: Vec<[f64; 2]>,
}

/// A channel of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelSummary {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: ChannelKind,
    /// The part of its samples that have a value, 0 - 1.
    pub coverage: f64,
    /// The longest gap between its values that is interpolated, seconds: 4 median steps, at least 0.1.
    pub max_gap: f64,
}

/// Samples that are farther apart than this many steps have interpolated values between them.
const APART_STEPS: f64 = 1.75;

impl RecordingSummary {
    /// Of a recording. Reads all its samples.
    pub fn new(of: &Recording) -> Self {
        let channel = |name: &str, kind: ChannelKind, has_value: &dyn Fn(usize) -> bool| {
            let times = of.times.iter().enumerate();
            let times = times.filter(|(i, _)| has_value(*i)).map(|(_, time)| *time);
            let times: Vec<f64> = times.collect();
            ChannelSummary {
                name: name.to_owned(),
                kind,
                coverage: times.len() as f64 / (of.times.len() as f64).max(1.0),
                max_gap: longest_step(median_step(&times)),
            }
        };
        let markers = of.markers.iter();
        let markers = markers.map(|track| {
            channel(&track.name, ChannelKind::Marker, &|i| {
                track.values[i].is_valid()
            })
        });
        let rotations = of.rotations.iter();
        let rotations = rotations.map(|track| {
            channel(&track.name, ChannelKind::Rotation, &|i| {
                track.values[i].is_valid()
            })
        });
        let scalars = of.scalars.iter();
        let scalars = scalars.map(|track| {
            channel(&track.name, ChannelKind::Scalar, &|i| {
                track.values[i].is_valid()
            })
        });
        let labels = of.labels.iter();
        let labels = labels.map(|track| {
            channel(&track.name, ChannelKind::Text, &|i| {
                track.values[i].is_some()
            })
        });
        let (stretches, interpolated) = stretches(of);
        Self {
            stretches,
            interpolated,
            rate: of.sample_rate(),
            delay: DelayFigures::of(of),
            steps: Steps::of(&of.times),
            channels: markers
                .chain(rotations)
                .chain(scalars)
                .chain(labels)
                .collect(),
        }
    }
}

/// The stretches without a gap of all channels together, and the parts of them that are interpolated.
fn stretches(of: &Recording) -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
    let has_value = |i: usize| {
        of.markers.iter().any(|track| track.values[i].is_valid())
            || of.rotations.iter().any(|track| track.values[i].is_valid())
            || of.scalars.iter().any(|track| track.values[i].is_valid())
            || of.labels.iter().any(|track| track.values[i].is_some())
    };
    let max_gap = of
        .sample_rate()
        .map_or(MIN_GAP, |rate| longest_step(1.0 / rate));
    let apart = of.sample_rate().map(|rate| APART_STEPS / rate);
    let mut found: Vec<[f64; 2]> = Vec::new();
    let mut between: Vec<[f64; 2]> = Vec::new();
    for (i, &time) in of.times.iter().enumerate() {
        if !has_value(i) {
            continue;
        }
        match found.last_mut() {
            Some([_, end]) if !is_gap(time - *end, max_gap) => {
                if apart.is_some_and(|apart| time - *end > apart) {
                    match between.last_mut() {
                        Some(last) if last[1] == *end => last[1] = time,
                        _ => between.push([*end, time]),
                    }
                }
                *end = time;
            }
            _ => found.push([time, time]),
        }
    }
    (found, between)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::{ScalarTrack, Track};
    use glam::DVec3;

    #[test]
    fn a_recording_is_summed_up() {
        let recording = Recording {
            times: vec![0.0, 0.1, 0.2, 0.4],
            markers: vec![Track {
                name: "wrist".into(),
                values: vec![DVec3::X, DVec3::NAN, DVec3::X, DVec3::X],
            }],
            scalars: vec![ScalarTrack {
                name: "emg".into(),
                unit: String::new(),
                values: vec![f64::NAN, 1.0, 2.0, f64::NAN],
            }],
            ..Recording::default()
        };
        let first = RecordingSummary::new(&recording);
        assert!(first.rate.is_some_and(|rate| (rate - 10.0).abs() < 1e-9));
        let parts: Vec<f64> = first
            .channels
            .iter()
            .map(|channel| channel.coverage)
            .collect();
        assert_eq!(parts, [0.75, 0.5]);
        let stated = Recording {
            rate: Some(60.0),
            ..recording
        };
        assert_eq!(RecordingSummary::new(&stated).rate, Some(60.0));
    }

    #[test]
    fn a_gap_of_all_channels_ends_a_stretch() {
        let mut times: Vec<f64> = (0..20).map(|i| f64::from(i) * 0.1).collect();
        // 0.4 s are no gap yet, 0.5 s are one.
        times.retain(|t| !(0.55..0.85).contains(t) && !(1.25..1.65).contains(t));
        let mut recording = Recording {
            markers: vec![Track {
                name: "wrist".into(),
                values: vec![DVec3::X; times.len()],
            }],
            times,
            ..Recording::default()
        };
        let of = |recording: &Recording| {
            let found = RecordingSummary::new(recording).stretches.into_iter();
            found
                .map(|s| s.map(|t| (t * 10.0).round()))
                .collect::<Vec<_>>()
        };
        assert_eq!(of(&recording), [[0.0, 12.0], [17.0, 19.0]]);
        let between = RecordingSummary::new(&recording).interpolated;
        let between: Vec<[f64; 2]> = between
            .iter()
            .map(|s| s.map(|t| (t * 10.0).round()))
            .collect();
        assert_eq!(
            between,
            [[5.0, 9.0]],
            "a step of 0.4 s among those of 0.1 s"
        );
        // A missing value at the end counts only where no other channel has one.
        *recording.markers[0].values.last_mut().unwrap() = DVec3::NAN;
        assert_eq!(of(&recording), [[0.0, 12.0], [17.0, 18.0]]);
        recording.scalars.push(ScalarTrack {
            name: "load".into(),
            unit: String::new(),
            values: vec![1.0; recording.times.len()],
        });
        assert_eq!(of(&recording), [[0.0, 12.0], [17.0, 19.0]]);
    }
}
