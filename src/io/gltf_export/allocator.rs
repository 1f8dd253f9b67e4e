//! The allocator: the only code that decides where data is stored in the buffer that receives new bytes.

use super::interleaved::{Interleaved, interleaved};
use super::json::{MESHOPT, each, entry_mut, index};
use super::pool::Purpose;
use super::prune::prune_data;
use super::ranges::{Gone, Ranges, range_of, span};
use super::uses::{Uses, is_known_throughout};
use crate::io::gltf_json::{buffer, value};
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ops::Range;

/// The handling of unreferenced bytes of the source. If the file has an unknown extension that contains numbers, they
/// are always kept, since it may reference any of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Policy {
    /// Keep them and append new bytes, which makes files easy to compare.
    #[default]
    Append,
    /// Overwrite them with new bytes before appending.
    Reuse,
    /// Remove them, and unreferenced accessors and buffer views: entries are renumbered.
    Compact,
}

/// Allocates byte ranges in a buffer and assembles it.
#[derive(Default)]
pub(super) struct Allocator {
    buffer: usize,
    policy: Policy,
    /// The buffer's content.
    old: Bytes,
    /// The offset of the first appended piece in the buffer.
    first_byte: usize,
    /// Pieces to append, padded to multiples of 4 bytes.
    pub(super) appended: Vec<Bytes>,
    /// Offsets and pieces that overwrite old bytes of the buffer.
    pub(super) overwritten: Vec<(usize, Bytes)>,
    next_byte: usize,
    /// The length of the initial part of the buffer that may be overwritten where it is unreferenced.
    n_reusable: usize,
    /// Bytes of released accessors and buffer views; other entries may still reference some of them.
    left: Ranges,
    /// The unreferenced ranges among them; `None` if out of date.
    free: Option<Ranges>,
}

impl Allocator {
    /// The allocator of the buffer with index `buffer` of the file `json`, with the content `old`.
    pub(super) fn new(json: &Value, buffer: usize, old: Bytes, policy: Policy) -> Self {
        let declared = each(json, "buffers")
            .nth(buffer)
            .and_then(|entry| index(entry.get("byteLength")));
        // A buffer shorter than its `byteLength` is padded, within a limit.
        let length = declared.filter(|&n| n < old.len() + (1 << 20));
        let first_byte = old.len().max(length.unwrap_or(0)).next_multiple_of(4);
        let reuses = policy == Policy::Reuse && is_known_throughout(json, &[]);
        Self {
            buffer,
            policy,
            n_reusable: declared.filter(|_| reuses).map_or(0, |n| n.min(old.len())),
            old,
            first_byte,
            next_byte: first_byte,
            ..Self::default()
        }
    }

    /// Whether old bytes may be overwritten.
    pub(super) fn reuses(&self) -> bool {
        self.n_reusable > 0
    }

    /// Whether the bytes of an accessor are in this buffer and may be overwritten.
    pub(super) fn may_reuse(&self, json: &Value, accessor: &Value) -> bool {
        let range = span(json, accessor, self.buffer);
        range.is_some_and(|range| range.end <= self.n_reusable)
    }

    /// The interleaved buffer views that may be overwritten, by their indices.
    pub(super) fn interleaved(&self, json: &Value, uses: &Uses) -> BTreeMap<usize, Interleaved> {
        interleaved(json, uses, (self.buffer, self.n_reusable))
    }

    /// The content of the buffer before any change.
    pub(super) fn old(&self) -> &Bytes {
        &self.old
    }

    /// Writes fewer bytes over a referenced range; the rest of it is a candidate.
    pub(super) fn shorten(&mut self, range: &Range<usize>, bytes: Bytes) {
        self.left.add(range.start + bytes.len()..range.end);
        self.overwritten.push((range.start, bytes));
        self.mark_stale();
    }

    /// The number of bytes appended.
    pub(super) fn n_bytes_appended(&self) -> usize {
        self.appended.iter().map(Bytes::len).sum()
    }

