//! Writes baked morph targets as displacements of positions and normals in every primitive of a mesh.

use super::encoding::{Displaced, Encoding};
use super::error::GltfWriteError;
use super::json::{entry_mut, index, place, short};
use super::patch::{NewAccessor, Patch};
use super::primitives::{points_of, primitive_mut};
use super::report::ExportReport;
use super::uncompress::{stays_compressed, uncompress_once};
use super::widen::widen_weights;
use crate::bake::{BakeOptions, BakedMesh};
use crate::document::{Document, MeshId, MeshItem};
use crate::finding::Finding;
use crate::io::gltf_json::{ComponentType, Target, accessor, members, type_name, type_of};
use ::gltf::json::accessor::Type;
use bytes::Bytes;
use glam::Vec3;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The extension that allows integers in morph targets.
pub const QUANTIZATION: &str = "KHR_mesh_quantization";

/// The additional JSON of a sparse accessor, bytes.
const SPARSE_JSON: usize = 100;

/// Appends the baked targets of a mesh to those of the source.
///
/// All targets of a primitive get the same attributes, because players expect them in all targets or in none.
/// Attributes that a target lacks, including the source's targets, are added as zeros.
pub(super) fn add_targets(
    document: &Document,
    (mesh, item): (MeshId, &MeshItem),
    baked: &BakedMesh,
    options: &BakeOptions,
    patch: &mut Patch,
    report: &mut ExportReport,
) -> Result<(), GltfWriteError> {
    let geometry = &item.geometry;
    let n_own = geometry.morphs.len();
    let mut writer = Writer::new(options.sparse);
    writer.quantize = options.quantize;
    let positions = baked.targets.iter().map(|t| &t.positions[..]);
    let positions: Vec<_> = positions.map(|p| spread(p, geometry.n_points())).collect();
    let normals = baked.targets.iter().map(|t| &t.normals[..]);
    let normals: Vec<_> = normals.map(|n| spread(n, geometry.normals.len())).collect();
    let empty = |primitive: &usize| vertices(item, *primitive).is_empty();
    let (empty, drawn): (Vec<usize>, Vec<usize>) = (0..geometry.primitives.len()).partition(empty);
    for &primitive in &drawn {
        // One without weights, which is not uncompressed with them.
        if !stays_compressed(document, patch, (mesh, item), primitive) {
            uncompress_once(document, patch, mesh, primitive, report)?;
        }
        let points = points_of(item, primitive);
        let missing = || GltfWriteError::PrimitiveMissing {
            mesh: mesh.0,
            primitive,
        };
        let entry = primitive_mut(&mut patch.json, mesh, primitive).ok_or_else(missing)?;
        let attributes = entry.get("attributes");
        let has_normals = attributes.is_some_and(|a| a.get("NORMAL").is_some());
        let position = index(attributes.and_then(|a| a.get("POSITION")));
        let list = entry.entry("targets").or_insert_with(|| json!([]));
        let own = list.as_array().ok_or_else(missing)?;
        let mut others: Vec<(String, Option<usize>)> = Vec::new();
        for (key, accessor) in own.iter().filter_map(Value::as_object).flatten() {
            if key != "POSITION" && others.iter().all(|(other, _)| other != key) {
                others.push((key.clone(), index(Some(accessor))));
            }
        }
        // With the component types of the source's targets.
        let accessors = patch.json.get("accessors");
        let kind = |i: Option<usize>| accessors?.get(i?)?.get("type")?.as_str();
        let mut others: Vec<(String, Type)> = others
            .into_iter()
            .map(|(key, accessor)| (key, kind(accessor).and_then(type_of).unwrap_or(Type::Vec3)))
            .collect();
        let found = position
            .and_then(|i| index(patch.json.get("accessors")?.get(i)?.get("count")))
            .unwrap_or(0);
        if found != points.len() {
            return Err(GltfWriteError::VertexCount {
                mesh: mesh.0,
                primitive,
                found,
                expected: points.len(),
            });
        }
        let of_vertices = &geometry.normal_of_vertex[vertices(item, primitive)];
        let turns = |n: &Vec<Vec3>| of_vertices.iter().any(|&v| n[v as usize] != Vec3::ZERO);
        let turned = has_normals && normals.iter().any(turns);
        let fill = turned && !others.iter().any(|(other, _)| other == "NORMAL");
        if fill {
            others.push(("NORMAL".into(), Type::Vec3));
        }
        let of = |all: &[Vec<Vec3>], which: &[u32]| -> Vec<Vec<Vec3>> {
            let of_vertices = |all: &Vec<Vec3>| which.iter().map(|&i| all[i as usize]).collect();
            all.iter().map(of_vertices).collect()
        };
        let moved = of(&positions, points);
        let turns = if turned {
            of(&normals, of_vertices)
        } else {
            vec![Vec::new(); moved.len()]
        };
        let of_points = moved.iter().map(|d| (&d[..], Displaced::Positions));
        let of_normals = turns.iter().map(|d| (&d[..], Displaced::Normals));
        writer.share(of_points.chain(of_normals));
        let mut targets = Vec::new();
        for (moved, turns) in moved.iter().zip(&turns) {
            let mut target = Map::new();
            let accessor = writer.displacements(patch, moved, Displaced::Positions);
            target.insert("POSITION".into(), accessor.into());
            for (other, kind) in &others {
                let accessor = if other == "NORMAL" && turned {
                    writer.displacements(patch, turns, Displaced::Normals)
                } else {
                    writer.zeros(patch, points.len(), *kind)
                };
                target.insert(other.clone(), accessor.into());
            }
            targets.push(Value::Object(target));
        }
        let zeros = (fill && n_own > 0).then(|| writer.zeros(patch, points.len(), Type::Vec3));
        let still = (n_own > 0).then(|| writer.zeros(patch, points.len(), Type::Vec3));
        let entry = primitive_mut(&mut patch.json, mesh, primitive).ok_or_else(missing)?;
        let list = entry.get_mut("targets").and_then(Value::as_array_mut);
        if let Some(list) = list {
            // A primitive may lack the last targets of its mesh; the new ones must not take their indices.
            let lacks = n_own.saturating_sub(list.len());
            list.extend(std::iter::repeat_n(json!({ "POSITION": still }), lacks));
            if let Some(zeros) = zeros {
                for target in list.iter_mut().filter_map(Value::as_object_mut) {
                    target.entry("NORMAL").or_insert_with(|| zeros.into());
                }
            }
            list.extend(targets);
        }
    }
    if writer.has_quantized {
        patch.require_extension(QUANTIZATION);
    }
    widen_defaults(mesh, item, baked, &mut patch.json);
    if !drawn.is_empty() {
        remove_primitives(mesh, &empty, patch, report);
    }
    Ok(())
}

