//! Whether a correction leaves smaller errors than none. A file whose error is not smaller is never exported.

use super::verify::Verified;
use crate::bake::Comparison;
use crate::document::ClipId;
use std::collections::BTreeMap;

/// Errors of a clip without a correction that differ by less than this fraction are equal: a file with more keyframes is
/// measured at more times.
const SAME: f64 = 0.01;

/// The errors of a corrected file and of the file without correction, as fractions of the diagonal.
pub(super) struct Improvement {
    tolerance: f64,
    max: (f64, f64),
    /// By clip: before and after.
    clips: BTreeMap<ClipId, (f64, f64)>,
    /// The same in poses outside the clips, where a file is driven through them, percent.
    driven: Option<(f64, f64)>,
}

impl Improvement {
    pub(super) fn of(verified: &Verified, tolerance: f64) -> Self {
        let Comparison { by_clip, max, .. } = &verified.before;
        let after = &verified.after;
        let pairs = by_clip.iter();
        let pair = |(&clip, &before): (&ClipId, &f64)| {
            let after = after.by_clip.get(&clip);
            (clip, (before, after.copied().unwrap_or(f64::INFINITY)))
        };
        let driven = verified.driven.as_ref().zip(verified.undriven.as_ref());
        Self {
            tolerance,
            max: (*max, after.max),
            clips: pairs.map(pair).collect(),
            driven: driven.map(|(after, before)| (before.max_percent, after.max_percent)),
        }
    }

    /// Whether the file is to be exported: no clip is off by more than the tolerance and as much as without a correction,
    /// and the largest error is smaller than without one. One that is driven may also be as good as the tolerance.
    pub(super) fn is_one(&self) -> bool {
        if let Some((before, after)) = self.driven {
            let in_clips = self.clips.is_empty() || self.max.1 <= self.tolerance;
            let is_driven = after <= 100.0 * self.tolerance || after < before;
            return is_driven && (in_clips || self.max.1 < self.max.0);
        }
        self.max.1 < self.max.0 && self.worse().is_empty()
    }

    /// Whether the file is to be exported that leaves the clips `without` as they are: these are no worse, another one is
    /// better.
    pub(super) fn is_one_without(&self, without: &[ClipId]) -> bool {
        let mut others = self.clips.iter().filter(|(id, _)| !without.contains(id));
        let is_no_worse = |id: &ClipId| {
            let found = self.clips.get(id);
            found.is_some_and(|(before, after)| {
                *after <= self.tolerance || *after <= before * (1.0 + SAME)
            })
        };
        others.any(|(_, (before, after))| after < before)
            && without.iter().all(is_no_worse)
            && self.worse().iter().all(|id| without.contains(id))
    }

    /// The clips whose error exceeds the tolerance and is no smaller than without a correction.
    pub(super) fn worse(&self) -> Vec<ClipId> {
        let clips = self.clips.iter();
        // An error that is not a number is not smaller.
        let is_better = |(before, after): (f64, f64)| after <= self.tolerance || after < before;
        clips
            .filter(|(_, errors)| !is_better(**errors))
            .map(|(id, _)| *id)
            .collect()
    }

    /// The largest errors of a clip before and after, as fractions of the diagonal.
    pub(super) fn of_clip(&self, id: ClipId) -> Option<(f64, f64)> {
        self.clips.get(&id).copied()
    }

    /// The clips that are better.
    pub(super) fn better(&self) -> Vec<ClipId> {
        let worse = self.worse();
        let clips = self.clips.keys().copied();
        clips.filter(|id| !worse.contains(id)).collect()
    }
}

#[cfg(test)]
impl Improvement {
    /// The errors of some clips before and after, in order.
    pub(super) fn of_clips(tolerance: f64, clips: &[(f64, f64)]) -> Self {
        let worse = |errors: (f64, f64), of: &(f64, f64)| {
            use crate::math::Worse;
            (errors.0.worse(of.0), errors.1.worse(of.1))
        };
        Self {
            tolerance,
            max: clips.iter().fold((0.0, 0.0), worse),
            clips: (0..).map(ClipId).zip(clips.iter().copied()).collect(),
            driven: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(clips: &[(f64, f64)]) -> Improvement {
        Improvement::of_clips(0.001, clips)
    }

    #[test]
    fn a_larger_error_is_none() {
        assert!(of(&[(0.05, 0.0009), (0.04, 0.002)]).is_one());
        // Though the largest error is smaller, one clip is worse.
        let one = of(&[(0.05, 0.0009), (0.001, 0.004)]);
        assert_eq!((one.is_one(), one.worse()), (false, vec![ClipId(1)]));
        assert_eq!(one.better(), [ClipId(0)]);
        for errors in [(0.05, 0.05), (0.05, f64::NAN), (f64::NAN, f64::NAN)] {
            let none = of(&[errors]);
            assert_eq!((none.is_one(), none.better()), (false, vec![]));
        }
        // Within the tolerance already: the smaller file.
        assert!(!of(&[(0.0005, 0.0006)]).is_one());
    }

    #[test]
    fn clips_that_are_left_as_they_are_may_be_off() {
        let left = [ClipId(1)];
        assert!(of(&[(0.05, 0.0009), (0.02, 0.0201)]).is_one_without(&left));
        assert!(!of(&[(0.05, 0.0009), (0.02, 0.03)]).is_one_without(&left));
        assert!(!of(&[(0.05, 0.06), (0.02, 0.02)]).is_one_without(&left));
        assert!(!of(&[(0.05, 0.0009), (0.02, f64::NAN)]).is_one_without(&left));
    }

    #[test]
    fn poses_outside_the_clips_count_in_a_file_for_any_clip() {
        let driven = |before: f64, after: f64, clips: &[(f64, f64)]| Improvement {
            driven: Some((before, after)),
            ..of(clips)
        };
        assert!(driven(5.0, 0.1, &[]).is_one());
        assert!(driven(5.0, 0.1, &[(0.0, 0.0)]).is_one());
        assert!(driven(0.05, 0.06, &[]).is_one(), "within the tolerance");
        assert!(!driven(5.0, 6.0, &[(0.05, 0.0001)]).is_one());
        assert!(!driven(5.0, 0.1, &[(0.01, 0.02)]).is_one());
    }
}