    /// Adds the bytes of an unreferenced accessor to the candidates.
    pub(super) fn leave_accessor(&mut self, json: &Value, accessor: &Value) {
        if let Some(span) = span(json, accessor, self.buffer) {
            self.left.add(span);
        }
        self.mark_stale();
    }

    /// Adds the bytes of an unreferenced buffer view to the candidates; compressed ones are skipped.
    pub(super) fn leave_view(&mut self, json: &Value, view: usize) {
        self.mark_stale();
        let Some(entry) = json.get("bufferViews").and_then(|list| list.get(view)) else {
            return;
        };
        let extensions = entry.get("extensions");
        let is_compressed = |name| extensions.is_some_and(|e| e.get(name).is_some());
        if let Some(range) = range_of(entry, self.buffer)
            && !MESHOPT.iter().any(is_compressed)
        {
            self.left.add(range);
        }
    }

    /// Marks the unreferenced ranges as out of date.
    pub(super) fn mark_stale(&mut self) {
        self.free = None;
    }

    /// Updates the unreferenced ranges if they are out of date.
    pub(super) fn find_free(&mut self, json: &Value, gone: &Gone<'_>) {
        if self.free.is_some() || self.n_reusable == 0 {
            return;
        }
        let mut free = self.left.clone();
        free.remove(&(self.n_reusable..usize::MAX));
        free.remove_held(json, self.buffer, gone);
        for (at, bytes) in &self.overwritten {
            free.remove(&(*at..at + bytes.len()));
        }
        self.free = Some(free);
    }

    /// The unreferenced ranges, the longest first, each from its first multiple of 4.
    pub(super) fn gaps(&self) -> Vec<Range<usize>> {
        self.free
            .as_ref()
            .map(Ranges::by_length)
            .unwrap_or_default()
    }

    /// Overwrites unreferenced bytes.
    pub(super) fn write_over(&mut self, at: usize, bytes: Bytes) {
        if let Some(free) = &mut self.free {
            free.remove(&(at..at + bytes.len()));
        }
        self.overwritten.push((at, bytes));
    }

    /// Stores bytes in an unreferenced range, or appends them, and returns their offset.
    pub(super) fn store(&mut self, bytes: Bytes) -> usize {
        let gap = self.free.as_mut().and_then(|free| free.take(bytes.len()));
        if let Some(at) = gap {
            self.overwritten.push((at, bytes));
            return at;
        }
        let at = self.next_byte;
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        self.next_byte += bytes.len() + padding;
        self.appended.push(bytes);
        if padding > 0 {
            self.appended
                .push(Bytes::from_static(&[0; 3]).slice(..padding));
        }
        at
    }

    /// Makes `entry` a buffer view of `length` bytes from `at`.
    pub(super) fn describe_view(
        &self,
        entry: &mut Map<String, Value>,
        at: usize,
        length: usize,
        purpose: Purpose,
    ) {
        entry.insert("buffer".into(), self.buffer.into());
        entry.insert("byteOffset".into(), at.into());
        entry.insert("byteLength".into(), length.into());
        match purpose.stride {
            Some(stride) => entry.insert("byteStride".into(), stride.into()),
            None => entry.shift_remove("byteStride"),
        };
        match purpose.target {
            Some(target) => entry.insert("target".into(), target.into()),
            None => entry.shift_remove("target"),
        };
    }

    /// Assembles the buffer; updates its length and the offsets of moved buffer views in `json`.
    pub(super) fn finish(self, json: &mut Value) -> Bytes {
        let (buffer, policy) = (self.buffer, self.policy);
        let bytes = self.gather(json);
        if policy == Policy::Compact && is_known_throughout(json, &[]) {
            prune_data(json);
            return pack_views(json, buffer, &bytes);
        }
        bytes
    }

