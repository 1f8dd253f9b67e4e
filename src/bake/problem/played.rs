//! The clips of an export and the times in them.

use crate::document::{ClipId, Document};
use crate::skeleton::{Clip, Moment};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The clips by index: as authored in the document, and as written to the file.
pub(crate) struct Clips<'a> {
    pub(crate) ids: Vec<ClipId>,
    pub(crate) authored: Vec<&'a Clip>,
    pub(crate) written: Vec<&'a Clip>,
}

impl<'a> Clips<'a> {
    /// The clips `written` and their counterparts in `document`, in the same order.
    pub(crate) fn new(document: &'a Document, written: &'a BTreeMap<ClipId, Arc<Clip>>) -> Self {
        let mut clips = Self {
            ids: Vec::new(),
            authored: Vec::new(),
            written: Vec::new(),
        };
        for (&id, written) in written {
            clips.ids.push(id);
            clips
                .authored
                .push(document.clips().get(&id).unwrap_or(written));
            clips.written.push(written);
        }
        clips
    }

    /// The moment of a time; outside all clips for the rest pose.
    pub(crate) fn moment(&self, time: FrameTime) -> Moment {
        match time.clip.and_then(|clip| self.ids.get(clip)) {
            Some(&id) => Moment::of(id, time.secs),
            None => Moment::default(),
        }
    }

    /// Adds a clip that is the same in the document and the file.
    pub(crate) fn add(&mut self, id: ClipId, clip: &'a Clip) {
        self.ids.push(id);
        self.authored.push(clip);
        self.written.push(clip);
    }
}

/// A time of a clip; `None`: the rest pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FrameTime {
    pub(crate) clip: Option<usize>,
    pub(crate) secs: f64,
}
