//! Patches a glTF file with new data: accessors are rewritten in place or appended, bytes are appended or stored in
//! unreferenced ranges.

use super::allocator::Allocator;
use super::json::{MESHOPT, entry_mut, index, is_used, place, short};
use super::pool::{Piece, Pool, Purpose, Reader, fill, join, set_view};
use super::ranges::Gone;
use super::uses::Uses;
use crate::io::gltf_json::{ComponentType, Target, accessor, members, target_code, type_name};
use ::gltf::json::accessor::Type;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

/// The smallest free range that justifies a buffer view of its own, bytes: the view's JSON takes about 60.
const LEAST_SHARED: usize = 96;

/// A glTF file being patched.
///
/// Call [`Patch::release`] for everything that will be replaced, then [`Patch::put`] for the replacements. An
/// unreferenced accessor is rewritten in place; one that is still referenced stays, and a new one is appended. The
/// [`Allocator`] decides where the bytes are stored.
pub(super) struct Patch {
    pub(super) json: Value,
    allocator: Allocator,
    /// Extensions of which an entry was removed; their names are removed from the lists of extensions with the last
    /// entry.
    pub(super) dropped_extensions: BTreeSet<&'static str>,
    uses: Uses,
    free_accessors: BTreeSet<usize>,
    free_views: BTreeSet<usize>,
    /// Unreferenced accessors without a replacement, free for any new data.
    spare_accessors: BTreeSet<usize>,
    /// The buffer view of a decompressed primitive: free, but without an accessor.
    spare_view: Option<usize>,
    /// The stored accessors, so that equal data for the same purpose is stored once.
    known: HashMap<NewAccessor, usize>,
    /// Data that shares buffer views and is not allocated yet.
    pool: Pool,
}

/// The content of an accessor.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct NewAccessor {
    /// The accessor that it replaces, rewritten in place if it has no other references.
    pub(super) replaces: Option<usize>,
    pub(super) component: ComponentType,
    pub(super) kind: Type,
    pub(super) normalized: bool,
    pub(super) count: usize,
    /// Tightly packed elements, padded to multiples of 4 bytes for vertex attributes.
    pub(super) bytes: Bytes,
    /// The target of the buffer view; vertex attributes also define its stride.
    pub(super) target: Option<Target>,
    /// The minimum and maximum of each component, as bits of f64.
    pub(super) bounds: Option<(Vec<u64>, Vec<u64>)>,
}

impl Patch {
    /// A patch of `json` whose new bytes are stored by `allocator`.
    pub(super) fn new(json: Value, allocator: Allocator) -> Self {
        Self {
            uses: Uses::count(&json),
            json,
            allocator,
            dropped_extensions: BTreeSet::new(),
            free_accessors: BTreeSet::new(),
            free_views: BTreeSet::new(),
            spare_accessors: BTreeSet::new(),
            spare_view: None,
            known: HashMap::new(),
            pool: Pool::default(),
        }
    }

    /// Ends a group of replacements: released accessors without a replacement become free for any new data.
    pub(super) fn settle(&mut self) {
        if self.allocator.reuses() {
            self.spare_accessors.append(&mut self.free_accessors);
        }
    }

