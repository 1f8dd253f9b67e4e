//! Which steps between samples are gaps.

use std::ops::Range;

/// Samples that are farther apart than this many median steps have a gap between them, and at least [`MIN_GAP`].
const GAP_STEPS: f64 = 4.0;
/// Steps up to this are no gaps, seconds.
pub(super) const MIN_GAP: f64 = 0.1;
/// A step may be longer than the longest by this share: stamps of a calendar are rounded to 0.24 us.
const ROUNDING: f64 = 1e-5;

/// The median of the steps between times, seconds; 0 for fewer than two.
pub(super) fn median_step(times: &[f64]) -> f64 {
    let mut steps: Vec<f64> = times.windows(2).map(|w| w[1] - w[0]).collect();
    if steps.is_empty() {
        return 0.0;
    }
    let middle = steps.len() / 2;
    *steps.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The longest step that is no gap, seconds.
pub(super) fn longest_step(median_step: f64) -> f64 {
    (GAP_STEPS * median_step).max(MIN_GAP)
}

/// Whether a step is longer than the longest that is no gap. A step of that length is none, whatever its rounding.
pub(super) fn is_gap(step: f64, longest: f64) -> bool {
    // NaN is a gap.
    let is_short = step <= longest * (1.0 + ROUNDING);
    !is_short
}

/// The ranges of ascending times between gaps, in order; none is empty.
pub(super) fn runs(times: &[f64], longest: f64) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = 0;
    for i in 1..=times.len() {
        if i == times.len() || is_gap(times[i] - times[i - 1], longest) {
            runs.push(start..i);
            start = i;
        }
    }
    runs
}