/// Removes primitives without vertices: all primitives of a mesh must have the same number of targets (glTF 2.0,
/// 3.7.2.2), and these can have none.
fn remove_primitives(
    mesh: MeshId,
    primitives: &[usize],
    patch: &mut Patch,
    report: &mut ExportReport,
) {
    for &primitive in primitives.iter().rev() {
        let list = entry_mut(&mut patch.json, "meshes", mesh.0 as usize)
            .and_then(|entry| entry.get_mut("primitives")?.as_array_mut());
        let Some(list) = list.filter(|list| primitive < list.len()) else {
            continue;
        };
        let gone = list.remove(primitive);
        patch.release(index(gone.get("indices")));
        let own = gone.get("targets").and_then(Value::as_array);
        let targets = own.into_iter().flatten();
        for attributes in gone.get("attributes").into_iter().chain(targets) {
            for accessor in attributes.as_object().into_iter().flat_map(Map::values) {
                patch.release(index(Some(accessor)));
            }
        }
        report.findings.push(Finding::info(
            format!("meshes[{}].primitives[{primitive}]", mesh.0),
            "It has no vertex with a position, so it shows nothing and cannot get morph targets as the others do; it is \
             not in the file.",
        ));
    }
}

fn vertices(item: &MeshItem, primitive: usize) -> std::ops::Range<usize> {
    let vertices = &item.geometry.primitives[primitive].vertices;
    vertices.start as usize..vertices.end as usize
}

