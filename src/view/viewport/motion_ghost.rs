//! The skeleton of a motion that is retargeted to the character, beside it.

use super::pose::{pos, screen};
use crate::editor::Editor;
use crate::view::theme;
use egui::{Align2, FontId, Rect, Stroke, Ui};

/// Widths of the lines and of their outline, points.
const LINE: f32 = 2.0;
const HALO: f32 = 4.0;

/// Draws the bones as lines with a dot at each head, and says what they are.
pub(super) fn motion_ghost_ui(ui: &Ui, rect: Rect, editor: &Editor) {
    let Some(bones) = editor.motion_ghost() else {
        return;
    };
    let painter = ui.painter().with_clip_rect(rect);
    let (palette, screen) = (theme::palette(ui), screen(editor, rect));
    let at = |place| screen.project(place).map(|at| pos(at, rect));
    let bones: Vec<_> = bones
        .into_iter()
        .filter_map(|[from, to]| Some([at(from)?, at(to)?]))
        .collect();
    for (width, colour) in [(HALO, palette.overlay_halo), (LINE, palette.overlay)] {
        for bone in &bones {
            painter.line_segment(*bone, Stroke::new(width, colour));
        }
    }
    for [_, head] in &bones {
        painter.circle_filled(*head, LINE, palette.overlay);
    }
    let heads = bones.iter().map(|bone| bone[1]);
    if let Some(top) = heads.min_by(|a, b| a.y.total_cmp(&b.y)) {
        let font = FontId::proportional(12.0);
        let text = "Source";
        let place = top - egui::vec2(0.0, 8.0);
        for (by, colour) in [(1.0, palette.overlay_halo), (0.0, palette.overlay)] {
            let place = place + egui::vec2(by, by);
            painter.text(place, Align2::CENTER_BOTTOM, text, font.clone(), colour);
        }
    }
}
