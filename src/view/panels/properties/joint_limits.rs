//! The limits of a bone: how far it rotates about each axis.

use crate::editor::Editor;
use crate::skeleton::joint_limits::JointLimits;
use crate::skeleton::{JointId, JointRule};
use egui::{CollapsingHeader, DragValue, Response, Ui, Vec2, WidgetInfo};

/// The range that an axis gets when it is limited, degrees.
pub(in crate::view::panels) const USUAL: f64 = 90.0;
/// The width of the check boxes, points.
const LABEL: f32 = 78.0;

/// Draws the rotation limits of a bone.
pub(super) fn joint_limits_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let limits = editor.document().skeleton().joint(joint).rule.limits;
    CollapsingHeader::new("Rotation limits")
        .id_salt("limits")
        .default_open(limits.is_some())
        .show_unindented(ui, |ui| axes_ui(ui, editor, joint))
        .header_response
        .on_hover_text(
            "How far you can rotate the bone. Stored in the project; glTF cannot store it.",
        );
}

/// Draws a check box and two angles for each axis.
fn axes_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let rule = editor.document().skeleton().joint(joint).rule;
    let known = rule.limits;
    let mut ranges = known.map_or([JointLimits::FREE; 3], |limits| limits.0);
    let mut is_over = false;
    let about = "Limit the rotation about this axis, from the rest pose. Rotating the bone and IK respect the limit; clips do not change.";
    for (i, letter) in ["X", "Y", "Z"].into_iter().enumerate() {
        let name = format!("Limit {letter}");
        let mut is_limited = ranges[i] != JointLimits::FREE;
        ui.horizontal(|ui| {
            let size = Vec2::new(LABEL, ui.spacing().interact_size.y);
            let checkbox = ui.allocate_ui(size, |ui| {
                ui.set_min_width(LABEL);
                ui.checkbox(&mut is_limited, &name)
            });
            if checkbox.inner.on_hover_text(about).changed() {
                let usual = USUAL.to_radians();
                ranges[i] = if is_limited {
                    [-usual, usual]
                } else {
                    JointLimits::FREE
                };
            }
            if is_limited {
                is_over |= range_ui(ui, editor, letter, &mut ranges[i]);
            }
        });
    }
    let is_free = ranges == [JointLimits::FREE; 3];
    let limits = (!is_free).then_some(JointLimits(ranges));
    if limits != known {
        editor.set_joint_rule(joint, JointRule { limits, ..rule }, "Set rotation limits");
    }
    if is_over {
        editor.end_step();
    }
}

/// Draws the smallest and the largest angle of an axis, radians; whether a drag ended.
fn range_ui(ui: &mut Ui, editor: &mut Editor, letter: &str, range: &mut [f64; 2]) -> bool {
    let mut is_over = false;
    for response in angles_ui(ui, range, |word| format!("{word} {letter}")) {
        if response.drag_started() {
            editor.begin_step("Set rotation limits");
        }
        is_over |= response.drag_stopped();
    }
    is_over
}

/// Draws fields of the smallest and the largest angle of a range, radians. `name`: of a field of Min or Max.
pub(in crate::view::panels) fn angles_ui(
    ui: &mut Ui,
    range: &mut [f64; 2],
    name: impl Fn(&str) -> String,
) -> [Response; 2] {
    let [low, high] = range.map(f64::to_degrees);
    [("Min", -180.0..=high), ("Max", low..=180.0)].map(|(word, allowed)| {
        let end = usize::from(word == "Max");
        let mut degrees = [low, high][end];
        let field = DragValue::new(&mut degrees)
            .speed(0.5)
            .max_decimals(1)
            .suffix("°")
            .range(allowed);
        let response = ui.add(field).on_hover_text(word);
        let label = name(word);
        response.widget_info(|| WidgetInfo {
            label: Some(label.clone()),
            ..WidgetInfo::drag_value(true, degrees)
        });
        // Not for what the field rounds.
        if response.changed() && (degrees - [low, high][end]).abs() > 0.05 {
            range[end] = degrees.to_radians();
        }
        response
    })
}
