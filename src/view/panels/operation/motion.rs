//! The settings and the report of a motion that is retargeted to the character.

use super::buttons::{self, RunAction, RunState, run_ui};
use super::motion_bones::bones_ui;
use super::retarget_options::{root_ui, stretch_ui};
use super::rows::{combo_ui, row_ui};
use crate::editor::Editor;
use crate::editor::motions::AddingMotion;
use crate::motion::bvh::Positions;
use crate::motion::retarget::{MotionSettings, Reference, Scale, Travel};
use crate::view::panels::recording_timing::frame_rate_ui;
use crate::view::theme;
use egui::{CollapsingHeader, DragValue, RichText, Role, Ui, WidgetInfo};

/// Draws settings, bones, progress and report.
pub(super) fn content_ui(ui: &mut Ui, editor: &mut Editor) -> Option<RunAction> {
    clip_ui(ui, editor);
    let adding = editor.adding_motion()?;
    let mut settings = adding.settings().clone();
    let (is_bvh, mut ghost) = (adding.is_bvh(), adding.shows_ghost());
    if !adding.has_body() {
        // Joints follow channels of their names: there is nothing to map.
        tolerance_ui(ui, &mut settings);
        editor.set_motion_settings(settings);
        let adding = editor.adding_motion()?;
        let action = run_ui(ui, &state(adding));
        ui.separator();
        report_ui(ui, adding);
        return action;
    }
    fields_ui(ui, &mut settings);
    ui.horizontal(|ui| {
        ui.checkbox(&mut settings.bake.locks_feet, "Lock feet")
            .on_hover_text("Keep feet in place while they are planted.");
        let about = "Draw the skeleton of the motion beside the character while the clip plays.";
        ui.checkbox(&mut ghost, "Show source skeleton")
            .on_hover_text(about);
    });
    CollapsingHeader::new("Advanced")
        .id_salt("motion advanced")
        .show_unindented(ui, |ui| advanced_ui(ui, &mut settings, is_bvh));
    editor.show_motion_ghost(ghost);
    editor.set_motion_settings(settings);
    bones_ui(ui, editor);
    let adding = editor.adding_motion()?;
    let action = run_ui(ui, &state(adding));
    ui.separator();
    let frame_rate = report_ui(ui, adding);
    if adding.has_swapped_sides() {
        let swap = ui.button("Swap sides");
        let about = "Exchange the left and the right bones of these limbs.";
        if swap.on_hover_text(about).clicked() {
            editor.swap_sides();
        }
    }
    if let Some(is_rate) = frame_rate {
        editor.read_frame_rate(is_rate);
    }
    action
}

/// Draws *Apply* and *Cancel*; runs `action`, or else the pressed one.
pub(super) fn end_ui(ui: &mut Ui, editor: &mut Editor, action: Option<RunAction>) {
    let state = editor.adding_motion().map(state);
    match action.or_else(|| buttons::end_ui(ui, &state?)) {
        Some(RunAction::Run) => editor.run_motion(),
        Some(RunAction::Stop) => editor.cancel_motion_run(),
        Some(RunAction::Apply) => editor.end_motion(),
        Some(RunAction::TakeBack) => editor.take_back_motion(),
        None => {}
    }
}

/// The clip of a model that has several.
fn clip_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some(adding) = editor.adding_motion() else {
        return;
    };
    if adding.names().len() < 2 {
        return;
    }
    let names = adding.names().enumerate();
    let options: Vec<(usize, String, bool)> =
        names.map(|(i, name)| (i, name.to_owned(), true)).collect();
    let mut chosen = adding.chosen();
    row_ui(
        ui,
        "Source clip",
        "The clip of the file that moves the character.",
        |ui| {
            combo_ui(ui, "Source clip", &mut chosen, &options);
        },
    );
    editor.choose_motion(chosen);
}

fn fields_ui(ui: &mut Ui, settings: &mut MotionSettings) {
    let retarget = &mut settings.retarget;
    let about = "The direction that the character faces at the start: that of its rest pose, or the recorded one.";
    row_ui(ui, "Heading", about, |ui| {
        let options = [
            (false, "As the character".to_owned(), true),
            (true, "As recorded".to_owned(), true),
        ];
        combo_ui(ui, "Heading", &mut retarget.keeps_heading, &options);
    });
    scale_ui(ui, &mut retarget.scale);
    let about = "How much of the travel of the hips to keep.";
    row_ui(ui, "Root motion", about, |ui| {
        let options = [
            (Travel::Full, "Full".to_owned(), true),
            (Travel::InPlace, "In place".to_owned(), true),
            (Travel::Vertical, "Up and down only".to_owned(), true),
        ];
        combo_ui(ui, "Root motion", &mut retarget.travel, &options);
    });
    root_ui(ui, &mut retarget.root);
}

