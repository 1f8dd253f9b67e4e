//! Writes baked helper joints and morph targets as nodes, joint lists of skins, and targets of primitives.

use super::error::GltfWriteError;
use super::joint_meshes::move_from_joints;
use super::json::{entry_mut, index, place, short};
use super::nodes::{AddedNodes, node_of};
use super::patch::{NewAccessor, Patch};
use super::report::ExportReport;
use super::slots::FileSlots;
use super::targets::add_targets;
use super::widen::widen_nodes;
use crate::bake::is_byte;
use crate::bake::{BakeOptions, Baked, HelperJoint};
use crate::document::{Document, SkinId};
use crate::io::gltf_json::{ComponentType, members};
use crate::skeleton::{Channel, JointId, Property};
use crate::task::Task;
use ::gltf::json::Node;
use ::gltf::json::accessor::Type;
use bytes::Bytes;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The component type of a channel's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Storage {
    /// f32.
    Float,
    /// Normalised i16, for the range -1 - 1.
    Short,
    /// Normalised u16, for the range 0 - 1.
    UnsignedShort,
    /// Normalised u8, for the range 0 - 1.
    UnsignedByte,
}

impl Storage {
    /// The component type for a channel of a baked model: values quantised to 16 bits are stored in 16 bits,
    /// morph weights that are normalised 8-bit integers in 8.
    pub(super) fn of(document: &Document, baked: Option<&Baked>, channel: &Channel) -> Self {
        let Some(baked) = baked else {
            return Self::Float;
        };
        let is_helper = baked.is_helper(channel.joint);
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
                let mut values = channel.values.iter();
                if is_baked && values.all(|v| is_byte(f64::from(*v))) {
                    Self::UnsignedByte
                } else if is_baked && within(0.0) {
                    Self::UnsignedShort
                } else {
                    Self::Float
                }
            }
            _ => Self::Float,
        }
    }

    /// The component type, whether it is normalised, and the bytes.
    pub(super) fn encode(self, values: &[f32]) -> (ComponentType, bool, Bytes) {
        let of = |bytes: Vec<u8>| Bytes::from(bytes);
        match self {
            Self::Float => {
                let bytes = Bytes::copy_from_slice(bytemuck::cast_slice(values));
                (ComponentType::F32, false, bytes)
            }
            Self::Short => {
                let short = |v: &f32| ((f64::from(*v) * 32767.0).round() as i16).to_le_bytes();
                (
                    ComponentType::I16,
                    true,
                    of(values.iter().flat_map(short).collect()),
                )
            }
            Self::UnsignedByte => {
                let byte = |v: &f32| (f64::from(*v) * 255.0).round() as u8;
                (
                    ComponentType::U8,
                    true,
                    of(values.iter().map(byte).collect()),
                )
            }
            Self::UnsignedShort => {
                let short = |v: &f32| ((f64::from(*v) * 65535.0).round() as u16).to_le_bytes();
                (
                    ComponentType::U16,
                    true,
                    of(values.iter().flat_map(short).collect()),
                )
            }
        }
    }
}

/// Writes helper joints, the skins that list them, and morph targets, as `options` say. Returns the nodes of the helper
/// joints, and those of meshes that joints drew.
pub(super) fn patch_corrections(
    document: &Document,
    baked: &Baked,
    slots: &FileSlots,
    options: &BakeOptions,
    patch: &mut Patch,
    report: &mut ExportReport,
    task: &Task,
) -> Result<AddedNodes, GltfWriteError> {
    let joints_added = add_nodes(document, &baked.joints, patch);
    let old: BTreeMap<SkinId, Option<usize>> = baked
        .skins
        .keys()
        .map(|&skin| (skin, release_skin(patch, skin)))
        .collect();
    for (&skin, joints) in &baked.skins {
        let replaces = old.get(&skin).copied().flatten();
        let nodes = joints.iter().filter_map(|&j| baked.joints.get(j));
        let nodes = nodes.filter_map(|helper| joints_added.get(&helper.id).copied());
        write_skin(
            document,
            (baked, slots),
            (skin, joints),
            nodes,
            replaces,
            patch,
        )?;
    }
    for (&mesh, baked_mesh) in baked.meshes.iter().filter(|(_, m)| !m.targets.is_empty()) {
        task.check()?;
        if let Some(item) = document.meshes().get(&mesh) {
            add_targets(document, (mesh, item), baked_mesh, options, patch, report)?;
        }
    }
    widen_nodes(document, baked, &mut patch.json);
    let meshes = move_from_joints(document, baked, patch, report);
    Ok(AddedNodes {
        joints: joints_added,
        meshes,
    })
}

