//! Statistics of recorded numbers over a range of time: what a recording is asked for.
//!
//! Sulema & Rudenko 2020 retrieve and analyse the data of a digital twin. Each channel is read as numbers, linear between
//! samples; gaps count for nothing.

use super::align::ClockMap;
use super::recording::{LabelTrack, Recording};
use super::sampling::{Ends, Sampling};
use super::series::{Channel, ChannelError};
use crate::math::transform::normalize_or_identity;
use glam::DQuat;

/// Numbers over time, in the unit in which people read them.
#[derive(Clone, Debug)]
pub struct Numbers {
    /// The channel's name; of a marker with `.x`, `.y` or `.z`.
    pub name: String,
    /// The file's unit; of a marker "m", of the angle of a rotation "deg".
    pub unit: String,
    /// Over the common time, seconds.
    pub channel: Channel<f64>,
}

/// Words over time, each held until the next one.
#[derive(Clone, Debug)]
pub struct Words {
    /// The channel's name.
    pub name: String,
    /// The common time of each word, seconds, ascending.
    pub times: Vec<f64>,
    /// The words.
    pub words: Vec<String>,
}

/// What a channel is over a range of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// How long it has a value, seconds.
    pub valid: f64,
    /// The time of the least value, and the value.
    pub min: Option<[f64; 2]>,
    /// The time of the largest value, and the value.
    pub max: Option<[f64; 2]>,
    /// The mean over the time in which it has a value.
    pub mean: Option<f64>,
}

/// The numbers of the channels that `chosen` accepts by name, on a clock, in the order markers, rotations, scalars. Of a
/// rotation it is the angle from the rotation that `rest` gives for its joint, 0 - 180 degrees.
pub fn numbers(
    of: &Recording,
    clock: ClockMap,
    chosen: impl Fn(&str) -> bool,
    rest: impl Fn(&str) -> DQuat,
) -> Result<Vec<Numbers>, ChannelError> {
    let times: Vec<f64> = of.times.iter().map(|t| clock.common(*t)).collect();
    let sampling = Sampling {
        ends: Ends::Invalid,
        ..Sampling::default()
    };
    let mut all = Vec::new();
    let mut push = |name: String, unit: &str, values: &[f64]| {
        let channel = Channel::new(&times, values, sampling)?;
        let unit = unit.to_owned();
        all.push(Numbers {
            name,
            unit,
            channel,
        });
        Ok(())
    };
    for track in of.markers.iter().filter(|track| chosen(&track.name)) {
        for (axis, letter) in ["x", "y", "z"].into_iter().enumerate() {
            let values: Vec<f64> = track.values.iter().map(|place| place[axis]).collect();
            push(format!("{}.{letter}", track.name), "m", &values)?;
        }
    }
    for track in of.rotations.iter().filter(|track| chosen(&track.name)) {
        let is_world = of.world_rotations.contains(&track.name);
        let rest = if is_world {
            DQuat::IDENTITY
        } else {
            rest(&track.name)
        };
        let values: Vec<f64> = track.values.iter().map(|q| angle(rest, *q)).collect();
        push(track.name.clone(), "deg", &values)?;
    }
    for track in of.scalars.iter().filter(|track| chosen(&track.name)) {
        let factor = per_si(&track.unit);
        let values: Vec<f64> = track.values.iter().map(|v| v * factor).collect();
        push(track.name.clone(), &track.unit, &values)?;
    }
    Ok(all)
}

/// The words of a channel on a clock.
pub fn words(of: &Recording, track: &LabelTrack, clock: ClockMap) -> Words {
    let said = of.times.iter().zip(&track.values);
    let said = said.filter_map(|(time, word)| Some((*time, track.words.get((*word)? as usize)?)));
    let (times, words) = said
        .map(|(time, word)| (clock.common(time), word.clone()))
        .unzip();
    Words {
        name: track.name.clone(),
        times,
        words,
    }
}

impl Words {
    /// The word at a time; `None` before the first one.
    pub fn at(&self, time: f64) -> Option<&str> {
        let n = self.times.partition_point(|t| *t <= time);
        Some(&self.words[n.checked_sub(1)?])
    }
}

impl Numbers {
    /// The stretches of a range with a value, each as the nodes of a polyline: time and value.
    fn pieces(&self, range: [f64; 2]) -> Vec<Vec<[f64; 2]>> {
        let (times, values) = (self.channel.times(), self.channel.values());
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
            return Vec::new();
        };
        let mut runs = Vec::new();
        let mut start = first;
        for [end, next] in self.channel.gaps() {
            runs.push([start, end]);
            start = next;
        }
        runs.push([start, last]);
        let piece = |run: [f64; 2]| {
            let (from, to) = (run[0].max(range[0]), run[1].min(range[1]));
            if from > to {
                return None;
            }
            let node = |time: f64| Some([time, self.channel.at(time)?]);
            let mut nodes = vec![node(from)?];
            let inside = times.partition_point(|t| *t <= from)..times.partition_point(|t| *t < to);
            nodes.extend(inside.map(|i| [times[i], values[i]]));
            if to > from {
                nodes.push(node(to)?);
            }
            Some(nodes)
        };
        runs.into_iter().filter_map(piece).collect()
    }

    /// What it is over a range of the common time, seconds.
    pub fn statistics(&self, range: [f64; 2]) -> Statistics {
        let mut found = Statistics::default();
        let mut integral = 0.0;
        let mut nodes_sum = (0.0, 0.0);
        for piece in self.pieces(range) {
            for &node in &piece {
                if found.min.is_none_or(|min| node[1] < min[1]) {
                    found.min = Some(node);
                }
                if found.max.is_none_or(|max| node[1] > max[1]) {
                    found.max = Some(node);
                }
                nodes_sum = (nodes_sum.0 + node[1], nodes_sum.1 + 1.0);
            }
            for pair in piece.windows(2) {
                let width = pair[1][0] - pair[0][0];
                found.valid += width;
                integral += width * (pair[0][1] + pair[1][1]) / 2.0;
            }
        }
        // Single samples have a mean, but no duration.
        found.mean = match (found.valid > 0.0, nodes_sum) {
            (true, _) => Some(integral / found.valid),
            (false, (sum, n)) if n > 0.0 => Some(sum / n),
            _ => None,
        };
        found
    }

    /// The stretches of a range in which it is above a threshold: start and end, seconds, ascending.
    pub fn above(&self, threshold: f64, range: [f64; 2]) -> Vec<[f64; 2]> {
        let mut stretches: Vec<[f64; 2]> = Vec::new();
        for piece in self.pieces(range) {
            for pair in piece.windows(2) {
                let [[t0, v0], [t1, v1]] = [pair[0], pair[1]];
                let crossing = t0 + (t1 - t0) * (threshold - v0) / (v1 - v0);
                let found = match (v0 > threshold, v1 > threshold) {
                    (true, true) => [t0, t1],
                    (true, false) => [t0, crossing],
                    (false, true) => [crossing, t1],
                    (false, false) => continue,
                };
                match stretches.last_mut() {
                    Some(last) if last[1] == found[0] => last[1] = found[1],
                    _ => stretches.push(found),
                }
            }
        }
        stretches
    }
}

