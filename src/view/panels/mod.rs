//! The panels around the viewport, one a file.
//!
//! A panel reads the editor, changes what belongs to it alone (a filter, a slider of the brush) and returns the
//! [`Command`]s that were asked for.

mod header;
mod hierarchy;
mod history;
mod list;
mod menu_bar;
mod pose;
mod problems;
mod properties;
mod status_bar;
mod timeline;

pub use header::header_ui;
pub use hierarchy::Hierarchy;
pub use history::history_ui;
pub use menu_bar::{item_ui, menu_bar_ui};
pub use pose::pose_properties_ui;
pub use problems::{problems_title, problems_ui};
pub use properties::{brush_ui, properties_ui};
pub use status_bar::status_bar_ui;
pub use timeline::Timeline;

use super::commands::Command;
use crate::editor::Editor;
use egui::{Role, Ui, WidgetInfo};
use egui_material_icons::MaterialIcon;

/// A button for a command: its label and icon, its tooltip with the keys.
fn command_button_ui(
    ui: &mut Ui,
    command: Command,
    icon: MaterialIcon,
    editor: &Editor,
    asked: &mut Vec<Command>,
) {
    let button = egui::Button::new(icon.rich_text().size(16.0)).min_size(egui::Vec2::splat(28.0));
    let response = ui.add_enabled(command.is_enabled(editor), button);
    let response = response.on_hover_text(format!(
        "{}\n{}",
        command.label(),
        command.tooltip(ui.ctx())
    ));
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Button, command.is_enabled(editor), command.label())
    });
    if response.clicked() {
        asked.push(command);
    }
}
