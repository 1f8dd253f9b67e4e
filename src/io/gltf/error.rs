//! Errors of an import, as sentences that an artist can act on.

use crate::finding::Finding;
use crate::task::Cancelled;
use std::path::PathBuf;

/// The reason that nothing was imported, displayed as one sentence that names the fault and its location.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The task was cancelled.
    #[error("The import was cancelled.")]
    Cancelled,
    /// The file could not be read from disk.
    #[error("The file {} could not be read: {}.", path.display(), reason(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The file has another format.
    #[error(
        "This is not a glTF file: it begins with {found}, but a .glb begins with the letters glTF and a .gltf with a brace."
    )]
    NotGltf {
        /// The format according to its first bytes, as text.
        found: String,
    },
    /// An unsupported version.
    #[error("The {place} is {version}, but only version 2 can be opened.")]
    Version {
        /// The location of the version.
        place: &'static str,
        /// The version in the file.
        version: String,
    },
    /// A line of an OBJ file is not valid.
    #[error("The OBJ file cannot be read at line {line}: {why}.")]
    Obj {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// An OBJ file without a face.
    #[error("The OBJ file has no faces, so there is nothing to rig.")]
    NoFaces,
    /// The binary container ends before its JSON chunk does.
    #[error("The file is truncated: {place} needs {needed} bytes, but only {present} are present.")]
    CutOff {
        /// The truncated part.
        place: &'static str,
        /// The bytes it needs.
        needed: u64,
        /// The bytes present.
        present: u64,
    },
    /// The binary container has no JSON chunk.
    #[error("The file has no JSON chunk, so it contains no model.")]
    NoJson,
    /// The JSON has a syntax error.
    #[error("The JSON cannot be read at line {line}, column {column}: {message}.")]
    Json {
        /// Starting at 1.
        line: usize,
        /// Starting at 1.
        column: usize,
        /// The message of the parser.
        message: String,
    },
    /// The JSON is nested too deeply.
    #[error(
        "The JSON is nested {limit} levels deep or more at byte {offset}, which no model requires."
    )]
    TooDeep {
        /// The largest nesting depth accepted.
        limit: usize,
        /// The byte offset in the JSON.
        offset: usize,
    },
    /// More memory is needed than a file of this size may use.
    #[error(
        "{place} would need {needed} bytes of memory, more than the {limit} allowed for a file of {file} bytes."
    )]
    TooLarge {
        /// The part that is too large.
        place: String,
        /// The bytes it needs.
        needed: u64,
        /// The bytes left.
        limit: u64,
        /// The size of the file and its buffers, bytes.
        file: u64,
    },
    /// Nothing in the model is usable; this is the first fault.
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

/// A fault in the file: its location in the file's own terms, and a sentence that describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The location, such as `accessors[3].bufferView`.
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

    /// The finding of this fault as an error; `consequence`: a sentence about how it was handled.
    pub(super) fn finding(&self, consequence: &str) -> Finding {
        Finding::error(&self.place, format!("{} {consequence}", self.message))
    }

    /// The finding of this fault as a warning.
    pub(super) fn warning(&self, consequence: &str) -> Finding {
        Finding::warning(&self.place, format!("{} {consequence}", self.message))
    }
}

/// The operating system's reason in lower case, without its error number.
pub(super) fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// A count with its noun: "1 vertex", "5 vertices".
pub(super) fn counted(n: usize, one: &str, many: &str) -> String {
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{n} {many}")
    }
}
