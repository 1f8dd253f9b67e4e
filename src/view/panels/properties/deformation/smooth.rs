//! Corrective smooth.

use super::controls::{Number, Part, Setting, number_ui, part_ui};
use crate::deform::{CorrectiveSmooth, MaskKind};
use crate::editor::Editor;
use crate::view::commands::Command;
use egui::Ui;

/// Draws the settings of corrective smooth; returns the requested command.
pub(super) fn smooth_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    it: &CorrectiveSmooth,
) -> Option<Command> {
    let part = Part {
        name: "Corrective smooth",
        about: "Smooths the skin and restores the detail of the bind pose (delta mush). Removes creases but does not \
                restore lost volume.",
        steps: [
            "Turn corrective smooth on",
            "Turn corrective smooth off",
            "Reset corrective smooth",
        ],
        state: if it.enabled {
            format!("{:.2}", it.strength)
        } else {
            "off".to_owned()
        },
        enabled: it.enabled,
        is_default: *it
            == CorrectiveSmooth {
                enabled: it.enabled,
                ..CorrectiveSmooth::default()
            },
    };
    let is_open = part_ui(
        ui,
        editor,
        &part,
        |stack, on| stack.smooth.enabled = on,
        |stack| {
            stack.smooth = CorrectiveSmooth {
                enabled: stack.smooth.enabled,
                ..CorrectiveSmooth::default()
            };
        },
    );
    if !is_open {
        return None;
    }
    ui.indent("corrective smooth", |ui| settings_ui(ui, editor, it))
        .inner
}

fn settings_ui(ui: &mut Ui, editor: &mut Editor, it: &CorrectiveSmooth) -> Option<Command> {
    let strength = Setting {
        name: "Strength",
        full: "Smoothing strength",
        step: "Set smoothing strength",
        about: "Strength: 0 leaves the shape, 1 replaces it by the smoothed one. Multiplied by the painted map.",
    };
    let number = Number {
        range: 0.0..=1.0,
        decimals: 2,
        mask: Some(MaskKind::Smooth),
    };
    let command = number_ui(ui, editor, &strength, &number, it.strength, None, |s, v| {
        s.smooth.strength = v;
    });
    let factor = Setting {
        name: "Factor",
        full: "Smoothing factor",
        step: "Set smoothing factor",
        about: "How far each iteration moves a vertex towards its neighbours' average.",
    };
    let number = Number {
        range: 0.0..=1.0,
        decimals: 2,
        mask: None,
    };
    number_ui(ui, editor, &factor, &number, it.factor, None, |s, v| {
        s.smooth.factor = v;
    });
    let iterations = Setting {
        name: "Iterations",
        full: "Smoothing iterations",
        step: "Set smoothing iterations",
        about: "Number of smoothing iterations. More iterations smooth a larger area but take longer.",
    };
    let number = Number {
        range: 1.0..=100.0,
        decimals: 0,
        mask: None,
    };
    let value = it.iterations.min(1000) as f32;
    number_ui(ui, editor, &iterations, &number, value, None, |s, v| {
        s.smooth.iterations = v.round() as u32;
    });
    command
}
