//! The morph targets of the active object: one slider each; a drag is one undo step.

use super::object::active;
use crate::editor::{Editor, SampleTask};
use crate::view::theme;
use egui::{Id, RichText, Ui};

/// Whether the active object has morph targets.
pub(super) fn has_morphs(editor: &Editor) -> bool {
    active(editor).is_some_and(|(.., item)| !item.geometry.morphs.is_empty())
}

/// Draws the sliders.
pub(super) fn morphs_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some((_, instance, item)) = active(editor) else {
        return;
    };
    let joint = instance.joint;
    // End a drag whose release no slider received.
    let dragging = Id::unique("a morph slider is dragged");
    let is_dragging = ui.data(|data| data.get_temp(dragging).unwrap_or(false));
    if is_dragging && !ui.input(|i| i.pointer.any_down()) {
        ui.data_mut(|data| data.insert_temp(dragging, false));
        editor.end_step();
    }
    let has_skin = editor.corrected_mesh().is_some();
    let mut sampled = None;
    let weights = editor
        .document()
        .pose()
        .morph_weights
        .get(joint.get())
        .cloned();
    let mut weights = weights.unwrap_or_default();
    if weights.len() != item.geometry.morphs.len() {
        return;
    }
    if editor.document().session().playback.clip.is_some() {
        let dim = theme::palette(ui).text_dim;
        ui.label(
            RichText::new("A clip is on screen. These values belong to your own pose.").color(dim),
        );
    }
    egui::Grid::new("morphs")
        .num_columns(3)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            for (target, weight) in weights.iter_mut().enumerate() {
                let name = &item.geometry.morphs[target].name;
                let name = if name.is_empty() {
                    format!("Target {target}")
                } else {
                    name.clone()
                };
                let label = ui.add(egui::Label::new(&name).truncate());
                // Files may hold weights outside 0 to 1, and so may typed input.
                let slider = egui::Slider::new(weight, 0.0..=1.0)
                    .clamping(egui::SliderClamping::Never)
                    .fixed_decimals(2);
                let response = ui.add(slider).labelled_by(label.id).on_hover_text(format!(
                    "Weight of morph target \"{name}\": 0 off, 1 in full."
                ));
                if response.drag_started() {
                    ui.data_mut(|data| data.insert_temp(dragging, true));
                    editor.begin_step(&format!("Set {name}"));
                }
                if response.changed() {
                    // Another edit may have ended this drag's undo step.
                    if response.dragged() && !editor.history().is_open() {
                        editor.begin_step(&format!("Set {name}"));
                    }
                    editor.set_morph_weight(joint, target, *weight);
                }
                if response.drag_stopped() {
                    ui.data_mut(|data| data.insert_temp(dragging, false));
                    editor.end_step();
                }
                // By its name: without one it cannot be found again.
                if has_skin && !item.geometry.morphs[target].name.is_empty() {
                    let button = ui.small_button("Sample");
                    let about = format!(
                        "Add a corrective sample at this pose with what \"{name}\" adds in full."
                    );
                    button.widget_info(|| {
                        let label = format!("Sample from {name}");
                        egui::WidgetInfo::labeled(egui::Role::Button, true, label)
                    });
                    if button.on_hover_text(about).clicked() {
                        sampled = Some(name.clone());
                    }
                }
                ui.end_row();
            }
        });
    if let Some(name) = sampled {
        editor.change_samples(SampleTask::FromMorph(name));
    }
}
