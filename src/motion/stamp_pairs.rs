//! Two recordings on one clock by the moments that both have: stamps and events of equal names.

use super::align::{ClockError, ClockEvent, ClockFit, ClockMap, fit_clock};
use super::gaps::median_step;
use super::recording::{Event, Recording};
use std::collections::BTreeMap;

/// Moments of one name that are closer are one, seconds.
const SAME_MOMENT: f64 = 1e-3;
/// The place of a peak that is up to this wide at half of its height, steps, is known better than to half a step: a parabola through three
/// samples finds it. That of a wider one is known to its width.
const WIDE_STEPS: f64 = 4.0;
/// Moments at the times of samples are those samples, within this, seconds.
const AT_SAMPLE: f64 = 1e-9;

/// The moments that two recordings share: those of one device and, of the other one, the common time of each by its clock.
/// The first moments of a name make a pair, then the second ones, and so on; in the order of `moved`.
pub fn stamp_pairs(moved: &[Event], reference: &[Event], clock: ClockMap) -> Vec<ClockEvent> {
    let mut left: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for other in reference.iter().rev() {
        left.entry(&other.name).or_default().push(other.time);
    }
    let pair = |moment: &Event| {
        let time = left.get_mut(moment.name.as_str())?.pop()?;
        Some(ClockEvent {
            name: moment.name.clone(),
            device: moment.time,
            common: clock.common(time),
        })
    };
    moved.iter().filter_map(pair).collect()
}

/// How well the moments of a recording are known, seconds: half the median step of its samples. Where `always` is not set,
/// only those that lie on samples count; others were stated more finely.
pub fn moment_uncertainty(of: &Recording, moments: &[f64], always: bool) -> f64 {
    let is_sample = |time: &f64| {
        let next = of.times.partition_point(|t| *t < time - AT_SAMPLE);
        of.times
            .get(next)
            .is_some_and(|t| (t - time).abs() <= AT_SAMPLE)
    };
    if !(always || moments.iter().any(is_sample)) {
        return 0.0;
    }
    0.5 * median_step(&of.times)
}

/// How well pairs are known that set a drift, common seconds: as the worse one of the first and the last. A moment is known to half
/// the median step of its recording, given as `halves`; one that was found as a wide peak, to the width of the
/// peak. The moments and recordings are those of the one that is moved and of the reference, which has this clock.
pub fn pairs_uncertainty(
    pairs: &[ClockEvent],
    [(own, of), (others, theirs)]: [(&[Event], &Recording); 2],
    halves: [f64; 2],
    clock: ClockMap,
) -> f64 {
    let limits = [of, theirs].map(|of| WIDE_STEPS * median_step(&of.times));
    let known = |moment: Option<&Event>, which: usize| {
        let width = moment.map_or(0.0, |moment| moment.width);
        if width > limits[which] {
            width
        } else {
            halves[which]
        }
    };
    let of_pair = |pair: &ClockEvent| {
        let is_named = |moment: &&Event| moment.name == pair.name;
        let mut own = own.iter().filter(is_named);
        let own = own.find(|moment| moment.time == pair.device);
        let mut others = others.iter().filter(is_named);
        let other = others.find(|moment| clock.common(moment.time) == pair.common);
        known(own, 0) + known(other, 1) * clock.a
    };
    let by_time = |a: &&ClockEvent, b: &&ClockEvent| a.device.total_cmp(&b.device);
    let ends = [pairs.iter().min_by(by_time), pairs.iter().max_by(by_time)];
    ends.into_iter().flatten().map(of_pair).fold(0.0, f64::max)
}

/// The moments of a recording, ascending: the events of its file, and stamps. A stamp on an event of its name is that event.
pub fn moments(of: &Recording, stamps: &[Event]) -> Vec<Event> {
    let mut all: Vec<Event> = of.events.iter().chain(stamps).cloned().collect();
    all.sort_by(|a, b| a.time.total_cmp(&b.time));
    let mut newest: BTreeMap<String, f64> = BTreeMap::new();
    all.retain(|moment| {
        let known = newest.insert(moment.name.clone(), moment.time);
        known.is_none_or(|time| moment.time - time > SAME_MOMENT)
    });
    all
}

