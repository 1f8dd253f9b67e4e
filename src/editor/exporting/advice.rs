//! Advice on the chosen export: what it will change, what the file cannot represent exactly, and the estimated result.

use super::Editor;
use crate::bake::{BakeMode, Estimate};
use crate::editor::jobs::EditorJob;
use crate::evaluate::JobHandle;
use crate::export::{ExportError, ExportOptions, estimate, preflight};
use crate::finding::Finding;
use crate::task::Task;
use std::path::Path;
use std::time::{Duration, Instant};

/// The inputs of the advice; a change makes it out of date.
#[derive(Clone, Debug, PartialEq)]
struct Subject {
    model: u64,
    revision: u64,
    options: ExportOptions,
}

/// Advice on the chosen export. After a change, the previous advice stays until the new one is ready.
#[derive(Default)]
pub struct Advice {
    subject: Option<Subject>,
    /// The mode that the estimate is for.
    topic: Option<BakeMode>,
    checking: Option<JobHandle<Vec<Finding>>>,
    findings: Vec<Finding>,
    estimating: Option<JobHandle<Result<Option<Estimate>, ExportError>>>,
    estimate: Option<Estimate>,
    /// Since when no estimate has finished.
    behind_since: Option<Instant>,
}

/// The age at which an outdated estimate is marked as such.
const OUTDATED_AFTER: Duration = Duration::from_millis(400);

impl Advice {
    /// What the export will change and what the file cannot represent exactly, the most severe first.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The estimated result of the correction; `None` if unknown, or without correction. While
    /// [`Advice::is_estimating`], it belongs to the previous options.
    pub fn estimate(&self) -> Option<&Estimate> {
        self.estimate.as_ref()
    }

    /// Whether an estimate is being computed.
    pub fn is_estimating(&self) -> bool {
        self.estimating.is_some()
    }

    /// Whether the estimate has belonged to previous options for so long that the window should say so.
    pub fn is_behind(&self) -> bool {
        let since = self.behind_since.filter(|_| self.is_estimating());
        since.is_some_and(|since| since.elapsed() > OUTDATED_AFTER)
    }

    /// Cancels the jobs and drops the results.
    pub(super) fn forget(&mut self) {
        self.stop();
        self.topic = None;
        self.findings.clear();
        self.estimate = None;
    }

    /// Cancels the jobs; they restart with the next request for advice.
    pub(super) fn stop(&mut self) {
        self.subject = None;
        self.behind_since = None;
        if let Some(job) = self.checking.take() {
            job.task().cancel();
        }
        if let Some(job) = self.estimating.take() {
            job.task().cancel();
        }
    }

    /// Takes the findings once they are ready.
    pub(super) fn take_preflight(&mut self) {
        if let Some(job) = self.checking.take_if(|job| job.has_ended())
            && let Ok(findings) = job.into_result()
        {
            self.findings = findings;
        }
    }

    /// Takes the estimate once it is ready.
    pub(super) fn take_estimate(&mut self) {
        if let Some(job) = self.estimating.take_if(|job| job.has_ended()) {
            // Without an estimate, computing the export reports the reason.
            self.estimate = job.into_result().ok().and_then(Result::ok).flatten();
            self.behind_since = None;
        }
    }
}

impl Editor {
    /// Updates the advice on an export to `path` in the background. Call it in every frame that shows the options.
    pub fn advise_export(&mut self, path: &Path) {
        if self.history.is_open() || self.is_painting() || self.computing_export().is_some() {
            return;
        }
        let options = self.export_options(path);
        let subject = Subject {
            model: self.model_serial,
            revision: self.export_revision(&options),
            options,
        };
        if self.exporting.advice.subject.as_ref() == Some(&subject) {
            return;
        }
        let body = self.shown_body();
        let advice = &mut self.exporting.advice;
        let behind_since = advice.behind_since;
        advice.stop();
        let topic = subject.options.correct.as_ref().map(|c| c.mode);
        if advice.topic != topic {
            // The estimate of another mode does not apply.
            advice.estimate = None;
            advice.topic = topic;
        }
        let (document, options) = (body.clone(), subject.options.clone());
        let check = move |_: &Task| preflight(&document, &options);
        let job = self
            .lane
            .submit(EditorJob::Preflight, "Checking the export", check);
        advice.checking = Some(job);
        if subject.options.correct.is_some() {
            let (document, options) = (body.clone(), subject.options.clone());
            let work = move |task: &Task| estimate(&document, &options, task);
            let job = self
                .lane
                .submit(EditorJob::Estimate, "Estimating the export", work);
            advice.estimating = Some(job);
            advice.behind_since = behind_since.or_else(|| Some(Instant::now()));
        }
        advice.subject = Some(subject);
    }

    /// Stops giving advice, when the options are no longer shown.
    pub fn stop_advising(&mut self) {
        self.exporting.advice.forget();
    }
}
