//! New data for a glTF file: accessors rewritten in their place or appended, bytes always appended.

use super::uses::{Uses, index};
use bytes::Bytes;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};

/// glTF's number for f32.
pub(super) const FLOAT: u32 = 5126;
/// glTF's number for u8.
pub(super) const UNSIGNED_BYTE: u32 = 5121;
/// glTF's number for u16.
pub(super) const UNSIGNED_SHORT: u32 = 5123;
/// glTF's number for u32.
pub(super) const UNSIGNED_INT: u32 = 5125;
/// glTF's target for vertex attributes.
pub(super) const ARRAY_BUFFER: u32 = 34962;
/// glTF's target for indices.
pub(super) const ELEMENT_ARRAY_BUFFER: u32 = 34963;

/// The names that compress a buffer view.
pub(super) const MESHOPT: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// A file in the making.
///
/// The order of work: [`Patch::release`] everything that will be replaced, then [`Patch::put`] what replaces it. An
/// accessor that nobody refers to any more is rewritten in its place; one that somebody still refers to is left alone
/// and the new one appended. Bytes are only ever appended: other views may overlap the old ones, or extensions that
/// are not known may point into them.
pub(super) struct Patch {
    pub(super) json: Value,
    /// Pieces to append to the buffer `buffer`, each a multiple of 4 bytes long.
    pub(super) appended: Vec<Bytes>,
    /// Extensions of which an entry went away, to be taken off the lists of extensions if it was the last.
    pub(super) dropped_extensions: BTreeSet<&'static str>,
    /// Where the first appended piece lies in the buffer.
    pub(super) first_byte: usize,
    buffer: usize,
    next_byte: usize,
    uses: Uses,
    free_accessors: BTreeSet<usize>,
    free_views: BTreeSet<usize>,
    /// The view of a compressed primitive that is written anew: free, but no accessor's.
    spare_view: Option<usize>,
    /// What was put, so that equal data for the same place is stored once.
    known: HashMap<NewAccessor, usize>,
}

/// Content for an accessor.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct NewAccessor {
    /// The accessor that it replaces, rewritten in place if nobody else refers to it.
    pub(super) replaces: Option<usize>,
    pub(super) component: u32,
    /// "SCALAR", "VEC4" ...
    pub(super) kind: String,
    pub(super) normalized: bool,
    pub(super) count: usize,
    /// Tightly packed elements; each a multiple of 4 bytes for vertex attributes.
    pub(super) bytes: Bytes,
    /// What the buffer view is for; vertex attributes also state their stride.
    pub(super) target: Option<u32>,
    /// Smallest and largest value of each component, as bits of f64.
    pub(super) bounds: Option<(Vec<u64>, Vec<u64>)>,
}

impl Patch {
    /// A patch of `json` whose new bytes are put into buffer `buffer`, from its byte `first_byte` (a multiple of 4).
    pub(super) fn new(json: Value, buffer: usize, first_byte: usize) -> Self {
        Self {
            uses: Uses::count(&json),
            json,
            appended: Vec::new(),
            dropped_extensions: BTreeSet::new(),
            first_byte,
            buffer,
            next_byte: first_byte,
            free_accessors: BTreeSet::new(),
            free_views: BTreeSet::new(),
            spare_view: None,
            known: HashMap::new(),
        }
    }

    /// Takes away one reference to an accessor; the caller removes or replaces the reference itself.
    pub(super) fn release(&mut self, accessor: Option<usize>) {
        let Some(i) = accessor else { return };
        let Some(count) = self.uses.accessors.get_mut(i).filter(|count| **count > 0) else {
            return;
        };
        *count -= 1;
        if *count > 0 {
            return;
        }
        self.free_accessors.insert(i);
        let Some(entry) = self.json.get("accessors").and_then(|list| list.get(i)) else {
            return;
        };
        let before = self.uses.views.clone();
        self.uses.views_of_accessor(entry, -1);
        let freed = before.iter().zip(&self.uses.views).enumerate();
        self.free_views.extend(
            freed
                .filter(|(_, (before, now))| **before > 0 && **now == 0)
                .map(|(view, _)| view),
        );
    }

    /// Takes away one reference to a buffer view that holds a compressed primitive.
    pub(super) fn release_view(&mut self, view: Option<usize>) {
        if let Some((i, count)) = view.and_then(|i| Some((i, self.uses.views.get_mut(i)?)))
            && *count > 0
        {
            *count -= 1;
            if *count == 0 {
                self.spare_view = Some(i);
            }
        }
    }

    /// Adds a reference to an accessor that somebody refers to already.
    pub(super) fn retain(&mut self, accessor: usize) {
        if let Some(count) = self.uses.accessors.get_mut(accessor) {
            *count += 1;
        }
    }

