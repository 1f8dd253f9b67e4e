//! Compresses the buffer views of a finished file by `EXT_meshopt_compression`, without loss.
//!
//! Of the buffer that receives new bytes, each view that only accessors read is divided by the size of their elements,
//! because the codec predicts an element from the one before; what does not get smaller stays as it is. The data that a
//! reader without the extension would need is in a buffer without content, as the extension has it.

use super::json::{MESHOPT, each, entry_mut, index};
use super::patch::Patched;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The extension of the views.
const EXTENSION: &str = MESHOPT[0];
/// The version of the codec that the extension knows, and a level of compression, which that version has not.
const VERSION: i32 = 0;
const LEVEL: i32 = 2;
/// Bytes of JSON of a compressed view; it must save more.
const VIEW_BYTES: usize = 190;
/// The largest element of the codec.
const MOST_STRIDE: usize = 256;

/// Data that an accessor reads from a view.
struct Read {
    accessor: usize,
    /// The member of its sparse part, if it is one.
    part: Option<&'static str>,
    start: usize,
    end: usize,
    kind: Kind,
}

/// How data is encoded: the size of its elements, and whether they are indices.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Kind {
    size: usize,
    is_index: bool,
}

/// Bytes of a view that overlap with no others, and the accessors that read them.
struct Piece {
    start: usize,
    end: usize,
    kind: Kind,
    reads: Vec<Read>,
}

/// Compresses the views in `buffer`, which has the bytes of `patched`.
pub(super) fn compress(patched: &mut Patched, buffer: usize) {
    let mut reads = reads_by_view(&patched.json);
    let others = other_views(&patched.json);
    let n_views = each(&patched.json, "bufferViews").count();
    let fallback = each(&patched.json, "buffers").count();
    let mut packer = Packer {
        old: patched.bytes.clone(),
        bytes: Vec::new(),
        n_fallback: 0,
        buffer,
        fallback,
    };
    for view in 0..n_views {
        let Some(entry) = entry_mut(&mut patched.json, "bufferViews", view).map(std::mem::take)
        else {
            continue;
        };
        let own = reads.remove(&view).unwrap_or_default();
        let is_ours = index(entry.get("buffer")) == Some(buffer);
        let is_plain = MESHOPT.iter().all(|name| extension(&entry, name).is_none());
        let known = own
            .iter()
            .all(|read| read.kind.size > 0 && read.end <= length(&entry));
        let views = if is_ours && is_plain && known && !own.is_empty() && !others.contains(&view) {
            packer.pack(entry, own)
        } else {
            vec![(packer.carry(entry), Vec::new())]
        };
        for (i, (entry, moved)) in views.into_iter().enumerate() {
            let place = if i == 0 {
                view
            } else {
                each(&patched.json, "bufferViews").count()
            };
            if let Some(list) = patched
                .json
                .get_mut("bufferViews")
                .and_then(Value::as_array_mut)
            {
                if i == 0 {
                    list[place] = Value::Object(entry);
                } else {
                    list.push(Value::Object(entry));
                }
            }
            for (read, offset) in moved {
                point(&mut patched.json, &read, place, offset);
            }
        }
    }
    packer.finish(patched);
}

/// The new buffer.
struct Packer {
    old: Bytes,
    bytes: Vec<u8>,
    /// Bytes of the buffer without content.
    n_fallback: usize,
    buffer: usize,
    fallback: usize,
}

/// A view, and the accessors that read it with their offsets.
type PackedView = (Map<String, Value>, Vec<(Read, usize)>);

