//! Sets of keyframes for tracks, and values fitted to them.

use crate::math::Worse;
use std::collections::BTreeMap;

/// Keyframes of a clip among which sets are chosen.
#[derive(Clone, Copy)]
pub(crate) struct Keyframes<'a> {
    /// Ascending, seconds.
    pub(crate) times: &'a [f32],
    /// By keyframe: whether it is in every set, with its own value.
    pub(crate) firm: &'a [bool],
    /// Whether tracks hold their values until the next keyframe (STEP).
    pub(crate) stepped: bool,
}

impl Keyframes<'_> {
    /// The keyframes in the order in which they join a set: the firm ones, then always the one of the largest deviation,
    /// until none is above `least`. `deviation`: that of keyframe k from an interpolation of two others, given these, k
    /// and the fraction of the interval before it.
    pub(crate) fn order(
        &self,
        least: f64,
        deviation: impl Fn((usize, usize), usize, f64) -> f64,
    ) -> Vec<usize> {
        let n = self.times.len();
        let mut order: Vec<usize> = (0..n).filter(|&k| self.firm[k]).collect();
        // By the start of an interval: its end, its keyframe of the largest deviation, and that deviation.
        let mut intervals: BTreeMap<usize, (usize, usize, f64)> = BTreeMap::new();
        let worst = |from: usize, to: usize| {
            let keys = from + 1..to;
            let own = |k: usize| deviation((from, to), k, self.share(from, to, k));
            let all = keys.map(|k| (k, 0.0.worse(own(k))));
            let larger = |a: (usize, f64), b: (usize, f64)| if b.1 <= a.1 { a } else { b };
            let (k, error) = all.reduce(larger).unwrap_or((from, 0.0));
            (to, k, error)
        };
        for pair in order.windows(2) {
            intervals.insert(pair[0], worst(pair[0], pair[1]));
        }
        while order.len() < n {
            let best = intervals
                .iter()
                .reduce(|a, b| if b.1.2 <= a.1.2 { a } else { b });
            let Some((&from, &(to, k, error))) = best else {
                break;
            };
            if error <= least || k == from {
                break;
            }
            order.push(k);
            intervals.insert(from, worst(from, k));
            intervals.insert(k, worst(k, to));
        }
        order
    }

    /// The fraction of an interval before keyframe k; 0 where values are held.
    fn share(&self, from: usize, to: usize, k: usize) -> f64 {
        if self.stepped {
            return 0.0;
        }
        let (start, end) = (f64::from(self.times[from]), f64::from(self.times[to]));
        (f64::from(self.times[k]) - start) / (end - start)
    }

    /// The values of `set` (ascending, with all firm keyframes) whose linear interpolation is nearest to the `values` of
    /// all keyframes, `width` numbers each: least squares over hat functions. Firm keyframes keep their values, and all
    /// where values are held.
    pub(crate) fn fit(&self, values: &[f64], width: usize, set: &[usize]) -> Vec<f64> {
        let own = |k: usize| &values[k * width..(k + 1) * width];
        let m = set.len();
        let mut fitted: Vec<f64> = set.iter().flat_map(|&k| own(k)).copied().collect();
        if self.stepped || m == 0 {
            return fitted;
        }
        // A tridiagonal system of normal equations.
        let (mut diagonal, mut above) = (vec![1.0; m], vec![0.0; m]);
        for (i, pair) in set.windows(2).enumerate() {
            for k in pair[0] + 1..pair[1] {
                let share = self.share(pair[0], pair[1], k);
                let hats = [1.0 - share, share];
                diagonal[i] += hats[0] * hats[0];
                diagonal[i + 1] += hats[1] * hats[1];
                above[i] += hats[0] * hats[1];
                for (x, value) in own(k).iter().enumerate() {
                    fitted[i * width + x] += hats[0] * value;
                    fitted[(i + 1) * width + x] += hats[1] * value;
                }
            }
        }
        for i in (0..m).filter(|&i| self.firm[set[i]]) {
            for x in 0..width {
                let value = own(set[i])[x];
                fitted[i * width + x] = value;
                if i > 0 {
                    fitted[(i - 1) * width + x] -= above[i - 1] * value;
                }
                if i + 1 < m {
                    fitted[(i + 1) * width + x] -= above[i] * value;
                }
            }
            diagonal[i] = 1.0;
            above[i] = 0.0;
            if i > 0 {
                above[i - 1] = 0.0;
            }
        }
        // Firm neighbours of firm keyframes keep their values, whatever was subtracted.
        for i in (0..m).filter(|&i| self.firm[set[i]]) {
            fitted[i * width..(i + 1) * width].copy_from_slice(own(set[i]));
        }
        for i in 1..m {
            let ratio = above[i - 1] / diagonal[i - 1];
            diagonal[i] -= ratio * above[i - 1];
            for x in 0..width {
                fitted[i * width + x] -= ratio * fitted[(i - 1) * width + x];
            }
        }
        for i in (0..m).rev() {
            for x in 0..width {
                let next = fitted.get((i + 1) * width + x).copied().unwrap_or(0.0);
                fitted[i * width + x] = (fitted[i * width + x] - above[i] * next) / diagonal[i];
            }
        }
        fitted
    }
}

