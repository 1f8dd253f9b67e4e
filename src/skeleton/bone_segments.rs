//! Bones as segments.

use super::orientation::world_of;
use super::{JointId, Pose, Skeleton};
use glam::{DAffine3, DVec3, Vec3};

/// The segment from a joint to one of its children, or to a virtual tail where it has none. World space, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// The joint at its head.
    pub joint: JointId,
    /// The position of that joint.
    pub head: Vec3,
    /// The end of the bone; equal to `head` for a joint of zero length.
    pub tail: Vec3,
    /// A direction perpendicular to the bone, of any length: its roll.
    pub side: Vec3,
    /// Half the width it is drawn with.
    pub radius: f32,
    /// A helper has no weights, such as a control or a marker: drawn thinner and dimmer.
    pub helper: bool,
}

/// Half width of a bone, relative to its length.
const SLIMNESS: f32 = 0.075;
/// Width of a helper, as a fraction of that of other bones.
const HELPER_WIDTH: f32 = 0.45;
/// Longest segment from a weighted bone to a helper, as a fraction of the mean bone length.
const STUB: f32 = 0.3;
/// The smallest half width of a joint's octahedron, as a fraction of the size of the skeleton.
const SMALLEST: f32 = 0.008;

/// The bones of a pose: one from each shown joint to each shown child, and a virtual tail where there is no child.
///
/// Shapes: `world_from_joint` n_joints (if shorter: the other joints have no bones). A leaf's tail continues its
/// parent's bone by half of its length, and rotates with the leaf. A joint whose tail the user set has only the bone to
/// that tail. `shown` excludes nodes that are not part of a skin.
pub fn bones(
    skeleton: &Skeleton,
    world_from_joint: &[DAffine3],
    shown: impl Fn(JointId) -> bool,
) -> Vec<Bone> {
    bones_of_rig(skeleton, world_from_joint, shown, |_| true)
}

/// As [`bones`], with helpers distinguished from the bones of `weighted` joints.
///
/// Where a joint has children with such bones, its other children get short stubs instead of long fans to distant
/// controls; a single child without weights is the joint's tail. A helper without children has zero length. If no shown
/// joint is weighted, none is a helper.
pub fn bones_of_rig(
    skeleton: &Skeleton,
    world_from_joint: &[DAffine3],
    shown: impl Fn(JointId) -> bool,
    weighted: impl Fn(JointId) -> bool,
) -> Vec<Bone> {
    let position = |joint: JointId| {
        world_from_joint
            .get(joint.get())
            .map(|world| world.translation.as_vec3())
            .filter(|p| p.is_finite())
    };
    let shown = |&joint: &JointId| shown(joint) && position(joint).is_some();
    let joints = || skeleton.live_joints().filter(shown);
    let is_rig = joints().any(&weighted);
    let weighted = |joint: JointId| !is_rig || weighted(joint);
    // Whether a joint or a descendant has weights.
    let mut moves = vec![false; skeleton.len()];
    for joint in joints().filter(|&j| weighted(j)) {
        moves[joint.get()] = true;
        for above in skeleton.logical_ancestors(joint) {
            if std::mem::replace(&mut moves[above.get()], true) {
                break;
            }
        }
    }
    let mut bones = Vec::new();
    for joint in joints() {
        let Some(head) = position(joint) else {
            continue;
        };
        let side = world_from_joint[joint.get()].matrix3.x_axis.as_vec3();
        let mut bone_to = |tail: Vec3, helper: bool, stub: bool| {
            let bone = Bone {
                joint,
                head,
                tail,
                side,
                radius: head.distance(tail) * SLIMNESS,
                helper,
            };
            bones.push((bone, stub));
        };
        if let Some(tail) = skeleton.joint(joint).rule.tail {
            let tail = world_from_joint[joint.get()]
                .transform_point3(tail)
                .as_vec3();
            bone_to(
                if tail.is_finite() { tail } else { head },
                !weighted(joint),
                false,
            );
            continue;
        }
        let children = || {
            skeleton
                .logical_children(joint)
                .iter()
                .copied()
                .filter(shown)
        };
        let n_children = children().count();
        let leads_on = children().any(|child| moves[child.get()]);
        if leads_on || n_children == 1 || (n_children > 0 && !moves[joint.get()]) {
            for (child, tail) in children().filter_map(|child| Some((child, position(child)?))) {
                let aside = leads_on && !moves[child.get()];
                bone_to(tail, aside || !weighted(joint), aside);
            }
            continue;
        }
        let parent = skeleton.logical_parent(joint);
        let parent = parent.filter(shown).and_then(position);
        let length = match parent {
            Some(parent) if weighted(joint) => head.distance(parent) * 0.5,
            _ => 0.0,
        };
        let along_in_joint = if skeleton.joint(joint).rule.logical_parent.is_some() {
            from_logical_parent(skeleton, joint)
        } else {
            let rest = &skeleton.joint(joint).rest;
            // In the rest pose the parent's bone points along the joint's own translation.
            rest.rotation.inverse() * rest.translation
        };
        let along = world_from_joint[joint.get()].transform_vector3(along_in_joint);
        bone_to(
            head + along.as_vec3().normalize_or_zero() * length,
            !weighted(joint),
            false,
        );
    }
    // Where all joints are at one position, the distances from the parent nodes set the scale.
    let way_from_above = joints().filter_map(|joint| {
        let parent = skeleton.logical_parent(joint).and_then(position)?;
        Some(position(joint)?.distance(parent))
    });
    let measure = way_from_above.fold(0.0, f32::max);
    fit_widths(bones, measure)
}

