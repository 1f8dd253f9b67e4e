//! The settings of one constraint, by its rule.

use super::step_drag::follow_drag;
use crate::editor::Editor;
use crate::editor::constraints::{FEWEST_BONES, other_joints};
use crate::skeleton::JointId;
use crate::skeleton::constraint::reach::MOST_BONES;
use crate::skeleton::constraint::{MOST_SOFTNESS, Rule, Space};
use crate::view::theme;
use egui::{Align, ComboBox, DragValue, Layout, RichText, Role, Ui, Vec2, WidgetInfo};
use glam::DVec3;

/// Width of the labels of rows, points.
const LABEL: f32 = 84.0;

/// A rule with changed settings, and the label of its undo step.
pub(super) struct Change {
    pub(super) rule: Rule,
    pub(super) label: String,
}

/// The constraint whose settings are drawn.
pub(super) struct Subject<'a> {
    pub(super) joint: JointId,
    /// Its name in the bone's list.
    pub(super) name: &'a str,
    /// Its words in undo steps: its name and its bone.
    pub(super) words: &'a str,
}

impl Subject<'_> {
    /// The accessible name of a field.
    pub(super) fn name_of(&self, field: &str) -> String {
        format!("{field} of {}", self.name)
    }

    /// The label of the undo step that changes a field.
    pub(super) fn change_of(&self, field: &str) -> String {
        format!("Change {} of {}", field.to_lowercase(), self.words)
    }
}

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
        } => {
            target_ui(ui, editor, source);
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
        } => {
            target_ui(ui, editor, source);
            offset_ui(ui, subject, keeps_offset);
        }
        Rule::CopyScale { source } => target_ui(ui, editor, source),
        Rule::Aim { target, axis, .. } => {
            target_ui(ui, editor, target);
            let about = "The axis of this bone that is pointed at the target.";
            axis_ui(ui, subject, axis, ("Track axis", about));
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
        Rule::LimitAngles(ranges) => {
            for (range, name) in ranges.iter_mut().zip(["X", "Y", "Z"]) {
                range_ui(ui, editor, subject, name, range);
            }
        }
        Rule::LimitCone(cone) => {
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
        let response = ComboBox::from_id_salt("Target")
            .width(ui.available_width())
            .truncate()
            .selected_text(skeleton.label(before))
            .show_ui(ui, |ui| {
                for other in other_joints(&skeleton, subject.joint) {
                    ui.selectable_value(followed, other, skeleton.label(other));
                }
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
        let response = ComboBox::from_id_salt("Pole")
            .width(ui.available_width())
            .truncate()
            .selected_text(shown)
            .show_ui(ui, |ui| {
                ui.selectable_value(pole, None, "None");
                for other in other_joints(&skeleton, subject.joint) {
                    ui.selectable_value(pole, Some(other), skeleton.label(other));
                }
            })
            .response
            .on_hover_text(about);
        let name = subject.name_of("Pole target");
        response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    });
}

fn axis_ui(ui: &mut Ui, subject: &Subject<'_>, axis: &mut DVec3, (field, about): (&str, &str)) {
    row_ui(ui, (field, about), |ui, about| {
        let known = AXES.iter().find(|(_, known)| known == axis);
        let shown = known.map_or("Along the bone", |(name, _)| name);
        let response = ComboBox::from_id_salt("Axis")
            .selected_text(shown)
            .show_ui(ui, |ui| {
                for (name, direction) in AXES {
                    ui.selectable_value(axis, direction, name);
                }
            })
            .response
            .on_hover_text(about);
        let name = subject.name_of(field);
        response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    });
}

fn offset_ui(ui: &mut Ui, subject: &Subject<'_>, keeps_offset: &mut bool) {
    let about = "Keep the offset from the target that the bone has in the rest pose.";
    check_ui(ui, subject, keeps_offset, ("Keep offset", about));
}

fn check_ui(ui: &mut Ui, subject: &Subject<'_>, is_on: &mut bool, (field, about): (&str, &str)) {
    row_ui(ui, ("", ""), |ui, _| {
        let response = ui.checkbox(is_on, field).on_hover_text(about);
        let name = subject.name_of(field);
        response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, *is_on, &name));
    });
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

/// Draws a label, and a field beside it, in line with those of the other rows.
pub(super) fn row_ui(
    ui: &mut Ui,
    (name, about): (&str, &str),
    field_ui: impl FnOnce(&mut Ui, &str),
) {
    ui.horizontal(|ui| {
        let size = Vec2::new(LABEL, ui.spacing().interact_size.y);
        let dim = theme::palette(ui).text_dim;
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(LABEL);
            let response = ui.label(RichText::new(name).color(dim));
            if !about.is_empty() {
                response.on_hover_text(about);
            }
        });
        field_ui(ui, about);
    });
}
