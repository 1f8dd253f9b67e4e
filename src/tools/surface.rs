//! The displayed, deformed surface of an instance, for tools.

use super::reach::Paths;
use super::{Reach, ScreenView};
use crate::math::Ray;
use crate::mesh::volume_centre::{VolumeCentre, volume_centre};
use crate::mesh::{Mesh, PointSet, SurfaceHit, SurfaceIndex, spatial};
use glam::{Vec2, Vec3};
use std::sync::Arc;

/// Above this size an outdated index is not refitted for a click: that would delay the frame.
pub const BRUTE_FORCE_TRIANGLES: usize = 100_000;

/// A displayed surface and its spatial index, built or refitted on first use.
pub struct SurfaceView<'a> {
    /// The bind geometry.
    pub mesh: &'a Mesh,
    /// n_points displayed positions, world.
    pub positions: &'a Arc<Vec<Vec3>>,
    /// n_normals displayed normals, world.
    pub normals: &'a [Vec3],
    /// The index, kept between events. A stroke shares it as it is at the press.
    pub index: &'a mut Option<Arc<SurfaceIndex>>,
    /// Whether `positions` changed since the index was fitted.
    pub index_stale: &'a mut bool,
    /// Faces that moved since then while the index was shared, if `index_stale` is not set.
    pub unfitted: &'a mut Vec<u32>,
    /// Hidden points: neither they nor their faces are hit or reached.
    pub hidden: Option<&'a PointSet>,
}

