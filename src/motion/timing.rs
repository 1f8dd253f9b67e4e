//! When the samples of a recording are: as they are stamped, or at the regular rate that the stamps scatter about.
//!
//! Reading makes stamps late and early, and the rate of a device hardly changes. Stamps are believed unless the artist says
//! otherwise, and then they may be off by at most half a step: farther off, a sample could be another one.

use super::gaps::{is_gap, longest_step, runs};
use super::recording::{Event, Recording};
use serde::{Deserialize, Serialize};

/// Samples that are farther apart than this many steps have lost ones between them.
const APART_STEPS: f64 = 1.5;
/// A sample may be this far from where the rate puts it, steps. With what rounding adds.
const MOST_OFF: f64 = 0.5 + 1e-9;

/// What the times of the samples of a recording are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timing {
    /// Those of the file.
    #[default]
    AsStamped,
    /// Those of a rate that does not change between gaps.
    Regular,
    /// Those of the number of frames per second that a BVH file has as its frame time.
    FramesPerSecond,
}

impl Timing {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 3] = [Self::AsStamped, Self::Regular, Self::FramesPerSecond];

    /// Its name in lists.
    pub fn label(self) -> &'static str {
        match self {
            Self::AsStamped => "As Recorded",
            Self::Regular => "Regular Rate",
            Self::FramesPerSecond => "Frames per Second",
        }
    }

    /// A sentence about it, for tooltips.
    pub fn about(self) -> &'static str {
        match self {
            Self::AsStamped => "Each sample is at the time that the file gives it.",
            Self::Regular => {
                "Between gaps, the samples are at a constant rate, fitted to their times. Refused where a sample is off by more than half a step."
            }
            Self::FramesPerSecond => {
                "The frame time of the BVH file is read as frames per second. Only for files with a frame time of more than a second."
            }
        }
    }
}

/// Why a recording cannot have other times.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TimingError {
    /// A sample is too far from where a regular rate puts it.
    #[error(
        "the rate is not regular: the sample at {time:.3} s is {:.3} ms away from a constant rate, more than half a step of {:.3} ms",
        .off * 1e3,
        .step * 1e3
    )]
    Irregular {
        /// The time of the sample, seconds.
        time: f64,
        /// How far it is off, seconds.
        off: f64,
        /// The step of the rate, seconds.
        step: f64,
    },
    /// There is no frame time that may be a number of frames per second.
    #[error(
        "its frame time cannot be frames per second: only a BVH file with a frame time of more than a second has one"
    )]
    NoFrameRate,
}

/// How regular the times of samples are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steps {
    /// The median of the steps, seconds.
    pub median: f64,
    /// The distance from it that 95 % of the steps keep, seconds.
    pub jitter: f64,
    /// The number of steps that are too long to be interpolated.
    pub n_gaps: usize,
}

impl Steps {
    /// Of times, seconds, ascending; `None` for fewer than two.
    pub fn of(times: &[f64]) -> Option<Self> {
        let mut steps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
        steps.sort_by(f64::total_cmp);
        let median = *steps.get(steps.len() / 2)?;
        let limit = longest_step(median);
        let n_gaps = steps.len() - steps.partition_point(|step| !is_gap(*step, limit));
        let mut off: Vec<f64> = steps.iter().map(|step| (step - median).abs()).collect();
        off.sort_by(f64::total_cmp);
        let jitter = off[off.len() * 95 / 100];
        Some(Self {
            median,
            jitter,
            n_gaps,
        })
    }
}

/// The times of samples at a regular rate: between gaps, the line that fits index and time best. Where single samples are lost, the index
/// counts them. n_times, ascending; as many come back.
pub fn regular_times(times: &[f64]) -> Result<Vec<f64>, TimingError> {
    let Some(steps) = Steps::of(times) else {
        return Ok(times.to_vec());
    };
    let mut regular = Vec::with_capacity(times.len());
    for run in runs(times, longest_step(steps.median)) {
        let run = &times[run];
        let fitted = match fitted(run, (0..run.len()).map(|index| index as f64)) {
            Ok(fitted) => fitted,
            Err(why) => fitted_with_lost(run, steps.median).map_err(|_| why)?,
        };
        regular.extend(fitted);
    }
    Ok(regular)
}

