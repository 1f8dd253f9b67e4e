//! The GPU buffers of a mesh: per-point data expanded to glTF vertices.

use super::curvature::{CurvatureBuffers, curvatures};
use super::gl;
use super::heat;
use super::heat_map;
use super::scene::{SceneMesh, Shading};
use crate::editor::weight_colours::HeatChange;
use crate::mesh::{Mesh, PointSet};
use crate::skinning::influences::CHUNK;
use glam::Vec3;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use three_d::{Context, ElementBuffer, Program, VertexBuffer};

/// Fewer vertices are expanded on the calling thread.
const PARALLEL_FROM: usize = 1 << 15;
/// Unchanged vertices between two changed runs are written too if there are at most this many: each call has a fixed
/// cost.
const GAP: u32 = 256;

/// Host buffers reused from upload to upload, so that a warm picture allocates nothing.
#[derive(Default)]
pub(crate) struct Staging {
    vectors: Vec<[f32; 3]>,
    scalars: Vec<f32>,
    tints: Vec<[u8; 4]>,
    vertices: Vec<u32>,
    curvatures: Vec<f32>,
    curvature_buffers: CurvatureBuffers,
}

/// The version of the weights or metric values on the GPU.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeatVersion {
    /// No influences.
    Zero,
    /// Weights of this generation.
    Of(u64),
    /// No values.
    NoValue,
    /// Metric values of this generation.
    Metric(u64),
}

/// The buffers of one [`SceneMesh::key`].
pub(crate) struct GpuMesh {
    positions: VertexBuffer<[f32; 3]>,
    normals: VertexBuffer<[f32; 3]>,
    uvs: VertexBuffer<[f32; 2]>,
    heat: VertexBuffer<f32>,
    /// Mixed colours and locked weights; created when first drawn.
    tints: Option<VertexBuffer<[u8; 4]>>,
    /// Whether `tints` holds values.
    has_tints: bool,
    /// The vertices of each chunk of points; built at the first partial update.
    by_chunk: Option<ByChunk>,
    /// The vertices of each chunk of normals; built likewise.
    normals_by_chunk: Option<ByChunk>,
    curvature: VertexBuffer<f32>,
    colors: Option<VertexBuffer<[u8; 4]>>,
    triangles: ElementBuffer<u32>,
    /// The range of `triangles` of each primitive, without faces at hidden points.
    ranges: Vec<Range<u32>>,
    /// The points whose faces `triangles` leaves out.
    hidden: Option<Arc<PointSet>>,
    edges: Option<ElementBuffer<u32>>,
    n_vertices: usize,
    n_triangles: usize,
    generation: Option<u64>,
    curvature_generation: Option<u64>,
    /// Half the diagonal of the first pose, to normalise the curvature.
    pub(crate) extent: f32,
    heat_version: Option<HeatVersion>,
    /// The last picture that drew it.
    pub(crate) last_used: u64,
}

impl GpuMesh {
    /// Uploads the data that poses do not change: texture coordinates and triangles.
    pub(crate) fn new(context: &Context, mesh: &Mesh) -> Self {
        let uvs: &[[f32; 2]] = bytemuck::cast_slice(&mesh.uvs);
        Self {
            positions: VertexBuffer::new(context),
            normals: VertexBuffer::new(context),
            uvs: VertexBuffer::new_with_data(context, uvs),
            heat: VertexBuffer::new(context),
            tints: None,
            has_tints: false,
            by_chunk: None,
            normals_by_chunk: None,
            curvature: VertexBuffer::new(context),
            colors: None,
            triangles: ElementBuffer::new_with_data(context, bytemuck::cast_slice(&mesh.triangles)),
            ranges: mesh
                .primitives
                .iter()
                .map(|p| p.triangles.clone())
                .collect(),
            hidden: None,
            edges: None,
            n_vertices: mesh.n_vertices(),
            n_triangles: mesh.triangles.len(),
            generation: None,
            curvature_generation: None,
            extent: 0.0,
            heat_version: None,
            last_used: 0,
        }
    }

    /// Whether these buffers fit `mesh`; detects a key reused for another geometry.
    pub(crate) fn belongs_to(&self, mesh: &Mesh) -> bool {
        self.n_vertices == mesh.n_vertices() && self.n_triangles == mesh.triangles.len()
    }

