//! Local transforms of all joints at one moment, and forward kinematics.

use super::{JointIndex, Skeleton};
use crate::math::Transform;
use glam::DAffine3;

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
    /// Shapes: n_joints in, n_joints out; metres.
    pub fn world_matrices(&self, skeleton: &Skeleton) -> Vec<DAffine3> {
        let mut world = vec![DAffine3::IDENTITY; skeleton.len()];
        for &j in skeleton.order() {
            let local = self.locals[j as usize].to_affine();
            world[j as usize] = match skeleton.joint(JointIndex(j)).parent {
                Some(parent) => world[parent.get()] * local,
                None => local,
            };
        }
        world
    }
}
