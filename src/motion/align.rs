//! The clock of a device against the common one.
//!
//! Two events far apart fix a clock better than many in a heap: the error of the drift is that of the events over the time
//! between them.

/// Two events closer than this fix no drift, seconds.
const MIN_SPAN: f64 = 1.0;
/// A drift beyond this is a wrong unit more often than a clock, parts per million.
const ODD_DRIFT: f64 = 2_000.0;
/// A drift beyond this is no clock, parts per million.
const MAX_DRIFT: f64 = 200_000.0;
/// An event this many times farther off than the median one is flagged.
const FLAG: f64 = 3.0;

/// `t = a s + b`: common seconds of device seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockMap {
    /// Common seconds in a second of the device; above 0.
    pub a: f64,
    /// The common time of the device's time 0.
    pub b: f64,
}

/// A moment on both clocks.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockEvent {
    /// Its name.
    pub name: String,
    /// Its time on the device, seconds.
    pub device: f64,
    /// Its common time, seconds.
    pub common: f64,
}

/// A clock map from events.
#[derive(Clone, Debug, PartialEq)]
pub struct ClockFit {
    /// The map.
    pub map: ClockMap,
    /// How far each event is off, common seconds; in the order of the events.
    pub residuals: Vec<f64>,
    /// Whether an event is off by more than three times the median.
    pub is_odd: Vec<bool>,
    /// How well the drift is known, parts per million; `None` for one event.
    pub drift_error: Option<f64>,
    /// Whether the drift that was found is below that error; the map then has none.
    pub has_no_drift: bool,
}

/// Why events make no clock map.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClockError {
    /// There are none.
    #[error("a clock needs at least one event")]
    NoEvents,
    /// A number is not finite.
    #[error("the clock {a} s + {b} is not valid: give finite numbers, the first above 0")]
    NotAClock {
        /// a.
        a: f64,
        /// b.
        b: f64,
    },
    /// The events are too close.
    #[error(
        "the events are {0:.3} s apart on the device: to set a clock, they must be at least 1 s apart"
    )]
    TooClose(f64),
    /// The drift is larger than that of any clock.
    #[error("the clock drifts by {0:.0} ppm, more than 20 %: is the unit of the time wrong?")]
    Drift(f64),
}

impl ClockMap {
    /// A device on the common clock.
    pub const SAME: Self = Self { a: 1.0, b: 0.0 };

    /// A map that is one.
    pub fn new(a: f64, b: f64) -> Result<Self, ClockError> {
        let map = Self { a, b };
        if !(a > 0.0 && a.is_finite() && b.is_finite()) {
            return Err(ClockError::NotAClock { a, b });
        }
        if map.drift().abs() > MAX_DRIFT {
            return Err(ClockError::Drift(map.drift()));
        }
        Ok(map)
    }

    /// Common seconds of device seconds; the same bits for [`ClockMap::SAME`].
    pub fn common(&self, device: f64) -> f64 {
        if *self == Self::SAME {
            device
        } else {
            self.a * device + self.b
        }
    }

    /// Device seconds of common seconds.
    pub fn device(&self, common: f64) -> f64 {
        (common - self.b) / self.a
    }

    /// How much faster the device's clock runs, parts per million.
    pub fn drift(&self) -> f64 {
        (1.0 / self.a - 1.0) * 1e6
    }

    /// A warning about a drift that is more likely a wrong unit.
    pub fn warning(&self) -> Option<String> {
        let drift = self.drift();
        (drift.abs() > ODD_DRIFT).then(|| {
            format!("The clock drifts by {drift:.0} ppm, more than 2,000: is the unit of the time wrong?")
        })
    }
}

impl Default for ClockMap {
    fn default() -> Self {
        Self::SAME
    }
}

