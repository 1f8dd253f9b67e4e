//! Access to primitives: their entries in the file and their points in the document.

use crate::document::{MeshId, MeshItem};
use serde_json::{Map, Value};

/// The points of a primitive's vertices, in file order.
pub(super) fn points_of(item: &MeshItem, primitive: usize) -> &[u32] {
    let primitive = item.geometry.primitives.get(primitive);
    primitive
        .and_then(|p| {
            let range = p.vertices.start as usize..p.vertices.end as usize;
            item.geometry.point_of_vertex.get(range)
        })
        .unwrap_or_default()
}

/// The attributes of a primitive in the file.
pub(super) fn attributes(
    json: &Value,
    mesh: MeshId,
    primitive: usize,
) -> Option<&Map<String, Value>> {
    let primitives = json
        .get("meshes")?
        .get(mesh.0 as usize)?
        .get("primitives")?;
    primitives.get(primitive)?.get("attributes")?.as_object()
}

/// The same, to change them.
pub(super) fn attributes_mut(
    json: &mut Value,
    mesh: MeshId,
    primitive: usize,
) -> Option<&mut Map<String, Value>> {
    primitive_mut(json, mesh, primitive)?
        .get_mut("attributes")?
        .as_object_mut()
}

/// A primitive in the file.
pub(super) fn primitive_mut(
    json: &mut Value,
    mesh: MeshId,
    primitive: usize,
) -> Option<&mut Map<String, Value>> {
    json.get_mut("meshes")?
        .get_mut(mesh.0 as usize)?
        .get_mut("primitives")?
        .get_mut(primitive)?
        .as_object_mut()
}
