//! The bone under the pointer, or near it.

use super::Bone;
use super::bone_shape::distance_to;
use crate::math::Ray;
use glam::Vec3;

/// The index of the bone drawn on top where `ray` passes, within the distance `farthest` along it.
pub fn pick_drawn(ray: &Ray, bones: &[Bone], farthest: f32) -> Option<usize> {
    let hits = bones.iter().enumerate();
    hits.filter_map(|(index, bone)| Some((index, distance_to(ray, bone)?)))
        .filter(|(_, distance)| *distance <= farthest)
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(index, _)| index)
}

/// The index of the bone near the pointer: the nearest on the screen within `reach_px` of its outline; among equals,
/// the nearest to the camera.
///
/// `metres_per_pixel`: size of a pixel at a world point ([`crate::math::Camera::metres_per_pixel`]).
pub fn pick_near(
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

/// The distance along `ray` of its closest point to the bone.
pub fn distance_along(ray: &Ray, bone: &Bone) -> f32 {
    closest_on_segment(ray, bone.head, bone.tail).0
}

/// The closest points of the line of `ray` and the segment: (distance along the ray, point of the segment).
fn closest_on_segment(ray: &Ray, head: Vec3, tail: Vec3) -> (f32, Vec3) {
    let segment = tail - head;
    let from_head = ray.origin - head;
    let a = segment.length_squared();
    let b = segment.dot(ray.direction);
    // |segment x direction|^2; zero where the ray is parallel to the bone.
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
    use crate::skeleton::JointId;

    fn bone(head: Vec3, tail: Vec3) -> Bone {
        Bone {
            joint: JointId(0),
            head,
            tail,
            side: Vec3::X,
            radius: 0.01,
            helper: false,
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
    fn the_nearest_on_the_screen_is_picked() {
        let bones = [
            bone(Vec3::ZERO, Vec3::Y),
            bone(Vec3::new(0.5, 0., 0.), Vec3::new(0.5, 1., 0.)),
        ];
        let found = |x, y| pick_near(&ray(x, y), &bones, 6.0, |_| 0.01);
        assert_eq!(found(0.03, 0.5), Some(0));
        assert_eq!(found(0.45, 0.5), Some(1));
        assert_eq!(found(0.25, 0.5), None);
        assert_eq!(found(0.0, 1.5), None);
    }

    #[test]
    fn the_nearer_of_two_in_line_is_picked_and_none_behind_the_eye() {
        let along_z = |z| bone(Vec3::new(0., 0., z), Vec3::new(0., 1., z));
        let bones = [along_z(-1.0), along_z(2.0), along_z(11.0)];
        assert_eq!(pick_near(&ray(0., 0.5), &bones, 6.0, |_| 0.01), Some(1));
    }

    #[test]
    fn a_ray_along_a_bone_still_hits_it() {
        let bones = [bone(Vec3::ZERO, Vec3::Z), bone(Vec3::X, Vec3::X)];
        assert_eq!(pick_near(&ray(0., 0.), &bones, 6.0, |_| 0.01), Some(0));
        assert_eq!(pick_near(&ray(1., 0.), &bones, 6.0, |_| 0.01), Some(1));
    }

    #[test]
    fn what_is_drawn_on_top_is_picked_within_the_distance() {
        let along_z = |z| Bone {
            radius: 0.2,
            ..bone(Vec3::new(0., 0., z), Vec3::new(0., 1., z))
        };
        let bones = [along_z(-1.0), along_z(2.0), along_z(11.0)];
        let at = ray(0.05, 0.3);
        assert_eq!(pick_drawn(&at, &bones, f32::INFINITY), Some(1));
        assert_eq!(pick_drawn(&at, &bones, 8.5), Some(1));
        assert_eq!(pick_drawn(&at, &bones, 7.0), None);
        assert_eq!(pick_drawn(&ray(0.3, 0.3), &bones, f32::INFINITY), None);
    }
}
