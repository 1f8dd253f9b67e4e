//! The file a document was imported from, kept so that export can write unchanged what Sinew did not edit.

use bytes::Bytes;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The container of the source.
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
    /// The path; `None` for a model made in memory.
    pub path: Option<PathBuf>,
    /// The name of the built-in sample, if it is one ("arm").
    pub sample: Option<String>,
    /// xxh3-64 of `bytes` followed by each external buffer's bytes.
    pub fingerprint: u64,
    /// Its container.
    pub kind: SourceKind,
    /// The file, byte for byte.
    pub bytes: Bytes,
    /// Its JSON; keys in the file's order.
    pub json: serde_json::Value,
    /// The bytes of each glTF buffer; empty where one could not be read. A GLB's own buffer shares `bytes`.
    pub buffers: Vec<Bytes>,
    /// The URIs of buffers and images, as in the file, that lead out of the folder of the model. An export includes
    /// their content only if that is chosen.
    pub outside: BTreeSet<String>,
}
