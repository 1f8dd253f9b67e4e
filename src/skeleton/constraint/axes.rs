//! The axes about which a rotation is copied.

use super::euler::EulerOrder;
use super::swing_twist::{swing, twist_angle};
use glam::{DQuat, DVec3};

/// The axes about which a rotation is copied, and those about which its opposite is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopiedAxes {
    /// x, y, z: whether the rotation about it is copied.
    pub copied: [bool; 3],
    /// x, y, z: whether it is reversed.
    pub inverted: [bool; 3],
    /// The order of the angles where two axes are copied, or some are reversed.
    pub order: EulerOrder,
}

impl Default for CopiedAxes {
    fn default() -> Self {
        Self::ALL
    }
}

impl CopiedAxes {
    /// The whole rotation.
    pub const ALL: Self = Self {
        copied: [true; 3],
        inverted: [false; 3],
        order: EulerOrder::Xyz,
    };

    /// Whether the whole rotation is copied as it is.
    pub fn is_all(self) -> bool {
        self.copied == [true; 3] && self.inverted == [false; 3]
    }

    /// Whether the order of the angles matters: neither the whole rotation nor a twist is copied.
    pub fn are_angles(self) -> bool {
        let n = self.copied.iter().filter(|is| **is).count();
        n > 1 && !self.is_all()
    }

    /// The rotation `other` about the copied axes and `own` about the others.
    ///
    /// The whole one for all axes; the twist for one, over the swing of `own`; else Euler angles in `order`, which are
    /// not continuous where the middle one passes 90 degrees.
    pub fn rotation(self, own: DQuat, other: DQuat) -> DQuat {
        if self.is_all() {
            return other;
        }
        let sign = self.inverted.map(|is| if is { -1.0 } else { 1.0 });
        let one =
            [0, 1, 2].map(|axis| self.copied == DVec3::AXES[axis].to_array().map(|x| x > 0.5));
        if let Some(axis) = one.iter().position(|is| *is) {
            let about = DVec3::AXES[axis];
            let angle = sign[axis] * twist_angle(other, about);
            return swing(own, about) * DQuat::from_axis_angle(about, angle);
        }
        if self.copied == [false; 3] {
            return own;
        }
        let (own, other) = (
            self.order.angles(own).to_array(),
            self.order.angles(other).to_array(),
        );
        let angles: [f64; 3] = std::array::from_fn(|axis| {
            if self.copied[axis] {
                sign[axis] * other[axis]
            } else {
                own[axis]
            }
        });
        self.order.rotation(angles.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(degrees: [f64; 3]) -> DQuat {
        EulerOrder::Xyz.rotation(DVec3::from(degrees).map(f64::to_radians))
    }

    fn angles(q: DQuat) -> DVec3 {
        EulerOrder::Xyz.angles(q).map(f64::to_degrees)
    }

    /// METHODS-rigging 4, *… axes*: one axis is the twist about it, two are Euler angles with the third of the joint.
    #[test]
    fn one_axis_is_a_twist_and_two_are_angles() {
        let (own, other) = (turn([10.0, 20.0, 30.0]), turn([70.0, 0.0, 50.0]));
        let x = CopiedAxes {
            copied: [true, false, false],
            ..CopiedAxes::ALL
        };
        // Rz50 Rx70 has the twist 70 about x.
        let made = x.rotation(own, other);
        assert!((twist_angle(made, DVec3::X).to_degrees() - 70.0).abs() < 1e-9);
        assert!(swing(made, DVec3::X).abs_diff_eq(swing(own, DVec3::X), 1e-12));
        let inverted = CopiedAxes {
            inverted: [true, false, false],
            ..x
        };
        let made = inverted.rotation(own, other);
        assert!((twist_angle(made, DVec3::X).to_degrees() + 70.0).abs() < 1e-9);
        let two = CopiedAxes {
            copied: [true, false, true],
            inverted: [false, false, true],
            ..CopiedAxes::ALL
        };
        let made = angles(two.rotation(own, other));
        assert!(
            made.abs_diff_eq(DVec3::new(70.0, 20.0, -50.0), 1e-9),
            "{made}"
        );
        let order = EulerOrder::Zyx;
        let made = CopiedAxes { order, ..two }.rotation(own, other);
        let (own_zyx, other_zyx) = (order.angles(own), order.angles(other));
        let expected = DVec3::new(other_zyx.x, own_zyx.y, -other_zyx.z);
        assert!(order.angles(made).abs_diff_eq(expected, 1e-9));
        assert_eq!(CopiedAxes::ALL.rotation(own, other), other);
        let none = CopiedAxes {
            copied: [false; 3],
            ..x
        };
        assert_eq!(none.rotation(own, other), own);
        // All of them reversed: each angle is.
        let reversed = CopiedAxes {
            inverted: [true; 3],
            ..CopiedAxes::ALL
        };
        let made = angles(reversed.rotation(own, turn([10.0, 20.0, 30.0])));
        assert!(
            made.abs_diff_eq(DVec3::new(-10.0, -20.0, -30.0), 1e-9),
            "{made}"
        );
    }
}
