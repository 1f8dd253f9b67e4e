//! The mean curvature of a posed surface at each point, for the hollows and ridges of [`super::Shading::Form`].

use crate::mesh::Mesh;
use glam::Vec3;
use rayon::prelude::*;

/// Buffers reused from pose to pose.
#[derive(Default)]
pub(crate) struct CurvatureBuffers {
    point_normals: Vec<Vec3>,
    raw: Vec<f32>,
}

/// Fills `out` with n_points mean curvatures in 1 / length: positive on ridges (1 / r on a sphere), negative in
/// hollows.
///
/// The change of the normal along each edge, averaged over the ring and once more over the neighbours, so that single
/// vertices of a coarse or noisy mesh do not flicker. `positions` and `normals` as in [`super::SceneMesh`].
pub(crate) fn curvatures(
    mesh: &Mesh,
    positions: &[Vec3],
    normals: &[Vec3],
    buffers: &mut CurvatureBuffers,
    out: &mut Vec<f32>,
) {
    let topology = mesh.topology();
    let n = positions.len();
    let CurvatureBuffers { point_normals, raw } = buffers;
    (0..n as u32)
        .into_par_iter()
        .map(|p| {
            let range = topology.normals_of_point(p);
            let all = &normals[range.start as usize..range.end as usize];
            match all {
                [one] => *one,
                _ => all.iter().sum::<Vec3>().normalize_or_zero(),
            }
        })
        .collect_into_vec(point_normals);
    let point_normals = &point_normals[..];
    (0..n as u32)
        .into_par_iter()
        .map(|p| {
            let (at, normal) = (positions[p as usize], point_normals[p as usize]);
            let ring = topology.neighbours(p);
            let sum: f32 = ring
                .iter()
                .map(|&q| {
                    let along = positions[q as usize] - at;
                    let squared = along.length_squared();
                    let turn = (point_normals[q as usize] - normal).dot(along);
                    if squared > 0.0 { turn / squared } else { 0.0 }
                })
                .sum();
            let mean = sum / ring.len().max(1) as f32;
            if mean.is_finite() { mean } else { 0.0 }
        })
        .collect_into_vec(raw);
    let raw = &raw[..];
    (0..n as u32)
        .into_par_iter()
        .map(|p| {
            let ring = topology.neighbours(p);
            let around: f32 = ring.iter().map(|&q| raw[q as usize]).sum();
            0.5 * (raw[p as usize] + around / ring.len().max(1) as f32)
        })
        .collect_into_vec(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{MeshSource, PrimitiveSource};

    /// A sphere of `radius` with `n` rings.
    fn ball(radius: f32, n: u32) -> Mesh {
        let mut positions = Vec::new();
        for i in 0..=n {
            for j in 0..n {
                let (a, b) = (
                    std::f32::consts::PI * i as f32 / n as f32,
                    std::f32::consts::TAU * j as f32 / n as f32,
                );
                let place = Vec3::new(a.sin() * b.cos(), a.cos(), a.sin() * b.sin());
                positions.push(place * radius);
            }
        }
        let mut triangles = Vec::new();
        for i in 0..n {
            for j in 0..n {
                let (a, b) = (i * n + j, i * n + (j + 1) % n);
                triangles.push([a, b, b + n]);
                triangles.push([a, b + n, a + n]);
            }
        }
        let normals = positions.iter().map(|p| p.normalize_or_zero()).collect();
        let source = PrimitiveSource {
            positions,
            normals,
            triangles,
            ..Default::default()
        };
        MeshSource {
            primitives: vec![source],
            ..Default::default()
        }
        .build()
        .mesh
    }

    #[test]
    fn a_ball_bends_by_its_radius_and_a_hollow_ball_the_other_way() {
        let mesh = ball(0.5, 24);
        let mut out = Vec::new();
        let mut buffers = CurvatureBuffers::default();
        curvatures(
            &mesh,
            &mesh.positions,
            &mesh.normals,
            &mut buffers,
            &mut out,
        );
        assert!(out.iter().all(|c| (c - 2.0).abs() < 0.2), "{out:?}");
        let inward: Vec<Vec3> = mesh.normals.iter().map(|&n| -n).collect();
        curvatures(&mesh, &mesh.positions, &inward, &mut buffers, &mut out);
        assert!(out.iter().all(|c| (c + 2.0).abs() < 0.2), "{out:?}");
    }
}