    /// Uploads the data that `shading` needs and whose generation is new.
    pub(crate) fn update(
        &mut self,
        context: &Context,
        scene_mesh: &SceneMesh<'_>,
        shading: Shading,
        staging: &mut Staging,
    ) {
        let mesh = scene_mesh.mesh;
        self.hide(mesh, scene_mesh.marks.hidden);
        if self.generation.is_none() {
            self.extent = half_diagonal(scene_mesh.positions);
        }
        if shading == Shading::Textured && self.colors.is_none() {
            let white;
            let colors = if mesh.colors.is_empty() {
                white = vec![[255; 4]; self.n_vertices];
                &white
            } else {
                &mesh.colors
            };
            self.colors = Some(VertexBuffer::new_with_data(context, colors));
        }
        if shading == Shading::Form && self.curvature_generation != Some(scene_mesh.generation) {
            curvatures(
                mesh,
                scene_mesh.positions,
                scene_mesh.normals,
                &mut staging.curvature_buffers,
                &mut staging.curvatures,
            );
            let curvatures = &staging.curvatures;
            expand(&mut staging.scalars, &mesh.point_of_vertex, |p| {
                curvatures[p as usize]
            });
            self.curvature.fill(&staging.scalars);
            self.curvature_generation = Some(scene_mesh.generation);
        }
        if self.generation != Some(scene_mesh.generation) {
            self.place(scene_mesh, staging);
        }
        let is_metric = shading == Shading::HeatMap;
        let heat_version = match (scene_mesh.weights, is_metric) {
            (Some(_), false) => HeatVersion::Of(scene_mesh.weights_generation),
            (None, false) => HeatVersion::Zero,
            (Some(_), true) => HeatVersion::Metric(scene_mesh.weights_generation),
            (None, true) => HeatVersion::NoValue,
        };
        if self.heat_version != Some(heat_version) {
            let (no_value, as_uploaded): (f32, fn(f32) -> f32) = if is_metric {
                (heat_map::NO_VALUE, heat_map::as_uploaded)
            } else {
                (0.0, heat::as_uploaded)
            };
            let value = |p: u32| {
                scene_mesh
                    .weights
                    .map_or(no_value, |w| as_uploaded(w[p as usize]))
            };
            let changed = match (self.heat_version, heat_version) {
                (Some(HeatVersion::Of(old)), HeatVersion::Of(new)) => {
                    chunks_between(scene_mesh.weight_changes, old, new)
                }
                _ => None,
            };
            let n_chunks = mesh.n_points().div_ceil(CHUNK);
            let changed = changed.filter(|chunks| chunks.len() * 4 <= n_chunks.max(4));
            if let Some(chunks) = changed {
                self.update_parts(scene_mesh, &chunks, value, staging);
            } else {
                expand(&mut staging.scalars, &mesh.point_of_vertex, value);
                self.heat.fill(&staging.scalars);
                self.fill_tints(context, scene_mesh, staging);
            }
            self.heat_version = Some(heat_version);
        }
        if shading == Shading::Weights && self.tints.is_none() {
            let none = vec![[0; 4]; self.n_vertices];
            self.tints = Some(VertexBuffer::new_with_data(context, &none));
        }
    }

