//! Draws a scene into an own framebuffer when something changed, and shows it where it is wanted.

use super::cgmath_border::{matrix, vector2, vector3};
use super::gl::{self, KeptFramebuffers, PixelRect, Target};
use super::gpu_mesh::{GpuMesh, Staging};
use super::grid::Grid;
use super::heat::{self, hex};
use super::joints::{BoneShape, BoneTriangles};
use super::programs::Programs;
use super::scene::{Scene, SceneMesh, Shading, Theme, ViewOptions};
use super::textures::Textures;
use crate::document::{Image, Material};
use crate::math::camera::Camera;
use glam::{Mat4, Vec2, Vec3};
use std::collections::HashMap;
use std::sync::Arc;
use three_d::{
    Blend, Context, CoreError, Cull, DepthTest, Program, RenderStates, VertexBuffer, Viewport,
    WriteMask,
};

/// Buffers that this many pictures did not draw are freed.
const KEEP_PICTURES: u64 = 240;
/// What the one accent of the interface marks here too.
const ACCENT: [f32; 3] = hex(0xE8_A3_3D);
const X_AXIS: [f32; 3] = hex(0xE0_52_5B);
const Z_AXIS: [f32; 3] = hex(0x4C_8B_E0);

/// Why nothing could be drawn.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The context is unusable.
    #[error(
        "OpenGL is not usable here: {0}. Sinew needs OpenGL 3.3; updating the graphics driver usually helps."
    )]
    Context(CoreError),
    /// A shader was refused.
    #[error(
        "the graphics driver refused the {name} shader. Updating the driver usually helps. Details: {source}"
    )]
    Shader {
        /// Which.
        name: &'static str,
        /// The driver's log.
        source: CoreError,
    },
    /// A picture larger than the GPU can draw.
    #[error("{width} x {height} pixels are more than this GPU draws; at most {limit} x {limit}")]
    TooLarge {
        /// Asked for.
        width: u32,
        /// Asked for.
        height: u32,
        /// The GPU's limit on either.
        limit: u32,
    },
    /// A framebuffer was refused.
    #[error("the graphics driver refused a framebuffer: {0}")]
    Framebuffer(String),
}

/// What the last picture showed; equal: nothing to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PictureKey {
    stamp: u64,
    size: [u32; 2],
    camera: Camera,
    options: ViewOptions,
}

/// The framebuffer that is drawn into and, with several samples, the one they are resolved into.
struct Targets {
    scene: Target,
    resolved: Option<Target>,
}

impl Targets {
    fn plain(&self) -> &Target {
        self.resolved.as_ref().unwrap_or(&self.scene)
    }
}

/// The state of the viewport on one GL context.
///
/// Every method, and dropping, needs that context current on the calling thread.
pub struct Renderer {
    context: Context,
    programs: Programs,
    meshes: HashMap<u64, GpuMesh>,
    textures: Textures,
    staging: Staging,
    bone_triangles: BoneTriangles,
    bone_positions: VertexBuffer<[f32; 3]>,
    bone_normals: VertexBuffer<[f32; 3]>,
    bone_tints: VertexBuffer<[f32; 3]>,
    /// Two triangles over -1..1 in x and y.
    square: VertexBuffer<[f32; 3]>,
    targets: Option<Targets>,
    last: Option<PictureKey>,
    n_pictures: u64,
}

impl Renderer {
    /// Compiles the shaders on `gl`.
    pub fn new(gl: Arc<three_d::context::Context>) -> Result<Self, RenderError> {
        let context = Context::from_gl_context(gl).map_err(RenderError::Context)?;
        let square = [
            [-1., -1., 0.],
            [1., -1., 0.],
            [1., 1., 0.],
            [-1., -1., 0.],
            [1., 1., 0.],
            [-1., 1., 0.],
        ];
        Ok(Self {
            programs: Programs::new(&context)?,
            meshes: HashMap::new(),
            textures: Textures::new(&context),
            staging: Staging::default(),
            bone_triangles: BoneTriangles::default(),
            bone_positions: VertexBuffer::new(&context),
            bone_normals: VertexBuffer::new(&context),
            bone_tints: VertexBuffer::new(&context),
            square: VertexBuffer::new_with_data(&context, &square),
            targets: None,
            last: None,
            n_pictures: 0,
            context,
        })
    }

