//! The settings of an operation, one row each.

use super::automatic::automatic_ui;
use super::pairs::pairs_ui;
use super::rows::{about_ui, bone_ui, combo_ui, count_ui, number_ui, row_ui};
use crate::editor::Editor;
use crate::math::Axis;
use crate::weights::operation::{Flood, Levels, Mirroring, Operation, PasteBy};
use crate::weights::transfer::Transfer;
use egui::Ui;

/// All settings of the operation that is adjusted.
pub(super) fn fields_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some(adjusting) = editor.adjusting() else {
        return;
    };
    let mut operation = adjusting.operation().clone();
    match &mut operation {
        Operation::Normalise => {
            about_ui(ui, "Scales each point's weights so that they add up to 1.");
        }
        Operation::Hammer => about_ui(
            ui,
            "Gives points that stand out the weights of what is around them.",
        ),
        Operation::Limit { most } => {
            let mut n = *most as u32;
            let about = "Most bones that a point may follow; the smallest weights go.";
            count_ui(ui, "At most", about, &mut n, 1..=8);
            *most = n as usize;
        }
        Operation::Prune { below } => {
            let about = "Weights below this go; the others share what they held.";
            number_ui(ui, "Below", about, below, 0.0..=0.5, 4);
        }
        Operation::Quantise { steps } => {
            let about = "Weights become multiples of one over this: 10 gives 0.1, 0.2 ...";
            count_ui(ui, "Steps", about, steps, 2..=65535);
        }
        Operation::Smooth {
            iterations,
            strength,
        } => {
            let about = "How often each point is averaged with its neighbours.";
            count_ui(ui, "Iterations", about, iterations, 1..=200);
            let about = "How far towards the average each time.";
            number_ui(ui, "Strength", about, strength, 0.0..=1.0, 2);
        }
        Operation::Flood { joint, value, how } => {
            bone_ui(ui, editor, "Bone", "Whose weights are changed.", joint);
            row_ui(ui, "How", "What is done with the value.", |ui| {
                let options = [
                    (Flood::Replace, "Replace".to_owned(), true),
                    (Flood::Add, "Add".to_owned(), true),
                    (Flood::Subtract, "Subtract".to_owned(), true),
                    (Flood::Scale, "Scale".to_owned(), true),
                ];
                combo_ui(ui, "How", how, &options);
            });
            let most = if *how == Flood::Scale { 10.0 } else { 1.0 };
            *value = value.min(most);
            number_ui(
                ui,
                "Value",
                "The weight, or what it is changed by.",
                value,
                0.0..=most,
                3,
            );
        }
        Operation::Invert { joint } => {
            bone_ui(ui, editor, "Bone", "Whose weights w become 1 - w.", joint);
        }
        Operation::Levels(levels) => levels_ui(ui, editor, levels),
        Operation::Move { from, to, share } => {
            bone_ui(ui, editor, "From", "The bone that gives weight.", from);
            bone_ui(ui, editor, "To", "The bone that takes it.", to);
            let about = "How much of its weight goes.";
            number_ui(ui, "Share", about, share, 0.0..=1.0, 2);
        }
        Operation::Merge { from, to } => {
            let skeleton = editor.document().skeleton();
            let names: Vec<String> = from.iter().map(|&j| skeleton.label(j)).collect();
            about_ui(
                ui,
                &format!("All weight of {} goes to one bone.", names.join(", ")),
            );
            bone_ui(ui, editor, "To", "The bone that takes all of it.", to);
        }
        Operation::Swap { a, b } => {
            bone_ui(ui, editor, "Bone", "One of the two.", a);
            bone_ui(ui, editor, "With", "The other one.", b);
        }
        Operation::Mirror(mirroring) => mirroring_ui(ui, mirroring, true),
        Operation::Flip(mirroring) => mirroring_ui(ui, mirroring, false),
        Operation::Paste { copied, by } => {
            let n = copied.points.len();
            let text = format!(
                "{} of \"{}\".",
                crate::finding::counted(n, "copied point"),
                copied.mesh_name
            );
            about_ui(ui, &text);
            row_ui(ui, "By", "Which copied row a point takes.", |ui| {
                let options = [
                    (PasteBy::Point, "Point number".to_owned(), true),
                    (PasteBy::Surface, "Closest surface".to_owned(), true),
                ];
                combo_ui(ui, "By", by, &options);
            });
        }
        Operation::Transfer(transfer) => transfer_ui(ui, transfer),
        Operation::Import(import) => {
            let about = "Whether rows take the place of what is there, or only the bones that the file names change.";
            row_ui(ui, "Rows", about, |ui| {
                let options = [
                    (true, "Replace".to_owned(), true),
                    (false, "Merge".to_owned(), true),
                ];
                combo_ui(ui, "Rows", &mut import.replace, &options);
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
    let about = "Change the weights of every unlocked bone alike, or of one.";
    row_ui(ui, "Of", about, |ui| {
        let options = [
            (true, "All unlocked bones".to_owned(), true),
            (
                false,
                "One bone".to_owned(),
                has_active || levels.joint.is_some(),
            ),
        ];
        combo_ui(ui, "Of", &mut is_all, &options);
    });
    let active = editor.document().session().active_joint;
    levels.joint = if is_all {
        None
    } else {
        levels.joint.or(active)
    };
    if let Some(joint) = &mut levels.joint {
        bone_ui(ui, editor, "Bone", "Whose weights are changed.", joint);
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
        "From",
        "Weights up to this become the lowest.",
        low,
        0.0..=0.99,
        3,
    );
    *high = high.max(*low + 0.01);
    number_ui(
        ui,
        "To",
        "Weights from this become the highest.",
        high,
        *low + 0.01..=1.0,
        3,
    );
    number_ui(
        ui,
        "Middle",
        "Above 1 lifts the middle, below 1 lowers it.",
        gamma,
        0.1..=10.0,
        2,
    );
    number_ui(
        ui,
        "Lowest",
        "What the low end becomes.",
        out_low,
        0.0..=1.0,
        3,
    );
    number_ui(
        ui,
        "Highest",
        "What the high end becomes.",
        out_high,
        0.0..=1.0,
        3,
    );
}

fn mirroring_ui(ui: &mut Ui, mirroring: &mut Mirroring, has_direction: bool) {
    let about = "Across the plane where this coordinate of the bind pose is 0.";
    row_ui(ui, "Across", about, |ui| {
        for axis in Axis::ALL {
            ui.selectable_value(&mut mirroring.axis, axis, axis.letter())
                .on_hover_text(about);
        }
    });
    if has_direction {
        let letter = mirroring.axis.letter();
        row_ui(ui, "Direction", "From which side to which.", |ui| {
            let options = [
                (true, format!("+{letter} to -{letter}"), true),
                (false, format!("-{letter} to +{letter}"), true),
            ];
            combo_ui(ui, "Direction", &mut mirroring.from_positive, &options);
        });
    }
    let mut percent = mirroring.tolerance * 100.0;
    let before = percent;
    let about = "How far a point's partner may be from the mirrored place where neither place nor edges match exactly, in % of the size.";
    number_ui(ui, "Tolerance %", about, &mut percent, 0.0..=10.0, 2);
    if percent != before {
        mirroring.tolerance = percent / 100.0;
    }
}

fn transfer_ui(ui: &mut Ui, transfer: &mut Transfer) {
    about_ui(ui, &format!("From \"{}\".", transfer.source.name));
    let mut percent = transfer.max_distance * 100.0;
    let before = percent;
    let about = "Farther apart than this the surfaces do not match, in % of the size.";
    number_ui(ui, "Distance %", about, &mut percent, 0.0..=100.0, 2);
    if percent != before {
        transfer.max_distance = percent / 100.0;
    }
    let about = "Where the surfaces face more differently than this they do not match.";
    number_ui(
        ui,
        "Angle °",
        about,
        &mut transfer.max_angle_degrees,
        0.0..=180.0,
        0,
    );
    let about = "Fill points without a match in over the surface, or leave them as they are.";
    ui.checkbox(&mut transfer.in_paint, "Fill in the rest")
        .on_hover_text(about);
}
