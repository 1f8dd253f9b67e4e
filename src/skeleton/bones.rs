//! Bones: the segments that are drawn and picked.

use super::{JointIndex, Skeleton};
use crate::math::Ray;
use glam::{DAffine3, Vec3};

/// The segment from a joint to one of its children, or to a virtual tail where it has none. World space, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// The joint at its head.
    pub joint: JointIndex,
    /// Where that joint is.
    pub head: Vec3,
    /// Where it points; equal to `head` for a joint without extent.
    pub tail: Vec3,
    /// A direction beside the bone, of any length: its roll.
    pub side: Vec3,
    /// Half of the width it is drawn with.
    pub radius: f32,
}

/// Half width of a bone, relative to its length.
const SLIMNESS: f32 = 0.075;
/// Half width of a joint's diamond at least, relative to the size of the skeleton.
const SMALLEST: f32 = 0.008;

/// The bones of a pose: one from each shown joint to each shown child, and a virtual tail where there is none.
///
/// Shapes: `world_from_joint` n_joints (shorter: the rest has no bones). A leaf's tail continues its parent's bone at
/// half of its length, and turns with the leaf. `shown` leaves out nodes that are not part of a skin.
pub fn bones(
    skeleton: &Skeleton,
    world_from_joint: &[DAffine3],
    shown: impl Fn(JointIndex) -> bool,
) -> Vec<Bone> {
    let place = |joint: JointIndex| {
        world_from_joint
            .get(joint.get())
            .map(|world| world.translation.as_vec3())
            .filter(|p| p.is_finite())
    };
    let shown = |&joint: &JointIndex| shown(joint) && place(joint).is_some();
    let mut bones = Vec::new();
    let mut total_length = 0.0;
    for joint in (0..skeleton.len() as u32).map(JointIndex).filter(shown) {
        let Some(head) = place(joint) else { continue };
        let side = world_from_joint[joint.get()].matrix3.x_axis.as_vec3();
        let mut bone_to = |tail: Vec3| {
            let length = head.distance(tail);
            total_length += length;
            bones.push(Bone {
                joint,
                head,
                tail,
                side,
                radius: length * SLIMNESS,
            });
        };
        let mut children = skeleton
            .children(joint)
            .iter()
            .copied()
            .filter(shown)
            .filter_map(place)
            .peekable();
        if children.peek().is_some() {
            children.for_each(bone_to);
        } else {
            let parent = skeleton.joint(joint).parent.filter(shown).and_then(place);
            let length = parent.map_or(0.0, |parent| head.distance(parent) * 0.5);
            let rest = &skeleton.joint(joint).rest;
            // At rest the parent's bone comes along the joint's own translation.
            let along_in_joint = rest.rotation.inverse() * rest.translation;
            let along = world_from_joint[joint.get()].transform_vector3(along_in_joint);
            bone_to(head + along.as_vec3().normalize_or_zero() * length);
        }
    }
    // Long bones are not clubs, short ones stay visible: half widths near that of the average bone. Where no joint has
    // children the size of the whole gives the measure.
    let (low, high) = bones
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), b| {
            (low.min(b.head), high.max(b.head))
        });
    let spread = if bones.len() > 1 {
        low.distance(high)
    } else {
        0.0
    };
    let typical = (total_length / bones.len().max(1) as f32 * SLIMNESS)
        .max(spread * SMALLEST)
        .max(1e-5);
    for bone in &mut bones {
        let no_extent = bone.radius < typical * 0.02;
        bone.radius = bone.radius.clamp(typical * 0.35, typical * 1.6);
        if no_extent {
            bone.tail = bone.head;
            bone.radius = typical;
        } else {
            // A short bone is never wider than long.
            bone.radius = bone.radius.min(bone.head.distance(bone.tail) * 0.3);
        }
    }
    bones
}

