//! The moment on screen as a mesh: which moment that is, what goes with it, and what the last one came to.

use super::report::{finding_ui, says_ui};
use crate::editor::Editor;
use crate::view::theme;
use eframe::egui;
use egui::{Label, RichText, Ui};
use egui_material_icons::icons;

/// Which moment would be saved, and what a file of that kind holds.
pub(super) fn still_ui(ui: &mut Ui, editor: &Editor, is_obj: bool) {
    let dim = theme::palette(ui).text_dim;
    ui.strong("Moment");
    let moment = format!("Now on screen: {}.", editor.moment_on_screen());
    let about = "Choose another on the timeline, or pose the model. What plays is saved as it is when you press Save.";
    let label = ui.add(Label::new(moment).wrap());
    label.on_hover_text(about);
    ui.add_space(2.0);
    let holds = if is_obj {
        "Meshes in metres, y up, with materials (.mtl) and their pictures in files beside it."
    } else {
        "Meshes in place of what is skinned or morphed; nodes, materials, lights and cameras as they came."
    };
    ui.add(Label::new(RichText::new(holds).color(dim)).wrap());
}

/// What the still that was saved last came to.
pub(super) fn saved_ui(ui: &mut Ui, editor: &Editor) {
    let Some(still) = editor.exporting().still() else {
        return;
    };
    ui.separator();
    let text = format!("Saved {}: {}.", still.name(), still.moment());
    let colour = theme::palette(ui).text;
    says_ui(ui, icons::ICON_CHECK, colour, &text);
    for finding in &still.report().findings {
        finding_ui(ui, finding);
    }
}
