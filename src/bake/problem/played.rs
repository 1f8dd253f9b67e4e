//! The clips of an export and the times in them.

use crate::document::{ClipId, Document};
use crate::skeleton::{Clip, Moment, Pose};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The clips by index: as authored in the document, and as written to the file.
pub(crate) struct Clips<'a> {
    pub(crate) ids: Vec<ClipId>,
    pub(crate) authored: Vec<&'a Clip>,
    pub(crate) written: Vec<&'a Clip>,
    /// Whether the keyframes of the authored clip already have what constraints make of it.
    keyed: Vec<bool>,
}

impl<'a> Clips<'a> {
    /// The clips `written` and their counterparts in `document`, in the same order.
    pub(crate) fn new(document: &'a Document, written: &'a BTreeMap<ClipId, Arc<Clip>>) -> Self {
        let mut clips = Self {
            ids: Vec::new(),
            authored: Vec::new(),
            written: Vec::new(),
            keyed: Vec::new(),
        };
        for (&id, written) in written {
            clips.ids.push(id);
            clips
                .authored
                .push(document.clips().get(&id).unwrap_or(written));
            clips.written.push(written);
            clips.keyed.push(false);
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

    /// Clips that a file has: its keyframes, and no constraints.
    pub(crate) fn read(ids: Vec<ClipId>, clips: Vec<&'a Clip>) -> Self {
        Self {
            keyed: vec![true; clips.len()],
            authored: clips.clone(),
            written: clips,
            ids,
        }
    }

    /// The pose of `document` at a time of its clips, with constraints; its rest pose outside all clips.
    pub(crate) fn authored_pose(&self, document: &Document, time: FrameTime) -> Pose {
        match time.clip {
            Some(clip) if self.keyed[clip] => document.keyed_pose(self.authored[clip], time.secs),
            Some(clip) => document.pose_of_clip(self.authored[clip], time.secs),
            None => Pose::clone(document.rest_pose()),
        }
    }

    /// The pose that a player makes of the keyframes in the file at a time.
    pub(crate) fn played_pose(&self, document: &Document, time: FrameTime) -> Pose {
        match time.clip {
            Some(clip) => document.keyed_pose(self.written[clip], time.secs),
            None => Pose::clone(document.rest_pose()),
        }
    }

    /// Adds a clip that is the same in the document and the file, with constraints in its keyframes.
    pub(crate) fn add(&mut self, id: ClipId, clip: &'a Clip) {
        self.ids.push(id);
        self.authored.push(clip);
        self.written.push(clip);
        self.keyed.push(true);
    }
}

/// A time of a clip; `None`: the rest pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FrameTime {
    pub(crate) clip: Option<usize>,
    pub(crate) secs: f64,
}
