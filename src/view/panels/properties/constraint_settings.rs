//! The settings of one constraint, by its rule.

use super::step_drag::follow_drag;
use crate::editor::Editor;
use crate::editor::constraints::other_joints;
use crate::skeleton::JointId;
use crate::skeleton::constraint::{MOST_SOFTNESS, Rule, Space};
use egui::{ComboBox, DragValue, Role, Ui, WidgetInfo};
use glam::DVec3;

/// A rule with changed settings, and the words of its undo step.
pub(super) struct Change {
    pub(super) rule: Rule,
    pub(super) label: &'static str,
}

/// The words of a change of settings.
const SETTINGS: &str = "Change constraint";

/// The axes of a bone, by name.
const AXES: [(&str, DVec3); 6] = [
    ("+X", DVec3::X),
    ("-X", DVec3::NEG_X),
    ("+Y", DVec3::Y),
    ("-Y", DVec3::NEG_Y),
    ("+Z", DVec3::Z),
    ("-Z", DVec3::NEG_Z),
];

/// What the numbers of a field are.
struct Field<'a> {
    name: &'a str,
    about: &'a str,
    range: std::ops::RangeInclusive<f64>,
    /// Shown numbers per stored one.
    factor: f64,
    suffix: &'a str,
}

impl<'a> Field<'a> {
    fn degrees(name: &'a str, about: &'a str, range: std::ops::RangeInclusive<f64>) -> Self {
        Self {
            name,
            about,
            range,
            factor: 1f64.to_degrees(),
            suffix: "°",
        }
    }
}

/// Draws the settings of a rule; the changed rule.
pub(super) fn settings_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    joint: JointId,
    rule: &Rule,
) -> Option<Change> {
    let before = rule;
    let mut rule = before.clone();
    let mut label = SETTINGS;
    let mut follow = |ui: &mut Ui, editor: &Editor, name: &str, followed: &mut JointId| {
        if joint_ui(ui, editor, (joint, name), followed) {
            label = "Change source of constraint";
        }
    };
    match &mut rule {
        Rule::CopyRotation {
            source,
            space,
            keeps_offset,
        } => {
            follow(ui, editor, "Source", source);
            let mut world = *space == Space::World;
            let about = "Copy the rotation in the world instead of how the source turned from its rest pose.";
            ui.checkbox(&mut world, "World space").on_hover_text(about);
            *space = if world { Space::World } else { Space::Local };
            if world {
                offset_ui(ui, keeps_offset);
            }
        }
        Rule::CopyLocation {
            source,
            keeps_offset,
        } => {
            follow(ui, editor, "Source", source);
            offset_ui(ui, keeps_offset);
        }
        Rule::CopyScale { source } => follow(ui, editor, "Source", source),
        Rule::Aim { target, axis, .. } => {
            follow(ui, editor, "Target", target);
            let about = "The axis of this bone that points at the target.";
            axis_ui(ui, axis, about);
        }
        Rule::TwistShare {
            source,
            axis,
            share,
            centre,
        } => {
            follow(ui, editor, "Source", source);
            axis_ui(
                ui,
                axis,
                "The axis of this bone about which the twist is read.",
            );
            let field = Field {
                name: "Share",
                about: "How much of the source's twist this bone takes; below 0 it turns back.",
                range: -1.0..=1.0,
                factor: 1.0,
                suffix: "",
            };
            number_ui(ui, editor, &field, share);
            let about = "The twist about which the share does not jump: it jumps half a turn away from this angle.";
            let field = Field::degrees("Centre angle", about, -180.0..=180.0);
            number_ui(ui, editor, &field, centre);
        }
        Rule::LimitAngles(ranges) => {
            for (range, name) in ranges.iter_mut().zip(["X", "Y", "Z"]) {
                range_ui(ui, editor, name, range);
            }
        }
        Rule::LimitCone(cone) => {
            let names = ["Cone about its side", "Cone across"];
            for (angle, name) in cone.half_angles.iter_mut().zip(names) {
                let about = "Half the angle of the cone in which the bone may swing.";
                let field = Field::degrees(name, about, 1.0..=180.0);
                number_ui(ui, editor, &field, angle);
            }
            range_ui(ui, editor, "Twist", &mut cone.twist);
        }
        Rule::ReachTwoBones {
            target,
            pole,
            softness,
        } => {
            follow(ui, editor, "Target", target);
            pole_ui(ui, editor, joint, pole);
            let field = Field {
                name: "Softness",
                about: "The part of the length before which the reach becomes soft, so that the limb never snaps straight.",
                range: 0.0..=MOST_SOFTNESS,
                factor: 1.0,
                suffix: "",
            };
            number_ui(ui, editor, &field, softness);
        }
        Rule::ReachChain { target, n_bones } => {
            follow(ui, editor, "Target", target);
            let mut bones = *n_bones as f64;
            let field = Field {
                name: "Bones",
                about: "How many bones above this one bend.",
                range: 2.0..=32.0,
                factor: 1.0,
                suffix: "",
            };
            number_ui(ui, editor, &field, &mut bones);
            *n_bones = bones.round() as usize;
        }
    }
    (rule != *before).then_some(Change { rule, label })
}