/// Sparse entries as an array of `n`.
fn spread(entries: &[(u32, Vec3)], n: usize) -> Vec<Vec3> {
    let mut all = vec![Vec3::ZERO; n];
    for &(i, entry) in entries {
        all[i as usize] = entry;
    }
    all
}

/// Extends the default weights and names, if present, to the new targets; names of new targets are always written.
fn widen_defaults(mesh: MeshId, item: &MeshItem, baked: &BakedMesh, json: &mut Value) {
    let (own, new) = (item.geometry.morphs.len(), baked.targets.len());
    if let Some(entry) = entry_mut(json, "meshes", mesh.0 as usize) {
        widen_weights(entry, own + new);
        let is_named = baked.targets.iter().any(|target| !target.name.is_empty());
        let extras = is_named.then(|| entry.entry("extras").or_insert_with(|| json!({})));
        if let Some(extras) = extras.and_then(Value::as_object_mut) {
            let morphs = item.geometry.morphs.iter();
            let own = morphs.map(|morph| morph.name.as_str());
            let own = || json!(own.collect::<Vec<_>>());
            extras.entry("targetNames").or_insert_with(own);
        }
        let names = entry
            .get_mut("extras")
            .and_then(|e| e.get_mut("targetNames"));
        if let Some(names) = names
            .and_then(Value::as_array_mut)
            .filter(|n| n.len() == own)
        {
            names.extend((1..).zip(&baked.targets).map(|(i, target)| {
                if target.name.is_empty() {
                    Value::from(format!("Correction {i}"))
                } else {
                    Value::from(target.name.as_str())
                }
            }));
        }
    }
}

/// Writes the displacements of the vertices of one mesh.
pub(super) struct Writer {
    /// Whether to use sparse accessors if they are smaller. Some players do not read them.
    sparse: bool,
    /// Whether displacements within -1 - 1 are written as normalised integers.
    quantize: bool,
    /// Whether some were.
    has_quantized: bool,
    /// Accessors that are all zero, by count and type.
    zeros: BTreeMap<(usize, &'static str), usize>,
    /// The vertex lists of sparse targets, the longest first.
    lists: Vec<Vec<usize>>,
}

impl Writer {
    pub(super) fn new(sparse: bool) -> Self {
        Self {
            sparse,
            quantize: false,
            has_quantized: false,
            zeros: BTreeMap::new(),
            lists: Vec::new(),
        }
    }

