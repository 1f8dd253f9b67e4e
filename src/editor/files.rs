//! Opening, saving and exporting on the job lane.

use super::Editor;
use super::jobs::EditorJob;
use crate::document::fixes::Fixed;
use crate::document::{Edit, History, MeshId};
use crate::evaluate::{JobError, JobHandle};
use crate::export::{ExportError, ExportReport};
use crate::finding::{Fix, Severity, counted};
use crate::io::project::ProjectError;
use crate::io::{
    FileStamp, OpenError, OpenedModel, open_any, open_autosave, open_relinked, open_sample,
};
use crate::math::Camera;
use crate::task::{Cancelled, Task};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What to open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenRequest {
    /// A model or a project.
    Path(PathBuf),
    /// A built-in sample.
    Sample(String),
    /// An autosave.
    Autosave(PathBuf),
    /// A project with another model than the one it names.
    Relink {
        /// The project.
        project: PathBuf,
        /// The model.
        model: PathBuf,
        /// Whether `project` is an autosave, which is never saved to.
        is_autosave: bool,
    },
}

impl OpenRequest {
    /// The autosave that is opened.
    fn autosave(&self) -> Option<&Path> {
        match self {
            Self::Autosave(path)
            | Self::Relink {
                project: path,
                is_autosave: true,
                ..
            } => Some(path),
            _ => None,
        }
    }

    /// The name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Path(path) | Self::Autosave(path) | Self::Relink { project: path, .. } => path
                .file_name()
                .map_or_else(String::new, |n| n.to_string_lossy().into_owned()),
            Self::Sample(name) => format!("the sample {name}"),
        }
    }
}

/// A file job, whose progress is shown.
pub enum FileJob {
    /// A model is being opened.
    Open {
        /// The request.
        request: OpenRequest,
        /// The history revision at the request.
        revision: u64,
        /// The job.
        job: JobHandle<Result<OpenedModel, OpenError>>,
    },
    /// The project is being saved.
    Save {
        /// The destination.
        path: PathBuf,
        /// The history revision of the snapshot.
        revision: u64,
        /// The job.
        job: JobHandle<Saved>,
    },
    /// A model or a static mesh is being written.
    Export {
        /// The destination.
        path: PathBuf,
        /// A description of the frame of a static mesh; `None` for a model.
        frame_label: Option<String>,
        /// The job.
        job: JobHandle<Result<ExportReport, ExportError>>,
    },
    /// A problem is being fixed.
    Fix {
        /// The mesh.
        mesh: MeshId,
        /// The points.
        points: Arc<[u32]>,
        /// The fix.
        fix: Fix,
        /// The history revision of the snapshot.
        revision: u64,
        /// The job.
        job: JobHandle<Result<Fixed, Cancelled>>,
    },
    /// Edits of corrective samples or constraints are being computed.
    Samples {
        /// The label of the undo step.
        label: &'static str,
        /// The history revision of the snapshot.
        revision: SnapshotRevision,
        /// The job.
        job: JobHandle<SampleResult>,
    },
}

/// The history revision of a snapshot, for a job whose result holds until the document changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SnapshotRevision {
    /// Also until the artist poses.
    WithPose(u64),
    /// Whatever the artist poses.
    ButForPoses(u64),
}

impl SnapshotRevision {
    /// Whether the document has not changed since.
    pub(super) fn holds(self, history: &History) -> bool {
        match self {
            Self::WithPose(revision) => revision == history.revision(),
            Self::ButForPoses(revision) => revision == history.revision_but_for_poses(),
        }
    }
}

/// The result of a job that saves: the stamp of what it wrote.
pub(super) type Saved = Result<Option<FileStamp>, ProjectError>;

/// The edits of a task on corrective samples and a message about them, or a sentence why there are none.
pub(super) type SampleResult = Result<(Vec<Edit>, String), String>;

impl FileJob {
    /// The progress, which can cancel the job.
    pub fn task(&self) -> &Task {
        match self {
            Self::Open { job, .. } => job.task(),
            Self::Save { job, .. } => job.task(),
            Self::Export { job, .. } => job.task(),
            Self::Fix { job, .. } => job.task(),
            Self::Samples { job, .. } => job.task(),
        }
    }

