//! The rules of a bone: overrides for deformers that need more than a glTF file stores.

use crate::editor::Editor;
use crate::skeleton::{JointId, JointRule, Skeleton};
use crate::tools::Axis;
use crate::view::panels::bone_list::{bone_combo, bone_list_ui};
use crate::view::theme;
use egui::{Button, DragValue, Id, RichText, Role, Ui, WidgetInfo};
use egui_material_icons::icons;

/// Width of a number field, points.
const FIELD: f32 = 62.0;

/// Draws the tail and the scale inheritance of the bone.
pub(super) fn rule_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let rule = editor.document().skeleton().joint(joint).rule;
    let of_deformers = JointRule {
        limits: None,
        ..rule
    };
    let is_ruled = of_deformers != JointRule::default();
    let title = if is_ruled {
        "Deform rules (changed)"
    } else {
        "Deform rules"
    };
    egui::CollapsingHeader::new(title)
        .id_salt("rules")
        .default_open(is_ruled)
        .show_unindented(ui, |ui| {
            logical_ui(ui, editor, joint);
            end_ui(ui, editor, joint);
            compensates_ui(ui, editor, joint);
            inflation_ui(ui, editor, joint);
        })
        .header_response
        .on_hover_text(
            "How the deformers treat this bone. Stored in the project; glTF cannot store it.",
        );
}

/// Draws the tail of the bone: three fields and a reset button.
fn end_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let label = "Set bone tail";
    // End a drag whose release no field received.
    let dragging = Id::unique("an end of a bone is dragged");
    let is_dragging = ui.data(|data| data.get_temp(dragging).unwrap_or(false));
    if is_dragging && !ui.input(|i| i.pointer.any_down()) {
        ui.data_mut(|data| data.insert_temp(dragging, false));
        editor.end_step();
    }
    let rule = editor.document().skeleton().joint(joint).rule;
    let metres = editor.metres_per_unit(joint);
    let end = editor.bone_end(joint);
    let length = (end.length() * metres).max(1e-3);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.label("Tail").on_hover_text(
            "Position of the bone's tail relative to its joint in the rest pose. Automatic: at its children, or, at \
             the end of a chain, past the vertices.",
        );
        for axis in Axis::ALL {
            let shown = end[axis.index()] * metres;
            let mut value = shown;
            let field = DragValue::new(&mut value)
                .speed(length * 0.005)
                .max_decimals(3)
                .min_decimals(3)
                .suffix(" m");
            let response = ui.add_sized([FIELD, ui.spacing().interact_size.y], field);
            // Leaving the field reads its rounded text again. Ignore that.
            let is_rounding = response.lost_focus() && (value - shown).abs() <= 5e-4;
            let changed = response.changed() && !is_rounding;
            let name = format!("Tail {}", axis.letter());
            let response = response.on_hover_text(format!("{name} of the bone. Drag or type."));
            response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, &name));
            if response.drag_started() {
                ui.data_mut(|data| data.insert_temp(dragging, true));
                editor.begin_step(label);
            }
            if changed {
                // Another edit may have ended this drag's undo step.
                if response.dragged() && !editor.history().is_open() {
                    editor.begin_step(label);
                }
                let mut tail = end;
                tail[axis.index()] = value / metres;
                let rule = JointRule {
                    tail: Some(tail),
                    ..rule
                };
                editor.set_joint_rule(joint, rule, label);
            }
            if response.drag_stopped() {
                ui.data_mut(|data| data.insert_temp(dragging, false));
                editor.end_step();
            }
        }
        let icon = icons::ICON_RESTART_ALT.rich_text().size(14.0);
        let response = ui.add_enabled(rule.tail.is_some(), Button::new(icon).frame(false));
        let name = "Automatic tail";
        response.widget_info(|| WidgetInfo::labeled(Role::Button, rule.tail.is_some(), name));
        let about = "Place the tail at the children again, or, at the end of a chain, past the vertices.";
        if response
            .on_hover_text(about)
            .on_disabled_hover_text("The tail is automatic.")
            .clicked()
        {
            let rule = JointRule { tail: None, ..rule };
            editor.set_joint_rule(joint, rule, "Reset bone tail");
        }
    });
}

