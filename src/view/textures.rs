//! Textures on the GPU, one for each decoded image in use.

use super::gl;
use crate::document::Image;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use three_d::{Context, Texture2D};

/// Textures by the identity of their image.
pub(crate) struct Textures {
    white: Texture2D,
    by_image: HashMap<(usize, Use), Entry>,
}

/// The meaning of an image's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Use {
    /// sRGB colours.
    Color,
    /// Linear data: normals, roughness, occlusion.
    Data,
}

struct Entry {
    /// Keeps the address from being reused by another image.
    _image: Weak<Image>,
    /// `None`: an image without usable pixels.
    texture: Option<Texture2D>,
    last_used: u64,
}

impl Textures {
    pub(crate) fn new(context: &Context) -> Self {
        let white = three_d::CpuTexture {
            data: three_d::TextureData::RgbaU8(vec![[255; 4]]),
            width: 1,
            height: 1,
            mipmap: None,
            ..Default::default()
        };
        Self {
            white: Texture2D::new(context, &white),
            by_image: HashMap::new(),
        }
    }

    /// The texture of `image`, uploaded at its first use; white without one.
    pub(crate) fn get(
        &mut self,
        context: &Context,
        image: Option<&Arc<Image>>,
        meaning: Use,
        picture: u64,
    ) -> &Texture2D {
        let Some(image) = image else {
            return &self.white;
        };
        let key = (Arc::as_ptr(image) as usize, meaning);
        let entry = self.by_image.entry(key).or_insert_with(|| Entry {
            _image: Arc::downgrade(image),
            texture: gl::texture(context, image, meaning == Use::Color),
            last_used: picture,
        });
        entry.last_used = picture;
        entry.texture.as_ref().unwrap_or(&self.white)
    }

    /// Frees the textures that no picture since `oldest` used.
    pub(crate) fn free_unused(&mut self, oldest: u64) {
        self.by_image.retain(|_, entry| entry.last_used >= oldest);
    }
}
