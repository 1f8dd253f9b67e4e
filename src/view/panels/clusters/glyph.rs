//! Glyphs of groups in lists, drawn as the viewport draws them.

use crate::cluster::Glyph;
use egui::{Color32, Painter, Pos2, Shape, Stroke, Vec2, vec2};

/// Draws a glyph of `size` points in a colour (sRGB) with a dark rim.
pub(in crate::view) fn glyph_ui(
    painter: &Painter,
    centre: Pos2,
    size: f32,
    glyph: Glyph,
    [r, g, b]: [u8; 3],
) {
    let (r, fill) = (0.5 * size, Color32::from_rgb(r, g, b));
    let rim = Stroke::new(1.0, Color32::from_black_alpha(200));
    let polygon = |corners: Vec<Vec2>| {
        let points = corners.into_iter().map(|c| centre + r * c).collect();
        Shape::convex_polygon(points, fill, rim)
    };
    match glyph {
        Glyph::Circle => {
            painter.circle(centre, r, fill, rim);
        }
        Glyph::Square => {
            let corners = [(-1., -1.), (1., -1.), (1., 1.), (-1., 1.)];
            painter.add(polygon(corners.map(|(x, y)| 0.82 * vec2(x, y)).to_vec()));
        }
        Glyph::Diamond => {
            let corners = [(0., -1.), (1., 0.), (0., 1.), (-1., 0.)];
            painter.add(polygon(corners.map(|(x, y)| vec2(x, y)).to_vec()));
        }
        Glyph::Triangle => {
            let corners = [(0., -0.92), (0.95, 0.73), (-0.95, 0.73)];
            painter.add(polygon(corners.map(|(x, y)| vec2(x, y)).to_vec()));
        }
        Glyph::Cross => {
            let arms = [vec2(1.0, 0.36), vec2(0.36, 1.0)];
            for halo in [1.0, 0.0] {
                for arm in arms {
                    let bar = egui::Rect::from_center_size(centre, 2.0 * r * arm).expand(halo);
                    let colour = if halo > 0.0 { rim.color } else { fill };
                    painter.rect_filled(bar, 0.0, colour);
                }
            }
        }
        Glyph::Star => {
            let corner = |i: usize| {
                let turn = i as f32 / 10.0 * std::f32::consts::TAU - std::f32::consts::FRAC_PI_2;
                let length = if i.is_multiple_of(2) { 1.0 } else { 0.45 };
                length * Vec2::angled(turn)
            };
            // Not convex: as triangles around the centre, then the rim.
            for i in 0..10 {
                let wedge = vec![Vec2::ZERO, corner(i), corner((i + 1) % 10)];
                let points = wedge.into_iter().map(|c| centre + r * c).collect();
                painter.add(Shape::convex_polygon(points, fill, Stroke::NONE));
            }
            let outline = (0..10).map(|i| centre + r * corner(i)).collect();
            painter.add(Shape::closed_line(outline, rim));
        }
    }
}
