//! Points and vertices, topology and normals: the geometry that is deformed.
//!
//! Data flow: `document::MeshSource` (per-vertex arrays as a file has them) is welded to points in spatial
//! order -> [`Mesh`] -> [`Topology`] (adjacency), [`NormalFans`] (the faces around each normal, from which `deform` carries
//! it to the deformed surface) and [`SurfaceIndex`] (ray queries).
//!
//! Invariant: points are in spatial order, so that neighbours in space are neighbours in memory.
//! Invariant: vertices and triangles keep the order of the file.

pub(crate) mod box_tree;
mod components;
pub mod islands;
pub mod limb_centre;
pub mod loops;
pub mod normal_fans;
pub mod normals;
pub mod point_set;
pub mod point_tree;
pub mod rings;
pub mod shore;
pub mod spatial;
pub mod surface_walk;
pub mod symmetry;
pub mod topology;
pub(crate) mod triangle;
pub mod volume_centre;

pub use normal_fans::NormalFans;
pub use point_set::PointSet;
pub use point_tree::PointTree;
pub use rings::Rings;
pub use spatial::{ClosestPosition, SurfaceHit, SurfaceIndex};
pub use surface_walk::SurfaceWalk;
pub use symmetry::{FoundBy, Symmetry, SymmetryCounts};
pub use topology::Topology;

use glam::{Vec2, Vec3};
use std::ops::Range;
use std::sync::OnceLock;

/// The geometry of one glTF mesh: all its primitives over one set of points.
#[derive(Debug, Default)]
pub struct Mesh {
    /// A label.
    pub name: String,
    /// Runs of vertices and triangles, in file order.
    pub primitives: Vec<Primitive>,
    /// n_points bind positions, mesh space (what skin matrices expect), metres.
    pub positions: Vec<Vec3>,
    /// n_vertices: the point each vertex lies on.
    pub point_of_vertex: Vec<u32>,
    /// n_vertices: the entry of `normals` of each vertex.
    pub normal_of_vertex: Vec<u32>,
    /// n_normals distinct bind normals, unit; a smooth point has one, a hard edge several.
    pub normals: Vec<Vec3>,
    /// n_normals: the point of each normal, ascending.
    pub point_of_normal: Vec<u32>,
    /// n_vertices texture coordinates (set 0); empty if the file has none.
    pub uvs: Vec<Vec2>,
    /// n_vertices colours, which multiply the material's: square roots of linear red, green and blue, and linear alpha,
    /// 0 - 255; empty if the file has none.
    pub colors: Vec<[u8; 4]>,
    /// Triangles of vertices, wound counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Triangles of the topology that are inside out at bind, ascending: those that the fit of a body flipped.
    pub inside_out: Vec<u32>,
    /// Morph targets.
    pub morphs: Vec<Morph>,
    /// Filled by the first call of [`Mesh::topology`].
    pub(crate) topology: OnceLock<Topology>,
    /// Filled by the first call of [`Mesh::rings`].
    pub(crate) rings: OnceLock<Rings>,
    /// Filled by the first call of [`Mesh::normal_fans`].
    pub(crate) normal_fans: OnceLock<NormalFans>,
}

/// One primitive of a [`Mesh`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Primitive {
    /// Its vertices in the mesh's per-vertex arrays, in POSITION accessor order.
    pub vertices: Range<u32>,
    /// Its triangles in [`Mesh::triangles`].
    pub triangles: Range<u32>,
    /// Index into the document's materials.
    pub material: Option<u32>,
    /// Whether its normals are the file's; otherwise they are computed from the faces, and players may choose others.
    pub has_normals: bool,
}

/// One morph target.
#[derive(Clone, Debug, PartialEq)]
pub struct Morph {
    /// A label; may be empty.
    pub name: String,
    /// n_points displacements, mesh space, metres.
    pub deltas: Vec<Vec3>,
    /// Vertices with a normal displacement, ascending, and the displacement. Sinew derives normals from the deformed surface;
    /// these are what other players use.
    pub normals: Vec<(u32, Vec3)>,
}

impl Mesh {
    /// Number of points, which are deformed.
    pub fn n_points(&self) -> usize {
        self.positions.len()
    }

    /// Number of vertices, which the file stores and the GPU draws.
    pub fn n_vertices(&self) -> usize {
        self.point_of_vertex.len()
    }

    /// Triangles of points, and adjacency. Computed at the first call.
    pub fn topology(&self) -> &Topology {
        self.topology.get_or_init(|| Topology::new(self))
    }

    /// The one-ring of each point, seams closed. Computed at the first call.
    pub fn rings(&self) -> &Rings {
        self.rings.get_or_init(|| Rings::new(self))
    }

    /// The faces around each normal. Computed at the first call, on rayon's threads.
    pub fn normal_fans(&self) -> &NormalFans {
        self.normal_fans.get_or_init(|| NormalFans::new(self))
    }

    /// Bytes on the heap, without what is computed at the first call.
    pub fn heap_bytes(&self) -> usize {
        let morphs = self.morphs.iter();
        let morphs = morphs.map(|m| size_of_val(&*m.deltas) + size_of_val(&*m.normals));
        size_of_val(&*self.positions)
            + size_of_val(&*self.point_of_vertex)
            + size_of_val(&*self.normal_of_vertex)
            + size_of_val(&*self.normals)
            + size_of_val(&*self.point_of_normal)
            + size_of_val(&*self.uvs)
            + size_of_val(&*self.colors)
            + size_of_val(&*self.triangles)
            + morphs.sum::<usize>()
    }

    /// The mesh with other positions, normals and morph targets, as many as it has.
    #[must_use]
    pub fn with_shape(&self, positions: Vec<Vec3>, normals: Vec<Vec3>, morphs: Vec<Morph>) -> Self {
        Self {
            name: self.name.clone(),
            primitives: self.primitives.clone(),
            positions,
            point_of_vertex: self.point_of_vertex.clone(),
            normal_of_vertex: self.normal_of_vertex.clone(),
            normals,
            point_of_normal: self.point_of_normal.clone(),
            uvs: self.uvs.clone(),
            colors: self.colors.clone(),
            triangles: self.triangles.clone(),
            inside_out: Vec::new(),
            morphs,
            topology: OnceLock::new(),
            rings: OnceLock::new(),
            normal_fans: OnceLock::new(),
        }
    }

    /// The lowest vertex of each point: the number of a point in files.
    pub fn first_vertex_of_point(&self) -> Vec<u32> {
        let mut first = vec![u32::MAX; self.n_points()];
        for (v, &p) in self.point_of_vertex.iter().enumerate() {
            let entry = &mut first[p as usize];
            *entry = (*entry).min(v as u32);
        }
        first
    }

    /// The primitive that holds `vertex`.
    pub fn primitive_of_vertex(&self, vertex: u32) -> Option<usize> {
        self.primitives
            .iter()
            .position(|p| p.vertices.contains(&vertex))
    }
}
