//! The bones of the skin that moves a mesh, in the bind pose.

use super::{Document, MeshId};
use crate::skinning::{LeafPoints, SkinBind, SkinBones};

impl Document {
    /// The bones of the skin that moves `mesh`; `None` without a skin. Leaves have no points of the mesh to reach to.
    pub fn bind_bones(&self, mesh: MeshId) -> Option<SkinBones> {
        let (_, skin) = self.skin_of_mesh(mesh)?;
        let skeleton = self.skeleton();
        let rest = self.rest_pose().world_matrices(skeleton);
        let bound = vec![true; skin.joints.len()];
        let bind = SkinBind::new(skeleton, &skin.joints, &skin.inverse_bind, &bound, &rest);
        let leaves = SkinBones::leaves(&bind, skeleton);
        Some(SkinBones::new(&bind, skeleton, &LeafPoints::new(&leaves)))
    }
}
