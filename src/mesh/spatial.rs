//! Ray and closest-point queries on a surface.

use crate::math::Ray;
use glam::Vec3;
use parry3d::bounding_volume::Aabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhNode, BvhWorkspace};
use rayon::prelude::*;

/// A bounding volume hierarchy over the triangles of a surface that moves: built once, refitted to new positions.
///
/// The tree is parry3d's; its vectors are converted here.
#[derive(Clone)]
pub struct SurfaceIndex {
    bvh: Bvh,
    workspace: BvhWorkspace,
}

/// A hit of a ray on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceHit {
    /// The triangle.
    pub triangle: u32,
    /// Distance along the ray.
    pub distance: f32,
    /// The position, in the space of the ray.
    pub position: Vec3,
    /// Barycentric coordinates, sum 1.
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

    /// Refits to new positions of the same triangles; queries stay exact, but get slower if the shape changed much.
    pub fn refit(&mut self, triangles: &[[u32; 3]], positions: &[Vec3]) {
        for (t, &corners) in triangles.iter().enumerate() {
            self.bvh
                .insert_or_update_partially(bounds(corners, positions), t as u32, 0.0);
        }
        self.bvh.refit(&mut self.workspace);
    }

    /// Refits some triangles to new positions, in time proportional to their number; queries stay exact, but get
    /// slower.
    pub fn move_triangles(
        &mut self,
        moved: impl IntoIterator<Item = u32>,
        triangles: &[[u32; 3]],
        positions: &[Vec3],
    ) {
        for t in moved {
            self.bvh.insert(bounds(triangles[t as usize], positions), t);
        }
    }
    /// Finds triangles for which `may_hold` is true of the centre and half diagonal of boxes around them: a superset.
    pub fn visit(&self, may_hold: impl Fn(Vec3, f32) -> bool, mut found: impl FnMut(u32)) {
        let asks = |node: &BvhNode| {
            let (low, high) = (node.mins(), node.maxs());
            let (low, high) = (
                Vec3::new(low.x, low.y, low.z),
                Vec3::new(high.x, high.y, high.z),
            );
            may_hold((low + high) * 0.5, (high - low).length() * 0.5)
        };
        for triangle in self.bvh.leaves(asks) {
            found(triangle);
        }
    }
    /// The nearest triangle hit by `ray`, from either side; of equals the lowest. Triangles that are not `shown` are ignored.
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

    /// The closest point of the surface within `reach` of `point`. Only triangles that are `wanted` count; degenerate ones
    /// count as their edges.
    pub fn closest(
        &self,
        point: Vec3,
        reach: f32,
        triangles: &[[u32; 3]],
        positions: &[Vec3],
        wanted: impl Fn(u32) -> bool,
    ) -> Option<ClosestPosition> {
        let from_box = |node: &BvhNode, _| {
            let (low, high) = (node.mins(), node.maxs());
            let low = Vec3::new(low.x, low.y, low.z) - point;
            let high = point - Vec3::new(high.x, high.y, high.z);
            low.max(high).max(Vec3::ZERO).length_squared()
        };
        let from_triangle = |leaf: u32, _| {
            wanted(leaf).then(|| {
                let corners = corners(triangles[leaf as usize], positions);
                let (barycentric, square) = closest_on_triangle(point, corners);
                (square, barycentric)
            })
        };
        let reach = (reach * reach).min(f32::MAX);
        let (triangle, (square, barycentric)) =
            self.bvh.find_best(reach, from_box, from_triangle)?;
        Some(ClosestPosition {
            triangle,
            barycentric,
            distance: square.sqrt(),
        })
    }
}

/// A point on a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosestPosition {
    /// The triangle.
    pub triangle: u32,
    /// Weights of its corners, sum 1.
    pub barycentric: Vec3,
    /// Its distance from the query point.
    pub distance: f32,
}

/// Barycentric coordinates of the point of a triangle closest to `p` (Ericson 2005, 5.1.5), and the square of its distance.
pub(super) fn closest_on_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> (Vec3, f32) {
    let on_edge = |a: Vec3, b: Vec3| {
        let ab = b - a;
        let t = (p - a).dot(ab) / ab.length_squared();
        let t = if t.is_finite() {
            t.clamp(0.0, 1.0)
        } else {
            0.0
        };
        (t, p.distance_squared(a + ab * t))
    };
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let square = normal.length_squared();
    let v = ap.cross(ac).dot(normal) / square;
    let w = ab.cross(ap).dot(normal) / square;
    if v >= 0.0 && w >= 0.0 && v + w <= 1.0 {
        let place = a + ab * v + ac * w;
        return (Vec3::new(1.0 - v - w, v, w), p.distance_squared(place));
    }
    let (on_ab, on_bc, on_ca) = (on_edge(a, b), on_edge(b, c), on_edge(c, a));
    if on_ab.1 <= on_bc.1 && on_ab.1 <= on_ca.1 {
        (Vec3::new(1.0 - on_ab.0, on_ab.0, 0.0), on_ab.1)
    } else if on_bc.1 <= on_ca.1 {
        (Vec3::new(0.0, 1.0 - on_bc.0, on_bc.0), on_bc.1)
    } else {
        (Vec3::new(on_ca.0, 0.0, 1.0 - on_ca.0), on_ca.1)
    }
}

