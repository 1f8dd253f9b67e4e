//! The properties of the active bone.

use super::{fact_ui, length, rows_ui};
use crate::editor::Editor;
use crate::finding::{counted, thousands};
use crate::skeleton::JointId;
use crate::view::joint_colour::joint_colour;
use crate::view::theme;
use egui::{Id, Key, RichText, Role, TextEdit, Ui, WidgetInfo};

/// Draws name, parent, children, influence and pose of the active bone.
pub(super) fn bone_ui(ui: &mut Ui, editor: &mut Editor) {
    let document = editor.document();
    let Some(joint) = document.session().active_joint else {
        let dim = theme::palette(ui).text_dim;
        ui.label(RichText::new("Click a bone in the viewport or in the hierarchy.").color(dim));
        return;
    };
    let skeleton = document.skeleton().clone();
    if !skeleton.is_live(joint) {
        return;
    }
    let n_selected = document.session().selected_joints.len();
    let n_points: usize = document
        .meshes()
        .values()
        .map(|m| m.geometry.n_points())
        .sum();
    let n_moved = editor.report().n_moved.get(joint.get()).copied();
    let parent = skeleton.joint(joint).parent;
    let n_children = skeleton.children(joint).len();
    let mut go_to = None;
    rows_ui(ui, "bone", |ui| {
        name_ui(ui, editor, joint);
        let dim = theme::palette(ui).text_dim;
        if let Some(parent) = parent {
            ui.label(RichText::new("Parent").color(dim));
            let label = skeleton.label(parent);
            let response = ui
                .add(egui::Button::new(&label).truncate())
                .on_hover_text(format!("Select {label}."));
            response
                .widget_info(|| WidgetInfo::labeled(Role::Link, true, format!("Parent {label}")));
            if response.clicked() {
                go_to = Some(parent);
            }
            ui.end_row();
        }
        let children = match n_children {
            0 => "none".to_owned(),
            n => n.to_string(),
        };
        fact_ui(ui, "Children", children, "");
        if let Some(metres) = editor.bone_length(joint) {
            let about = "World distance to the first child in the rest pose.";
            fact_ui(ui, "Length", length(metres), about);
        }
        let moves = format!(
            "{} of {}",
            thousands(n_moved.unwrap_or(0) as usize),
            counted(n_points, "vertex")
        );
        fact_ui(
            ui,
            "Influences",
            moves,
            "Vertices of the whole model with a weight for this bone.",
        );
        if n_selected > 1 {
            fact_ui(ui, "Selected", counted(n_selected, "bone"), "");
        }
    });
    ui.horizontal(|ui| {
        let mut is_locked = editor.document().locked().contains(&joint);
        let response = ui
            .checkbox(&mut is_locked, "Lock weights")
            .on_hover_text("Lock the weights of this bone. Locked weights never change.");
        if response.changed() {
            editor.lock_joints(&[joint].into(), is_locked);
        }
        let mut colour = joint_colour(editor.document().session(), joint);
        let response = ui.color_edit_button_srgba(&mut colour);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Colour of the bone"));
        if response
            .on_hover_text("Colour of the bone in the hierarchy.")
            .changed()
        {
            editor.set_joint_colour(joint, Some([colour.r(), colour.g(), colour.b()]));
        }
    });
    super::rule::rule_ui(ui, editor, joint);
    super::joint_limits::joint_limits_ui(ui, editor, joint);
    if let Some(parent) = go_to {
        editor.select_joint(Some(parent));
    }
}

/// The name field: Enter or focus elsewhere applies it, Esc cancels.
fn name_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let dim = theme::palette(ui).text_dim;
    let label = ui.label(RichText::new("Name").color(dim));
    let typed = Id::unique("typed name of the bone");
    let name = editor.document().skeleton().joint(joint).name.clone();
    // Typed text belongs to the bone for which it was started.
    let before: Option<(JointId, String)> = ui.data(|data| data.get_temp(typed));
    let mut text = match before {
        Some((begun_on, ref text)) if begun_on == joint => text.clone(),
        _ => name.clone(),
    };
    let hint = editor.document().skeleton().label(joint);
    let field = TextEdit::singleline(&mut text)
        .hint_text(hint)
        .desired_width((ui.available_width() - 4.0).max(60.0));
    let response = ui
        .add(field)
        .labelled_by(label.id)
        .on_hover_text("Type a new name and press Enter.  (F2 in the hierarchy)");
    if response.has_focus() {
        ui.data_mut(|data| data.insert_temp(typed, (joint, text)));
    } else {
        ui.data_mut(|data| data.remove::<(JointId, String)>(typed));
        if response.lost_focus() && !ui.input(|i| i.key_pressed(Key::Escape)) {
            // A click that selected another bone also removed the focus. Rename the previous bone.
            match before {
                Some((begun_on, typed)) if begun_on != joint => {
                    editor.rename_joint(begun_on, &typed);
                }
                _ => editor.rename_joint(joint, &text),
            }
        }
    }
    ui.end_row();
}
