//! Bulge compensation.

use super::controls::{
    Number, Part, Setting, choice_ui, fact_ui, number_ui, part_ui, pick_ui, switch_ui,
};
use super::curve;
use crate::deform::{Compensation, MaskKind, Polynomial, TwistDamping, Variant};
use crate::editor::Editor;
use crate::view::commands::Command;
use egui::Ui;

/// The reason why a setting is disabled by "As published".
const NOT_IN_PAPER: &str =
    "The published method does not have this setting. Turn \"As published\" off to use it.";

/// Draws the settings of bulge compensation; returns the requested command.
pub(super) fn compensation_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    it: &Compensation,
) -> Option<Command> {
    let part = Part {
        name: "Compensation",
        about: "Pushes bulges of dual quaternion skinning back towards the limb, by a polynomial of the weights \
                (Sulema & Rudenko 2020).",
        steps: [
            "Turn compensation on",
            "Turn compensation off",
            "Reset compensation",
        ],
        state: state(it),
        enabled: it.enabled,
        is_default: *it
            == Compensation {
                enabled: it.enabled,
                ..Compensation::default()
            },
    };
    let is_open = part_ui(
        ui,
        editor,
        &part,
        |stack, on| stack.compensation.enabled = on,
        |stack| {
            stack.compensation = Compensation {
                enabled: stack.compensation.enabled,
                ..Compensation::default()
            };
        },
    );
    if !is_open {
        return None;
    }
    ui.indent("compensation", |ui| settings_ui(ui, editor, it))
        .inner
}

/// The state of a folded part: "1.00", with special modes.
fn state(it: &Compensation) -> String {
    match (it.enabled, it.variant) {
        (false, _) => "off".to_owned(),
        (true, Variant::Corrected) => format!("{:.2}", it.strength),
        (true, Variant::Published) => format!("published {:.2}", it.strength),
    }
}

fn settings_ui(ui: &mut Ui, editor: &mut Editor, it: &Compensation) -> Option<Command> {
    let is_published = it.variant == Variant::Published;
    let applied = it.as_applied();
    let strength = Setting {
        name: "Strength",
        full: "Compensation strength",
        step: "Set compensation strength",
        about: "Strength: 0 leaves the bulge, 1 applies the polynomial as fitted, 2 doubles it. Multiplied by the \
                painted map (eq. 10).",
    };
    let number = Number {
        range: 0.0..=2.0,
        decimals: 2,
        mask: Some(MaskKind::Compensation),
    };
    let command = number_ui(ui, editor, &strength, &number, it.strength, None, |s, v| {
        s.compensation.strength = v;
    });
    polynomial_ui(ui, editor, it.polynomial);
    let twist = Setting {
        name: "Twist",
        full: "Twist damping",
        step: "Set twist damping",
        about: "How compensation handles twist.",
    };
    let choices = [
        (
            TwistDamping::Axis,
            "Axis (eq. 12)",
            "Never push along the rotation axis (eq. 12), so that a twist does not shear the skin.",
        ),
        (
            TwistDamping::Sine,
            "Sine",
            "Reduce the push by the sine of the bend, without changing its direction.",
        ),
        (
            TwistDamping::Off,
            "Off",
            "Treat twist like bend. Removes more of the bulge but shears the skin.",
        ),
    ];
    choice_ui(ui, editor, &twist, it.twist, None, &choices, |s, v| {
        s.compensation.twist = v;
    });
    let fade = Setting {
        name: "Third-bone fade",
        full: "Third-bone fade",
        step: "Set third-bone fade",
        about: "Reduce compensation where a third bone has weight. When off, the skin jumps where three bones meet \
                (Algorithm 1).",
    };
    switch_ui(ui, editor, &fade, applied.third_bone_fade, None, |s, on| {
        s.compensation.third_bone_fade = on;
    });
    let why_not = is_published.then_some(NOT_IN_PAPER);
    let guard = Setting {
        name: "Fold guard",
        full: "Fold guard",
        step: "Set fold guard",
        about: "Never push skin through the bisector plane of the bend, so that the inside of a tight bend does not \
                fold further.",
    };
    switch_ui(ui, editor, &guard, applied.fold_guard, why_not, |s, on| {
        s.compensation.fold_guard = on;
    });
    let auto = Setting {
        name: "Automatic strength",
        full: "Automatic strength",
        step: "Set automatic strength",
        about: "Scale the strength by the width of the weight blend relative to the limb's thickness. Sharp blends \
                bulge less.",
    };
    switch_ui(
        ui,
        editor,
        &auto,
        applied.auto_strength,
        why_not,
        |s, on| {
            s.compensation.auto_strength = on;
        },
    );
    let siblings = Setting {
        name: "Sibling pairs",
        full: "Compensate sibling pairs",
        step: "Set sibling pairs",
        about: "Also compensate between siblings, such as two fingers.",
    };
    let why_not = is_published.then_some(
        "The published method always includes siblings. Turn \"As published\" off to choose.",
    );
    switch_ui(ui, editor, &siblings, applied.siblings, why_not, |s, on| {
        s.compensation.siblings = on;
    });
    let published = Setting {
        name: "As published",
        full: "Compensation as published",
        step: "Set compensation as published",
        about: "Use Algorithm 1 as printed. With bones that point to their children, its sign enlarges bulges. For \
                comparison only.",
    };
    switch_ui(ui, editor, &published, is_published, None, |s, on| {
        s.compensation.variant = if on {
            Variant::Published
        } else {
            Variant::Corrected
        };
    });
    command
}

