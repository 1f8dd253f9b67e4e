//! What the artist overrides of a bone, for deformers that read more than a glTF file says.

use crate::editor::Editor;
use crate::skeleton::{JointId, JointRule};
use crate::tools::Axis;
use crate::view::theme;
use egui::{Button, ComboBox, DragValue, Id, RichText, Role, Ui, WidgetInfo};
use egui_material_icons::icons;

/// Width of a field.
const FIELD: f32 = 62.0;

/// Where the bone ends, and whose scale it follows.
pub(super) fn rule_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let is_ruled = editor.document().skeleton().joint(joint).rule != JointRule::default();
    let title = if is_ruled { "Rules (changed)" } else { "Rules" };
    egui::CollapsingHeader::new(title)
        .id_salt("rules")
        .default_open(is_ruled)
        .show_unindented(ui, |ui| {
            end_ui(ui, editor, joint);
            compensates_ui(ui, editor, joint);
            inflation_ui(ui, editor, joint);
        })
        .header_response
        .on_hover_text(
            "What the deformation of the skin takes from this bone. No glTF file can say it; projects keep it.",
        );
}

/// The end of the bone: three fields, and what makes it automatic again.
fn end_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let label = "Set end of bone";
    // A drag that ended where no field saw it.
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
        ui.label("Ends at").on_hover_text(
            "Where the bone ends, from its joint along its axes at rest. Automatic: at its children; of a last bone past its points.",
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
            // Leaving a field reads its rounded text again: that is no change.
            let is_rounding = response.lost_focus() && (value - shown).abs() <= 5e-4;
            let changed = response.changed() && !is_rounding;
            let name = format!("End {}", axis.letter());
            let response = response.on_hover_text(format!("{name} of the bone. Drag or type."));
            response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, &name));
            if response.drag_started() {
                ui.data_mut(|data| data.insert_temp(dragging, true));
                editor.begin_step(label);
            }
            if changed {
                // Something in between may have ended the step of this drag.
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
        let name = "Automatic end";
        response.widget_info(|| WidgetInfo::labeled(Role::Button, rule.tail.is_some(), name));
        let about = "Let the bone end at its children again, or past its points.";
        if response
            .on_hover_text(about)
            .on_disabled_hover_text("The end is automatic.")
            .clicked()
        {
            let rule = JointRule { tail: None, ..rule };
            editor.set_joint_rule(joint, rule, "Make end of bone automatic");
        }
    });
}

/// Whether the bone takes its parent's scale back.
fn compensates_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let joints = editor.document().skeleton().joints();
    let rule = joints[joint.get()].rule;
    let has_parent = joints[joint.get()].parent.is_some();
    let mut compensates = rule.compensates_scale;
    let can_change = has_parent || compensates;
    let field = egui::Checkbox::new(&mut compensates, "Compensates for its parent's scale");
    let response = ui
        .add_enabled(can_change, field)
        .on_hover_text(
            "The bone keeps its own size when its parent is scaled; only its place follows. Maya calls this Segment Scale Compensate. No glTF file can say so: viewers of an export scale it with its parent.",
        )
        .on_disabled_hover_text("It has no parent.");
    if response.changed() {
        let label = if compensates {
            "Compensate for parent's scale"
        } else {
            "Scale with parent"
        };
        let rule = JointRule {
            compensates_scale: compensates,
            ..rule
        };
        editor.set_joint_rule(joint, rule, label);
    }
}

/// The joint from whose inflation the bone's place follows.
fn inflation_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let skeleton = editor.document().skeleton().clone();
    let rule = skeleton.joint(joint).rule;
    let parent = skeleton.joint(joint).parent;
    let parent_label = match parent {
        Some(parent) => format!("Parent ({})", skeleton.label(parent)),
        None => "No joint".to_owned(),
    };
    let followed = rule.inflation_parent;
    let shown = followed.map_or_else(|| parent_label.clone(), |joint| skeleton.label(joint));
    let mut chosen = followed;
    let dim = theme::palette(ui).text_dim;
    let about = "When joints are scaled, the bone's place moves with this joint's inflation: its parent's, unless constraints of another program place the bone elsewhere.";
    let label = ui
        .label(RichText::new("Place follows inflation of").color(dim))
        .on_hover_text(about);
    ComboBox::from_id_salt("inflation parent")
        .width(ui.available_width())
        .truncate()
        .selected_text(shown)
        .show_ui(ui, |ui| {
            ui.selectable_value(&mut chosen, None, parent_label);
            // Only joints that are placed before it can be followed.
            let before = skeleton.order().iter().map(|&j| JointId(j));
            let before = before.take_while(|&other| other != joint);
            for other in before.filter(|&other| Some(other) != parent) {
                ui.selectable_value(&mut chosen, Some(other), skeleton.label(other));
            }
        })
        .response
        .labelled_by(label.id)
        .on_hover_text(about);
    if chosen != followed {
        let label = match chosen {
            Some(other) => format!("Follow inflation of {}", skeleton.label(other)),
            None => "Follow inflation of parent".to_owned(),
        };
        let rule = JointRule {
            inflation_parent: chosen,
            ..rule
        };
        editor.set_joint_rule(joint, rule, &label);
    }
}
