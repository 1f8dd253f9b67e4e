//! Clip, play, time.

use super::command_button_ui;
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{RichText, Role, Ui, WidgetInfo};
use egui_material_icons::icons;

/// Clip, play, time.
pub fn timeline_ui(ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
    let mut asked = Vec::new();
    ui.horizontal(|ui| {
        let clips: Vec<_> = editor
            .document()
            .clips()
            .iter()
            .map(|(&id, c)| (id, clip_label(id.0, &c.name)))
            .collect();
        if clips.is_empty() {
            ui.label(RichText::new("No clips in this file.").color(theme::palette(ui).text_dim));
            return;
        }
        let playing = editor.is_playing();
        let icon = if playing {
            icons::ICON_PAUSE
        } else {
            icons::ICON_PLAY_ARROW
        };
        command_button_ui(ui, Command::PlayPause, icon, editor, &mut asked);
        let shown = editor.document().session().playback.clip;
        let text = clips
            .iter()
            .find(|(id, _)| Some(*id) == shown)
            .map_or("Own pose", |(_, label)| label.as_str());
        let combo = egui::ComboBox::from_id_salt("clip")
            .width(180.0)
            .selected_text(text)
            .show_ui(ui, |ui| {
                let mut chosen = None;
                if ui.selectable_label(shown.is_none(), "Own pose").clicked() {
                    chosen = Some(None);
                }
                for (id, label) in &clips {
                    if ui.selectable_label(shown == Some(*id), label).clicked() {
                        chosen = Some(Some(*id));
                    }
                }
                chosen
            });
        combo
            .response
            .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Clip"));
        combo
            .response
            .on_hover_text("The clip on screen, or the pose you made.");
        if let Some(chosen) = combo.inner.flatten() {
            editor.show_clip(chosen);
        }
        if let Some((start, end)) = editor.clip_range() {
            let mut time = editor.document().session().playback.time_secs;
            let width = (ui.available_width() - 90.0).max(60.0);
            ui.spacing_mut().slider_width = width;
            let slider =
                egui::Slider::new(&mut time, start..=end.max(start + 1e-3)).show_value(false);
            let response = ui.add(slider);
            response.widget_info(|| WidgetInfo::slider(true, time, "Time"));
            if response.on_hover_text("Drag to scrub.").changed() {
                editor.set_time(time);
            }
            ui.label(RichText::new(format!("{time:6.2} s")).monospace());
        }
    });
    asked
}

fn clip_label(index: u32, name: &str) -> String {
    if name.is_empty() {
        format!("Clip {index}")
    } else {
        name.to_owned()
    }
}
