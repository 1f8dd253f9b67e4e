//! Whether the joints of a skin agree about where the mesh is at rest.

use super::edit::corners;
use super::larger::larger;
use crate::document::{Document, MeshId};
use crate::skinning::RowRef;
use glam::DAffine3;

/// How far apart the weighted joints of a mesh's skin place it at rest: the largest distance of a corner of its bounds, as a
/// fraction of their diagonal. 0: all skin matrices are equal, so that weights do not matter at rest.
pub fn spread_at_rest(document: &Document, mesh: MeshId) -> f64 {
    let (Some(item), Some((_, skin))) = (document.meshes.get(&mesh), document.skin_of_mesh(mesh))
    else {
        return 0.0;
    };
    let mut is_weighted = vec![false; skin.joints.len()];
    for (slot, weight) in item.influences.iter().flat_map(RowRef::iter) {
        if weight > 0.0
            && let Some(entry) = is_weighted.get_mut(usize::from(slot))
        {
            *entry = true;
        }
    }
    let world = document.rest_pose.world_matrices(&document.skeleton);
    let slots = skin.joints.iter().zip(&skin.inverse_bind).zip(is_weighted);
    let matrices: Vec<DAffine3> = slots
        .filter(|(_, weighted)| *weighted)
        .map(|((joint, inverse_bind), _)| world[joint.get()] * *inverse_bind)
        .collect();
    let corners = corners(item.geometry.positions.iter().map(|p| p.as_dvec3()));
    let (Some(corners), Some(first)) = (corners, matrices.first()) else {
        return 0.0;
    };
    let diagonal = first.transform_vector3(corners[7] - corners[0]).length();
    let mut largest = 0.0;
    for corner in corners {
        let at = first.transform_point3(corner);
        for matrix in &matrices[1..] {
            largest = larger(largest, matrix.transform_point3(corner).distance(at));
        }
    }
    if diagonal > 0.0 {
        largest / diagonal
    } else {
        0.0
    }
}
