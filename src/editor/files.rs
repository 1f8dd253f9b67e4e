//! Opening, saving, exporting and autosaving, on the lane for long jobs.

use super::Editor;
use crate::document::Document;
use crate::evaluate::{Job, JobError};
use crate::io::gltf_export::{ExportError, ExportOptions, ExportReport, export_to_file};
use crate::io::project::{self, Autosaves, ProjectError, Recoverable};
use crate::io::{OpenError, OpenedModel, open_any, open_autosave, open_relinked, open_sample};
use crate::task::Task;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between autosaves while there is something to save.
const AUTOSAVE_EVERY: Duration = Duration::from_mins(1);

/// What to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenRequest {
    /// A model or a project.
    Path(PathBuf),
    /// A built-in sample.
    Sample(String),
    /// An autosave.
    Autosave(PathBuf),
    /// A project over another model than the one it names.
    Relink {
        /// The project.
        project: PathBuf,
        /// The model.
        model: PathBuf,
    },
}

impl OpenRequest {
    /// What the artist calls it.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) | Self::Autosave(path) | Self::Relink { project: path, .. } => path
                .file_name()
                .map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
            Self::Sample(name) => format!("the sample {name}"),
        }
    }
}

/// A file job that waits or runs.
pub enum FileJob {
    /// A model is being opened.
    Open {
        /// What.
        request: OpenRequest,
        /// The job.
        job: Job<Result<OpenedModel, OpenError>>,
    },
    /// The project is being saved.
    Save {
        /// Where.
        path: PathBuf,
        /// The history's revision of the snapshot.
        revision: u64,
        /// The job.
        job: Job<Result<(), ProjectError>>,
    },
    /// A glTF is being written.
    Export {
        /// Where.
        path: PathBuf,
        /// The job.
        job: Job<Result<ExportReport, ExportError>>,
    },
}

impl FileJob {
    /// What the artist reads in the status bar.
    pub fn label(&self) -> &str {
        match self {
            Self::Open { job, .. } => &job.label,
            Self::Save { job, .. } => &job.label,
            Self::Export { job, .. } => &job.label,
        }
    }

    /// Its progress; cancel it here.
    pub fn task(&self) -> &Task {
        match self {
            Self::Open { job, .. } => &job.task,
            Self::Save { job, .. } => &job.task,
            Self::Export { job, .. } => &job.task,
        }
    }
}

impl Editor {
    /// Opens something; what is open stays until it is ready. An opening under way is cancelled.
    pub fn open(&mut self, request: OpenRequest) {
        if !self.lane_is_free() {
            return;
        }
        let theirs = request.clone();
        let job = self.lane.submit(
            &format!("Opening {}", request.name()),
            move |task| match &theirs {
                OpenRequest::Path(path) => open_any(path, task),
                OpenRequest::Sample(name) => open_sample(name, task),
                OpenRequest::Autosave(path) => open_autosave(path, task),
                OpenRequest::Relink { project, model } => open_relinked(project, model, task),
            },
        );
        self.job = Some(FileJob::Open { request, job });
    }

    /// Saves the project to `path`, which becomes its place.
    pub fn save_as(&mut self, path: &Path) {
        if !self.lane_is_free() {
            return;
        }
        self.history.commit(&self.document);
        let path = if crate::io::is_project(path) {
            path.to_owned()
        } else {
            path.with_added_extension("ron")
        };
        let (document, target) = (self.document.clone(), path.clone());
        let job = self
            .lane
            .submit(&format!("Saving {}", file_name(&path)), move |task| {
                project::save(&document, &target, task)
            });
        self.job = Some(FileJob::Save {
            path,
            revision: self.history.revision(),
            job,
        });
    }

    /// Writes a glTF to `path` (.glb or .gltf).
    pub fn export(&mut self, path: &Path, options: &ExportOptions) {
        if !self.lane_is_free() {
            return;
        }
        let (document, target, options) = (self.document.clone(), path.to_owned(), options.clone());
        let job = self
            .lane
            .submit(&format!("Exporting {}", file_name(path)), move |task| {
                export_to_file(&document, &target, &options, task)
            });
        self.job = Some(FileJob::Export {
            path: path.to_owned(),
            job,
        });
    }

    /// Stops the file job under way.
    pub fn cancel_job(&mut self) {
        if let Some(job) = &self.job {
            job.task().cancel();
        }
    }

    /// Whether a new file job may start: an opening gives way, a save or export is waited for.
    fn lane_is_free(&mut self) -> bool {
        match &self.job {
            None => true,
            Some(FileJob::Open { job, .. }) => {
                job.task.cancel();
                true
            }
            Some(other) => {
                let text = format!("{} is still under way.", other.label());
                self.say(text);
                false
            }
        }
    }

