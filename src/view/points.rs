//! Points as dots: selected ones in the accent colour with a dark rim, control clusters in the colour and glyph of their
//! group, the others small, where they are far enough apart.

use super::cgmath_convert::{matrix, vector2, vector3};
use super::cluster_dots::ClusterDots;
use super::gl;
use super::gpu_mesh::{GpuMesh, is_same};
use super::heat::hex;
use super::render_error::RenderError;
use super::scene::SceneMesh;
use crate::cluster::preset::FREE_COLOUR;
use crate::math::Camera;
use crate::mesh::{Mesh, PointSet};
use glam::{Mat4, Vec2, Vec3};
use std::collections::HashMap;
use std::sync::Arc;
use three_d::{
    Blend, Context, Cull, DepthTest, ElementBuffer, Program, RenderStates, Viewport, WriteMask,
};

/// The accent colour of the interface.
const SELECTED: [f32; 3] = hex(0xE8A33D);
/// The colour of free vertices in Cluster mode.
const FREE: [f32; 3] = {
    let [r, g, b] = FREE_COLOUR;
    hex(u32::from_be_bytes([0, r, g, b]))
};
const DARK: [f32; 3] = hex(0x121315);
const LIGHT: [f32; 3] = hex(0xD6D8DB);
/// Distances of points between which the unselected dots fade in, screen points.
const ROOM: [f32; 2] = [5.0, 9.0];
/// Number of edges that are measured for the mean distance of points.
const MEASURED: usize = 512;

/// The position and size parameters of dots.
pub(crate) struct PointFrame<'a> {
    pub(crate) camera: &'a Camera,
    pub(crate) viewport: Viewport,
    pub(crate) clip_from_view: Mat4,
    pub(crate) view_from_world: Mat4,
    pub(crate) pixels_per_point: f32,
}

/// The dots of all meshes on the GPU.
pub(crate) struct PointPass {
    program: Program,
    dots: HashMap<u64, Dots>,
    staging: Vec<u32>,
}

/// The vertices of a mesh that are drawn as dots. The sets are kept alive, so that equal addresses mean equal sets.
struct Dots {
    first_vertex: Vec<u32>,
    selected: Option<Arc<PointSet>>,
    selected_elements: ElementBuffer<u32>,
    hidden: Option<Arc<PointSet>>,
    other_elements: Option<ElementBuffer<u32>>,
    clusters: ClusterDots,
    /// Mean edge length when first displayed, metres.
    spacing: f32,
    last_used: u64,
}

impl PointPass {
    /// Compiles the shaders.
    pub(crate) fn new(context: &Context) -> Result<Self, RenderError> {
        let program = Program::from_source(
            context,
            include_str!("shaders/point.vert"),
            include_str!("shaders/point.frag"),
        );
        Ok(Self {
            program: program.map_err(|source| RenderError::Shader {
                name: "point",
                source,
            })?,
            dots: HashMap::new(),
            staging: Vec::new(),
        })
    }

    /// Frees the buffers that no picture since `oldest` used.
    pub(crate) fn free_unused(&mut self, oldest: u64) {
        self.dots.retain(|_, dots| dots.last_used >= oldest);
    }

    /// Draws the dots of a mesh whose vertices are in `gpu`, over its faces; `picture` counts up.
    pub(crate) fn draw(
        &mut self,
        context: &Context,
        frame: &PointFrame<'_>,
        scene_mesh: &SceneMesh<'_>,
        gpu: &GpuMesh,
        picture: u64,
    ) {
        let marks = scene_mesh.marks;
        if marks.selected.is_none() && !marks.show_others && marks.clusters.is_none() {
            return;
        }
        let mesh = scene_mesh.mesh;
        let is_of = |dots: &Dots| dots.first_vertex.len() == mesh.n_points();
        if !self.dots.get(&scene_mesh.key).is_some_and(is_of) {
            let dots = Dots::new(context, scene_mesh);
            self.dots.insert(scene_mesh.key, dots);
        }
        let Some(dots) = self.dots.get_mut(&scene_mesh.key) else {
            return;
        };
        dots.last_used = picture;
        dots.select(marks.selected, &mut self.staging);
        let height = frame.viewport.height as f32;
        let pixel = frame.camera.metres_per_pixel(frame.camera.target, height);
        let scale = frame.pixels_per_point;
        let spacing = dots.spacing / pixel / scale;
        self.program
            .use_uniform("clip_from_view", matrix(frame.clip_from_view));
        self.program
            .use_uniform("view_from_world", matrix(frame.view_from_world));
        self.program
            .use_uniform("nudge", vector2(nudge(frame.camera)));
        let room = ((spacing - ROOM[0]) / (ROOM[1] - ROOM[0])).clamp(0.0, 1.0);
        if marks.show_others && room > 0.0 {
            let others = dots.others(context, marks.hidden, &mut self.staging);
            let style = DotStyle {
                fill: if marks.free { FREE } else { DARK },
                outline: if marks.free { DARK } else { LIGHT },
                glyph: 0,
                size: (0.35 * spacing).clamp(2.5, 4.0) * scale,
                rim: if marks.free { 0.3 } else { 0.6 } * scale,
                opacity: 0.8 * room,
            };
            style.draw(context, &self.program, frame.viewport, gpu, others);
        }
        let size = (0.8 * spacing).clamp(3.5, 7.0);
        let style = DotStyle {
            fill: SELECTED,
            outline: DARK,
            glyph: 0,
            size: size * scale,
            // Where dots are dense, rims must not hide the accent colour.
            rim: (0.3 * (size - 2.5)).clamp(0.3, 1.2) * scale,
            opacity: 1.0,
        };
        let selected = &dots.selected_elements;
        style.draw(context, &self.program, frame.viewport, gpu, selected);
        let first_vertex = &dots.first_vertex;
        let clusters = &mut dots.clusters;
        clusters.update(context, &marks, first_vertex, &mut self.staging);
        // Where clusters are dense, each keeps its own place and more colour than rim.
        let points = (0.95 * spacing).clamp(4.5, 12.0);
        let (size, rim) = (
            points * scale,
            (0.2 * (points - 2.5)).clamp(0.4, 1.2) * scale,
        );
        if let Some(selected) = &clusters.selected_elements {
            // A disc behind the glyph, which stays visible.
            let style = DotStyle {
                fill: SELECTED,
                outline: DARK,
                glyph: 0,
                size: size + 6.0 * scale,
                rim: scale,
                opacity: 1.0,
            };
            style.draw(context, &self.program, frame.viewport, gpu, selected);
        }
        for group in &clusters.groups {
            let style = DotStyle {
                fill: group.colour,
                outline: DARK,
                glyph: group.glyph,
                size,
                rim,
                opacity: 1.0,
            };
            style.draw(context, &self.program, frame.viewport, gpu, &group.elements);
        }
    }
}