    /// Removes one reference to an accessor; the caller removes or replaces the reference itself.
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
        let freed = freed.filter(|(_, (before, now))| **before > 0 && **now == 0);
        let freed: Vec<usize> = freed.map(|(view, _)| view).collect();
        self.allocator.leave_accessor(&self.json, entry);
        for view in freed {
            self.allocator.leave_view(&self.json, view);
            self.free_views.insert(view);
        }
    }

    /// Removes one reference to a buffer view that holds a compressed primitive.
    pub(super) fn release_view(&mut self, view: Option<usize>) {
        if let Some((i, count)) = view.and_then(|i| Some((i, self.uses.views.get_mut(i)?)))
            && *count > 0
        {
            *count -= 1;
            if *count == 0 {
                self.allocator.leave_view(&self.json, i);
                self.spare_view = Some(i);
            }
        }
    }

    /// Adds a reference to an accessor.
    pub(super) fn retain(&mut self, accessor: usize) {
        if let Some(count) = self.uses.accessors.get_mut(accessor) {
            *count += 1;
            if self.free_accessors.remove(&accessor) {
                self.allocator.mark_stale();
            }
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

    /// Stores `new` and returns the index of its accessor.
    pub(super) fn put(&mut self, new: NewAccessor) -> usize {
        self.put_either(new, false)
    }

    /// [`Patch::put`] for small data that may share a buffer view with other data of the same purpose. It does unless a
    /// buffer view of its own can be rewritten.
    pub(super) fn put_shared(&mut self, new: NewAccessor) -> usize {
        self.put_either(new, true)
    }

    fn put_either(&mut self, new: NewAccessor, shares: bool) -> usize {
        if let Some(&known) = self.known.get(&new) {
            return known;
        }
        let replaced = new.replaces.filter(|i| self.free_accessors.remove(i));
        let old = replaced.and_then(|i| entry_mut(&mut self.json, "accessors", i));
        let old_view = old.as_ref().and_then(|old| index(old.get("bufferView")));
        let mut entry = old.map(std::mem::take).unwrap_or_default();
        let has_view = old_view.is_some_and(|view| self.free_views.contains(&view));
        let view = (!shares || has_view).then(|| self.put_view(&new, old_view));
        describe(&mut entry, &new, view);
        let free = replaced.or_else(|| self.spare_accessors.pop_first());
        let i = place(&mut self.json, "accessors", free, entry);
        if view.is_none() {
            let purpose = Purpose {
                target: new.target.map(target_code),
                stride: new.stride(),
            };
            self.pool
                .add(purpose, new.bytes.clone(), Reader::Accessor(i));
        }
        self.known.insert(new, i);
        i
    }

    /// Stores a sparse accessor and returns its index. `entry`: the accessor without its sparse part, which has `count`
    /// substituted elements: indices of type `component` and values, tightly packed.
    ///
    /// The crate's sparse types require the buffer views, which are not allocated yet, and would write each
    /// `byteOffset` of 0.
    pub(super) fn put_sparse(
        &mut self,
        mut entry: Map<String, Value>,
        count: usize,
        (component, indices): (ComponentType, Bytes),
        values: Bytes,
    ) -> usize {
        entry.insert(
            "sparse".into(),
            json!({
                "count": count,
                "indices": {"bufferView": null, "componentType": component.as_gl_enum()},
                "values": {"bufferView": null}
            }),
        );
        let free = self.spare_accessors.pop_first();
        let i = place(&mut self.json, "accessors", free, entry);
        let plain = Purpose::default();
        self.pool.add(plain, indices, Reader::Indices(i));
        self.pool.add(plain, values, Reader::Values(i));
        i
    }

    /// Whether equal indices of a sparse accessor are stored already, so that they take no further bytes.
    pub(super) fn has_indices(&self, indices: &Bytes) -> bool {
        self.pool.has(Purpose::default(), indices)
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
        let at = self.store(new.bytes.clone());
        let purpose = Purpose {
            target: new.target.map(target_code),
            stride: new.stride(),
        };
        self.allocator
            .describe_view(&mut entry, at, new.bytes.len(), purpose);
        place(&mut self.json, "bufferViews", free, entry)
    }

    /// Stores bytes in an unreferenced range of the buffer, or appends them.
    fn store(&mut self, bytes: Bytes) -> usize {
        self.find_free();
        self.allocator.store(bytes)
    }

    /// Updates the unreferenced ranges if references changed.
    fn find_free(&mut self) {
        let gone = Gone {
            accessors: &self.free_accessors,
            spare_accessors: &self.spare_accessors,
            views: &self.free_views,
            spare_view: self.spare_view,
        };
        self.allocator.find_free(&self.json, &gone);
    }

    /// Allocates all data that shares buffer views, and clears leftover entries; nothing may be put afterwards. Free
    /// ranges are filled first; the rest is appended, as one buffer view per purpose.
    fn place_shared(&mut self) {
        for (purpose, mut pieces) in self.pool.take() {
            self.find_free();
            for room in self.allocator.gaps() {
                if room.len() < LEAST_SHARED || pieces.is_empty() {
                    break;
                }
                let (here, n) = fill(&mut pieces, &room);
                if n < LEAST_SHARED {
                    pieces.splice(0..0, here);
                    break;
                }
                let (bytes, starts) = join(&here);
                self.allocator.write_over(room.start, bytes);
                self.place_view(room.start, n, purpose, &here, &starts);
            }
            if !pieces.is_empty() {
                let (bytes, starts) = join(&pieces);
                let n = bytes.len();
                let at = self.store(bytes);
                self.place_view(at, n, purpose, &pieces, &starts);
            }
        }
        self.empty_leftovers();
    }

    /// Writes a buffer view of pieces that begin at `starts` in it, and updates the accessors that read them.
    fn place_view(
        &mut self,
        at: usize,
        length: usize,
        purpose: Purpose,
        pieces: &[Piece],
        starts: &[usize],
    ) {
        // What is left after everything else is allocated.
        let free = (self.allocator.reuses())
            .then(|| self.free_views.pop_first())
            .flatten();
        let mut entry = Map::new();
        self.allocator
            .describe_view(&mut entry, at, length, purpose);
        let view = place(&mut self.json, "bufferViews", free, entry);
        let Some(accessors) = self.json.get_mut("accessors") else {
            return;
        };
        for (piece, &start) in pieces.iter().zip(starts) {
            for &reader in &piece.readers {
                set_view(accessors, reader, view, start);
            }
        }
    }

    /// Makes leftover accessors accessors without data if their own data was overwritten.
    fn empty_leftovers(&mut self) {
        for i in std::mem::take(&mut self.free_accessors)
            .into_iter()
            .chain(std::mem::take(&mut self.spare_accessors))
        {
            let Some(entry) = entry_mut(&mut self.json, "accessors", i) else {
                continue;
            };
            let view = index(entry.get("bufferView"));
            let is_there = view.is_none_or(|view| {
                self.free_views.contains(&view) || self.uses.views.get(view).is_some_and(|n| *n > 0)
            });
            if self.allocator.reuses() || !is_there {
                *entry = members(&accessor(None, ComponentType::U8, Type::Scalar, 1));
            }
        }
    }

    /// Allocates pending data, assembles the buffer, and removes extensions without remaining entries from
    /// `extensionsUsed` and `extensionsRequired`.
    pub(super) fn finish(mut self) -> Patched {
        self.place_shared();
        let n_bytes_added = self.allocator.n_bytes_appended();
        let bytes = self.allocator.finish(&mut self.json);
        drop_names(&mut self.json, &self.dropped_extensions);
        Patched {
            json: self.json,
            bytes,
            n_bytes_added,
        }
    }
}

/// The result of a patch.
pub(super) struct Patched {
    pub(super) json: Value,
    /// The content of the buffer that receives new bytes.
    pub(super) bytes: Bytes,
    /// The number of bytes appended to it.
    pub(super) n_bytes_added: usize,
}

/// Removes unused extensions from `extensionsUsed` and `extensionsRequired`.
fn drop_names(json: &mut Value, extensions: &BTreeSet<&'static str>) {
    for name in extensions {
        if is_used(json, name) {
            continue;
        }
        for key in ["extensionsUsed", "extensionsRequired"] {
            let Some(root) = json.as_object_mut() else {
                return;
            };
            if let Some(Value::Array(names)) = root.get_mut(key) {
                names.retain(|n| n != name);
                // An empty array is invalid.
                if names.is_empty() {
                    root.shift_remove(key);
                }
            }
        }
    }
}

/// The crate's enums do not implement `Hash`.
impl Hash for NewAccessor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let target = self.target.map(target_code);
        let kind = type_name(self.kind);
        (self.replaces, self.component.as_gl_enum(), kind, target).hash(state);
        (self.normalized, self.count, &self.bytes, &self.bounds).hash(state);
    }
}

