//! Points that stay where linear blend skinning puts them.
//!
//! With K = W IBM of each joint and A, the new `world_from_mesh`: `v' = A^-1 sum w K v / sum w`, displacements by the
//! Jacobian `B_v = A^-1 sum w K / sum w` (3 x 3), normals by its cofactor (METHODS-rigging 2, *Apply pose to mesh*).

use super::local::inverse;
use crate::document::{Document, Instance, MeshItem, Skin};
use crate::mesh::{Mesh, Morph};
use glam::{DAffine3, DMat3, Vec3};
use rayon::prelude::*;

/// A mesh in a pose, and the Jacobian of each point, in mesh space.
pub(super) struct Baked {
    pub(super) mesh: Mesh,
    pub(super) jacobians: Vec<DMat3>,
}

/// The mesh of an instance as its skin poses it; a point without weights stays. `into`: the inverse of the new
/// `world_from_mesh`.
pub(super) fn baked(
    document: &Document,
    item: &MeshItem,
    instance: &Instance,
    world: &[DAffine3],
    into: DAffine3,
) -> Baked {
    let geometry = &item.geometry;
    let has_weight = |point: u32| item.influences.row(point).iter().any(|(_, w)| w > 0.0);
    let map = |point: u32| {
        if has_weight(point) {
            into * document.linear_matrix(instance, point, world)
        } else {
            DAffine3::IDENTITY
        }
    };
    let points = 0..geometry.positions.len() as u32;
    let maps: Vec<DAffine3> = points.into_par_iter().map(map).collect();
    let points = geometry.positions.iter().zip(&maps);
    let positions = points.map(|(p, map)| map.transform_point3(p.as_dvec3()).as_vec3());
    let turned = |point: usize, n: Vec3| {
        let n = n.as_dvec3();
        let turned = cofactor(maps[point].matrix3) * n;
        turned.try_normalize().unwrap_or(n).as_vec3()
    };
    let normals = geometry.normals.iter().zip(&geometry.point_of_normal);
    let normals: Vec<Vec3> = normals.map(|(n, p)| turned(*p as usize, *n)).collect();
    let morph = |morph: &Morph| Morph {
        name: morph.name.clone(),
        deltas: (morph.deltas.iter().zip(&maps))
            .map(|(d, map)| (map.matrix3 * d.as_dvec3()).as_vec3())
            .collect(),
        normals: (morph.normals.iter())
            .map(|&(vertex, d)| {
                let point = geometry.point_of_vertex[vertex as usize] as usize;
                let normal = geometry.normal_of_vertex[vertex as usize] as usize;
                let displaced = turned(point, geometry.normals[normal] + d);
                (vertex, displaced - normals[normal])
            })
            .collect(),
    };
    let morphs = geometry.morphs.iter().map(morph).collect();
    let mesh = geometry.with_shape(positions.collect(), normals, morphs);
    let jacobians = maps.iter().map(|map| map.matrix3).collect();
    Baked { mesh, jacobians }
}

/// The `world_from_mesh` of a skin: that of the first of its joints that has one with an inverse. Any would do; this one is that
/// of the file where its rest pose is its bind pose.
pub(super) fn world_from_mesh(
    skin: &Skin,
    world: &[DAffine3],
    is_live: impl Fn(usize) -> bool,
) -> DAffine3 {
    let slots = skin.joints.iter().zip(&skin.inverse_bind).enumerate();
    let places = slots.filter(|(slot, _)| is_live(*slot));
    let mut places = places.map(|(_, (joint, matrix))| world[joint.get()] * *matrix);
    let found = places.find(|place| inverse(*place).is_some());
    found.unwrap_or(DAffine3::IDENTITY)
}

/// The cofactor matrix `det(M) M^-T`, also where M has no inverse.
fn cofactor(m: DMat3) -> DMat3 {
    let [a, b, c] = [m.x_axis, m.y_axis, m.z_axis];
    DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b))
}
