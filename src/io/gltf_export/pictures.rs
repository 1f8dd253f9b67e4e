//! Images of the source as separate files.

use super::external;
use super::json::{each, index};
use super::package::{folder_of, mime_type};
use crate::document::{Document, Source};
use bytes::Bytes;
use serde_json::Value;

/// An image of the source: its file name, based on `stem` if it has none, and its bytes. `None` if it cannot be read.
pub(in crate::io) fn picture_of(
    document: &Document,
    image: usize,
    stem: &str,
) -> Option<(String, Bytes)> {
    let source = document.source()?;
    let entry = each(&source.json, "images").nth(image)?;
    let uri = entry.get("uri").and_then(Value::as_str);
    if let Some(name) = uri
        .filter(|uri| !external::is_data(uri) && !source.outside.contains(*uri))
        .and_then(external::relative)
    {
        let bytes = external::read(folder_of(source), &name)?;
        return Some((name, bytes));
    }
    let bytes = match uri {
        Some(uri) => Bytes::from(external::data(uri)?),
        None => view(source, index(entry.get("bufferView"))?)?,
    };
    let ending = match mime_type(&bytes)? {
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        "image/ktx2" => "ktx2",
        _ => "png",
    };
    Some((format!("{stem}_{image}.{ending}"), bytes))
}

/// The bytes of a buffer view.
fn view(source: &Source, view: usize) -> Option<Bytes> {
    let entry = each(&source.json, "bufferViews").nth(view)?;
    let buffer = source.buffers.get(index(entry.get("buffer"))?)?;
    let start = index(entry.get("byteOffset")).unwrap_or(0);
    let end = start.checked_add(index(entry.get("byteLength"))?)?;
    (end <= buffer.len()).then(|| buffer.slice(start..end))
}
