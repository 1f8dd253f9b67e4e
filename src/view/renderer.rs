//! Draws a scene into its own framebuffer when something changed, and copies it to the target.

use super::gl::{self, KeptFramebuffers, PixelRect, Target};
use super::passes::Passes;
use super::render_error::RenderError;
use super::scene::{Scene, ViewOptions};
use crate::document::Image;
use crate::math::camera::Camera;
use std::sync::Arc;
use three_d::{Context, Cull, WriteMask};

/// Buffers unused for this many pictures are freed.
const KEEP_PICTURES: u64 = 240;

/// The content of the last picture; if equal, nothing is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PictureKey {
    stamp: u64,
    size: [u32; 2],
    camera: Camera,
    options: ViewOptions,
}

/// The framebuffer to draw into and, with multisampling, the one it is resolved into.
struct Targets {
    scene: Target,
    resolved: Option<Target>,
}

impl Targets {
    fn new(context: &Context, size: [u32; 2], samples: u32) -> Result<Self, RenderError> {
        let scene = Target::new(context, size, samples, true)?;
        let resolved = (samples > 0)
            .then(|| Target::new(context, size, 0, false))
            .transpose()?;
        Ok(Self { scene, resolved })
    }

    fn fit(&self, size: [u32; 2], samples: u32) -> bool {
        self.scene.size() == size && self.scene.samples() == samples
    }

    /// The framebuffer without multisampling, to show and to read.
    fn plain(&self) -> &Target {
        self.resolved.as_ref().unwrap_or(&self.scene)
    }
}

/// A picture: its content key and its pixels.
#[derive(Default)]
struct Slot {
    targets: Option<Targets>,
    last: Option<PictureKey>,
    /// The number of meshes that exceeded the drawing budget.
    n_boxed: usize,
}

/// The state of the viewport on one GL context: pictures in slots that share the buffers of meshes.
///
/// Every method, and dropping, needs that context current on the calling thread.
pub struct Renderer {
    context: Context,
    passes: Passes,
    slots: Vec<Slot>,
    n_pictures: u64,
}

impl Renderer {
    /// Compiles the shaders on `gl`.
    pub fn new(gl: Arc<three_d::context::Context>) -> Result<Self, RenderError> {
        let context = Context::from_gl_context(gl).map_err(RenderError::Context)?;
        Ok(Self {
            passes: Passes::new(&context)?,
            slots: Vec::new(),
            n_pictures: 0,
            context,
        })
    }

    /// Draws `scene` at `size` pixels into the framebuffer of `slot`; `false` if the picture is up to date.
    ///
    /// The caller passes another `stamp` whenever something in the scene changed other than the camera and the
    /// options, which are compared here. An empty size draws nothing. Framebuffer bindings are left as they were.
    pub fn draw(
        &mut self,
        slot: usize,
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
        if self.slots.len() <= slot {
            self.slots.resize_with(slot + 1, Slot::default);
        }
        let own = &mut self.slots[slot];
        if size.contains(&0) || own.last == Some(key) {
            return Ok(false);
        }
        own.last = None;
        let context = self.context.clone();
        let _kept = KeptFramebuffers::of(&context);
        self.n_pictures += 1;
        let samples = usable_samples(&context, scene.options.samples);
        let reusable = own.targets.take().filter(|t| t.fit(size, samples));
        // A framebuffer of another size is freed before its replacement is created.
        let targets = match reusable {
            Some(targets) => targets,
            None => Targets::new(&context, size, samples)?,
        };
        targets.scene.begin();
        own.n_boxed = self.passes.draw(scene, size, self.n_pictures);
        if let Some(resolved) = &targets.resolved {
            targets.scene.resolve_to(resolved);
        }
        own.targets = Some(targets);
        own.last = Some(key);
        self.passes
            .free_unused(self.n_pictures.saturating_sub(KEEP_PICTURES));
        // State that egui does not set itself.
        context.set_write_mask(WriteMask::COLOR_AND_DEPTH);
        context.set_cull(Cull::None);
        Ok(true)
    }

    /// Draws `scene` into `slot` if it changed and copies it to `viewport` of the bound framebuffer, inside `clip`.
    ///
    /// This is the body of the window's paint callback. All of `viewport` is drawn, so that scrolling costs no 3D
    /// draw.
    pub fn paint(
        &mut self,
        slot: usize,
        scene: &Scene<'_>,
        viewport: PixelRect,
        clip: PixelRect,
        stamp: u64,
    ) -> Result<(), RenderError> {
        let Some(visible) = viewport.intersection(clip) else {
            return Ok(());
        };
        let size = [viewport.width as u32, viewport.height as u32];
        self.draw(slot, scene, size, stamp)?;
        if let Some(targets) = &self.slots[slot].targets {
            targets.plain().blit_to_bound(viewport, visible);
        }
        Ok(())
    }

    /// Frees the pictures of all slots but the first `n_slots`.
    pub fn keep_slots(&mut self, n_slots: usize) {
        self.slots.truncate(n_slots);
    }

    /// Frees the buffers of meshes whose key is not among `keys`.
    pub fn keep_meshes(&mut self, keys: &[u64]) {
        self.passes.keep_meshes(keys);
    }

    /// The last picture of a slot, rows from the top, sRGB, alpha 255; `None` before the first.
    pub fn read_rgba(&self, slot: usize) -> Option<Image> {
        let targets = self.slots.get(slot)?.targets.as_ref()?;
        Some(targets.plain().read_rgba())
    }

    /// The largest number of meshes of a picture that exceed the drawing budget and are shown as bounding boxes.
    pub fn n_boxed(&self) -> usize {
        let slots = self.slots.iter();
        slots.map(|slot| slot.n_boxed).max().unwrap_or(0)
    }

    /// The number of pictures drawn, without those that were up to date.
    pub fn n_pictures(&self) -> u64 {
        self.n_pictures
    }

    /// The number of meshes with buffers on the GPU.
    pub fn n_gpu_meshes(&self) -> usize {
        self.passes.n_gpu_meshes()
    }
}

/// The supported number of samples up to `wanted`: none, or a power of two.
fn usable_samples(context: &Context, wanted: u32) -> u32 {
    let samples = wanted.min(gl::max_samples(context));
    if samples < 2 { 0 } else { 1 << samples.ilog2() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paint_callback_may_hold_a_renderer() {
        const fn for_a_callback<T: Send + Sync>() {}
        for_a_callback::<Renderer>();
    }
}