    /// Draws `scene` at `size` pixels into the own framebuffer; `false` if the picture is there already.
    ///
    /// The caller gives another `stamp` whenever something in the scene changed but the camera and the options, which
    /// are compared here. An empty size draws nothing. Framebuffer bindings are left as they were.
    pub fn draw(
        &mut self,
        scene: &Scene<'_>,
        size: [u32; 2],
        stamp: u64,
    ) -> Result<bool, RenderError> {
        let key = PictureKey {
            stamp,
            size,
            camera: *scene.camera,
            options: *scene.options,
        };
        if size.contains(&0) || self.last == Some(key) {
            return Ok(false);
        }
        self.last = None;
        let context = self.context.clone();
        let _kept = KeptFramebuffers::of(&context);
        self.n_pictures += 1;
        let targets = match self.targets.take() {
            Some(targets) if fits(&context, &targets, size, scene.options.samples) => targets,
            // The old framebuffer is freed before the new one is made.
            _ => new_targets(&context, size, scene.options.samples)?,
        };
        targets.scene.begin();
        self.draw_scene(scene, size);
        if let Some(resolved) = &targets.resolved {
            targets.scene.resolve_to(resolved);
        }
        self.targets = Some(targets);
        self.free_unused();
        // What egui does not set itself.
        context.set_write_mask(WriteMask::COLOR_AND_DEPTH);
        context.set_cull(Cull::None);
        self.last = Some(key);
        Ok(true)
    }

    /// Draws `scene` if it changed and copies it to `viewport` of the framebuffer that is bound now, inside `clip`.
    ///
    /// This is the body of the window's paint callback. All of `viewport` is drawn, so that scrolling costs no 3D draw.
    pub fn paint(
        &mut self,
        scene: &Scene<'_>,
        viewport: PixelRect,
        clip: PixelRect,
        stamp: u64,
    ) -> Result<(), RenderError> {
        let Some(visible) = viewport.intersection(clip) else {
            return Ok(());
        };
        let size = [viewport.width as u32, viewport.height as u32];
        self.draw(scene, size, stamp)?;
        if let Some(targets) = &self.targets {
            targets.plain().blit_to_bound(viewport, visible);
        }
        Ok(())
    }

    /// The last picture, rows from the top, sRGB, alpha 255; `None` before the first.
    pub fn read_rgba(&self) -> Option<Image> {
        self.targets
            .as_ref()
            .map(|targets| targets.plain().read_rgba())
    }

    /// How many pictures were drawn, not counting those that were there already.
    pub fn n_pictures(&self) -> u64 {
        self.n_pictures
    }

    /// How many meshes have buffers on the GPU.
    pub fn n_gpu_meshes(&self) -> usize {
        self.meshes.len()
    }

    fn draw_scene(&mut self, scene: &Scene<'_>, size: [u32; 2]) {
        let view = View::new(scene, size);
        self.draw_background(&view);
        for mesh in &scene.meshes {
            let fits = mesh.fits();
            debug_assert!(fits, "arrays of mesh {} do not fit it", mesh.key);
            if fits && !mesh.mesh.triangles.is_empty() {
                self.draw_mesh(&view, mesh);
            }
        }
        if view.options.show_grid {
            self.draw_grid(&view, &Grid::under(scene.camera, scene.ground));
        }
        if view.options.show_bones && !scene.bones.is_empty() {
            self.draw_bones(&view, scene.bones);
        }
    }

