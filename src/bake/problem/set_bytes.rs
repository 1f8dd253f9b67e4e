//! The bytes of JOINTS_0 and WEIGHTS_0 in the source, and what they become in a corrected file.

use crate::document::{Document, MeshId};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The bytes of a vertex's joints and weights as a correction writes them: joints of 8 bits, weights of 16 bits.
pub(crate) const SET_BYTES: f64 = 12.0;

/// The change in bytes of the first set of influences (JOINTS_0 and WEIGHTS_0) of a mesh in a corrected file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SetBytes {
    /// If the influences of the source stay. 0 or negative: they are written in fewer bytes where that frees some.
    pub(crate) kept: f64,
    /// What new influences, as helper joints need them, add to that. Positive where the bytes of the source do not become free
    /// (as compressed ones), or are fewer.
    pub(crate) rewritten: f64,
}

impl SetBytes {
    /// Those of the meshes of a document, by the accessors of their primitives in the source.
    pub(crate) fn of_all(document: &Document) -> BTreeMap<MeshId, Self> {
        let Some(source) = document.source() else {
            return BTreeMap::new();
        };
        let readers = Readers::of(&source.json);
        let copied: BTreeSet<MeshId> = document.mesh_copies().values().copied().collect();
        let meshes = document.meshes().keys().map(|&id| {
            let in_file = document.mesh_of_file(id);
            let is_alone = id == in_file && !copied.contains(&in_file);
            let found = Self::in_json(&source.json, in_file.0 as usize, is_alone, &readers);
            (id, found.unwrap_or_default())
        });
        meshes.collect()
    }

    /// `is_alone`: whether no copy of the mesh reads the same accessors.
    fn in_json(json: &Value, mesh: usize, is_alone: bool, readers: &Readers) -> Option<Self> {
        let primitives = json.get("meshes")?.get(mesh)?.get("primitives")?;
        let accessors = json.get("accessors");
        let mut seen = BTreeSet::new();
        let mut sum = Self::default();
        for primitive in primitives.as_array()? {
            let (Some(joints), Some(weights)) = (
                attribute(primitive, "JOINTS_0"),
                attribute(primitive, "WEIGHTS_0"),
            ) else {
                continue;
            };
            sum.rewritten += uncompressed(json, primitive);
            // Primitives may share their vertices.
            if !seen.insert((joints, weights)) {
                continue;
            }
            let accessor = |i: usize| accessors.and_then(|accessors| accessors.get(i));
            let vertices = accessor(joints).map_or(0.0, count);
            let old = [joints, weights].map(|i| {
                let is_freed = is_alone && readers.frees(json, i, mesh);
                accessor(i).filter(|_| is_freed).map_or(0.0, element)
            });
            let rewritten = SET_BYTES - old.iter().sum::<f64>();
            let is_separate =
                attribute(primitive, "JOINTS_1").is_none() && old.iter().all(|size| *size > 0.0);
            let kept = if is_separate { rewritten.min(0.0) } else { 0.0 };
            sum.kept += vertices * kept;
            sum.rewritten += vertices * (rewritten - kept);
        }
        Some(sum)
    }
}

/// What reads an accessor.
#[derive(Clone, Copy, PartialEq)]
enum Reader {
    /// The sets of influences of one mesh.
    Sets(usize),
    /// Anything else, or several meshes.
    Other,
}

/// A buffer view and a byte offset in it, modulo its stride if it has one.
type Place = (usize, usize);

/// What reads the bytes at each place of the buffer views.
struct Readers(BTreeMap<Place, Reader>);

impl Readers {
    fn of(json: &Value) -> Self {
        let mut of_accessors: BTreeMap<usize, Reader> = BTreeMap::new();
        for (mesh, entry) in list(json, "meshes").iter().enumerate() {
            for primitive in list(entry, "primitives") {
                let attributes = primitive.get("attributes").and_then(Value::as_object);
                for (name, accessor) in attributes.into_iter().flatten() {
                    let is_set = name.starts_with("JOINTS_") || name.starts_with("WEIGHTS_");
                    let reader = if is_set {
                        Reader::Sets(mesh)
                    } else {
                        Reader::Other
                    };
                    let Some(accessor) = accessor.as_u64() else {
                        continue;
                    };
                    join(&mut of_accessors, accessor as usize, reader);
                }
            }
        }
        let mut of_places = BTreeMap::new();
        for (i, accessor) in list(json, "accessors").iter().enumerate() {
            if let Some(place) = place(json, accessor) {
                let reader = of_accessors.get(&i).copied().unwrap_or(Reader::Other);
                join(&mut of_places, place, reader);
            }
        }
        Self(of_places)
    }

