//! The settings of the sculpting brush, and the sample that it sculpts.

use super::brush::{
    falloff_ui, front_ui, grid_ui, hidden_ui, mask_ui, note_ui, projection_ui, radius_ui, reach_ui,
    strength_ui, symmetry_ui,
};
use super::curve::curve_ui;
use crate::document::session::{PaintMask, SculptKind};
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::panels::pose::gizmo_ui;
use crate::view::theme;
use crate::weights::falloff::Falloff;
use egui::{ComboBox, RichText, Ui};

/// Draws the sample and all settings of the brush. Returns the requested command.
pub(super) fn sculpt_ui(ui: &mut Ui, editor: &mut Editor) -> Option<Command> {
    let command = sample_ui(ui, editor);
    grid_ui(ui, "sculpt", |ui| numbers_ui(ui, editor));
    sides_ui(ui, editor);
    if editor.sculpt_kind() == SculptKind::Vertices {
        grid_ui(ui, "sculpt reach", |ui| symmetry_ui(ui, editor.brush_mut()));
        return command;
    }
    let brush = editor.brush_mut();
    if brush.falloff == Falloff::Custom {
        curve_ui(ui, &mut brush.curve);
    }
    grid_ui(ui, "sculpt reach", |ui| {
        reach_ui(ui, brush);
        symmetry_ui(ui, brush);
    });
    if brush.mask != PaintMask::Off {
        mask_ui(ui, editor);
    }
    note_ui(ui, editor);
    command
}

/// The popover: the most used settings.
pub fn sculpt_popover_ui(ui: &mut Ui, editor: &mut Editor) {
    ui.label(RichText::new("Sculpt").strong());
    grid_ui(ui, "sculpt popover", |ui| {
        numbers_ui(ui, editor);
        let is_brush = editor.sculpt_kind() != SculptKind::Vertices;
        let brush = editor.brush_mut();
        if is_brush {
            projection_ui(ui, brush);
        }
        symmetry_ui(ui, brush);
    });
    sides_ui(ui, editor);
}

/// Draws the kind of brush, its strength, radius and falloff. A drag has no strength; selected vertices have a radius
/// with soft selection only.
fn numbers_ui(ui: &mut Ui, editor: &mut Editor) {
    kind_ui(ui, editor);
    let kind = editor.sculpt_kind();
    let moves_selected = kind == SculptKind::Vertices;
    if moves_selected && !editor.soft_selection() {
        return;
    }
    let brush = editor.brush_mut();
    if !kind.is_drag() && !moves_selected {
        strength_ui(ui, brush);
    }
    radius_ui(ui, brush);
    falloff_ui(ui, brush);
}

/// Draws which vertices a stroke leaves out, or how the selected ones are transformed. A drag takes both sides.
fn sides_ui(ui: &mut Ui, editor: &mut Editor) {
    if editor.sculpt_kind() == SculptKind::Vertices {
        gizmo_ui(ui, editor);
        let mut is_soft = editor.soft_selection();
        let about = Command::ToggleSoftSelection.tooltip(ui.ctx());
        let soft = ui.checkbox(&mut is_soft, Command::ToggleSoftSelection.label());
        if soft.on_hover_text(about).changed() {
            editor.set_soft_selection(is_soft);
        }
        return;
    }
    let is_drag = editor.sculpt_kind().is_drag();
    let brush = editor.brush_mut();
    if !is_drag {
        front_ui(ui, brush);
    }
    hidden_ui(ui, brush, "Sculpt");
}

/// Draws the active sample with its weight in the pose, or how to get one.
fn sample_ui(ui: &mut Ui, editor: &mut Editor) -> Option<Command> {
    let mut command = None;
    let dim = theme::palette(ui).text_dim;
    let mut button = |ui: &mut Ui, wanted: Command| {
        let response = ui.button(wanted.label());
        if response.on_hover_text(wanted.tooltip(ui.ctx())).clicked() {
            command = Some(wanted);
        }
    };
    let Some((name, weight)) = editor.sculpted_sample() else {
        ui.label("No sample to sculpt.");
        let how = "Pose a bone where the skin bends badly, then add a corrective sample at that pose. The brushes change its shape.";
        ui.label(RichText::new(how).color(dim));
        button(ui, Command::AddSample);
        return command;
    };
    ui.label(RichText::new(name).strong());
    ui.horizontal_wrapped(|ui| {
        // Without the sign of what rounds to zero.
        let shown = (weight * 100.0).round() / 100.0 + 0.0;
        let text = format!("Weight in this pose: {shown:.2}");
        ui.label(RichText::new(text).color(dim));
        if weight < 1.0 - 1e-3 {
            button(ui, Command::GoToSample);
        }
    });
    command
}

fn kind_ui(ui: &mut Ui, editor: &mut Editor) {
    let name = ui.label("Tool");
    let kind = editor.sculpt_kind();
    let mut chosen = kind;
    ComboBox::from_id_salt("sculpt kind")
        .selected_text(kind.label())
        .show_ui(ui, |ui| {
            for choice in SculptKind::ALL {
                ui.selectable_value(&mut chosen, choice, choice.label())
                    .on_hover_text(Command::UseSculpt(choice).tooltip(ui.ctx()));
            }
        })
        .response
        .labelled_by(name.id)
        .on_hover_text(Command::UseSculpt(kind).about());
    ui.end_row();
    if chosen != kind {
        editor.use_sculpt(chosen);
    }
}