/// The default tail of `joint` in its rest space: the mean position of its children; for a leaf, an extension by half
/// of its parent's bone.
pub fn automatic_tail(skeleton: &Skeleton, joint: JointId) -> DVec3 {
    if skeleton.has_logical_parents() {
        return logical_tail(skeleton, joint);
    }
    let children = skeleton.children(joint);
    if !children.is_empty() {
        let positions = children.iter().map(|&c| skeleton.joint(c).rest.translation);
        return positions.sum::<DVec3>() / children.len() as f64;
    }
    let rest = &skeleton.joint(joint).rest;
    let half = rest.linear().inverse() * rest.translation * 0.5;
    if skeleton.joint(joint).parent.is_some() && half.is_finite() {
        half
    } else {
        DVec3::ZERO
    }
}

/// As [`automatic_tail`], along logical parents.
fn logical_tail(skeleton: &Skeleton, joint: JointId) -> DVec3 {
    let rest = Pose::rest(skeleton);
    let children = skeleton.logical_children(joint);
    let tail = if children.is_empty() {
        from_logical_parent(skeleton, joint) * 0.5
    } else {
        let places = children
            .iter()
            .map(|&c| world_of(skeleton, &rest, c).translation);
        let mean = places.sum::<DVec3>() / children.len() as f64;
        world_of(skeleton, &rest, joint)
            .inverse()
            .transform_point3(mean)
    };
    if tail.is_finite() { tail } else { DVec3::ZERO }
}

/// The position of `child` in the rest space of `joint`, metres: the tail of the bone between them. Not finite for a joint of
/// scale 0 that is not its parent.
pub fn tail_at(skeleton: &Skeleton, joint: JointId, child: JointId) -> DVec3 {
    let entry = skeleton.joint(child);
    if entry.parent == Some(joint) {
        return entry.rest.translation;
    }
    let rest = Pose::rest(skeleton);
    let place = world_of(skeleton, &rest, child).translation;
    let world = world_of(skeleton, &rest, joint);
    world.inverse().transform_point3(place)
}

