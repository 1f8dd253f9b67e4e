//! Why a project cannot be saved or opened, in sentences for artists.

use super::v4::VERSION;
use crate::io::atomic::{WriteError, reason};
use crate::task::Cancelled;
use std::io;
use std::path::{Path, PathBuf};

/// Why a project cannot be saved or opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectError {
    /// Somebody stopped the work.
    #[error("The work was cancelled.")]
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
        /// What it is: "skinning method", "field".
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
    /// An encoded part of the file does not decode.
    #[error("The project file is damaged in {place}: {why}.")]
    Damaged {
        /// Where: `weights of mesh 0 "Body"`.
        place: String,
        /// What is wrong.
        why: String,
    },
    /// The model that the project edits is not where the project says.
    #[error("The project's model \"{}\" is missing; choose where it is now.", path.display())]
    SourceMissing {
        /// Where it should be.
        path: PathBuf,
        /// The model's name.
        name: String,
        /// Its fingerprint, 16 hex digits: to tell whether another file is the same model.
        fingerprint: String,
    },
    /// The model is there but cannot be loaded.
    #[error("The project's model \"{model}\" cannot be opened. {why}")]
    Model {
        /// Its path or the sample's name.
        model: String,
        /// The importer's sentence, with its full stop.
        why: String,
    },
    /// The document came from nowhere a project could refer to.
    #[error("The model has no file of its own yet; export it once, then save the project.")]
    NoSource,
    /// It would replace a file that it is made from.
    #[error(transparent)]
    Output(WriteError),
    /// The operating system names no folder for autosaves.
    #[error("There is no folder for autosaves; set SINEW_STATE_DIR to one.")]
    NoStateFolder,
}

impl ProjectError {
    /// The sentence for a write that failed.
    pub(super) fn write(path: &Path, error: &io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            what: format!("cannot be saved: {}", reason(error)),
        }
    }

    /// The sentence for a read that failed.
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
