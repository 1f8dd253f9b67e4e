//! Peaks of an error over time, found between the times at which it was measured.

use crate::bake::problem::key_times::is_jump;
use crate::bake::problem::sampler::FrameTime;

/// The most rounds, each of which halves the intervals around the peaks. Eight leave 1/256 of a kink's first rise.
pub(super) const ROUNDS: usize = 8;
/// All rounds together follow at most this many peaks, or this fraction of the number of times measured, whichever is more.
const MOST: usize = 64;
const MOST_SHARE: f64 = 0.5;
/// Peaks are followed only while their estimated height exceeds the largest error of their clip by this fraction of it.
const LEAST_RISE: f64 = 2e-3;
/// The slope of one side of a peak continues on the other side for at most this many times the length of its interval: a
/// distant time says little about the slope at the peak.
const MOST_STRETCHED: f64 = 4.0;

/// A local maximum of the error in a clip.
#[derive(Debug, PartialEq)]
pub(super) struct Peak {
    clip: usize,
    /// Times (seconds) and errors of the peak and its neighbours.
    before: (f64, f64),
    top: (f64, f64),
    after: (f64, f64),
}

impl Peak {
    /// The local maxima of the errors at ascending times of one clip after another. Their neighbours bracket them, unless a
    /// jump lies between.
    pub(super) fn find(measured: &[(FrameTime, f64)]) -> Vec<Self> {
        let of_clip = |i: usize| {
            let (time, error) = *measured.get(i)?;
            Some((time.clip?, (time.secs, error)))
        };
        let peak = |i: usize| {
            let (clip, top) = of_clip(i)?;
            let same = |other: &(usize, (f64, f64))| other.0 == clip;
            let before = i.checked_sub(1).and_then(of_clip).filter(same).map(|o| o.1);
            let after = of_clip(i + 1).filter(same).map(|o| o.1);
            let is_lower = |other: Option<(f64, f64)>| other.is_none_or(|o| o.1 <= top.1);
            if !is_lower(before) || !is_lower(after) {
                return None;
            }
            let before = before.filter(|o| !is_jump(o.0, top.0));
            let after = after.filter(|o| !is_jump(top.0, o.0));
            Some(Self {
                clip,
                before: before.unwrap_or(top),
                top,
                after: after.unwrap_or(top),
            })
        };
        let mut peaks: Vec<Self> = (0..measured.len()).filter_map(peak).collect();
        peaks.retain(|peak| peak.before.0 < peak.after.0);
        peaks
    }

    /// The estimated height: on either side of the top the error may keep rising with the slope of the other side. This is an
    /// upper bound if the error is piecewise linear with one kink (up to [`MOST_STRETCHED`]), and an estimate otherwise.
    fn height(&self) -> f64 {
        let sides = [self.before, self.after];
        let [left, right] = sides.map(|side| (side.0 - self.top.0).abs());
        let [fall_left, fall_right] = sides.map(|side| self.top.1 - side.1);
        let rise = |fall: f64, from: f64, to: f64| {
            // A peak at an end or at a jump has one side only.
            if from > 0.0 {
                fall * (to / from).clamp(1.0, MOST_STRETCHED)
            } else {
                0.0
            }
        };
        self.top.1 + rise(fall_left, left, right).max(rise(fall_right, right, left))
    }

    /// The most peaks that all rounds follow where the error was measured at `n` times. A round measures two times per peak.
    pub(super) fn most(n: usize) -> usize {
        MOST.max((MOST_SHARE * n as f64) as usize)
    }

    /// Keeps at most `most` peaks: the highest by estimate, of those that may rise above `largest`, the largest error of their
    /// clip so far.
    pub(super) fn keep_highest(peaks: &mut Vec<Self>, largest: impl Fn(usize) -> f64, most: usize) {
        peaks.retain(|peak| peak.height() > (1.0 + LEAST_RISE) * largest(peak.clip));
        peaks.sort_by(|a, b| b.height().total_cmp(&a.height()));
        peaks.truncate(most);
    }

    /// The middles of both sides, at which the error is to be measured next.
    pub(super) fn middles(&self) -> [FrameTime; 2] {
        [self.before, self.after].map(|side| FrameTime {
            clip: Some(self.clip),
            secs: 0.5 * (side.0 + self.top.0),
        })
    }

    /// Halves the interval around the largest of the errors: the one known and those of the [`Self::middles`].
    pub(super) fn narrow(&mut self, errors: [f64; 2]) {
        let times = self.middles().map(|time| time.secs);
        let [left, right] = [0, 1].map(|side| (times[side], errors[side]));
        if left.1 > self.top.1 && left.1 >= right.1 {
            (self.top, self.after) = (left, self.top);
        } else if right.1 > self.top.1 {
            (self.before, self.top) = (self.top, right);
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
        assert!(peaks[0].top.1 < 0.986 && peaks[0].height() >= 1.0);
        for _ in 0..ROUNDS {
            let errors = peaks[0].middles().map(|time| error(time.secs));
            peaks[0].narrow(errors);
        }
        assert!(peaks[0].top.1 > 0.9995, "{peaks:?}");
    }

    #[test]
    fn peaks_are_followed_while_they_may_rise_above_the_largest_error() {
        // The first rises steeply, the second hardly.
        let errors = [
            (0.0, 0.1),
            (0.4, 0.8),
            (0.8, 0.4),
            (1.2, 0.89),
            (1.6, 0.9),
            (2.0, 0.89),
        ];
        let measured = errors.map(|(t, error)| (at(0, t), error));
        let mut peaks = Peak::find(&measured);
        assert_eq!(peaks.len(), 2);
        Peak::keep_highest(&mut peaks, |_| 0.95, 32);
        assert_eq!(peaks.len(), 1);
        assert_eq!(peaks[0].top, (0.4, 0.8));
        // The errors of other clips do not matter.
        Peak::keep_highest(&mut peaks, |clip| if clip == 0 { 0.0 } else { 9.0 }, 32);
        assert_eq!(peaks.len(), 1);
        Peak::keep_highest(&mut peaks, |_| 2.0, 32);
        assert!(peaks.is_empty());
        assert_eq!((Peak::most(10), Peak::most(4000)), (64, 2000));
    }

    #[test]
    fn a_kink_in_the_longer_side_is_higher_than_the_short_side_shows() {
        // Rises by 1 a second to a kink at 0.14, and falls by 2 a second.
        let error = |t: f64| if t < 0.14 { t } else { 0.42 - 2.0 * t };
        let measured = [0.08, 0.1, 0.2].map(|t| (at(0, t), error(t)));
        let peaks = Peak::find(&measured);
        assert_eq!(peaks[0].top, (0.1, 0.1));
        assert!(peaks[0].height() >= error(0.14), "{peaks:?}");
        // At the end of a clip one side is left.
        let peaks = Peak::find(&measured[..2]);
        assert!(peaks[0].height() >= 0.12 - 1e-9, "{peaks:?}");
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
        let brackets: Vec<_> = peaks
            .iter()
            .map(|p| (p.clip, p.before.0, p.after.0))
            .collect();
        assert_eq!(brackets, [(0, 0.0, 0.5), (1, 0.0, 9.0)]);
        assert!(Peak::find(&[]).is_empty());
    }
}
