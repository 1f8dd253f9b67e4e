//! Select by weight: a floating window that selects as the range changes.

use crate::app::SinewApp;
use crate::editor::Editor;
use crate::finding::counted;
use crate::skeleton::JointId;
use crate::view::chord::take_escape;
use crate::view::theme;
use eframe::egui;
use egui::{Align2, DragValue, Grid, Id, Label, RichText, Role, Ui, Vec2, WidgetInfo, Window};

const WIDTH: f32 = 260.0;

/// The range of weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::app) struct WeightRange {
    low: f32,
    high: f32,
    /// The bone of the selection.
    joint: Option<JointId>,
}

impl Default for WeightRange {
    /// The default range contains vertices shared with other bones, as at joints.
    fn default() -> Self {
        Self {
            low: 0.01,
            high: 0.99,
            joint: None,
        }
    }
}

impl SinewApp {
    /// Selects the vertices in the range.
    pub(in crate::app) fn choose_weight_range(&mut self) {
        if let Some(range) = self.weight_range {
            self.editor.select_by_weight(range.low, range.high);
        }
    }
}

impl WeightRange {
    /// Draws the window; changes select at once. Returns whether it stays open.
    pub(in crate::app) fn show(
        &mut self,
        ctx: &egui::Context,
        editor: &mut Editor,
        is_busy: bool,
    ) -> bool {
        let Some(joint) = editor.document().session().active_joint else {
            return false;
        };
        let mut done = false;
        // Another bone became active meanwhile.
        let before = self.joint.replace(joint);
        let is_other = before.is_some_and(|before| before != joint);
        let mut changed = false;
        let title = "Select by weight";
        Window::new(title)
            .id(Id::unique("select by weight"))
            .anchor(Align2::CENTER_TOP, Vec2::new(0.0, 96.0))
            .collapsible(false)
            .resizable(false)
            .show(ctx, |ui| {
                ui.set_width(WIDTH);
                let name = editor.document().skeleton().label(joint);
                ui.add(Label::new(format!("Vertices whose weight for {name} is")).truncate());
                changed = self.fields_ui(ui);
                let dim = theme::palette(ui).text_dim;
                ui.horizontal(|ui| {
                    let button = ui
                        .button("Done")
                        .on_hover_text("Keep the selection and close  (Esc)");
                    done = button.clicked();
                    let found = format!("{} selected", counted(editor.n_selected(), "vertex"));
                    ui.label(RichText::new(found).color(dim));
                });
            });
        if changed || is_other {
            editor.select_by_weight(self.low, self.high);
        }
        let leaves = !is_busy && !ctx.text_edit_focused() && ctx.input_mut(take_escape);
        !done && !leaves
    }

    /// Draws both ends of the range; returns whether one changed.
    fn fields_ui(&mut self, ui: &mut Ui) -> bool {
        let before = *self;
        Grid::new("weight range").num_columns(4).show(ui, |ui| {
            let field = |ui: &mut Ui, value: &mut f32, name: &'static str, about: &str| {
                ui.label(name);
                let field = DragValue::new(value)
                    .range(0.0..=1.0)
                    .speed(0.004)
                    .fixed_decimals(3);
                let response = ui.add_sized([72.0, theme::ROW], field);
                let label = format!("Weight {name}");
                response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, &label));
                response.on_hover_text(about);
            };
            let low = "Smallest weight. 0 includes vertices without a weight for the bone.";
            field(ui, &mut self.low, "from", low);
            field(ui, &mut self.high, "to", "Largest weight.");
            ui.end_row();
        });
        self.push(before);
        *self != before
    }

    /// Moves the other end along if the ends cross.
    fn push(&mut self, before: Self) {
        if self.low == before.low {
            self.low = self.low.min(self.high);
        } else {
            self.high = self.high.max(self.low);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_that_is_dragged_pushes_the_other_one() {
        let range = |low, high| WeightRange {
            low,
            high,
            joint: None,
        };
        for (before, dragged, after) in [
            (range(0.2, 0.4), range(0.5, 0.4), range(0.5, 0.5)),
            (range(0.2, 0.4), range(0.2, 0.1), range(0.1, 0.1)),
            (range(0.2, 0.4), range(0.3, 0.4), range(0.3, 0.4)),
        ] {
            let mut pushed = dragged;
            pushed.push(before);
            assert_eq!(pushed, after);
        }
    }
}
