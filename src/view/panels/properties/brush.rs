//! The brush, and what it paints.

use super::curve::curve_ui;
use crate::deform::MaskKind;
use crate::document::session::{
    BrushKind, BrushOptions, Normalising, PaintMask, PaintTarget, PaintedBones, Pressure,
    Projection, RadiusUnit, SelectKind, SmoothedBones,
};
use crate::editor::Editor;
use crate::finding::counted;
use crate::math::Axis;
use crate::tools::SelectShape;
use crate::view::commands::Command;
use crate::view::theme;
use crate::weights::falloff::Falloff;
use egui::{ComboBox, Grid, RichText, Slider, Ui};

/// What the brush paints and how: everything there is.
pub fn brush_ui(ui: &mut Ui, editor: &mut Editor) {
    target_ui(ui, editor);
    let is_map = editor.paint_target() != PaintTarget::Weights;
    if is_map {
        map_ui(ui, editor);
    }
    let brush = editor.brush_mut();
    grid_ui(ui, "brush", |ui| {
        kind_ui(ui, brush);
        numbers_ui(ui, brush);
        falloff_ui(ui, brush);
    });
    if brush.falloff == Falloff::Custom {
        curve_ui(ui, &mut brush.curve);
    }
    sides_ui(ui, brush);
    ui.checkbox(&mut brush.accumulate, "Accumulate")
        .on_hover_text(
            "Touches of one stroke add up. Off: a stroke goes no further than its strength, however often it comes by.",
        );
    grid_ui(ui, "brush reach", |ui| {
        reach_ui(ui, brush);
        symmetry_ui(ui, brush);
        bounds_ui(ui, brush);
    });
    if brush.mask != PaintMask::Off {
        mask_ui(ui, editor);
    }
    note_ui(ui, editor);
    if is_map {
        return;
    }
    let brush = editor.brush_mut();
    grid_ui(ui, "brush weights", |ui| {
        choice_ui(
            ui,
            "Normalise",
            "When each point's weights are brought to a sum of 1: with each touch, when the button comes up, or never.",
            &mut brush.normalise,
            &Normalising::ALL.map(|choice| (choice, choice.label())),
        );
        row_ui(
            ui,
            "Influences",
            "Most bones a painted point may follow.",
            Slider::new(&mut brush.max_influences, BrushOptions::INFLUENCES),
        );
        choice_ui(
            ui,
            "Bones",
            "Paint the active bone alone, or together with the others that are selected, in the proportion that they have at each point.",
            &mut brush.bones,
            &[
                (PaintedBones::Selected, "All selected"),
                (PaintedBones::Active, "Active only"),
            ],
        );
        choice_ui(
            ui,
            "Smoothing",
            "Smooth the painted bones, while the others share the rest, or all bones that are not locked.",
            &mut brush.smoothed,
            &[
                (SmoothedBones::Painted, "Painted bones"),
                (SmoothedBones::All, "All bones"),
            ],
        );
    });
}

/// The brush under the right button: what is changed most.
pub fn brush_popover_ui(ui: &mut Ui, editor: &mut Editor) {
    ui.label(RichText::new(target_label(editor.paint_target(), editor)).strong());
    let brush = editor.brush_mut();
    grid_ui(ui, "brush popover", |ui| {
        kind_ui(ui, brush);
        numbers_ui(ui, brush);
        falloff_ui(ui, brush);
        projection_ui(ui, brush);
        symmetry_ui(ui, brush);
    });
    sides_ui(ui, brush);
}

/// Which sides of the model a stroke reaches.
fn sides_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    ui.checkbox(&mut brush.front_faces_only, "Front faces only")
        .on_hover_text("Leave points alone that face away from you.");
    ui.checkbox(&mut brush.xray, "Paint hidden points")
        .on_hover_text(
            "Reach points that something hides. Along the surface the brush reaches them anyway.",
        );
}

/// What selects the points of the mask, without leaving the brush.
fn mask_ui(ui: &mut Ui, editor: &mut Editor) {
    let mut armed = None;
    ui.horizontal_wrapped(|ui| {
        ui.label("Select points");
        for (shape, text, command) in [
            (SelectShape::Box, "Box", Command::SelectBox),
            (SelectShape::Circle, "Circle", Command::SelectCircle),
            (SelectShape::Lasso, "Lasso", Command::SelectLasso),
        ] {
            let label = format!("{} for the mask", command.label());
            let button = ui.small_button(text);
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &label));
            let about = format!("{} Then the brush goes on.", command.about());
            if button.on_hover_text(about).clicked() {
                armed = Some(shape);
            }
        }
    });
    if let Some(shape) = armed {
        editor.finish_tool();
        editor.set_select_kind(SelectKind::Points);
        editor.arm_select(Some(shape));
    }
}

fn grid_ui(ui: &mut Ui, id: &str, rows: impl FnOnce(&mut Ui)) {
    Grid::new(id)
        .num_columns(2)
        .spacing([8.0, 4.0])
        .show(ui, rows);
}