impl NewAccessor {
    /// The stride in bytes, which only vertex attributes define.
    fn stride(&self) -> Option<usize> {
        let is_vertices = self.target == Some(Target::ArrayBuffer) && self.count > 0;
        is_vertices.then(|| self.bytes.len() / self.count)
    }
}

/// Describes an accessor of `new` in `entry`; without a `view` if that is not known yet.
fn describe(entry: &mut Map<String, Value>, new: &NewAccessor, view: Option<usize>) {
    for key in ["byteOffset", "sparse"] {
        entry.shift_remove(key);
    }
    entry.insert("bufferView".into(), view.into());
    entry.insert("componentType".into(), new.component.as_gl_enum().into());
    if new.normalized {
        entry.insert("normalized".into(), true.into());
    } else {
        entry.shift_remove("normalized");
    }
    entry.insert("count".into(), new.count.into());
    entry.insert("type".into(), type_name(new.kind).into());
    if let Some((min, max)) = &new.bounds {
        let numbers = |bits: &Vec<u64>| -> Value {
            let values = bits.iter().map(|&b| f64::from_bits(b));
            values.map(|v| short(v as f32)).collect()
        };
        entry.insert("min".into(), numbers(min));
        entry.insert("max".into(), numbers(max));
    } else {
        entry.shift_remove("min");
        entry.shift_remove("max");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::gltf_export::allocator::Policy;
    use serde_json::json;

    /// A patch of `json`, whose buffer has `n` bytes.
    fn patch(json: Value, n: usize, policy: Policy) -> Patch {
        let allocator = Allocator::new(&json, 0, Bytes::from(vec![0; n]), policy);
        Patch::new(json, allocator)
    }

    fn floats(replaces: Option<usize>, values: &[f32]) -> NewAccessor {
        NewAccessor {
            replaces,
            component: ComponentType::F32,
            kind: Type::Scalar,
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
        let mut patch = patch(file(), 16, Policy::Append);
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
        let mut patch = patch(file(), 16, Policy::Append);
        patch.release(Some(1));
        let new = patch.put(floats(Some(1), &[1.0]));
        assert_eq!(new, 2);
        assert_eq!(
            patch.put(floats(Some(1), &[1.0])),
            new,
            "equal data is stored once"
        );
        assert_eq!(patch.json["accessors"][1], file()["accessors"][1]);
        assert_eq!(patch.allocator.n_bytes_appended(), 4);
    }

    #[test]
    fn the_last_entry_of_an_extension_takes_it_off_the_lists() {
        let mut patch = patch(
            json!({"extensionsUsed": ["A", "EXT_meshopt_compression"],
                   "extensionsRequired": ["EXT_meshopt_compression"],
                   "bufferViews": [{"buffer": 1, "extensions": {"EXT_meshopt_compression": {}}}],
                   "accessors": [{"bufferView": 0}],
                   "skins": [{"inverseBindMatrices": 0}]}),
            0,
            Policy::Append,
        );
        assert!(patch.is_compressed(0));
        patch.release(Some(0));
        patch.put(floats(Some(0), &[1.0]));
        let json = patch.finish().json;
        assert_eq!(json["extensionsUsed"], json!(["A"]));
        assert!(json.get("extensionsRequired").is_none());
        assert!(json["bufferViews"][0].get("extensions").is_none());
    }

    /// Two vertices whose weights are interleaved in a buffer view with other data, joints in a buffer view of their
    /// own, and an image at the end.
    fn skinned() -> Value {
        let accessor = |view: usize, at: usize, component: u32, kind: &str| json!({"bufferView": view, "byteOffset": at, "componentType": component, "count": 2, "type": kind});
        json!({
            "buffers": [{"byteLength": 300}],
            "bufferViews": [
                {"buffer": 0, "byteLength": 96, "byteStride": 16, "target": 34962},
                {"buffer": 0, "byteOffset": 96, "byteLength": 130},
                {"buffer": 0, "byteOffset": 226, "byteLength": 74}],
            "accessors": [accessor(0, 0, 5126, "VEC3"), accessor(0, 32, 5126, "VEC4"), accessor(1, 0, 5123, "VEC4")],
            "images": [{"bufferView": 2}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "WEIGHTS_0": 1, "JOINTS_0": 2}}]}]
        })
    }

    /// A patch of `json` whose weights and joints were released.
    fn over(json: Value) -> Patch {
        let mut patch = patch(json, 300, Policy::Reuse);
        patch.release(Some(1));
        patch.release(Some(2));
        patch
    }

    fn places(patch: &Patch) -> Vec<(usize, usize)> {
        let places = patch.allocator.overwritten.iter();
        places.map(|(at, bytes)| (*at, bytes.len())).collect()
    }

    #[test]
    fn freed_bytes_are_written_over_first() {
        let mut patch = over(skinned());
        // The weights were at 32 - 64 of the first view, which the positions still use.
        patch.put(floats(Some(1), &[1.0; 8]));
        // The joints have 130 bytes, of which 100 are used.
        patch.put(floats(Some(2), &[2.0; 25]));
        // There is no space for this, or for a part of it.
        patch.put(floats(None, &[3.0; 9]));
        assert_eq!(places(&patch), [(32, 32), (96, 100)]);
        assert_eq!(patch.allocator.n_bytes_appended(), 36);
        assert_eq!(patch.json["bufferViews"][0], skinned()["bufferViews"][0]);
        assert_eq!(patch.json["bufferViews"][1]["byteOffset"], 96);
        assert_eq!(patch.json["bufferViews"][1]["byteLength"], 100);
    }

    #[test]
    fn bytes_begin_at_multiples_of_four() {
        let mut json = skinned();
        json["bufferViews"][1] = json!({"buffer": 0, "byteOffset": 98, "byteLength": 10});
        json["accessors"][2]["count"] = 1.into();
        let mut patch = over(json);
        patch.put(floats(Some(1), &[1.0; 8]));
        // 98 - 108 are free, of which 100 is the first multiple of 4.
        patch.put(floats(None, &[2.0; 3]));
        assert_eq!(places(&patch), [(32, 32)]);
        patch.put(floats(None, &[3.0; 2]));
        assert_eq!(places(&patch), [(32, 32), (100, 8)]);
    }

    #[test]
    fn bytes_that_another_view_overlaps_stay() {
        let mut json = skinned();
        json["accessors"]
            .as_array_mut()
            .unwrap()
            .push(json!({"bufferView": 3, "componentType": 5121, "count": 8, "type": "SCALAR"}));
        json["bufferViews"].as_array_mut().unwrap().push(json!(
            {"buffer": 0, "byteOffset": 40, "byteLength": 160,
             "extensions": {"EXT_meshopt_compression": {"buffer": 0, "byteOffset": 40, "byteLength": 160}}}));
        json["meshes"][0]["primitives"][0]["indices"] = 3.into();
        let mut patch = over(json);
        patch.put(floats(None, &[1.0; 3]));
        patch.put(floats(None, &[2.0; 2]));
        patch.put(floats(None, &[1.0; 6]));
        // 32 - 40 and 200 - 226 stay free.
        assert_eq!(places(&patch), [(200, 12), (32, 8)]);
        assert_eq!(patch.allocator.n_bytes_appended(), 24);
    }

    #[test]
    fn what_an_unknown_extension_may_point_into_stays() {
        let mut json = skinned();
        json["extensions"] = json!({"VENDOR_thing": {"offset": 96}});
        let mut patch = over(json);
        patch.put_shared(floats(None, &[1.0; 40]));
        patch.put(floats(Some(1), &[1.0; 8]));
        patch.place_shared();
        assert!(patch.allocator.overwritten.is_empty());
        assert_eq!(patch.allocator.n_bytes_appended(), 192);
        // Numbers of known meaning that are not references do no harm.
        let mut json = skinned();
        json["extensions"] = json!({"KHR_lights_punctual": {"lights": [{"intensity": 96}]}});
        let mut patch = over(json);
        patch.put(floats(Some(1), &[1.0; 8]));
        assert_eq!(places(&patch), [(32, 32)]);
        // The policy Append never reuses bytes.
        let mut patch = super::tests::patch(skinned(), 300, Policy::Append);
        patch.release(Some(1));
        patch.put(floats(Some(1), &[1.0; 8]));
        assert!(patch.allocator.overwritten.is_empty());
    }

    #[test]
    fn what_shares_views_fills_gaps_and_leaves_no_entry_behind() {
        let mut patch = over(skinned());
        patch.put(floats(Some(1), &[1.0; 8]));
        patch.settle();
        // It replaces the joints' accessor.
        let large = patch.put_shared(floats(None, &[1.0; 31]));
        let small = patch.put_shared(floats(None, &[2.0; 1]));
        let sparse = patch.put_sparse(
            Map::new(),
            2,
            (ComponentType::U8, Bytes::from_static(&[0, 1])),
            Bytes::from_static(&[7; 24]),
        );
        assert_eq!((large, small, sparse), (2, 3, 4));
        patch.place_shared();
        // The joints' 130 bytes hold all but the values; their buffer view is reused.
        assert_eq!(places(&patch), [(32, 32), (96, 130)]);
        let json = &patch.json;
        assert_eq!(json["bufferViews"].as_array().unwrap().len(), 5);
        let place = |entry: &Value| {
            let offset = entry.get("byteOffset").map_or(0, |o| o.as_u64().unwrap());
            (entry["bufferView"].as_u64().unwrap(), offset)
        };
        assert_eq!(place(&json["accessors"][2]), (1, 0));
        assert_eq!(place(&json["accessors"][3]), (1, 124));
        assert_eq!(place(&json["accessors"][4]["sparse"]["indices"]), (1, 128));
        assert_eq!(place(&json["accessors"][4]["sparse"]["values"]), (4, 0));
        assert_eq!(patch.allocator.n_bytes_appended(), 24);
    }

    #[test]
    fn what_nothing_replaces_holds_no_data() {
        let mut patch = over(skinned());
        patch.put(floats(Some(1), &[1.0; 40]));
        patch.place_shared();
        assert_eq!(
            patch.json["accessors"][2],
            json!({"componentType": 5121, "count": 1, "type": "SCALAR"})
        );
    }
}
