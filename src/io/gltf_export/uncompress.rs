//! Writes edited Draco-compressed primitives as plain accessors.
//!
//! Draco stores a primitive as a whole, so that new weights or positions require decompressing all of it: of plain attributes
//! beside compressed ones, which the extension allows, several players read nothing (Babylon.js, glTFast). Compressing it again
//! would quantise a second time; the decompressed numbers are what every player shows, so these are written. Morph targets
//! alone are read beside compressed vertices: every decoder returns these in the same order.

use super::error::GltfWriteError;
use super::json::{DRACO, index};
use super::patch::{NewAccessor, Patch};
use super::primitives::{attributes_mut, points_of, primitive_mut};
use super::report::ExportReport;
use crate::document::{Document, MeshId, MeshItem};
use crate::io::gltf;
use crate::io::gltf_json::{ComponentType, Target};
use ::gltf::json::accessor::Type;
use bytes::Bytes;
use serde_json::Value;

/// Whether a primitive is compressed and was not written uncompressed yet.
pub(super) fn is_compressed(patch: &mut Patch, mesh: MeshId, primitive: usize) -> bool {
    let entry = primitive_mut(&mut patch.json, mesh, primitive);
    entry.is_some_and(|e| e.get("extensions").is_some_and(|e| e.get(DRACO).is_some()))
}

/// Whether a compressed primitive can stay so beside new morph targets. One that also has an uncompressed copy cannot, since the
/// order of vertices in the copy may differ, nor one whose accessors have another number of vertices than the bitstream.
pub(super) fn stays_compressed(
    document: &Document,
    patch: &Patch,
    (mesh, item): (MeshId, &MeshItem),
    primitive: usize,
) -> bool {
    if document.reshaped().contains(&mesh) {
        return false;
    }
    let entry = patch
        .json
        .get("meshes")
        .and_then(|m| m.get(mesh.0 as usize));
    let entry = entry.and_then(|mesh| mesh.get("primitives")?.get(primitive));
    let compressed = entry.and_then(|entry| entry.get("extensions")?.get(DRACO)?.get("attributes"));
    let Some((entry, compressed)) = entry.zip(compressed.and_then(Value::as_object)) else {
        return false;
    };
    let accessors = patch.json.get("accessors");
    // The accessor of compressed data without a copy.
    let alone = |i: Option<&Value>| {
        let accessor = accessors?.get(index(i)?)?;
        accessor.get("bufferView").is_none().then_some(accessor)
    };
    let n_vertices = points_of(item, primitive).len();
    let is_whole = |name: &String| {
        let accessor = entry.get("attributes").and_then(|a| alone(a.get(name)));
        accessor.is_some_and(|accessor| index(accessor.get("count")) == Some(n_vertices))
    };
    alone(entry.get("indices")).is_some() && compressed.keys().all(is_whole)
}

/// [`uncompress`], unless it was done already.
pub(super) fn uncompress_once(
    document: &Document,
    patch: &mut Patch,
    mesh: MeshId,
    primitive: usize,
    report: &mut ExportReport,
) -> Result<(), GltfWriteError> {
    if is_compressed(patch, mesh, primitive) {
        uncompress(document, patch, mesh, primitive, report)?;
    }
    Ok(())
}

/// Rewrites a compressed primitive uncompressed, except for its weights, which are written anew or dropped; others are
/// unchanged.
fn uncompress(
    document: &Document,
    patch: &mut Patch,
    mesh: MeshId,
    primitive: usize,
    report: &mut ExportReport,
) -> Result<(), GltfWriteError> {
    let Some(source) = document.source() else {
        return Ok(());
    };
    let in_source = document.mesh_of_file(mesh).0 as usize;
    let decoded = gltf::uncompress(source, in_source, primitive);
    let decoded = decoded.map_err(|fault| GltfWriteError::Compressed {
        mesh: mesh.0,
        primitive,
        why: fault.message,
    })?;
    let Some(decoded) = decoded else {
        return Ok(());
    };
    report.uncompressed(mesh, primitive, "Draco", "vertices and triangles");
    patch.dropped_extensions.insert(DRACO);
    let Some(entry) = primitive_mut(&mut patch.json, mesh, primitive) else {
        return Ok(());
    };
    if let Some(extensions) = entry.get_mut("extensions").and_then(|e| e.as_object_mut()) {
        let draco = extensions.shift_remove(DRACO);
        if extensions.is_empty() {
            entry.shift_remove("extensions");
        }
        patch.release_view(index(
            draco.as_ref().and_then(|draco| draco.get("bufferView")),
        ));
    }
    let is_weights = |s: &str| s.starts_with("JOINTS_") || s.starts_with("WEIGHTS_");
    for attribute in decoded
        .attributes
        .iter()
        .filter(|a| !is_weights(&a.semantic))
    {
        let attributes = attributes_mut(&mut patch.json, mesh, primitive);
        let old = index(
            attributes
                .and_then(|a| a.get(&attribute.semantic).cloned())
                .as_ref(),
        );
        patch.release(old);
        let new = patch.put(plain(attribute, decoded.n_vertices, old));
        if let Some(attributes) = attributes_mut(&mut patch.json, mesh, primitive) {
            attributes.insert(attribute.semantic.clone(), new.into());
        }
    }
    let Some(triangles) = decoded.triangles else {
        return Ok(());
    };
    let entry = primitive_mut(&mut patch.json, mesh, primitive);
    let old = index(
        entry
            .and_then(|entry| entry.get("indices").cloned())
            .as_ref(),
    );
    patch.release(old);
    let new = patch.put(indices(&triangles, decoded.n_vertices, old));
    if let Some(entry) = primitive_mut(&mut patch.json, mesh, primitive) {
        entry.insert("indices".into(), new.into());
        // Strips are decoded to triangles, the default of an absent mode.
        entry.shift_remove("mode");
    }
    Ok(())
}