    /// Whether the bytes of an accessor become free once the sets of a mesh do not read them: not those of compressed data, and
    /// not those in rows with the sets of other meshes. An estimate: an export also keeps interleaved views as they are that
    /// something else reads.
    fn frees(&self, json: &Value, accessor: usize, mesh: usize) -> bool {
        let accessor = list(json, "accessors").get(accessor);
        let place = accessor.and_then(|accessor| place(json, accessor));
        place.is_some_and(|place| self.0.get(&place) == Some(&Reader::Sets(mesh)))
    }
}

fn join<K: Ord>(readers: &mut BTreeMap<K, Reader>, key: K, reader: Reader) {
    let joined = readers.entry(key).or_insert(reader);
    if *joined != reader {
        *joined = Reader::Other;
    }
}

/// `None` for compressed data.
fn place(json: &Value, accessor: &Value) -> Option<Place> {
    let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_u64);
    let i = number(accessor, "bufferView")? as usize;
    let view = list(json, "bufferViews").get(i)?;
    let offset = number(accessor, "byteOffset").unwrap_or(0) as usize;
    let stride = number(view, "byteStride").filter(|&stride| stride as f64 > element(accessor));
    let in_row = stride.map_or(offset, |stride| offset % stride as usize);
    view.get("extensions").is_none().then_some((i, in_row))
}

/// The additional bytes of a primitive that is written without its Draco compression, as with new weights. A primitive with an
/// uncompressed copy is always written without it: 0.
fn uncompressed(json: &Value, primitive: &Value) -> f64 {
    let Some(draco) = primitive.pointer("/extensions/KHR_draco_mesh_compression") else {
        return 0.0;
    };
    let compressed = draco.get("attributes").and_then(Value::as_object);
    let names = compressed.into_iter().flatten().map(|(name, _)| name);
    let attributes = names.map(|name| (name.as_str(), attribute(primitive, name)));
    let indices = primitive.get("indices").and_then(Value::as_u64);
    let all = attributes.chain([("indices", indices.map(|i| i as usize))]);
    let accessor = |i: Option<usize>| list(json, "accessors").get(i?);
    let all: Vec<(&str, Option<&Value>)> = all.map(|(name, i)| (name, accessor(i))).collect();
    let has_copy = |entry: Option<&Value>| entry.is_none_or(|e| e.get("bufferView").is_some());
    if all.iter().any(|(_, entry)| has_copy(*entry)) {
        return 0.0;
    }
    let plain = all
        .iter()
        .filter(|(name, _)| *name != "JOINTS_0" && *name != "WEIGHTS_0");
    let plain = plain.filter_map(|(_, entry)| *entry);
    let bytes: f64 = plain.map(|entry| count(entry) * element(entry)).sum();
    let view = draco.get("bufferView").and_then(Value::as_u64);
    let view = view.and_then(|i| list(json, "bufferViews").get(i as usize)?.get("byteLength"));
    bytes - view.and_then(Value::as_f64).unwrap_or(0.0)
}

