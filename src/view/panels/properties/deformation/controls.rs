//! Widgets of the Deformation section: each one changes one setting of the deformer stack in one undo step.

use crate::deform::{DeformStack, MaskKind};
use crate::document::session::PaintTarget;
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{
    Align, Button, Checkbox, ComboBox, Id, Label, Layout, Response, RichText, Role, Slider, Ui,
    Vec2, WidgetInfo,
};
use egui_material_icons::icons;
use std::ops::RangeInclusive;

/// Width of the labels, points.
const NAME: f32 = 84.0;
/// Width of a number beside its slider, points.
const VALUE: f32 = 46.0;

/// The reason why a control is disabled; `None`: enabled.
pub(super) type Reason = Option<&'static str>;

/// The names and the tooltip of a setting.
pub(super) struct Setting {
    /// The visible label.
    pub(super) name: &'static str,
    /// The accessible name, which includes the part.
    pub(super) full: &'static str,
    /// The name of the undo step.
    pub(super) step: &'static str,
    /// The tooltip.
    pub(super) about: &'static str,
}

/// A label of fixed width and the widget beside it.
fn named_ui<R>(
    ui: &mut Ui,
    name: &str,
    full: &str,
    content: impl FnOnce(&mut Ui, &Response) -> R,
) -> R {
    let row = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let dim = theme::palette(ui).text_dim;
        let label = ui.allocate_ui_with_layout(
            Vec2::new(NAME, theme::ROW),
            Layout::left_to_right(Align::Center),
            |ui| {
                ui.set_min_width(NAME);
                ui.add(Label::new(RichText::new(name).color(dim)).truncate())
            },
        );
        label
            .inner
            .widget_info(|| WidgetInfo::labeled(Role::Label, true, full));
        content(ui, &label.inner)
    });
    row.inner
}

/// A read-only number.
pub(super) fn fact_ui(ui: &mut Ui, name: &str, value: &str, about: &str) {
    named_ui(ui, name, name, |ui, _| {
        let response = ui.label(value);
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("{name}  {value}")));
        response.on_hover_text(about);
    });
}

/// A number with a slider: a drag, or a series of key presses, is one undo step.
pub(super) struct Number {
    pub(super) range: RangeInclusive<f32>,
    pub(super) decimals: usize,
    /// The painted map that multiplies it.
    pub(super) mask: Option<MaskKind>,
}

/// Draws a number's slider, which calls `set`, and its paint button; returns the requested command.
pub(super) fn number_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    setting: &Setting,
    number: &Number,
    mut value: f32,
    why_not: Reason,
    set: impl Fn(&mut DeformStack, f32),
) -> Option<Command> {
    // The slider's own rounding is not an edit.
    let shown = value;
    let mut command = None;
    let response = named_ui(ui, setting.name, setting.full, |ui, label| {
        let paint = if number.mask.is_some() { 26.0 } else { 0.0 };
        let room = ui.available_width() - VALUE - 4.0 - paint;
        ui.spacing_mut().slider_width = room.max(40.0);
        ui.spacing_mut().interact_size.x = VALUE;
        let slider = Slider::new(&mut value, number.range.clone())
            .fixed_decimals(number.decimals)
            .max_decimals(number.decimals);
        let response = ui
            .add_enabled(why_not.is_none(), slider)
            .labelled_by(label.id);
        if let Some(mask) = number.mask {
            command = paint_ui(ui, editor, mask);
        }
        response
    });
    let response = response.on_hover_text(setting.about);
    if let Some(why) = why_not {
        response.clone().on_disabled_hover_text(why);
    }
    follow(ui, editor, &response, setting.step, value != shown, |s| {
        set(s, value);
    });
    command
}

/// Applies the value of a draggable widget.
pub(super) fn follow(
    ui: &Ui,
    editor: &mut Editor,
    response: &Response,
    step: &'static str,
    is_other: bool,
    change: impl Fn(&mut DeformStack),
) {
    if response.drag_started() {
        ui.data_mut(|data| data.insert_temp(drag_id(), true));
        editor.begin_step(step);
    }
    if response.changed() && is_other {
        // Another edit may have ended this drag's undo step.
        if response.dragged() && !editor.history().is_open() {
            editor.begin_step(step);
        }
        editor.change_stack(step, change);
    }
    if response.drag_stopped() {
        ui.data_mut(|data| data.insert_temp(drag_id(), false));
        editor.end_step();
    }
}

/// Ends a drag whose release no widget received.
pub(super) fn end_lost_drag(ui: &Ui, editor: &mut Editor) {
    let is_dragging = ui.data(|data| data.get_temp(drag_id()).unwrap_or(false));
    if is_dragging && !ui.input(|i| i.pointer.any_down()) {
        ui.data_mut(|data| data.insert_temp(drag_id(), false));
        editor.end_step();
    }
}

fn drag_id() -> Id {
    Id::unique("a setting of the stack is dragged")
}

/// The button that paints a strength map; a dot marks a painted map.
fn paint_ui(ui: &mut Ui, editor: &Editor, mask: MaskKind) -> Option<Command> {
    let command = Command::Paint(PaintTarget::Mask(mask));
    let is_painted = editor.is_mask_painted(mask);
    let palette = theme::palette(ui);
    let colour = if is_painted {
        palette.text
    } else {
        palette.text_dim
    };
    ui.spacing_mut().button_padding = Vec2::splat(2.0);
    let icon = icons::ICON_BRUSH.rich_text().size(14.0).color(colour);
    let response = ui.add(Button::new(icon).min_size(Vec2::splat(22.0)));
    let painted = if is_painted { ", painted" } else { "" };
    let label = format!("{}{painted}", command.label());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &label));
    if is_painted {
        let at = response.rect.right_top() + Vec2::new(-3.0, 3.0);
        ui.painter().circle_filled(at, 2.5, palette.text);
    }
    let state = if is_painted {
        "The map is painted."
    } else {
        "The map is not painted: its value is 1 everywhere."
    };
    let about = format!("{}\n{}\n{state}", command.label(), command.about());
    response.on_hover_text(about).clicked().then_some(command)
}

