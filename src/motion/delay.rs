//! How late the samples of a recording arrived.

use super::percentile::percentile;
use super::recording::Recording;
use serde::Serialize;
use std::collections::VecDeque;

/// The smallest delay of this time before a sample is that of a packet that came at once, seconds.
const WINDOW: f64 = 2.0;
/// The clock of arrivals may be faster or slower than that of the samples by this share of the time that passes.
const OTHER_RATE: f64 = 0.2;
/// And samples may arrive this much later than others, seconds.
const LATE: f64 = 1.0;

/// How late samples arrived, beyond the quickest of the two seconds before each, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DelayFigures {
    /// The median.
    pub median_secs: f64,
    /// The 95th percentile.
    pub p95_secs: f64,
}

impl DelayFigures {
    /// Of a recording that holds when its samples arrived; `None` for others, and where a far longer or shorter time passed on the
    /// clock of the arrivals: it is in another unit. The clocks of the device and of the computer differ by an unknown time: delays
    /// are told beyond the smallest one.
    pub fn of(recording: &Recording) -> Option<Self> {
        let samples = recording.times.iter().zip(&recording.arrivals);
        let samples = samples.filter(|(_, arrival)| arrival.is_finite());
        let mut samples: Vec<(f64, f64)> = samples.map(|(t, a)| (*a, a - t)).collect();
        if samples.is_empty() {
            return None;
        }
        let span = samples.iter().map(|(arrival, delay)| arrival - delay);
        let span = extent(span);
        let off = (extent(samples.iter().map(|of| of.0)) - span).abs();
        if off > OTHER_RATE * span + LATE {
            return None;
        }
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Those that may still be the smallest of the window, ascending.
        let mut smallest: VecDeque<(f64, f64)> = VecDeque::new();
        let mut delays = Vec::with_capacity(samples.len());
        for (arrival, delay) in samples {
            while smallest.back().is_some_and(|(_, last)| *last >= delay) {
                smallest.pop_back();
            }
            smallest.push_back((arrival, delay));
            while smallest
                .front()
                .is_some_and(|(at, _)| *at < arrival - WINDOW)
            {
                smallest.pop_front();
            }
            delays.push(delay - smallest[0].1);
        }
        Some(Self {
            median_secs: percentile(delays.clone(), 0.5),
            p95_secs: percentile(delays, 0.95),
        })
    }

    /// As the end of a line.
    pub fn text(&self) -> String {
        format!(
            "delay: median {:.0} ms, 95 % below {:.0} ms",
            self.median_secs * 1e3,
            self.p95_secs * 1e3
        )
    }
}

/// The greatest less the smallest of some values.
fn extent(values: impl Iterator<Item = f64>) -> f64 {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(none, |(low, high), of| (of.min(low), of.max(high)));
    high - low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_those_beyond_the_quickest_sample_whatever_the_clocks() {
        // The clock of the device is off by 100 s, and 200 ppm fast; one sample in ten is 40 ms late, one in forty 90 ms.
        let n = 60_000;
        let times: Vec<f64> = (0..n).map(|i| f64::from(i) / 60.0).collect();
        let late = |i: i32| match i % 40 {
            3 | 13 | 23 | 33 => 0.04,
            7 => 0.09,
            i => 0.001 * f64::from(i % 3),
        };
        let arrivals = times.iter().zip(0..);
        let arrivals = arrivals
            .map(|(t, i)| 100.0 + t * 0.9998 + late(i))
            .collect();
        let mut recording = Recording {
            times,
            arrivals,
            ..Recording::default()
        };
        let found = DelayFigures::of(&recording).unwrap();
        assert!((found.median_secs - 0.001).abs() < 5e-4, "{found:?}");
        assert!((found.p95_secs - 0.04).abs() < 3e-3, "{found:?}");
        let text = found.text();
        assert!(
            text.starts_with("delay: median 1 ms, 95 % below "),
            "{text}"
        );
        recording.arrivals.fill(f64::NAN);
        assert_eq!(DelayFigures::of(&recording), None);
        recording.arrivals.clear();
        assert_eq!(DelayFigures::of(&recording), None);
    }

    #[test]
    fn arrivals_in_another_unit_have_no_delays() {
        let at = |secs: f64, unit: f64| {
            let times: Vec<f64> = (0..100).map(|i| secs * f64::from(i) / 99.0).collect();
            let arrivals = times.iter().map(|t| 7.0 + unit * t).collect();
            DelayFigures::of(&Recording {
                times,
                arrivals,
                ..Recording::default()
            })
        };
        assert!(at(60.0, 1000.0).is_none() && at(60.0, 1e-3).is_none());
        assert!(at(0.1, 1000.0).is_none());
        // A clock that is a little slow, and a short time whose samples arrived at once.
        assert!(at(60.0, 1.05).is_some() && at(0.4, 0.0).is_some());
    }
}
