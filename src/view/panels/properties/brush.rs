//! The brush settings and the paint target.

use super::curve::curve_ui;
use crate::deform::MaskKind;
use crate::document::session::{
    BrushKind, BrushOptions, FalloffShape, Normalising, PaintMask, PaintTarget, PaintedBones,
    Pressure, RadiusUnit, SelectKind, SmoothedBones,
};
use crate::editor::Editor;
use crate::finding::counted;
use crate::math::Axis;
use crate::sentence::shortened_name;
use crate::tools::SelectShape;
use crate::view::commands::Command;
use crate::view::theme;
use crate::weights::falloff::Falloff;
use egui::{ComboBox, Grid, RichText, Slider, Ui};

/// Most characters of the paint target: names of bones can be long.
const MOST_LETTERS: usize = 28;

/// Draws all brush settings.
pub fn brush_ui(ui: &mut Ui, editor: &mut Editor) {
    target_ui(ui, editor);
    let is_map = editor.paint_target() != PaintTarget::Weights;
    if is_map {
        map_ui(ui, editor);
    } else if let n @ 1.. = editor.n_resting_weights() {
        let n = counted(n, "free vertex");
        let text = format!(
            "The weights of {n} are ignored: these follow the patches between control clusters. They are kept."
        );
        let dim = theme::palette(ui).text_dim;
        ui.add(egui::Label::new(RichText::new(text).color(dim)).wrap());
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
    front_ui(ui, brush);
    hidden_ui(ui, brush, "Paint");
    ui.checkbox(&mut brush.accumulate, "Accumulate")
        .on_hover_text(
            "Let dabs of one stroke add up. When off, one stroke never exceeds its strength.",
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
            "When the weights of each vertex are normalised to a sum of 1: with each dab, at the end of the stroke, \
             or never.",
            &mut brush.normalise,
            &Normalising::ALL.map(|choice| (choice, choice.label())),
        );
        row_ui(
            ui,
            "Max influences",
            "Maximum number of bones per painted vertex.",
            Slider::new(&mut brush.max_influences, BrushOptions::INFLUENCES),
        );
        choice_ui(
            ui,
            "Bones",
            "Paint only the active bone, or all selected bones in their current proportion.",
            &mut brush.bones,
            &[
                (PaintedBones::Selected, "All selected"),
                (PaintedBones::Active, "Active only"),
            ],
        );
        choice_ui(
            ui,
            "Smoothing",
            "Smooth only the painted bones and rescale the others, or smooth all unlocked bones.",
            &mut brush.smoothed,
            &[
                (SmoothedBones::Painted, "Painted bones"),
                (SmoothedBones::All, "All bones"),
            ],
        );
    });
}

/// The brush popover: the most used settings.
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
    front_ui(ui, brush);
    hidden_ui(ui, brush, "Paint");
}

/// Draws whether a stroke leaves out the far side.
pub(super) fn front_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    ui.checkbox(&mut brush.front_faces_only, "Front faces only")
        .on_hover_text("Leave out vertices that face away from the camera.");
}

/// Draws whether a stroke reaches occluded vertices. `does`: "Paint".
pub(super) fn hidden_ui(ui: &mut Ui, brush: &mut BrushOptions, does: &str) {
    ui.checkbox(&mut brush.xray, format!("{does} hidden vertices"))
        .on_hover_text(
            "Also affect vertices that other parts occlude. The falloff shape Surface always does.",
        );
}

