//! The report of an operation on bones.

use crate::editor::Editor;
use crate::view::theme;
use egui::{RichText, Ui};

/// Most reports that are listed in full.
const MOST: usize = 8;

/// Draws what the latest operation on bones changed, as the command line prints it: one paragraph for each bone.
pub(super) fn rig_reports_ui(ui: &mut Ui, editor: &Editor) {
    let dim = theme::palette(ui).text_dim;
    let reports = editor.rig_reports();
    for (i, report) in reports.iter().take(MOST).enumerate() {
        if i > 0 {
            ui.add_space(4.0);
        }
        for (k, line) in report.lines().iter().enumerate() {
            let text = RichText::new(line.trim());
            ui.label(if k == 0 { text } else { text.color(dim) });
        }
    }
    if let Some(more) = reports.len().checked_sub(MOST).filter(|more| *more > 0) {
        ui.label(RichText::new(format!("and {more} more")).color(dim));
    }
}
