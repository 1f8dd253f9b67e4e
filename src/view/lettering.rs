//! Text on CPU images in the window's font, without a window.

use super::system_fonts::system_fonts;
use crate::document::Image;
use egui::epaint::text::{FontDefinitions, Fonts, TextOptions};
use egui::{Color32, FontId};

/// Rasterises text in the window's font on the CPU.
pub struct Lettering {
    fonts: Fonts,
}

impl Default for Lettering {
    fn default() -> Self {
        Self {
            fonts: Fonts::new(TextOptions::default(), FontDefinitions::default())
                .with_font_providers(vec![system_fonts()]),
        }
    }
}

impl Lettering {
    /// The width of `text` at a font size, both in pixels.
    pub fn width(&mut self, text: &str, size: f32) -> f32 {
        self.lay_out(text, size).size().x
    }

    /// Draws `text` from x on the baseline y, sRGB.
    pub fn draw(
        &mut self,
        image: &mut Image,
        text: &str,
        [x, y]: [f32; 2],
        size: f32,
        rgb: [u8; 3],
    ) {
        let galley = self.lay_out(text, size);
        let atlas = self.fonts.image();
        for row in &galley.rows {
            for glyph in &row.row.glyphs {
                let uv = glyph.uv_rect;
                let left = (x + row.pos.x + glyph.pos.x + uv.offset.x).round() as i64;
                // A glyph's position is on the baseline of its row.
                let top = (y + uv.offset.y).round() as i64;
                for v in uv.min[1]..uv.max[1] {
                    for u in uv.min[0]..uv.max[0] {
                        let coverage = atlas[(usize::from(u), usize::from(v))].a();
                        let at = [
                            left + i64::from(u - uv.min[0]),
                            top + i64::from(v - uv.min[1]),
                        ];
                        blend(image, at, rgb, f32::from(coverage) / 255.0);
                    }
                }
            }
        }
    }

    fn lay_out(&mut self, text: &str, size: f32) -> std::sync::Arc<egui::Galley> {
        self.fonts.with_pixels_per_point(1.0).layout_no_wrap(
            text.to_owned(),
            FontId::proportional(size),
            Color32::WHITE,
        )
    }
}

/// Blends a colour into a pixel, which may lie outside the image.
pub(crate) fn blend(image: &mut Image, [x, y]: [i64; 2], rgb: [u8; 3], share: f32) {
    let inside =
        (0..i64::from(image.width)).contains(&x) && (0..i64::from(image.height)).contains(&y);
    if !inside {
        return;
    }
    let first = (y as usize * image.width as usize + x as usize) * 4;
    if let Some(pixel) = image.rgba.get_mut(first..first + 3) {
        for (old, new) in pixel.iter_mut().zip(rgb) {
            let mixed = f32::from(*old) + (f32::from(new) - f32::from(*old)) * share;
            *old = mixed.round() as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_on_their_baseline_and_reach_as_far_as_said() {
        let mut image = Image {
            width: 120,
            height: 40,
            rgba: vec![0; 120 * 40 * 4],
        };
        let mut lettering = Lettering::default();
        lettering.draw(&mut image, "HEH", [10.0, 30.0], 20.0, [255, 128, 0]);
        let width = lettering.width("HEH", 20.0);
        let lit = |x: usize, y: usize| image.rgba[(y * 120 + x) * 4] > 100;
        let columns: Vec<usize> = (0..120).filter(|&x| (0..40).any(|y| lit(x, y))).collect();
        let rows: Vec<usize> = (0..40).filter(|&y| (0..120).any(|x| lit(x, y))).collect();
        assert!(columns[0] >= 10 && (columns[columns.len() - 1] as f32) < 11.0 + width);
        assert!(
            rows[0] > 10 && (28..=30).contains(&rows[rows.len() - 1]),
            "{rows:?}"
        );
        // Outside the image nothing happens.
        lettering.draw(&mut image, "HEH", [-500.0, 900.0], 20.0, [255; 3]);
    }
}
