//! Stamps: moments of a recording that the artist marks, in the time of its device. Each edit is one undo step.

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
        let time = (common - item.clock.b) / item.clock.a;
        if item
            .stamps
            .iter()
            .any(|stamp| (stamp.time - time).abs() < SAME_SECS)
        {
            self.notify("This moment has a stamp already.");
            return;
        }
        let mut next = RecordingItem::clone(&item);
        let names = item.stamps.iter().map(|stamp| stamp.name.as_str());
        let name = free_name("Stamp", &names);
        let at = next.stamps.partition_point(|stamp| stamp.time < time);
        let label = format!("Add stamp at {common:.2} s · {}", item.name);
        next.stamps.insert(at, Event { name, time });
        self.change_stamps(id, next, &label);
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

    fn change_stamps(&mut self, id: RecordingId, item: RecordingItem, label: &str) {
        let edit = Edit::Recording {
            id,
            recording: Some(Arc::new(item)),
        };
        if let Err(error) = self.apply(edit, label) {
            self.notify_error(super::sentence(&error));
        }
    }
}