/// Draws the buttons that select vertices for the mask without leaving the brush.
pub(super) fn mask_ui(ui: &mut Ui, editor: &mut Editor) {
    let mut armed = None;
    ui.horizontal_wrapped(|ui| {
        ui.label("Select vertices");
        for (shape, text, command) in [
            (SelectShape::Box, "Box", Command::SelectBox),
            (SelectShape::Circle, "Circle", Command::SelectCircle),
            (SelectShape::Lasso, "Lasso", Command::SelectLasso),
        ] {
            let label = format!("{} for the mask", command.label());
            let button = ui.small_button(text);
            button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &label));
            let about = format!("{} Then continue painting.", command.about());
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

pub(super) fn grid_ui(ui: &mut Ui, id: &str, rows: impl FnOnce(&mut Ui)) {
    Grid::new(id)
        .num_columns(2)
        .spacing([8.0, 4.0])
        // The values of all grids of a brush stand in one column.
        .min_col_width(76.0)
        .show(ui, rows);
}

fn row_ui(ui: &mut Ui, label: &str, about: &str, slider: Slider<'_>) {
    let name = ui.label(label);
    ui.add(slider).labelled_by(name.id).on_hover_text(about);
    ui.end_row();
}

/// A drop-down with a label.
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
    let name = ui.label("Brush");
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

/// Draws weight, strength and radius.
fn numbers_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    let is_map = brush.target != PaintTarget::Weights;
    if brush.kind().has_value() {
        let about = match brush.kind() {
            BrushKind::Add => "The amount that a full-strength stroke adds.",
            BrushKind::Scale => "The factor that a full-strength stroke multiplies by.",
            _ => "The weight that a full-strength stroke sets. With Ctrl, it sets 0.",
        };
        let limit = brush.target.limit();
        let value = Slider::new(brush.value_mut(), 0.0..=limit).fixed_decimals(2);
        row_ui(ui, if is_map { "Value" } else { "Weight" }, about, value);
    }
    strength_ui(ui, brush);
    if !brush.kind().is_gradient() {
        radius_ui(ui, brush);
    }
}

/// Draws the strength.
pub(super) fn strength_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    row_ui(
        ui,
        "Strength",
        "How strongly one stroke applies the brush: 1 applies it in full.",
        Slider::new(&mut brush.strength, 0.0..=1.0).fixed_decimals(2),
    );
}

/// Draws the radius and its unit.
pub(super) fn radius_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    let (slider, about) = match brush.radius_unit {
        RadiusUnit::Pixels => (
            Slider::new(&mut brush.radius_px, BrushOptions::RADIUS_PX)
                .logarithmic(true)
                .suffix(" px")
                .integer(),
            "Brush radius on the screen, in pixels ( [ and ] ).",
        ),
        RadiusUnit::World => (
            Slider::new(&mut brush.radius_world, 1e-3..=10.0)
                .logarithmic(true)
                .clamping(egui::SliderClamping::Edits)
                .suffix(" m"),
            "Brush radius on the model, in metres ( [ and ] ).",
        ),
    };
    row_ui(ui, "Radius", about, slider);
    choice_ui(
        ui,
        "Radius unit",
        "Keep the radius constant on the screen (pixels) or on the model (metres) when you zoom.",
        &mut brush.radius_unit,
        &[
            (RadiusUnit::Pixels, "Pixels"),
            (RadiusUnit::World, "Metres"),
        ],
    );
}

pub(super) fn falloff_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    choice_ui(
        ui,
        "Falloff",
        "How the strength fades from the centre of the brush to its rim.",
        &mut brush.falloff,
        &Falloff::ALL.map(|falloff| (falloff, falloff.label())),
    );
}

pub(super) fn projection_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    choice_ui(
        ui,
        "Falloff shape",
        "How the radius is measured: along the surface, in a sphere, or on the screen.",
        &mut brush.falloff_shape,
        &FalloffShape::ALL.map(|choice| (choice, choice.label())),
    );
}

/// Draws spacing, mask and pen pressure.
pub(super) fn reach_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    projection_ui(ui, brush);
    let mut percent = brush.spacing * 100.0;
    let spacing = Slider::new(&mut percent, 1.0..=200.0)
        .logarithmic(true)
        .suffix(" %")
        .integer();
    row_ui(
        ui,
        "Spacing",
        "Distance between dabs, in % of the brush radius.",
        spacing,
    );
    brush.spacing = percent / 100.0;
    choice_ui(
        ui,
        "Mask",
        "Limit strokes to the selected vertices, or to faces whose vertices are all selected.",
        &mut brush.mask,
        &PaintMask::ALL.map(|choice| (choice, choice.label())),
    );
    choice_ui(
        ui,
        "Pen pressure",
        "What pen pressure controls, if the tablet reports it.",
        &mut brush.pressure,
        &Pressure::ALL.map(|choice| (choice, choice.label())),
    );
}

