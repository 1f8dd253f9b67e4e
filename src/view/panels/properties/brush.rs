//! The brush, and what it paints.

use crate::deform::MaskKind;
use crate::document::session::PaintTarget;
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::theme;
use crate::weights::falloff::Falloff;
use egui::{ComboBox, RichText, Ui};

/// What the brush paints and how, also under the right button.
pub fn brush_ui(ui: &mut Ui, editor: &mut Editor) {
    target_ui(ui, editor);
    let target = editor.paint_target();
    let is_map = target != PaintTarget::Weights;
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
            let (label, about) = if is_map {
                ("Value", "What points become; with Ctrl they go to 0.")
            } else {
                ("Weight", "What a stroke at full strength adds.")
            };
            let limit = target.limit();
            let value = egui::Slider::new(brush.value_mut(), 0.0..=limit).fixed_decimals(2);
            row(ui, label, about, value);
            row(
                ui,
                "Strength",
                "How much of the way one stroke goes.",
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
            if !is_map {
                row(
                    ui,
                    "Influences",
                    "Most bones a painted point may follow.",
                    egui::Slider::new(&mut brush.max_influences, 1..=8),
                );
            }
            let name = ui.label("Falloff");
            ComboBox::from_id_salt("falloff")
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
    if is_map {
        map_ui(ui, editor);
    } else {
        ui.checkbox(&mut brush.normalise, "Normalise")
            .on_hover_text("Keep each point's weights at a sum of 1.");
    }
}

/// What the artist calls what is painted: "Weights of Elbow", "Compensation strength".
pub fn target_label(target: PaintTarget, editor: &Editor) -> String {
    let document = editor.document();
    match (target, document.session().active_joint) {
        (PaintTarget::Mask(kind), _) => kind.label().to_owned(),
        (PaintTarget::Weights, Some(joint)) => {
            format!("Weights of {}", document.skeleton().label(joint))
        }
        (PaintTarget::Weights, None) => "Weights".to_owned(),
    }
}

/// The choice of what is painted, what that does, and a way out where it does nothing.
fn target_ui(ui: &mut Ui, editor: &mut Editor) {
    let target = editor.paint_target();
    let mut chosen = None;
    ui.horizontal(|ui| {
        let label = ui.label("Paint");
        ComboBox::from_id_salt("paint target")
            .width(ui.available_width())
            .truncate()
            .selected_text(target_label(target, editor))
            .show_ui(ui, |ui| {
                for choice in PaintTarget::ALL {
                    let response = ui
                        .selectable_label(target == choice, target_label(choice, editor))
                        .on_hover_text(Command::Paint(choice).about());
                    if response.clicked() {
                        chosen = Some(choice);
                    }
                }
            })
            .response
            .labelled_by(label.id)
            .on_hover_text("What the brush paints, and what colours show.");
    });
    if let Some(target) = chosen {
        editor.set_paint_target(target);
    }
    let Some(kind) = editor.paint_target().mask() else {
        return;
    };
    let palette = theme::palette(ui);
    ui.label(RichText::new(about(kind)).color(palette.text_dim));
    if !editor.reads_mask(kind) {
        ui.horizontal_wrapped(|ui| {
            ui.label(not_read(kind));
            let about = "Let the deformation of this model read the map.";
            if ui.button("Turn on").on_hover_text(about).clicked() {
                editor.turn_on_part_of(kind);
            }
        });
    }
}

/// What can be done to a whole map.
fn map_ui(ui: &mut Ui, editor: &mut Editor) {
    ui.horizontal(|ui| {
        let mut button = |command: Command, text: &str| {
            let response = ui.button(text);
            response.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::Button, true, command.label())
            });
            response.on_hover_text(command.tooltip(ui.ctx())).clicked()
        };
        if button(Command::FillMap, "Fill") {
            editor.fill_map();
        }
        if button(Command::ClearMap, "Clear") {
            editor.clear_map();
        }
        if button(Command::InvertMap, "Invert") {
            editor.invert_map();
        }
    });
}

/// What a map does, in a sentence.
fn about(kind: MaskKind) -> &'static str {
    match kind {
        MaskKind::Blend => "1 bends by dual quaternions, 0 linearly.",
        MaskKind::Compensation => {
            "How much bulge compensation moves a point: 0 not at all, 1 as set, 2 twice as far."
        }
        MaskKind::Projection => "How much bulge projection moves a point: 0 not at all, 1 as set.",
        MaskKind::Smooth => "How much the corrective smooth moves a point: 0 not at all, 1 as set.",
    }
}

/// That nothing reads the map.
fn not_read(kind: MaskKind) -> &'static str {
    match kind {
        MaskKind::Blend => "The skinning method does not mix:",
        MaskKind::Compensation => "Compensation is off:",
        MaskKind::Projection => "Projection is off:",
        MaskKind::Smooth => "Corrective smooth is off:",
    }
}
