//! The orientation of a joint's space in the world, and world rotations expressed in it.

use super::{JointId, Pose, Skeleton};
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

/// `rotation`, given in the target space of `map` (orthonormal), expressed in its source space: `map^-1 rotation map`.
///
/// Only the axis changes, so the angle stays exact; in a mirrored space the rotation has the opposite sense.
pub fn rotation_in_space(map: DMat3, rotation: DQuat) -> DQuat {
    let axis = DVec3::new(rotation.x, rotation.y, rotation.z);
    let seen = map.transpose() * axis * map.determinant().signum();
    DQuat::from_xyzw(seen.x, seen.y, seen.z, rotation.w)
}

/// World transform of one joint, as in [`Pose::world_matrices`].
pub fn world_of(skeleton: &Skeleton, pose: &Pose, joint: JointId) -> DAffine3 {
    world_and_unstretched(skeleton, pose, joint).0
}

/// World transform of the space of `joint`'s rotation: its parent's, without the parent's own stretch where the joint
/// compensates for it.
pub fn parent_world_of(skeleton: &Skeleton, pose: &Pose, joint: JointId) -> DAffine3 {
    let joint = skeleton.joint(joint);
    let Some(parent) = joint.parent else {
        return DAffine3::IDENTITY;
    };
    let (world, unstretched) = world_and_unstretched(skeleton, pose, parent);
    if joint.rule.compensates_scale {
        DAffine3 {
            matrix3: unstretched,
            ..world
        }
    } else {
        world
    }
}

/// A joint's world transform, and its linear part without the joint's own stretch.
fn world_and_unstretched(skeleton: &Skeleton, pose: &Pose, joint: JointId) -> (DAffine3, DMat3) {
    // Constraints and tools read single joints in every frame: only deeper trees than any rig's allocate.
    let depth = skeleton.ancestors(joint).count();
    let (mut near, mut deep) = ([joint; 64], Vec::new());
    let chain = if depth < near.len() {
        &mut near[..=depth]
    } else {
        deep.resize(depth + 1, joint);
        &mut deep[..]
    };
    for (slot, above) in (chain.iter_mut().rev().skip(1)).zip(skeleton.ancestors(joint)) {
        *slot = above;
    }
    let (mut world, mut unstretched) = (DAffine3::IDENTITY, DMat3::IDENTITY);
    for &mut joint in chain {
        let local = &pose.locals[joint.get()];
        let above = if skeleton.joint(joint).rule.compensates_scale {
            unstretched
        } else {
            world.matrix3
        };
        unstretched = above * DMat3::from_quat(local.rotation);
        world = DAffine3 {
            matrix3: above * local.linear(),
            translation: world.transform_point3(local.translation),
        };
    }
    (world, unstretched)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn a_world_rotation_in_a_rotated_space_keeps_its_angle() {
        // In a space rotated by a quarter turn about z, the world's x is minus y.
        let map = DMat3::from_quat(DQuat::from_rotation_z(FRAC_PI_2));
        let seen = rotation_in_space(map, DQuat::from_rotation_x(0.3));
        assert!(seen.abs_diff_eq(DQuat::from_rotation_y(-0.3), 1e-15));
    }

    #[test]
    fn a_mirrored_space_reverses_the_rotation() {
        let linear = DMat3::from_diagonal(DVec3::new(-2.0, 2.0, 2.0));
        let map = orientation(linear);
        let turn = DQuat::from_rotation_y(0.4);
        let expected = linear.inverse() * DMat3::from_quat(turn) * linear;
        let seen = DMat3::from_quat(rotation_in_space(map, turn));
        assert!(seen.abs_diff_eq(expected, 1e-15));
    }
}
