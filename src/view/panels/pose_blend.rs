//! A slider that blends the current pose towards another one.

use crate::document::session::BlendTarget;
use crate::editor::Editor;
use crate::skeleton::RigidInterpolation;
use crate::view::theme;
use egui::{ComboBox, Id, Key, RichText, Role, Slider, Ui, WidgetInfo};

/// Draws the target, the interpolation and the factor. A drag of the slider is one undo step; Esc cancels it.
pub(super) fn pose_blend_ui(ui: &mut Ui, editor: &mut Editor) {
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        ui.label("Blend towards");
        target_ui(ui, editor);
    });
    slider_ui(ui, editor);
    ui.horizontal_wrapped(|ui| {
        ui.label("Interpolation");
        let chosen = editor.pose_options().blend_interpolation;
        for interpolation in [
            RigidInterpolation::Screw,
            RigidInterpolation::ScrewDlb,
            RigidInterpolation::Components,
        ] {
            let response = ui
                .selectable_label(chosen == interpolation, interpolation.label())
                .on_hover_text(interpolation.about());
            response.widget_info(|| {
                let label = format!("Interpolation: {}", interpolation.label());
                WidgetInfo::selected(Role::RadioButton, true, chosen == interpolation, label)
            });
            if response.clicked() {
                editor.set_blend_interpolation(interpolation);
            }
        }
    });
}

/// Draws the list of target poses; an unavailable one shows the reason.
fn target_ui(ui: &mut Ui, editor: &mut Editor) {
    let chosen = editor.pose_options().blend_target;
    let label = |target: BlendTarget| match editor.blend_key_secs(target) {
        Some(secs) => format!("{} ({secs:.2} s)", target.label()),
        None => target.label().to_owned(),
    };
    let combo = ComboBox::from_id_salt("blend towards")
        .width(ui.available_width())
        .truncate()
        .selected_text(label(chosen))
        .show_ui(ui, |ui| {
            let mut picked = None;
            for target in BlendTarget::ALL {
                let fault = editor.blend_fault(target);
                let text = match fault {
                    Some(fault) => format!("{} \u{2014} {}", target.label(), lower(fault)),
                    None => label(target),
                };
                let row = ui.add_enabled(
                    fault.is_none(),
                    egui::Button::selectable(chosen == target, text),
                );
                if row.clicked() {
                    picked = Some(target);
                }
            }
            picked
        });
    combo
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, "Blend towards"));
    combo
        .response
        .on_hover_text("The target pose for the selected bones, or for all bones.");
    if let Some(picked) = combo.inner.flatten() {
        editor.set_blend_target(picked);
    }
}

fn slider_ui(ui: &mut Ui, editor: &mut Editor) {
    let id = Id::unique("pose blend");
    // Between drags the slider is at 0: the next drag starts from the current pose.
    let mut percent: f64 = if editor.is_blending() {
        ui.data(|data| data.get_temp(id)).unwrap_or(0.0)
    } else {
        0.0
    };
    let fault = editor.blend_fault(editor.pose_options().blend_target);
    let all = editor.document().session().selected_joints.is_empty();
    let about = format!(
        "Blend {} towards the target: 0 % is the current pose, 100 % is the target. Release to apply, Esc cancels.",
        if all {
            "all bones"
        } else {
            "the selected bones"
        }
    );
    let response = ui
        .add_enabled_ui(fault.is_none(), |ui| {
            // The slider fills the width beside the number.
            ui.spacing_mut().slider_width = (ui.available_width() - 64.0).max(48.0);
            let slider = Slider::new(&mut percent, 0.0..=100.0)
                .fixed_decimals(0)
                .suffix(" %");
            ui.add(slider)
        })
        .inner;
    response.widget_info(|| WidgetInfo {
        label: Some("Blend".to_owned()),
        ..WidgetInfo::slider(fault.is_none(), percent, "Blend")
    });
    let response = response.on_hover_text(&about);
    if let Some(fault) = fault {
        let text = RichText::new(fault).color(theme::palette(ui).text_dim);
        ui.add(egui::Label::new(text).wrap());
    }
    let gives_up = ui.input(|i| i.key_pressed(Key::Escape));
    if gives_up && editor.is_blending() {
        ui.input_mut(crate::view::chord::take_escape);
        editor.cancel_transform();
        return;
    }
    if (response.drag_started() || response.changed()) && !editor.is_blending() && !gives_up {
        editor.begin_blend();
    }
    if editor.is_blending() {
        if response.changed() {
            editor.set_blend(percent / 100.0);
            ui.data_mut(|data| data.insert_temp(id, percent));
        } else if response.drag_started() {
            ui.data_mut(|data| data.insert_temp(id, percent));
        }
        if response.drag_stopped() || response.lost_focus() {
            editor.confirm_transform();
        }
    }
}

/// The sentence in lower case without its full stop.
fn lower(sentence: &str) -> String {
    let mut chars = sentence.trim_end_matches('.').chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_lowercase().chain(chars).collect()
    })
}
