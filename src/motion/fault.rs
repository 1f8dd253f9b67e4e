//! What is wrong with the text of a recording or a motion.

use crate::sentence::shortened;
use crate::task::Cancelled;
use std::fmt;

/// Why a text cannot be read.
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
    pub(crate) fn whole(what: impl Into<String>) -> Self {
        Self::Text(Place {
            line: None,
            column: None,
            what: shortened(&what.into()).into_owned(),
        })
    }

    /// One about a line.
    pub(crate) fn line(line: usize, what: impl Into<String>) -> Self {
        Self::Text(Place {
            line: Some(line),
            column: None,
            what: shortened(&what.into()).into_owned(),
        })
    }

    /// One about a cell; `column` counts from 0.
    pub(crate) fn cell(line: usize, column: usize, what: impl Into<String>) -> Self {
        Self::Text(Place {
            line: Some(line),
            column: Some(column + 1),
            what: shortened(&what.into()).into_owned(),
        })
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

impl std::error::Error for Fault {}

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
    fn a_fault_names_its_place() {
        let fault = Fault::cell(3, 1, "\"up\" is not a number");
        assert_eq!(
            fault.to_string(),
            "line 3, column 2: \"up\" is not a number"
        );
        let whole = Fault::whole("the file is empty");
        assert_eq!(whole.to_string(), "the file is empty");
    }
}