impl Packer {
    /// Appends bytes from a multiple of 4 on; where they begin.
    fn append(&mut self, bytes: &[u8]) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        start
    }

    /// The view with its data as it is.
    fn carry(&mut self, mut entry: Map<String, Value>) -> Map<String, Value> {
        self.carry_range(&mut entry);
        for name in MESHOPT {
            let of = entry.get_mut("extensions").and_then(|e| e.get_mut(name));
            if let Some(of) = of.and_then(Value::as_object_mut) {
                self.carry_range(of);
            }
        }
        entry
    }

    fn carry_range(&mut self, entry: &mut Map<String, Value>) {
        if index(entry.get("buffer")) != Some(self.buffer) {
            return;
        }
        let start = index(entry.get("byteOffset")).unwrap_or(0);
        let old = self.old.clone();
        let range = start..start.saturating_add(length(entry));
        if let Some(bytes) = old.get(range) {
            let at = self.append(bytes);
            set_offset(entry, at);
        }
    }

    /// The views of the data that the accessors read from one, one for each size of elements.
    fn pack(&mut self, entry: Map<String, Value>, reads: Vec<Read>) -> Vec<PackedView> {
        let start = index(entry.get("byteOffset")).unwrap_or(0);
        let old = self.old.clone();
        let Some(bytes) = old.get(start..start.saturating_add(length(&entry))) else {
            return vec![(entry, Vec::new())];
        };
        let stride = index(entry.get("byteStride")).filter(|stride| *stride > 0);
        if let Some(stride) = stride {
            // Interleaved vertices, which stay together.
            let kind = Kind {
                size: stride,
                is_index: false,
            };
            let moved = reads.into_iter().map(|read| {
                let offset = read.start;
                (read, offset)
            });
            let moved = moved.collect();
            return vec![(self.encoded(entry, bytes.to_vec(), kind), moved)];
        }
        let mut groups: BTreeMap<Kind, Vec<Piece>> = BTreeMap::new();
        for piece in pieces(reads) {
            groups.entry(piece.kind).or_default().push(piece);
        }
        let groups = groups.into_iter().map(|(kind, pieces)| {
            let mut data: Vec<u8> = Vec::new();
            let mut moved = Vec::new();
            let step = if kind.size.is_multiple_of(4) {
                kind.size
            } else {
                4
            };
            for piece in pieces {
                data.resize(data.len().next_multiple_of(step), 0);
                let at = data.len();
                data.extend_from_slice(&bytes[piece.start..piece.end]);
                let reads = piece.reads.into_iter();
                moved.extend(reads.map(|read| {
                    let offset = at + read.start - piece.start;
                    (read, offset)
                }));
            }
            (self.encoded(entry.clone(), data, kind), moved)
        });
        groups.collect()
    }

    /// A view of `data`, compressed if that is smaller.
    fn encoded(
        &mut self,
        mut entry: Map<String, Value>,
        mut data: Vec<u8>,
        kind: Kind,
    ) -> Map<String, Value> {
        let has_stride = entry.contains_key("byteStride");
        let stride = match kind {
            Kind {
                size: size @ (2 | 4),
                is_index: true,
            } => size,
            Kind { size, .. } if size.is_multiple_of(4) && size <= MOST_STRIDE => size,
            _ if has_stride => 0,
            _ => 4,
        };
        let is_index = kind.is_index && stride == kind.size;
        data.resize(data.len().next_multiple_of(stride.max(1)), 0);
        let found = if stride == 0 {
            None
        } else if is_index {
            indices(&data, stride)
        } else {
            vertices(&data, stride)
        };
        let found = found.filter(|found| found.len() + VIEW_BYTES < data.len());
        entry.insert("byteLength".into(), data.len().into());
        let Some(found) = found else {
            let at = self.append(&data);
            set_offset(&mut entry, at);
            return entry;
        };
        let at = self.append(&found);
        self.n_fallback = self.n_fallback.next_multiple_of(4);
        set_offset(&mut entry, self.n_fallback);
        self.n_fallback += data.len();
        entry.insert("buffer".into(), self.fallback.into());
        let mut of = Map::new();
        of.insert("buffer".into(), self.buffer.into());
        set_offset(&mut of, at);
        of.insert("byteLength".into(), found.len().into());
        of.insert("byteStride".into(), stride.into());
        of.insert("count".into(), (data.len() / stride).into());
        let mode = if is_index { "INDICES" } else { "ATTRIBUTES" };
        of.insert("mode".into(), mode.into());
        let extensions = entry.entry("extensions").or_insert_with(|| json!({}));
        if let Some(extensions) = extensions.as_object_mut() {
            extensions.insert(EXTENSION.into(), of.into());
        }
        entry
    }

    /// Puts the new bytes in place of the old ones.
    fn finish(self, patched: &mut Patched) {
        patched.bytes = self.bytes.into();
        let n = patched.bytes.len();
        if let Some(entry) = entry_mut(&mut patched.json, "buffers", self.buffer) {
            entry.insert("byteLength".into(), n.into());
        }
        if self.n_fallback == 0 {
            return;
        }
        let buffer = json!({
            "byteLength": self.n_fallback,
            "extensions": {EXTENSION: {"fallback": true}}
        });
        if let Some(buffers) = patched
            .json
            .get_mut("buffers")
            .and_then(Value::as_array_mut)
        {
            buffers.push(buffer);
        }
        patched.require_extension(EXTENSION);
    }
}

