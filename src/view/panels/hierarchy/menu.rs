//! The context menu of a row.

use super::Action;
use super::tree::Item;
use crate::editor::{Editor, RigKind};
use crate::view::commands::Command;
use crate::view::commands::bone_menus::{DIVIDE, HELPERS, RELATE};
use egui::{Button, Role, Ui, WidgetInfo};

/// Draws the context menu of a row and collects the chosen actions.
pub(super) fn menu_ui(
    ui: &mut Ui,
    editor: &Editor,
    item: Item,
    label: &str,
    actions: &mut Vec<Action>,
) {
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
            if entry(ui, "Rename…", "F2", "Rename the bone.") {
                actions.push(Action::Rename(joint));
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
                "Lock or unlock the weights of this bone. Locked weights never change.",
            ) {
                actions.push(Action::Lock(joint, !is_locked));
            }
            if entry(
                ui,
                "Lock others",
                "Alt+click",
                "Lock the weights of all other bones.",
            ) {
                actions.push(Action::LockOthers(joint));
            }
            ui.separator();
            let is_hidden = session.hidden_joints.contains(&joint);
            let text = if is_hidden { "Show" } else { "Hide" };
            if entry(
                ui,
                text,
                "H",
                "Show or hide the bone. Hidden bones still deform the model.",
            ) {
                actions.push(Action::HideJoint(joint, !is_hidden));
            }
            if entry(
                ui,
                "Isolate",
                "",
                "Show only this bone and its descendants.",
            ) {
                actions.push(Action::Isolate(joint));
            }
            ui.separator();
            if entry(
                ui,
                "Select children",
                "",
                "Select this bone and all its descendants.",
            ) {
                actions.push(Action::SelectChildren(joint));
            }
            let is_selected = session.selected_joints.contains(&joint);
            ui.menu_button("Edit bones", |ui| {
                for command in DIVIDE.into_iter().chain(RELATE).chain(HELPERS) {
                    // A bone that is not selected is then selected alone.
                    let is_set_parent = command == Command::EditRig(RigKind::SetParent);
                    let is_free = if is_selected {
                        command.is_enabled(editor)
                    } else {
                        !is_set_parent
                    };
                    let keys = command.keys(ui.ctx());
                    let button = Button::new(command.label()).shortcut_text(keys);
                    let response = ui.add_enabled(is_free, button);
                    let response = response.on_hover_text(command.about());
                    let why = match command.why_disabled(editor) {
                        _ if is_free => None,
                        _ if !is_selected => {
                            Some("Select the children first, then Shift+click the new parent.")
                        }
                        why => why,
                    };
                    let response = response.on_disabled_hover_text(why.unwrap_or_default());
                    response.widget_info(|| {
                        WidgetInfo::labeled(Role::MenuItem, is_free, command.label())
                    });
                    if response.clicked() {
                        actions.push(Action::Run(joint, command));
                        ui.close();
                    }
                }
            });
        }
        Item::Object(id) => {
            let is_hidden = session.hidden_instances.contains(&id);
            let text = if is_hidden { "Show" } else { "Hide" };
            if entry(ui, text, "", "Show or hide the object.") {
                actions.push(Action::HideObject(id, !is_hidden));
            }
        }
    }
    if entry(
        ui,
        "Frame",
        "",
        "Fit it into the view. Double-click does the same.",
    ) {
        actions.push(Action::Frame(item));
    }
    if entry(ui, "Copy name", "", "Copy the name to the clipboard.") {
        ui.ctx().copy_text(label.to_owned());
    }
}
