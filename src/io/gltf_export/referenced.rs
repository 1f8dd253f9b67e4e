//! The files that a model refers to.

use super::format::GltfFormat;
use super::json::each;
use super::report::ExportReport;
use super::{external, package};
use crate::document::{Document, Source};
use crate::finding::Finding;
use bytes::Bytes;
use std::collections::BTreeSet;
use std::path::Path;

/// Adds the source's own files that the exported model still refers to.
pub(super) fn add_referenced(
    source: &Source,
    json: &serde_json::Value,
    files: &mut Vec<(String, Bytes)>,
    report: &mut ExportReport,
) {
    for uri in external::uris(json) {
        let buffer = each(json, "buffers")
            .position(|b| b.get("uri").and_then(serde_json::Value::as_str) == Some(uri));
        let name = external::relative(uri);
        if name
            .as_ref()
            .is_some_and(|name| files.iter().any(|(n, _)| n == name))
        {
            continue;
        }
        // Import read the buffers; pictures and the like are read now.
        let same = |&i: &usize| {
            each(&source.json, "buffers")
                .nth(i)
                .and_then(|b| b.get("uri"))
                .and_then(serde_json::Value::as_str)
                == Some(uri)
        };
        let kept = buffer.filter(same).and_then(|i| source.buffers.get(i));
        let kept = kept.filter(|bytes| !bytes.is_empty());
        let bytes = name.as_ref().and_then(|name| {
            let there = external::read(package::folder_of(source), name);
            match (there, kept) {
                // What was imported is what the model means, even if the file changed since; import leaves out what
                // lies beyond the buffer's length.
                (Some(there), Some(kept)) if !there.starts_with(kept) => Some(kept.clone()),
                (there, kept) => there.or_else(|| kept.cloned()),
            }
        });
        match (name, bytes) {
            (Some(name), Some(bytes)) => files.push((name, bytes)),
            _ => report.findings.push(Finding::warning(
                format!("\"{uri}\""),
                "The model refers to this file, which could not be copied beside it.",
            )),
        }
    }
}

/// Bytes of the source and of the files that it refers to.
pub fn size_of_source(source: &Source) -> usize {
    let mut files = vec![(String::new(), source.bytes.clone())];
    let json = &source.json;
    add_referenced(source, json, &mut files, &mut ExportReport::default());
    files.iter().map(|(_, bytes)| bytes.len()).sum()
}

/// Whether `target` lies in the folder of the source or below, where its own files are.
pub fn is_beside_source(document: &Document, target: &Path) -> bool {
    let folder = document
        .source()
        .and_then(|source| package::folder_of(source));
    // The folder of a bare name is empty, which the system does not resolve.
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

/// The files that the text model at `path`, if there is one, refers to: they are replaced with it.
pub fn files_of_model(path: &Path) -> BTreeSet<String> {
    let json = (GltfFormat::of_path(path) == Some(GltfFormat::Gltf))
        .then(|| std::fs::read(path).ok())
        .flatten()
        .and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok())
        .unwrap_or_default();
    external::uris(&json)
        .into_iter()
        .filter_map(external::relative)
        .collect()
}