    /// Uploads positions and normals; only those of changed chunks if there are few.
    fn place(&mut self, scene_mesh: &SceneMesh<'_>, staging: &mut Staging) {
        let mesh = scene_mesh.mesh;
        let new = scene_mesh.generation;
        let n_chunks = mesh.n_points().div_ceil(CHUNK) + scene_mesh.normals.len().div_ceil(CHUNK);
        let changed = self.generation.and_then(|old| {
            let positions = chunks_between(scene_mesh.position_changes, old, new)?;
            let normals = chunks_between(scene_mesh.normal_changes, old, new)?;
            let is_few = (positions.len() + normals.len()) * 4 <= n_chunks.max(8);
            is_few.then_some((positions, normals))
        });
        self.generation = Some(new);
        let parts = [
            (
                &mut self.positions,
                &mut self.by_chunk,
                &mesh.point_of_vertex,
                scene_mesh.positions,
            ),
            (
                &mut self.normals,
                &mut self.normals_by_chunk,
                &mesh.normal_of_vertex,
                scene_mesh.normals,
            ),
        ];
        let Some((positions, normals)) = changed else {
            for (buffer, _, index, source) in parts {
                expand(&mut staging.vectors, index, |i| {
                    source[i as usize].to_array()
                });
                buffer.fill(&staging.vectors);
            }
            return;
        };
        for ((buffer, by_chunk, index, source), chunks) in
            parts.into_iter().zip([positions, normals])
        {
            if chunks.is_empty() {
                continue;
            }
            let by_chunk = by_chunk.get_or_insert_with(|| ByChunk::new(index));
            let vertices = &mut staging.vertices;
            vertices.clear();
            vertices.extend(chunks.iter().flat_map(|&chunk| by_chunk.of(chunk)));
            vertices.sort_unstable();
            for run in runs(vertices) {
                let index = &index[run.start as usize..run.end as usize];
                staging.vectors.clear();
                let vectors = index.iter().map(|&i| source[i as usize].to_array());
                staging.vectors.extend(vectors);
                gl::fill_part(buffer, run.start as usize, &staging.vectors);
            }
        }
    }

    /// Uploads all tints, or records that there are none.
    fn fill_tints(&mut self, context: &Context, scene_mesh: &SceneMesh<'_>, staging: &mut Staging) {
        if scene_mesh.tints.is_none() && !self.has_tints {
            return;
        }
        expand(
            &mut staging.tints,
            &scene_mesh.mesh.point_of_vertex,
            |point| scene_mesh.tints.map_or([0; 4], |t| t[point as usize]),
        );
        self.tints
            .get_or_insert_with(|| VertexBuffer::new(context))
            .fill(&staging.tints);
        self.has_tints = scene_mesh.tints.is_some();
    }

    /// Uploads values and tints of the vertices in some chunks of points.
    fn update_parts(
        &mut self,
        scene_mesh: &SceneMesh<'_>,
        chunks: &BTreeSet<u32>,
        value: impl Fn(u32) -> f32,
        staging: &mut Staging,
    ) {
        let point_of_vertex = &scene_mesh.mesh.point_of_vertex;
        let by_chunk = self
            .by_chunk
            .get_or_insert_with(|| ByChunk::new(point_of_vertex));
        let vertices = &mut staging.vertices;
        vertices.clear();
        vertices.extend(chunks.iter().flat_map(|&chunk| by_chunk.of(chunk)));
        vertices.sort_unstable();
        for run in runs(vertices) {
            let points = &point_of_vertex[run.start as usize..run.end as usize];
            staging.scalars.clear();
            staging.scalars.extend(points.iter().map(|&p| value(p)));
            gl::fill_part(&mut self.heat, run.start as usize, &staging.scalars);
            if let (Some(buffer), Some(tints)) = (&mut self.tints, scene_mesh.tints) {
                staging.tints.clear();
                staging
                    .tints
                    .extend(points.iter().map(|&p| tints[p as usize]));
                gl::fill_part(buffer, run.start as usize, &staging.tints);
            }
        }
    }

    /// Binds the attributes that `program` uses.
    pub(crate) fn bind(&self, program: &Program) {
        program.use_vertex_attribute("position", &self.positions);
        if program.requires_attribute("normal") {
            program.use_vertex_attribute("normal", &self.normals);
        }
        if program.requires_attribute("uv") {
            program.use_vertex_attribute("uv", &self.uvs);
        }
        if program.requires_attribute("heat") {
            program.use_vertex_attribute("heat", &self.heat);
        }
        if let Some(tints) = &self.tints
            && program.requires_attribute("tint")
        {
            program.use_vertex_attribute("tint", tints);
        }
        if program.requires_attribute("curvature") {
            program.use_vertex_attribute("curvature", &self.curvature);
        }
        if let Some(colors) = &self.colors
            && program.requires_attribute("vertex_color")
        {
            program.use_vertex_attribute("vertex_color", colors);
        }
    }

    /// The indices of all visible triangles.
    pub(crate) fn triangles(&self) -> &ElementBuffer<u32> {
        &self.triangles
    }

