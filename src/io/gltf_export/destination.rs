//! What a model is written as, and what comes of it.

use super::format::GltfFormat;
use super::report::ExportReport;
use crate::document::{Document, Source};
use bytes::Bytes;
use std::path::Path;

/// Format and names of the files to write.
pub struct Destination<'a> {
    /// The model's format.
    pub format: GltfFormat,
    /// The files' name without its ending.
    pub name: String,
    /// Whether a new file beside the model may take a name.
    pub is_free: &'a dyn Fn(&str) -> bool,
}

/// Files in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// Names, relative to the model's folder with `/` between folders, and contents; the model itself comes first.
    pub files: Vec<(String, Bytes)>,
    /// What was written anew, and what is not as in the document.
    pub report: ExportReport,
}

impl<'a> Destination<'a> {
    /// Files of `format` called `name`, or like the source where that is empty.
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
        }
    }

    /// Whether the files have the form of `source`.
    pub fn has_format_of(&self, source: &Source) -> bool {
        self.format.is_of(source.kind)
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
