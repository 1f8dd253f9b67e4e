//! The lattice or the cage of the active group: its control points, and what is outside of it.

use super::ClustersPanel;
use super::hand::{button_ui, keys_of, keys_ui};
use crate::cluster::lattice::{LatticeSettings, Outside};
use crate::cluster::{CageControls, CageMesh, CageSource, ClusterGroup, LatticeControls};
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::panels::correctives::fields::{Number, named_ui, pick_ui};
use egui::{Ui, Vec2};
use egui_material_icons::icons;

/// The width of the fields of a row, points.
const THIRD: f32 = 40.0;

const OUTSIDE: [(Outside, &str, &str); 2] = [
    (
        Outside::Still,
        "Stay",
        "Clusters outside the box stay where the deformer stack places them.",
    ),
    (
        Outside::Nearest,
        "Follow",
        "Clusters outside the box move like the nearest point of it, so that the surface does not tear.",
    ),
];

impl ClustersPanel {
    /// Draws the lattice of a group.
    pub(super) fn lattice_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (index, group): (u16, &ClusterGroup),
        lattice: &LatticeControls,
    ) {
        let settings = &lattice.settings;
        let about = "The numbers of control points along the edges of the box, 2 to 16 each. The shape stays with more, and \
                     nearly with fewer.";
        named_ui(ui, "Points", about, |ui| {
            ui.spacing_mut().interact_size.x = THIRD;
            let labels = ["Points along X", "Points along Y", "Points along Z"];
            for (axis, label) in labels.into_iter().enumerate() {
                let number = Number {
                    label,
                    range: 2.0..=f64::from(LatticeSettings::MAX_COUNT),
                    speed: 0.05,
                    decimals: 0,
                    suffix: "",
                    about,
                    step: "Points of lattice",
                };
                let shown = f64::from(settings.counts[axis]);
                let wanted = number.show_step_ui(ui, &mut self.is_dragging, editor, shown);
                if let Some(wanted) = wanted {
                    let mut counts = settings.counts;
                    counts[axis] = wanted.round() as u32;
                    editor.set_lattice_counts(index, counts);
                }
            }
        });
        let about = "How clusters outside the box move.";
        named_ui(ui, "Outside", about, |ui| {
            let width = ui.available_width();
            let shown = settings.outside;
            let (response, chosen) = pick_ui(ui, "Outside the lattice", width, shown, &OUTSIDE);
            response.on_hover_text(about);
            if let Some(outside) = chosen {
                editor.set_lattice_outside(index, outside);
            }
        });
        points_ui(ui, editor, (index, group));
    }

    /// Draws the cage of a group.
    pub(super) fn cage_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        (index, group): (u16, &ClusterGroup),
        cage: &CageControls,
    ) {
        let about = "The mesh of the cage: a box around the clusters, or a copy of another object in the rest pose, which \
                     must be closed. A new mesh takes over the shape.";
        let source = editor.coming_cage(index).cloned();
        let source = source.unwrap_or_else(|| cage.mesh.source().clone());
        let mut names = editor.cage_objects();
        if let CageSource::Object(name) = &source
            && !names.contains(name)
        {
            names.insert(0, name.clone());
        }
        let shown = match &source {
            CageSource::Box { .. } => 0,
            CageSource::Object(name) => 1 + names.iter().position(|n| n == name).unwrap_or(0),
        };
        named_ui(ui, "Cage", about, |ui| {
            let objects = names.iter().enumerate();
            let objects = objects.map(|(i, name)| (i + 1, name.as_str(), about));
            let choices: Vec<_> = [(0, "Box", about)].into_iter().chain(objects).collect();
            let width = ui.available_width();
            let (response, chosen) = pick_ui(ui, "Cage mesh", width, shown, &choices);
            response.on_hover_text(about);
            match chosen {
                Some(0) => editor.set_cage_segments(index, 2),
                Some(object) => editor.use_cage(index, &names[object - 1]),
                None => {}
            }
        });
        if let CageSource::Box { segments } = source {
            let about = "Number of cells along each edge of the box, 1 to 8. The shape is kept approximately.";
            named_ui(ui, "Segments", about, |ui| {
                ui.spacing_mut().interact_size.x = THIRD;
                let number = Number {
                    label: "Segments of the cage",
                    range: 1.0..=f64::from(CageMesh::MAX_SEGMENTS),
                    speed: 0.05,
                    decimals: 0,
                    suffix: "",
                    about,
                    step: "Box cage",
                };
                let shown = f64::from(segments);
                let wanted = number.show_step_ui(ui, &mut self.is_dragging, editor, shown);
                if let Some(wanted) = wanted {
                    editor.set_cage_segments(index, wanted.round() as u32);
                }
            });
        }
        points_ui(ui, editor, (index, group));
    }
}

/// Draws buttons that fit, move, key and reset the control points.
pub(super) fn points_ui(ui: &mut Ui, editor: &mut Editor, (index, group): (u16, &ClusterGroup)) {
    keys_ui(ui, editor, group, "control point");
    let moves = editor.moves_clusters();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = Vec2::splat(2.0);
        let about = "Set the box, or the cage, around the clusters of the group at bind. The points keep their displacements.";
        if button_ui(ui, icons::ICON_FIT_SCREEN, "Fit to clusters", about, false) {
            editor.fit_controls(index);
        }
        let about = format!(
            "Select control points with a click or a box, and move them with the gizmo.{}",
            keys_of(Command::PoseMove, ui)
        );
        if button_ui(
            ui,
            icons::ICON_OPEN_WITH,
            "Move control points",
            &about,
            moves,
        ) {
            editor.set_moves_clusters(!moves);
        }
        super::hand::key_buttons_ui(ui, editor);
        let about = format!(
            "Set the selected control points, or all if none are, back to rest at the current time.{}",
            keys_of(Command::ClearLocation, ui)
        );
        if button_ui(ui, icons::ICON_RESTART_ALT, "Reset points", &about, false) {
            editor.reset_clusters();
        }
    });
}
