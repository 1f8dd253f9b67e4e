//! The unreferenced byte ranges of a buffer.

use super::json::{DRACO, MESHOPT, each, index};
use crate::io::gltf_json::component_type;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;

/// Disjoint byte ranges in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<Range<usize>>);

impl Ranges {
    /// Adds a range, which may overlap existing ones.
    pub(super) fn add(&mut self, range: Range<usize>) {
        self.remove(&range);
        if !range.is_empty() {
            let at = self.0.partition_point(|own| own.start < range.start);
            self.0.insert(at, range);
        }
        self.0.dedup_by(|next, own| {
            let touches = own.end == next.start;
            if touches {
                own.end = next.end;
            }
            touches
        });
    }

    /// Removes a range, which may be partly absent.
    pub(super) fn remove(&mut self, range: &Range<usize>) {
        if range.is_empty() {
            return;
        }
        let rest = self.0.iter().flat_map(|own| {
            let before = own.start..own.end.min(range.start);
            let after = own.start.max(range.end)..own.end;
            [before, after]
        });
        self.0 = rest.filter(|part| !part.is_empty()).collect();
    }

    /// Takes the first `n` contiguous bytes that begin at a multiple of 4; returns their offset.
    pub(super) fn take(&mut self, n: usize) -> Option<usize> {
        let places = self.0.iter().map(|own| (aligned(own.start), own.end));
        let at = places
            .filter(|(start, end)| start.saturating_add(n) <= *end)
            .map(|(start, _)| start)
            .next()?;
        self.remove(&(at..at + n));
        Some(at)
    }

    /// The ranges, the longest first, each from its first multiple of 4.
    pub(super) fn by_length(&self) -> Vec<Range<usize>> {
        let ranges = self.0.iter().map(|own| aligned(own.start)..own.end);
        let mut ranges: Vec<_> = ranges.filter(|own| !own.is_empty()).collect();
        ranges.sort_by_key(|own| std::cmp::Reverse(own.len()));
        ranges
    }

    /// Removes the bytes of buffer `buffer` that accessors and buffer views of the file reference, except those of
    /// `gone`.
    ///
    /// A buffer view that only accessors read references the bytes that these read; any other, including one that
    /// nothing reads, references all of its bytes.
    pub(super) fn remove_held(&mut self, json: &Value, buffer: usize, gone: &Gone<'_>) {
        let views: Vec<&Value> = each(json, "bufferViews").collect();
        let mut spans: Vec<Vec<Range<usize>>> = vec![Vec::new(); views.len()];
        let mut whole = vec![false; views.len()];
        let mut hold_all = |view: Option<&Value>| {
            if let Some(whole) = index(view).and_then(|view| whole.get_mut(view)) {
                *whole = true;
            }
        };
        for (_, accessor) in each(json, "accessors")
            .enumerate()
            .filter(|(i, _)| !gone.accessors.contains(i) && !gone.spare_accessors.contains(i))
        {
            let view = accessor.get("bufferView");
            match (span(json, accessor, buffer), index(view)) {
                (Some(span), Some(view)) if view < spans.len() => spans[view].push(span),
                _ => hold_all(view),
            }
            for part in ["indices", "values"] {
                let part = accessor.get("sparse").and_then(|sparse| sparse.get(part));
                hold_all(part.and_then(|part| part.get("bufferView")));
            }
        }
        for image in each(json, "images") {
            hold_all(image.get("bufferView"));
        }
        for primitive in each(json, "meshes").flat_map(|mesh| each(mesh, "primitives")) {
            let extensions = primitive.get("extensions");
            let draco = extensions.and_then(|e| e.get(DRACO));
            hold_all(draco.and_then(|draco| draco.get("bufferView")));
        }
        for (v, view) in views.iter().enumerate() {
            for name in MESHOPT {
                let extension = view.get("extensions").and_then(|e| e.get(name));
                if let Some(range) = extension.and_then(|e| range_of(e, buffer)) {
                    self.remove(&range);
                    whole[v] = true;
                }
            }
            if gone.views.contains(&v) || gone.spare_view == Some(v) {
                continue;
            }
            if whole[v] || spans[v].is_empty() {
                if let Some(range) = range_of(view, buffer) {
                    self.remove(&range);
                }
            } else {
                for span in &spans[v] {
                    self.remove(span);
                }
            }
        }
    }
}

/// Unreferenced entries of the file.
pub(super) struct Gone<'a> {
    pub(super) accessors: &'a BTreeSet<usize>,
    pub(super) spare_accessors: &'a BTreeSet<usize>,
    pub(super) views: &'a BTreeSet<usize>,
    pub(super) spare_view: Option<usize>,
}

/// The byte range in buffer `buffer` of a buffer view, or of its compression extension; `None` if it is in another
/// buffer.
pub(super) fn range_of(view: &Value, buffer: usize) -> Option<Range<usize>> {
    if index(view.get("buffer")) != Some(buffer) {
        return None;
    }
    let start = index(view.get("byteOffset")).unwrap_or(0);
    Some(start..start.saturating_add(index(view.get("byteLength"))?))
}

