//! The limits of a bone: how far it rotates about each axis.

use super::constraint_fields::row_ui;
use crate::editor::Editor;
use crate::skeleton::joint_limits::JointLimits;
use crate::skeleton::{JointId, JointRule};
use egui::{DragValue, Role, Ui, WidgetInfo};

/// The range that an axis gets when it is limited, degrees.
const USUAL: f64 = 90.0;

/// Draws a check box and two angles for each axis.
pub(super) fn joint_limits_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let rule = editor.document().skeleton().joint(joint).rule;
    let known = rule.limits;
    let mut ranges = known.map_or([JointLimits::FREE; 3], |limits| limits.0);
    let mut is_over = false;
    let about = "How far the bone rotates from its rest pose about this axis. Gizmo and IK stay inside; clips do not change.";
    for (i, letter) in ["X", "Y", "Z"].into_iter().enumerate() {
        let name = format!("Limit {letter}");
        let mut is_limited = ranges[i] != JointLimits::FREE;
        row_ui(ui, ("", ""), |ui, _| {
            if ui
                .checkbox(&mut is_limited, &name)
                .on_hover_text(about)
                .changed()
            {
                let usual = USUAL.to_radians();
                ranges[i] = if is_limited {
                    [-usual, usual]
                } else {
                    JointLimits::FREE
                };
            }
        });
        if !is_limited {
            continue;
        }
        row_ui(ui, ("", ""), |ui, _| {
            let [low, high] = ranges[i].map(f64::to_degrees);
            for (end, word) in ["Min", "Max"].into_iter().enumerate() {
                let mut degrees = [low, high][end];
                let field = DragValue::new(&mut degrees)
                    .speed(0.5)
                    .max_decimals(1)
                    .suffix("°")
                    .range(if end == 0 { -180.0..=high } else { low..=180.0 });
                let response = ui.add(field);
                let label = format!("{word} {letter}");
                response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, &label));
                if response.drag_started() {
                    editor.begin_step("Set bone limits");
                }
                if response.drag_stopped() {
                    is_over = true;
                }
                if response.changed() && (degrees - [low, high][end]).abs() > 0.05 {
                    ranges[i][end] = degrees.to_radians();
                }
            }
        });
    }
    let is_free = ranges == [JointLimits::FREE; 3];
    let limits = (!is_free).then_some(JointLimits(ranges));
    if limits != known {
        editor.set_joint_rule(joint, JointRule { limits, ..rule }, "Set bone limits");
    }
    if is_over {
        editor.end_step();
    }
}
