//! The render passes of a picture, in order: background, meshes with their lines, boxes, grid, bones.

use super::boxes::BoxLines;
use super::cgmath_convert::{matrix, vector2, vector3};
use super::draw_budget::DrawBudget;
use super::gl::{self, Stencil};
use super::gpu_mesh::{GpuMesh, Staging};
use super::grid::Grid;
use super::heat::{SUM_SCALE, Stops, hex, linear, sum_stops};
use super::joints::{BoneShape, BoneTriangles};
use super::points::{PointFrame, PointPass};
use super::programs::{Programs, is_detailed};
use super::render_error::RenderError;
use super::scene::{Scene, SceneMesh, Shading, ViewOptions};
use super::scenery::Scenery;
use super::textures::{Textures, Use};
use crate::deform::diagnostics::Range;
use crate::document::{Image, Material};
use crate::editor::WeightView;
use glam::{Mat4, Vec2, Vec3};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use three_d::{
    Blend, Context, Cull, DepthTest, Program, RenderStates, VertexBuffer, Viewport, WriteMask,
};

/// The accent colour of the interface.
const ACCENT: [f32; 3] = hex(0xE8A33D);
const X_AXIS: [f32; 3] = hex(0xE0525B);
const Y_AXIS: [f32; 3] = hex(0x7FB238);
const Z_AXIS: [f32; 3] = hex(0x4C8BE0);
/// The curvature, relative to the scene size, that [`Shading::Form`] shows at half strength.
const BUMP: f32 = 0.035;
/// Opacity of the bounding boxes of objects that are not drawn.
const BOX_OPACITY: f32 = 0.45;
/// Opacity of a bone behind a surface.
const OCCLUDED: f32 = 0.62;

/// The GPU data of scenes: programs and buffers, kept from picture to picture.
pub(crate) struct Passes {
    context: Context,
    programs: Programs,
    meshes: HashMap<u64, GpuMesh>,
    points: PointPass,
    budget: DrawBudget,
    boxes: BoxLines,
    textures: Textures,
    staging: Staging,
    bone_triangles: BoneTriangles,
    bone_positions: VertexBuffer<[f32; 3]>,
    bone_normals: VertexBuffer<[f32; 4]>,
    bone_outwards: VertexBuffer<[f32; 3]>,
    bone_fills: VertexBuffer<[f32; 4]>,
    bone_outlines: VertexBuffer<[f32; 4]>,
    /// Two triangles over -1..1 in x and y.
    square: VertexBuffer<[f32; 3]>,
    /// The number of the current picture.
    picture: u64,
}

impl Passes {
    /// Compiles the shaders.
    pub(crate) fn new(context: &Context) -> Result<Self, RenderError> {
        let square = [
            [-1., -1., 0.],
            [1., -1., 0.],
            [1., 1., 0.],
            [-1., -1., 0.],
            [1., 1., 0.],
            [-1., 1., 0.],
        ];
        Ok(Self {
            programs: Programs::new(context)?,
            meshes: HashMap::new(),
            points: PointPass::new(context)?,
            budget: DrawBudget::default(),
            boxes: BoxLines::new(context),
            textures: Textures::new(context),
            staging: Staging::default(),
            bone_triangles: BoneTriangles::default(),
            bone_positions: VertexBuffer::new(context),
            bone_normals: VertexBuffer::new(context),
            bone_outwards: VertexBuffer::new(context),
            bone_fills: VertexBuffer::new(context),
            bone_outlines: VertexBuffer::new(context),
            square: VertexBuffer::new_with_data(context, &square),
            picture: 0,
            context: context.clone(),
        })
    }

