//! Local transforms of all joints at one time, and forward kinematics.

use super::joint_limits::JointLimits;
use super::{JointId, RigidInterpolation, Skeleton};
use crate::math::{DualQuat, Transform};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// An influence that a clip animates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyedInfluence {
    /// The joint that has the constraint.
    pub joint: JointId,
    /// The number of the constraint: [`super::Property::Influence`].
    pub number: u16,
    /// 0 - 1.
    pub value: f64,
}

/// The local transform of every joint, and the morph weights of the joints that draw a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pose {
    /// n_joints, each in its parent's space.
    pub locals: Vec<Transform>,
    /// n_joints; empty for a joint whose mesh has no morph targets.
    pub morph_weights: Vec<Vec<f32>>,
    /// The influences of constraints that the pose's clip animates; the others are their own.
    pub influences: Vec<KeyedInfluence>,
}

impl Pose {
    /// The influence of a constraint of `joint` that a clip animates.
    pub fn influence(&self, joint: JointId, number: u16) -> Option<f64> {
        let mut all = self.influences.iter();
        let found = all.find(|i| i.joint == joint && i.number == number);
        found.map(|i| i.value)
    }

    /// Sets the influence of a constraint of `joint`, clamped to 0 - 1; a value that is no number leaves it.
    pub fn set_influence(&mut self, joint: JointId, number: u16, value: f64) {
        if value.is_nan() {
            return;
        }
        let value = value.clamp(0.0, 1.0);
        let mut all = self.influences.iter_mut();
        match all.find(|i| i.joint == joint && i.number == number) {
            Some(known) => known.value = value,
            None => self.influences.push(KeyedInfluence {
                joint,
                number,
                value,
            }),
        }
    }

    /// The skeleton's rest transforms, without morphs.
    pub fn rest(skeleton: &Skeleton) -> Self {
        Self {
            locals: skeleton.joints().iter().map(|joint| joint.rest).collect(),
            morph_weights: vec![Vec::new(); skeleton.len()],
            influences: Vec::new(),
        }
    }

    /// Clamps the rotation of a joint to its limits. Returns whether it exceeded them.
    pub fn clamp_rotation(&mut self, skeleton: &Skeleton, joint: JointId) -> bool {
        self.clamp_rotation_to(skeleton, joint, skeleton.joint(joint).rule.limits)
    }

    /// Clamps the rotation of a joint to other limits than its own; `None`: it rotates freely. Returns whether it exceeded them.
    pub fn clamp_rotation_to(
        &mut self,
        skeleton: &Skeleton,
        joint: JointId,
        limits: Option<JointLimits>,
    ) -> bool {
        let entry = skeleton.joint(joint);
        let Some(limits) = limits else {
            return false;
        };
        let local = &mut self.locals[joint.get()];
        let is_outside = limits.excess(local.rotation, &entry.rest) > 0.0;
        if is_outside {
            local.rotation = limits.clamped(local.rotation, &entry.rest);
        }
        is_outside
    }

    /// World transform of each joint: `world[j] = world[parent] * local[j]`, walked in topological order.
    ///
    /// A joint that compensates for its parent's scale ([`super::JointRule`]) gets the parent's orientation without the
    /// parent's own stretch; the parent still scales its translation. Source: Lee et al. 2013, in Maya's form.
    ///
    /// Shapes: n_joints in, n_joints out; metres.
    pub fn world_matrices(&self, skeleton: &Skeleton) -> Vec<DAffine3> {
        let mut world = Vec::new();
        self.world_matrices_into(skeleton, &mut world);
        world
    }

    /// [`Self::world_matrices`] into a vector that is reused.
    pub fn world_matrices_into(&self, skeleton: &Skeleton, world: &mut Vec<DAffine3>) {
        world.clear();
        world.resize(skeleton.len(), DAffine3::IDENTITY);
        for &j in skeleton.order() {
            let local = &self.locals[j as usize];
            let joint = skeleton.joint(JointId(j));
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

    /// X of a joint whose ancestors are computed: its world orientation without its own stretch.
    fn unstretched(&self, skeleton: &Skeleton, j: JointId, world: &[DAffine3]) -> DMat3 {
        let joint = skeleton.joint(j);
        let above = match joint.parent {
            Some(p) if joint.rule.compensates_scale => self.unstretched(skeleton, p, world),
            Some(p) => world[p.get()].matrix3,
            None => DMat3::IDENTITY,
        };
        above * DMat3::from_quat(self.locals[j.get()].rotation)
    }

    /// World motion of each joint as a unit dual quaternion, in the order of [`Pose::world_matrices`]; `None` where a
    /// joint has a scale, which is not a rigid motion.
    ///
    /// Shapes: n_joints in, n_joints out; metres. A joint costs 47 multiplications and 36 additions, its local dual part
    /// included: `real = p0 l0` and `dual = (p0 (t/2) + pe) l0` for the parent's `p` and the local rotation `l0` and
    /// translation `t`. Source: Feng & Wan 2013, who count 42 + 38 for the product of two dual quaternions against 64 + 48 for
    /// that of two 4 x 4 matrices.
    pub fn world_motions(&self, skeleton: &Skeleton) -> Option<Vec<DualQuat>> {
        if self.locals.iter().any(|l| l.stretch != DMat3::IDENTITY) {
            return None;
        }
        let mut world = vec![DualQuat::IDENTITY; skeleton.len()];
        for &j in skeleton.order() {
            let local = &self.locals[j as usize];
            world[j as usize] = match skeleton.joint(JointId(j)).parent {
                Some(parent) => {
                    let parent = world[parent.get()];
                    let moved = times_pure(parent.real, local.translation * 0.5);
                    DualQuat {
                        real: parent.real * local.rotation,
                        dual: (moved + parent.dual) * local.rotation,
                    }
                }
                None => DualQuat::from_rotation_translation(local.rotation, local.translation),
            };
        }
        Some(world)
    }

    /// This pose with the joints that `chosen` accepts interpolated towards `to` at `t`. Morph weights are interpolated
    /// linearly. `t` 0 and 1 are exact.
    #[must_use]
    pub fn blended(
        &self,
        to: &Self,
        t: f64,
        interpolation: RigidInterpolation,
        chosen: impl Fn(JointId) -> bool,
    ) -> Self {
        let mut pose = self.clone();
        for (j, (local, to)) in pose.locals.iter_mut().zip(&to.locals).enumerate() {
            // Equal transforms stay bit-identical.
            if chosen(JointId(j as u32)) && local != to {
                *local = interpolation.local(local, to, t);
            }
        }
        let t = t.clamp(0.0, 1.0);
        for (j, (weights, to)) in pose
            .morph_weights
            .iter_mut()
            .zip(&to.morph_weights)
            .enumerate()
        {
            if chosen(JointId(j as u32)) {
                for (weight, &to) in weights.iter_mut().zip(to) {
                    let (from, to) = (f64::from(*weight), f64::from(to));
                    *weight = (from * (1.0 - t) + to * t) as f32;
                }
            }
        }
        pose
    }
}

/// `q * (0, v)`: 12 multiplications and 8 additions instead of a full product's 16 and 12.
fn times_pure(q: DQuat, v: DVec3) -> DQuat {
    let u = q.xyz();
    DQuat::from_vec4((v * q.w + u.cross(v)).extend(-u.dot(v)))
}
