//! The constraints of the active bone: a block for each, in the order in which they act.

use super::constraint_fields::{Subject, row_ui};
use super::constraint_settings::{Change, settings_ui};
use super::step_drag::follow_drag;
use crate::editor::Editor;
use crate::editor::constraints::{ConstraintKind, constraint_names};
use crate::editor::influence_keys::InfluenceKeys;
use crate::skeleton::constraint::Constraint;
use crate::view::theme;
use egui::{Button, Frame, RichText, Role, Slider, Ui, WidgetInfo};
use egui_material_icons::{MaterialIcon, icons};

/// The width of what stands beside the slider of an influence, and the least width of the slider, points.
const BESIDE_SLIDER: f32 = 88.0;
const LEAST_SLIDER: f32 = 40.0;

/// What a button of a constraint does.
enum Action {
    Remove,
    Earlier,
    Later,
    Mute(bool),
}

/// Whether there is a bone whose constraints can be shown.
pub(super) fn has_bone(editor: &Editor) -> bool {
    let active = editor.document().session().active_joint;
    active.is_some_and(|joint| editor.document().skeleton().is_live(joint))
}

/// Draws the constraints of the active bone, and the menu that adds one.
pub(super) fn constraints_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some(joint) = editor.document().session().active_joint else {
        return;
    };
    let list = editor.document().constraints_of(joint).to_vec();
    let names = constraint_names(&list);
    for ((index, constraint), name) in list.iter().enumerate().zip(&names) {
        let last = index + 1 == list.len();
        let words = editor.constraint_name(joint, index);
        let subject = Subject {
            joint,
            name,
            words: &words,
        };
        Frame::group(ui.style()).show(ui, |ui| {
            // A drag ends where another bone becomes active.
            ui.push_id((joint.0, index), |ui| {
                constraint_ui(ui, editor, &subject, (index, last), constraint);
            });
        });
    }
    let response = ui.menu_button("Add constraint", |ui| {
        for kind in ConstraintKind::ALL {
            let response = ui.button(kind.label()).on_hover_text(kind.about());
            response.widget_info(|| WidgetInfo::labeled(Role::MenuItem, true, kind.label()));
            if response.clicked() {
                editor.add_constraint(joint, kind);
                ui.close();
            }
        }
    });
    response.response.on_hover_text(
        "Add a constraint to this bone. Constraints act on top of the clip and the pose; exports turn them into keyframes.",
    );
    if !list.is_empty() {
        let field = Button::new("Bake to keyframes");
        let response = ui
            .add_enabled(editor.can_bake_constraints(), field)
            .on_hover_text(
                "Bake the constraints of all bones into keyframes of every clip, and mute the constraints.",
            )
            .on_disabled_hover_text("Nothing to bake: every constraint is muted, or the model has no clip.");
        if response.clicked() {
            editor.bake_constraints();
        }
    }
}

fn constraint_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    subject: &Subject<'_>,
    (index, last): (usize, bool),
    constraint: &Constraint,
) {
    let Subject { joint, name, .. } = *subject;
    let mut action = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let colour = theme::palette(ui).text_dim;
        let title = RichText::new(name).strong();
        ui.label(if constraint.is_muted {
            title.color(colour)
        } else {
            title
        });
        let mut button = |ui: &mut Ui,
                          icon: MaterialIcon,
                          enabled: bool,
                          (label, about): (&str, &str),
                          does: Action| {
            let field = Button::new(icon.rich_text().size(14.0)).frame(false);
            let response = ui.add_enabled(enabled, field).on_hover_text(about);
            let label = format!("{label} {name}");
            response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, &label));
            if response.clicked() {
                action = Some(does);
            }
        };
        let muted = constraint.is_muted;
        let (icon, words) = if muted {
            (
                icons::ICON_VISIBILITY_OFF,
                ("Unmute", "Switch this constraint on."),
            )
        } else {
            (
                icons::ICON_VISIBILITY,
                ("Mute", "Switch this constraint off."),
            )
        };
        button(ui, icon, true, words, Action::Mute(!muted));
        let words = (
            "Move up",
            "Let this constraint act before the one above it.",
        );
        button(
            ui,
            icons::ICON_ARROW_UPWARD,
            index > 0,
            words,
            Action::Earlier,
        );
        let words = (
            "Move down",
            "Let this constraint act after the one below it.",
        );
        button(ui, icons::ICON_ARROW_DOWNWARD, !last, words, Action::Later);
        let words = ("Remove", "Remove this constraint.");
        button(ui, icons::ICON_DELETE, true, words, Action::Remove);
    });
    match action {
        Some(Action::Remove) => return editor.remove_constraint(joint, index),
        Some(Action::Earlier) => return editor.move_constraint(joint, index, true),
        Some(Action::Later) => return editor.move_constraint(joint, index, false),
        Some(Action::Mute(muted)) => return editor.mute_constraint(joint, index, muted),
        None => {}
    }
    influence_ui(ui, editor, subject, index, constraint);
    if let Some(Change { rule, label }) = settings_ui(ui, editor, subject, &constraint.rule) {
        editor.change_constraint(joint, index, &label, |constraint| constraint.rule = rule);
    }
}