    /// Whether the data of an accessor is stored compressed.
    pub(super) fn is_compressed(&self, accessor: usize) -> bool {
        let view = self
            .json
            .get("accessors")
            .and_then(|list| list.get(accessor))
            .and_then(|accessor| index(accessor.get("bufferView")));
        let extensions = view
            .and_then(|view| self.json.get("bufferViews")?.get(view))
            .and_then(|view| view.get("extensions"));
        MESHOPT
            .iter()
            .any(|name| extensions.is_some_and(|e| e.get(name).is_some()))
    }

    /// Stores `new` and gives the index of its accessor.
    pub(super) fn put(&mut self, new: NewAccessor) -> usize {
        if let Some(&known) = self.known.get(&new) {
            return known;
        }
        let free = new.replaces.filter(|i| self.free_accessors.remove(i));
        let old = free.and_then(|i| entry_mut(&mut self.json, "accessors", i));
        let old_view = old.as_ref().and_then(|old| index(old.get("bufferView")));
        let mut entry = old.map(std::mem::take).unwrap_or_default();
        let view = self.put_view(&new, old_view);

        for key in ["byteOffset", "sparse"] {
            entry.shift_remove(key);
        }
        entry.insert("bufferView".into(), view.into());
        entry.insert("componentType".into(), new.component.into());
        if new.normalized {
            entry.insert("normalized".into(), true.into());
        } else {
            entry.shift_remove("normalized");
        }
        entry.insert("count".into(), new.count.into());
        entry.insert("type".into(), new.kind.as_str().into());
        if let Some((min, max)) = &new.bounds {
            let numbers = |bits: &Vec<u64>| -> Value {
                bits.iter().map(|&b| number(f64::from_bits(b))).collect()
            };
            entry.insert("min".into(), numbers(min));
            entry.insert("max".into(), numbers(max));
        } else {
            entry.shift_remove("min");
            entry.shift_remove("max");
        }
        let i = place(&mut self.json, "accessors", free, entry);
        self.known.insert(new, i);
        i
    }

    /// Stores plain bytes and gives the index of their buffer view.
    pub(super) fn put_bytes(&mut self, bytes: Bytes) -> usize {
        let plain = NewAccessor {
            replaces: None,
            component: UNSIGNED_BYTE,
            kind: "SCALAR".into(),
            normalized: false,
            count: bytes.len(),
            bytes,
            target: None,
            bounds: None,
        };
        self.put_view(&plain, None)
    }

    fn put_view(&mut self, new: &NewAccessor, old: Option<usize>) -> usize {
        let free = old
            .filter(|i| self.free_views.remove(i))
            .or_else(|| self.spare_view.take());
        let mut entry = free
            .and_then(|i| entry_mut(&mut self.json, "bufferViews", i))
            .map(std::mem::take)
            .unwrap_or_default();
        if let Some(Value::Object(extensions)) = entry.get_mut("extensions") {
            for name in MESHOPT {
                if extensions.shift_remove(name).is_some() {
                    self.dropped_extensions.insert(name);
                }
            }
            if extensions.is_empty() {
                entry.shift_remove("extensions");
            }
        }
        entry.insert("buffer".into(), self.buffer.into());
        entry.insert("byteOffset".into(), self.next_byte.into());
        entry.insert("byteLength".into(), new.bytes.len().into());
        match new.target {
            Some(ARRAY_BUFFER) if new.count > 0 => {
                entry.insert("byteStride".into(), (new.bytes.len() / new.count).into());
            }
            _ => {
                entry.shift_remove("byteStride");
            }
        }
        match new.target {
            Some(target) => entry.insert("target".into(), target.into()),
            None => entry.shift_remove("target"),
        };
        let padding = new.bytes.len().next_multiple_of(4) - new.bytes.len();
        self.next_byte += new.bytes.len() + padding;
        self.appended.push(new.bytes.clone());
        if padding > 0 {
            self.appended
                .push(Bytes::from_static(&[0; 3]).slice(..padding));
        }
        place(&mut self.json, "bufferViews", free, entry)
    }

    /// Takes extensions of which the last entry went away off `extensionsUsed` and `extensionsRequired`.
    pub(super) fn finish(&mut self) {
        for name in std::mem::take(&mut self.dropped_extensions) {
            if is_used(&self.json, name) {
                continue;
            }
            for key in ["extensionsUsed", "extensionsRequired"] {
                let Some(root) = self.json.as_object_mut() else {
                    return;
                };
                if let Some(Value::Array(names)) = root.get_mut(key) {
                    names.retain(|n| n != name);
                    // An empty list is an error of its own.
                    if names.is_empty() {
                        root.shift_remove(key);
                    }
                }
            }
        }
    }
}

