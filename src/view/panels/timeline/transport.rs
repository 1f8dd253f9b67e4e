//! The transport row: playback buttons, time and frame rate.

use super::clips::{ClipPicker, WIDTH};
use super::{BUTTON, clip_menu};
use crate::editor::Editor;
use crate::editor::playback::SPEEDS;
use crate::skeleton::clip_keys::FRAME_RATES;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{
    Align, Button, ComboBox, DragValue, Layout, Rect, Response, Role, Ui, UiBuilder, Vec2,
    WidgetInfo,
};
use egui_material_icons::{MaterialIcon, icons};

/// Width of the keyframe button with its text, points.
const KEY_BUTTON_WIDTH: f32 = 96.0;

/// Widths of the time fields, points.
const SECONDS: f32 = 58.0;
const FRAME: f32 = 84.0;

/// Draws playback, time, frame rate, clip selector and keyframe button.
pub(super) fn transport_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    picker: &mut ClipPicker,
    commands: &mut Vec<Command>,
) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let play = if editor.is_playing() {
            icons::ICON_PAUSE
        } else {
            icons::ICON_PLAY_ARROW
        };
        for (command, icon) in [
            (Command::FirstFrame, icons::ICON_SKIP_PREVIOUS),
            (Command::PreviousKey, icons::ICON_LINE_START_DIAMOND),
            (Command::PreviousFrame, icons::ICON_CHEVRON_LEFT),
            (Command::PlayPause, play),
            (Command::NextFrame, icons::ICON_CHEVRON_RIGHT),
            (Command::NextKey, icons::ICON_LINE_END_DIAMOND),
            (Command::LastFrame, icons::ICON_SKIP_NEXT),
        ] {
            button_ui(ui, command, icon, None, editor, commands);
        }
        let looping = editor.playback().looping;
        button_ui(
            ui,
            Command::ToggleLoop,
            icons::ICON_REPEAT,
            Some(looping),
            editor,
            commands,
        );
        speed_ui(ui, editor);
        room_ui(ui, 72.0);
        frame_rate_ui(ui, editor);
        gap_ui(ui);
        room_ui(ui, SECONDS + FRAME + 4.0);
        time_ui(ui, editor);
        gap_ui(ui);
        room_ui(ui, WIDTH);
        picker.show_ui(ui, editor);
        room_ui(ui, 114.0);
        clip_menu::rigid_interpolation_ui(ui, editor, commands);
        room_ui(ui, 5.0 * (BUTTON.x + 2.0));
        for (command, icon) in [
            (Command::NewClip, icons::ICON_ADD),
            (Command::DuplicateClip, icons::ICON_CONTENT_COPY),
            (Command::RenameClip, icons::ICON_EDIT),
            (Command::DeleteClip, icons::ICON_DELETE),
        ] {
            button_ui(ui, command, icon, None, editor, commands);
        }
        clip_menu::clip_menu_ui(ui, editor, commands);
        gap_ui(ui);
        room_ui(ui, 2.0 * BUTTON.x + 2.0);
        auto_key_ui(ui, editor, commands);
        key_button_ui(ui, editor, commands);
    });
}

/// Draws the badge for an unkeyed pose; a click inserts a keyframe.
pub(super) fn badge_ui(ui: &mut Ui, rect: Rect, editor: &Editor, commands: &mut Vec<Command>) {
    if !editor.playback().unkeyed {
        return;
    }
    let keys = Command::KeyPose.keys(ui.ctx());
    let text = if keys.is_empty() {
        "Not keyed".to_owned()
    } else {
        format!("Not keyed ({keys})")
    };
    let rect = rect.shrink2(Vec2::new(0.0, 2.0));
    let layout = Layout::left_to_right(Align::Center);
    ui.scope_builder(UiBuilder::new().max_rect(rect).layout(layout), |ui| {
        ui.spacing_mut().button_padding.x = 4.0;
        let stroke = egui::Stroke::new(1.0, theme::palette(ui).text);
        let button = Button::new((icons::ICON_WARNING.rich_text().size(13.0), text.as_str()))
            .stroke(stroke)
            .truncate();
        let response = ui.add(button);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &text));
        let about =
            "The pose is not keyed. It is lost when the time changes. Click to insert a keyframe.";
        if response.on_hover_text(about).clicked() {
            commands.push(Command::KeyPose);
        }
    });
}

/// Starts a new row if the next `width` points do not fit.
fn room_ui(ui: &mut Ui, width: f32) {
    if ui.available_size_before_wrap().x < width {
        ui.end_row();
    }
}

fn gap_ui(ui: &mut Ui) {
    ui.add_space(8.0);
}

/// An icon button of a command; `on` is the state of a toggle.
fn button_ui(
    ui: &mut Ui,
    command: Command,
    icon: MaterialIcon,
    on: Option<bool>,
    editor: &Editor,
    commands: &mut Vec<Command>,
) {
    let enabled = command.is_enabled(editor);
    let button = Button::new(icon.rich_text().size(16.0))
        .selected(on == Some(true))
        .min_size(BUTTON);
    ui.scope(|ui| {
        ui.spacing_mut().button_padding = Vec2::new(4.0, 2.0);
        let response = ui.add_enabled(enabled, button);
        finish(ui, response, command, on, enabled, commands);
    });
}

