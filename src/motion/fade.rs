//! What an input does while it has no value: hold, fade to rest, and ease in when it returns.

use super::signal::Signal;
use crate::math::check::within;
use crate::math::smootherstep;
use serde::{Deserialize, Serialize};

/// How long a lost value is held and how fast it fades.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fade {
    /// Seconds during which the last valid value is held.
    pub hold: f64,
    /// Seconds of the fade to rest after that.
    pub fade: f64,
    /// Seconds of easing from what is shown to the value that returns.
    pub ease: f64,
}

impl Default for Fade {
    fn default() -> Self {
        Self {
            hold: 0.25,
            fade: 0.5,
            ease: 0.1,
        }
    }
}

impl Fade {
    /// An error that names a value out of its range.
    pub fn check(&self) -> Result<(), String> {
        within("the time that a lost value is held", self.hold, 0.0, 60.0)?;
        within("the time of the fade to rest", self.fade, 0.0, 60.0)?;
        within("the time of the return", self.ease, 0.0, 60.0)
    }

    /// The fraction of the last valid value that is left `since` seconds after it: 1 while it is held, then down to 0 by
    /// [`smootherstep()`].
    pub fn left(&self, since: f64) -> f64 {
        let into = since - self.hold;
        if into <= 0.0 {
            1.0
        } else if into >= self.fade {
            0.0
        } else {
            1.0 - smootherstep(into / self.fade)
        }
    }

    /// The fraction of a returned value that is shown `since` seconds after its return.
    pub fn returned(&self, since: f64) -> f64 {
        if since >= self.ease {
            1.0
        } else {
            smootherstep(since / self.ease)
        }
    }
}

/// A value as it is shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shown<V> {
    /// The value; never NaN.
    pub value: V,
    /// Whether the source has a value now. If not, the value is held or fading.
    pub valid: bool,
}

/// Holds and fades an input that is read frame by frame, live or from a pose. A recorded channel needs none: it knows its
/// gaps ([`super::Channel::shown`]).
///
/// Time may stand still or go back, as when scrubbing: the last value is then held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard<V> {
    fade: Fade,
    /// The last time with a value, and what was shown then.
    last: Option<(f64, V)>,
    /// When a value returned, and what was shown then; `None` once it is eased in.
    back: Option<(f64, V)>,
    /// What is shown while there is no value.
    lost: Option<V>,
}

impl<V: Signal> Guard<V> {
    /// One that has seen nothing.
    pub fn new(fade: Fade) -> Self {
        Self {
            fade,
            last: None,
            back: None,
            lost: None,
        }
    }

    /// What to show at `time` (seconds) for what the source gives; a value that is not finite counts as none.
    pub fn next(&mut self, time: f64, value: Option<V>) -> Shown<V> {
        let Some(value) = value.filter(V::is_valid) else {
            let value = match self.last {
                Some((at, value)) => V::mix(V::REST, value, self.fade.left(time - at)),
                None => V::REST,
            };
            self.lost = self.last.map(|_| value);
            return Shown {
                value,
                valid: false,
            };
        };
        if let Some(shown) = self.lost.take() {
            self.back = Some((time, shown));
        }
        let mut shown = value;
        if let Some((at, from)) = self.back {
            let eased = self.fade.returned((time - at).max(0.0));
            if eased < 1.0 {
                shown = V::mix(from, value, eased);
            } else {
                self.back = None;
            }
        }
        self.last = Some((time, shown));
        Shown {
            value: shown,
            valid: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    #[test]
    fn a_lost_value_is_held_fades_to_0_and_returns_without_a_jump() {
        let mut guard = Guard::new(Fade::default());
        assert_eq!(guard.next(0.0, None::<f64>).value, 0.0);
        assert_eq!(
            guard.next(0.5, Some(2.0)).value,
            2.0,
            "nothing was shown before"
        );
        let mut lost = |time| guard.next(time, Some(f64::NAN));
        assert_eq!((lost(0.6).value, lost(0.6).valid), (2.0, false));
        assert_eq!(lost(0.75).value, 2.0);
        assert_eq!(lost(1.0).value, 1.0, "half of the fade");
        assert_eq!(lost(1.25).value, 0.0);
        assert_eq!(lost(9.0).value, 0.0);
        let mut back = |time| guard.next(time, Some(3.0));
        assert_eq!((back(10.0).value, back(10.0).valid), (0.0, true));
        assert!((back(10.05).value - 1.5).abs() < 1e-9);
        assert_eq!(back(10.2).value, 3.0);
        assert_eq!(guard.next(10.3, Some(4.0)).value, 4.0);
    }

    #[test]
    fn scrubbing_back_holds_and_rotations_fade_to_none() {
        let mut guard = Guard::new(Fade::default());
        let turn = DQuat::from_rotation_x(1.0);
        guard.next(5.0, Some(turn));
        assert_eq!(guard.next(1.0, None).value, turn);
        let half = guard.next(5.5, None).value;
        assert!(
            half.abs_diff_eq(DQuat::from_rotation_x(0.5), 1e-12),
            "{half}"
        );
        assert_eq!(guard.next(7.0, None).value, DQuat::IDENTITY);
    }

    #[test]
    fn no_time_at_all_is_a_hard_cut() {
        let cut = Fade {
            hold: 0.0,
            fade: 0.0,
            ease: 0.0,
        };
        assert_eq!(
            (cut.left(0.0), cut.left(0.1), cut.returned(0.0)),
            (1.0, 0.0, 1.0)
        );
        let wrong = Fade { fade: -1.0, ..cut };
        assert_eq!(
            wrong.check().unwrap_err(),
            "the time of the fade to rest is -1, which is not 0 - 60"
        );
    }
}
