//! The renderer behind the paint callback.

use crate::document::Image;
use crate::view::gl::PixelRect;
use crate::view::picture::Picture;
use crate::view::renderer::Renderer;
use std::path::PathBuf;

/// The renderer, created when the first callback provides a context.
#[derive(Default)]
pub(super) struct Gpu {
    pub(super) renderer: Option<Renderer>,
    pub(super) failure: Option<String>,
    /// The shaders do not compile here; do not try again.
    is_hopeless: bool,
    /// The number of panes.
    pub(super) n_slots: usize,
    /// The pane that shows the project's own stacks, if any.
    pub(super) own_slot: usize,
    /// The keys of the meshes in use; the buffers of others are freed.
    pub(super) keep_meshes: Option<Vec<u64>>,
    /// Files that wait for a thumbnail.
    pub(super) wanted: Vec<PathBuf>,
    /// Finished thumbnails.
    pub(super) taken: Vec<(PathBuf, Image)>,
}

impl Gpu {
    /// The largest number of meshes that exceed the drawing budget of a picture.
    pub(super) fn n_boxed(&self) -> usize {
        self.renderer.as_ref().map_or(0, Renderer::n_boxed)
    }

    pub(super) fn paint(
        &mut self,
        slot: usize,
        picture: &Picture,
        info: &egui::PaintCallbackInfo,
        painter: &egui_glow::Painter,
    ) {
        if self.renderer.is_none() && !self.is_hopeless {
            match Renderer::new(painter.gl().clone()) {
                Ok(renderer) => self.renderer = Some(renderer),
                Err(error) => {
                    self.is_hopeless = true;
                    self.failure = Some(format!("The 3D view cannot be drawn: {error}"));
                }
            }
        }
        let Some(renderer) = &mut self.renderer else {
            return;
        };
        // The thumbnail shows the previous picture: the model may have changed since the request.
        if slot == self.own_slot
            && !self.wanted.is_empty()
            && let Some(image) = renderer.read_rgba(slot)
        {
            let wanted = self.wanted.drain(..);
            self.taken.extend(wanted.map(|path| (path, image.clone())));
        }
        renderer.keep_slots(self.n_slots);
        if let Some(keys) = self.keep_meshes.take() {
            renderer.keep_meshes(&keys);
        }
        let (viewport, clip) = (info.viewport_in_pixels(), info.clip_rect_in_pixels());
        let rect = |v: egui::epaint::ViewportInPixels| PixelRect {
            x: v.left_px,
            y: v.from_bottom_px,
            width: v.width_px,
            height: v.height_px,
        };
        let painted = renderer.paint(
            slot,
            &picture.scene(),
            rect(viewport),
            rect(clip),
            picture.stamp(),
        );
        self.failure = painted
            .err()
            .map(|error| format!("The 3D view cannot be drawn: {error}"));
    }
}
