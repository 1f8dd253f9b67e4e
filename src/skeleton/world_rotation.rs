//! Rotation of joints in world space.

use super::orientation::{orientation, parent_world_of, rotation_in_space, world_of};
use super::{JointId, Pose, Skeleton};
use glam::{DQuat, DVec3};

/// Rotates `joint` of `pose` in world space about its own position, and with it the joints that have it as logical ancestor.
pub fn rotate_in_world(skeleton: &Skeleton, pose: &mut Pose, joint: JointId, rotation: DQuat) {
    if skeleton.has_logical_parents() {
        let about = world_of(skeleton, pose, joint).translation;
        carry(skeleton, pose, [joint, joint], (about, rotation));
    }
    turn(skeleton, pose, joint, rotation);
}

/// Rotates a joint and its descendants alone.
fn turn(skeleton: &Skeleton, pose: &mut Pose, joint: JointId, rotation: DQuat) {
    let parent = orientation(parent_world_of(skeleton, pose, joint).matrix3);
    let local = &mut pose.locals[joint.get()];
    local.rotation = rotation_in_space(parent, rotation) * local.rotation;
}

/// Rotates the logical descendants of `joint` about a point of the world, except those that are descendants of what `top` carries
/// along.
fn carry(
    skeleton: &Skeleton,
    pose: &mut Pose,
    [top, joint]: [JointId; 2],
    (about, rotation): (DVec3, DQuat),
) {
    let follows = |j: JointId| j == top || skeleton.logical_ancestors(j).any(|above| above == top);
    for &child in skeleton.logical_children(joint) {
        if !skeleton.ancestors(child).any(follows) {
            let at = world_of(skeleton, pose, child).translation;
            let above = parent_world_of(skeleton, pose, child);
            let place = above
                .inverse()
                .transform_point3(about + rotation * (at - about));
            if place.is_finite() {
                pose.locals[child.get()].translation = place;
                turn(skeleton, pose, child, rotation);
            }
        }
        carry(skeleton, pose, [top, child], (about, rotation));
    }
}
