//! The control points of lattices and cages in a pose.

use super::{Document, Instance, InstanceId};
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::polar;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// At most this many clusters of a group are looked at for the frame of its control points.
const MOST_CLUSTERS: usize = 512;

/// Where the control points of a group are in a pose: as one piece with the middle of its clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlFrame {
    /// The mean rotation of the clusters from mesh space at bind to the world.
    pub rotation: DQuat,
    /// Metres of the world in one unit of the mesh.
    pub unit: f64,
    /// The middle of the clusters at bind, mesh space.
    pub bind: DVec3,
    /// The middle of the clusters in the pose, world.
    pub middle: DVec3,
}

impl ControlFrame {
    /// A place of mesh space at bind in the world.
    pub fn place(&self, at: DVec3) -> DVec3 {
        self.middle + self.rotation * ((at - self.bind) * self.unit)
    }

    /// The place of mesh space at bind that is at a place of the world.
    pub fn rest_of(&self, at: DVec3) -> DVec3 {
        self.bind + self.rotation.conjugate() * (at - self.middle) / self.unit
    }

    /// The displacement of a control point, mesh space, that moves it by `by` in the world, metres.
    pub fn offset(&self, by: DVec3) -> DVec3 {
        self.rotation.conjugate() * by / self.unit
    }
}

impl Document {
    /// The frame of the control points of a group of an instance in a pose of these world transforms, n_joints; `None` without
    /// clusters. The skin counts linearly, without what later stages add.
    pub fn control_frame(
        &self,
        instance: InstanceId,
        group: u16,
        world: &[DAffine3],
    ) -> Option<ControlFrame> {
        let drawn = self.instances().get(&instance)?;
        let item = self.meshes().get(&drawn.mesh)?;
        let own = item.clusters.clusters().iter().filter(|c| c.1 == group);
        let own: Vec<u32> = own.map(|c| c.0).collect();
        let own = own.iter().step_by(own.len() / MOST_CLUSTERS + 1);
        let position = |point: u32| {
            let position = item.geometry.positions.get(point as usize);
            position.filter(|p| p.is_finite()).map(|p| p.as_dvec3())
        };
        let (mut n, mut bind, mut middle, mut turn) = (0.0, DVec3::ZERO, DVec3::ZERO, DMat3::ZERO);
        for &point in own {
            let Some(at) = position(point) else { continue };
            let matrix = self.linear_matrix(drawn, point, world);
            bind += at;
            middle += matrix.transform_point3(at);
            turn += matrix.matrix3;
            n += 1.0;
        }
        let unit = match self.point_rotations(instance) {
            Some(rotations) => rotations.unit_scale(),
            None => {
                let node = world.get(drawn.joint.get());
                node.map_or(1.0, |node| node.matrix3.determinant().abs().cbrt())
            }
        };
        let is_sound = n > 0.0 && middle.is_finite() && unit > 0.0 && unit.is_finite();
        is_sound.then(|| ControlFrame {
            rotation: quat_from_rotation(polar(turn * (1.0 / n)).0),
            unit,
            bind: bind / n,
            middle: middle / n,
        })
    }

    /// From mesh space to the world at a point of an instance in a pose of these world transforms, n_joints: its skin matrices
    /// blended linearly, or the node.
    pub fn linear_matrix(&self, drawn: &Instance, point: u32, world: &[DAffine3]) -> DAffine3 {
        let node = world.get(drawn.joint.get()).copied();
        let node = node.unwrap_or(DAffine3::IDENTITY);
        let skin = drawn.skin.and_then(|skin| self.skins().get(&skin));
        let Some((skin, item)) = skin.zip(self.meshes().get(&drawn.mesh)) else {
            return node;
        };
        let (mut sum, mut total) = (DAffine3::ZERO, 0.0);
        for (slot, weight) in item.influences.row(point).iter() {
            let slot = usize::from(slot);
            let joint = skin.joints.get(slot);
            if let Some(world) = joint.and_then(|joint| world.get(joint.get())) {
                let inverse = skin.inverse_bind.get(slot);
                let moved = *world * inverse.copied().unwrap_or(DAffine3::IDENTITY);
                let weight = f64::from(weight);
                sum.matrix3 += moved.matrix3 * weight;
                sum.translation += moved.translation * weight;
                total += weight;
            }
        }
        if total > 0.0 {
            DAffine3 {
                matrix3: sum.matrix3 * (1.0 / total),
                translation: sum.translation / total,
            }
        } else {
            node
        }
    }
}
