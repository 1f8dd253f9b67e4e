//! Bulge projection.

use super::controls::{Number, Part, Setting, choice_ui, number_ui, part_ui, switch_ui};
use crate::deform::{BulgeProjection, MaskKind, Variant};
use crate::editor::Editor;
use crate::view::commands::Command;
use egui::Ui;

/// Brings skin back that is farther from its bone than at rest; what was asked for.
pub(super) fn projection_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    it: &BulgeProjection,
) -> Option<Command> {
    let part = Part {
        name: "Projection",
        about: "Brings skin back that went farther from its bones than it is at rest; never pushes out (Kim & Han \
                2014).",
        steps: [
            "Switch projection on",
            "Switch projection off",
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
        (true, Variant::Published) => format!("published {:.2}", it.strength),
    }
}

fn settings_ui(ui: &mut Ui, editor: &mut Editor, it: &BulgeProjection) -> Option<Command> {
    let is_published = it.variant == Variant::Published;
    let applied = it.as_applied();
    let strength = Setting {
        name: "Strength",
        full: "Projection strength",
        step: "Set projection strength",
        about: "How much of the way back is gone: 0 nothing, 1 all; times what is painted.",
    };
    let number = Number {
        range: 0.0..=1.0,
        decimals: 2,
        mask: Some(MaskKind::Projection),
    };
    let asked = number_ui(ui, editor, &strength, &number, it.strength, None, |s, v| {
        s.projection.strength = v;
    });
    let form = Setting {
        name: "Bones",
        full: "Bones of the projection",
        step: "Set bones of projection",
        about: "Which bones a point is brought back to.",
    };
    let choices = [
        (
            Variant::Corrected,
            "Blended",
            "All bones of a point, by their weights: smooth everywhere.",
        ),
        (
            Variant::Published,
            "As published",
            "The bone of the largest weight alone: no bulge is left on a limb, but the skin tears between bones that \
             disagree, as in a palm.",
        ),
    ];
    choice_ui(ui, editor, &form, it.variant, None, &choices, |s, v| {
        s.projection.variant = v;
    });
    let why_not =
        is_published.then_some("As published one bone counts. Choose \"Blended\" to mix them.");
    let power = Setting {
        name: "Power p",
        full: "Projection power",
        step: "Set projection power",
        about: "Bones count by their weight to this power: 1 is the smoothest, 8 nearly as published.",
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
        about: "Bring back less between bones of which neither is above the other, such as two fingers.",
    };
    switch_ui(ui, editor, &fade, applied.sibling_fade, why_not, |s, on| {
        s.projection.sibling_fade = on;
    });
    asked
}
