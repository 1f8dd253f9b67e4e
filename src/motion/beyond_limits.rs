//! Recorded rotations against the rotation limits of their joints.

use super::align::ClockMap;
use super::recording::Recording;
use super::sampling::{Ends, Sampling};
use super::series::{Channel, ChannelError};
use super::signal::Signal;
use super::statistics::Numbers;
use crate::math::Transform;
use crate::math::transform::normalize_or_identity;
use crate::skeleton::joint_limits::JointLimits;

/// By how many degrees the rotations of a recording exceed the limits of the joints of their names, on a clock: 0 within them. Of the
/// channels that `chosen` accepts, those for which `joint` knows limits, with the joint's rest transform. Rotations in the world
/// have no limits.
pub fn beyond_limits(
    of: &Recording,
    clock: ClockMap,
    chosen: impl Fn(&str) -> bool,
    joint: impl Fn(&str) -> Option<(JointLimits, Transform)>,
) -> Result<Vec<Numbers>, ChannelError> {
    let times: Vec<f64> = of.times.iter().map(|t| clock.common(*t)).collect();
    let sampling = Sampling {
        ends: Ends::Invalid,
        ..Sampling::default()
    };
    let tracks = of
        .rotations
        .iter()
        .filter(|track| !of.world_rotations.contains(&track.name) && chosen(&track.name));
    let limited = tracks.filter_map(|track| Some((track, joint(&track.name)?)));
    let numbers = limited.map(|(track, (limits, rest))| {
        let excess = track.values.iter().map(|q| {
            if q.is_valid() {
                limits.excess(normalize_or_identity(*q), &rest).to_degrees()
            } else {
                f64::NAN
            }
        });
        let excess: Vec<f64> = excess.collect();
        Ok(Numbers {
            name: track.name.clone(),
            unit: "deg".into(),
            channel: Channel::new(&times, &excess, sampling)?,
        })
    });
    numbers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::motion::table::parse_csv;
    use crate::task::Task;

    #[test]
    fn an_elbow_beyond_its_limit_is_measured_by_the_angle() {
        // 80, 100 and 120 degrees about x, and a missing sample.
        let row = |t: f64, degrees: f64| {
            let (s, c) = (0.5 * degrees.to_radians()).sin_cos();
            format!("{t},{s},0,0,{c}\n")
        };
        let csv = format!(
            "time,elbow.qx,elbow.qy,elbow.qz,elbow.qw\n{}{}{}",
            row(0.0, 80.0),
            row(0.1, 100.0),
            row(0.2, 120.0)
        );
        let recording = parse_csv(&csv, &Task::new()).unwrap();
        let hinge = JointLimits([[0.0, 90f64.to_radians()], [0.0; 2], [0.0; 2]]);
        let found = beyond_limits(
            &recording,
            ClockMap::SAME,
            |_| true,
            |joint| (joint == "elbow").then_some((hinge, Transform::IDENTITY)),
        );
        let found = found.unwrap();
        let values = found[0].channel.values();
        for (value, expected) in values.iter().zip([0.0, 10.0, 30.0]) {
            assert!((value - expected).abs() < 1e-6, "{values:?}");
        }
        let stretches = found[0].above(0.0, [0.0, 0.2]);
        assert_eq!(stretches, [[0.0, 0.2]], "linear between samples");
        let none = beyond_limits(&recording, ClockMap::SAME, |_| true, |_| None);
        assert!(none.unwrap().is_empty());
    }
}