/// As [`fitted`], with indices that count lost samples.
fn fitted_with_lost(run: &[f64], median: f64) -> Result<Vec<f64>, TimingError> {
    let mut index = 0.0;
    let later = run.windows(2).map(|pair| {
        let steps = (pair[1] - pair[0]) / median;
        index += if steps > APART_STEPS {
            steps.round()
        } else {
            1.0
        };
        index
    });
    let indices: Vec<f64> = std::iter::once(0.0).chain(later).collect();
    fitted(run, indices.into_iter())
}

/// The line through (index, time) that fits best, at each index. Refused where a time is off by more than half a step.
fn fitted(
    run: &[f64],
    indices: impl Iterator<Item = f64> + Clone,
) -> Result<Vec<f64>, TimingError> {
    if run.len() < 3 {
        return Ok(run.to_vec());
    }
    let n = run.len() as f64;
    // Times of a calendar are large: what they have in common is left out.
    let first = run[0];
    let mean = run.iter().map(|time| time - first).sum::<f64>() / n;
    let middle = indices.clone().sum::<f64>() / n;
    let (mut product, mut square) = (0.0, 0.0);
    for (time, index) in run.iter().zip(indices.clone()) {
        product += (index - middle) * (time - first - mean);
        square += (index - middle).powi(2);
    }
    let step = product / square;
    let line: Vec<f64> = indices
        .map(|index| first + (mean + step * (index - middle)))
        .collect();
    let off = |i: usize| (line[i] - run[i]).abs();
    let worst = (0..run.len()).max_by(|a, b| off(*a).total_cmp(&off(*b)));
    match worst {
        Some(worst) if off(worst) > MOST_OFF * step => Err(TimingError::Irregular {
            time: run[worst],
            off: off(worst),
            step,
        }),
        _ => Ok(line),
    }
}

/// A moment among samples whose times change: between two samples it keeps its share of the step, beyond the ends it goes on at
/// the average rate. from, to: n_times, ascending.
pub fn moved_time(time: f64, from: &[f64], to: &[f64]) -> f64 {
    let ([first, .., last], [to_first, .., to_last]) = (from, to) else {
        return match (from, to) {
            ([from], [to]) => time - from + to,
            _ => time,
        };
    };
    let between =
        |a: f64, b: f64, to_a: f64, to_b: f64| to_a + (time - a) * ((to_b - to_a) / (b - a));
    let next = from.partition_point(|t| *t <= time);
    if next == 0 {
        return to_first - (first - time) * ((to_last - to_first) / (last - first));
    }
    let i = next - 1;
    if from[i] == time {
        return to[i];
    }
    if next == from.len() {
        return to_last + (time - last) * ((to_last - to_first) / (last - first));
    }
    between(from[i], from[next], to[i], to[next])
}

