//! The direction and the length of bones at rest.

use crate::skeleton::{JointId, Skeleton};
use glam::{DAffine3, DVec3};

/// A bone at rest, world space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoneLine {
    /// The joint, metres.
    pub head: DVec3,
    /// Where it leads, metres.
    pub tail: DVec3,
}

impl BoneLine {
    /// Metres.
    pub fn length(&self) -> f64 {
        self.head.distance(self.tail)
    }

    /// Unit; zero for a bone without length.
    pub fn axis(&self) -> DVec3 {
        (self.tail - self.head).normalize_or_zero()
    }
}

/// n_joints: the bone of each joint. It leads to the child that is farthest, of three or more children to their mean place;
/// a leaf continues its parent's bone by half of its length. Children that lead to no `bone` count where there is no other.
pub(super) fn bone_lines(
    skeleton: &Skeleton,
    world: &[DAffine3],
    is_bone: &[bool],
) -> Vec<BoneLine> {
    let leads = leads_to_bones(skeleton, is_bone);
    let place = |joint: JointId| world[joint.get()].translation;
    let mut lines = vec![BoneLine::default(); skeleton.len()];
    let mut order: Vec<JointId> = skeleton.live_joints().collect();
    order.sort_by_key(|&joint| skeleton.logical_rank(joint));
    for joint in order {
        let head = place(joint);
        let all = skeleton.logical_children(joint);
        let bones = || all.iter().copied().filter(|child| leads[child.get()]);
        let ends: Vec<DVec3> = if bones().next().is_some() {
            bones().map(place).collect()
        } else {
            all.iter().copied().map(place).collect()
        };
        let tail = match &ends[..] {
            [] => leaf_tail(skeleton, joint, head, &lines),
            [a, b] if b.distance(head) > a.distance(head) => *b,
            [a] | [a, _] => *a,
            several => several.iter().sum::<DVec3>() / several.len() as f64,
        };
        let tail = if tail.is_finite() { tail } else { head };
        lines[joint.get()] = BoneLine { head, tail };
    }
    lines
}

/// The tail of a joint without children.
fn leaf_tail(skeleton: &Skeleton, joint: JointId, head: DVec3, lines: &[BoneLine]) -> DVec3 {
    let Some(parent) = skeleton.logical_parent(joint) else {
        return head;
    };
    let parent = &lines[parent.get()];
    head + (head - parent.head).normalize_or_zero() * (parent.length() * 0.5)
}

/// n_joints: whether a joint is a bone or above one.
pub(super) fn leads_to_bones(skeleton: &Skeleton, is_bone: &[bool]) -> Vec<bool> {
    let mut leads = vec![false; skeleton.len()];
    for joint in skeleton.live_joints().filter(|j| is_bone[j.get()]) {
        leads[joint.get()] = true;
        for above in skeleton.logical_ancestors(joint) {
            if std::mem::replace(&mut leads[above.get()], true) {
                break;
            }
        }
    }
    leads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::{Joint, Pose};

    #[test]
    fn a_bone_leads_to_its_farthest_child_or_to_the_mean_of_several() {
        let at = |parent: Option<u32>, x: f64, y: f64| {
            let mut rest = Transform::IDENTITY;
            rest.translation = DVec3::new(x, y, 0.0);
            Joint::new("", parent.map(JointId), rest)
        };
        let skeleton = Skeleton::new(vec![
            at(None, 0.0, 0.0),
            at(Some(0), 0.0, 1.0),
            at(Some(0), 0.0, 3.0),
            at(Some(2), 1.0, 2.0),
            at(Some(2), -1.0, 2.0),
            at(Some(2), 0.0, 2.0),
        ])
        .unwrap();
        let world = Pose::rest(&skeleton).world_matrices(&skeleton);
        let lines = bone_lines(&skeleton, &world, &[true; 6]);
        assert_eq!(lines[0].tail, DVec3::Y * 3.0);
        assert_eq!(lines[2].tail, DVec3::Y * 5.0);
        assert!(lines[5].tail.distance(DVec3::Y * 6.0) < 1e-12);
        // Without bones below it, a joint leads to what there is.
        let lines = bone_lines(&skeleton, &world, &[true, true, false, false, false, false]);
        assert_eq!((lines[0].tail, lines[2].length()), (DVec3::Y, 2.0));
    }
}
