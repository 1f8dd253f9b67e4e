//! The weight layers of the active object, from top to bottom.
//!
//! Data flow: the layer stack of the document -> a row for each layer -> actions, which the editor applies.

mod menu;
mod row;

use super::rename::{NameField, RenameEnd};
use crate::document::{Layer, LayerId, LayerStack};
use crate::editor::Editor;
use crate::finding::{counted, thousands};
use crate::math::Axis;
use crate::view::commands::Command;
use crate::view::{keymap, theme};
use egui::{
    Button, Key, Label, Rect, RichText, Role, ScrollArea, Sense, Ui, Vec2, WidgetInfo, pos2,
};
use egui_material_icons::{MaterialIcon, icons};

/// The Layers panel and its state between frames.
#[derive(Default)]
pub struct LayersPanel {
    rename: Option<Rename>,
    /// Whether an opacity is being dragged.
    is_dragging: bool,
    /// The model it shows.
    model: u64,
    /// The hovered layer, the model revision, and how many vertices the layer affects.
    n_rows: Option<((LayerId, u64), usize)>,
}

/// A name being edited.
struct Rename {
    layer: LayerId,
    field: NameField,
}

/// An action on a row.
enum Action {
    Select(LayerId),
    Rename(LayerId),
    EndRename(RenameEnd),
    Mute(LayerId, bool),
    Alone(Option<LayerId>),
    BeginOpacity,
    Opacity(LayerId, f32),
    EndOpacity,
    PaintMask(LayerId),
    Mirror(LayerId, Option<(Axis, bool)>),
    Ask(LayerId, Command),
}

impl LayersPanel {
    /// Draws the layers; a click selects the layer to paint. Returns the requested commands.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
        if std::mem::replace(&mut self.model, editor.model_serial()) != editor.model_serial() {
            self.rename = None;
            self.n_rows = None;
        }
        // End a drag whose release no field received.
        if self.is_dragging && !ui.input(|i| i.pointer.any_down()) {
            self.is_dragging = false;
            editor.end_step();
        }
        let stack = editor.layers();
        let is_there = |rename: &Rename| stack.is_some_and(|s| s.get(rename.layer).is_some());
        if !self.rename.as_ref().is_none_or(is_there) {
            self.rename = None;
        }
        let mut commands = Vec::new();
        let Some(stack) = stack else {
            let text = "Select an object with a skin to add weight layers.";
            ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
            return commands;
        };
        if stack.is_plain() {
            empty_ui(ui, editor, &mut commands);
            return commands;
        }
        head_ui(ui, editor, &mut commands);
        over_limit_ui(ui, editor);
        let mut actions = Vec::new();
        if let Some(stack) = editor.layers() {
            self.rows_ui(ui, editor, stack, &mut actions);
        }
        for action in actions {
            self.perform(action, editor, &mut commands);
        }
        commands
    }

    /// Starts renaming the active layer.
    pub fn start_renaming(&mut self, editor: &Editor) {
        let layer = editor.active_layer();
        let layer = layer.and_then(|id| editor.layers()?.get(id).cloned());
        if let Some(layer) = layer {
            self.rename = Some(Rename {
                layer: layer.id,
                field: NameField::new(layer.name.clone()),
            });
        }
    }

    fn rows_ui(
        &mut self,
        ui: &mut Ui,
        editor: &Editor,
        stack: &LayerStack,
        actions: &mut Vec<Action>,
    ) {
        let id = ui.scope_id().with("layers");
        let focus = ui.interact(
            ui.available_rect_before_wrap(),
            id,
            Sense::focusable_noninteractive(),
        );
        focus.widget_info(|| WidgetInfo::labeled(Role::ListBox, true, "Layers"));
        let n_rows = stack.layers().len();
        if focus.has_focus() && self.rename.is_none() {
            keymap::give_keys_to_list(ui.ctx(), id);
            let place = editor.active_layer().and_then(|id| stack.position(id));
            let to = ui.input(|i| {
                let place = place.unwrap_or(n_rows - 1);
                let to = [
                    (Key::ArrowUp, (place + 1).min(n_rows - 1)),
                    (Key::ArrowDown, place.saturating_sub(1)),
                    (Key::Home, n_rows - 1),
                    (Key::End, 0),
                ];
                let hit = to.into_iter().find(|(key, _)| i.key_pressed(*key));
                hit.map(|(_, to)| to)
            });
            actions.extend(to.map(|to| Action::Select(stack.layers()[to].id)));
            if ui.input(|i| i.key_pressed(Key::Enter)) {
                actions.extend(editor.active_layer().map(Action::Rename));
            }
        }
        ScrollArea::vertical()
            .id_salt("layers")
            .auto_shrink([false, false])
            .show(ui, |ui| {
                ui.set_height(n_rows as f32 * theme::ROW);
                let width = ui.available_width();
                let corner = ui.min_rect().min;
                for (place, index) in (0..n_rows).rev().enumerate() {
                    let at = pos2(corner.x, corner.y + place as f32 * theme::ROW);
                    let rect = Rect::from_min_size(at, Vec2::new(width, theme::ROW));
                    row::row_ui(self, ui, editor, stack, index, rect, actions);
                }
            });
        if actions
            .iter()
            .any(|action| matches!(action, Action::Select(_)))
        {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
    }

    /// How many vertices a layer affects; counted once for each revision of the model.
    fn n_rows(&mut self, editor: &Editor, layer: &Layer) -> usize {
        let key = (layer.id, editor.history().revision());
        match self.n_rows {
            Some((known, n)) if known == key => n,
            _ => {
                let n = layer.n_rows();
                self.n_rows = Some((key, n));
                n
            }
        }
    }

    fn perform(&mut self, action: Action, editor: &mut Editor, commands: &mut Vec<Command>) {
        match action {
            Action::Select(layer) => editor.set_active_layer(layer),
            Action::Rename(layer) => {
                editor.set_active_layer(layer);
                self.start_renaming(editor);
            }
            Action::EndRename(left) => {
                if let (Some(rename), RenameEnd::Named(name)) = (self.rename.take(), left) {
                    editor.rename_layer(rename.layer, &name);
                }
            }
            Action::Mute(layer, muted) => editor.mute_layer(layer, muted),
            Action::Alone(layer) => editor.solo_layer(layer),
            Action::BeginOpacity => {
                self.is_dragging = true;
                editor.begin_step("Layer opacity");
            }
            Action::Opacity(layer, opacity) => {
                // Another edit may have ended this drag's undo step.
                if self.is_dragging && !editor.history().is_open() {
                    editor.begin_step("Layer opacity");
                }
                editor.set_layer_opacity(layer, opacity);
            }
            Action::EndOpacity => {
                self.is_dragging = false;
                editor.end_step();
            }
            Action::PaintMask(layer) => {
                editor.set_active_layer(layer);
                commands.push(Command::Paint(
                    crate::document::session::PaintTarget::LayerMask,
                ));
            }
            Action::Mirror(layer, mirror) => editor.mirror_layer(layer, mirror),
            Action::Ask(layer, command) => {
                editor.set_active_layer(layer);
                commands.push(command);
            }
        }
    }
}

