//! Interleaved buffer views from which attributes can be removed, so that their bytes become free for other data.

use super::json::{MESHOPT, each, index};
use super::ranges::{element_size, range_of};
use super::uses::Uses;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::Range;

/// An interleaved buffer view that overlaps no other and that only accessors read. Each accessor is a column of its rows.
pub(super) struct Interleaved {
    /// Its bytes in the buffer.
    pub(super) range: Range<usize>,
    stride: usize,
    columns: Vec<Column>,
}

/// An accessor of an interleaved buffer view.
#[derive(Clone, Copy)]
struct Column {
    accessor: usize,
    /// The first row with an element: the vertices of several primitives may follow each other.
    first: usize,
    /// The byte offset of its elements in their rows.
    offset: usize,
    size: usize,
    count: usize,
}

/// Rows without the columns that were removed.
pub(super) struct Packed {
    pub(super) rows: Vec<u8>,
    pub(super) stride: usize,
    /// The accessors that were kept, each with its byte offset.
    pub(super) offsets: Vec<(usize, usize)>,
}

impl Interleaved {
    /// Whether columns share bytes without being the same.
    fn overlap(&self) -> bool {
        let parts = self.columns.iter().map(|c| (c.offset, c.offset + c.size));
        let mut parts: Vec<(usize, usize)> = parts.collect();
        parts.sort_unstable();
        parts.dedup();
        parts.windows(2).any(|pair| pair[1].0 < pair[0].1)
    }

    /// The accessors, each with its byte offset modulo the stride.
    pub(super) fn columns(&self) -> impl Iterator<Item = (usize, usize)> {
        self.columns
            .iter()
            .map(|column| (column.accessor, column.offset))
    }

    /// The rows with the columns that `keeps` chooses, each from a multiple of 4 bytes (glTF 2.0, 3.6.2.4); `None` if there
    /// are none, or if they would not be shorter. `buffer`: the content of the buffer.
    pub(super) fn packed(&self, buffer: &[u8], keeps: impl Fn(usize) -> bool) -> Option<Packed> {
        let old = buffer.get(self.range.clone())?;
        let kept = self.columns.iter().filter(|column| keeps(column.accessor));
        let mut kept: Vec<Column> = kept.copied().collect();
        kept.sort_by_key(|column| (column.offset, column.size));
        let mut parts: Vec<(Range<usize>, usize)> = Vec::new();
        let mut places = Vec::new();
        let mut stride = 0;
        for column in &kept {
            let part = column.offset..column.offset + column.size;
            if parts.last().is_none_or(|(last, _)| *last != part) {
                parts.push((part, stride));
                stride += column.size.next_multiple_of(4);
            }
            let to = parts.last().map_or(0, |(_, to)| *to);
            places.push((column, to));
        }
        let n_rows = kept
            .iter()
            .map(|column| column.first + column.count)
            .max()?;
        let n_bytes = n_rows.checked_mul(stride)?;
        if n_bytes >= old.len() {
            return None;
        }
        let mut rows = vec![0; n_bytes];
        for (row, new) in rows.chunks_mut(stride.max(1)).enumerate() {
            for (part, to) in &parts {
                let from = row * self.stride + part.start;
                // The last row may end before its padding.
                if let Some(bytes) = old.get(from..from + part.len()) {
                    new[*to..*to + part.len()].copy_from_slice(bytes);
                }
            }
        }
        let offsets = places.iter();
        let offsets = offsets.map(|(column, to)| (column.accessor, column.first * stride + to));
        Some(Packed {
            offsets: offsets.collect(),
            rows,
            stride,
        })
    }
}

