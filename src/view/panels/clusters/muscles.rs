//! The list of muscles of the active group.

use super::layer_row::{LayerRow, dim_ui};
use super::{ClustersPanel, Renamed};
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::panels::correctives::{buttons_ui, heading_ui};
use egui::Ui;
use egui_material_icons::icons;

impl ClustersPanel {
    /// Draws the muscles of the active group, and the settings of the active one.
    pub(super) fn muscles_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        commands: &mut Vec<Command>,
    ) {
        let Some(group) = editor.active_group() else {
            return;
        };
        heading_ui(ui, "Muscles", "");
        let n_clusters = editor.cluster_counts().get(usize::from(group)).copied();
        let has_skin = editor
            .clustered_mesh()
            .is_some_and(|mesh| editor.document().skin_of_mesh(mesh).is_some());
        let muscles = editor.muscles().to_vec();
        let about = if !has_skin {
            Some("Muscles lie on the bones of a skin, and this object has none.")
        } else if n_clusters.unwrap_or_default() == 0 {
            Some(
                "A muscle bulges the clusters of a group as a joint bends. Mark vertices over the muscle, then add one.",
            )
        } else if muscles.is_empty() {
            Some(
                "A muscle bulges the clusters of this group as a joint bends. Select the bone beside them and add one.",
            )
        } else {
            None
        };
        if let Some(about) = about {
            dim_ui(ui, about);
        }
        if has_skin && muscles.is_empty() {
            let command = Command::AddMuscle;
            let button = ui.button(command.label());
            if button.on_hover_text(command.tooltip(ui.ctx())).clicked() {
                commands.push(command);
            }
        } else if has_skin {
            let buttons = [(Command::AddMuscle, icons::ICON_ADD)];
            commands.extend(buttons_ui(ui, editor, &buttons));
        }
        for (index, muscle) in muscles.iter().enumerate() {
            let row = LayerRow {
                index,
                what: Renamed::Muscle(index),
                beside: &editor.muscle_bone_label([muscle.upper, muscle.lower]),
                joined: "on",
            };
            self.layer_row_ui(ui, editor, muscle, &row);
        }
        let active = editor.active_muscle();
        if let Some((index, muscle)) = active.map(|(index, muscle)| (index, muscle.clone())) {
            ui.add_space(4.0);
            self.muscle_ui(ui, editor, index, &muscle);
        }
    }
}
