//! What is wrong with a PLY file.

use crate::sentence::shortened;
use crate::task::Cancelled;
use std::fmt;

/// Why a PLY file cannot be read. As text: the end of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlyFault {
    /// It was cancelled.
    Cancelled,
    /// A line of its header, or of its text, is not valid; from 1.
    Line(usize, String),
    /// A row of its elements is not valid, or something about the whole file.
    Whole(String),
}

impl PlyFault {
    pub(super) fn line(line: usize, what: impl Into<String>) -> Self {
        Self::Line(line, shortened(&what.into()).into_owned())
    }

    pub(super) fn whole(what: impl Into<String>) -> Self {
        Self::Whole(shortened(&what.into()).into_owned())
    }
}

impl From<Cancelled> for PlyFault {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl fmt::Display for PlyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => Cancelled.fmt(f),
            Self::Line(line, what) => write!(f, "line {line}: {what}"),
            Self::Whole(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for PlyFault {}