impl SurfaceView<'_> {
    /// Whether a ray query is fast: it need not test every triangle of a large surface.
    pub fn is_quick(&self) -> bool {
        (!*self.index_stale && self.unfitted.is_empty())
            || self.mesh.triangles.len() <= BRUTE_FORCE_TRIANGLES
    }

    /// The first hit of `ray` on the surface.
    pub fn cast_ray(&mut self, ray: &Ray) -> Option<SurfaceHit> {
        let triangles = &self.mesh.topology().triangles;
        let hidden = self.hidden;
        let shown = |t: u32| shows(hidden, triangles[t as usize]);
        if !self.unfitted.is_empty() && self.index.as_mut().and_then(Arc::get_mut).is_some() {
            self.prepare();
        }
        let triangles = &self.mesh.topology().triangles;
        if !self.is_quick() {
            // Refitting costs more than testing every triangle once, and the next result would outdate it again.
            return spatial::cast_ray_at_all(ray, triangles, self.positions, shown);
        }
        self.prepare();
        let triangles = &self.mesh.topology().triangles;
        self.index
            .as_ref()?
            .cast_ray(ray, triangles, self.positions, shown)
    }

    /// The middle of the shell under `ray`: where a joint that is drawn there goes.
    pub fn volume_centre(&mut self, ray: &Ray) -> Option<VolumeCentre> {
        let first = self.cast_ray(ray)?;
        let topology = self.mesh.topology();
        let hidden = self.hidden;
        let shown = |t: u32| shows(hidden, topology.triangles[t as usize]);
        let islands = topology.islands(self.mesh.n_points());
        let of = (&topology.triangles[..], &self.positions[..], islands);
        let is_fitted = !*self.index_stale && self.unfitted.is_empty();
        let index = self.index.as_deref().filter(|_| is_fitted);
        Some(volume_centre(&first, ray, of, index, shown))
    }

    /// Updates the index whatever the size: for many queries, such as a stroke.
    pub fn prepare(&mut self) {
        let triangles = &self.mesh.topology().triangles;
        match self.index {
            Some(index) if *self.index_stale => {
                Arc::make_mut(index).refit(triangles, self.positions);
            }
            Some(index) if !self.unfitted.is_empty() => {
                let moved = self.unfitted.iter().copied();
                Arc::make_mut(index).move_triangles(moved, triangles, self.positions);
            }
            Some(_) => {}
            None => *self.index = Some(Arc::new(SurfaceIndex::new(triangles, self.positions))),
        }
        *self.index_stale = false;
        self.unfitted.clear();
    }

    /// Finds the points within `radius` of `hit` along the surface, with their distances.
    ///
    /// Distances run along edges from the hit; seams of equal bind position are joined.
    pub fn within(&self, hit: &SurfaceHit, radius: f32, reach: &mut Reach) {
        let corners = self.mesh.topology().triangles[hit.triangle as usize];
        let starts = corners.map(|corner| {
            let path = self.positions[corner as usize].distance(hit.position);
            (corner, path)
        });
        let at_least = |point: u32, _| self.positions[point as usize].distance(hit.position);
        reach.spread(&self.paths(), starts, radius, at_least);
    }

    /// Finds the points within `radius` of some points along the surface, with their distances from the nearest one, as
    /// [`SurfaceView::within`] measures them.
    pub fn around(&self, points: impl IntoIterator<Item = u32>, radius: f32, reach: &mut Reach) {
        let starts = points.into_iter().map(|point| (point, 0.0));
        let place = |point: u32| self.positions[point as usize];
        let at_least = |point, start| place(point).distance(place(start));
        reach.spread(&self.paths(), starts, radius, at_least);
    }

    fn paths(&self) -> Paths<'_> {
        Paths {
            topology: self.mesh.topology(),
            positions: self.positions,
            hidden: self.hidden,
        }
    }

    /// Finds the points of faces within `radius` of `centre` by Euclidean distance, with their distances. Needs
    /// [`SurfaceView::prepare`].
    pub fn in_ball(&self, centre: Vec3, radius: f32, reach: &mut Reach) {
        reach.begin(self.mesh.n_points());
        let Some(index) = self.index.as_deref() else {
            return;
        };
        let holds = |middle: Vec3, size: f32| middle.distance(centre) <= radius + size;
        index.visit(holds, |triangle| {
            self.add_corners(triangle, reach, |p| {
                let distance = self.positions[p as usize].distance(centre);
                (distance <= radius).then_some(distance)
            });
        });
    }

    /// Finds the points of faces within `radius_px` of the pixel `at`, through everything, with their distances in
    /// pixels. Needs [`SurfaceView::prepare`].
    pub fn in_circle(&self, view: &ScreenView, at: Vec2, radius_px: f32, reach: &mut Reach) {
        reach.begin(self.mesh.n_points());
        let Some(index) = self.index.as_deref() else {
            return;
        };
        let ray = view.ray_at(at);
        let holds = |middle: Vec3, size: f32| {
            let along = (middle - ray.origin).dot(ray.direction).max(0.0);
            let off = middle.distance(ray.origin + ray.direction * along); // The cone is widest at the far end of the box; pixels off the centre of the screen cover a little more.
            let far = ray.origin + ray.direction * (along + size);
            off <= radius_px * view.metres_per_pixel(far) * view.widening() + size
        };
        index.visit(holds, |triangle| {
            self.add_corners(triangle, reach, |p| {
                let on_screen = view.project(self.positions[p as usize])?;
                let distance = on_screen.truncate().distance(at);
                (distance <= radius_px).then_some(distance)
            });
        });
    }

    fn add_corners(&self, triangle: u32, reach: &mut Reach, distance: impl Fn(u32) -> Option<f32>) {
        let corners = self.mesh.topology().triangles[triangle as usize];
        if !self.shows(corners) {
            return;
        }
        for point in corners {
            if reach.mark(point) {
                reach.found.extend(distance(point).map(|d| (point, d)));
            }
        }
    }

    /// Whether the face of these points is drawn and hit: none of them is hidden.
    pub fn shows(&self, triangle: [u32; 3]) -> bool {
        shows(self.hidden, triangle)
    }

    /// Whether `point` faces a camera that looks along `direction`.
    pub fn faces(&self, point: u32, direction: Vec3) -> bool {
        let mut normals = self.mesh.topology().normals_of_point(point);
        normals.any(|n| self.normals[n as usize].dot(direction) <= 0.0)
    }
}

fn shows(hidden: Option<&PointSet>, triangle: [u32; 3]) -> bool {
    hidden.is_none_or(|hidden| !triangle.into_iter().any(|p| hidden.contains(p)))
}
