//! Patch layouts of the meshes that have control clusters.

use super::{CentreMap, ViewRequest, meshes_about_centres};
use crate::cluster::MeshLayout;
use crate::document::{Document, MeshId};
use crate::skinning::Centres;
use crate::task::{Cancelled, Task};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Patch layouts by mesh.
pub type LayoutMap = BTreeMap<MeshId, Arc<MeshLayout>>;

/// What takes long to compute and is shared by evaluations: centres of rotation and patch layouts.
#[derive(Clone, Debug, Default)]
pub struct SlowCooks {
    /// Centres of rotation.
    pub centres: CentreMap,
    /// Patch layouts.
    pub layouts: LayoutMap,
}

impl SlowCooks {
    /// What the own stacks of a document need: those of `known` that are of its meshes, the others computed.
    pub fn of(document: &Document, known: &Self, task: &Task) -> Result<Self, Cancelled> {
        let views = [ViewRequest::own()];
        let mut found = Self::default();
        for mesh in meshes_with_clusters(document, &views) {
            let Some(item) = document.meshes().get(&mesh) else {
                continue;
            };
            let layout = known.layouts.get(&mesh);
            let layout = match layout.filter(|l| l.is_of(&item.geometry, &item.clusters)) {
                Some(layout) => layout.clone(),
                None => Arc::new(MeshLayout::compute(&item.geometry, &item.clusters, task)?),
            };
            found.layouts.insert(mesh, layout);
        }
        for mesh in meshes_about_centres(document, &views) {
            let Some(item) = document.meshes().get(&mesh) else {
                continue;
            };
            let centres = known.centres.get(&mesh);
            let centres = match centres.filter(|c| c.are_of(&item.geometry, &item.influences)) {
                Some(centres) => centres.clone(),
                None => Arc::new(Centres::compute(&item.geometry, &item.influences, task)?),
            };
            found.centres.insert(mesh, centres);
        }
        Ok(found)
    }
}

/// The meshes with control clusters, where some of `views` shows them; in order of id.
pub fn meshes_with_clusters<'a>(
    document: &'a Document,
    views: &[ViewRequest],
) -> impl Iterator<Item = MeshId> + use<'a> {
    let is_shown = views.iter().any(ViewRequest::shows_clusters);
    let meshes = document.meshes().iter();
    let meshes = meshes.filter(move |(_, item)| is_shown && item.clusters.acts());
    meshes.map(|(&id, _)| id)
}

/// Whether `known` has the layout of a mesh for its current clusters.
pub fn has_layout(document: &Document, known: &LayoutMap, mesh: MeshId) -> bool {
    document.meshes().get(&mesh).is_some_and(|item| {
        let layout = known.get(&mesh);
        layout.is_some_and(|layout| layout.is_of(&item.geometry, &item.clusters))
    })
}

/// Computes the layouts that `views` need and `known` lacks, on this thread, and removes the others.
pub(super) fn find(document: &Document, views: &[ViewRequest], known: &mut LayoutMap) {
    known.retain(|mesh, _| meshes_with_clusters(document, views).any(|other| other == *mesh));
    for mesh in meshes_with_clusters(document, views) {
        if has_layout(document, known, mesh) {
            continue;
        }
        let earlier = known.get(&mesh).cloned();
        if let Some(item) = document.meshes().get(&mesh)
            && let Ok(layout) = MeshLayout::compute_after(
                earlier.as_deref(),
                &item.geometry,
                &item.clusters,
                &Task::new(),
            )
        {
            known.insert(mesh, Arc::new(layout));
        }
    }
}
