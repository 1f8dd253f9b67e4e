//! Numbers of several devices that rotate one joint.

use crate::math::transform::normalize_or_identity;
use crate::motion::gaps::is_gap;
use crate::motion::sampling::Sampling;
use crate::motion::series::Channel as Series;
use crate::motion::signal::Signal;
use glam::{DQuat, DVec3};

/// Where a rotation has no value.
pub(super) const NONE: DQuat = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
/// Median steps that differ by no more than this factor are of one rate: which device is a little faster is a matter of the stretch
/// that is looked at, and live it is another one than in a recording.
const SAME_RATE: f64 = 1.3;

/// A channel of numbers that rotates a joint about an axis.
#[derive(Clone, Debug)]
pub(super) struct Hinge {
    /// Unit, in the joint's own space.
    pub(super) axis: DVec3,
    /// n_times: degrees; NaN where there is none.
    pub(super) degrees: Vec<f64>,
}

impl Hinge {
    fn turn(&self, degrees: f64) -> DQuat {
        DQuat::from_axis_angle(self.axis, degrees.to_radians())
    }
}

/// The rotations of a joint by hinges one after the other, from `rest`; n_times, not valid where there is none.
///
/// Devices have no time in common. The product is at the times of the fastest, where the numbers of the others are interpolated, each with
/// its own longest gap. So the product has the gaps of all of them, its own longest gap is that of the
/// fastest, and nothing of the fastest is lost.
pub(super) fn turned(times: &[f64], rest: DQuat, hinges: &[Hinge]) -> Vec<DQuat> {
    let from_rest = |turns: DQuat| normalize_or_identity(rest * turns);
    if let [only] = hinges {
        let turns = only.degrees.iter().map(|degrees| only.turn(*degrees));
        let found = turns.map(|turn| {
            if turn.is_valid() {
                from_rest(turn)
            } else {
                NONE
            }
        });
        return found.collect();
    }
    let series = hinges.iter();
    let series = series.map(|hinge| Series::new(times, &hinge.degrees, Sampling::default()));
    let Ok(series) = series.collect::<Result<Vec<_>, _>>() else {
        return vec![NONE; times.len()];
    };
    // One sample has no step.
    let steps = series.iter().map(Series::median_step);
    let mut steps = steps.map(|step| if step > 0.0 { step } else { f64::INFINITY });
    let shortest = steps.clone().fold(f64::INFINITY, f64::min);
    let fastest = steps.position(|step| step <= SAME_RATE * shortest);
    let Some(fastest) = fastest.and_then(|at| hinges.get(at)) else {
        return vec![NONE; times.len()];
    };
    let at = |(time, known): (&f64, &f64)| {
        let turns = hinges.iter().zip(&series);
        let mut turns = turns.map(|(hinge, series)| Some(hinge.turn(number(series, *time)?)));
        let product = if known.is_finite() {
            turns.try_fold(DQuat::IDENTITY, |product, turn| Some(product * turn?))
        } else {
            None
        };
        product.map_or(NONE, from_rest)
    };
    times.iter().zip(&fastest.degrees).map(at).collect()
}

