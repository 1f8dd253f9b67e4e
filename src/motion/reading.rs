//! The value of a channel at one time, without reading its other samples.

use super::gaps::is_gap;
use super::recording::Recording;
use super::signal::Signal;
use super::statistics::{angle, per_si};
use glam::DQuat;
use std::borrow::Cow;

/// What a channel says at a time.
#[derive(Clone, Debug, PartialEq)]
pub enum Reading<'a> {
    /// Numbers, three of a marker, and their unit as people read them; see [`super::statistics::numbers`].
    Numbers(Vec<f64>, Cow<'a, str>),
    /// A word, held until the next one.
    Word(&'a str),
}

impl Recording {
    /// The value of a channel, by its place in [`super::RecordingSummary::channels`], at a time of the device, seconds: linear
    /// between samples; `None` beyond them, in gaps longer than `max_gap` seconds, and without such a channel. Of a rotation it
    /// is the angle from no rotation. Its cost does not grow with the number of samples.
    pub fn reading(&self, channel: usize, time: f64, max_gap: f64) -> Option<Reading<'_>> {
        let times = &self.times;
        let numbers = |values, unit: &'static str| Reading::Numbers(values, Cow::Borrowed(unit));
        let mut at = channel;
        if let Some(track) = self.markers.get(at) {
            let place = linear(times, &track.values, time, max_gap, |place| *place)?;
            return Some(numbers(place.to_array().to_vec(), "m"));
        }
        at -= self.markers.len();
        if let Some(track) = self.rotations.get(at) {
            let of = |q: &DQuat| angle(DQuat::IDENTITY, *q);
            let degrees = linear(times, &track.values, time, max_gap, of)?;
            return Some(numbers(vec![degrees], "deg"));
        }
        at -= self.rotations.len();
        if let Some(track) = self.scalars.get(at) {
            let value = linear(times, &track.values, time, max_gap, |value| *value)?;
            let shown = vec![value * per_si(&track.unit)];
            return Some(Reading::Numbers(shown, Cow::Borrowed(&track.unit)));
        }
        let track = self.labels.get(at - self.scalars.len())?;
        self.label(&track.name, time).map(Reading::Word)
    }
}

/// What `of` makes of the samples, linear between the two around a time.
fn linear<V: Signal, U: Signal>(
    times: &[f64],
    values: &[V],
    time: f64,
    max_gap: f64,
    of: impl Fn(&V) -> U,
) -> Option<U> {
    let next = times.partition_point(|t| *t <= time);
    let mut near = (0..next)
        .rev()
        .take_while(|i| !is_gap(time - times[*i], max_gap));
    let before = near.find(|i| values[*i].is_valid())?;
    let own = of(&values[before]);
    if times[before] == time {
        return Some(own);
    }
    let mut later = (next..times.len()).take_while(|i| !is_gap(times[*i] - times[before], max_gap));
    let after = later.find(|i| values[*i].is_valid())?;
    let part = (time - times[before]) / (times[after] - times[before]);
    Some(U::mix(own, of(&values[after]), part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::align::ClockMap;
    use crate::motion::statistics::numbers;
    use crate::motion::{LabelTrack, RecordingSummary, ScalarTrack, Track};
    use glam::DVec3;

    #[test]
    fn a_reading_is_what_the_statistics_read() {
        // 50 Hz with a gap of 0.5 s, and single missing samples.
        let times: Vec<f64> = (0..200)
            .map(|i| f64::from(i) * 0.02)
            .filter(|t| !(1.0..1.5).contains(t))
            .collect();
        let n = times.len();
        let mut recording = Recording {
            markers: vec![Track {
                name: "wrist".into(),
                values: times.iter().map(|t| DVec3::new(*t, t.sin(), 1.0)).collect(),
            }],
            rotations: vec![Track {
                name: "arm".into(),
                values: times
                    .iter()
                    .map(|t| DQuat::from_rotation_x(t.cos()))
                    .collect(),
            }],
            scalars: vec![ScalarTrack {
                name: "knee".into(),
                unit: "deg".into(),
                values: times.iter().map(|t| 0.3 * t).collect(),
            }],
            labels: vec![LabelTrack {
                name: "phase".into(),
                words: vec!["flex".into()],
                values: (0..n).map(|i| (i == 20).then_some(0)).collect(),
            }],
            times,
            ..Recording::default()
        };
        recording.markers[0].values[70] = DVec3::NAN;
        for i in 100..120 {
            recording.scalars[0].values[i] = f64::NAN;
        }
        let summary = RecordingSummary::new(&recording);
        let all = numbers(&recording, ClockMap::SAME, |_| true, |_| DQuat::IDENTITY).unwrap();
        let mut n_read = 0;
        for k in -20..900 {
            let time = f64::from(k) * 0.005;
            let mut found = Vec::new();
            for (i, channel) in summary.channels.iter().enumerate().take(3) {
                let parts = if i == 0 { 3 } else { 1 };
                match recording.reading(i, time, channel.max_gap) {
                    Some(Reading::Numbers(values, _)) => found.extend(values.into_iter().map(Some)),
                    None => found.extend(vec![None; parts]),
                    Some(Reading::Word(word)) => panic!("{word}"),
                }
            }
            for (known, found) in all.iter().map(|of| of.channel.at(time)).zip(found) {
                assert_eq!(known.is_some(), found.is_some(), "{time}");
                if let Some((known, found)) = known.zip(found) {
                    assert!((known - found).abs() < 1e-12, "{time}: {known} {found}");
                    n_read += 1;
                }
            }
        }
        assert!(n_read > 3000, "{n_read}");
        let phase = |time| recording.reading(3, time, 0.1);
        assert_eq!(phase(0.3), None);
        assert_eq!(phase(3.0), Some(Reading::Word("flex")));
        assert_eq!(recording.reading(4, 1.0, 0.1), None);
    }
}
