//! What a recording holds, in short, for lists that are drawn often.

use super::recording::Recording;
use super::signal::Signal;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The rate of a recording and how much of each channel it has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordingSummary {
    /// Samples a second, see [`Recording::sample_rate`].
    pub rate: Option<f64>,
    /// Its channels, in the order of the file's kinds.
    pub channels: Vec<ChannelSummary>,
}

/// A channel of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelSummary {
    /// Its name.
    pub name: String,
    /// "marker", "rotation", "scalar" or "text".
    pub kind: &'static str,
    /// The part of its samples that have a value, 0 - 1.
    pub coverage: f64,
}

/// Summaries of recordings, each made once while the recording is the same.
#[derive(Debug, Default)]
pub struct RecordingSummaries(BTreeMap<u32, (Arc<Recording>, Arc<RecordingSummary>)>);

impl RecordingSummaries {
    /// The summary of the recording of an id.
    pub fn of(&mut self, id: u32, recording: &Arc<Recording>) -> Arc<RecordingSummary> {
        let known = self.0.get(&id);
        if let Some((_, summary)) = known.filter(|known| Arc::ptr_eq(&known.0, recording)) {
            return summary.clone();
        }
        let summary = Arc::new(RecordingSummary::new(recording));
        self.0.insert(id, (recording.clone(), summary.clone()));
        summary
    }
}

impl RecordingSummary {
    /// Of a recording. Reads all its samples.
    pub fn new(of: &Recording) -> Self {
        let part = |valid: usize| valid as f64 / (of.times.len() as f64).max(1.0);
        let channel = |name: &str, kind: &'static str, valid: usize| ChannelSummary {
            name: name.to_owned(),
            kind,
            coverage: part(valid),
        };
        let markers = of.markers.iter();
        let markers = markers.map(|track| channel(&track.name, "marker", track.n_valid()));
        let rotations = of.rotations.iter();
        let rotations = rotations.map(|track| channel(&track.name, "rotation", track.n_valid()));
        let scalars = of.scalars.iter().map(|track| {
            let valid = track.values.iter().filter(|v| v.is_valid()).count();
            channel(&track.name, "scalar", valid)
        });
        let labels = of.labels.iter().map(|track| {
            let said = track.values.iter().filter(|v| v.is_some()).count();
            channel(&track.name, "text", said)
        });
        Self {
            rate: of.sample_rate(),
            channels: markers
                .chain(rotations)
                .chain(scalars)
                .chain(labels)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::{ScalarTrack, Track};
    use glam::DVec3;

    #[test]
    fn a_recording_is_summed_up_once() {
        let recording = Arc::new(Recording {
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
        });
        let mut summaries = RecordingSummaries::default();
        let first = summaries.of(3, &recording);
        assert!(first.rate.is_some_and(|rate| (rate - 10.0).abs() < 1e-9));
        let parts: Vec<f64> = first
            .channels
            .iter()
            .map(|channel| channel.coverage)
            .collect();
        assert_eq!(parts, [0.75, 0.5]);
        assert!(Arc::ptr_eq(&first, &summaries.of(3, &recording)));
        let stated = Arc::new(Recording {
            rate: Some(60.0),
            ..Recording::clone(&recording)
        });
        assert_eq!(summaries.of(3, &stated).rate, Some(60.0));
    }
}
