//! Peaks of an error over time, found between the times at which it was measured.

use crate::bake::problem::key_times::is_jump;
use crate::bake::problem::sampler::FrameTime;

/// How many of the largest peaks are followed in each round, which halves the interval around each. A parabola rises by
/// less than 1/256 of its height after four.
pub(super) const ROUNDS: [usize; 4] = [32, 16, 8, 8];
/// Peaks below this fraction of the largest are not followed: a smooth error does not double between two times.
const LEAST_SHARE: f64 = 0.5;

/// A local maximum of the error in a clip.
#[derive(Debug, PartialEq)]
pub(super) struct Peak {
    clip: usize,
    before: f64,
    top: f64,
    after: f64,
    error: f64,
}

impl Peak {
    /// The local maxima of the errors at ascending times of one clip after another, the largest first. Their neighbours
    /// bracket them, unless a jump lies between.
    pub(super) fn find(measured: &[(FrameTime, f64)]) -> Vec<Self> {
        let of_clip = |i: usize| {
            let (time, error) = *measured.get(i)?;
            Some((time.clip?, time.secs, error))
        };
        let peak = |i: usize| {
            let (clip, top, error) = of_clip(i)?;
            let same = |other: &(usize, f64, f64)| other.0 == clip;
            let before = i.checked_sub(1).and_then(of_clip).filter(same);
            let after = of_clip(i + 1).filter(same);
            let is_lower = |other: Option<(usize, f64, f64)>| other.is_none_or(|o| o.2 <= error);
            if !is_lower(before) || !is_lower(after) {
                return None;
            }
            let before = before.map(|o| o.1).filter(|&t| !is_jump(t, top));
            let after = after.map(|o| o.1).filter(|&t| !is_jump(top, t));
            Some(Self {
                clip,
                before: before.unwrap_or(top),
                top,
                after: after.unwrap_or(top),
                error,
            })
        };
        let mut peaks: Vec<Self> = (0..measured.len()).filter_map(peak).collect();
        peaks.sort_by(|a, b| b.error.total_cmp(&a.error));
        let least = peaks.first().map_or(0.0, |peak| LEAST_SHARE * peak.error);
        peaks.retain(|peak| peak.error >= least && peak.before < peak.after);
        peaks
    }

    /// Keeps the `n` largest.
    pub(super) fn keep_largest(peaks: &mut Vec<Self>, n: usize) {
        peaks.sort_by(|a, b| b.error.total_cmp(&a.error));
        peaks.truncate(n);
    }

    /// The middles of both sides, at which the error is to be measured next.
    pub(super) fn middles(&self) -> [FrameTime; 2] {
        [self.before, self.after].map(|side| FrameTime {
            clip: Some(self.clip),
            secs: 0.5 * (side + self.top),
        })
    }

    /// Halves the interval around the largest of the errors: the one known and those of the [`Self::middles`].
    pub(super) fn narrow(&mut self, errors: [f64; 2]) {
        let [left, right] = self.middles().map(|time| time.secs);
        if errors[0] > self.error && errors[0] >= errors[1] {
            (self.top, self.after, self.error) = (left, self.top, errors[0]);
        } else if errors[1] > self.error {
            (self.before, self.top, self.error) = (self.top, right, errors[1]);
        } else {
            (self.before, self.after) = (left, right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(clip: usize, secs: f64) -> FrameTime {
        FrameTime {
            clip: Some(clip),
            secs,
        }
    }

    #[test]
    fn a_peak_between_two_times_is_found() {
        let error = |t: f64| 1.0 - (t - 0.37).powi(2);
        let times = [0.0, 0.25, 0.5, 1.0];
        let measured = times.map(|t| (at(0, t), error(t)));
        let mut peaks = Peak::find(&measured);
        assert_eq!(peaks.len(), 1);
        assert!(peaks[0].error < 0.986);
        for n in ROUNDS {
            Peak::keep_largest(&mut peaks, n);
            let errors = peaks[0].middles().map(|time| error(time.secs));
            peaks[0].narrow(errors);
        }
        assert!(peaks[0].error > 0.9995, "{peaks:?}");
    }

    #[test]
    fn peaks_end_at_jumps_and_at_other_clips() {
        let errors = [
            (0, 0.0, 0.2),
            (0, 0.5, 0.9),
            (0, 0.501, 0.1),
            (1, 0.0, 1.0),
            (1, 9.0, 0.3),
        ];
        let measured = errors.map(|(clip, t, error)| (at(clip, t), error));
        let peaks = Peak::find(&measured);
        let brackets: Vec<_> = peaks.iter().map(|p| (p.clip, p.before, p.after)).collect();
        assert_eq!(brackets, [(1, 0.0, 9.0), (0, 0.0, 0.5)]);
        assert!(Peak::find(&[]).is_empty());
    }
}