/// The clock map that fits events best, whatever their order: one event gives the offset, two the drift too, more are a
/// least squares fit. `uncertainty` is that of an event, seconds: half the step of its samples.
pub fn fit_clock(events: &[ClockEvent], uncertainty: f64) -> Result<ClockFit, ClockError> {
    let mut sorted: Vec<(f64, f64)> = events.iter().map(|e| (e.device, e.common)).collect();
    sorted.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)));
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else {
        return Err(ClockError::NoEvents);
    };
    let n = sorted.len() as f64;
    let mean_device = sorted.iter().map(|e| e.0 - first.0).sum::<f64>() / n + first.0;
    let mean_common = sorted.iter().map(|e| e.1 - first.1).sum::<f64>() / n + first.1;
    let (mut a, mut drift_error, mut has_no_drift) = (1.0, None, false);
    if sorted.len() > 1 {
        let span = last.0 - first.0;
        if !span.is_finite() || span < MIN_SPAN {
            return Err(ClockError::TooClose(span));
        }
        a = if sorted.len() == 2 {
            (last.1 - first.1) / span
        } else {
            let square: f64 = sorted.iter().map(|e| (e.0 - mean_device).powi(2)).sum();
            let product = sorted
                .iter()
                .map(|e| (e.0 - mean_device) * (e.1 - mean_common));
            product.sum::<f64>() / square
        };
        let error = uncertainty / span * 1e6;
        drift_error = Some(error);
        let map = ClockMap::new(a, 0.0)?;
        has_no_drift = map.drift().abs() < error;
        if has_no_drift {
            a = 1.0;
        }
    }
    let map = ClockMap::new(a, mean_common - a * mean_device)?;
    let off = |e: &ClockEvent| map.common(e.device) - e.common;
    let residuals: Vec<f64> = events.iter().map(off).collect();
    let mut sizes: Vec<f64> = residuals.iter().map(|r| r.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let limit = FLAG * sizes[sizes.len() / 2];
    let is_odd = residuals
        .iter()
        .map(|r| events.len() > 2 && r.abs() > limit)
        .collect();
    Ok(ClockFit {
        map,
        residuals,
        is_odd,
        drift_error,
        has_no_drift,
    })
}

/// A peak of a scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// The time of its largest sample, seconds.
    pub sample: f64,
    /// Where the parabola through that sample and its neighbours is largest, seconds: between the samples, and closer to the peak
    /// than half a step.
    pub time: f64,
    /// Its width at half of its height above the median, seconds, linear between samples.
    pub width: f64,
}

/// The peaks of a scalar: above the median by 8 median absolute deviations, at least 0.2 s apart. Missing values (NaN) are left
/// out. times: n; values: n.
pub fn find_peaks(times: &[f64], values: &[f64]) -> Vec<Peak> {
    const DEVIATIONS: f64 = 8.0;
    const APART: f64 = 0.2;
    let samples = times.iter().zip(values).filter(|(_, v)| v.is_finite());
    let samples: Vec<(f64, f64)> = samples.map(|(t, v)| (*t, *v)).collect();
    let median = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    };
    let middle = median(samples.iter().map(|s| s.1).collect());
    let deviation = median(samples.iter().map(|s| (s.1 - middle).abs()).collect());
    let mut peaks: Vec<usize> = Vec::new();
    for (i, &(time, value)) in samples.iter().enumerate() {
        if value <= middle + DEVIATIONS * deviation {
            continue;
        }
        match peaks.last_mut() {
            Some(last) if time - samples[*last].0 < APART => {
                if value > samples[*last].1 {
                    *last = i;
                }
            }
            _ => peaks.push(i),
        }
    }
    let peak = |i: usize| Peak {
        sample: samples[i].0,
        time: refined(&samples, i),
        width: width(&samples, i, 0.5 * (samples[i].1 + middle)),
    };
    peaks.into_iter().map(peak).collect()
}

/// The time at which the parabola through a sample and its neighbours is largest; the sample's own where it has none, or they are
/// not lower.
fn refined(samples: &[(f64, f64)], top: usize) -> f64 {
    let (at, value) = samples[top];
    let before = top.checked_sub(1).and_then(|i| samples.get(i));
    let (Some(before), Some(after)) = (before, samples.get(top + 1)) else {
        return at;
    };
    let (left, right) = (before.0 - at, after.0 - at);
    let rise = (value - before.1) / -left;
    let fall = (after.1 - value) / right;
    let bend = (fall - rise) / (right - left);
    if !(bend < 0.0 && rise >= 0.0 && fall <= 0.0) {
        return at;
    }
    at + ((bend * left - rise) / (2.0 * bend)).clamp(0.5 * left, 0.5 * right)
}

