//! Other times of the samples of a motion: its clip is retargeted again, in the same step.

use super::result::{Outcome, run};
use super::{AddingMotion, ThenDo};
use crate::cluster::channel::{RecordingId, RecordingItem};
use crate::editor::Editor;
use crate::io::motion_source::ReadMotion;
use crate::motion::Timing;
use crate::motion::retarget::MotionSettings;
use crate::rig::Character;
use crate::task::Task;
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
        let item = read.item.clone().map(Arc::new);
        let Some(item) = item.or_else(|| own.cloned()) else {
            return;
        };
        adding.timing = Some((timing, item));
        self.run_motion();
    }
}

/// Gives the samples of a motion other times, and retargets it; foot contacts by hand follow. An error is a sentence.
pub(super) fn run_timed(
    read: &ReadMotion,
    (timing, item): (Timing, Arc<RecordingItem>),
    character: &Character,
    mut settings: MotionSettings,
    task: &Task,
) -> Outcome {
    let timed = item
        .timed(timing)
        .map_err(|why| format!("{} stays as it is: {why}.", item.name))?;
    let contacts = settings.bake.contacts.take();
    settings.bake.contacts = contacts.map(|of| item.moved_contacts(&of, &timed));
    let source = timed
        .motion
        .as_ref()
        .and_then(|motion| motion.source.clone());
    let timed = ReadMotion {
        source: source.unwrap_or_else(|| read.source.clone()),
        channels: read.channels.clone(),
        item: Some(timed),
    };
    let mut made = run(&timed, character, &settings, task)?;
    made.timed = Some((timed, settings.bake.contacts));
    Ok(made)
}
