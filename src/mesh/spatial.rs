//! Where a ray meets a surface.

use crate::math::Ray;
use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use rayon::prelude::*;

/// A bounding volume hierarchy over the triangles of a surface that moves: built once, refitted to new positions.
///
/// The tree is parry3d's; its vectors are converted at this border.
#[derive(Clone)]
pub struct SurfaceIndex {
    bvh: Bvh,
    workspace: BvhWorkspace,
}

/// Where a ray meets a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceHit {
    /// The triangle.
    pub triangle: u32,
    /// Distance along the ray.
    pub distance: f32,
    /// The place, in the space of the ray.
    pub position: Vec3,
    /// Weights of the triangle's corners, sum 1.
    pub barycentric: Vec3,
    /// Whether the ray comes from outside (the triangle is wound counter-clockwise seen from there).
    pub front: bool,
}

impl SurfaceIndex {
    /// The hierarchy of `triangles` (point indices) at `positions`.
    pub fn new(triangles: &[[u32; 3]], positions: &[Vec3]) -> Self {
        let leaves = triangles
            .iter()
            .enumerate()
            .map(|(t, &corners)| (t, bounds(corners, positions)));
        Self {
            bvh: Bvh::from_iter(BvhBuildStrategy::Binned, leaves),
            workspace: BvhWorkspace::default(),
        }
    }

    /// Follows the same triangles to new positions; queries stay exact, only slower where the shape changed much.
    pub fn refit(&mut self, triangles: &[[u32; 3]], positions: &[Vec3]) {
        for (t, &corners) in triangles.iter().enumerate() {
            self.bvh
                .insert_or_update_partially(bounds(corners, positions), t as u32, 0.0);
        }
        self.bvh.refit(&mut self.workspace);
    }

    /// The nearest triangle that `ray` meets, from either side; of equals the lowest. Those that are not `shown` let it
    /// through.
    pub fn cast_ray(
        &self,
        ray: &Ray,
        triangles: &[[u32; 3]],
        positions: &[Vec3],
        shown: impl Fn(u32) -> bool,
    ) -> Option<SurfaceHit> {
        let query = parry3d::query::Ray::new(vector(ray.origin), vector(ray.direction));
        let (triangle, _) = self.bvh.cast_ray(&query, f32::MAX, |leaf, _| {
            let hit = intersect(ray, corners(triangles[leaf as usize], positions))?;
            shown(leaf).then_some(hit.distance)
        })?;
        let hit = intersect(ray, corners(triangles[triangle as usize], positions))?;
        Some(SurfaceHit { triangle, ..hit })
    }
}

/// The nearest triangle that `ray` meets, found by asking every one on all threads; of equals the lowest. Those that are
/// not `shown` let it through.
pub fn cast_ray_at_all(
    ray: &Ray,
    triangles: &[[u32; 3]],
    positions: &[Vec3],
    shown: impl Fn(u32) -> bool + Sync,
) -> Option<SurfaceHit> {
    const RUN: usize = 8192;
    let nearest = |run: usize, triangles: &[[u32; 3]]| {
        let hits = triangles.iter().enumerate().filter_map(|(i, &t)| {
            let hit = intersect(ray, corners(t, positions))?;
            let triangle = (run * RUN + i) as u32;
            shown(triangle).then_some(SurfaceHit { triangle, ..hit })
        });
        hits.min_by(nearer)
    };
    triangles
        .par_chunks(RUN)
        .enumerate()
        .filter_map(|(run, chunk)| nearest(run, chunk))
        .min_by(nearer)
}

