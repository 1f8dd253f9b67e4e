//! The octahedron that a bone is drawn as, the ball at its joint, and where a ray meets them.

use super::Bone;
use crate::math::Ray;
use glam::Vec3;

/// Position of the widest point of a bone, relative to its length from the head.
const WAIST: f32 = 0.16;
/// Radius of a joint's ball, relative to the half width of its widest bone.
pub const BALL: f32 = 0.72;

/// The corners of a bone's octahedron, world space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Octahedron {
    /// The corner at the head; below the centre for a joint of zero length.
    pub bottom: Vec3,
    /// The corner at the tail.
    pub top: Vec3,
    /// The corners of the waist, counter-clockwise seen from the top.
    pub ring: [Vec3; 4],
    /// The direction from head to tail, unit.
    pub forward: Vec3,
}

impl Octahedron {
    /// The octahedron of `bone`.
    pub fn new(bone: &Bone) -> Self {
        let axis = bone.tail - bone.head;
        let length = axis.length();
        let (bottom, top, waist) = if length > 1e-9 {
            (bone.head, bone.tail, bone.head + axis * WAIST)
        } else {
            let up = Vec3::Y * bone.radius;
            (bone.head - up, bone.head + up, bone.head)
        };
        let forward = axis.normalize_or(Vec3::Y);
        let side = bone
            .side
            .reject_from_normalized(forward)
            .try_normalize()
            .unwrap_or_else(|| forward.any_orthonormal_vector());
        let other = forward.cross(side);
        // Edges between the joint's axes, as in other editors: the faces then point along the axes.
        let corner = |s: f32, o: f32| {
            waist + (side * s + other * o) * (bone.radius * std::f32::consts::FRAC_1_SQRT_2)
        };
        Self {
            bottom,
            top,
            ring: [
                corner(1., 1.),
                corner(-1., 1.),
                corner(-1., -1.),
                corner(1., -1.),
            ],
            forward,
        }
    }

    /// The eight faces, counter-clockwise seen from outside; the last corner of each is the bottom or the top.
    pub fn faces(&self) -> [[Vec3; 3]; 8] {
        std::array::from_fn(|i| {
            let (a, b) = (self.ring[i / 2], self.ring[(i / 2 + 1) % 4]);
            if i % 2 == 0 {
                [a, b, self.top]
            } else {
                [b, a, self.bottom]
            }
        })
    }
}

/// The distance along `ray` to the drawn bone: the nearest of its octahedron and, for a bone with a length, the ball at
/// its joint. `None` where the ray misses both, or starts inside.
pub fn distance_to(ray: &Ray, bone: &Bone) -> Option<f32> {
    let faces = Octahedron::new(bone).faces();
    let faces = faces.iter().filter_map(|face| distance_to_face(ray, face));
    let ball = (bone.head != bone.tail)
        .then(|| distance_to_ball(ray, bone.head, bone.radius * BALL))
        .flatten();
    faces.chain(ball).min_by(f32::total_cmp)
}

/// The distance to a triangle seen from its front. Source: Möller & Trumbore, Fast, Minimum Storage Ray/Triangle
/// Intersection, 1997.
fn distance_to_face(ray: &Ray, [a, b, c]: &[Vec3; 3]) -> Option<f32> {
    let (ab, ac) = (b - a, c - a);
    let across = ray.direction.cross(ac);
    let determinant = ab.dot(across);
    if determinant <= 0.0 {
        return None;
    }
    let from_a = ray.origin - a;
    let up = from_a.cross(ab);
    let (along_ab, along_ac) = (from_a.dot(across), ray.direction.dot(up));
    let inside = along_ab >= 0.0 && along_ac >= 0.0 && along_ab + along_ac <= determinant;
    let distance = ac.dot(up) / determinant;
    (inside && distance >= 0.0).then_some(distance)
}

fn distance_to_ball(ray: &Ray, centre: Vec3, radius: f32) -> Option<f32> {
    let to_centre = centre - ray.origin;
    let along = to_centre.dot(ray.direction);
    let beside = to_centre - ray.direction * along;
    let half = (radius * radius - beside.length_squared()).max(-1.0);
    let distance = along - half.max(0.0).sqrt();
    (half >= 0.0 && distance >= 0.0).then_some(distance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::skeleton::JointId;

    fn bone() -> Bone {
        Bone {
            joint: JointId(0),
            head: Vec3::ZERO,
            tail: Vec3::Y,
            side: Vec3::X,
            radius: 0.1,
            helper: false,
        }
    }

    /// A ray along -Z through (x, y).
    fn through(x: f32, y: f32) -> Ray {
        Ray {
            origin: Vec3::new(x, y, 10.0),
            direction: Vec3::NEG_Z,
        }
    }

    #[test]
    fn a_ray_meets_the_octahedron_where_it_is_drawn() {
        // At the waist the faces are 0.1 / sqrt 2 from the axis.
        let at_waist = distance_to(&through(0.0, WAIST), &bone()).unwrap();
        assert!((at_waist - (10.0 - 0.1 * std::f32::consts::FRAC_1_SQRT_2)).abs() < 1e-5);
        // Half way from the waist to the tail it is half as wide.
        let y = 0.5 * (1.0 + WAIST);
        let half = 0.05 * std::f32::consts::FRAC_1_SQRT_2;
        assert!(distance_to(&through(half * 0.98, y), &bone()).is_some());
        assert!(distance_to(&through(half * 1.02, y), &bone()).is_none());
        assert!(distance_to(&through(0.0, 1.01), &bone()).is_none());
        assert!(distance_to(&through(0.0, -0.09), &bone()).is_none());
    }

    #[test]
    fn a_ray_meets_the_ball_around_the_head_and_nothing_behind_the_eye() {
        let on_ball = distance_to(&through(0.0, -0.01), &bone()).unwrap();
        let radius = 0.1 * BALL;
        let wanted = 10.0 - (radius * radius - 1e-4).sqrt();
        assert!((on_ball - wanted).abs() < 1e-5, "{on_ball} {wanted}");
        let away = Ray {
            direction: Vec3::Z,
            ..through(0.0, WAIST)
        };
        assert_eq!(distance_to(&away, &bone()), None);
    }

    #[test]
    fn a_joint_without_a_bone_is_a_diamond() {
        let joint = Bone {
            tail: Vec3::ZERO,
            ..bone()
        };
        assert!(distance_to(&through(0.0, 0.09), &joint).is_some());
        assert!(distance_to(&through(0.09, 0.09), &joint).is_none());
    }
}
