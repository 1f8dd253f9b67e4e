//! The destination of an export, and the files written.

use super::external;
use super::format::GltfFormat;
use super::report::ExportReport;
use crate::document::{Document, Source};
use bytes::Bytes;
use std::path::Path;

/// The format and names of the files to write.
pub struct Destination<'a> {
    /// The glTF format.
    pub format: GltfFormat,
    /// The base name of the files, without extension.
    pub name: String,
    /// Whether a new file beside the model may use a name.
    pub is_free: &'a dyn Fn(&str) -> bool,
    /// Includes files from outside of the source's folder.
    pub include_outside: bool,
    /// Compresses buffer views, which requires `EXT_meshopt_compression` of players.
    pub meshopt: bool,
}

/// Files in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Names, relative to the model's folder with `/` between folders, and contents; the model itself comes first.
    pub files: Vec<(String, Bytes)>,
    /// The report: what was rewritten, and what differs from the document.
    pub report: ExportReport,
}

impl<'a> Destination<'a> {
    /// Files of `format` with the base name `name`, or that of the source if it is empty.
    pub fn new(
        document: &Document,
        format: GltfFormat,
        name: &str,
        is_free: &'a dyn Fn(&str) -> bool,
    ) -> Self {
        let name = match document.source() {
            Some(source) if name.is_empty() => name_of(source),
            _ => name.to_owned(),
        };
        Self {
            format,
            name,
            is_free,
            include_outside: false,
            meshopt: false,
        }
    }

    /// The same, with files from outside of the source's folder if `include` is true.
    #[must_use]
    pub fn including_outside(self, include: bool) -> Self {
        Self {
            include_outside: include,
            ..self
        }
    }

    /// The same, with compressed buffer views if `meshopt` is true.
    #[must_use]
    pub fn compressed(self, meshopt: bool) -> Self {
        Self { meshopt, ..self }
    }

    /// Whether a copy of `source` has the format of the files and names its own files in a way that players read.
    pub fn can_copy(&self, source: &Source) -> bool {
        !self.meshopt && self.format.is_of(source.kind) && external::is_tidy(&source.json)
    }
}

fn name_of(source: &Source) -> String {
    let stem = source.path.as_deref().and_then(Path::file_stem);
    let stem = stem.map(|stem| stem.to_string_lossy().into_owned());
    let candidates = [stem, source.sample.clone()];
    let mut candidates = candidates.into_iter().flatten();
    let named = candidates.find(|name| !name.is_empty());
    named.unwrap_or_else(|| "model".to_owned())
}
