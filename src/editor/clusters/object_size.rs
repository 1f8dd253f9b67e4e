//! The size of the active object, which sets the step of fields of displacements.

use super::Editor;
use crate::document::{Document, InstanceId, MeshId};
use glam::Vec3;

/// The size that was measured last, and of what.
#[derive(Default)]
pub(super) struct ObjectSize(Option<(Document, MeshId, f64)>);

impl Editor {
    /// The size of the object: the diagonal of its box at bind, metres of the world.
    pub fn object_size(&mut self) -> f64 {
        let Some(mesh) = self.clustered_mesh() else {
            return 1.0;
        };
        let known = self.clustering.size.0.as_ref();
        let known = known
            .filter(|(document, of, _)| *of == mesh && document.bends_the_same(&self.document));
        if let Some((_, _, size)) = known {
            return *size;
        }
        let size = size_of_object(&self.document, mesh);
        let size = size.filter(|size| *size > 0.0 && size.is_finite());
        let size = size.unwrap_or(1.0);
        self.clustering.size.0 = Some((self.document.clone(), mesh, size));
        size
    }
}

/// An instance of a mesh.
pub(super) fn first_instance(document: &Document, mesh: MeshId) -> Option<InstanceId> {
    let mut instances = document.instances().iter();
    instances.find(|(_, i)| i.mesh == mesh).map(|(&id, _)| id)
}

/// The diagonal of a mesh's box at bind, metres of the world.
fn size_of_object(document: &Document, mesh: MeshId) -> Option<f64> {
    let positions = document.meshes().get(&mesh)?.geometry.positions.iter();
    let (low, high) = positions.fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| {
        (low.min(*p), high.max(*p))
    });
    let unit = match crate::correctives::skinned_instance(document, mesh) {
        Some(instance) => document.point_rotations(instance)?.unit_scale(),
        None => {
            let node = document.instances()[&first_instance(document, mesh)?].joint;
            let rest = document.rest_pose().world_matrices(document.skeleton());
            rest.get(node.get())?.matrix3.determinant().abs().cbrt()
        }
    };
    Some(f64::from((high - low).length()) * unit)
}
