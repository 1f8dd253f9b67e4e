//! Which child continues a bone.

use crate::skeleton::{JointId, Skeleton};
use glam::DAffine3;

/// A child nearer than this to its joint, as a fraction of the farthest one, gives the bone no direction.
const TOO_NEAR: f64 = 1e-3;

/// The child towards which the bone of a joint points: the one with the most joints below it, as the hand of a forearm with
/// twist bones, and of those the farthest, as the middle finger of a hand; of equals the first. `None` without a child that is
/// elsewhere. `rest_world`: n_joints world transforms of the rest pose.
pub(super) fn main_child(
    skeleton: &Skeleton,
    rest_world: &[DAffine3],
    joint: JointId,
) -> Option<JointId> {
    let place = |joint: JointId| Some(rest_world.get(joint.get())?.translation);
    let from = place(joint)?;
    let children = skeleton.children(joint).iter();
    let children = children.filter_map(|&child| Some((child, place(child)?.distance(from))));
    let children: Vec<(JointId, f64)> = children.filter(|(_, apart)| *apart > 0.0).collect();
    let farthest = children.iter().map(|child| child.1).fold(0.0, f64::max);
    let apart = children
        .iter()
        .filter(|child| child.1 >= TOO_NEAR * farthest);
    let found = apart.rev().max_by(|a, b| {
        let n_below = |joint| n_below(skeleton, joint);
        n_below(a.0).cmp(&n_below(b.0)).then(a.1.total_cmp(&b.1))
    });
    found.map(|child| child.0)
}

fn n_below(skeleton: &Skeleton, joint: JointId) -> usize {
    let (mut stack, mut n) = (vec![joint], 0);
    while let Some(joint) = stack.pop() {
        let children = skeleton.children(joint);
        n += children.len();
        stack.extend_from_slice(children);
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::{Joint, Pose};
    use glam::{DQuat, DVec3};

    #[test]
    fn a_bone_points_to_the_hand_and_not_to_a_helper() {
        let joint = |parent: Option<u32>, x: f64, y: f64| {
            let at = DVec3::new(x, y, 0.0);
            let rest = Transform::from_rotation_translation(DQuat::IDENTITY, at);
            Joint::new(String::new(), parent.map(JointId), rest)
        };
        let joints = vec![
            joint(None, 0.0, 0.0),
            // A helper in the same place, a twist bone, and the hand with a thumb and a finger.
            joint(Some(0), 1e-7, 0.0),
            joint(Some(0), 0.0, 3.0),
            joint(Some(0), 2.0, 0.0),
            joint(Some(3), 0.1, 0.3),
            joint(Some(3), 1.0, 0.0),
        ];
        let skeleton = Skeleton::new(joints).unwrap();
        let rest = Pose::rest(&skeleton).world_matrices(&skeleton);
        let of = |joint| main_child(&skeleton, &rest, JointId(joint));
        assert_eq!(of(0), Some(JointId(3)));
        assert_eq!(of(3), Some(JointId(5)));
        assert_eq!(of(5), None);
    }
}
