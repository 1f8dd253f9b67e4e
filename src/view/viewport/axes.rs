//! The axis gizmo in the corner: it shows the axes; click to look along one, drag to orbit.

use super::Viewport;
use crate::editor::Editor;
use crate::math::camera::View;
use crate::view::commands::Command;
use crate::view::scenery::Scenery;
use crate::view::theme;
use egui::{Align2, Color32, FontId, Pos2, Rect, Role, Sense, Stroke, Ui, Vec2, WidgetInfo};
use glam::Vec3;

/// Size of the gizmo and its distance from the corner, points.
const SIDE: f32 = 84.0;
const MARGIN: f32 = 8.0;
/// Distance from the centre to the balls, points.
const REACH: f32 = 31.0;
const BALL: f32 = 9.0;
/// Orbit per pixel of a drag, radians.
const ORBIT_PER_PX: f32 = 0.012;

/// One end of an axis.
struct End {
    /// The axis, 0 to 2.
    axis: usize,
    positive: bool,
    view: View,
    command: Command,
}

const ENDS: [End; 6] = [
    end(0, true, View::Right, Command::ViewRight),
    end(0, false, View::Left, Command::ViewLeft),
    end(1, true, View::Top, Command::ViewTop),
    end(1, false, View::Bottom, Command::ViewBottom),
    end(2, true, View::Front, Command::ViewFront),
    end(2, false, View::Back, Command::ViewBack),
];

const fn end(axis: usize, positive: bool, view: View, command: Command) -> End {
    End {
        axis,
        positive,
        view,
        command,
    }
}

impl End {
    fn direction(&self) -> Vec3 {
        Vec3::AXES[self.axis] * if self.positive { 1.0 } else { -1.0 }
    }

    fn letter(&self) -> &'static str {
        ["X", "Y", "Z"][self.axis]
    }
}

impl Viewport {
    /// Draws the gizmo at the top right of `viewport`, if it fits.
    pub(super) fn axes_ui(&mut self, ui: &mut Ui, viewport: Rect, editor: &mut Editor) {
        if viewport.width() < 2.5 * SIDE || viewport.height() < 2.0 * SIDE {
            return;
        }
        let corner = viewport.right_top() + Vec2::new(-MARGIN - SIDE, MARGIN);
        let rect = Rect::from_min_size(corner, Vec2::splat(SIDE));
        let centre = rect.center();
        let id = ui.scope_id().with("axes");
        let field = ui.interact(rect, id, Sense::drag());
        field.widget_info(|| WidgetInfo::labeled(Role::Slider, true, "Orbit the view"));
        let mut drag = field.drag_delta();
        let mut is_hovered = field.hovered() || field.dragged();

        let camera = editor.document().session().camera;
        let place = |direction: Vec3| {
            let (x, y) = (direction.dot(camera.right()), direction.dot(camera.up()));
            centre + Vec2::new(x, -y) * REACH
        };
        // Ends behind the centre are drawn and hit below those in front.
        let mut order: Vec<&End> = ENDS.iter().collect();
        let depth = |end: &&End| end.direction().dot(camera.backward());
        order.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
        let balls: Vec<_> = order
            .iter()
            .map(|end| {
                let at = place(end.direction());
                let hit = Rect::from_center_size(at, Vec2::splat(2.0 * BALL + 2.0));
                let sign = if end.positive { '+' } else { '-' };
                let response = ui.interact(
                    hit,
                    id.with((end.axis, end.positive)),
                    Sense::click_and_drag(),
                );
                let label = format!("View from {sign}{}", end.letter());
                response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
                drag += response.drag_delta();
                is_hovered |= response.hovered() || response.dragged() || response.has_focus();
                let response = response.on_hover_text(end.command.tooltip(ui.ctx()));
                (*end, at, response)
            })
            .collect();
        for (end, _, response) in &balls {
            if response.clicked() {
                // A second click looks from the opposite side.
                let command = match camera.axis_view() {
                    Some(view) if view == end.view => Command::ViewOpposite,
                    _ => end.command,
                };
                self.run_camera(command, editor);
            }
        }
        if drag != Vec2::ZERO {
            self.ease = None;
            self.leave_axis(editor);
            let camera = editor.camera_mut();
            let pivot = camera.target;
            camera.orbit(pivot, -drag.x * ORBIT_PER_PX, drag.y * ORBIT_PER_PX);
        }
        self.paint_axes(ui, centre, is_hovered, &balls);
    }

    fn paint_axes(
        &self,
        ui: &Ui,
        centre: Pos2,
        is_hovered: bool,
        balls: &[(&End, Pos2, egui::Response)],
    ) {
        let palette = theme::palette(ui);
        let scenery = Scenery::of(self.options.theme);
        let colors = [palette.x, palette.y, palette.z];
        let painter = ui.painter();
        if is_hovered {
            painter.circle_filled(centre, SIDE * 0.5, color(scenery.text).gamma_multiply(0.12));
        }
        for (end, at, response) in balls {
            let axis = colors[end.axis];
            let lit = response.hovered() || response.has_focus();
            if end.positive {
                painter.line_segment([centre, *at], Stroke::new(2.0, axis));
                painter.circle_filled(*at, BALL, axis);
            } else {
                let fill = axis.gamma_multiply(if lit { 0.8 } else { 0.35 });
                painter.circle_filled(*at, BALL - 1.5, fill);
                painter.circle_stroke(*at, BALL - 1.5, Stroke::new(1.5, axis));
            }
            if lit {
                painter.circle_stroke(*at, BALL + 0.5, Stroke::new(1.5, color(scenery.text)));
            }
            if end.positive || lit {
                painter.text(
                    *at,
                    Align2::CENTER_CENTER,
                    end.letter(),
                    FontId::proportional(12.0),
                    color(scenery.text_halo),
                );
            }
        }
    }
}

fn color([r, g, b]: [f32; 3]) -> Color32 {
    super::overlays::color([r, g, b])
}
