//! The layout of a mesh's clusters, with what it was computed from.

use super::bound_cage::BoundCage;
use super::cage::{Cage, CageError};
use super::cage_mesh::CageMesh;
use super::layout::Layout;
use super::map::ClusterMap;
use super::surface::ClusterSurface;
use crate::mesh::Mesh;
use crate::task::{Cancelled, Task};
use glam::DVec3;
use std::sync::{Arc, Weak};

/// The patches between the clusters of a mesh, and the cages of its groups that take long to bind. The patches do not depend on
/// weights or groups.
#[derive(Debug)]
pub struct MeshLayout {
    geometry: Weak<Mesh>,
    map: ClusterMap,
    surface: Arc<ClusterSurface>,
    layout: Arc<Layout>,
    cages: Arc<[BoundCage]>,
}

impl MeshLayout {
    /// Computes the layout of the clusters of `mesh`. The bits do not depend on the number of threads.
    pub fn compute(mesh: &Arc<Mesh>, map: &ClusterMap, task: &Task) -> Result<Self, Cancelled> {
        Self::compute_after(None, mesh, map, task)
    }

    /// As [`MeshLayout::compute`], with the patches and the bound cages of an earlier one where they are the same.
    pub fn compute_after(
        earlier: Option<&Self>,
        mesh: &Arc<Mesh>,
        map: &ClusterMap,
        task: &Task,
    ) -> Result<Self, Cancelled> {
        let lay_out =
            |surface: &ClusterSurface, marked: &[bool]| Layout::new(surface, marked, task);
        let bind = |cage: &CageMesh, points: &[DVec3]| {
            Cage::new(cage.vertices(), cage.triangles(), points, task)
        };
        Self::of(earlier, mesh, map, (lay_out, bind))
    }

    /// As [`MeshLayout::compute`], for work that reports progress of its own.
    pub fn quietly(mesh: &Arc<Mesh>, map: &ClusterMap, task: &Task) -> Result<Self, Cancelled> {
        let lay_out =
            |surface: &ClusterSurface, marked: &[bool]| Layout::quietly(surface, marked, task);
        let bind = |cage: &CageMesh, points: &[DVec3]| {
            Cage::quietly(cage.vertices(), cage.triangles(), points, task)
        };
        Self::of(None, mesh, map, (lay_out, bind))
    }

    fn of(
        earlier: Option<&Self>,
        mesh: &Arc<Mesh>,
        map: &ClusterMap,
        (lay_out, bind): (
            impl FnOnce(&ClusterSurface, &[bool]) -> Result<Layout, Cancelled>,
            impl Fn(&CageMesh, &[DVec3]) -> Result<Cage, CageError>,
        ),
    ) -> Result<Self, Cancelled> {
        let earlier = earlier.filter(|earlier| earlier.fits(mesh));
        let same = earlier.filter(|earlier| earlier.map.marks_same(map));
        let (surface, layout) = if let Some(same) = same {
            (same.surface.clone(), same.layout.clone())
        } else {
            let surface = ClusterSurface::new(mesh);
            let n_points = mesh.n_points() as u32;
            let points = map.clusters().iter().map(|c| c.0);
            let marked = surface.marked(points.filter(|&point| point < n_points));
            let layout = lay_out(&surface, &marked)?;
            (Arc::new(surface), Arc::new(layout))
        };
        let mut made = Self {
            geometry: Arc::downgrade(mesh),
            map: map.clone(),
            surface,
            layout,
            cages: Arc::new([]),
        };
        let mut cages = Vec::new();
        for (group, cage) in map.slow_cages() {
            let clusters = made.clusters_at_bind(group);
            let points = || clusters.iter().map(|cluster| cluster.0);
            let mut known = earlier.iter().flat_map(|earlier| earlier.cages.iter());
            let known = known.find(|known| known.is_of(cage, points()));
            cages.push(match known {
                Some(known) => known.clone(),
                None => BoundCage::new(cage, &clusters, &bind)?,
            });
        }
        made.cages = cages.into();
        Ok(made)
    }

    /// The corners of a group, by point, with their positions at bind, mesh space.
    fn clusters_at_bind(&self, group: u16) -> Vec<(u32, DVec3)> {
        let corners = self.groups(&self.map).into_iter().zip(&self.layout.corners);
        let own = corners.filter(|((_, of), _)| *of == Some(group));
        let own = own.map(|((point, _), &vertex)| (point, self.surface.positions[vertex as usize]));
        let mut own: Vec<(u32, DVec3)> = own.collect();
        own.sort_by_key(|cluster| cluster.0);
        own
    }

    /// Whether it was computed for this shape, by identity, and for these clusters and their cages.
    pub fn is_of(&self, mesh: &Arc<Mesh>, map: &ClusterMap) -> bool {
        self.fits(mesh) && self.map.marks_same(map) && self.map.binds_same(map)
    }

    /// The cages that take long to bind, bound to their clusters.
    pub fn cages(&self) -> &Arc<[BoundCage]> {
        &self.cages
    }

    /// Whether it was computed for this shape, with any clusters.
    pub fn fits(&self, mesh: &Arc<Mesh>) -> bool {
        std::ptr::eq(self.geometry.as_ptr(), Arc::as_ptr(mesh))
    }

    /// The welded surface at bind.
    pub fn surface(&self) -> &ClusterSurface {
        &self.surface
    }

    /// The patches.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The group in `map` of each corner, with the point that it is; `None` for an anchor, which is its lowest point.
    pub fn groups(&self, map: &ClusterMap) -> Vec<(u32, Option<u16>)> {
        let corners = self.layout.corners.iter().map(|&vertex| {
            let points = self.surface.points_of_vertex(vertex);
            let marked = points.iter().find_map(|&p| Some((p, map.group_of(p)?)));
            marked.map_or((points[0], None), |(point, group)| (point, Some(group)))
        });
        corners.collect()
    }
}
