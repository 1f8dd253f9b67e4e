//! The active sample set of the object, reduced to its clusters.

use crate::editor::Editor;
use crate::finding::counted;
use crate::view::commands::Command;
use crate::view::panels::correctives::heading_ui;
use crate::view::theme;
use egui::{Button, Label, RichText, Ui};

/// Draws the command, and what of the samples it kept; nothing where the object has no sample set.
pub(super) fn samples_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    let set = editor
        .active_set()
        .and_then(|set| editor.correctives()?.sets().get(set));
    let Some(set) = set else {
        return;
    };
    let n = counted(set.n_samples(), "sample");
    heading_ui(ui, "Correctives", &format!("{}, {n}", set.name));
    let dim = theme::palette(ui).text_dim;
    let command = Command::ReduceSamples;
    let button = ui.add_enabled(command.is_enabled(editor), Button::new(command.label()));
    let button = button.on_hover_text(command.tooltip(ui.ctx()));
    if button.on_disabled_hover_text(command.about()).clicked() {
        commands.push(command);
    }
    if let Some(kept) = editor.reduced_samples() {
        ui.add(Label::new(RichText::new(kept).color(dim)).wrap());
    }
    ui.separator();
}