/// The nearest triangle hit by `ray`, by testing every one on all threads; of equals the lowest. Triangles that are not
/// `shown` are ignored.
pub fn cast_ray_at_all(
    ray: &Ray,
    triangles: &[[u32; 3]],
    positions: &[Vec3],
    shown: impl Fn(u32) -> bool + Sync,
) -> Option<SurfaceHit> {
    const TRIANGLES_PER_TASK: usize = 8192;
    let nearest = |run: usize, triangles: &[[u32; 3]]| {
        let hits = triangles.iter().enumerate().filter_map(|(i, &t)| {
            let hit = intersect(ray, corners(t, positions))?;
            let triangle = (run * TRIANGLES_PER_TASK + i) as u32;
            shown(triangle).then_some(SurfaceHit { triangle, ..hit })
        });
        hits.min_by(nearer)
    };
    triangles
        .par_chunks(TRIANGLES_PER_TASK)
        .enumerate()
        .filter_map(|(run, chunk)| nearest(run, chunk))
        .min_by(nearer)
}

/// Orders by distance, then by number: the same result for any split into runs.
fn nearer(a: &SurfaceHit, b: &SurfaceHit) -> std::cmp::Ordering {
    a.distance
        .total_cmp(&b.distance)
        .then(a.triangle.cmp(&b.triangle))
}

fn vector(v: Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

pub(super) fn corners(triangle: [u32; 3], positions: &[Vec3]) -> [Vec3; 3] {
    triangle.map(|p| positions[p as usize])
}

fn bounds(triangle: [u32; 3], positions: &[Vec3]) -> Aabb {
    let [a, b, c] = corners(triangle, positions);
    Aabb::new(vector(a.min(b).min(c)), vector(a.max(b).max(c)))
}

/// Tolerance at a triangle's edges, so that no ray passes between two neighbours.
const EDGE_TOLERANCE: f32 = -1e-6;

/// Ray-triangle intersection (Möller & Trumbore 1997), both sides.
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
    if u < EDGE_TOLERANCE
        || v < EDGE_TOLERANCE
        || u + v > 1.0 - EDGE_TOLERANCE
        || distance < 0.0
        || !distance.is_finite()
    {
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
    fn the_closest_place_is_that_of_all_triangles() {
        let (mut triangles, mut positions) = strip(60);
        for p in &mut positions {
            p.z = (p.x * 0.7).sin() * 2.0;
        }
        triangles.push([4, 4, 7]);
        let index = SurfaceIndex::new(&triangles, &positions);
        for i in 0..200 {
            let i = i as f32;
            let p = Vec3::new(
                i * 0.31 - 1.0,
                (i * 0.9).sin() * 2.0,
                (i * 0.37).cos() * 3.0,
            );
            let found = index
                .closest(p, f32::MAX, &triangles, &positions, |_| true)
                .unwrap();
            let all = triangles
                .iter()
                .map(|&t| closest_on_triangle(p, corners(t, &positions)).1.sqrt());
            assert_eq!(found.distance, all.fold(f32::MAX, f32::min));
            let [a, b, c] = corners(triangles[found.triangle as usize], &positions);
            let w = found.barycentric;
            let place = a * w.x + b * w.y + c * w.z;
            assert!((p.distance(place) - found.distance).abs() < 1e-4);
            assert!(
                index
                    .closest(p, found.distance * 0.9, &triangles, &positions, |_| true)
                    .is_none()
            );
        }
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

    #[test]
    fn triangles_that_moved_are_found_where_they_are_and_visits_leave_none_out() {
        let (triangles, mut positions) = strip(300);
        let mut index = SurfaceIndex::new(&triangles, &positions);
        for p in &mut positions[100..120] {
            p.z += 3.0;
        }
        index.move_triangles(96..122, &triangles, &positions);
        for i in 0..600 {
            let ray = Ray {
                origin: Vec3::new(i as f32 * 0.5, 0.4, 9.0),
                direction: Vec3::NEG_Z,
            };
            let a = index
                .cast_ray(&ray, &triangles, &positions, |_| true)
                .map(|h| h.distance);
            let all = cast_ray_at_all(&ray, &triangles, &positions, |_| true).map(|h| h.distance);
            assert_eq!(a, all);
        }
        let (centre, radius) = (Vec3::new(55.0, 0.5, 3.0), 4.0);
        let mut found = Vec::new();
        index.visit(
            |middle, size| middle.distance(centre) <= radius + size,
            |t| found.push(t),
        );
        let reaches = |t: &[u32; 3]| {
            t.iter()
                .any(|&p| positions[p as usize].distance(centre) <= radius)
        };
        let expected = (0..).zip(&triangles).filter(|(_, t)| reaches(t));
        assert!(expected.map(|(t, _)| t).all(|t: u32| found.contains(&t)));
        assert!(found.len() < 60, "{}", found.len());
    }
}
