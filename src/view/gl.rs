//! Raw OpenGL calls without a safe three-d equivalent: framebuffers, read-back, sRGB textures, lines.
//!
//! `unsafe` is allowed here: every call uses glow's function table of a context that the caller keeps current on this
//! thread (the contract of [`super::Renderer`]), and all sizes and slices are checked before a call.
//!
//! Invariant: an object created here is deleted when its owner drops; bindings that egui relies on are restored by
//! [`KeptFramebuffers`].
#![allow(unsafe_code)]

use super::render_error::RenderError;
use crate::document::Image;
use three_d::context::{self as glow, HasContext};
use three_d::{Context, ElementBuffer, Program, RenderStates, VertexBuffer, Viewport};

/// A rectangle of pixels with its origin at the bottom left, as in OpenGL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelRect {
    /// Left edge.
    pub x: i32,
    /// Bottom edge.
    pub y: i32,
    /// Width.
    pub width: i32,
    /// Height.
    pub height: i32,
}

impl PixelRect {
    /// The intersection; `None` if empty.
    pub fn intersection(self, other: Self) -> Option<Self> {
        let x = self.x.max(other.x);
        let y = self.y.max(other.y);
        let width = self
            .x
            .saturating_add(self.width)
            .min(other.x.saturating_add(other.width))
            - x;
        let height = self
            .y
            .saturating_add(self.height)
            .min(other.y.saturating_add(other.height))
            - y;
        (width > 0 && height > 0).then_some(Self {
            x,
            y,
            width,
            height,
        })
    }
}

/// A framebuffer with an RGBA8 colour buffer and optional 24-bit depth and 8-bit stencil.
pub(crate) struct Target {
    context: Context,
    framebuffer: glow::Framebuffer,
    color: Option<glow::Renderbuffer>,
    depth: Option<glow::Renderbuffer>,
    size: [u32; 2],
    samples: u32,
}

impl Target {
    /// A target of `size` pixels, each at least 1; `samples` 0 means no multisampling.
    pub(crate) fn new(
        context: &Context,
        size: [u32; 2],
        samples: u32,
        with_depth: bool,
    ) -> Result<Self, RenderError> {
        let kept = KeptFramebuffers::of(context);
        let limit = unsafe { context.get_parameter_i32(glow::MAX_RENDERBUFFER_SIZE) }.max(0) as u32;
        if size[0] > limit || size[1] > limit {
            return Err(RenderError::TooLarge {
                width: size[0],
                height: size[1],
                limit,
            });
        }
        let storage = |format| unsafe {
            let buffer = context
                .create_renderbuffer()
                .map_err(RenderError::Framebuffer)?;
            context.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
            context.renderbuffer_storage_multisample(
                glow::RENDERBUFFER,
                samples as i32,
                format,
                size[0] as i32,
                size[1] as i32,
            );
            context.bind_renderbuffer(glow::RENDERBUFFER, None);
            Ok(buffer)
        };
        let framebuffer =
            unsafe { context.create_framebuffer() }.map_err(RenderError::Framebuffer)?;
        // From here on dropping `target` frees what exists.
        let mut target = Self {
            context: context.clone(),
            framebuffer,
            color: None,
            depth: None,
            size,
            samples,
        };
        target.color = Some(storage(glow::RGBA8)?);
        if with_depth {
            target.depth = Some(storage(glow::DEPTH24_STENCIL8)?);
        }
        let status = unsafe {
            context.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let attach = |point, buffer| {
                context.framebuffer_renderbuffer(
                    glow::FRAMEBUFFER,
                    point,
                    glow::RENDERBUFFER,
                    buffer,
                );
            };
            attach(glow::COLOR_ATTACHMENT0, target.color);
            attach(glow::DEPTH_STENCIL_ATTACHMENT, target.depth);
            context.check_framebuffer_status(glow::FRAMEBUFFER)
        };
        drop(kept);
        if status == glow::FRAMEBUFFER_COMPLETE {
            Ok(target)
        } else {
            Err(RenderError::Framebuffer(format!(
                "{} x {} pixels with {samples} samples: status {status:#x}",
                size[0], size[1]
            )))
        }
    }

    /// Width and height, pixels.
    pub(crate) fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Samples per pixel; 0 without multisampling.
    pub(crate) fn samples(&self) -> u32 {
        self.samples
    }

    /// Binds the target for drawing, without scissor, and clears depth and stencil.
    pub(crate) fn begin(&self) {
        unsafe {
            self.context
                .bind_framebuffer(glow::FRAMEBUFFER, Some(self.framebuffer));
            self.context.disable(glow::SCISSOR_TEST);
            self.context.color_mask(true, true, true, true);
            self.context.depth_mask(true);
            self.context.clear_color(0.0, 0.0, 0.0, 1.0);
            self.context.clear_depth_f32(1.0);
            self.context.clear_stencil(0);
            self.context.stencil_mask(0xFF);
            self.context
                .clear(glow::COLOR_BUFFER_BIT | glow::DEPTH_BUFFER_BIT | glow::STENCIL_BUFFER_BIT);
        }
    }

