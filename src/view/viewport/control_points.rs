//! The control points of the lattice or the cage of the active group over the model, and the lines between them.

use super::Viewport;
use super::panes::Pane;
use super::pose::{pos, screen};
use crate::editor::Editor;
use crate::evaluate::ViewId;
use crate::view::mode::Mode;
use crate::view::theme;
use egui::{Color32, Pos2, Rect, Stroke, Ui, Vec2};

/// Half the side of a control point, points.
const SIZE: f32 = 3.5;

impl Viewport {
    /// Draws the control points in Cluster mode, on the object's own deformer stack: squares over lines, the selected ones in
    /// the accent colour. While the brush marks they are faint, as they cannot be selected then.
    pub(super) fn control_points_ui(&self, ui: &Ui, pane: &Pane, editor: &Editor) {
        let is_shown = self.mode == Mode::Cluster && self.options.show_clusters;
        if !is_shown || pane.view != ViewId::OWN {
            return;
        }
        let Some(shown) = editor.control_points() else {
            return;
        };
        let screen = screen(editor, pane.picture);
        let places = shown.places.iter().map(|place| screen.project(*place));
        let places: Vec<Option<Pos2>> = places
            .map(|place| place.map(|at| pos(at, pane.picture)))
            .collect();
        let painter = ui.painter().with_clip_rect(pane.clip);
        let palette = theme::palette(ui);
        let is_live = editor.moves_clusters() || editor.is_moving_clusters();
        let faded = |colour: Color32| colour.gamma_multiply(if is_live { 1.0 } else { 0.5 });
        let lines = || {
            let ends = shown.lines.iter().map(|line| line.map(|c| c as usize));
            ends.filter_map(|[a, b]| Some([places[a]?, places[b]?]))
        };
        for line in lines() {
            painter.line_segment(line, Stroke::new(3.0, faded(palette.overlay_halo)));
        }
        for line in lines() {
            painter.line_segment(line, Stroke::new(1.0, faded(palette.overlay)));
        }
        for (control, place) in (0u32..).zip(&places) {
            let Some(at) = *place else { continue };
            let is_selected = shown.selected.contains(&control);
            let half = if is_selected { SIZE + 1.5 } else { SIZE };
            let square = Rect::from_center_size(at, Vec2::splat(2.0 * half));
            let fill = if is_selected {
                palette.accent
            } else {
                palette.overlay
            };
            let rim = square.expand(1.5);
            painter.rect_filled(rim, 1.0, faded(Color32::from_black_alpha(200)));
            painter.rect_filled(square, 0.0, faded(fill));
        }
    }
}
