//! What was baked -> nodes, joints of skins, morph targets.

use super::ExportError;
use super::nodes::node_of;
use super::patch::{
    ARRAY_BUFFER, FLOAT, NewAccessor, Patch, UNSIGNED_INT, UNSIGNED_SHORT, entry_mut, number, place,
};
use super::report::ExportReport;
use super::uncompress;
use super::uses::{each, index};
use super::weights::{points_of, primitive_mut};
use crate::bake::{Baked, BakedMesh, HelperJoint};
use crate::document::{Document, MeshId, MeshItem, SkinId};
use crate::skeleton::{Channel, Property};
use crate::task::Task;
use bytes::Bytes;
use glam::Vec3;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// glTF's number for i16.
const SHORT: u32 = 5122;

/// How the values of a channel are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// f32.
    Float,
    /// Normalised i16, for -1 - 1.
    Short,
    /// Normalised u16, for 0 - 1.
    UnsignedShort,
}

impl Storage {
    /// How a channel of a baked model is stored: what was made for 16 bits takes no more.
    pub(super) fn of(document: &Document, baked: Option<&Baked>, channel: &Channel) -> Self {
        let Some(baked) = baked else {
            return Self::Float;
        };
        let is_helper = channel.joint.get() >= document.skeleton().len();
        let within = |low: f32| channel.values.iter().all(|v| (low..=1.0).contains(v));
        match channel.property {
            Property::Rotation if is_helper && within(-1.0) => Self::Short,
            Property::MorphWeights => {
                let instances = document.instances().values();
                let mut meshes = instances
                    .filter(|i| i.joint == channel.joint)
                    .map(|i| i.mesh);
                let is_baked = meshes.any(|mesh| {
                    let own = document
                        .meshes()
                        .get(&mesh)
                        .map_or(0, |m| m.geometry.morphs.len());
                    own == 0 && baked.meshes.contains_key(&mesh)
                });
                if is_baked && within(0.0) {
                    Self::UnsignedShort
                } else {
                    Self::Float
                }
            }
            _ => Self::Float,
        }
    }

    /// glTF's number for the type, whether it is normalised, and the bytes.
    pub(super) fn encode(self, values: &[f32]) -> (u32, bool, Bytes) {
        let of = |bytes: Vec<u8>| Bytes::from(bytes);
        match self {
            Self::Float => {
                let bytes = Bytes::copy_from_slice(bytemuck::cast_slice(values));
                (FLOAT, false, bytes)
            }
            Self::Short => {
                let short = |v: &f32| ((f64::from(*v) * 32767.0).round() as i16).to_le_bytes();
                (SHORT, true, of(values.iter().flat_map(short).collect()))
            }
            Self::UnsignedShort => {
                let short = |v: &f32| ((f64::from(*v) * 65535.0).round() as u16).to_le_bytes();
                (
                    UNSIGNED_SHORT,
                    true,
                    of(values.iter().flat_map(short).collect()),
                )
            }
        }
    }
}

/// Writes helper joints, the skins that list them, and morph targets.
pub(super) fn patch_corrections(
    document: &Document,
    baked: &Baked,
    patch: &mut Patch,
    report: &mut ExportReport,
    task: &Task,
) -> Result<(), ExportError> {
    add_nodes(document, &baked.joints, patch)?;
    let old: BTreeMap<SkinId, Option<usize>> = baked
        .skins
        .keys()
        .map(|&skin| (skin, release_skin(patch, skin)))
        .collect();
    for (&skin, joints) in &baked.skins {
        let replaces = old.get(&skin).copied().flatten();
        write_skin(document, baked, skin, joints, replaces, patch)?;
    }
    for (&mesh, baked_mesh) in baked.meshes.iter().filter(|(_, m)| !m.targets.is_empty()) {
        task.check()?;
        if let Some(item) = document.meshes().get(&mesh) {
            add_targets(document, mesh, item, baked_mesh, patch, report)?;
        }
    }
    Ok(())
}

fn add_nodes(
    document: &Document,
    joints: &[HelperJoint],
    patch: &mut Patch,
) -> Result<(), ExportError> {
    let n_nodes = each(&patch.json, "nodes").count();
    if !joints.is_empty() && n_nodes != document.skeleton().len() {
        return Err(ExportError::Nodes {
            found: n_nodes,
            expected: document.skeleton().len(),
        });
    }
    for joint in joints {
        let mut entry = Map::new();
        entry.insert("name".into(), joint.name.as_str().into());
        let (t, r, s) = (
            joint.rest.translation.to_array(),
            joint.rest.rotation.to_array(),
            joint.rest.scale().to_array(),
        );
        let mut write = |key: &str, values: &[f64], identity: &[f64]| {
            if values != identity {
                let short = values.iter().map(|&x| number(f64::from(x as f32)));
                entry.insert(key.into(), short.collect());
            }
        };
        write("translation", &t, &[0.0; 3]);
        write("rotation", &r, &[0.0, 0.0, 0.0, 1.0]);
        write("scale", &s, &[1.0; 3]);
        let node = place(&mut patch.json, "nodes", None, entry);
        let parent = node_of(document, joint.parent);
        if let Some(parent) = entry_mut(&mut patch.json, "nodes", parent) {
            let children = parent.entry("children").or_insert_with(|| json!([]));
            if let Some(children) = children.as_array_mut() {
                children.push(node.into());
            }
        }
    }
    Ok(())
}

