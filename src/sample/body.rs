//! A body of round cones and its rig -> a skinned mesh.

use super::field::{Field, Part};
use super::polygonize::{CELLS, polygonize};
use super::remesh::{mirror, remesh};
use super::rig::Rig;
use super::unwrap::{Chart, unwrap};
use super::weights::{Falloffs, row_at};
use crate::document::MeshSource;
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// The parts of a generated body.
pub(super) struct Body {
    pub(super) name: &'static str,
    pub(super) rig: Rig,
    /// Cones; of a symmetric body the left side and the centre.
    pub(super) parts: Vec<Part>,
    pub(super) is_symmetric: bool,
    /// Whether it has flat soles at y = 0.
    pub(super) stands: bool,
    pub(super) charts: Vec<Chart>,
    /// Size of the polygonisation grid, metres: finer than the smallest gap.
    pub(super) cell: f64,
}

/// The skinned mesh of `body` with about `n_points` points.
pub(super) fn build(body: &Body, n_points: usize) -> MeshSource {
    let mut parts = body.parts.clone();
    if body.is_symmetric {
        for part in &mut parts {
            // The union of a cone in the plane of symmetry with itself would only swell.
            if !part.cone.is_central() {
                let twin = body.rig.bones[part.joint as usize].twin;
                part.twin = Some((part.cone.mirrored(), twin));
            }
        }
    }
    let half = body.is_symmetric;
    let field = Field::new(parts, body.cell * CELLS as f64, half, body.stands);
    let fine = polygonize(&field, body.cell);
    let surface = remesh(fine, &field, n_points, half);

    let falloffs = Falloffs::new(&body.rig);
    let rows: Vec<Vec<(u16, f32)>> = surface
        .positions
        .par_iter()
        .map(|&p| row_at(&body.rig, &falloffs, &field, p))
        .collect();
    let normals: Vec<DVec3> = surface
        .positions
        .par_iter()
        .map(|&p| field.normal(p))
        .collect();
    let (surface, normals, rows) = if half {
        let (whole, source) = mirror(&surface);
        let n_half = surface.positions.len();
        let twin_of = |j: u16| body.rig.bones[j as usize].twin;
        let normals = source
            .iter()
            .enumerate()
            .map(|(v, &s)| {
                let n = normals[s as usize];
                if v < n_half {
                    n
                } else {
                    DVec3::new(-n.x, n.y, n.z)
                }
            })
            .collect();
        let rows = source
            .iter()
            .enumerate()
            .map(|(v, &s)| {
                let row = &rows[s as usize];
                if v < n_half {
                    row.clone()
                } else {
                    row.iter().map(|&(j, w)| (twin_of(j), w)).collect()
                }
            })
            .collect();
        (whole, normals, rows)
    } else {
        (surface, normals, rows)
    };
    let positions: Vec<Vec3> = surface.positions.iter().map(|p| p.as_vec3()).collect();
    let normals: Vec<Vec3> = normals.iter().map(|n: &DVec3| n.as_vec3()).collect();
    MeshSource {
        name: body.name.to_owned(),
        primitives: vec![unwrap(
            body,
            &positions,
            &normals,
            &rows,
            &surface.triangles,
        )],
        morph_names: Vec::new(),
    }
}