/// Sizes of sets to try: each about half larger than the one before, and the last is `n`.
pub(crate) fn set_sizes(first: usize, n: usize) -> Vec<usize> {
    let mut sizes = Vec::new();
    let mut size = first.max(2);
    while size < n {
        sizes.push(size);
        size += (size / 2).max(1);
    }
    sizes.push(n);
    sizes
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMES: [f32; 6] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];

    fn ends() -> Vec<bool> {
        (0..6).map(|k| k == 0 || k == 5).collect()
    }

    #[test]
    fn keyframes_join_by_their_deviation() {
        let firm = ends();
        let keys = |stepped| Keyframes {
            times: &TIMES,
            firm: &firm,
            stepped,
        };
        let deviation = |values: [f64; 6]| {
            move |(from, to): (usize, usize), k: usize, share: f64| {
                (values[from] + (values[to] - values[from]) * share - values[k]).abs()
            }
        };
        // A corner at keyframe 2, and a lower one at 4.
        let corners = deviation([0.0, 2.0, 4.0, 3.0, 2.0, 0.0]);
        assert_eq!(keys(false).order(0.6, corners), [0, 5, 2, 4]);
        let held = deviation([1.0, 1.0, 1.0, 5.0, 5.0, 5.0]);
        assert_eq!(keys(true).order(0.1, held), [0, 5, 3]);
        let unknown = deviation([0.0, 0.0, 0.0, f64::NAN, 0.0, 0.0]);
        assert_eq!(keys(false).order(0.1, unknown)[..3], [0, 5, 3]);
    }

    #[test]
    fn values_are_least_squares_fits() {
        let firm = ends();
        let keys = Keyframes {
            times: &TIMES,
            firm: &firm,
            stepped: false,
        };
        // y = (t - 2.5)^2: with the ends and keyframe 2. Its value minimises the squares of what hats leave, by hand.
        let values = TIMES.map(|t| (f64::from(t) - 2.5).powi(2));
        let hat: [f64; 6] = [0.0, 0.5, 1.0, 2.0 / 3.0, 1.0 / 3.0, 0.0];
        let ends: [f64; 6] = [1.0, 0.5, 0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];
        let mut sums = (0.0, 0.0);
        for k in 0..6 {
            sums.0 += hat[k] * (values[k] - 6.25 * ends[k]);
            sums.1 += hat[k] * hat[k];
        }
        let fitted = keys.fit(&values, 1, &[0, 2, 5]);
        assert_eq!((fitted[0], fitted[2]), (6.25, 6.25));
        assert!((fitted[1] - sums.0 / sums.1).abs() < 1e-12, "{fitted:?}");
        // Straight lines are found again, in each component.
        let line: Vec<f64> = TIMES
            .iter()
            .flat_map(|&t| [f64::from(t), 3.0 - 2.0 * f64::from(t)])
            .collect();
        let fitted = keys.fit(&line, 2, &[0, 1, 4, 5]);
        for (found, k) in fitted.chunks_exact(2).zip([0, 1, 4, 5]) {
            assert!((found[0] - line[2 * k]).abs() < 1e-12, "{fitted:?}");
            assert!((found[1] - line[2 * k + 1]).abs() < 1e-12, "{fitted:?}");
        }
    }

    #[test]
    fn sizes_grow_by_half() {
        assert_eq!(set_sizes(2, 12), [2, 3, 4, 6, 9, 12]);
        assert_eq!(set_sizes(2, 2), [2]);
    }
}