/// The settings that are seldom changed.
fn advanced_ui(ui: &mut Ui, settings: &mut MotionSettings, is_bvh: bool) {
    reference_ui(ui, &mut settings.retarget.reference);
    if is_bvh {
        let about = "How to read the position channels of the BVH file: Automatic decides joint by joint what keeps the body connected.";
        row_ui(ui, "Positions", about, |ui| {
            let options = [
                (Positions::Auto, "Automatic".to_owned(), true),
                (Positions::Replace, "Replace the offset".to_owned(), true),
                (Positions::Add, "Add to the offset".to_owned(), true),
            ];
            combo_ui(ui, "Positions", &mut settings.positions, &options);
        });
    }
    stretch_ui(ui, &mut settings.retarget.keeps_stretch);
    tolerance_ui(ui, settings);
}

fn tolerance_ui(ui: &mut Ui, settings: &mut MotionSettings) {
    let about = "The largest error of a joint when keyframes are removed, in percent of the character's height. 0 keeps all keyframes.";
    row_ui(ui, "Tolerance", about, |ui| {
        let mut percent = settings.bake.tolerance * 100.0;
        let field = DragValue::new(&mut percent)
            .range(0.0..=10.0)
            .speed(0.01)
            .max_decimals(2)
            .update_while_editing(false)
            .suffix(" %");
        let response = ui.add(field).on_hover_text(about);
        response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Tolerance"));
        if response.changed() {
            settings.bake.tolerance = percent / 100.0;
        }
    });
}

fn scale_ui(ui: &mut Ui, scale: &mut Scale) {
    let about = "The size of the steps: by the lengths of the legs, by the heights of the hips, or a factor.";
    row_ui(ui, "Scale", about, |ui| {
        let mut kind = match scale {
            Scale::Leg => 0,
            Scale::Hip => 1,
            Scale::Fixed(_) => 2,
        };
        let was = kind;
        ui.scope(|ui| {
            if was == 2 {
                ui.set_max_width(ui.available_width() - 84.0);
            }
            let options = [
                (0, "Leg length".to_owned(), true),
                (1, "Hip height".to_owned(), true),
                (2, "Factor".to_owned(), true),
            ];
            combo_ui(ui, "Scale", &mut kind, &options);
        });
        if kind != was {
            *scale = [Scale::Leg, Scale::Hip, Scale::Fixed(1.0)][kind];
        }
        if let Scale::Fixed(factor) = scale {
            let field = DragValue::new(factor)
                .range(1e-4..=1e4)
                .speed(0.001)
                .update_while_editing(false);
            let about = "The length in metres of one unit of the motion.";
            let response = ui.add(field).on_hover_text(about);
            response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Scale factor"));
        }
    });
}

fn reference_ui(ui: &mut Ui, reference: &mut Reference) {
    let about = "The pose of the motion that corresponds to the character's rest pose. It decides how bones roll.";
    row_ui(ui, "Reference", about, |ui| {
        let mut kind = match reference {
            Reference::Auto => 0,
            Reference::Best => 1,
            Reference::Zero => 2,
            Reference::Frame(_) => 3,
        };
        let was = kind;
        ui.scope(|ui| {
            if was == 3 {
                ui.set_max_width(ui.available_width() - 84.0);
            }
            let options = [
                (0, "Automatic".to_owned(), true),
                (1, "Closest frame".to_owned(), true),
                (2, "Rest pose of the motion".to_owned(), true),
                (3, "Frame".to_owned(), true),
            ];
            combo_ui(ui, "Reference", &mut kind, &options);
        });
        if kind != was {
            *reference = [
                Reference::Auto,
                Reference::Best,
                Reference::Zero,
                Reference::Frame(0),
            ][kind];
        }
        if let Reference::Frame(frame) = reference {
            let field = DragValue::new(frame).update_while_editing(false);
            let response = ui.add(field).on_hover_text("The frame, counted from 0.");
            response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Reference frame"));
        }
    });
}

/// Draws what the run found. Returns whether the frame time is to be read as frames per second, where that was chosen.
fn report_ui(ui: &mut Ui, adding: &AddingMotion) -> Option<bool> {
    let palette = theme::palette(ui);
    if let Some(why) = adding.failure() {
        ui.label(RichText::new(why).color(palette.error));
    }
    if let Some(result) = adding.result() {
        for (k, line) in result.lines().iter().enumerate() {
            let text = RichText::new(line);
            ui.label(if k == 0 {
                text
            } else {
                text.color(palette.text_dim)
            });
        }
    }
    for note in adding.notes() {
        ui.label(RichText::new(note).color(palette.text_dim));
    }
    let odd = adding.odd_frame_time();
    odd.and_then(|(secs, is_rate)| frame_rate_ui(ui, secs, is_rate))
}

fn state(adding: &AddingMotion) -> RunState<'_> {
    RunState {
        task: adding.task(),
        is_stale: adding.is_stale(),
        has_result: adding.clip().is_some(),
        subject: "clips",
    }
}