/// What accessors read, by view.
fn reads_by_view(json: &Value) -> BTreeMap<usize, Vec<Read>> {
    let mut by_view: BTreeMap<usize, Vec<Read>> = BTreeMap::new();
    let indexed: BTreeSet<usize> = each(json, "meshes")
        .flat_map(|mesh| each(mesh, "primitives"))
        .filter_map(|primitive| index(primitive.get("indices")))
        .collect();
    let strides: Vec<Option<usize>> = each(json, "bufferViews")
        .map(|view| index(view.get("byteStride")))
        .collect();
    for (accessor, entry) in each(json, "accessors").enumerate() {
        let component = size_of(entry.get("componentType"));
        let n = entry.get("type").and_then(Value::as_str).map_or(0, width);
        let count = index(entry.get("count")).unwrap_or(0);
        let mut add = |of: &Value, part: Option<&'static str>, kind: Kind, count: usize| {
            let Some(view) = index(of.get("bufferView")) else {
                return;
            };
            let start = index(of.get("byteOffset")).unwrap_or(0);
            let stride = strides.get(view).copied().flatten().unwrap_or(kind.size);
            let bytes = stride.saturating_mul(count.saturating_sub(1));
            let bytes = bytes.saturating_add(if count > 0 { kind.size } else { 0 });
            by_view.entry(view).or_default().push(Read {
                accessor,
                part,
                start,
                end: start.saturating_add(bytes),
                kind,
            });
        };
        let kind = |size: usize, is_index: bool| Kind { size, is_index };
        add(
            entry,
            None,
            kind(component * n, indexed.contains(&accessor)),
            count,
        );
        if let Some(sparse) = entry.get("sparse") {
            let count = index(sparse.get("count")).unwrap_or(0);
            if let Some(indices) = sparse.get("indices") {
                let size = size_of(indices.get("componentType"));
                add(indices, Some("indices"), kind(size, true), count);
            }
            if let Some(values) = sparse.get("values") {
                add(values, Some("values"), kind(component * n, false), count);
            }
        }
    }
    by_view
}

