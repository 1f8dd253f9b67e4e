//! Find command (F3): run any command by name.

use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::theme;
use eframe::egui;
use egui::{Align, Key, Modal, Modifiers, RichText, Role, ScrollArea, TextEdit, WidgetInfo};

/// The dialog with the list of matching commands.
#[derive(Default)]
pub(super) struct FindCommand {
    text: String,
    /// The row that Enter runs.
    chosen: usize,
    asked_focus: bool,
}

/// The result of the dialog in a frame.
pub(super) enum SearchResult {
    /// Still open.
    Open,
    Closed,
    Run(Command),
}

impl FindCommand {
    pub(super) fn show(&mut self, ctx: &egui::Context, editor: &Editor) -> SearchResult {
        let mut answer = SearchResult::Open;
        // Read before the field, which would use them to move its cursor.
        let (up, down, enter) = ctx.input_mut(|i| {
            (
                i.consume_key(Modifiers::NONE, Key::ArrowUp),
                i.consume_key(Modifiers::NONE, Key::ArrowDown),
                i.consume_key(Modifiers::NONE, Key::Enter),
            )
        });
        let modal = Modal::new(egui::Id::unique("find command")).show(ctx, |ui| {
            ui.set_width(520.0_f32.min(ui.ctx().content_rect().width() - 48.0));
            ui.heading("Find command");
            let field = TextEdit::singleline(&mut self.text)
                .hint_text("Search commands")
                .desired_width(f32::INFINITY);
            let response = ui.add(field);
            response.widget_info(|| WidgetInfo::labeled(Role::SearchInput, true, "Find command"));
            if !std::mem::replace(&mut self.asked_focus, true) {
                response.request_focus();
            }
            if response.changed() {
                self.chosen = 0;
            }
            let found = matching(&self.text, editor);
            let n = found.len();
            if up {
                self.chosen = self.chosen.saturating_sub(1);
            }
            if down {
                self.chosen = (self.chosen + 1).min(n.saturating_sub(1));
            }
            if n == 0 {
                ui.label("No matching command. Try another word, or press Esc to close.");
            }
            ScrollArea::vertical()
                .max_height(LIST)
                // The window remembers its height, so a short list would keep all later ones short.
                .min_scrolled_height(LIST)
                .auto_shrink([false, true])
                .show(ui, |ui| {
                    for (i, &command) in found.iter().enumerate() {
                        let (response, enabled) = row_ui(ui, command, editor, i == self.chosen);
                        if i == self.chosen && (up || down) {
                            response.scroll_to_me(Some(Align::Center));
                        }
                        let entered = enter && i == self.chosen;
                        if enabled && (response.clicked() || entered) {
                            answer = SearchResult::Run(command);
                        }
                    }
                });
        });
        if modal.should_close() && matches!(answer, SearchResult::Open) {
            answer = SearchResult::Closed;
        }
        answer
    }
}

/// The height of the list of commands, points.
const LIST: f32 = 12.0 * (theme::ROW + 4.0);

/// Draws one command: menu and name, tooltip, keys.
fn row_ui(
    ui: &mut egui::Ui,
    command: Command,
    editor: &Editor,
    chosen: bool,
) -> (egui::Response, bool) {
    let palette = theme::palette(ui);
    let enabled = command.is_enabled(editor);
    let label = command.full_label(editor);
    let colour = if enabled {
        palette.text
    } else {
        palette.text_dim
    };
    let menu = RichText::new(format!("{} ›", command.group().label())).color(palette.text_dim);
    let name = RichText::new(&label).color(colour);
    let button = egui::Button::selectable(chosen, (menu, name))
        .shortcut_text(command.keys(ui.ctx()))
        .min_size(egui::vec2(ui.available_width(), theme::ROW));
    let response = ui
        .add_enabled(enabled, button)
        .on_hover_text(command.about());
    let response = if enabled {
        response
    } else {
        let why = command.why_disabled(editor);
        let why = why.unwrap_or("Not available now.");
        response.on_disabled_hover_text(format!("{} {why}", command.about()))
    };
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, enabled, chosen, &label));
    (response, enabled)
}

/// The commands whose menu, name or tooltip contain all words of `text`; matches in names first, of these the enabled ones
/// first.
fn matching(text: &str, editor: &Editor) -> Vec<Command> {
    let text = spelled(text);
    let words: Vec<&str> = text.split_whitespace().collect();
    let rank = |command: Command| {
        let name = spelled(&command.full_label(editor));
        let (group, about) = (command.group().label(), command.about());
        let all = format!("{} {name} {}", spelled(group), spelled(about));
        if !words.iter().all(|word| all.contains(word)) {
            return None;
        }
        let closeness = if name.starts_with(&text) {
            0
        } else if words.iter().all(|word| name.contains(word)) {
            1
        } else {
            2
        };
        Some((closeness, !command.is_enabled(editor)))
    };
    let mut found: Vec<_> = Command::all()
        .filter_map(|command| Some((rank(command)?, command)))
        .collect();
    found.sort_by_key(|&(rank, _)| rank);
    found.into_iter().map(|(_, command)| command).collect()
}

/// A text in lower case and in one spelling: American words find British ones.
fn spelled(text: &str) -> String {
    let text = text.to_lowercase();
    let pairs = [
        ("iz", "is"),
        ("yz", "ys"),
        ("color", "colour"),
        ("center", "centre"),
    ];
    pairs.iter().fold(text, |text, (american, british)| {
        text.replace(american, british)
    })
}
