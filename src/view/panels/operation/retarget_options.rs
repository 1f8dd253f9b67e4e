//! Settings of retargeting that recorded and live motion share.

use super::rows::{combo_ui, row_ui};
use crate::motion::retarget::RootMotion;
use egui::Ui;

/// Which bone has the root motion.
pub(in crate::view::panels) fn root_ui(ui: &mut Ui, root: &mut RootMotion) {
    let about = "Which bone has the root motion: the hips, or the root bone of the skeleton, which then moves along the floor and rotates about the vertical axis, as game engines expect.";
    row_ui(ui, "Root bone", about, |ui| {
        let options = [
            (RootMotion::Hips, "Hips".to_owned(), true),
            (RootMotion::Root, "Root of the skeleton".to_owned(), true),
        ];
        combo_ui(ui, "Root bone", root, &options);
    });
}

/// Whether bones stretch.
pub(in crate::view::panels) fn stretch_ui(ui: &mut Ui, keeps_stretch: &mut bool) {
    let about =
        "Stretch the bones as the source stretches its bones. When off, bones keep their lengths.";
    let check = ui.checkbox(keeps_stretch, "Keep stretch");
    check.on_hover_text(about);
}
