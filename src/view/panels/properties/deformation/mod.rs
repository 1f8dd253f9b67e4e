//! The deformer stack of the active object or of all objects: method, compensation, projection, smoothing.
//!
//! Invariant: each control changes the document in one undo step; so does a drag.

mod compensation;
mod controls;
mod curve;
mod projection;
mod smooth;

use crate::deform::{MaskKind, ScaleMode, SkinningMethod, StackPreset};
use crate::editor::{Editor, StackScope};
use crate::view::commands::Command;
use crate::view::theme;
use controls::{Number, Setting, choice_ui, number_ui};
use egui::{Button, RichText, Role, Ui, WidgetInfo};
use egui_material_icons::{MaterialIcon, icons};

/// Whether a skinned object exists.
pub(super) fn has_stack(editor: &Editor) -> bool {
    editor
        .document()
        .instances()
        .values()
        .any(|i| i.skin.is_some())
}

/// Draws the whole section; returns the requested command.
pub(super) fn deformation_ui(ui: &mut Ui, editor: &mut Editor) -> Option<Command> {
    controls::end_lost_drag(ui, editor);
    // A wider section must not widen this one.
    let room = ui.clip_rect().right() - 8.0 - ui.max_rect().left();
    if (160.0..ui.available_width()).contains(&room) {
        ui.set_max_width(room);
    }
    if editor.skinned_meshes().len() > 1 {
        scope_ui(ui, editor);
    }
    presets_ui(ui, editor);
    let Some(stack) = editor.stack().cloned() else {
        let dim = theme::palette(ui).text_dim;
        ui.label(RichText::new("The active object has no skin. It follows one node.").color(dim));
        return None;
    };
    if editor.stacks_differ() {
        let dim = theme::palette(ui).text_dim;
        let text = "The objects have different settings. A change applies to all of them.";
        ui.label(RichText::new(text).color(dim));
    }
    method_ui(ui, editor, stack.method);
    let mut command = None;
    if stack.method == SkinningMethod::Blend {
        let setting = Setting {
            name: "DQS factor",
            full: "Dual quaternion skinning factor",
            step: "Set DQS factor",
            about: "0 is linear blend skinning, 1 is dual quaternion skinning. Multiplied by the painted map.",
        };
        let number = Number {
            range: 0.0..=1.0,
            decimals: 2,
            mask: Some(MaskKind::Blend),
        };
        command = number_ui(ui, editor, &setting, &number, stack.blend, None, |s, v| {
            s.blend = v;
        });
    }
    scale_ui(ui, editor, &stack);
    let of_parts = [
        compensation::compensation_ui(ui, editor, &stack.compensation),
        projection::projection_ui(ui, editor, &stack.projection),
        smooth::smooth_ui(ui, editor, &stack.smooth),
    ];
    command.or(of_parts.into_iter().flatten().next())
}

/// Draws the scope: all objects or the active one.
fn scope_ui(ui: &mut Ui, editor: &mut Editor) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (scope, label, about) in [
            (
                StackScope::All,
                "All objects",
                "Apply changes to every object with a skin.",
            ),
            (
                StackScope::Active,
                "This object",
                "Apply changes to the active object only.",
            ),
        ] {
            let on = editor.stack_scope() == scope;
            let response = ui.selectable_label(on, label).on_hover_text(about);
            response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, on, label));
            if response.clicked() {
                editor.set_stack_scope(scope);
            }
        }
    });
}