fn row_ui(ui: &mut Ui, label: &str, about: &str, slider: Slider<'_>) {
    let name = ui.label(label);
    ui.add(slider).labelled_by(name.id).on_hover_text(about);
    ui.end_row();
}

/// A row with one of some words.
fn choice_ui<T: PartialEq + Copy>(
    ui: &mut Ui,
    label: &str,
    about: &str,
    value: &mut T,
    choices: &[(T, &str)],
) {
    let name = ui.label(label);
    let chosen = choices.iter().find(|(choice, _)| choice == value);
    ComboBox::from_id_salt(label)
        .selected_text(chosen.map_or("", |(_, word)| word))
        .show_ui(ui, |ui| {
            for (choice, word) in choices {
                ui.selectable_value(value, *choice, *word);
            }
        })
        .response
        .labelled_by(name.id)
        .on_hover_text(about);
    ui.end_row();
}

fn kind_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    let name = ui.label("Kind");
    let kind = brush.kind_mut();
    ComboBox::from_id_salt("brush kind")
        .selected_text(kind.label())
        .show_ui(ui, |ui| {
            for choice in BrushKind::ALL {
                ui.selectable_value(kind, choice, choice.label())
                    .on_hover_text(Command::UseBrush(choice).tooltip(ui.ctx()));
            }
        })
        .response
        .labelled_by(name.id)
        .on_hover_text(Command::UseBrush(*brush.kind_mut()).about());
    ui.end_row();
}

/// Value, strength, radius.
fn numbers_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    let is_map = brush.target != PaintTarget::Weights;
    if brush.kind().has_value() {
        let about = match brush.kind() {
            BrushKind::Add => "What a stroke at full strength adds.",
            BrushKind::Scale => "What a stroke at full strength multiplies by.",
            _ => "What points become; with Ctrl they go to 0.",
        };
        let limit = brush.target.limit();
        let value = Slider::new(brush.value_mut(), 0.0..=limit).fixed_decimals(2);
        row_ui(ui, if is_map { "Value" } else { "Weight" }, about, value);
    }
    row_ui(
        ui,
        "Strength",
        "How much of the way one stroke goes.",
        Slider::new(&mut brush.strength, 0.0..=1.0).fixed_decimals(2),
    );
    if brush.kind().is_gradient() {
        return;
    }
    let (slider, about) = match brush.radius_unit {
        RadiusUnit::Pixels => (
            Slider::new(&mut brush.radius_px, BrushOptions::RADIUS_PX)
                .logarithmic(true)
                .suffix(" px")
                .integer(),
            "Size of the brush on the screen ( [ and ] ).",
        ),
        RadiusUnit::World => (
            Slider::new(&mut brush.radius_world, 1e-3..=10.0)
                .logarithmic(true)
                .clamping(egui::SliderClamping::Edits)
                .suffix(" m"),
            "Size of the brush on the model ( [ and ] ).",
        ),
    };
    row_ui(ui, "Radius", about, slider);
    choice_ui(
        ui,
        "Measured in",
        "Whether the brush keeps its size on the screen or on the model when you zoom.",
        &mut brush.radius_unit,
        &[
            (RadiusUnit::Pixels, "Pixels"),
            (RadiusUnit::World, "Metres"),
        ],
    );
}

fn falloff_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    choice_ui(
        ui,
        "Falloff",
        "How the effect fades from the centre of the brush to its rim.",
        &mut brush.falloff,
        &Falloff::ALL.map(|falloff| (falloff, falloff.label())),
    );
}

fn projection_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    choice_ui(
        ui,
        "Reach",
        "How distance is measured: along the surface, through the air, or on the screen.",
        &mut brush.projection,
        &Projection::ALL.map(|choice| (choice, choice.label())),
    );
}

/// How the brush reaches points, and which.
fn reach_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    projection_ui(ui, brush);
    let mut percent = brush.spacing * 100.0;
    let spacing = Slider::new(&mut percent, 1.0..=200.0)
        .logarithmic(true)
        .suffix(" %")
        .integer();
    row_ui(
        ui,
        "Spacing",
        "Distance between two touches, in parts of the radius.",
        spacing,
    );
    brush.spacing = percent / 100.0;
    choice_ui(
        ui,
        "Mask",
        "Which points a stroke may change: all, the selected ones, or those of faces that are selected as a whole.",
        &mut brush.mask,
        &PaintMask::ALL.map(|choice| (choice, choice.label())),
    );
    choice_ui(
        ui,
        "Pen pressure",
        "What the pressure of a pen changes, where the pen tells it.",
        &mut brush.pressure,
        &Pressure::ALL.map(|choice| (choice, choice.label())),
    );
}

fn symmetry_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    choice_ui(
        ui,
        "Symmetry",
        "Paint the other side too, with the bone of the other side, by the bind pose whatever the pose is.",
        &mut brush.symmetry,
        &[
            (None, "Off"),
            (Some(Axis::X), "X"),
            (Some(Axis::Y), "Y"),
            (Some(Axis::Z), "Z"),
        ],
    );
}

