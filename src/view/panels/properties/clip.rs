//! The properties of the clip on screen.

use super::{fact_ui, rows_ui};
use crate::editor::Editor;
use crate::finding::{counted, thousands};
use egui::Ui;
use std::collections::BTreeSet;

/// Draws length, bones and channels of the clip.
pub(super) fn clip_ui(ui: &mut Ui, editor: &Editor) {
    let document = editor.document();
    let clip = document.session().playback.clip;
    let Some(clip) = clip.and_then(|id| document.clips().get(&id)) else {
        return;
    };
    let bones: BTreeSet<_> = clip.channels.iter().map(|c| c.joint).collect();
    let n_keys: usize = clip.channels.iter().map(|c| c.times.len()).sum();
    rows_ui(ui, "clip", |ui| {
        fact_ui(ui, "Name", &clip.name, "");
        let (start, end) = (clip.start_secs(), clip.end_secs());
        fact_ui(ui, "Length", format!("{:.2} s", end - start), "");
        fact_ui(ui, "Animates", counted(bones.len(), "bone"), "");
        fact_ui(
            ui,
            "Interpolation",
            clip.rigid_interpolation.label(),
            clip.rigid_interpolation.about(),
        );
        let (exported, about) = if clip.preview {
            ("No (preview)", "The clip stays in the project.")
        } else {
            ("Yes", "The clip is written to exported files.")
        };
        fact_ui(ui, "Exported", exported, about);
        let channels = counted(clip.channels.len(), "channel");
        fact_ui(
            ui,
            "Keyframes",
            format!("{} in {channels}", thousands(n_keys)),
            "",
        );
    });
}
