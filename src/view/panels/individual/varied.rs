//! Limits and gains of the what-if: fields, and what adds them.

use super::super::bone_list::{bone_combo, bone_list_ui};
use super::super::clusters::layer_row::{dim_ui, icon_ui};
use super::super::properties::joint_limits::{USUAL, angles_ui};
use crate::cluster::map::gains::Gain;
use crate::document::{Document, MAX_GAIN_FACTOR, Variation};
use crate::editor::Editor;
use crate::skeleton::JointId;
use crate::skeleton::joint_limits::JointLimits;
use egui::{DragValue, Grid, Response, Role, Ui, WidgetInfo};
use egui_material_icons::icons;

/// What the section is for, where nothing is changed.
const EMPTY: &str = "Limits and gains of the what-if alone: how far a bone rotates, and how strongly drivers, muscles and recorded \
                     data move the skin.";
const ABOUT_LIMITS: &str = "The rotation from the rest pose stays within these angles in the what-if, also where a clip or a \
                            recorded motion exceeds them.";

/// Draws limits and gains; whether one of their fields is being dragged.
pub(super) fn varied_ui(ui: &mut Ui, editor: &mut Editor, variations: &mut Vec<Variation>) -> bool {
    ui.separator();
    ui.horizontal_wrapped(|ui| {
        ui.label("Limits and gains");
        add_limits_ui(ui, editor);
        add_gain_ui(ui, editor);
    });
    if variations.is_empty() {
        dim_ui(ui, EMPTY);
        return false;
    }
    let document = editor.document();
    let gains = document.gains();
    let mut is_dragged = false;
    let mut removed = None;
    let grid = Grid::new("limits and gains").striped(true);
    grid.spacing([8.0, 3.0]).show(ui, |ui| {
        for (i, variation) in variations.iter_mut().enumerate() {
            let n = i + 1;
            match variation {
                Variation::Limits { joint, limits } => {
                    ui.label(bone_name(document, *joint))
                        .on_hover_text(ABOUT_LIMITS);
                    ui.horizontal(|ui| is_dragged |= limits_ui(ui, n, limits));
                }
                Variation::Gain { gain, factor } => {
                    let label = ui.label(gain_name(gain));
                    label.on_hover_text(
                        "The gain in the what-if, relative to the gain in the document.",
                    );
                    ui.horizontal(|ui| {
                        is_dragged |= factor_ui(ui, n, factor);
                        if !gains.contains(gain) {
                            dim_ui(ui, "This layer no longer exists.");
                        }
                    });
                }
            }
            let name = format!("Remove limit or gain {n}");
            if icon_ui(ui, icons::ICON_DELETE, &name, "Remove this row.", true) {
                removed = Some(i);
            }
            ui.end_row();
        }
    });
    if let Some(i) = removed {
        variations.remove(i);
        return false;
    }
    is_dragged
}

/// Draws the list of bones whose rotation can be limited.
fn add_limits_ui(ui: &mut Ui, editor: &mut Editor) {
    let document = editor.document();
    let mask = document.skin_joint_mask();
    let taken: Vec<JointId> = editor.variations().iter().filter_map(limited).collect();
    let joints = document.skeleton().live_joints();
    let joints = joints.filter(|joint| mask[joint.get()] && !taken.contains(joint));
    let entries: Vec<(Option<JointId>, String)> = joints
        .map(|joint| (Some(joint), bone_name(document, joint)))
        .collect();
    let mut chosen = None;
    let about = "Limit the rotation of a bone in the what-if.";
    let combo = bone_combo("Add limit")
        .width(96.0)
        .selected_text("Add limit");
    let combo = combo.show_ui(ui, |ui| bone_list_ui(ui, &mut chosen, entries));
    labelled(&combo.response, "Add limit");
    combo.response.on_hover_text(about);
    if let Some(joint) = chosen {
        editor.add_varied_limits(joint);
    }
}

/// Draws the list of gains that can be changed.
fn add_gain_ui(ui: &mut Ui, editor: &mut Editor) {
    let mut gains = editor.document().gains();
    let taken = |gain: &Gain| {
        let mut known = editor.variations().iter();
        known.any(|v| matches!(v, Variation::Gain { gain: own, .. } if own == gain))
    };
    gains.retain(|gain| !taken(gain));
    let mut chosen = None;
    ui.add_enabled_ui(!gains.is_empty(), |ui| {
        let combo = bone_combo("Add gain").width(96.0).selected_text("Add gain");
        let entries = gains.into_iter().map(|gain| {
            let name = gain_name(&gain);
            (Some(gain), name)
        });
        let combo = combo.show_ui(ui, |ui| bone_list_ui(ui, &mut chosen, entries));
        labelled(&combo.response, "Add gain");
        let about = "Multiply the gain of a driver, the amplitude of a muscle or the scale of recorded data in the what-if.";
        let why = "It needs a driver, a muscle or recorded data on control clusters, which has no row yet.";
        combo.response.on_hover_text(about).on_disabled_hover_text(why);
    });
    if let Some(gain) = chosen {
        editor.add_varied_gain(gain);
    }
}

fn labelled(response: &Response, name: &str) {
    response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, response.enabled(), name));
}

fn limited(variation: &Variation) -> Option<JointId> {
    match variation {
        Variation::Limits { joint, .. } => Some(*joint),
        Variation::Gain { .. } => None,
    }
}

fn bone_name(document: &Document, joint: JointId) -> String {
    if document.skeleton().is_live(joint) {
        document.skeleton().label(joint)
    } else {
        "A removed bone".to_owned()
    }
}

fn gain_name(gain: &Gain) -> String {
    format!(
        "{} \u{b7} {} ({})",
        gain.group,
        gain.layer,
        gain.kind.label()
    )
}

/// Draws a check box and two angles for each axis; whether one is being dragged.
fn limits_ui(ui: &mut Ui, n: usize, limits: &mut JointLimits) -> bool {
    let mut is_dragged = false;
    for (letter, range) in ["X", "Y", "Z"].into_iter().zip(&mut limits.0) {
        let mut is_limited = *range != JointLimits::FREE;
        let checkbox = ui.checkbox(&mut is_limited, letter);
        checkbox.widget_info(|| {
            let name = format!("Limit {letter} of limit {n}");
            WidgetInfo::selected(Role::CheckBox, true, is_limited, name)
        });
        if checkbox.on_hover_text(ABOUT_LIMITS).changed() {
            let usual = USUAL.to_radians();
            *range = if is_limited {
                [-usual, usual]
            } else {
                JointLimits::FREE
            };
        }
        if is_limited {
            let fields = angles_ui(ui, range, |word| format!("{word} {letter} of limit {n}"));
            is_dragged |= fields.iter().any(egui::Response::dragged);
        }
    }
    is_dragged
}

/// Draws the factor of a gain; whether it is being dragged.
fn factor_ui(ui: &mut Ui, n: usize, factor: &mut f64) -> bool {
    let mut value = *factor;
    let field = DragValue::new(&mut value)
        .range(0.0..=MAX_GAIN_FACTOR)
        .speed(0.01)
        .max_decimals(3)
        .prefix("\u{d7} ");
    let response = ui.add(field.update_while_editing(false));
    let name = format!("Factor of gain {n}");
    response.widget_info(|| WidgetInfo {
        label: Some(name.clone()),
        ..WidgetInfo::drag_value(true, value)
    });
    if response.changed() {
        *factor = value;
    }
    response.dragged()
}
