//! Why a project cannot be saved or opened, as messages for the user.

use super::v11::VERSION;
use crate::io::atomic::{WriteError, reason};
use crate::task::Cancelled;
use std::io;
use std::path::{Path, PathBuf};

/// Why a project cannot be saved or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    /// The task was cancelled.
    #[error("The task was cancelled.")]
    Cancelled(#[from] Cancelled),
    /// The file system refused.
    #[error("\"{}\" {what}.", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The rest of the sentence: "cannot be saved: the disk is full".
        what: String,
    },
    /// A newer version of Sinew wrote the file.
    #[error(
        "The project was saved by a newer Sinew (its format is {found}, this one knows up to {VERSION}); update Sinew to open it."
    )]
    Newer {
        /// The version in the file.
        found: u32,
    },
    /// The text is not a project.
    #[error("The project file cannot be read at line {line}, column {column}: {message}.")]
    Parse {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// The file has a field or a value that its version of the format does not have.
    #[error(
        "The project uses the {what} \"{found}\"{} (line {line}, column {column}), which this version of Sinew does not know.",
        inside.as_ref().map_or_else(String::new, |inside| format!(" in its {inside}"))
    )]
    Unknown {
        /// The kind of name: "skinning method", "field".
        what: String,
        /// Its name in the file.
        found: String,
        /// The struct that has the field: "brush".
        inside: Option<String>,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
    },
    /// An encoded part of the file cannot be decoded.
    #[error("The project file is damaged in {place}: {why}.")]
    Damaged {
        /// Where: `weights of mesh 0 "Body"`.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The model of the project is not at the stored path.
    #[error("The project's model \"{}\" is missing; choose where it is now.", path.display())]
    SourceMissing {
        /// The stored path.
        path: PathBuf,
        /// The model's name.
        name: String,
        /// Its fingerprint, 16 hex digits: shows whether another file is the same model.
        fingerprint: String,
    },
    /// The model exists but cannot be loaded.
    #[error("The project's model \"{model}\" cannot be opened. {why}")]
    Model {
        /// Its path or the sample's name.
        model: String,
        /// The importer's message, with its full stop.
        why: String,
    },
    /// Something else wrote the project or its model since it was opened.
    #[error("\"{}\" changed on disk since you opened it, so nothing was saved.", path.display())]
    ChangedOnDisk {
        /// The project or the model.
        path: PathBuf,
        /// Whether it is the model.
        is_model: bool,
    },
    /// The document has no source that a project could refer to.
    #[error("The model has no file of its own yet; export it once, then save the project.")]
    NoSource,
    /// The file would overwrite one of its own inputs.
    #[error(transparent)]
    Output(WriteError),
    /// The operating system defines no folder for autosaves.
    #[error("There is no folder for autosaves; set SINEW_STATE_DIR to one.")]
    NoStateFolder,
}

impl ProjectError {
    /// The error of a failed write.
    pub(super) fn write(path: &Path, error: &io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            what: format!("cannot be saved: {}", reason(error)),
        }
    }

    /// The error of a failed read.
    pub(super) fn read(path: &Path, error: &io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            what: format!("cannot be read: {}", reason(error)),
        }
    }
}

impl From<WriteError> for ProjectError {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::Cancelled(cancelled) => cancelled.into(),
            WriteError::Refused { path, what } => Self::Io {
                path,
                what: format!("cannot be saved: {what}"),
            },
            error => Self::Output(error),
        }
    }
}
