//! The row above the viewport.

use super::command_button_ui;
use crate::deform::SkinningMethod;
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::mode::Mode;
use crate::view::scene::Shading;
use crate::view::viewport::Viewport;
use egui::Ui;
use egui_material_icons::icons;

/// The row above the viewport: file and undo buttons, mode, shading, skinning method.
pub fn header_ui(ui: &mut Ui, editor: &Editor, view: &Viewport) -> Vec<Command> {
    let mut asked = Vec::new();
    ui.horizontal_wrapped(|ui| {
        command_button_ui(
            ui,
            Command::Open,
            icons::ICON_FOLDER_OPEN,
            editor,
            &mut asked,
        );
        command_button_ui(ui, Command::Save, icons::ICON_SAVE, editor, &mut asked);
        command_button_ui(
            ui,
            Command::Export,
            icons::ICON_FILE_EXPORT,
            editor,
            &mut asked,
        );
        ui.separator();
        command_button_ui(ui, Command::Undo, icons::ICON_UNDO, editor, &mut asked);
        command_button_ui(ui, Command::Redo, icons::ICON_REDO, editor, &mut asked);
        ui.separator();
        let mut choice = |ui: &mut Ui, on: bool, command: Command| {
            let enabled = command.is_enabled(editor);
            let response = ui.add_enabled(enabled, egui::Button::selectable(on, command.label()));
            if response.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                asked.push(command);
            }
        };
        for mode in Mode::ALL {
            choice(ui, view.mode == mode, Command::SetMode(mode));
        }
        ui.separator();
        for shading in Shading::ALL {
            choice(ui, view.options.shading == shading, Command::Show(shading));
        }
        ui.separator();
        for method in [SkinningMethod::Lbs, SkinningMethod::Dqs] {
            choice(ui, editor.method() == method, Command::UseMethod(method));
        }
    });
    asked
}