/// The interleaved buffer views in the first `n_bytes` of buffer `buffer`, by their indices.
pub(super) fn interleaved(
    json: &Value,
    uses: &Uses,
    (buffer, n_bytes): (usize, usize),
) -> BTreeMap<usize, Interleaved> {
    let mut found = BTreeMap::new();
    for (i, view) in each(json, "bufferViews").enumerate() {
        let stride = index(view.get("byteStride")).filter(|stride| *stride > 0);
        let range = range_of(view, buffer).filter(|range| range.end <= n_bytes);
        let (Some(stride), Some(range)) = (stride, range) else {
            continue;
        };
        let columns = Vec::new();
        found.insert(
            i,
            Interleaved {
                range,
                stride,
                columns,
            },
        );
    }
    let exclusive = exclusive(json, buffer);
    found.retain(|i, _| exclusive.get(i) == Some(&true));
    let mut is_known: BTreeMap<usize, bool> = found.keys().map(|i| (*i, true)).collect();
    for (i, accessor) in each(json, "accessors").enumerate() {
        let view = index(accessor.get("bufferView"));
        let Some((view, rows)) = view.and_then(|view| Some((view, found.get_mut(&view)?))) else {
            continue;
        };
        match column(i, accessor, rows) {
            Some(column) => rows.columns.push(column),
            None => drop(is_known.insert(view, false)),
        }
    }
    found.retain(|i, rows| {
        // What else reads the view, as an image or sparse values, reads other bytes than columns.
        let n_readers = uses.views.get(*i).copied().unwrap_or(0) as usize;
        let shares = rows.columns.iter().any(|c| c.size < rows.stride);
        is_known[i] && shares && rows.columns.len() == n_readers && !rows.overlap()
    });
    found
}

/// An accessor as a column of rows; `None` if it is none.
fn column(accessor: usize, entry: &Value, rows: &Interleaved) -> Option<Column> {
    let size = element_size(entry)?;
    let start = index(entry.get("byteOffset")).unwrap_or(0);
    let count = index(entry.get("count"))?;
    let offset = start % rows.stride;
    let last = rows.stride.checked_mul(count.checked_sub(1)?)?;
    let end = last.checked_add(start)?.checked_add(size)?;
    let is_within = offset.checked_add(size)? <= rows.stride && end <= rows.range.len();
    is_within.then_some(Column {
        accessor,
        first: start / rows.stride,
        offset,
        size,
        count,
    })
}

