//! A row of the Layers panel.

use super::{Action, LayersPanel, menu};
use crate::document::layers::change::mirror_label;
use crate::document::session::PaintTarget;
use crate::document::{Layer, LayerStack};
use crate::editor::Editor;
use crate::finding::counted;
use crate::view::middle;
use crate::view::panels::list::{paint_icon, switch_ui};
use crate::view::theme::{self, Palette};
use egui::{DragValue, Id, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};
use egui_material_icons::icons;

/// Width of an icon column, points.
const ICON: f32 = 20.0;
/// Width of the opacity column, points.
const OPACITY: f32 = 48.0;

/// Draws the layer at `index`, counted from the bottom.
pub(super) fn row_ui(
    panel: &mut LayersPanel,
    ui: &mut Ui,
    editor: &Editor,
    stack: &LayerStack,
    index: usize,
    rect: Rect,
    actions: &mut Vec<Action>,
) {
    let palette = theme::palette(ui);
    let layer = &stack.layers()[index];
    let is_base = index == 0;
    let is_active = editor.active_layer() == Some(layer.id);
    let id = ui.scope_id().with(("layer", layer.id.0));
    let response = ui.interact(rect, id, Sense::CLICK);
    if is_active {
        ui.painter().rect_filled(rect, 3.0, palette.selected);
        let bar = Rect::from_min_size(rect.min, vec2(3.0, rect.height()));
        ui.painter().rect_filled(bar, 1.0, palette.accent);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 3.0, palette.stripe);
    }
    response
        .widget_info(|| WidgetInfo::selected(Role::ListBoxOption, true, is_active, &layer.name));

    let mut right = rect.right() - 2.0;
    let mut column = |width: f32| {
        right -= width;
        Rect::from_min_size(pos2(right, rect.top()), vec2(width, rect.height()))
    };
    let name = layer.name.as_str();
    let more = switch_ui(
        ui,
        id.with("more"),
        column(ICON),
        icons::ICON_MORE_VERT,
        true,
        palette,
    );
    more.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Menu of {name}")));
    egui::Popup::menu(&more).show(|ui| menu::menu_ui(ui, editor, stack, index, actions));
    more.on_hover_text(format!("More commands for {name}."));
    solo_ui(ui, id, column(ICON), stack, layer, palette, actions);
    if !is_base {
        mask_ui(ui, editor, id, column(ICON), layer, palette, actions);
        opacity_ui(ui, column(OPACITY), layer, actions);
        mirror_ui(ui, editor, column(ICON), id, layer, palette);
    }
    let eye = Rect::from_min_size(rect.min + vec2(4.0, 0.0), vec2(ICON, rect.height()));
    eye_ui(ui, id, eye, stack, index, palette, actions);

    let place = Rect::from_min_max(
        pos2(eye.right() + 4.0, rect.top()),
        pos2((right - 4.0).max(eye.right() + 20.0), rect.bottom()),
    );
    if panel.rename.as_ref().is_some_and(|r| r.layer == layer.id) {
        rename_ui(panel, ui, place, id, actions);
    } else {
        let colour = match (is_active, stack.is_visible(index)) {
            (_, false) => palette.text_dim,
            (true, true) => palette.accent,
            (false, true) => palette.text,
        };
        let text = middle::body(ui, name, place.width());
        let at = pos2(place.left(), place.center().y - text.size().y * 0.5);
        ui.painter()
            .galley_with_override_text_color(at, text, colour);
    }
    if response.double_clicked() {
        actions.push(Action::Rename(layer.id));
    } else if response.clicked() || response.secondary_clicked() {
        actions.push(Action::Select(layer.id));
    }
    response.context_menu(|ui| menu::menu_ui(ui, editor, stack, index, actions));
    response.on_hover_ui(|ui| {
        ui.label(about(stack, index, panel.n_rows(editor, layer)));
    });
}

/// The tooltip of a row.
fn about(stack: &LayerStack, index: usize, n_rows: usize) -> String {
    let layer = &stack.layers()[index];
    let mut text = layer.name.clone();
    if index == 0 {
        text.push_str("\nThe base weights, below all layers. Always visible.");
    } else {
        text = format!("{text}\nAffects {}.", counted(n_rows, "vertex"));
    }
    if !stack.is_visible(index) {
        text.push_str("\nNot visible.");
    }
    format!("{text}\nClick to paint it, double-click to rename it.")
}

fn eye_ui(
    ui: &Ui,
    id: Id,
    rect: Rect,
    stack: &LayerStack,
    index: usize,
    palette: &Palette,
    actions: &mut Vec<Action>,
) {
    let layer = &stack.layers()[index];
    if index == 0 {
        let response = ui.interact(rect, id.with("base"), Sense::hover());
        paint_icon(ui, rect, icons::ICON_LAYERS, palette.text_dim);
        response.on_hover_text("The base is always visible.");
        return;
    }
    let icon = if layer.muted {
        icons::ICON_VISIBILITY_OFF
    } else {
        icons::ICON_VISIBILITY
    };
    let is_seen = stack.is_visible(index);
    let response = switch_ui(ui, id.with("eye"), rect, icon, is_seen, palette);
    let label = format!("Show {}", layer.name);
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, !layer.muted, &label));
    if response.clicked() {
        actions.push(Action::Mute(layer.id, !layer.muted));
    }
    let what = if layer.muted { "Unmute" } else { "Mute" };
    response.on_hover_text(format!("{what} {}.", layer.name));
}

