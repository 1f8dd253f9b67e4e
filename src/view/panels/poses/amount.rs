//! The slider that applies the active pose by an amount.

use crate::editor::{Editor, PoseAmount};
use crate::skeleton::library_pose::MAX_AMOUNT;
use crate::view::theme;
use egui::{Id, Label, RichText, Slider, Ui, WidgetInfo};

/// Draws the slider. A drag is one undo step; Esc cancels it. Between drags it is at 0: the next one starts from the pose on
/// screen.
pub(super) fn amount_ui(ui: &mut Ui, editor: &mut Editor) {
    let id = Id::unique("amount of a pose");
    let is_dragged: bool = ui.data(|data| data.get_temp(id).unwrap_or(false));
    let shown = editor.applied_pose().filter(|_| is_dragged);
    let mut percent = shown.map_or(0.0, |(_, how)| how.amount * 100.0);
    let pose = editor.active_pose();
    let pose = pose.and_then(|id| Some((id, editor.document().poses().get(&id)?.name.clone())));
    let enabled = pose.is_some() && !editor.document().session().shows_rest;
    let label = match &pose {
        Some((_, name)) => format!("Amount of {name}"),
        None => "Amount".to_owned(),
    };
    let response = ui
        .horizontal(|ui| {
            let dim = theme::palette(ui).text_dim;
            ui.add(Label::new(RichText::new("Amount").color(dim)));
            // The slider fills the width beside the number.
            ui.spacing_mut().slider_width = (ui.available_width() - 64.0).max(48.0);
            let slider = Slider::new(&mut percent, 0.0..=MAX_AMOUNT * 100.0)
                .fixed_decimals(0)
                .suffix(" %");
            ui.add_enabled(enabled, slider)
        })
        .inner;
    response.widget_info(|| WidgetInfo {
        label: Some(label.clone()),
        ..WidgetInfo::slider(enabled, percent, &label)
    });
    let response = response.on_hover_text(
        "Apply the active pose by this amount to the selected bones, or to all of its bones. 0 % keeps the current pose, \
         100 % is the active pose, more extrapolates. Hold Ctrl to add it to the current pose. Release to apply, Esc to cancel.",
    );
    let response = response.on_disabled_hover_text("Click a pose to make it active.");
    let Some((pose, _)) = pose else {
        return;
    };
    if (response.drag_started() || response.changed()) && !is_dragged {
        let begins = editor.begin_library_pose(pose);
        ui.data_mut(|data| data.insert_temp(id, begins));
    }
    let is_dragged: bool = ui.data(|data| data.get_temp(id).unwrap_or(false));
    if !is_dragged {
        return;
    }
    if editor.applied_pose().is_none_or(|(of, _)| of != pose) {
        // Cancelled: the rest of the drag does nothing.
        if !response.dragged() {
            ui.data_mut(|data| data.insert_temp(id, false));
        }
        return;
    }
    if response.changed() {
        editor.set_library_pose(PoseAmount {
            amount: percent / 100.0,
            flipped: false,
            added: ui.input(|i| i.modifiers.command),
        });
    }
    if response.drag_stopped() || response.lost_focus() {
        editor.confirm_transform();
        ui.data_mut(|data| data.insert_temp(id, false));
    }
}
