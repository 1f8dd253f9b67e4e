//! Data that shares buffer views: small pieces that would each need a buffer view otherwise.

use bytes::Bytes;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// The purpose of a buffer view; pieces in one view have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Purpose {
    /// The glTF target; vertex attributes also have a stride.
    pub(super) target: Option<u32>,
    pub(super) stride: Option<usize>,
}

/// A reference to a buffer view with an offset: an accessor, or a part of a sparse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    Accessor(usize),
    Indices(usize),
    Values(usize),
}

/// Pieces that are not allocated yet.
#[derive(Default)]
pub(super) struct Pool {
    pieces: BTreeMap<Purpose, Vec<Piece>>,
    /// The index of the piece with equal bytes of the same purpose.
    known: HashMap<(Purpose, Bytes), usize>,
}

/// Bytes and the references to them.
pub(super) struct Piece {
    pub(super) bytes: Bytes,
    pub(super) readers: Vec<Reader>,
}

impl Pool {
    /// Adds bytes for `reader`; equal bytes are stored once.
    pub(super) fn add(&mut self, purpose: Purpose, bytes: Bytes, reader: Reader) {
        let pieces = self.pieces.entry(purpose).or_default();
        let key = (purpose, bytes);
        if let Some(piece) = self.known.get(&key).and_then(|&i| pieces.get_mut(i)) {
            piece.readers.push(reader);
            return;
        }
        pieces.push(Piece {
            bytes: key.1.clone(),
            readers: vec![reader],
        });
        self.known.insert(key, pieces.len() - 1);
    }

    /// Whether equal bytes are present already, so that they take no more space.
    pub(super) fn has(&self, purpose: Purpose, bytes: &Bytes) -> bool {
        self.known.contains_key(&(purpose, bytes.clone()))
    }

    /// Takes all pieces out of the pool, vertex data first, because it is the largest.
    pub(super) fn take(&mut self) -> Vec<(Purpose, Vec<Piece>)> {
        self.known.clear();
        let pieces = std::mem::take(&mut self.pieces);
        let mut all: Vec<_> = pieces.into_iter().rev().collect();
        for (_, pieces) in &mut all {
            // Large pieces are allocated first, so that small ones fill the rest.
            pieces.sort_by_key(|piece| std::cmp::Reverse(piece.bytes.len()));
        }
        all
    }
}

/// Removes the `pieces` that fit into `room`, one after the other, from the list; returns them and the number of bytes
/// they take.
pub(super) fn fill(pieces: &mut Vec<Piece>, room: &Range<usize>) -> (Vec<Piece>, usize) {
    let mut n = 0;
    let (here, rest) = std::mem::take(pieces).into_iter().partition(|piece| {
        let end = usize::next_multiple_of(n, 4) + piece.bytes.len();
        let fits = end <= room.len();
        if fits {
            n = end;
        }
        fits
    });
    *pieces = rest;
    (here, n)
}

/// The pieces concatenated, each from a multiple of 4, and the offset of each.
pub(super) fn join(pieces: &[Piece]) -> (Bytes, Vec<usize>) {
    let mut bytes: Vec<u8> = Vec::new();
    let starts = pieces.iter().map(|piece| {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let start = bytes.len();
        bytes.extend_from_slice(&piece.bytes);
        start
    });
    let starts = starts.collect();
    (Bytes::from(bytes), starts)
}

/// Writes the buffer view and the offset that `reader` uses.
pub(super) fn set_view(accessors: &mut Value, reader: Reader, view: usize, offset: usize) {
    let (i, part) = match reader {
        Reader::Accessor(i) => (i, None),
        Reader::Indices(i) => (i, Some("indices")),
        Reader::Values(i) => (i, Some("values")),
    };
    let accessor = accessors.get_mut(i);
    let entry = match part {
        None => accessor,
        Some(part) => accessor.and_then(|a| a.get_mut("sparse")?.get_mut(part)),
    };
    if let Some(entry) = entry.and_then(Value::as_object_mut) {
        place_in(entry, view, offset);
    }
}

fn place_in(entry: &mut Map<String, Value>, view: usize, offset: usize) {
    entry.insert("bufferView".into(), view.into());
    if offset > 0 {
        entry.insert("byteOffset".into(), offset.into());
    } else {
        entry.shift_remove("byteOffset");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_stored_once_and_all_begin_at_multiples_of_four() {
        let mut pool = Pool::default();
        let plain = Purpose::default();
        let vertices = Purpose {
            target: Some(34962),
            stride: Some(2),
        };
        pool.add(plain, Bytes::from_static(b"ab"), Reader::Indices(3));
        pool.add(plain, Bytes::from_static(b"longer"), Reader::Accessor(0));
        pool.add(plain, Bytes::from_static(b"ab"), Reader::Accessor(1));
        pool.add(vertices, Bytes::from_static(b"ab"), Reader::Accessor(2));
        assert!(pool.has(plain, &Bytes::from_static(b"ab")));
        let all = pool.take();
        assert_eq!((all[0].0, all[0].1.len(), all[1].0), (vertices, 1, plain));
        let pieces = &all[1].1;
        assert_eq!(pieces[1].readers, [Reader::Indices(3), Reader::Accessor(1)]);
        let (bytes, starts) = join(pieces);
        assert_eq!(
            (&bytes[..], &starts[..]),
            (&b"longer\0\0ab"[..], &[0, 8][..])
        );
        assert!(pool.take().is_empty());
    }

    #[test]
    fn a_gap_takes_what_fits() {
        let piece = |n: usize| Piece {
            bytes: Bytes::from(vec![0; n]),
            readers: Vec::new(),
        };
        let mut pieces = vec![piece(20), piece(9), piece(8), piece(2)];
        let (here, n) = fill(&mut pieces, &(100..115));
        assert_eq!((here.len(), n, pieces.len()), (2, 14, 2));
    }
}
