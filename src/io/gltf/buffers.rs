//! Buffers and buffer views: from indices in the JSON to validated byte ranges.

use super::budget::Budget;
use super::container::Container;
use super::error::Fault;
use super::findings::Findings;
use super::json::{At, list_len};
use super::{meshopt, uri};
use crate::document::Source;
use crate::finding::Finding;
use bytes::Bytes;
use serde_json::Value;
use std::path::Path;
use std::sync::OnceLock;
use xxhash_rust::xxh3::Xxh3;

/// The extension that compresses buffer views, under both of its names.
pub(super) const MESHOPT: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// The JSON, its buffers, and its buffer views, which are decoded on first use.
#[derive(Debug)]
pub(super) struct Data<'a> {
    pub(super) json: &'a Value,
    pub(super) budget: &'a Budget,
    buffers: Vec<Result<Bytes, Fault>>,
    views: Vec<OnceLock<Result<Bytes, Fault>>>,
    fingerprint: u64,
}

/// The bytes and the stride of a buffer view.
#[derive(Debug)]
pub(super) struct View {
    pub(super) bytes: Bytes,
    pub(super) stride: Option<usize>,
}

impl<'a> Data<'a> {
    /// Reads all buffers. An unreadable one becomes a finding, and an error for everything that uses it.
    pub(super) fn load(
        bytes: &Bytes,
        container: &'a Container,
        folder: Option<&Path>,
        budget: &'a Budget,
        findings: &mut Findings,
    ) -> Self {
        let json = &container.json;
        let mut hash = Xxh3::new();
        hash.update(bytes);
        let buffers = (0..list_len(json, "buffers"))
            .map(|i| {
                let at = At::root(json, "buffers", i);
                let buffer = read_buffer(&at, i, container, folder, budget, &mut hash);
                match &buffer {
                    Ok(_) if i == 0 && container.bin_is_cut => {}
                    Ok(bytes) => check_length(&at, bytes.len(), findings),
                    Err(fault) => findings.push(fault.finding("Its data is missing.")),
                }
                buffer.map(|bytes| match at.count("byteLength") {
                    Ok(Some(n)) if n < bytes.len() as u64 => bytes.slice(..n as usize),
                    _ => bytes,
                })
            })
            .collect();
        let n_views = list_len(json, "bufferViews");
        Self {
            json,
            budget,
            buffers,
            views: std::iter::repeat_with(OnceLock::new)
                .take(n_views)
                .collect(),
            fingerprint: hash.digest(),
        }
    }

    /// The data that import read from `source`, without reading files again.
    pub(super) fn of_source(source: &'a Source, budget: &'a Budget) -> Self {
        let n_views = list_len(&source.json, "bufferViews");
        Self {
            json: &source.json,
            budget,
            buffers: source.buffers.iter().cloned().map(Ok).collect(),
            views: std::iter::repeat_with(OnceLock::new)
                .take(n_views)
                .collect(),
            fingerprint: source.fingerprint,
        }
    }

    /// The xxh3-64 hash of the file and each external buffer.
    pub(super) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// All buffers; unreadable ones are empty.
    pub(super) fn all_buffers(&self) -> Vec<Bytes> {
        self.buffers
            .iter()
            .map(|b| b.clone().unwrap_or_default())
            .collect()
    }

    /// The number of entries in a root list.
    pub(super) fn len(&self, list: &str) -> usize {
        list_len(self.json, list)
    }

    /// Entry `index` of a root list.
    pub(super) fn at(&self, list: &str, index: usize) -> At<'a> {
        At::root(self.json, list, index)
    }

    /// The buffer view at `owner.key`.
    pub(super) fn view(&self, owner: &At<'_>, key: &str) -> Result<View, Fault> {
        let index = owner.required_index(key, "buffer views", self.views.len())?;
        self.view_at(index)
    }

    /// A buffer view by index, which must be in range.
    pub(super) fn view_at(&self, index: usize) -> Result<View, Fault> {
        let at = self.at("bufferViews", index);
        let stride = at.count("byteStride")?.filter(|&s| s > 0);
        let bytes = self.views[index]
            .get_or_init(|| self.view_bytes(&at))
            .clone()?;
        Ok(View {
            bytes,
            stride: stride.map(|s| s as usize),
        })
    }

    fn view_bytes(&self, at: &At<'a>) -> Result<Bytes, Fault> {
        let compressed = MESHOPT.iter().find_map(|name| at.extension(name));
        let Some(extension) = compressed else {
            return self.range(at);
        };
        let decoded = self
            .range(&extension)
            .and_then(|bytes| meshopt::decode(&extension, &bytes, self.budget));
        // If the file also contains an uncompressed copy, it is the fallback.
        match decoded {
            Ok(bytes) => Ok(bytes),
            Err(fault) => self
                .range(at)
                .ok()
                .filter(|bytes| at.count("byteLength").ok().flatten() == Some(bytes.len() as u64))
                .ok_or(fault),
        }
    }

    /// The byte range that `at` defines with `buffer`, `byteOffset`, `byteLength`. It is cut at the buffer's end, so
    /// that the rest of a truncated file stays readable: accessors check the bytes they need.
    fn range(&self, at: &At<'_>) -> Result<Bytes, Fault> {
        let buffer = at.required_index("buffer", "buffers", self.buffers.len())?;
        let bytes = self.buffers[buffer].as_ref().map_err(Clone::clone)?;
        let offset = at.count("byteOffset")?.unwrap_or(0);
        let length = at.required_count("byteLength")?;
        if offset > bytes.len() as u64 || (offset == bytes.len() as u64 && length > 0) {
            return Err(Fault::new(
                &at.place,
                format!(
                    "{} begins at byte {offset}, but buffers[{buffer}] has only {} bytes.",
                    at.place,
                    bytes.len()
                ),
            ));
        }
        let end = offset.saturating_add(length).min(bytes.len() as u64);
        Ok(bytes.slice(offset as usize..end as usize))
    }
}

fn read_buffer(
    at: &At<'_>,
    index: usize,
    container: &Container,
    folder: Option<&Path>,
    budget: &Budget,
    hash: &mut Xxh3,
) -> Result<Bytes, Fault> {
    if let Some(uri) = at.text("uri") {
        let fetched = uri::fetch(uri, &at.path("uri"), folder, budget)?;
        if fetched.external {
            hash.update(&fetched.bytes);
        }
        return Ok(fetched.bytes);
    }
    if at.get("uri").is_some() {
        return Err(At::new(at.value, at.path("uri")).should_be("a string"));
    }
    match &container.bin {
        Some(bin) if index == 0 => Ok(bin.clone()),
        // A fallback buffer of compressed buffer views, or an empty buffer.
        _ if is_fallback(at) || at.count("byteLength") == Ok(Some(0)) => Ok(Bytes::new()),
        _ => Err(Fault::new(
            &at.place,
            format!(
                "{} has no URI, and the file has no BIN chunk for it.",
                at.place
            ),
        )),
    }
}

fn is_fallback(at: &At<'_>) -> bool {
    MESHOPT
        .iter()
        .any(|name| at.extension(name).is_some_and(|e| e.flag("fallback")))
}

fn check_length(at: &At<'_>, present: usize, findings: &mut Findings) {
    match at.required_count("byteLength") {
        Ok(wanted) if wanted > present as u64 && !is_fallback(at) => {
            findings.push(Finding::error(
                &at.place,
                format!(
                    "{} should have {wanted} bytes, but has only {present}.",
                    at.place
                ),
            ));
        }
        Ok(_) => {}
        Err(fault) => findings.push(fault.warning("All available bytes are used.")),
    }
}
