//! Moving joints into the middle of the limb around them.

use super::done::Done;
use crate::document::Document;
use crate::document::rig::measure::{diagonal, rest_points};
use crate::document::rig::{self, Children, Intent, KEY_TOLERANCE, Move, RigError, main_child};
use crate::mesh::limb_centre::{INSIDE, limb_centre};
use crate::mesh::spatial::SurfaceIndex;
use crate::skeleton::JointId;
use glam::{DMat3, DVec3, Vec3};

/// Joints nearer to the middle than this fraction of the diagonal stay.
const NEAR: f64 = 1e-6;

/// The surface of all meshes in the rest pose.
pub(super) struct Surface {
    positions: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    index: SurfaceIndex,
}

impl Surface {
    /// The surface in the axes of `rotation`, as [`whole_surface`].
    pub(super) fn of(document: &Document, rotation: DMat3) -> Self {
        let (positions, triangles) = whole_surface(document, rotation);
        Self {
            index: SurfaceIndex::new(&triangles, &positions),
            positions,
            triangles,
        }
    }

    /// The middle of the limb around `at` in the plane across `along`; `None` outside of the surface.
    pub(super) fn centre(&self, at: DVec3, along: DVec3) -> Option<DVec3> {
        if self.triangles.is_empty() {
            return None;
        }
        let found = limb_centre(&self.index, &self.triangles, &self.positions, at, along);
        (found.hits >= INSIDE && found.centre.is_finite()).then_some(found.centre)
    }
}

/// The points of all meshes at rest in the axes of `rotation`, a rotation of the world, and their triangles. Meshes with positions
/// that are not finite are left out.
pub(super) fn whole_surface(document: &Document, rotation: DMat3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut positions, mut triangles) = (Vec::new(), Vec::new());
    for (id, places) in rest_points(document) {
        let instance = document.instances().get(&id);
        let Some(item) = instance.and_then(|i| document.meshes().get(&i.mesh)) else {
            continue;
        };
        let places = places.iter().map(|&place| (rotation * place).as_vec3());
        let places: Vec<Vec3> = places.collect();
        if !places.iter().all(|p| p.is_finite()) {
            continue;
        }
        let first = positions.len() as u32;
        let point = |corner: u32| first + item.geometry.point_of_vertex[corner as usize];
        triangles.extend(item.geometry.triangles.iter().map(|t| t.map(point)));
        positions.extend(places);
    }
    (positions, triangles)
}

/// Moves a joint into the middle of its limb; its children stay, and clips rotate about the new place.
pub(super) fn run(document: &Document, joint: JointId) -> Result<Done, RigError> {
    let skeleton = document.skeleton();
    if !skeleton.is_live(joint) {
        return Err(RigError::NoJoint(joint.0));
    }
    let label = skeleton.label(joint);
    let world = document.rest_pose().world_matrices(skeleton);
    let place = |joint: JointId| world[joint.get()].translation;
    let at = place(joint);
    let child = main_child(document, joint).map(place);
    let parent = skeleton.logical_parent(joint).map(place);
    let along = child
        .map(|child| child - at)
        .filter(|along| along.length() > 0.0);
    let along = along.or(parent.map(|parent| at - parent));
    let surface = Surface::of(document, DMat3::IDENTITY);
    let Some(centre) = surface.centre(at, along.unwrap_or(DVec3::Y)) else {
        return Err(RigError::Value(format!(
            "“{label}” is outside the mesh: move it inside first."
        )));
    };
    let by = centre - at;
    if by.length() <= NEAR * diagonal(document) {
        return Err(RigError::Unchanged(format!(
            "“{label}” is already in the middle of its limb"
        )));
    }
    let by = world[joint.get()].matrix3.inverse() * by;
    if !by.is_finite() {
        return Err(RigError::Singular {
            joint: label,
            place: "in the rest pose".into(),
        });
    }
    let request = Move {
        joint,
        by,
        intent: Intent::NewPivot,
        children: Children::Stay,
        tolerance: KEY_TOLERANCE,
    };
    rig::move_joint(document, &request).map(Done::of)
}
