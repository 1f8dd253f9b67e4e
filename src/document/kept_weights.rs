//! The weights of meshes that were taken from their skins.

use super::ids::{MeshId, SkinId};
use crate::skeleton::JointId;
use crate::skinning::Influences;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The weights of a mesh that was unbound.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptWeights {
    /// The skin that moved it.
    pub skin: SkinId,
    /// The joints of the rows, by slot.
    pub joints: Vec<JointId>,
    /// n_points.
    pub rows: Influences,
}

/// The weights of unbound meshes.
pub type KeptOfMeshes = BTreeMap<MeshId, Arc<KeptWeights>>;
