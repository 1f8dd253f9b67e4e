//! The Properties panel: settings of the mode and the selection.

mod bone;
mod brush;
mod clip;
mod cluster;
mod constraint_fields;
mod constraint_settings;
mod constraints;
mod curve;
mod deformation;
mod humanoid;
pub(super) mod joint_limits;
mod kept_constraints;
mod morphs;
mod object;
mod points;
mod rig;
mod rule;
mod sculpt;
mod step_drag;

pub use brush::{brush_popover_ui, brush_ui, target_label};
pub use cluster::cluster_popover_ui;
pub use humanoid::open_humanoid;
pub use sculpt::sculpt_popover_ui;

use super::pose_properties_ui;
use crate::editor::Editor;
use crate::view::commands::Command;
use crate::view::mode::Mode;
use crate::view::panels::rig_report::rig_reports_ui;
use crate::view::theme;
use egui::{CollapsingHeader, RichText, Ui};

/// Draws the sections for the mode and the selection: brush, bone, constraints, humanoid map, deformation, object, morph targets, clip. Returns
/// the requested command.
pub fn properties_ui(ui: &mut Ui, editor: &mut Editor, mode: Mode) -> Option<Command> {
    if editor.document().skeleton().is_empty() {
        return None;
    }
    let mut command = None;
    if mode == Mode::Paint {
        section_ui(ui, "Brush", |ui| brush_ui(ui, editor));
    }
    if mode == Mode::Cluster {
        section_ui(ui, "Brush", |ui| cluster::cluster_ui(ui, editor));
    }
    if mode == Mode::Sculpt {
        section_ui(ui, "Brush", |ui| command = sculpt::sculpt_ui(ui, editor));
    }
    if mode == Mode::Pose {
        section_ui(ui, "Pose", |ui| pose_properties_ui(ui, editor));
    }
    if mode == Mode::Rig {
        section_ui(ui, "Rest pose", |ui| rig::rest_ui(ui, editor));
    }
    section_ui(ui, "Bone", |ui| bone::bone_ui(ui, editor));
    if constraints::has_bone(editor) || kept_constraints::any(editor) {
        section_ui(ui, "Constraints", |ui| {
            if constraints::has_bone(editor) {
                constraints::constraints_ui(ui, editor);
            }
            kept_constraints::kept_ui(ui, editor);
        });
    }
    step_drag::end_drag(ui, editor);
    if mode == Mode::Rig && !editor.rig_reports().is_empty() {
        section_ui(ui, "Last operation", |ui| rig_reports_ui(ui, editor));
    }
    if mode == Mode::Rig {
        humanoid::humanoid_section_ui(ui, editor);
    }
    if points::has_points(editor) {
        section_ui(ui, "Vertices", |ui| points::points_ui(ui, editor));
    }
    if deformation::has_stack(editor) {
        section_ui(ui, "Deformation", |ui| {
            command = command.or(deformation::deformation_ui(ui, editor));
        });
    }
    if object::has_object(editor) {
        section_ui(ui, "Object", |ui| object::object_ui(ui, editor));
    }
    if morphs::has_morphs(editor) {
        section_ui(ui, "Morph targets", |ui| morphs::morphs_ui(ui, editor));
    }
    if editor.document().session().playback.clip.is_some() {
        section_ui(ui, "Clip", |ui| clip::clip_ui(ui, editor));
    }
    command
}

/// A collapsible section.
fn section_ui(ui: &mut Ui, title: &str, contents: impl FnOnce(&mut Ui)) {
    CollapsingHeader::new(RichText::new(title).heading())
        .id_salt(title)
        .default_open(true)
        .show_unindented(ui, contents);
}

/// A grid of labels and values.
fn rows_ui(ui: &mut Ui, id: &str, rows: impl FnOnce(&mut Ui)) {
    egui::Grid::new(id)
        .num_columns(2)
        .spacing([8.0, 4.0])
        .min_col_width(72.0)
        .show(ui, rows);
}

/// A label and a read-only value.
fn fact_ui(ui: &mut Ui, name: &str, value: impl Into<String>, about: &str) {
    let dim = theme::palette(ui).text_dim;
    ui.label(RichText::new(name).color(dim));
    let response = ui.add(egui::Label::new(value.into()).truncate());
    if !about.is_empty() {
        response.on_hover_text(about);
    }
    ui.end_row();
}

/// A length with a suitable unit.
fn length(metres: f64) -> String {
    match metres.abs() {
        m if m >= 1.0 => format!("{metres:.2} m"),
        m if m >= 0.01 => format!("{:.1} cm", metres * 1e2),
        // What rounds to zero has no sign.
        m if m >= 5e-6 => format!("{:.2} mm", metres * 1e3),
        _ => "0 m".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units_that_fit() {
        assert_eq!(length(1.234), "1.23 m");
        assert_eq!(length(0.1234), "12.3 cm");
        assert_eq!(length(0.00123), "1.23 mm");
        assert_eq!(length(-0.00123), "-1.23 mm");
        assert_eq!([0.0, -1e-9].map(length), ["0 m", "0 m"]);
    }
}
