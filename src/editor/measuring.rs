//! Volume and bulge over the clip: computed on the lane on request, outdated after an edit.

use super::Editor;
use super::jobs::EditorJob;
use crate::document::ClipId;
use crate::evaluate::volumes::{VolumeStudy, study};
use crate::evaluate::{JobError, JobHandle};
use crate::task::{Cancelled, Task};
use std::sync::Arc;

/// The inputs of a measurement; a change makes it out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Subject {
    model: u64,
    revision: u64,
    clip: Option<ClipId>,
    /// The body on screen.
    body: u64,
}

/// The measurement that is shown and the one under way.
#[derive(Default)]
pub(super) struct Measuring {
    job: Option<(Subject, JobHandle<Result<VolumeStudy, Cancelled>>)>,
    shown: Option<(Subject, Arc<VolumeStudy>)>,
}

impl Measuring {
    /// Drops everything that belongs to the previous model.
    pub(super) fn forget(&mut self) {
        if let Some((_, job)) = self.job.take() {
            job.task().cancel();
        }
        self.shown = None;
    }
}

impl Editor {
    /// Measures volume and bulge of the body on screen over the clip, or in the current pose, in the background. Restarts a
    /// measurement under way.
    pub fn measure_volume(&mut self) {
        self.cancel_measuring();
        let subject = self.volume_subject();
        let document = self.shown_body();
        let fps = document.session().playback.fps;
        let work = move |task: &Task| study(&document, fps, task);
        let job = self.lane.submit(EditorJob::Volume, "Measure volume", work);
        self.measuring.job = Some((subject, job));
    }

    /// Cancels the measurement; the previous result stays.
    pub fn cancel_measuring(&mut self) {
        if let Some((_, job)) = self.measuring.job.take() {
            job.task().cancel();
        }
    }

    /// The progress of the measurement, 0 - 1; `None` if none is under way.
    pub fn measuring(&self) -> Option<f32> {
        let (_, job) = self.measuring.job.as_ref()?;
        Some(job.task().fraction())
    }

    /// The latest measurement of this model.
    pub fn volume_study(&self) -> Option<&Arc<VolumeStudy>> {
        self.measuring.shown.as_ref().map(|(_, study)| study)
    }

    /// Whether the model was edited, or another clip or body chosen, since the measurement.
    pub fn is_volume_stale(&self) -> bool {
        let shown = self.measuring.shown.as_ref();
        shown.is_some_and(|(subject, _)| *subject != self.volume_subject())
    }

    /// Takes a measurement that has ended.
    pub(super) fn take_volume_study(&mut self) {
        let Some((subject, job)) = self.measuring.job.take_if(|(_, job)| job.has_ended()) else {
            return;
        };
        match job.into_result() {
            Ok(Ok(study)) => self.measuring.shown = Some((subject, Arc::new(study))),
            Ok(Err(Cancelled)) | Err(JobError::Cancelled) => {}
            Err(JobError::Failed) => {
                self.notify_error("The volume could not be measured.");
            }
        }
    }

    fn volume_subject(&self) -> Subject {
        Subject {
            model: self.model_serial,
            revision: self.history.revision(),
            clip: self.document.session().playback.clip,
            body: self.body_key(),
        }
    }
}