    /// Draws `scene` into the bound, cleared framebuffer of `size` pixels; `picture` counts up. The result is the number of
    /// meshes that exceed the drawing budget.
    pub(crate) fn draw(&mut self, scene: &Scene<'_>, size: [u32; 2], picture: u64) -> usize {
        self.picture = picture;
        let mut frame = Frame::new(scene, size);
        self.draw_background(&frame);
        let drawable = |mesh: &&SceneMesh<'_>| {
            let fits = mesh.fits();
            debug_assert!(fits, "arrays of mesh {} do not fit it", mesh.key);
            fits && !mesh.mesh.triangles.is_empty()
        };
        let mut budget = std::mem::take(&mut self.budget);
        let chosen = budget.choose(scene, size, picture);
        let whole = chosen.whole.iter().filter_map(|&i| scene.meshes.get(i));
        let meshes: Vec<&SceneMesh<'_>> = whole.filter(drawable).collect();
        for mesh in &meshes {
            let extent = self.upload(&frame, mesh);
            frame.extent = frame.extent.max(extent);
        }
        for mesh in &meshes {
            self.draw_mesh(&frame, mesh, Layer::Solid);
        }
        // Transparent surfaces are drawn after opaque ones.
        for mesh in &meshes {
            self.draw_mesh(&frame, mesh, Layer::Clear);
        }
        self.draw_points(&frame, scene, &meshes);
        let boxes = [scene.boxes, &chosen.boxes];
        if boxes.iter().any(|list| !list.is_empty()) {
            let line = &self.programs.line;
            frame.use_line(line, frame.scenery.wire, BOX_OPACITY);
            self.boxes
                .draw(&self.context, line, BLENDED, frame.viewport, boxes);
        }
        let n_boxed = chosen.n_boxed;
        self.budget = budget;
        if frame.options.show_grid {
            self.draw_grid(&frame, &Grid::new(scene.camera, scene.ground));
        }
        if frame.options.show_bones && !scene.bones.is_empty() {
            self.draw_bones(&frame, scene.bones);
        }
        n_boxed
    }

    /// Frees the buffers that no picture since `oldest` used.
    pub(crate) fn free_unused(&mut self, oldest: u64) {
        self.meshes.retain(|_, mesh| mesh.last_used >= oldest);
        self.budget.free_unused(oldest);
        self.points.free_unused(oldest);
        self.textures.free_unused(oldest);
    }

    /// Frees the buffers of meshes whose key is not among `keys`.
    pub(crate) fn keep_meshes(&mut self, keys: &[u64]) {
        self.meshes.retain(|key, _| keys.contains(key));
    }

    /// The number of meshes with buffers.
    pub(crate) fn n_gpu_meshes(&self) -> usize {
        self.meshes.len()
    }

    fn draw_background(&self, frame: &Frame) {
        let program = &self.programs.background;
        use_color(program, "top_srgb", frame.scenery.top);
        use_color(program, "bottom_srgb", frame.scenery.bottom);
        program.use_uniform("height_px", frame.viewport.height as f32);
        program.use_vertex_attribute("position", &self.square);
        let states = RenderStates {
            write_mask: WriteMask::COLOR,
            depth_test: DepthTest::Always,
            ..RenderStates::default()
        };
        program.draw_arrays(states, frame.viewport, 6);
    }

    /// Updates the buffers of a mesh; returns its size.
    fn upload(&mut self, frame: &Frame, scene_mesh: &SceneMesh<'_>) -> f32 {
        let mesh = scene_mesh.mesh;
        let gpu = self
            .meshes
            .entry(scene_mesh.key)
            .or_insert_with(|| GpuMesh::new(&self.context, mesh));
        if !gpu.belongs_to(mesh) {
            *gpu = GpuMesh::new(&self.context, mesh);
        }
        gpu.last_used = self.picture;
        gpu.update(
            &self.context,
            scene_mesh,
            scene_mesh.shading(frame.options.shading),
            &mut self.staging,
        );
        gpu.extent
    }

    fn draw_mesh(&mut self, frame: &Frame, scene_mesh: &SceneMesh<'_>, layer: Layer) {
        let mesh = scene_mesh.mesh;
        let options = ViewOptions {
            shading: scene_mesh.shading(frame.options.shading),
            ..frame.options
        };
        let textured = options.shading == Shading::Textured;
        let material_of = |index: Option<u32>| {
            index
                .and_then(|m| scene_mesh.materials.get(m as usize))
                .unwrap_or(&NO_MATERIAL)
        };
        let is_clear = |material: &Material| textured && material.blended;
        let any_clear = || {
            let mut materials = mesh.primitives.iter().map(|p| material_of(p.material));
            textured && materials.any(is_clear)
        };
        if layer == Layer::Clear && !any_clear() {
            return;
        }
        let Some(gpu) = self.meshes.get_mut(&scene_mesh.key) else {
            return;
        };
        let programs = self.programs.meshes(&options);
        let plain_only = !textured;
        for program in programs.iter().take(if plain_only { 1 } else { 2 }) {
            frame.use_light(program, scene_mesh);
        }
        for (index, primitive) in mesh.primitives.iter().enumerate() {
            let material = material_of(primitive.material);
            let clear = is_clear(material);
            if layer == Layer::Clear && !clear {
                continue;
            }
            let detailed = textured && is_detailed(material);
            let program = programs[usize::from(detailed)];
            // Back faces are drawn, darker, even where the material culls them: a hole would hide a mistake.
            let back_light = if material.double_sided { 1.0 } else { 0.45 };
            program.use_uniform("back_light", back_light);
            let mut states = RenderStates::default();
            if textured {
                use_material(program, material);
                let mut texture = |name, image: Option<u32>, meaning| {
                    let image = image_of(scene_mesh, image);
                    let texture = self
                        .textures
                        .get(&self.context, image, meaning, self.picture);
                    program.use_texture(name, texture);
                };
                texture("base_color_map", material.base_color_image, Use::Color);
                if detailed {
                    let unreadable = material.metallic_roughness_image.is_some()
                        && image_of(scene_mesh, material.metallic_roughness_image).is_none();
                    if unreadable {
                        // The texture would hold the values: a dielectric is the better guess than a factor of 1.
                        program.use_uniform("metallic", 0.0);
                        program.use_uniform("roughness", 0.6);
                    }
                    texture(
                        "metallic_roughness_map",
                        material.metallic_roughness_image,
                        Use::Data,
                    );
                    texture("occlusion_map", material.occlusion_image, Use::Data);
                    texture("emissive_map", material.emissive_image, Use::Color);
                    texture("normal_map", material.normal_image, Use::Data);
                    let bumpy = image_of(scene_mesh, material.normal_image).is_some();
                    program.use_uniform("bumpy", f32::from(u8::from(bumpy)));
                }
                // Hair and lashes: their core is opaque and writes depth, only their edges are transparent.
                let cutoff = match (clear, layer) {
                    (true, Layer::Solid) => 0.97,
                    (true, Layer::Clear) => 0.004,
                    (false, _) => material.alpha_cutoff.unwrap_or(-1.0),
                };
                program.use_uniform("alpha_cutoff", cutoff);
                let see_through = clear && layer == Layer::Clear;
                program.use_uniform("blended", f32::from(u8::from(see_through)));
                if see_through {
                    states = BLENDED;
                }
            }
            // three-d passes `first` as OpenGL's offset, which is in bytes.
            let shown = gpu.range(index);
            let first_byte = shown.start * 3 * size_of::<u32>() as u32;
            gpu.bind(program);
            program.draw_subset_of_elements(
                states,
                frame.viewport,
                gpu.triangles(),
                first_byte,
                shown.len() as u32 * 3,
            );
        }

        let wire = frame.options.shading == Shading::Wire;
        if layer == Layer::Solid && (wire || frame.options.wire_overlay) {
            let program = &self.programs.line;
            let scenery = frame.scenery;
            let (color, opacity) = if wire {
                (scenery.wire, scenery.wire_opacity)
            } else {
                (scenery.overlay, scenery.overlay_opacity)
            };
            frame.use_line(program, color, opacity);
            gpu.bind(program);
            let edges = gpu.edges(&self.context, mesh);
            gl::draw_lines(&self.context, program, BLENDED, frame.viewport, edges);
        }
    }

    /// Draws dots over the faces of meshes that have been drawn.
    fn draw_points(&mut self, frame: &Frame, scene: &Scene<'_>, meshes: &[&SceneMesh<'_>]) {
        let at = PointFrame {
            camera: scene.camera,
            viewport: frame.viewport,
            clip_from_view: frame.clip_from_view,
            view_from_world: frame.view_from_world,
            pixels_per_point: frame.pixels_per_point,
        };
        for mesh in meshes {
            if let Some(gpu) = self.meshes.get(&mesh.key) {
                self.points
                    .draw(&self.context, &at, mesh, gpu, self.picture);
            }
        }
    }

    fn draw_grid(&self, frame: &Frame, grid: &Grid) {
        let program = &self.programs.grid;
        program.use_uniform("clip_from_world", matrix(frame.clip_from_world));
        program.use_uniform("origin", vector3(grid.origin));
        let [across, along] = grid.axes;
        program.use_uniform("across", vector3(across));
        program.use_uniform("along", vector3(along));
        program.use_uniform("behind", if grid.behind { 1.0f32 } else { 0.0 });
        let at = [across, along].map(|axis| grid.origin.dot(axis));
        program.use_uniform("origin_place", vector2(at.into()));
        program.use_uniform("extent", grid.extent);
        program.use_uniform("centre", vector2(grid.centre));
        program.use_uniform("cell", grid.cell);
        program.use_uniform("blend", grid.blend);
        program.use_uniform("fade_radius", grid.fade_radius);
        program.use_uniform("width_px", frame.pixels_per_point);
        use_color(program, "line_srgb", frame.scenery.grid);
        program.use_uniform("strength", frame.scenery.grid_strength);
        use_color(program, "across_srgb", axis_color(across));
        use_color(program, "along_srgb", axis_color(along));
        program.use_vertex_attribute("position", &self.square);
        program.draw_arrays(BLENDED, frame.viewport, 6);
    }

    /// Draws bones and outlines. Bones behind a surface show through it: each pixel its nearest bone, once, dimmed.
    fn draw_bones(&mut self, frame: &Frame, bones: &[BoneShape]) {
        let triangles = &mut self.bone_triangles;
        triangles.fill(bones, frame.scenery);
        self.bone_positions.fill(&triangles.positions);
        self.bone_normals.fill(&triangles.normals);
        self.bone_outwards.fill(&triangles.outwards);
        self.bone_fills.fill(&triangles.fills);
        self.bone_outlines.fill(&triangles.outlines);
        let n_corners = triangles.positions.len() as u32;
        let program = &self.programs.bone;
        program.use_uniform("clip_from_world", matrix(frame.clip_from_world));
        program.use_uniform("view_from_world", matrix(frame.view_from_world));
        let size = Vec2::new(frame.viewport.width as f32, frame.viewport.height as f32);
        program.use_uniform("viewport_px", vector2(size));
        program.use_uniform("edge_px", 0.6 * frame.pixels_per_point);
        let part = |is_outline: bool, states: RenderStates| {
            let scale = if is_outline {
                frame.pixels_per_point
            } else {
                0.0
            };
            program.use_uniform("outline_scale", scale);
            program.use_vertex_attribute("position", &self.bone_positions);
            program.use_vertex_attribute("normal", &self.bone_normals);
            program.use_vertex_attribute("outward", &self.bone_outwards);
            program.use_vertex_attribute("fill", &self.bone_fills);
            program.use_vertex_attribute("outline", &self.bone_outlines);
            program.draw_arrays(states, frame.viewport, n_corners);
        };
        let draw = |states: RenderStates, opacity: f32| {
            program.use_uniform("opacity", opacity);
            for (is_outline, cull) in [(true, Cull::Front), (false, Cull::Back)] {
                part(is_outline, RenderStates { cull, ..states });
            }
        };
        if !frame.options.xray_bones {
            let states = RenderStates {
                write_mask: WriteMask::COLOR_AND_DEPTH,
                ..BLENDED
            };
            draw(states, 1.0);
            return;
        }
        // First the parts behind a surface; then only their own depth decides among them.
        program.use_uniform("opacity", 1.0);
        for (mark, depth_test) in [(1, DepthTest::Greater), (0, DepthTest::LessOrEqual)] {
            gl::set_stencil(&self.context, Stencil::Mark(mark));
            let states = RenderStates {
                write_mask: WriteMask::NONE,
                depth_test,
                ..BLENDED
            };
            part(true, states);
        }
        gl::set_stencil(&self.context, Stencil::Off);
        gl::clear_depth(&self.context);
        let depth_only = RenderStates {
            write_mask: WriteMask::DEPTH,
            ..BLENDED
        };
        draw(depth_only, 1.0);
        let nearest = RenderStates {
            depth_test: DepthTest::Equal,
            ..BLENDED
        };
        for (mark, opacity) in [(1, OCCLUDED), (0, 1.0)] {
            gl::set_stencil(&self.context, Stencil::Only(mark));
            draw(nearest, opacity);
        }
        gl::set_stencil(&self.context, Stencil::Off);
    }
}

