//! The file a document came from, kept so that export can hand back what Sinew did not touch.

use bytes::Bytes;
use std::path::PathBuf;

/// Which container the source had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// JSON text with external or embedded buffers.
    Gltf,
    /// Binary container.
    Glb,
}

/// The source file as read.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it was read from; `None` for a model made in memory.
    pub path: Option<PathBuf>,
    /// Name of the built-in sample it is, if it is one ("arm").
    pub sample: Option<String>,
    /// xxh3-64 of `bytes` followed by each external buffer's bytes.
    pub fingerprint: u64,
    /// Its container.
    pub kind: SourceKind,
    /// The file verbatim.
    pub bytes: Bytes,
    /// Its JSON, keys in their order.
    pub json: serde_json::Value,
    /// The bytes of each glTF buffer; empty where one could not be read. A GLB's own buffer shares `bytes`.
    pub buffers: Vec<Bytes>,
}