/// Draws the button that inserts a keyframe of the influence, or deletes the one at the current time.
fn key_ui(ui: &mut Ui, editor: &mut Editor, subject: &Subject<'_>, index: usize) {
    let keys = editor.influence_keys(subject.joint, index);
    let (icon, does, about) = match keys {
        InfluenceKeys::Here => (
            icons::ICON_KEY_OFF,
            "Delete keyframe",
            "Delete the keyframe of the influence at the current time.",
        ),
        InfluenceKeys::Elsewhere => (
            icons::ICON_KEY,
            "Insert keyframe",
            "Insert a keyframe of the influence at the current time. Moving the slider inserts one, too.",
        ),
        InfluenceKeys::None => (
            icons::ICON_KEY,
            "Insert keyframe",
            "Insert a keyframe of the influence at the current time. With keyframes, the constraint is blended with the \
             keyframes of the bone instead of its rest pose.",
        ),
    };
    let palette = theme::palette(ui);
    let colour = match keys {
        InfluenceKeys::None => palette.text_dim,
        InfluenceKeys::Elsewhere | InfluenceKeys::Here => palette.accent,
    };
    let field = Button::new(icon.rich_text().size(14.0).color(colour)).frame(false);
    let response = ui.add(field).on_hover_text(about);
    let label = format!("{does} of {}", subject.name_of("influence"));
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
    if response.clicked() {
        if keys == InfluenceKeys::Here {
            editor.delete_influence_key(subject.joint, index);
        } else {
            editor.key_influence(subject.joint, index);
        }
    }
}

fn influence_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    subject: &Subject<'_>,
    index: usize,
    constraint: &Constraint,
) {
    let about = if constraint.rule.gives_rotation() {
        "How strongly the constraint acts. Below 1 the rotation is blended with the rest pose, or with the constraint \
         above; at 0 the constraint is off."
    } else {
        "How strongly the constraint acts: 0 is off, 1 is in full."
    };
    row_ui(ui, ("Influence", about), |ui, about| {
        let shown = editor.shown_influence(subject.joint, index);
        let mut influence = shown;
        // The number and the key stand beside it.
        let width = ui.available_width() - BESIDE_SLIDER;
        ui.spacing_mut().slider_width = width.clamp(LEAST_SLIDER, ui.spacing().slider_width);
        let slider = Slider::new(&mut influence, 0.0..=1.0).max_decimals(3);
        let response = ui.add(slider).on_hover_text(about);
        let name = subject.name_of("Influence");
        response.widget_info(|| WidgetInfo::labeled(Role::Slider, true, &name));
        let label = subject.change_of("influence");
        follow_drag(ui, editor, &response, &label);
        // A slider rounds what it draws; that is no change.
        let is_rounding = (influence - shown).abs() <= 5e-4;
        if response.changed() && !is_rounding {
            editor.set_influence(subject.joint, index, influence, &label);
        }
        key_ui(ui, editor, subject, index);
    });
}