fn attribute(primitive: &Value, name: &str) -> Option<usize> {
    let index = primitive.get("attributes")?.get(name)?.as_u64()?;
    Some(index as usize)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    let list = value.get(key).and_then(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

fn count(accessor: &Value) -> f64 {
    accessor.get("count").and_then(Value::as_f64).unwrap_or(0.0)
}

/// The bytes of an element of an accessor.
fn element(accessor: &Value) -> f64 {
    let of_component = match accessor.get("componentType").and_then(Value::as_u64) {
        Some(5120 | 5121) => 1.0,
        Some(5122 | 5123) => 2.0,
        _ => 4.0,
    };
    let n = match accessor.get("type").and_then(Value::as_str) {
        Some("SCALAR") => 1.0,
        Some("VEC2") => 2.0,
        Some("VEC3") => 3.0,
        _ => 4.0,
    };
    n * of_component
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file(joints: u32, weights: u32) -> Value {
        let accessor = |at: usize, component: u32| json!({"bufferView": 0, "byteOffset": at, "componentType": component, "count": 10, "type": "VEC4"});
        json!({
            "accessors": [accessor(0, joints), accessor(4, weights)],
            "bufferViews": [{"buffer": 0, "byteLength": 240}],
            "meshes": [{"primitives": [{"attributes": {"JOINTS_0": 0, "WEIGHTS_0": 1}}]}]
        })
    }

    fn of(json: &Value) -> (f64, f64) {
        let found = SetBytes::in_json(json, 0, true, &Readers::of(json)).unwrap();
        (found.kept, found.rewritten)
    }

    #[test]
    fn sets_shrink_only_where_their_bytes_become_free() {
        assert_eq!(of(&file(5121, 5126)), (-80.0, 0.0));
        assert_eq!(of(&file(5123, 5126)), (-120.0, 0.0));
        // Compact ones grow if they are rewritten.
        assert_eq!(of(&file(5121, 5121)), (0.0, 40.0));
        let mut compressed = file(5121, 5126);
        compressed["bufferViews"][0]["extensions"] = json!({"EXT_meshopt_compression": {}});
        assert_eq!(of(&compressed), (0.0, 120.0));
        let json = file(5121, 5126);
        let copied = SetBytes::in_json(&json, 0, false, &Readers::of(&json)).unwrap();
        assert_eq!((copied.kept, copied.rewritten), (0.0, 120.0));
    }

    #[test]
    fn rows_with_the_weights_of_other_meshes_do_not_become_free() {
        let mut rows = file(5121, 5126);
        rows["bufferViews"][0]["byteStride"] = json!(20);
        // The second primitive follows the first.
        for (i, offset) in [(0, 200), (1, 204)] {
            let mut accessor = rows["accessors"][i].clone();
            accessor["byteOffset"] = json!(offset);
            rows["accessors"].as_array_mut().unwrap().push(accessor);
        }
        let second = json!({"attributes": {"JOINTS_0": 2, "WEIGHTS_0": 3}});
        let mut own = rows.clone();
        own["meshes"][0]["primitives"]
            .as_array_mut()
            .unwrap()
            .push(second.clone());
        assert_eq!(of(&own), (-160.0, 0.0));
        let mut other = rows;
        other["meshes"]
            .as_array_mut()
            .unwrap()
            .push(json!({"primitives": [second]}));
        assert_eq!(of(&other), (0.0, 120.0));
    }

    #[test]
    fn vertices_of_two_primitives_count_once() {
        let mut shared = file(5121, 5126);
        let primitives = shared["meshes"][0]["primitives"].as_array_mut().unwrap();
        primitives.push(primitives[0].clone());
        assert_eq!(of(&shared), (-80.0, 0.0));
        // A second set stays as long as the rows do.
        shared["meshes"][0]["primitives"][0]["attributes"]["JOINTS_1"] = json!(0);
        assert_eq!(of(&shared), (0.0, -80.0));
    }

    #[test]
    fn draco_primitives_grow_with_new_weights() {
        let mut draco = file(5121, 5126);
        for accessor in draco["accessors"].as_array_mut().unwrap() {
            accessor.as_object_mut().unwrap().remove("bufferView");
        }
        let primitive = &mut draco["meshes"][0]["primitives"][0];
        primitive["extensions"] = json!({"KHR_draco_mesh_compression": {
            "bufferView": 0, "attributes": {"JOINTS_0": 0, "WEIGHTS_0": 1, "POSITION": 2}}});
        primitive["attributes"]["POSITION"] = json!(2);
        primitive["indices"] = json!(3);
        let positions = json!({"componentType": 5126, "count": 10, "type": "VEC3"});
        let indices = json!({"componentType": 5123, "count": 30, "type": "SCALAR"});
        let accessors = draco["accessors"].as_array_mut().unwrap();
        accessors.extend([positions, indices]);
        assert_eq!(of(&draco), (0.0, 120.0 + 120.0 + 60.0 - 240.0));
        draco["accessors"][2]["bufferView"] = json!(0);
        assert_eq!(of(&draco), (0.0, 120.0));
    }
}
