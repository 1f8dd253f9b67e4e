//! A pie menu: commands around the pointer, chosen by direction.

use super::chord::take_escape;
use super::commands::Command;
use super::theme;
use crate::editor::Editor;
use egui::{
    Align2, Area, Color32, Id, Key, Modifiers, Order, Pos2, RichText, Role, Vec2, WidgetInfo,
};

/// The scale of the menu, points.
const RADIUS: f32 = 84.0;
/// Dead zone around the centre, points.
const DEAD: f32 = 18.0;

/// An open pie menu.
#[derive(Clone, Debug)]
pub struct Pie {
    title: &'static str,
    centre: Pos2,
    commands: Vec<Command>,
}

/// The result of a pie menu in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieResult {
    /// Still open.
    Open,
    /// Cancelled.
    Closed,
    /// A command was chosen.
    Run(Command),
}

impl Pie {
    /// A pie menu around the pointer, or in the centre of the window; moved to fit inside the window.
    pub fn new(title: &'static str, commands: &[Command], ctx: &egui::Context) -> Self {
        let room = reach(commands.len()) + Vec2::new(200.0, 30.0);
        let screen = ctx.content_rect().shrink2(room);
        let at = ctx.pointer_latest_pos().unwrap_or(screen.center());
        let centre = Pos2::new(
            at.x.clamp(screen.left(), screen.right().max(screen.left())),
            at.y.clamp(screen.top(), screen.bottom().max(screen.top())),
        );
        Self {
            title,
            centre,
            commands: commands.to_vec(),
        }
    }

    /// Draws the pie menu; a click chooses the item in the pointer's direction, 1 to 8 choose by number, Esc cancels.
    pub fn show(
        &self,
        ctx: &egui::Context,
        editor: &Editor,
        is_on: &dyn Fn(Command) -> Option<bool>,
    ) -> PieResult {
        const NUMBERS: [Key; 8] = [
            Key::Num1,
            Key::Num2,
            Key::Num3,
            Key::Num4,
            Key::Num5,
            Key::Num6,
            Key::Num7,
            Key::Num8,
        ];
        let n = self.commands.len();
        let (pointer, clicked, secondary, escape) = ctx.input_mut(|i| {
            (
                i.pointer.latest_pos(),
                i.pointer.primary_released(),
                i.pointer.secondary_pressed(),
                take_escape(i),
            )
        });
        let offset = pointer.map_or(Vec2::ZERO, |at| at - self.centre);
        let nearest_item = (offset.length() > DEAD).then(|| nearest(offset, n));
        let mut chosen = nearest_item.filter(|_| clicked);
        for (i, key) in NUMBERS.into_iter().enumerate().take(n) {
            if ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key)) {
                chosen = Some(i);
            }
        }
        // Behind the pie menu, to catch clicks beside it.
        let screen = ctx.content_rect();
        Area::new(Id::unique("pie shield"))
            .order(Order::Foreground)
            .fixed_pos(screen.min)
            .show(ctx, |ui| {
                ui.allocate_response(screen.size(), egui::Sense::click());
            });
        for (i, &command) in self.commands.iter().enumerate() {
            let at = self.centre + direction(i, n) * reach(n);
            Area::new(Id::unique(("pie", i)))
                .order(Order::Tooltip)
                .pivot(pivot(direction(i, n)))
                .fixed_pos(at)
                .show(ctx, |ui| {
                    let palette = theme::palette(ui);
                    let enabled = command.is_enabled(editor);
                    let number = RichText::new(format!("{}", i + 1)).color(palette.text_dim);
                    let label = RichText::new(command.label());
                    let on = is_on(command) == Some(true);
                    let mut button = egui::Button::new((number, label)).selected(on);
                    if nearest_item == Some(i) && enabled {
                        button = button.stroke(egui::Stroke::new(2.0, palette.text));
                    }
                    let response = ui
                        .add_enabled(enabled, button)
                        .on_hover_text(command.about());
                    let why = if enabled {
                        None
                    } else {
                        command.why_disabled(editor)
                    };
                    let response = match why {
                        Some(why) => {
                            response.on_disabled_hover_text(format!("{} {why}", command.about()))
                        }
                        None => response,
                    };
                    response.widget_info(|| {
                        WidgetInfo::selected(Role::MenuItem, enabled, on, command.label())
                    });
                    if response.clicked() {
                        chosen = Some(i);
                    }
                });
        }
        Area::new(Id::unique("pie middle"))
            .order(Order::Tooltip)
            .pivot(Align2::CENTER_CENTER)
            .fixed_pos(self.centre)
            .interactable(false)
            .show(ctx, |ui| {
                let palette = theme::palette(ui);
                let painter = ui.painter();
                painter.circle(
                    self.centre,
                    DEAD,
                    palette.panel.gamma_multiply(0.85),
                    egui::Stroke::new(1.0, palette.line),
                );
                if nearest_item.is_some() {
                    painter.line_segment(
                        [self.centre, self.centre + offset.normalized() * DEAD],
                        egui::Stroke::new(3.0, palette.text),
                    );
                }
                ui.label(
                    RichText::new(self.title)
                        .small()
                        .background_color(Color32::TRANSPARENT),
                );
            });
        match chosen.map(|i| self.commands[i]) {
            Some(command) if command.is_enabled(editor) => PieResult::Run(command),
            _ if escape || secondary || clicked => PieResult::Closed,
            _ => PieResult::Open,
        }
    }
}

/// The distance of `n` labels from the centre: sideways to their near ends, up and down to their middles.
fn reach(n: usize) -> Vec2 {
    if n > 4 {
        Vec2::new(0.7 * RADIUS, 1.3 * RADIUS)
    } else {
        Vec2::new(0.5 * RADIUS, RADIUS)
    }
}

/// The part of a label that lies in its direction: labels beside the centre begin or end there, however long they are.
fn pivot(direction: Vec2) -> Align2 {
    if direction.x > 0.3 {
        Align2::LEFT_CENTER
    } else if direction.x < -0.3 {
        Align2::RIGHT_CENTER
    } else {
        Align2::CENTER_CENTER
    }
}

/// The direction of item `i` of `n`: the first above, then clockwise.
fn direction(i: usize, n: usize) -> Vec2 {
    let angle = i as f32 / n as f32 * std::f32::consts::TAU - std::f32::consts::FRAC_PI_2;
    Vec2::angled(angle)
}

/// The item whose direction is nearest to `offset`.
fn nearest(offset: Vec2, n: usize) -> usize {
    let along = |i: &usize| direction(*i, n).dot(offset);
    (0..n)
        .max_by(|a, b| along(a).total_cmp(&along(b)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pointer_means_what_lies_in_its_direction() {
        assert_eq!(nearest(Vec2::new(0.0, -50.0), 4), 0);
        assert_eq!(nearest(Vec2::new(50.0, 3.0), 4), 1);
        assert_eq!(nearest(Vec2::new(-5.0, 40.0), 4), 2);
        assert_eq!(nearest(Vec2::new(-50.0, 0.0), 4), 3);
    }
}
