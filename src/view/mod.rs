//! The view: one renderer for the window, the `render` subcommand and the pixel tests, and the panels of the window.
//!
//! Data flow: the caller fills a [`Scene`] (plain borrowed data) -> [`Renderer::draw`] uploads new data and draws into
//! its own framebuffer, unless nothing changed -> [`Renderer::paint`] copies that into the window's framebuffer inside
//! a paint callback, or [`Renderer::read_rgba`] reads it back. [`Offscreen`] does the latter without a window. The
//! egui panels around it read the editor and send [`commands::Command`]s.
//!
//! Surfaces are drawn by [`Shading`] (light in `shaders/mesh.frag`, weight colours in [`heat`], hollows and ridges in
//! `curvature`), the surroundings by [`Scenery`], one set of colours per [`Theme`], and bones by [`joints`].
//!
//! Invariant: only this folder uses OpenGL; cgmath stays in `cgmath_convert`.
//! Invariant: an unchanged scene costs no 3D draw.
//! Invariant: light is summed in linear values and encoded by the shaders; framebuffers are not sRGB, alpha is 1.
//! Invariant: once warm, drawing the same meshes in new poses allocates nothing that grows with them.

mod boxes;
mod cgmath_convert;
mod cluster_dots;
mod curvature;
mod draw_budget;
mod gl;
mod gpu_mesh;
mod grid;
mod passes;
#[cfg(feature = "gui")]
mod popover;
mod programs;
mod render_error;
mod textures;

#[cfg(feature = "gui")]
pub mod chord;
#[cfg(feature = "gui")]
pub mod commands;
#[cfg(feature = "gui")]
pub mod frame;
pub mod heat;
pub mod heat_map;
#[cfg(feature = "gui")]
pub mod hints;
#[cfg(feature = "gui")]
pub mod joint_colour;
pub mod joints;
#[cfg(feature = "gui")]
pub mod keymap;
#[cfg(feature = "gui")]
pub mod layout;
#[cfg(feature = "gui")]
pub mod lettering;
#[cfg(feature = "gui")]
pub mod middle;
#[cfg(feature = "gui")]
pub mod mode;
pub mod offscreen;
#[cfg(feature = "gui")]
pub mod panels;
#[cfg(feature = "gui")]
pub mod picture;
#[cfg(feature = "gui")]
pub mod pie;
pub mod points;
pub mod renderer;
pub mod scene;
pub mod scenery;
#[cfg(feature = "gui")]
pub mod system_fonts;
#[cfg(feature = "gui")]
pub mod theme;
#[cfg(feature = "gui")]
pub mod toasts;
#[cfg(feature = "gui")]
pub mod viewport;

pub use gl::PixelRect;
pub use heat::Ramp;
pub use joints::{BoneShape, shape_bones};
pub use offscreen::{Offscreen, OffscreenError, WindowlessGl, render_to_image};
pub use render_error::RenderError;
pub use renderer::Renderer;
pub use scene::{PointMarks, Scene, SceneMesh, Shading, ViewOptions, frame_bounds};
pub use scenery::{BoneState, Scenery, Theme};
