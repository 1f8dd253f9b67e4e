//! What the mode and the selection need.

use crate::editor::Editor;
use crate::view::mode::Mode;
use crate::view::theme;
use crate::weights::falloff::Falloff;
use egui::{RichText, Ui};

/// What the mode and the selection need: the brush, the active bone.
pub fn properties_ui(ui: &mut Ui, editor: &mut Editor, mode: Mode) {
    let active = editor.document().session().active_joint;
    ui.heading(match mode {
        Mode::Select => "Selection",
        Mode::Pose => "Pose",
        Mode::Paint => "Brush",
    });
    match active {
        Some(joint) => {
            ui.horizontal(|ui| {
                ui.label("Active bone");
                let label = editor.document().skeleton().label(joint);
                ui.add(
                    egui::Label::new(RichText::new(label).color(theme::palette(ui).accent))
                        .truncate(),
                );
            });
            moved_ui(ui, editor);
        }
        None => {
            ui.label("Click a bone in the view or in the list.");
        }
    }
    if mode != Mode::Paint {
        return;
    }
    brush_ui(ui, editor);
}

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

/// How many points the active bone moves: one line, the meshes under the pointer.
fn moved_ui(ui: &mut Ui, editor: &Editor) {
    let moved: Vec<_> = editor
        .heat()
        .iter()
        .filter(|(_, heat)| heat.n_moved > 0)
        .collect();
    let (n, all) = moved.iter().fold((0, 0), |(n, all), (_, heat)| {
        (n + heat.n_moved, all + heat.values.len())
    });
    let text = match moved.len() {
        0 => "moves no points".to_owned(),
        1 => format!("moves {n} of {all} points"),
        n_meshes => format!("moves {n} of {all} points of {n_meshes} meshes"),
    };
    let name = |id| {
        editor
            .document()
            .meshes()
            .get(id)
            .map_or("", |m| m.geometry.name.as_str())
    };
    let each = moved
        .iter()
        .map(|(id, heat)| format!("{}: {} of {}", name(id), heat.n_moved, heat.values.len()));
    ui.label(RichText::new(text).color(theme::palette(ui).text_dim))
        .on_hover_text(each.collect::<Vec<_>>().join("\n"));
}
