//! Centres of rotation of the meshes that need them in some view.

use super::ViewRequest;
use crate::deform::SkinningMethod;
use crate::document::{Document, MeshId};
use crate::skinning::Centres;
use crate::task::Task;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Centres of rotation by mesh.
pub type CentreMap = BTreeMap<MeshId, Arc<Centres>>;

/// The meshes with a skin that some of `views` skin about centres of rotation.
pub fn meshes_about_centres(document: &Document, views: &[ViewRequest]) -> BTreeSet<MeshId> {
    meshes_with_repetitions(document, views).collect()
}

/// Whether `known` has the centres of a mesh for its current influences.
pub fn has_centres(document: &Document, known: &CentreMap, mesh: MeshId) -> bool {
    document.meshes().get(&mesh).is_some_and(|item| {
        known
            .get(&mesh)
            .is_some_and(|c| c.are_of(&item.geometry, &item.influences))
    })
}

/// Computes the centres that `views` need and `known` lacks, on this thread, and removes the others. Allocates nothing
/// where `known` is up to date.
pub(super) fn find(document: &Document, views: &[ViewRequest], known: &mut CentreMap) {
    known.retain(|mesh, _| {
        meshes_with_repetitions(document, views)
            .any(|meshes_with_repetitions| meshes_with_repetitions == *mesh)
    });
    for mesh in meshes_with_repetitions(document, views) {
        if has_centres(document, known, mesh) {
            continue;
        }
        if let Some(item) = document.meshes().get(&mesh)
            && let Ok(centres) = Centres::compute(&item.geometry, &item.influences, &Task::new())
        {
            known.insert(mesh, Arc::new(centres));
        }
    }
}

/// As [`meshes_about_centres`], with repetitions.
fn meshes_with_repetitions<'a>(
    document: &'a Document,
    views: &'a [ViewRequest],
) -> impl Iterator<Item = MeshId> + 'a {
    let instances = document.instances().values();
    let skinned = instances.filter(|i| i.skin.is_some()).map(|i| i.mesh);
    skinned.filter(|mesh| {
        document.meshes().get(mesh).is_some_and(|item| {
            let mut methods = views.iter().map(|view| view.stack.method(&item.stack));
            methods.any(|method| method == SkinningMethod::CentresOfRotation)
        })
    })
}
