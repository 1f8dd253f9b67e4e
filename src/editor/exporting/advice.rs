//! What an export will change, what it cannot hold exactly, and what it will come to: told while options are chosen.

use super::Editor;
use crate::bake::{BakeMode, Estimate};
use crate::editor::jobs::EditorJob;
use crate::evaluate::JobHandle;
use crate::export::{ExportError, ExportOptions, estimate, preflight};
use crate::finding::Finding;
use crate::task::Task;
use std::path::Path;
use std::time::{Duration, Instant};

/// What advice is about: another one is out of date.
#[derive(Clone, Debug, PartialEq)]
struct Subject {
    model: u64,
    revision: u64,
    options: ExportOptions,
}

/// What is told of the export that is chosen now. While that changes, what was told last stays until it is told anew.
#[derive(Default)]
pub struct Advice {
    subject: Option<Subject>,
    /// What the estimate is of.
    topic: Option<BakeMode>,
    checking: Option<JobHandle<Vec<Finding>>>,
    findings: Vec<Finding>,
    estimating: Option<JobHandle<Result<Option<Estimate>, ExportError>>>,
    estimate: Option<Estimate>,
    /// Since when nothing was estimated to the end.
    behind_since: Option<Instant>,
}

/// How long an estimate may be of options before while nobody wonders.
const SOON: Duration = Duration::from_millis(400);

impl Advice {
    /// What the export will change and what it cannot hold exactly, the worst first.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// What the correction will come to; `None` while that is not known, or without one. While
    /// [`Advice::is_estimating`], of the options before.
    pub fn estimate(&self) -> Option<&Estimate> {
        self.estimate.as_ref()
    }

    /// Whether an estimate is under way.
    pub fn is_estimating(&self) -> bool {
        self.estimating.is_some()
    }

    /// Whether the estimate has been of options before for so long that this should be said.
    pub fn is_behind(&self) -> bool {
        let since = self.behind_since.filter(|_| self.is_estimating());
        since.is_some_and(|since| since.elapsed() > SOON)
    }

    /// Stops what is under way, and forgets what was told.
    pub(super) fn forget(&mut self) {
        self.stop();
        self.topic = None;
        self.findings.clear();
        self.estimate = None;
    }

    /// Stops what is under way; it begins again when advice is asked for again.
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

    /// Takes the findings over once they are there.
    pub(super) fn take_preflight(&mut self) {
        if let Some(job) = self.checking.take_if(|job| job.has_ended())
            && let Ok(findings) = job.into_result()
        {
            self.findings = findings;
        }
    }

    /// Takes an estimate over once it is there.
    pub(super) fn take_estimate(&mut self) {
        if let Some(job) = self.estimating.take_if(|job| job.has_ended()) {
            // Where there is none, computing will say why.
            self.estimate = job.into_result().ok().and_then(Result::ok).flatten();
            self.behind_since = None;
        }
    }
}

impl Editor {
    /// Keeps the advice about an export for `path` up to date, in the background; call it while options are on screen.
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
        let advice = &mut self.exporting.advice;
        let behind_since = advice.behind_since;
        advice.stop();
        let topic = subject.options.correct.as_ref().map(|c| c.mode);
        if advice.topic != topic {
            // What another correction comes to tells nothing of this one.
            advice.estimate = None;
            advice.topic = topic;
        }
        let (document, options) = (self.document.clone(), subject.options.clone());
        let check = move |_: &Task| preflight(&document, &options);
        let job = self
            .lane
            .submit(EditorJob::Preflight, "Checking the export", check);
        advice.checking = Some(job);
        if subject.options.correct.is_some() {
            let (document, options) = (self.document.clone(), subject.options.clone());
            let work = move |task: &Task| estimate(&document, &options, task);
            let job = self
                .lane
                .submit(EditorJob::Estimate, "Estimating the export", work);
            advice.estimating = Some(job);
            advice.behind_since = behind_since.or_else(|| Some(Instant::now()));
        }
        advice.subject = Some(subject);
    }

    /// Stops giving advice: nobody looks at it.
    pub fn stop_advising(&mut self) {
        self.exporting.advice.forget();
    }
}