    fn draw_background(&self, view: &View) {
        let program = &self.programs.background;
        let (top, bottom) = match view.options.theme {
            Theme::Dark => (hex(0x44_47_4C), hex(0x2A_2C_2F)),
            Theme::Light => (hex(0xE9_EB_EE), hex(0xC4_C8_CD)),
        };
        use_color(program, "top_srgb", top);
        use_color(program, "bottom_srgb", bottom);
        program.use_uniform("height_px", view.viewport.height as f32);
        program.use_vertex_attribute("position", &self.square);
        let states = RenderStates {
            write_mask: WriteMask::COLOR,
            depth_test: DepthTest::Always,
            ..RenderStates::default()
        };
        program.draw_arrays(states, view.viewport, 6);
    }

    fn draw_mesh(&mut self, view: &View, scene_mesh: &SceneMesh<'_>) {
        let mesh = scene_mesh.mesh;
        let gpu = self
            .meshes
            .entry(scene_mesh.key)
            .or_insert_with(|| GpuMesh::new(&self.context, mesh));
        if !gpu.belongs_to(mesh) {
            *gpu = GpuMesh::new(&self.context, mesh);
        }
        gpu.last_used = self.n_pictures;
        gpu.update(scene_mesh, &mut self.staging);

        let options = view.options;
        let program = &self.programs.mesh;
        program.use_uniform("clip_from_view", matrix(view.clip_from_view));
        program.use_uniform("view_from_world", matrix(view.view_from_world));
        program.use_uniform(
            "up_in_view",
            vector3(view.view_from_world.transform_vector3(Vec3::Y)),
        );
        program.use_uniform("orthographic", f32::from(u8::from(view.orthographic)));
        program.use_uniform("hatch_px", 10.0 * view.pixels_per_point);
        program.use_uniform("highlight", f32::from(u8::from(scene_mesh.highlighted)));
        program.use_uniform("accent", vector3(linear(ACCENT)));
        program.use_uniform_array("heat_stops", &heat::STOPS.map(|c| vector3(c.into())));
        let shading = match options.shading {
            Shading::Textured => 0,
            Shading::Shaded => 1,
            Shading::Weights => 2,
            Shading::Wire => 3,
        };
        program.use_uniform("shading", shading);

        let no_material = Material::default();
        for primitive in &mesh.primitives {
            let material = primitive
                .material
                .and_then(|m| scene_mesh.materials.get(m as usize))
                .unwrap_or(&no_material);
            let image = material
                .base_color_image
                .and_then(|i| scene_mesh.images.get(i as usize))
                .and_then(Option::as_ref);
            let [r, g, b, alpha] = material.base_color;
            program.use_uniform("base_color", vector3(Vec3::new(r, g, b)));
            program.use_uniform("alpha", alpha);
            let cutoff = material
                .alpha_cutoff
                .filter(|_| options.shading != Shading::Wire);
            program.use_uniform("alpha_cutoff", cutoff.unwrap_or(-1.0));
            program.use_uniform("metallic", material.metallic);
            program.use_uniform("roughness", material.roughness);
            // Insides show, darker, even where the material asks for none: a hole would hide a mistake.
            let back_light = if material.double_sided { 1.0 } else { 0.45 };
            program.use_uniform("back_light", back_light);
            program.use_texture(
                "base_color_map",
                self.textures.get(&self.context, image, self.n_pictures),
            );
            gpu.bind(program);
            // three-d passes `first` on as OpenGL's offset, which is in bytes.
            let first_byte = primitive.triangles.start * 3 * size_of::<u32>() as u32;
            program.draw_subset_of_elements(
                RenderStates::default(),
                view.viewport,
                gpu.triangles(),
                first_byte,
                primitive.triangles.len() as u32 * 3,
            );
        }

        let wire = options.shading == Shading::Wire;
        if wire || options.wire_overlay {
            let program = &self.programs.line;
            program.use_uniform("clip_from_view", matrix(view.clip_from_view));
            program.use_uniform("view_from_world", matrix(view.view_from_world));
            program.use_uniform("nudge", vector2(view.nudge));
            let (color, opacity) = match (wire, options.theme) {
                (true, _) => (hex(0xC3_C8_CF), 0.65),
                (false, Theme::Dark) => (hex(0x10_11_13), 0.38),
                (false, Theme::Light) => (hex(0x10_11_13), 0.30),
            };
            use_color(program, "line_srgb", color);
            program.use_uniform("opacity", opacity);
            gpu.bind_positions(program);
            let edges = gpu.edges(&self.context, mesh);
            gl::draw_lines(&self.context, program, BLENDED, view.viewport, edges);
        }
    }