/// The clock that fits pairs best, as [`fit_clock`]; a single one changes the offset alone and keeps the drift of `known`.
pub fn fit_pairs(
    pairs: &[ClockEvent],
    known: ClockMap,
    uncertainty: f64,
) -> Result<ClockFit, ClockError> {
    let [pair] = pairs else {
        return fit_clock(pairs, uncertainty);
    };
    Ok(ClockFit {
        map: ClockMap::new(known.a, pair.common - known.a * pair.device)?,
        residuals: vec![0.0],
        is_odd: vec![false],
        drift_error: None,
        has_no_drift: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(of: &[(&str, f64)]) -> Vec<Event> {
        let of = of.iter();
        of.map(|(name, time)| Event::new(*name, *time)).collect()
    }

    #[test]
    fn moments_of_equal_names_are_pairs_and_one_keeps_the_drift() {
        let moved = named(&[("clap", 1.0), ("step", 2.0), ("clap", 9.0), ("clap", 11.0)]);
        let reference = named(&[("clap", 0.5), ("jump", 3.0), ("clap", 8.5)]);
        let clock = ClockMap { a: 1.0, b: 100.0 };
        let pairs = stamp_pairs(&moved, &reference, clock);
        let found: Vec<(f64, f64)> = pairs.iter().map(|p| (p.device, p.common)).collect();
        assert_eq!(found, [(1.0, 100.5), (9.0, 108.5)]);
        let known = ClockMap { a: 1.001, b: 7.0 };
        let one = fit_pairs(&pairs[1..], known, 0.005).unwrap();
        assert_eq!(one.map.a, 1.001);
        assert!((one.map.common(9.0) - 108.5).abs() < 1e-12);
        let two = fit_pairs(&pairs, known, 0.005).unwrap();
        assert!(two.has_no_drift && (two.map.common(9.0) - 108.5).abs() < 1e-12);
        assert_eq!(fit_pairs(&[], known, 0.0), Err(ClockError::NoEvents));
    }

    #[test]
    fn a_stamp_on_an_event_of_its_name_is_that_event() {
        let of = Recording {
            events: named(&[("clap", 1.0), ("clap", 9.0)]),
            ..Recording::default()
        };
        let found = moments(
            &of,
            &named(&[("mark", 1.0), ("clap", 9.0005), ("clap", 12.0)]),
        );
        let times: Vec<f64> = found.iter().map(|moment| moment.time).collect();
        assert_eq!(times, [1.0, 1.0, 9.0, 12.0]);
    }

    #[test]
    fn a_wide_peak_is_known_to_its_width() {
        let of = |step: f64| Recording {
            times: (0..100).map(|i| f64::from(i) * step).collect(),
            ..Recording::default()
        };
        let (moved, reference) = (of(0.01), of(0.02));
        let mut own = named(&[("clap", 1.0), ("step", 5.0), ("clap", 9.0)]);
        let mut others = named(&[("clap", 2.0), ("step", 6.0), ("clap", 10.0)]);
        let clock = ClockMap { a: 1.001, b: 3.0 };
        let pairs = stamp_pairs(&own, &others, clock);
        let halves = [0.005, 0.01];
        let found = |own: &[Event], others: &[Event]| {
            let both = [(own, &moved), (others, &reference)];
            pairs_uncertainty(&pairs, both, halves, clock)
        };
        let near = |found: f64, known: f64| assert!((found - known).abs() < 1e-12, "{found}");
        near(found(&own, &others), 0.005 + 0.01 * clock.a);
        // Narrow, and between the ends.
        own[0].width = 0.03;
        others[1].width = 0.5;
        near(found(&own, &others), 0.005 + 0.01 * clock.a);
        own[2].width = 0.06;
        others[0].width = 0.05;
        near(found(&own, &others), 0.06 + 0.01 * clock.a);
        others[2].width = 0.09;
        near(found(&own, &others), 0.06 + 0.09 * clock.a);
    }

    #[test]
    fn moments_between_samples_are_stated_more_finely() {
        let of = Recording {
            times: (0..10).map(|i| f64::from(i) * 0.1).collect(),
            ..Recording::default()
        };
        let near = |found: f64, known: f64| assert!((found - known).abs() < 1e-9, "{found}");
        near(moment_uncertainty(&of, &[0.25], false), 0.0);
        near(moment_uncertainty(&of, &[0.25], true), 0.05);
        near(moment_uncertainty(&of, &[0.25, of.times[3]], false), 0.05);
    }
}
