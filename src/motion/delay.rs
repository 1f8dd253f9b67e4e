//! How late the samples of a recording arrived.

use super::percentile::percentile;
use super::recording::Recording;
use serde::Serialize;
use std::collections::VecDeque;

/// The smallest delay of this time before a sample is that of a packet that came at once, seconds.
const WINDOW: f64 = 2.0;

/// How late samples arrived, beyond the quickest of the two seconds before each, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DelayFigures {
    /// The median.
    pub median_secs: f64,
    /// The 95th percentile.
    pub p95_secs: f64,
}

impl DelayFigures {
    /// Of a recording that holds when its samples arrived; `None` for others. The clocks of the device and of the computer differ by
    /// an unknown time: delays are told beyond the smallest one.
    pub fn of(recording: &Recording) -> Option<Self> {
        let samples = recording.times.iter().zip(&recording.arrivals);
        let samples = samples.filter(|(_, arrival)| arrival.is_finite());
        let mut samples: Vec<(f64, f64)> = samples.map(|(t, a)| (*a, a - t)).collect();
        if samples.is_empty() {
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
            "arrived {:.0} ms late in the median, 95 % within {:.0} ms",
            self.median_secs * 1e3,
            self.p95_secs * 1e3
        )
    }
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
            text.starts_with("arrived 1 ms late in the median, 95 % within "),
            "{text}"
        );
        recording.arrivals.fill(f64::NAN);
        assert_eq!(DelayFigures::of(&recording), None);
        recording.arrivals.clear();
        assert_eq!(DelayFigures::of(&recording), None);
    }
}
