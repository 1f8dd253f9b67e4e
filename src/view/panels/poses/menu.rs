//! The context menu of a pose.

use crate::document::PoseId;
use crate::editor::Editor;
use crate::view::commands::Command;
use egui::{Button, Role, Ui, WidgetInfo};

/// The commands on a pose, in parts.
const PARTS: &[&[Command]] = &[
    &[
        Command::ApplyPose,
        Command::ApplyPoseFlipped,
        Command::SelectPoseBones,
    ],
    &[
        Command::UpdatePose,
        Command::RenamePose,
        Command::CopyPoseText,
    ],
    &[Command::RemovePose],
];

/// Draws the menu; a chosen command acts on this pose.
pub(super) fn menu_ui(ui: &mut Ui, editor: &mut Editor, pose: PoseId, commands: &mut Vec<Command>) {
    editor.set_active_pose(Some(pose));
    for (k, part) in PARTS.iter().enumerate() {
        if k > 0 {
            ui.separator();
        }
        for &command in *part {
            item_ui(ui, editor, command, commands);
        }
    }
}

/// Draws an entry of a menu.
pub(super) fn item_ui(ui: &mut Ui, editor: &Editor, command: Command, commands: &mut Vec<Command>) {
    let enabled = command.is_enabled(editor);
    let response = ui.add_enabled(enabled, Button::new(command.label()));
    response.widget_info(|| WidgetInfo::labeled(Role::MenuItem, enabled, command.label()));
    let response = response.on_hover_text(command.tooltip(ui.ctx()));
    let why = command.why_disabled(editor).unwrap_or(command.about());
    if response.on_disabled_hover_text(why).clicked() {
        commands.push(command);
        ui.close();
    }
}
