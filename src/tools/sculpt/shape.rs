//! The surface of a stroke: as it was at the press, and as the stroke has moved it.

use crate::document::MeshItem;
use crate::math::Ray;
use crate::mesh::{Mesh, PointSet, SurfaceHit, SurfaceIndex, SurfaceWalk};
use crate::skinning::CHUNK;
use crate::tools::SurfaceView;
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// The surface that a stroke sculpts, world space.
pub(super) struct Shape {
    pub(super) item: Arc<MeshItem>,
    /// n_points, at the press.
    pub(super) start: Arc<Vec<Vec3>>,
    /// One a chunk of points: those that the stroke has moved.
    moved: Vec<Option<Box<[Vec3; CHUNK]>>>,
    /// Of `start`.
    index: Option<Arc<SurfaceIndex>>,
    hidden: Option<Arc<PointSet>>,
    /// Displacements that are shorter are left out, metres.
    pub(super) negligible: f32,
}

/// The length below which a displacement counts as none, as a fraction of the diagonal.
const NEGLIGIBLE: f32 = 1e-7;

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shape").finish_non_exhaustive()
    }
}

impl Shape {
    /// The displayed surface.
    pub(super) fn new(
        item: &Arc<MeshItem>,
        surface: &mut SurfaceView<'_>,
        hidden: Option<Arc<PointSet>>,
    ) -> Self {
        surface.prepare();
        let (low, high) = surface
            .positions
            .iter()
            .fold((Vec3::MAX, Vec3::MIN), |(low, high), &p| {
                (low.min(p), high.max(p))
            });
        Self {
            item: item.clone(),
            start: surface.positions.clone(),
            moved: vec![None; surface.positions.len().div_ceil(CHUNK)],
            index: surface.index.clone(),
            hidden,
            negligible: NEGLIGIBLE * (high - low).max(Vec3::ZERO).length(),
        }
    }

    /// Where a point is now.
    pub(super) fn now(&self, point: u32) -> Vec3 {
        let point = point as usize;
        match &self.moved[point / CHUNK] {
            Some(chunk) => chunk[point % CHUNK],
            None => self.start[point],
        }
    }

    /// Moves a point to its offset from the press, world.
    pub(super) fn set_offset(&mut self, point: u32, offset: DVec3) {
        let point = point as usize;
        let first = point - point % CHUNK;
        let chunk = self.moved[point / CHUNK].get_or_insert_with(|| {
            let mut chunk = Box::new([Vec3::ZERO; CHUNK]);
            let own = &self.start[first..self.start.len().min(first + CHUNK)];
            chunk[..own.len()].copy_from_slice(own);
            chunk
        });
        chunk[point % CHUNK] = (self.start[point].as_dvec3() + offset).as_vec3();
    }

    pub(super) fn geometry(&self) -> &Mesh {
        &self.item.geometry
    }

    /// The surface at the press, for `work`.
    pub(super) fn with_start<T>(&mut self, work: impl FnOnce(&mut SurfaceView<'_>) -> T) -> T {
        work(&mut SurfaceView {
            mesh: &self.item.geometry,
            positions: &self.start,
            normals: &[],
            index: &mut self.index,
            index_stale: &mut false,
            unfitted: &mut Vec::new(),
            hidden: self.hidden.as_deref(),
        })
    }

    /// The hit of a ray on the surface at the press.
    pub(super) fn cast_ray(&mut self, ray: &Ray) -> Option<SurfaceHit> {
        self.with_start(|surface| surface.cast_ray(ray))
    }

    /// Where the hit position is now.
    pub(super) fn place_now(&self, hit: &SurfaceHit) -> Vec3 {
        let corners = self.geometry().topology().triangles[hit.triangle as usize];
        let corners = corners.iter().zip(hit.barycentric.to_array());
        corners.map(|(&p, share)| self.now(p) * share).sum()
    }

    /// Where `point` slides to on the surface at the press when it is dragged to `place`, with the triangle there: the closest
    /// position around it. `near`: triangles to start from, of which the nearest is taken, such as that of the last call.
    /// `None`: the point has no triangle.
    pub(super) fn slide(
        &self,
        place: Vec3,
        point: u32,
        near: [Option<u32>; 2],
    ) -> Option<(u32, Vec3)> {
        let topology = self.geometry().topology();
        let walk = SurfaceWalk::new(topology, &self.start);
        let square = |t: &u32| {
            let corner = topology.triangles[*t as usize][0];
            self.start[corner as usize].distance_squared(place)
        };
        let near = near.into_iter().flatten();
        let near = near.min_by(|a, b| square(a).total_cmp(&square(b)));
        let found = near.map(|near| walk.closest(place, near));
        // The point itself is never closer than where it slides to: a drag that comes back ends where it began.
        let farthest = self.start[point as usize].distance(place) + self.negligible;
        let found = match found.filter(|found| found.distance <= farthest) {
            Some(found) => found,
            None => {
                let mut own = std::iter::once(point).chain(topology.twins(point));
                let own = own.find_map(|at| topology.faces(at).first().copied())?;
                walk.closest(place, own)
            }
        };
        let corners = topology.triangles[found.triangle as usize].iter();
        let corners = corners.zip(found.barycentric.to_array());
        let place = corners
            .map(|(&p, share)| self.start[p as usize] * share)
            .sum();
        Some((found.triangle, place))
    }

    /// The normal of a point at the press, unit: the mean of its faces by area, across seams. Zero where it has none.
    pub(super) fn start_normal(&self, point: u32) -> Vec3 {
        let triangles = &self.geometry().topology().triangles;
        let of_face = |face: u32| {
            let corners = triangles[face as usize];
            area_normal(corners.map(|p| self.start[p as usize]))
        };
        self.normal(of_face, point)
    }

    /// The normals as the stroke has moved the points.
    pub(super) fn normals_now(&self) -> Normals<'_> {
        Normals {
            shape: self,
            faces: [(u32::MAX, Vec3::ZERO); N_FACES],
        }
    }

