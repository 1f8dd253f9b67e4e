//! The median time of a work.

use std::time::{Duration, Instant};

/// The median of `n` runs.
pub(crate) fn median(n: usize, mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..n)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[n / 2]
}
