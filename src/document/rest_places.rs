//! Where points are in the rest pose of the model, without deforming the mesh.

use super::{Document, MeshId};
use glam::{DAffine3, DVec3};

impl Document {
    /// The places of some points of a mesh in the rest pose, world, metres: by their skin matrices blended, else by their node;
    /// of the first instance. Points that the mesh does not have are left out, as all are without an instance.
    pub fn rest_places(&self, mesh: MeshId, points: &[u32]) -> Vec<(u32, DVec3)> {
        let mut instances = self.instances.values().filter(|i| i.mesh == mesh);
        let (Some(item), Some(instance)) = (self.meshes.get(&mesh), instances.next()) else {
            return Vec::new();
        };
        let rest = self.rest_pose.world_matrices(&self.skeleton);
        let node = rest.get(instance.joint.get()).copied();
        let skin = instance.skin.and_then(|skin| self.skins.get(&skin));
        let matrices: Option<Vec<DAffine3>> = skin.map(|skin| {
            let joints = skin.joints.iter().zip(&skin.inverse_bind);
            let matrices = joints.map(|(joint, inverse)| {
                let world = rest.get(joint.get()).copied();
                world.unwrap_or(DAffine3::IDENTITY) * *inverse
            });
            matrices.collect()
        });
        let place = |point: u32| {
            let bind = item.geometry.positions.get(point as usize)?.as_dvec3();
            let Some(matrices) = &matrices else {
                return Some(node?.transform_point3(bind));
            };
            let (mut sum, mut total) = (DVec3::ZERO, 0.0);
            for (joint, weight) in item.influences.row(point).iter() {
                if let Some(matrix) = matrices.get(usize::from(joint)) {
                    sum += matrix.transform_point3(bind) * f64::from(weight);
                    total += f64::from(weight);
                }
            }
            Some(if total > 0.0 { sum / total } else { bind })
        };
        let places = points.iter();
        let places = places.filter_map(|&point| Some((point, place(point)?)));
        places.collect()
    }
}
