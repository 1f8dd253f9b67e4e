//! The active bone.

use super::{fact_ui, length, rows_ui};
use crate::editor::Editor;
use crate::finding::{counted, thousands};
use crate::skeleton::JointId;
use crate::view::joint_colour::joint_colour;
use crate::view::theme;
use egui::{Id, Key, RichText, Role, TextEdit, Ui, WidgetInfo};

/// The active bone: its name, its place in the tree, what it moves, its pose.
pub(super) fn bone_ui(ui: &mut Ui, editor: &mut Editor) {
    let document = editor.document();
    let Some(joint) = document.session().active_joint else {
        let dim = theme::palette(ui).text_dim;
        ui.label(RichText::new("Click a bone in the view or in the list.").color(dim));
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
                .on_hover_text(format!("Go to {label}."));
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
        if let Some(metres) = rest_length(editor, joint) {
            let about = "From the bone to its child in the rest pose.";
            fact_ui(ui, "Length", length(metres), about);
        }
        let moves = format!(
            "{} of {}",
            thousands(n_moved.unwrap_or(0) as usize),
            counted(n_points, "point")
        );
        fact_ui(
            ui,
            "Moves",
            moves,
            "Points of the whole model that follow this bone.",
        );
        if n_selected > 1 {
            fact_ui(ui, "Selected", counted(n_selected, "bone"), "");
        }
    });
    ui.horizontal(|ui| {
        let mut is_locked = editor.document().locked().contains(&joint);
        let response = ui
            .checkbox(&mut is_locked, "Lock weights")
            .on_hover_text("Locked weights stay as they are, whatever is painted.");
        if response.changed() {
            editor.lock_joints(&[joint].into(), is_locked);
        }
        let mut colour = joint_colour(editor.document().session(), joint);
        let response = ui.color_edit_button_srgba(&mut colour);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Colour of the bone"));
        if response
            .on_hover_text("The colour of the bone in the list.")
            .changed()
        {
            editor.set_joint_colour(joint, Some([colour.r(), colour.g(), colour.b()]));
        }
    });
    super::rule::rule_ui(ui, editor, joint);
    if let Some(parent) = go_to {
        editor.select_joint(Some(parent));
    }
}

/// The name, to change: Enter or another widget takes it, Esc gives it up.
fn name_ui(ui: &mut Ui, editor: &mut Editor, joint: JointId) {
    let dim = theme::palette(ui).text_dim;
    let label = ui.label(RichText::new("Name").color(dim));
    let typed = Id::unique("typed name of the bone");
    let name = editor.document().skeleton().joint(joint).name.clone();
    // What is typed belongs to the bone it was begun on.
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
        .on_hover_text("Type another name; Enter takes it.  (F2 in the list)");
    if response.has_focus() {
        ui.data_mut(|data| data.insert_temp(typed, (joint, text)));
    } else {
        ui.data_mut(|data| data.remove::<(JointId, String)>(typed));
        if response.lost_focus() && !ui.input(|i| i.key_pressed(Key::Escape)) {
            // A click that chose another bone has also taken the focus: the name belongs to the one it was typed for.
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

/// From the joint to its first child in the rest pose.
fn rest_length(editor: &Editor, joint: JointId) -> Option<f64> {
    let document = editor.document();
    let child = *document.skeleton().children(joint).first()?;
    let local = document.rest_pose().locals.get(child.get())?;
    Some(local.translation.length())
}
