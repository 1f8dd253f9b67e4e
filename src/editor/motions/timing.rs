//! Other times of the samples of a motion: its clip is retargeted again, in the same step.

use super::{AddingMotion, ThenDo};
use crate::cluster::channel::RecordingId;
use crate::editor::Editor;
use crate::io::motion_source::ReadMotion;
use crate::motion::Timing;
use std::sync::Arc;

impl AddingMotion {
    /// The frame time of its BVH file where that may be frames per second ([`Editor::read_frame_rate`]), and whether it is read so.
    pub fn odd_frame_time(&self) -> Option<(f64, bool)> {
        let source = self.source()?;
        Some((source.odd_frame_time()?, source.is_frame_rate()))
    }
}

impl Editor {
    /// Gives the samples of a recording other times, and retargets its clip again.
    pub(in crate::editor) fn retarget_with_timing(
        &mut self,
        recording: RecordingId,
        timing: Timing,
    ) {
        self.read_recorded_motion(recording, ThenDo::Time(timing));
    }

    /// Reads the frame time of the BVH file that is adjusted as frames per second, or as seconds, and replaces the clip.
    pub fn read_frame_rate(&mut self, is_frame_rate: bool) {
        let timing = if is_frame_rate {
            Timing::FramesPerSecond
        } else {
            Timing::AsStamped
        };
        let Some(adding) = &mut self.motions.adding else {
            return;
        };
        let Some(read) = adding.sources.get(adding.chosen) else {
            return;
        };
        let own = adding
            .recording
            .and_then(|id| self.document.recordings().get(&id));
        let Some(item) = read.item.as_ref().or(own.map(|own| &**own)) else {
            return;
        };
        let contacts = adding.settings.bake.contacts.clone();
        match item.timed(timing) {
            Ok(timed) => {
                let contacts = contacts.map(|of| item.moved_contacts(&of, &timed));
                adding.settings.bake.contacts = contacts;
                let item = timed;
                let source = item
                    .motion
                    .as_ref()
                    .and_then(|motion| motion.source.clone());
                let read = ReadMotion {
                    source: source.unwrap_or_else(|| read.source.clone()),
                    channels: read.channels.clone(),
                    item: Some(item),
                };
                let mut sources = adding.sources.to_vec();
                sources[adding.chosen] = read;
                adding.sources = Arc::new(sources);
                self.run_motion();
            }
            Err(why) => {
                let why = format!("{} stays as it is: {why}.", item.name);
                self.notify_error(why);
            }
        }
    }
}
