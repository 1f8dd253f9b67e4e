//! The options of a model export.

use super::report::millimetres;
use crate::bake::{MAX_MORPHS, NORMALS_SHARE};
use crate::document::ClipId;
use crate::editor::Editor;
use crate::editor::exporting::Correction;
use crate::export::{ExportPreset, requires_quantization};
use crate::finding::counted;
use crate::view::theme;
use eframe::egui;
use egui::{
    Button, Checkbox, CollapsingHeader, ComboBox, DragValue, Grid, RichText, Role, Ui, WidgetInfo,
};

/// Tolerance, in % of the bounding-box diagonal.
const TOLERANCE: std::ops::RangeInclusive<f64> = 0.001..=10.0;
const MORPHS: std::ops::RangeInclusive<usize> = 0..=MAX_MORPHS;
const JOINTS: std::ops::RangeInclusive<usize> = 1..=1024;

/// Draws the correction and its options, or the options without a correction.
pub(super) fn options_ui(ui: &mut Ui, editor: &mut Editor) {
    preset_ui(ui, editor);
    let correction = editor.correction();
    ui.strong("Correction");
    Grid::new("corrections")
        .num_columns(2)
        .spacing([16.0, 4.0])
        .show(ui, |ui| {
            for row in Correction::ALL.chunks(2) {
                for &choice in row {
                    let radio = ui.radio(choice == correction, choice.label());
                    if radio.on_hover_text(choice.about()).clicked() {
                        editor.export_settings_mut().correction = Some(choice);
                    }
                }
                ui.end_row();
            }
        });
    let dim = theme::palette(ui).text_dim;
    ui.label(RichText::new(editor.correction().about()).color(dim));
    ui.add_space(2.0);
    match editor.correction() {
        Correction::None => plain_ui(ui, editor),
        correction => corrected_ui(ui, editor, correction),
    }
    ui.checkbox(&mut editor.export_settings_mut().meshopt, "Compress")
        .on_hover_text(
            "Compress all data without loss. The file gets smaller, but programs without EXT_meshopt_compression cannot open it.",
        );
    if !editor.document().constraints().is_empty() {
        let settings = editor.export_settings_mut();
        ui.checkbox(&mut settings.node_constraints, "VRM node constraints")
            .on_hover_text(
                "Also write constraints as VRMC_node_constraint, beside their keyframes, for programs that evaluate \
                 it. VRM models always get them.",
            );
    }
    outside_ui(ui, editor);
    if editor.correction() != Correction::Frames && editor.document().has_invalid_weights() {
        ui.checkbox(&mut editor.export_settings_mut().fix_weights, "Fix invalid weights")
            .on_hover_text(
                "Write valid weights in place of the invalid ones of the model, even if nothing else changes.",
            );
    }
}

/// The entry for no preset.
const ANY_PROGRAM: &str = "any program";

/// Draws the choice of the program that is to read the file.
fn preset_ui(ui: &mut Ui, editor: &mut Editor) {
    let shown = editor.exporting().settings().preset();
    let about = "Set influences, normals, morph target size and compression to what a program can import. You can \
        change each below.";
    let (mut chosen, mut is_chosen) = (shown, false);
    ui.horizontal(|ui| {
        ui.label("For").on_hover_text(about);
        let response = ComboBox::from_id_salt("export preset")
            .width(160.0)
            .selected_text(shown.map_or(ANY_PROGRAM, ExportPreset::label))
            .show_ui(ui, |ui| {
                let any = ui.selectable_label(shown.is_none(), ANY_PROGRAM);
                let about = "Values that every player of glTF reads.";
                if any.on_hover_text(about).clicked() {
                    (chosen, is_chosen) = (None, true);
                }
                for preset in ExportPreset::ALL {
                    let item = ui.selectable_label(shown == Some(preset), preset.label());
                    if item.on_hover_text(preset.about()).clicked() {
                        (chosen, is_chosen) = (Some(preset), true);
                    }
                }
            })
            .response;
        response.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Preset"));
        response.on_hover_text(shown.map_or(about, ExportPreset::about));
    });
    match chosen {
        Some(preset) if is_chosen => editor.export_settings_mut().use_preset(preset),
        None if is_chosen => editor.export_settings_mut().use_any_program(),
        _ => {}
    }
}

