//! What is drawn in a picture, in this order: background, meshes with their lines, grid, bones.

use super::cgmath_border::{matrix, vector2, vector3};
use super::gl;
use super::gpu_mesh::{GpuMesh, Staging};
use super::grid::Grid;
use super::heat::{self, hex};
use super::joints::{BoneShape, BoneTriangles};
use super::points::{PointFrame, PointPass};
use super::programs::Programs;
use super::renderer::RenderError;
use super::scene::{Scene, SceneMesh, Shading, Theme, ViewOptions};
use super::textures::Textures;
use crate::document::Material;
use glam::{Mat4, Vec2, Vec3};
use std::collections::HashMap;
use three_d::{
    Blend, Context, Cull, DepthTest, Program, RenderStates, Texture2D, VertexBuffer, Viewport,
    WriteMask,
};

/// What the one accent of the interface marks here too.
const ACCENT: [f32; 3] = hex(0xE8A33D);
const X_AXIS: [f32; 3] = hex(0xE0525B);
const Z_AXIS: [f32; 3] = hex(0x4C8BE0);

/// The GPU's side of scenes: programs and buffers, kept from picture to picture.
pub(crate) struct Passes {
    context: Context,
    programs: Programs,
    meshes: HashMap<u64, GpuMesh>,
    points: PointPass,
    textures: Textures,
    staging: Staging,
    bone_triangles: BoneTriangles,
    bone_positions: VertexBuffer<[f32; 3]>,
    bone_normals: VertexBuffer<[f32; 3]>,
    bone_tints: VertexBuffer<[f32; 3]>,
    /// Two triangles over -1..1 in x and y.
    square: VertexBuffer<[f32; 3]>,
    /// The one that is being drawn.
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
            textures: Textures::new(context),
            staging: Staging::default(),
            bone_triangles: BoneTriangles::default(),
            bone_positions: VertexBuffer::new(context),
            bone_normals: VertexBuffer::new(context),
            bone_tints: VertexBuffer::new(context),
            square: VertexBuffer::new_with_data(context, &square),
            picture: 0,
            context: context.clone(),
        })
    }

    /// Draws `scene` into the bound, cleared framebuffer of `size` pixels; `picture` counts up.
    pub(crate) fn draw(&mut self, scene: &Scene<'_>, size: [u32; 2], picture: u64) {
        self.picture = picture;
        let frame = Frame::new(scene, size);
        self.draw_background(&frame);
        for mesh in &scene.meshes {
            let fits = mesh.fits();
            debug_assert!(fits, "arrays of mesh {} do not fit it", mesh.key);
            if fits && !mesh.mesh.triangles.is_empty() {
                self.draw_mesh(&frame, mesh);
            }
        }
        self.draw_points(&frame, scene);
        if frame.options.show_grid {
            self.draw_grid(&frame, &Grid::under(scene.camera, scene.ground));
        }
        if frame.options.show_bones && !scene.bones.is_empty() {
            self.draw_bones(&frame, scene.bones);
        }
    }

    /// Frees the buffers of what no picture since `oldest` drew.
    pub(crate) fn free_unused(&mut self, oldest: u64) {
        self.meshes.retain(|_, mesh| mesh.last_used >= oldest);
        self.points.free_unused(oldest);
        self.textures.free_unused(oldest);
    }

    /// How many meshes have buffers.
    pub(crate) fn n_gpu_meshes(&self) -> usize {
        self.meshes.len()
    }

    fn draw_background(&self, frame: &Frame) {
        let program = &self.programs.background;
        let (top, bottom) = match frame.options.theme {
            Theme::Dark => (hex(0x44474C), hex(0x2A2C2F)),
            Theme::Light => (hex(0xE9EBEE), hex(0xC4C8CD)),
        };
        use_color(program, "top_srgb", top);
        use_color(program, "bottom_srgb", bottom);
        program.use_uniform("height_px", frame.viewport.height as f32);
        program.use_vertex_attribute("position", &self.square);
        let states = RenderStates {
            write_mask: WriteMask::COLOR,
            depth_test: DepthTest::Always,
            ..RenderStates::default()
        };
        program.draw_arrays(states, frame.viewport, 6);
    }

    fn draw_mesh(&mut self, frame: &Frame, scene_mesh: &SceneMesh<'_>) {
        let mesh = scene_mesh.mesh;
        let gpu = self
            .meshes
            .entry(scene_mesh.key)
            .or_insert_with(|| GpuMesh::new(&self.context, mesh));
        if !gpu.belongs_to(mesh) {
            *gpu = GpuMesh::new(&self.context, mesh);
        }
        gpu.last_used = self.picture;
        gpu.update(scene_mesh, &mut self.staging);

        let options = frame.options;
        let program = self.programs.mesh(options.shading);
        program.use_uniform("clip_from_view", matrix(frame.clip_from_view));
        program.use_uniform("view_from_world", matrix(frame.view_from_world));
        program.use_uniform(
            "up_in_view",
            vector3(frame.view_from_world.transform_vector3(Vec3::Y)),
        );
        program.use_uniform("orthographic", f32::from(u8::from(frame.orthographic)));
        program.use_uniform("highlight", f32::from(u8::from(scene_mesh.highlighted)));
        program.use_uniform("accent", vector3(linear(ACCENT)));
        if options.shading == Shading::Weights {
            program.use_uniform("hatch_px", 10.0 * frame.pixels_per_point);
            program.use_uniform_array("heat_stops", &heat::STOPS.map(|c| vector3(c.into())));
        }
        let no_material = Material::default();
        for (index, primitive) in mesh.primitives.iter().enumerate() {
            let material = primitive
                .material
                .and_then(|m| scene_mesh.materials.get(m as usize))
                .unwrap_or(&no_material);
            // Insides show, darker, even where the material asks for none: a hole would hide a mistake.
            let back_light = if material.double_sided { 1.0 } else { 0.45 };
            program.use_uniform("back_light", back_light);
            if options.shading == Shading::Textured {
                let image = material
                    .base_color_image
                    .and_then(|i| scene_mesh.images.get(i as usize))
                    .and_then(Option::as_ref);
                let texture = self.textures.get(&self.context, image, self.picture);
                use_material(program, material, texture);
            }
            // three-d passes `first` on as OpenGL's offset, which is in bytes.
            let shown = gpu.range(index);
            let first_byte = shown.start * 3 * size_of::<u32>() as u32;
            gpu.bind(program);
            program.draw_subset_of_elements(
                RenderStates::default(),
                frame.viewport,
                gpu.triangles(),
                first_byte,
                shown.len() as u32 * 3,
            );
        }

        let wire = options.shading == Shading::Wire;
        if wire || options.wire_overlay {
            let program = &self.programs.line;
            program.use_uniform("clip_from_view", matrix(frame.clip_from_view));
            program.use_uniform("view_from_world", matrix(frame.view_from_world));
            program.use_uniform("nudge", vector2(frame.nudge));
            let (color, opacity) = match (wire, options.theme) {
                (true, _) => (hex(0xC3C8CF), 0.65),
                (false, Theme::Dark) => (hex(0x101113), 0.38),
                (false, Theme::Light) => (hex(0x101113), 0.30),
            };
            use_color(program, "line_srgb", color);
            program.use_uniform("opacity", opacity);
            gpu.bind(program);
            let edges = gpu.edges(&self.context, mesh);
            gl::draw_lines(&self.context, program, BLENDED, frame.viewport, edges);
        }
    }

    /// Dots over the faces of meshes that have been drawn.
    fn draw_points(&mut self, frame: &Frame, scene: &Scene<'_>) {
        let at = PointFrame {
            camera: scene.camera,
            viewport: frame.viewport,
            clip_from_view: frame.clip_from_view,
            view_from_world: frame.view_from_world,
            pixels_per_point: frame.pixels_per_point,
        };
        for mesh in &scene.meshes {
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
        program.use_uniform("extent", grid.extent);
        program.use_uniform("centre", vector2(grid.centre));
        program.use_uniform("cell", grid.cell);
        program.use_uniform("blend", grid.blend);
        program.use_uniform("fade_radius", grid.fade_radius);
        program.use_uniform("width_px", frame.pixels_per_point);
        let (color, strength) = match frame.options.theme {
            Theme::Dark => (hex(0xA6ABB3), 0.42),
            Theme::Light => (hex(0x555A61), 0.42),
        };
        use_color(program, "line_srgb", color);
        program.use_uniform("strength", strength);
        use_color(program, "x_axis_srgb", X_AXIS);
        use_color(program, "z_axis_srgb", Z_AXIS);
        program.use_vertex_attribute("position", &self.square);
        program.draw_arrays(BLENDED, frame.viewport, 6);
    }

    fn draw_bones(&mut self, frame: &Frame, bones: &[BoneShape]) {
        self.bone_triangles.fill(bones);
        self.bone_positions.fill(&self.bone_triangles.positions);
        self.bone_normals.fill(&self.bone_triangles.normals);
        self.bone_tints.fill(&self.bone_triangles.tints);
        let n_corners = self.bone_triangles.positions.len() as u32;
        let program = &self.programs.bone;
        let draw = |states: RenderStates, opacity: f32| {
            program.use_uniform("clip_from_world", matrix(frame.clip_from_world));
            program.use_uniform("view_from_world", matrix(frame.view_from_world));
            program.use_uniform("opacity", opacity);
            program.use_uniform("edge_px", 0.75 * frame.pixels_per_point);
            program.use_vertex_attribute("position", &self.bone_positions);
            program.use_vertex_attribute("normal", &self.bone_normals);
            program.use_vertex_attribute("tint", &self.bone_tints);
            program.draw_arrays(states, frame.viewport, n_corners);
        };
        if frame.options.xray_bones {
            let behind = RenderStates {
                depth_test: DepthTest::Greater,
                cull: Cull::Back,
                ..BLENDED
            };
            draw(behind, 0.62);
        }
        let in_front = RenderStates {
            cull: Cull::Back,
            ..RenderStates::default()
        };
        draw(in_front, 1.0);
    }
}

