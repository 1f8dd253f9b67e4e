//! Writes the vertices of meshes whose shape is not the source's: those of an individual, and of applied poses.

use super::error::GltfWriteError;
use super::json::index;
use super::patch::Patch;
use super::primitives::{attributes_mut, points_of, primitive_mut};
use super::report::ExportReport;
use super::shapes::{WITHOUT_TANGENTS, put_vectors};
use super::uncompress;
use crate::document::{Document, MeshId, MeshItem};
use crate::finding::Finding;
use glam::Vec3;
use serde_json::Value;

/// Writes positions and normals, and their displacements in morph targets, of every mesh of [`Document::reshaped`]. Tangents,
/// which belong to the old shape, are left out.
pub(super) fn patch_points(
    document: &Document,
    patch: &mut Patch,
    report: &mut ExportReport,
) -> Result<(), GltfWriteError> {
    let mut had_tangents = false;
    for &mesh in document.reshaped() {
        let Some(item) = document.meshes().get(&mesh) else {
            continue;
        };
        for primitive in 0..item.geometry.primitives.len() {
            uncompress::uncompress_once(document, patch, mesh, primitive, report)?;
            had_tangents |= write(patch, mesh, item, primitive)?;
        }
    }
    if had_tangents {
        report
            .findings
            .push(Finding::info("meshes", WITHOUT_TANGENTS));
    }
    patch.settle();
    Ok(())
}

/// Writes a primitive; returns whether it had tangents.
fn write(
    patch: &mut Patch,
    mesh: MeshId,
    item: &MeshItem,
    primitive: usize,
) -> Result<bool, GltfWriteError> {
    let geometry = &item.geometry;
    let points = points_of(item, primitive);
    if points.is_empty() {
        return Ok(false);
    }
    let missing = || GltfWriteError::PrimitiveMissing {
        mesh: mesh.0,
        primitive,
    };
    let range = geometry.primitives.get(primitive).ok_or_else(missing)?;
    let range = range.vertices.start as usize..range.vertices.end as usize;
    let attributes = attributes_mut(&mut patch.json, mesh, primitive).ok_or_else(missing)?;
    let tangents = attributes.shift_remove("TANGENT");
    let position = index(attributes.get("POSITION"));
    let normal = index(attributes.get("NORMAL"));
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
    patch.release(tangents.as_ref().and_then(|t| index(Some(t))));
    let positions: Vec<Vec3> = points
        .iter()
        .map(|p| geometry.positions[*p as usize])
        .collect();
    let position = put_vectors(patch, &positions, position, true);
    let normal = normal.map(|old| {
        let of = &geometry.normal_of_vertex[range.clone()];
        let normals: Vec<Vec3> = of.iter().map(|n| geometry.normals[*n as usize]).collect();
        put_vectors(patch, &normals, Some(old), false)
    });
    if let Some(attributes) = attributes_mut(&mut patch.json, mesh, primitive) {
        attributes.insert("POSITION".into(), position.into());
        if let Some(normal) = normal {
            attributes.insert("NORMAL".into(), normal.into());
        }
    }
    for (target, morph) in geometry.morphs.iter().enumerate() {
        let Some(entry) = target_mut(patch, mesh, primitive, target) else {
            continue;
        };
        let tangent = entry.shift_remove("TANGENT");
        let [position, normal] = ["POSITION", "NORMAL"].map(|key| index(entry.get(key)));
        patch.release(tangent.as_ref().and_then(|t| index(Some(t))));
        let position = position.map(|old| {
            let deltas: Vec<Vec3> = points.iter().map(|p| morph.deltas[*p as usize]).collect();
            put_vectors(patch, &deltas, Some(old), true)
        });
        let normal = normal.map(|old| {
            let mut deltas = vec![Vec3::ZERO; range.len()];
            for (vertex, delta) in &morph.normals {
                if range.contains(&(*vertex as usize)) {
                    deltas[*vertex as usize - range.start] = *delta;
                }
            }
            put_vectors(patch, &deltas, Some(old), false)
        });
        if let Some(entry) = target_mut(patch, mesh, primitive, target) {
            for (key, new) in [("POSITION", position), ("NORMAL", normal)] {
                if let Some(new) = new {
                    entry.insert(key.into(), new.into());
                }
            }
        }
    }
    Ok(tangents.is_some())
}

fn target_mut(
    patch: &mut Patch,
    mesh: MeshId,
    primitive: usize,
    target: usize,
) -> Option<&mut serde_json::Map<String, Value>> {
    let primitive = primitive_mut(&mut patch.json, mesh, primitive)?;
    primitive
        .get_mut("targets")?
        .get_mut(target)?
        .as_object_mut()
}
