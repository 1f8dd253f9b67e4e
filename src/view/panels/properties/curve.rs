//! The editor of the custom falloff curve.

use crate::view::panels::curve_editor::{CurveChange, CurveEditor};
use crate::weights::curve::Curve;
use crate::weights::falloff::Falloff;
use egui::{Role, Ui, WidgetInfo};

/// Draws the falloff curve for editing.
pub(super) fn curve_ui(ui: &mut Ui, curve: &mut Curve) {
    let known = *curve;
    let editor = CurveEditor {
        label: "Falloff curve: strength from the centre of the brush to its rim",
        points: known.points(),
        at: &|x| known.at(x),
        range: [0.0, 1.0],
        marked: None,
    };
    match editor.show_ui(ui).change {
        Some(CurveChange::Moved(i, to)) => *curve = known.moved(i, to),
        Some(CurveChange::Added(at)) => {
            if let Some((with, _)) = known.with(at) {
                *curve = with;
            }
        }
        Some(CurveChange::Removed(i)) => *curve = known.without(i),
        None => {}
    }
    ui.horizontal_wrapped(|ui| {
        for preset in [
            Falloff::Smooth,
            Falloff::Linear,
            Falloff::Sharp,
            Falloff::Root,
        ] {
            let button = ui.small_button(preset.label());
            let about = format!("Start the curve from {}", preset.label());
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &about));
            if button.on_hover_text(&about).clicked() {
                *curve = Curve::like(preset);
            }
        }
    });
}