/// Over what is there, in front of what is there, leaving depth and alpha.
const BLENDED: RenderStates = RenderStates {
    write_mask: WriteMask::COLOR,
    depth_test: DepthTest::LessOrEqual,
    blend: Blend::TRANSPARENCY,
    cull: Cull::None,
};

/// What all parts of one picture share.
struct Frame {
    viewport: Viewport,
    options: ViewOptions,
    pixels_per_point: f32,
    clip_from_view: Mat4,
    view_from_world: Mat4,
    clip_from_world: Mat4,
    orthographic: bool,
    /// How lines come towards the eye: a factor and a shift.
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

fn use_material(program: &Program, material: &Material, texture: &Texture2D) {
    let [r, g, b, alpha] = material.base_color;
    program.use_uniform("base_color", vector3(Vec3::new(r, g, b)));
    program.use_uniform("alpha", alpha);
    program.use_uniform("alpha_cutoff", material.alpha_cutoff.unwrap_or(-1.0));
    program.use_uniform("metallic", material.metallic);
    program.use_uniform("roughness", material.roughness);
    program.use_texture("base_color_map", texture);
}

fn use_color(program: &Program, name: &str, srgb: [f32; 3]) {
    program.use_uniform(name, vector3(srgb.into()));
}

/// The linear values of an sRGB colour.
fn linear(srgb: [f32; 3]) -> Vec3 {
    Vec3::from(srgb.map(|c| {
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linear_values_of_grey() {
        assert!(linear([0.0, 0.5, 1.0]).abs_diff_eq(Vec3::new(0.0, 0.21404, 1.0), 1e-5));
    }
}
