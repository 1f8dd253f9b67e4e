//! The settings of the sculpting brush, and the sample that it sculpts.

use super::brush::{
    falloff_ui, front_ui, grid_ui, hidden_ui, mask_ui, note_ui, projection_ui, radius_ui, reach_ui,
    strength_ui, symmetry_ui,
};
use super::curve::curve_ui;
use crate::document::session::{PaintMask, SculptKind};
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::theme;
use crate::weights::falloff::Falloff;
use egui::{ComboBox, RichText, Ui};

/// Draws the sample and all settings of the brush. Returns the requested command.
pub(super) fn sculpt_ui(ui: &mut Ui, editor: &mut Editor) -> Option<Command> {
    let command = sample_ui(ui, editor);
    grid_ui(ui, "sculpt", |ui| {
        kind_ui(ui, editor);
        let is_drag = editor.sculpt_kind().is_drag();
        let brush = editor.brush_mut();
        if !is_drag {
            strength_ui(ui, brush);
        }
        radius_ui(ui, brush);
        falloff_ui(ui, brush);
    });
    sides_ui(ui, editor);
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
        kind_ui(ui, editor);
        let is_drag = editor.sculpt_kind().is_drag();
        let brush = editor.brush_mut();
        if !is_drag {
            strength_ui(ui, brush);
        }
        radius_ui(ui, brush);
        falloff_ui(ui, brush);
        projection_ui(ui, brush);
        symmetry_ui(ui, brush);
    });
    sides_ui(ui, editor);
}

/// Draws which vertices a stroke leaves out. A drag takes both sides.
fn sides_ui(ui: &mut Ui, editor: &mut Editor) {
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
        let how = "Pose the joint where it bends badly, then add a corrective sample there. The brushes change its shape.";
        ui.label(RichText::new(how).color(dim));
        button(ui, Command::AddSample);
        return command;
    };
    ui.label(RichText::new(name).strong());
    ui.horizontal_wrapped(|ui| {
        let text = format!("Weight in this pose: {weight:.2}");
        ui.label(RichText::new(text).color(dim));
        if weight < 1.0 - 1e-3 {
            button(ui, Command::GoToSample);
        }
    });
    command
}

fn kind_ui(ui: &mut Ui, editor: &mut Editor) {
    let name = ui.label("Brush type");
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
