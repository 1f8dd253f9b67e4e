//! What the deformer stack reads to deform one instance.

use super::{CookedMesh, Correctives, DeformStack, Masks};
use crate::cluster::channel::Recordings;
use crate::cluster::{ClusterMap, MeshLayout};
use crate::math::Transform;
use crate::mesh::Mesh;
use crate::skeleton::{JointId, Moment, Skeleton};
use crate::skinning::{Centres, Influences};
use glam::DAffine3;
use std::sync::Arc;

/// The skin of an instance.
#[derive(Clone, Copy)]
pub struct SkinSource<'a> {
    /// The skeleton's joint for each joint index of the influences.
    pub joints: &'a [JointId],
    /// One for each joint.
    pub inverse_bind: &'a [DAffine3],
    /// All meshes that the skin moves, with their influences as imported. They give the length of the bones of leaf
    /// joints: body and clothes then have the same bones, and painting does not change them.
    pub meshes: &'a [(&'a Arc<Mesh>, &'a Influences)],
}

/// The first skin of a mesh, whose joints drive its samples.
#[derive(Clone, Copy)]
pub struct HomeSkin<'a> {
    /// Its joints.
    pub joints: &'a [JointId],
    /// n_joints of the skeleton: local transforms of the rest pose.
    pub rest: &'a [Transform],
}

/// The control clusters of a mesh.
#[derive(Clone, Copy)]
pub struct ClusterInput<'a> {
    /// The clusters in their groups.
    pub map: &'a Arc<ClusterMap>,
    /// The patches between these or earlier clusters; without effect where they are of another shape.
    pub layout: &'a Arc<MeshLayout>,
    /// The recordings that data and drivers read; compared by identity.
    pub recordings: &'a Arc<Recordings>,
}

/// Everything that deforms one instance of a mesh in one pose. `document::PosedDocument` builds it.
#[derive(Clone, Copy)]
pub struct DeformInput<'a> {
    /// The bind shape.
    pub geometry: &'a Arc<Mesh>,
    /// Its influences in the order of the kernels.
    pub cooked: &'a CookedMesh,
    /// The settings of the stages.
    pub stack: &'a DeformStack,
    /// The painted maps of the mesh.
    pub masks: &'a Masks,
    /// Its corrective samples; `None`: stage 7 does not act.
    pub correctives: Option<&'a Arc<Correctives>>,
    /// The skin whose joints drive the samples, where `skin` is another: the joints at their places in `skin` drive them.
    pub home: Option<HomeSkin<'a>>,
    /// Its control clusters and their patches; `None`: stages 8 and 9 do not act.
    pub clusters: Option<ClusterInput<'a>>,
    /// Its centres of rotation, for these or for earlier influences; without them
    /// [`super::SkinningMethod::CentresOfRotation`] moves points as dual quaternion skinning does.
    pub centres: Option<&'a Arc<Centres>>,
    /// The node tree.
    pub skeleton: &'a Arc<Skeleton>,
    /// The node that draws the mesh.
    pub node: JointId,
    /// The skin that moves the points; `None`: the node moves them.
    pub skin: Option<SkinSource<'a>>,
    /// n_joints of the skeleton: world transforms of the file's rest pose; compared by identity.
    pub rest_world: &'a Arc<Vec<DAffine3>>,
    /// n_joints of the skeleton: local transforms of the pose, whose rotations drive the samples.
    pub locals: &'a [Transform],
    /// n_joints of the skeleton: world transforms of the pose.
    pub world: &'a [DAffine3],
    /// The time of the pose: what clusters that follow time read.
    pub moment: Moment,
    /// One a morph target; missing ones count as 0.
    pub morph_weights: &'a [f32],
}