/// Views that something else than an accessor reads.
fn other_views(json: &Value) -> BTreeSet<usize> {
    fn collect(value: &Value, found: &mut BTreeSet<usize>) {
        match value {
            Value::Object(members) => {
                found.extend(index(members.get("bufferView")));
                members.values().for_each(|value| collect(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| collect(value, found)),
            _ => {}
        }
    }
    let mut found = BTreeSet::new();
    let members = json.as_object().into_iter().flatten();
    for (_, value) in members.filter(|(name, _)| *name != "accessors") {
        collect(value, &mut found);
    }
    for accessor in each(json, "accessors") {
        for key in ["extensions", "extras"] {
            if let Some(value) = accessor.get(key) {
                collect(value, &mut found);
            }
        }
    }
    found
}

/// The pieces of a view by their start; reads that overlap are in one.
fn pieces(mut reads: Vec<Read>) -> Vec<Piece> {
    reads.sort_by_key(|read| (read.start, read.end));
    let mut pieces: Vec<Piece> = Vec::new();
    for read in reads {
        match pieces.last_mut() {
            Some(last) if read.start < last.end => {
                last.end = last.end.max(read.end);
                if last.kind != read.kind {
                    last.kind = Kind {
                        size: 4,
                        is_index: false,
                    };
                }
                last.reads.push(read);
            }
            _ => pieces.push(Piece {
                start: read.start,
                end: read.end,
                kind: read.kind,
                reads: vec![read],
            }),
        }
    }
    pieces
}

/// Makes an accessor read from a view.
fn point(json: &mut Value, read: &Read, view: usize, offset: usize) {
    let Some(accessor) = entry_mut(json, "accessors", read.accessor) else {
        return;
    };
    let entry = match read.part {
        None => Some(accessor),
        Some(part) => accessor
            .get_mut("sparse")
            .and_then(|sparse| sparse.get_mut(part)?.as_object_mut()),
    };
    if let Some(entry) = entry {
        entry.insert("bufferView".into(), view.into());
        set_offset(entry, offset);
    }
}

fn extension<'a>(entry: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    entry.get("extensions")?.get(name)
}

fn length(entry: &Map<String, Value>) -> usize {
    index(entry.get("byteLength")).unwrap_or(0)
}

fn set_offset(entry: &mut Map<String, Value>, offset: usize) {
    if offset > 0 {
        entry.insert("byteOffset".into(), offset.into());
    } else {
        entry.shift_remove("byteOffset");
    }
}

/// Bytes of a component; 0 if it is unknown.
fn size_of(component: Option<&Value>) -> usize {
    match index(component) {
        Some(5120 | 5121) => 1,
        Some(5122 | 5123) => 2,
        Some(5125 | 5126) => 4,
        _ => 0,
    }
}

/// Components of an element; 0 for matrices, of which columns may be padded, except the largest.
fn width(kind: &str) -> usize {
    match kind {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => 0,
    }
}

/// Encoded indices of 2 or 4 bytes.
fn indices(data: &[u8], size: usize) -> Option<Vec<u8>> {
    let all: Vec<u32> = match size {
        2 => {
            let (pairs, _) = data.as_chunks::<2>();
            pairs
                .iter()
                .map(|b| u32::from(u16::from_le_bytes(*b)))
                .collect()
        }
        _ => words(data),
    };
    let n = all.iter().max().map_or(0, |&largest| largest as usize + 1);
    meshopt::encode_index_sequence(&all, n).ok()
}

fn words(data: &[u8]) -> Vec<u32> {
    let (words, _) = data.as_chunks::<4>();
    words.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

/// Encoded vertices of `stride` bytes, a multiple of 4 up to 256.
fn vertices(data: &[u8], stride: usize) -> Option<Vec<u8>> {
    let words = words(data);
    macro_rules! by_words {
        ($($n:literal)*) => {
            match stride / 4 {
                $($n => meshopt::encode_vertex_buffer_level(
                    words.as_chunks::<$n>().0,
                    LEVEL,
                    Some(VERSION),
                ),)*
                _ => return None,
            }
        };
    }
    let found = by_words!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64);
    found.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with one view: 400 vectors, 400 times, 300 indices of a sparse accessor, and an image's view.
    fn file() -> Patched {
        let mut bytes: Vec<u8> = Vec::new();
        let floats = |n: usize| (0..n).flat_map(|i| (i as f32 * 0.25).to_le_bytes());
        bytes.extend(floats(1200));
        bytes.extend(floats(400));
        bytes.extend((0..300u16).flat_map(|i| (2 * i).to_le_bytes()));
        bytes.extend([7; 9]);
        let json = json!({
            "buffers": [{"byteLength": bytes.len()}],
            "bufferViews": [
                {"buffer": 0, "byteLength": 7000},
                {"buffer": 0, "byteOffset": 7000, "byteLength": 9}
            ],
            "images": [{"bufferView": 1, "mimeType": "image/png"}],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 400},
                {"bufferView": 0, "byteOffset": 4800, "componentType": 5126, "type": "SCALAR", "count": 400},
                {"componentType": 5126, "type": "VEC3", "count": 1000, "sparse": {
                    "count": 300,
                    "indices": {"bufferView": 0, "byteOffset": 6400, "componentType": 5123},
                    "values": {"bufferView": 0}
                }}
            ]
        });
        Patched {
            json,
            bytes: bytes.into(),
            n_bytes_added: 0,
        }
    }

    #[test]
    fn data_is_divided_by_its_elements_and_gets_smaller() {
        let mut patched = file();
        let before = patched.bytes.clone();
        compress(&mut patched, 0);
        assert!(
            patched.bytes.len() < before.len() / 2,
            "{}",
            patched.bytes.len()
        );
        let json = &patched.json;
        let views: Vec<&Value> = each(json, "bufferViews").collect();
        assert_eq!(views.len(), 4);
        let of = |view: usize| &views[view]["extensions"][EXTENSION];
        let of_accessor = |i: usize| index(json["accessors"][i].get("bufferView")).unwrap();
        let (vectors, times) = (of_accessor(0), of_accessor(1));
        assert_eq!(of(vectors)["byteStride"], 12);
        assert_eq!(
            (&of(times)["byteStride"], &of(times)["count"]),
            (&json!(4), &json!(400))
        );
        let sparse = &json["accessors"][2]["sparse"];
        let indices = index(sparse["indices"].get("bufferView")).unwrap();
        assert_eq!(
            (&of(indices)["mode"], &of(indices)["count"]),
            (&json!("INDICES"), &json!(300))
        );
        // The values of the sparse accessor are vectors of the first.
        assert_eq!(index(sparse["values"].get("bufferView")), Some(vectors));
        // What is no accessor's stays.
        let start = index(views[1].get("byteOffset")).unwrap();
        assert_eq!(patched.bytes[start..start + 9], [7; 9]);
        assert_eq!(
            json["buffers"][1]["extensions"][EXTENSION]["fallback"],
            true
        );
        assert_eq!(json["extensionsRequired"], json!([EXTENSION]));
        let encoded = |view: usize| {
            let start = index(of(view).get("byteOffset")).unwrap_or(0);
            &patched.bytes[start..start + index(of(view).get("byteLength")).unwrap()]
        };
        let decoded = meshopt::decode_vertex_buffer::<[u32; 3]>(encoded(vectors), 400).unwrap();
        assert_eq!(bytemuck::cast_slice::<_, u8>(&decoded), &before[..4800]);
        let decoded = meshopt::decode_index_sequence::<u16>(encoded(indices), 300).unwrap();
        assert_eq!(bytemuck::cast_slice::<_, u8>(&decoded), &before[6400..7000]);
    }

    #[test]
    fn small_data_stays_as_it_is() {
        let mut patched = file();
        patched.json["accessors"] = json!([
            {"bufferView": 0, "byteOffset": 4, "componentType": 5126, "type": "VEC3", "count": 2}
        ]);
        let before = patched.bytes.clone();
        compress(&mut patched, 0);
        let view = &patched.json["bufferViews"][0];
        assert_eq!(
            (&view["byteLength"], view.get("extensions")),
            (&json!(24), None)
        );
        assert_eq!(patched.bytes[..24], before[4..28]);
        assert!(patched.json.get("extensionsRequired").is_none());
        assert_eq!(each(&patched.json, "buffers").count(), 1);
    }
}
