//! Stamps: moments of a recording that the artist marks, in the time of its device; and the offset of its clock. Each edit is one
//! undo step.

use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::document::Edit;
use crate::editor::Editor;
use crate::editor::correctives::free_name;
use crate::motion::Event;
use std::sync::Arc;

/// Stamps closer than this are the same moment, seconds.
const SAME_SECS: f64 = 1e-3;

impl Editor {
    /// Marks the time on screen in the active recording.
    pub fn add_stamp(&mut self) {
        self.finish_tool();
        let recordings = self.document.recordings();
        let active = self.active_recording();
        let Some((id, item)) = active.and_then(|id| Some((id, recordings.get(&id)?.clone())))
        else {
            self.notify("Record or import a motion first: a stamp marks a moment of a recording.");
            return;
        };
        if self.shown_clip().is_none() {
            self.notify("Select a clip first: a stamp marks the time at which it is.");
            return;
        }
        let common = self.playback().time_secs;
        self.insert_stamp(id, &item, common, "");
    }

    /// Marks a time of the timeline, seconds, in a recording; an empty name becomes a free one. Returns whether it did: not
    /// where that moment has a stamp, or the time is no number.
    pub fn add_stamp_at(&mut self, recording: RecordingId, common: f64, name: &str) -> bool {
        self.finish_tool();
        let item = self.document.recordings().get(&recording).cloned();
        item.is_some_and(|item| self.insert_stamp(recording, &item, common, name))
    }

    fn insert_stamp(
        &mut self,
        id: RecordingId,
        item: &RecordingItem,
        common: f64,
        name: &str,
    ) -> bool {
        let time = item.clock.device(common);
        if !time.is_finite() {
            return false;
        }
        let is_same = |stamp: &Event| (stamp.time - time).abs() < SAME_SECS;
        if item.stamps.iter().any(is_same) {
            self.notify("There is already a stamp at this time.");
            return false;
        }
        let mut next = RecordingItem::clone(item);
        let name = named(item, name);
        let at = next.stamps.partition_point(|stamp| stamp.time < time);
        let label = format!("Add stamp at {common:.2} s · {}", item.name);
        next.stamps.insert(at, Event::new(name, time));
        self.change_stamps(id, next, &label)
    }

    /// Moves a stamp of a recording, by its place among them, to a time of the timeline, seconds, and renames it; an empty name
    /// becomes a free one. One undo step.
    pub fn set_stamp(&mut self, recording: RecordingId, stamp: usize, common: f64, name: &str) {
        self.finish_tool();
        let Some(item) = self.document.recordings().get(&recording).cloned() else {
            return;
        };
        let Some(known) = item.stamps.get(stamp) else {
            return;
        };
        // A stamp that is only renamed keeps its time bit for bit.
        let stays = (common - item.clock.common(known.time)).abs() < 1e-9;
        let time = if stays {
            known.time
        } else {
            item.clock.device(common)
        };
        if !time.is_finite() {
            return;
        }
        let mut others = (0..).zip(&item.stamps).filter(|(i, _)| *i != stamp);
        if !stays && others.any(|(_, other)| (other.time - time).abs() < SAME_SECS) {
            self.notify("There is already a stamp at this time.");
            return;
        }
        let mut next = RecordingItem::clone(&item);
        next.stamps.remove(stamp);
        let name = if name.trim() == known.name {
            known.name.clone()
        } else {
            named(&next, name)
        };
        let verb = if stays { "Rename" } else { "Move" };
        let label = format!("{verb} stamp {} · {}", known.name, item.name);
        let at = next.stamps.partition_point(|stamp| stamp.time < time);
        // Where a stamp is put by hand there is no peak.
        let width = if stays { known.width } else { 0.0 };
        next.stamps.insert(at, Event { name, time, width });
        if next.stamps != item.stamps {
            self.change_stamps(recording, next, &label);
        }
    }

    /// Sets when the clock of a recording begins: its offset on the timeline, seconds. One undo step.
    pub fn set_recording_offset(&mut self, recording: RecordingId, offset: f64) {
        self.finish_tool();
        let Some(item) = self.document.recordings().get(&recording) else {
            return;
        };
        if !offset.is_finite() || offset == item.clock.b {
            return;
        }
        let mut next = RecordingItem::clone(item);
        next.clock.b = offset;
        let label = format!("Move recording · {}", item.name);
        self.change_stamps(recording, next, &label);
    }

    /// Deletes a stamp of a recording, by its place among them.
    pub fn delete_stamp(&mut self, recording: RecordingId, stamp: usize) {
        self.finish_tool();
        let Some(item) = self.document.recordings().get(&recording).cloned() else {
            return;
        };
        if stamp < item.stamps.len() {
            let mut next = RecordingItem::clone(&item);
            let gone = next.stamps.remove(stamp);
            let label = format!("Delete stamp {} · {}", gone.name, item.name);
            self.change_stamps(recording, next, &label);
        }
    }

    /// Replaces a recording by one with other stamps or another clock, as one undo step. Returns whether it did.
    pub(super) fn change_stamps(
        &mut self,
        id: RecordingId,
        item: RecordingItem,
        label: &str,
    ) -> bool {
        let edit = Edit::Recording {
            id,
            recording: Some(Arc::new(item)),
        };
        let applied = self.apply(edit, label);
        if let Err(error) = &applied {
            self.notify_error(super::sentence(error));
        }
        applied.is_ok()
    }
}

/// A name for a stamp that no other one has.
fn named(item: &RecordingItem, wanted: &str) -> String {
    let names = item.stamps.iter().map(|stamp| stamp.name.as_str());
    let wanted = match wanted.trim() {
        "" => "Stamp",
        wanted => wanted,
    };
    free_name(wanted, &names)
}