fn add_nodes(
    document: &Document,
    joints: &[HelperJoint],
    patch: &mut Patch,
) -> BTreeMap<JointId, usize> {
    let mut added = BTreeMap::new();
    for joint in joints {
        let mut entry = members(&Node {
            name: Some(joint.name.clone()),
            ..Node::default()
        });
        let (t, r, s) = (
            joint.rest.translation.to_array(),
            joint.rest.rotation.to_array(),
            joint.rest.scale().to_array(),
        );
        let mut write = |key: &str, values: &[f64], identity: &[f64]| {
            if values != identity {
                let values = values.iter().map(|&x| short(x as f32));
                entry.insert(key.into(), values.collect());
            }
        };
        write("translation", &t, &[0.0; 3]);
        write("rotation", &r, &[0.0, 0.0, 0.0, 1.0]);
        write("scale", &s, &[1.0; 3]);
        let node = place(&mut patch.json, "nodes", None, entry);
        added.insert(joint.id, node);
        let parent = node_of(document, joint.parent);
        if let Some(parent) = entry_mut(&mut patch.json, "nodes", parent) {
            let children = parent.entry("children").or_insert_with(|| json!([]));
            if let Some(children) = children.as_array_mut() {
                children.push(node.into());
            }
        }
    }
    added
}

/// Releases the inverse bind matrices of a skin.
fn release_skin(patch: &mut Patch, skin: SkinId) -> Option<usize> {
    let entry = entry_mut(&mut patch.json, "skins", skin.0 as usize)?;
    let old = index(entry.get("inverseBindMatrices"));
    patch.release(old);
    old
}

fn write_skin(
    document: &Document,
    (baked, slots): (&Baked, &FileSlots),
    (skin, joints): (SkinId, &[usize]),
    nodes: impl Iterator<Item = usize>,
    replaces: Option<usize>,
    patch: &mut Patch,
) -> Result<(), GltfWriteError> {
    let missing = || GltfWriteError::SkinMissing { skin: skin.0 };
    let own = document.skins().get(&skin).ok_or_else(missing)?;
    let helpers = joints.iter().filter_map(|&j| baked.joints.get(j));
    let slots = slots.of_skin(skin).ok_or_else(missing)?;
    let matrices = slots
        .kept(&own.inverse_bind)
        .chain(helpers.map(|h| &h.inverse_bind));
    let bytes: Vec<u8> = matrices
        .clone()
        .flat_map(|m| glam::DMat4::from(*m).to_cols_array())
        .flat_map(|x| (x as f32).to_le_bytes())
        .collect();
    let accessor = patch.put(NewAccessor {
        replaces,
        component: ComponentType::F32,
        kind: Type::Mat4,
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
    list.extend(nodes.map(Value::from));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sixteen_bits_keep_the_ends() {
        let (component, normalized, bytes) = Storage::Short.encode(&[-1.0, 0.0, 1.0]);
        assert_eq!((component, normalized), (ComponentType::I16, true));
        assert_eq!(bytes[..], [0x01, 0x80, 0, 0, 0xff, 0x7f]);
        let (_, _, bytes) = Storage::UnsignedShort.encode(&[0.0, 1.0]);
        assert_eq!(bytes[..], [0, 0, 0xff, 0xff]);
        let (component, normalized, bytes) = Storage::UnsignedByte.encode(&[0.0, 0.2, 1.0]);
        assert_eq!((component, normalized), (ComponentType::U8, true));
        assert_eq!(bytes[..], [0, 51, 0xff]);
    }
}