/// Draws whether the bone compensates for the scale of its parent.
fn compensates_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let joints = editor.document().skeleton().joints();
    let rule = joints[joint.get()].rule;
    let has_parent = joints[joint.get()].parent.is_some();
    let mut compensates = rule.compensates_scale;
    let can_change = has_parent || compensates;
    let field = egui::Checkbox::new(&mut compensates, "Segment scale compensate");
    let response = ui
        .add_enabled(can_change, field)
        .on_hover_text(
            "Keep the bone's own size when its parent is scaled; only its position follows. Maya calls this Segment \
             Scale Compensate. glTF cannot store it: viewers of an export scale the bone with its parent.",
        )
        .on_disabled_hover_text("The bone has no parent.");
    if response.changed() {
        let label = if compensates {
            "Turn segment scale compensate on"
        } else {
            "Turn segment scale compensate off"
        };
        let rule = JointRule {
            compensates_scale: compensates,
            ..rule
        };
        editor.set_joint_rule(joint, rule, label);
    }
}

/// Draws the bone that this one follows along its limb.
fn logical_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let skeleton = editor.document().skeleton().clone();
    let mut rule = skeleton.joint(joint).rule;
    let about = "The parent of this bone along its limb, if all bones are children of one node. Bone shapes, bulge \
                 compensation, IK and mirroring use it. The pose does not change.";
    // What follows the bone cannot be above it.
    let is_free = |&other: &JointId| {
        let mut above = skeleton.logical_ancestors(other);
        other != joint && above.all(|above| above != joint)
    };
    let others = skeleton.live_joints().filter(is_free);
    let name = ("Logical parent", about);
    if parent_ui(
        ui,
        name,
        (&skeleton, joint),
        &mut rule.logical_parent,
        others,
    ) {
        let label = label_of(&skeleton, "logical parent", rule.logical_parent);
        editor.set_joint_rule(joint, rule, &label);
    }
}

/// Draws the joint whose inflation moves the bone.
fn inflation_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let skeleton = editor.document().skeleton().clone();
    let mut rule = skeleton.joint(joint).rule;
    let about = "The joint whose scale inflation moves this bone. Change it if constraints of another program place \
                 the bone elsewhere.";
    // Only joints earlier in the order can be followed.
    let before = skeleton.order().iter().map(|&j| JointId(j));
    let before = before.take_while(|&other| other != joint);
    let name = ("Inflation parent", about);
    if parent_ui(
        ui,
        name,
        (&skeleton, joint),
        &mut rule.inflation_parent,
        before,
    ) {
        let label = label_of(&skeleton, "inflation parent", rule.inflation_parent);
        editor.set_joint_rule(joint, rule, &label);
    }
}

/// Draws a choice of another joint in place of the parent; `None`: the parent. Returns whether it changed.
fn parent_ui(
    ui: &mut Ui,
    (name, about): (&str, &str),
    (skeleton, joint): (&Skeleton, JointId),
    chosen: &mut Option<JointId>,
    others: impl Iterator<Item = JointId>,
) -> bool {
    let parent = skeleton.joint(joint).parent;
    let parent_label = match parent {
        Some(parent) => format!("Parent ({})", skeleton.label(parent)),
        None => "No joint".to_owned(),
    };
    let known = *chosen;
    let shown = known.map_or_else(|| parent_label.clone(), |joint| skeleton.label(joint));
    let dim = theme::palette(ui).text_dim;
    let label = ui
        .label(RichText::new(name).color(dim))
        .on_hover_text(about);
    bone_combo(name)
        .width(ui.available_width())
        .truncate()
        .selected_text(shown)
        .show_ui(ui, |ui| {
            let others = others.filter(|&other| Some(other) != parent);
            let others = others.map(|other| (Some(other), skeleton.label(other)));
            bone_list_ui(
                ui,
                chosen,
                std::iter::once((None, parent_label)).chain(others),
            );
        })
        .response
        .labelled_by(label.id)
        .on_hover_text(about);
    *chosen != known
}

/// The undo label of another parent of a kind.
fn label_of(skeleton: &Skeleton, kind: &str, chosen: Option<JointId>) -> String {
    match chosen {
        Some(other) => format!("Set {kind} to {}", skeleton.label(other)),
        None => format!("Reset {kind}"),
    }
}
