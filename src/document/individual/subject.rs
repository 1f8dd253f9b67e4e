//! The skinned meshes of a document as a body.

use crate::document::{Document, MeshId};
use crate::twin::{Body, SkinnedShape, TwinError};
use std::collections::BTreeSet;

/// The body of a document, and the mesh of each of its shapes.
pub(super) fn body_of(document: &Document) -> Result<(Body, Vec<MeshId>), TwinError> {
    let mut meshes = Vec::new();
    let mut shapes = Vec::new();
    for (&id, item) in &document.meshes {
        let drawn = document.instances.values().filter(|i| i.mesh == id);
        let skins: BTreeSet<_> = drawn.filter_map(|i| i.skin).collect();
        if skins.len() > 1 {
            return Err(TwinError::Model(format!(
                "the mesh \"{}\" is drawn with {} skins, which cannot share one shape: give each its own mesh first",
                item.geometry.name,
                skins.len(),
            )));
        }
        let skin = skins.first().and_then(|skin| document.skins.get(skin));
        let Some(skin) = skin.filter(|_| item.geometry.n_points() > 0) else {
            continue;
        };
        meshes.push(id);
        shapes.push(SkinnedShape {
            geometry: &item.geometry,
            influences: &item.influences,
            joints: &skin.joints,
            inverse_bind: &skin.inverse_bind,
        });
    }
    let world = document.rest_pose.world_matrices(&document.skeleton);
    let body = Body::new(&document.skeleton, world, &shapes)?;
    Ok((body, meshes))
}
