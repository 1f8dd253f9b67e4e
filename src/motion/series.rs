//! A signal sampled over time, with gaps.

use super::gaps::{longest_step, median_step, runs};
use super::sampling::{Ends, Interpolation, Sampling};
use crate::motion::fade::{Fade, Shown};
use crate::motion::signal::Signal;
use glam::DQuat;
use std::ops::Range;

/// Why samples make no channel.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ChannelError {
    /// A setting is out of its range.
    #[error("{0}")]
    Settings(String),
    /// Times and values differ in number.
    #[error("the channel has {times} times and {values} values")]
    Count {
        /// The number of times.
        times: usize,
        /// The number of values.
        values: usize,
    },
    /// A time is not after the one before it, or not finite.
    #[error("time {index} of the channel is {time}, which is not after the one before it")]
    Time {
        /// Its index.
        index: usize,
        /// The time, seconds.
        time: f64,
    },
}

/// A sampled signal, ready to be read at any time.
///
/// Samples that are not finite are missing. Runs are stretches without a gap longer than the limit; interpolation never
/// looks beyond a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel<V> {
    /// Of the valid samples, strictly ascending.
    times: Vec<f64>,
    values: Vec<V>,
    /// Of PCHIP; else empty.
    slopes: Vec<V>,
    /// Of ScLERP, one a sample, not valid where there is none; else empty.
    rotations: Vec<DQuat>,
    /// Ranges of samples, in order; never empty ones.
    runs: Vec<Range<usize>>,
    sampling: Sampling,
    max_gap: f64,
    median_step: f64,
}

impl<V: Signal> Channel<V> {
    /// Of samples (times strictly ascending, seconds).
    pub fn new(times: &[f64], values: &[V], sampling: Sampling) -> Result<Self, ChannelError> {
        sampling.check().map_err(ChannelError::Settings)?;
        if times.len() != values.len() {
            return Err(ChannelError::Count {
                times: times.len(),
                values: values.len(),
            });
        }
        let is_late = |&i: &usize| !times[i].is_finite() || (i > 0 && times[i] <= times[i - 1]);
        if let Some(index) = (0..times.len()).find(is_late) {
            let time = times[index];
            return Err(ChannelError::Time { index, time });
        }
        let valid = times.iter().zip(values).filter(|(_, v)| v.is_valid());
        let (times, values): (Vec<f64>, Vec<V>) = valid.map(|(t, v)| (*t, *v)).unzip();
        let median_step = median_step(&times);
        let max_gap = sampling
            .max_gap
            .unwrap_or_else(|| longest_step(median_step));
        let runs = runs(&times, max_gap);
        let mut slopes = Vec::new();
        if sampling.interpolation == Interpolation::Pchip {
            for run in &runs {
                slopes.extend(V::slopes(&times[run.clone()], &values[run.clone()]));
            }
        }
        Ok(Self {
            times,
            values,
            slopes,
            rotations: Vec::new(),
            runs,
            sampling,
            max_gap,
            median_step,
        })
    }

    /// The same channel of a rigid body with these rotations (n_times, at `times`, ascending), along whose screw motions
    /// [`Interpolation::Sclerp`] moves it.
    #[must_use]
    pub fn on_body(mut self, times: &[f64], rotations: &[DQuat]) -> Self {
        if self.sampling.interpolation == Interpolation::Sclerp {
            let none = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
            let at = |time: &f64| {
                let found = times.binary_search_by(|t| t.total_cmp(time)).ok();
                found
                    .and_then(|i| rotations.get(i))
                    .copied()
                    .unwrap_or(none)
            };
            self.rotations = self.times.iter().map(at).collect();
        }
        self
    }

    /// The times of the valid samples, seconds.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// The valid samples.
    pub fn values(&self) -> &[V] {
        &self.values
    }

    /// The longest gap that is interpolated, seconds.
    pub fn max_gap(&self) -> f64 {
        self.max_gap
    }

    /// The median of the steps between valid samples, seconds; 0 for fewer than two.
    pub fn median_step(&self) -> f64 {
        self.median_step
    }

    /// The stretches without a value between the first and the last sample: start and end, seconds.
    pub fn gaps(&self) -> impl Iterator<Item = [f64; 2]> {
        let pairs = self.runs.windows(2);
        pairs.map(|pair| [self.times[pair[0].end - 1], self.times[pair[1].start]])
    }