/// Draws the drop-down of the bone that is followed; whether another was chosen.
fn joint_ui(
    ui: &mut Ui,
    editor: &Editor,
    (joint, name): (JointId, &str),
    followed: &mut JointId,
) -> bool {
    let skeleton = editor.document().skeleton().clone();
    let before = *followed;
    let about = "The bone that is followed.";
    ui.horizontal(|ui| {
        let label = ui.label(name).on_hover_text(about);
        ComboBox::from_id_salt(name)
            .width(ui.available_width())
            .truncate()
            .selected_text(skeleton.label(before))
            .show_ui(ui, |ui| {
                for other in other_joints(&skeleton, joint) {
                    ui.selectable_value(followed, other, skeleton.label(other));
                }
            })
            .response
            .labelled_by(label.id)
            .on_hover_text(about);
    });
    *followed != before
}

fn pole_ui(ui: &mut Ui, editor: &Editor, joint: JointId, pole: &mut Option<JointId>) {
    let skeleton = editor.document().skeleton().clone();
    let about = "The bone that the elbow or knee points at.";
    ui.horizontal(|ui| {
        let label = ui.label("Pole").on_hover_text(about);
        let shown = pole.map_or_else(|| "None".to_owned(), |pole| skeleton.label(pole));
        ComboBox::from_id_salt("Pole")
            .width(ui.available_width())
            .truncate()
            .selected_text(shown)
            .show_ui(ui, |ui| {
                ui.selectable_value(pole, None, "None");
                for other in other_joints(&skeleton, joint) {
                    ui.selectable_value(pole, Some(other), skeleton.label(other));
                }
            })
            .response
            .labelled_by(label.id)
            .on_hover_text(about);
    });
}

fn axis_ui(ui: &mut Ui, axis: &mut DVec3, about: &str) {
    ui.horizontal(|ui| {
        let label = ui.label("Axis").on_hover_text(about);
        let known = AXES.iter().find(|(_, known)| known == axis);
        let shown = known.map_or("along the bone", |(name, _)| name);
        ComboBox::from_id_salt("Axis")
            .selected_text(shown)
            .show_ui(ui, |ui| {
                for (name, direction) in AXES {
                    ui.selectable_value(axis, direction, name);
                }
            })
            .response
            .labelled_by(label.id)
            .on_hover_text(about);
    });
}

fn offset_ui(ui: &mut Ui, keeps_offset: &mut bool) {
    let about = "Keep how this bone differs from the source in the rest pose.";
    ui.checkbox(keeps_offset, "Keep offset")
        .on_hover_text(about);
}

/// Draws the two ends of a range of angles; moving one past the other takes it along.
fn range_ui(ui: &mut Ui, editor: &mut Editor, name: &str, range: &mut [f64; 2]) {
    let before = *range;
    for (end, word) in range.iter_mut().zip(["Min", "Max"]) {
        let name = format!("{word} {name}");
        let about = "An end of the range in which the angle stays, relative to the rest pose.";
        number_ui(
            ui,
            editor,
            &Field::degrees(&name, about, -360.0..=360.0),
            end,
        );
    }
    if range[0] > range[1] {
        let moved = usize::from(range[0] == before[0]);
        range[1 - moved] = range[moved];
    }
}

fn number_ui(ui: &mut Ui, editor: &mut Editor, field: &Field<'_>, value: &mut f64) {
    ui.horizontal(|ui| {
        ui.label(field.name).on_hover_text(field.about);
        let shown = *value * field.factor;
        let mut number = shown;
        let drag = DragValue::new(&mut number)
            .range(field.range.clone())
            .speed((field.range.end() - field.range.start()) * 0.005)
            .max_decimals(3)
            .suffix(field.suffix);
        let response = ui.add(drag).on_hover_text(field.about);
        response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, field.name));
        follow_drag(ui, editor, &response, SETTINGS);
        // Leaving the field reads its rounded text again.
        let is_rounding = response.lost_focus() && (number - shown).abs() <= 5e-4;
        if response.changed() && !is_rounding {
            *value = number / field.factor;
        }
    });
}