/// The button that turns auto keying on: a dot, red while it is on.
fn auto_key_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    let command = Command::ToggleAutoKey;
    let (enabled, on) = (command.is_enabled(editor), editor.playback().auto_key);
    let palette = theme::palette(ui);
    let colour = if on { palette.x } else { palette.text };
    let icon = icons::ICON_FIBER_MANUAL_RECORD.rich_text().size(16.0);
    let button = Button::new(icon.color(colour))
        .selected(on)
        .min_size(BUTTON);
    ui.scope(|ui| {
        ui.spacing_mut().button_padding = Vec2::new(4.0, 2.0);
        let response = ui.add_enabled(enabled, button);
        finish(ui, response, command, Some(on), enabled, commands);
    });
}

/// The button that inserts a keyframe; without its text where the row has no room for it.
fn key_button_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    let command = Command::KeyPose;
    let enabled = command.is_enabled(editor);
    let icon = icons::ICON_KEY.rich_text().size(14.0);
    let button = if ui.available_size_before_wrap().x < KEY_BUTTON_WIDTH {
        Button::new(icon).min_size(BUTTON)
    } else {
        Button::new((icon, "Keyframe"))
    };
    let response = ui.add_enabled(enabled, button);
    finish(ui, response, command, None, enabled, commands);
}

fn finish(
    ui: &Ui,
    response: Response,
    command: Command,
    on: Option<bool>,
    enabled: bool,
    commands: &mut Vec<Command>,
) {
    response.widget_info(|| match on {
        Some(on) => WidgetInfo::selected(Role::Button, enabled, on, command.label()),
        None => WidgetInfo::labeled(Role::Button, enabled, command.label()),
    });
    let about = format!("{}\n{}", command.label(), command.tooltip(ui.ctx()));
    let response = response
        .on_hover_text(&about)
        .on_disabled_hover_text(&about);
    if response.clicked() {
        commands.push(command);
    }
}

fn speed_ui(ui: &mut Ui, editor: &mut Editor) {
    let mut speed = editor.playback().speed;
    let field = DragValue::new(&mut speed)
        .range(SPEEDS)
        .speed(0.01)
        .fixed_decimals(2)
        .suffix("×");
    let response = field_ui(ui, 52.0, field);
    name(&response, "Speed", speed);
    let response =
        response.on_hover_text("Playback speed, 0.1 to 4. Drag, or double-click to type.");
    if response.changed() {
        editor.set_speed(speed);
    }
}

/// Draws the time in seconds and frames.
fn time_ui(ui: &mut Ui, editor: &mut Editor) {
    let fps = editor.playback().fps;
    let mut secs = editor.playback().time_secs;
    let has_clip = editor.shown_clip().is_some();
    ui.add_enabled_ui(has_clip, |ui| {
        let shown = secs;
        let field = DragValue::new(&mut secs)
            .range(0.0..=f64::MAX)
            .speed(0.01)
            .fixed_decimals(2)
            .suffix(" s");
        let response = field_ui(ui, SECONDS, field);
        name(&response, "Seconds", secs);
        // Leaving the field reads its rounded text again. Ignore that.
        let is_rounding = response.lost_focus() && (secs - shown).abs() <= 5e-3;
        let response = response.on_hover_text("Current time in seconds.");
        if response.changed() && !is_rounding {
            editor.set_time(secs);
        }
        let mut frame = editor.frame();
        let shown = frame;
        let decimals = usize::from((frame - frame.round()).abs() > 0.01);
        let field = DragValue::new(&mut frame)
            .range(0.0..=f64::MAX)
            .speed(0.1)
            .fixed_decimals(decimals)
            .prefix("frame ");
        let response = field_ui(ui, FRAME, field);
        name(&response, "Frame", frame);
        let is_rounding = response.lost_focus() && (frame - shown).abs() <= 0.05;
        let response = response.on_hover_text("Current frame. The first frame is 0.");
        if response.changed() && !is_rounding {
            editor.set_time(frame.round() / f64::from(fps));
        }
    });
}

/// Draws the frame rate.
fn frame_rate_ui(ui: &mut Ui, editor: &mut Editor) {
    let fps = editor.playback().fps;
    let combo = ComboBox::from_id_salt("frame rate")
        .width(64.0)
        .selected_text(format!("{fps} fps"))
        .show_ui(ui, |ui| {
            let mut chosen = None;
            for rate in FRAME_RATES {
                if ui
                    .selectable_label(rate == fps, format!("{rate} fps"))
                    .clicked()
                {
                    chosen = Some(rate);
                }
            }
            chosen
        });
    combo
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Frames per second"));
    combo.response.on_hover_text(
        "Frames per second for display, stepping and snapping. Keyframes keep their times.",
    );
    if let Some(chosen) = combo.inner.flatten() {
        editor.set_fps(chosen);
    }
}

/// A number field of fixed width, so that nothing moves during playback.
fn field_ui(ui: &mut Ui, width: f32, field: DragValue<'_>) -> Response {
    ui.add_sized([width, theme::ROW], field)
}

fn name(response: &Response, label: &str, value: f64) {
    response.widget_info(|| WidgetInfo {
        label: Some(label.to_owned()),
        ..WidgetInfo::drag_value(response.enabled(), value)
    });
}
