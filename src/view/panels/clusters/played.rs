//! How a recording is played in the clip: its start, what lies between, before and after its samples, and gaps.

use super::ClustersPanel;
use crate::cluster::channel::{Ends, Interpolation, Played};
use crate::editor::Editor;
use crate::view::panels::correctives::fields::{Number, named_ui, pick_ui};
use egui::Ui;

/// The width of a field beside a check box, points.
const FIELD: f32 = 56.0;
/// The gap that is bridged when the limit is set by hand first, seconds.
const GAP: f64 = 0.25;

impl ClustersPanel {
    /// Draws how a recording is played; returns it changed. A drag is one undo step of this name.
    pub(super) fn played_ui(
        &mut self,
        ui: &mut Ui,
        editor: &mut Editor,
        played: &Played,
        step: &str,
    ) -> Option<Played> {
        let mut changed = *played;
        let about = "The time in the clip at which the recording begins. Moving its lane in the timeline, or aligning its clock, moves it from there.";
        named_ui(ui, "Start", about, |ui| {
            let number = Number {
                label: "Start",
                range: -1e6..=1e6,
                speed: 0.01,
                decimals: 3,
                suffix: " s",
                about,
                step,
            };
            if let Some(secs) = number.show_step_ui(ui, &mut self.is_dragging, editor, played.start)
            {
                changed.start = secs;
            }
        });
        let about = "The value between two samples.";
        named_ui(ui, "Sampling", about, |ui| {
            let choices = Interpolation::ALL.map(|kind| (kind, kind.label(), between(kind)));
            let width = ui.available_width();
            let shown = played.sampling.interpolation;
            let (response, chosen) = pick_ui(ui, "Sampling", width, shown, &choices);
            response.on_hover_text(about);
            if let Some(kind) = chosen {
                changed.sampling.interpolation = kind;
            }
        });
        let about = "The value before the first and after the last sample.";
        named_ui(ui, "Ends", about, |ui| {
            let choices = Ends::ALL.map(|ends| (ends, ends.label(), ends.about()));
            let width = ui.available_width();
            let shown = played.sampling.ends;
            let (response, chosen) = pick_ui(ui, "Ends", width, shown, &choices);
            response.on_hover_text(shown.about());
            if let Some(ends) = chosen {
                changed.sampling.ends = ends;
            }
        });
        let about = "The longest gap in the samples that is bridged. In a longer one the last value holds, and then fades \
                     out. Automatic: four steps of the recording, and at least 0.1 s.";
        named_ui(ui, "Longest gap", about, |ui| {
            let mut automatic = played.sampling.max_gap.is_none();
            let check = ui.checkbox(&mut automatic, "Automatic");
            check.widget_info(|| {
                egui::WidgetInfo::selected(
                    egui::Role::CheckBox,
                    true,
                    automatic,
                    "Automatic longest gap",
                )
            });
            if check.on_hover_text(about).changed() {
                changed.sampling.max_gap = (!automatic).then_some(GAP);
            } else if let Some(gap) = played.sampling.max_gap {
                ui.spacing_mut().interact_size.x = FIELD;
                let number = Number {
                    label: "Longest gap",
                    range: 0.0..=1e6,
                    speed: 0.01,
                    decimals: 3,
                    suffix: " s",
                    about,
                    step,
                };
                if let Some(gap) = number.show_step_ui(ui, &mut self.is_dragging, editor, gap) {
                    changed.sampling.max_gap = Some(gap);
                }
            }
        });
        (changed != *played).then_some(changed)
    }
}

fn between(kind: Interpolation) -> &'static str {
    match kind {
        Interpolation::Linear => "On the straight line between two samples.",
        Interpolation::Hold => "The earlier sample, until the next one.",
        Interpolation::Pchip => {
            "A smooth curve through the samples that never overshoots (PCHIP, Fritsch & Butland 1984)."
        }
        Interpolation::Sclerp => {
            "Along the screw motion of a marker that the recording gives a rotation, too (Kavan et al. 2008). Straight for all others."
        }
    }
}
