//! Euler angles: a rotation as three rotations about x, y and z, one after another.

use glam::{DMat3, DQuat, DVec3};
use std::f64::consts::PI;

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

    /// The angles about x, y and z of a unit quaternion, radians. Where the second rotation is by +-90 degrees the third one is 0.
    pub fn angles(self, q: DQuat) -> DVec3 {
        let ([i, j, k], sign) = self.axes();
        let v = q.xyz().to_array();
        let renamed = DQuat::from_xyzw(sign * v[i], sign * v[j], sign * v[k], q.w);
        let found = angles_xyz(renamed) * sign;
        let mut angles = [0.0; 3];
        (angles[i], angles[j], angles[k]) = (found.x, found.y, found.z);
        angles.into()
    }

    /// The rotation of angles about x, y and z, radians.
    pub fn rotation(self, angles: DVec3) -> DQuat {
        let (axes, _) = self.axes();
        let [first, second, third] = axes.map(|axis| match axis {
            0 => DQuat::from_rotation_x(angles.x),
            1 => DQuat::from_rotation_y(angles.y),
            _ => DQuat::from_rotation_z(angles.z),
        });
        third * second * first
    }

    /// The axes, the first rotation first, and 1 where they are x, y, z renamed in a circle, else -1: a mirror image.
    fn axes(self) -> ([usize; 3], f64) {
        match self {
            Self::Xyz => ([0, 1, 2], 1.0),
            Self::Xzy => ([0, 2, 1], -1.0),
            Self::Yxz => ([1, 0, 2], -1.0),
            Self::Yzx => ([1, 2, 0], 1.0),
            Self::Zxy => ([2, 0, 1], 1.0),
            Self::Zyx => ([2, 1, 0], -1.0),
        }
    }
}

/// The angles of Rz Ry Rx.
fn angles_xyz(q: DQuat) -> DVec3 {
    let m = DMat3::from_quat(q);
    let sine = -m.x_axis.z;
    if sine.abs() > 1.0 - 1e-12 {
        let x = f64::atan2(-m.z_axis.y, m.y_axis.y);
        return DVec3::new(x, sine.signum() * PI / 2.0, 0.0);
    }
    DVec3::new(
        f64::atan2(m.y_axis.z, m.z_axis.z),
        sine.asin(),
        f64::atan2(m.x_axis.y, m.x_axis.x),
    )
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
                let again = order.rotation(order.angles(q));
                assert!(again.dot(q).abs() > 1.0 - 1e-9, "{order:?}");
            }
        }
    }
}