fn bounds_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    row_ui(
        ui,
        "Floor",
        "No stroke takes a point below this part of the range.",
        Slider::new(&mut brush.floor, 0.0..=1.0).fixed_decimals(2),
    );
    brush.ceiling = brush.ceiling.max(brush.floor);
    row_ui(
        ui,
        "Ceiling",
        "No stroke takes a point above this part of the range.",
        Slider::new(&mut brush.ceiling, 0.0..=1.0).fixed_decimals(2),
    );
    brush.floor = brush.floor.min(brush.ceiling);
}

/// What symmetry cannot do.
fn note_ui(ui: &mut Ui, editor: &Editor) {
    let session = editor.document().session();
    if session.brush.symmetry.is_none() {
        return;
    }
    let Some(mesh) = session.active_mesh else {
        return;
    };
    let text = match editor.n_without_mirror_image(mesh) {
        None => "The mirror image is being worked out…".to_owned(),
        Some(0) => return,
        Some(n) => format!(
            "{} of the active object have no mirror image.",
            counted(n, "point")
        ),
    };
    ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
}

/// What the artist calls what is painted: "Weights of Elbow", "Compensation strength".
pub fn target_label(target: PaintTarget, editor: &Editor) -> String {
    let document = editor.document();
    match (target, document.session().active_joint) {
        (PaintTarget::Mask(kind), _) => kind.label().to_owned(),
        (PaintTarget::LayerMask, _) => "Layer mask".to_owned(),
        (PaintTarget::Weights, Some(joint)) => {
            format!("Weights of {}", document.skeleton().label(joint))
        }
        (PaintTarget::Weights, None) => "Weights".to_owned(),
    }
}

/// The choice of what is painted, what that does, and a way out where it does nothing.
fn target_ui(ui: &mut Ui, editor: &mut Editor) {
    let target = editor.paint_target();
    let mut chosen = None;
    ui.horizontal(|ui| {
        let label = ui.label("Paint");
        ComboBox::from_id_salt("paint target")
            .width(ui.available_width())
            .truncate()
            .selected_text(target_label(target, editor))
            .show_ui(ui, |ui| {
                for choice in PaintTarget::ALL {
                    let has_none =
                        choice == PaintTarget::LayerMask && editor.active_upper_layer().is_none();
                    if has_none && target != choice {
                        continue;
                    }
                    let response = ui
                        .selectable_label(target == choice, target_label(choice, editor))
                        .on_hover_text(Command::Paint(choice).about());
                    if response.clicked() {
                        chosen = Some(choice);
                    }
                }
            })
            .response
            .labelled_by(label.id)
            .on_hover_text("What the brush paints, and what colours show.");
    });
    if let Some(target) = chosen {
        editor.set_paint_target(target);
    }
    let palette = theme::palette(ui);
    if editor.paint_target() == PaintTarget::LayerMask {
        let layer = editor.active_upper_layer();
        let layer = layer.and_then(|id| editor.layers()?.get(id));
        let text = match layer {
            Some(layer) => format!("How much of \"{}\" points take.", layer.name),
            None => "Choose a layer over the base: its mask is painted.".to_owned(),
        };
        ui.label(RichText::new(text).color(palette.text_dim));
    }
    let Some(kind) = editor.paint_target().mask() else {
        return;
    };
    ui.label(RichText::new(about(kind)).color(palette.text_dim));
    if !editor.reads_mask(kind) {
        ui.horizontal_wrapped(|ui| {
            ui.label(not_read(kind));
            let about = "Let the deformation of this model read the map.";
            if ui.button("Turn on").on_hover_text(about).clicked() {
                editor.turn_on_part_of(kind);
            }
        });
    }
}

/// What can be done to a whole map.
fn map_ui(ui: &mut Ui, editor: &mut Editor) {
    ui.horizontal(|ui| {
        let mut button = |command: Command, text: &str| {
            let response = ui.button(text);
            response.widget_info(|| {
                egui::WidgetInfo::labeled(egui::Role::Button, true, command.label())
            });
            response.on_hover_text(command.tooltip(ui.ctx())).clicked()
        };
        if button(Command::FillMap, "Fill") {
            editor.fill_map();
        }
        if button(Command::ClearMap, "Clear") {
            editor.clear_map();
        }
        if button(Command::InvertMap, "Invert") {
            editor.invert_map();
        }
    });
}

/// What a map does, in a sentence.
fn about(kind: MaskKind) -> &'static str {
    match kind {
        MaskKind::Blend => "1 bends by dual quaternions, 0 linearly.",
        MaskKind::Compensation => {
            "How much bulge compensation moves a point: 0 not at all, 1 as set, 2 twice as far."
        }
        MaskKind::Projection => "How much bulge projection moves a point: 0 not at all, 1 as set.",
        MaskKind::Smooth => "How much the corrective smooth moves a point: 0 not at all, 1 as set.",
    }
}

/// That nothing reads the map.
fn not_read(kind: MaskKind) -> &'static str {
    match kind {
        MaskKind::Blend => "The skinning method does not mix:",
        MaskKind::Compensation => "Compensation is off:",
        MaskKind::Projection => "Projection is off:",
        MaskKind::Smooth => "Corrective smooth is off:",
    }
}
