//! Weights from and to files: other models and weights files.

use super::{Editor, OperationKind, Scope, ScopePoints};
use crate::document::transfer_source::transfer_source;
use crate::editor::files::file_name;
use crate::editor::jobs::EditorJob;
use crate::evaluate::{JobError, JobHandle};
use crate::io::open_any;
use crate::io::weights_file::{read_weights, write_weights};
use crate::task::Task;
use crate::weights::file::WeightsFile;
use crate::weights::operation::{Import, Operation};
use crate::weights::transfer::{Transfer, TransferSource};
use std::path::Path;
use std::sync::Arc;

/// A file that is being written, or read before its operation begins.
pub enum SourceJob {
    /// Reads a model to transfer weights from.
    Transfer(JobHandle<Result<TransferSource, String>>),
    /// Reads a weights file.
    Import(JobHandle<Result<WeightsFile, String>>),
    /// Writes a weights file.
    Export(JobHandle<Result<String, String>>),
}

impl SourceJob {
    /// The progress, which can cancel the job.
    pub fn task(&self) -> &Task {
        match self {
            Self::Transfer(job) => job.task(),
            Self::Import(job) => job.task(),
            Self::Export(job) => job.task(),
        }
    }

    fn has_ended(&self) -> bool {
        match self {
            Self::Transfer(job) => job.has_ended(),
            Self::Import(job) => job.has_ended(),
            Self::Export(job) => job.has_ended(),
        }
    }
}

impl Editor {
    /// Reads another model and transfers its weights.
    pub fn transfer_from(&mut self, path: &Path) {
        let theirs = path.to_owned();
        let label = format!("Reading {}", file_name(path));
        let job = self
            .lane
            .submit(EditorJob::ReadWeights, &label, move |task| {
                let opened = open_any(&theirs, task).map_err(|e| e.to_string())?;
                transfer_source(&opened.document, &file_name(&theirs))
            });
        self.start_source(SourceJob::Transfer(job));
    }

    /// Reads a weights file and imports its rows.
    pub fn import_weights(&mut self, path: &Path) {
        let theirs = path.to_owned();
        let label = format!("Reading {}", file_name(path));
        let job = self
            .lane
            .submit(EditorJob::ReadWeights, &label, move |task| {
                read_weights(&theirs, task).map_err(|e| e.to_string())
            });
        self.start_source(SourceJob::Import(job));
    }

    /// Writes the weights of every skinned object to a weights file.
    pub fn export_weights(&mut self, path: &Path) {
        self.finish_tool();
        let (theirs, document) = (path.to_owned(), self.document.clone());
        let mut outputs = self.outputs();
        let label = format!("Writing {}", file_name(path));
        let job = self
            .lane
            .submit(EditorJob::WriteWeights, &label, move |task| {
                let output = outputs.claim(&theirs).map_err(|e| e.to_string())?;
                write_weights(&document, output, task)
                    .map(|()| format!("Exported {}.", file_name(&theirs)))
                    .map_err(|e| e.to_string())
            });
        self.start_source(SourceJob::Export(job));
    }

    fn start_source(&mut self, job: SourceJob) {
        if let Some(earlier) = self.operations.source.replace(job) {
            earlier.task().cancel();
        }
    }

    /// Takes a file that has been read or written.
    pub(in crate::editor) fn take_weights_file(&mut self) {
        let Some(source) = self.operations.source.take_if(|job| job.has_ended()) else {
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
            SourceJob::Transfer(job) => {
                if let Some(source) = self.source_of(job) {
                    let operation = Operation::Transfer(Transfer::new(Arc::new(source)));
                    self.begin_operation_with(OperationKind::Transfer, operation, scope);
                }
            }
            SourceJob::Import(job) => {
                if let Some(file) = self.source_of(job) {
                    let import = Import {
                        file: Arc::new(file),
                        replace: true,
                    };
                    let operation = Operation::Import(import);
                    self.begin_operation_with(OperationKind::Import, operation, scope);
                }
            }
            SourceJob::Export(job) => {
                if let Some(text) = self.source_of(job) {
                    self.notify(text);
                }
            }
        }
    }

    /// The result of a job that has ended; otherwise notifies why there is none.
    fn source_of<T>(&mut self, job: JobHandle<Result<T, String>>) -> Option<T> {
        let is_cancelled = job.task().is_cancelled();
        let label = job.label().to_owned();
        match job.into_result() {
            Ok(Ok(value)) => return Some(value),
            Ok(Err(_)) | Err(JobError::Cancelled) if is_cancelled => {
                self.notify(format!("{label} was cancelled."));
            }
            Ok(Err(why)) => self.notify_error(why),
            Err(error) => self.notify_error(error.to_string()),
        }
        None
    }
}
