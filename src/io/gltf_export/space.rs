//! The bytes of the buffer that takes new ones: what is appended, and what is written over old bytes that nothing refers
//! to any more.

use super::patch::MESHOPT;
use super::pool::Purpose;
use super::ranges::{Gone, Ranges, range_of, span};
use bytes::Bytes;
use serde_json::{Map, Value};
use std::ops::Range;

/// What the buffer is to hold besides what it holds.
pub(super) struct Space {
    buffer: usize,
    /// Where the first appended piece lies in the buffer.
    pub(super) first_byte: usize,
    /// Pieces to append, each a multiple of 4 bytes long.
    pub(super) appended: Vec<Bytes>,
    /// Pieces to write over the buffer's old bytes, and where.
    pub(super) overwritten: Vec<(usize, Bytes)>,
    next_byte: usize,
    /// This many of the first bytes may be written over where nothing refers to them.
    n_reusable: usize,
    /// Bytes of accessors and views that went away; others may hold some of them too.
    left: Ranges,
    /// Those of them that nothing holds; `None` where that is to be looked up again.
    free: Option<Ranges>,
}

impl Space {
    /// That of buffer `buffer`, appended from its byte `first_byte` (a multiple of 4).
    pub(super) fn new(buffer: usize, first_byte: usize) -> Self {
        Self {
            buffer,
            first_byte,
            appended: Vec::new(),
            overwritten: Vec::new(),
            next_byte: first_byte,
            n_reusable: 0,
            left: Ranges::default(),
            free: None,
        }
    }

    /// Allows to write over those of the first `n` bytes that nothing refers to any more.
    pub(super) fn reuse(&mut self, n: usize) {
        self.n_reusable = n;
    }

    /// Whether anything may be written over.
    pub(super) fn reuses(&self) -> bool {
        self.n_reusable > 0
    }

    /// Bytes that the buffer grows by.
    pub(super) fn n_bytes_appended(&self) -> usize {
        self.appended.iter().map(Bytes::len).sum()
    }

    /// Remembers the bytes of an accessor that nothing refers to any more.
    pub(super) fn leave_accessor(&mut self, json: &Value, accessor: &Value) {
        if let Some(span) = span(json, accessor, self.buffer) {
            self.left.add(span);
        }
        self.look_again();
    }

    /// Remembers the bytes of a view that nothing refers to any more; compressed ones are left alone.
    pub(super) fn leave_view(&mut self, json: &Value, view: usize) {
        self.look_again();
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

    /// Says that more or less is held than before.
    pub(super) fn look_again(&mut self) {
        self.free = None;
    }

    /// Looks up which bytes nothing in the file holds any more, where that may have changed.
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

    /// What is free, the longest first, each from its first multiple of 4.
    pub(super) fn gaps(&self) -> Vec<Range<usize>> {
        self.free
            .as_ref()
            .map(Ranges::by_length)
            .unwrap_or_default()
    }

    /// Writes over bytes that are free.
    pub(super) fn write_over(&mut self, at: usize, bytes: Bytes) {
        if let Some(free) = &mut self.free {
            free.remove(&(at..at + bytes.len()));
        }
        self.overwritten.push((at, bytes));
    }

    /// Gives bytes a place: among those that are free, or after all of them.
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

    /// Makes `entry` a view of `length` bytes from `at`.
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
}
