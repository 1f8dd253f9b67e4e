//! Why a recording cannot be read.

use crate::motion::fault::{Fault, Place};
use crate::task::Cancelled;
use std::path::{Path, PathBuf};

/// The largest file that is read: 256 MiB.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// Why a file of channels cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ChannelFileError {
    /// It was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is larger than [`MAX_FILE_BYTES`].
    #[error("{} is larger than {} MiB: record fewer channels, or split it", path.display(), MAX_FILE_BYTES >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The text is not valid.
    #[error("{}{fault}", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// What and where.
        fault: Place,
    },
}

impl ChannelFileError {
    /// The error of the file with this text.
    pub(super) fn of(path: &Path, fault: Fault) -> Self {
        match fault {
            Fault::Cancelled => Cancelled.into(),
            Fault::Text(fault) => Self::Text {
                path: path.to_owned(),
                fault,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_file_and_the_place() {
        let fault = Fault::cell(3, 1, "\"up\" is not a number");
        assert_eq!(
            ChannelFileError::of(Path::new("a.csv"), fault).to_string(),
            "a.csv, line 3, column 2: \"up\" is not a number"
        );
        let whole = Fault::whole("the file is empty");
        assert_eq!(
            ChannelFileError::of(Path::new("a.csv"), whole).to_string(),
            "a.csv: the file is empty"
        );
    }
}
