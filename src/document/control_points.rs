//! The control points of lattices and cages in a pose.

use super::{Document, Instance, InstanceId};
use crate::cluster::reflected;
use crate::math::dual_quaternion::quat_from_rotation;
use crate::math::polar;
use crate::skinning::SkinBind;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// At most this many clusters of a group are looked at for the frame of its control points.
const MOST_CLUSTERS: usize = 512;

/// Where the control points of a group are in a pose: as one piece with the middle of its clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlFrame {
    /// The mean rotation of the clusters from mesh space at bind to the world, after a reflection along x where it mirrors.
    pub rotation: DQuat,
    /// Whether the clusters are mirrored.
    pub mirrored: bool,
    /// Metres of the world in one unit of the mesh at rest.
    pub unit: f64,
    /// The mean matrix of the clusters from mesh space at bind to the world, with its scale.
    pub matrix: DMat3,
    /// The middle of the clusters at bind, mesh space.
    pub bind: DVec3,
    /// The middle of the clusters in the pose, world.
    pub middle: DVec3,
}

impl ControlFrame {
    /// A place of mesh space at bind in the world.
    pub fn place(&self, at: DVec3) -> DVec3 {
        self.middle + self.matrix * (at - self.bind)
    }

    /// The place of mesh space at bind that is at a place of the world.
    pub fn rest_of(&self, at: DVec3) -> DVec3 {
        self.bind + self.matrix.inverse() * (at - self.middle)
    }

    /// The displacement of a control point, mesh space, that moves it by `by` in the world, metres.
    pub fn offset(&self, by: DVec3) -> DVec3 {
        reflected(self.rotation.conjugate() * by, self.mirrored) / self.unit
    }

    /// How far a displacement in mesh space moves a control point in the world, metres.
    pub fn carry(&self, offset: DVec3) -> DVec3 {
        self.rotation * reflected(offset, self.mirrored) * self.unit
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
        let step = own.len() / MOST_CLUSTERS + 1;
        let own: Vec<u32> = own.into_iter().step_by(step).collect();
        let position = |point: u32| {
            let position = item.geometry.positions.get(point as usize);
            position.filter(|p| p.is_finite()).map(|p| p.as_dvec3())
        };
        let (mut n, mut bind, mut middle, mut turn) = (0.0, DVec3::ZERO, DVec3::ZERO, DMat3::ZERO);
        for &point in &own {
            let Some(at) = position(point) else { continue };
            let matrix = self.linear_matrix(drawn, point, world);
            bind += at;
            middle += matrix.transform_point3(at);
            turn += matrix.matrix3;
            n += 1.0;
        }
        let unit = self.unit_of_skin(drawn, &own).unwrap_or_else(|| {
            // At rest, as the deformer stack counts it: a pose that scales does not stretch displacements.
            let rest = self.rest_pose().world_matrices(self.skeleton());
            let node = rest.get(drawn.joint.get());
            node.map_or(1.0, |node| node.matrix3.determinant().abs().cbrt())
        });
        let is_sound = n > 0.0 && middle.is_finite() && unit > 0.0 && unit.is_finite();
        is_sound.then(|| {
            let matrix = turn * (1.0 / n);
            let rotation = quat_from_rotation(polar(matrix).0);
            let mirrored = matrix.determinant() < 0.0;
            let inverse = matrix.inverse();
            ControlFrame {
                rotation,
                mirrored,
                unit,
                // A flat one has no inverse.
                matrix: if inverse.is_finite() {
                    matrix
                } else {
                    DMat3::from_quat(rotation) * unit
                },
                bind: bind / n,
                middle: middle / n,
            }
        })
    }

    /// Metres of the world in one unit of a skinned mesh at rest, by the joints of some of its points; `None` without a skin.
    fn unit_of_skin(&self, drawn: &Instance, points: &[u32]) -> Option<f64> {
        let skin = self.skins().get(&drawn.skin?)?;
        let item = self.meshes().get(&drawn.mesh)?;
        let mut bound = vec![false; skin.joints.len()];
        for (slot, weight) in points.iter().flat_map(|&p| item.influences.row(p).iter()) {
            if let Some(bound) = bound.get_mut(usize::from(slot)) {
                *bound |= weight > 0.0;
            }
        }
        let skeleton = self.skeleton();
        let rest = self.rest_pose().world_matrices(skeleton);
        let bind = SkinBind::new(skeleton, &skin.joints, &skin.inverse_bind, &bound, &rest);
        Some(bind.unit_scale())
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
