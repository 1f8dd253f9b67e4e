//! Weights from and to files: another model to take them from, weights files.

use super::{Editor, OperationKind, Scope, ScopePoints};
use crate::document::transfer_source::transfer_source;
use crate::evaluate::{Job, JobError};
use crate::io::open_any;
use crate::io::weights_file::{read_weights, write_weights};
use crate::task::Task;
use crate::weights::file::WeightsFile;
use crate::weights::operation::{Import, Operation};
use crate::weights::transfer::{Transfer, TransferSource};
use std::path::Path;
use std::sync::Arc;

/// A file that is read before its operation can begin, or written.
pub enum SourceJob {
    /// A model to take weights from.
    Transfer(Job<Result<TransferSource, String>>),
    /// A weights file to read.
    Import(Job<Result<WeightsFile, String>>),
    /// A weights file that is written.
    Export(Job<Result<String, String>>),
}

impl SourceJob {
    /// What the artist reads in the status bar.
    pub fn label(&self) -> &str {
        match self {
            Self::Transfer(job) => &job.label,
            Self::Import(job) => &job.label,
            Self::Export(job) => &job.label,
        }
    }

    /// Its progress; cancel it here.
    pub fn task(&self) -> &Task {
        match self {
            Self::Transfer(job) => &job.task,
            Self::Import(job) => &job.task,
            Self::Export(job) => &job.task,
        }
    }
}

impl Editor {
    /// Reads another model, whose weights are then transferred.
    pub fn transfer_from(&mut self, path: &Path) {
        let theirs = path.to_owned();
        let label = format!("Reading {}", name_of(path));
        let job = self.operations.lane.submit(&label, move |task| {
            let opened = open_any(&theirs, task).map_err(|e| e.to_string())?;
            transfer_source(&opened.document, &name_of(&theirs))
        });
        self.start_source(SourceJob::Transfer(job));
    }

    /// Reads a weights file, whose rows are then taken.
    pub fn import_weights(&mut self, path: &Path) {
        let theirs = path.to_owned();
        let label = format!("Reading {}", name_of(path));
        let job = self.operations.lane.submit(&label, move |task| {
            read_weights(&theirs, task).map_err(|e| e.to_string())
        });
        self.start_source(SourceJob::Import(job));
    }

    /// Writes the weights of every skinned object to a weights file.
    pub fn export_weights(&mut self, path: &Path) {
        self.finish_tool();
        let (theirs, document) = (path.to_owned(), self.document.clone());
        let mut outputs = self.outputs();
        let label = format!("Writing {}", name_of(path));
        let job = self.operations.lane.submit(&label, move |task| {
            let output = outputs.claim(&theirs).map_err(|e| e.to_string())?;
            write_weights(&document, output, task)
                .map(|()| format!("Wrote {}.", name_of(&theirs)))
                .map_err(|e| e.to_string())
        });
        self.start_source(SourceJob::Export(job));
    }

    fn start_source(&mut self, job: SourceJob) {
        if let Some(earlier) = self.operations.source.replace(job) {
            earlier.task().cancel();
        }
    }

    pub(super) fn poll_source(&mut self) {
        // What was read begins a step of its own: it waits for the one under way.
        if self.history.is_open() || self.is_painting() || self.is_posing() {
            return;
        }
        let Some(source) = self.operations.source.take() else {
            return;
        };
        let scope = Scope {
            points: if self.document.session().selected_points.is_empty() {
                ScopePoints::All
            } else {
                ScopePoints::Selected
            },
            ..Scope::default()
        };
        match source {
            SourceJob::Transfer(job) => match job.try_result() {
                Err(JobError::NotReady) => self.operations.source = Some(SourceJob::Transfer(job)),
                Err(error) => self.say_error(error.to_string()),
                Ok(Err(why)) => self.say_source(&job, why),
                Ok(Ok(source)) => {
                    let operation = Operation::Transfer(Transfer::new(Arc::new(source)));
                    self.begin_operation_with(OperationKind::Transfer, operation, scope);
                }
            },
            SourceJob::Import(job) => match job.try_result() {
                Err(JobError::NotReady) => self.operations.source = Some(SourceJob::Import(job)),
                Err(error) => self.say_error(error.to_string()),
                Ok(Err(why)) => self.say_source(&job, why),
                Ok(Ok(file)) => {
                    let import = Import {
                        file: Arc::new(file),
                        replace: true,
                    };
                    let operation = Operation::Import(import);
                    self.begin_operation_with(OperationKind::Import, operation, scope);
                }
            },
            SourceJob::Export(job) => match job.try_result() {
                Err(JobError::NotReady) => self.operations.source = Some(SourceJob::Export(job)),
                Err(error) => self.say_error(error.to_string()),
                Ok(Err(why)) => self.say_source(&job, why),
                Ok(Ok(text)) => self.say(text),
            },
        }
    }

    fn say_source<T>(&mut self, job: &Job<T>, why: String) {
        if job.task.is_cancelled() {
            self.say(format!("{} was cancelled.", job.label));
        } else {
            self.say_error(why);
        }
    }
}

fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