/// The kind of polynomial.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Manual,
    Original,
    Custom,
}

/// Draws the polynomial, its plot, and the coefficients of a custom one.
fn polynomial_ui(ui: &mut Ui, editor: &mut Editor, polynomial: Polynomial) {
    let kind = match polynomial {
        Polynomial::Manual => Kind::Manual,
        Polynomial::Original => Kind::Original,
        Polynomial::Custom { .. } => Kind::Custom,
    };
    let setting = Setting {
        name: "Polynomial",
        full: "Compensation polynomial",
        step: "Set compensation polynomial",
        about: "How far skin is pushed as a function of the second bone's weight. It is 0 at one bone and at equal \
                weights (eq. 10).",
    };
    let choices = [
        (Kind::Manual, "Manual", "2.2, -8.1, 7.4: best up to 60°."),
        (
            Kind::Original,
            "Original",
            "2.29, -9.14, 9.12: the published fit, closer to a circle from 90° on.",
        ),
        (
            Kind::Custom,
            "Custom",
            "Your own c1 and c2, starting from the current ones.",
        ),
    ];
    let [c1, c2, c3] = polynomial.coefficients();
    if let Some(kind) = pick_ui(ui, &setting, kind, None, &choices) {
        let chosen = match kind {
            Kind::Manual => Polynomial::Manual,
            Kind::Original => Polynomial::Original,
            Kind::Custom => Polynomial::Custom { c1, c2 },
        };
        editor.change_stack(setting.step, |s| s.compensation.polynomial = chosen);
    }
    curve::curve_ui(ui, polynomial);
    if kind != Kind::Custom {
        return;
    }
    let number = |range| Number {
        range,
        decimals: 2,
        mask: None,
    };
    let first = Setting {
        name: "c1",
        full: "Coefficient c1",
        step: "Set polynomial c1",
        about: "Slope of the polynomial where one bone moves the skin.",
    };
    number_ui(ui, editor, &first, &number(0.0..=10.0), c1, None, |s, v| {
        s.compensation.polynomial = with_first(s.compensation.polynomial, v);
    });
    let second = Setting {
        name: "c2",
        full: "Coefficient c2",
        step: "Set polynomial c2",
        about: "Curvature of the polynomial: how early it bends back.",
    };
    number_ui(
        ui,
        editor,
        &second,
        &number(-40.0..=0.0),
        c2,
        None,
        |s, v| {
            s.compensation.polynomial = with_second(s.compensation.polynomial, v);
        },
    );
    fact_ui(
        ui,
        "c3",
        &format!("{c3:.2}"),
        "-(4 c1 + 2 c2), so that the polynomial is 0 at equal weights.",
    );
}

fn with_first(polynomial: Polynomial, c1: f32) -> Polynomial {
    let [_, c2, _] = polynomial.coefficients();
    Polynomial::Custom { c1, c2 }
}

fn with_second(polynomial: Polynomial, c2: f32) -> Polynomial {
    let [c1, ..] = polynomial.coefficients();
    Polynomial::Custom { c1, c2 }
}
