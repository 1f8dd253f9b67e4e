//! The three axes of space.

use glam::{DVec3, Vec3};

/// An axis of space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// Red; to the side of a character that faces Z.
    #[default]
    X,
    /// Green; up.
    Y,
    /// Blue.
    Z,
}

impl Axis {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::X, Self::Y, Self::Z];

    /// 0, 1 or 2.
    pub fn index(self) -> usize {
        self as usize
    }

    /// The letter of the axis.
    pub fn letter(self) -> &'static str {
        ["X", "Y", "Z"][self.index()]
    }

    /// Its direction, unit.
    pub fn unit(self) -> DVec3 {
        DVec3::AXES[self.index()]
    }

    /// The letters of the two others.
    pub fn others(self) -> &'static str {
        ["YZ", "XZ", "XY"][self.index()]
    }

    /// The mirror image of `place` across the plane through the origin perpendicular to this axis.
    pub fn reflect(self, place: Vec3) -> Vec3 {
        let mut place = place;
        place[self.index()] = -place[self.index()];
        place
    }
}
