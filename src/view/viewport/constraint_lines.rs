//! Dashed lines from the selected bones to what their constraints follow.

use super::pose::pos;
use crate::editor::Editor;
use crate::skeleton::JointId;
use crate::tools::Screen;
use crate::view::theme::Palette;
use egui::{Painter, Rect, Shape, Stroke};

/// Lengths of dashes and gaps, points.
const DASH: f32 = 5.0;
const GAP: f32 = 4.0;

/// Draws a line for each bone that a constraint of a selected one follows, with a dot at its head.
pub(super) fn constraint_lines(
    painter: &Painter,
    palette: &Palette,
    screen: &Screen,
    rect: Rect,
    editor: &Editor,
) {
    let head = |joint: JointId| {
        let world = editor.pointed_world().get(joint.get())?;
        let at = screen.project(world.translation.as_vec3())?;
        Some(pos(at, rect))
    };
    for [joint, target] in editor.followed_by_selected() {
        let (Some(from), Some(to)) = (head(joint), head(target)) else {
            continue;
        };
        let halo = Stroke::new(3.0, palette.overlay_halo);
        let line = Stroke::new(1.5, palette.overlay);
        for stroke in [halo, line] {
            painter.extend(Shape::dashed_line(&[from, to], stroke, DASH, GAP));
        }
        painter.circle(
            to,
            3.0,
            palette.overlay,
            Stroke::new(1.0, palette.overlay_halo),
        );
    }
}