/// The angle between two rotations, 0 - 180 degrees; NaN where the second one is none.
pub(super) fn angle(rest: DQuat, q: DQuat) -> f64 {
    if !(q.is_finite() && q.length() > 1e-9) {
        return f64::NAN;
    }
    let between = rest.conjugate() * normalize_or_identity(q);
    let sine = between.xyz().length();
    (2.0 * sine.atan2(between.w.abs())).to_degrees()
}

/// How many of a unit an SI unit has: recordings hold metres, radians and seconds.
pub(super) fn per_si(unit: &str) -> f64 {
    match unit {
        "deg" | "°" => 1f64.to_degrees(),
        "cm" => 1e2,
        "mm" | "ms" => 1e3,
        "us" | "µs" => 1e6,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::table::parse_csv;
    use crate::task::Task;

    /// A triangle 0 - 40 - 0 within two seconds, a gap, then 10 for a second.
    fn numbers_of(text: &str) -> Vec<Numbers> {
        let recording = parse_csv(text, &Task::new()).unwrap();
        numbers(&recording, ClockMap::SAME, |_| true, |_| DQuat::IDENTITY).unwrap()
    }

    fn emg() -> Numbers {
        let text = "time,emg[mV]\n0,0\n0.5,20\n1,40\n1.5,20\n2,0\n10,10\n10.5,10\n11,10\n";
        numbers_of(text).remove(0)
    }

    #[test]
    fn a_gap_counts_for_nothing() {
        let emg = emg();
        let all = emg.statistics([f64::NEG_INFINITY, f64::INFINITY]);
        assert_eq!((all.min, all.max), (Some([0.0, 0.0]), Some([1.0, 40.0])));
        assert!((all.valid - 3.0).abs() < 1e-12);
        // 40 mVs of the triangle and 10 of the rest, in 3 seconds.
        assert!((all.mean.unwrap() - 50.0 / 3.0).abs() < 1e-12);
        let part = emg.statistics([0.25, 0.75]);
        assert_eq!(
            (part.min, part.max),
            (Some([0.25, 10.0]), Some([0.75, 30.0]))
        );
        assert!((part.mean.unwrap() - 20.0).abs() < 1e-12);
        assert_eq!(emg.statistics([3.0, 9.0]), Statistics::default());
        let one = emg.statistics([1.0, 1.0]);
        assert_eq!((one.valid, one.mean), (0.0, Some(40.0)));
    }

    #[test]
    fn time_above_a_threshold_ends_where_the_line_crosses_it() {
        let emg = emg();
        let all = [f64::NEG_INFINITY, f64::INFINITY];
        assert_eq!(emg.above(30.0, all), [[0.75, 1.25]]);
        assert_eq!(emg.above(5.0, all), [[0.125, 1.875], [10.0, 11.0]]);
        assert_eq!(emg.above(5.0, [1.0, 10.5]), [[1.0, 1.875], [10.0, 10.5]]);
        assert!(emg.above(40.0, all).is_empty());
        assert!(emg.above(f64::NAN, all).is_empty());
    }

    #[test]
    fn numbers_are_in_the_units_of_the_file() {
        let text = "time,elbow[deg],m.x[cm],m.y[cm],m.z[cm],j.qx,j.qy,j.qz,j.qw\n0,90,1,2,3,0,0,0.7071067811865476,0.7071067811865476\n1,91,1,2,3,0,0,0,-1\n";
        let all = numbers_of(text);
        let found: Vec<_> = all
            .iter()
            .map(|n| (n.name.as_str(), n.unit.as_str(), n.channel.at(0.0).unwrap()))
            .collect();
        let expected = [
            ("m.x", "m", 0.01),
            ("m.y", "m", 0.02),
            ("m.z", "m", 0.03),
            ("j", "deg", 90.0),
            ("elbow", "deg", 90.0),
        ];
        for (found, expected) in found.iter().zip(expected) {
            assert_eq!((found.0, found.1), (expected.0, expected.1));
            assert!((found.2 - expected.2).abs() < 1e-9, "{found:?}");
        }
        assert_eq!(found.len(), expected.len());
        // A quaternion and its negative are one rotation.
        assert!(all[3].channel.at(1.0).unwrap().abs() < 1e-9);
    }
}