/// Draws the question about files outside the model's folder, if it references any.
pub(super) fn outside_ui(ui: &mut Ui, editor: &mut Editor) {
    let source = editor.document().source();
    if source.is_some_and(|source| !source.outside.is_empty()) {
        let include = &mut editor.export_settings_mut().include_outside;
        ui.checkbox(include, "Include files outside the folder")
            .on_hover_text(
                "The model references files outside its own folder. Copy their content into the export.",
            );
    }
}

/// Draws the options without a correction: influences, rest pose, samples.
fn plain_ui(ui: &mut Ui, editor: &mut Editor) {
    let has_samples = editor.has_samples();
    let settings = editor.export_settings_mut();
    ui.horizontal(|ui| {
        ui.label("Influences");
        for n in [4, 8] {
            let is_on = settings.influences == n;
            let radio = ui.radio(is_on, n.to_string());
            let label = format!("{n} influences");
            radio.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, is_on, &label));
            let about =
                "Maximum number of bones per vertex of a rewritten mesh. Many viewers read only 4.";
            if radio.on_hover_text(about).clicked() {
                settings.influences = n;
            }
        }
    });
    ui.checkbox(&mut settings.write_pose_as_rest, "Write pose as rest pose")
        .on_hover_text(
            "Export your own pose as the rest pose. Other programs open the file in this pose.",
        );
    if has_samples {
        ui.checkbox(&mut settings.sample_targets, "Samples as morph targets")
            .on_hover_text(
                "Add each corrective sample as a morph target with its name. The file does not drive it: use it in \
                 programs that drive morph targets themselves.",
            );
    }
}

fn corrected_ui(ui: &mut Ui, editor: &mut Editor, correction: Correction) {
    let diagonal = editor.rest_diagonal();
    let quantized = requires_quantization(editor.document());
    let bake = &mut editor.export_settings_mut().bake;
    let number = |ui: &mut Ui, value: DragValue<'_>, name: &str, about: &str| {
        let response = ui.add_sized([72.0, theme::ROW], value);
        response.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, name));
        response.on_hover_text(about);
    };
    Grid::new("corrected export")
        .num_columns(2)
        .spacing([8.0, 4.0])
        .show(ui, |ui| {
            ui.label("Tolerance");
            ui.horizontal(|ui| {
                let mut percent = 100.0 * bake.tolerance;
                let before = percent;
                let value = DragValue::new(&mut percent)
                    .range(TOLERANCE)
                    .speed(0.002)
                    .max_decimals(3)
                    .suffix(" %");
                let about = "Largest allowed error of any vertex, in % of the bounding-box diagonal in the rest pose.";
                number(ui, value, "Tolerance", about);
                if percent.to_bits() != before.to_bits() {
                    bake.tolerance = percent / 100.0;
                }
                if let Some(diagonal) = diagonal {
                    ui.label(format!("= {}", millimetres(bake.tolerance * diagonal)))
                        .on_hover_text(format!(
                            "The bounding-box diagonal is {}.",
                            millimetres(diagonal)
                        ));
                }
            });
            ui.end_row();
            if correction == Correction::Clips {
                ui.label("Morph targets");
                let value = DragValue::new(&mut bake.max_morphs).range(MORPHS).speed(0.05);
                let about = "Maximum number of morph targets per mesh. Above 8, each target moves one region of the \
                    body, so files are smaller and more accurate. Some players show only 8.";
                number(ui, value, "Max morph targets", about);
                ui.end_row();
            }
            if correction == Correction::Clips && bake.normals {
                ui.label("Normals share");
                let mut percent = 100.0 * bake.normals_share;
                let before = percent;
                let value = DragValue::new(&mut percent)
                    .range(100.0 * NORMALS_SHARE.start()..=100.0 * NORMALS_SHARE.end())
                    .speed(0.1)
                    .max_decimals(1)
                    .suffix(" %");
                let about = "About how much normals in morph targets may add, in % of the model's size. More makes \
                    shading more exact.";
                number(ui, value, "Normals share", about);
                if percent.to_bits() != before.to_bits() {
                    bake.normals_share = percent / 100.0;
                }
                ui.end_row();
            }
            if correction != Correction::Frames {
                ui.label("Joints");
                let value = DragValue::new(&mut bake.max_joints).range(JOINTS).speed(0.5);
                let about = "Maximum number of joints per skin, including the model's own.";
                number(ui, value, "Max joints", about);
                ui.end_row();
            }
        });
    if correction != Correction::Retarget {
        ui.horizontal_wrapped(|ui| {
            ui.checkbox(&mut bake.normals, "Normals").on_hover_text(
                "Store normals in morph targets for correct shading. The file gets larger.",
            );
            ui.checkbox(&mut bake.sparse, "Sparse")
                .on_hover_text("Store only the vertices that a morph target moves, where that is smaller.");
            if correction == Correction::Clips {
                ui.checkbox(&mut bake.unipolar, "Weights 0–1").on_hover_text(
                    "Keep morph target weights between 0 and 1, as some engines require. Costs one more target.",
                );
                quantize_ui(ui, &mut bake.quantize, quantized);
            }
        });
    }
    if correction != Correction::Frames {
        let dim = theme::palette(ui).text_dim;
        ui.label(RichText::new("Writes up to 4 influences per vertex.").color(dim));
    }
    clips_ui(ui, editor, correction);
}

