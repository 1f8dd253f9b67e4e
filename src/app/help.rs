//! The help (F1): keys and mouse gestures of the mode.

use crate::document::session::Session;
use crate::view::commands::Command;
use crate::view::commands::table::Group;
use crate::view::hints::hints;
use crate::view::keymap;
use crate::view::mode::Mode;
use crate::view::theme;
use eframe::egui;
use egui::{Grid, Modal, Modifiers, RichText, ScrollArea};

/// Draws the help over the window; returns whether it stays open.
pub(super) fn help_ui(ctx: &egui::Context, mode: Mode, session: &Session) -> bool {
    let map = keymap::of(ctx);
    let mut close = false;
    let modal = Modal::new(egui::Id::unique("help")).show(ctx, |ui| {
        let screen = ui.ctx().content_rect().size();
        ui.set_width(960.0_f32.min(screen.x - 48.0));
        ui.set_height(720.0_f32.min(screen.y - 64.0));
        ui.horizontal(|ui| {
            ui.heading(format!("Keys and mouse in {} mode", mode.label()));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                close = ui.button("Close").on_hover_text("Close this dialog  (Esc)").clicked();
            });
        });
        ui.label(
            RichText::new(format!(
                "{} preset. Change any key in Edit › Preferences. Press F3 to find a command by name.",
                map.preset.label()
            ))
            .color(theme::palette(ui).text_dim),
        );
        ScrollArea::vertical()
            .max_height(ui.available_height())
            .auto_shrink([false, false])
            .show(ui, |ui| {
                ui.horizontal_top(|ui| {
                    let columns = if ui.available_width() > 700.0 { 3 } else { 2 };
                    let width = (ui.available_width() / columns as f32 - 12.0).max(160.0);
                    let mut parts = vec![mouse_part(mode, &map, session)];
                    parts.extend(Group::ALL.map(|group| key_part(group, mode, &map)));
                    parts.retain(|(_, rows)| !rows.is_empty());
                    for column in share(parts, columns) {
                        ui.vertical(|ui| {
                            ui.set_width(width);
                            for (title, rows) in column {
                                part_ui(ui, &title, &rows);
                            }
                        });
                    }
                });
            });
    });
    !close && !modal.should_close()
}

type Part = (String, Vec<(String, String)>);

fn mouse_part(mode: Mode, map: &keymap::KeyMap, session: &Session) -> Part {
    let held = [
        Modifiers::NONE,
        Modifiers::CTRL,
        Modifiers::SHIFT,
        Modifiers::ALT,
    ];
    let mut rows: Vec<(String, String)> = Vec::new();
    let hints = held
        .iter()
        .flat_map(|&held| hints(mode, held, map, session));
    for (what, does) in hints {
        if rows.iter().all(|(known, _)| *known != what) {
            rows.push((what.into_owned(), does.to_owned()));
        }
    }
    ("Mouse".to_owned(), rows)
}

fn key_part(group: Group, mode: Mode, map: &keymap::KeyMap) -> Part {
    let rows = Command::all()
        .filter(|command| command.group() == group && command.row().modes.contains(&mode))
        .filter(|&command| !map.chords(command).is_empty())
        .map(|command| {
            let chords = map.chords(command).iter().map(ToString::to_string);
            let keys = chords.collect::<Vec<_>>().join(", ");
            (keys, command.label().to_owned())
        });
    (group.label().to_owned(), rows.collect())
}

/// Distributes the parts over columns of similar height, keeping their order.
fn share(parts: Vec<Part>, n_columns: usize) -> Vec<Vec<Part>> {
    let height = |part: &Part| part.1.len() + 2;
    let all: usize = parts.iter().map(height).sum();
    let mut columns: Vec<Vec<Part>> = vec![Vec::new()];
    let mut filled = 0;
    for part in parts {
        let is_full = filled * n_columns >= all * columns.len();
        if is_full && columns.len() < n_columns {
            columns.push(Vec::new());
        }
        filled += height(&part);
        if let Some(last) = columns.last_mut() {
            last.push(part);
        }
    }
    columns
}

fn part_ui(ui: &mut egui::Ui, title: &str, rows: &[(String, String)]) {
    let palette = theme::palette(ui);
    ui.strong(title);
    Grid::new(("help", title))
        .num_columns(2)
        .spacing([12.0, 2.0])
        .show(ui, |ui| {
            for (keys, does) in rows {
                ui.label(RichText::new(keys).monospace().color(palette.text));
                ui.add(egui::Label::new(RichText::new(does).color(palette.text_dim)).wrap());
                ui.end_row();
            }
        });
    ui.add_space(8.0);
}