/// Whether each buffer view in `buffer` shares no bytes with another, by index; false for compressed ones.
fn exclusive(json: &Value, buffer: usize) -> BTreeMap<usize, bool> {
    let mut ranges: Vec<(usize, Range<usize>)> = Vec::new();
    let mut found = BTreeMap::new();
    for (i, view) in each(json, "bufferViews").enumerate() {
        let extensions = MESHOPT
            .iter()
            .filter_map(|name| view.get("extensions")?.get(name));
        let mut is_compressed = false;
        for extension in extensions {
            is_compressed = true;
            ranges.extend(range_of(extension, buffer).map(|range| (i, range)));
        }
        // That of a compressed view may hold an uncompressed copy.
        ranges.extend(range_of(view, buffer).map(|range| (i, range)));
        found.insert(i, !is_compressed);
    }
    ranges.retain(|(_, range)| !range.is_empty());
    ranges.sort_by_key(|(_, range)| range.start);
    // The view whose range reaches farthest so far.
    let mut farthest: Option<(usize, usize)> = None;
    for (i, range) in &ranges {
        if let Some((other, end)) = farthest
            && range.start < end
        {
            found.insert(*i, false);
            found.insert(other, false);
        }
        if farthest.is_none_or(|(_, end)| range.end > end) {
            farthest = Some((*i, range.end));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Two rows of a position, joints, padding and a normal, and a view of its own after them.
    fn file() -> Value {
        let column = |at: usize, component: u32, kind: &str| json!({"bufferView": 0, "byteOffset": at, "componentType": component, "count": 2, "type": kind});
        json!({
            "bufferViews": [
                {"buffer": 0, "byteOffset": 4, "byteLength": 64, "byteStride": 32},
                {"buffer": 0, "byteOffset": 68, "byteLength": 8}],
            "accessors": [column(0, 5126, "VEC3"), column(12, 5121, "VEC4"), column(20, 5126, "VEC3")],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 1, "NORMAL": 2}}]}]
        })
    }

    fn found(json: &Value) -> BTreeMap<usize, Interleaved> {
        interleaved(json, &Uses::count(json), (0, 76))
    }

    #[test]
    fn rows_are_packed_without_a_column_and_without_padding() {
        let rows = &found(&file())[&0];
        let buffer: Vec<u8> = (0..76).collect();
        let packed = rows.packed(&buffer, |accessor| accessor != 1).unwrap();
        assert_eq!(
            (packed.stride, &packed.offsets[..]),
            (24, &[(0, 0), (2, 12)][..])
        );
        let row = |start: u8| (start..start + 12).chain(start + 20..start + 32);
        let expected: Vec<u8> = row(4).chain(row(36)).collect();
        assert_eq!(packed.rows, expected);
        assert!(rows.packed(&buffer, |_| false).is_none());
        assert!(rows.packed(&buffer[..60], |_| true).is_none());
    }

    #[test]
    fn vertices_that_follow_others_move_with_them() {
        // The second row is that of another primitive.
        let mut json = file();
        let mut others = json["accessors"].as_array().unwrap().clone();
        for accessor in json["accessors"].as_array_mut().unwrap() {
            accessor["count"] = json!(1);
        }
        for accessor in &mut others {
            accessor["count"] = json!(1);
            accessor["byteOffset"] = json!(accessor["byteOffset"].as_u64().unwrap() + 32);
        }
        json["accessors"].as_array_mut().unwrap().extend(others);
        let rows = &found(&json)[&0];
        let columns: Vec<(usize, usize)> = rows.columns().collect();
        assert_eq!(
            columns,
            [(0, 0), (1, 12), (2, 20), (3, 0), (4, 12), (5, 20)]
        );
        let buffer: Vec<u8> = (0..76).collect();
        // The joints of the second row keep their column; only the padding goes.
        assert_eq!(
            rows.packed(&buffer, |accessor| accessor != 1)
                .unwrap()
                .stride,
            28
        );
        let packed = rows.packed(&buffer, |accessor| accessor % 3 != 1).unwrap();
        assert_eq!(packed.stride, 24);
        assert_eq!(packed.offsets, [(0, 0), (3, 24), (2, 12), (5, 36)]);
        assert_eq!(
            (
                packed.rows[0],
                packed.rows[12],
                packed.rows[24],
                packed.rows[36]
            ),
            (4, 24, 36, 56)
        );
    }

    #[test]
    fn only_rows_of_their_own_are_packed() {
        let changed = |change: &dyn Fn(&mut Value)| {
            let mut json = file();
            change(&mut json);
            found(&json).len()
        };
        assert_eq!(changed(&|_| ()), 1);
        // A view over the same bytes, an image in the view, a column that overlaps another, elements beyond the view, and a view
        // that is not within the bytes that may be changed.
        assert_eq!(
            changed(&|json| json["bufferViews"][1]["byteOffset"] = json!(60)),
            0
        );
        assert_eq!(
            changed(&|json| json["images"] = json!([{"bufferView": 0}])),
            0
        );
        assert_eq!(
            changed(&|json| json["accessors"][1]["byteOffset"] = json!(8)),
            0
        );
        assert_eq!(changed(&|json| json["accessors"][2]["count"] = json!(3)), 0);
        assert_eq!(
            changed(&|json| json["bufferViews"][0]["byteOffset"] = json!(16)),
            0
        );
        let compressed = |json: &mut Value| {
            json["bufferViews"][0]["extensions"] =
                json!({"EXT_meshopt_compression": {"buffer": 1, "byteLength": 9}});
        };
        assert_eq!(changed(&compressed), 0);
        // Two accessors of the same column stay one.
        let mut twice = file();
        twice["accessors"][2]["byteOffset"] = json!(0);
        let packed = found(&twice)[&0].packed(&[0; 76], |_| true).unwrap();
        assert_eq!(
            (packed.stride, packed.offsets),
            (16, vec![(0, 0), (2, 0), (1, 12)])
        );
    }
}