/// Draws whether morph targets are quantized: always where the model `requires` the extension.
fn quantize_ui(ui: &mut Ui, quantize: &mut bool, requires: bool) {
    if requires {
        ui.add_enabled(false, Checkbox::new(&mut true, "Quantize"))
            .on_disabled_hover_text(
                "Morph targets are quantized: this model already requires KHR_mesh_quantization.",
            );
        return;
    }
    ui.checkbox(quantize, "Quantize").on_hover_text(
        "Quantize morph targets to 16 bits and their normals to 8. The file gets smaller, but programs without KHR_mesh_quantization \
         cannot open it.",
    );
}

/// Draws the clips to correct or to bake into frames.
fn clips_ui(ui: &mut Ui, editor: &mut Editor, correction: Correction) {
    let clips = editor.document().clips().iter();
    let clips: Vec<(ClipId, String)> = clips
        .filter(|(_, clip)| !clip.preview)
        .map(|(id, clip)| (*id, clip.name.clone()))
        .collect();
    if clips.is_empty() {
        ui.label(match correction {
            Correction::Frames => "The project has no clip to bake.",
            _ => "The project has no clip to correct.",
        });
        return;
    }
    let (verb, about) = if correction == Correction::Frames {
        ("In the file", "Include this clip in the file.")
    } else {
        (
            "Corrected",
            "Keep this clip within the tolerance. Clips that are off stay in the file uncorrected.",
        )
    };
    let mut chosen: Vec<ClipId> = editor.exporting().settings().bake.clips.clone();
    chosen.retain(|id| clips.iter().any(|(known, _)| known == id));
    let is_all = chosen.is_empty();
    if is_all {
        chosen = clips.iter().map(|(id, _)| *id).collect();
    }
    let title = if is_all {
        format!("{verb}: {}", counted(clips.len(), "clip"))
    } else {
        format!(
            "{verb}: {} of {}",
            chosen.len(),
            counted(clips.len(), "clip")
        )
    };
    let shown = editor.shown_clip().map(|(id, _)| id);
    let shown = shown.filter(|id| clips.iter().any(|(known, _)| known == id));
    // `None` means all clips.
    let mut next: Option<Vec<ClipId>> = None;
    CollapsingHeader::new(title)
        .id_salt("corrected clips")
        .show(ui, |ui| {
            if clips.len() > 1 {
                ui.horizontal(|ui| {
                    let button = ui.add_enabled(!is_all, Button::new("All clips").small());
                    if button.clicked() {
                        next = Some(Vec::new());
                    }
                    let is_only = shown.is_some_and(|id| chosen == [id]);
                    let only = Button::new("Current clip only").small();
                    let button = ui.add_enabled(shown.is_some() && !is_only, only);
                    let about = "Only the clip on the timeline.";
                    let button = button.on_hover_text(about).on_disabled_hover_text(about);
                    if button.clicked() {
                        next = Some(shown.into_iter().collect());
                    }
                });
            }
            for (id, name) in &clips {
                let is_on = chosen.contains(id);
                // At least one clip stays on.
                let is_last = is_on && chosen.len() == 1;
                let mut on = is_on;
                let name = if name.is_empty() { "(no name)" } else { name };
                let box_ = egui::Checkbox::new(&mut on, name);
                let response = ui.add_enabled(!is_last, box_);
                if response.on_hover_text(about).changed() {
                    let mut all = chosen.clone();
                    match all.iter().position(|c| c == id) {
                        Some(at) => {
                            all.remove(at);
                        }
                        None => all.push(*id),
                    }
                    all.sort_unstable();
                    if all.len() == clips.len() {
                        all.clear();
                    }
                    next = Some(all);
                }
            }
        });
    if let Some(next) = next {
        editor.export_settings_mut().bake.clips = next;
    }
}
