//! Why a model could not be loaded, in sentences an artist can act on.

use crate::finding::Finding;
use crate::task::Cancelled;
use std::path::PathBuf;

/// Why nothing could be imported. Each displays as one sentence that names the fault and its place.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The task was cancelled.
    #[error("The import was cancelled.")]
    Cancelled,
    /// The file could not be read from the disk.
    #[error("The file {} could not be read: {}.", path.display(), reason(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The bytes are of another format.
    #[error(
        "This is not a glTF file: it begins with {found}, but a .glb begins with the letters glTF and a .gltf with a brace."
    )]
    NotGltf {
        /// The format that its first bytes show, as text.
        found: String,
    },
    /// A version this program does not read.
    #[error("The {place} is {version}, but only version 2 can be opened.")]
    Version {
        /// The path of the version.
        place: &'static str,
        /// The version, as the file has it.
        version: String,
    },
    /// The binary container ends before its JSON does.
    #[error("The file is cut off: {place} needs {needed} bytes, but only {present} are there.")]
    CutOff {
        /// Which part.
        place: &'static str,
        /// Bytes it needs.
        needed: u64,
        /// Bytes there are.
        present: u64,
    },
    /// The binary container has chunks, but none of JSON.
    #[error("The file has no JSON chunk, so there is no model in it.")]
    NoJson,
    /// The JSON breaks its grammar.
    #[error("The JSON cannot be read at line {line}, column {column}: {message}.")]
    Json {
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// What the parser met.
        message: String,
    },
    /// Brackets within brackets within brackets.
    #[error("The JSON nests {limit} levels deep or more at byte {offset}, which no model needs.")]
    TooDeep {
        /// The deepest nesting that is read.
        limit: usize,
        /// Where in the JSON.
        offset: usize,
    },
    /// More memory than a file of this size may ask for.
    #[error(
        "{place} would need {needed} bytes of memory, more than the {limit} allowed for a file of {file} bytes."
    )]
    TooLarge {
        /// What is too large.
        place: String,
        /// Bytes it needs.
        needed: u64,
        /// Bytes left to it.
        limit: u64,
        /// Bytes of the file and its buffers.
        file: u64,
    },
    /// Nothing of the model is usable; the first fault is named.
    #[error("{}", .0.message)]
    Broken(Fault),
}

impl From<Cancelled> for ImportError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<Fault> for ImportError {
    fn from(fault: Fault) -> Self {
        Self::Broken(fault)
    }
}

/// One thing that is wrong with the file: its place in the file's own terms, and a sentence that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// For example `accessors[3].bufferView`.
    pub place: String,
    /// One sentence with a full stop.
    pub message: String,
}

impl Fault {
    pub(super) fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            message: message.into(),
        }
    }

    /// The finding of this fault; `consequence`: one more sentence about how it was handled.
    pub(super) fn finding(&self, consequence: &str) -> Finding {
        Finding::error(&self.place, format!("{} {consequence}", self.message))
    }

    /// The same, where little is lost.
    pub(super) fn warning(&self, consequence: &str) -> Finding {
        Finding::warning(&self.place, format!("{} {consequence}", self.message))
    }
}

/// The system's reason in lower case without its error number.
pub(super) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission was denied".to_owned(),
        _ => error.to_string(),
    }
}

/// "1 vertex", "5 vertices".
pub(super) fn counted(n: usize, one: &str, many: &str) -> String {
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{n} {many}")
    }
}