    fn draw_grid(&self, view: &View, grid: &Grid) {
        let program = &self.programs.grid;
        program.use_uniform("clip_from_world", matrix(view.clip_from_world));
        program.use_uniform("origin", vector3(grid.origin));
        program.use_uniform("extent", grid.extent);
        program.use_uniform("centre", vector2(grid.centre));
        program.use_uniform("cell", grid.cell);
        program.use_uniform("blend", grid.blend);
        program.use_uniform("fade_radius", grid.fade_radius);
        program.use_uniform("width_px", view.pixels_per_point);
        let (color, strength) = match view.options.theme {
            Theme::Dark => (hex(0xA6_AB_B3), 0.42),
            Theme::Light => (hex(0x55_5A_61), 0.42),
        };
        use_color(program, "line_srgb", color);
        program.use_uniform("strength", strength);
        use_color(program, "x_axis_srgb", X_AXIS);
        use_color(program, "z_axis_srgb", Z_AXIS);
        program.use_vertex_attribute("position", &self.square);
        program.draw_arrays(BLENDED, view.viewport, 6);
    }

    fn draw_bones(&mut self, view: &View, bones: &[BoneShape]) {
        self.bone_triangles.fill(bones);
        self.bone_positions.fill(&self.bone_triangles.positions);
        self.bone_normals.fill(&self.bone_triangles.normals);
        self.bone_tints.fill(&self.bone_triangles.tints);
        let n_corners = self.bone_triangles.positions.len() as u32;
        let program = &self.programs.bone;
        let draw = |states: RenderStates, opacity: f32| {
            program.use_uniform("clip_from_world", matrix(view.clip_from_world));
            program.use_uniform("view_from_world", matrix(view.view_from_world));
            program.use_uniform("opacity", opacity);
            program.use_uniform("edge_px", 0.75 * view.pixels_per_point);
            program.use_vertex_attribute("position", &self.bone_positions);
            program.use_vertex_attribute("normal", &self.bone_normals);
            program.use_vertex_attribute("tint", &self.bone_tints);
            program.draw_arrays(states, view.viewport, n_corners);
        };
        if view.options.xray_bones {
            let behind = RenderStates {
                depth_test: DepthTest::Greater,
                cull: Cull::Back,
                ..BLENDED
            };
            draw(behind, 0.5);
        }
        let in_front = RenderStates {
            cull: Cull::Back,
            ..RenderStates::default()
        };
        draw(in_front, 1.0);
    }

    fn free_unused(&mut self) {
        let oldest = self.n_pictures.saturating_sub(KEEP_PICTURES);
        self.meshes.retain(|_, mesh| mesh.last_used >= oldest);
        self.textures.free_unused(oldest);
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
struct View {
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

impl View {
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

/// Samples that the GPU can give: none, or a power of two.
fn usable_samples(context: &Context, wanted: u32) -> u32 {
    let samples = wanted.min(gl::max_samples(context));
    if samples < 2 { 0 } else { 1 << samples.ilog2() }
}

fn fits(context: &Context, targets: &Targets, size: [u32; 2], samples: u32) -> bool {
    targets.scene.size() == size && targets.scene.samples() == usable_samples(context, samples)
}

fn new_targets(context: &Context, size: [u32; 2], samples: u32) -> Result<Targets, RenderError> {
    let samples = usable_samples(context, samples);
    Ok(Targets {
        scene: Target::new(context, size, samples, true)?,
        resolved: if samples > 0 {
            Some(Target::new(context, size, 0, false)?)
        } else {
            None
        },
    })
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