/// The time between the places at which the samples around a peak cross a level, seconds.
fn width(samples: &[(f64, f64)], top: usize, level: f64) -> f64 {
    let crossing = |high: (f64, f64), low: (f64, f64)| {
        high.0 + (low.0 - high.0) * (high.1 - level) / (high.1 - low.1)
    };
    let before = (0..top).rev().find(|i| samples[*i].1 <= level);
    let after = (top + 1..samples.len()).find(|i| samples[*i].1 <= level);
    let start = before.map_or(samples[0].0, |i| crossing(samples[i + 1], samples[i]));
    let last = samples[samples.len() - 1].0;
    let end = after.map_or(last, |i| crossing(samples[i - 1], samples[i]));
    end - start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(device: f64, common: f64) -> ClockEvent {
        ClockEvent {
            name: String::new(),
            device,
            common,
        }
    }

    #[test]
    fn one_event_shifts_and_two_are_met_exactly() {
        let one = fit_clock(&[event(41_520.0, 1.5)], 0.005).unwrap();
        assert_eq!(
            one.map,
            ClockMap {
                a: 1.0,
                b: 1.5 - 41_520.0
            }
        );
        assert_eq!(one.drift_error, None);
        let events = [event(1.0, 2.0), event(29.0, 30.01)];
        let two = fit_clock(&events, 1e-4).unwrap();
        for e in &events {
            assert!((two.map.common(e.device) - e.common).abs() < 1e-12);
        }
        // A drift that the events cannot tell from none is none.
        let coarse = fit_clock(&events, 0.05).unwrap();
        assert!(coarse.has_no_drift && coarse.map.a == 1.0);
        assert!(
            coarse
                .residuals
                .iter()
                .all(|r| (r.abs() - 0.005).abs() < 1e-12)
        );
    }

    #[test]
    fn many_events_are_fitted_in_any_order_and_the_odd_one_is_flagged() {
        let mut events: Vec<ClockEvent> = (0..9)
            .map(|i| {
                event(
                    3.0 * f64::from(i),
                    3.0003 * f64::from(i) + 7.0 + 1e-4 * f64::from(i % 2),
                )
            })
            .collect();
        events[4].common += 0.01;
        let fit = fit_clock(&events, 1e-5).unwrap();
        assert_eq!(fit.is_odd.iter().position(|odd| *odd), Some(4));
        events.reverse();
        assert_eq!(fit_clock(&events, 1e-5).unwrap().map, fit.map);
    }

    #[test]
    fn what_is_no_clock_is_said() {
        assert_eq!(fit_clock(&[], 0.0), Err(ClockError::NoEvents));
        let close = fit_clock(&[event(1.0, 1.0), event(1.9, 1.9)], 0.0);
        assert!(close.unwrap_err().to_string().contains("0.900 s apart"));
        let back = fit_clock(&[event(1.0, 5.0), event(9.0, 1.0)], 0.0);
        assert!(matches!(back, Err(ClockError::NotAClock { .. })));
        let unit = fit_clock(&[event(1000.0, 1.0), event(9000.0, 9.0)], 0.0);
        assert!(matches!(unit, Err(ClockError::Drift(_))));
        assert!(ClockMap::new(1.003, 0.0).unwrap().warning().is_some());
        assert_eq!(ClockMap::new(1.001, 0.0).unwrap().warning(), None);
        assert!(ClockMap::new(f64::NAN, 0.0).is_err());
    }

    #[test]
    fn peaks_stand_out_and_apart() {
        let times: Vec<f64> = (0..200).map(|i| 0.01 * f64::from(i)).collect();
        let mut values: Vec<f64> = times.iter().map(|t| (40.0 * t).sin()).collect();
        for (at, height) in [(50, 12.0), (55, 14.0), (150, 20.0)] {
            values[at] = height;
        }
        values[151] = f64::NAN;
        let found = find_peaks(&times, &values);
        let samples: Vec<f64> = found.iter().map(|peak| peak.sample).collect();
        assert_eq!(samples, [times[55], times[150]]);
        assert!(find_peaks(&[], &[]).is_empty());
    }

    #[test]
    fn a_parabola_finds_a_peak_between_samples_and_its_width() {
        // Steps that are not equal; the peak is at 1.003.
        let times: Vec<f64> = (0..200)
            .map(|i| 0.01 * f64::from(i) + 0.001 * f64::from(i % 3))
            .collect();
        let bump = |t: f64| (40.0 * (1.0 - ((t - 1.003) / 0.03).powi(2))).max(0.0);
        let values: Vec<f64> = times.iter().map(|t| bump(*t)).collect();
        let found = find_peaks(&times, &values);
        assert_eq!(found.len(), 1);
        assert!((found[0].time - 1.003).abs() < 1e-9, "{found:?}");
        assert!((found[0].sample - found[0].time).abs() > 1e-4);
        // A parabola of this width is at half of its height 2 x 0.03 / sqrt 2 wide.
        assert!(
            (found[0].width - 0.06 / 2f64.sqrt()).abs() < 2e-3,
            "{found:?}"
        );
        // At the first sample there is nothing to refine.
        let edge = find_peaks(&[0.0, 1.0, 2.0], &[9.0, 0.0, 0.0]);
        assert_eq!((edge[0].time, edge[0].width), (0.0, 0.5));
    }
}
