//! The file a document was imported from, kept so that export can write unchanged what Sinew did not edit.

use super::repairs::Repairs;
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
    /// xxh3-64 of `bytes` followed by each external buffer's bytes; of `converted_from` alone where there is one.
    pub fingerprint: u64,
    /// Its container.
    pub kind: SourceKind,
    /// The file, byte for byte; where it was converted, the glTF file that was made of it.
    pub bytes: Bytes,
    /// The file that `bytes` was made of, such as an OBJ; `None` for a glTF file.
    pub converted_from: Option<Bytes>,
    /// Its JSON; keys in the file's order.
    pub json: serde_json::Value,
    /// The bytes of each glTF buffer; empty where one could not be read. A GLB's own buffer shares `bytes`.
    pub buffers: Vec<Bytes>,
    /// The URIs of buffers and images, as in the file, that lead out of the folder of the model. An export includes
    /// their content only if that is chosen.
    pub outside: BTreeSet<String>,
    /// What was repaired on reading.
    pub repairs: Repairs,
}

impl Source {
    /// The bytes of the file at `path`.
    pub fn file_bytes(&self) -> &Bytes {
        self.converted_from.as_ref().unwrap_or(&self.bytes)
    }
}
