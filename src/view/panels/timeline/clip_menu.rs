//! The settings of the clip on screen: interpolation and export.

use super::BUTTON;
use crate::editor::Editor;
use crate::skeleton::RigidInterpolation;
use crate::view::commands::Command;
use crate::view::panels::item_ui;
use egui::containers::menu::MenuButton;
use egui::{Button, ComboBox, Role, Ui, Vec2, WidgetInfo};
use egui_material_icons::icons;

/// Draws the menu of rarely used clip commands.
pub(super) fn clip_menu_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    let clip = editor.shown_clip().map(|(_, clip)| clip);
    ui.scope(|ui| {
        let padding = ui.spacing().button_padding;
        ui.spacing_mut().button_padding = Vec2::new(4.0, 2.0);
        let icon = icons::ICON_MORE_VERT.rich_text().size(16.0);
        let button = Button::new(icon).min_size(BUTTON);
        let (response, _) = MenuButton::from_button(button).ui(ui, |ui| {
            ui.spacing_mut().button_padding = padding;
            let exported = clip.is_some_and(|clip| !clip.preview);
            let is_on = |command| (command == Command::ToggleExported).then_some(exported);
            let commands_of_menu = [
                Command::AdjustMotion,
                Command::ToggleExported,
                Command::RangeOfMotion,
            ];
            for command in commands_of_menu {
                item_ui(ui, command, editor, &is_on, commands);
            }
        });
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Clip menu"));
        response.on_hover_text("The motion that the clip was made from, its export setting, and the range-of-motion test clip.");
    });
}

/// Draws the interpolation of the clip; disabled without a clip.
pub(super) fn rigid_interpolation_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    let chosen = editor
        .shown_clip()
        .map(|(_, clip)| clip.rigid_interpolation);
    let label = chosen.unwrap_or_default().label();
    ui.add_enabled_ui(chosen.is_some(), |ui| {
        let combo = ComboBox::from_id_salt("in-betweens")
            .width(112.0)
            .selected_text(label)
            .show_ui(ui, |ui| {
                for interpolation in RigidInterpolation::ALL {
                    let row = ui
                        .selectable_label(chosen == Some(interpolation), interpolation.label())
                        .on_hover_text(interpolation.about());
                    if row.clicked() && chosen != Some(interpolation) {
                        commands.push(Command::UseRigidInterpolation(interpolation));
                    }
                }
            });
        let enabled = chosen.is_some();
        combo
            .response
            .widget_info(|| WidgetInfo::labeled(Role::ComboBox, enabled, "Interpolation"));
        let about = chosen.unwrap_or_default().about();
        let text = format!(
            "Interpolation: {label}\n{about}\nAffects only bones with linear keyframes for both location and \
             rotation. Exports add keyframes so that every player matches."
        );
        combo
            .response
            .on_hover_text(&text)
            .on_disabled_hover_text("Interpolation between keyframes. Select a clip first.");
    });
}