    /// Finds vertex lists that several displacements can share: adding a few zeros takes fewer bytes than a separate
    /// list.
    fn share<'a>(&mut self, all: impl Iterator<Item = (&'a [Vec3], Displaced)>) {
        let quantize = self.quantize;
        let all =
            all.map(|(d, displaced)| (moved(d), Encoding::of(d, displaced, quantize), d.len()));
        let mut all: Vec<_> = all
            .filter(|(list, encoding, n)| sparse_bytes(list, *encoding) < encoding.dense_size() * n)
            .collect();
        all.sort_by_key(|(list, ..)| std::cmp::Reverse(list.len()));
        self.lists.clear();
        for (list, encoding, _) in all {
            if self.list_for(&list, encoding).is_none() {
                self.lists.push(list);
            }
        }
    }

    /// The shortest list that contains all of `list` and takes fewer bytes than `list` itself.
    fn list_for(&self, list: &[usize], encoding: Encoding) -> Option<&Vec<usize>> {
        let lists = self.lists.iter().rev();
        let more = |other: &&Vec<usize>| other.len().saturating_sub(list.len());
        let shorter = lists.filter(|other| encoding.size() * more(other) < index_bytes(list));
        shorter
            .filter(|other| {
                let mut others = other.iter();
                list.iter().all(|v| others.any(|other| other == v))
            })
            .min_by_key(|other| other.len())
    }

    /// Stores displacements of positions or normals, one per vertex, and returns their accessor.
    pub(super) fn displacements(
        &mut self,
        patch: &mut Patch,
        displacements: &[Vec3],
        displaced: Displaced,
    ) -> usize {
        // glTF requires min and max only for POSITION; they take about 75 bytes.
        let has_bounds = displaced == Displaced::Positions;
        let own = moved(displacements);
        if own.is_empty() {
            return self.zeros(patch, displacements.len(), Type::Vec3);
        }
        let encoding = Encoding::of(displacements, displaced, self.quantize);
        let is_quantized = encoding != Encoding::Float;
        self.has_quantized |= is_quantized;
        let list = self.list_for(&own, encoding).unwrap_or(&own);
        let (component, indices) = encode_indices(list);
        let mut n_bytes = sparse_bytes(list, encoding);
        if patch.has_indices(&indices) {
            n_bytes -= indices.len();
        }
        if !self.sparse || n_bytes >= encoding.dense_size() * displacements.len() {
            return put_dense(patch, displacements, encoding, has_bounds);
        }
        let values = encoding.encode(list.iter().map(|&v| displacements[v]), encoding.size());
        let count = displacements.len();
        let mut entry = members(&accessor(None, encoding.component(), Type::Vec3, count));
        if is_quantized {
            entry.insert("normalized".into(), true.into());
        }
        if has_bounds {
            // They include the zeros that are not stored.
            let low = displacements.iter().fold(Vec3::ZERO, |a, d| a.min(*d));
            let high = displacements.iter().fold(Vec3::ZERO, |a, d| a.max(*d));
            entry.insert("min".into(), numbers(encoding.stored(low)));
            entry.insert("max".into(), numbers(encoding.stored(high)));
        }
        patch.put_sparse(entry, list.len(), (component, indices), values)
    }

    /// Stores zeros; a sparse accessor without a buffer view takes no bytes.
    fn zeros(&mut self, patch: &mut Patch, count: usize, kind: Type) -> usize {
        let key = (count, type_name(kind));
        if let Some(&known) = self.zeros.get(&key) {
            return known;
        }
        let width = kind.multiplicity();
        let accessor = if self.sparse {
            let mut entry = flat(count, kind);
            entry.insert("min".into(), json!(vec![0; width]));
            entry.insert("max".into(), json!(vec![0; width]));
            place(&mut patch.json, "accessors", None, entry)
        } else {
            patch.put_shared(NewAccessor {
                replaces: None,
                component: ComponentType::F32,
                kind,
                normalized: false,
                count,
                bytes: Bytes::from(vec![0; 4 * width * count]),
                target: Some(Target::ArrayBuffer),
                bounds: Some((vec![0; width], vec![0; width])),
            })
        };
        self.zeros.insert(key, accessor);
        accessor
    }
}

/// Stores displacements, one per vertex, without a sparse accessor.
fn put_dense(
    patch: &mut Patch,
    displacements: &[Vec3],
    encoding: Encoding,
    has_bounds: bool,
) -> usize {
    let bits = |v: Vec3| {
        let stored = encoding.stored(v).to_array();
        stored.map(|x| f64::from(x).to_bits()).to_vec()
    };
    let (low, high) = displacements
        .iter()
        .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |b, d| {
            (b.0.min(*d), b.1.max(*d))
        });
    patch.put_shared(NewAccessor {
        replaces: None,
        component: encoding.component(),
        kind: Type::Vec3,
        normalized: encoding != Encoding::Float,
        count: displacements.len(),
        bytes: encoding.encode(displacements.iter().copied(), encoding.dense_size()),
        target: Some(Target::ArrayBuffer),
        bounds: has_bounds.then(|| (bits(low), bits(high))),
    })
}