/// Draws the empty state.
fn empty_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    let dim = theme::palette(ui).text_dim;
    let text = "No layers. You paint the weights directly.";
    ui.label(text);
    let command = Command::AddLayer;
    let tooltip = command.tooltip(ui.ctx());
    let button = ui.add_enabled(command.is_enabled(editor), Button::new(command.label()));
    if button.on_hover_text(tooltip).clicked() {
        commands.push(command);
    }
    let text = "to try changes that you can fade, mute or delete.";
    ui.label(RichText::new(text).color(dim));
}

/// Draws the buttons for the active layer.
fn head_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for (command, icon) in [
            (Command::AddLayer, icons::ICON_ADD),
            (Command::DeleteLayer, icons::ICON_REMOVE),
            (Command::DuplicateLayer, icons::ICON_CONTENT_COPY),
            (Command::LayerUp, icons::ICON_ARROW_UPWARD),
            (Command::LayerDown, icons::ICON_ARROW_DOWNWARD),
            (Command::MergeLayerDown, icons::ICON_MERGE),
            (Command::FlattenLayers, icons::ICON_LAYERS_CLEAR),
        ] {
            if tool_ui(ui, icon, command, command.is_enabled(editor)) {
                commands.push(command);
            }
        }
    });
}

fn tool_ui(ui: &mut Ui, icon: MaterialIcon, command: Command, enabled: bool) -> bool {
    let button = Button::new(icon.rich_text().size(16.0)).min_size(Vec2::splat(theme::ROW));
    let response = ui
        .scope(|ui| {
            ui.spacing_mut().button_padding = Vec2::splat(3.0);
            ui.add_enabled(enabled, button)
        })
        .inner;
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, command.label()));
    let about = format!("{}\n{}", command.label(), command.tooltip(ui.ctx()));
    let response = response.on_hover_text(about);
    response.on_disabled_hover_text(command.about()).clicked()
}

/// Warns when the layers together give vertices more influences than the brush allows.
fn over_limit_ui(ui: &mut Ui, editor: &mut Editor) {
    let limit = editor.document().session().brush.max_influences;
    let n = editor.n_over_limit(limit);
    if n == 0 {
        return;
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add(Label::new(icons::ICON_WARNING.rich_text().size(14.0)).selectable(false));
        let text = format!("{} over {}", counted(n, "vertex"), counted(limit, "influence"));
        ui.add(Label::new(text).truncate()).on_hover_text(format!(
            "With all layers, {} vertices have more than {limit} influences. Sinew uses all of them. To keep only the \
             largest, run Limit influences or set a limit for the export.",
            thousands(n)
        ));
    });
}
