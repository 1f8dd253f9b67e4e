//! Which bends of a muscle's joint count: those to one side, which the panel names, or all.

use crate::cluster::procedural::MuscleSettings;
use crate::editor::Editor;
use crate::view::panels::correctives::fields::{named_ui, pick_ui};
use egui::{Button, Role, Ui, WidgetInfo};
use glam::DVec3;

/// The width of the button beside the drop-down, points.
const FLIP: f32 = 48.0;

/// Directions of the world, as a model that faces +Z sees them.
const DIRECTIONS: [(DVec3, &str); 6] = [
    (DVec3::Z, "To the front (+Z)"),
    (DVec3::NEG_Z, "To the back (-Z)"),
    (DVec3::Y, "Upwards (+Y)"),
    (DVec3::NEG_Y, "Downwards (-Y)"),
    (DVec3::X, "To the left (+X)"),
    (DVec3::NEG_X, "To the right (-X)"),
];

/// Draws which bends count as flexion, and flips them.
pub(super) fn flexion_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    index: usize,
    settings: &MuscleSettings,
) {
    let about = "The bends of the joint from rest that let the muscle bulge: to the side that is named, as the model is at \
                 rest, or to any side. A new muscle takes the side to which the pose on screen, the clips or the rest pose \
                 bend the joint.";
    named_ui(ui, "Flexion", about, |ui| {
        let toward = editor.muscle_flexion();
        let one_side = toward.map_or("To one side", named);
        let choices = [
            (
                true,
                one_side,
                "Extension, the bend the other way, counts as 0.",
            ),
            (
                false,
                "To any side",
                "The muscle bulges whichever way the joint bends.",
            ),
        ];
        let width = (ui.available_width() - FLIP).max(40.0);
        let shown = settings.flexion.is_some();
        let (response, chosen) = pick_ui(ui, "Flexion", width, shown, &choices);
        response.on_hover_text(about);
        if let Some(to_one_side) = chosen {
            editor.set_muscle_flexes(index, to_one_side);
        }
        let about =
            "Swap flexion and extension: the muscle then bulges as the joint bends the other way.";
        let button = ui.add_enabled(shown, Button::new("Flip"));
        button.widget_info(|| WidgetInfo::labeled(Role::Button, shown, "Flip flexion"));
        let button = button.on_hover_text(about).on_disabled_hover_text(about);
        if button.clicked() {
            editor.flip_muscle_flexion(index);
        }
    });
}

/// The nearest direction of the world, in words.
fn named(toward: DVec3) -> &'static str {
    let nearest = DIRECTIONS
        .iter()
        .max_by(|a, b| a.0.dot(toward).total_cmp(&b.0.dot(toward)));
    nearest.map_or("", |nearest| nearest.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_have_names() {
        assert_eq!(named(DVec3::new(0.2, 0.1, 0.9)), "To the front (+Z)");
        assert_eq!(named(DVec3::new(0.2, -0.9, 0.3)), "Downwards (-Y)");
    }
}