/// The size of a sparse accessor with a list of its own, bytes, without the JSON of any accessor.
fn sparse_bytes(list: &[usize], encoding: Encoding) -> usize {
    encoding.size() * list.len() + index_bytes(list) + SPARSE_JSON
}

/// The displaced vertices, ascending.
fn moved(displacements: &[Vec3]) -> Vec<usize> {
    let all = displacements.iter().enumerate();
    let moved = all.filter(|(_, d)| **d != Vec3::ZERO);
    moved.map(|(v, _)| v).collect()
}

/// The size of ascending indices, bytes.
fn index_bytes(list: &[usize]) -> usize {
    match list.last() {
        Some(0..=0xff) => list.len(),
        Some(0x100..=0xffff) => 2 * list.len(),
        _ => 4 * list.len(),
    }
}

/// The smallest component type for ascending indices, and their bytes.
fn encode_indices(list: &[usize]) -> (ComponentType, Bytes) {
    let list = || list.iter();
    let (component, bytes): (ComponentType, Vec<u8>) = match list().next_back() {
        Some(0..=0xff) => (ComponentType::U8, list().map(|&v| v as u8).collect()),
        Some(0x100..=0xffff) => {
            let short = list().flat_map(|&v| (v as u16).to_le_bytes());
            (ComponentType::U16, short.collect())
        }
        _ => {
            let long = list().flat_map(|&v| (v as u32).to_le_bytes());
            (ComponentType::U32, long.collect())
        }
    };
    (component, Bytes::from(bytes))
}

/// An accessor of f32 without data.
fn flat(count: usize, kind: Type) -> Map<String, Value> {
    members(&accessor(None, ComponentType::F32, kind, count))
}