/// Gives up the inverse bind matrices of a skin.
fn release_skin(patch: &mut Patch, skin: SkinId) -> Option<usize> {
    let entry = entry_mut(&mut patch.json, "skins", skin.0 as usize)?;
    let old = index(entry.get("inverseBindMatrices"));
    patch.release(old);
    old
}

fn write_skin(
    document: &Document,
    baked: &Baked,
    skin: SkinId,
    joints: &[usize],
    replaces: Option<usize>,
    patch: &mut Patch,
) -> Result<(), ExportError> {
    let missing = || ExportError::SkinMissing { skin: skin.0 };
    let own = document.skins().get(&skin).ok_or_else(missing)?;
    let helpers = joints.iter().filter_map(|&j| baked.joints.get(j));
    let matrices = own
        .inverse_bind
        .iter()
        .chain(helpers.map(|h| &h.inverse_bind));
    let bytes: Vec<u8> = matrices
        .clone()
        .flat_map(|m| glam::DMat4::from(*m).to_cols_array())
        .flat_map(|x| (x as f32).to_le_bytes())
        .collect();
    let accessor = patch.put(NewAccessor {
        replaces,
        component: FLOAT,
        kind: "MAT4".into(),
        normalized: false,
        count: matrices.count(),
        bytes: Bytes::from(bytes),
        target: None,
        bounds: None,
    });
    let entry = entry_mut(&mut patch.json, "skins", skin.0 as usize).ok_or_else(missing)?;
    entry.insert("inverseBindMatrices".into(), accessor.into());
    let list = entry
        .get_mut("joints")
        .and_then(Value::as_array_mut)
        .ok_or_else(missing)?;
    let first = document.skeleton().len();
    list.extend(joints.iter().map(|&j| Value::from(first + j)));
    Ok(())
}

fn add_targets(
    document: &Document,
    mesh: MeshId,
    item: &MeshItem,
    baked: &BakedMesh,
    patch: &mut Patch,
    report: &mut ExportReport,
) -> Result<(), ExportError> {
    let n_points = item.geometry.n_points();
    let dense: Vec<Vec<Vec3>> = baked
        .targets
        .iter()
        .map(|target| {
            let mut dense = vec![Vec3::ZERO; n_points];
            for &(point, displacement) in &target.positions {
                dense[point as usize] = displacement;
            }
            dense
        })
        .collect();
    for primitive in 0..item.geometry.primitives.len() {
        uncompress::uncompress_once(document, patch, mesh, primitive, report)?;
        let points = points_of(item, primitive);
        let missing = || ExportError::PrimitiveMissing {
            mesh: mesh.0,
            primitive,
        };
        let entry = primitive_mut(&mut patch.json, mesh, primitive).ok_or_else(missing)?;
        // Players take an attribute that only some targets have for one of all.
        let first = entry
            .get("targets")
            .and_then(|t| t.get(0))
            .and_then(Value::as_object);
        let others: Vec<String> = first
            .into_iter()
            .flat_map(Map::keys)
            .filter(|key| *key != "POSITION")
            .cloned()
            .collect();
        let found = index(entry.get("attributes").and_then(|a| a.get("POSITION")))
            .and_then(|i| index(patch.json.get("accessors")?.get(i)?.get("count")))
            .unwrap_or(0);
        if found != points.len() {
            return Err(ExportError::VertexCount {
                mesh: mesh.0,
                primitive,
                found,
                expected: points.len(),
            });
        }
        let mut targets = Vec::new();
        for dense in &dense {
            let of_vertices: Vec<Vec3> = points.iter().map(|&p| dense[p as usize]).collect();
            let mut target = Map::new();
            target.insert(
                "POSITION".into(),
                put_displacements(patch, &of_vertices).into(),
            );
            for other in &others {
                let kind = if other.starts_with("COLOR") {
                    "VEC4"
                } else {
                    "VEC3"
                };
                target.insert(other.clone(), put_zeros(patch, points.len(), kind).into());
            }
            targets.push(Value::Object(target));
        }
        let entry = primitive_mut(&mut patch.json, mesh, primitive).ok_or_else(missing)?;
        let list = entry.entry("targets").or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut() {
            list.extend(targets);
        }
    }
    let n_own = item.geometry.morphs.len();
    widen_defaults(document, mesh, n_own, baked.targets.len(), &mut patch.json);
    Ok(())
}

