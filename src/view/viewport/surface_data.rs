//! The overlays of recorded data on surfaces: the legend of its colours, and the wet / dry line.

use super::Viewport;
use super::overlays::{MARGIN, color, text};
use super::panes::Pane;
use crate::editor::Editor;
use crate::evaluate::ViewId;
use crate::view::heat_map::DataScale;
use crate::view::scene::Shading;
use crate::view::scenery::Scenery;
use egui::{Align2, Pos2, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo};
use glam::Vec3;

/// Size of the colour bar, points.
const BAR: Vec2 = Vec2::new(14.0, 132.0);
/// Panes lower than this show no legend, points.
const LEAST_HEIGHT: f32 = 190.0;

impl Viewport {
    /// Whether surfaces show recorded data.
    pub(super) fn shows_data(&self) -> bool {
        matches!(self.options.shading, Shading::Textured | Shading::Shaded)
    }

    /// Draws the legend of the first surface that is coloured by data.
    pub(super) fn data_legend_ui(&self, ui: &Ui, rect: Rect, editor: &Editor) {
        let mut all = editor.all_surface_data();
        let colours = all.find_map(|data| data.colours.as_ref());
        let Some(colours) = colours.filter(|_| self.shows_data()) else {
            return;
        };
        if rect.height() < LEAST_HEIGHT {
            return;
        }
        let scenery = Scenery::of(self.options.theme);
        let painter = ui.painter().with_clip_rect(rect);
        let scale = DataScale::new(colours.range);
        let low = rect.left_bottom() + Vec2::new(MARGIN, -MARGIN - 8.0);
        let bar = Rect::from_min_max(Pos2::new(low.x, low.y - BAR.y), low + Vec2::new(BAR.x, 0.0));
        super::overlays::colour_bar(&painter, bar, scale.stops());
        let edge = Stroke::new(1.0, color(scenery.text_halo));
        painter.rect_stroke(bar, 0.0, edge, egui::StrokeKind::Outside);
        let mut spoken = Vec::new();
        for (place, label) in scale.ticks() {
            let from = Pos2::new(bar.right() + 1.0, bar.bottom() - bar.height() * place);
            let line = Stroke::new(1.0, color(scenery.text));
            painter.line_segment([from, from + Vec2::new(4.0, 0.0)], line);
            let at = from + Vec2::new(8.0, 0.0);
            text(&painter, at, Align2::LEFT_CENTER, &label, 11.0, scenery);
            spoken.push(label);
        }
        let title = bar.left_top() - Vec2::new(0.0, 10.0);
        text(
            &painter,
            title,
            Align2::LEFT_BOTTOM,
            &colours.label,
            13.0,
            scenery,
        );
        let label = format!("Colours of {}: {}", colours.label, spoken.join(", "));
        let id = ui.scope_id().with("data legend");
        let response = ui.interact(bar, id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &label));
        response.on_hover_text(
            "Recorded data on the patches between the clusters. Lines connect equal values. Stripes mark values beyond the range.",
        );
    }

    /// Draws the wet / dry lines and the wet area.
    pub(super) fn shore_ui(&self, ui: &Ui, pane: &Pane, editor: &Editor) {
        if pane.view != ViewId::OWN {
            return;
        }
        let scenery = Scenery::of(self.options.theme);
        let painter = ui.painter().with_clip_rect(pane.clip);
        let camera = editor.document().session().camera;
        let clip_from_world = camera.clip_from_world(pane.picture.aspect_ratio());
        let place = |point: Vec3| -> Option<Pos2> {
            let clip = clip_from_world * point.extend(1.0);
            let ndc = clip.truncate() / clip.w;
            let inside = clip.w > 0.0 && ndc.x.abs() < 1.5 && ndc.y.abs() < 1.5;
            let at = Vec2::new(0.5 + 0.5 * ndc.x, 0.5 - 0.5 * ndc.y) * pane.picture.size();
            inside.then(|| pane.picture.min + at)
        };
        let hidden = |instance| editor.is_instance_hidden(instance);
        let shores = editor
            .all_surface_data()
            .filter(|data| !hidden(data.instance));
        let shores = shores.filter_map(|data| data.shore.as_ref());
        let (mut wet, mut n) = (0.0, 0);
        for shore in shores {
            for (width, colour) in [(3.5, scenery.text_halo), (1.5, scenery.text)] {
                let stroke = Stroke::new(width, color(colour));
                for ends in &shore.lines {
                    if let [Some(a), Some(b)] = ends.map(place) {
                        painter.line_segment([a, b], stroke);
                    }
                }
            }
            (wet, n) = (wet + shore.wet_area, n + 1);
        }
        if n > 0 {
            let at = pane.clip.right_bottom() - Vec2::splat(MARGIN);
            let label = format!("Wet area {wet:.1} m²");
            text(&painter, at, Align2::RIGHT_BOTTOM, &label, 13.0, scenery);
        }
    }
}
