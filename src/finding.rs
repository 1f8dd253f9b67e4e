//! A problem with its place, cause and fix: what import, checks and the Problems panel speak in.

use serde::{Deserialize, Serialize};

/// How bad a [`Finding`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing is lost.
    Info,
    /// Loaded or drawn differently from what the file says.
    Warning,
    /// Something the artist needs is missing or broken.
    Error,
}

impl Severity {
    /// The word shown beside the icon.
    pub fn label(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One problem: what, where and why, each in plain words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// Where, in the file's own terms: `meshes[0].primitives[1].attributes.WEIGHTS_0`, `joint "Hips"`.
    pub place: String,
    /// What is wrong and what was done about it: one sentence with a full stop.
    pub message: String,
}

impl Finding {
    /// A finding of severity `info`.
    pub fn info(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Info,
            place: place.into(),
            message: message.into(),
        }
    }

    /// A finding of severity `warning`.
    pub fn warning(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            place: place.into(),
            message: message.into(),
        }
    }

    /// A finding of severity `error`.
    pub fn error(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            place: place.into(),
            message: message.into(),
        }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: {}: {}",
            self.severity.label(),
            self.place,
            self.message
        )
    }
}
