//! The table of measurements: fields, and what the fit reached beside them.

use super::super::bone_list::{bone_combo, bone_list_ui};
use super::super::clusters::layer_row::icon_ui;
use crate::document::Document;
use crate::editor::Editor;
use crate::finding::trimmed;
use crate::motion::roles::{Part, Role as BodyRole, SIDES};
use crate::twin::{FittedRow, Kind, MeasuredSide, Measurement, Unit};
use crate::view::theme;
use egui::{
    ComboBox, DragValue, Grid, Label, RichText, Role, ScrollArea, TextEdit, Ui, Vec2, WidgetInfo,
};
use egui_material_icons::icons;

/// The columns.
const COLUMNS: [&str; 11] = [
    "Label", "Kind", "Bone", "At", "Side", "Value", "Unit", "Template", "Factor", "Residual", "",
];

/// Draws the rows; whether one of their fields is being edited.
pub(super) fn rows_ui(ui: &mut Ui, editor: &Editor, rows: &mut Vec<Measurement>) -> bool {
    let mut editing = false;
    let mut removed = None;
    let shape = editor.shape_of(editor.edited_person());
    let report = shape.map(|shape| &shape.report);
    let is_same = shape.is_some_and(|shape| shape.rows == *rows);
    let scroll = ScrollArea::horizontal().id_salt("columns of measurements");
    scroll.show(ui, |ui| {
        let grid = Grid::new("measurements").striped(true);
        grid.spacing([8.0, 3.0]).show(ui, |ui| {
            let dim = theme::palette(ui).text_dim;
            for name in COLUMNS {
                ui.label(RichText::new(name).color(dim));
            }
            ui.end_row();
            for (i, row) in rows.iter_mut().enumerate() {
                let fitted = report.filter(|_| is_same);
                let fitted = fitted.map(|r| r.rows.iter().filter(|f| f.row == i).collect());
                editing |= fields_ui(ui, editor.document(), i, row);
                figures_ui(ui, row, fitted.unwrap_or_default());
                let name = format!("Remove measurement {}", i + 1);
                if icon_ui(ui, icons::ICON_DELETE, &name, "Remove this row.", true) {
                    removed = Some(i);
                }
                ui.end_row();
            }
        });
    });
    if let Some(i) = removed {
        rows.remove(i);
        return false;
    }
    editing
}

/// Draws the fields of a row; whether one of them is being edited.
fn fields_ui(ui: &mut Ui, document: &Document, i: usize, row: &mut Measurement) -> bool {
    let n = i + 1;
    let mut editing = text_ui(ui, &format!("Label of measurement {n}"), &mut row.id, 96.0);
    let kinds = Kind::ALL.map(|kind| (kind, kind.label()));
    let kind = row.kind;
    combo_ui(
        ui,
        &format!("Kind of measurement {n}"),
        72.0,
        &mut row.kind,
        &kinds,
    );
    if row.kind != kind {
        match row.kind {
            Kind::Height => (row.bone, row.to, row.side) = (String::new(), String::new(), None),
            Kind::Length => row.at = 0.0,
            Kind::Girth => (row.at, row.to) = (0.5, String::new()),
        }
        if row.kind != Kind::Height && row.bone.is_empty() {
            row.bone = first_bone(document);
        }
    }
    if row.kind == Kind::Height {
        ui.label("");
        ui.label("");
        ui.label("");
    } else {
        bone_ui(ui, document, n, row);
        if row.kind == Kind::Girth {
            let mut percent = row.at * 100.0;
            let field = DragValue::new(&mut percent)
                .range(0.0..=100.0)
                .suffix(" %")
                .speed(0.5);
            let field = ui.add(field.update_while_editing(false));
            let name = format!("Place of measurement {n}");
            field.widget_info(|| WidgetInfo {
                label: Some(name.clone()),
                ..WidgetInfo::drag_value(true, percent)
            });
            if field.changed() {
                row.at = percent / 100.0;
            }
            editing |= field.dragged();
            field.on_hover_text(
                "Where on the bone it is taken: 0 % at its head, 100 % at its tail.",
            );
        } else {
            ui.label("");
        }
        let sides = [
            (None, "bone's"),
            (Some(MeasuredSide::Left), "left"),
            (Some(MeasuredSide::Right), "right"),
            (Some(MeasuredSide::Both), "both"),
        ];
        combo_ui(
            ui,
            &format!("Side of measurement {n}"),
            64.0,
            &mut row.side,
            &sides,
        );
    }
    let mut value = row.value;
    let field = DragValue::new(&mut value)
        .range(1e-4..=1e6)
        .speed(0.1)
        .max_decimals(3);
    let field = ui.add(field.update_while_editing(false));
    let name = format!("Value of measurement {n}");
    field.widget_info(|| WidgetInfo {
        label: Some(name.clone()),
        ..WidgetInfo::drag_value(true, value)
    });
    if field.changed() {
        row.value = value;
    }
    editing |= field.dragged();
    let unit = row.unit;
    let units = Unit::ALL.map(|unit| (unit, unit.label()));
    combo_ui(
        ui,
        &format!("Unit of measurement {n}"),
        52.0,
        &mut row.unit,
        &units,
    );
    if row.unit != unit {
        // The same length in the new unit.
        row.value *= unit.metres() / row.unit.metres();
    }
    editing
}

