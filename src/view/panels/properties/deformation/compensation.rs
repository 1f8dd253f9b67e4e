//! Bulge compensation.

use super::controls::{
    Number, Part, Setting, choice_ui, fact_ui, number_ui, part_ui, pick_ui, switch_ui,
};
use super::curve;
use crate::deform::{Compensation, MaskKind, Polynomial, TwistDamping, Variant};
use crate::editor::Editor;
use crate::skinning::PolynomialFit;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{Button, RichText, Ui};

/// The reason why a setting is disabled by a published version.
const NOT_IN_PAPER: &str =
    "The paper does not have this setting. Choose the version \"Corrected\" to use it.";
/// What the sign of Algorithm 1 depends on.
const SIGN: &str = "The sign depends on the direction of the bones. Bones here point to their children, so the printed sign \
                    makes bulges larger.";

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
        (true, Variant::Algorithm1) => format!("Algorithm 1 {:.2}", it.strength),
    }
}

fn settings_ui(ui: &mut Ui, editor: &mut Editor, it: &Compensation) -> Option<Command> {
    let is_published = it.variant.is_published();
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
        "The published method always includes siblings. Choose the version \"Corrected\" to set it.",
    );
    switch_ui(ui, editor, &siblings, applied.siblings, why_not, |s, on| {
        s.compensation.siblings = on;
    });
    let version = Setting {
        name: "Version",
        full: "Version of compensation",
        step: "Set version of compensation",
        about: "Whether compensation follows its paper to the letter, for comparisons.",
    };
    let choices = [
        (
            Variant::Corrected,
            "Corrected",
            "With the paper's gaps filled: the fold guard, siblings and automatic strength are settings.",
        ),
        (
            Variant::Published,
            "Paper's text (eqs 10–13)",
            "The equations of the text: scaled by the radius, with rotations from the bind pose. It moves the skin against \
             the bulge.",
        ),
        (
            Variant::Algorithm1,
            "Algorithm 1, literal",
            "The paper's listing as printed: no radius, and rotations in the world. Its sign assumes bones that point to \
             the root.",
        ),
    ];
    choice_ui(ui, editor, &version, it.variant, None, &choices, |s, v| {
        s.compensation.variant = v;
    });
    if it.variant == Variant::Algorithm1 {
        let dim = theme::palette(ui).text_dim;
        ui.label(RichText::new(SIGN).color(dim));
    }
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
    let fit = editor.polynomial_fit().cloned();
    curve::curve_ui(ui, polynomial, fit.as_deref());
    fit_ui(ui, editor, fit.as_deref());
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

/// Draws the button that fits the polynomial to the active joint, and what it fits.
fn fit_ui(ui: &mut Ui, editor: &mut Editor, fit: Option<&PolynomialFit>) {
    let has_bone = editor.document().session().active_joint.is_some();
    let button = Button::new("Fit to active joint");
    let about = "Fit the polynomial to the falloff of the weights at the active bone and its parent, and to the largest \
                 bend of the clips. The wide line of the plot is what this joint needs (Fig. 5 of the paper).";
    let response = ui.add_enabled(has_bone, button);
    let response = response
        .on_hover_text(about)
        .on_disabled_hover_text("Select the child bone of the joint first, such as the forearm.");
    if response.clicked() {
        editor.fit_polynomial_to_joint();
    }
    if let Some(fit) = fit {
        let dim = theme::palette(ui).text_dim;
        let text = format!(
            "Falloff {:.2} of the radius (the paper assumes 0.63), {:.0}° bend, off by {:.3}.",
            fit.sigma_over_r,
            fit.angle.to_degrees(),
            fit.error
        );
        ui.label(RichText::new(text).color(dim));
    }
}

fn with_first(polynomial: Polynomial, c1: f32) -> Polynomial {
    let [_, c2, _] = polynomial.coefficients();
    Polynomial::Custom { c1, c2 }
}

fn with_second(polynomial: Polynomial, c2: f32) -> Polynomial {
    let [c1, ..] = polynomial.coefficients();
    Polynomial::Custom { c1, c2 }
}
