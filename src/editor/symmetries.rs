//! Mirror images of the points of meshes, found once for all that needs them: painting with symmetry, selecting the other
//! side, mirrored layers.
//!
//! Invariant: what is handed out is of the plane that the document has now, not of the one it had before bones were
//! renamed, paired or moved.

use crate::document::layers::MirrorEffect;
use crate::document::{Document, MeshId};
use crate::math::Axis;
use crate::mesh::{Mesh, Symmetry};
use crate::task::{Cancelled, Task};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How far a mirror image may be from the mirrored place where it is found by neither position nor topology, as a fraction
/// of the diagonal of the bounds.
pub(super) const TOLERANCE: f32 = 0.01;

/// As many are kept: three axes of a few meshes. A plane that follows a bone as it is dragged must not fill the memory.
const MOST: usize = 12;

/// The mirror images found so far. Clones share them, so that jobs read and add to them.
#[derive(Clone, Default)]
pub(super) struct Symmetries {
    /// The one used last comes last.
    known: Arc<Mutex<Vec<Known>>>,
}

/// What was found for a mesh; axis and plane are the symmetry's own.
struct Known {
    mesh: Arc<Mesh>,
    symmetry: Arc<Symmetry>,
}

impl Symmetries {
    /// The mirror images of the points of a mesh across its plane between left and right; of none where it is gone. It may
    /// take seconds: for the lane.
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
        if known.len() > MOST {
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

    /// The list is sound between any two of its changes, so a panic elsewhere does no harm.
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
