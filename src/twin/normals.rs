//! Normals of a mesh whose points moved.

use crate::mesh::Mesh;
use glam::{DQuat, DVec3, Vec3};
use rayon::prelude::*;

/// n_normals: each normal of `mesh` turned as the faces around it turn when its points move to `positions`.
///
/// The faces around a normal are weighted by their angle at its point (Thurmer and Wuthrich 1998). The difference between
/// an authored normal and that mean stays, and hard edges stay split, since each normal has faces of its own.
pub fn turned_normals(mesh: &Mesh, positions: &[Vec3]) -> Vec<Vec3> {
    let topology = mesh.topology();
    let mean = |normal: usize, positions: &[Vec3]| {
        let point = mesh.point_of_normal[normal];
        let faces = topology.faces_of_normal(normal as u32).iter();
        let parts = faces.map(|face| {
            let triangle = topology.triangles[*face as usize];
            angle_weighted(triangle, point, positions)
        });
        parts.sum::<DVec3>().normalize_or_zero()
    };
    let turned = (0..mesh.normals.len()).into_par_iter().map(|normal| {
        let own = mesh.normals[normal];
        let before = mean(normal, &mesh.positions);
        let after = mean(normal, positions);
        if before == after || before == DVec3::ZERO || after == DVec3::ZERO {
            return own;
        }
        let turn = DQuat::from_rotation_arc(before, after);
        (turn * own.as_dvec3()).as_vec3().normalize_or(own)
    });
    turned.collect()
}

/// The unit normal of a triangle times its angle at a point; zero where it has no area.
fn angle_weighted(triangle: [u32; 3], point: u32, positions: &[Vec3]) -> DVec3 {
    let at = |p: u32| positions[p as usize].as_dvec3();
    let Some(corner) = triangle.iter().position(|p| *p == point) else {
        return DVec3::ZERO;
    };
    let origin = at(point);
    let a = at(triangle[(corner + 1) % 3]) - origin;
    let b = at(triangle[(corner + 2) % 3]) - origin;
    let cross = a.cross(b);
    let angle = cross.length().atan2(a.dot(b));
    cross.normalize_or_zero() * angle
}