fn solo_ui(
    ui: &Ui,
    id: Id,
    rect: Rect,
    stack: &LayerStack,
    layer: &Layer,
    palette: &Palette,
    actions: &mut Vec<Action>,
) {
    let is_alone = stack.solo() == Some(layer.id);
    let icon = icons::ICON_FILTER_CENTER_FOCUS;
    let response = switch_ui(ui, id.with("alone"), rect, icon, is_alone, palette);
    if is_alone {
        paint_icon(ui, rect, icon, palette.accent);
    }
    let label = format!("Solo {}", layer.name);
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, is_alone, &label));
    if response.clicked() {
        actions.push(Action::Alone((!is_alone).then_some(layer.id)));
    }
    response.on_hover_text(match (is_alone, layer.id == LayerStack::BASE) {
        (true, _) => "Show all layers.".to_owned(),
        (false, true) => "Show only the base.".to_owned(),
        (false, false) => format!("Show only the base and {}.", layer.name),
    });
}

fn mask_ui(
    ui: &Ui,
    editor: &Editor,
    id: Id,
    rect: Rect,
    layer: &Layer,
    palette: &Palette,
    actions: &mut Vec<Action>,
) {
    let is_painted = !layer.takes_all();
    let icon = icons::ICON_TONALITY;
    let is_brush =
        editor.paint_target() == PaintTarget::LayerMask && editor.active_layer() == Some(layer.id);
    let response = switch_ui(ui, id.with("mask"), rect, icon, is_painted, palette);
    if is_brush {
        paint_icon(ui, rect, icon, palette.accent);
    }
    if is_painted {
        let at = rect.right_top() + vec2(-4.0, 6.0);
        ui.painter().circle_filled(at, 2.0, palette.text);
    }
    let painted = if is_painted { ", painted" } else { "" };
    let label = format!("Paint mask of {}{painted}", layer.name);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_brush, &label));
    if response.clicked() {
        actions.push(Action::PaintMask(layer.id));
    }
    let state = if is_painted {
        "The mask is painted."
    } else {
        "The mask is not painted: the layer applies in full."
    };
    response.on_hover_text(format!("Paint the mask of {}.\n{state}", layer.name));
}

fn opacity_ui(ui: &mut Ui, rect: Rect, layer: &Layer, actions: &mut Vec<Action>) {
    let shown = layer.opacity * 100.0;
    let mut percent = shown;
    let field = DragValue::new(&mut percent)
        .range(0.0..=100.0)
        .speed(1.0)
        .max_decimals(0)
        .suffix(" %");
    let response = ui.put(rect.shrink2(vec2(1.0, 0.0)), field);
    let label = format!("Opacity of {}", layer.name);
    response.widget_info(|| WidgetInfo {
        label: Some(label.clone()),
        ..WidgetInfo::drag_value(true, f64::from(shown))
    });
    if response.drag_started() {
        actions.push(Action::BeginOpacity);
    }
    // Leaving the field reads its rounded text again. Ignore that.
    let is_rounding = response.lost_focus() && (percent - shown).abs() <= 0.5;
    if response.changed() && !is_rounding {
        actions.push(Action::Opacity(layer.id, percent / 100.0));
    }
    if response.drag_stopped() {
        actions.push(Action::EndOpacity);
    }
    response.on_hover_text(format!("Opacity of {}. Drag or type.", layer.name));
}

fn mirror_ui(ui: &Ui, editor: &Editor, rect: Rect, id: Id, layer: &Layer, palette: &Palette) {
    let is_sought = editor.mirroring_layer() == Some(layer.id);
    if layer.mirror.is_none() && !is_sought {
        return;
    }
    let colour = if is_sought {
        palette.text_dim
    } else {
        palette.text
    };
    paint_icon(ui, rect, icons::ICON_FLIP, colour);
    let response = ui.interact(rect, id.with("mirror"), Sense::hover());
    let (label, about) = match &layer.mirror {
        Some(mirror) if !is_sought => {
            let way = mirror_label(mirror.axis(), mirror.from_positive());
            let mut about = format!("{} is mirrored, {way}.", layer.name);
            let n = mirror.unmatched().count();
            if n > 0 {
                about = format!("{about}\n{} without a mirror image.", counted(n, "vertex"));
            }
            let n = mirror.joints().unpaired.len();
            if n > 0 {
                about = format!("{about}\n{} without a counterpart.", counted(n, "bone"));
            }
            (format!("{} mirrored {way}", layer.name), about)
        }
        _ => (
            format!("Computing mirror of {}", layer.name),
            "Matching vertices with their mirror images.".to_owned(),
        ),
    };
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &label));
    response.on_hover_text(about);
}

/// The text field of a rename.
fn rename_ui(panel: &mut LayersPanel, ui: &mut Ui, rect: Rect, id: Id, actions: &mut Vec<Action>) {
    let Some(rename) = &mut panel.rename else {
        return;
    };
    let field = &mut rename.field;
    if let Some(left) = field.show_ui(ui, rect, id.with("name"), "Name of the layer") {
        actions.push(Action::EndRename(left));
    }
}
