//! The settings of a weight operation, one row each.

use super::automatic::automatic_ui;
use super::pairs::pairs_ui;
use super::rows::{about_ui, bone_ui, combo_ui, count_ui, number_ui, row_ui};
use crate::editor::Editor;
use crate::math::Axis;
use crate::weights::operation::{Flood, Levels, Mirroring, Operation, PasteBy};
use crate::weights::transfer::Transfer;
use egui::Ui;

/// Draws all settings of the operation being adjusted.
pub(super) fn fields_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some(adjusting) = editor.adjusting() else {
        return;
    };
    let mut operation = adjusting.operation().clone();
    match &mut operation {
        Operation::Normalise => {
            about_ui(
                ui,
                "Scales the weights of each vertex so that they add up to 1.",
            );
        }
        Operation::Hammer => about_ui(
            ui,
            "Replaces outliers with the average weights of their neighbours.",
        ),
        Operation::Limit { most } => {
            let mut n = *most as u32;
            let about =
                "Maximum number of influences per vertex. The smallest weights are removed.";
            count_ui(ui, "Maximum", about, &mut n, 1..=8);
            *most = n as usize;
        }
        Operation::Prune { below } => {
            let about =
                "Weights below this threshold are removed. The others are scaled up to compensate.";
            number_ui(ui, "Threshold", about, below, 0.0..=0.5, 4);
        }
        Operation::Quantise { steps } => {
            let about =
                "Weights are rounded to multiples of 1 / steps: 10 steps give 0.1, 0.2, 0.3 …";
            count_ui(ui, "Steps", about, steps, 2..=65535);
        }
        Operation::Smooth {
            iterations,
            strength,
        } => {
            let about = "How many times each vertex is averaged with its neighbours.";
            count_ui(ui, "Iterations", about, iterations, 1..=200);
            let about = "How far each iteration moves towards the average.";
            number_ui(ui, "Strength", about, strength, 0.0..=1.0, 2);
        }
        Operation::Flood { joint, value, how } => {
            bone_ui(ui, editor, "Bone", "The bone whose weights change.", joint);
            row_ui(ui, "Mode", "How the value changes the weights.", |ui| {
                let options = [
                    (Flood::Replace, "Replace".to_owned(), true),
                    (Flood::Add, "Add".to_owned(), true),
                    (Flood::Subtract, "Subtract".to_owned(), true),
                    (Flood::Scale, "Scale".to_owned(), true),
                ];
                combo_ui(ui, "Mode", how, &options);
            });
            let most = if *how == Flood::Scale { 10.0 } else { 1.0 };
            *value = value.min(most);
            number_ui(
                ui,
                "Value",
                "The weight to set, add, subtract or multiply by.",
                value,
                0.0..=most,
                3,
            );
        }
        Operation::Invert { joint } => {
            bone_ui(
                ui,
                editor,
                "Bone",
                "The bone whose weights are inverted.",
                joint,
            );
        }
        Operation::Levels(levels) => levels_ui(ui, editor, levels),
        Operation::Move { from, to, share } => {
            bone_ui(ui, editor, "From", "The bone that loses weight.", from);
            bone_ui(ui, editor, "To", "The bone that gains weight.", to);
            let about = "Fraction of the weight that moves.";
            number_ui(ui, "Fraction", about, share, 0.0..=1.0, 2);
        }
        Operation::Merge { from, to } => {
            let skeleton = editor.document().skeleton();
            let names: Vec<String> = from.iter().map(|&j| skeleton.label(j)).collect();
            about_ui(
                ui,
                &format!("Moves all weight of {} to one bone.", names.join(", ")),
            );
            bone_ui(ui, editor, "To", "The bone that gains the weight.", to);
        }
        Operation::Swap { a, b } => {
            bone_ui(ui, editor, "Bone", "The first bone.", a);
            bone_ui(ui, editor, "With", "The second bone.", b);
        }
        Operation::Mirror(mirroring) => mirroring_ui(ui, mirroring, true),
        Operation::Flip(mirroring) => mirroring_ui(ui, mirroring, false),
        Operation::Paste { copied, by } => {
            let n = copied.points.len();
            let text = format!(
                "{} from \"{}\".",
                crate::finding::counted(n, "copied vertex"),
                copied.mesh_name
            );
            about_ui(ui, &text);
            row_ui(
                ui,
                "Match",
                "How vertices are matched with the copied ones.",
                |ui| {
                    let options = [
                        (PasteBy::Point, "Vertex index".to_owned(), true),
                        (PasteBy::Surface, "Nearest surface".to_owned(), true),
                    ];
                    combo_ui(ui, "Match", by, &options);
                },
            );
        }
        Operation::Transfer(transfer) => transfer_ui(ui, transfer),
        Operation::Import(import) => {
            let about =
                "Replace all weights of a vertex, or change only the bones that the file lists.";
            row_ui(ui, "Mode", about, |ui| {
                let options = [
                    (true, "Replace".to_owned(), true),
                    (false, "Merge".to_owned(), true),
                ];
                combo_ui(ui, "Mode", &mut import.replace, &options);
            });
        }
        Operation::Automatic(automatic) => automatic_ui(ui, automatic),
    }
    let mirrors = matches!(operation, Operation::Mirror(_) | Operation::Flip(_));
    editor.set_operation(operation);
    if mirrors {
        pairs_ui(ui, editor);
    }
}