    pub(super) fn poll_file_job(&mut self) {
        let Some(running) = self.job.take() else {
            return;
        };
        match running {
            FileJob::Open { request, job } => match job.try_result() {
                Err(JobError::NotReady) => self.job = Some(FileJob::Open { request, job }),
                Err(error) => self.say_error(error.to_string()),
                Ok(Ok(opened)) => self.show_opened(&request, opened),
                Ok(Err(OpenError::Cancelled(_))) => {
                    self.say(format!("Opening {} was cancelled.", request.name()));
                }
                Ok(Err(OpenError::Project(ProjectError::SourceMissing { path, .. }))) => {
                    self.say_error(format!(
                        "The project's model \"{}\" is missing; choose where it is now.",
                        path.display()
                    ));
                    if let OpenRequest::Path(project) | OpenRequest::Autosave(project) = request {
                        self.relink = Some(Relink {
                            project,
                            missing: path,
                        });
                    }
                }
                Ok(Err(error)) => {
                    self.say_error(format!("Cannot open {}. {error}", request.name()));
                }
            },
            FileJob::Save {
                path,
                revision,
                job,
            } => match job.try_result() {
                Err(JobError::NotReady) => {
                    self.job = Some(FileJob::Save {
                        path,
                        revision,
                        job,
                    });
                }
                Err(error) => self.say_error(error.to_string()),
                Ok(Ok(())) => {
                    // Edits made meanwhile are not in the file.
                    if revision == self.history.revision() {
                        self.history.mark_saved();
                        self.discard_autosave();
                    }
                    self.say(format!("Saved {}.", file_name(&path)));
                    self.project_path = Some(path);
                }
                Ok(Err(ProjectError::Cancelled(_))) => {
                    self.say("Saving was cancelled; the file is as it was.");
                }
                Ok(Err(error)) => self.say_error(error.to_string()),
            },
            FileJob::Export { path, job } => match job.try_result() {
                Err(JobError::NotReady) => self.job = Some(FileJob::Export { path, job }),
                Err(error) => self.say_error(error.to_string()),
                Ok(Ok(report)) => {
                    let mut text = format!("Exported {}.", file_name(&path));
                    if let Some(finding) = report.findings.first() {
                        text = format!("{text} {}", finding.message);
                    }
                    self.say(text);
                    self.export_report = Some(report);
                }
                Ok(Err(ExportError::Cancelled(_))) => {
                    self.say("The export was cancelled; nothing was written.");
                }
                Ok(Err(error)) => self.say_error(error.to_string()),
            },
        }
    }

    fn show_opened(&mut self, request: &OpenRequest, opened: OpenedModel) {
        if opened.source_changed {
            self.say("The model changed since the project was saved; what still fits was kept (see Problems).");
        }
        // A project brings its own view; a model is framed.
        let frame = opened.project.is_none();
        let is_recovered = matches!(
            request,
            OpenRequest::Autosave(_) | OpenRequest::Relink { .. }
        );
        self.set_document(opened.document, opened.findings, opened.project);
        self.relink = None;
        self.frame_when_shown = frame;
        if is_recovered {
            self.history.mark_unsaved();
        }
    }

    /// The project whose model was not found, until something else is opened.
    pub fn relink(&self) -> Option<&Relink> {
        self.relink.as_ref()
    }

    /// Forgets the project whose model was not found.
    pub fn give_up_relink(&mut self) {
        self.relink = None;
    }

    /// What the latest export did.
    pub fn export_report(&self) -> Option<&ExportReport> {
        self.export_report.as_ref()
    }

    /// Autosaves that are newer than what the artist saved.
    pub fn recoverable(&self) -> Vec<Recoverable> {
        self.autosaves
            .as_ref()
            .map(Autosaves::recoverable)
            .unwrap_or_default()
    }

    /// Removes an autosave the artist does not want.
    pub fn discard_recoverable(&mut self, path: &Path) {
        let result = self.autosaves.as_ref().map(|a| a.discard(path));
        if let Some(Err(error)) = result {
            self.say_error(error.to_string());
        }
    }

    /// Saves beside the artist's files when there is something new and enough time has passed.
    pub(super) fn autosave_if_due(&mut self) {
        if let Some(job) = &self.autosave {
            match job.try_result() {
                Err(JobError::NotReady) => return,
                Ok(Err(error)) if !self.autosave_failed => {
                    // Once is enough: it would come back each minute.
                    self.autosave_failed = true;
                    self.say_error(format!("Autosave does not work: {error}"));
                }
                _ => {}
            }
            self.autosave = None;
        }
        let due = self
            .last_autosave
            .is_none_or(|at| at.elapsed() >= AUTOSAVE_EVERY);
        let changed =
            self.history.is_modified() && self.history.revision() != self.autosaved_revision;
        if !(due && changed) || self.is_painting() {
            return;
        }
        self.autosave_now();
    }

    /// Starts an autosave of the present state.
    pub fn autosave_now(&mut self) {
        let Some(autosaves) = self.autosaves.clone() else {
            return;
        };
        self.last_autosave = Some(Instant::now());
        self.autosaved_revision = self.history.revision();
        let (document, project): (Document, _) = (self.document.clone(), self.project_path.clone());
        self.autosave = Some(self.lane.submit("Autosave", move |task| {
            autosaves
                .save(&document, project.as_deref(), task)
                .map(|_| ())
        }));
    }

    /// Removes the autosave of what is open: it was saved, or the artist does not want it.
    pub fn discard_autosave(&mut self) {
        if let Some(autosaves) = &self.autosaves {
            let path = autosaves.path_of(&self.document, self.project_path.as_deref());
            // It stands for a state that is saved now; one left behind is older than the project and never offered.
            let _ = autosaves.discard(&path);
        }
    }
}

/// A project whose model was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relink {
    /// The project.
    pub project: PathBuf,
    /// Where its model should be.
    pub missing: PathBuf,
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}