/// The JSON number nearest to `value`; whole ones without a point.
pub(super) fn number(value: f64) -> Value {
    if value == value.trunc() && value.abs() < 1e15 && !(value == 0.0 && value.is_sign_negative()) {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

/// The object `list[i]` of the file.
pub(super) fn entry_mut<'a>(
    json: &'a mut Value,
    list: &str,
    i: usize,
) -> Option<&'a mut Map<String, Value>> {
    json.get_mut(list)?.get_mut(i)?.as_object_mut()
}

/// Puts `entry` back into its place, or at the end of the list.
pub(super) fn place(
    json: &mut Value,
    list: &str,
    at: Option<usize>,
    entry: Map<String, Value>,
) -> usize {
    let Some(root) = json.as_object_mut() else {
        return 0;
    };
    let items = root.entry(list).or_insert_with(|| Value::Array(Vec::new()));
    if !items.is_array() {
        *items = Value::Array(Vec::new());
    }
    let Some(items) = items.as_array_mut() else {
        return 0;
    };
    if let Some((i, item)) = at.and_then(|i| Some((i, items.get_mut(i)?))) {
        *item = Value::Object(entry);
        return i;
    }
    items.push(Value::Object(entry));
    items.len() - 1
}

/// Whether any `extensions` object has an entry of this name.
fn is_used(value: &Value, name: &str) -> bool {
    match value {
        Value::Array(items) => items.iter().any(|item| is_used(item, name)),
        Value::Object(map) => {
            map.get("extensions").is_some_and(|e| e.get(name).is_some())
                || map.values().any(|item| is_used(item, name))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn floats(replaces: Option<usize>, values: &[f32]) -> NewAccessor {
        NewAccessor {
            replaces,
            component: FLOAT,
            kind: "SCALAR".into(),
            normalized: false,
            count: values.len(),
            bytes: Bytes::copy_from_slice(bytemuck::cast_slice(values)),
            target: None,
            bounds: None,
        }
    }

    fn file() -> Value {
        json!({
            "bufferViews": [{"buffer": 0, "byteLength": 8, "name": "own"}, {"buffer": 0, "byteLength": 8}],
            "accessors": [
                {"name": "mine", "bufferView": 0, "byteOffset": 4, "componentType": 5121, "count": 9, "type": "VEC4",
                 "sparse": {"count": 1, "indices": {"bufferView": 1}, "values": {"bufferView": 1}}, "max": [1]},
                {"bufferView": 1}],
            "animations": [{"samplers": [{"input": 0, "output": 1}, {"input": 1, "output": 1}]}]
        })
    }

    #[test]
    fn an_accessor_of_ones_own_is_rewritten_in_place() {
        let mut patch = Patch::new(file(), 0, 16);
        patch.release(Some(0));
        assert_eq!(patch.put(floats(Some(0), &[1.0, 2.0])), 0);
        assert_eq!(
            patch.json["accessors"][0],
            json!({"name": "mine", "bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR"})
        );
        assert_eq!(
            patch.json["bufferViews"][0],
            json!({"buffer": 0, "byteLength": 8, "name": "own", "byteOffset": 16})
        );
        assert_eq!(patch.json["accessors"][1], file()["accessors"][1]);
    }

    #[test]
    fn an_accessor_that_others_read_is_left_alone() {
        let mut patch = Patch::new(file(), 0, 16);
        patch.release(Some(1));
        let new = patch.put(floats(Some(1), &[1.0]));
        assert_eq!(new, 2);
        assert_eq!(
            patch.put(floats(Some(1), &[1.0])),
            new,
            "equal data is stored once"
        );
        assert_eq!(patch.json["accessors"][1], file()["accessors"][1]);
        assert_eq!(patch.appended.iter().map(Bytes::len).sum::<usize>(), 4);
    }

    #[test]
    fn the_last_entry_of_an_extension_takes_it_off_the_lists() {
        let mut patch = Patch::new(
            json!({"extensionsUsed": ["A", "EXT_meshopt_compression"],
                   "extensionsRequired": ["EXT_meshopt_compression"],
                   "bufferViews": [{"buffer": 1, "extensions": {"EXT_meshopt_compression": {}}}],
                   "accessors": [{"bufferView": 0}],
                   "skins": [{"inverseBindMatrices": 0}]}),
            0,
            0,
        );
        assert!(patch.is_compressed(0));
        patch.release(Some(0));
        patch.put(floats(Some(0), &[1.0]));
        patch.finish();
        assert_eq!(patch.json["extensionsUsed"], json!(["A"]));
        assert!(patch.json.get("extensionsRequired").is_none());
        assert!(patch.json["bufferViews"][0].get("extensions").is_none());
    }

    #[test]
    fn numbers_are_written_as_short_as_they_are() {
        assert_eq!(number(2.0).to_string(), "2");
        assert_eq!(number(-0.0).to_string(), "-0.0");
        assert_eq!(number(f64::from(0.1f32)).to_string(), "0.10000000149011612");
    }
}