    fn has_ended(&self) -> bool {
        match self {
            Self::Open { job, .. } => job.has_ended(),
            Self::Save { job, .. } => job.has_ended(),
            Self::Export { job, .. } => job.has_ended(),
            Self::Fix { job, .. } => job.has_ended(),
            Self::Samples { job, .. } => job.has_ended(),
        }
    }

    fn label(&self) -> &str {
        match self {
            Self::Open { job, .. } => job.label(),
            Self::Save { job, .. } => job.label(),
            Self::Export { job, .. } => job.label(),
            Self::Fix { job, .. } => job.label(),
            Self::Samples { job, .. } => job.label(),
        }
    }
}

impl Editor {
    /// Opens a model or a project; the current one stays until it is ready. Cancels an opening under way.
    pub fn open(&mut self, request: OpenRequest) {
        if let Some(FileJob::Open { job, .. }) = &self.job {
            job.task().cancel();
        } else if !self.can_start_file_job() {
            return;
        }
        if let Some(autosave) = request.autosave()
            && !self.claim_autosave(autosave)
        {
            self.notify_error("Another window has restored this work. It is open there.");
            return;
        }
        let theirs = request.clone();
        let job = self.lane.submit(
            EditorJob::Open,
            &format!("Opening {}", request.name()),
            move |task| match &theirs {
                OpenRequest::Path(path) => open_any(path, task),
                OpenRequest::Sample(name) => open_sample(name, task),
                OpenRequest::Autosave(path) => open_autosave(path, task),
                OpenRequest::Relink {
                    project,
                    model,
                    is_autosave,
                } => open_relinked(project, model, *is_autosave, task),
            },
        );
        self.job = Some(FileJob::Open {
            request,
            revision: self.history.revision(),
            job,
        });
    }

    /// Cancels the current file job.
    pub fn cancel_job(&mut self) {
        if let Some(job) = &self.job {
            job.task().cancel();
        }
    }

    /// Whether a save is under way.
    pub(super) fn is_saving(&self) -> bool {
        matches!(self.job, Some(FileJob::Save { .. }))
    }

    /// Whether a new file job may start; notifies if one is under way.
    pub(super) fn can_start_file_job(&mut self) -> bool {
        if let Some(job) = &self.job {
            let text = format!(
                "{} is still running. Wait for it or cancel it.",
                job.label()
            );
            self.notify(text);
        }
        self.job.is_none()
    }

    /// Takes the result of a file job that has ended.
    pub(super) fn take_file_job(&mut self) {
        match self.job.take_if(|job| job.has_ended()) {
            None => {}
            Some(FileJob::Open {
                request,
                revision,
                job,
            }) => self.finish_opening(request, revision, job.into_result()),
            Some(FileJob::Save {
                path,
                revision,
                job,
            }) => self.finish_saving(path, revision, job.into_result()),
            Some(FileJob::Export {
                path,
                frame_label,
                job,
            }) => {
                self.finish_export(path, frame_label, job.into_result());
            }
            Some(FileJob::Fix {
                mesh,
                points,
                fix,
                revision,
                job,
            }) => self.finish_fix((mesh, points, fix), revision, job.into_result()),
            Some(FileJob::Samples {
                label,
                revision,
                job,
            }) => {
                let is_cancelled = job.task().is_cancelled();
                self.finish_samples(label, revision, is_cancelled, job.into_result());
            }
        }
    }

