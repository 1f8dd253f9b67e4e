//! The settings of one constraint, by its rule.

use super::constraint_fields::{
    AXES, Subject, axes_ui, axis_ui, check_ui, order_ui, row_ui, up_ui,
};
use super::step_drag::follow_drag;
use crate::editor::Editor;
use crate::editor::constraints::{FEWEST_BONES, other_joints, side_of};
use crate::skeleton::JointId;
use crate::skeleton::constraint::reach::MOST_BONES;
use crate::skeleton::constraint::{MOST_SOFTNESS, Rule, Space};
use crate::view::panels::bone_list::{bone_combo, bone_list_ui};
use egui::{DragValue, Role, Ui, WidgetInfo};

/// A rule with changed settings, and the label of its undo step.
pub(super) struct Change {
    pub(super) rule: Rule,
    pub(super) label: String,
}

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
    fn plain(name: &'a str, about: &'a str, range: std::ops::RangeInclusive<f64>) -> Self {
        Self {
            name,
            about,
            range,
            factor: 1.0,
            suffix: "",
        }
    }

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
    subject: &Subject<'_>,
    rule: &Rule,
) -> Option<Change> {
    let before = rule;
    let mut rule = before.clone();
    // The field that changed.
    let mut field = "settings";
    let mut target_ui = |ui: &mut Ui, editor: &Editor, target: &mut JointId| {
        if joint_ui(ui, editor, subject, target) {
            field = "target";
        }
    };
    match &mut rule {
        Rule::CopyRotation {
            source,
            space,
            keeps_offset,
            axes,
        } => {
            target_ui(ui, editor, source);
            let about = "The axes about which the rotation is copied. With one axis, the twist about it is copied; with two, the \
                Euler angles. The bone keeps its other angles.";
            axes_ui(ui, subject, &mut axes.copied, ("Axis", about));
            let about = "The axes about which the copied rotation is reversed.";
            axes_ui(ui, subject, &mut axes.inverted, ("Invert", about));
            if axes.are_angles() {
                order_ui(ui, subject, &mut axes.order);
            }
            let mut world = *space == Space::World;
            let about = "Copy the rotation in world space. Otherwise the rotation from the rest pose is copied, in local space.";
            check_ui(ui, subject, &mut world, ("World space", about));
            *space = if world { Space::World } else { Space::Local };
            if world {
                offset_ui(ui, subject, keeps_offset);
            }
        }
        Rule::CopyLocation {
            source,
            keeps_offset,
            axes,
            space,
        } => {
            target_ui(ui, editor, source);
            let about = "The axes along which the location is copied.";
            axes_ui(ui, subject, axes, ("Axis", about));
            let mut local = *space == Space::Local;
            let about = "Copy along this bone's rest axes instead of the world axes. The offset rotates with them.";
            check_ui(ui, subject, &mut local, ("Local axes", about));
            *space = if local { Space::Local } else { Space::World };
            offset_ui(ui, subject, keeps_offset);
        }
        Rule::CopyScale { source, axes } => {
            target_ui(ui, editor, source);
            let about = "The axes along which the scale is copied.";
            axes_ui(ui, subject, axes, ("Axis", about));
        }
        Rule::Aim { target, axis, up } => {
            target_ui(ui, editor, target);
            let about = "The axis of this bone that is pointed at the target.";
            axis_ui(ui, subject, axis, ("Track axis", about));
            up_ui(ui, subject, *axis, up);
        }
        Rule::TwistShare {
            source,
            axis,
            share,
            centre,
        } => {
            target_ui(ui, editor, source);
            let about = "The twist axis, in the space of this bone.";
            axis_ui(ui, subject, axis, ("Axis", about));
            let about =
                "The fraction of the target's twist that is copied. Negative values reverse it.";
            let field = Field::plain("Factor", about, -1.0..=1.0);
            number_ui(ui, editor, subject, &field, share);
            let about = "The twist is measured up to 180° to either side of this angle. Beyond that it wraps around.";
            let field = Field::degrees("Centre angle", about, -180.0..=180.0);
            number_ui(ui, editor, subject, &field, centre);
        }
        Rule::LimitAngles { ranges, order } => {
            for (range, name) in ranges.iter_mut().zip(["X", "Y", "Z"]) {
                range_ui(ui, editor, subject, name, range);
            }
            order_ui(ui, subject, order);
        }
        Rule::LimitCone(cone) => {
            let about = "The axis of the cone and of the twist, in the space of this bone at rest.";
            let before = cone.axis;
            axis_ui(ui, subject, &mut cone.axis, ("Axis", about));
            if cone.axis != before {
                cone.side = side_of(cone.axis);
            }
            let axes = [cone.side, cone.axis.cross(cone.side)];
            let letters = axes.map(|axis| AXES.iter().find(|(_, known)| *known == axis));
            let names = match letters {
                [Some((a, _)), Some((b, _))] => [a, b].map(|name| format!("Swing {}", &name[1..])),
                _ => ["Swing 1", "Swing 2"].map(str::to_owned),
            };
            for (angle, name) in cone.half_angles.iter_mut().zip(names) {
                let about = "The largest swing about this axis, to either side of the rest pose.";
                let field = Field::degrees(&name, about, 1.0..=180.0);
                number_ui(ui, editor, subject, &field, angle);
            }
            range_ui(ui, editor, subject, "Twist", &mut cone.twist);
        }
        Rule::ReachTwoBones {
            target,
            pole,
            softness,
        } => {
            target_ui(ui, editor, target);
            pole_ui(ui, editor, subject, pole);
            let about = "The fraction of the limb's length over which it slows down before it is straight, so that the \
                joint does not pop.";
            let field = Field::plain("Softness", about, 0.0..=MOST_SOFTNESS);
            number_ui(ui, editor, subject, &field, softness);
        }
        Rule::ReachChain { target, n_bones } => {
            target_ui(ui, editor, target);
            let mut bones = *n_bones as f64;
            let n_above = (editor.document().skeleton().ancestors(subject.joint)).count();
            let most = n_above.clamp(FEWEST_BONES, MOST_BONES) as f64;
            let about = "The number of parent bones that rotate.";
            let field = Field::plain("Chain length", about, FEWEST_BONES as f64..=most);
            number_ui(ui, editor, subject, &field, &mut bones);
            *n_bones = bones.round() as usize;
        }
    }
    (rule != *before).then(|| Change {
        rule,
        label: subject.change_of(field),
    })
}

