//! The displayed, deformed surface of an instance, as tools see it.

use crate::math::Ray;
use crate::mesh::{Mesh, PointSet, SurfaceHit, SurfaceIndex, spatial};
use glam::Vec3;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// A path along edges is longer than the way across the faces, on a regular grid by up to a quarter: this much of it is
/// taken for the distance, though never less than the straight line.
const ACROSS_EDGES: f32 = 0.8;

/// Above this size an index out of date is not refitted for a click: that would hold up the frame.
const BRUTE_FORCE_TRIANGLES: usize = 100_000;

/// A displayed surface and its spatial index, built or refitted when first asked.
pub struct SurfaceView<'a> {
    /// The bind geometry.
    pub mesh: &'a Mesh,
    /// n_points displayed positions, world.
    pub positions: &'a [Vec3],
    /// n_normals displayed normals, world.
    pub normals: &'a [Vec3],
    /// The index, kept between events.
    pub index: &'a mut Option<SurfaceIndex>,
    /// Whether `positions` changed since the index was fitted.
    pub index_stale: &'a mut bool,
    /// Points that are hidden, and with them their faces: never hit, never reached.
    pub hidden: Option<&'a PointSet>,
}

impl SurfaceView<'_> {
    /// Whether a ray finds its place without looking at every triangle of a large surface.
    pub fn is_quick(&self) -> bool {
        !*self.index_stale || self.mesh.triangles.len() <= BRUTE_FORCE_TRIANGLES
    }

    /// Where `ray` first meets the surface.
    pub fn cast_ray(&mut self, ray: &Ray) -> Option<SurfaceHit> {
        let triangles = &self.mesh.topology().triangles;
        let hidden = self.hidden;
        let shown = |t: u32| shows(hidden, triangles[t as usize]);
        if triangles.len() > BRUTE_FORCE_TRIANGLES && *self.index_stale {
            // Refitting costs more than looking at every triangle once, and the next result makes it stale again.
            return spatial::cast_ray_at_all(ray, triangles, self.positions, shown);
        }
        match self.index {
            Some(index) if *self.index_stale => index.refit(triangles, self.positions),
            Some(_) => {}
            None => *self.index = Some(SurfaceIndex::new(triangles, self.positions)),
        }
        *self.index_stale = false;
        self.index
            .as_ref()?
            .cast_ray(ray, triangles, self.positions, shown)
    }

    /// The points within `radius` of `hit` along the surface, with their distances.
    ///
    /// Distances run along edges (Dijkstra 1959) from the hit place; seams of equal bind position count as joined.
    pub fn within(&self, hit: &SurfaceHit, radius: f32) -> Vec<(u32, f32)> {
        let topology = self.mesh.topology();
        let mut best: HashMap<u32, f32> = HashMap::new();
        let mut queue = BinaryHeap::new();
        let mut reached = Vec::new();
        let push = |queue: &mut BinaryHeap<_>,
                    best: &mut HashMap<u32, f32>,
                    point: u32,
                    path: f32| {
            if self.hidden.is_some_and(|hidden| hidden.contains(point)) {
                return;
            }
            if path * ACROSS_EDGES <= radius && best.get(&point).is_none_or(|&known| path < known) {
                best.insert(point, path);
                // Non-negative floats order as their bits.
                queue.push(Reverse((path.to_bits(), point)));
            }
        };
        for corner in topology.triangles[hit.triangle as usize] {
            push(
                &mut queue,
                &mut best,
                corner,
                self.positions[corner as usize].distance(hit.position),
            );
        }
        while let Some(Reverse((bits, point))) = queue.pop() {
            let path = f32::from_bits(bits);
            if best.get(&point) != Some(&path) {
                continue;
            }
            let here = self.positions[point as usize];
            let distance = here.distance(hit.position).max(path * ACROSS_EDGES);
            if distance <= radius {
                reached.push((point, distance));
            }
            if let Some(twin) = topology.next_coincident(point) {
                push(&mut queue, &mut best, twin, path);
            }
            for &next in topology.neighbours(point) {
                push(
                    &mut queue,
                    &mut best,
                    next,
                    path + here.distance(self.positions[next as usize]),
                );
            }
        }
        reached
    }

    /// Whether the face of these points is drawn and hit: none of them is hidden.
    pub fn shows(&self, triangle: [u32; 3]) -> bool {
        shows(self.hidden, triangle)
    }

    /// Whether `point` faces the eye that looks along `direction`.
    pub fn faces(&self, point: u32, direction: Vec3) -> bool {
        let mut normals = self.mesh.topology().normals_of_point(point);
        normals.any(|n| self.normals[n as usize].dot(direction) <= 0.0)
    }
}

fn shows(hidden: Option<&PointSet>, triangle: [u32; 3]) -> bool {
    hidden.is_none_or(|hidden| !triangle.into_iter().any(|p| hidden.contains(p)))
}
