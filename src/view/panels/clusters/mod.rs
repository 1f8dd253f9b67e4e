//! The Clusters panel: groups of control clusters, and the surface between them.
//!
//! Data flow: the clusters of the active object -> rows -> commands, or changes that the editor applies at once.

mod binding;
mod controls;
mod curve;
mod data;
mod driver_input;
mod driver_response;
mod driver_sink;
mod drivers;
mod flexion;
mod glyph;
mod groups;
mod hand;
mod kept;
pub(in crate::view::panels) mod layer_row;
mod muscle;
mod muscles;
mod patches;
pub(in crate::view::panels) mod pick;
mod played;
mod plot;
mod samples;
mod strength;
mod suggestion;
mod surface;

pub(in crate::view) use glyph::glyph_ui;

use super::recordings::RecordingList;
use super::rename::NameField;
use crate::cluster::{DataLayer, DriverLayer, GroupPreset};
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::theme;
use egui::{Button, Label, RichText, ScrollArea, Ui};
use egui_material_icons::icons;

/// What a recording is for, where there is none.
const NO_RECORDINGS: &str = "A recording holds markers and values over time: a CSV, TRC or JSON lines file. It can place and displace clusters, and be \
                             read by drivers. Drop the file on the window, or choose it.";

/// The Clusters panel and its state between frames.
#[derive(Default)]
pub struct ClustersPanel {
    /// The model that it shows.
    model: u64,
    rename: Option<Rename>,
    recordings: RecordingList,
    /// The binding of the active data that is edited.
    binding: usize,
    /// Whether a colour, a number or a point of a curve is being dragged, in one undo step.
    is_dragging: bool,
}

/// A name being edited.
struct Rename {
    what: Renamed,
    field: NameField,
}

/// What has the name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Renamed {
    Group(u16),
    /// A muscle of the active group.
    Muscle(usize),
    /// A driver of the active group.
    Driver(usize),
    /// Data of the active group.
    Data(usize),
}

impl ClustersPanel {
    /// Draws the panel; returns the requested commands.
    pub fn show_ui(&mut self, ui: &mut Ui, editor: &mut Editor) -> Vec<Command> {
        let mut commands = Vec::new();
        if std::mem::replace(&mut self.model, editor.model_serial()) != editor.model_serial() {
            self.rename = None;
        }
        // End a drag whose release no widget received.
        if self.is_dragging && !ui.input(|i| i.pointer.any_down()) {
            self.is_dragging = false;
            editor.end_step();
        }
        let n_groups = editor.cluster_groups().len();
        let n_muscles = editor.muscles().len();
        let n_drivers = editor.group_layers::<DriverLayer>().len();
        let n_data = editor.group_layers::<DataLayer>().len();
        let is_there = |rename: &Rename| match rename.what {
            Renamed::Group(group) => usize::from(group) < n_groups,
            Renamed::Muscle(muscle) => muscle < n_muscles,
            Renamed::Driver(driver) => driver < n_drivers,
            Renamed::Data(data) => data < n_data,
        };
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
                    ui.separator();
                    suggestion::suggestion_ui(ui, editor, &mut commands);
                    return;
                }
                self.groups_ui(ui, editor, &mut commands);
                ui.separator();
                // Their layers have fields of the same names.
                ui.push_id("muscles", |ui| self.muscles_ui(ui, editor, &mut commands));
                ui.separator();
                ui.push_id("drivers", |ui| self.drivers_ui(ui, editor, &mut commands));
                ui.separator();
                ui.push_id("data", |ui| self.data_ui(ui, editor));
                kept::kept_ui(ui, editor);
                let adding = [(Command::AddRecording, icons::ICON_ADD)];
                let adding = (adding.as_slice(), NO_RECORDINGS);
                self.recordings.show_ui(ui, editor, adding, &mut commands);
                ui.separator();
                self.patches_ui(ui, editor, &mut commands);
                ui.separator();
                self.surface_ui(ui, editor);
                ui.separator();
                samples::samples_ui(ui, editor, &mut commands);
                suggestion::suggestion_ui(ui, editor, &mut commands);
            });
        commands
    }

    /// Starts renaming the active group.
    pub fn start_renaming(&mut self, editor: &Editor) {
        if let Some(group) = editor.active_group()
            && let Some(known) = editor.cluster_groups().get(usize::from(group))
        {
            self.rename = Some(Rename {
                what: Renamed::Group(group),
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
