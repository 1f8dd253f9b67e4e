//! A layer in the list of its kind: its name, what it follows, mute and delete; and buttons below the list.

use super::{ClustersPanel, Rename, Renamed};
use crate::editor::Editor;
use crate::editor::clusters::GroupLayer;
use crate::view::panels::correctives::sets::text_ui;
use crate::view::panels::rename::{NameField, RenameEnd};
use crate::view::theme;
use egui::{Button, Label, Rect, RichText, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use egui_material_icons::{MaterialIcon, icons};

/// The width of one button in a row, points.
const BUTTON: f32 = 20.0;

/// What a row says beside the name of its layer.
pub(super) struct LayerRow<'a> {
    pub(super) index: usize,
    pub(super) what: Renamed,
    /// What it follows: a bone, a channel.
    pub(super) beside: &'a str,
    /// How a screen reader joins the two: "on", "by".
    pub(super) joined: &'a str,
}

impl ClustersPanel {
    /// Draws the row of a layer.
    pub(super) fn layer_row_ui<L: GroupLayer>(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        layer: &L,
        row: &LayerRow<'_>,
    ) {
        let (index, name) = (row.index, layer.name());
        let palette = theme::palette(ui);
        let size = Vec2::new(ui.available_width(), theme::ROW);
        let (_, rect) = ui.allocate_space(size);
        let id = ui.scope_id().with((L::NOUN, index));
        let (own, buttons) = rect.split_left_right_at_x(rect.right() - 2.0 * BUTTON);
        let response = ui.interact(own, id, Sense::CLICK);
        let is_active = editor
            .active_group_layer::<L>()
            .is_some_and(|(active, _)| active == index);
        if is_active {
            ui.painter().rect_filled(rect, 3.0, palette.selected);
            let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
            ui.painter().rect_filled(bar, 1.0, palette.accent);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, 3.0, palette.stripe);
        }
        let spoken = format!("{name}, {} {}", row.joined, row.beside);
        response
            .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_active, &spoken));
        self.layer_buttons_ui(ui, editor, buttons, (index, layer));
        let place = own.with_min_x(own.left() + 8.0);
        if let Some(rename) = self.rename.as_mut().filter(|r| r.what == row.what) {
            let label = format!("Name of the {}", L::NOUN);
            let end = rename.field.show_ui(ui, place, id.with("name"), &label);
            if let Some(end) = end {
                self.rename = None;
                if let RenameEnd::Named(name) = end {
                    editor.rename_group_layer::<L>(index, &name);
                }
            }
            return;
        }
        let right = text_ui(
            ui,
            row.beside,
            palette.text_dim,
            place,
            true,
            place.width() * 0.5,
        );
        let colour = match (is_active, layer.is_muted()) {
            (_, true) => palette.text_dim,
            (true, false) => palette.accent,
            (false, false) => palette.text,
        };
        let own = place.with_max_x(right - 6.0);
        text_ui(ui, name, colour, own, false, own.width());
        if response.double_clicked() {
            editor.choose_group_layer::<L>(index);
            self.rename = Some(Rename {
                what: row.what,
                field: NameField::new(name.to_owned()),
            });
        } else if response.clicked() {
            editor.choose_group_layer::<L>(index);
        }
        response.on_hover_text(format!(
            "{name} {} {}\nClick to edit it. Double-click to rename it.",
            row.joined, row.beside
        ));
    }

    /// Draws mute and delete at the right end of a row.
    fn layer_buttons_ui<L: GroupLayer>(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        rect: Rect,
        (index, layer): (usize, &L),
    ) {
        let button = |ui: &mut Ui, at: usize, icon: MaterialIcon| {
            let left = rect.left() + BUTTON * at as f32;
            let place = Rect::from_min_size(pos2(left, rect.top()), vec2(BUTTON, rect.height()));
            let palette = theme::palette(ui);
            let text = icon.rich_text().size(14.0).color(palette.text_dim);
            ui.put(place, Button::new(text).frame(false))
        };
        let (name, muted) = (layer.name(), layer.is_muted());
        let icon = if muted {
            icons::ICON_VISIBILITY_OFF
        } else {
            icons::ICON_VISIBILITY
        };
        let mute = button(ui, 0, icon);
        let label = format!("Show {name}");
        mute.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, !muted, &label));
        if mute.clicked() {
            editor.mute_group_layer::<L>(index, !muted);
        }
        let verb = if muted { "Unmute" } else { "Mute" };
        mute.on_hover_text(format!("{verb} {name}."));
        let delete = button(ui, 1, icons::ICON_DELETE);
        let label = format!("Delete {name}");
        delete.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
        if delete.on_hover_text(label.clone()).clicked() {
            self.rename = None;
            editor.delete_group_layer::<L>(index);
        }
    }
}

/// Draws buttons that duplicate the active layer of a kind and move it in its list.
pub(super) fn order_ui<L: GroupLayer>(ui: &mut Ui, editor: &mut Editor) {
    let Some((active, _)) = editor.active_group_layer::<L>() else {
        return;
    };
    let last = editor.group_layers::<L>().len() - 1;
    let noun = L::NOUN;
    let about = format!("Add a copy of the active {noun}.");
    if icon_ui(
        ui,
        icons::ICON_CONTENT_COPY,
        &format!("Duplicate {noun}"),
        &about,
        true,
    ) {
        editor.duplicate_group_layer::<L>(active);
    }
    let about = format!("Move the active {noun} up in the list. The shape stays the same.");
    let label = format!("Move {noun} up");
    if icon_ui(ui, icons::ICON_ARROW_UPWARD, &label, &about, active > 0) {
        editor.move_group_layer::<L>(active, true);
    }
    let about = format!("Move the active {noun} down in the list. The shape stays the same.");
    let label = format!("Move {noun} down");
    if icon_ui(
        ui,
        icons::ICON_ARROW_DOWNWARD,
        &label,
        &about,
        active < last,
    ) {
        editor.move_group_layer::<L>(active, false);
    }
}

/// A button with an icon alone; whether it was clicked.
pub(in crate::view::panels) fn icon_ui(
    ui: &mut Ui,
    icon: MaterialIcon,
    label: &str,
    about: &str,
    enabled: bool,
) -> bool {
    let button = Button::new(icon.rich_text().size(16.0)).min_size(Vec2::splat(theme::ROW));
    let response = ui
        .scope(|ui| {
            ui.spacing_mut().button_padding = Vec2::splat(3.0);
            ui.add_enabled(enabled, button)
        })
        .inner;
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, label));
    let text = format!("{label}\n{about}");
    let response = response.on_hover_text(&text).on_disabled_hover_text(text);
    response.clicked()
}

/// A dim text that wraps.
pub(in crate::view::panels) fn dim_ui(ui: &mut Ui, text: &str) {
    let dim = theme::palette(ui).text_dim;
    ui.add(Label::new(RichText::new(text).color(dim)).wrap());
}
