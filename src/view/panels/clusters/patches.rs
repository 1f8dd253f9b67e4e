//! The surface between the clusters: its kind, its anchors, and where clusters are too sparse.

use super::ClustersPanel;
use crate::cluster::{Interpolation, PatchSettings};
use crate::editor::Editor;
use crate::evaluate::{MOST_PATCHES, SPARSE_DEGREES, VERY_SPARSE_DEGREES};
use crate::finding::counted;
use crate::view::commands::Command;
use crate::view::panels::correctives::fields::{Number, named_ui, pick_ui};
use crate::view::panels::correctives::heading_ui;
use crate::view::theme;
use egui::{Button, Label, RichText, Ui};

/// Kinds of patches, with a name and an explanation each.
const SURFACES: [(Interpolation, &str, &str); 5] = [
    (
        Interpolation::TransportedBezier,
        "Transported Bezier",
        "Bezier triangles whose tangents follow the skin around the clusters: the smallest error.",
    ),
    (
        Interpolation::PointNormal,
        "PN triangles",
        "Bezier triangles of the deformed positions and normals alone (Vlachos et al. 2001).",
    ),
    (
        Interpolation::Gregory,
        "G1 triangles",
        "Gregory triangles that meet with one tangent plane (Walton & Meek 1996): no crease between patches.",
    ),
    (
        Interpolation::Strands,
        "Strands",
        "Cardinal splines along lines of the mesh through the clusters, as the paper's authors did earlier; elsewhere \
         Bezier triangles.",
    ),
    (
        Interpolation::SkinnedFree,
        "Skinned free vertices",
        "Free vertices keep their skinning; patches add only the displacements of the clusters. Exact where clusters are not displaced.",
    ),
];

/// What of the paper the settings are.
const PAPER: &str = "The surface between the clusters. The paper (Bukatov et al. 2014) names no kind of patch; it says \
                     \"Bezier patch meshes\".";

impl ClustersPanel {
    /// Draws the settings of the patches, then what the layout found.
    pub(super) fn patches_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        commands: &mut Vec<Command>,
    ) {
        heading_ui(ui, "Patches", "");
        let known = editor.patch_settings();
        named_ui(ui, "Surface", PAPER, |ui| {
            let width = ui.available_width();
            let shown = known.interpolation;
            let (response, chosen) = pick_ui(ui, "Patch surface", width, shown, &SURFACES);
            response.on_hover_text(PAPER);
            if let Some(interpolation) = chosen {
                let settings = PatchSettings {
                    interpolation,
                    ..known
                };
                editor.set_patch_settings("Patch surface", settings);
            }
        });
        let dim = theme::palette(ui).text_dim;
        let about = SURFACES.iter().find(|s| s.0 == known.interpolation);
        let about = about.map_or("", |surface| surface.2);
        ui.add(Label::new(RichText::new(about).color(dim)).wrap());
        if known.interpolation == Interpolation::Strands {
            self.tension_ui(ui, editor, known);
        }
        let mut settings = known;
        let about = "Take tangents from the positions of the clusters alone, as the paper does, not from the skin around \
                     them. The error is larger.";
        let response = ui.checkbox(&mut settings.positions_only, "Positions only");
        if response.on_hover_text(about).changed() {
            editor.set_patch_settings("Positions only", settings);
        }
        let about = "Let a displaced cluster tilt the patches around its neighbours as well.";
        let response = ui.checkbox(&mut settings.couples_normals, "Smooth across neighbours");
        if response.on_hover_text(about).changed() {
            editor.set_patch_settings("Smooth across neighbours", settings);
        }
        findings_ui(ui, editor, commands);
    }

    /// Draws the tension of strands.
    fn tension_ui(&mut self, ui: &mut Ui, editor: &mut Editor, known: PatchSettings) {
        let about = "How tight the splines are: 0 is Catmull-Rom, at 1 they are straight between the clusters.";
        named_ui(ui, "Tension", about, |ui| {
            let number = Number {
                label: "Tension",
                range: 0.0..=1.0,
                speed: 0.005,
                decimals: 2,
                suffix: "",
                about,
                step: "Tension of strands",
            };
            let dragging = &mut self.is_dragging;
            if let Some(tension) = number.show_step_ui(ui, dragging, editor, known.tension) {
                let settings = PatchSettings { tension, ..known };
                editor.set_patch_settings(number.step, settings);
            }
        });
    }
}

