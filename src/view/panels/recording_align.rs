//! The alignment of the active recording with another one: by stamps, or by channels that show the same motion.

use super::clusters::layer_row::dim_ui;
use super::correctives::fields::{named_ui, pick_ui};
use super::correctives::heading_ui;
use crate::cluster::channel::RecordingId;
use crate::editor::Editor;
use crate::view::commands::Command;
use egui::{Button, Label, Ui};

/// Draws the fields, the commands and what they found, for the active recording.
pub(super) fn align_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    id: RecordingId,
    commands: &mut Vec<Command>,
) {
    heading_ui(ui, "Align recordings", "");
    let about = "The channel in which claps are found, and which is compared with that of the reference. Rotations and markers are compared by their speed.";
    channel_ui(ui, editor, ("Channel", about), id);
    if let Some(reference) = editor.alignment_reference() {
        reference_ui(ui, editor, id, reference);
        let about = "The channel of the reference that shows the same motion.";
        channel_ui(ui, editor, ("Its channel", about), reference);
    } else {
        dim_ui(ui, "Add another recording to align this one with it.");
    }
    ui.horizontal_wrapped(|ui| {
        for command in [
            Command::FindClaps,
            Command::AlignByStamps,
            Command::SuggestOffset,
        ] {
            command_ui(ui, editor, command, commands);
        }
    });
    for line in editor.alignment_report() {
        ui.add(Label::new(line).wrap());
    }
    if let Some(suggested) = editor.suggested_offset() {
        ui.add(Label::new(suggested.text()).wrap());
        command_ui(ui, editor, Command::ApplyOffset, commands);
    }
}

fn command_ui(ui: &mut Ui, editor: &Editor, command: Command, commands: &mut Vec<Command>) {
    let why = command.why_disabled(editor);
    let button = ui.add_enabled(why.is_none(), Button::new(command.label()));
    let button = button.on_hover_text(command.tooltip(ui.ctx()));
    let button = button.on_disabled_hover_text(why.unwrap_or(command.about()));
    if button.clicked() {
        commands.push(command);
    }
}

fn reference_ui(ui: &mut Ui, editor: &mut Editor, id: RecordingId, shown: RecordingId) {
    let about = "The recording whose clock stays as it is.";
    let recordings = editor.document().recordings().clone();
    let others = recordings.iter().filter(|(other, _)| **other != id);
    let others = others.filter(|(_, item)| item.content.is_ok());
    let choices: Vec<(RecordingId, &str, &str)> = others
        .map(|(other, item)| (*other, item.name.as_str(), about))
        .collect();
    let chosen = named_ui(ui, "Reference", about, |ui| {
        let width = ui.available_width();
        let (response, chosen) = pick_ui(ui, "Reference", width, shown, &choices);
        response.on_hover_text(about);
        chosen
    });
    if let Some(chosen) = chosen {
        editor.set_alignment_reference(chosen);
    }
}

fn channel_ui(ui: &mut Ui, editor: &mut Editor, (label, about): (&str, &str), of: RecordingId) {
    let Some(shown) = editor.motion_channel(of) else {
        return;
    };
    let names = editor.motion_channels(of);
    let choices: Vec<(&str, &str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), name.as_str(), about))
        .collect();
    let chosen = named_ui(ui, label, about, |ui| {
        let width = ui.available_width();
        let (response, chosen) = pick_ui(ui, label, width, shown.as_str(), &choices);
        response.on_hover_text(about);
        chosen
    });
    if let Some(chosen) = chosen {
        editor.set_motion_channel(of, chosen);
    }
}