    /// Resolves the samples into a target of the same size without multisampling.
    pub(crate) fn resolve_to(&self, plain: &Self) {
        let _kept = KeptFramebuffers::of(&self.context);
        let [width, height] = self.size.map(|n| n as i32);
        unsafe {
            self.context.disable(glow::SCISSOR_TEST);
            self.context
                .bind_framebuffer(glow::DRAW_FRAMEBUFFER, Some(plain.framebuffer));
        }
        self.blit([0, 0, width, height]);
    }

    /// Copies a target without multisampling into the bound draw framebuffer at `at` (its bottom left), inside `clip`.
    pub(crate) fn blit_to_bound(&self, at: PixelRect, clip: PixelRect) {
        let read = unsafe {
            self.context
                .get_parameter_framebuffer(glow::READ_FRAMEBUFFER_BINDING)
        };
        unsafe {
            self.context.enable(glow::SCISSOR_TEST);
            self.context
                .scissor(clip.x, clip.y, clip.width, clip.height);
            self.context.color_mask(true, true, true, true);
        }
        self.blit([at.x, at.y, at.x + at.width, at.y + at.height]);
        unsafe {
            self.context.bind_framebuffer(glow::READ_FRAMEBUFFER, read);
        }
    }

    fn blit(&self, to: [i32; 4]) {
        let [width, height] = self.size.map(|n| n as i32);
        unsafe {
            self.context
                .bind_framebuffer(glow::READ_FRAMEBUFFER, Some(self.framebuffer));
            self.context.blit_framebuffer(
                0,
                0,
                width,
                height,
                to[0],
                to[1],
                to[2],
                to[3],
                glow::COLOR_BUFFER_BIT,
                glow::NEAREST,
            );
        }
    }

    /// The pixels of a target without multisampling, rows from the top.
    pub(crate) fn read_rgba(&self) -> Image {
        let _kept = KeptFramebuffers::of(&self.context);
        let [width, height] = self.size;
        let row = width as usize * 4;
        let mut bottom_up = vec![0; row * height as usize];
        unsafe {
            self.context
                .bind_framebuffer(glow::READ_FRAMEBUFFER, Some(self.framebuffer));
            self.context.pixel_store_i32(glow::PACK_ALIGNMENT, 1);
            self.context.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
            self.context.read_pixels(
                0,
                0,
                width as i32,
                height as i32,
                glow::RGBA,
                glow::UNSIGNED_BYTE,
                glow::PixelPackData::Slice(Some(&mut bottom_up)),
            );
        }
        Image {
            width,
            height,
            rgba: bottom_up
                .chunks_exact(row)
                .rev()
                .flatten()
                .copied()
                .collect(),
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        unsafe {
            self.context.delete_framebuffer(self.framebuffer);
            for buffer in [self.color, self.depth].into_iter().flatten() {
                self.context.delete_renderbuffer(buffer);
            }
        }
    }
}

/// Restores the framebuffer bindings on drop: egui restores all other state, but not these.
pub(crate) struct KeptFramebuffers<'a> {
    context: &'a Context,
    draw: Option<glow::Framebuffer>,
    read: Option<glow::Framebuffer>,
}

impl<'a> KeptFramebuffers<'a> {
    /// Saves the current bindings.
    pub(crate) fn of(context: &'a Context) -> Self {
        unsafe {
            Self {
                context,
                draw: context.get_parameter_framebuffer(glow::DRAW_FRAMEBUFFER_BINDING),
                read: context.get_parameter_framebuffer(glow::READ_FRAMEBUFFER_BINDING),
            }
        }
    }
}

impl Drop for KeptFramebuffers<'_> {
    fn drop(&mut self) {
        unsafe {
            self.context
                .bind_framebuffer(glow::DRAW_FRAMEBUFFER, self.draw);
            self.context
                .bind_framebuffer(glow::READ_FRAMEBUFFER, self.read);
        }
    }
}

/// The stencil test of the next draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stencil {
    /// Off.
    Off,
    /// Fragments that pass the depth test write this number.
    Mark(u8),
    /// Only fragments where this number was written pass.
    Only(u8),
}

/// Sets the stencil test.
pub(crate) fn set_stencil(context: &Context, stencil: Stencil) {
    unsafe {
        match stencil {
            Stencil::Off => context.disable(glow::STENCIL_TEST),
            Stencil::Mark(value) => {
                context.enable(glow::STENCIL_TEST);
                context.stencil_func(glow::ALWAYS, i32::from(value), 0xFF);
                context.stencil_op(glow::KEEP, glow::KEEP, glow::REPLACE);
            }
            Stencil::Only(value) => {
                context.enable(glow::STENCIL_TEST);
                context.stencil_func(glow::EQUAL, i32::from(value), 0xFF);
                context.stencil_op(glow::KEEP, glow::KEEP, glow::KEEP);
            }
        }
    }
}

