//! Corrective smooth.

use super::controls::{Number, Part, Setting, number_ui, part_ui};
use crate::deform::{CorrectiveSmooth, MaskKind};
use crate::editor::Editor;
use crate::view::commands::Command;
use egui::Ui;

/// Smooths creases and keeps the detail; what was asked for.
pub(super) fn smooth_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    it: &CorrectiveSmooth,
) -> Option<Command> {
    let part = Part {
        name: "Corrective smooth",
        about: "Relaxes the skin and gives the bind shape's detail back (delta mush): creases go, lost volume does not \
                come back.",
        steps: [
            "Switch corrective smooth on",
            "Switch corrective smooth off",
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
        about: "How much of the smoothed shape is taken: 0 nothing, 1 all; times what is painted.",
    };
    let number = Number {
        range: 0.0..=1.0,
        decimals: 2,
        mask: Some(MaskKind::Smooth),
    };
    let asked = number_ui(ui, editor, &strength, &number, it.strength, None, |s, v| {
        s.smooth.strength = v;
    });
    let factor = Setting {
        name: "Factor",
        full: "Smoothing factor",
        step: "Set smoothing factor",
        about: "How far a point goes to the middle of its neighbours each time.",
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
        about: "How often: more reach farther, and take longer.",
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
    asked
}
