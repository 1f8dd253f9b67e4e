//! The container: the buffer that receives new bytes, the storage of each buffer, and the resulting files.

use super::allocator::{Allocator, Policy};
use super::compress::compress;
use super::destination::Destination;
use super::error::GltfWriteError;
use super::format::GltfFormat;
use super::glb::{Chunks, glb};
use super::joints::patch_joints;
use super::json::{MESHOPT, each, entry_mut, index};
use super::nodes::patch_names;
use super::patch::{Patch, Patched};
use super::report::ExportReport;
use super::slots::FileSlots;
use super::{external, mesh_copies, text};
use crate::document::{Document, Source, SourceKind};
use crate::finding::Finding;
use crate::io::gltf_json::{value, view};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// The storage of the buffer that receives new bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Store {
    /// The BIN chunk.
    Bin,
    /// A file beside the model.
    File(String),
    /// A `data:` URI in the JSON.
    DataUri,
}

/// A file in preparation: the source in the new container, and the buffer for new bytes.
pub(super) struct Package {
    json: Value,
    /// The index of the buffer that receives new bytes; one past the last if it does not exist yet.
    buffer: usize,
    /// The content of that buffer.
    bytes: Bytes,
    store: Store,
    format: GltfFormat,
    name: String,
    source_text: String,
    /// Chunks of a .glb that are neither JSON nor BIN, with their headers.
    more_chunks: Vec<Bytes>,
}

