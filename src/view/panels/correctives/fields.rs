//! Fields of sets and samples: each change is one undo step.

use super::CorrectivesPanel;
use crate::editor::Editor;
use crate::view::theme;
use egui::{ComboBox, DragValue, Label, Response, RichText, Ui, Vec2, WidgetInfo};
use std::ops::RangeInclusive;

/// Width of the labels, points.
const NAME: f32 = 78.0;

/// A number that is dragged or typed.
pub(in crate::view::panels) struct Number<'a> {
    pub(in crate::view::panels) label: &'a str,
    pub(in crate::view::panels) range: RangeInclusive<f64>,
    pub(in crate::view::panels) speed: f64,
    pub(in crate::view::panels) decimals: usize,
    pub(in crate::view::panels) suffix: &'a str,
    pub(in crate::view::panels) about: &'a str,
    /// The name of the undo step.
    pub(in crate::view::panels) step: &'a str,
}

impl Number<'_> {
    /// Draws the field without undo steps; returns a new value once it is confirmed.
    pub(in crate::view::panels) fn show_free_ui(&self, ui: &mut Ui, shown: f64) -> Option<f64> {
        let id = ui.next_auto_id();
        let mut value = ui.data(|data| data.get_temp(id)).unwrap_or(shown);
        let field = DragValue::new(&mut value)
            .range(self.range.clone())
            .speed(self.speed)
            .max_decimals(self.decimals)
            .suffix(self.suffix)
            .update_while_editing(false);
        let response = ui.add(field);
        response.widget_info(|| WidgetInfo {
            label: Some(self.label.to_owned()),
            ..WidgetInfo::drag_value(true, shown)
        });
        if response.dragged() {
            // The result is computed once the drag ends.
            ui.data_mut(|data| data.insert_temp(id, value));
            return None;
        }
        ui.data_mut(|data| data.remove::<f64>(id));
        let ended = response.drag_stopped() || response.changed();
        response.on_hover_text(self.about);
        (ended && (value - shown).abs() > 0.5 * 10f64.powi(-(self.decimals as i32)))
            .then_some(value)
    }

    /// Draws the field; returns a new value. A drag is one undo step.
    pub(super) fn show_ui(
        &self,
        ui: &mut Ui,
        panel: &mut CorrectivesPanel,
        editor: &mut Editor,
        shown: f64,
    ) -> Option<f64> {
        self.show_step_ui(ui, &mut panel.is_dragging, editor, shown)
    }

    /// As [`Number::show_ui`]; `is_dragging` tells the panel that a step is open.
    pub(in crate::view::panels) fn show_step_ui(
        &self,
        ui: &mut Ui,
        is_dragging: &mut bool,
        editor: &mut Editor,
        shown: f64,
    ) -> Option<f64> {
        let mut value = shown;
        let field = DragValue::new(&mut value)
            .range(self.range.clone())
            .speed(self.speed)
            .max_decimals(self.decimals)
            .suffix(self.suffix)
            .update_while_editing(false);
        let response = ui.add(field);
        response.widget_info(|| WidgetInfo {
            label: Some(self.label.to_owned()),
            ..WidgetInfo::drag_value(true, shown)
        });
        if response.drag_started() {
            *is_dragging = true;
            editor.begin_step(self.step);
        }
        // Leaving the field reads its rounded text again. Ignore that.
        let rounding = 0.5 * 10f64.powi(-(self.decimals as i32));
        let is_rounding = !response.dragged() && (value - shown).abs() <= rounding;
        let changed = response.changed() && !is_rounding;
        if changed && response.dragged() && !editor.history().is_open() {
            // Another edit ended the step of this drag.
            editor.begin_step(self.step);
        }
        if response.drag_stopped() {
            *is_dragging = false;
        }
        let ends = response.drag_stopped();
        response.on_hover_text(self.about);
        if ends && !changed {
            editor.end_step();
        }
        changed.then_some(value)
    }
}

/// A label of fixed width, and widgets beside it.
pub(in crate::view::panels) fn named_ui<R>(
    ui: &mut Ui,
    name: &str,
    about: &str,
    content: impl FnOnce(&mut Ui) -> R,
) -> R {
    let row = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let dim = theme::palette(ui).text_dim;
        let size = Vec2::new(NAME, theme::ROW);
        let layout = egui::Layout::left_to_right(egui::Align::Center);
        ui.allocate_ui_with_layout(size, layout, |ui| {
            ui.set_min_width(NAME);
            let label = Label::new(RichText::new(name).color(dim)).truncate();
            ui.add(label).on_hover_text(about);
        });
        content(ui)
    });
    row.inner
}

/// A drop-down of (value, label, tooltip); returns a new choice.
pub(in crate::view::panels) fn pick_ui<T: Copy + PartialEq>(
    ui: &mut Ui,
    label: &str,
    width: f32,
    value: T,
    choices: &[(T, &str, &str)],
) -> (Response, Option<T>) {
    let text = choices.iter().find(|choice| choice.0 == value);
    let text = text.map_or("", |choice| choice.1);
    let mut chosen = None;
    let response = ComboBox::from_id_salt(label)
        .width(width)
        .truncate()
        .selected_text(text)
        .show_ui(ui, |ui| {
            for &(choice, name, about) in choices {
                let response = ui.selectable_label(choice == value, name);
                if response.on_hover_text(about).clicked() {
                    chosen = Some(choice);
                }
            }
        })
        .response;
    response.widget_info(|| WidgetInfo::labeled(egui::Role::ComboBox, true, label));
    (response, chosen.filter(|choice| *choice != value))
}
