//! The files that a model references.

use super::error::GltfWriteError;
use super::format::GltfFormat;
use super::json::each;
use super::report::ExportReport;
use super::{external, package};
use crate::document::{Document, Source};
use crate::finding::Finding;
use crate::io::read::{MAX_MODEL_BYTES, read_file};
use bytes::Bytes;
use std::collections::BTreeSet;
use std::path::Path;

/// Adds the source's files that the exported model still references; those outside of the source's folder only with
/// `include_outside`. An error if one of them cannot be written: nothing may be written outside of the folder of the
/// export, and without it the model is not complete.
pub(super) fn add_referenced(
    source: &Source,
    json: &serde_json::Value,
    include_outside: bool,
    files: &mut Vec<(String, Bytes)>,
    report: &mut ExportReport,
) -> Result<(), GltfWriteError> {
    let folder = package::folder_of(source);
    let mut outside = None;
    for uri in external::uris(json) {
        let name = external::inside(uri);
        let is_there = |name: &String| files.iter().any(|(n, _)| n == name);
        if name.as_ref().is_some_and(is_there) {
            continue;
        }
        // Import read the buffers; images and other files are read now.
        let kept = buffer_of(json, uri).filter(|&i| {
            let own = each(&source.json, "buffers").nth(i).and_then(uri_in);
            own.is_some_and(|own| own == uri || name.is_some() && external::inside(own) == name)
        });
        let kept = kept.and_then(|i| source.buffers.get(i));
        let kept = kept.filter(|bytes| !bytes.is_empty());
        let is_left_out = !include_outside && source.outside.contains(uri);
        let copied = name.as_ref().filter(|_| !is_left_out);
        let bytes = copied.and_then(|name| {
            let there = external::read(folder, name);
            match (there, kept) {
                // The imported data applies even if the file changed since; import omits the bytes beyond the buffer's
                // length.
                (Some(there), Some(kept)) if !there.starts_with(kept) => Some(kept.clone()),
                (there, kept) => there.or_else(|| kept.cloned()),
            }
        });
        match (name, bytes) {
            (Some(name), Some(bytes)) => files.push((name, bytes)),
            _ if kept.is_some() || external::leads_out(uri, folder) => {
                outside.get_or_insert_with(|| uri.to_owned());
            }
            _ => report.findings.push(Finding::warning(
                format!("\"{uri}\""),
                if is_left_out {
                    "The model references this file outside its folder. It was not copied beside the export."
                } else {
                    "The model references this file. It could not be copied beside the export."
                },
            )),
        }
    }
    outside.map_or(Ok(()), |uri| Err(GltfWriteError::Outside { uri }))
}

/// The index of the buffer with a URI.
fn buffer_of(json: &serde_json::Value, uri: &str) -> Option<usize> {
    each(json, "buffers").position(|buffer| uri_in(buffer) == Some(uri))
}

fn uri_in(entry: &serde_json::Value) -> Option<&str> {
    entry.get("uri")?.as_str()
}

/// The size of the source and the files that it references, bytes.
pub fn size_of_source(source: &Source) -> usize {
    let mut files = vec![(String::new(), source.file_bytes().clone())];
    let json = &source.json;
    // What an export refuses to copy is not counted.
    let _ = add_referenced(source, json, true, &mut files, &mut ExportReport::default());
    files.iter().map(|(_, bytes)| bytes.len()).sum()
}

/// Whether `target` is in the folder of the source or below, where its own files are.
pub fn is_beside_source(document: &Document, target: &Path) -> bool {
    let folder = document
        .source()
        .and_then(|source| package::folder_of(source));
    // The folder of a bare file name is empty, which the system does not resolve.
    let folder = folder.map(|folder| {
        if folder.as_os_str().is_empty() {
            Path::new(".")
        } else {
            folder
        }
    });
    match (folder.map(Path::canonicalize), target.canonicalize()) {
        (Some(Ok(folder)), Ok(target)) => target.starts_with(folder),
        _ => false,
    }
}

/// Whether a URI is a file in the folder of the model or below, which an export copies beside it.
pub fn is_beside(uri: &str) -> bool {
    external::relative(uri).is_some()
}

/// The files that the .gltf file at `path`, if it exists, references: an export replaces them with it.
pub fn files_of_model(path: &Path) -> BTreeSet<String> {
    let json = (GltfFormat::of_path(path) == Some(GltfFormat::Gltf))
        .then(|| read_file(path, MAX_MODEL_BYTES).ok())
        .flatten()
        .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
        .unwrap_or_default();
    external::uris(&json)
        .into_iter()
        .filter_map(external::relative)
        .collect()
}