    /// The triangles among [`GpuMesh::triangles`] that belong to a primitive.
    pub(crate) fn range(&self, primitive: usize) -> Range<u32> {
        self.ranges.get(primitive).cloned().unwrap_or_default()
    }

    /// Vertex pairs, one for each edge between points; built at the first call.
    pub(crate) fn edges(&mut self, context: &Context, mesh: &Mesh) -> &ElementBuffer<u32> {
        let hidden = self.hidden.as_deref();
        self.edges.get_or_insert_with(|| {
            let edges = unique_edges(mesh, hidden);
            ElementBuffer::new_with_data(context, bytemuck::cast_slice(&edges))
        })
    }

    /// Leaves out the faces at `hidden` points; uploads only if the set changed.
    fn hide(&mut self, mesh: &Mesh, hidden: Option<&Arc<PointSet>>) {
        if is_same(self.hidden.as_ref(), hidden) {
            return;
        }
        self.hidden = hidden.cloned();
        self.edges = None;
        let mut shown: Vec<[u32; 3]> = Vec::with_capacity(mesh.triangles.len());
        self.ranges.clear();
        for primitive in &mesh.primitives {
            let (start, end) = (primitive.triangles.start, primitive.triangles.end);
            let first = shown.len() as u32;
            let triangles = mesh.triangles[start as usize..end as usize].iter();
            shown.extend(triangles.filter(|t| is_shown(mesh, hidden.map(AsRef::as_ref), **t)));
            self.ranges.push(first..shown.len() as u32);
        }
        self.triangles.fill(bytemuck::cast_slice(&shown));
    }
}

/// The vertices of each chunk of points, chunk by chunk.
struct ByChunk {
    /// The start of each chunk, and the end.
    starts: Vec<u32>,
    vertices: Vec<u32>,
}