    /// The value at `time`, seconds; `None` in a gap, or beyond the ends where they are invalid.
    pub fn at(&self, time: f64) -> Option<V> {
        let (time, run) = self.find(time)?;
        let run = run.ok()?;
        Some(self.inside(&self.runs[run], time))
    }

    /// What to show at `time`: the value, or in a gap the last one, held and faded to rest, and eased in after the gap.
    ///
    /// It depends on the time alone, so that scrubbing shows what playing shows.
    pub fn shown(&self, time: f64, fade: &Fade) -> Shown<V> {
        self.shown_as(time, fade, |value| value)
    }

    /// As [`Channel::shown`], of what `map` makes of the values: that is held, faded and eased.
    pub fn shown_as<U: Signal>(&self, time: f64, fade: &Fade, map: impl Fn(V) -> U) -> Shown<U> {
        let none = Shown {
            value: U::REST,
            valid: false,
        };
        let Some((time, run)) = self.find(time) else {
            return none;
        };
        match run {
            Ok(run) => Shown {
                value: self.eased(run, time, fade, &map),
                valid: true,
            },
            Err(0) => none,
            Err(next) => {
                let end = self.times[self.runs[next - 1].end - 1];
                Shown {
                    value: U::mix(
                        U::REST,
                        self.eased(next - 1, end, fade, &map),
                        fade.left(time - end),
                    ),
                    valid: false,
                }
            }
        }
    }

    /// The time within the samples, and the run that holds it, or as an error the run that follows on it. `None` where
    /// there is nothing to show.
    fn find(&self, time: f64) -> Option<(f64, Result<usize, usize>)> {
        let (&first, &last) = (self.times.first()?, self.times.last()?);
        if time.is_nan() {
            return None;
        }
        let time = match self.sampling.ends {
            Ends::Loop if last > first && !(first..=last).contains(&time) => {
                let into = (time - first).rem_euclid(last - first);
                if into.is_nan() {
                    return None;
                }
                first + into
            }
            Ends::Hold | Ends::Loop => time.clamp(first, last),
            Ends::Invalid => time,
        };
        let next = self
            .runs
            .partition_point(|run| self.times[run.start] <= time);
        let holds = next > 0 && time <= self.times[self.runs[next - 1].end - 1];
        Some((time, if holds { Ok(next - 1) } else { Err(next) }))
    }

    /// The value at a time within a run.
    fn inside(&self, run: &Range<usize>, time: f64) -> V {
        let times = &self.times[run.clone()];
        let after = run.start + times.partition_point(|t| *t <= time);
        let i = after - 1;
        if after == run.end || self.times[i] == time {
            return self.values[i];
        }
        let width = self.times[after] - self.times[i];
        let t = (time - self.times[i]) / width;
        match self.sampling.interpolation {
            Interpolation::Hold => self.values[i],
            Interpolation::Pchip if !self.slopes.is_empty() => V::hermite(
                t,
                width,
                [self.values[i], self.values[after]],
                [self.slopes[i], self.slopes[after]],
            ),
            Interpolation::Sclerp if !self.rotations.is_empty() => V::along_screw(
                [self.values[i], self.values[after]],
                [self.rotations[i], self.rotations[after]],
                t,
            ),
            Interpolation::Linear | Interpolation::Pchip | Interpolation::Sclerp => {
                V::mix(self.values[i], self.values[after], t)
            }
        }
    }

