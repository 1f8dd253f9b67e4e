//! Rows and fields of the settings of constraints: labels, check boxes, axes.

use crate::editor::constraints::{across, side_of};
use crate::skeleton::JointId;
use crate::skeleton::constraint::EulerOrder;
use crate::skeleton::constraint::aim::Up;
use crate::view::theme;
use egui::{Align, ComboBox, Layout, RichText, Role, Ui, Vec2, WidgetInfo};
use glam::DVec3;

/// Width of the labels of rows, points.
const LABEL: f32 = 84.0;

/// The axes of a bone, by name.
pub(super) const AXES: [(&str, DVec3); 6] = [
    ("+X", DVec3::X),
    ("-X", DVec3::NEG_X),
    ("+Y", DVec3::Y),
    ("-Y", DVec3::NEG_Y),
    ("+Z", DVec3::Z),
    ("-Z", DVec3::NEG_Z),
];

/// The cosine above which two axes are not across each other.
const NOT_ACROSS: f64 = 1e-6;

/// The constraint whose settings are drawn.
pub(super) struct Subject<'a> {
    pub(super) joint: JointId,
    /// Its name in the bone's list.
    pub(super) name: &'a str,
    /// Its words in undo steps: its name and its bone.
    pub(super) words: &'a str,
}

impl Subject<'_> {
    /// The accessible name of a field.
    pub(super) fn name_of(&self, field: &str) -> String {
        format!("{field} of {}", self.name)
    }

    /// The label of the undo step that changes a field.
    pub(super) fn change_of(&self, field: &str) -> String {
        format!("Change {} of {}", field.to_lowercase(), self.words)
    }
}

/// Draws a label, and a field beside it, in line with those of the other rows.
pub(super) fn row_ui(
    ui: &mut Ui,
    (name, about): (&str, &str),
    field_ui: impl FnOnce(&mut Ui, &str),
) {
    ui.horizontal(|ui| {
        let size = Vec2::new(LABEL, ui.spacing().interact_size.y);
        let dim = theme::palette(ui).text_dim;
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(LABEL);
            let response = ui.label(RichText::new(name).color(dim));
            if !about.is_empty() {
                response.on_hover_text(about);
            }
        });
        field_ui(ui, about);
    });
}

/// Draws a check box.
pub(super) fn check_ui(
    ui: &mut Ui,
    subject: &Subject<'_>,
    is_on: &mut bool,
    (field, about): (&str, &str),
) {
    row_ui(ui, ("", ""), |ui, _| {
        let response = ui.checkbox(is_on, field).on_hover_text(about);
        let name = subject.name_of(field);
        response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, *is_on, &name));
    });
}

/// Draws the drop-down of an axis of the bone.
pub(super) fn axis_ui(
    ui: &mut Ui,
    subject: &Subject<'_>,
    axis: &mut DVec3,
    (field, about): (&str, &str),
) {
    row_ui(ui, (field, about), |ui, about| {
        let known = AXES.iter().find(|(_, known)| known == axis);
        let shown = known.map_or("Along the bone", |(name, _)| name);
        let response = ComboBox::from_id_salt("Axis")
            .selected_text(shown)
            .show_ui(ui, |ui| {
                for (name, direction) in AXES {
                    ui.selectable_value(axis, direction, name);
                }
            })
            .response
            .on_hover_text(about);
        let name = subject.name_of(field);
        response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    });
}

/// Draws the drop-down of the order of Euler angles.
pub(super) fn order_ui(ui: &mut Ui, subject: &Subject<'_>, order: &mut EulerOrder) {
    let about = "The order of the Euler angles: the rotation about the first axis comes first. Where the second angle passes \
        ±90°, the others jump (gimbal lock).";
    row_ui(ui, ("Euler order", about), |ui, about| {
        let response = ComboBox::from_id_salt("Euler order")
            .selected_text(order.letters())
            .show_ui(ui, |ui| {
                for other in EulerOrder::ALL {
                    ui.selectable_value(order, other, other.letters());
                }
            })
            .response
            .on_hover_text(about);
        let name = subject.name_of("Euler order");
        response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    });
}

/// Draws a check box for each of X, Y and Z.
pub(super) fn axes_ui(
    ui: &mut Ui,
    subject: &Subject<'_>,
    axes: &mut [bool; 3],
    (field, about): (&str, &str),
) {
    row_ui(ui, (field, about), |ui, about| {
        for (is_on, letter) in axes.iter_mut().zip(["X", "Y", "Z"]) {
            let response = ui.checkbox(is_on, letter).on_hover_text(about);
            let name = subject.name_of(&format!("{field} {letter}"));
            response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, *is_on, &name));
        }
    });
}

/// Draws the drop-downs of the up axis of a bone that aims along `axis`, and of the direction in the world that it follows.
pub(super) fn up_ui(ui: &mut Ui, subject: &Subject<'_>, axis: DVec3, up: &mut Option<Up>) {
    let about = "The axis of this bone that points up as far as it can, as in a Track To constraint. With None the bone \
        is rotated by the smallest angle.";
    let mut chosen = up.map(|up| up.axis);
    // Across the track axis, which can have changed.
    if let Some(known) = chosen.filter(|known| known.dot(axis).abs() > NOT_ACROSS) {
        chosen = across(known, axis).or_else(|| Some(side_of(axis)));
    }
    let offered = AXES.map(|(name, known)| (name, across(known, axis)));
    row_ui(ui, ("Up axis", about), |ui, about| {
        let name_of = |axis: DVec3| {
            let mut all = offered.iter();
            all.find(|(_, known)| known.is_some_and(|known| known.distance(axis) < NOT_ACROSS))
        };
        let shown = chosen.map_or("None", |axis| {
            name_of(axis).map_or("Custom", |(name, _)| name)
        });
        let response = ComboBox::from_id_salt("Up axis")
            .selected_text(shown)
            .show_ui(ui, |ui| {
                ui.selectable_value(&mut chosen, None, "None");
                for (name, known) in offered {
                    if known.is_some() {
                        ui.selectable_value(&mut chosen, known, name);
                    }
                }
            })
            .response
            .on_hover_text(about);
        let name = subject.name_of("Up axis");
        response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    });
    let mut direction = up.map_or(DVec3::Y, |up| up.direction);
    if chosen.is_some() {
        row_ui(
            ui,
            ("Up direction", "The world axis that is up."),
            |ui, about| {
                let known = AXES.iter().find(|(_, known)| *known == direction);
                let response = ComboBox::from_id_salt("Up direction")
                    .selected_text(known.map_or("Custom", |(name, _)| name))
                    .show_ui(ui, |ui| {
                        for (name, known) in AXES {
                            ui.selectable_value(&mut direction, known, name);
                        }
                    })
                    .response
                    .on_hover_text(about);
                let name = subject.name_of("Up direction");
                response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
            },
        );
    }
    *up = chosen.map(|axis| Up { axis, direction });
}
