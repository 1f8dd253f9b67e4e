//! Live motion as a recording of the document.

use super::LiveMotion;
use crate::cluster::channel::RecordingItem;
use crate::editor::Editor;
use crate::motion::live::LiveBindings;
use crate::motion::retarget::{BodyMotion, RetargetOptions};
use crate::motion::table::write_json_lines;
use crate::motion::vmc::take_of_body;
use crate::motion::{MotionSource, Recording};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

impl Editor {
    /// Starts recording.
    pub fn record_live(&mut self) {
        if let Some(live) = &mut self.live.motion {
            live.record();
        }
    }

    /// Whether motion is being recorded.
    pub fn is_recording_live(&self) -> bool {
        self.live()
            .is_some_and(|live| live.recorded_secs().is_some())
    }

    /// Ends the recording and adds it to the document, in the background: one undo step. Returns whether there was one.
    pub fn stop_recording(&mut self) -> bool {
        let Some(live) = &mut self.live.motion else {
            return false;
        };
        if live.recorded_secs().is_none() {
            return false;
        }
        let (calibration, device) = (live.calibration().clone(), live.device());
        let has_body = live.has_body();
        let rest_places = live.rest_places();
        let (bindings, unbound) = live.fitting_bindings();
        let unbound =
            unbound.map(|why| format!("{why} A binding that does not fit is not recorded."));
        let retarget = self.live.settings.retarget();
        let Some((mut samples, since)) = live.take_recording() else {
            self.notify("Nothing arrived during the recording, so nothing is kept.");
            return false;
        };
        self.take_recorded("Record motion", move || {
            // Live, too, only a body is calibrated.
            if has_body {
                calibration.apply(&mut samples);
            }
            let recording = Recording {
                device,
                rest_places,
                ..samples.recording(since)
            };
            recorded(recording, &bindings, retarget)
        });
        if let Some(unbound) = unbound {
            self.notify(unbound);
        }
        true
    }

    /// Ends a recording that has become too long.
    pub(super) fn stop_long_recording(&mut self) {
        if self.live.motion.as_mut().is_some_and(LiveMotion::trim) {
            self.notify("The recording was stopped: it has reached 30 minutes or 1 GB.");
            self.stop_recording();
        }
    }
}

/// Live motion as an item of a document, whose content the project keeps.
fn recorded(
    recording: Recording,
    bindings: &LiveBindings,
    retarget: RetargetOptions,
) -> RecordingItem {
    if recording.times.len() < 2 {
        let why = "Nothing arrived during the recording, so nothing is kept".to_owned();
        return RecordingItem::new("Take", "", 0, Err(why));
    }
    let mut lines = Vec::new();
    // Writing to memory does not fail.
    let _ = write_json_lines(&recording, &mut lines);
    let fingerprint = xxh3_64(&lines);
    let source = take_of_body(&recording);
    let mut motion = BodyMotion {
        source: source.map(|take| Arc::new(MotionSource::of_take("Take", take, Vec::new()))),
        ..BodyMotion::default()
    };
    if motion.source.is_some() {
        motion.settings.retarget = retarget;
    }
    motion.settings.bindings = bindings.of_recording(&recording, motion.has_body());
    let mut item = RecordingItem::new("Take", "", fingerprint, Ok(Arc::new(recording)));
    item.motion = (motion != BodyMotion::default()).then(|| Arc::new(motion));
    item
}