pub(super) fn symmetry_ui(ui: &mut Ui, brush: &mut BrushOptions) {
    choice_ui(
        ui,
        "Symmetry",
        "Also paint the other side, using the bone of the other side. Sides are matched in the bind pose.",
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
        "Strokes never lower a value below this part of its range.",
        Slider::new(&mut brush.floor, 0.0..=1.0).fixed_decimals(2),
    );
    brush.ceiling = brush.ceiling.max(brush.floor);
    row_ui(
        ui,
        "Ceiling",
        "Strokes never raise a value above this part of its range.",
        Slider::new(&mut brush.ceiling, 0.0..=1.0).fixed_decimals(2),
    );
    brush.floor = brush.floor.min(brush.ceiling);
}

/// Draws the limits of symmetry.
pub(super) fn note_ui(ui: &mut Ui, editor: &Editor) {
    let session = editor.document().session();
    if session.brush.symmetry.is_none() {
        return;
    }
    let Some(mesh) = session.active_mesh else {
        return;
    };
    if let Some(side) = editor.other_side_axis(mesh) {
        let text = format!(
            "Left and right bones of this mesh are apart along {}. Across another plane, strokes paint both halves of the \
             same bone.",
            side.letter()
        );
        ui.label(RichText::new(text).color(theme::palette(ui).accent));
    }
    let text = match editor.n_without_mirror_image(mesh) {
        None => "Computing the mirror image…".to_owned(),
        Some(0) => return,
        Some(n) => format!(
            "{} of the active object have no mirror image.",
            counted(n, "vertex")
        ),
    };
    ui.label(RichText::new(text).color(theme::palette(ui).text_dim));
}

/// The name of the paint target: "Weights of Elbow", "Compensation strength".
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

/// Draws the paint target, its explanation, and a fix if the target has no effect.
fn target_ui(ui: &mut Ui, editor: &mut Editor) {
    let target = editor.paint_target();
    let shown = target_label(target, editor);
    let shown = shortened_name(&shown, MOST_LETTERS);
    let mut chosen = None;
    ui.horizontal(|ui| {
        let label = ui.label("Paint");
        ComboBox::from_id_salt("paint target")
            .width(ui.available_width())
            .truncate()
            .selected_text(shown)
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
            .on_hover_text("The values that the brush paints and the colours show.");
    });
    if let Some(target) = chosen {
        editor.set_paint_target(target);
    }
    let palette = theme::palette(ui);
    if editor.paint_target() == PaintTarget::LayerMask {
        let layer = editor.active_upper_layer();
        let layer = layer.and_then(|id| editor.layers()?.get(id));
        let text = match layer {
            Some(layer) => format!("Paint where layer \"{}\" applies.", layer.name),
            None => "Select a layer above the base to paint its mask.".to_owned(),
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
            let about = "Turn this part of the deformer stack on, so that the map takes effect.";
            if ui.button("Turn on").on_hover_text(about).clicked() {
                editor.turn_on_part_of(kind);
            }
        });
    }
}

/// Draws the operations on the whole map.
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

/// The explanation of a map.
fn about(kind: MaskKind) -> &'static str {
    match kind {
        MaskKind::Blend => "0 is linear blend skinning, 1 is dual quaternion skinning.",
        MaskKind::Compensation => {
            "Multiplies the strength of bulge compensation: 0 off, 1 as set, 2 twice as strong."
        }
        MaskKind::Projection => "Multiplies the strength of bulge projection: 0 off, 1 as set.",
        MaskKind::Smooth => "Multiplies the strength of corrective smooth: 0 off, 1 as set.",
    }
}

/// The reason why the map has no effect.
fn not_read(kind: MaskKind) -> &'static str {
    match kind {
        MaskKind::Blend => "The skinning method does not blend:",
        MaskKind::Compensation => "Bulge compensation is off:",
        MaskKind::Projection => "Bulge projection is off:",
        MaskKind::Smooth => "Corrective smooth is off:",
    }
}
