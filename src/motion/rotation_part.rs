//! Scalars of a recorded rotation: its angle, and its twist about each axis.

use crate::math::swing_twist::twist_angle;
use glam::{DQuat, DVec3};
use std::f64::consts::TAU;

/// A scalar of a rotation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RotationPart {
    /// The angle of the whole rotation, 0 - pi.
    Angle,
    /// The twist about x.
    TwistX,
    /// The twist about y.
    TwistY,
    /// The twist about z.
    TwistZ,
}

impl RotationPart {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 4] = [Self::Angle, Self::TwistX, Self::TwistY, Self::TwistZ];

    /// What follows the name of the rotation in that of the scalar.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Angle => ".angle",
            Self::TwistX => ".twist_x",
            Self::TwistY => ".twist_y",
            Self::TwistZ => ".twist_z",
        }
    }

    /// The rotation and the part that the name of a scalar means.
    pub fn split(name: &str) -> Option<(&str, Self)> {
        let found = Self::ALL.into_iter();
        let mut found = found.filter_map(|part| Some((name.strip_suffix(part.suffix())?, part)));
        found.next()
    }

    /// The values for rotations in the order of time, radians; NaN where it has none. A twist goes on beyond half a turn instead of jumping.
    pub fn values(self, rotations: &[DQuat]) -> Vec<f64> {
        let axis = match self {
            Self::Angle => None,
            Self::TwistX => Some(DVec3::X),
            Self::TwistY => Some(DVec3::Y),
            Self::TwistZ => Some(DVec3::Z),
        };
        let mut last: Option<f64> = None;
        let values = rotations.iter().map(|&rotation| {
            let length = rotation.length();
            if !(length > 0.5 && length.is_finite()) {
                return f64::NAN;
            }
            let Some(axis) = axis else {
                return 2.0 * rotation.xyz().length().atan2(rotation.w.abs());
            };
            let angle = twist_angle(rotation, axis);
            let turns = last.map_or(0.0, |last| ((last - angle) / TAU).round());
            let angle = angle + TAU * turns;
            last = Some(angle);
            angle
        });
        values.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twists_go_on_beyond_half_a_turn_and_gaps_stay_gaps() {
        let turn = |degrees: f64| DQuat::from_rotation_y(degrees.to_radians());
        let none = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        let rotations = [turn(0.0), turn(150.0), none, -turn(210.0), turn(300.0)];
        let degrees = |part: RotationPart| {
            let values = part.values(&rotations).into_iter();
            values.map(|v| v.to_degrees().round()).collect::<Vec<_>>()
        };
        let twist = degrees(RotationPart::TwistY);
        assert_eq!(
            [twist[0], twist[1], twist[3], twist[4]],
            [0.0, 150.0, 210.0, 300.0]
        );
        assert!(twist[2].is_nan());
        let angle = degrees(RotationPart::Angle);
        assert_eq!(
            [angle[0], angle[1], angle[3], angle[4]],
            [0.0, 150.0, 150.0, 60.0]
        );
        assert_eq!(degrees(RotationPart::TwistX)[1], 0.0);
    }

    #[test]
    fn names_say_the_rotation_and_its_part() {
        let split = RotationPart::split;
        assert_eq!(
            split("left.knee.twist_x"),
            Some(("left.knee", RotationPart::TwistX))
        );
        assert_eq!(split("knee.angle"), Some(("knee", RotationPart::Angle)));
        assert_eq!(split("knee"), None);
    }
}