/// A pass over the primitives of a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layer {
    /// Opaque primitives.
    Solid,
    /// Transparent primitives.
    Clear,
}

/// Blends over the framebuffer with depth test, without writing depth and alpha.
const BLENDED: RenderStates = RenderStates {
    write_mask: WriteMask::COLOR,
    depth_test: DepthTest::LessOrEqual,
    blend: Blend::TRANSPARENCY,
    cull: Cull::None,
};

/// The parameters that all passes of a picture share.
struct Frame {
    viewport: Viewport,
    options: ViewOptions,
    scenery: &'static Scenery,
    /// Size of the largest mesh.
    extent: f32,
    pixels_per_point: f32,
    clip_from_view: Mat4,
    view_from_world: Mat4,
    clip_from_world: Mat4,
    orthographic: bool,
    /// The depth offset of lines: a factor and a shift.
    nudge: Vec2,
}

impl Frame {
    fn new(scene: &Scene<'_>, [width, height]: [u32; 2]) -> Self {
        let camera = scene.camera;
        let clip_from_view = camera.clip_from_view(width as f32 / height as f32);
        let view_from_world = camera.view_from_world();
        let nudge = 0.0015;
        Self {
            viewport: Viewport::new_at_origo(width, height),
            options: *scene.options,
            scenery: Scenery::of(scene.options.theme),
            extent: 0.0,
            pixels_per_point: scene.options.pixels_per_point.max(0.5),
            clip_from_view,
            view_from_world,
            clip_from_world: clip_from_view * view_from_world,
            orthographic: camera.orthographic,
            nudge: if camera.orthographic {
                Vec2::new(1.0, nudge * camera.distance)
            } else {
                Vec2::new(1.0 - nudge, 0.0)
            },
        }
    }
}

