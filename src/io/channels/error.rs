//! Why a recording cannot be read.

use crate::task::Cancelled;
use std::fmt;
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

/// What is wrong with the text of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It was cancelled.
    Cancelled,
    /// Something is not valid.
    Text(Place),
}

/// A sentence about a place of a text. As text: ", line 3, column 2: ...", or ": ..." without a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line, from 1.
    pub line: Option<usize>,
    /// The column of the table, from 1; of a text that is not UTF-8, the character.
    pub column: Option<usize>,
    /// What is wrong.
    pub what: String,
}

impl Fault {
    /// One about the whole text.
    pub(super) fn whole(what: impl Into<String>) -> Self {
        Self::Text(Place {
            line: None,
            column: None,
            what: what.into(),
        })
    }

    /// One about a line.
    pub(super) fn line(line: usize, what: impl Into<String>) -> Self {
        Self::Text(Place {
            line: Some(line),
            column: None,
            what: what.into(),
        })
    }

    /// One about a cell; `column` counts from 0.
    pub(super) fn cell(line: usize, column: usize, what: impl Into<String>) -> Self {
        Self::Text(Place {
            line: Some(line),
            column: Some(column + 1),
            what: what.into(),
        })
    }

    /// The error of the file with this text.
    pub(super) fn of(self, path: &Path) -> ChannelFileError {
        match self {
            Self::Cancelled => Cancelled.into(),
            Self::Text(fault) => ChannelFileError::Text {
                path: path.to_owned(),
                fault,
            },
        }
    }
}

impl From<Cancelled> for Fault {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => Cancelled.fmt(f),
            Self::Text(place) => {
                let text = place.to_string();
                f.write_str(text.trim_start_matches([',', ':', ' ']))
            }
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {}", self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_its_place_with_and_without_a_file() {
        let fault = Fault::cell(3, 1, "\"up\" is not a number");
        assert_eq!(
            fault.to_string(),
            "line 3, column 2: \"up\" is not a number"
        );
        assert_eq!(
            fault.of(Path::new("a.csv")).to_string(),
            "a.csv, line 3, column 2: \"up\" is not a number"
        );
        let whole = Fault::whole("the file is empty");
        assert_eq!(whole.to_string(), "the file is empty");
        assert_eq!(
            whole.of(Path::new("a.csv")).to_string(),
            "a.csv: the file is empty"
        );
    }
}