/// Default weights and names for the new targets, wherever there are any of the old ones.
fn widen_defaults(document: &Document, mesh: MeshId, own: usize, new: usize, json: &mut Value) {
    let widen = |entry: &mut Map<String, Value>| {
        if let Some(weights) = entry.get_mut("weights").and_then(Value::as_array_mut) {
            weights.resize(own + new, 0.into());
        }
    };
    if let Some(entry) = entry_mut(json, "meshes", mesh.0 as usize) {
        widen(entry);
        let names = entry
            .get_mut("extras")
            .and_then(|e| e.get_mut("targetNames"));
        if let Some(names) = names
            .and_then(Value::as_array_mut)
            .filter(|n| n.len() == own)
        {
            names.extend((1..=new).map(|i| Value::from(format!("Correction {i}"))));
        }
    }
    for instance in document.instances().values().filter(|i| i.mesh == mesh) {
        if let Some(entry) = entry_mut(json, "nodes", node_of(document, instance.joint)) {
            widen(entry);
        }
    }
}

/// Displacements of vertices, sparse where that is smaller.
fn put_displacements(patch: &mut Patch, displacements: &[Vec3]) -> usize {
    let moved = || {
        displacements
            .iter()
            .enumerate()
            .filter(|(_, d)| **d != Vec3::ZERO)
    };
    let n = moved().count();
    if n == 0 {
        return put_zeros(patch, displacements.len(), "VEC3");
    }
    let low = displacements.iter().fold(Vec3::ZERO, |a, d| a.min(*d));
    let high = displacements.iter().fold(Vec3::ZERO, |a, d| a.max(*d));
    let bits = |v: Vec3| v.to_array().map(|x| f64::from(x).to_bits()).to_vec();
    let small = displacements.len() <= 1 << 16;
    let index_bytes = if small { 2 } else { 4 };
    if n * (12 + index_bytes) >= 12 * displacements.len() {
        let dense = displacements
            .iter()
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |b, d| {
                (b.0.min(*d), b.1.max(*d))
            });
        return patch.put(NewAccessor {
            replaces: None,
            component: FLOAT,
            kind: "VEC3".into(),
            normalized: false,
            count: displacements.len(),
            bytes: Bytes::copy_from_slice(bytemuck::cast_slice(displacements)),
            target: Some(ARRAY_BUFFER),
            bounds: Some((bits(dense.0), bits(dense.1))),
        });
    }
    let indices: Vec<u8> = if small {
        moved()
            .flat_map(|(v, _)| (v as u16).to_le_bytes())
            .collect()
    } else {
        moved()
            .flat_map(|(v, _)| (v as u32).to_le_bytes())
            .collect()
    };
    let values: Vec<Vec3> = moved().map(|(_, d)| *d).collect();
    let component = if small { UNSIGNED_SHORT } else { UNSIGNED_INT };
    let indices = patch.put_bytes(Bytes::from(indices));
    let values = patch.put_bytes(Bytes::copy_from_slice(bytemuck::cast_slice(&values)));
    let mut entry = flat(displacements.len(), "VEC3");
    entry.insert("min".into(), numbers(low));
    entry.insert("max".into(), numbers(high));
    entry.insert(
        "sparse".into(),
        json!({
            "count": n,
            "indices": {"bufferView": indices, "componentType": component},
            "values": {"bufferView": values}
        }),
    );
    place(&mut patch.json, "accessors", None, entry)
}

/// Zeros take no bytes: an accessor without a buffer view.
fn put_zeros(patch: &mut Patch, count: usize, kind: &str) -> usize {
    let mut entry = flat(count, kind);
    if kind == "VEC3" {
        entry.insert("min".into(), numbers(Vec3::ZERO));
        entry.insert("max".into(), numbers(Vec3::ZERO));
    }
    place(&mut patch.json, "accessors", None, entry)
}

fn flat(count: usize, kind: &str) -> Map<String, Value> {
    let mut entry = Map::new();
    entry.insert("componentType".into(), FLOAT.into());
    entry.insert("count".into(), count.into());
    entry.insert("type".into(), kind.into());
    entry
}

fn numbers(v: Vec3) -> Value {
    v.to_array().iter().map(|&x| number(f64::from(x))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_displacements_are_sparse_and_none_take_no_bytes() {
        let mut patch = Patch::new(json!({"accessors": [], "bufferViews": []}), 0, 0);
        let mut displacements = vec![Vec3::ZERO; 20];
        put_displacements(&mut patch, &displacements);
        displacements[3] = Vec3::new(1.0, -2.0, 0.0);
        put_displacements(&mut patch, &displacements);
        put_displacements(&mut patch, &[Vec3::X; 4]);
        let accessors = &patch.json["accessors"];
        assert!(accessors[0].get("bufferView").is_none() && accessors[0].get("sparse").is_none());
        assert_eq!(accessors[1]["sparse"]["count"], 1);
        assert_eq!(accessors[1]["min"], json!([0, -2, 0]));
        assert!(accessors[2].get("bufferView").is_some());
        assert_eq!(accessors[2]["min"], json!([1, 0, 0]));
    }

    #[test]
    fn sixteen_bits_keep_the_ends() {
        let (component, normalized, bytes) = Storage::Short.encode(&[-1.0, 0.0, 1.0]);
        assert_eq!((component, normalized), (SHORT, true));
        assert_eq!(bytes[..], [0x01, 0x80, 0, 0, 0xff, 0x7f]);
        let (_, _, bytes) = Storage::UnsignedShort.encode(&[0.0, 1.0]);
        assert_eq!(bytes[..], [0, 0, 0xff, 0xff]);
    }
}