impl Frame {
    /// Sets the uniforms of the line program.
    fn use_line(&self, program: &Program, color: [f32; 3], opacity: f32) {
        program.use_uniform("clip_from_view", matrix(self.clip_from_view));
        program.use_uniform("view_from_world", matrix(self.view_from_world));
        program.use_uniform("nudge", vector2(self.nudge));
        use_color(program, "line_srgb", color);
        program.use_uniform("opacity", opacity);
    }

    /// Sets the uniforms of all surface programs.
    fn use_light(&self, program: &Program, scene_mesh: &SceneMesh<'_>) {
        program.use_uniform("clip_from_view", matrix(self.clip_from_view));
        program.use_uniform("view_from_world", matrix(self.view_from_world));
        program.use_uniform("orthographic", f32::from(u8::from(self.orthographic)));
        program.use_uniform("highlight", f32::from(u8::from(scene_mesh.highlighted)));
        program.use_uniform("accent", vector3(linear(ACCENT)));
        match scene_mesh.shading(self.options.shading) {
            Shading::Form => program.use_uniform("bump", BUMP * self.extent),
            shading => {
                let up = self.view_from_world.transform_vector3(Vec3::Y);
                program.use_uniform("up_in_view", vector3(up));
                if shading == Shading::Weights {
                    self.use_weights(program, scene_mesh);
                } else if shading == Shading::HeatMap {
                    program.use_uniform("hatch_px", 7.0 * self.pixels_per_point);
                    program.use_uniform("line_px", self.pixels_per_point);
                    let (range, step) = if let Some(scale) = scene_mesh.data {
                        use_ramp(program, scale.stops(), scale.hatch());
                        let [low, high] = scale.range();
                        ([low, low, high], scale.step())
                    } else {
                        let scale = self.options.heat_scale();
                        use_ramp(program, scale.stops(), scale.hatch());
                        let Range { low, neutral, high } = scale.range;
                        ([low, neutral, high], scale.step())
                    };
                    program.use_uniform("heat_range", vector3(Vec3::from(range)));
                    program.use_uniform("heat_step", step);
                } else if shading == Shading::Wire {
                    program.use_uniform("fill", vector3(linear(self.scenery.wire_fill)));
                }
            }
        }
    }
}

