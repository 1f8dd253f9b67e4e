//! A document as the source model of a weight transfer.

use super::{Document, MeshId};
use crate::skinning::Rows;
use crate::weights::transfer::TransferSource;
use glam::DAffine3;

impl Document {
    /// Mesh space -> world in the bind pose: the space in which two models are compared, since their points may be
    /// stored in different units or orientations.
    ///
    /// It is computed from the joint nearest to the root, which differs least between rest pose and bind pose.
    pub fn world_from_bind(&self, mesh: MeshId) -> DAffine3 {
        let Some((_, skin)) = self.skin_of_mesh(mesh) else {
            return DAffine3::IDENTITY;
        };
        let world = self.rest_pose.world_matrices(&self.skeleton);
        let joints = skin.joints.iter().zip(&skin.inverse_bind);
        let joints = joints.filter(|(joint, _)| self.skeleton.is_live(**joint));
        let nearest = joints.min_by_key(|(joint, _)| self.skeleton.ancestors(**joint).count());
        let matrix = nearest.map(|(joint, inverse)| world[joint.get()] * *inverse);
        matrix
            .filter(DAffine3::is_finite)
            .unwrap_or(DAffine3::IDENTITY)
    }
}

/// The skinned meshes of `document` as one surface with weights, in world space of the bind pose; or a message why
/// there is none.
pub fn transfer_source(document: &Document, name: &str) -> Result<TransferSource, String> {
    let mut source = TransferSource {
        name: name.to_owned(),
        rows: Rows::default(),
        ..TransferSource::default()
    };
    let skeleton = document.skeleton();
    for (&id, item) in document.meshes() {
        let (Some((_, skin)), Some(n)) = (document.skin_of_mesh(id), document.n_skin_joints(id))
        else {
            continue;
        };
        let index: Vec<u16> = skin.joints[..n]
            .iter()
            .map(|&joint| {
                let label = skeleton.label(joint);
                let known = source.joints.iter().position(|name| *name == label);
                known.unwrap_or_else(|| {
                    source.joints.push(label);
                    source.joints.len() - 1
                }) as u16
            })
            .collect();
        let to_world = document.world_from_bind(id);
        let first = source.positions.len() as u32;
        let places = item.geometry.positions.iter();
        source
            .positions
            .extend(places.map(|p| to_world.transform_point3(p.as_dvec3()).as_vec3()));
        let triangles = item.geometry.topology().triangles.iter();
        source
            .triangles
            .extend(triangles.map(|t| t.map(|p| p + first)));
        for row in item.influences.iter() {
            source
                .rows
                .push_pairs(row.iter().map(|(j, w)| (index[usize::from(j)], w)));
        }
    }
    if source.triangles.is_empty() {
        return Err(format!(
            "\"{name}\" has no skinned mesh to take weights from."
        ));
    }
    Ok(source)
}
