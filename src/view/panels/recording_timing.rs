//! The times of the samples of a recording: how regular they are, and what they are.

use super::clusters::layer_row::dim_ui;
use super::correctives::fields::{named_ui, pick_ui};
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::editor::Editor;
use crate::finding::{counted, trimmed};
use crate::motion::bvh::{frame_rate_note, frame_time_note};
use crate::motion::timing::Steps;
use crate::motion::{MotionSource, Timing};
use egui::{Label, Ui};

/// Draws the choice of the times and the figures of the steps. A frame time that may be a number of frames per second has a
/// button that reads it so.
pub(super) fn timing_ui(
    ui: &mut Ui,
    editor: &mut Editor,
    (id, item): (RecordingId, &RecordingItem),
) {
    let source = item.motion.as_ref().and_then(|of| of.source.as_deref());
    let odd = source.and_then(MotionSource::odd_frame_time);
    let choices: Vec<(Timing, &str, &str)> = Timing::ALL
        .into_iter()
        .filter(|timing| *timing != Timing::FramesPerSecond || odd.is_some())
        .map(|timing| (timing, timing.label(), timing.about()))
        .collect();
    let about = "The times of the samples. Lanes, tables, statistics, layers and retargeted clips use them.";
    let chosen = named_ui(ui, "Sample times", about, |ui| {
        let width = ui.available_width();
        let (response, chosen) = pick_ui(ui, "Sample times", width, item.timing, &choices);
        response.on_hover_text(about);
        chosen
    });
    if let Some(chosen) = chosen {
        editor.set_recording_timing(id, chosen);
    }
    let steps = editor.recording_summary(id).and_then(|known| known.steps);
    if let Some(steps) = steps {
        dim_ui(ui, &steps_text(steps));
    }
    if let Some(secs) = odd
        && let Some(is_rate) = frame_rate_ui(ui, secs, item.timing == Timing::FramesPerSecond)
    {
        let timing = if is_rate {
            Timing::FramesPerSecond
        } else {
            Timing::AsStamped
        };
        editor.set_recording_timing(id, timing);
    }
}

/// Draws the note about a frame time that may be a number of frames per second, with the button that reads it so, or no longer.
/// Returns what was chosen.
pub(super) fn frame_rate_ui(ui: &mut Ui, secs: f64, is_rate: bool) -> Option<bool> {
    let (note, button, about) = if is_rate {
        let about = "Read the frame time as seconds again.";
        (frame_rate_note(secs), "Use seconds", about)
    } else {
        let about = "Read the frame time of the BVH file as frames per second.";
        (frame_time_note(secs), "Fix", about)
    };
    let pressed = ui.horizontal_wrapped(|ui| {
        ui.add(Label::new(note).wrap());
        ui.button(button).on_hover_text(about).clicked()
    });
    pressed.inner.then_some(!is_rate)
}

/// The figures of the steps between samples.
fn steps_text(steps: Steps) -> String {
    let ms = |secs: f64| trimmed((secs * 1e5).round() / 1e2);
    let gaps = match steps.n_gaps {
        0 => "no gaps".to_owned(),
        n => counted(n, "gap"),
    };
    format!(
        "Median step {} ms, 95 % of the steps within {} ms of it, {gaps}.",
        ms(steps.median),
        ms(steps.jitter)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_said_in_milliseconds() {
        let steps = Steps {
            median: 0.01,
            jitter: 0.000_347,
            n_gaps: 1,
        };
        let known = "Median step 10 ms, 95 % of the steps within 0.35 ms of it, 1 gap.";
        assert_eq!(steps_text(steps), known);
    }
}
