//! The values of a metric over a surface, and their summary.

use serde::Serialize;

/// One value a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointMap {
    /// n_points, in the unit of the metric; NaN where it has no meaning, infinite where a position is not finite.
    pub values: Vec<f32>,
    /// Their summary.
    pub summary: Summary,
}

/// The numbers beside a map; all are 0, and no point is named, where no value has a meaning (`n` is 0). A value that cannot
/// be measured makes the largest one infinite (null in JSON).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The number of points with a value.
    pub n: usize,
    /// The largest value.
    pub max: f32,
    /// The smallest value.
    pub min: f32,
    /// The 99th percentile.
    pub p99: f32,
    /// The 1st percentile.
    pub p01: f32,
    /// The root of the mean square.
    pub rms: f32,
    /// The point of the largest value; of several the first.
    pub max_point: Option<u32>,
    /// The point of the smallest value; of several the first.
    pub min_point: Option<u32>,
}

impl PointMap {
    /// A map with its summary.
    pub fn new(values: Vec<f32>) -> Self {
        let summary = Summary::of(&values);
        Self { values, summary }
    }
}

impl Summary {
    /// The point of the largest magnitude.
    pub fn worst(&self) -> Option<u32> {
        if self.min.abs() > self.max.abs() {
            self.min_point
        } else {
            self.max_point
        }
    }

    /// The value of [`Summary::worst`].
    pub fn worst_value(&self) -> f32 {
        if self.min.abs() > self.max.abs() {
            self.min
        } else {
            self.max
        }
    }

    /// The summary of all values that are not NaN.
    pub fn of(values: &[f32]) -> Self {
        Self::of_in(values, &mut Vec::new())
    }

    /// [`Summary::of`] with a buffer that is used again and again.
    pub fn of_in(values: &[f32], known: &mut Vec<f32>) -> Self {
        known.clear();
        known.extend(values.iter().copied().filter(|v| !v.is_nan()));
        let n = known.len();
        if n == 0 {
            return Self::default();
        }
        // On one thread: the sum must not depend on the number of threads.
        let squares: f64 = known.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
        let first = |wanted: f32| values.iter().position(|&v| v == wanted).map(|p| p as u32);
        let min = known.iter().copied().fold(f32::INFINITY, f32::min);
        let max = known.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut nth = |rank: usize| *known.select_nth_unstable_by(rank, f32::total_cmp).1;
        Self {
            n,
            max,
            min,
            p99: nth((99 * n).div_ceil(100) - 1),
            p01: nth(n / 100),
            rms: (squares / n as f64).sqrt() as f32,
            max_point: first(max),
            min_point: first(min),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_leaves_out_what_has_no_meaning() {
        let mut values: Vec<f32> = (0..200).map(|i| (i - 50) as f32).collect();
        values.extend([f32::NAN; 7]);
        values.reverse();
        let s = Summary::of(&values);
        assert_eq!((s.n, s.min, s.max), (200, -50.0, 149.0));
        assert_eq!((s.p01, s.p99), (-48.0, 147.0));
        assert_eq!((s.max_point, s.min_point), (Some(7), Some(206)));
        assert_eq!((s.worst(), s.worst_value()), (Some(7), 149.0));
        assert_eq!(Summary::of(&[f32::NAN]), Summary::default());
        let broken = Summary::of(&[f32::NAN, 1.0, f32::INFINITY]);
        assert_eq!((broken.n, broken.min, broken.max), (2, 1.0, f32::INFINITY));
        assert_eq!((broken.rms, broken.worst()), (f32::INFINITY, Some(2)));
        let one = Summary::of(&[-3.0]);
        assert_eq!(
            (one.p99, one.p01, one.rms, one.worst()),
            (-3.0, -3.0, 3.0, Some(0))
        );
    }
}
