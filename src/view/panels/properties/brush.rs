//! The weight brush.

use crate::editor::Editor;
use crate::weights::falloff::Falloff;
use egui::Ui;

/// The weight brush, also under the right button.
pub fn brush_ui(ui: &mut Ui, editor: &mut Editor) {
    let brush = editor.brush_mut();
    egui::Grid::new("brush")
        .num_columns(2)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            let row = |ui: &mut Ui, label: &str, about: &str, slider: egui::Slider<'_>| {
                let name = ui.label(label);
                ui.add(slider).labelled_by(name.id).on_hover_text(about);
                ui.end_row();
            };
            row(
                ui,
                "Weight",
                "What a stroke at full strength adds.",
                egui::Slider::new(&mut brush.weight, 0.0..=1.0).fixed_decimals(2),
            );
            row(
                ui,
                "Strength",
                "How much of it one stroke adds.",
                egui::Slider::new(&mut brush.strength, 0.0..=1.0).fixed_decimals(2),
            );
            let radius = egui::Slider::new(&mut brush.radius_px, 1.0..=500.0)
                .logarithmic(true)
                .suffix(" px")
                .integer();
            row(
                ui,
                "Radius",
                "Size of the brush on the screen ( [ and ] ).",
                radius,
            );
            row(
                ui,
                "Influences",
                "Most bones a painted point may follow.",
                egui::Slider::new(&mut brush.max_influences, 1..=8),
            );
            let name = ui.label("Falloff");
            egui::ComboBox::from_id_salt("falloff")
                .selected_text(brush.falloff.label())
                .show_ui(ui, |ui| {
                    for falloff in Falloff::ALL {
                        ui.selectable_value(&mut brush.falloff, falloff, falloff.label());
                    }
                })
                .response
                .labelled_by(name.id);
            ui.end_row();
        });
    ui.checkbox(&mut brush.front_faces_only, "Front faces only")
        .on_hover_text("Leave points alone that face away from you.");
    ui.checkbox(&mut brush.normalise, "Normalise")
        .on_hover_text("Keep each point's weights at a sum of 1.");
}