fn numbers(v: Vec3) -> Value {
    v.to_array().iter().map(|&x| short(x)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::gltf_export::allocator::Allocator;

    #[test]
    fn quantised_displacements_are_integers_aligned_to_four_bytes() {
        for sparse in [true, false] {
            let mut patch = Patch::new(
                json!({"accessors": [], "bufferViews": [], "extensionsUsed": ["A"]}),
                Allocator::default(),
            );
            let mut writer = Writer::new(sparse);
            writer.quantize = true;
            let mut displacements = vec![Vec3::ZERO; 60];
            displacements[3] = Vec3::new(1.0, -0.5, 0.0);
            writer.displacements(&mut patch, &displacements, Displaced::Positions);
            assert!(writer.has_quantized);
            patch.require_extension(QUANTIZATION);
            patch.require_extension(QUANTIZATION);
            let patched = patch.finish();
            let (json, entry) = (&patched.json, &patched.json["accessors"][0]);
            assert_eq!(
                (&entry["componentType"], &entry["normalized"]),
                (&json!(5122), &json!(true))
            );
            assert_eq!(
                (&entry["min"], &entry["max"]),
                (&json!([0, -16384, 0]), &json!([32767, 0, 0]))
            );
            assert_eq!(entry.get("sparse").is_some(), sparse);
            if !sparse {
                assert_eq!(json["bufferViews"][0]["byteStride"], 8);
                assert_eq!(patched.bytes[24..32], [255, 127, 0, 192, 0, 0, 0, 0]);
            }
            assert_eq!(json["extensionsUsed"], json!(["A", QUANTIZATION]));
            assert_eq!(json["extensionsRequired"], json!([QUANTIZATION]));
        }
    }

    #[test]
    fn displacements_beyond_1_stay_floats_in_a_quantised_file() {
        let mut patch = Patch::new(
            json!({"accessors": [], "bufferViews": []}),
            Allocator::default(),
        );
        let mut writer = Writer::new(true);
        writer.quantize = true;
        for (x, component) in [(2.0, 5126), (0.5, 5122)] {
            let mut displacements = vec![Vec3::ZERO; 60];
            displacements[3] = Vec3::X * x;
            let accessor = writer.displacements(&mut patch, &displacements, Displaced::Positions);
            assert_eq!(
                patch.json["accessors"][accessor]["componentType"],
                component
            );
            assert_eq!(writer.has_quantized, component == 5122);
        }
    }

    fn write(sparse: bool) -> Value {
        let mut patch = Patch::new(
            json!({"accessors": [], "bufferViews": []}),
            Allocator::default(),
        );
        let mut writer = Writer::new(sparse);
        let mut displacements = vec![Vec3::ZERO; 20];
        writer.displacements(&mut patch, &displacements, Displaced::Positions);
        // Zeros are written once.
        writer.displacements(&mut patch, &displacements, Displaced::Positions);
        displacements[3] = Vec3::new(1.0, -2.0, 0.0);
        writer.displacements(&mut patch, &displacements, Displaced::Positions);
        writer.displacements(&mut patch, &[Vec3::X; 4], Displaced::Positions);
        patch.finish().json
    }

    #[test]
    fn few_displacements_are_sparse_and_none_take_no_bytes() {
        let json = write(true);
        let accessors = &json["accessors"];
        assert!(accessors[0].get("bufferView").is_none() && accessors[0].get("sparse").is_none());
        assert_eq!(accessors[1]["sparse"]["count"], 1);
        assert_eq!(accessors[1]["min"], json!([0, -2, 0]));
        assert!(accessors[2].get("bufferView").is_some());
        assert_eq!(accessors[2]["min"], json!([1, 0, 0]));
    }

    #[test]
    fn a_few_zeros_more_save_a_list() {
        let mut patch = Patch::new(
            json!({"accessors": [], "bufferViews": []}),
            Allocator::default(),
        );
        let mut writer = Writer::new(true);
        let displaced = |n: usize| {
            let mut all = vec![Vec3::ZERO; 1000];
            all[300..300 + n].fill(Vec3::Y);
            all
        };
        let all = [displaced(50), displaced(100), displaced(98), displaced(83)];
        writer.share(all.iter().map(|d| (&d[..], Displaced::Positions)));
        for displacements in &all {
            writer.displacements(&mut patch, displacements, Displaced::Positions);
        }
        let json = patch.finish().json;
        let sparse = |i: usize| &json["accessors"][i]["sparse"];
        // 2 * 12 bytes of zeros are less than 98 indices of 2 bytes; 17 * 12 are not.
        let counts: Vec<_> = (0..4)
            .map(|i| sparse(i)["count"].as_u64().unwrap())
            .collect();
        assert_eq!(counts, [50, 100, 100, 83]);
        assert_eq!(sparse(1)["indices"], sparse(2)["indices"]);
        assert_eq!(sparse(1)["indices"]["componentType"], 5123);
        assert_ne!(sparse(1)["values"], sparse(2)["values"]);
    }

    #[test]
    fn indices_take_the_smallest_type() {
        assert_eq!(encode_indices(&[3, 255]).0, ComponentType::U8);
        assert_eq!(encode_indices(&[3, 256]).1[..], [3, 0, 0, 1]);
        assert_eq!(encode_indices(&[65536]).0, ComponentType::U32);
        for list in [&[3, 255][..], &[256], &[65535], &[65536]] {
            assert_eq!(index_bytes(list), encode_indices(list).1.len());
        }
    }

    #[test]
    fn dense_displacements_are_all_there() {
        let json = write(false);
        let accessors = json["accessors"].as_array().unwrap();
        assert_eq!(accessors.len(), 3);
        for accessor in accessors {
            assert!(accessor.get("bufferView").is_some() && accessor.get("sparse").is_none());
        }
        assert_eq!(accessors[1]["min"], json!([0, -2, 0]));
    }
}