impl Frame {
    /// Sets the uniforms of the weight programs.
    fn use_weights(&self, program: &Program, scene_mesh: &SceneMesh<'_>) {
        let scale = self.pixels_per_point;
        let ramp = self.options.ramp;
        if program.requires_uniform("plain") {
            program.use_uniform("plain", scene_mesh.plain_weight);
        }
        program.use_uniform("hatch_px", 10.0 * scale);
        program.use_uniform("lock_px", 8.0 * scale);
        let locks = self.options.lock_pattern && scene_mesh.tints.is_some();
        program.use_uniform("lock_strength", f32::from(u8::from(locks)));
        use_color(program, "hatch_ground", ramp.hatch()[0]);
        use_color(program, "hatch_stripe", ramp.hatch()[1]);
        let stops = match self.options.weight_view {
            WeightView::Painted => {
                let width = if self.options.isolines { scale } else { 0.0 };
                program.use_uniform("line_px", width);
                ramp.stops()
            }
            WeightView::Bones => return,
            WeightView::Count => {
                let limit = f32::from(self.options.influence_limit);
                program.use_uniform("limit", limit);
                ramp.stops()
            }
            WeightView::Sum => {
                program.use_uniform("sum_scale", vector2(SUM_SCALE.into()));
                sum_stops()
            }
        };
        let stops = stops.map(|c| vector3(c.into()));
        program.use_uniform_array("heat_stops", &stops);
    }
}

