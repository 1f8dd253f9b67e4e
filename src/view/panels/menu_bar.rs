//! The menus.

use crate::deform::SkinningMethod;
use crate::editor::Editor;
use crate::view::commands::{Command, Mode};
use crate::view::scene::Shading;
use crate::view::theme;
use crate::view::viewport::Viewport;
use egui::{Align, Layout, RichText, Role, Ui, WidgetInfo};
use egui_material_icons::icons;

/// The menus; what was asked for.
pub fn menu_bar_ui(ui: &mut Ui, editor: &Editor, view: &Viewport) -> Vec<Command> {
    let mut asked = Vec::new();
    let mut item = |ui: &mut Ui, command: Command, checked: Option<bool>| {
        // Every item keeps room for the mark, so that labels stand in one column.
        let colour = match checked {
            Some(true) => theme::ACCENT,
            Some(false) | None => egui::Color32::TRANSPARENT,
        };
        let mark = icons::ICON_CHECK.rich_text().size(14.0).color(colour);
        let label = command.full_label(editor);
        let keys = command.keys(ui.ctx());
        let button = egui::Button::new((mark, label.as_str())).shortcut_text(keys);
        let enabled = command.is_enabled(editor);
        let response = ui
            .add_enabled(enabled, button)
            .on_hover_text(command.about());
        response.widget_info(|| match checked {
            Some(on) => WidgetInfo::selected(Role::MenuItemCheckBox, enabled, on, &label),
            None => WidgetInfo::labeled(Role::MenuItem, enabled, &label),
        });
        if response.clicked() {
            asked.push(command);
            ui.close();
        }
    };
    egui::MenuBar::new().ui(ui, |ui| {
        ui.menu_button("File", |ui| {
            item(ui, Command::Open, None);
            ui.separator();
            for sample in ["arm", "hand", "mannequin", "cylinder"] {
                item(ui, Command::Sample(sample), None);
            }
            ui.separator();
            item(ui, Command::Save, None);
            item(ui, Command::SaveAs, None);
            item(ui, Command::Export, None);
            ui.separator();
            item(ui, Command::Quit, None);
        });
        ui.menu_button("Edit", |ui| {
            item(ui, Command::Undo, None);
            item(ui, Command::Redo, None);
            ui.separator();
            for mode in [Mode::Select, Mode::Paint] {
                item(ui, Command::SetMode(mode), Some(view.mode == mode));
            }
            item(ui, Command::SwapMode, None);
            ui.separator();
            item(ui, Command::SmallerBrush, None);
            item(ui, Command::LargerBrush, None);
        });
        ui.menu_button("View", |ui| {
            for shading in [
                Shading::Textured,
                Shading::Shaded,
                Shading::Weights,
                Shading::Wire,
            ] {
                item(
                    ui,
                    Command::Show(shading),
                    Some(view.options.shading == shading),
                );
            }
            ui.separator();
            item(ui, Command::ToggleBones, Some(view.options.show_bones));
            item(ui, Command::ToggleGrid, Some(view.options.show_grid));
            item(ui, Command::ToggleWire, Some(view.options.wire_overlay));
            ui.separator();
            item(ui, Command::FrameAll, None);
            item(ui, Command::FrameSelected, None);
            for view in [Command::ViewFront, Command::ViewSide, Command::ViewTop] {
                item(ui, view, None);
            }
            item(
                ui,
                Command::ToggleOrthographic,
                Some(editor.document().session().camera.orthographic),
            );
        });
        ui.menu_button("Animation", |ui| {
            item(ui, Command::PlayPause, None);
        });
        ui.menu_button("Skinning", |ui| {
            for method in [SkinningMethod::Lbs, SkinningMethod::Dqs] {
                item(
                    ui,
                    Command::UseMethod(method),
                    Some(editor.method() == method),
                );
            }
        });
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let name = editor.model_name();
            let mark = if editor.history().is_modified() {
                " (not saved)"
            } else {
                ""
            };
            let text = RichText::new(format!("{name}{mark}")).color(theme::TEXT_DIM);
            ui.add(egui::Label::new(text).truncate());
        });
    });
    asked
}