fn levels_ui(ui: &mut Ui, editor: &Editor, levels: &mut Levels) {
    let mut is_all = levels.joint.is_none();
    let has_active = editor.document().session().active_joint.is_some();
    let about = "Change all unlocked bones, or one bone.";
    row_ui(ui, "Target", about, |ui| {
        let options = [
            (true, "All unlocked bones".to_owned(), true),
            (
                false,
                "One bone".to_owned(),
                has_active || levels.joint.is_some(),
            ),
        ];
        combo_ui(ui, "Target", &mut is_all, &options);
    });
    let active = editor.document().session().active_joint;
    levels.joint = if is_all {
        None
    } else {
        levels.joint.or(active)
    };
    if let Some(joint) = &mut levels.joint {
        bone_ui(ui, editor, "Bone", "The bone whose weights change.", joint);
    }
    let Levels {
        low,
        high,
        gamma,
        out_low,
        out_high,
        ..
    } = levels;
    number_ui(
        ui,
        "Input min",
        "Weights up to this value become the output minimum.",
        low,
        0.0..=0.99,
        3,
    );
    *high = high.max(*low + 0.01);
    number_ui(
        ui,
        "Input max",
        "Weights from this value become the output maximum.",
        high,
        *low + 0.01..=1.0,
        3,
    );
    number_ui(
        ui,
        "Gamma",
        "Above 1 raises the midtones, below 1 lowers them.",
        gamma,
        0.1..=10.0,
        2,
    );
    number_ui(
        ui,
        "Output min",
        "The smallest resulting weight.",
        out_low,
        0.0..=1.0,
        3,
    );
    number_ui(
        ui,
        "Output max",
        "The largest resulting weight.",
        out_high,
        0.0..=1.0,
        3,
    );
}

fn mirroring_ui(ui: &mut Ui, mirroring: &mut Mirroring, has_direction: bool) {
    let about = "Mirror plane: this coordinate is 0 in the bind pose.";
    row_ui(ui, "Axis", about, |ui| {
        for axis in Axis::ALL {
            ui.selectable_value(&mut mirroring.axis, axis, axis.letter())
                .on_hover_text(about);
        }
    });
    if has_direction {
        let letter = mirroring.axis.letter();
        row_ui(
            ui,
            "Direction",
            "The side to copy from, and the side to copy to.",
            |ui| {
                let options = [
                    (true, format!("+{letter} to -{letter}"), true),
                    (false, format!("-{letter} to +{letter}"), true),
                ];
                combo_ui(ui, "Direction", &mut mirroring.from_positive, &options);
            },
        );
    }
    let mut percent = mirroring.tolerance * 100.0;
    let before = percent;
    let about = "How far a vertex may be from its mirrored position if neither position nor topology match exactly, \
                 in % of the model size.";
    number_ui(ui, "Tolerance %", about, &mut percent, 0.0..=10.0, 2);
    if percent != before {
        mirroring.tolerance = percent / 100.0;
    }
}

fn transfer_ui(ui: &mut Ui, transfer: &mut Transfer) {
    about_ui(ui, &format!("From \"{}\".", transfer.source.name));
    let mut percent = transfer.max_distance * 100.0;
    let before = percent;
    let about = "Surfaces farther apart than this do not match, in % of the model size.";
    number_ui(ui, "Distance %", about, &mut percent, 0.0..=100.0, 2);
    if percent != before {
        transfer.max_distance = percent / 100.0;
    }
    let about = "Surfaces whose normals differ by more than this do not match.";
    number_ui(
        ui,
        "Angle °",
        about,
        &mut transfer.max_angle_degrees,
        0.0..=180.0,
        0,
    );
    let about =
        "Interpolate vertices without a match over the surface. When off, they keep their weights.";
    ui.checkbox(&mut transfer.in_paint, "Fill unmatched vertices")
        .on_hover_text(about);
}
