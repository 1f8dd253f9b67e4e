//! The motion of the root above a body: locomotion of senders whose hips stay over their root.

use crate::math::transform::normalize_or_identity;
use crate::motion::fade::{Fade, Guard};
use crate::motion::signal::Signal;
use glam::{DQuat, DVec3};

/// The name of its channels.
pub const ROOT: &str = "root";

/// A root that is lost stays where it is: the body relaxes there. What returns is eased in.
pub(super) fn root_fade() -> Fade {
    Fade {
        hold: f64::INFINITY,
        ..Fade::default()
    }
}

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

/// The root of a live body: its rotation and its place, either of which may be missing or come later.
#[derive(Clone, Debug)]
pub struct LiveRoot {
    rotation: Part<DQuat>,
    place: Part<DVec3>,
}

impl LiveRoot {
    /// One that starts there; `None`: where it is first.
    pub fn new(rotation: Option<DQuat>, place: Option<DVec3>) -> Self {
        Self {
            rotation: Part::new(rotation),
            place: Part::new(place),
        }
    }

    /// Goes on from the root that this one replaces, from where that started.
    #[must_use]
    pub fn going_on(&self, before: &Self) -> Self {
        Self {
            rotation: self.rotation.going_on(&before.rotation),
            place: self.place.going_on(&before.place),
        }
    }

    /// How it has moved at a time (seconds), at which its channels have these values.
    pub fn next(&mut self, time: f64, rotation: Option<DQuat>, place: Option<DVec3>) -> Root {
        let [first_rotation, rotation] = self.rotation.next(time, rotation);
        let [first_place, place] = self.place.next(time, place);
        let start = Root {
            rotation: first_rotation,
            place: first_place,
        };
        Root { rotation, place }.since(start)
    }
}

#[derive(Clone, Debug)]
struct Part<V> {
    guard: Guard<V>,
    start: Option<V>,
    shown: Option<V>,
}

impl<V: Signal> Part<V> {
    fn new(start: Option<V>) -> Self {
        Self {
            guard: Guard::new(root_fade()),
            start,
            shown: None,
        }
    }

    fn going_on(&self, before: &Self) -> Self {
        Self {
            start: before.start.or(self.start),
            ..before.clone()
        }
    }

    /// Where it starts, and what it shows now; the same until it has a value.
    fn next(&mut self, time: f64, found: Option<V>) -> [V; 2] {
        if found.is_some() || self.shown.is_some() {
            let shown = self.guard.next(time, found).value;
            self.start.get_or_insert(shown);
            self.shown = Some(shown);
        }
        let start = self.start.unwrap_or(V::REST);
        [start, self.shown.unwrap_or(start)]
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

    #[test]
    fn a_root_whose_parts_come_one_by_one_starts_where_each_is_first() {
        let mut root = LiveRoot::new(None, None);
        assert_eq!(root.next(0.0, None, None), Root::IDENTITY);
        let turned = DQuat::from_rotation_y(FRAC_PI_2);
        assert_eq!(root.next(0.1, Some(turned), None), Root::IDENTITY);
        // The place comes later: five metres away in the room are no travel.
        let room = DVec3::new(5.0, 0.0, 0.0);
        assert_eq!(root.next(0.2, Some(turned), Some(room)).place, DVec3::ZERO);
        let by = root.next(0.3, Some(turned), Some(room + DVec3::X));
        assert!(by.place.distance(DVec3::Z) < 1e-12, "{by:?}");
        // Lost, it stays; what returns is eased in.
        let lost = root.next(9.0, None, None);
        assert_eq!(lost.place, by.place);
        let far = room + 3.0 * DVec3::X;
        assert_eq!(root.next(10.0, Some(turned), Some(far)).place, by.place);
        let half = root.next(10.05, Some(turned), Some(far)).place;
        assert!(half.distance(2.0 * DVec3::Z) < 1e-9, "{half}");
        let there = root.next(10.2, Some(turned), Some(far)).place;
        assert!(there.distance(3.0 * DVec3::Z) < 1e-9, "{there}");
    }
}
