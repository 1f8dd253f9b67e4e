//! The legend of a heat map on a picture.

use crate::deform::diagnostics::Summary;
use crate::document::Image;
use crate::view::Theme;
use crate::view::heat::Stops;
use crate::view::heat_map::{DataScale, HeatScale, figures_of};
use crate::view::lettering::Lettering;
use crate::view::scenery::Scenery;

/// Draws the colour bar with its numbers at the lower left, and the summary at the lower right. Leaves pictures that
/// are too small for it unchanged.
pub(crate) fn draw(image: &mut Image, scale: &HeatScale, summary: &Summary, theme: Theme) {
    // As large as in the window, for a picture of its size.
    let unit = (image.height as f32 / 960.0).clamp(0.6, 3.0);
    let size = 15.0 * unit;
    let (margin, height) = (18.0 * unit, 180.0 * unit);
    if (image.height as f32) < height + 4.0 * size || (image.width as f32) < 22.0 * size {
        return;
    }
    let rgb = Scenery::of(theme).text.map(|c| (c * 255.0).round() as u8);
    let mut letters = Lettering::default();
    let bottom = image.height as f32 - margin;
    let bar = Bar {
        stops: scale.stops(),
        ticks: scale.ticks(),
        title: &scale.title(),
    };
    bar.draw(image, &mut letters, rgb);
    let rows = figures_of(scale.metric, summary);
    for (i, (name, value)) in rows.iter().rev().enumerate() {
        let text = format!("{name}  {value}");
        let x = image.width as f32 - margin - letters.width(&text, size);
        let at = [x, bottom - i as f32 * 1.35 * size];
        letters.draw(image, &text, at, size, rgb);
    }
}

/// Draws the colour bar of recorded data with its numbers at the lower left. Leaves pictures that are too small for it
/// unchanged.
pub(crate) fn draw_data(image: &mut Image, scale: DataScale, label: &str, theme: Theme) {
    let unit = (image.height as f32 / 960.0).clamp(0.6, 3.0);
    let size = 15.0 * unit;
    if (image.height as f32) < 180.0 * unit + 4.0 * size || (image.width as f32) < 22.0 * size {
        return;
    }
    let rgb = Scenery::of(theme).text.map(|c| (c * 255.0).round() as u8);
    let bar = Bar {
        stops: scale.stops(),
        ticks: scale.ticks(),
        title: label,
    };
    bar.draw(image, &mut Lettering::default(), rgb);
}

/// A colour bar with its numbers and its title.
struct Bar<'a> {
    stops: &'a Stops,
    ticks: Vec<(f32, String)>,
    title: &'a str,
}

impl Bar<'_> {
    fn draw(&self, image: &mut Image, letters: &mut Lettering, rgb: [u8; 3]) {
        let unit = (image.height as f32 / 960.0).clamp(0.6, 3.0);
        let size = 15.0 * unit;
        let (margin, width, height) = (18.0 * unit, 18.0 * unit, 180.0 * unit);
        let bottom = image.height as f32 - margin;
        let stops = self.stops;
        for row in 0..height as u32 {
            let place = 1.0 - row as f32 / height;
            let x = place * 8.0;
            let i = (x as usize).min(7);
            let color: [f32; 3] = std::array::from_fn(|c| {
                stops[i][c] + (stops[i + 1][c] - stops[i][c]) * (x - i as f32)
            });
            let y = (bottom - height) as u32 + row;
            for x in margin as u32..(margin + width) as u32 {
                put(image, [x, y], color.map(|c| (c * 255.0).round() as u8));
            }
        }
        for (place, label) in &self.ticks {
            let y = bottom - height * place;
            let x = margin + width;
            for i in 0..(4.0 * unit) as u32 {
                put(
                    image,
                    [x as u32 + i, (y as u32).min(bottom as u32 - 1)],
                    rgb,
                );
            }
            let at = [x + 8.0 * unit, y + 0.35 * size];
            letters.draw(image, label, at, size * 0.9, rgb);
        }
        let at = [margin, bottom - height - 0.8 * size];
        letters.draw(image, self.title, at, size, rgb);
    }
}

fn put(image: &mut Image, [x, y]: [u32; 2], rgb: [u8; 3]) {
    if x < image.width && y < image.height {
        let at = (y as usize * image.width as usize + x as usize) * 4;
        image.rgba[at..at + 3].copy_from_slice(&rgb);
    }
}
