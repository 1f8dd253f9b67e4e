//! The settings and the report of an operation on bones.

use super::automatic::automatic_ui;
use super::buttons::{self, RunAction, RunState, run_ui};
use super::rows::{about_ui, bone_ui, combo_ui, count_ui, row_ui};
use crate::document::rig::{Axis, Intent};
use crate::editor::rigging::RigAdjusting;
use crate::editor::{Editor, PinSettings, RigTool};
use crate::view::commands::Command;
use crate::view::panels::rig_report::rig_reports_ui;
use crate::view::theme;
use egui::{DragValue, RichText, Role, Ui, WidgetInfo};
use glam::DVec3;

/// The largest time of a pin, seconds.
const LONGEST_SECS: f64 = 86_400.0;

/// The tooltip of the setting.
pub(in crate::view::panels) const ABOUT_INTENTS: &str = "What moving a bone does to the clips.";

/// What a move does to the clips, with a tooltip.
pub(in crate::view::panels) const INTENTS: [(Intent, &str, &str); 3] = [
    (
        Intent::NewPivot,
        "New pivot",
        "Bones rotate about their new heads: the rotations stay, so the motion changes.",
    ),
    (
        Intent::KeepMotion,
        "Keep motion",
        "All clips play as before. Keyframes are added where the new head moves along an arc.",
    ),
    (
        Intent::ChildrenKeepMotion,
        "New pivot, children keep motion",
        "Bones rotate about their new heads, but their children move as before, so hands stay on props.",
    ),
];

/// Draws settings, progress and report.
pub(super) fn content_ui(ui: &mut Ui, editor: &mut Editor) -> Option<RunAction> {
    fields_ui(ui, editor);
    let adjusting = editor.rig_adjusting()?;
    let action = run_ui(ui, &state(adjusting));
    let has_settings = adjusting.tool().has_settings();
    if has_settings && (adjusting.failure().is_some() || adjusting.is_applied()) {
        ui.separator();
    }
    if let Some(why) = adjusting.failure() {
        ui.label(RichText::new(why).color(theme::palette(ui).error));
    } else if adjusting.is_applied() {
        rig_reports_ui(ui, editor);
    }
    action
}

/// Draws *Apply* and *Cancel*; runs `action`, or else the pressed one.
pub(super) fn end_ui(ui: &mut Ui, editor: &mut Editor, action: Option<RunAction>) {
    let state = editor.rig_adjusting().map(state);
    match action.or_else(|| buttons::end_ui(ui, &state?)) {
        Some(RunAction::Run) => editor.run_rig_operation(),
        Some(RunAction::Stop) => editor.cancel_rig_operation(),
        Some(RunAction::Apply) => editor.end_rig_operation(),
        Some(RunAction::TakeBack) => editor.take_back_rig_operation(),
        None => {}
    }
}

fn fields_ui(ui: &mut Ui, editor: &mut Editor) {
    let Some(adjusting) = editor.rig_adjusting() else {
        return;
    };
    let mut tool = adjusting.tool().clone();
    let count = |ui: &mut Ui, name: &str, about: &str, n: &mut usize, most: u32| {
        let mut value = *n as u32;
        count_ui(ui, name, about, &mut value, 1..=most);
        *n = value as usize;
    };
    match &mut tool {
        RigTool::Subdivide { n } => count(
            ui,
            "New bones",
            "The number of new bones inserted into each selected bone.",
            n,
            16,
        ),
        RigTool::Twist { n } => count(ui, "Segments", "How many bones share the twist.", n, 6),
        RigTool::Move { by, intent } => {
            offset_ui(ui, by);
            let chosen = INTENTS.iter().find(|(known, ..)| known == intent);
            let about = chosen.map_or("", |(_, _, about)| about);
            row_ui(ui, "Clips", ABOUT_INTENTS, |ui| {
                let options = INTENTS.map(|(intent, label, _)| (intent, label.to_owned(), true));
                combo_ui(ui, "Clips", intent, &options);
            });
            about_ui(ui, about);
        }
        RigTool::Roll { angle } => {
            let about = "The angle about the bone.";
            row_ui(ui, "Angle", about, |ui| angle_ui(ui, angle, about));
        }
        RigTool::MoveTree { by } | RigTool::Extrude { by } => offset_ui(ui, by),
        RigTool::Orient { aim, second } => {
            let about = "The axis that points to the tail of the bone.";
            row_ui(ui, "Along bone", about, |ui| {
                combo_ui(ui, "Along bone", aim, &axes(None));
            });
            if second.unit().dot(aim.unit()) != 0.0 {
                *second = if aim.unit().dot(DVec3::Y) == 0.0 {
                    Axis::Y
                } else {
                    Axis::Z
                };
            }
            let about = "The axis along the normal of the bend, the hinge's axis of rotation.";
            row_ui(ui, "Secondary axis", about, |ui| {
                combo_ui(ui, "Secondary axis", second, &axes(Some(*aim)));
            });
        }
        RigTool::SetParent { parent } => {
            bone_ui(ui, editor, "Parent", "The new parent of the bones.", parent);
        }
        RigTool::Bind(method) => automatic_ui(ui, method),
        RigTool::Pin(settings) => pin_ui(ui, settings),
        _ => {}
    }
    let is_move = matches!(tool, RigTool::Move { .. } | RigTool::MoveTree { .. });
    editor.set_rig_tool(tool);
    if is_move {
        follow_ui(ui, editor);
    }
}