/// Draws the drop-down of the bone that is followed; whether another was chosen.
fn joint_ui(ui: &mut Ui, editor: &Editor, subject: &Subject<'_>, followed: &mut JointId) -> bool {
    let skeleton = editor.document().skeleton().clone();
    let before = *followed;
    row_ui(ui, ("Target", "The target bone."), |ui, about| {
        let response = bone_combo("Target")
            .width(ui.available_width())
            .truncate()
            .selected_text(skeleton.label(before))
            .show_ui(ui, |ui| {
                let others = other_joints(&skeleton, subject.joint);
                bone_list_ui(ui, followed, others.map(|j| (j, skeleton.label(j))));
            })
            .response
            .on_hover_text(about);
        let name = subject.name_of("Target");
        response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    });
    *followed != before
}

fn pole_ui(ui: &mut Ui, editor: &Editor, subject: &Subject<'_>, pole: &mut Option<JointId>) {
    let skeleton = editor.document().skeleton().clone();
    let about = "The bone towards which the elbow or knee points.";
    row_ui(ui, ("Pole target", about), |ui, about| {
        let shown = pole.map_or_else(|| "None".to_owned(), |pole| skeleton.label(pole));
        let response = bone_combo("Pole")
            .width(ui.available_width())
            .truncate()
            .selected_text(shown)
            .show_ui(ui, |ui| {
                let others = other_joints(&skeleton, subject.joint);
                let others = others.map(|j| (Some(j), skeleton.label(j)));
                let none = std::iter::once((None, "None".to_owned()));
                bone_list_ui(ui, pole, none.chain(others));
            })
            .response
            .on_hover_text(about);
        let name = subject.name_of("Pole target");
        response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    });
}

fn offset_ui(ui: &mut Ui, subject: &Subject<'_>, keeps_offset: &mut bool) {
    let about = "Keep the offset from the target that the bone has in the rest pose.";
    check_ui(ui, subject, keeps_offset, ("Keep offset", about));
}

/// Draws the two ends of a range of angles in one row; moving one past the other takes it along.
fn range_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    subject: &Subject<'_>,
    name: &str,
    range: &mut [f64; 2],
) {
    let before = *range;
    let about = "The allowed range of the angle from the rest pose.";
    row_ui(ui, (name, about), |ui, _| {
        for (end, word) in range.iter_mut().zip(["Min", "Max"]) {
            let name = format!("{word} {name}");
            let about = match word {
                "Min" => "The smallest angle from the rest pose.",
                _ => "The largest angle from the rest pose.",
            };
            let field = Field::degrees(&name, about, -360.0..=360.0);
            value_ui(ui, editor, subject, &field, end);
        }
    });
    if range[0] > range[1] {
        let moved = usize::from(range[0] == before[0]);
        range[1 - moved] = range[moved];
    }
}

fn number_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    subject: &Subject<'_>,
    field: &Field<'_>,
    value: &mut f64,
) {
    row_ui(ui, (field.name, field.about), |ui, _| {
        value_ui(ui, editor, subject, field, value);
    });
}

fn value_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    subject: &Subject<'_>,
    field: &Field<'_>,
    value: &mut f64,
) {
    let shown = *value * field.factor;
    let mut number = shown;
    let drag = DragValue::new(&mut number)
        .range(field.range.clone())
        .clamp_existing_to_range(false)
        .speed((field.range.end() - field.range.start()) * 0.005)
        .max_decimals(3)
        .suffix(field.suffix);
    let response = ui.add(drag).on_hover_text(field.about);
    let name = subject.name_of(field.name);
    response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, &name));
    follow_drag(ui, editor, &response, &subject.change_of("settings"));
    // What is drawn or read again is rounded; that is no change.
    let is_rounding = !response.dragged() && (number - shown).abs() <= 5e-4;
    if response.changed() && !is_rounding {
        *value = number / field.factor;
    }
}