impl Dots {
    fn new(context: &Context, scene_mesh: &SceneMesh<'_>) -> Self {
        Self {
            first_vertex: scene_mesh.mesh.first_vertex_of_point(),
            selected: None,
            selected_elements: ElementBuffer::new(context),
            hidden: None,
            other_elements: None,
            clusters: ClusterDots::default(),
            spacing: spacing(scene_mesh.mesh, scene_mesh.positions),
            last_used: 0,
        }
    }

    /// Uploads the selected points if they changed.
    fn select(&mut self, selected: Option<&Arc<PointSet>>, staging: &mut Vec<u32>) {
        if !is_same(self.selected.as_ref(), selected) {
            staging.clear();
            let points = selected.into_iter().flat_map(|set| set.iter());
            staging.extend(points.filter_map(|p| self.first_vertex.get(p as usize)));
            self.selected_elements.fill(staging);
            self.selected = selected.cloned();
        }
    }

    /// All points that are not hidden; uploaded if they changed.
    fn others(
        &mut self,
        context: &Context,
        hidden: Option<&Arc<PointSet>>,
        staging: &mut Vec<u32>,
    ) -> &ElementBuffer<u32> {
        let is_new = !is_same(self.hidden.as_ref(), hidden) || self.other_elements.is_none();
        let elements = self
            .other_elements
            .get_or_insert_with(|| ElementBuffer::new(context));
        if is_new {
            staging.clear();
            let shown = (0..).zip(&self.first_vertex);
            let shown = shown.filter(|&(p, _)| hidden.is_none_or(|set| !set.contains(p)));
            staging.extend(shown.map(|(_, &vertex)| vertex));
            elements.fill(staging);
            self.hidden = hidden.cloned();
        }
        elements
    }
}

/// The style of a dot, in pixels.
struct DotStyle {
    fill: [f32; 3],
    outline: [f32; 3],
    /// The shape, as the shader numbers it.
    glyph: i32,
    size: f32,
    rim: f32,
    opacity: f32,
}

impl DotStyle {
    fn draw(
        &self,
        context: &Context,
        program: &Program,
        viewport: Viewport,
        gpu: &GpuMesh,
        elements: &ElementBuffer<u32>,
    ) {
        if elements.count() == 0 {
            return;
        }
        let states = RenderStates {
            write_mask: WriteMask::COLOR,
            depth_test: DepthTest::LessOrEqual,
            blend: Blend::TRANSPARENCY,
            cull: Cull::None,
        };
        program.use_uniform("fill_srgb", vector3(self.fill.into()));
        program.use_uniform("outline_srgb", vector3(self.outline.into()));
        program.use_uniform("glyph", self.glyph);
        program.use_uniform("size_px", self.size);
        program.use_uniform("outline_px", self.rim);
        program.use_uniform("opacity", self.opacity);
        gpu.bind(program);
        gl::draw_points(context, program, states, viewport, elements);
    }
}

/// The depth offset of dots: a factor and a shift.
fn nudge(camera: &Camera) -> Vec2 {
    const NUDGE: f32 = 0.003;
    if camera.orthographic {
        Vec2::new(1.0, NUDGE * camera.distance)
    } else {
        Vec2::new(1.0 - NUDGE, 0.0)
    }
}

/// Mean length of some edges, metres.
fn spacing(mesh: &Mesh, positions: &[Vec3]) -> f32 {
    let step = (mesh.triangles.len() / MEASURED).max(1);
    let mut sum = 0.0;
    let mut n = 0;
    for &[a, b, _] in mesh.triangles.iter().step_by(step) {
        let [a, b] = [a, b].map(|v| positions[mesh.point_of_vertex[v as usize] as usize]);
        let length = a.distance(b);
        if length.is_finite() {
            sum += length;
            n += 1;
        }
    }
    sum / n.max(1) as f32
}
