//! Refuses to export models that cannot be exported, before the export starts.

use super::error::ExportError;
use super::options::ExportOptions;
use crate::document::{Document, SourceKind};
use crate::io::gltf_export::{GltfFormat, is_beside};
use serde_json::Value;

/// Refuses to carry the data of buffers outside of the source's folder into the files of an export, unless it is chosen.
/// Images can stay references, but without its buffers a model is none.
pub(super) fn refuse_outside(
    document: &Document,
    options: &ExportOptions,
) -> Result<(), ExportError> {
    let source = document.source().filter(|_| !options.include_outside);
    let is_packed = |uri: &str| options.format == GltfFormat::Glb || is_beside(uri);
    let buffers = source.and_then(|source| {
        let buffers = source.json.get("buffers")?.as_array()?.iter();
        let uris = buffers.filter_map(|buffer| buffer.get("uri")?.as_str());
        uris.into_iter()
            .find(|uri| source.outside.contains(*uri) && is_packed(uri))
    });
    match buffers {
        Some(uri) => Err(ExportError::Outside {
            uri: uri.to_owned(),
        }),
        None => Ok(()),
    }
}

/// Refuses to write a binary file that lacks the end of its data, as an interrupted download does: it opens with what is
/// left, but a program that reads its copy cannot know that something is missing.
pub(super) fn refuse_cut_short(document: &Document) -> Result<(), ExportError> {
    let source = document.source().filter(|s| s.kind == SourceKind::Glb);
    let missing = source.and_then(|source| {
        let buffer = source.json.get("buffers")?.get(0)?;
        let is_own = buffer.get("uri").is_none() && buffer.get("extensions").is_none();
        let wanted = buffer.get("byteLength")?.as_u64().filter(|_| is_own)?;
        let present = source.buffers.first()?.len();
        let number = |view: &Value, key: &str| view.get(key).and_then(Value::as_u64);
        let is_cut = |view: &Value| {
            let start = number(view, "byteOffset").unwrap_or(0);
            let end = start.saturating_add(number(view, "byteLength").unwrap_or(0));
            number(view, "buffer") == Some(0) && end > present as u64
        };
        // Where only padding is missing, nothing is lost.
        let views = source.json.get("bufferViews")?.as_array()?;
        let is_short = wanted > present as u64 && views.iter().any(is_cut);
        is_short.then_some(ExportError::CutShort { wanted, present })
    });
    missing.map_or(Ok(()), Err)
}