/// A toggle.
pub(super) fn switch_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    setting: &Setting,
    mut on: bool,
    why_not: Reason,
    set: impl Fn(&mut DeformStack, bool),
) {
    let response = ui
        .add_enabled(why_not.is_none(), Checkbox::new(&mut on, setting.name))
        .on_hover_text(setting.about);
    let response = match why_not {
        Some(why) => response.on_disabled_hover_text(why),
        None => response,
    };
    response
        .widget_info(|| WidgetInfo::selected(Role::CheckBox, why_not.is_none(), on, setting.full));
    if response.changed() {
        editor.change_stack(setting.step, |stack| set(stack, on));
    }
}

/// An option: value, label, tooltip.
pub(super) type Choice<T> = (T, &'static str, &'static str);

/// A drop-down with a label.
pub(super) fn choice_ui<T: Copy + PartialEq>(
    ui: &mut Ui,
    editor: &mut Editor,
    setting: &Setting,
    value: T,
    why_not: Reason,
    choices: &[Choice<T>],
    set: impl Fn(&mut DeformStack, T),
) {
    if let Some(choice) = pick_ui(ui, setting, value, why_not, choices) {
        editor.change_stack(setting.step, |stack| set(stack, choice));
    }
}

/// A drop-down; returns a new choice.
pub(super) fn pick_ui<T: Copy + PartialEq>(
    ui: &mut Ui,
    setting: &Setting,
    value: T,
    why_not: Reason,
    choices: &[Choice<T>],
) -> Option<T> {
    let text = choices.iter().find(|choice| choice.0 == value);
    let text = text.map_or("", |choice| choice.1);
    let mut chosen = None;
    named_ui(ui, setting.name, setting.full, |ui, label| {
        let combo = ui.add_enabled_ui(why_not.is_none(), |ui| {
            ComboBox::from_id_salt(setting.full)
                .width(ui.available_width())
                .truncate()
                .selected_text(text)
                .show_ui(ui, |ui| {
                    for &(choice, name, about) in choices {
                        let response = ui.selectable_label(choice == value, name);
                        if response.on_hover_text(about).clicked() {
                            chosen = Some(choice);
                        }
                    }
                })
                .response
        });
        let response = combo.inner.labelled_by(label.id);
        let response = response.on_hover_text(setting.about);
        if let Some(why) = why_not {
            response.on_disabled_hover_text(why);
        }
    });
    chosen.filter(|choice| *choice != value)
}

/// A part of the deformer stack: its toggle, name, state and reset button.
pub(super) struct Part {
    /// The name.
    pub(super) name: &'static str,
    /// The tooltip.
    pub(super) about: &'static str,
    /// The names of the undo steps: turned on, turned off, reset.
    pub(super) steps: [&'static str; 3],
    /// The state shown while the part is folded.
    pub(super) state: String,
    pub(super) enabled: bool,
    /// Whether the settings are the defaults, apart from being on or off.
    pub(super) is_default: bool,
}

/// Draws the header of a part; returns whether its settings are unfolded.
pub(super) fn part_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    part: &Part,
    switch: impl Fn(&mut DeformStack, bool),
    reset: impl Fn(&mut DeformStack),
) -> bool {
    let open_id = Id::unique(("part of the stack", part.name));
    let mut is_open = ui.data(|data| data.get_temp(open_id).unwrap_or(false));
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let mut on = part.enabled;
        let response = ui.add(Checkbox::without_text(&mut on));
        response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, on, part.name));
        if response.on_hover_text(part.about).changed() {
            let step = part.steps[usize::from(!on)];
            editor.change_stack(step, |stack| switch(stack, on));
        }
        let arrow = if is_open {
            icons::ICON_EXPAND_MORE
        } else {
            icons::ICON_CHEVRON_RIGHT
        };
        let dim = theme::palette(ui).text_dim;
        ui.spacing_mut().button_padding = Vec2::new(2.0, 2.0);
        let title = Button::new((arrow.rich_text().size(16.0).color(dim), part.name))
            .frame_when_inactive(false);
        let response = ui.add(title).on_hover_text(part.about);
        let spoken = format!("{}  {}", part.name, part.state);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_open, &spoken));
        if response.clicked() {
            is_open = !is_open;
            ui.data_mut(|data| data.insert_temp(open_id, is_open));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let icon = icons::ICON_RESTART_ALT.rich_text().size(14.0);
            let button = Button::new(icon).frame_when_inactive(false);
            let response = ui.add_enabled(!part.is_default, button);
            let label = part.steps[2];
            response.widget_info(|| WidgetInfo::labeled(Role::Button, !part.is_default, label));
            let about = format!("{label}: restore the default settings. The part stays on or off.");
            let response = response.on_hover_text(about);
            if response
                .on_disabled_hover_text("The settings are the defaults.")
                .clicked()
            {
                editor.change_stack(label, reset);
            }
            let state = RichText::new(&part.state).color(dim);
            ui.add(Label::new(state).truncate());
        });
    });
    is_open
}
