//! The deformer stack of the active object, or of all: method, compensation, projection, smoothing.
//!
//! Invariant: every control changes the document by one undo step; a drag is one, too.

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

/// Whether there is a stack to compose.
pub(super) fn has_stack(editor: &Editor) -> bool {
    editor
        .document()
        .instances()
        .values()
        .any(|i| i.skin.is_some())
}

/// The whole section; what was asked for.
pub(super) fn deformation_ui(ui: &mut Ui, editor: &mut Editor) -> Option<Command> {
    controls::end_lost_drag(ui, editor);
    // Where another section is wider than the panel, this one still is not.
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
        ui.label(RichText::new("The active object has no skin: it follows one node.").color(dim));
        return None;
    };
    if editor.stacks_differ() {
        let dim = theme::palette(ui).text_dim;
        let text = "The objects differ. What you change here is changed in all of them.";
        ui.label(RichText::new(text).color(dim));
    }
    method_ui(ui, editor, stack.method);
    let mut asked = None;
    if stack.method == SkinningMethod::Blend {
        let setting = Setting {
            name: "DQS share",
            full: "Share of dual quaternion skinning",
            step: "Set share of dual quaternions",
            about: "0: linear, 1: dual quaternion, as painted points take it.",
        };
        let number = Number {
            range: 0.0..=1.0,
            decimals: 2,
            mask: Some(MaskKind::Blend),
        };
        asked = number_ui(ui, editor, &setting, &number, stack.blend, None, |s, v| {
            s.blend = v;
        });
    }
    scale_ui(ui, editor, &stack);
    let of_parts = [
        compensation::compensation_ui(ui, editor, &stack.compensation),
        projection::projection_ui(ui, editor, &stack.projection),
        smooth::smooth_ui(ui, editor, &stack.smooth),
    ];
    asked.or(of_parts.into_iter().flatten().next())
}

/// Whose stack it is.
fn scope_ui(ui: &mut Ui, editor: &mut Editor) {
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for (scope, label, about) in [
            (
                StackScope::All,
                "All objects",
                "What you change is changed in every object with a skin.",
            ),
            (
                StackScope::Active,
                "This object",
                "What you change is changed in the active object only.",
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

/// Whole stacks: by name, copied, pasted.
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
        response.on_hover_text("Whole stacks by name. Painted maps stay as they are.");
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

/// Width of the button that shows what other viewers draw.
const LBS_WIDTH: f32 = 40.0;

/// A small square button for a command; whether it was clicked.
fn icon_ui(ui: &mut Ui, icon: MaterialIcon, command: Command, editor: &Editor) -> bool {
    let enabled = command.is_enabled(editor);
    ui.spacing_mut().button_padding = egui::Vec2::new(4.0, 3.0);
    let button = Button::new(icon.rich_text().size(14.0)).min_size(egui::Vec2::splat(theme::ROW));
    let response = ui.add_enabled(enabled, button);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, command.label()));
    let about = format!("{}\n{}", command.label(), command.tooltip(ui.ctx()));
    response.on_hover_text(about).clicked()
}

/// How the bones' motions are mixed.
fn method_ui(ui: &mut Ui, editor: &mut Editor, method: SkinningMethod) {
    let setting = Setting {
        name: "Method",
        full: "Skinning method",
        step: "Use another skinning method",
        about: "How the motions of a point's bones are mixed.",
    };
    let choices = SkinningMethod::ALL
        .map(|method| (method, method.label(), Command::UseMethod(method).about()));
    if let Some(method) = controls::pick_ui(ui, &setting, method, None, &choices) {
        editor.set_method(method);
    }
}

/// What is done with scale and shear.
fn scale_ui(ui: &mut Ui, editor: &mut Editor, stack: &crate::deform::DeformStack) {
    let setting = Setting {
        name: "Scale",
        full: "Scale of bones",
        step: "Set scale of bones",
        about: "What is done with bones that are scaled or sheared (Lee et al. 2013).",
    };
    let why_not = (!stack.method.is_rigid())
        .then_some("Linear skinning takes scale as it is: there is nothing to choose.");
    let choices = [
        (
            ScaleMode::TwoPhase,
            "Two-phase",
            "Scale the bind shape first, then turn it: exact where one bone moves a point.",
        ),
        (
            ScaleMode::Drop,
            "Drop",
            "Leave scale and shear out, as plain dual quaternion skinning does.",
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
