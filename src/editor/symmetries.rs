//! The mirror images of the points of meshes, matched once for painting with symmetry, for selecting the other side and for
//! mirrored layers.
//!
//! Invariant: a symmetry is returned for the document's current mirror plane only, which depends on the names, pairs and
//! places of bones.

use crate::document::layers::MirrorEffect;
use crate::document::{Document, MeshId};
use crate::math::Axis;
use crate::mesh::{Mesh, Symmetry};
use crate::task::{Cancelled, Task};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The largest distance of a mirror image from the mirrored position if neither position nor topology finds one, as a
/// fraction of the bounding-box diagonal.
pub(super) const TOLERANCE: f32 = 0.01;

/// The number of symmetries kept: three axes of a few meshes. Bones that are moved often must not fill the memory.
const MAX_KEPT: usize = 12;

/// The symmetries matched so far. Clones share them, so that jobs read them and add to them.
#[derive(Clone, Default)]
pub(super) struct Symmetries {
    /// The most recently used comes last.
    known: Arc<Mutex<Vec<Known>>>,
}

/// The symmetry of a mesh; axis and plane are stored in it.
struct Known {
    mesh: Arc<Mesh>,
    symmetry: Arc<Symmetry>,
}

impl Symmetries {
    /// The symmetry of a mesh across its mirror plane; an empty one for a mesh that no longer exists. May take seconds:
    /// call it on the lane.
    pub(super) fn of(
        &self,
        document: &Document,
        mesh: MeshId,
        axis: Axis,
        task: &Task,
    ) -> Result<Arc<Symmetry>, Cancelled> {
        let geometry = document.meshes().get(&mesh);
        let geometry = geometry.map_or_else(Arc::default, |item| item.geometry.clone());
        let centre = document.mirror_centre(mesh, axis);
        if let Some(known) = self.known(&geometry, axis, centre) {
            return Ok(known);
        }
        let reach = MirrorEffect::metres(&geometry, TOLERANCE);
        let symmetry = Symmetry::find_about(&geometry, axis, centre, reach, task)?;
        let symmetry = Arc::new(symmetry);
        let mut known = self.lock();
        known.push(Known {
            mesh: geometry,
            symmetry: symmetry.clone(),
        });
        if known.len() > MAX_KEPT {
            known.remove(0);
        }
        Ok(symmetry)
    }

    fn known(&self, mesh: &Arc<Mesh>, axis: Axis, centre: f32) -> Option<Arc<Symmetry>> {
        let mut known = self.lock();
        let at = known.iter().position(|k| {
            let (found, symmetry) = (&k.mesh, &k.symmetry);
            Arc::ptr_eq(found, mesh) && symmetry.axis() == axis && symmetry.centre() == centre
        })?;
        known[at..].rotate_left(1);
        known.last().map(|k| k.symmetry.clone())
    }

    /// The list is valid between any two changes, so a panic in another thread does no harm.
    fn lock(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::open_sample;
    use crate::skeleton::JointId;

    #[test]
    fn mirror_images_are_found_once_for_each_plane() {
        let task = Task::new();
        let mut document = open_sample("mannequin", &task).unwrap().document;
        let mesh = *document.meshes().keys().next().unwrap();
        let symmetries = Symmetries::default();
        let of = |document: &Document, axis| symmetries.of(document, mesh, axis, &task).unwrap();
        let first = of(&document, Axis::X);
        let other = of(&document, Axis::Y);
        assert_eq!((first.axis(), other.axis()), (Axis::X, Axis::Y));
        // Other pairs leave the plane where it is.
        let pairs = &mut document.session_mut().joint_pairs;
        pairs.insert(JointId(0), JointId(0));
        assert!(Arc::ptr_eq(&first, &of(&document, Axis::X)));
        assert!(Arc::ptr_eq(&other, &of(&document, Axis::Y)));
        assert_eq!(symmetries.lock().len(), 2);
        let mesh = symmetries.lock()[0].mesh.clone();
        assert!(symmetries.known(&mesh, Axis::X, 0.5).is_none());
    }
}