/// The byte range in buffer `buffer` from the first element of an accessor to its last, including gaps; `None` if the
/// data is compressed, in another buffer, or exceeds its buffer view.
pub(super) fn span(json: &Value, accessor: &Value, buffer: usize) -> Option<Range<usize>> {
    let view = each(json, "bufferViews").nth(index(accessor.get("bufferView"))?)?;
    let extensions = view.get("extensions");
    if MESHOPT
        .iter()
        .any(|name| extensions.is_some_and(|e| e.get(name).is_some()))
    {
        return None;
    }
    let within = range_of(view, buffer)?;
    let size = element_size(accessor)?;
    let count = index(accessor.get("count"))?.checked_sub(1)?;
    let stride = index(view.get("byteStride")).map_or(size, |stride| stride.max(size));
    let start = within
        .start
        .checked_add(index(accessor.get("byteOffset")).unwrap_or(0))?;
    let end = start.checked_add(stride.checked_mul(count)?.checked_add(size)?)?;
    (end <= within.end).then_some(start..end)
}

/// The bytes per element; columns of matrices begin at multiples of 4.
pub(super) fn element_size(accessor: &Value) -> Option<usize> {
    let code = index(accessor.get("componentType"))?;
    let size = component_type(code as u64)?.size();
    Some(match accessor.get("type")?.as_str()? {
        "SCALAR" => size,
        "VEC2" => 2 * size,
        "VEC3" => 3 * size,
        "VEC4" => 4 * size,
        "MAT2" => 2 * aligned(2 * size),
        "MAT3" => 3 * aligned(3 * size),
        "MAT4" => 16 * size,
        _ => return None,
    })
}

fn aligned(n: usize) -> usize {
    n.checked_next_multiple_of(4).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ranges(list: &[Range<usize>]) -> Ranges {
        let mut ranges = Ranges::default();
        for range in list {
            ranges.add(range.clone());
        }
        ranges
    }

    #[test]
    fn ranges_are_joined_cut_and_taken() {
        let mut free = ranges(&[20..30, 0..7, 5..12, 30..33]);
        assert_eq!(free.0, [0..12, 20..33]);
        free.remove(&(3..21));
        assert_eq!(free.0, [0..3, 21..33]);
        assert_eq!(free.take(10), None, "the first multiple of 4 is 24");
        assert_eq!(free.take(8), Some(24));
        assert_eq!(free.0, [0..3, 21..24, 32..33]);
        assert_eq!(free.by_length(), [0..3, 32..33]);
    }

    #[test]
    fn elements_with_a_stride_reach_to_the_last_ones_end() {
        let json = json!({"bufferViews": [
            {"buffer": 0, "byteOffset": 100, "byteLength": 60, "byteStride": 20},
            {"buffer": 0, "byteLength": 8, "extensions": {"EXT_meshopt_compression": {"buffer": 0, "byteLength": 4}}}]});
        let accessor = |view: usize, kind: &str, count: usize| json!({"bufferView": view, "byteOffset": 4, "componentType": 5123, "type": kind, "count": count});
        assert_eq!(span(&json, &accessor(0, "VEC3", 3), 0), Some(104..150));
        assert_eq!(span(&json, &accessor(0, "MAT3", 1), 0), Some(104..128));
        assert_eq!(span(&json, &accessor(0, "VEC3", 4), 0), None);
        assert_eq!(span(&json, &accessor(0, "VEC3", 3), 1), None);
        assert_eq!(span(&json, &accessor(1, "SCALAR", 1), 0), None);
    }

    #[test]
    fn what_anything_reads_is_held() {
        let accessor = |view: usize, at: usize| json!({"bufferView": view, "byteOffset": at, "componentType": 5126, "type": "SCALAR", "count": 1});
        let json = json!({
            "bufferViews": [
                {"buffer": 0, "byteLength": 12}, {"buffer": 0, "byteOffset": 12, "byteLength": 8},
                {"buffer": 0, "byteOffset": 20, "byteLength": 8}, {"buffer": 0, "byteOffset": 28, "byteLength": 4},
                {"buffer": 1, "byteLength": 8,
                 "extensions": {"EXT_meshopt_compression": {"buffer": 0, "byteOffset": 32, "byteLength": 4}}}],
            "accessors": [accessor(0, 4), accessor(0, 8),
                {"componentType": 5126, "type": "SCALAR", "count": 9, "sparse": {"count": 1,
                 "indices": {"bufferView": 2, "byteOffset": 4}, "values": {"bufferView": 2}}}],
            "images": [{"bufferView": 1}]
        });
        let (gone_accessors, none) = (BTreeSet::from([1]), BTreeSet::new());
        let mut free = Ranges::default();
        free.add(0..40);
        let gone = Gone {
            accessors: &gone_accessors,
            spare_accessors: &none,
            views: &none,
            spare_view: None,
        };
        free.remove_held(&json, 0, &gone);
        // Of the first buffer view only what an accessor reads; nothing known reads the fourth.
        assert_eq!(free.0, [0..4, 8..12, 36..40]);
    }
}