/// The vector from the logical parent to `joint` in its rest space; zero for a root.
pub fn from_logical_parent(skeleton: &Skeleton, joint: JointId) -> DVec3 {
    let rest = Pose::rest(skeleton);
    let world = world_of(skeleton, &rest, joint);
    let way = skeleton
        .logical_parent(joint)
        .map_or(DVec3::ZERO, |parent| {
            let from = world_of(skeleton, &rest, parent).translation;
            world.matrix3.inverse() * (world.translation - from)
        });
    if way.is_finite() { way } else { DVec3::ZERO }
}

/// Limits half widths to near that of the mean bone, so that long bones are not thick and short ones stay visible.
/// Where no joint has children, `measure`, the size of the whole, sets the scale. Each of `bones` comes with whether it
/// is a stub.
fn fit_widths(bones: Vec<(Bone, bool)>, measure: f32) -> Vec<Bone> {
    let (low, high) = bones
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), b| {
            (low.min(b.0.head), high.max(b.0.head))
        });
    let spread = if bones.len() > 1 {
        low.distance(high)
    } else {
        0.0
    };
    let all_help = bones.iter().all(|(b, _)| b.helper);
    let (mut total_length, mut n) = (0.0, 0.0);
    for (bone, _) in bones.iter().filter(|(b, _)| all_help || !b.helper) {
        total_length += bone.head.distance(bone.tail);
        n += 1.0;
    }
    let average = total_length / f32::max(n, 1.0);
    let typical = (average * SLIMNESS).max(spread * SMALLEST);
    let typical = if typical > 0.0 {
        typical.max(1e-5)
    } else {
        (measure * SLIMNESS).max(1e-5)
    };
    let fit = |(mut bone, stub): (Bone, bool)| {
        let length = bone.head.distance(bone.tail);
        let width = if bone.helper { HELPER_WIDTH } else { 1.0 };
        if bone.radius < typical * 0.02 {
            bone.tail = bone.head;
            bone.radius = typical * width;
            return bone;
        }
        if stub && length > average * STUB {
            bone.tail = bone.head + (bone.tail - bone.head) * (average * STUB / length);
        }
        bone.radius = bone.radius.clamp(typical * 0.35, typical * 1.6) * width;
        // A short bone is not drawn wider than long.
        bone.radius = bone.radius.min(bone.head.distance(bone.tail) * 0.3);
        bone
    };
    bones.into_iter().map(fit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::{Joint, JointRule, Pose};

    fn skeleton(joints: &[(Option<u32>, f64)]) -> Skeleton {
        let joints = joints
            .iter()
            .map(|&(parent, y)| Joint {
                name: String::new(),
                parent: parent.map(JointId),
                rest: Transform {
                    translation: DVec3::new(0., y, 0.),
                    ..Transform::IDENTITY
                },
                source_node: None,
                content_of: None,
                removed: false,
                rule: JointRule::default(),
            })
            .collect();
        Skeleton::new(joints).unwrap()
    }

    fn at_rest(skeleton: &Skeleton) -> Vec<Bone> {
        let world = Pose::rest(skeleton).world_matrices(skeleton);
        bones(skeleton, &world, |_| true)
    }

    #[test]
    fn one_bone_a_child_and_a_virtual_tail_at_a_leaf() {
        let found = at_rest(&skeleton(&[
            (None, 0.0),
            (Some(0), 1.0),
            (Some(0), -1.0),
            (Some(1), 1.0),
        ]));
        let ends: Vec<(u32, f32, f32)> = found
            .iter()
            .map(|b| (b.joint.0, b.head.y, b.tail.y))
            .collect();
        assert_eq!(
            ends,
            [
                (0, 0., 1.),
                (0, 0., -1.),
                (1, 1., 2.),
                (2, -1., -1.5),
                (3, 2., 2.5)
            ]
        );
    }

    #[test]
    fn a_tail_that_was_set_is_the_one_bone_of_its_joint() {
        let mut joints = skeleton(&[(None, 0.0), (Some(0), 1.0), (Some(0), -1.0)])
            .joints()
            .to_vec();
        joints[0].rule.tail = Some(DVec3::new(0.0, 0.5, 0.25));
        joints[0].rest.translation.x = 3.0;
        let found = at_rest(&Skeleton::new(joints).unwrap());
        let of_root: Vec<&Bone> = found.iter().filter(|b| b.joint.0 == 0).collect();
        assert_eq!(of_root.len(), 1);
        assert!(of_root[0].tail.distance(Vec3::new(3.0, 0.5, 0.25)) < 1e-6);
        assert_eq!(found.len(), 3, "its children have theirs");
    }

    #[test]
    fn the_automatic_tail_is_where_the_bone_leads() {
        let tree = skeleton(&[(None, 0.0), (Some(0), 1.0), (Some(0), 3.0), (Some(1), 4.0)]);
        let tails = [0, 1, 3].map(|j| automatic_tail(&tree, JointId(j)));
        assert_eq!(tails, [2.0, 4.0, 2.0].map(|y| DVec3::new(0.0, y, 0.0)));
        let lone = automatic_tail(&skeleton(&[(None, 2.0)]), JointId(0));
        assert_eq!(lone, DVec3::ZERO);
    }

    #[test]
    fn a_leaf_rotates_with_its_joint() {
        let skeleton = skeleton(&[(None, 0.0), (Some(0), 1.0)]);
        let mut pose = Pose::rest(&skeleton);
        pose.locals[1].rotation = glam::DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2);
        let world = pose.world_matrices(&skeleton);
        let bones = bones(&skeleton, &world, |_| true);
        assert!(bones[1].tail.abs_diff_eq(Vec3::new(-0.5, 1.0, 0.0), 1e-6));
    }

    #[test]
    fn a_joint_on_top_of_another_has_no_extent() {
        let bones = at_rest(&skeleton(&[(None, 0.0), (Some(0), 1.0), (Some(1), 0.0)]));
        assert_eq!(bones[1].head, bones[1].tail);
        assert!(bones.iter().all(|b| b.radius > 0.0));
    }

    #[test]
    fn helpers_are_thin_stubs_beside_the_chain_that_moves_something() {
        // A root, a chain of three above it, and a control far below the root with a marker of its own.
        let skeleton = skeleton(&[
            (None, 0.0),
            (Some(0), 1.0),
            (Some(1), 1.0),
            (Some(2), 1.0),
            (Some(0), -40.0),
            (Some(4), -1.0),
        ]);
        let world = Pose::rest(&skeleton).world_matrices(&skeleton);
        let weighted = |j: JointId| matches!(j.0, 1..=3);
        let bones = bones_of_rig(&skeleton, &world, |_| true, weighted);
        let found: Vec<(u32, bool, f32)> = bones
            .iter()
            .map(|b| (b.joint.0, b.helper, b.head.distance(b.tail)))
            .collect();
        assert_eq!(found[0], (0, true, 1.0), "the root leads to the chain");
        let (joint, helper, length) = found[1];
        assert!(joint == 0 && helper && length < 0.5, "{length}");
        assert_eq!(
            found[2..5],
            [(1, false, 1.0), (2, false, 1.0), (3, false, 0.5)]
        );
        assert_eq!(found[5], (4, true, 1.0));
        assert_eq!(found[6], (5, true, 0.0), "a marker has no extent");
        assert!(bones[0].radius < bones[2].radius);
    }

    #[test]
    fn a_single_child_without_weights_is_the_tail() {
        let skeleton = skeleton(&[(None, 0.0), (Some(0), 1.0), (Some(1), 0.7)]);
        let world = Pose::rest(&skeleton).world_matrices(&skeleton);
        let bones = bones_of_rig(&skeleton, &world, |_| true, |j| j.0 < 2);
        assert_eq!((bones[1].helper, bones[1].tail.y), (false, 1.7));
    }
}