/// The number at a time, seconds. The last one is held for as long as a gap is interpolated, as one that is received is, and so is the
/// first one before it: devices begin one after the other.
fn number(series: &Series<f64>, time: f64) -> Option<f64> {
    let (first, last) = (series.times().first()?, series.times().last()?);
    let within = time.clamp(*first, *last);
    if is_gap((time - within).abs(), series.max_gap()) {
        return None;
    }
    series.at(within)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hinges about x, y and z of devices that are sampled from a time on with a step, over their common times.
    fn hinges(devices: &[(f64, f64)], degrees: impl Fn(f64) -> f64) -> (Vec<f64>, Vec<Hinge>) {
        let of = |(first, step): &(f64, f64)| -> Vec<f64> {
            let n = (4.0 / step) as u32;
            (0..n).map(|i| first + step * f64::from(i)).collect()
        };
        let own: Vec<Vec<f64>> = devices.iter().map(of).collect();
        let mut times: Vec<f64> = own.iter().flatten().copied().collect();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let hinges = own.iter().zip(axes).map(|(own, axis)| {
            let number = |time: &f64| {
                if own.contains(time) {
                    degrees(*time)
                } else {
                    f64::NAN
                }
            };
            let degrees = times.iter().map(number).collect();
            Hinge { axis, degrees }
        });
        let hinges = hinges.collect();
        (times, hinges)
    }

    fn product(numbers: [f64; 3]) -> DQuat {
        let [x, y, z] = numbers.map(f64::to_radians);
        DQuat::from_rotation_x(x) * DQuat::from_rotation_y(y) * DQuat::from_rotation_z(z)
    }

    #[test]
    fn slow_devices_move_without_a_stop() {
        // 5 Hz, 7 ms apart: each number is interpolated over up to 0.8 s.
        let (times, hinges) = hinges(&[(0.0, 0.2), (0.007, 0.2), (0.014, 0.2)], |t| 20.0 * t);
        let rest = DQuat::from_rotation_y(0.4);
        let found = turned(&times, rest, &hinges);
        let channel = Series::new(&times, &found, Sampling::default()).unwrap();
        assert_eq!(channel.gaps().count(), 0);
        assert!((channel.max_gap() - 0.8).abs() < 1e-9);
        for i in 2..36 {
            // Half-way between two.
            let time = 0.1 * f64::from(i);
            let off = channel
                .at(time)
                .unwrap()
                .angle_between(rest * product([20.0 * time; 3]));
            // A rotation of 4 degrees about each axis is off by that.
            assert!(off < 2e-3, "{time}: {off}");
        }
    }

    #[test]
    fn nothing_of_the_fastest_device_is_lost_and_numbers_are_mixed_as_numbers() {
        // More than half a turn a step.
        let (times, hinges) = hinges(&[(0.05, 0.5), (0.0, 0.02)], |t| 400.0 * t);
        let found = turned(&times, DQuat::IDENTITY, &hinges);
        let n_valid = found.iter().filter(|q| q.is_valid()).count();
        assert_eq!(n_valid, 200, "at the times of the fastest");
        for (time, found) in times.iter().zip(&found).filter(|(_, q)| q.is_valid()) {
            // Held before its first sample and after its last.
            let slow = time.clamp(0.05, 3.55);
            let known = product([400.0 * slow, 400.0 * time, 0.0]);
            assert!(known.dot(*found).abs() > 1.0 - 1e-9, "{time}");
        }
    }

    #[test]
    fn a_gap_of_one_device_is_one_of_the_product() {
        let (times, mut hinges) = hinges(&[(0.0, 0.02), (0.003, 0.1)], |t| t);
        let lost = [(0, 1.0..1.2), (1, 2.0..2.7)];
        for (hinge, lost) in lost {
            for (time, degrees) in times.iter().zip(&mut hinges[hinge].degrees) {
                if lost.contains(time) {
                    *degrees = f64::NAN;
                }
            }
        }
        let found = turned(&times, DQuat::IDENTITY, &hinges);
        let channel = Series::new(&times, &found, Sampling::default()).unwrap();
        let gaps: Vec<_> = channel.gaps().collect();
        assert_eq!(gaps.len(), 2, "{gaps:?}");
        let off = [
            gaps[0][0] - 0.98,
            gaps[0][1] - 1.2,
            gaps[1][0] - 1.9,
            gaps[1][1] - 2.72,
        ];
        assert!(off.iter().all(|off| off.abs() < 0.021), "{gaps:?}");
        let none = Hinge {
            axis: DVec3::X,
            degrees: vec![f64::NAN; times.len()],
        };
        hinges.push(none);
        let found = turned(&times, DQuat::IDENTITY, &hinges);
        assert!(found.iter().all(|q| !q.is_valid()));
    }
}
