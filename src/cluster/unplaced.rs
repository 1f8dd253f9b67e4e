//! Layers of clusters that the model has no place for.

use super::channel::RecordingId;
use std::sync::Arc;

/// A layer of a group that cannot act on the present model, as a project has it. It is saved again, for the day that its
/// bones and its vertices are back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnplacedLayer {
    /// Its name.
    pub name: String,
    /// The recording that it reads, which may be missing as well.
    pub recording: Option<RecordingId>,
    /// What the model lacks, a sentence.
    pub why: String,
    /// Its entry in the project.
    pub entry: Arc<str>,
}
