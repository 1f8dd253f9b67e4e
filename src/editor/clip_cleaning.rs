//! Cleaning of the clip on screen: smooth, fill a gap, trim, blend the end into the start.

use super::Editor;
use crate::finding::counted;
use crate::skeleton::JointId;
use crate::skeleton::clip_clean::Range;
use std::collections::BTreeSet;

/// How many times *Smooth keyframes* smooths at once.
const SMOOTHINGS: usize = 2;
/// How long the end of a clip is blended into its start, seconds.
const BLEND_SECS: f32 = 0.25;

/// What cleans a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ClipCleaning {
    /// Moves each keyframe towards the curve between its neighbours.
    Smooth,
    /// Interpolates across the loop range.
    FillGap,
    /// Keeps the loop range alone.
    Trim,
    /// Blends the end into the start.
    BlendEnd,
}

impl Editor {
    /// Cleans the clip on screen over the loop range, or the whole clip: the selected bones, or all where none is selected. One undo
    /// step.
    pub fn clean_clip(&mut self, cleaning: ClipCleaning) {
        self.finish_tool();
        self.end_key_drag();
        let Some((id, clip)) = self.shown_clip() else {
            self.notify("No clip is on screen.");
            return;
        };
        let chosen = self
            .playback()
            .range
            .map(|(from, to)| [from as f32, to as f32]);
        let needs_range = matches!(cleaning, ClipCleaning::FillGap | ClipCleaning::Trim);
        let Some(range) = chosen.or((!needs_range).then(|| [clip.start_secs(), clip.end_secs()]))
        else {
            self.notify("Set the loop range first: Set loop start, Set loop end.");
            return;
        };
        let selected = &self.document.session().selected_joints;
        let wants = |joint: JointId| selected.is_empty() || selected.contains(&joint);
        let cleaned = match cleaning {
            ClipCleaning::Smooth => clip.smoothed(wants, range, SMOOTHINGS),
            ClipCleaning::FillGap => clip.bridged(wants, range),
            ClipCleaning::Trim => clip.trimmed(range),
            ClipCleaning::BlendEnd => clip.with_blended_end(wants, range, BLEND_SECS),
        };
        if cleaned == *clip {
            self.notify("No keyframes changed.");
            return;
        }
        let pairs = clip.channels.iter().zip(&cleaned.channels);
        let changed = pairs.filter(|(before, after)| before != after);
        let bones: BTreeSet<JointId> = changed.map(|(before, _)| before.joint).collect();
        let bones = counted(bones.len(), "bone");
        let label = match cleaning {
            ClipCleaning::Smooth => format!("Smooth keyframes of {bones}"),
            ClipCleaning::FillGap => format!("Fill gap of {bones}"),
            ClipCleaning::Trim => format!("Trim clip to {}", seconds(range)),
            ClipCleaning::BlendEnd => format!("Blend end into start for {bones}"),
        };
        if self.set_clip(id, Some(cleaned), &label) && cleaning == ClipCleaning::Trim {
            // The range is the whole clip now.
            let time = self.playback().time_secs - f64::from(range[0]);
            self.set_time(time.max(0.0));
            self.playback_mut().range = None;
        }
    }
}

fn seconds([from, to]: Range) -> String {
    format!("{from:.2} - {to:.2} s")
}
