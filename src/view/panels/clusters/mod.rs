//! The Clusters panel: groups of control clusters, and the surface between them.
//!
//! Data flow: the clusters of the active object -> rows -> commands, or changes that the editor applies at once.

mod glyph;
mod groups;
mod hand;
mod patches;

pub(in crate::view) use glyph::glyph_ui;

use super::rename::NameField;
use crate::cluster::GroupPreset;
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{Button, Label, RichText, ScrollArea, Ui};

/// The Clusters panel and its state between frames.
#[derive(Default)]
pub struct ClustersPanel {
    /// The model that it shows.
    model: u64,
    rename: Option<Rename>,
    sparse: patches::Sparse,
    /// Whether a colour is being dragged, in one undo step.
    is_colouring: bool,
}

/// A name being edited.
struct Rename {
    group: u16,
    field: NameField,
}

impl ClustersPanel {
    /// Draws the panel; returns the requested commands.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
        let mut commands = Vec::new();
        if std::mem::replace(&mut self.model, editor.model_serial()) != editor.model_serial() {
            self.rename = None;
        }
        // End a drag whose release no widget received.
        if self.is_colouring && !ui.input(|i| i.pointer.any_down()) {
            self.is_colouring = false;
            editor.end_step();
        }
        let n_groups = editor.cluster_groups().len();
        let is_there = |rename: &Rename| usize::from(rename.group) < n_groups;
        if !self.rename.as_ref().is_none_or(is_there) {
            self.rename = None;
        }
        if editor.clusters().is_none() {
            let text = "Select an object to mark control clusters on it.";
            ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
            return commands;
        }
        ScrollArea::vertical()
            .id_salt("clusters")
            .auto_shrink([false, false])
            .show(ui, |ui| {
                if n_groups == 0 {
                    empty_ui(ui, editor, &mut commands);
                    return;
                }
                self.groups_ui(ui, editor, &mut commands);
                ui.separator();
                self.patches_ui(ui, editor, &mut commands);
            });
        commands
    }

    /// Starts renaming the active group.
    pub fn start_renaming(&mut self, editor: &Editor) {
        if let Some(group) = editor.active_group()
            && let Some(known) = editor.cluster_groups().get(usize::from(group))
        {
            self.rename = Some(Rename {
                group,
                field: NameField::new(known.name.clone()),
            });
        }
    }
}

/// Draws the empty state.
fn empty_ui(ui: &mut Ui, editor: &Editor, commands: &mut Vec<Command>) {
    ui.label("No clusters.");
    let dim = theme::palette(ui).text_dim;
    let text = "Mark a few vertices; the rest follow Bezier patches. Drag over the model in Cluster mode to mark clusters \
                into a new group, or add one of these groups first.";
    ui.add(Label::new(RichText::new(text).color(dim)).wrap());
    ui.add_space(4.0);
    for preset in GroupPreset::ALL {
        let command = Command::AddGroup(preset);
        let enabled = command.is_enabled(editor);
        let button = ui.add_enabled(enabled, Button::new(command.label()));
        if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
            commands.push(command);
        }
    }
}