    /// The normal of a point from the normals of its faces times their areas.
    fn normal(&self, mut of_face: impl FnMut(u32) -> Vec3, point: u32) -> Vec3 {
        let topology = self.geometry().topology();
        let mut sum = Vec3::ZERO;
        let mut at = point;
        loop {
            for &face in topology.faces(at) {
                sum += of_face(face);
            }
            match topology.next_coincident(at) {
                Some(next) if next != point => at = next,
                _ => break,
            }
        }
        sum.normalize_or_zero()
    }

    /// The neighbours of a point that are averaged, one for each position: across seams, and on an open edge those along
    /// it. Found in the faces around the point: the rings of a whole mesh take longer than a stroke may.
    pub(super) fn ring(&self, point: u32, ring: &mut Vec<u32>) {
        let topology = self.geometry().topology();
        let lowest = |point: u32| {
            let mut low = point;
            let mut at = point;
            while let Some(next) = topology.next_coincident(at).filter(|&next| next != point) {
                low = low.min(next);
                at = next;
            }
            low
        };
        ring.clear();
        let own = lowest(point);
        let mut at = point;
        loop {
            for &face in topology.faces(at) {
                let corners = topology.triangles[face as usize].map(lowest);
                ring.extend(corners.into_iter().filter(|&corner| corner != own));
            }
            match topology.next_coincident(at) {
                Some(next) if next != point => at = next,
                _ => break,
            }
        }
        ring.sort_unstable();
        // An edge of one face is open.
        let is_open = |edge: &[u32]| edge.len() == 1;
        let has_open = ring.chunk_by(|a, b| a == b).any(is_open);
        let mut kept = 0;
        let mut i = 0;
        while i < ring.len() {
            let next = ring[i];
            let n = ring[i..].iter().take_while(|&&other| other == next).count();
            if !has_open || n == 1 {
                ring[kept] = next;
                kept += 1;
            }
            i += n;
        }
        ring.truncate(kept);
    }

    /// The edge from one point to another at bind, mesh space.
    pub(super) fn bind_edge(&self, from: u32, to: u32) -> Vec3 {
        let positions = &self.geometry().positions;
        positions[to as usize] - positions[from as usize]
    }
}

/// Normals of points one after the other, as [`Shape::start_normal`] but as the stroke has moved them. Neighbours share
/// faces, which are computed once as long as they are remembered.
pub(super) struct Normals<'a> {
    shape: &'a Shape,
    /// A face with its normal times its area, by the remainder of its number.
    faces: [(u32, Vec3); N_FACES],
}

/// The number of faces that are remembered: those around some hundred points.
const N_FACES: usize = 512;

impl Normals<'_> {
    /// The normal of a point.
    pub(super) fn of(&mut self, point: u32) -> Vec3 {
        let Self { shape, faces } = self;
        let triangles = &shape.geometry().topology().triangles;
        let of_face = |face: u32| {
            let known = &mut faces[face as usize % N_FACES];
            if known.0 != face {
                let corners = triangles[face as usize];
                *known = (face, area_normal(corners.map(|p| shape.now(p))));
            }
            known.1
        };
        shape.normal(of_face, point)
    }
}

/// The normal of a face times twice its area.
fn area_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a)
}
