//! What an export will change, what it cannot hold exactly, and what it will come to: told while options are chosen.

use super::Editor;
use crate::bake::{BakeMode, Estimate};
use crate::evaluate::{Job, JobError, Lane};
use crate::export::{ExportError, ExportOptions, estimate, preflight};
use crate::finding::Finding;
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
pub struct Advice {
    /// Files that are saved or computed do not wait for it.
    lane: Lane,
    subject: Option<Subject>,
    /// What the estimate is of.
    topic: Option<BakeMode>,
    checking: Option<Job<Vec<Finding>>>,
    findings: Vec<Finding>,
    estimating: Option<Job<Result<Option<Estimate>, ExportError>>>,
    estimate: Option<Estimate>,
    /// Since when nothing was estimated to the end.
    behind_since: Option<Instant>,
}

/// How long an estimate may be of options before while nobody wonders.
const SOON: Duration = Duration::from_millis(400);

impl Advice {
    pub(super) fn new(lane: Lane) -> Self {
        Self {
            lane,
            subject: None,
            topic: None,
            checking: None,
            findings: Vec::new(),
            estimating: None,
            estimate: None,
            behind_since: None,
        }
    }

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

    pub(super) fn is_idle(&self) -> bool {
        self.checking.is_none()
    }

    /// Stops what is under way, and forgets what was told.
    pub(super) fn forget(&mut self) {
        self.stop();
        self.topic = None;
        self.findings.clear();
        self.estimate = None;
    }

    /// Stops what is under way; it is told of anew when it is asked for again.
    pub(super) fn stop(&mut self) {
        self.subject = None;
        self.behind_since = None;
        if let Some(job) = self.checking.take() {
            job.task.cancel();
        }
        if let Some(job) = self.estimating.take() {
            job.task.cancel();
        }
    }

    /// Asks what is under way to end; whether it has. So however fast a value is dragged, only one waits.
    fn has_ended(&self) -> bool {
        if let Some(job) = &self.checking {
            job.task.cancel();
        }
        if let Some(job) = &self.estimating {
            job.task.cancel();
        }
        self.checking.is_none() && self.estimating.is_none()
    }

    /// Takes what is ready.
    fn poll(&mut self) {
        match self.checking.as_ref().map(Job::try_result) {
            None | Some(Err(JobError::NotReady)) => {}
            Some(Ok(findings)) => {
                // Of something that is not asked about any more, nothing is told.
                if self.subject.is_some() {
                    self.findings = findings;
                }
                self.checking = None;
            }
            Some(Err(JobError::Failed)) => self.checking = None,
        }
        match self.estimating.as_ref().map(Job::try_result) {
            None | Some(Err(JobError::NotReady)) => {}
            Some(result) => {
                if self.subject.is_some() {
                    // Where there is none, computing will say why.
                    self.estimate = result.ok().and_then(Result::ok).flatten();
                    self.behind_since = None;
                }
                self.estimating = None;
            }
        }
    }
}

impl Drop for Advice {
    /// Nobody waits for it any more.
    fn drop(&mut self) {
        self.stop();
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
        advice.subject = None;
        let topic = subject.options.correct.as_ref().map(|c| c.mode);
        if advice.topic != topic {
            // What another correction comes to tells nothing of this one.
            advice.estimate = None;
            advice.topic = topic;
        }
        if !advice.has_ended() {
            return;
        }
        let (document, options) = (self.document.clone(), subject.options.clone());
        let check = move |task: &crate::task::Task| {
            if task.is_cancelled() {
                return Vec::new();
            }
            preflight(&document, &options)
        };
        advice.checking = Some(advice.lane.submit("Looking ahead", check));
        if subject.options.correct.is_some() {
            let (document, options) = (self.document.clone(), subject.options.clone());
            let work = move |task: &crate::task::Task| estimate(&document, &options, task);
            advice.estimating = Some(advice.lane.submit("Estimating the export", work));
            advice.behind_since.get_or_insert_with(Instant::now);
        }
        advice.subject = Some(subject);
    }

    /// Stops giving advice: nobody looks at it.
    pub fn stop_advising(&mut self) {
        self.exporting.advice.forget();
    }

    pub(in crate::editor) fn poll_advice(&mut self) {
        self.exporting.advice.poll();
    }
}