/// Draws the bone or the role of a row.
fn bone_ui(ui: &mut Ui, document: &Document, n: usize, row: &mut Measurement) {
    let name = format!("Bone of measurement {n}");
    let text = if row.to.is_empty() {
        row.bone.clone()
    } else {
        format!("{} \u{2013} {}", row.bone, row.to)
    };
    let combo = bone_combo(&name)
        .width(128.0)
        .truncate()
        .selected_text(&text);
    let combo = combo.show_ui(ui, |ui| {
        let mut chosen = text.clone();
        bone_list_ui(
            ui,
            &mut chosen,
            bones(document).into_iter().map(|b| (b.clone(), b)),
        );
        if chosen != text {
            row.bone = chosen;
            row.to.clear();
        }
    });
    let response = combo.response;
    response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, &name));
    response.on_hover_text("A bone, or a part of the body. Chains of bones come from a table.");
}

/// Parts of a body, then the bones of the skins.
fn bones(document: &Document) -> Vec<String> {
    let parts = Part::ALL.into_iter().map(|part| part.label().to_owned());
    let sided = Part::ALL.into_iter().filter(|part| part.has_side());
    let sided = sided.flat_map(|part| SIDES.map(|side| BodyRole::of(part, side).label()));
    let mask = document.skin_joint_mask();
    let joints = document.skeleton().live_joints().filter(|j| mask[j.get()]);
    let names = joints.map(|j| document.skeleton().joint(j).name.clone());
    let names = names.filter(|name| !name.is_empty());
    parts.chain(sided).chain(names).collect()
}

fn first_bone(document: &Document) -> String {
    let mask = document.skin_joint_mask();
    let mut joints = document.skeleton().live_joints().filter(|j| mask[j.get()]);
    let first = joints.find(|j| !document.skeleton().joint(*j).name.is_empty());
    first.map_or_else(String::new, |j| document.skeleton().joint(j).name.clone())
}

/// Draws the template's value, the factor, and how far the fit is off; the worst side counts.
fn figures_ui(ui: &mut Ui, row: &Measurement, fitted: Vec<&FittedRow>) {
    let worst = fitted.into_iter().reduce(|a, b| {
        if b.error.abs() > a.error.abs() || b.error.is_nan() {
            b
        } else {
            a
        }
    });
    let palette = theme::palette(ui);
    let Some(worst) = worst else {
        for _ in 0..3 {
            ui.label(RichText::new("\u{2013}").color(palette.text_dim));
        }
        return;
    };
    let unit = row.unit;
    let template = trimmed_to(worst.template / unit.metres(), 2);
    ui.label(format!("{template} {}", unit.label()));
    ui.label(trimmed_to(worst.factor, 3));
    let error = worst.error * 100.0;
    let is_off = error.is_nan() || error.abs() > 0.1;
    let text = if error.is_nan() {
        "open".to_owned()
    } else {
        format!("{} %", trimmed_to(error, 2))
    };
    let colour = if is_off { palette.error } else { palette.text };
    ui.add(Label::new(RichText::new(text).color(colour)));
}

fn trimmed_to(value: f64, decimals: i32) -> String {
    let scale = 10f64.powi(decimals);
    // Without the sign of a rounded zero.
    trimmed((value * scale).round() / scale + 0.0)
}

fn text_ui(ui: &mut Ui, name: &str, text: &mut String, width: f32) -> bool {
    let field = ui.add(
        TextEdit::singleline(text)
            .desired_width(width)
            .min_size(Vec2::new(width, 0.0)),
    );
    field.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, name));
    field.has_focus()
}

fn combo_ui<T: Copy + PartialEq>(
    ui: &mut Ui,
    name: &str,
    width: f32,
    chosen: &mut T,
    options: &[(T, &str)],
) {
    let text = options.iter().find(|o| o.0 == *chosen).map_or("", |o| o.1);
    let combo = ComboBox::from_id_salt(name)
        .width(width)
        .selected_text(text);
    let combo = combo.show_ui(ui, |ui| {
        for (value, label) in options {
            ui.selectable_value(chosen, *value, *label);
        }
    });
    let response = combo.response;
    response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, name));
}
