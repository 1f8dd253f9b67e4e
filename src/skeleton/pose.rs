//! Local transforms of all joints at one moment, and forward kinematics.

use super::{JointIndex, Skeleton};
use crate::math::Transform;
use glam::{DAffine3, DMat3};

/// The local transform of every joint, and the morph weights of the joints that draw a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pose {
    /// n_joints, each in its parent's space.
    pub locals: Vec<Transform>,
    /// n_joints; empty for a joint whose mesh has no morph targets.
    pub morph_weights: Vec<Vec<f32>>,
}

impl Pose {
    /// The skeleton's rest transforms, without morphs.
    pub fn rest(skeleton: &Skeleton) -> Self {
        Self {
            locals: skeleton.joints().iter().map(|joint| joint.rest).collect(),
            morph_weights: vec![Vec::new(); skeleton.len()],
        }
    }

    /// World transform of each joint: `world[j] = world[parent] * local[j]`, walked in topological order.
    ///
    /// A joint that compensates for its parent's scale ([`super::JointRule`]) takes the parent's orientation without
    /// the parent's own stretch; its translation is still the parent's to scale. Source: Lee et al. 2013, in Maya's
    /// form (METHODS 4.2, 4.3).
    ///
    /// Shapes: n_joints in, n_joints out; metres.
    pub fn world_matrices(&self, skeleton: &Skeleton) -> Vec<DAffine3> {
        let mut world = Vec::new();
        self.world_matrices_into(skeleton, &mut world);
        world
    }

    /// [`Self::world_matrices`] into a vector that is used again.
    pub fn world_matrices_into(&self, skeleton: &Skeleton, world: &mut Vec<DAffine3>) {
        world.clear();
        world.resize(skeleton.len(), DAffine3::IDENTITY);
        for &j in skeleton.order() {
            let local = &self.locals[j as usize];
            let joint = skeleton.joint(JointIndex(j));
            world[j as usize] = match joint.parent {
                Some(parent) if joint.rule.compensates_scale => DAffine3 {
                    matrix3: self.unstretched(skeleton, parent, world) * local.to_affine().matrix3,
                    translation: world[parent.get()].transform_point3(local.translation),
                },
                Some(parent) => world[parent.get()] * local.to_affine(),
                None => local.to_affine(),
            };
        }
    }

    /// X of a joint whose ancestors are placed: its world orientation without the stretch of its own.
    fn unstretched(&self, skeleton: &Skeleton, j: JointIndex, world: &[DAffine3]) -> DMat3 {
        let joint = skeleton.joint(j);
        let above = match joint.parent {
            Some(p) if joint.rule.compensates_scale => self.unstretched(skeleton, p, world),
            Some(p) => world[p.get()].matrix3,
            None => DMat3::IDENTITY,
        };
        above * DMat3::from_quat(self.locals[j.get()].rotation)
    }
}