/// Index of the bone under the pointer: the nearest on the screen within `reach_px` of its outline, and the nearest to
/// the eye among those the ray goes through.
///
/// `metres_per_pixel`: size of a pixel at a world point ([`crate::math::Camera::metres_per_pixel`]).
pub fn pick(
    ray: &Ray,
    bones: &[Bone],
    reach_px: f32,
    metres_per_pixel: impl Fn(Vec3) -> f32,
) -> Option<usize> {
    bones
        .iter()
        .enumerate()
        .filter_map(|(index, bone)| {
            let (along, point) = closest_on_segment(ray, bone.head, bone.tail);
            let on_ray = ray.origin + ray.direction * along;
            let gap = on_ray.distance(point) - bone.radius;
            let gap_px = (gap / metres_per_pixel(point)).max(0.0);
            (along >= 0.0 && gap_px <= reach_px).then_some((index, gap_px, along))
        })
        .min_by(|a, b| {
            (a.1.round(), a.2)
                .partial_cmp(&(b.1.round(), b.2))
                .unwrap_or(std::cmp::Ordering::Equal)
        })
        .map(|(index, ..)| index)
}

/// How far along `ray` it comes closest to the bone.
pub fn distance_along(ray: &Ray, bone: &Bone) -> f32 {
    closest_on_segment(ray, bone.head, bone.tail).0
}

/// Where the line of `ray` and the segment come closest: (distance along the ray, point of the segment).
fn closest_on_segment(ray: &Ray, head: Vec3, tail: Vec3) -> (f32, Vec3) {
    let segment = tail - head;
    let from_head = ray.origin - head;
    let a = segment.length_squared();
    let b = segment.dot(ray.direction);
    // |segment x direction|^2; zero where the ray looks along the bone.
    let across = a - b * b;
    let t = if across > a * 1e-8 && a > 0.0 {
        (segment.dot(from_head) - b * ray.direction.dot(from_head)) / across
    } else {
        0.0
    };
    let point = head + segment * t.clamp(0.0, 1.0);
    ((point - ray.origin).dot(ray.direction), point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Transform;
    use crate::skeleton::{Joint, Pose};
    use glam::DVec3;

    fn skeleton(joints: &[(Option<u32>, f64)]) -> Skeleton {
        let joints = joints
            .iter()
            .map(|&(parent, y)| Joint {
                name: String::new(),
                parent: parent.map(JointIndex),
                rest: Transform {
                    translation: DVec3::new(0., y, 0.),
                    ..Transform::IDENTITY
                },
                source_node: None,
            })
            .collect();
        Skeleton::new(joints).unwrap()
    }

    fn at_rest(skeleton: &Skeleton) -> Vec<Bone> {
        let world = Pose::rest(skeleton).world_matrices(skeleton);
        bones(skeleton, &world, |_| true)
    }

    fn bone(head: Vec3, tail: Vec3) -> Bone {
        Bone {
            joint: JointIndex(0),
            head,
            tail,
            side: Vec3::X,
            radius: 0.01,
        }
    }

    /// A ray along -Z through (x, y).
    fn ray(x: f32, y: f32) -> Ray {
        Ray {
            origin: Vec3::new(x, y, 10.0),
            direction: Vec3::NEG_Z,
        }
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
    fn a_leaf_turns_with_its_joint() {
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
    fn the_nearest_on_the_screen_is_picked() {
        let bones = [
            bone(Vec3::ZERO, Vec3::Y),
            bone(Vec3::new(0.5, 0., 0.), Vec3::new(0.5, 1., 0.)),
        ];
        let found = |x, y| pick(&ray(x, y), &bones, 6.0, |_| 0.01);
        assert_eq!(found(0.03, 0.5), Some(0));
        assert_eq!(found(0.45, 0.5), Some(1));
        assert_eq!(found(0.25, 0.5), None);
        assert_eq!(found(0.0, 1.5), None);
    }

    #[test]
    fn the_nearer_of_two_in_line_is_picked_and_none_behind_the_eye() {
        let along_z = |z| bone(Vec3::new(0., 0., z), Vec3::new(0., 1., z));
        let bones = [along_z(-1.0), along_z(2.0), along_z(11.0)];
        assert_eq!(pick(&ray(0., 0.5), &bones, 6.0, |_| 0.01), Some(1));
    }

    #[test]
    fn a_ray_along_a_bone_still_hits_it() {
        let bones = [bone(Vec3::ZERO, Vec3::Z), bone(Vec3::X, Vec3::X)];
        assert_eq!(pick(&ray(0., 0.), &bones, 6.0, |_| 0.01), Some(0));
        assert_eq!(pick(&ray(1., 0.), &bones, 6.0, |_| 0.01), Some(1));
    }
}
