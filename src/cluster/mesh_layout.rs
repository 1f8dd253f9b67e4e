//! The layout of a mesh's clusters, with what it was computed from.

use super::layout::Layout;
use super::map::ClusterMap;
use super::surface::ClusterSurface;
use crate::mesh::Mesh;
use crate::task::{Cancelled, Task};
use std::sync::{Arc, Weak};

/// The patches between the clusters of a mesh. It does not depend on weights or groups.
#[derive(Debug)]
pub struct MeshLayout {
    geometry: Weak<Mesh>,
    map: ClusterMap,
    surface: ClusterSurface,
    layout: Layout,
}

impl MeshLayout {
    /// Computes the layout of the clusters of `mesh`. The bits do not depend on the number of threads.
    pub fn compute(mesh: &Arc<Mesh>, map: &ClusterMap, task: &Task) -> Result<Self, Cancelled> {
        Self::of(mesh, map, |surface, marked| {
            Layout::new(surface, marked, task)
        })
    }

    /// As [`MeshLayout::compute`], for work that reports progress of its own.
    pub fn quietly(mesh: &Arc<Mesh>, map: &ClusterMap, task: &Task) -> Result<Self, Cancelled> {
        Self::of(mesh, map, |surface, marked| {
            Layout::quietly(surface, marked, task)
        })
    }

    fn of(
        mesh: &Arc<Mesh>,
        map: &ClusterMap,
        lay_out: impl FnOnce(&ClusterSurface, &[bool]) -> Result<Layout, Cancelled>,
    ) -> Result<Self, Cancelled> {
        let surface = ClusterSurface::new(mesh);
        let n_points = mesh.n_points() as u32;
        let points = map.clusters().iter().map(|c| c.0);
        let marked = surface.marked(points.filter(|&point| point < n_points));
        Ok(Self {
            geometry: Arc::downgrade(mesh),
            map: map.clone(),
            layout: lay_out(&surface, &marked)?,
            surface,
        })
    }

    /// Whether it was computed for this shape, by identity, and for these clusters.
    pub fn is_of(&self, mesh: &Arc<Mesh>, map: &ClusterMap) -> bool {
        self.fits(mesh) && self.map.marks_same(map)
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
