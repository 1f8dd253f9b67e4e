//! The active bone in the rest pose, what moves do to the clips, and the report of the last operation on bones.

use super::{fact_ui, length, rows_ui};
use crate::editor::Editor;
use crate::skeleton::JointId;
use crate::skeleton::orientation::{orientation, world_of};
use crate::view::panels::operation::{ABOUT_INTENTS, INTENTS, follow_ui};
use crate::view::theme;
use egui::{ComboBox, RichText, Role, Ui, WidgetInfo};
use glam::DVec3;

/// Draws place, axes and scale of the active bone at rest, and the intent of moves.
pub(super) fn rest_ui(ui: &mut Ui, editor: &mut Editor) {
    let active = editor.document().session().active_joint;
    let skeleton = editor.document().skeleton().clone();
    rows_ui(ui, "rest pose", |ui| {
        if let Some(joint) = active.filter(|&joint| skeleton.is_live(joint)) {
            bone_ui(ui, editor, joint);
        }
        intent_ui(ui, editor);
    });
    follow_ui(ui, editor);
}

fn bone_ui(ui: &mut Ui, editor: &Editor, joint: JointId) {
    let document = editor.document();
    let skeleton = document.skeleton();
    let world = world_of(skeleton, document.rest_pose(), joint);
    let head = world.translation;
    let place = format!("{}, {}, {}", length(head.x), length(head.y), length(head.z));
    fact_ui(
        ui,
        "Head",
        place,
        "The location of the head in world space: X, Y, Z.",
    );
    let axes = orientation(world.matrix3);
    let child = crate::document::rig::main_child(document, joint);
    let tail = child.map(|child| world_of(skeleton, document.rest_pose(), child).translation);
    if let Some(along) = tail.and_then(|tail| (tail - head).try_normalize()) {
        let about = "The axis of the bone that is nearest to the direction of its tail, and the angle between the two.";
        fact_ui(
            ui,
            "Along bone",
            axis_along(axes.transpose() * along),
            about,
        );
    }
    for (name, axis) in [
        ("X axis", axes.x_axis),
        ("Y axis", axes.y_axis),
        ("Z axis", axes.z_axis),
    ] {
        let about = "The direction of the bone's axis in the world.";
        fact_ui(ui, name, direction(axis), about);
    }
    let scale = skeleton.joint(joint).rest.scale();
    if (scale - DVec3::ONE).abs().max_element() > 1e-6 {
        let text = format!("{:.3}, {:.3}, {:.3}", scale.x, scale.y, scale.z);
        fact_ui(
            ui,
            "Scale",
            text,
            "The bone's own scale at rest. Freeze scale makes it 1.",
        );
    }
}

/// The nearest axis to a unit direction in the space of a bone: "+Y, 3.2° off".
fn axis_along(along: DVec3) -> String {
    let part = along.to_array();
    let largest = (0..3).max_by(|&a, &b| part[a].abs().total_cmp(&part[b].abs()));
    let largest = largest.unwrap_or(0);
    let sign = if part[largest] < 0.0 { '-' } else { '+' };
    let degrees = part[largest].abs().min(1.0).acos().to_degrees();
    let letter = ['X', 'Y', 'Z'][largest];
    if degrees < 0.05 {
        format!("{sign}{letter}")
    } else {
        format!("{sign}{letter}, {degrees:.1}° off")
    }
}

/// A direction with two digits, never "-0.00".
fn direction(axis: DVec3) -> String {
    let tidy = |v: f64| if v.abs() < 5e-3 { 0.0 } else { v };
    format!(
        "{:.2}, {:.2}, {:.2}",
        tidy(axis.x),
        tidy(axis.y),
        tidy(axis.z)
    )
}

fn intent_ui(ui: &mut Ui, editor: &mut Editor) {
    let dim = theme::palette(ui).text_dim;
    ui.label(RichText::new("Clips").color(dim))
        .on_hover_text(ABOUT_INTENTS);
    let mut intent = editor.move_intent();
    let chosen = INTENTS.iter().find(|(known, ..)| *known == intent);
    let combo = ComboBox::from_id_salt("intent of moves")
        .width(ui.available_width())
        .truncate()
        .selected_text(chosen.map_or("", |(_, label, _)| label))
        .show_ui(ui, |ui| {
            for (value, label, about) in INTENTS {
                ui.selectable_value(&mut intent, value, label)
                    .on_hover_text(about);
            }
        });
    combo
        .response
        .on_hover_text(ABOUT_INTENTS)
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Clips"));
    ui.end_row();
    if intent != editor.move_intent() {
        editor.set_move_intent(intent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axis_along_a_bone_is_named_with_its_angle() {
        assert_eq!(axis_along(DVec3::NEG_X), "-X");
        let along = DVec3::new(0.0, 10f64.to_radians().cos(), 10f64.to_radians().sin());
        assert_eq!(axis_along(along), "+Y, 10.0° off");
        assert_eq!(direction(DVec3::new(-1e-4, 1.0, -0.5)), "0.00, 1.00, -0.50");
    }
}
