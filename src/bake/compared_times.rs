//! The times at which a written clip is compared.

use crate::bake::problem::key_times::{MIN_KEY_INTERVAL, is_jump, is_side};
use crate::skeleton::{Channel, Clip, Interpolation};
use std::collections::BTreeSet;

/// Times of a clip compared besides its keyframes and the middles between them.
const EXTRA_TIMES: usize = 24;

/// The times at which a clip is compared, ascending.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ComparedTimes {
    /// All keyframes, the middles of the intervals between them, other times, and the last time before each step.
    pub(super) outside_jumps: Vec<f64>,
    /// Times within the moments in which tracks pass from one side of a jump to the other; the jump itself has a
    /// keyframe where the source has one.
    pub(super) in_jumps: Vec<f64>,
}

impl ComparedTimes {
    /// The times of one clip, whose channels are in several: those of the document, and those of a file that has others.
    pub(super) fn of(clips: &[&Clip]) -> Self {
        let channels = || clips.iter().flat_map(|clip| &clip.channels);
        let keys = keys_of(channels());
        let is_within = |i: &usize| {
            let around = [keys.get(i.wrapping_sub(1)), keys.get(*i), keys.get(i + 1)];
            let [Some(&before), Some(&at), Some(&after)] = around else {
                return false;
            };
            is_jump(before, after) && !is_side(before, at, after)
        };
        let in_jumps = (0..keys.len()).filter(is_within).map(|i| keys[i]);
        let in_jumps: Vec<f64> = in_jumps.collect();
        let mut outside_jumps = compared_times(&keys);
        outside_jumps.retain(|time| !in_jumps.contains(time));
        let mut times = Self {
            outside_jumps,
            in_jumps,
        };
        for pair in keys.windows(2).filter(|pair| is_jump(pair[0], pair[1])) {
            let at = |share: f64| pair[0] + share * (pair[1] - pair[0]);
            times.in_jumps.extend([0.25, 0.5, 0.75].map(at));
        }
        let steps = channels();
        let steps = steps.filter(|channel| channel.interpolation == Interpolation::Step);
        for step in steps.flat_map(|channel| channel.times.iter().skip(1)) {
            // Half a rounding step of f32 before it, so that players whose times are f64 show it.
            let before = 0.5 * (f64::from(step.next_down()) + f64::from(*step));
            let k = keys.partition_point(|&t| t < before);
            if k == 0 || k == keys.len() {
                continue;
            }
            if is_jump(keys[k - 1], keys[k]) {
                times.in_jumps.push(before);
            } else {
                times.outside_jumps.push(before);
            }
        }
        for list in [&mut times.outside_jumps, &mut times.in_jumps] {
            list.sort_by(f64::total_cmp);
            list.dedup();
        }
        times
    }
}

/// Whether an interval is so short that the solver has halved it again and again, as where the shape itself jumps:
/// then its middle alone tells little of the error.
fn is_halved(from: f64, to: f64) -> bool {
    to - from < 4.0 * MIN_KEY_INTERVAL
}

/// The distinct finite keyframe times of all channels that are not negative, ascending.
fn keys_of<'a>(channels: impl Iterator<Item = &'a Channel>) -> Vec<f64> {
    let times = channels.flat_map(|c| c.times.iter());
    // Non-negative floats order like their bits.
    let times = times.filter(|t| **t >= 0.0 && t.is_finite());
    let keys: BTreeSet<u32> = times.map(|t| t.to_bits()).collect();
    let keys = keys.into_iter();
    keys.map(|bits| f64::from(f32::from_bits(bits))).collect()
}

/// All keyframes, the middles of intervals that are no jump (and the quarters of short ones), and other times.
fn compared_times(keys: &[f64]) -> Vec<f64> {
    let mut times = keys.to_vec();
    for pair in keys.windows(2).filter(|pair| !is_jump(pair[0], pair[1])) {
        let at = |share: f64| pair[0] + share * (pair[1] - pair[0]);
        times.push(at(0.5));
        if is_halved(pair[0], pair[1]) {
            times.extend([0.25, 0.75].map(at));
        }
    }
    if let (Some(first), Some(last)) = (keys.first(), keys.last()) {
        // Multiples of the golden ratio are uniform and avoid any period of the clip.
        let besides = (0..EXTRA_TIMES).map(|i| (0.5 + i as f64 * 0.618_033_988_749_895).fract());
        for share in besides {
            let time = first + share * (last - first);
            let k = keys.partition_point(|&t| t <= time);
            if k > 0 && k < keys.len() && !is_jump(keys[k - 1], keys[k]) {
                times.push(time);
            }
        }
    }
    times.sort_by(f64::total_cmp);
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::{JointId, Property};

    #[test]
    fn both_sides_of_jumps_close_to_each_other_are_compared() {
        let times = [0.0, 1.0, 1.000125, 1.00025, 1.002, 1.00225, 2.0];
        let clip = Clip {
            channels: vec![Channel {
                joint: JointId(0),
                property: Property::Translation,
                interpolation: Interpolation::Linear,
                times: times.into(),
                values: [0.0; 21].into(),
            }],
            ..Clip::default()
        };
        let found = ComparedTimes::of(&[&clip]);
        let keys = times.map(f64::from);
        let within: Vec<bool> = keys.iter().map(|t| found.in_jumps.contains(t)).collect();
        assert_eq!(within, [false, false, true, false, false, false, false]);
        let is_compared = |t: &f64| found.outside_jumps.contains(t);
        assert!(
            keys.iter()
                .zip(within)
                .all(|(t, within)| is_compared(t) != within)
        );
    }

    #[test]
    fn jumps_are_not_looked_into() {
        let clip = Clip {
            channels: vec![Channel {
                joint: JointId(0),
                property: Property::Translation,
                interpolation: Interpolation::Linear,
                times: [0.0, 1.0, 1.001, 1.002].into(),
                values: [0.0; 12].into(),
            }],
            ..Clip::default()
        };
        let found = ComparedTimes::of(&[&clip]);
        let jump = f64::from(1.001f32);
        assert!(found.in_jumps.contains(&jump) && !found.outside_jumps.contains(&jump));
        let times = found.outside_jumps;
        assert!(times.contains(&0.5) && times.contains(&f64::from(1.002f32)));
        assert!(times.iter().all(|t| *t <= 1.0 || *t >= 1.0019));
    }
}
