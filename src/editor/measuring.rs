//! The study of volume and bulge over the clip: asked for, computed on the lane, and out of date once something
//! was edited.

use super::Editor;
use super::jobs::EditorJob;
use crate::document::ClipId;
use crate::evaluate::volumes::{VolumeStudy, study};
use crate::evaluate::{JobError, JobHandle};
use crate::task::{Cancelled, Task};
use std::sync::Arc;

/// What a study is of: another one is out of date.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Subject {
    model: u64,
    revision: u64,
    clip: Option<ClipId>,
}

/// The study that is shown and the one that is made.
#[derive(Default)]
pub(super) struct Measuring {
    job: Option<(Subject, JobHandle<Result<VolumeStudy, Cancelled>>)>,
    shown: Option<(Subject, Arc<VolumeStudy>)>,
}

impl Measuring {
    /// Nothing of the model that was open before is of use.
    pub(super) fn forget(&mut self) {
        if let Some((_, job)) = self.job.take() {
            job.task().cancel();
        }
        self.shown = None;
    }
}

impl Editor {
    /// Measures volume and bulge over the clip on screen, or in the pose, in the background. Begins afresh where it is
    /// under way.
    pub fn measure_volume(&mut self) {
        self.cancel_measuring();
        let subject = self.volume_subject();
        let document = self.document.clone();
        let fps = document.session().playback.fps;
        let work = move |task: &Task| study(&document, fps, task);
        let job = self.lane.submit(EditorJob::Volume, "Measure volume", work);
        self.measuring.job = Some((subject, job));
    }

    /// Stops measuring; what is shown stays.
    pub fn cancel_measuring(&mut self) {
        if let Some((_, job)) = self.measuring.job.take() {
            job.task().cancel();
        }
    }

    /// How far measuring has come, 0 - 1; `None`: it is not under way.
    pub fn measuring(&self) -> Option<f32> {
        let (_, job) = self.measuring.job.as_ref()?;
        Some(job.task().fraction())
    }

    /// What was measured last of this model.
    pub fn volume_study(&self) -> Option<&Arc<VolumeStudy>> {
        self.measuring.shown.as_ref().map(|(_, study)| study)
    }

    /// Whether something was edited, or another clip chosen, since that was measured.
    pub fn is_volume_stale(&self) -> bool {
        let shown = self.measuring.shown.as_ref();
        shown.is_some_and(|(subject, _)| *subject != self.volume_subject())
    }

    /// Takes a study over once it has ended.
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
        }
    }
}
