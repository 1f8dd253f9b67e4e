//! A drop-down of names with a filter: bones, channels, markers.

use crate::view::panels::bone_list::{bone_combo, bone_list_ui};
use egui::{Response, Role, Ui, WidgetInfo};

/// Draws a drop-down of names; returns the index of a new choice.
pub(in crate::view::panels) fn filtered_ui(
    ui: &mut Ui,
    label: &str,
    width: f32,
    chosen: Option<usize>,
    shown: &str,
    names: &[String],
) -> (Response, Option<usize>) {
    let mut picked = chosen;
    let response = bone_combo(label)
        .width(width)
        .truncate()
        .selected_text(shown)
        .show_ui(ui, |ui| {
            let names = names.iter().enumerate();
            let entries = names.map(|(index, name)| (Some(index), name.clone()));
            bone_list_ui(ui, &mut picked, entries);
        })
        .response;
    response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, label));
    (response, picked.filter(|index| chosen != Some(*index)))
}
