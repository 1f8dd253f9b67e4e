//! Bulge compensation.

use super::controls::{
    Number, Part, Setting, choice_ui, fact_ui, number_ui, part_ui, pick_ui, switch_ui,
};
use super::curve;
use crate::deform::{Compensation, MaskKind, Polynomial, TwistDamping, Variant};
use crate::editor::Editor;
use crate::view::commands::Command;
use egui::Ui;

/// Said where the paper leaves nothing to choose.
const NOT_IN_PAPER: &str =
    "Off: the paper does not have it. Switch \"As published\" off to choose.";

/// Pushes what dual quaternions bulge out back along the limb; what was asked for.
pub(super) fn compensation_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    it: &Compensation,
) -> Option<Command> {
    let part = Part {
        name: "Compensation",
        about: "Pushes skin that bulges out at a bend back along the limb, by a polynomial of its weights \
                (Sulema & Rudenko 2020).",
        steps: [
            "Switch compensation on",
            "Switch compensation off",
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

/// "1.00", with what is unusual.
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
        about: "How far skin is pushed back: 0 not at all, 1 as the polynomial says, 2 twice as far; times what is \
                painted (eq. 10).",
    };
    let number = Number {
        range: 0.0..=2.0,
        decimals: 2,
        mask: Some(MaskKind::Compensation),
    };
    let asked = number_ui(ui, editor, &strength, &number, it.strength, None, |s, v| {
        s.compensation.strength = v;
    });
    polynomial_ui(ui, editor, it.polynomial);
    let twist = Setting {
        name: "Twist",
        full: "Twist damping",
        step: "Set twist damping",
        about: "What is done where a joint twists as well as it bends.",
    };
    let choices = [
        (
            TwistDamping::Axis,
            "Axis (eq. 12)",
            "Never push along the axis of the rotation: a twist does not shear the skin.",
        ),
        (
            TwistDamping::Sine,
            "Sine",
            "Push as little as the axis rule does, without turning the direction.",
        ),
        (
            TwistDamping::Off,
            "Off",
            "Push twists like bends: more of the bulge goes, the skin shears.",
        ),
    ];
    choice_ui(ui, editor, &twist, it.twist, None, &choices, |s, v| {
        s.compensation.twist = v;
    });
    let fade = Setting {
        name: "Third-bone fade",
        full: "Third-bone fade",
        step: "Set third-bone fade",
        about: "Push less where a third bone has weight; without it the skin jumps where three bones meet \
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
        about: "Never push skin through the plane that halves the bend: the inside of a tight bend does not fold more \
                than it must.",
    };
    switch_ui(ui, editor, &guard, applied.fold_guard, why_not, |s, on| {
        s.compensation.fold_guard = on;
    });
    let auto = Setting {
        name: "Automatic strength",
        full: "Automatic strength",
        step: "Set automatic strength",
        about: "Scale the strength by how far the weights reach, against the thickness of the limb: where they change \
                fast there is less to push back.",
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
        about: "Also push between bones of which neither is above the other, such as two fingers.",
    };
    let why_not = is_published
        .then_some("On: the paper knows no siblings. Switch \"As published\" off to choose.");
    switch_ui(ui, editor, &siblings, applied.siblings, why_not, |s, on| {
        s.compensation.siblings = on;
    });
    let published = Setting {
        name: "As published",
        full: "Compensation as published",
        step: "Set compensation as published",
        about: "Algorithm 1 as it is printed. With bones that point to their children its sign makes bulges larger: to \
                compare, not to use.",
    };
    switch_ui(ui, editor, &published, is_published, None, |s, on| {
        s.compensation.variant = if on {
            Variant::Published
        } else {
            Variant::Corrected
        };
    });
    asked
}

/// Which of the polynomials.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Manual,
    Original,
    Custom,
}

/// The polynomial, its picture, and the coefficients where they are the artist's own.
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
        about: "How far skin is pushed by the share of its second bone: not at all where one bone moves it and where \
                two move it equally (eq. 10).",
    };
    let choices = [
        (
            Kind::Manual,
            "Manual",
            "2.2, -8.1, 7.4: the better one up to 60 degrees.",
        ),
        (
            Kind::Original,
            "Original",
            "2.29, -9.14, 9.12: fitted by the authors, closer to a circle from 90 degrees on.",
        ),
        (
            Kind::Custom,
            "Custom",
            "Your own c1 and c2; it begins with those in use.",
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
        about: "How steeply the push begins: its slope where one bone moves the skin.",
    };
    number_ui(ui, editor, &first, &number(0.0..=10.0), c1, None, |s, v| {
        s.compensation.polynomial = with_first(s.compensation.polynomial, v);
    });
    let second = Setting {
        name: "c2",
        full: "Coefficient c2",
        step: "Set polynomial c2",
        about: "How soon the push bends back.",
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
        "-(4 c1 + 2 c2), so that the push ends where two bones move the skin equally.",
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
