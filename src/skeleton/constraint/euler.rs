//! Euler angles: a rotation as three rotations about x, y and z, one after another.

use glam::{DQuat, DVec3, EulerRot};

/// The order of the three rotations; of XYZ, that about x comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EulerOrder {
    /// Rz Ry Rx.
    #[default]
    Xyz,
    /// Ry Rz Rx.
    Xzy,
    /// Rz Rx Ry.
    Yxz,
    /// Rx Rz Ry.
    Yzx,
    /// Ry Rx Rz.
    Zxy,
    /// Rx Ry Rz.
    Zyx,
}

impl EulerOrder {
    /// Every order, as lists show them.
    pub const ALL: [Self; 6] = [
        Self::Xyz,
        Self::Xzy,
        Self::Yxz,
        Self::Yzx,
        Self::Zxy,
        Self::Zyx,
    ];

    /// Its letters, the first rotation first.
    pub fn letters(self) -> &'static str {
        match self {
            Self::Xyz => "XYZ",
            Self::Xzy => "XZY",
            Self::Yxz => "YXZ",
            Self::Yzx => "YZX",
            Self::Zxy => "ZXY",
            Self::Zyx => "ZYX",
        }
    }

    /// The angles about x, y and z of a unit quaternion, radians. Where the second rotation is by +-90 degrees, only the sum or
    /// the difference of the other two is determined.
    pub fn angles(self, q: DQuat) -> DVec3 {
        let ([i, j, k], order) = self.axes();
        let mut angles = [0.0; 3];
        (angles[i], angles[j], angles[k]) = q.to_euler(order);
        angles.into()
    }

    /// The rotation of angles about x, y and z, radians.
    pub fn rotation(self, angles: DVec3) -> DQuat {
        let ([i, j, k], order) = self.axes();
        DQuat::from_euler(order, angles[i], angles[j], angles[k])
    }

    /// The axes in the order of their rotations, and that order about fixed axes in glam's terms.
    fn axes(self) -> ([usize; 3], EulerRot) {
        match self {
            Self::Xyz => ([0, 1, 2], EulerRot::XYZEx),
            Self::Xzy => ([0, 2, 1], EulerRot::XZYEx),
            Self::Yxz => ([1, 0, 2], EulerRot::YXZEx),
            Self::Yzx => ([1, 2, 0], EulerRot::YZXEx),
            Self::Zxy => ([2, 0, 1], EulerRot::ZXYEx),
            Self::Zyx => ([2, 1, 0], EulerRot::ZYXEx),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_has_its_own_angles() {
        let angles = DVec3::new(20.0, -50.0, 75.0).map(f64::to_radians);
        let [x, y, z] = [0, 1, 2].map(|a| DQuat::from_axis_angle(DVec3::AXES[a], angles[a]));
        let products = [
            z * y * x,
            y * z * x,
            z * x * y,
            x * z * y,
            y * x * z,
            x * y * z,
        ];
        for (order, product) in EulerOrder::ALL.into_iter().zip(products) {
            let q = order.rotation(angles);
            assert!(q.abs_diff_eq(product, 1e-14), "{order:?}");
            let again = order.angles(q);
            assert!(again.abs_diff_eq(angles, 1e-12), "{order:?}: {again}");
        }
    }

    #[test]
    fn gimbal_lock_is_finite_and_the_same_rotation() {
        for order in EulerOrder::ALL {
            let middle = order.axes().0[1];
            for turn in [90.0, -90.0] {
                let mut angles = DVec3::new(20.0, 25.0, 35.0);
                angles[middle] = turn;
                let q = order.rotation(angles.map(f64::to_radians));
                let found = order.angles(q);
                assert!(found.is_finite(), "{order:?}: {found}");
                let again = order.rotation(found);
                assert!(again.dot(q).abs() > 1.0 - 1e-9, "{order:?}");
            }
        }
    }
}
