//! The motion of the root above a body: locomotion of senders whose hips stay over their root.

use crate::math::transform::normalize_or_identity;
use glam::{DQuat, DVec3};

/// The name of its channels.
pub const ROOT: &str = "root";

/// The rotation and place of the root in the world, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Root {
    /// The rotation, unit.
    pub rotation: DQuat,
    /// The place.
    pub place: DVec3,
}

impl Root {
    /// At the origin, without a rotation.
    pub const IDENTITY: Self = Self {
        rotation: DQuat::IDENTITY,
        place: DVec3::ZERO,
    };

    /// Of a rotation and a place of which one may be missing; `None` without both.
    pub fn of(rotation: Option<DQuat>, place: Option<DVec3>) -> Option<Self> {
        (rotation.is_some() || place.is_some()).then(|| Self {
            rotation: rotation.unwrap_or(DQuat::IDENTITY),
            place: place.unwrap_or(DVec3::ZERO),
        })
    }

    /// How it has moved since `start`, in the axes of `start`: `start^-1 self`. A body then begins where and as the character
    /// stands, wherever the avatar is in its own world.
    #[must_use]
    pub fn since(self, start: Self) -> Self {
        let back = start.rotation.conjugate();
        Self {
            rotation: normalize_or_identity(back * self.rotation),
            place: back * (self.place - start.place),
        }
    }

    /// Carries a body along: `rotations` and `places` of its bones in the space of the root become those in the world.
    pub fn carry(self, rotations: &mut [DQuat], places: &mut [DVec3]) {
        if self == Self::IDENTITY {
            return;
        }
        for rotation in rotations {
            *rotation = normalize_or_identity(self.rotation * *rotation);
        }
        for place in places {
            *place = self.rotation * *place + self.place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn a_root_carries_the_body_from_where_it_stood() {
        let start = Root {
            rotation: DQuat::from_rotation_y(FRAC_PI_2),
            place: DVec3::new(2.0, 0.0, 1.0),
        };
        assert_eq!(start.since(start).place, DVec3::ZERO);
        // It faced +X there, and went two metres ahead.
        let now = Root {
            place: start.place + 2.0 * DVec3::X,
            ..start
        };
        let by = now.since(start);
        assert!(by.place.distance(2.0 * DVec3::Z) < 1e-12, "{by:?}");
        assert!(by.rotation.angle_between(DQuat::IDENTITY) < 1e-7);
        let turned = Root {
            rotation: DQuat::from_rotation_y(-FRAC_PI_2) * start.rotation,
            ..start
        };
        let mut rotations = [DQuat::from_rotation_x(0.3)];
        let mut places = [DVec3::new(0.0, 0.9, 0.1)];
        turned.since(start).carry(&mut rotations, &mut places);
        assert!(places[0].distance(DVec3::new(-0.1, 0.9, 0.0)) < 1e-12);
        let expected = DQuat::from_rotation_y(-FRAC_PI_2) * DQuat::from_rotation_x(0.3);
        assert!(rotations[0].angle_between(expected) < 1e-7);
    }
}