impl ByChunk {
    fn new(point_of_vertex: &[u32]) -> Self {
        let n_chunks = point_of_vertex
            .iter()
            .max()
            .map_or(0, |&p| p as usize / CHUNK + 1);
        let mut starts = vec![0u32; n_chunks + 1];
        for &point in point_of_vertex {
            starts[point as usize / CHUNK + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut vertices = vec![0; point_of_vertex.len()];
        for (vertex, &point) in (0..).zip(point_of_vertex) {
            let slot = &mut next[point as usize / CHUNK];
            vertices[*slot as usize] = vertex;
            *slot += 1;
        }
        Self { starts, vertices }
    }

    /// The vertices of a chunk, ascending.
    fn of(&self, chunk: u32) -> &[u32] {
        let chunk = chunk as usize;
        match self.starts.get(chunk..=chunk + 1) {
            Some(&[start, end]) => &self.vertices[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// Runs that cover all of `vertices`, ascending, including small gaps.
fn runs(vertices: &[u32]) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for &vertex in vertices {
        match runs.last_mut() {
            Some(run) if vertex <= run.end + GAP => run.end = run.end.max(vertex + 1),
            _ => runs.push(vertex..vertex + 1),
        }
    }
    runs
}

/// The chunks that changed after generation `old` up to `new`; `None` if unknown.
fn chunks_between(changes: &[HeatChange], old: u64, new: u64) -> Option<BTreeSet<u32>> {
    let newest = changes.last()?.0;
    let oldest = changes.first()?.0;
    if newest != new || old >= new || oldest > old + 1 {
        return None;
    }
    let since = changes.iter().filter(|(generation, _)| *generation > old);
    Some(
        since
            .flat_map(|(_, chunks)| chunks.iter().copied())
            .collect(),
    )
}

/// Half the diagonal of the bounding box of the finite `positions`.
fn half_diagonal(positions: &[Vec3]) -> f32 {
    let (low, high) = positions
        .iter()
        .filter(|p| p.is_finite())
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| {
            (low.min(p), high.max(p))
        });
    (0.5 * (high - low).length()).max(0.0)
}

/// `out[i] = value(index[i])`.
fn expand<T: Send>(out: &mut Vec<T>, index: &[u32], value: impl Fn(u32) -> T + Sync + Send) {
    if index.len() < PARALLEL_FROM {
        out.clear();
        out.extend(index.iter().map(|&i| value(i)));
    } else {
        index.par_iter().map(|&i| value(i)).collect_into_vec(out);
    }
}

/// Whether no corner of a triangle of vertices is hidden.
fn is_shown(mesh: &Mesh, hidden: Option<&PointSet>, triangle: [u32; 3]) -> bool {
    let is_hidden = |v: u32| hidden.is_some_and(|h| h.contains(mesh.point_of_vertex[v as usize]));
    !triangle.into_iter().any(is_hidden)
}

/// The edges of all triangles as vertex pairs, each edge between two points once (a seam is one line). Faces at
/// `hidden` points have none.
fn unique_edges(mesh: &Mesh, hidden: Option<&PointSet>) -> Vec<[u32; 2]> {
    let mut edges: Vec<(u64, [u32; 2])> = mesh
        .triangles
        .par_iter()
        .filter(|&&triangle| is_shown(mesh, hidden, triangle))
        .flat_map_iter(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|pair| {
            let [p, q] = pair.map(|v| u64::from(mesh.point_of_vertex[v as usize]));
            (p.min(q) << 32 | p.max(q), pair)
        })
        .collect();
    edges.par_sort_unstable();
    edges.dedup_by_key(|edge| edge.0);
    edges
        .into_iter()
        .filter(|(key, _)| key >> 32 != key & 0xFFFF_FFFF)
        .map(|(_, pair)| pair)
        .collect()
}

/// Whether both are the same set, by address: a set that is kept here cannot have been replaced by another one.
pub(crate) fn is_same<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{MeshSource, PrimitiveSource};

    #[test]
    fn two_triangles_across_a_seam_have_five_edges() {
        let source = PrimitiveSource {
            positions: vec![
                Vec3::ZERO,
                Vec3::X,
                Vec3::Y,
                Vec3::X,
                Vec3::new(1., 1., 0.),
                Vec3::Y,
            ],
            triangles: vec![[0, 1, 2], [3, 4, 5]],
            ..Default::default()
        };
        let mesh = MeshSource {
            primitives: vec![source],
            ..Default::default()
        }
        .build()
        .mesh;
        assert_eq!(unique_edges(&mesh, None).len(), 5);
    }

    #[test]
    fn the_vertices_of_changed_chunks_are_written_in_few_runs() {
        let chunk = CHUNK as u32;
        // A seam: the last vertices are of points of the first chunk.
        let mut point_of_vertex: Vec<u32> = (0..3 * chunk).collect();
        point_of_vertex.extend([5, 7]);
        let by_chunk = ByChunk::new(&point_of_vertex);
        assert_eq!(by_chunk.of(1).len(), CHUNK);
        assert_eq!(by_chunk.of(0)[CHUNK..], [3 * chunk, 3 * chunk + 1]);
        assert_eq!(by_chunk.of(3), &[] as &[u32]);
        let runs = runs(by_chunk.of(0));
        assert_eq!(runs, [0..chunk, 3 * chunk..3 * chunk + 2]);
        assert_eq!(super::runs(&[4, 9, 9 + GAP + 2]).len(), 2);
    }

    #[test]
    fn only_a_history_without_gaps_says_what_changed() {
        let changes: Vec<HeatChange> = (5..8u64)
            .map(|generation| (generation, vec![generation as u32].into()))
            .collect();
        let set = |chunks: &[u32]| Some(chunks.iter().copied().collect());
        assert_eq!(chunks_between(&changes, 4, 7), set(&[5, 6, 7]));
        assert_eq!(chunks_between(&changes, 6, 7), set(&[7]));
        assert_eq!(chunks_between(&changes, 3, 7), None, "one is missing");
        assert_eq!(
            chunks_between(&changes, 6, 8),
            None,
            "the newest is missing"
        );
        assert_eq!(chunks_between(&[], 6, 7), None);
    }

    #[test]
    fn expanding_is_the_same_on_one_and_many_threads() {
        let index: Vec<u32> = (0..PARALLEL_FROM as u32 + 7).map(|i| i * 3).collect();
        let mut many = Vec::new();
        expand(&mut many, &index, |i| i + 1);
        let one: Vec<u32> = index.iter().map(|i| i + 1).collect();
        assert_eq!(many, one);
    }
}