    /// The value at a time within a run, eased in from what the gap before it left.
    fn eased<U: Signal>(&self, run: usize, time: f64, fade: &Fade, map: &impl Fn(V) -> U) -> U {
        // A run shorter than the easing leaves less than its value to the next gap, and so on: begin where nothing of an
        // earlier gap is left.
        let mut first = run;
        while first > 0 {
            let of = &self.runs[first];
            let end = if first == run {
                time
            } else {
                self.times[of.end - 1]
            };
            if end - self.times[of.start] >= fade.ease {
                break;
            }
            first -= 1;
        }
        let mut left = U::REST;
        for k in first..=run {
            let of = &self.runs[k];
            let at = if k == run {
                time
            } else {
                self.times[of.end - 1]
            };
            let value = map(self.inside(of, at));
            let eased = fade.returned(at - self.times[of.start]);
            let shown = if k == 0 || eased >= 1.0 {
                value
            } else {
                U::mix(left, value, eased)
            };
            if k == run {
                return shown;
            }
            let gap = self.times[self.runs[k + 1].start] - at;
            left = U::mix(U::REST, shown, fade.left(gap));
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    fn sampling(interpolation: Interpolation, ends: Ends) -> Sampling {
        Sampling {
            interpolation,
            ends,
            max_gap: None,
        }
    }

    #[test]
    fn samples_come_back_and_pieces_lie_between_them() {
        let (times, values) = ([0.0, 0.1, 0.3, 0.4], [1.0, 2.0, 2.0, -1.0]);
        for interpolation in Interpolation::ALL {
            let made = sampling(interpolation, Ends::Hold);
            let channel = Channel::new(&times, &values, made).unwrap();
            for (t, v) in times.iter().zip(values) {
                assert_eq!(channel.at(*t), Some(v), "{interpolation:?}");
            }
            assert_eq!([channel.at(-9.0), channel.at(9.0)], [Some(1.0), Some(-1.0)]);
            assert_eq!(channel.at(0.2), Some(2.0), "flat: {interpolation:?}");
            assert_eq!(channel.at(f64::NAN), None);
            let middle = channel.at(0.05).unwrap();
            match interpolation {
                Interpolation::Hold => assert_eq!(middle, 1.0),
                Interpolation::Linear | Interpolation::Sclerp => {
                    assert!((middle - 1.5).abs() < 1e-15);
                }
                Interpolation::Pchip => assert!(middle > 1.5 && middle < 2.0, "{middle}"),
            }
        }
    }

    #[test]
    fn a_rigid_body_moves_along_its_screw() {
        // Two turns a second about an axis through (3, 0, 1), while it rises by 0.4 m/s: sampled at 10 Hz.
        let (centre, axis) = (DVec3::new(3.0, 0.0, 1.0), DVec3::Y);
        let body = |t: f64| {
            let rotation = DQuat::from_axis_angle(axis, 4.0 * std::f64::consts::PI * t);
            let place = centre + rotation * DVec3::new(0.5, 0.2, 0.0) + axis * (0.4 * t);
            (rotation * DQuat::from_rotation_x(0.7), place)
        };
        let times: Vec<f64> = (0..=20).map(|i| 0.1 * f64::from(i)).collect();
        let places: Vec<DVec3> = times.iter().map(|t| body(*t).1).collect();
        // The signs of quaternions mean nothing.
        let sign = |i: usize| if i % 3 == 1 { -1.0 } else { 1.0 };
        let rotations = times.iter().enumerate();
        let mut rotations: Vec<DQuat> = rotations.map(|(i, t)| body(*t).0 * sign(i)).collect();
        let of = |kind, rotations: &[DQuat]| {
            let channel = Channel::new(&times, &places, sampling(kind, Ends::Hold)).unwrap();
            channel.on_body(&times, rotations)
        };
        let (screw, line) = (
            of(Interpolation::Sclerp, &rotations),
            of(Interpolation::Linear, &rotations),
        );
        let mut off = [0.0_f64; 2];
        for i in 0..=200 {
            let t = 0.01 * f64::from(i);
            for (off, channel) in off.iter_mut().zip([&screw, &line]) {
                *off = off.max(channel.at(t).unwrap().distance(body(t).1));
            }
        }
        // The line is off by the height of the arc: 0.5 m (1 - cos 36 degrees).
        assert!(off[0] < 1e-12, "{off:?}");
        assert!((off[1] - 0.0955).abs() < 1e-3, "{off:?}");
        // A rotation that is missing leaves the line.
        rotations[3] = DQuat::from_xyzw(f64::NAN, 0.0, 0.0, 0.0);
        let gap = of(Interpolation::Sclerp, &rotations);
        assert_eq!(gap.at(0.25), line.at(0.25));
        assert_eq!(gap.at(0.15), screw.at(0.15));
    }

    #[test]
    fn loops_start_again_and_invalid_ends_have_no_value() {
        let (times, values) = ([1.0, 1.1, 1.2], [0.0, 1.0, 4.0]);
        let of =
            |ends| Channel::new(&times, &values, sampling(Interpolation::Linear, ends)).unwrap();
        let looped = of(Ends::Loop);
        for turns in [-3.0, 1.0, 7.0] {
            let found = looped.at(1.15 + 0.2 * turns).unwrap();
            assert!((found - 2.5).abs() < 1e-12, "{turns}: {found}");
        }
        assert_eq!(looped.at(1.2), Some(4.0));
        assert_eq!(looped.at(f64::INFINITY), None);
        let bounded = of(Ends::Invalid);
        assert_eq!([bounded.at(0.9), bounded.at(1.3)], [None, None]);
        assert_eq!(bounded.at(1.2), Some(4.0));
        let one = Channel::new(&[2.0], &[5.0], sampling(Interpolation::Linear, Ends::Loop));
        assert_eq!(one.unwrap().at(77.0), Some(5.0));
    }

    #[test]
    fn missing_samples_are_bridged_up_to_the_limit() {
        let times: Vec<f64> = (0..40).map(|i| 0.05 * f64::from(i)).collect();
        let mut values = vec![DVec3::X; 40];
        values[10] = DVec3::NAN;
        values[20..26].fill(DVec3::new(0.0, f64::NAN, 0.0));
        let channel = Channel::new(&times, &values, Sampling::default()).unwrap();
        assert!((channel.median_step() - 0.05).abs() < 1e-12);
        assert!((channel.max_gap() - 0.2).abs() < 1e-12, "4 median steps");
        assert_eq!(channel.at(0.5), Some(DVec3::X));
        assert_eq!(channel.at(1.1), None);
        let gaps: Vec<_> = channel.gaps().collect();
        assert_eq!(gaps, [[times[19], times[26]]]);
        assert_eq!(channel.times().len(), 33);
        let none = Channel::new(&times, &[DVec3::NAN; 40], Sampling::default()).unwrap();
        assert_eq!(none.at(1.0), None);
        assert_eq!(none.shown(1.0, &Fade::default()).value, DVec3::ZERO);
    }

    #[test]
    fn a_gap_holds_fades_and_returns_without_a_jump() {
        let times: Vec<f64> = (0..101).map(|i| 0.04 * f64::from(i)).collect();
        let lost = |t: f64| (1.0..2.5).contains(&t) || (2.52..2.7).contains(&t);
        let values: Vec<f64> = times
            .iter()
            .map(|t| if lost(*t) { f64::NAN } else { 3.0 })
            .collect();
        let max_gap = Some(0.1);
        let with = Sampling {
            max_gap,
            ..Sampling::default()
        };
        let channel = Channel::new(&times, &values, with).unwrap();
        let fade = Fade::default();
        assert_eq!(channel.shown(0.5, &fade).value, 3.0);
        let held = channel.shown(1.1, &fade);
        assert_eq!((held.value, held.valid), (3.0, false));
        assert_eq!(channel.shown(2.3, &fade).value, 0.0);
        // A lone sample at 2.52 and the return at 2.72: no step is a jump.
        let mut last = 3.0;
        for i in 0..4000 {
            let now = channel.shown(f64::from(i) * 0.001, &fade).value;
            let step: f64 = now - last;
            assert!(step.abs() < 0.08, "at {i} ms: {last} -> {now}");
            last = now;
        }
        assert_eq!(last, 3.0);
    }

    #[test]
    fn rotations_take_the_shorter_arc_under_every_interpolation() {
        let turn = |angle: f64| DQuat::from_rotation_x(angle);
        let values = [turn(0.0), -turn(0.2)];
        for interpolation in [Interpolation::Linear, Interpolation::Pchip] {
            let made = sampling(interpolation, Ends::Hold);
            let channel = Channel::new(&[0.0, 0.1], &values, made).unwrap();
            let found = channel.at(0.05).unwrap();
            assert!((found.dot(turn(0.1)).abs() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn times_that_do_not_ascend_are_refused() {
        let why = |times: &[f64], n: usize| {
            let values = vec![0.0; n];
            let made = Channel::new(times, &values, Sampling::default());
            made.unwrap_err().to_string()
        };
        assert_eq!(why(&[0.0], 2), "the channel has 1 times and 2 values");
        assert_eq!(
            why(&[0.0, 1.0, 1.0], 3),
            "time 2 of the channel is 1, which is not after the one before it"
        );
        assert!(why(&[f64::NAN], 1).starts_with("time 0 of the channel is NaN"));
        let negative = Sampling {
            max_gap: Some(-1.0),
            ..Sampling::default()
        };
        let made = Channel::new(&[0.0], &[0.0], negative);
        assert_eq!(
            made.unwrap_err().to_string(),
            "the longest gap that is interpolated is -1, which is not 0 - 1000000"
        );
    }
}
