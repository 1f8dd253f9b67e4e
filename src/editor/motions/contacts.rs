//! Foot contacts of a motion's clip: those that were found, or that the artist sets. The feet are held in them.
//!
//! Data flow: a change -> the motion is read again and retargeted in the background -> one undo step with the clip and the contacts.

use super::{Editor, ThenDo};
use crate::cluster::channel::RecordingId;
use crate::motion::contacts::FeetSecs;

/// The shortest contact, seconds.
pub const SHORTEST_CONTACT_SECS: f64 = 0.02;
/// The message where a contact would be shorter than that.
const TOO_SHORT: &str =
    "A contact lasts at least 0.02 s and lies within the clip: nothing changed.";

impl Editor {
    /// The foot contacts of a recording's clip, seconds of the clip: those that are being put on the character, otherwise those that
    /// it has. `None`: the recording has no clip.
    pub fn contacts_of(&self, recording: RecordingId) -> Option<FeetSecs> {
        let item = self.document.recordings().get(&recording)?;
        let motion = item.motion.as_ref()?;
        let clip = motion.clip?;
        self.document.clips().get(&clip)?;
        // Bound channels have no feet.
        let has_body = motion.source.as_ref().is_some_and(|of| of.has_body());
        if !has_body && motion.feet == FeetSecs::default() {
            return None;
        }
        if let Some(reading) = &self.motions.reading
            && reading.of == Some(recording)
            && let ThenDo::HoldFeet(Some(feet)) = &reading.then
        {
            return Some(feet.clone());
        }
        let adding = self.motions.adding.as_ref();
        let adding = adding.filter(|a| a.recording == Some(recording) && a.job.is_some());
        let pending = adding.and_then(|adding| adding.settings.bake.contacts.clone());
        // Without Foot lock none are found, but those set by hand are kept.
        let bake = &motion.settings.bake;
        let kept = bake.contacts.as_ref().filter(|_| !bake.locks_feet);
        Some(pending.unwrap_or_else(|| kept.unwrap_or(&motion.feet).clone()))
    }

    /// Why the feet of a recording's clip are not held, in a sentence; `None`: they are, or it has no clip.
    pub fn free_feet(&self, recording: RecordingId) -> Option<&'static str> {
        let feet = self.contacts_of(recording)?;
        let motion = self
            .document
            .recordings()
            .get(&recording)?
            .motion
            .as_ref()?;
        let bake = &motion.settings.bake;
        if !bake.locks_feet {
            return Some(
                "Foot lock is off, so contacts do not hold the feet. Adding a contact turns it on.",
            );
        }
        let n: usize = feet.iter().map(Vec::len).sum();
        let is_single = bake.contacts.is_none() && n == 1;
        is_single.then_some("1 contact was found: the feet are not held.")
    }

    /// Holds the feet of a recording's clip in these stretches, seconds of the clip; `None`: in those that are found. In the
    /// background; one undo step, or a setting of the motion where that is being adjusted.
    pub fn set_contacts(&mut self, recording: RecordingId, feet: Option<FeetSecs>) {
        let Some(known) = self.contacts_of(recording) else {
            return;
        };
        let end = self.secs_of_motion(recording);
        let feet = match feet.map(|feet| in_order(feet, &known, end)).transpose() {
            Ok(feet) => feet,
            Err(TooShort) => return self.notify(TOO_SHORT),
        };
        let adding = self.motions.adding.as_ref();
        let adjusted = adding.filter(|a| a.recording == Some(recording) && !a.is_hidden);
        if let Some(adding) = adjusted {
            let mut settings = adding.settings.clone();
            settings.bake.locks_feet |= feet.is_some();
            settings.bake.contacts = feet;
            self.set_motion_settings(settings);
            return;
        }
        // What was set before stays, as a step of its own.
        self.motions.end();
        self.read_recorded_motion(recording, ThenDo::HoldFeet(feet));
    }

    /// The length of the clip of a recording, seconds; without one, endless.
    fn secs_of_motion(&self, recording: RecordingId) -> f64 {
        let item = self.document.recordings().get(&recording);
        let clip = item.and_then(|item| item.motion.as_ref()?.clip);
        let clip = clip.and_then(|clip| self.document.clips().get(&clip));
        clip.map_or(f64::INFINITY, |clip| f64::from(clip.end_secs()))
    }
}

/// A stretch is shorter than [`SHORTEST_CONTACT_SECS`], or none.
#[derive(Debug, PartialEq, Eq)]
struct TooShort;

/// Stretches in order, within 0 and `end`; those that overlap become one, and those of a single frame that were there before
/// are left out.
fn in_order(mut feet: FeetSecs, known: &FeetSecs, end: f64) -> Result<FeetSecs, TooShort> {
    for (stretches, known) in feet.iter_mut().zip(known) {
        let is_long = |[from, to]: &[f64; 2]| to - from >= SHORTEST_CONTACT_SECS - 1e-6;
        stretches.retain(|stretch| is_long(stretch) || !known.contains(stretch));
        for [from, to] in &mut *stretches {
            // The ends of a clip are rounded.
            let was_long = is_long(&[*from, *to]);
            *from = from.max(0.0);
            *to = to.min(end);
            if !was_long || !is_long(&[*from, *to]) {
                return Err(TooShort);
            }
        }
        stretches.sort_by(|a, b| a[0].total_cmp(&b[0]));
        let mut apart: Vec<[f64; 2]> = Vec::new();
        for [from, to] in stretches.drain(..) {
            match apart.last_mut() {
                Some(last) if from <= last[1] => last[1] = last[1].max(to),
                _ => apart.push([from, to]),
            }
        }
        *stretches = apart;
    }
    Ok(feet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_that_overlap_become_one() {
        let left = vec![[0.5, 0.9], [-1.0, 0.2], [0.8, 1.4]];
        let [left, right] = in_order([left, Vec::new()], &FeetSecs::default(), 1.0).unwrap();
        assert_eq!(left, [[0.0, 0.2], [0.5, 1.0]]);
        assert!(right.is_empty());
        for short in [[0.3, 0.3], [0.5, 0.4], [1.2, 1.5], [f64::NAN, 0.5]] {
            let feet = [Vec::new(), vec![short]];
            let none = FeetSecs::default();
            assert_eq!(in_order(feet.clone(), &none, 1.0), Err(TooShort));
            // One that was there before hinders no change of another.
            if short[0].is_finite() && short[0] < 0.5 {
                assert_eq!(in_order(feet.clone(), &feet, 1.0), Ok(none));
            }
        }
    }
}