/// Draws presets, copy and paste of the deformer stack.
fn presets_ui(ui: &mut Ui, editor: &mut Editor) {
    let current = editor.stack_preset();
    let is_any = editor.stack().is_some();
    let mut chosen = None;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let text = current.map_or("Custom", StackPreset::short_label);
        let icon_buttons = 2.0 * 28.0;
        let arrow = icons::ICON_ARROW_DROP_DOWN.rich_text().size(14.0);
        let width = (ui.available_width() - icon_buttons - LBS_WIDTH - 4.0).max(60.0);
        let size = egui::Vec2::new(width, theme::ROW);
        let response = ui.allocate_ui(size, |ui| {
            if !is_any {
                ui.disable();
            }
            let button = Button::new((text, egui::Atom::grow(), arrow))
                .truncate()
                .min_size(size);
            egui::containers::menu::MenuButton::from_button(button)
                .ui(ui, |ui| {
                    for preset in StackPreset::ALL {
                        let on = current == Some(preset);
                        let response = ui
                            .selectable_label(on, preset.label())
                            .on_hover_text(Command::UsePreset(preset).about());
                        if response.clicked() {
                            chosen = Some(preset);
                            ui.close();
                        }
                    }
                })
                .0
        });
        let response = response.inner;
        response
            .widget_info(|| WidgetInfo::labeled(Role::Button, is_any, format!("Preset: {text}")));
        response.on_hover_text("Presets of the deformer stack. Painted maps stay unchanged.");
        let on = current == Some(StackPreset::Lbs);
        let lbs = Button::selectable(on, "LBS")
            .frame_when_inactive(true)
            .min_size(egui::Vec2::new(LBS_WIDTH, theme::ROW));
        let response = ui.add_enabled(is_any, lbs);
        let command = Command::UsePreset(StackPreset::Lbs);
        response.widget_info(|| WidgetInfo::selected(Role::Button, is_any, on, command.label()));
        let about = format!("{}\n{}", command.label(), command.tooltip(ui.ctx()));
        if response.on_hover_text(about).clicked() {
            chosen = Some(StackPreset::Lbs);
        }
        if icon_ui(ui, icons::ICON_CONTENT_COPY, Command::CopyStack, editor) {
            editor.copy_stack();
        }
        if icon_ui(ui, icons::ICON_CONTENT_PASTE, Command::PasteStack, editor) {
            editor.paste_stack();
        }
    });
    if let Some(preset) = chosen {
        editor.use_preset(preset);
    }
}

/// Width of the button that shows linear blend skinning, points.
const LBS_WIDTH: f32 = 40.0;

/// A small icon button of a command; returns whether it was clicked.
fn icon_ui(ui: &mut Ui, icon: MaterialIcon, command: Command, editor: &Editor) -> bool {
    let enabled = command.is_enabled(editor);
    ui.spacing_mut().button_padding = egui::Vec2::new(4.0, 3.0);
    let button = Button::new(icon.rich_text().size(14.0)).min_size(egui::Vec2::splat(theme::ROW));
    let response = ui.add_enabled(enabled, button);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, command.label()));
    let about = format!("{}\n{}", command.label(), command.tooltip(ui.ctx()));
    response.on_hover_text(about).clicked()
}

/// Draws the skinning method.
fn method_ui(ui: &mut Ui, editor: &mut Editor, method: SkinningMethod) {
    let setting = Setting {
        name: "Method",
        full: "Skinning method",
        step: "Set skinning method",
        about: "How the transforms of a vertex's bones are blended.",
    };
    let choices = SkinningMethod::ALL
        .map(|method| (method, method.label(), Command::UseMethod(method).about()));
    if let Some(method) = controls::pick_ui(ui, &setting, method, None, &choices) {
        editor.set_method(method);
    }
}

/// Draws the handling of scale and shear.
fn scale_ui(ui: &mut Ui, editor: &mut Editor, stack: &crate::deform::DeformStack) {
    let setting = Setting {
        name: "Scale",
        full: "Scale of bones",
        step: "Set scale handling",
        about: "How scaled and sheared bones deform the skin (Lee et al. 2013).",
    };
    let why_not = (!stack.method.is_rigid())
        .then_some("Linear blend skinning applies scale directly. There is nothing to choose.");
    let choices = [
        (
            ScaleMode::TwoPhase,
            "Two-phase",
            "Scale the bind shape first, then rotate it. Exact where one bone moves a vertex.",
        ),
        (
            ScaleMode::Drop,
            "Drop",
            "Ignore scale and shear, as plain dual quaternion skinning does.",
        ),
    ];
    choice_ui(
        ui,
        editor,
        &setting,
        stack.scale,
        why_not,
        &choices,
        |stack, scale| stack.scale = scale,
    );
}