fn plain(
    attribute: &gltf::PlainAttribute,
    n_vertices: usize,
    replaces: Option<usize>,
) -> NewAccessor {
    let kind = match attribute.width {
        1 => Type::Scalar,
        2 => Type::Vec2,
        3 => Type::Vec3,
        4 => Type::Vec4,
        9 => Type::Mat3,
        _ => Type::Mat4,
    };
    let size = attribute.bytes.len() / n_vertices.max(1);
    // Elements of vertex attributes must be aligned to 4 bytes.
    let bytes = if size == 0 || size.is_multiple_of(4) {
        attribute.bytes.clone()
    } else {
        let mut padded = Vec::with_capacity(size.next_multiple_of(4) * n_vertices);
        for element in attribute.bytes.chunks_exact(size) {
            padded.extend_from_slice(element);
            padded.resize(padded.len().next_multiple_of(4), 0);
        }
        Bytes::from(padded)
    };
    // Only positions require bounds.
    let bounds = (attribute.semantic == "POSITION" && attribute.component == ComponentType::F32)
        .then(|| bounds(&attribute.bytes, attribute.width));
    NewAccessor {
        replaces,
        component: attribute.component,
        kind,
        normalized: attribute.normalized,
        count: n_vertices,
        bytes,
        target: Some(Target::ArrayBuffer),
        bounds,
    }
}

/// The minimum and maximum f32 of each of `width` components, as bits of f64.
fn bounds(bytes: &[u8], width: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut min, mut max) = (vec![f32::INFINITY; width], vec![f32::NEG_INFINITY; width]);
    for (i, value) in bytes.as_chunks::<4>().0.iter().enumerate() {
        let value = f32::from_le_bytes(*value);
        min[i % width] = min[i % width].min(value);
        max[i % width] = max[i % width].max(value);
    }
    let bits = |v: Vec<f32>| v.into_iter().map(|x| f64::from(x).to_bits()).collect();
    (bits(min), bits(max))
}

fn indices(triangles: &[[u32; 3]], n_vertices: usize, replaces: Option<usize>) -> NewAccessor {
    let corners = triangles.as_flattened();
    // The largest u16 is the primitive restart value.
    let (component, bytes): (ComponentType, Vec<u8>) = if u16::try_from(n_vertices).is_ok() {
        let narrow = corners.iter().flat_map(|&i| (i as u16).to_le_bytes());
        (ComponentType::U16, narrow.collect())
    } else {
        (
            ComponentType::U32,
            corners.iter().flat_map(|i| i.to_le_bytes()).collect(),
        )
    };
    NewAccessor {
        replaces,
        component,
        kind: Type::Scalar,
        normalized: false,
        count: corners.len(),
        bytes: Bytes::from(bytes),
        target: Some(Target::ElementArrayBuffer),
        bounds: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_elements_are_padded_and_positions_bounded() {
        let colour = gltf::PlainAttribute {
            semantic: "COLOR_0".into(),
            component: ComponentType::U8,
            width: 3,
            normalized: true,
            bytes: Bytes::from_static(&[1, 2, 3, 4, 5, 6]),
        };
        let accessor = plain(&colour, 2, None);
        assert_eq!(accessor.bytes[..], [1, 2, 3, 0, 4, 5, 6, 0]);
        let bytes: Vec<u8> = [1.0f32, 2.0, -3.0, 0.5]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        let (min, max) = bounds(&bytes, 2);
        let floats = |v: Vec<u64>| v.into_iter().map(f64::from_bits).collect::<Vec<_>>();
        assert_eq!(
            (floats(min), floats(max)),
            (vec![-3.0, 0.5], vec![1.0, 2.0])
        );
    }

    #[test]
    fn indices_take_as_many_bytes_as_needed() {
        assert_eq!(
            indices(&[[0, 1, 2]], 65535, None).component,
            ComponentType::U16
        );
        assert_eq!(
            indices(&[[0, 1, 65535]], 65536, None).component,
            ComponentType::U32
        );
    }
}