impl Package {
    /// The source in the format of the destination. New files beside it get free names.
    pub(super) fn new(
        source: &Source,
        destination: &Destination<'_>,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let &Destination {
            format,
            ref name,
            is_free,
            include_outside,
            ..
        } = destination;
        let chunks = Chunks::of(source);
        let mut json = source.json.clone();
        external::tidy(&mut json);
        let mut package = Self {
            json,
            buffer: each(&source.json, "buffers").count(),
            bytes: Bytes::new(),
            store: Store::DataUri,
            format,
            name: name.clone(),
            source_text: chunks.text,
            more_chunks: if format == GltfFormat::Glb {
                chunks.more
            } else {
                Vec::new()
            },
        };
        let first = each(&source.json, "buffers").next();
        let has_bin = source.kind == SourceKind::Glb
            && first.is_some_and(|b| b.get("uri").is_none())
            && source.buffers.first().is_some_and(|b| !b.is_empty());
        if has_bin {
            package.buffer = 0;
            package.bytes = source.buffers[0].clone();
        }
        match format {
            GltfFormat::Glb if has_bin || package.buffer == 0 => package.store = Store::Bin,
            GltfFormat::Glb => package.merge(source, include_outside, findings),
            GltfFormat::Gltf => {
                let embedded = |b: &Value| {
                    b.get("uri")
                        .and_then(Value::as_str)
                        .is_some_and(external::is_data)
                };
                let all_embedded = each(&source.json, "buffers").all(embedded);
                if !all_embedded || has_bin {
                    package.store = Store::File(package.free_name(is_free));
                }
            }
        }
        package
    }

    /// The source with the document's joints and names, for a file that will have no skins, and its JSON to patch.
    pub(super) fn without_skins(
        document: &Document,
        source: &Source,
        destination: &Destination<'_>,
        report: &mut ExportReport,
    ) -> Result<(Self, Patch), GltfWriteError> {
        let mut package = Self::new(source, destination, &mut report.findings);
        package.copy_meshes(document, &mut report.findings)?;
        let mut patch = package.patch(Policy::Compact);
        patch_joints(
            document,
            (&FileSlots::new(document), &BTreeSet::new()),
            None,
            &mut patch,
            report,
        );
        patch_names(document, &mut patch.json);
        Ok((package, patch))
    }

    /// Adds the copies of meshes.
    pub(super) fn copy_meshes(
        &mut self,
        document: &Document,
        findings: &mut Vec<Finding>,
    ) -> Result<(), GltfWriteError> {
        mesh_copies::add(document, &mut self.json, findings)
    }

    /// The JSON to patch; `policy`: the handling of unreferenced bytes.
    pub(super) fn patch(&mut self, policy: Policy) -> Patch {
        let json = std::mem::take(&mut self.json);
        let old = std::mem::take(&mut self.bytes);
        let allocator = Allocator::new(&json, self.buffer, old, policy);
        Patch::new(json, allocator)
    }

    /// "name.bin", or "name-1.bin" and so on if that is taken.
    fn free_name(&self, is_free: &dyn Fn(&str) -> bool) -> String {
        let named: Vec<_> = external::uris(&self.json)
            .into_iter()
            .filter_map(external::relative)
            .collect();
        let candidates = std::iter::once(format!("{}.bin", self.name))
            .chain((1..10_000).map(|i| format!("{}-{i}.bin", self.name)));
        let mut free =
            candidates.filter(|c| is_free(c) && !named.iter().any(|n| n.eq_ignore_ascii_case(c)));
        free.next()
            .unwrap_or_else(|| format!("{}-new.bin", self.name))
    }

    /// Merges all readable buffers, and the images beside the model, into one BIN chunk.
    fn merge(&mut self, source: &Source, include_outside: bool, findings: &mut Vec<Finding>) {
        let mut merged: Vec<u8> = Vec::new();
        let mut first: Option<Map<String, Value>> = None;
        let mut others = Vec::new();
        // For each buffer: `Ok(offset)` in the merged one, or `Err(index)` among the others.
        let mut places: Vec<Result<usize, usize>> = Vec::new();
        for (i, buffer) in each(&self.json, "buffers").enumerate() {
            if let Some(bytes) = source.buffers.get(i).filter(|bytes| !bytes.is_empty()) {
                merged.resize(merged.len().next_multiple_of(4), 0);
                places.push(Ok(merged.len()));
                merged.extend_from_slice(bytes);
                first = first.or_else(|| buffer.as_object().cloned());
            } else {
                places.push(Err(others.len()));
                others.push(buffer.clone());
            }
        }
        let n_views = each(&self.json, "bufferViews").count();
        for i in 0..n_views {
            let Some(entry) = entry_mut(&mut self.json, "bufferViews", i) else {
                continue;
            };
            move_range(entry, &places);
            for name in MESHOPT {
                let extension = entry.get_mut("extensions").and_then(|e| e.get_mut(name));
                if let Some(extension) = extension.and_then(Value::as_object_mut) {
                    move_range(extension, &places);
                }
            }
        }
        self.embed_images(source, include_outside, &mut merged, findings);
        let mut first = first.unwrap_or_default();
        first.shift_remove("uri");
        first.insert("byteLength".into(), merged.len().into());
        let mut buffers = vec![Value::Object(first)];
        buffers.extend(others);
        if let Some(root) = self.json.as_object_mut() {
            root.insert("buffers".into(), buffers.into());
        }
        self.buffer = 0;
        self.bytes = Bytes::from(merged);
        self.store = Store::Bin;
    }

    /// Moves images with a URI into the BIN chunk if their format is known.
    fn embed_images(
        &mut self,
        source: &Source,
        include_outside: bool,
        merged: &mut Vec<u8>,
        findings: &mut Vec<Finding>,
    ) {
        let n_images = each(&self.json, "images").count();
        let mut n_views = each(&self.json, "bufferViews").count();
        for i in 0..n_images {
            let Some(image) = entry_mut(&mut self.json, "images", i) else {
                continue;
            };
            let Some(uri) = image.get("uri").and_then(Value::as_str) else {
                continue;
            };
            let bytes = if external::is_data(uri) {
                external::data(uri).map(Bytes::from)
            } else if source.outside.contains(uri) {
                include_outside
                    .then(|| external::read_any(folder_of(source), uri))
                    .flatten()
            } else {
                external::relative(uri).and_then(|name| external::read(folder_of(source), &name))
            };
            let is_left_out = !include_outside && source.outside.contains(uri);
            let Some((bytes, mime)) = bytes
                .and_then(|b| Some((mime_type(&b)?, b)))
                .map(|(m, b)| (b, m))
            else {
                findings.push(Finding::warning(
                    format!("images[{i}]"),
                    if is_left_out {
                        "Its file is outside the model's folder and stays a reference."
                    } else {
                        "It could not be read and stays a reference to a file beside the model."
                    },
                ));
                continue;
            };
            image.shift_remove("uri");
            image.insert("bufferView".into(), n_views.into());
            image.insert("mimeType".into(), mime.into());
            merged.resize(merged.len().next_multiple_of(4), 0);
            let view = value(&view(0, merged.len(), bytes.len(), None));
            merged.extend_from_slice(&bytes);
            n_views += 1;
            if let Some(root) = self.json.as_object_mut() {
                let views = root.entry("bufferViews").or_insert_with(|| json!([]));
                if let Some(views) = views.as_array_mut() {
                    views.push(view);
                }
            }
        }
    }

    /// The files, the model first, then the new files it needs beside it; and the model's JSON without their names.
    pub(super) fn finish(
        self,
        mut patched: Patched,
        meshopt: bool,
    ) -> Result<Packed, GltfWriteError> {
        if meshopt {
            compress(&mut patched, self.buffer);
        }
        Ok(Packed {
            json: patched.json.clone(),
            files: self.store(patched.json, &patched.bytes)?,
        })
    }

    fn store(self, mut json: Value, bytes: &Bytes) -> Result<Vec<(String, Bytes)>, GltfWriteError> {
        let mut files = Vec::new();
        if !bytes.is_empty() && self.store != Store::Bin {
            let uri = match &self.store {
                Store::File(name) => {
                    files.push((name.clone(), bytes.clone()));
                    external::uri_of(name)
                }
                _ => external::data_uri(bytes),
            };
            if let Some(buffer) = entry_mut(&mut json, "buffers", self.buffer) {
                buffer.insert("uri".into(), uri.into());
            }
        }
        let text = text::write_json(&json, &self.source_text);
        let main = match self.format {
            GltfFormat::Gltf => Bytes::from(text),
            GltfFormat::Glb => glb(&text, bytes, &self.more_chunks)?,
        };
        files.insert(0, (self.format.file_name(&self.name), main));
        Ok(files)
    }
}

/// New files.
pub(super) struct Packed {
    pub(super) files: Vec<(String, Bytes)>,
    pub(super) json: Value,
}

/// The folder that a source's URIs are relative to.
pub(super) fn folder_of(source: &Source) -> Option<&Path> {
    source.path.as_deref().and_then(Path::parent)
}

/// Updates `buffer` and `byteOffset` for merged buffers.
fn move_range(entry: &mut Map<String, Value>, places: &[Result<usize, usize>]) {
    match index(entry.get("buffer")).and_then(|b| places.get(b)) {
        Some(&Ok(offset)) => {
            entry.insert("buffer".into(), 0.into());
            if offset > 0 {
                let before = index(entry.get("byteOffset")).unwrap_or(0);
                entry.insert("byteOffset".into(), (before + offset).into());
            }
        }
        Some(&Err(other)) => {
            entry.insert("buffer".into(), (1 + other).into());
        }
        None => {}
    }
}

/// The MIME type of an image by its first bytes.
pub(super) fn mime_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        Some("image/png")
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        Some("image/jpeg")
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        Some("image/webp")
    } else if bytes.starts_with(b"\xabKTX 20\xbb") {
        Some("image/ktx2")
    } else {
        None
    }
}
