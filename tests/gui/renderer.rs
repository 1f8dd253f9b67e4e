//! Paints a test window with egui's own painter, the 3D view included, on a context without a window.

use egui_kittest::TestRenderer;
use sinew::view::WindowlessGl;
use std::rc::Rc;
use three_d::{ClearState, Context, CoreError, Interpolation, Texture2D, Wrapping};

/// egui_glow on a [`WindowlessGl`].
pub(crate) struct GlRenderer {
    gl: Rc<WindowlessGl>,
    context: Context,
    painter: egui_glow::Painter,
}

impl GlRenderer {
    /// A renderer on `gl`, which must outlive what paint callbacks keep on it.
    pub(crate) fn new(gl: Rc<WindowlessGl>) -> Self {
        let context = Context::from_gl_context(gl.gl()).expect("OpenGL 3.3");
        let painter = egui_glow::Painter::new(gl.gl(), "", None, false).expect("egui's shaders");
        Self {
            gl,
            context,
            painter,
        }
    }
}

impl TestRenderer for GlRenderer {
    fn handle_delta(&mut self, delta: &mut egui::TexturesDelta) {
        // Another window's context may be current.
        self.gl.make_current().expect("the context is still there");
        for (id, images) in delta.set.drain() {
            for image in images {
                self.painter.set_texture(id, &image);
            }
        }
        for id in delta.free.drain() {
            self.painter.free_texture(id);
        }
    }

    fn render(
        &mut self,
        context: &egui::Context,
        output: &egui::FullOutput,
    ) -> Result<image::RgbaImage, String> {
        self.gl.make_current().map_err(|error| error.to_string())?;
        let pixels_per_point = context.pixels_per_point();
        let size = context.content_rect().size() * pixels_per_point;
        let size = [size.x.round() as u32, size.y.round() as u32];
        let primitives = context.tessellate(output.shapes.clone(), pixels_per_point);
        for primitive in &primitives {
            // Software renderers crash on what is not a number, and real ones draw anything.
            if let egui::epaint::Primitive::Mesh(mesh) = &primitive.primitive {
                let wrong = mesh
                    .vertices
                    .iter()
                    .find(|v| v.pos.any_nan() || v.pos.x.abs() + v.pos.y.abs() >= 1e5);
                assert!(wrong.is_none(), "{wrong:?} in {:?}", primitive.clip_rect);
            }
        }
        let window = Texture2D::new_empty::<[u8; 4]>(
            &self.context,
            size[0],
            size[1],
            Interpolation::Nearest,
            Interpolation::Nearest,
            None,
            Wrapping::ClampToEdge,
            Wrapping::ClampToEdge,
        );
        let target = window.as_color_target(None);
        target.clear(ClearState::color(0.0, 0.0, 0.0, 1.0));
        target
            .write(|| {
                self.painter
                    .paint_primitives(size, pixels_per_point, &primitives);
                Ok::<(), CoreError>(())
            })
            .map_err(|error| error.to_string())?;
        let pixels: Vec<[u8; 4]> = target.read();
        image::RgbaImage::from_raw(size[0], size[1], pixels.concat())
            .ok_or_else(|| "the window has another size".into())
    }
}

impl Drop for GlRenderer {
    fn drop(&mut self) {
        // Else another window's objects of the same names would be deleted.
        if self.gl.make_current().is_ok() {
            self.painter.destroy();
        }
    }
}
