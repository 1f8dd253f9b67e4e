//! Pictures as textures of the window, kept while they are drawn.

use crate::document::Image;
use egui::{ColorImage, Context, TextureHandle, TextureId, TextureOptions};
use std::sync::Arc;

/// The textures of the pictures in a panel.
#[derive(Default)]
pub(super) struct Textures {
    known: Vec<Texture>,
}

struct Texture {
    image: Arc<Image>,
    handle: TextureHandle,
    /// Whether it was drawn since the last [`Textures::free_unused`].
    is_used: bool,
}

impl Textures {
    /// The texture of a picture; `None` for an empty one.
    pub(super) fn of(&mut self, ctx: &Context, image: &Arc<Image>) -> Option<TextureId> {
        if image.width == 0 || image.height == 0 {
            return None;
        }
        let mut known = self.known.iter_mut();
        if let Some(texture) = known.find(|texture| Arc::ptr_eq(&texture.image, image)) {
            texture.is_used = true;
            return Some(texture.handle.id());
        }
        let size = [image.width as usize, image.height as usize];
        let pixels = ColorImage::from_rgba_unmultiplied(size, &image.rgba);
        let handle = ctx.load_texture("picture in a panel", pixels, TextureOptions::LINEAR);
        let id = handle.id();
        self.known.push(Texture {
            image: image.clone(),
            handle,
            is_used: true,
        });
        Some(id)
    }

    /// Frees the textures that were not drawn since the last call.
    pub(super) fn free_unused(&mut self) {
        self.known.retain(|texture| texture.is_used);
        for texture in &mut self.known {
            texture.is_used = false;
        }
    }
}
