//! Operations on corrective samples that deform the mesh, or read its symmetry.
//!
//! Data flow: a document, and samples by their index among [`Correctives::samples`] -> the mesh deformed at the poses of
//! the samples by [`crate::evaluate::Evaluator`] -> new [`Correctives`] -> [`edit_of`], one edit for each mesh.
//!
//! Invariant: nothing here changes a document; the caller applies the edits.
//! Invariant: a sample keeps its name, strength and pose, unless an operation is about them.

mod add;
mod fix;
mod mirror;
mod reduce;
mod retarget;
pub mod sculpt;

pub use add::{Added, NewSample, add_sample, posed_drivers};
pub use fix::fix;
pub use mirror::{Mirrored, is_on_positive_side, mirror};
pub use reduce::{ReduceError, Reduced, reduce};
pub use retarget::{Retargeted, keep, retarget, stale};

use crate::deform::Correctives;
use crate::document::{CorrectivesEdit, Document, Edit, InstanceId, MeshId};
use std::sync::Arc;

/// The edit that gives a mesh these samples.
pub fn edit_of(document: &Document, mesh: MeshId, correctives: Correctives) -> Edit {
    Edit::Correctives(CorrectivesEdit::new(document, mesh, Arc::new(correctives)))
}

/// The first instance of a mesh that a skin moves.
pub fn skinned_instance(document: &Document, mesh: MeshId) -> Option<InstanceId> {
    let mut instances = document.instances().iter();
    let found = instances.find(|(_, i)| i.mesh == mesh && i.skin.is_some());
    found.map(|(&id, _)| id)
}
