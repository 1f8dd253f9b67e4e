//! The plot of the compensation polynomial.

use crate::deform::Polynomial;
use crate::skinning::PolynomialFit;
use crate::view::theme;
use egui::{Align2, FontId, Pos2, Rect, Role, Sense, Shape, Stroke, Ui, Vec2, WidgetInfo};

const HEIGHT: f32 = 68.0;
/// Segments of the curve.
const STEPS: u16 = 48;

/// Draws f over the weight of the second bone, 0 to 1/2, over what a joint needs if f is fitted to one, and the value under
/// the pointer.
pub(super) fn curve_ui(ui: &mut Ui, polynomial: Polynomial, fit: Option<&PolynomialFit>) {
    let palette = theme::palette(ui);
    let size = Vec2::new(ui.available_width(), HEIGHT);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let samples: Vec<(f32, f32)> = (0..=STEPS)
        .map(|i| f32::from(i) / f32::from(STEPS) * 0.5)
        .map(|x| (x, polynomial.at(x)))
        .collect();
    let measured: Vec<(f32, f32)> = fit.map_or(Vec::new(), |fit| {
        let values = fit.measured.iter();
        values.map(|m| (m[0] as f32, m[1] as f32)).collect()
    });
    let both = || samples.iter().chain(&measured);
    let least = both().fold(0.0f32, |a, s| a.min(s.1));
    let most = both().fold(0.05f32, |a, s| a.max(s.1));
    let peak = samples
        .iter()
        .copied()
        .fold((0.0, 0.0), |a, s| if s.1 > a.1 { s } else { a });
    let text = format!("{:.3} at {:.2}", peak.1, peak.0);
    response.widget_info(|| {
        let label = format!("Polynomial: maximum {text}, 0 at 0 and at 0.5");
        WidgetInfo::labeled(Role::Image, true, label)
    });
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 3.0, palette.field);
    let inner = Rect::from_min_max(
        rect.min + Vec2::new(6.0, 8.0),
        rect.max - Vec2::new(6.0, 16.0),
    );
    let span = (most - least).max(1e-6);
    let place = |x: f32, y: f32| {
        Pos2::new(
            inner.left() + x * 2.0 * inner.width(),
            inner.bottom() - (y - least) / span * inner.height(),
        )
    };
    let zero = place(0.0, 0.0).y;
    painter.hline(inner.x_range(), zero, Stroke::new(1.0, palette.line));
    if !measured.is_empty() {
        let line: Vec<Pos2> = measured.iter().map(|&(x, y)| place(x, y)).collect();
        painter.add(Shape::line(line, Stroke::new(4.0, palette.line)));
    }
    let line: Vec<Pos2> = samples.iter().map(|&(x, y)| place(x, y)).collect();
    painter.add(Shape::line(line, Stroke::new(1.5, palette.text)));
    let font = FontId::proportional(11.0);
    let below = rect.bottom() - 2.0;
    for (x, align, label) in [
        (inner.left(), Align2::LEFT_BOTTOM, "one bone"),
        (inner.right(), Align2::RIGHT_BOTTOM, "equal weights"),
    ] {
        let at = Pos2::new(x, below);
        painter.text(at, align, label, font.clone(), palette.text_dim);
    }
    if peak.1 > 0.0 {
        painter.circle_filled(place(peak.0, peak.1), 2.5, palette.text);
    }
    let middle = Pos2::new(inner.center().x, below);
    painter.text(middle, Align2::CENTER_BOTTOM, &text, font, palette.text_dim);
    let pointer = response.hover_pos();
    if let Some(pointer) = pointer {
        let x = ((pointer.x - inner.left()) / inner.width() * 0.5).clamp(0.0, 0.5);
        let y = polynomial.at(x);
        painter.vline(
            place(x, 0.0).x,
            inner.y_range(),
            Stroke::new(1.0, palette.line),
        );
        painter.circle_filled(place(x, y), 3.0, palette.accent);
        response.on_hover_text(format!(
            "Where the second bone has {:.0} % of the weight, skin is pushed by {y:.3} of its distance from the bone.",
            x * 100.0
        ));
    }
}
