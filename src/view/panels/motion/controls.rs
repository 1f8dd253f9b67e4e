//! The controls of live motion: record, key pose, calibrate, latency, show.

use super::super::correctives::heading_ui;
use super::super::operation::retarget_options::{root_ui, stretch_ui};
use super::super::operation::rows::row_ui;
use super::listening::sign_ui;
use crate::editor::Editor;
use crate::editor::live::{LATENCIES, LiveMotion};
use crate::view::commands::Command;
use crate::view::theme;
use egui::{Button, RichText, Role, Slider, Ui, WidgetInfo};
use egui_material_icons::icons;

/// Draws the buttons, and the settings that take effect at once.
pub(super) fn controls_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    heading_ui(ui, "Capture", "");
    ui.horizontal_wrapped(|ui| {
        record_ui(ui, editor, commands);
        button_ui(ui, editor, "Key pose", Command::KeyPose, commands);
        calibration_ui(ui, editor, commands);
    });
    offer_ui(ui, editor, commands);
    let mut settings = *editor.live_settings();
    let about = "The delay before a frame is shown. A longer one evens out an unsteady sender; a shorter one follows the body more closely.";
    row_ui(ui, "Latency", about, |ui| {
        ui.spacing_mut().slider_width = 72.0;
        let latency = editor.live_latency();
        let mut millis = (latency * 1e3).round();
        let (from, to) = (LATENCIES.start() * 1e3, LATENCIES.end() * 1e3);
        let slider = Slider::new(&mut millis, from..=to)
            .step_by(1.0)
            .suffix(" ms");
        let response = ui.add_enabled(!settings.is_auto, slider);
        let enabled = !settings.is_auto;
        response.widget_info(|| WidgetInfo::labeled(Role::Slider, enabled, "Latency"));
        let is_changed = response.changed();
        response.on_hover_text(about).on_disabled_hover_text(about);
        if is_changed {
            settings.latency = millis * 1e-3;
        }
        let auto = ui.checkbox(&mut settings.is_auto, "Auto");
        auto.on_hover_text(
            "Use the shortest delay at which 95 % of the packets arrive in time, with a next frame to interpolate to. The slider shows it.",
        );
    });
    let about = Command::ToggleLive.tooltip(ui.ctx());
    ui.checkbox(&mut settings.is_shown, "Show on character")
        .on_hover_text(about);
    root_ui(ui, &mut settings.root);
    stretch_ui(ui, &mut settings.keeps_stretch);
    editor.set_live_settings(settings);
}

fn record_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    let secs = editor.live().and_then(LiveMotion::recorded_secs);
    let command = Command::ToggleRecording;
    let text = if secs.is_some() {
        "Stop recording"
    } else {
        "Record"
    };
    let red = theme::palette(ui).x;
    let sign = match secs {
        Some(_) => icons::ICON_STOP.rich_text(),
        None => icons::ICON_FIBER_MANUAL_RECORD.rich_text(),
    };
    let button = Button::new((sign.size(14.0).color(red), text)).selected(secs.is_some());
    let response = ui.add(button);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, secs.is_some(), text));
    if response.on_hover_text(command.tooltip(ui.ctx())).clicked() {
        commands.push(command);
    }
    if let Some(secs) = secs {
        ui.label(format!("{secs:.1} s"));
    }
}

/// Draws the button, the countdown, and whether the sender is calibrated.
fn calibration_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    let Some(live) = editor.live() else {
        return;
    };
    let (left, is_calibrated) = (live.calibrates_in(), live.is_calibrated());
    if let Some(left) = left {
        let cancel = ui.button("Cancel calibration");
        if cancel.on_hover_text("Calibrate later.").clicked() {
            editor.cancel_live_calibration();
        }
        let text = if left > 0.0 {
            format!("Take a T-pose: {:.0}", left.ceil())
        } else {
            "Hold the T-pose".to_owned()
        };
        ui.label(RichText::new(text).strong());
        return;
    }
    button_ui(ui, editor, "Calibrate", Command::CalibrateLive, commands);
    if is_calibrated {
        let clear = ui.button("Clear");
        clear.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Clear calibration"));
        let about = "The sender is calibrated. Use its rotations as they are sent again.";
        if clear.on_hover_text(about).clicked() {
            editor.clear_live_calibration();
        }
    }
}

/// Draws the offer to calibrate a sender whose body began far from a T-pose.
fn offer_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    let Some(degrees) = editor.live().and_then(LiveMotion::calibration_offer) else {
        return;
    };
    let text = theme::palette(ui).text;
    let sentence = format!(
        "The body began {degrees:.0}\u{b0} from a T- or A-pose, as a seated one does. If the character looks wrong, the sender uses axes of its own: calibrate."
    );
    sign_ui(ui, &sentence, text);
    ui.horizontal_wrapped(|ui| {
        let command = Command::CalibrateLive;
        let about = command.tooltip(ui.ctx());
        let button = ui.button("Calibrate now");
        if button.on_hover_text(about).clicked() {
            commands.push(command);
        }
        let about = "Use the rotations as they are sent.";
        if ui.button("Not now").on_hover_text(about).clicked() {
            editor.decline_live_calibration();
        }
    });
}

fn button_ui(
    ui: &mut Ui,
    editor: &Editor,
    text: &str,
    command: Command,
    commands: &mut Vec<Command>,
) {
    let enabled = command.is_enabled(editor);
    let response = ui.add_enabled(enabled, Button::new(text));
    let about = command.tooltip(ui.ctx());
    let response = response
        .on_hover_text(&about)
        .on_disabled_hover_text(&about);
    if response.clicked() {
        commands.push(command);
    }
}
