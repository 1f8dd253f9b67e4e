//! The layers of weights of the active object, from the top to the bottom.
//!
//! The way of the data: the stack of the document -> a row for each layer -> acts, which the editor does.

mod menu;
mod row;

use super::rename::{Left, NameField};
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

/// The panel, and what it remembers between frames.
#[derive(Default)]
pub struct LayersPanel {
    rename: Option<Rename>,
    /// Whether an opacity is being dragged.
    is_dragging: bool,
    /// The model it shows.
    model: u64,
    /// The layer that the pointer rests on, at a revision of the model, and how many points it says something at.
    n_rows: Option<((LayerId, u64), usize)>,
}

/// A name that is being typed.
struct Rename {
    layer: LayerId,
    field: NameField,
}

/// What a row was asked for.
enum Act {
    Select(LayerId),
    Rename(LayerId),
    EndRename(Left),
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
    /// The layers: a click chooses the one that is painted. What else was asked for.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
        if std::mem::replace(&mut self.model, editor.model_serial()) != editor.model_serial() {
            self.rename = None;
            self.n_rows = None;
        }
        // A drag that ended where no field saw it.
        if self.is_dragging && !ui.input(|i| i.pointer.any_down()) {
            self.is_dragging = false;
            editor.end_step();
        }
        let stack = editor.layers();
        let is_there = |rename: &Rename| stack.is_some_and(|s| s.get(rename.layer).is_some());
        if !self.rename.as_ref().is_none_or(is_there) {
            self.rename = None;
        }
        let mut asked = Vec::new();
        let Some(stack) = stack else {
            let text = "Choose an object with a skin: its weights can have layers.";
            ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
            return asked;
        };
        if stack.is_plain() {
            empty_ui(ui, editor, &mut asked);
            return asked;
        }
        head_ui(ui, editor, &mut asked);
        over_limit_ui(ui, editor);
        let mut acts = Vec::new();
        if let Some(stack) = editor.layers() {
            self.rows_ui(ui, editor, stack, &mut acts);
        }
        for act in acts {
            self.perform(act, editor, &mut asked);
        }
        asked
    }

    /// Lets the artist type another name for the active layer.
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

    fn rows_ui(&mut self, ui: &mut Ui, editor: &Editor, stack: &LayerStack, acts: &mut Vec<Act>) {
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
            acts.extend(to.map(|to| Act::Select(stack.layers()[to].id)));
            if ui.input(|i| i.key_pressed(Key::Enter)) {
                acts.extend(editor.active_layer().map(Act::Rename));
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
                    row::row_ui(self, ui, editor, stack, index, rect, acts);
                }
            });
        if acts.iter().any(|act| matches!(act, Act::Select(_))) {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
    }

    /// How many points a layer says something at: counted once for each state of the model.
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

    fn perform(&mut self, act: Act, editor: &mut Editor, asked: &mut Vec<Command>) {
        match act {
            Act::Select(layer) => editor.set_active_layer(layer),
            Act::Rename(layer) => {
                editor.set_active_layer(layer);
                self.start_renaming(editor);
            }
            Act::EndRename(left) => {
                if let (Some(rename), Left::Named(name)) = (self.rename.take(), left) {
                    editor.rename_layer(rename.layer, &name);
                }
            }
            Act::Mute(layer, muted) => editor.mute_layer(layer, muted),
            Act::Alone(layer) => editor.solo_layer(layer),
            Act::BeginOpacity => {
                self.is_dragging = true;
                editor.begin_step("Layer opacity");
            }
            Act::Opacity(layer, opacity) => {
                // Something in between may have ended the step of this drag.
                if self.is_dragging && !editor.history().is_open() {
                    editor.begin_step("Layer opacity");
                }
                editor.set_layer_opacity(layer, opacity);
            }
            Act::EndOpacity => {
                self.is_dragging = false;
                editor.end_step();
            }
            Act::PaintMask(layer) => {
                editor.set_active_layer(layer);
                asked.push(Command::Paint(
                    crate::document::session::PaintTarget::LayerMask,
                ));
            }
            Act::Mirror(layer, mirror) => editor.mirror_layer(layer, mirror),
            Act::Ask(layer, command) => {
                editor.set_active_layer(layer);
                asked.push(command);
            }
        }
    }
}

/// What layers are for.
fn empty_ui(ui: &mut Ui, editor: &Editor, asked: &mut Vec<Command>) {
    let dim = theme::palette(ui).text_dim;
    let text = "One layer: what you paint is the result.";
    ui.label(text);
    let command = Command::AddLayer;
    let tooltip = command.tooltip(ui.ctx());
    let button = ui.add_enabled(command.is_enabled(editor), Button::new(command.label()));
    if button.on_hover_text(tooltip).clicked() {
        asked.push(command);
    }
    let text = "to try changes that you can fade, mute or throw away.";
    ui.label(RichText::new(text).color(dim));
}

/// What can be done to the active layer.
fn head_ui(ui: &mut Ui, editor: &Editor, asked: &mut Vec<Command>) {
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
                asked.push(command);
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

/// That the layers together give points more bones than the brush would.
fn over_limit_ui(ui: &mut Ui, editor: &mut Editor) {
    let limit = editor.document().session().brush.max_influences;
    let n = editor.n_over_limit(limit);
    if n == 0 {
        return;
    }
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.add(Label::new(icons::ICON_WARNING.rich_text().size(14.0)).selectable(false));
        let text = format!("{} over {}", counted(n, "point"), counted(limit, "bone"));
        ui.add(Label::new(text).truncate()).on_hover_text(format!(
            "The layers together give {} points more than {limit} bones, all of which count here. Limit influences, or an \
             export with a limit, keeps the strongest.",
            thousands(n)
        ));
    });
}