/// The material of a primitive without one.
static NO_MATERIAL: LazyLock<Material> = LazyLock::new(Material::default);

fn image_of<'a>(mesh: &SceneMesh<'a>, index: Option<u32>) -> Option<&'a Arc<Image>> {
    mesh.images.get(index? as usize)?.as_ref()
}

fn use_material(program: &Program, material: &Material) {
    let [r, g, b, alpha] = material.base_color;
    program.use_uniform("base_color", vector3(Vec3::new(r, g, b)));
    program.use_uniform("alpha", alpha);
    program.use_uniform("metallic", material.metallic);
    program.use_uniform("roughness", material.roughness);
    if is_detailed(material) {
        program.use_uniform("normal_scale", material.normal_scale);
        program.use_uniform("occlusion_strength", material.occlusion_strength);
        program.use_uniform("emissive", vector3(material.emissive.into()));
        program.use_uniform("unlit", f32::from(u8::from(material.unlit)));
    }
}

fn use_ramp(program: &Program, stops: &Stops, [ground, stripe]: [[f32; 3]; 2]) {
    let stops = stops.map(|c| vector3(c.into()));
    program.use_uniform_array("heat_stops", &stops);
    use_color(program, "hatch_ground", ground);
    use_color(program, "hatch_stripe", stripe);
}

fn use_color(program: &Program, name: &str, srgb: [f32; 3]) {
    program.use_uniform(name, vector3(srgb.into()));
}

/// The colour of the line along an axis of the world.
fn axis_color(axis: Vec3) -> [f32; 3] {
    match axis {
        Vec3::X => X_AXIS,
        Vec3::Y => Y_AXIS,
        _ => Z_AXIS,
    }
}