/// Where and how long bones are held in place.
fn pin_ui(ui: &mut Ui, settings: &mut PinSettings) {
    let [from, to] = &mut settings.range;
    let fields = [
        (
            "Start",
            "The time from which the bones stay in place.",
            from,
        ),
        ("End", "The time up to which the bones stay in place.", to),
        (
            "Reference time",
            "The reference time: the bones stay where the clip has them then. If the pose on screen is not keyed, they stay where it has them.",
            &mut settings.at,
        ),
        (
            "Blend time",
            "How long the bones take to blend into the pin before the range, and out of it after it.",
            &mut settings.ease,
        ),
    ];
    for (name, about, secs) in fields {
        row_ui(ui, name, about, |ui| {
            let field = DragValue::new(secs)
                .range(0.0..=LONGEST_SECS)
                .clamp_existing_to_range(false)
                .speed(0.01)
                .max_decimals(3)
                .update_while_editing(false)
                .suffix(" s");
            let response = ui.add(field);
            response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, name));
            response.on_hover_text(format!("{about} Drag or type."));
        });
    }
}

/// Whether moved bones take their children along.
pub(in crate::view::panels) fn follow_ui(ui: &mut Ui, editor: &mut Editor) {
    let command = Command::ToggleChildrenFollow;
    let mut follow = editor.children_follow();
    let about = command.tooltip(ui.ctx());
    let response = ui.checkbox(&mut follow, command.label());
    if response.on_hover_text(about).changed() {
        editor.set_children_follow(follow);
    }
}

/// An angle in degrees.
fn angle_ui(ui: &mut Ui, angle: &mut f64, about: &str) {
    let mut degrees = angle.to_degrees();
    let field = DragValue::new(&mut degrees)
        .speed(0.5)
        .fixed_decimals(1)
        .update_while_editing(false)
        .suffix("°");
    let response = ui.add(field);
    response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Angle"));
    if response
        .on_hover_text(format!("{about} Drag or type."))
        .changed()
    {
        *angle = degrees.to_radians();
    }
}

/// The axes, without those parallel to `other`.
fn axes(other: Option<Axis>) -> Vec<(Axis, String, bool)> {
    let all = [
        (Axis::X, "+X"),
        (Axis::NegX, "-X"),
        (Axis::Y, "+Y"),
        (Axis::NegY, "-Y"),
        (Axis::Z, "+Z"),
        (Axis::NegZ, "-Z"),
    ];
    let is_free = |axis: &Axis| other.is_none_or(|other| other.unit().dot(axis.unit()) == 0.0);
    let free = all.into_iter().filter(|(axis, _)| is_free(axis));
    free.map(|(axis, name)| (axis, name.to_owned(), true))
        .collect()
}

/// The offset along the axes of the world, metres.
fn offset_ui(ui: &mut Ui, by: &mut DVec3) {
    let about = "The offset along the axes of the world.";
    row_ui(ui, "Offset", about, |ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (value, name) in [(&mut by.x, "X"), (&mut by.y, "Y"), (&mut by.z, "Z")] {
            let field = DragValue::new(value)
                .speed(0.002)
                .fixed_decimals(3)
                .update_while_editing(false)
                .suffix(" m");
            let response = ui.add_sized([58.0, ui.spacing().interact_size.y], field);
            let label = format!("Offset {name}");
            response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, &label));
            response.on_hover_text(format!("{label}. {about} Drag or type."));
        }
    });
}

fn state(adjusting: &RigAdjusting) -> RunState<'_> {
    RunState {
        task: adjusting.task(),
        is_stale: adjusting.is_stale(),
        has_result: adjusting.is_applied(),
        subject: "bones",
    }
}
