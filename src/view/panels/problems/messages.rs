//! The message log.

use crate::editor::Editor;
use crate::view::theme;
use egui::{RichText, ScrollArea, Ui};
use egui_material_icons::icons;
use std::time::{Duration, SystemTime};

/// What the button of a message with a place does.
const SHOW: &str = "Select and frame what the message is about.";

/// Draws the buttons of the log.
pub(super) fn head_ui(ui: &mut Ui, editor: &mut Editor) {
    let any = !editor.messages().is_empty();
    let response = ui
        .add_enabled(any, egui::Button::new("Clear"))
        .on_hover_text("Delete these messages.");
    if response.clicked() {
        editor.clear_messages();
    }
}

/// Draws the messages, newest first.
pub(super) fn messages_ui(ui: &mut Ui, editor: &mut Editor) {
    let palette = theme::palette(ui);
    if editor.messages().is_empty() {
        ui.label(RichText::new("No messages yet.").color(palette.text_dim));
        return;
    }
    let now = SystemTime::now();
    let mut go_to = None;
    ScrollArea::vertical()
        .id_salt("messages")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            for message in editor.messages().iter().rev() {
                ui.horizontal_wrapped(|ui| {
                    let (icon, word, colour) = if message.is_error {
                        (icons::ICON_ERROR, "Error", palette.error)
                    } else {
                        (icons::ICON_INFO, "Info", palette.text_dim)
                    };
                    ui.label(icon.rich_text().size(14.0).color(colour));
                    ui.label(RichText::new(word).color(colour));
                    let age = now.duration_since(message.at).unwrap_or_default();
                    let times = if message.n_times > 1 {
                        format!(", {} times", message.n_times)
                    } else {
                        String::new()
                    };
                    ui.label(
                        RichText::new(format!("{}{times}", age_text(age))).color(palette.text_dim),
                    )
                    .on_hover_text(format!("{} UTC", clock(message.at)));
                    ui.label(&message.text);
                    if let Some(target) = &message.target
                        && ui.small_button("Show").on_hover_text(SHOW).clicked()
                    {
                        go_to = Some(target.clone());
                    }
                });
            }
        });
    if let Some(target) = go_to {
        editor.go_to_place(&target);
    }
}

/// The age in age_text.
fn age_text(age: Duration) -> String {
    match age.as_secs() {
        0..10 => "just now".to_owned(),
        s @ 10..60 => format!("{s} s ago"),
        s @ 60..3600 => format!("{} min ago", s / 60),
        s => format!("{} h ago", s / 3600),
    }
}

/// The time of day in UTC, HH:MM:SS.
fn clock(at: SystemTime) -> String {
    let secs = at
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs())
        % 86_400;
    format!("{:02}:{:02}:{:02}", secs / 3600, secs / 60 % 60, secs % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_clocks_read_well() {
        assert_eq!(age_text(Duration::from_secs(3)), "just now");
        assert_eq!(age_text(Duration::from_secs(200)), "3 min ago");
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * 3 + 3661);
        assert_eq!(clock(at), "01:01:01");
    }
}
