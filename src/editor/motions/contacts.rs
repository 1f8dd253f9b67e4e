//! Foot contacts of a motion's clip: those that were found, or that the artist sets. The feet are held in them.
//!
//! Data flow: a change -> the motion is read again and retargeted in the background -> one undo step with the clip and the contacts.

use super::{Editor, ThenDo};
use crate::cluster::channel::RecordingId;
use crate::motion::contacts::FeetSecs;

/// The shortest contact, seconds.
const SHORTEST_SECS: f64 = 0.02;

impl Editor {
    /// The foot contacts of a recording's clip, seconds of the clip: those that are being put on the character, otherwise those that
    /// it has. `None`: the recording has no clip.
    pub fn contacts_of(&self, recording: RecordingId) -> Option<FeetSecs> {
        let item = self.document.recordings().get(&recording)?;
        let motion = item.motion.as_ref()?;
        let clip = motion.clip?;
        self.document.clips().get(&clip)?;
        if let Some(reading) = &self.motions.reading
            && reading.of == Some(recording)
            && let ThenDo::HoldFeet(Some(feet)) = &reading.then
        {
            return Some(feet.clone());
        }
        let adding = self.motions.adding.as_ref();
        let adding = adding.filter(|a| a.recording == Some(recording) && a.job.is_some());
        let pending = adding.and_then(|adding| adding.settings.bake.contacts.clone());
        Some(pending.unwrap_or_else(|| motion.feet.clone()))
    }

    /// Holds the feet of a recording's clip in these stretches, seconds of the clip; `None`: in those that are found. In the
    /// background; one undo step, or a setting of the motion where that is being adjusted.
    pub fn set_contacts(&mut self, recording: RecordingId, feet: Option<FeetSecs>) {
        if self.contacts_of(recording).is_none() {
            return;
        }
        let feet = feet.map(in_order);
        let adding = self.motions.adding.as_ref();
        let adjusted = adding.filter(|a| a.recording == Some(recording) && !a.changes_contacts);
        if let Some(adding) = adjusted.filter(|adding| !adding.is_hidden) {
            let mut settings = adding.settings.clone();
            settings.bake.locks_feet = true;
            settings.bake.contacts = feet;
            self.set_motion_settings(settings);
            return;
        }
        // What was set before stays, as a step of its own.
        self.motions.end();
        self.read_recorded_motion(recording, ThenDo::HoldFeet(feet));
    }
}

/// Stretches in order, from 0 on; those that overlap become one, and those that are too short are left out.
fn in_order(feet: FeetSecs) -> FeetSecs {
    feet.map(|mut stretches| {
        stretches.retain(|[from, to]| from.is_finite() && to.is_finite());
        for [from, to] in &mut stretches {
            *from = from.max(0.0);
            *to = to.max(0.0);
        }
        stretches.retain(|[from, to]| to - from >= SHORTEST_SECS);
        stretches.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mut apart: Vec<[f64; 2]> = Vec::new();
        for [from, to] in stretches {
            match apart.last_mut() {
                Some(last) if from <= last[1] => last[1] = last[1].max(to),
                _ => apart.push([from, to]),
            }
        }
        apart
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_that_overlap_become_one() {
        let left = vec![
            [0.5, 0.9],
            [-1.0, 0.2],
            [0.8, 1.0],
            [0.3, 0.3],
            [f64::NAN, 2.0],
        ];
        let [left, right] = in_order([left, Vec::new()]);
        assert_eq!(left, [[0.0, 0.2], [0.5, 1.0]]);
        assert!(right.is_empty());
    }
}