/// By distance, then by number: the same answer for any split into runs.
fn nearer(a: &SurfaceHit, b: &SurfaceHit) -> std::cmp::Ordering {
    a.distance
        .total_cmp(&b.distance)
        .then(a.triangle.cmp(&b.triangle))
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

fn corners(triangle: [u32; 3], positions: &[Vec3]) -> [Vec3; 3] {
    triangle.map(|p| positions[p as usize])
}

fn bounds(triangle: [u32; 3], positions: &[Vec3]) -> Aabb {
    let [a, b, c] = corners(triangle, positions);
    Aabb::new(vector(a.min(b).min(c)), vector(a.max(b).max(c)))
}

/// A hair's breadth of tolerance at a triangle's rim, so that no ray slips between two neighbours.
const RIM: f32 = -1e-6;

/// Möller & Trumbore 1997, both sides.
fn intersect(ray: &Ray, [a, b, c]: [Vec3; 3]) -> Option<SurfaceHit> {
    let (ab, ac) = (b - a, c - a);
    let p = ray.direction.cross(ac);
    let det = ab.dot(p);
    if det.abs() < f32::MIN_POSITIVE {
        return None;
    }
    let from_a = ray.origin - a;
    let u = from_a.dot(p) / det;
    let q = from_a.cross(ab);
    let v = ray.direction.dot(q) / det;
    let distance = ac.dot(q) / det;
    if u < RIM || v < RIM || u + v > 1.0 - RIM || distance < 0.0 || !distance.is_finite() {
        return None;
    }
    Some(SurfaceHit {
        triangle: 0,
        distance,
        position: ray.origin + ray.direction * distance,
        barycentric: Vec3::new(1.0 - u - v, u, v),
        front: det > 0.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(n: u32) -> (Vec<[u32; 3]>, Vec<Vec3>) {
        let positions = (0..2 * n + 2)
            .map(|i| Vec3::new((i / 2) as f32, (i % 2) as f32, 0.0))
            .collect();
        let triangles = (0..n).flat_map(|i| {
            [
                [2 * i, 2 * i + 2, 2 * i + 1],
                [2 * i + 1, 2 * i + 2, 2 * i + 3],
            ]
        });
        (triangles.collect(), positions)
    }

    #[test]
    fn a_ray_meets_the_triangle_under_it_from_either_side() {
        let (triangles, positions) = strip(100);
        let index = SurfaceIndex::new(&triangles, &positions);
        let down = Ray {
            origin: Vec3::new(41.2, 0.3, 5.0),
            direction: Vec3::NEG_Z,
        };
        let hit = index
            .cast_ray(&down, &triangles, &positions, |_| true)
            .unwrap();
        assert_eq!((hit.triangle, hit.distance, hit.front), (82, 5.0, true));
        let up = Ray {
            origin: Vec3::new(41.2, 0.3, -5.0),
            direction: Vec3::Z,
        };
        assert!(
            !index
                .cast_ray(&up, &triangles, &positions, |_| true)
                .unwrap()
                .front
        );
        let beside = Ray {
            origin: Vec3::new(41.2, 1.3, 5.0),
            direction: Vec3::NEG_Z,
        };
        assert_eq!(
            index.cast_ray(&beside, &triangles, &positions, |_| true),
            None
        );
    }

    #[test]
    fn a_refitted_index_answers_as_a_new_one() {
        let (triangles, mut positions) = strip(300);
        let mut index = SurfaceIndex::new(&triangles, &positions);
        for p in &mut positions {
            let angle = p.x * 0.05;
            *p = Vec3::new(
                angle.sin() * (10.0 + p.y),
                p.y * 0.3,
                angle.cos() * (10.0 + p.y),
            );
        }
        index.refit(&triangles, &positions);
        let fresh = SurfaceIndex::new(&triangles, &positions);
        for i in 0..200 {
            let angle = i as f32 * 0.06;
            let direction = Vec3::new(angle.sin(), 0.01, angle.cos()).normalize_or(Vec3::Z);
            let ray = Ray {
                origin: Vec3::ZERO,
                direction,
            };
            let a = index
                .cast_ray(&ray, &triangles, &positions, |_| true)
                .map(|h| h.distance);
            let all = cast_ray_at_all(&ray, &triangles, &positions, |_| true).map(|h| h.distance);
            assert_eq!(a, all);
            assert_eq!(
                a,
                fresh
                    .cast_ray(&ray, &triangles, &positions, |_| true)
                    .map(|h| h.distance)
            );
            assert!(a.is_some());
        }
    }
}
