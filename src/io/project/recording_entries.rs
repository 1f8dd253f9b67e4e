//! Recordings as the project format has them.

use serde::{Deserialize, Serialize};

/// A recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordingEntry {
    /// The number that layers use.
    pub(super) recording: u32,
    pub(super) title: String,
    /// Relative to the folder of the project file, with `/` separators; absolute in an autosave.
    pub(super) path: String,
    /// xxh3-64 of the file, 16 hex digits.
    pub(super) fingerprint: String,
}