/// Draws the number of patches and anchors, and warnings.
fn findings_ui(ui: &mut Ui, editor: &mut Editor, commands: &mut Vec<Command>) {
    let Some(layout) = editor.current_layout() else {
        return;
    };
    let (n_patches, n_free) = (layout.layout().triangles.len(), layout.layout().free.len());
    let (n_anchors, n_excluded) = (
        layout.layout().anchors.len(),
        layout.layout().excluded.len(),
    );
    let dim = theme::palette(ui).text_dim;
    ui.add_space(4.0);
    let text = format!(
        "{}, {}",
        counted(n_patches, "patch"),
        counted(n_free, "free vertex")
    );
    ui.add(Label::new(RichText::new(text).color(dim)).wrap())
        .on_hover_text("Triangles between clusters, and the vertices that follow them.");
    if n_excluded > 0 {
        let text = format!(
            "{} in parts without a cluster",
            counted(n_excluded, "vertex")
        );
        ui.add(Label::new(RichText::new(text).color(dim)).wrap())
            .on_hover_text("The deformer stack moves them.");
    }
    if n_anchors > 0 {
        ui.horizontal_wrapped(|ui| {
            let about = "Corners that the patches need but that are not marked, drawn hollow. The deformer stack moves them.";
            ui.label(counted(n_anchors, "anchor")).on_hover_text(about);
            let command = Command::PromoteAnchors;
            let button = Button::new("Promote").small();
            if ui.add(button).on_hover_text(command.tooltip(ui.ctx())).clicked() {
                commands.push(command);
            }
        });
    }
    let warn = |ui: &mut Ui, n: usize, degrees: f64, is_error: bool| {
        if n == 0 {
            return false;
        }
        let mut asked = false;
        ui.horizontal_wrapped(|ui| {
            let turns = if n == 1 { "turns" } else { "turn" };
            let text = format!("{} {turns} by more than {degrees:.0}°", counted(n, "edge"));
            let colour = if is_error {
                theme::palette(ui).error
            } else {
                theme::palette(ui).text
            };
            let about = "In this pose the surface turns by that angle from one end of the edges to the other: the clusters are \
                         too sparse there. Mark more between them.";
            ui.label(RichText::new(text).color(colour)).on_hover_text(about);
            let about = format!("Select the clusters at the ends of edges that rotate by more than {degrees:.0}°.");
            let label = format!("Select ends above {degrees:.0}°");
            let button = ui.small_button("Select ends");
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &label));
            asked = button.on_hover_text(about).clicked();
        });
        asked
    };
    let above = |degrees: f64| {
        let edges = editor.net_edges().iter();
        edges.filter(|edge| edge.degrees > degrees).count()
    };
    let (sparse, very) = (above(SPARSE_DEGREES), above(VERY_SPARSE_DEGREES));
    if n_patches > MOST_PATCHES {
        let text =
            format!("Edges of more than {MOST_PATCHES} patches are neither drawn nor measured.");
        ui.add(Label::new(RichText::new(text).color(dim)).wrap());
    }
    // The second row says all where every such edge is worse.
    let shown = if sparse > very { sparse } else { 0 };
    if warn(ui, shown, SPARSE_DEGREES, false) {
        editor.select_sparse_ends(SPARSE_DEGREES);
    }
    if warn(ui, very, VERY_SPARSE_DEGREES, true) {
        editor.select_sparse_ends(VERY_SPARSE_DEGREES);
    }
}
