//! The context menu of a layer.

use super::Action;
use crate::document::LayerStack;
use crate::document::layers::change::mirror_label;
use crate::editor::Editor;
use crate::math::Axis;
use crate::view::commands::Command;
use egui::{Button, Role, Ui, WidgetInfo};

/// Draws the menu of the layer at `index`, counted from the bottom.
pub(super) fn menu_ui(
    ui: &mut Ui,
    editor: &Editor,
    stack: &LayerStack,
    index: usize,
    actions: &mut Vec<Action>,
) {
    let layer = &stack.layers()[index];
    let mut item = |ui: &mut Ui, enabled: bool, label: &str, about: &str, action: Action| {
        let response = ui
            .add_enabled(enabled, Button::new(label))
            .on_hover_text(about);
        response.widget_info(|| WidgetInfo::labeled(Role::MenuItem, enabled, label));
        if response.clicked() {
            actions.push(action);
            ui.close();
        }
    };
    item(
        ui,
        true,
        "Rename layer",
        "Rename the layer.",
        Action::Rename(layer.id),
    );
    let ask = |command| Action::Ask(layer.id, command);
    if index > 0 {
        for command in [
            Command::DuplicateLayer,
            Command::DeleteLayer,
            Command::MergeLayerDown,
            Command::EraseFromLayer,
        ] {
            item(ui, true, command.label(), command.about(), ask(command));
        }
        ui.separator();
        let is_sought = editor.mirroring_layer() == Some(layer.id);
        for axis in Axis::ALL {
            for from_positive in [true, false] {
                let way = mirror_label(axis, from_positive);
                let is_on = layer.mirror.as_ref().is_some_and(|mirror| {
                    (mirror.axis(), mirror.from_positive()) == (axis, from_positive)
                });
                item(
                    ui,
                    !is_on && !is_sought,
                    &format!("Mirror {way}"),
                    "Mirror the layer to the other side, with left and right bones swapped.",
                    Action::Mirror(layer.id, Some((axis, from_positive))),
                );
            }
        }
        item(
            ui,
            layer.mirror.is_some() || is_sought,
            "No mirror",
            "Show both sides of the layer as painted.",
            Action::Mirror(layer.id, None),
        );
        ui.separator();
    }
    let command = Command::FlattenLayers;
    item(ui, true, command.label(), command.about(), ask(command));
}