impl Recording {
    /// The same samples at other times; events keep their places among them. times: n_times, ascending.
    #[must_use]
    pub fn at_times(&self, times: Vec<f64>) -> Self {
        let event = |event: &Event| {
            let time = moved_time(event.time, &self.times, &times);
            Event::new(event.name.clone(), time)
        };
        let events = self.events.iter().map(event).collect();
        Self {
            times,
            events,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number in -1 - 1 that looks random.
    fn noise(i: usize) -> f64 {
        ((i as f64 * 12.9898).sin() * 43_758.545_3).fract()
    }

    /// 100 Hz from a time of day, off by up to 3 ms, with a gap of 0.7 s.
    fn stamped() -> (Vec<f64>, Vec<f64>) {
        let known = (0..1000).filter(|i| !(400..470).contains(i));
        let known: Vec<f64> = known.map(|i| 41_520.0 + 0.01 * f64::from(i)).collect();
        let stamped = known.iter().enumerate();
        let stamped = stamped.map(|(i, time)| time + 3e-3 * noise(i)).collect();
        (known, stamped)
    }

    #[test]
    fn a_regular_rate_is_found_between_gaps() {
        let (known, stamped) = stamped();
        let before = Steps::of(&stamped).unwrap();
        assert!(before.jitter > 2e-3 && before.n_gaps == 1, "{before:?}");
        let found = regular_times(&stamped).unwrap();
        let worst = |of: &[f64]| {
            let off = of.iter().zip(&known).map(|(a, b)| (a - b).abs());
            off.fold(0.0, f64::max)
        };
        assert!(worst(&stamped) > 2.5e-3);
        assert!(worst(&found) < 3e-4, "{}", worst(&found));
        let after = Steps::of(&found).unwrap();
        assert!((after.median - 0.01).abs() < 2e-5 && after.n_gaps == 1);
        assert!(after.jitter < 5e-5, "{after:?}");
        for run in runs(&found, 0.1) {
            let steps = found[run].windows(2).map(|w| w[1] - w[0]);
            let steps: Vec<f64> = steps.collect();
            assert!(steps.iter().all(|step| (step - steps[0]).abs() < 1e-10));
        }
        // A line is its own.
        let again = regular_times(&found).unwrap();
        let same = again.iter().zip(&found).all(|(a, b)| (a - b).abs() < 1e-9);
        assert!(same);
        assert_eq!(regular_times(&[1.0, 7.0]), Ok(vec![1.0, 7.0]));
        assert_eq!(regular_times(&[]), Ok(vec![]));
    }

    #[test]
    fn lost_samples_are_counted() {
        let known = (0..600).filter(|i| i % 97 != 50 && !(200..204).contains(i));
        let known: Vec<f64> = known.map(|i| 0.02 * f64::from(i)).collect();
        let late = known.iter().enumerate().map(|(i, t)| t + 3e-3 * noise(i));
        let found = regular_times(&late.collect::<Vec<_>>()).unwrap();
        for (found, known) in found.iter().zip(&known) {
            assert!((found - known).abs() < 6e-4, "{found} {known}");
        }
    }

    #[test]
    fn what_is_off_by_more_than_half_a_step_is_refused_with_its_place() {
        let mut times: Vec<f64> = (0..500).map(|i| 0.01 * f64::from(i)).collect();
        times[300] += 4e-3;
        assert!(regular_times(&times).is_ok());
        times[300] += 3e-3;
        let why = regular_times(&times).unwrap_err().to_string();
        assert!(
            why.contains("the sample at 3.007 s is 6.9") && why.contains("half a step of 10.0"),
            "{why}"
        );
        // A rate that changes is not regular.
        let faster = (0..500).map(|i| 0.01 * f64::from(i) + 5e-6 * f64::from(i).powi(2));
        assert!(regular_times(&faster.collect::<Vec<_>>()).is_err());
    }

    #[test]
    fn moments_keep_their_places_among_the_samples() {
        let (from, to) = ([1.0, 2.0, 4.0], [10.0, 30.0, 40.0]);
        for (time, known) in [
            (1.0, 10.0),
            (1.5, 20.0),
            (3.0, 35.0),
            (5.0, 50.0),
            (0.0, 0.0),
        ] {
            assert!(
                (moved_time(time, &from, &to) - known).abs() < 1e-12,
                "{time}"
            );
        }
        assert_eq!(moved_time(4.0, &from, &to), 40.0);
        assert_eq!(moved_time(3.0, &[1.0], &[2.0]), 4.0);
        assert_eq!(moved_time(3.0, &[], &[]), 3.0);
    }
}
