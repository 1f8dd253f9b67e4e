//! The summary of signed distances.

use serde::Serialize;

/// The distance up to which a point counts as near, metres.
pub const NEAR_METRES: f64 = 0.005;

/// A summary of signed distances, metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Distances {
    /// How many there are.
    pub n: usize,
    /// How many are not finite; then so are the figures below.
    pub failed: usize,
    /// The root of their mean square.
    pub rms: f64,
    /// The mean, with signs.
    pub mean: f64,
    /// The size that 95 % of them do not exceed.
    pub p95: f64,
    /// The largest one, with its sign.
    pub max: f64,
    /// Where it is: the number of the value.
    #[serde(skip)]
    pub max_at: u32,
    /// The share whose size is at most [`NEAR_METRES`], 0 - 1.
    pub within_5mm: f64,
}

impl Distances {
    /// Of values with their numbers; `None` without any.
    pub fn of(values: impl Iterator<Item = (u32, f64)>) -> Option<Self> {
        let (mut sum, mut squares, mut near, mut failed) = (0.0, 0.0, 0, 0);
        let mut sizes = Vec::new();
        let mut max: Option<(u32, f64)> = None;
        for (at, value) in values {
            sum += value;
            squares += value * value;
            near += usize::from(value.abs() <= NEAR_METRES);
            failed += usize::from(!value.is_finite());
            sizes.push(value.abs());
            // NaN is the largest.
            let is_larger = max.is_none_or(|(_, known)| {
                value.abs().total_cmp(&known.abs()) == std::cmp::Ordering::Greater
            });
            if is_larger {
                max = Some((at, value));
            }
        }
        let (max_at, max) = max?;
        let n = sizes.len();
        let rank = (n * 95).div_ceil(100).saturating_sub(1);
        let (_, p95, _) = sizes.select_nth_unstable_by(rank, f64::total_cmp);
        Some(Self {
            n,
            failed,
            rms: (squares / n as f64).sqrt(),
            mean: sum / n as f64,
            p95: *p95,
            max,
            max_at,
            within_5mm: near as f64 / n as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_is_that_of_the_values() {
        let values = (0..100).map(|i| (i, if i == 40 { -0.1 } else { 1e-4 * f64::from(i) }));
        let found = Distances::of(values).unwrap();
        assert_eq!((found.n, found.failed), (100, 0));
        assert_eq!((found.max, found.max_at), (-0.1, 40));
        assert_eq!(found.p95, 1e-4 * 95.0);
        assert_eq!(found.within_5mm, 0.5);
        let mean = (1e-4 * (4950.0 - 40.0) - 0.1) / 100.0;
        assert!((found.mean - mean).abs() < 1e-16);
        assert!(Distances::of(std::iter::empty()).is_none());
    }

    #[test]
    fn what_is_no_number_fails_everything() {
        let values = [1e-3, f64::NAN, 2e-3];
        let found = Distances::of((0..).zip(values)).unwrap();
        assert_eq!((found.failed, found.max_at), (1, 1));
        assert!(found.rms.is_nan() && found.mean.is_nan());
        assert!(found.p95.is_nan() && found.max.is_nan());
        assert_eq!(found.within_5mm, 2.0 / 3.0);
    }
}
