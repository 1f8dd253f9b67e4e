//! OpenGL without a window: a surfaceless EGL context, for the `render` subcommand and for tests.
//!
//! `unsafe` is allowed here for three calls: opening an EGL display on an enumerated device (no raw handle is passed),
//! creating a context on a config of that display, and loading OpenGL's functions through that display.
#![allow(unsafe_code)]

use super::render_error::RenderError;
use super::renderer::Renderer;
use super::scene::Scene;
use crate::document::Image;
use glutin::api::egl::context::PossiblyCurrentContext;
use glutin::api::egl::device::Device;
use glutin::api::egl::display::Display;
use glutin::config::{Api, ConfigSurfaceTypes, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, Version};
use glutin::display::GlDisplay;
use std::sync::Arc;
use three_d::context::Context as GlowContext;

/// The reason why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum OffscreenError {
    /// No EGL, or no device with an OpenGL 3.3 context.
    #[error(
        "drawing without a window needs EGL with OpenGL 3.3, and there is none here ({tried}). A GPU is not needed: \
         install the packages libegl1 and libgl1-mesa-dri (Debian, Ubuntu) or mesa-libEGL and mesa-dri-drivers (Fedora)"
    )]
    NoContext {
        /// The attempts and their errors.
        tried: String,
    },
    /// The context was lost.
    #[error("the windowless OpenGL context could not be used: {0}")]
    NotCurrent(glutin::error::Error),
    /// Drawing failed.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A picture without pixels.
    #[error("a picture of {width} x {height} has no pixels; both sides must be at least 1")]
    Empty {
        /// The requested width.
        width: u32,
        /// The requested height.
        height: u32,
    },
}

/// A current OpenGL context without a surface; bound to the thread that created it.
pub struct WindowlessGl {
    gl: Arc<GlowContext>,
    context: PossiblyCurrentContext,
    device: String,
}

impl WindowlessGl {
    /// Opens the first device with an OpenGL 3.3 context, hardware first, and makes it current.
    pub fn new() -> Result<Self, OffscreenError> {
        let devices = Device::query_devices().map_err(|error| OffscreenError::NoContext {
            tried: format!("EGL devices: {error}"),
        })?;
        let mut devices: Vec<Device> = devices.collect();
        devices.sort_by_key(|device| device.extensions().contains("EGL_MESA_device_software"));
        let mut tried = Vec::new();
        for device in &devices {
            let label = device_label(device);
            match open(device) {
                Ok((gl, context)) => {
                    return Ok(Self {
                        gl: Arc::new(gl),
                        context,
                        device: label,
                    });
                }
                Err(error) => tried.push(format!("{label}: {error}")),
            }
        }
        if tried.is_empty() {
            tried.push("EGL lists no device".into());
        }
        Err(OffscreenError::NoContext {
            tried: tried.join("; "),
        })
    }

    /// OpenGL's functions, for [`Renderer::new`] or for egui's painter.
    pub fn gl(&self) -> Arc<GlowContext> {
        Arc::clone(&self.gl)
    }

    /// Makes the context current on this thread again.
    pub fn make_current(&self) -> Result<(), OffscreenError> {
        self.context
            .make_current_surfaceless()
            .map_err(OffscreenError::NotCurrent)
    }

    /// The name of the EGL device, for reports.
    pub fn device(&self) -> &str {
        &self.device
    }
}

impl Drop for WindowlessGl {
    fn drop(&mut self) {
        use glutin::context::PossiblyCurrentGlContext as _;
        // Destroyed while current, it would stay alive until the driver ends the thread.
        if self.context.is_current() {
            let _ = self.context.make_not_current_in_place();
        }
    }
}

/// A renderer with its own context.
pub struct Offscreen {
    // Dropped before the context it needs.
    renderer: Renderer,
    gl: WindowlessGl,
    n_asked: u64,
}

impl Offscreen {
    /// A context and a renderer on it.
    pub fn new() -> Result<Self, OffscreenError> {
        let gl = WindowlessGl::new()?;
        Ok(Self {
            renderer: Renderer::new(gl.gl())?,
            gl,
            n_asked: 0,
        })
    }

    /// Renders `scene`; meshes and images stay on the GPU for the next picture.
    pub fn render(
        &mut self,
        scene: &Scene<'_>,
        width: u32,
        height: u32,
    ) -> Result<Image, OffscreenError> {
        self.gl.make_current()?;
        self.n_asked += 1;
        // Counted down from the end, so that they differ from the stamps that users of `renderer` count up.
        let stamp = u64::MAX - self.n_asked;
        self.renderer.draw(0, scene, [width, height], stamp)?;
        match self.renderer.read_rgba(0) {
            Some(image) if width > 0 && height > 0 => Ok(image),
            _ => Err(OffscreenError::Empty { width, height }),
        }
    }

    /// The renderer, with its context current.
    pub fn renderer(&mut self) -> Result<&mut Renderer, OffscreenError> {
        self.gl.make_current()?;
        Ok(&mut self.renderer)
    }

    /// The name of the EGL device, for reports.
    pub fn device(&self) -> &str {
        self.gl.device()
    }
}

impl Drop for Offscreen {
    fn drop(&mut self) {
        // The renderer then frees its GPU objects in the current context. If ours is lost, so are they.
        let _ = self.gl.make_current();
    }
}

/// Renders one picture in a new context; [`Offscreen`] renders several faster.
pub fn render_to_image(
    scene: &Scene<'_>,
    width: u32,
    height: u32,
) -> Result<Image, OffscreenError> {
    Offscreen::new()?.render(scene, width, height)
}

fn open(device: &Device) -> Result<(GlowContext, PossiblyCurrentContext), glutin::error::Error> {
    // SAFETY: no raw display handle is passed; the device comes from EGL's own enumeration.
    let display = unsafe { Display::with_device(device, None) }?;
    let template = ConfigTemplateBuilder::new()
        .with_surface_type(ConfigSurfaceTypes::empty())
        .with_api(Api::OPENGL)
        .build();
    // SAFETY: the template names no native window.
    let config = unsafe { display.find_configs(template) }?
        .next()
        .ok_or(glutin::error::ErrorKind::BadConfig)?;
    let attributes = ContextAttributesBuilder::new()
        .with_context_api(ContextApi::OpenGl(Some(Version::new(3, 3))))
        .with_profile(GlProfile::Core)
        .build(None);
    // SAFETY: the config is one of this display; no native window is involved.
    let context = unsafe { display.create_context(&config, &attributes) }?;
    let context = context.make_current_surfaceless()?;
    // SAFETY: the context is current on this thread, and the addresses are this display's.
    let gl =
        unsafe { GlowContext::from_loader_function_cstr(|name| display.get_proc_address(name)) };
    Ok((gl, context))
}

fn device_label(device: &Device) -> String {
    let named = device.name().or(device.vendor()).map(str::to_owned);
    let path = || {
        device
            .drm_render_device_node_path()
            .map(|path| path.display().to_string())
    };
    let software = device.extensions().contains("EGL_MESA_device_software");
    named.or_else(path).unwrap_or_else(|| {
        if software {
            "software"
        } else {
            "unnamed device"
        }
        .into()
    })
}
