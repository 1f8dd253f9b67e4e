//! The corners of the patches at bind: clusters and anchors with the mesh around them.

use crate::cluster::{Base, BoundCage, ClusterMap, ClusterSurface, MeshLayout, Stencil};
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// The corners of the patches of a mesh in its morphed bind shape, in which the mesh has the size of the world.
pub(super) struct Corners {
    /// The welded surface, metres of the world.
    pub(super) surface: ClusterSurface,
    /// Metres of the world in one unit of the mesh.
    pub(super) unit: f64,
    /// The point of each corner, and its group; `None` for an anchor.
    pub(super) points: Vec<(u32, Option<u16>)>,
    /// The bind position of each corner without morph targets, mesh space.
    pub(super) rest: Vec<DVec3>,
    /// The cages that take long to bind.
    pub(super) cages: Arc<[BoundCage]>,
    /// The mesh around each corner.
    pub(super) stencils: Vec<Stencil>,
}

impl Corners {
    /// The corners of a layout where the bind shape is `bind`, n_points, mesh space.
    pub(super) fn new(layout: &MeshLayout, map: &ClusterMap, bind: &[Vec3], unit: f64) -> Self {
        let of_file = layout.surface();
        let positions = (0..of_file.n_vertices() as u32).map(|vertex| {
            let point = of_file.points_of_vertex(vertex)[0];
            bind[point as usize].as_dvec3() * unit
        });
        let surface = of_file.with_positions(positions.collect());
        let rest = layout.layout().corners.iter();
        let rest = rest.map(|&vertex| of_file.positions[vertex as usize]);
        Self {
            points: layout.groups(map),
            cages: layout.cages().clone(),
            rest: rest.collect(),
            stencils: Stencil::of(&surface, &layout.layout().corners),
            surface,
            unit,
        }
    }

    /// The number of corners.
    pub(super) fn len(&self) -> usize {
        self.points.len()
    }

    /// The bind position of a corner, metres of the world.
    pub(super) fn position(&self, corner: u32) -> DVec3 {
        let (point, _) = self.points[corner as usize];
        self.surface.positions[self.surface.vertex_of_point(point) as usize]
    }

    /// What moves a corner before what its group adds: the stack where control points move it.
    pub(super) fn base(&self, corner: usize, map: &ClusterMap) -> Base {
        let group = self.points[corner].1;
        let group = group.and_then(|group| map.groups().get(usize::from(group)));
        let base = group.map_or(Base::Stack, |group| group.base);
        if base.follows_stack() {
            Base::Stack
        } else {
            base
        }
    }
}