    /// Combines old and new bytes.
    fn gather(self, json: &mut Value) -> Bytes {
        if self.appended.is_empty() && self.overwritten.is_empty() {
            return self.old;
        }
        let n_new: usize = self.appended.iter().map(Bytes::len).sum();
        let mut all = Vec::with_capacity(self.first_byte + n_new);
        all.extend_from_slice(&self.old);
        for (at, piece) in &self.overwritten {
            if let Some(old) = all.get_mut(*at..at + piece.len()) {
                old.copy_from_slice(piece);
            }
        }
        if self.appended.is_empty() {
            return Bytes::from(all);
        }
        all.resize(self.first_byte, 0);
        for piece in &self.appended {
            all.extend_from_slice(piece);
        }
        if let Some(old) = entry_mut(json, "buffers", self.buffer) {
            old.insert("byteLength".into(), all.len().into());
        } else if let Some(root) = json.as_object_mut() {
            let buffers = root.entry("buffers").or_insert_with(|| json!([]));
            if let Some(buffers) = buffers.as_array_mut() {
                buffers.push(value(&buffer(all.len())));
            }
        }
        Bytes::from(all)
    }
}

/// Packs the bytes of all buffer views of `buffer`, and updates the views' offsets.
fn pack_views(json: &mut Value, buffer: usize, bytes: &Bytes) -> Bytes {
    let mut packed = Vec::new();
    for i in 0..each(json, "bufferViews").count() {
        let Some(entry) = entry_mut(json, "bufferViews", i) else {
            continue;
        };
        pack(entry, buffer, bytes, &mut packed);
        for name in MESHOPT {
            let extension = entry.get_mut("extensions").and_then(|e| e.get_mut(name));
            if let Some(extension) = extension.and_then(Value::as_object_mut) {
                pack(extension, buffer, bytes, &mut packed);
            }
        }
    }
    if let Some(entry) = entry_mut(json, "buffers", buffer) {
        entry.insert("byteLength".into(), packed.len().into());
    }
    Bytes::from(packed)
}

/// Moves a byte range of `buffer` to the end of `packed`.
fn pack(entry: &mut Map<String, Value>, buffer: usize, bytes: &Bytes, packed: &mut Vec<u8>) {
    if index(entry.get("buffer")) != Some(buffer) {
        return;
    }
    let start = index(entry.get("byteOffset")).unwrap_or(0);
    let length = index(entry.get("byteLength")).unwrap_or(0);
    let end = start.saturating_add(length).min(bytes.len());
    packed.resize(packed.len().next_multiple_of(4), 0);
    entry.insert("byteOffset".into(), packed.len().into());
    let held = bytes.get(start..end).unwrap_or_default();
    packed.extend_from_slice(held);
    // A buffer view that ends beyond its buffer keeps its declared length.
    packed.resize(packed.len() + (length - held.len()).min(1 << 20), 0);
    packed.resize(packed.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compacted(file: &mut Value, bytes: Bytes) -> Bytes {
        Allocator::new(file, 0, bytes, Policy::Compact).finish(file)
    }

    #[test]
    fn what_nothing_refers_to_goes() {
        let mut file = json!({
            "buffers": [{"byteLength": 12}],
            "bufferViews": [{"buffer": 0, "byteLength": 4}, {"buffer": 0, "byteOffset": 8, "byteLength": 4}],
            "accessors": [{"bufferView": 0}, {"bufferView": 1}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 1}}]}]
        });
        let bytes = Bytes::from_static(b"oldsgonekept");
        assert_eq!(compacted(&mut file, bytes)[..], *b"kept");
        assert_eq!(file["buffers"][0]["byteLength"], 4);
        assert_eq!(
            file["bufferViews"],
            json!([{"buffer": 0, "byteOffset": 0, "byteLength": 4}])
        );
        assert_eq!(file["accessors"], json!([{"bufferView": 0}]));
        assert_eq!(
            file["meshes"][0]["primitives"][0]["attributes"]["POSITION"],
            0
        );
    }

    #[test]
    fn unknown_numbers_keep_everything() {
        let source = json!({
            "buffers": [{"byteLength": 4}], "bufferViews": [{"buffer": 0, "byteLength": 4}],
            "accessors": [{"bufferView": 0}], "nodes": [{}, {"mesh": 0}],
            "extensions": {"VENDOR_thing": {"accessor": 0}}
        });
        let mut file = source.clone();
        let bytes = Bytes::from_static(b"kept");
        assert_eq!(compacted(&mut file, bytes.clone()), bytes);
        assert_eq!(file, source);
    }
}
