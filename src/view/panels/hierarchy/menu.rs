//! The menu of a row.

use super::Act;
use super::tree::Item;
use crate::editor::Editor;
use egui::{Button, Role, Ui, WidgetInfo};

/// The menu of a row; what was chosen.
pub(super) fn menu_ui(ui: &mut Ui, editor: &Editor, item: Item, label: &str, acts: &mut Vec<Act>) {
    let entry = |ui: &mut Ui, text: &str, keys: &str, about: &str| {
        let response = ui
            .add(Button::new(text).shortcut_text(keys))
            .on_hover_text(about);
        response.widget_info(|| WidgetInfo::labeled(Role::MenuItem, true, text));
        let is_chosen = response.clicked();
        if is_chosen {
            ui.close();
        }
        is_chosen
    };
    let session = editor.document().session();
    match item {
        Item::Joint(joint) => {
            if entry(ui, "Rename…", "F2", "Give the bone another name.") {
                acts.push(Act::Rename(joint));
            }
            ui.separator();
            let is_locked = editor.document().locked().contains(&joint);
            let text = if is_locked {
                "Unlock weights"
            } else {
                "Lock weights"
            };
            if entry(
                ui,
                text,
                "",
                "Locked weights stay as they are, whatever is painted.",
            ) {
                acts.push(Act::Lock(joint, !is_locked));
            }
            if entry(
                ui,
                "Lock others",
                "Alt+click",
                "Keep the weights of all other bones.",
            ) {
                acts.push(Act::LockOthers(joint));
            }
            ui.separator();
            let is_hidden = session.hidden_joints.contains(&joint);
            let text = if is_hidden { "Show" } else { "Hide" };
            if entry(
                ui,
                text,
                "H",
                "Hidden bones are neither drawn nor picked; they move the model all the same.",
            ) {
                acts.push(Act::HideJoint(joint, !is_hidden));
            }
            if entry(ui, "Isolate", "", "Show only this bone and those below it.") {
                acts.push(Act::Isolate(joint));
            }
            ui.separator();
            if entry(
                ui,
                "Select children",
                "",
                "Select this bone and all below it.",
            ) {
                acts.push(Act::SelectChildren(joint));
            }
        }
        Item::Object(id) => {
            let is_hidden = session.hidden_instances.contains(&id);
            let text = if is_hidden { "Show" } else { "Hide" };
            if entry(ui, text, "", "Hidden objects are not drawn.") {
                acts.push(Act::HideObject(id, !is_hidden));
            }
        }
    }
    if entry(
        ui,
        "Frame",
        "",
        "Move the camera to it. A double click does the same.",
    ) {
        acts.push(Act::Frame(item));
    }
    if entry(ui, "Copy name", "", "Put the name on the clipboard.") {
        ui.ctx().copy_text(label.to_owned());
    }
}
