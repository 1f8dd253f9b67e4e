//! The question about a file that is not written yet.

use super::{modal, take_enter};
use eframe::egui;

/// The answer about a file that is not written yet.
pub(in crate::app) enum Unfinished {
    Asking,
    /// The window closes once the file is written.
    WhenDone,
    /// The window closes; the file is not written.
    Now,
    Cancel,
}

/// Asks what becomes of the export of the file `name`, of which `progress` (0 to 1) is done.
pub(in crate::app) fn unfinished_ui(ctx: &egui::Context, name: &str, progress: f32) -> Unfinished {
    let mut answer = Unfinished::Asking;
    let modal = modal(ctx, "unfinished").show(ctx, |ui| {
        ui.set_width(380.0);
        ui.heading("Close while exporting?");
        let percent = 100.0 * progress;
        ui.label(format!("{name} is not written yet ({percent:.0} % done)."));
        ui.add_space(8.0);
        ui.horizontal(|ui| {
            let wait = ui.button("Close when done");
            let about = "Close the window once the file is written  (Enter)";
            if wait.on_hover_text(about).clicked() {
                answer = Unfinished::WhenDone;
            }
            let now = ui.button("Cancel export and close");
            let about = "Close the window now. The file is not written.";
            if now.on_hover_text(about).clicked() {
                answer = Unfinished::Now;
            }
            let keep = ui
                .button("Keep open")
                .on_hover_text("Return to the window; the export continues  (Esc)");
            if keep.clicked() {
                answer = Unfinished::Cancel;
            }
        });
    });
    if matches!(answer, Unfinished::Asking) && take_enter(ctx) {
        answer = Unfinished::WhenDone;
    }
    if modal.should_close() && matches!(answer, Unfinished::Asking) {
        answer = Unfinished::Cancel;
    }
    answer
}
