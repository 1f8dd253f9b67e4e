//! Bones: the segments that are drawn and picked.

use super::{JointIndex, Skeleton};
use crate::math::Ray;
use glam::{DAffine3, Vec3};

/// The segment from a joint to one of its children, or to a virtual tail where it has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// The joint it belongs to.
    pub joint: JointIndex,
    /// Where the joint is, world.
    pub head: Vec3,
    /// Where the bone ends, world.
    pub tail: Vec3,
}

/// The bones of the joints for which `shown` holds, posed by `world` (n_joints).
///
/// A leaf continues its parent's direction by half of the parent's length; a joint without parent and children
/// becomes a short bone along its own Y axis.
pub fn bones(
    skeleton: &Skeleton,
    world: &[DAffine3],
    shown: impl Fn(JointIndex) -> bool,
) -> Vec<Bone> {
    let place = |j: JointIndex| world[j.get()].translation.as_vec3();
    let mut bones = Vec::new();
    for j in (0..skeleton.len() as u32)
        .map(JointIndex)
        .filter(|&j| shown(j))
    {
        let head = place(j);
        let before = bones.len();
        let children = skeleton.children(j).iter().filter(|&&c| shown(c));
        bones.extend(children.map(|&c| Bone {
            joint: j,
            head,
            tail: place(c),
        }));
        if bones.len() == before {
            let along = match skeleton.joint(j).parent {
                Some(parent) if shown(parent) => (head - place(parent)) * 0.5,
                _ => Vec3::ZERO,
            };
            let along = if along.length_squared() > 0.0 {
                along
            } else {
                world[j.get()].transform_vector3(glam::DVec3::Y).as_vec3() * 0.1
            };
            bones.push(Bone {
                joint: j,
                head,
                tail: head + along,
            });
        }
    }
    bones
}

/// The bone within `reach_px` pixels of `ray`, and its distance in pixels; of several the one whose head is nearest to
/// the ray, since bones meet at their ends. `metres_per_pixel` gives the size of a pixel at a place.
pub fn pick(
    ray: &Ray,
    bones: &[Bone],
    reach_px: f32,
    metres_per_pixel: impl Fn(Vec3) -> f32,
) -> Option<(JointIndex, f32)> {
    let mut best: Option<(f32, JointIndex)> = None;
    for bone in bones {
        let (on_bone, distance) = nearest_on_segment(ray, bone.head, bone.tail);
        let pixels = distance / metres_per_pixel(on_bone).max(f32::MIN_POSITIVE);
        if pixels > reach_px {
            continue;
        }
        if best.is_none_or(|(d, _)| pixels < d) {
            best = Some((pixels, bone.joint));
        }
    }
    best.map(|(pixels, joint)| (joint, pixels))
}

/// The point of the segment nearest to the ray, and their distance.
fn nearest_on_segment(ray: &Ray, head: Vec3, tail: Vec3) -> (Vec3, f32) {
    let along = tail - head;
    let w = head - ray.origin;
    let b = along.dot(ray.direction);
    let e = along.length_squared();
    let denominator = e - b * b;
    let d = w.dot(ray.direction);
    let t = if denominator > 1e-12 * e.max(f32::MIN_POSITIVE) {
        ((b * d - along.dot(w)) / denominator).clamp(0.0, 1.0)
    } else {
        0.0
    };
    let on_bone = head + along * t;
    let s = (on_bone - ray.origin).dot(ray.direction).max(0.0);
    (on_bone, on_bone.distance(ray.origin + ray.direction * s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bone_under_the_ray_is_picked_within_reach() {
        let bone = |joint, x| Bone {
            joint: JointIndex(joint),
            head: Vec3::new(x, 0., 0.),
            tail: Vec3::new(x, 1., 0.),
        };
        let bones = [bone(0, 0.0), bone(1, 1.0)];
        let ray = Ray {
            origin: Vec3::new(0.9, 0.5, 4.0),
            direction: Vec3::NEG_Z,
        };
        let (joint, pixels) = pick(&ray, &bones, 12.0, |_| 0.01).unwrap();
        assert_eq!(joint, JointIndex(1));
        assert!((pixels - 10.0).abs() < 1e-3);
        assert_eq!(pick(&ray, &bones, 8.0, |_| 0.01), None);
    }
}
