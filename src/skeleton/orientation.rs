//! How a joint's space lies in the world, and what a turn of the world is in it.

use super::{JointIndex, Pose, Skeleton};
use crate::math::polar::polar;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// The orthonormal matrix nearest to `linear`; determinant -1 where it mirrors.
pub fn orientation(linear: DMat3) -> DMat3 {
    let (q, _) = polar(linear);
    if linear.determinant() < 0.0 {
        q * DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0))
    } else {
        q
    }
}

/// The turn that does in a space what `turn` does in the space that `map` (orthonormal) leads to: `map^-1 turn map`.
///
/// Only the axis changes, so the angle stays exact; a mirrored space turns the other way round.
pub fn turn_in_space(map: DMat3, turn: DQuat) -> DQuat {
    let axis = DVec3::new(turn.x, turn.y, turn.z);
    let seen = map.transpose() * axis * map.determinant().signum();
    DQuat::from_xyzw(seen.x, seen.y, seen.z, turn.w)
}

/// World transform of one joint: the product of the locals from its root down.
pub fn world_of(skeleton: &Skeleton, pose: &Pose, joint: JointIndex) -> DAffine3 {
    skeleton
        .ancestors(joint)
        .fold(pose.locals[joint.get()].to_affine(), |below, ancestor| {
            pose.locals[ancestor.get()].to_affine() * below
        })
}

/// World transform of the space that `joint`'s local transform is in.
pub fn parent_world_of(skeleton: &Skeleton, pose: &Pose, joint: JointIndex) -> DAffine3 {
    skeleton
        .joint(joint)
        .parent
        .map_or(DAffine3::IDENTITY, |parent| {
            world_of(skeleton, pose, parent)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn a_turn_of_the_world_seen_from_a_turned_space_keeps_its_angle() {
        // In a space turned a quarter about z, the world's x is minus y.
        let map = DMat3::from_quat(DQuat::from_rotation_z(FRAC_PI_2));
        let seen = turn_in_space(map, DQuat::from_rotation_x(0.3));
        assert!(seen.abs_diff_eq(DQuat::from_rotation_y(-0.3), 1e-15));
    }

    #[test]
    fn a_mirrored_space_turns_the_other_way_round() {
        let linear = DMat3::from_diagonal(DVec3::new(-2.0, 2.0, 2.0));
        let map = orientation(linear);
        let turn = DQuat::from_rotation_y(0.4);
        let expected = linear.inverse() * DMat3::from_quat(turn) * linear;
        let seen = DMat3::from_quat(turn_in_space(map, turn));
        assert!(seen.abs_diff_eq(expected, 1e-15));
    }
}