    fn finish_opening(
        &mut self,
        request: OpenRequest,
        revision: u64,
        result: Result<Result<OpenedModel, OpenError>, JobError>,
    ) {
        let is_opened = matches!(
            &result,
            Ok(Ok(_) | Err(OpenError::Project(ProjectError::SourceMissing { .. })))
        );
        if let Some(autosave) = request.autosave().filter(|_| !is_opened) {
            self.release_autosave(autosave);
        }
        match result {
            Err(error @ JobError::Failed) => self.notify_error(error.to_string()),
            // Edits made during loading need a confirmation before they are replaced.
            Ok(Ok(opened)) if revision != self.history.revision() && self.history.is_modified() => {
                self.opened = Some((request, opened));
            }
            Ok(Ok(opened)) => self.show_opened(request, opened),
            Err(JobError::Cancelled) | Ok(Err(OpenError::Cancelled(_))) => {
                self.notify(format!("Opening {} was cancelled.", request.name()));
            }
            Ok(Err(OpenError::Project(ProjectError::SourceMissing { path, .. }))) => {
                self.notify_error(format!(
                    "The project's model \"{}\" is missing. Choose its new location.",
                    path.display()
                ));
                let is_autosave = matches!(request, OpenRequest::Autosave(_));
                if let OpenRequest::Path(project) | OpenRequest::Autosave(project) = request {
                    self.relink = Some(Relink {
                        project,
                        missing: path,
                        is_autosave,
                    });
                }
            }
            Ok(Err(error)) => {
                self.notify_error(format!("Cannot open {}. {error}", request.name()));
                // A window opened with an unreadable file shows a sample instead of nothing.
                if self.model_serial == 0 && !matches!(request, OpenRequest::Sample(_)) {
                    self.open(OpenRequest::Sample("arm".into()));
                }
            }
        }
    }

    fn show_opened(&mut self, request: OpenRequest, opened: OpenedModel) {
        let mut project = opened.project;
        if opened.source_changed {
            // The next save would lose what no longer matches.
            project = None;
            self.notify(
                "The model changed since the project was saved. Everything that still matches was kept (see \
                 Problems). Saving will ask for a file name.",
            );
        }
        let n_problems = opened
            .findings
            .iter()
            .filter(|f| f.severity > Severity::Info)
            .count();
        if n_problems > 0 && !opened.source_changed {
            self.notify(format!(
                "{} has {}. Open Problems to see them.",
                request.name(),
                counted(n_problems, "problem")
            ));
        }
        let is_from_project = opened.is_project;
        self.set_document(opened.document, opened.findings, project);
        self.stamps = opened.stamps;
        // A project restores its own view; a model is framed, and so is a project that the command line made.
        let has_view = self.document.session().camera != Camera::default();
        self.frame_when_shown = !is_from_project || !has_view;
        match request {
            OpenRequest::Autosave(path)
            | OpenRequest::Relink {
                project: path,
                is_autosave: true,
                ..
            } => {
                self.history.mark_unsaved();
                self.autosave.start_document(Some(path));
            }
            OpenRequest::Relink { .. } => self.history.mark_unsaved(),
            OpenRequest::Path(_) | OpenRequest::Sample(_) => {}
        }
    }

    /// The name of a model that is ready but would replace edits made during loading.
    pub fn waiting_model(&self) -> Option<String> {
        self.opened.as_ref().map(|(request, _)| request.name())
    }

    /// Shows the waiting model in place of the current one.
    pub fn show_waiting_model(&mut self) {
        if let Some((request, opened)) = self.opened.take() {
            self.show_opened(request, opened);
        }
    }

    /// Discards the waiting model; the current one stays open.
    pub fn give_up_waiting_model(&mut self) {
        let request = self.opened.take().map(|(request, _)| request);
        if let Some(autosave) = request.as_ref().and_then(OpenRequest::autosave) {
            self.release_autosave(autosave);
        }
    }

    /// The project whose model is missing, until something else is opened.
    pub fn relink(&self) -> Option<&Relink> {
        self.relink.as_ref()
    }

    /// Drops the project whose model is missing.
    pub fn give_up_relink(&mut self) {
        let relink = self.relink.take();
        if let Some(autosave) = relink.filter(|relink| relink.is_autosave) {
            self.release_autosave(&autosave.project);
        }
    }
}

/// A project whose model is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relink {
    /// The project.
    pub project: PathBuf,
    /// The expected path of its model.
    pub missing: PathBuf,
    /// Whether `project` is an autosave.
    pub is_autosave: bool,
}

pub(super) fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}
