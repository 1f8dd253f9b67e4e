//! Patches a glTF file with new data: accessors are rewritten in place or appended, bytes are appended or stored in
//! unreferenced ranges.

use super::allocator::Allocator;
use super::interleaved::Interleaved;
use super::json::{MESHOPT, entry_mut, index, is_used, place, short};
use super::pool::{Piece, Pool, Purpose, Reader, fill, join, set_view};
use super::ranges::{Gone, element_size};
use super::uses::Uses;
use crate::io::gltf_json::{ComponentType, Target, accessor, members, target_code, type_name};
use ::gltf::json::accessor::Type;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet, HashMap};
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

    /// The number of references to an accessor.
    pub(super) fn n_references(&self, accessor: usize) -> u32 {
        self.uses.accessors.get(accessor).copied().unwrap_or(0)
    }

    /// The buffer view of an accessor.
    pub(super) fn view_of(&self, accessor: usize) -> Option<usize> {
        let entry = self.json.get("accessors")?.get(accessor)?;
        index(entry.get("bufferView"))
    }

    /// Whether the data of an accessor is stored compressed.
    pub(super) fn is_compressed(&self, accessor: usize) -> bool {
        let extensions = self
            .view_of(accessor)
            .and_then(|view| self.json.get("bufferViews")?.get(view))
            .and_then(|view| view.get("extensions"));
        MESHOPT
            .iter()
            .any(|name| extensions.is_some_and(|e| e.get(name).is_some()))
    }

    /// The interleaved buffer views from which [`Patch::narrow`] can remove attributes, by their indices.
    pub(super) fn interleaved(&self) -> BTreeMap<usize, Interleaved> {
        let mut found = self.allocator.interleaved(&self.json, &self.uses);
        // The readers of a view are counted without accessors that are released already.
        found.retain(|_, rows| {
            let mut columns = rows.columns();
            columns.all(|(accessor, _)| self.n_references(accessor) > 0)
        });
        found
    }

    /// The bytes of an element of an accessor whose bytes become free once `n_references` to it are released: it has no
    /// others, and shares its bytes with no other attribute, or is in one of the `interleaved` views. `None` for any other.
    pub(super) fn separable_element(
        &self,
        accessor: usize,
        n_references: u32,
        interleaved: &BTreeMap<usize, Interleaved>,
    ) -> Option<usize> {
        let entry = self.json.get("accessors")?.get(accessor)?;
        let size = element_size(entry)?;
        let at = index(entry.get("bufferView"))?;
        let view = self.json.get("bufferViews")?.get(at)?;
        let stride = index(view.get("byteStride")).unwrap_or(size);
        let is_separable = self.allocator.may_reuse(&self.json, entry)
            && (stride == size || interleaved.contains_key(&at))
            && entry.get("sparse").is_none()
            && !self.is_compressed(accessor)
            && self.n_references(accessor) == n_references;
        is_separable.then_some(size)
    }

    /// Removes released accessors from interleaved buffer views that others still read, which frees their bytes.
    pub(super) fn narrow(&mut self, interleaved: &BTreeMap<usize, Interleaved>) {
        let mut views = BTreeSet::new();
        for &accessor in &self.free_accessors {
            let view = self.view_of(accessor);
            views.extend(view.filter(|view| !self.free_views.contains(view)));
        }
        for view in views {
            let Some(rows) = interleaved.get(&view) else {
                continue;
            };
            let keeps = |accessor: usize| !self.free_accessors.contains(&accessor);
            let Some(packed) = rows.packed(self.allocator.old(), keeps) else {
                continue;
            };
            if let Some(entry) = entry_mut(&mut self.json, "bufferViews", view) {
                entry.insert("byteLength".into(), packed.rows.len().into());
                entry.insert("byteStride".into(), packed.stride.into());
            }
            for (accessor, offset) in packed.offsets {
                if let Some(entry) = entry_mut(&mut self.json, "accessors", accessor) {
                    entry.insert("byteOffset".into(), offset.into());
                }
            }
            self.allocator.shorten(&rows.range, packed.rows.into());
        }
    }

    /// Stores `new` and returns the index of its accessor.
    pub(super) fn put(&mut self, new: NewAccessor) -> usize {
        self.put_either(new, false)
    }

    /// Adds an extension without which the file cannot be read.
    pub(super) fn require_extension(&mut self, name: &str) {
        require(&mut self.json, name);
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

impl Patched {
    /// Adds an extension without which the file cannot be read.
    pub(super) fn require_extension(&mut self, name: &str) {
        require(&mut self.json, name);
    }
}

fn require(json: &mut Value, name: &str) {
    let Some(root) = json.as_object_mut() else {
        return;
    };
    for key in ["extensionsUsed", "extensionsRequired"] {
        let names = root.entry(key).or_insert_with(|| json!([]));
        if let Some(names) = names.as_array_mut()
            && names.iter().all(|known| known != name)
        {
            names.push(name.into());
        }
    }
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
mod tests;
