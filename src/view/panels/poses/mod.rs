//! The Poses panel: the pose library. A click applies a pose, a drag along its row by an amount.
//!
//! Data flow: the poses of the document -> a row for each -> commands on the active pose, or a pose that the editor applies
//! while the row or the slider is dragged.

mod amount;
mod menu;
mod row;

use super::correctives::buttons_ui;
use super::rename::{NameField, RenameEnd};
use super::textures::Textures;
use crate::document::PoseId;
use crate::editor::{Editor, PoseAmount};
use crate::view::commands::Command;
use crate::view::{chord, keymap, theme};
use egui::{Button, Key, Label, Rect, RichText, Role, ScrollArea, Sense, Ui, Vec2, WidgetInfo};
use egui_material_icons::icons;

/// The least width of a row, points: in a wide panel they stand in columns.
const ROW_WIDTH: f32 = 200.0;

/// The Poses panel and its state between frames.
#[derive(Default)]
pub struct PosesPanel {
    /// The model that it shows.
    model: u64,
    rename: Option<(PoseId, NameField)>,
    /// Whether a row is being dragged.
    is_dragging: bool,
    /// The row to scroll to.
    scroll_to: Option<PoseId>,
    textures: Textures,
}

impl PosesPanel {
    /// Draws the panel; returns the requested commands.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
        self.textures.free_unused();
        self.forget_what_is_gone(ui, editor);
        let mut commands = Vec::new();
        if editor.document().skeleton().is_empty() {
            let text = "Open a model with bones to create poses.";
            ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
            return commands;
        }
        let gives_up = ui.input(|i| i.key_pressed(Key::Escape));
        if gives_up && editor.applied_pose().is_some() {
            ui.input_mut(chord::take_escape);
            editor.cancel_transform();
        }
        if editor.document().poses().is_empty() {
            empty_ui(ui, editor, &mut commands);
            return commands;
        }
        let buttons = [
            (Command::CreatePose, icons::ICON_ADD),
            (Command::UpdatePose, icons::ICON_UPDATE),
            (Command::ApplyPose, icons::ICON_CHECK),
            (Command::ApplyPoseFlipped, icons::ICON_FLIP),
            (Command::SelectPoseBones, icons::ICON_SELECT_ALL),
            (Command::RemovePose, icons::ICON_DELETE),
        ];
        ui.horizontal(|ui| {
            commands.extend(buttons_ui(ui, editor, &buttons));
            more_ui(ui, editor, &mut commands);
        });
        amount::amount_ui(ui, editor);
        self.rows_ui(ui, editor, &mut commands);
        commands
    }

    /// Starts renaming the active pose.
    pub fn start_renaming(&mut self, editor: &Editor) {
        let active = editor.active_pose();
        let pose = active.and_then(|id| editor.document().poses().get(&id).map(|p| (id, p)));
        if let Some((id, pose)) = pose {
            self.rename = Some((id, NameField::new(pose.name.clone())));
            self.scroll_to = Some(id);
        }
    }

    fn forget_what_is_gone(&mut self, ui: &Ui, editor: &mut Editor) {
        if std::mem::replace(&mut self.model, editor.model_serial()) != editor.model_serial() {
            *self = Self {
                model: editor.model_serial(),
                ..Self::default()
            };
        }
        // End a drag whose release no row received.
        let is_down = ui.input(|i| i.pointer.any_down() || i.pointer.any_released());
        if self.is_dragging && !is_down {
            self.is_dragging = false;
            if editor.applied_pose().is_some() {
                editor.confirm_transform();
            }
        }
        let poses = editor.document().poses();
        let is_there = |(id, _): &(PoseId, NameField)| poses.contains_key(id);
        if !self.rename.as_ref().is_none_or(is_there) {
            self.rename = None;
        }
    }

    fn rows_ui(&mut self, ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
        let ids: Vec<PoseId> = editor.document().poses().keys().copied().collect();
        let id = ui.scope_id().with("poses");
        let room = ui.available_rect_before_wrap();
        let focus = ui.interact(room, id, Sense::focusable_noninteractive());
        focus.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, "Poses"));
        let n_columns = ((room.width() / ROW_WIDTH).floor() as usize).clamp(1, ids.len().max(1));
        if focus.has_focus() && self.rename.is_none() {
            self.keys_ui(ui, editor, (id, n_columns), &ids);
        }
        let mut takes_focus = false;
        ScrollArea::vertical()
            .id_salt("poses")
            .auto_shrink([false, false])
            .show(ui, |ui| {
                let corner = ui.next_widget_position();
                let width = ui.available_width() / n_columns as f32;
                let n_lines = ids.len().div_ceil(n_columns);
                ui.allocate_space(Vec2::new(
                    ui.available_width(),
                    n_lines as f32 * row::HEIGHT,
                ));
                for (place, &pose) in ids.iter().enumerate() {
                    let (line, column) = (place / n_columns, place % n_columns);
                    let at = Vec2::new(column as f32 * width, line as f32 * row::HEIGHT);
                    let rect =
                        Rect::from_min_size(corner + at, Vec2::new(width - 2.0, row::HEIGHT - 2.0));
                    if self.scroll_to == Some(pose) {
                        self.scroll_to = None;
                        ui.scroll_to_rect(rect, None);
                    }
                    takes_focus |= self.row_ui(ui, editor, pose, rect, commands);
                }
            });
        if takes_focus {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
    }

    /// Moves through the list with the keys, and applies the active pose with Enter.
    fn keys_ui(
        &mut self,
        ui: &Ui,
        editor: &mut Editor,
        (id, n_columns): (egui::Id, usize),
        ids: &[PoseId],
    ) {
        keymap::give_keys_to_list(ui.ctx(), id);
        let active = editor.active_pose();
        let here = active.and_then(|active| ids.iter().position(|id| *id == active));
        let last = ids.len() - 1;
        let step = |by: usize| here.map_or(0, |here| (here + by).min(last));
        let back = |by: usize| here.unwrap_or(0).saturating_sub(by);
        let steps = [
            (Key::ArrowDown, step(n_columns)),
            (Key::ArrowUp, back(n_columns)),
            (Key::ArrowRight, step(1)),
            (Key::ArrowLeft, back(1)),
            (Key::Home, 0),
            (Key::End, last),
        ];
        let to = ui.input(|i| steps.into_iter().find(|(key, _)| i.key_pressed(*key)));
        if let Some((_, to)) = to {
            editor.set_active_pose(Some(ids[to]));
            self.scroll_to = Some(ids[to]);
        }
        let (enter, flips) = ui.input(|i| (i.key_pressed(Key::Enter), i.modifiers.shift));
        if let Some(active) = active.filter(|_| enter) {
            let how = if flips {
                PoseAmount::FLIPPED
            } else {
                PoseAmount::WHOLE
            };
            editor.apply_library_pose(active, how);
        }
    }

    /// Draws the field of the name of a pose that is renamed; returns whether it is.
    fn rename_ui(&mut self, ui: &mut Ui, editor: &mut Editor, pose: PoseId, rect: Rect) -> bool {
        let Some((_, field)) = self.rename.as_mut().filter(|(id, _)| *id == pose) else {
            return false;
        };
        let id = ui.scope_id().with(("name", pose.0));
        if let Some(end) = field.show_ui(ui, rect, id, "Name of the pose") {
            self.rename = None;
            if let RenameEnd::Named(name) = end {
                editor.rename_pose(pose, &name);
            }
        }
        true
    }
}

