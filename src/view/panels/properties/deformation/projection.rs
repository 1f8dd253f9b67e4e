//! Bulge projection.

use super::controls::{Number, Part, Setting, choice_ui, number_ui, part_ui, switch_ui};
use crate::deform::{BulgeProjection, MaskKind, Variant};
use crate::editor::Editor;
use crate::view::commands::Command;
use egui::Ui;

/// Draws the settings of bulge projection; returns the requested command.
pub(super) fn projection_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    it: &BulgeProjection,
) -> Option<Command> {
    let part = Part {
        name: "Projection",
        about: "Pulls skin that moved away from its bones back to its rest distance. Never pushes outwards (Kim & Han \
                2014).",
        steps: [
            "Turn projection on",
            "Turn projection off",
            "Reset projection",
        ],
        state: state(it),
        enabled: it.enabled,
        is_default: *it
            == BulgeProjection {
                enabled: it.enabled,
                ..BulgeProjection::default()
            },
    };
    let is_open = part_ui(
        ui,
        editor,
        &part,
        |stack, on| stack.projection.enabled = on,
        |stack| {
            stack.projection = BulgeProjection {
                enabled: stack.projection.enabled,
                ..BulgeProjection::default()
            };
        },
    );
    if !is_open {
        return None;
    }
    ui.indent("projection", |ui| settings_ui(ui, editor, it))
        .inner
}

fn state(it: &BulgeProjection) -> String {
    match (it.enabled, it.variant) {
        (false, _) => "off".to_owned(),
        (true, Variant::Corrected) => format!("{:.2}", it.strength),
        (true, _) => format!("published {:.2}", it.strength),
    }
}

fn settings_ui(ui: &mut Ui, editor: &mut Editor, it: &BulgeProjection) -> Option<Command> {
    let is_published = it.variant.is_published();
    let applied = it.as_applied();
    let strength = Setting {
        name: "Strength",
        full: "Projection strength",
        step: "Set projection strength",
        about: "Strength: 0 leaves the bulge, 1 removes it. Multiplied by the painted map.",
    };
    let number = Number {
        range: 0.0..=1.0,
        decimals: 2,
        mask: Some(MaskKind::Projection),
    };
    let command = number_ui(ui, editor, &strength, &number, it.strength, None, |s, v| {
        s.projection.strength = v;
    });
    let form = Setting {
        name: "Bones",
        full: "Bones of the projection",
        step: "Set bones of projection",
        about: "The bones to which a vertex is projected.",
    };
    let choices = [
        (
            Variant::Corrected,
            "Blended",
            "All bones of a vertex, by weight. Smooth everywhere.",
        ),
        (
            Variant::Published,
            "As published",
            "Only the bone with the largest weight. Removes bulges on limbs, but the skin tears where bones disagree, \
             as in a palm.",
        ),
    ];
    choice_ui(ui, editor, &form, it.variant, None, &choices, |s, v| {
        s.projection.variant = v;
    });
    let why_not = is_published
        .then_some("The published method uses one bone. Choose \"Blended\" to set this.");
    let power = Setting {
        name: "Power p",
        full: "Projection power",
        step: "Set projection power",
        about: "Exponent of the weights: 1 is the smoothest, 8 is close to the published method.",
    };
    let number = Number {
        range: 1.0..=8.0,
        decimals: 1,
        mask: None,
    };
    number_ui(
        ui,
        editor,
        &power,
        &number,
        applied.power,
        why_not,
        |s, v| {
            s.projection.power = v;
        },
    );
    let fade = Setting {
        name: "Sibling fade",
        full: "Sibling fade",
        step: "Set sibling fade",
        about: "Reduce projection between siblings, such as two fingers.",
    };
    switch_ui(ui, editor, &fade, applied.sibling_fade, why_not, |s, on| {
        s.projection.sibling_fade = on;
    });
    command
}
