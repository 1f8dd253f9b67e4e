//! The menu bar, built from the table of commands.

use crate::editor::Editor;
use crate::sentence::shortened_name;
use crate::view::commands::Command;
use crate::view::commands::table::{Group, Row, TABLE};
use crate::view::frame::Workspace;
use crate::view::middle;
use crate::view::theme;
use egui::{Align, Layout, RichText, Role, ScrollArea, Ui, WidgetInfo};
use egui_material_icons::icons;
use std::path::PathBuf;

/// Below this width menus and tabs are spaced more tightly, points.
const NARROW: f32 = 800.0;

/// The size of the text in such a bar, points.
const NARROW_TEXT: f32 = 11.5;
/// Most characters of a recent file in its menu.
const MOST_LETTERS: usize = 48;
/// The least width for the name of the model, points.
const MODEL_NAME: f32 = 32.0;

/// What was chosen in the menu bar.
#[derive(Debug, Default)]
pub struct MenuChoice {
    /// The requested commands.
    pub commands: Vec<Command>,
    /// The recent file to open.
    pub recent: Option<PathBuf>,
}

/// Draws the menus and the tabs of the workspaces. `is_on` is the state of toggle commands; `recents` are the recent files,
/// the latest first.
pub fn menu_bar_ui(
    ui: &mut Ui,
    editor: &Editor,
    workspace: Workspace,
    recents: &[PathBuf],
    is_on: &dyn Fn(Command) -> Option<bool>,
) -> MenuChoice {
    let mut choice = MenuChoice::default();
    let (commands, recent) = (&mut choice.commands, &mut choice.recent);
    egui::MenuBar::new().ui(ui, |ui| {
        let is_narrow = ui.available_width() < NARROW;
        if is_narrow {
            ui.spacing_mut().item_spacing.x = 0.0;
        }
        let label = |text: &str| {
            let text = RichText::new(text);
            if is_narrow {
                text.size(NARROW_TEXT)
            } else {
                text
            }
        };
        for group in Group::ALL {
            ui.menu_button(label(group.label()), |ui| {
                // In a low window long menus scroll.
                let room = ui.ctx().content_rect().height() - 64.0;
                ScrollArea::vertical()
                    .max_height(room.max(4.0 * theme::ROW))
                    .min_scrolled_height(room.max(4.0 * theme::ROW))
                    .auto_shrink([true, true])
                    .show(ui, |ui| {
                        let files = (group == Group::File).then_some((recents, &mut *recent));
                        group_ui(ui, group, editor, is_on, commands, files);
                    });
            });
        }
        ui.separator();
        for tab in Workspace::ALL {
            workspace_tab_ui(ui, tab, label(tab.label()), tab == workspace, commands);
        }
        // The title of the window has the name too.
        if ui.available_width() < MODEL_NAME {
            return;
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let name = editor.model_name();
            let mark = if editor.history().is_modified() {
                " (not saved)"
            } else {
                ""
            };
            let (text, colour) = (format!("{name}{mark}"), theme::palette(ui).text_dim);
            let room = ui.available_width();
            middle::label_ui(ui, &text, colour, room);
        });
    });
    choice
}

/// Draws the submenu of recent files.
fn recents_ui(ui: &mut Ui, recents: &[PathBuf], chosen: &mut Option<PathBuf>) {
    ui.add_enabled_ui(!recents.is_empty(), |ui| {
        ui.menu_button("Open Recent", |ui| {
            for path in recents {
                let name = path.file_name().unwrap_or(path.as_os_str());
                let name = shortened_name(&name.to_string_lossy(), MOST_LETTERS).into_owned();
                let response = ui.button(&name);
                response.widget_info(|| WidgetInfo::labeled(Role::MenuItem, true, &name));
                if response.on_hover_text(path.display().to_string()).clicked() {
                    *chosen = Some(path.clone());
                    ui.close();
                }
            }
        })
        .response
        .on_disabled_hover_text("No file was opened or saved yet.");
    });
}

/// One workspace tab; the open one is amber and underlined.
fn workspace_tab_ui(
    ui: &mut Ui,
    tab: Workspace,
    label: RichText,
    is_open: bool,
    commands: &mut Vec<Command>,
) {
    let palette = theme::palette(ui);
    let colour = if is_open {
        palette.accent
    } else {
        palette.text
    };
    let text = label.color(colour);
    let response = ui.add(egui::Button::new(text).frame_when_inactive(false));
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, is_open, tab.label()));
    if is_open {
        let line = egui::Stroke::new(2.0, palette.accent);
        let rect = response.rect;
        ui.painter()
            .hline(rect.shrink(6.0).x_range(), rect.bottom(), line);
    }
    let command = Command::UseWorkspace(tab);
    let response = response.on_hover_text(format!(
        "{}  ({} and {})",
        command.about(),
        Command::PreviousWorkspace.keys(ui.ctx()),
        Command::NextWorkspace.keys(ui.ctx())
    ));
    if response.clicked() {
        commands.push(command);
    }
}

/// Draws the items of one menu, grouped by submenu.
fn group_ui(
    ui: &mut Ui,
    group: Group,
    editor: &Editor,
    is_on: &dyn Fn(Command) -> Option<bool>,
    commands: &mut Vec<Command>,
    mut files: Option<(&[PathBuf], &mut Option<PathBuf>)>,
) {
    let rows: Vec<&Row> = TABLE.iter().filter(|row| row.group == group).collect();
    for part in rows.chunk_by(|a, b| a.submenu == b.submenu) {
        let submenu = part[0].submenu;
        if submenu.is_empty() {
            for row in part {
                if row.starts_part {
                    ui.separator();
                }
                item_ui(ui, row.command, editor, is_on, commands);
                if row.command == Command::Open
                    && let Some((recents, chosen)) = files.take()
                {
                    recents_ui(ui, recents, chosen);
                }
            }
        } else {
            if part[0].starts_part {
                ui.separator();
            }
            ui.menu_button(submenu, |ui| {
                for row in part {
                    item_ui(ui, row.command, editor, is_on, commands);
                }
            });
        }
    }
}

/// A menu item of a command; also used in context menus.
pub fn item_ui(
    ui: &mut Ui,
    command: Command,
    editor: &Editor,
    is_on: &dyn Fn(Command) -> Option<bool>,
    commands: &mut Vec<Command>,
) {
    let checked = is_on(command);
    // All items reserve space for the check mark, so that labels align.
    let colour = match checked {
        Some(true) => theme::palette(ui).accent,
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
    let why = if enabled {
        None
    } else {
        command.why_disabled(editor)
    };
    let response = match why {
        Some(why) => response.on_disabled_hover_text(format!("{} {why}", command.about())),
        None => response,
    };
    response.widget_info(|| match checked {
        Some(on) => WidgetInfo::selected(Role::MenuItemCheckBox, enabled, on, &label),
        None => WidgetInfo::labeled(Role::MenuItem, enabled, &label),
    });
    if response.clicked() {
        commands.push(command);
        ui.close();
    }
}