/// Draws the menu of what concerns the whole library.
fn more_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    let size = Vec2::splat(theme::ROW);
    let button = Button::new(icons::ICON_MORE_VERT.rich_text().size(16.0)).min_size(size);
    let response = ui
        .scope(|ui| {
            ui.spacing_mut().button_padding = Vec2::splat(3.0);
            ui.add(button)
        })
        .inner;
    let label = "Menu of the pose library";
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, label));
    egui::Popup::menu(&response).show(|ui| {
        for command in [
            Command::PastePoseText,
            Command::PosesToClip,
            Command::ClipToPoses,
        ] {
            menu::item_ui(ui, editor, command, commands);
        }
    });
    response.on_hover_text("Paste a pose from text, poses to clip, clip to poses.");
}

/// Draws the empty state.
fn empty_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    ScrollArea::vertical()
        .id_salt("no poses")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.label("No poses in the library.");
            let dim = theme::palette(ui).text_dim;
            let text = "Pose the bones and create a pose, of the selected bones, such as the fingers of a fist, or of all. Click a \
                        pose to apply it. Drag it to the right to apply 0 - 150 % of it, and to the left to apply it to \
                        the other side of the body.";
            ui.add(Label::new(RichText::new(text).color(dim)).wrap());
            ui.add_space(4.0);
            ui.horizontal_wrapped(|ui| {
                for command in [
                    Command::CreatePose,
                    Command::PastePoseText,
                    Command::ClipToPoses,
                ] {
                    let enabled = command.is_enabled(editor);
                    let button = ui.add_enabled(enabled, Button::new(command.label()));
                    let button = button.on_hover_text(command.tooltip(ui.ctx()));
                    let why = command.why_disabled(editor).unwrap_or(command.about());
                    if button.on_disabled_hover_text(why).clicked() {
                        commands.push(command);
                    }
                }
            });
        });
}