/// Clears the depth buffer.
pub(crate) fn clear_depth(context: &Context) {
    unsafe {
        context.depth_mask(true);
        context.clear_depth_f32(1.0);
        context.clear(glow::DEPTH_BUFFER_BIT);
    }
}

/// The maximum number of samples for colour and depth.
pub(crate) fn max_samples(context: &Context) -> u32 {
    unsafe { context.get_parameter_i32(glow::MAX_SAMPLES) }.max(0) as u32
}

/// The maximum texture size, pixels.
fn max_texture_size(context: &Context) -> u32 {
    unsafe { context.get_parameter_i32(glow::MAX_TEXTURE_SIZE) }.max(1) as u32
}

/// A texture with mipmaps, row 0 at v = 0 as in glTF. Colours (`srgb`) are filtered as linear values.
///
/// An image beyond the GPU's limit is downscaled; `None` if its byte count contradicts its size.
pub(crate) fn texture(context: &Context, image: &Image, srgb: bool) -> Option<three_d::Texture2D> {
    let whole = image::ImageBuffer::<image::Rgba<u8>, &[u8]>::from_raw(
        image.width,
        image.height,
        &image.rgba[..],
    )?;
    let limit = max_texture_size(context);
    let shrunk = (image.width.max(image.height) > limit).then(|| {
        image::imageops::thumbnail(&whole, image.width.min(limit), image.height.min(limit))
    });
    let (width, height, bytes) = match &shrunk {
        Some(s) => (s.width(), s.height(), &s.as_raw()[..]),
        None => (image.width, image.height, &image.rgba[..]),
    };
    if width == 0 || height == 0 {
        return None;
    }
    let texture = unsafe {
        three_d::Texture2D::new_unchecked::<[u8; 4]>(
            context,
            width,
            height,
            three_d::Interpolation::Linear,
            three_d::Interpolation::Linear,
            // Anisotropic filtering would dominate the cost of software rendering.
            Some(three_d::Mipmap {
                max_ratio: 1,
                ..Default::default()
            }),
            three_d::Wrapping::Repeat,
            three_d::Wrapping::Repeat,
            |_| {
                context.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
                context.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
                context.tex_image_2d(
                    glow::TEXTURE_2D,
                    0,
                    if srgb {
                        glow::SRGB8_ALPHA8
                    } else {
                        glow::RGBA8
                    } as i32,
                    width as i32,
                    height as i32,
                    0,
                    glow::RGBA,
                    glow::UNSIGNED_BYTE,
                    glow::PixelUnpackData::Slice(Some(bytes)),
                );
            },
        )
    };
    Some(texture)
}

/// Writes `data` over the elements of `buffer` from `first` on; the range must exist.
///
/// three-d's call takes the offset in bytes and adds it to its element count. The count is only good for "not empty"
/// afterwards; do not draw by it.
pub(crate) fn fill_part<T: three_d::BufferDataType>(
    buffer: &mut VertexBuffer<T>,
    first: usize,
    data: &[T],
) {
    let offset = first * size_of::<T>();
    debug_assert!(i32::try_from(offset + size_of_val(data)).is_ok());
    buffer.fill_subset(offset as u32, data);
}

/// Draws `elements` as line segments; attributes and uniforms of `program` are set.
pub(crate) fn draw_lines(
    context: &Context,
    program: &Program,
    states: RenderStates,
    viewport: Viewport,
    elements: &ElementBuffer<u32>,
) {
    program.draw_elements_with(states, viewport, elements, || unsafe {
        context.draw_elements(glow::LINES, elements.count() as i32, glow::UNSIGNED_INT, 0);
    });
}

/// Draws `elements` as points with the size from the vertex shader; attributes and uniforms of `program` are set.
pub(crate) fn draw_points(
    context: &Context,
    program: &Program,
    states: RenderStates,
    viewport: Viewport,
    elements: &ElementBuffer<u32>,
) {
    program.draw_elements_with(states, viewport, elements, || unsafe {
        context.enable(glow::PROGRAM_POINT_SIZE);
        context.draw_elements(glow::POINTS, elements.count() as i32, glow::UNSIGNED_INT, 0);
        context.disable(glow::PROGRAM_POINT_SIZE);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rectangles_that_only_touch_share_nothing() {
        let rect = |x, width| PixelRect {
            x,
            y: 0,
            width,
            height: 2,
        };
        assert_eq!(rect(0, 4).intersection(rect(4, 4)), None);
        assert_eq!(rect(0, 5).intersection(rect(4, 4)), Some(rect(4, 1)));
    }
}
