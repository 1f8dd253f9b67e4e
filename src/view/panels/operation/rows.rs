//! The rows of a form: a name, then a number, a bone or a choice.

use crate::editor::Editor;
use crate::skeleton::JointId;
use crate::view::panels::bone_list::{bone_combo, bone_list_ui};
use crate::view::theme;
use egui::{ComboBox, RichText, Role, Slider, Ui, WidgetInfo};
use std::ops::RangeInclusive;

/// Width of the labels, points.
const NAME: f32 = 84.0;

/// A label of fixed width and the widget beside it.
pub(in crate::view::panels) fn row_ui(
    ui: &mut Ui,
    name: &str,
    about: &str,
    content: impl FnOnce(&mut Ui),
) {
    ui.horizontal(|ui| {
        let dim = theme::palette(ui).text_dim;
        ui.scope(|ui| {
            ui.set_width(NAME);
            ui.add(egui::Label::new(RichText::new(name).color(dim)).truncate())
                .on_hover_text(about);
        });
        content(ui);
    });
}

/// A decimal number with a slider.
pub(super) fn number_ui(
    ui: &mut Ui,
    name: &str,
    about: &str,
    value: &mut f32,
    range: RangeInclusive<f32>,
    decimals: usize,
) {
    row_ui(ui, name, about, |ui| {
        ui.spacing_mut().slider_width = 108.0;
        let slider = Slider::new(value, range).max_decimals(decimals);
        let response = ui.add(slider).on_hover_text(about);
        response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, name));
    });
}

/// A whole number with a slider.
pub(super) fn count_ui(
    ui: &mut Ui,
    name: &str,
    about: &str,
    value: &mut u32,
    range: RangeInclusive<u32>,
) {
    row_ui(ui, name, about, |ui| {
        ui.spacing_mut().slider_width = 108.0;
        let logarithmic = *range.end() > 200;
        let slider = Slider::new(value, range).logarithmic(logarithmic);
        let response = ui.add(slider).on_hover_text(about);
        response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, name));
    });
}

/// A drop-down of the bones in use by skins.
pub(super) fn bone_ui(ui: &mut Ui, editor: &Editor, name: &str, about: &str, joint: &mut JointId) {
    let document = editor.document();
    let skeleton = document.skeleton();
    row_ui(ui, name, about, |ui| {
        let combo = bone_combo(("operation bone", name))
            .width(ui.available_width())
            .truncate()
            .selected_text(skeleton.label(*joint))
            .show_ui(ui, |ui| {
                let is_bone = document.bone_mask();
                let bones = skeleton.live_joints().filter(|j| is_bone[j.get()]);
                bone_list_ui(ui, joint, bones.map(|j| (j, skeleton.label(j))));
            });
        combo
            .response
            .on_hover_text(about)
            .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, name));
    });
}

pub(super) fn about_ui(ui: &mut Ui, text: &str) {
    ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
}

/// A drop-down; some options may be disabled.
pub(in crate::view::panels) fn combo_ui<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    chosen: &mut T,
    options: &[(T, String, bool)],
) {
    let text = options.iter().find(|o| o.0 == *chosen).map_or("", |o| &o.1);
    let combo = ComboBox::from_id_salt(("operation", name))
        .width(ui.available_width())
        .truncate()
        .selected_text(text)
        .show_ui(ui, |ui| {
            for (value, label, enabled) in options {
                ui.add_enabled_ui(*enabled, |ui| {
                    ui.selectable_value(chosen, *value, label);
                });
            }
        });
    combo
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, name));
}
