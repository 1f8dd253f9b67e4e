//! The Preferences dialog: the key map, with warnings for conflicts.

use crate::view::chord::Chord;
use crate::view::commands::Command;
use crate::view::commands::table::Group;
use crate::view::keymap::{self, KeyMap, Preset};
use crate::view::theme;
use eframe::egui;
use egui::{Event, Key, Modal, Modifiers, RichText, Role, ScrollArea, TextEdit, Ui, WidgetInfo};
use egui_material_icons::icons;

/// The dialog and its state.
#[derive(Default)]
pub(super) struct Preferences {
    filter: String,
    /// The command that waits for its new keys.
    learning: Option<Command>,
    /// A conflict to resolve: (command, new keys, command that has them).
    conflict: Option<(Command, Chord, Command)>,
}

impl Preferences {
    /// Draws the dialog; returns whether it stays open. `more` draws the app's own settings.
    pub(super) fn show(&mut self, ctx: &egui::Context, more: impl FnOnce(&mut Ui)) -> bool {
        let mut map = KeyMap::clone(&keymap::of(ctx));
        let before = map.clone();
        self.record_keys(ctx, &mut map);
        let mut close = false;
        let modal = Modal::new(egui::Id::unique("preferences")).show(ctx, |ui| {
            let screen = ui.ctx().content_rect().size();
            ui.set_width(640.0_f32.min(screen.x - 48.0));
            // A constant height, so that nothing moves under the pointer.
            ui.set_height(620.0_f32.min(screen.y - 64.0));
            ui.heading("Preferences");
            more(ui);
            ui.separator();
            ui.horizontal(|ui| {
                ui.strong("Key map");
                for preset in Preset::ALL {
                    ui.radio_value(&mut map.preset, preset, preset.label())
                        .on_hover_text(preset_about(preset));
                }
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    let changed = Command::all().any(|command| map.is_changed(command));
                    let button = egui::Button::new("Reset all keys");
                    let about = "Restore the preset's keys of all commands.";
                    if ui
                        .add_enabled(changed, button)
                        .on_hover_text(about)
                        .clicked()
                    {
                        map.reset_all();
                    }
                });
            });
            let field = TextEdit::singleline(&mut self.filter)
                .hint_text("Filter by name or key")
                .desired_width(f32::INFINITY);
            ui.add(field)
                .widget_info(|| WidgetInfo::labeled(Role::SearchInput, true, "Filter key map"));
            let bottom = ui.spacing().interact_size.y + 16.0;
            ScrollArea::vertical()
                .max_height(ui.available_height() - bottom)
                .auto_shrink([false, false])
                .show(ui, |ui| self.list_ui(ui, &mut map));
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                close = ui.button("Close").on_hover_text("Esc").clicked();
                self.clash_ui(ui, &mut map);
            });
        });
        if map.preset != before.preset {
            // A conflict in the other preset's keys no longer matters.
            self.conflict = None;
            self.learning = None;
        }
        if map != before {
            keymap::set(ctx, map);
        }
        // While recording keys, Esc only ends the recording.
        !close && !modal.should_close()
    }

    /// Records the pressed keys for the waiting command.
    fn record_keys(&mut self, ctx: &egui::Context, map: &mut KeyMap) {
        let Some(command) = self.learning else { return };
        let pressed = ctx.input_mut(|input| {
            let mut found = None;
            input.events.retain(|event| {
                let chord = match event {
                    Event::Key {
                        key,
                        pressed: true,
                        modifiers,
                        ..
                        // Held for the key that follows.
                    } if !is_modifier(*key) => Some(Chord::pressed(*key, *modifiers)),
                    Event::Copy => Some(Chord::pressed(Key::C, Modifiers::COMMAND)),
                    Event::Cut => Some(Chord::pressed(Key::X, Modifiers::COMMAND)),
                    Event::Paste(_) => Some(Chord::pressed(Key::V, Modifiers::COMMAND)),
                    _ => None,
                };
                found = found.or(chord);
                chord.is_none()
            });
            found
        });
        let Some(chord) = pressed else { return };
        self.learning = None;
        if chord == Chord::key(Key::Escape) {
            return;
        }
        let mut tried = map.clone();
        tried.rebind(command, vec![chord]);
        let clash = tried
            .clashes()
            .into_iter()
            .find(|clash| clash.wins == command || clash.loses == command);
        match clash {
            Some(clash) => {
                let other = if clash.wins == command {
                    clash.loses
                } else {
                    clash.wins
                };
                self.conflict = Some((command, chord, other));
            }
            None => *map = tried,
        }
    }

    /// Draws a conflict and its resolution.
    fn clash_ui(&mut self, ui: &mut Ui, map: &mut KeyMap) {
        let palette = theme::palette(ui);
        if let Some((command, chord, other)) = self.conflict {
            let text = format!("{chord} is already used by “{}”.", other.label());
            ui.label(icons::ICON_WARNING.rich_text().color(palette.accent));
            ui.label(text);
            let take = format!("Assign to “{}”", command.label());
            if ui.button(take).clicked() {
                let rest = map.chords(other).iter().copied();
                let rest = rest.filter(|&c| c != chord).collect();
                map.rebind(other, rest);
                map.rebind(command, vec![chord]);
                self.conflict = None;
            }
            if ui.button("Cancel").clicked() {
                self.conflict = None;
            }
            return;
        }
        // A preset of a newer version, or an edited settings file, may contain conflicts.
        let clashes = map.clashes();
        if let Some(clash) = clashes.first() {
            ui.label(icons::ICON_WARNING.rich_text().color(palette.accent));
            let more = match clashes.len() {
                1 => String::new(),
                n => format!(" {} more conflicts.", n - 1),
            };
            let text = format!(
                "Conflict: {} runs “{}”, not “{}”.{more}",
                clash.chord,
                clash.wins.label(),
                clash.loses.label()
            );
            ui.add(egui::Label::new(&text).truncate())
                .on_hover_text(text);
        }
    }

    fn list_ui(&mut self, ui: &mut Ui, map: &mut KeyMap) {
        let wanted = self.filter.to_lowercase();
        let palette = theme::palette(ui);
        for group in Group::ALL {
            let rows: Vec<(Command, String)> = Command::all()
                .filter(|command| command.group() == group)
                .map(|command| {
                    let chords = map.chords(command).iter().map(ToString::to_string);
                    (command, chords.collect::<Vec<_>>().join(", "))
                })
                .filter(|(command, keys)| {
                    command.label().to_lowercase().contains(&wanted)
                        || keys.to_lowercase().contains(&wanted)
                })
                .collect();
            if rows.is_empty() {
                continue;
            }
            ui.strong(group.label());
            for (command, keys) in rows {
                ui.horizontal(|ui| {
                    ui.add_space(8.0);
                    let size = egui::vec2(ui.available_width() - 310.0, theme::ROW);
                    let layout = egui::Layout::left_to_right(egui::Align::Center);
                    ui.allocate_ui_with_layout(size, layout, |ui| {
                        ui.set_min_width(size.x);
                        let label = egui::Label::new(command.label()).truncate();
                        ui.add(label).on_hover_text(command.about());
                    });
                    let is_learning = self.learning == Some(command);
                    let text = if is_learning {
                        "Press the new keys…".to_owned()
                    } else if keys.is_empty() {
                        "none".to_owned()
                    } else {
                        keys
                    };
                    let text = RichText::new(text).monospace().color(if is_learning {
                        palette.accent
                    } else {
                        palette.text
                    });
                    let size = egui::vec2(240.0, theme::ROW);
                    let button = egui::Button::new(text)
                        .selected(is_learning)
                        .min_size(size)
                        .truncate();
                    let response = ui
                        .add_sized(size, button)
                        .on_hover_text("Click, then press the new keys.");
                    response.widget_info(|| {
                        WidgetInfo::labeled(
                            Role::Button,
                            true,
                            format!("Keys of {}", command.label()),
                        )
                    });
                    if response.clicked() {
                        self.learning = (!is_learning).then_some(command);
                        self.conflict = None;
                    }
                    let reset = egui::Button::new(icons::ICON_UNDO.rich_text().size(14.0));
                    let response = ui
                        .add_enabled(map.is_changed(command), reset)
                        .on_hover_text("Restore the preset's keys.");
                    response.widget_info(|| {
                        WidgetInfo::labeled(
                            Role::Button,
                            map.is_changed(command),
                            format!("Reset keys of {}", command.label()),
                        )
                    });
                    if response.clicked() {
                        map.reset(command);
                    }
                });
            }
        }
    }
}

/// A short description of a preset.
pub(super) fn preset_about(preset: Preset) -> &'static str {
    match preset {
        Preset::Blender => "G R S transforms, numpad views, middle button orbits.",
        Preset::Maya => {
            "W E R gizmos, F frames, Alt with the mouse buttons tumbles, tracks and dollies."
        }
    }
}

/// Whether a key only changes the meaning of others.
fn is_modifier(key: Key) -> bool {
    matches!(
        key,
        Key::ShiftLeft
            | Key::ShiftRight
            | Key::ControlLeft
            | Key::ControlRight
            | Key::AltLeft
            | Key::AltRight
            | Key::SuperLeft
            | Key::SuperRight
    )
}
